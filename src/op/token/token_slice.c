// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Some tokens of a map or a sequence, one after the other, as a map of any height and width: what
// token_join has put there. It is a barrier: rows of the result may begin anywhere in those of x.
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"

enum { FARTHEST = 1 << 24 };

static const zn_token_slice_attributes *place_of(const zn_node *node)
{
    return node->attributes;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_token_slice_attributes *a = place_of(node);
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    ZN_TRY(zn_check_wide_floats(node, 0, err));
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    if (a->first < 0 || a->first > FARTHEST || a->height < 1 || a->height > FARTHEST ||
        a->width < 1 || a->width > FARTHEST || a->first + a->height * a->width > dim[1] * dim[2])
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "token_slice: %lld x %lld tokens do not lie from the %lldth on in %lld",
                       (long long)a->width, (long long)a->height, (long long)a->first,
                       (long long)(dim[1] * dim[2]));
    const int64_t channels = dim[3];
    zn_infer_like_input(node);
    node->desc.shape = ZN_SHAPE(1, a->height, a->width, channels);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t channels = (size_t)node->desc.shape.dim[3], count = zn_value_count(output);
    const size_t first = (size_t)place_of(node)->first * channels;
    for (size_t i = 0; i < count; i++) zn_value_set(output, i, zn_value_get(&inputs[0], first + i));
}

typedef struct slice_lowering {
    zn_lowering base;
    zn_conversion copy;
    size_t first, count; // values
} slice_lowering;

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const slice_lowering *l = (const slice_lowering *)base;
    const uint8_t *src = (const uint8_t *)call->inputs[0] + l->first * zn_type_size(l->copy.from);
    zn_conversion_run(&l->copy, call->team, src, call->output, l->count);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_token_slice_attributes *a = place_of(request->node);
    const zn_desc *x = &request->node->inputs[0]->desc;
    const int64_t channels = x->shape.dim[3];
    slice_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "kernel"},
                           .first = (size_t)(a->first * channels),
                           .count = (size_t)(a->height * a->width * channels)};
    ZN_TRY(zn_conversion_pass(request, 0, &made.copy, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

// Zeros for the other tokens: as a sequence, seen through a window, in the shape of x.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_token_slice_attributes *a = place_of(node);
    const int64_t *dim = node->inputs[input]->desc.shape.dim;
    zn_node *row = zn_token_slice(graph, node->name, dy,
                                  (zn_token_slice_attributes){0, a->height * a->width, 1});
    zn_node *all = zn_window(graph, node->name, row,
                             (zn_window_attributes){-a->first, 0, dim[1] * dim[2], 1});
    if (dim[2] == 1) return all;
    return zn_token_slice(graph, node->name, all, (zn_token_slice_attributes){0, dim[1], dim[2]});
}

static const zn_token_slice_attributes one = {0, 1, 1}, first = {0, 4, 5}, middle = {3, 7, 1},
                                       map = {5, 2, 3};

const zn_op zn_op_token_slice = {
    .name = "token_slice",
    .summary = "some tokens, as a map or a sequence",
    .attributes_size = sizeof(zn_token_slice_attributes),
    .traits = ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("token", &one, 0, ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("first", &first, 0, ZN_MAP(27, 1, 33)),
                          ZN_SAMPLE("middle", &middle, 0, ZN_MAP(11, 1, 16)),
                          ZN_SAMPLE("map", &map, 0, ZN_MAP(3, 4, 7))),
};

zn_node *zn_token_slice(zn_graph *graph, const char *name, zn_node *x,
                        zn_token_slice_attributes attributes)
{
    return zn_graph_add(graph, &zn_op_token_slice, name, &x, 1, &attributes);
}
