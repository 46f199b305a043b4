// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps of one size put together, channel after channel.
#include "src/op/operator.h"

#include <string.h>

enum { MOST = 4 };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, MOST, err));
    int64_t channels = 0;
    for (int i = 0; i < node->inputs_count; i++) {
        ZN_TRY(zn_check_map(node, i, err));
        const int64_t *a = node->inputs[0]->desc.shape.dim, *b = node->inputs[i]->desc.shape.dim;
        if (a[0] != b[0] || a[1] != b[1] || a[2] != b[2] || b[3] > INT32_MAX) {
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "concat: maps of %lld x %lld and %lld x %lld pixels", (long long)a[2],
                           (long long)a[1], (long long)b[2], (long long)b[1]);
        }
        channels += b[3];
    }
    zn_infer_like_input(node);
    node->desc.shape.dim[3] = channels;
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *y = output->desc.shape.dim;
    size_t next = 0;
    for (int64_t pixel = 0; pixel < y[0] * y[1] * y[2]; pixel++) {
        for (int i = 0; i < node->inputs_count; i++) {
            const int64_t channels = inputs[i].desc.shape.dim[3];
            for (int64_t c = 0; c < channels; c++) {
                zn_value_set(output, next++,
                             zn_value_get(&inputs[i], (size_t)(pixel * channels + c)));
            }
        }
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct part {
    zn_desc desc;  // of the input
    bool same;     // its type and scale are the result's
    size_t offset; // of its channels in a pixel of the result, in channels
} part;

typedef struct concat_lowering {
    zn_lowering base;
    part parts[MOST];
    int count;
    zn_desc desc; // of the result
} concat_lowering;

static void convert_pixels(const zn_tensor *src, zn_tensor *dst, size_t offset, size_t begin,
                           size_t end)
{
    const size_t from = (size_t)src->desc.shape.dim[3], to = (size_t)dst->desc.shape.dim[3];
    for (size_t pixel = begin; pixel < end; pixel++) {
        for (size_t c = 0; c < from; c++) {
            zn_value_set(dst, pixel * to + offset + c, zn_value_get(src, pixel * from + c));
        }
    }
}

static void copy_pixels(const zn_tensor *src, zn_tensor *dst, size_t offset, size_t begin,
                        size_t end)
{
    const size_t bytes = zn_type_size(dst->desc.type);
    const size_t from = (size_t)src->desc.shape.dim[3] * bytes;
    const size_t to = (size_t)dst->desc.shape.dim[3] * bytes;
    const uint8_t *source = (const uint8_t *)src->data + begin * from;
    uint8_t *target = (uint8_t *)dst->data + begin * to + offset * bytes;
    for (size_t pixel = begin; pixel < end; pixel++, source += from, target += to) {
        memcpy(target, source, from);
    }
}

static void run_row(const zn_lowering *base, const zn_call *call, size_t row, void *scratch)
{
    (void)scratch;
    const concat_lowering *l = (const concat_lowering *)base;
    const size_t width = (size_t)l->desc.shape.dim[2];
    zn_tensor dst = {.desc = l->desc, .data = call->output};
    for (int i = 0; i < l->count; i++) {
        const part *p = &l->parts[i];
        const zn_tensor src = {.desc = p->desc, .data = (void *)(uintptr_t)call->inputs[i]};
        (p->same ? copy_pixels : convert_pixels)(&src, &dst, p->offset, row * width,
                                                 (row + 1) * width);
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    concat_lowering made = {.base = ZN_LOWERING_OF_PIECES(run_row, "kernel"),
                            .count = node->inputs_count,
                            .desc = node->desc};
    size_t offset = 0;
    for (int i = 0; i < made.count; i++) {
        const zn_desc *x = &node->inputs[i]->desc;
        made.parts[i] = (part){*x, x->type == node->desc.type && x->scale == node->desc.scale,
                               offset};
        offset += (size_t)x->shape.dim[3];
    }
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    int64_t first = 0;
    for (int i = 0; i < input; i++) first += node->inputs[i]->desc.shape.dim[3];
    return zn_channel_slice(graph, node->name, dy, first, node->inputs[input]->desc.shape.dim[3]);
}

const zn_op zn_op_concat = {
    .name = "concat",
    .summary = "maps put together, channel after channel",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 1)),
        ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 4), ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 6)),
        ZN_SAMPLE("wide", NULL, 0, ZN_MAP(2, 33, 64), ZN_MAP(2, 33, 48))),
};

zn_node *zn_concat(zn_graph *graph, const char *name, zn_node *const *inputs, int count)
{
    return zn_graph_add(graph, &zn_op_concat, name, inputs, count, NULL);
}
