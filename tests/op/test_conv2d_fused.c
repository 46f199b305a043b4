// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Fusion into conv2d_fused: every expression that it should find, found, and computed with the same
// bits as its parts (our f32 kernel rounds at the same places); what it must not fuse, left alone.
#include "tests/graph/small_graphs.h"

enum { H = 6, W = 5, C = 8, MAP = H * W * C };

static float picture[MAP], other[MAP], weights[C * C * 9], offsets[C];

ZN_TEST_SETUP(fill)
{
    zn_random random = {.seed = 5};
    for (int i = 0; i < MAP; i++) picture[i] = zn_random_normal(&random);
    for (int i = 0; i < MAP; i++) other[i] = zn_random_normal(&random);
    for (int i = 0; i < C * C * 9; i++) weights[i] = zn_random_normal(&random);
    for (int i = 0; i < C; i++) offsets[i] = zn_random_normal(&random);
    return 0;
}

typedef struct expression {
    const char *name;
    bool bias, residual, residual_first, relu;
} expression;

static const expression expressions[] = {
    {"relu(add(conv, any))", true, true, false, true},
    {"relu(add(any, conv))", true, true, true, true},
    {"add(conv, any)", true, true, false, false},
    {"add(any, conv)", true, true, true, false},
    {"relu(conv)", true, false, false, true},
    {"relu(add(conv, any)) without bias", false, true, false, true},
    {"relu(add(any, conv)) without bias", false, true, true, true},
    {"add(conv, any) without bias", false, true, false, false},
    {"add(any, conv) without bias", false, true, true, false},
    {"relu(conv) without bias", false, false, false, true},
};

// Returns the node whose value is the expression's.
static zn_node *build(zn_graph *graph, const expression *e, zn_error *err)
{
    const zn_desc map = zn_desc_make(ZN_F32, ZN_SHAPE(1, H, W, C));
    zn_tensor weight = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(C, C, 3, 3)), .data = weights};
    zn_tensor bias = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(C)), .data = offsets};
    zn_graph_begin(graph, err);
    zn_node *x = zn_graph_input(graph, "x", map), *r = zn_graph_input(graph, "r", map);
    zn_node *w = zn_graph_parameter(graph, "w", weight);
    zn_node *b = e->bias ? zn_graph_parameter(graph, "b", bias) : NULL;
    zn_node *y = zn_conv2d(graph, "conv", x, w, b, 1, 1);
    if (e->residual)
        y = e->residual_first ? zn_add(graph, "sum", r, y) : zn_add(graph, "sum", y, r);
    return e->relu ? zn_relu(graph, "relu", y) : y;
}

static void run(const zn_graph *graph, float *result)
{
    run_graph(graph, ZN_PLAN_PLANES, 0, 1,
              (memory_run){.inputs = {(uint8_t *)picture, (uint8_t *)other},
                           .outputs = {(uint8_t *)result}});
}

ZN_TEST(finds_every_expression)
{
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        zn_error err = {0};
        zn_graph plain, fused;
        static float want[MAP], got[MAP];
        zn_node *value = build(&plain, &expressions[i], &err);
        zn_graph_output(&plain, value);
        zn_test_ok(zn_graph_finish(&plain), &err);
        zn_test_ok(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &fused, &err), &err);
        const zn_node *root = fused.outputs[0];
        if (root->op != &zn_op_conv2d_fused || count_op(&fused, zn_op_conv2d.name) ||
            count_op(&fused, zn_op_add.name) || count_op(&fused, zn_op_relu.name)) {
            fail_msg("%s was not fused", expressions[i].name);
        }
        assert_string_equal(root->name, plain.outputs[0]->name);
        run(&plain, want);
        run(&fused, got);
        if (memcmp(want, got, sizeof want) != 0) fail_msg("%s: other bits", expressions[i].name);
        zn_graph_free(&plain);
        zn_graph_free(&fused);
    }
}

// A convolution that someone else reads too must stay.
ZN_TEST(leaves_shared_values_alone)
{
    zn_error err = {0};
    zn_graph plain, fused;
    const expression shared = {"relu(conv)", true, false, false, true};
    zn_node *y = build(&plain, &shared, &err);
    zn_graph_output(&plain, y);
    zn_graph_output(&plain, y->inputs[0]);
    zn_test_ok(zn_graph_finish(&plain), &err);
    zn_test_ok(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &fused, &err), &err);
    assert_int_equal(count_op(&fused, zn_op_conv2d_fused.name), 0);
    assert_int_equal(count_op(&fused, zn_op_conv2d.name), 1);
    zn_graph_free(&plain);
    zn_graph_free(&fused);
}

// A sentence, not a crash, for what a broken checkpoint may hold.
ZN_TEST(refuses_wrong_shapes)
{
    const zn_desc map = zn_desc_make(ZN_F32, ZN_SHAPE(1, H, W, C));
    const zn_shape wrong[] = {ZN_SHAPE(C, C + 1, 3, 3), ZN_SHAPE(C, C, 3), ZN_SHAPE(0, C, 3, 3),
                              ZN_SHAPE(C, C, 9, 9)};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        zn_error err = {0};
        zn_graph graph;
        zn_graph_begin(&graph, &err);
        zn_node *x = zn_graph_input(&graph, "x", map);
        zn_tensor weight = {.desc = zn_desc_make(ZN_F32, wrong[i]), .data = weights};
        zn_node *w = zn_graph_parameter(&graph, "w", weight);
        assert_null(zn_conv2d(&graph, "conv", x, w, NULL, 1, 1));
        assert_int_equal(zn_graph_finish(&graph), ZENITH_INVALID_ARGUMENT);
        assert_true(err.text[0] != 0);
        zn_graph_free(&graph);
    }
}
