// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The convolutions of a large autoencoder (128, 256, 512 and 512 channels, 512x512 pixels), one by one,
// as a plan runs them, beside oneDNN's convolution over the whole map and the multipliers' rate:
//
//     bench_layers [f32|bf16] [planes|rolling|auto] [ROUNDS [THREADS [FILTER]]]
//
// A layer "norm" has a group norm with SiLU before it and the moments of the next norm after it. Prints
// the best of the rounds, in milliseconds (CPU time of one thread, wall time of more) and as a share of the probe: operations of
// the direct convolution over time, so ways with fewer products may pass 1. FILTER: names that contain
// it alone.
#include "bench/burst.h"
#include "src/base/memory.h"
#include "src/base/random.h"
#include "src/dnn/dnn.h"
#include "src/graph/packs.h"
#include "src/graph/passes.h"
#include "src/graph/plan.h"
#include "src/op/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUPS = 32, MOST_CHANNELS = 512 };

typedef enum form { PLAIN, UPSAMPLED, NORMED, NORMED_RESIDUAL } form;

typedef struct layer {
    const char *name;
    form form;
    int64_t side, from, to; // side: of the map that is read
    int kernel, stride;
} layer;

static const layer layers[] = {
    {"conv3 16->512 at 64", PLAIN, 64, 16, 512, 3, 1},
    {"conv3 512->512 at 64", PLAIN, 64, 512, 512, 3, 1},
    {"conv3 512->512 at 128", PLAIN, 128, 512, 512, 3, 1},
    {"conv3 512->256 at 256", PLAIN, 256, 512, 256, 3, 1},
    {"conv3 256->256 at 256", PLAIN, 256, 256, 256, 3, 1},
    {"conv3 256->128 at 512", PLAIN, 512, 256, 128, 3, 1},
    {"conv3 128->128 at 512", PLAIN, 512, 128, 128, 3, 1},
    {"conv3 128->3 at 512", PLAIN, 512, 128, 3, 3, 1},
    {"up 512->512 at 64", UPSAMPLED, 64, 512, 512, 3, 1},
    {"up 512->512 at 128", UPSAMPLED, 128, 512, 512, 3, 1},
    {"up 256->256 at 256", UPSAMPLED, 256, 256, 256, 3, 1},
    {"conv1 512->256 at 256", PLAIN, 256, 512, 256, 1, 1},
    {"conv1 256->128 at 512", PLAIN, 512, 256, 128, 1, 1},
    {"conv3/2 128->128 at 512", PLAIN, 512, 128, 128, 3, 2},
    {"conv3/2 256->256 at 256", PLAIN, 256, 256, 256, 3, 2},
    {"conv3/2 512->512 at 128", PLAIN, 128, 512, 512, 3, 2},
    {"norm 512->512 at 64", NORMED, 64, 512, 512, 3, 1},
    {"norm 512->512 at 128", NORMED_RESIDUAL, 128, 512, 512, 3, 1},
    {"norm 256->256 at 256", NORMED_RESIDUAL, 256, 256, 256, 3, 1},
    {"norm 128->128 at 512", NORMED_RESIDUAL, 512, 128, 128, 3, 1},
};

typedef struct bench {
    const layer *l;
    zn_type type;
    zn_graph plain, fused, graph;
    zn_plan *plan;
    zn_packs *packs;
    zn_dnn *dnn;
    zn_team *team;
    void *arena;
    uint8_t *row, *weights; // row: one row of the input, given again and again
    size_t row_bytes;
    float *ones;
    bool filled; // planes: the input is there
} bench;

static zn_error err;

static void need(zenith_status status)
{
    if (status == ZENITH_OK) return;
    fprintf(stderr, "bench_layers: %s\n", err.text);
    exit(1);
}

static void *need_memory(size_t bytes)
{
    void *block = zn_alloc(bytes);
    if (!block) need(zn_fail_memory(&err, bytes));
    return block;
}

static clockid_t which_clock = CLOCK_THREAD_CPUTIME_ID;

static double now(void)
{
    struct timespec t;
    clock_gettime(which_clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *error)
{
    (void)input, (void)row, (void)error;
    const bench *b = cookie;
    for (int64_t i = 0; i < count && !b->filled; i++)
        memcpy((uint8_t *)dst + (size_t)i * b->row_bytes, b->row, b->row_bytes);
    return ZENITH_OK;
}

static zenith_status drop_rows(void *cookie, int output, int64_t row, int64_t count,
                               const void *src, zn_error *error)
{
    (void)cookie, (void)output, (void)row, (void)count, (void)src, (void)error;
    return ZENITH_OK;
}

static void *some_numbers(zn_type type, size_t count, float size)
{
    zn_random random = {.seed = 1};
    uint8_t *numbers = need_memory(count * zn_type_size(type));
    for (size_t i = 0; i < count; i++)
        zn_type_store(type, numbers, i, size * zn_random_normal(&random));
    return numbers;
}

static zn_node *vector(bench *b, const char *name, int64_t channels)
{
    const zn_tensor tensor = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(channels)), .data = b->ones};
    return zn_graph_parameter(&b->plain, name, tensor);
}

static void build(bench *b)
{
    const layer *l = b->l;
    zn_graph *g = &b->plain;
    zn_graph_begin(g, &err);
    zn_node *x = zn_graph_input(g, "x",
                                zn_desc_make(b->type, ZN_SHAPE(1, l->side, l->side, l->from)));
    zn_node *y = x;
    if (l->form == NORMED || l->form == NORMED_RESIDUAL) {
        y = zn_group_norm(g, "norm", y, vector(b, "gamma", l->from), vector(b, "beta", l->from),
                          GROUPS, 1e-6f);
        y = zn_activate(g, "silu", y, ZN_ACTIVATION_SILU);
    }
    if (l->form == UPSAMPLED) y = zn_upsample2(g, "double", y);
    const zn_tensor weight = {
        .desc = zn_desc_make(b->type, ZN_SHAPE(l->to, l->from, l->kernel, l->kernel)),
        .data = b->weights};
    y = zn_conv2d(g, "conv", y, zn_graph_parameter(g, "weight", weight), vector(b, "bias", l->to),
                  l->stride, l->kernel / 2);
    if (l->form == NORMED_RESIDUAL) y = zn_add(g, "sum", y, x);
    zn_graph_output(g, y);
    if (l->form == NORMED || l->form == NORMED_RESIDUAL) {
        zn_node *moments = zn_graph_add(g, &zn_op_row_moments, "moments", &y, 1,
                                        &(zn_row_moments_attributes){GROUPS});
        zn_graph_output(g, moments);
    }
    need(zn_graph_finish(g));
}

static void compile(bench *b, zn_plan_mode mode, int threads)
{
    const zn_cpu cpu = zn_cpu_detect();
    need(zn_pass_fuse(&b->plain, zn_ops, zn_ops_count, NULL, &b->fused, &err));
    need(zn_pass_fuse(&b->fused, zn_ops, zn_ops_count, &cpu, &b->graph, &err));
    need(zn_packs_create(&b->packs, &err));
    need(zn_team_create(threads, &b->team, &err));
    if (zn_dnn_create(&cpu, &b->dnn, &err) != ZENITH_OK) b->dnn = NULL;
    const zn_plan_options options = {
        .mode = mode, .cpu = cpu, .threads = threads, .dnn = b->dnn, .packs = b->packs};
    need(zn_plan_create(&b->graph, &options, &b->plan, &err));
    b->arena = need_memory(zn_plan_bytes(b->plan));
}

static double run_once(bench *b)
{
    const zn_run run = {.read = read_rows, .write = drop_rows, .cookie = b};
    const double begin = now();
    need(zn_plan_run(b->plan, b->arena, b->team, &run, &err));
    b->filled = b->l->form == PLAIN && zn_plan_chosen_mode(b->plan) == ZN_PLAN_PLANES;
    return now() - begin;
}

// oneDNN's convolution of the whole map with weights in its own layout; 0 where it has none.
typedef struct bare {
    zn_dnn_conv *conv;
    void *src, *dst, *packed, *scratch;
} bare;

static void open_bare(const bench *b, bare *o)
{
    const layer *l = b->l;
    const int64_t side = l->form == UPSAMPLED ? 2 * l->side : l->side;
    const int64_t rows = side + 2 * (l->kernel / 2), out = side / l->stride;
    const zn_dnn_conv_desc desc = {.rows_in = (out - 1) * l->stride + l->kernel,
                                   .width_in = side,
                                   .channels_in = l->from,
                                   .rows_out = out,
                                   .width_out = out,
                                   .channels_out = l->to,
                                   .kernel_h = l->kernel,
                                   .kernel_w = l->kernel,
                                   .stride = l->stride,
                                   .pad_left = l->kernel / 2,
                                   .pad_right = l->stride == 1 ? l->kernel / 2 : 0,
                                   .src = b->type,
                                   .weights = b->type,
                                   .dst = b->type,
                                   .bias = true,
                                   .src_scale = 1,
                                   .dst_scale = 1,
                                   .residual_scale = 1};
    zn_error why = {0};
    if (!b->dnn || zn_dnn_conv_create(b->dnn, &desc, &o->conv, &why) != ZENITH_OK) return;
    const size_t size = zn_type_size(b->type);
    o->src = some_numbers(b->type, (size_t)(rows * side * l->from), 1);
    o->dst = need_memory((size_t)(out * out * l->to) * size);
    o->packed = need_memory(zn_dnn_conv_layout(o->conv)->bytes);
    o->scratch = need_memory(zn_dnn_conv_scratch(o->conv) + 1);
    need(zn_dnn_conv_pack(o->conv, b->weights, o->packed, &err));
}

static double run_bare(const bench *b, const bare *o)
{
    if (!o->conv) return 0;
    const double begin = now();
    need(zn_dnn_conv_run(o->conv, o->src, o->packed, b->ones, o->dst, o->scratch, &err));
    return now() - begin;
}

static void close_all(bench *b, bare *o)
{
    void *blocks[] = {o->src, o->dst, o->packed, o->scratch, b->arena, b->row, b->weights, b->ones};
    zn_dnn_conv_free(o->conv);
    zn_plan_free(b->plan);
    zn_packs_free(b->packs);
    zn_dnn_free(b->dnn);
    zn_team_free(b->team);
    zn_graph_free(&b->plain);
    zn_graph_free(&b->fused);
    zn_graph_free(&b->graph);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) zn_free(blocks[i]);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void measure(const layer *l, zn_type type, zn_plan_mode mode, int rounds, int threads)
{
    bench b = {.l = l, .type = type};
    bare o = {0};
    const double out = (double)(l->form == UPSAMPLED ? 2 * l->side : l->side / l->stride);
    const double flops = 2 * out * out * (double)(l->from * l->to * l->kernel * l->kernel);
    b.row_bytes = (size_t)(l->side * l->from) * zn_type_size(type);
    b.row = some_numbers(type, (size_t)(l->side * l->from), 1);
    b.weights = some_numbers(type, (size_t)(l->from * l->to * l->kernel * l->kernel), 0.02f);
    b.ones = need_memory(MOST_CHANNELS * sizeof(float));
    for (int i = 0; i < MOST_CHANNELS; i++) b.ones[i] = 1;
    build(&b);
    compile(&b, mode, threads);
    open_bare(&b, &o);
    const char *unit = type == ZN_BF16 && zn_cpu_has(zn_cpu_detect().flags, ZN_CPU_AMX) ? "amx"
                                                                                        : "fma";
    double ours = 1e9, theirs = 1e9, probe = 0;
    run_once(&b);
    run_bare(&b, &o);
    for (int i = 0; i < rounds; i++) {
        const double rate = burst_rate(unit, threads);
        if (rate > probe) probe = rate;
        ours = least(ours, run_once(&b));
        theirs = least(theirs, run_bare(&b, &o));
    }
    printf(
        "%-24s %-4s %s %8.1f ms %5.2f of %4.0f   oneDNN %8.1f ms %5.2f   its time / ours %5.2f   "
        "%5.0f MB\n",
        l->name, zn_type_name(type),
        zn_plan_chosen_mode(b.plan) == ZN_PLAN_PLANES ? "planes " : "rolling", ours * 1e3,
        flops / ours * 1e-9 / probe, probe, theirs * 1e3,
        theirs > 0 ? flops / theirs * 1e-9 / probe : 0, theirs / ours,
        (double)zn_plan_bytes(b.plan) * 1e-6);
    fflush(stdout);
    close_all(&b, &o);
}

int main(int argc, char **argv)
{
    const zn_type type = argc > 1 && strcmp(argv[1], "bf16") == 0 ? ZN_BF16 : ZN_F32;
    const char *how = argc > 2 ? argv[2] : "auto";
    const zn_plan_mode mode = strcmp(how, "planes") == 0    ? ZN_PLAN_PLANES
                              : strcmp(how, "rolling") == 0 ? ZN_PLAN_ROLLING
                                                            : ZN_PLAN_AUTO;
    const int rounds = argc > 3 ? atoi(argv[3]) : 3, threads = argc > 4 ? atoi(argv[4]) : 1;
    if (rounds < 1 || threads < 1 || threads > BURST_MOST_THREADS) {
        fprintf(stderr, "usage: bench_layers [f32|bf16] [planes|rolling|auto] [ROUNDS [THREADS "
                        "[FILTER]]]\n");
        return 2;
    }
    if (threads > 1) which_clock = CLOCK_MONOTONIC;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (argc > 5 && !strstr(layers[i].name, argv[5])) continue;
        measure(&layers[i], type, mode, rounds, threads);
    }
    return 0;
}
