// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Fusion into group_norm_fused: an activation after a group norm becomes part of it, with the bits
// of both (f32 is rounded at the same places), in planes and in bands, on one thread and two. A
// norm that someone else reads too stays.
#include "tests/graph/small_graphs.h"

enum { H = 7, W = 5, C = 24, GROUPS = 4, MAP = H * W * C };

static float picture[MAP], gains[C], offsets[C];

ZN_TEST_SETUP(fill)
{
    zn_random random = {.seed = 5};
    for (int i = 0; i < MAP; i++) picture[i] = zn_random_normal(&random);
    for (int i = 0; i < C; i++) gains[i] = zn_random_normal(&random);
    for (int i = 0; i < C; i++) offsets[i] = zn_random_normal(&random);
    return 0;
}

static zn_node *build(zn_graph *graph, zn_activation kind, zn_error *err)
{
    const zn_desc vector = zn_desc_make(ZN_F32, ZN_SHAPE(C));
    zn_graph_begin(graph, err);
    zn_node *x = zn_graph_input(graph, "x", zn_desc_make(ZN_F32, ZN_SHAPE(1, H, W, C)));
    zn_node *gamma = zn_graph_parameter(graph, "gamma", (zn_tensor){.desc = vector, .data = gains});
    zn_node *beta = zn_graph_parameter(graph, "beta", (zn_tensor){.desc = vector, .data = offsets});
    zn_node *y = zn_group_norm(graph, "norm", x, gamma, beta, GROUPS, 1e-5f);
    return zn_activate(graph, "curve", y, kind);
}

static void run(const zn_graph *graph, zn_plan_mode mode, int64_t band, int threads, float *result)
{
    run_graph(graph, mode, band, threads,
              (memory_run){.inputs = {(uint8_t *)picture}, .outputs = {(uint8_t *)result}});
}

static void check_ways(const zn_graph *fused, zn_activation kind, const float *want)
{
    static const struct {
        zn_plan_mode mode;
        int64_t band;
        int threads;
    } ways[] = {{ZN_PLAN_PLANES, 0, 1},
                {ZN_PLAN_PLANES, 0, 2},
                {ZN_PLAN_ROLLING, 1, 1},
                {ZN_PLAN_ROLLING, 3, 2}};
    static float got[MAP];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        run(fused, ways[i].mode, ways[i].band, ways[i].threads, got);
        if (memcmp(want, got, sizeof got) == 0) continue;
        fail_msg("curve %d: mode %d band %d on %d threads gives other bits", (int)kind,
                 (int)ways[i].mode, (int)ways[i].band, ways[i].threads);
    }
}

ZN_TEST(every_curve_is_fused_with_the_same_bits)
{
    for (int kind = ZN_ACTIVATION_SILU; kind < ZN_ACTIVATION_COUNT; kind++) {
        zn_error err = {0};
        zn_graph plain, fused;
        static float want[MAP];
        zn_graph_output(&plain, build(&plain, (zn_activation)kind, &err));
        zn_test_ok(zn_graph_finish(&plain), &err);
        zn_test_ok(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &fused, &err), &err);
        assert_ptr_equal(fused.outputs[0]->op, &zn_op_group_norm_fused);
        assert_string_equal(fused.outputs[0]->name, "curve");
        assert_int_equal(count_op(&fused, zn_op_group_norm.name), 0);
        assert_int_equal(count_op(&fused, zn_op_activate.name), 0);
        run(&plain, ZN_PLAN_PLANES, 0, 1, want);
        check_ways(&fused, (zn_activation)kind, want);
        zn_graph_free(&plain);
        zn_graph_free(&fused);
    }
}

ZN_TEST(a_shared_norm_stays)
{
    zn_error err = {0};
    zn_graph plain, fused;
    zn_node *y = build(&plain, ZN_ACTIVATION_SILU, &err);
    zn_graph_output(&plain, y);
    zn_graph_output(&plain, y->inputs[0]);
    zn_test_ok(zn_graph_finish(&plain), &err);
    zn_test_ok(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &fused, &err), &err);
    assert_int_equal(count_op(&fused, zn_op_group_norm_fused.name), 0);
    assert_int_equal(count_op(&fused, zn_op_group_norm.name), 1);
    zn_graph_free(&plain);
    zn_graph_free(&fused);
}
