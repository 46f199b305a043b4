// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pixels become channels: [n, h r, w r, c] -> [n, h, w, c r r], or tall [n, h r, w, c] -> [n, h, w,
// c r]: the inverse of pixel_shuffle and its gradient. A copy, so type and scale stay.
#include "src/op/operator.h"

#include <string.h>

static int factor_of(const zn_node *node)
{
    return ((const zn_pixel_shuffle_attributes *)node->attributes)->factor;
}

static bool by_columns(const zn_node *node)
{
    return ((const zn_pixel_shuffle_attributes *)node->attributes)->columns;
}

// Columns of a square; tall: one.
static int across(const zn_node *node)
{
    return ((const zn_pixel_shuffle_attributes *)node->attributes)->tall ? 1 : factor_of(node);
}

static bool is_whole(const zn_node *node)
{
    const zn_pixel_shuffle_attributes *a = node->attributes;
    return a->whole || a->tall;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const zn_desc *x = &node->inputs[0]->desc;
    const int64_t *dim = x->shape.dim, r = factor_of(node), w = across(node);
    if (r < 1 || w > 16 || r > 4096 || dim[1] % r != 0 || dim[2] % w != 0 || dim[3] > INT32_MAX)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%lldx%lld pixels do not divide into pieces of %lldx%lld", (long long)dim[2],
                       (long long)dim[1], (long long)w, (long long)r);
    node->desc = *x;
    node->desc.shape = ZN_SHAPE(dim[0], dim[1] / r, dim[2] / w, dim[3] * r * w);
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    (void)input;
    return zn_rows_taken(factor_of(node), out);
}

// Where element `to` of a row of the result comes from among its r rows of the input.
static size_t source_of(const zn_node *node, size_t to)
{
    const size_t r = (size_t)factor_of(node), w = (size_t)across(node);
    const size_t channels = (size_t)node->desc.shape.dim[3], plain = channels / (r * w);
    const size_t width = (size_t)node->desc.shape.dim[2] * w;
    if (is_whole(node)) {
        const size_t pixel = to % channels / plain;
        return (pixel / w * width + to / channels * w + pixel % w) * plain + to % plain;
    }
    const size_t x = to / channels, c = to % channels / (r * r);
    const size_t slow = to % channels / r % r, fast = to % r;
    const size_t i = by_columns(node) ? fast : slow, j = by_columns(node) ? slow : fast;
    return (i * width + x * r + j) * plain + c;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = output->desc.shape.dim;
    const size_t bytes = zn_type_size(output->desc.type);
    const size_t row_elements = (size_t)(dim[2] * dim[3]), count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        size_t from = i / row_elements * row_elements + source_of(node, i % row_elements);
        memcpy((uint8_t *)output->data + i * bytes, (const uint8_t *)inputs[0].data + from * bytes,
               bytes);
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct unshuffle_lowering {
    zn_lowering base;
    const zn_node *node;
    size_t bytes; // of an element
} unshuffle_lowering;

// One row of the result, from r rows of the source. The compiler knows the size of an element.
static inline void unshuffle_row(const zn_node *node, const uint8_t *src, const size_t bytes,
                                 uint8_t *dst)
{
    const size_t r = (size_t)factor_of(node), channels = (size_t)node->desc.shape.dim[3];
    const size_t width = (size_t)node->desc.shape.dim[2], plain = channels / (r * r);
    const bool columns = by_columns(node), whole = is_whole(node);
    const size_t piece = channels / r * bytes; // a row of whole pixels lies in one
    for (size_t i = 0; i < r; i++) {
        for (size_t x = 0; x < width; x++) {
            if (whole) {
                memcpy(dst + x * channels * bytes + i * piece, src, piece);
                src += piece;
                continue;
            }
            for (size_t j = 0; j < r; j++) {
                const size_t first = columns ? j * r + i : i * r + j;
                uint8_t *to = dst + (x * channels + first) * bytes;
                for (size_t c = 0; c < plain; c++, src += bytes)
                    memcpy(to + c * r * r * bytes, src, bytes);
            }
        }
    }
}

static void run_row(const zn_lowering *base, const zn_call *call, size_t i, void *scratch)
{
    (void)scratch;
    const unshuffle_lowering *l = (const unshuffle_lowering *)base;
    const int64_t *dim = l->node->desc.shape.dim;
    const size_t row = (size_t)(dim[2] * dim[3]) * l->bytes; // of the result, and r of the source
    const uint8_t *src = (const uint8_t *)call->inputs[0] + i * row;
    uint8_t *dst = (uint8_t *)call->output + i * row;
    if (l->bytes == 1)
        unshuffle_row(l->node, src, 1, dst);
    else if (l->bytes == sizeof(uint16_t))
        unshuffle_row(l->node, src, sizeof(uint16_t), dst);
    else
        unshuffle_row(l->node, src, sizeof(float), dst);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const unshuffle_lowering made = {.base = ZN_LOWERING_OF_PIECES(run_row, "kernel"),
                                     .node = request->node,
                                     .bytes = zn_type_size(request->node->desc.type)};
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)input;
    return zn_graph_add(graph, &zn_op_pixel_shuffle, node->name, &dy, 1, node->attributes);
}

static const zn_pixel_shuffle_attributes two = {.factor = 2}, four = {.factor = 4},
                                         turned = {.factor = 2, .columns = true},
                                         kept = {.factor = 2, .whole = true},
                                         tall = {.factor = 20, .tall = true};

const zn_op zn_op_pixel_unshuffle = {
    .name = "pixel_unshuffle",
    .summary = "pixels to channels: the height and width, or the height alone, divided by r",
    .attributes_size = sizeof(zn_pixel_shuffle_attributes),
    .traits = ZN_OP_FOLLOWS,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &two, 0, ZN_MAP(2, 2, 1)),
                          ZN_SAMPLE("odd", &two, 0, ZN_MAP(10, 14, 3)),
                          ZN_SAMPLE("picture", &four, 0, ZN_MAP(12, 36, 3)),
                          ZN_SAMPLE("columns", &turned, 0, ZN_MAP(6, 10, 3)),
                          ZN_SAMPLE("whole", &kept, 0, ZN_MAP(6, 10, 5)),
                          ZN_SAMPLE("tall", &tall, 0, ZN_MAP(40, 3, 3))),
};

zn_node *zn_pixel_unshuffle(zn_graph *graph, const char *name, zn_node *x, int factor)
{
    const zn_pixel_shuffle_attributes attributes = {.factor = factor};
    return zn_graph_add(graph, &zn_op_pixel_unshuffle, name, &x, 1, &attributes);
}
