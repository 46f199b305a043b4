// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What share of the multipliers' rate does the block reach that these networks consist of? Three 3x3
// convolutions from 64 to 64 channels with relu and residual, in bf16, as a plan runs them in rolling
// rows, beside the probe on registers, one thread.
//
//     bench_block [SIDE [ROUNDS]]
//
// Prints the median share of the rounds in which the probe moved by no more than 10 %.
#include "bench/burst.h"
#include "src/base/memory.h"
#include "src/base/random.h"
#include "src/graph/packs.h"
#include "src/graph/plan.h"
#include "src/op/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHANNELS = 64, LAYERS = 3, WEIGHTS = CHANNELS * CHANNELS * 9, MOST_ROUNDS = 1000 };

typedef struct bench {
    int64_t side;
    zn_graph graph;
    zn_plan *plan;
    zn_packs *packs;
    void *arena;
    uint8_t *row; // one row of the input, given again and again
    uint16_t weights[LAYERS][WEIGHTS];
    float bias[CHANNELS];
} bench;

static zn_error err;

static void need(zenith_status status)
{
    if (status == ZENITH_OK) return;
    fprintf(stderr, "bench_block: %s\n", err.text);
    exit(1);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *error)
{
    (void)input, (void)row, (void)error;
    const bench *b = cookie;
    const size_t bytes = (size_t)b->side * CHANNELS * sizeof(uint16_t);
    for (int64_t i = 0; i < count; i++) memcpy((uint8_t *)dst + (size_t)i * bytes, b->row, bytes);
    return ZENITH_OK;
}

static zenith_status drop_rows(void *cookie, int output, int64_t row, int64_t count,
                               const void *src, zn_error *error)
{
    (void)cookie, (void)output, (void)row, (void)count, (void)src, (void)error;
    return ZENITH_OK;
}

static zn_node *layer(bench *b, int number, zn_node *x, zn_node *residual)
{
    const zn_tensor weight = {.desc = zn_desc_make(ZN_BF16, ZN_SHAPE(CHANNELS, CHANNELS, 3, 3)),
                              .data = b->weights[number]};
    const zn_tensor bias = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(CHANNELS)), .data = b->bias};
    const zn_conv2d_fused_attributes how = {
        .stride = 1, .pad = 1, .bias = true, .residual = residual != NULL, .relu = true};
    zn_node *inputs[] = {x, zn_graph_parameter(&b->graph, "weight", weight),
                         zn_graph_parameter(&b->graph, "bias", bias), residual};
    return zn_graph_add(&b->graph, &zn_op_conv2d_fused, "conv", inputs, residual ? 4 : 3, &how);
}

static void fill(uint16_t *dst, size_t count, float size, zn_random *random)
{
    for (size_t i = 0; i < count; i++) dst[i] = zn_f32_to_bf16(size * zn_random_normal(random));
}

static void open_bench(bench *b)
{
    zn_random random = {.seed = 1};
    const size_t row = (size_t)b->side * CHANNELS;
    b->row = zn_alloc(row * sizeof(uint16_t));
    if (!b->row) need(zn_fail_memory(&err, row));
    fill((uint16_t *)b->row, row, 1, &random);
    fill(b->weights[0], LAYERS * WEIGHTS, 0.04f, &random);
    zn_graph_begin(&b->graph, &err);
    const zn_desc map = zn_desc_make(ZN_BF16, ZN_SHAPE(1, b->side, b->side, CHANNELS));
    zn_node *x = zn_graph_input(&b->graph, "x", map), *y = x;
    for (int i = 0; i < LAYERS; i++) y = layer(b, i, y, i == LAYERS - 1 ? x : NULL);
    zn_graph_output(&b->graph, y);
    need(zn_graph_finish(&b->graph));
    need(zn_packs_create(&b->packs, &err));
    const zn_plan_options options = {.mode = ZN_PLAN_ROLLING,
                                     .band = 8,
                                     .cpu = zn_cpu_detect(),
                                     .threads = 1,
                                     .packs = b->packs};
    need(zn_plan_create(&b->graph, &options, &b->plan, &err));
    b->arena = zn_alloc(zn_plan_bytes(b->plan));
    if (!b->arena) need(zn_fail_memory(&err, zn_plan_bytes(b->plan)));
}

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double run_once(bench *b)
{
    const zn_run run = {.read = read_rows, .write = drop_rows, .cookie = b};
    const double begin = cpu_seconds();
    need(zn_plan_run(b->plan, b->arena, NULL, &run, &err));
    return cpu_seconds() - begin;
}

static int in_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(bench *b, int rounds)
{
    static double shares[MOST_ROUNDS], rates[MOST_ROUNDS];
    const double flops = 2.0 * LAYERS * WEIGHTS * (double)b->side * (double)b->side;
    int kept = 0;
    run_once(b);
    for (int i = 0; i < rounds; i++) {
        const double before = burst_rate("amx", 1), seconds = run_once(b);
        const double after = burst_rate("amx", 1), high = before > after ? before : after;
        if (high == 0 || (before > after ? before - after : after - before) > 0.1 * high) continue;
        rates[kept] = flops / seconds * 1e-9;
        shares[kept] = rates[kept] / ((before + after) / 2);
        kept++;
    }
    qsort(shares, (size_t)kept, sizeof *shares, in_order);
    qsort(rates, (size_t)kept, sizeof *rates, in_order);
    if (kept == 0) printf("no round was steady, or there is no AMX\n");
    if (kept > 0)
        printf("block at %lldx%lld, bf16: %.0f GFLOP/s, %.0f %% of the probe (lowest %.0f, highest "
               "%.0f); %d of %d rounds kept\n",
               (long long)b->side, (long long)b->side, rates[kept / 2], 100 * shares[kept / 2],
               100 * shares[0], 100 * shares[kept - 1], kept, rounds);
}

int main(int argc, char **argv)
{
    static bench b;
    const int rounds = argc > 2 ? atoi(argv[2]) : 60;
    b.side = argc > 1 ? atoi(argv[1]) : 512;
    if (b.side < 8 || b.side > 8192 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: bench_block [SIDE [ROUNDS]]\n");
        return 2;
    }
    open_bench(&b);
    measure(&b, rounds);
    zn_plan_free(b.plan);
    zn_packs_free(b.packs);
    zn_graph_free(&b.graph);
    zn_free(b.arena);
    zn_free(b.row);
    return 0;
}
