// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Group norm with SiLU over a large map, beside one plain pass that reads and writes the same map:
//
//     bench_norms [side [channels [rounds]]]
//
// prints, for f32 and bf16 on one thread, the seconds of the pass (a loop of loads and stores, no
// arithmetic), of the group norm's last step with SiLU, and of the statistics (row_moments), each
// the best of the rounds, interleaved; one JSON object a line.
#include "src/base/memory.h"
#include "src/graph/packs.h"
#include "src/kernel/kernels.h"
#include "src/op/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUPS = 32 };

typedef struct setting {
    zn_type type;
    int64_t side, channels;
    size_t bytes; // of the map
    void *src, *dst;
    double *moments;
    zn_lowering *norm;
    const void *inputs[4];
    void *scratch;
} setting;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy_pass(setting *s) // 32 bytes at a time, as compilers write a plain loop
{
    typedef uint64_t four __attribute__((vector_size(32)));
    const four *src = s->src;
    four *dst = s->dst;
    for (size_t i = 0; i < s->bytes / sizeof *src; i++) {
        dst[i] = src[i];
        __asm__ volatile("" ::: "memory"); // not memcpy, which writes around the cache
    }
}

static void norm_pass(setting *s)
{
    zn_error err = {0};
    zn_call call = {.inputs = s->inputs, .output = s->dst, .rows = s->side, .scratch = s->scratch};
    if (s->norm->run(s->norm, &call, &err) != ZENITH_OK) exit(1);
}

static void moments_pass(setting *s)
{
    const size_t row = s->bytes / (size_t)s->side;
    zn_kernels kernels;
    zn_kernels_init(&kernels, zn_cpu_detect().flags);
    for (int64_t y = 0; y < s->side; y++)
        kernels.row_moments(s->type, 1, (uint8_t *)s->src + (size_t)y * row, s->side, s->channels,
                            GROUPS, s->moments + 2 * GROUPS * y);
}

static double best_of(setting *s, void (*pass)(setting *), double best)
{
    const double start = now();
    pass(s);
    const double took = now() - start;
    return took < best ? took : best;
}

static void *need(void *block)
{
    if (!block) exit(1);
    return block;
}

static void lower_norm(setting *s, zn_graph *graph, zn_packs *packs, zn_error *err)
{
    static float ones[4096], stats[2 * GROUPS];
    for (int i = 0; i < 4096; i++) ones[i] = 1;
    for (int i = 0; i < GROUPS; i++) stats[2 * i + 1] = 1;
    const zn_tensor vector = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(s->channels)), .data = ones};
    zn_graph_begin(graph, err);
    zn_node *x = zn_graph_input(graph, "x",
                                zn_desc_make(s->type, ZN_SHAPE(1, s->side, s->side, s->channels)));
    zn_node *st = zn_graph_input(graph, "stats", zn_desc_make(ZN_F32, ZN_SHAPE(1, GROUPS, 2)));
    zn_node *gamma = zn_graph_parameter(graph, "gamma", vector);
    zn_node *beta = zn_graph_parameter(graph, "beta", vector);
    zn_node *y = zn_graph_add(graph, &zn_op_group_norm_fused, "y",
                              (zn_node *[]){x, st, gamma, beta}, 4,
                              &(zn_activation_attributes){ZN_ACTIVATION_SILU});
    static zn_kernels kernels; // as long as the lowering
    const zn_cpu cpu = zn_cpu_detect();
    zn_kernels_init(&kernels, cpu.flags);
    const zn_lowering_request request = {.node = need(y),
                                         .rows = s->side,
                                         .cpu = cpu,
                                         .kernels = &kernels,
                                         .threads = 1,
                                         .packs = packs};
    if (y->op->lower(&request, &s->norm, err) != ZENITH_OK) exit(1);
    s->inputs[0] = s->src;
    s->inputs[1] = stats;
    s->scratch = need(zn_alloc(s->norm->scratch_bytes + 1));
}

static void measure(zn_type type, int64_t side, int64_t channels, int rounds)
{
    zn_error err = {0};
    zn_graph graph;
    zn_packs *packs = NULL;
    setting s = {.type = type, .side = side, .channels = channels};
    s.bytes = (size_t)(side * side * channels) * zn_type_size(type);
    s.src = need(zn_alloc(s.bytes));
    s.dst = need(zn_alloc(s.bytes));
    s.moments = need(zn_alloc((size_t)side * 2 * GROUPS * sizeof(double)));
    for (size_t i = 0; i < s.bytes / zn_type_size(type); i++)
        zn_type_store(type, s.src, i, (float)(i * 37 % 1001) * 0.01f - 5);
    memset(s.dst, 0, s.bytes);
    if (zn_packs_create(&packs, &err) != ZENITH_OK) exit(1);
    lower_norm(&s, &graph, packs, &err);
    double pass = 1e9, norm = 1e9, moments = 1e9;
    for (int r = 0; r < rounds; r++) {
        pass = best_of(&s, copy_pass, pass);
        norm = best_of(&s, norm_pass, norm);
        moments = best_of(&s, moments_pass, moments);
    }
    printf("{\"what\": \"norm\", \"type\": \"%s\", \"side\": %lld, \"channels\": %lld, \"pass_s\": "
           "%.4f, "
           "\"norm_silu_s\": %.4f, \"ratio\": %.3f, \"moments_s\": %.4f, \"scratch_bytes\": %zu}\n",
           zn_type_name(type), (long long)side, (long long)channels, pass, norm, norm / pass,
           moments, s.norm->scratch_bytes);
    s.norm->free(s.norm);
    zn_free(s.scratch);
    zn_packs_free(packs);
    zn_graph_free(&graph);
    zn_free(s.moments);
    zn_free(s.dst);
    zn_free(s.src);
}

int main(int argc, char **argv)
{
    const int64_t side = argc > 1 ? atoll(argv[1]) : 1024,
                  channels = argc > 2 ? atoll(argv[2]) : 128;
    const int rounds = argc > 3 ? atoi(argv[3]) : 5;
    if (side < 1 || channels < GROUPS || channels > 4096 || channels % GROUPS || rounds < 1)
        return 2;
    measure(ZN_F32, side, channels, rounds);
    measure(ZN_BF16, side, channels, rounds);
    return 0;
}
