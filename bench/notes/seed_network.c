// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/notes/seed_network.h"

#include "bench/notes/naive_conv.h"
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/op/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_PARAMETERS = 512 };
zn_error seeds_error;

void seeds_need(zenith_status status)
{
    if (status == ZENITH_OK) return;
    fprintf(stderr, "bench_seeds: %s\n", seeds_error.text);
    exit(1);
}

static void *need_memory(void *block)
{
    if (!block) seeds_need(zn_fail_memory(&seeds_error, 0));
    return block;
}

double seeds_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// --- building -----------------------------------------------------------------------------------

// Gates near one, so that values neither vanish nor grow; scores by the wish.
static void fill(seed_network *n, const char *name, const zn_shape *shape, float *values,
                 size_t count)
{
    const bool score = zn_text_ends_with(name, ".score");
    const float spread = shape->rank == 4 ? sqrtf(1.0f / (float)((int64_t)count / shape->dim[0]))
                                          : 0.1f;
    for (size_t i = 0; i < count; i++) {
        values[i] = spread * zn_random_normal(&n->random);
        if (shape->rank == 2 && zn_text_ends_with(name, ".weight")) values[i] += 1;
        if (score) values[i] = (float)i < n->pruned * (float)count ? -1 : 1;
    }
}

static zn_node *invent(void *cookie, zn_graph *graph, const char *name, const zn_shape *asked)
{
    seed_network *n = cookie;
    zn_shape full = *asked;
    const zn_shape *shape = &full;
    size_t count = 0;
    for (int i = 0; i < full.rank; i++) // of sizes that weights may change: what they are unpruned
        if (full.dim[i] < 0) full.dim[i] = -full.dim[i];
    if (!zn_shape_elements(shape, &count)) seeds_need(ZENITH_INTERNAL);
    if (n->blocks_count == MOST_PARAMETERS) seeds_need(ZENITH_INTERNAL);
    float *values = need_memory(zn_alloc(count * sizeof *values));
    n->blocks[n->blocks_count++] = values;
    fill(n, name, shape, values, count);
    return zn_graph_parameter(graph, name,
                              (zn_tensor){.desc = zn_desc_make(ZN_F32, *shape), .data = values});
}

void seed_network_begin(seed_network *n)
{
    *n = (seed_network){.random = {.seed = 1}};
    n->blocks = need_memory(zn_alloc_zero(MOST_PARAMETERS * sizeof *n->blocks));
    zn_graph_begin(&n->plain, &seeds_error);
    n->scope = (zn_scope){.graph = &n->plain, .parameter = invent, .cookie = n, .prefix = ""};
}

zn_node *seed_network_input(seed_network *n, int64_t height, int64_t width, int64_t channels)
{
    return zn_graph_input(&n->plain, "x",
                          zn_desc_make(ZN_F32, ZN_SHAPE(1, height, width, channels)));
}

zn_node *seed_network_add(seed_network *n, const char *variant, unsigned part, zn_node *x)
{
    const zn_variant *found = zn_variant_find(variant);
    if (!found) seeds_need(zn_fail(&seeds_error, ZENITH_NOT_FOUND, "no model %s", variant));
    const int64_t divisor = part == ZENITH_ENCODER ? found->autoencoder->factor : 1;
    const int64_t *dim = x ? x->desc.shape.dim : (const int64_t[4]){0};
    const zn_sizes sizes = {.height = dim[1] / divisor, .width = dim[2] / divisor};
    zn_node *y = NULL;
    zn_part_build(zn_autoencoder_part(zn_family_of(found), part), &n->scope, found, &sizes, &x, &y);
    return y;
}

// --- compiling ----------------------------------------------------------------------------------

static void add_gradients(seed_network *n, zn_node *y)
{
    zn_node *of[MOST_PARAMETERS], *gradients[MOST_PARAMETERS];
    size_t count = 0;
    for (size_t id = 0; id < n->plain.count; id++)
        if (n->plain.nodes[id]->kind == ZN_NODE_PARAMETER) of[count++] = n->plain.nodes[id];
    zn_node *target = zn_graph_input(&n->plain, "target", y->desc);
    zn_node *loss = zn_difference_loss(&n->plain, "loss", y, target,
                                       (zn_difference_attributes){ZN_DIFFERENCE_MSE, 0});
    zn_graph_gradients(&n->plain, loss, of, count, zn_add, gradients);
    zn_graph_output(&n->plain, loss);
    for (size_t i = 0; i < count; i++)
        if (gradients[i]) zn_graph_output(&n->plain, gradients[i]);
}

static size_t largest_input(const zn_graph *graph)
{
    size_t most = 1;
    for (size_t id = 0; id < graph->count; id++) {
        size_t bytes = 0;
        if (graph->nodes[id]->kind != ZN_NODE_INPUT) continue;
        if (zn_desc_bytes(&graph->nodes[id]->desc, &bytes) && bytes > most) most = bytes;
    }
    return most;
}

void seed_network_compile(seed_network *n, zn_node *y, zn_type type, bool gradients)
{
    const zn_cpu cpu = zn_cpu_detect();
    static zn_dnn *dnn; // one for all
    zn_graph fused, typed;
    const zn_type_policy policy = {.type = type, .convert = zn_convert_as};
    if (!dnn) (void)!zn_dnn_create(&cpu, &dnn, NULL);
    seeds_need(n->plain.status);
    if (gradients)
        add_gradients(n, y);
    else
        zn_graph_output(&n->plain, y);
    seeds_need(zn_graph_finish(&n->plain));
    seeds_need(zn_pass_fuse(&n->plain, zn_ops, zn_ops_count, NULL, &fused, &seeds_error));
    seeds_need(zn_pass_types(&fused, &policy, &typed, &seeds_error));
    seeds_need(zn_pass_fuse(&typed, zn_ops, zn_ops_count, &cpu, &n->graph, &seeds_error));
    zn_graph_free(&fused);
    zn_graph_free(&typed);
    seeds_need(zn_packs_create(&n->packs, &seeds_error));
    const zn_plan_options options = {.mode = gradients ? ZN_PLAN_PLANES : ZN_PLAN_AUTO,
                                     .cpu = cpu,
                                     .threads = 1,
                                     .dnn = dnn,
                                     .packs = n->packs};
    seeds_need(zn_plan_create(&n->graph, &options, &n->plan, &seeds_error));
    n->arena = need_memory(zn_alloc(zn_plan_bytes(n->plan)));
    const size_t bytes = largest_input(&n->plain);
    n->rows = need_memory(zn_alloc(bytes));
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        ((float *)(void *)n->rows)[i] = zn_random_unit(&n->random);
}

// --- running ------------------------------------------------------------------------------------

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const seed_network *n = cookie;
    const zn_node *node = NULL;
    (void)row, (void)err;
    for (size_t id = 0; id < n->graph.count && input >= 0; id++)
        if (n->graph.nodes[id]->kind == ZN_NODE_INPUT && input-- == 0) node = n->graph.nodes[id];
    const int64_t *dim = node->desc.shape.dim;
    memcpy(dst, n->rows, (size_t)(count * dim[2] * dim[3]) * zn_type_size(node->desc.type));
    return ZENITH_OK;
}

static zenith_status drop_rows(void *cookie, int output, int64_t row, int64_t count,
                               const void *src, zn_error *err)
{
    (void)cookie, (void)output, (void)row, (void)count, (void)src, (void)err;
    return ZENITH_OK;
}

double seed_network_run(seed_network *n)
{
    const zn_run run = {.read = read_rows, .write = drop_rows, .cookie = n};
    const double begin = seeds_seconds();
    seeds_need(zn_plan_run(n->plan, n->arena, NULL, &run, &seeds_error));
    return seeds_seconds() - begin;
}

double seed_network_best(seed_network *n, int runs)
{
    double best = 1e30;
    for (int i = 0; i < runs; i++) best = fmin(best, seed_network_run(n));
    return best;
}

void seed_network_free(seed_network *n)
{
    zn_plan_free(n->plan);
    zn_packs_free(n->packs);
    zn_graph_free(&n->graph);
    zn_graph_free(&n->plain);
    zn_free(n->arena);
    for (size_t i = 0; i < n->blocks_count; i++) zn_free(n->blocks[i]);
    zn_free(n->blocks);
    zn_free(n->rows);
}

// --- work ---------------------------------------------------------------------------------------

double seed_network_flops(const seed_network *n)
{
    double flops = 0;
    for (size_t id = 0; id < n->plain.count; id++)
        if (n->plain.nodes[id]->kind == ZN_NODE_OP) flops += zn_node_flops(n->plain.nodes[id]);
    return flops;
}

static void add_naive(const zn_node *node, int rows, bool gradients, seed_naive *sum)
{
    const zn_conv2d_attributes *a = node->attributes;
    const int64_t *x = node->inputs[0]->desc.shape.dim, *y = node->desc.shape.dim;
    const naive_conv conv = {.height = (int)y[1],
                             .width = (int)y[2],
                             .src_width = (int)x[2],
                             .src_height = (int)x[1],
                             .in = (int)x[3],
                             .out = (int)y[3],
                             .kernel = (int)node->inputs[1]->desc.shape.dim[2],
                             .stride = a->stride,
                             .pad = a->pad};
    sum->forward += naive_conv_seconds(&conv, rows, NAIVE_FORWARD);
    if (!gradients) return;
    sum->backward += naive_conv_seconds(&conv, rows, NAIVE_DATA);
    sum->backward += naive_conv_seconds(&conv, rows, NAIVE_WEIGHTS);
}

seed_naive seed_network_naive(const seed_network *n, int rows, bool gradients)
{
    seed_naive sum = {0};
    for (size_t id = 0; id < n->plain.count; id++) {
        const zn_node *node = n->plain.nodes[id];
        if (node->kind == ZN_NODE_OP && node->op == &zn_op_conv2d)
            add_naive(node, rows, gradients, &sum);
    }
    return sum;
}
