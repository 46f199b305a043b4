// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What test_op_table.c and test_gradients.c cannot say of fake_quant: where its edges are, that it
// is what 8 bits hold, and the gradient, which is not the slope.
#include "src/kernel/pointwise/convert.h"
#include "src/op/ops.h"
#include "tests/testing.h"

#include <math.h>

enum { COUNT = 12 };

// In units of the scale, with what becomes of them in u8 and in s8, and whether the gradient
// passes.
static const struct {
    float x, u8, s8;
    bool u8_passes, s8_passes;
} cases[COUNT] = {
    {0, 0, 0, true, true},           {0.4f, 0, 0, true, true},       {0.6f, 1, 1, true, true},
    {1.5f, 2, 2, true, true},        {2.5f, 2, 2, true, true},       {-0.4f, 0, 0, true, true},
    {-3, 0, -3, false, true},        {127.4f, 127, 127, true, true}, {200, 200, 127, true, false},
    {255.4f, 255, 127, true, false}, {300, 255, 127, false, false},  {-200, 0, -128, false, false},
};

static void run(const zn_node *node, const zn_tensor *inputs, float *result)
{
    zn_tensor output = {.desc = node->desc, .data = result};
    zn_error err = {0};
    zn_test_ok(zn_node_reference(node, inputs, &output, &err), &err);
}

static void check_type(zn_type type, float scale)
{
    zn_error err = {0};
    zn_graph graph;
    const zn_desc desc = zn_desc_make(ZN_F32, ZN_SHAPE(1, 1, COUNT, 1));
    float x[COUNT], dy[COUNT], y[COUNT], dx[COUNT], again[COUNT];
    int8_t stored[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = cases[i].x * scale;
    for (int i = 0; i < COUNT; i++) dy[i] = (float)(i + 1);
    zn_graph_begin(&graph, &err);
    zn_node *input = zn_graph_input(&graph, "x", desc);
    zn_node *node = zn_fake_quant(&graph, "y", input, type, scale);
    zn_node *gradient = zn_op_fake_quant.gradient(&graph, node, 0,
                                                  zn_graph_input(&graph, "dy", desc));
    zn_test_ok(graph.status, &err);
    run(node, (zn_tensor[]){{.desc = desc, .data = x}}, y);
    run(gradient, (zn_tensor[]){{.desc = desc, .data = dy}, {.desc = desc, .data = x}}, dx);
    zn_convert_baseline(ZN_F32, type)(x, 1, stored, scale, COUNT);
    zn_convert_baseline(type, ZN_F32)(stored, scale, again, 1, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const float want = (type == ZN_U8 ? cases[i].u8 : cases[i].s8) * scale;
        const bool passes = type == ZN_U8 ? cases[i].u8_passes : cases[i].s8_passes;
        assert_true(y[i] == want);
        assert_true(fabsf(y[i] - again[i]) <=
                    1e-6f * fabsf(want)); // one multiplies, the other divides
        assert_true(dx[i] == (passes ? dy[i] : 0));
    }
    zn_graph_free(&graph);
}

ZN_TEST(rounds_as_8_bits_do_and_lets_gradients_through)
{
    const float scales[] = {1, 0.25f, 0.03125f};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        check_type(ZN_U8, scales[i]);
        check_type(ZN_S8, scales[i]);
    }
}

ZN_TEST(refuses_other_types)
{
    zn_error err = {0};
    zn_graph graph;
    zn_graph_begin(&graph, &err);
    zn_node *x = zn_graph_input(&graph, "x", zn_desc_make(ZN_F32, ZN_SHAPE(1, 1, 1, 1)));
    assert_null(zn_fake_quant(&graph, "y", x, ZN_BF16, 1));
    assert_int_equal(graph.status, ZENITH_INTERNAL);
    graph.status = ZENITH_OK;
    assert_null(zn_fake_quant(&graph, "y", x, ZN_U8, 0));
    zn_graph_free(&graph);
}
