// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Channels become pixels: [n, h, w, c r r] -> [n, h r, w r, c], where the result's pixel (y r + i,
// x r + j) takes channel c from channel (c r + i) r + j of (y, x), as PyTorch's PixelShuffle; by
// columns, from channel (c r + j) r + i; of whole pixels, from channel (i r + j) c' + c, where c'
// is their number. Tall: [n, h, w, c r] -> [n, h r, w, c], of whole pixels. A copy, so type and
// scale stay.
#include "src/op/operator.h"
#include "src/op/shape/enlarge_lowering.h"

#include <string.h>

static int factor_of(const zn_node *node)
{
    return ((const zn_pixel_shuffle_attributes *)node->attributes)->factor;
}

static bool is_tall(const zn_node *node)
{
    return ((const zn_pixel_shuffle_attributes *)node->attributes)->tall;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const zn_desc *x = &node->inputs[0]->desc;
    const int64_t *dim = x->shape.dim, r = factor_of(node), across = is_tall(node) ? 1 : r;
    if (r < 1 || across > 16 || r > 4096 || dim[3] % (r * across) != 0 || dim[1] > INT32_MAX ||
        dim[2] > INT32_MAX) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%lld channels cannot become pixels %lld x %lld", (long long)dim[3],
                       (long long)across, (long long)r);
    }
    node->desc = *x;
    node->desc.shape = ZN_SHAPE(dim[0], dim[1] * r, dim[2] * across, dim[3] / (r * across));
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    (void)input;
    return zn_enlarge_rows(factor_of(node), out);
}

// One row of the result: row `inner` of the r rows that a source row becomes. Its r columns take
// the channels from `first` on, `step` apart.
static inline void shuffle_elements(const uint8_t *src, int64_t width, int64_t channels, int r,
                                    int64_t first, int64_t step, const size_t bytes, uint8_t *dst)
{
    const int64_t plain = channels / (r * r);
    for (int64_t x = 0; x < width; x++, src += (size_t)channels * bytes) {
        const uint8_t *from = src + (size_t)first * bytes;
        for (int j = 0; j < r; j++, from += (size_t)step * bytes) {
            for (int64_t c = 0; c < plain; c++, dst += bytes)
                memcpy(dst, from + (size_t)(c * r * r) * bytes, bytes);
        }
    }
}

// What pictures have is known to the compiler: a copy is then a move, not a call.
static void shuffle_row(const uint8_t *src, const zn_enlarging *how, int64_t inner, uint8_t *dst)
{
    const int r = how->factor;
    const int64_t width = how->width, channels = how->channels;
    const int64_t first = how->columns ? inner : inner * r, step = how->columns ? r : 1;
    const size_t bytes = how->element_bytes;
    const bool two = r == 2 && channels == 12, four = r == 4 && channels == 48;
    if (bytes == 1 && two)
        shuffle_elements(src, width, 12, 2, first, step, 1, dst);
    else if (bytes == 1 && four)
        shuffle_elements(src, width, 48, 4, first, step, 1, dst);
    else if (bytes == sizeof(float))
        shuffle_elements(src, width, channels, r, first, step, sizeof(float), dst);
    else if (bytes == sizeof(uint16_t))
        shuffle_elements(src, width, channels, r, first, step, sizeof(uint16_t), dst);
    else
        shuffle_elements(src, width, channels, r, first, step, 1, dst);
}

// The same where a square's channels are whole pixels: a row of it lies in one piece.
static void shuffle_whole_row(const uint8_t *src, const zn_enlarging *how, int64_t inner,
                              uint8_t *dst)
{
    const size_t all = (size_t)how->channels * how->element_bytes,
                 piece = all / (size_t)how->factor;
    src += (size_t)inner * piece;
    for (int64_t x = 0; x < how->width; x++, src += all, dst += piece) memcpy(dst, src, piece);
}

static void shuffle(const zn_enlarging *how, const void *src, void *dst, int64_t first_row,
                    int64_t count)
{
    const int r = how->factor;
    const size_t src_row = (size_t)(how->width * how->channels) * how->element_bytes;
    const uint8_t *from = src;
    uint8_t *to = dst;
    int64_t inner = (first_row % r + r) % r;
    for (int64_t i = 0; i < count; i++, to += src_row / (size_t)r) {
        if (how->whole)
            shuffle_whole_row(from, how, inner, to);
        else
            shuffle_row(from, how, inner, to);
        if (++inner < r) continue;
        inner = 0;
        from += src_row;
    }
}

static zn_enlarging enlarging_of(const zn_node *node)
{
    const zn_pixel_shuffle_attributes *a = node->attributes;
    zn_enlarging how = zn_enlarging_of(&node->inputs[0]->desc, a->factor);
    how.columns = a->columns;
    how.whole = a->whole || a->tall;
    return how;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = output->desc.shape.dim;
    zn_enlarging how = enlarging_of(node);
    how.element_bytes = zn_type_size(output->desc.type);
    shuffle(&how, inputs[0].data, output->data, 0, dim[0] * dim[1]);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_enlarging how = enlarging_of(request->node);
    return zn_enlarge_lower(request, &how, shuffle, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)input;
    return zn_graph_add(graph, &zn_op_pixel_unshuffle, node->name, &dy, 1, node->attributes);
}

static const zn_pixel_shuffle_attributes two = {.factor = 2}, four = {.factor = 4},
                                         turned = {.factor = 2, .columns = true},
                                         kept = {.factor = 2, .whole = true},
                                         tall = {.factor = 20, .tall = true};

const zn_op zn_op_pixel_shuffle = {
    .name = "pixel_shuffle",
    .summary = "channels to pixels: r times the height and width, or the height alone",
    .attributes_size = sizeof(zn_pixel_shuffle_attributes),
    .traits = ZN_OP_FOLLOWS,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .rings = zn_always_rings,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &two, 0, ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("odd", &two, 0, ZN_MAP(5, 7, 12)),
                          ZN_SAMPLE("picture", &four, 0, ZN_MAP(3, 9, 48)),
                          ZN_SAMPLE("columns", &turned, 0, ZN_MAP(5, 3, 12)),
                          ZN_SAMPLE("whole", &kept, 0, ZN_MAP(5, 3, 20)),
                          ZN_SAMPLE("tall", &tall, 0, ZN_MAP(2, 3, 60))),
};

zn_node *zn_pixel_shuffle(zn_graph *graph, const char *name, zn_node *x, int factor)
{
    const zn_pixel_shuffle_attributes attributes = {.factor = factor};
    return zn_graph_add(graph, &zn_op_pixel_shuffle, name, &x, 1, &attributes);
}
