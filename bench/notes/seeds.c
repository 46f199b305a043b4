// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The measurements behind bench/notes/seeds.py: the models of the Zenith documents, their blocks, and what
// pruning saves, on one thread, CPU time, the best of some runs. Each line that it prints is JSON.
//
//     bench_seeds model NAME SIDE TYPE RUNS      one autoencoder, encoder and decoder
//     bench_seeds train NAME SIDE TYPE RUNS      the same with all gradients
//     bench_seeds naive NAME SIDE ROWS           its convolutions as plain loops, one row in ROWS
//     bench_seeds naive-train NAME SIDE ROWS     the same with gradients
//     bench_seeds block TYPE ROUNDS              ZenithLite beside TAESD's block at 64x256x256
//     bench_seeds steps ROUNDS                   the steps of the ZenithLite block in f32, one by one
//     bench_seeds sparse TYPE ROUNDS             a ZenithBlock with none, a half, 3/4 of it pruned
#include "bench/notes/seed_network.h"
#include "src/kernel/kernels.h"
#include "src/model/autoencoder.h"
#include "src/nn/layers.h"
#include "src/nn/zenith_blocks.h"
#include "src/op/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static zn_type type_of(const char *name)
{
    return strcmp(name, "bf16") == 0 ? ZN_BF16 : ZN_F32;
}

// --- models -------------------------------------------------------------------------------------

static zn_node *open_part(seed_network *n, const char *name, unsigned part, int64_t side)
{
    seed_network_begin(n);
    const zn_variant *variant = zn_variant_find(name);
    if (!variant) seeds_need(zn_fail(&seeds_error, ZENITH_NOT_FOUND, "no model %s", name));
    const int64_t low = side / variant->autoencoder->factor;
    zn_node *x = part == ZENITH_ENCODER
                     ? seed_network_input(n, side, side, 3)
                     : seed_network_input(n, low, low, variant->autoencoder->latent_channels);
    zn_node *y = seed_network_add(n, name, part, x);
    seeds_need(n->plain.status);
    return y;
}

static void measure_model(const char *name, int64_t side, const char *type, int runs)
{
    double ms[2], flops[2];
    for (unsigned part = ZENITH_ENCODER; part <= ZENITH_DECODER; part <<= 1) {
        seed_network n;
        seed_network_compile(&n, open_part(&n, name, part, side), type_of(type), false);
        flops[part - 1] = seed_network_flops(&n);
        seed_network_run(&n);
        ms[part - 1] = 1e3 * seed_network_best(&n, runs);
        seed_network_free(&n);
    }
    printf("{\"model\": \"%s\", \"type\": \"%s\", \"side\": %lld, \"encode_ms\": %.3f, "
           "\"decode_ms\": %.3f, \"encode_gflop\": %.3f, \"decode_gflop\": %.3f}\n",
           name, type, (long long)side, ms[0], ms[1], flops[0] * 1e-9, flops[1] * 1e-9);
}

static zn_node *whole(seed_network *n, const char *name, int64_t side)
{
    zn_node *x = seed_network_input(n, side, side, 3);
    x = seed_network_add(n, name, ZENITH_ENCODER, x);
    return seed_network_add(n, name, ZENITH_DECODER, x);
}

static void measure_training(const char *name, int64_t side, const char *type, int runs)
{
    double ms[2];
    for (int gradients = 0; gradients < 2; gradients++) {
        seed_network n;
        seed_network_begin(&n);
        zn_node *y = whole(&n, name, side);
        seed_network_compile(&n, y, type_of(type), gradients);
        seed_network_run(&n);
        ms[gradients] = 1e3 * seed_network_best(&n, runs);
        seed_network_free(&n);
    }
    printf("{\"model\": \"%s\", \"type\": \"%s\", \"side\": %lld, \"forward_ms\": %.3f, "
           "\"total_ms\": %.3f}\n",
           name, type, (long long)side, ms[0], ms[1]);
}

static void measure_naive(const char *name, int64_t side, int rows, bool gradients)
{
    seed_naive parts[2];
    for (unsigned part = ZENITH_ENCODER; part <= ZENITH_DECODER; part <<= 1) {
        seed_network n;
        open_part(&n, name, part, side);
        parts[part - 1] = seed_network_naive(&n, rows, gradients);
        seed_network_free(&n);
    }
    printf("{\"model\": \"%s\", \"side\": %lld, \"naive\": true, \"encode_ms\": %.1f, "
           "\"decode_ms\": %.1f, \"backward_ms\": %.1f}\n",
           name, (long long)side, 1e3 * parts[0].forward, 1e3 * parts[1].forward,
           1e3 * (parts[0].backward + parts[1].backward));
}

// --- blocks -------------------------------------------------------------------------------------

typedef zn_node *block_fn(seed_network *n, zn_node *x);

enum { DEPTH = 4 }; // blocks in a row, so that reading the input counts little

static zn_node *taesd_block(seed_network *n, zn_node *x)
{
    return zn_nn_residual(&n->scope, "block", x);
}

static zn_node *lite_block(seed_network *n, zn_node *x)
{
    return zn_nn_zenith_lite(&n->scope, "block", x, ZN_NN_MIX_GROUPS);
}

// Without its transforms: what is left is the mixing of channels.
static zn_node *mixing_only(seed_network *n, zn_node *x)
{
    zn_node *y = x;
    for (int i = 0; i < 2; i++) {
        zn_node *weight = zn_scope_parameter(&n->scope, i ? "expand" : "compress", ".weight",
                                             ZN_SHAPE(64, 16, 1, 1));
        zn_node *bias = zn_scope_parameter(&n->scope, i ? "expand" : "compress", ".bias",
                                           ZN_SHAPE(64));
        y = zn_grouped_conv(&n->plain, "mix", y, weight, bias, 4);
    }
    return zn_relu(&n->plain, "y", zn_add(&n->plain, "skip", y, x));
}

static void open_block(seed_network *n, block_fn *block, zn_type type)
{
    seed_network_begin(n);
    // The input and the result are in the type of the block: a block lies between others.
    zn_node *x = zn_graph_input(&n->plain, "x", zn_desc_make(type, ZN_SHAPE(1, 256, 256, 64)));
    for (int i = 0; i < DEPTH; i++) x = block(n, x);
    seed_network_compile(n, x, type, false);
}

static void measure_blocks(const char *type, int rounds)
{
    static block_fn *const blocks[] = {lite_block, taesd_block, mixing_only};
    static const char *const names[] = {"zenith_lite", "taesd", "mixing"};
    seed_network n[3];
    double best[3] = {1e30, 1e30, 1e30};
    for (int i = 0; i < 3; i++) open_block(&n[i], blocks[i], type_of(type));
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 3; i++) best[i] = fmin(best[i], seed_network_run(&n[i]));
    for (int i = 0; i < 3; i++) {
        printf("{\"block\": \"%s\", \"type\": \"%s\", \"ms\": %.3f, \"gflop\": %.3f}\n", names[i],
               type, 1e3 * best[i] / DEPTH, seed_network_flops(&n[i]) * 1e-9 / DEPTH);
        seed_network_free(&n[i]);
    }
}

// The steps of zenith_lite (src/op/spectral/zenith_lite.c) in f32 with the kernels that it calls. `put` lays rows
// into strips, `copy` is what reading x again and writing y costs: a copy of the map.
typedef struct steps {
    float *x, *y, *strips, *values, *scratch, *gate, *weights;
    const zn_walsh *walsh;
    zn_grouped_product_fn *product;
} steps;

enum { MAP = 256, WIDE = 64, STRIP = 16, MAP_VALUES = MAP * MAP * WIDE };
static const char *const step_names[] = {"compress", "rows", "put", "columns", "expand", "copy"};

static void transform(const steps *s, const float *src, float *dst, size_t step)
{
    const size_t most = zn_walsh_group(MAP);
    for (size_t c = 0; c < WIDE; c += most) {
        const zn_walsh_lines lines = {.length = MAP, .step = step, .count = most};
        s->walsh->gate(&lines, src + c, dst + c, s->gate + c * MAP, s->scratch);
    }
}

// Each step over the whole map, on the same part of memory in the cache where the block has it there.
static void measure_steps_once(steps *s, double *taken)
{
    const size_t row = MAP * WIDE, piece = STRIP * WIDE;
    zn_grouped_product_args mix = {
        .weights = s->weights, .dst = s->values, .groups = 4, .inputs = 16, .outputs = 16};
    double marks[7] = {seeds_seconds()};
    for (size_t i = 0; i < MAP; i++) {
        mix.src = s->x + i * row;
        s->product(&mix, 0, MAP);
    }
    marks[1] = seeds_seconds();
    for (size_t i = 0; i < MAP; i++) transform(s, s->values, s->values, WIDE);
    marks[2] = seeds_seconds();
    for (size_t i = 0; i < MAP; i++)
        for (size_t k = 0; k < MAP / STRIP; k++)
            memcpy(s->strips + (k * MAP + i) * piece, s->values + k * piece, piece * sizeof(float));
    marks[3] = seeds_seconds();
    for (size_t k = 0; k < MAP / STRIP; k++)
        for (size_t p = 0; p < STRIP; p++)
            transform(s, s->strips + k * MAP * piece + p * WIDE, s->values + p * WIDE, piece);
    marks[4] = seeds_seconds();
    for (size_t k = 0; k < MAP / STRIP; k++) {
        for (size_t i = 0; i < MAP; i++) {
            mix.src = s->values + i * piece;
            mix.dst = s->scratch;
            s->product(&mix, 0, STRIP);
        }
    }
    marks[5] = seeds_seconds();
    memcpy(s->y, s->x, MAP_VALUES * sizeof(float));
    marks[6] = seeds_seconds();
    for (int i = 0; i < 6; i++) taken[i] = marks[i + 1] - marks[i];
}

static float *make_values(size_t count)
{
    float *values = zn_alloc(count * sizeof *values);
    if (!values) seeds_need(zn_fail_memory(&seeds_error, count));
    for (size_t i = 0; i < count; i++) values[i] = 0.003f * (float)(i % 13);
    return values;
}

static void measure_steps(int rounds)
{
    zn_kernels kernels;
    zn_kernels_init(&kernels, zn_cpu_detect().flags);
    steps s = {.x = make_values(MAP_VALUES),
               .y = make_values(MAP_VALUES),
               .strips = make_values(MAP_VALUES),
               .values = make_values(MAP * STRIP * WIDE),
               .scratch = make_values(MAP * WIDE),
               .gate = make_values(MAP * WIDE),
               .weights = make_values(4 * 16 * 16),
               .walsh = kernels.walsh,
               .product = kernels.grouped_product};
    double best[6];
    for (int round = 0; round <= rounds; round++) {
        double taken[6];
        measure_steps_once(&s, taken);
        for (int i = 0; i < 6; i++) best[i] = round == 0 ? 1e30 : fmin(best[i], taken[i]);
    }
    printf("{\"block\": \"zenith_lite\"");
    for (int i = 0; i < 6; i++) printf(", \"%s_ms\": %.3f", step_names[i], 1e3 * best[i]);
    printf("}\n");
    float *all[] = {s.x, s.y, s.strips, s.values, s.scratch, s.gate, s.weights};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) zn_free(all[i]);
}

// --- pruning ------------------------------------------------------------------------------------

static zn_node *pruned_blocks(seed_network *n, int64_t side, int64_t channels, zn_type type)
{
    zn_node *x = zn_graph_input(&n->plain, "x",
                                zn_desc_make(type, ZN_SHAPE(1, side, side, channels)));
    for (int i = 0; i < DEPTH; i++)
        x = zn_nn_zenith(&n->scope, "block", x,
                         (zn_nn_zenith_shape){.shifted = i % 2, .pruned = true});
    return x;
}

// Four blocks in a row at one level of ZenithHierarchicalAE.
static void measure_level(const char *type, int64_t side, int64_t channels, int rounds)
{
    static const float parts[] = {0, 0.5f, 0.75f, 1};
    enum { PARTS = sizeof parts / sizeof *parts };
    seed_network n[PARTS];
    double best[PARTS];
    for (int i = 0; i < PARTS; i++) {
        seed_network_begin(&n[i]);
        n[i].pruned = parts[i];
        zn_node *y = pruned_blocks(&n[i], side, channels, type_of(type));
        seed_network_compile(&n[i], y, type_of(type), false);
        best[i] = 1e30;
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < PARTS; i++) best[i] = fmin(best[i], seed_network_run(&n[i]));
    for (int i = 0; i < PARTS; i++) {
        printf("{\"pruned\": %.2f, \"type\": \"%s\", \"side\": %lld, \"channels\": %lld, "
               "\"ms\": %.3f, \"part\": %.3f}\n",
               (double)parts[i], type, (long long)side, (long long)channels, 1e3 * best[i] / DEPTH,
               best[i] / best[0]);
        seed_network_free(&n[i]);
    }
}

static void measure_sparse(const char *type, int rounds)
{
    for (int level = 0; level < 3; level++) measure_level(type, 128 >> level, 32 << level, rounds);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int last = argc > 2 ? atoi(argv[argc - 1]) : 0;
    if (argc == 6 && strcmp(what, "model") == 0)
        measure_model(argv[2], atoi(argv[3]), argv[4], last);
    else if (argc == 6 && strcmp(what, "train") == 0)
        measure_training(argv[2], atoi(argv[3]), argv[4], last);
    else if (argc == 5 && strncmp(what, "naive", 5) == 0)
        measure_naive(argv[2], atoi(argv[3]), last, strcmp(what, "naive-train") == 0);
    else if (argc == 4 && strcmp(what, "block") == 0)
        measure_blocks(argv[2], last);
    else if (argc == 3 && strcmp(what, "steps") == 0)
        measure_steps(last);
    else if (argc == 4 && strcmp(what, "sparse") == 0)
        measure_sparse(argv[2], last);
    else
        return fprintf(stderr, "usage: see the top of bench/notes/seeds.c\n"), 2;
    return 0;
}
