// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// When upsample2 and conv2d become one: in plain f32 and where the kernel can, after types are
// known. That it then computes the same is for test_op_table.c.
#include "src/graph/passes.h"
#include "src/op/ops.h"
#include "tests/testing.h"

enum { MOST = 32 };

typedef struct variation {
    const char *name;
    zn_type type; // of the maps
    int channels, kernel, stride;
    bool bias, direct, shared; // shared: the doubled map is read by another, too
    bool fuses;
} variation;

static const variation variations[] = {
    {"plain", ZN_F32, 16, 3, 1, false, false, false, true},
    {"with bias", ZN_F32, 32, 3, 1, true, false, false, true},
    {"bf16", ZN_BF16, 16, 3, 1, false, false, false, false},
    {"other channels", ZN_F32, 12, 3, 1, false, false, false, false},
    {"1x1", ZN_F32, 16, 1, 1, false, false, false, false},
    {"stride 2", ZN_F32, 16, 3, 2, false, false, false, false},
    {"direct", ZN_F32, 16, 3, 1, false, true, false, false},
    {"shared", ZN_F32, 16, 3, 1, false, false, true, false},
};

static void build(zn_graph *graph, const variation *v, zn_error *err)
{
    static float numbers[MOST * MOST * 9];
    const int64_t c = v->channels, k = v->kernel;
    const zn_tensor weight = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(c, c, k, k)), .data = numbers};
    const zn_tensor bias = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(c)), .data = numbers};
    const zn_conv2d_attributes attributes = {
        .stride = v->stride, .pad = v->kernel / 2, .direct = v->direct};
    zn_graph_begin(graph, err);
    zn_node *x = zn_graph_input(graph, "x", zn_desc_make(v->type, ZN_SHAPE(1, 4, 6, c)));
    zn_node *doubled = zn_upsample2(graph, "doubled", x);
    zn_node *inputs[] = {doubled, zn_graph_parameter(graph, "w", weight),
                         v->bias ? zn_graph_parameter(graph, "b", bias) : NULL};
    zn_graph_output(graph,
                    zn_graph_add(graph, &zn_op_conv2d, "y", inputs, v->bias ? 3 : 2, &attributes));
    if (v->shared) zn_graph_output(graph, doubled);
    zn_test_ok(zn_graph_finish(graph), err);
}

static int count_nodes(const zn_graph *graph, const zn_op *op)
{
    int count = 0;
    for (size_t i = 0; i < graph->count; i++) count += graph->nodes[i]->op == op;
    return count;
}

ZN_TEST(fuses_what_the_kernel_can)
{
    const zn_cpu cpu = {.flags = ZN_CPU_AVX512};
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++) {
        const variation *v = &variations[i];
        zn_error err = {0};
        zn_graph plain, fused;
        build(&plain, v, &err);
        zn_test_ok(zn_pass_fuse(&plain, zn_ops, zn_ops_count, &cpu, &fused, &err), &err);
        if (count_nodes(&fused, &zn_op_upsample2_conv) != v->fuses ||
            count_nodes(&fused, &zn_op_upsample2) == v->fuses) {
            fail_msg("%s: %s", v->name, v->fuses ? "was not fused" : "was fused");
        }
        const zn_desc *want = &plain.outputs[0]->desc, *got = &fused.outputs[0]->desc;
        assert_true(zn_shape_equal(&want->shape, &got->shape) && want->type == got->type);
        assert_string_equal(fused.outputs[0]->name, "y");
        zn_graph_free(&plain);
        zn_graph_free(&fused);
    }
}

ZN_TEST(waits_for_types)
{
    zn_error err = {0};
    zn_graph plain, fused;
    build(&plain, &variations[0], &err);
    zn_test_ok(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &fused, &err), &err);
    assert_int_equal(count_nodes(&fused, &zn_op_upsample2_conv), 0);
    zn_graph_free(&plain);
    zn_graph_free(&fused);
}

ZN_TEST(refuses_wrong_weights)
{
    static float numbers[16 * 16 * 25];
    static const zn_shape shapes[] = {{4, {16, 16, 5, 5}}, {4, {16, 32, 3, 3}}, {2, {16, 16}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        zn_error err = {0};
        zn_graph graph;
        zn_graph_begin(&graph, &err);
        zn_node *inputs[] = {
            zn_graph_input(&graph, "x", zn_desc_make(ZN_F32, ZN_SHAPE(1, 4, 6, 16))),
            zn_graph_parameter(
                &graph, "w",
                (zn_tensor){.desc = zn_desc_make(ZN_F32, shapes[i]), .data = numbers})};
        assert_null(zn_graph_add(&graph, &zn_op_upsample2_conv, "y", inputs, 2, NULL));
        assert_int_equal(zn_graph_finish(&graph), ZENITH_INVALID_ARGUMENT);
        zn_graph_free(&graph);
    }
}
