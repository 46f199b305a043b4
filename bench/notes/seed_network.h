// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A network with random weights, compiled and run by itself on one thread: what bench_seeds measures.
#ifndef ZN_BENCH_SEED_NETWORK_H
#define ZN_BENCH_SEED_NETWORK_H

#include "src/base/random.h"
#include "src/dnn/dnn.h"
#include "src/graph/gradient.h"
#include "src/graph/packs.h"
#include "src/graph/plan.h"
#include "src/train/network.h"

#include <stdbool.h>

// A graph under construction whose parameters are invented: random, and kept until the end.
typedef struct seed_network {
    zn_graph plain, graph;
    zn_scope scope; // of the plain graph
    zn_plan *plan;
    zn_packs *packs;
    void *arena;
    float **blocks; // of parameters
    size_t blocks_count;
    zn_random random;
    float pruned; // part of the scores that are negative
    char *rows;   // what inputs read, again and again
} seed_network;

void seeds_need(zenith_status status);
extern zn_error seeds_error;
double seeds_seconds(void); // CPU time of this thread

void seed_network_begin(seed_network *n);
zn_node *seed_network_input(seed_network *n, int64_t height, int64_t width, int64_t channels);
// The part of a variant's autoencoder on top of x.
zn_node *seed_network_add(seed_network *n, const char *variant, unsigned part, zn_node *x);
// Compiles for one output; with gradients of all parameters of its squared distance from a target.
void seed_network_compile(seed_network *n, zn_node *y, zn_type type, bool gradients);
double seed_network_run(seed_network *n); // seconds
double seed_network_best(seed_network *n, int runs);
void seed_network_free(seed_network *n);

// Work of the plain graph's nodes, in operations, and the part of it in convolutions of any kind.
double seed_network_flops(const seed_network *n);

// Seconds of the same convolutions as plain loops; with their gradients. rows: one in `rows` is computed
// and the time multiplied.
typedef struct seed_naive {
    double forward, backward;
} seed_naive;
seed_naive seed_network_naive(const seed_network *n, int rows, bool gradients);

#endif
