// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is seen of a map through a window: its pixels from (top, left) on, zeros where the window
// reaches beyond the map. A window inside the map cuts a part out; one around it puts zeros around
// it, and that is the gradient of the first.
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"

#include <string.h>

enum { FARTHEST = 1 << 30 };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_window_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    if (a->height < 1 || a->width < 1 || a->height > FARTHEST || a->width > FARTHEST ||
        a->top < -FARTHEST || a->top > FARTHEST || a->left < -FARTHEST || a->left > FARTHEST)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "window: %lld x %lld pixels from (%lld, %lld)",
                       (long long)a->width, (long long)a->height, (long long)a->left,
                       (long long)a->top);
    if (zn_is_quantised(node->inputs[0]->desc.type))
        return zn_fail(err, ZENITH_UNSUPPORTED, "window computes in floating types");
    zn_infer_like_input(node);
    node->desc.shape.dim[1] = a->height;
    node->desc.shape.dim[2] = a->width;
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_window_attributes *a = node->attributes;
    const int64_t *from = inputs[0].desc.shape.dim, *to = output->desc.shape.dim;
    for (int64_t i = 0; i < (int64_t)zn_value_count(output); i++) {
        const int64_t c = i % to[3], row = i / to[3] / to[2], image = row / to[1];
        const int64_t x = i / to[3] % to[2] + a->left, y = row % to[1] + a->top;
        const bool there = x >= 0 && x < from[2] && y >= 0 && y < from[1];
        const size_t at = (size_t)(((image * from[1] + y) * from[2] + x) * from[3] + c);
        zn_value_set(output, (size_t)i, there ? zn_value_get(&inputs[0], at) : 0);
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct window_lowering {
    zn_lowering base;
    zn_conversion copy;
    int64_t top, height;          // of the map, seen from the window
    size_t skipped, before, seen; // values of a row: of the map before the window, zeros, of both
    size_t from, to;              // values of whole rows
} window_lowering;

static void run_row(const zn_lowering *base, const zn_call *call, size_t row, void *scratch)
{
    (void)scratch;
    const window_lowering *l = (const window_lowering *)base;
    const size_t from_size = zn_type_size(l->copy.from), to_size = zn_type_size(l->copy.to);
    uint8_t *dst = (uint8_t *)call->output + row * l->to * to_size;
    const int64_t y = (int64_t)row + l->top;
    memset(dst, 0, l->to * to_size);
    if (y < 0 || y >= l->height) return;
    const uint8_t *src = (const uint8_t *)call->inputs[0] +
                         ((size_t)y * l->from + l->skipped) * from_size;
    l->copy.run(src, l->copy.from_scale, dst + l->before * to_size, l->copy.to_scale, l->seen);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_desc *x = &request->node->inputs[0]->desc;
    const zn_window_attributes *a = request->node->attributes;
    const int64_t *from = x->shape.dim, channels = from[3];
    const int64_t first = a->left > 0 ? a->left : 0;
    const int64_t end = a->left + a->width < from[2] ? a->left + a->width : from[2];
    window_lowering made = {.base = ZN_LOWERING_OF_PIECES(run_row, "kernel"),
                            .top = a->top,
                            .height = from[1],
                            .skipped = (size_t)(first * channels),
                            .before = (size_t)((first - a->left) * channels),
                            .seen = (size_t)((end > first ? end - first : 0) * channels),
                            .from = (size_t)(from[2] * channels),
                            .to = (size_t)(a->width * channels)};
    made.base.pieces = (size_t)a->height;
    ZN_TRY(zn_conversion_pass(request, 0, &made.copy, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_window_attributes *a = node->attributes;
    const int64_t *from = node->inputs[input]->desc.shape.dim;
    return zn_window(graph, node->name, dy,
                     (zn_window_attributes){-a->top, -a->left, from[1], from[2]});
}

static const zn_window_attributes all = {0, 0, 3, 5}, inside = {2, 3, 4, 1},
                                  around = {-2, -1, 9, 8}, across = {-3, 4, 6, 7},
                                  beside = {9, 9, 2, 3};

const zn_op zn_op_window = {
    .name = "window",
    .summary = "a part of a map, or a map with zeros around it",
    .attributes_size = sizeof(zn_window_attributes),
    .traits = ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("all", &all, 0, ZN_MAP(3, 5, 3)),
                          ZN_SAMPLE("inside", &inside, 0, ZN_MAP(7, 5, 16)),
                          ZN_SAMPLE("around", &around, 0, ZN_MAP(5, 6, 3)),
                          ZN_SAMPLE("across", &across, 0, ZN_MAP(5, 6, 7)),
                          ZN_SAMPLE("beside", &beside, 0, ZN_MAP(5, 6, 3))),
};

zn_node *zn_window(zn_graph *graph, const char *name, zn_node *x, zn_window_attributes attributes)
{
    return zn_graph_add(graph, &zn_op_window, name, &x, 1, &attributes);
}
