// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The measurements behind bench/seeds.py: the models of the Zenith documents, their blocks, and what
// pruning saves, on one thread, CPU time, the best of some runs. Each line that it prints is JSON.
//
//     bench_seeds model NAME SIDE TYPE RUNS      one autoencoder, encoder and decoder
//     bench_seeds train NAME SIDE TYPE RUNS      the same with all gradients
//     bench_seeds naive NAME SIDE ROWS           its convolutions as plain loops, one row in ROWS
//     bench_seeds naive-train NAME SIDE ROWS     the same with gradients
//     bench_seeds block TYPE ROUNDS              ZenithLite beside TAESD's block at 64x256x256
//     bench_seeds sparse TYPE ROUNDS             a ZenithBlock with none, a half, 3/4 of it pruned
#include "bench/seed_network.h"
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
    const int64_t low = side / variant->factor;
    zn_node *x = part == ZN_ENCODER ? seed_network_input(n, side, side, 3)
                                    : seed_network_input(n, low, low, variant->latent_channels);
    zn_node *y = seed_network_add(n, name, part, x);
    seeds_need(n->plain.status);
    return y;
}

static void measure_model(const char *name, int64_t side, const char *type, int runs)
{
    double ms[2], flops[2];
    for (unsigned part = ZN_ENCODER; part <= ZN_DECODER; part <<= 1) {
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
    x = seed_network_add(n, name, ZN_ENCODER, x);
    return seed_network_add(n, name, ZN_DECODER, x);
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
    for (unsigned part = ZN_ENCODER; part <= ZN_DECODER; part <<= 1) {
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
    zn_node *y = block(n, x);
    seeds_need(n->plain.status);
    seed_network_compile(n, y, type, false);
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
               type, 1e3 * best[i], seed_network_flops(&n[i]) * 1e-9);
        seed_network_free(&n[i]);
    }
}

// --- pruning ------------------------------------------------------------------------------------

static zn_node *pruned_blocks(seed_network *n, int64_t side, int64_t channels, zn_type type)
{
    enum { BLOCKS = 4 };
    zn_node *x = zn_graph_input(&n->plain, "x",
                                zn_desc_make(type, ZN_SHAPE(1, side, side, channels)));
    for (int i = 0; i < BLOCKS; i++)
        x = zn_nn_zenith(&n->scope, "block", x, (zn_nn_zenith_shape){i % 2, false, true});
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
               (double)parts[i], type, (long long)side, (long long)channels, 1e3 * best[i] / 4,
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
    else if (argc == 4 && strcmp(what, "sparse") == 0)
        measure_sparse(argv[2], last);
    else
        return fprintf(stderr, "usage: see the top of bench/seeds.c\n"), 2;
    return 0;
}
