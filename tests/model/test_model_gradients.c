// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Every gradient tensor of TAESD's and TAEF2's encoder and decoder against PyTorch in float64
// (tools/goldens/make_gradient_goldens.py): the length of each and its projections on four vectors.
// In f32 by our own kernels and by oneDNN within 1e-4; in bf16, over all tensors, within 1.5 times
// the error of PyTorch's own bf16; in f16, with an eighth of its rounding error, within the root of
// that (a third): as the error falls, fewer relus turn, but each turns as much. Then what training
// does: the weights in one block, a step down the gradient, plans and packs refreshed; and
// recomputation: the same bits in less memory.
#include "tests/model/weight_files.h"

#include "src/dnn/dnn.h"
#include "src/format/tensor/safetensors.h"
#include "src/graph/gradient.h"
#include "src/graph/passes.h"
#include "src/graph/plan.h"
#include "src/model/autoencoder.h"
#include "src/op/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double SHARE = 0.3;
enum { FACTOR = 8, MAX_TENSORS = 160, PROJECTIONS = 4 };

// A part of a model as a training graph: inputs are x and the target, outputs the loss and the
// gradient of each parameter and of x. Weights are f32 in one block.
typedef struct training {
    const char *model;
    unsigned part;
    int64_t size;           // of the picture
    zn_safetensors *golden; // NULL: it is only compiled
    float *block;
    size_t block_count;
    zn_graph plain, graph; // as built, and typed and fused
    bool recomputes;
    float scale; // of the loss, for its gradients
    zn_node *of[MAX_TENSORS], *gradients[MAX_TENSORS];
    size_t count;        // parameters; of[count] is x
    float *x, *target;   // NHWC
    size_t x_row, y_row; // elements
    zn_packs *packs;
    zn_plan *plan;
    void *arena;
    float loss;
    float *results[MAX_TENSORS];
} training;

static const char *prefix(const training *t)
{
    return zn_autoencoder_name(t->part);
}

static void *need(void *block)
{
    assert_non_null(block);
    return block;
}

static size_t count_of(const zn_node *node)
{
    size_t count = 0;
    assert_true(zn_shape_elements(&node->desc.shape, &count));
    return count;
}

// --- inputs -------------------------------------------------------------------------------------

static float *picture(const training *t)
{
    const zn_file_tensor *tensor = need(
        (void *)(uintptr_t)zn_safetensors_find(t->golden, "image_u8"));
    float *values = need(malloc(tensor->bytes * sizeof *values));
    for (size_t i = 0; i < tensor->bytes; i++)
        values[i] = (float)((const uint8_t *)tensor->data)[i] / 255;
    return values;
}

static float *map_of(const training *t, const char *name) // [1, C, h, w] to [h, w, C]
{
    zn_error err = {0};
    const zn_file_tensor *tensor = need((void *)(uintptr_t)zn_safetensors_find(t->golden, name));
    const int64_t *dim = tensor->shape.dim;
    float *planes = need(malloc(tensor->bytes)), *values = need(malloc(tensor->bytes));
    zn_test_ok(zn_file_tensor_read(tensor, planes, &err), &err);
    const int64_t pixels = dim[2] * dim[3];
    for (int64_t i = 0; i < dim[1] * pixels; i++)
        values[i % pixels * dim[1] + i / pixels] = planes[i];
    free(planes);
    return values;
}

// --- the graph ----------------------------------------------------------------------------------

// Every parameter as f32 in the block, in the order of the graph. A family may name one twice to
// look at its shape: such a node has no reader.
static void gather_weights(training *t)
{
    const int *uses = need(zn_graph_count_uses(&t->plain, &t->plain.arena));
    for (size_t id = 0; id < t->plain.count; id++) {
        zn_node *node = t->plain.nodes[id];
        if (node->kind != ZN_NODE_PARAMETER || uses[id] == 0) continue;
        assert_true(t->count < MAX_TENSORS - 1);
        t->of[t->count++] = node;
        t->block_count += count_of(node);
    }
    t->block = need(zn_alloc(t->block_count * sizeof(float)));
    float *next = t->block;
    for (size_t i = 0; i < t->count; i++) {
        zn_node *node = t->of[i];
        const size_t count = count_of(node);
        for (size_t k = 0; k < count; k++)
            next[k] = zn_type_load(node->desc.type, node->constant.data, k);
        node->desc.type = node->constant.desc.type = ZN_F32;
        node->constant.data = next;
        next += count;
    }
}

static void build(training *t, const zn_model *model)
{
    zn_error err = {0};
    const int64_t size = t->size, low = size / FACTOR,
                  latent = model->variant->autoencoder->latent_channels;
    const zn_desc image = zn_desc_make(ZN_F32, ZN_SHAPE(1, size, size, 3));
    const zn_desc code = zn_desc_make(ZN_F32, ZN_SHAPE(1, low, low, latent));
    const bool encoder = t->part == ZENITH_ENCODER;
    if (t->golden) {
        t->x = encoder ? picture(t) : map_of(t, "latent");
        t->target = encoder ? map_of(t, "target") : picture(t);
    }
    t->x_row = (size_t)(encoder ? size * 3 : low * latent);
    t->y_row = (size_t)(encoder ? low * latent : size * 3);
    zn_graph *graph = &t->plain;
    zn_graph_begin(graph, &err);
    zn_node *x = zn_graph_input(graph, "x", encoder ? image : code);
    zn_node *y = NULL;
    const zn_sizes sizes = {.height = low, .width = low};
    zn_model_build(model, zn_autoencoder_part(model->family, t->part), &sizes, false, graph, &x,
                   &y);
    zn_test_ok(graph->status, &err);
    gather_weights(t);
    t->of[t->count] = x;
    zn_node *target = zn_graph_input(graph, "target", encoder ? code : image);
    zn_node *loss = zn_difference_loss(graph, "loss", y, target,
                                       (zn_difference_attributes){ZN_DIFFERENCE_MSE, 0});
    zn_node *scaled = zn_scale(graph, "scaled", loss, zn_graph_scalar(graph, "scale"));
    zn_graph_gradients(graph, scaled, t->of, t->count + 1, zn_add, t->gradients);
    zn_graph_output(graph, loss);
    for (size_t i = 0; i <= t->count; i++) zn_graph_output(graph, t->gradients[i]);
    zn_test_ok(zn_graph_finish(graph), &err);
}

static void compile(training *t, zn_type type, zn_dnn *dnn)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_graph kept = {0}, fused = {0}, typed = {0};
    const zn_type_policy policy = {.type = type, .convert = zn_convert_as};
    t->scale = type == ZN_F16 ? 4096 : 1;
    zn_graph *last = t->recomputes ? &kept : &t->graph;
    zn_test_ok(zn_pass_fuse(&t->plain, zn_ops, zn_ops_count, NULL, &fused, &err), &err);
    zn_test_ok(zn_pass_types(&fused, &policy, &typed, &err), &err);
    zn_test_ok(zn_pass_fuse(&typed, zn_ops, zn_ops_count, &cpu, last, &err), &err);
    if (t->recomputes) zn_test_ok(zn_pass_recompute(&kept, SHARE, &t->graph, &err), &err);
    zn_graph_free(&kept);
    zn_graph_free(&fused);
    zn_graph_free(&typed);
    zn_test_ok(zn_packs_create(&t->packs, &err), &err);
    const zn_plan_options options = {
        .mode = ZN_PLAN_PLANES, .cpu = cpu, .threads = 1, .dnn = dnn, .packs = t->packs};
    zn_test_ok(zn_plan_create(&t->graph, &options, &t->plan, &err), &err);
    t->arena = need(zn_alloc(zn_plan_bytes(t->plan)));
    for (size_t i = 0; i <= t->count; i++)
        t->results[i] = need(zn_alloc(count_of(t->of[i]) * sizeof(float)));
}

// --- running ------------------------------------------------------------------------------------

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const training *t = cookie;
    const size_t width = input == 0 ? t->x_row : t->y_row;
    (void)err;
    memcpy(dst, (input == 0 ? t->x : t->target) + (size_t)row * width,
           (size_t)count * width * sizeof(float));
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    training *t = cookie;
    (void)err;
    if (output == 0) {
        memcpy(&t->loss, src, sizeof t->loss);
        return ZENITH_OK;
    }
    const size_t number = (size_t)output - 1;
    const bool map = number == t->count;
    const size_t width = map ? t->x_row : count_of(t->of[number]);
    memcpy(t->results[number] + (size_t)row * width, src, (size_t)count * width * sizeof(float));
    return ZENITH_OK;
}

static void run(training *t)
{
    zn_error err = {0};
    const zn_run run = {.read = read_rows, .write = write_rows, .cookie = t, .scalars = &t->scale};
    memset(t->arena, 0xff, zn_plan_bytes(t->plan)); // NaN: what was not written must not be read
    zn_test_ok(zn_plan_run(t->plan, t->arena, NULL, &run, &err), &err);
}

static void release(training *t) // what compile made
{
    zn_plan_free(t->plan);
    zn_packs_free(t->packs);
    zn_free(t->arena);
    zn_graph_free(&t->graph);
    for (size_t i = 0; i <= t->count; i++) zn_free(t->results[i]);
}

static void finish(training *t) // what build made
{
    zn_safetensors_free(t->golden);
    zn_graph_free(&t->plain);
    zn_free(t->block);
    free(t->x);
    free(t->target);
}

// --- against PyTorch ----------------------------------------------------------------------------

// The largest difference of the projections, as part of the gradient's length.
static double compare_tensor(const training *t, size_t number)
{
    char name[128];
    const bool input = number == t->count;
    if (input)
        snprintf(name, sizeof name, "%s.input.gradient", prefix(t));
    else
        snprintf(name, sizeof name, "%s.gradient", t->of[number]->name);
    const zn_file_tensor *tensor = zn_safetensors_find(t->golden, name);
    if (!tensor) fail_msg("%s: the golden has no %s", t->model, name);
    double golden[1 + PROJECTIONS], sums[1 + PROJECTIONS] = {0}, worst = 0;
    memcpy(golden, tensor->data, sizeof golden);
    for (size_t i = 0; i < count_of(t->of[number]); i++) {
        const double value = (double)(t->results[number][i] / t->scale);
        sums[0] += value * value;
        for (int k = 1; k <= PROJECTIONS; k++) sums[k] += value * cos((double)(i + 1) * k);
    }
    sums[0] = sqrt(sums[0]);
    for (int k = 0; k <= PROJECTIONS; k++)
        worst = fmax(worst, fabs(sums[k] - golden[k]) / golden[0]);
    return worst;
}

static double golden_number(const training *t, const char *what)
{
    char name[64];
    double number;
    snprintf(name, sizeof name, "%s.%s", prefix(t), what);
    const zn_file_tensor *tensor = zn_safetensors_find(t->golden, name);
    assert_non_null(tensor);
    memcpy(&number, tensor->data, sizeof number);
    return number;
}

// In f32 each gradient is within the bound, in smaller types their rms.
static void check_type(training *t, zn_type type, zn_dnn *dnn, double bound)
{
    compile(t, type, dnn);
    run(t);
    const double loss = golden_number(t, "loss");
    double worst = 0, squares = 0;
    if (!(fabs((double)t->loss - loss) <= bound * loss))
        fail_msg("%s %s: loss %.9g, not %.9g", t->model, prefix(t), (double)t->loss, loss);
    for (size_t i = 0; i <= t->count; i++) {
        const double error = compare_tensor(t, i);
        if (!(error <= bound) && type == ZN_F32)
            fail_msg("%s %s: the gradient of %s is %.3g off", t->model, prefix(t), t->of[i]->name,
                     error);
        worst = fmax(worst, error);
        if (i < t->count) squares += error * error;
    }
    const double rms = sqrt(squares / (double)t->count);
    print_message("%s %s, %s%s: %zu gradients, rms error %.2g, worst %.2g\n", t->model, prefix(t),
                  zn_type_name(type), dnn ? " with oneDNN" : "", t->count + 1, rms, worst);
    if (!(rms <= bound)) fail_msg("the bound is %.3g", bound);
    release(t);
}

// The gradients without recomputation and with it: the same bits.
static void check_recomputed(training *t, zn_type type, zn_dnn *dnn)
{
    float *kept[MAX_TENSORS];
    compile(t, type, dnn);
    run(t);
    const float loss = t->loss;
    const size_t nodes = t->graph.count;
    for (size_t i = 0; i <= t->count; i++) {
        kept[i] = t->results[i];
        t->results[i] = NULL;
    }
    release(t);
    t->recomputes = true;
    compile(t, type, dnn);
    run(t);
    assert_true(t->graph.count > nodes);
    assert_memory_equal(&t->loss, &loss, sizeof loss);
    for (size_t i = 0; i <= t->count; i++) {
        assert_memory_equal(t->results[i], kept[i], count_of(t->of[i]) * sizeof(float));
        zn_free(kept[i]);
    }
    release(t);
    t->recomputes = false;
}

typedef struct opened {
    zn_model *model;
    zn_dnn *dnn; // NULL: a build without oneDNN
} opened;

static opened open_model(const char *name)
{
    zn_error err = {0};
    opened o = {.model = NULL};
    const zn_cpu cpu = zn_cpu_detect();
    zn_test_need(zn_test_weights());
    const zn_model_request request = {
        .name = name,
        .weights = zn_test_weights(),
        .parts = zn_autoencoder_names(ZENITH_ENCODER | ZENITH_DECODER)};
    zn_test_ok(zn_model_open(&request, &o.model, &err), &err);
    (void)!zn_dnn_create(&cpu, &o.dnn, NULL);
    return o;
}

static void close_model(const opened *o)
{
    zn_dnn_free(o->dnn);
    zn_model_unref(o->model);
}

static training with_golden(const opened *o, const char *name, unsigned part)
{
    char file[64];
    training t = {.model = name, .part = part, .size = 32};
    snprintf(file, sizeof file, "tests/golden/gradients_%s.safetensors", name);
    t.golden = tensors_at(zn_test_path(zn_test_source(), file));
    build(&t, o->model);
    return t;
}

static void check_model(const char *name)
{
    const opened o = open_model(name);
    for (unsigned part = ZENITH_ENCODER; part <= ZENITH_DECODER; part <<= 1) {
        training t = with_golden(&o, name, part);
        check_type(&t, ZN_F32, NULL, 1e-4);
        if (o.dnn) check_type(&t, ZN_F32, o.dnn, 1e-4);
        check_type(&t, ZN_BF16, o.dnn, 1.5 * golden_number(&t, "bf16_error"));
        check_type(&t, ZN_F16, o.dnn, 1.5 / 3 * golden_number(&t, "bf16_error"));
        check_recomputed(&t, ZN_F32, o.dnn);
        check_recomputed(&t, ZN_BF16, o.dnn);
        check_recomputed(&t, ZN_F16, o.dnn);
        finish(&t);
    }
    close_model(&o);
}

ZN_TEST(taesd)
{
    check_model("taesd");
}

ZN_TEST(taef2)
{
    check_model("taef2");
}

// --- training -----------------------------------------------------------------------------------

static void step_down(training *t, float rate)
{
    float *weights = t->block;
    for (size_t i = 0; i < t->count; i++) {
        const size_t count = count_of(t->of[i]);
        for (size_t k = 0; k < count; k++) *weights++ -= rate * t->results[i][k];
    }
}

// A step, and then the refreshed plan against one that is made anew: the same bits.
static void check_step(training *t, zn_type type, zn_dnn *dnn)
{
    zn_error err = {0};
    float *kept = need(zn_alloc(t->block_count * sizeof(float)));
    memcpy(kept, t->block, t->block_count * sizeof(float));
    compile(t, type, dnn);
    run(t);
    const float before = t->loss;
    step_down(t, 1e-3f);
    zn_packs_refresh(t->packs, t->block, t->block_count * sizeof(float));
    zn_test_ok(zn_plan_refresh(t->plan, &err), &err);
    run(t);
    const float after = t->loss;
    print_message("%s%s: loss %g, after a step %g\n", zn_type_name(type), dnn ? " with oneDNN" : "",
                  (double)before, (double)after);
    assert_true(after < before);
    float *refreshed[MAX_TENSORS];
    for (size_t i = 0; i <= t->count; i++) {
        refreshed[i] = t->results[i];
        t->results[i] = NULL;
    }
    release(t);
    compile(t, type, dnn);
    run(t);
    assert_memory_equal(&t->loss, &after, sizeof after);
    for (size_t i = 0; i <= t->count; i++) {
        assert_memory_equal(t->results[i], refreshed[i], count_of(t->of[i]) * sizeof(float));
        zn_free(refreshed[i]);
    }
    release(t);
    memcpy(t->block, kept, t->block_count * sizeof(float));
    zn_free(kept);
}

ZN_TEST(a_step_reduces_the_loss)
{
    const opened o = open_model("taesd");
    for (unsigned part = ZENITH_ENCODER; part <= ZENITH_DECODER; part <<= 1) {
        training t = with_golden(&o, "taesd", part);
        for (int i = 0; i < 4; i++) {
            if (i % 2 == 1 && !o.dnn) continue;
            check_step(&t, i < 2 ? ZN_F32 : ZN_BF16, i % 2 == 1 ? o.dnn : NULL);
        }
        finish(&t);
    }
    close_model(&o);
}

// --- memory -------------------------------------------------------------------------------------

// What recomputation saves and costs at 256x256, from the plans.
static void check_savings(const zn_model *model, unsigned part, zn_type type, zn_dnn *dnn,
                          double most)
{
    training t = {.model = "taesd", .part = part, .size = 256};
    double bytes[2], flops[2];
    build(&t, model);
    for (int i = 0; i < 2; i++) {
        t.recomputes = i == 1;
        compile(&t, type, dnn);
        bytes[i] = (double)zn_plan_bytes(t.plan);
        flops[i] = zn_plan_flops(t.plan);
        release(&t);
    }
    const double memory = bytes[1] / bytes[0], work = flops[1] / flops[0];
    print_message("%s, %s: %.1f MB, recomputed %.3f of it for %.3f of the operations\n", prefix(&t),
                  zn_type_name(type), bytes[0] / 1e6, memory, work);
    if (!(memory <= most)) fail_msg("the bound is %.3f", most);
    assert_true(work <= 1.33);
    finish(&t);
}

ZN_TEST(recomputation_saves_memory)
{
    const opened o = open_model("taesd");
    for (int i = 0; i < 2; i++) {
        // Without AMX the rows of a bf16 map are widened where they are multiplied, with room for
        // it.
        const double room = i == 1 && !zn_cpu_has(zn_cpu_detect().flags, ZN_CPU_AMX) ? 0.08 : 0;
        const zn_type type = i == 0 ? ZN_F32 : ZN_BF16;
        check_savings(o.model, ZENITH_DECODER, type, o.dnn, 0.5 + room);
        // Four of its largest maps of seven are alive at its first block.
        check_savings(o.model, ZENITH_ENCODER, type, o.dnn, 0.62 + room);
    }
    close_model(&o);
}

// Maps in f16 take half of what f32 takes, and rows of a few maps are widened.
ZN_TEST(f16_saves_memory)
{
    const opened o = open_model("taesd");
    size_t bytes[2];
    training t = {.model = "taesd", .part = ZENITH_DECODER, .size = 128};
    build(&t, o.model);
    for (int i = 0; i < 2; i++) {
        compile(&t, i == 0 ? ZN_F32 : ZN_F16, o.dnn);
        bytes[i] = zn_plan_bytes(t.plan);
        for (size_t id = 0; i == 1 && id < t.graph.count; id++) {
            const zn_node *node = t.graph.nodes[id];
            const bool wide = node->kind == ZN_NODE_OP && zn_node_is_map(node) &&
                              node->desc.shape.dim[3] > 4;
            if (wide && node->desc.type != ZN_F16) fail_msg("'%s' is not f16", node->name);
        }
        release(&t);
    }
    print_message("f32 %.1f MB, f16 %.1f MB\n", (double)bytes[0] / 1e6, (double)bytes[1] / 1e6);
    assert_true((double)bytes[1] <= 0.6 * (double)bytes[0]);
    finish(&t);
    close_model(&o);
}
