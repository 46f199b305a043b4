// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The models of the Zenith documents: each builds with the layers that the tables have, runs
// forwards as it is fused and as it stands with the same result, gives a gradient to every
// parameter, and refuses sizes that it is not made for. Pruned parts of a block are left out, and
// the rest keeps its bits.
#include "src/base/random.h"
#include "src/dnn/dnn.h"
#include "src/graph/gradient.h"
#include "src/graph/packs.h"
#include "src/graph/passes.h"
#include "src/graph/plan.h"
#include "src/model/autoencoder.h"
#include "src/nn/zenith_blocks.h"
#include "src/op/ops.h"
#include "src/train/network/network.h"
#include "tests/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 256 };
static const char *const names[] = {"zenith_vanilla",  "zenith_taesd",  "zenith_taesd_lite",
                                    "zenith_spectral", "conv_baseline", "zenith_hierarchical",
                                    "zenith_prune",    "zenith_soft",   "zenith_wide",
                                    "conv_wide",       "conv_linear"};

static void *need(void *block)
{
    assert_non_null(block);
    return block;
}

// --- running a graph of one input ---------------------------------------------------------------

typedef struct world {
    const float *x;
    float *y;
    size_t x_row, y_row;
} world;

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const world *w = cookie;
    (void)input, (void)err;
    memcpy(dst, w->x + (size_t)row * w->x_row, (size_t)count * w->x_row * sizeof(float));
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    world *w = cookie;
    (void)output, (void)err;
    memcpy(w->y + (size_t)row * w->y_row, src, (size_t)count * w->y_row * sizeof(float));
    return ZENITH_OK;
}

static void run(const zn_graph *graph, int threads, const float *x, float *y)
{
    zn_error err = {0};
    zn_plan *plan = NULL;
    zn_packs *packs = NULL;
    zn_team *team = NULL;
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    zn_test_ok(zn_team_create(threads, &team, &err), &err);
    const zn_plan_options options = {.cpu = zn_cpu_detect(), .threads = threads, .packs = packs};
    zn_test_ok(zn_plan_create(graph, &options, &plan, &err), &err);
    void *arena = need(zn_alloc(zn_plan_bytes(plan)));
    memset(arena, 0xff, zn_plan_bytes(plan));
    world w = {.x = x, .y = y};
    for (size_t id = 0; id < graph->count; id++) {
        const int64_t *dim = graph->nodes[id]->desc.shape.dim;
        if (graph->nodes[id]->kind == ZN_NODE_INPUT) w.x_row = (size_t)(dim[2] * dim[3]);
    }
    const int64_t *dim = graph->outputs[0]->desc.shape.dim;
    w.y_row = (size_t)(dim[2] * dim[3]);
    const zn_run how = {.read = read_rows, .write = write_rows, .cookie = &w};
    zn_test_ok(zn_plan_run(plan, arena, team, &how, &err), &err);
    zn_free(arena);
    zn_plan_free(plan);
    zn_packs_free(packs);
    zn_team_free(team);
}

// As inference has it: the operators that are fused when types are known too.
static void fuse(const zn_graph *plain, zn_graph *out)
{
    zn_error err = {0};
    zn_graph fused, typed;
    const zn_cpu cpu = zn_cpu_detect();
    const zn_type_policy policy = {.type = ZN_F32, .convert = zn_convert_as};
    zn_test_ok(zn_pass_fuse(plain, zn_ops, zn_ops_count, NULL, &fused, &err), &err);
    zn_test_ok(zn_pass_types(&fused, &policy, &typed, &err), &err);
    zn_test_ok(zn_pass_fuse(&typed, zn_ops, zn_ops_count, &cpu, out, &err), &err);
    zn_graph_free(&fused);
    zn_graph_free(&typed);
}

static size_t count_op(const zn_graph *graph, const zn_op *op)
{
    size_t count = 0;
    for (size_t id = 0; id < graph->count; id++)
        count += graph->nodes[id]->kind == ZN_NODE_OP && graph->nodes[id]->op == op;
    return count;
}

// --- models -------------------------------------------------------------------------------------

typedef struct model {
    zn_network network;
    float *block;
    zn_graph graph;
    zn_node *nodes[MOST], *x, *y;
} model;

static void open_model(model *m, const char *name, unsigned part, int64_t side, zn_error *err)
{
    const zn_variant *variant = need((void *)(uintptr_t)zn_variant_find(name));
    const int64_t low = side / variant->autoencoder->factor;
    const zn_network_shape shape = {64, NULL, {.height = low, .width = low}, false};
    const zn_part *which = zn_autoencoder_part(zn_family_of(variant), part);
    zn_test_ok(zn_network_of_variant(variant, which, &shape, &m->network, err), err);
    assert_true(m->network.count < MOST);
    m->block = need(zn_alloc(zn_network_place(&m->network, 0) * sizeof(float)));
    zn_network_randomise(&m->network, m->block, 7, 0, ZN_INIT_HE);
    for (size_t i = 0; i < m->network.count; i++) { // gates and biases are zero at first
        const zn_train_parameter *p = &m->network.parameters[i];
        zn_random random = {.seed = i};
        for (size_t k = 0; k < p->elements && p->tensor.desc.shape.rank < 4; k++)
            m->block[p->offset + k] = 0.3f * zn_random_normal(&random);
    }
    zn_graph_begin(&m->graph, err);
    m->x = zn_graph_input(
        &m->graph, "x",
        zn_desc_make(ZN_F32, part == ZENITH_ENCODER
                                 ? ZN_SHAPE(1, side, side, 3)
                                 : ZN_SHAPE(1, low, low, variant->autoencoder->latent_channels)));
    m->y = zn_network_apply(&m->network, &m->graph, "", m->x, m->nodes);
    zn_test_ok(m->graph.status, err);
}

static void close_model(model *m)
{
    zn_graph_free(&m->graph);
    zn_network_free(&m->network);
    zn_free(m->block);
}

static size_t elements(const zn_node *node)
{
    size_t count = 0;
    assert_true(zn_shape_elements(&node->desc.shape, &count));
    return count;
}

// Fused, on one thread and two, against the operators one by one.
static void check_forward(const char *name, unsigned part, int64_t side)
{
    zn_error err = {0};
    model m;
    zn_graph fused;
    open_model(&m, name, part, side, &err);
    zn_graph_output(&m.graph, m.y);
    zn_test_ok(zn_graph_finish(&m.graph), &err);
    fuse(&m.graph, &fused);
    const size_t blocks = count_op(&fused, &zn_op_zenith_lite) +
                          count_op(&fused, &zn_op_zenith_block);
    const bool lite = strcmp(name, "zenith_taesd") == 0 || strcmp(name, "zenith_taesd_lite") == 0;
    const bool tiles = strcmp(name, "zenith_hierarchical") == 0 ||
                       strcmp(name, "zenith_prune") == 0 || strcmp(name, "zenith_soft") == 0 ||
                       strcmp(name, "zenith_wide") == 0;
    if (blocks != (lite ? 3u : tiles ? 6u : 0u)) fail_msg("%s: %zu blocks are fused", name, blocks);
    const size_t count = elements(m.y), inputs = elements(m.x);
    float *x = need(zn_alloc(inputs * sizeof *x)), *plain = need(zn_alloc(count * sizeof *plain));
    float *one = need(zn_alloc(count * sizeof *one)), *two = need(zn_alloc(count * sizeof *two));
    zn_random random = {.seed = 3};
    for (size_t i = 0; i < inputs; i++) x[i] = zn_random_unit(&random);
    run(&m.graph, 1, x, plain);
    run(&fused, 1, x, one);
    run(&fused, 2, x, two);
    assert_memory_equal(one, two, count * sizeof *one);
    float most = 0, off = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmaxf(most, fabsf(plain[i]));
        off = fmaxf(off, fabsf(plain[i] - one[i]));
    }
    assert_true(most > 0 && isfinite(most));
    if (!(off <= 1e-4f * most))
        fail_msg("%s: fused is %g of %g off", name, (double)off, (double)most);
    zn_free(x);
    zn_free(plain);
    zn_free(one);
    zn_free(two);
    zn_graph_free(&fused);
    close_model(&m);
}

ZN_TEST(every_model_runs)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        check_forward(names[i], ZENITH_ENCODER, 64);
        check_forward(names[i], ZENITH_DECODER, 64);
    }
}

ZN_TEST(every_parameter_has_a_gradient)
{
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        zn_error err = {0};
        model m;
        zn_node *gradients[MOST];
        open_model(&m, names[i / 2], i % 2 ? ZENITH_DECODER : ZENITH_ENCODER, 32, &err);
        zn_node *target = zn_graph_input(&m.graph, "target", m.y->desc);
        zn_node *loss = zn_difference_loss(&m.graph, "loss", m.y, target,
                                           (zn_difference_attributes){ZN_DIFFERENCE_MSE, 0});
        zn_graph_gradients(&m.graph, loss, m.nodes, m.network.count, zn_add, gradients);
        zn_test_ok(m.graph.status, &err);
        for (size_t k = 0; k < m.network.count; k++) {
            assert_non_null(gradients[k]);
            assert_int_equal(elements(gradients[k]), m.network.parameters[k].elements);
        }
        close_model(&m);
    }
}

// The vanilla decoder is what the document's 48.6 GFLOP are of.
ZN_TEST(the_work_is_the_documents)
{
    zn_error err = {0};
    model m;
    double flops = 0;
    open_model(&m, "zenith_vanilla", ZENITH_DECODER, 512, &err);
    for (size_t id = 0; id < m.graph.count; id++)
        if (m.graph.nodes[id]->kind == ZN_NODE_OP && m.graph.nodes[id]->op == &zn_op_conv2d)
            flops += zn_node_flops(m.graph.nodes[id]);
    if (!(flops > 48.6e9 && flops < 49.5e9)) fail_msg("%g operations", flops);
    close_model(&m);
}

ZN_TEST(one_size_only)
{
    zn_error err = {0};
    zn_network network = {0};
    const zn_variant *lite = zn_variant_find("zenith_taesd_lite");
    const zn_part *encoder = zn_family_part(zn_family_of(lite), "encoder");
    const zn_network_shape odd = {64, NULL, {.height = 12, .width = 12}, false};
    assert_int_not_equal(zn_network_of_variant(lite, encoder, &odd, &network, &err), ZENITH_OK);
    assert_non_null(strstr(err.text, "power of two"));
    // Made for 64, run at 32.
    const zn_network_shape shape = {64, NULL, {.height = 8, .width = 8}, false};
    zn_test_ok(zn_network_of_variant(lite, encoder, &shape, &network, &err), &err);
    float *block = need(zn_alloc(zn_network_place(&network, 0) * sizeof(float)));
    zn_network_randomise(&network, block, 1, 0, ZN_INIT_HE);
    zn_graph graph;
    zn_graph_begin(&graph, &err);
    zn_node *x = zn_graph_input(&graph, "x", zn_desc_make(ZN_F32, ZN_SHAPE(1, 32, 32, 3)));
    assert_null(zn_network_apply(&network, &graph, "", x, NULL));
    assert_int_not_equal(graph.status, ZENITH_OK);
    zn_graph_free(&graph);
    zn_network_free(&network);
    zn_free(block);
}

// --- pruning ------------------------------------------------------------------------------------

enum { SIDE = 48, CHANNELS = 32, GRID = 4, PIXELS = SIDE * SIDE, VALUES = PIXELS * CHANNELS };

static float values[1 << 14]; // of the block's parameters
static size_t used;

static zn_node *invent(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    const float *scores = cookie;
    size_t count = 0;
    assert_true(zn_shape_elements(shape, &count));
    if (strstr(name, "score"))
        return zn_graph_parameter(
            graph, name,
            (zn_tensor){.desc = zn_desc_make(ZN_F32, *shape), .data = (void *)(uintptr_t)scores});
    assert_true(used + count <= sizeof values / sizeof *values);
    float *mine = values + used;
    used += count;
    zn_random random = {.seed = used};
    for (size_t i = 0; i < count; i++) mine[i] = 0.2f * zn_random_normal(&random);
    return zn_graph_parameter(graph, name,
                              (zn_tensor){.desc = zn_desc_make(ZN_F32, *shape), .data = mine});
}

static void run_block(const float *scores, zn_nn_zenith_shape shape, int64_t side, const float *x,
                      float *y)
{
    zn_error err = {0};
    zn_graph graph, fused;
    zn_graph_begin(&graph, &err);
    used = 0;
    const zn_scope scope = {
        .graph = &graph, .parameter = invent, .cookie = (void *)(uintptr_t)scores, .prefix = ""};
    zn_node *in = zn_graph_input(&graph, "x",
                                 zn_desc_make(ZN_F32, ZN_SHAPE(1, side, side, CHANNELS)));
    zn_node *out = zn_nn_zenith(&scope, "block", in, shape);
    if (out) zn_graph_output(&graph, out);
    zn_test_ok(zn_graph_finish(&graph), &err);
    fuse(&graph, &fused);
    assert_int_equal(count_op(&fused, &zn_op_zenith_block), 1);
    run(&fused, 1, x, y);
    zn_graph_free(&fused);
    zn_graph_free(&graph);
}

ZN_TEST(pruned_parts_are_the_masked_dense_run)
{
    static float x[VALUES], dense[VALUES], pruned[VALUES];
    float all[GRID * GRID], some[GRID * GRID];
    zn_random random = {.seed = 11};
    for (int i = 0; i < VALUES; i++) x[i] = zn_random_normal(&random);
    for (int i = 0; i < GRID * GRID; i++) {
        all[i] = 1;
        some[i] = i % 3 == 0 || i % 5 == 1 ? 0.5f : -0.5f;
    }
    for (int kind = 0; kind < 8; kind++) {
        const zn_nn_zenith_shape shape = {kind & 1, kind & 2, true, kind & 4, 0};
        run_block(all, shape, SIDE, x, dense);
        run_block(some, shape, SIDE, x, pruned);
        for (int i = 0; i < VALUES; i++) {
            const int pixel = i / CHANNELS;
            const int group = pixel / SIDE * GRID / SIDE * GRID + pixel % SIDE * GRID / SIDE;
            const float want = some[group] < 0 ? x[i] : dense[i];
            if (memcmp(&pruned[i], &want, sizeof want) != 0)
                fail_msg("kind %d, value %d: %g, not %g", kind, i, (double)pruned[i], (double)want);
        }
    }
}

// Cells of 16 pixels, two along each side of a rectangle: in every third the map hardly changes.
enum { WIDE = 128, CELLS = 8, WIDE_VALUES = WIDE * WIDE * CHANNELS };

static int cell_of(int value)
{
    const int pixel = value / CHANNELS;
    return pixel / WIDE / 16 * CELLS + pixel % WIDE / 16;
}

ZN_TEST(still_parts_are_left_out)
{
    static float x[WIDE_VALUES], dense[WIDE_VALUES], seen[WIDE_VALUES];
    float scores[GRID * GRID];
    zn_random random = {.seed = 12};
    for (int i = 0; i < GRID * GRID; i++) scores[i] = i % 4 == 1 ? -1 : 1;
    for (int i = 0; i < WIDE_VALUES; i++) {
        const float busy = zn_random_normal(&random), level = (float)(i % CHANNELS);
        x[i] = cell_of(i) % 3 == 0 ? level + 0.04f * (float)(i / CHANNELS % 2) : busy;
    }
    for (int kind = 0; kind < 4; kind++) {
        zn_nn_zenith_shape shape = {kind & 1, kind & 2, true, 0, 0};
        run_block(scores, shape, WIDE, x, dense);
        shape.still = 0.001f; // asked everywhere, and nowhere so
        run_block(scores, shape, WIDE, x, seen);
        for (int i = 0; i < WIDE_VALUES; i++)
            if (memcmp(&seen[i], &dense[i], sizeof *seen) != 0)
                fail_msg("kind %d, value %d is %g, not %g", kind, i, (double)seen[i],
                         (double)dense[i]);
        shape.still = 0.05f;
        run_block(scores, shape, WIDE, x, seen);
        for (int i = 0; i < WIDE_VALUES; i++) {
            const float want = cell_of(i) % 3 == 0 ? x[i] : dense[i];
            if (memcmp(&seen[i], &want, sizeof want) != 0)
                fail_msg("kind %d, value %d: %g, not %g", kind, i, (double)seen[i], (double)want);
        }
    }
}
