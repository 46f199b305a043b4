// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is left out of a Walsh gate is left out of the work, and the result is that of the dense
// run: a gate that is a parameter, and looked at, against the same gate given with the run, which
// is not; and tiles that keep half of their frequencies against gates of zero for the others.
#include "tests/graph/small_graphs.h"

enum { H = 32, W = 64, C = 80, N = H * W * C, GATES = 64 * C };

static float x[N], results[2][N], gate[GATES];
typedef zn_node *build_fn(zn_graph *graph, zn_node *map, zn_node *factors);

static zn_node *build_rows(zn_graph *graph, zn_node *map, zn_node *factors)
{
    return zn_walsh_gate(graph, "y", map, factors, ZN_WALSH_ROW);
}

static zn_node *build_columns(zn_graph *graph, zn_node *map, zn_node *factors)
{
    return zn_walsh_gate(graph, "y", map, factors, ZN_WALSH_COLUMN);
}

static zn_node *build_tile(zn_graph *graph, zn_node *map, zn_node *factors)
{
    return zn_walsh_tile(graph, "y", map, factors, NULL, (zn_walsh_tile_attributes){8, 4, 8, true});
}

static zn_node *build_half_tile(zn_graph *graph, zn_node *map, zn_node *factors)
{
    return zn_walsh_tile(graph, "y", map, factors, NULL, (zn_walsh_tile_attributes){8, 4, 4, true});
}

static void run(build_fn *build, int64_t frequencies, bool parameter, zn_plan_mode mode,
                float *result)
{
    zn_error err = {0};
    zn_graph graph;
    const zn_desc desc = zn_desc_make(ZN_F32, ZN_SHAPE(frequencies, C));
    zn_graph_begin(&graph, &err);
    zn_node *map = zn_graph_input(&graph, "x", zn_desc_make(ZN_F32, ZN_SHAPE(1, H, W, C)));
    zn_node *factors = parameter ? zn_graph_parameter(&graph, "gate",
                                                      (zn_tensor){.desc = desc, .data = gate})
                                 : zn_graph_input(&graph, "gate", desc);
    zn_graph_output(&graph, build(&graph, map, factors));
    zn_test_ok(zn_graph_finish(&graph), &err);
    run_graph(
        &graph, mode, mode == ZN_PLAN_ROLLING ? 3 : 0, 2,
        (memory_run){.inputs = {(uint8_t *)x, (uint8_t *)gate}, .outputs = {(uint8_t *)result}});
    zn_graph_free(&graph);
}

static void check_equal(void)
{
    for (int i = 0; i < N; i++) { // zeros of both signs are equal
        if (results[0][i] != results[1][i])
            fail_msg("%d is %g, not %g", i, (double)results[1][i], (double)results[0][i]);
    }
}

// Bits of the frequency that are pruned, and channels below which all gates are zero.
static void fill_gate(int64_t frequencies, int64_t pruned, int64_t silent, zn_random *random)
{
    for (int64_t i = 0; i < frequencies * C; i++) {
        const bool kept = (i / C & ((1 << pruned) - 1)) == 0 && i % C >= silent;
        gate[i] = kept ? zn_random_normal(random) : 0;
    }
}

ZN_TEST(pruned_lines_are_gates_of_zero)
{
    zn_random random = {.seed = 5};
    for (int i = 0; i < N; i++) x[i] = zn_random_normal(&random);
    for (int pruned = 0; pruned <= 3; pruned++) {
        for (int silent = 0; silent <= C; silent += 40) {
            fill_gate(W, pruned, silent, &random);
            run(build_rows, W, false, ZN_PLAN_PLANES, results[0]);
            run(build_rows, W, true, ZN_PLAN_ROLLING, results[1]);
            check_equal();
            fill_gate(H, pruned, silent, &random);
            run(build_columns, H, false, ZN_PLAN_PLANES, results[0]);
            run(build_columns, H, true, ZN_PLAN_PLANES, results[1]);
            check_equal();
        }
    }
}

// The low half of 8 frequencies by changes of sign are those of even number.
ZN_TEST(half_a_tile_is_gates_of_zero)
{
    zn_random random = {.seed = 6};
    for (int i = 0; i < N; i++) x[i] = zn_random_normal(&random);
    for (int i = 0; i < 64 * C; i++) {
        const int k = i / C;
        gate[i] = (k % 8 | k / 8) & 1 ? 0 : zn_random_normal(&random);
    }
    run(build_tile, 64, true, ZN_PLAN_PLANES, results[0]);
    run(build_half_tile, 64, true, ZN_PLAN_ROLLING, results[1]);
    check_equal();
}
