// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of graphs share: random weights, and running a graph on values in memory.
#ifndef ZN_TESTS_GRAPH_SMALL_GRAPHS_H
#define ZN_TESTS_GRAPH_SMALL_GRAPHS_H

#include "src/base/random.h"
#include "src/graph/packs.h"
#include "src/graph/passes.h"
#include "src/graph/plan.h"
#include "src/op/ops.h"
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline size_t bytes_of(const zn_node *node)
{
    size_t bytes = 0;
    assert_true(zn_desc_bytes(&node->desc, &bytes));
    return bytes;
}

static inline zn_node *map_input(zn_graph *graph, int64_t h, int64_t w, int64_t c)
{
    return zn_graph_input(graph, "x", zn_desc_make(ZN_F32, ZN_SHAPE(1, h, w, c)));
}

// A parameter of random values around zero, kept in the graph's arena.
static inline zn_node *random_parameter(zn_graph *graph, zn_shape shape, zn_random *random)
{
    size_t count = 0;
    assert_true(zn_shape_elements(&shape, &count));
    float *values = zn_arena_alloc(&graph->arena, count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) values[i] = 0.3f * zn_random_normal(random);
    return zn_graph_parameter(graph, "p",
                              (zn_tensor){.desc = zn_desc_make(ZN_F32, shape), .data = values});
}

static inline zn_node *random_conv(zn_graph *graph, const char *name, zn_node *x, int64_t out,
                                   int kernel, int stride, zn_random *random)
{
    int64_t in = x ? x->desc.shape.dim[3] : 1;
    zn_node *weight = random_parameter(graph, ZN_SHAPE(out, in, kernel, kernel), random);
    zn_node *bias = random_parameter(graph, ZN_SHAPE(out), random);
    return zn_conv2d(graph, name, x, weight, bias, stride, kernel / 2);
}

static inline int count_op(const zn_graph *graph, const char *name)
{
    int count = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        count += node->kind == ZN_NODE_OP && strcmp(node->op->name, name) == 0;
    }
    return count;
}

// --- running ------------------------------------------------------------------------------------

// Inputs and outputs in memory, by number.
typedef struct memory_run {
    const zn_graph *graph;
    uint8_t *inputs[16], *outputs[16];
} memory_run;

static inline size_t row_bytes(const zn_node *node)
{
    return zn_node_is_map(node) ? bytes_of(node) / (size_t)node->desc.shape.dim[1] : bytes_of(node);
}

static inline zenith_status memory_read(void *cookie, int input, int64_t row, int64_t count,
                                        void *dst, zn_error *err)
{
    const memory_run *run = cookie;
    (void)err;
    for (size_t i = 0, number = 0; i < run->graph->count; i++) {
        const zn_node *node = run->graph->nodes[i];
        if (node->kind != ZN_NODE_INPUT || (int)number++ != input) continue;
        size_t bytes = row_bytes(node);
        memcpy(dst, run->inputs[input] + (size_t)row * bytes, (size_t)count * bytes);
    }
    return ZENITH_OK;
}

static inline zenith_status memory_write(void *cookie, int output, int64_t row, int64_t count,
                                         const void *src, zn_error *err)
{
    const memory_run *run = cookie;
    (void)err;
    size_t bytes = row_bytes(run->graph->outputs[output]);
    memcpy(run->outputs[output] + (size_t)row * bytes, src, (size_t)count * bytes);
    return ZENITH_OK;
}

static inline zn_plan_options plan_options(zn_plan_mode mode, int64_t band, zn_packs *packs)
{
    return (zn_plan_options){
        .mode = mode, .band = band, .cpu = zn_cpu_detect(), .threads = 1, .packs = packs};
}

static inline void run_plan_by(const zn_plan *plan, zn_team *team, memory_run *memory,
                               const float *scalars, struct zn_states *states)
{
    zn_error err = {0};
    void *arena = zn_alloc(zn_plan_bytes(plan));
    assert_non_null(arena);
    memset(arena, 0xff, zn_plan_bytes(plan)); // NaN: what was not written must not be read
    const zn_run run = {.read = memory_read,
                        .write = memory_write,
                        .cookie = memory,
                        .scalars = scalars,
                        .states = states};
    zn_test_ok(zn_plan_run(plan, arena, team, &run, &err), &err);
    zn_free(arena);
}

static inline void run_plan(const zn_plan *plan, memory_run *memory, const float *scalars,
                            struct zn_states *states)
{
    run_plan_by(plan, NULL, memory, scalars, states);
}

// A whole run of a graph from and to memory, planned for it alone; of `memory` the graph need not
// be set.
static inline void run_graph(const zn_graph *graph, zn_plan_mode mode, int64_t band, int threads,
                             memory_run memory)
{
    zn_error err = {0};
    zn_packs *packs = NULL;
    zn_plan *plan = NULL;
    zn_team *team = NULL;
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    zn_test_ok(zn_team_create(threads, &team, &err), &err);
    zn_plan_options options = plan_options(mode, band, packs);
    options.threads = threads;
    zn_test_ok(zn_plan_create(graph, &options, &plan, &err), &err);
    memory.graph = graph;
    run_plan_by(plan, team, &memory, NULL, NULL);
    zn_plan_free(plan);
    zn_team_free(team);
    zn_packs_free(packs);
}

#endif
