// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A hard mask: the map is cut into a grid of rectangles, each with a score [rows, columns]; where the
// score is negative the map becomes zero. Pixel (y, x) lies in rectangle (y rows / h, x columns / w),
// rounded down, so that one grid fits every size of map.
//
// A step has no slope, so its score would never be learned: the gradient with respect to the scores is
// that of a product, as if the mask were the score itself ("straight through").
#include "src/op/operator.h"
#include "src/op/spectral/tile_grid.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 2, err));
    ZN_TRY(zn_check_map(node, 0, err));
    ZN_TRY(zn_check_scores(node, 1, err));
    if (zn_is_quantised(node->inputs[0]->desc.type))
        return zn_fail(err, ZENITH_UNSUPPORTED, "tile_mask computes in floating types");
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = output->desc.shape.dim;
    const zn_tile_grid grid = zn_tile_grid_of(&node->inputs[1]->desc.shape, dim);
    for (int64_t i = 0; i < (int64_t)zn_value_count(output); i++) {
        const int64_t x = i / dim[3] % dim[2], y = i / (dim[3] * dim[2]) % dim[1];
        const size_t score = (size_t)zn_tile_grid_at(&grid, y, x);
        const bool alive = !(zn_value_get(&inputs[1], score) < 0);
        zn_value_set(output, (size_t)i, alive ? zn_value_get(&inputs[0], (size_t)i) : 0);
    }
}

// --- lowering: a copy or zeros, and a conversion where the types differ ----------------------------

typedef struct mask_lowering {
    zn_lowering base;
    zn_tile_grid grid;
    const float *scores;
    zn_conversion convert;
    size_t pixel; // elements
    int64_t width, height;
} mask_lowering;

// One row of the result, rectangle by rectangle.
static void mask_row(const mask_lowering *l, int64_t y, const uint8_t *src, uint8_t *dst)
{
    const size_t from = l->pixel * zn_type_size(l->convert.from);
    const size_t to = l->pixel * zn_type_size(l->convert.to);
    for (int64_t column = 0; column < l->grid.columns; column++) {
        const int64_t begin = zn_tile_grid_edge(column, l->grid.columns, l->width);
        const int64_t end = zn_tile_grid_edge(column + 1, l->grid.columns, l->width);
        const size_t count = (size_t)(end - begin);
        const int64_t score = y * l->grid.rows / l->height * l->grid.columns + column;
        if (count == 0) continue;
        zn_tile_take(&l->convert, l->scores[score] < 0, src + (size_t)begin * from,
                     dst + (size_t)begin * to, count * l->pixel);
    }
}

static void run_row(const zn_lowering *base, const zn_call *call, size_t i, void *scratch)
{
    (void)scratch;
    const mask_lowering *l = (const mask_lowering *)base;
    const size_t row = (size_t)l->width * l->pixel;
    const int64_t y = call->row + (int64_t)i;
    if (y < 0 || y >= l->height) return; // it will be dropped
    mask_row(l, y, (const uint8_t *)call->inputs[0] + i * row * zn_type_size(l->convert.from),
             (uint8_t *)call->output + i * row * zn_type_size(l->convert.to));
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[0]->desc;
    const void *scores = NULL;
    zn_conversion convert;
    ZN_TRY(zn_pack_vector(request->packs, &node->inputs[1]->constant, &scores, err));
    ZN_TRY(zn_conversion_pass(request, 0, &convert, err));
    const mask_lowering made = {
        .base = ZN_LOWERING_OF_PIECES(run_row, "mask"),
        .grid = zn_tile_grid_of(&node->inputs[1]->desc.shape, node->desc.shape.dim),
        .scores = scores,
        .convert = convert,
        .pixel = (size_t)x->shape.dim[3],
        .width = x->shape.dim[2],
        .height = x->shape.dim[1]};
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == 0) return zn_tile_mask(graph, node->name, dy, node->inputs[1]);
    const int64_t *grid = node->inputs[1]->desc.shape.dim;
    return zn_graph_pair(graph, &zn_op_tile_sums, node->name, node->inputs[0], dy,
                         &(zn_tile_sums_attributes){grid[0], grid[1]});
}

const zn_op zn_op_tile_mask = {
    .name = "tile_mask",
    .summary = "zeros where a rectangle's score is negative",
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 2, ZN_MAP(1, 1, 3), {2, {1, 1}}),
                          ZN_SAMPLE("odd", NULL, 2, ZN_MAP(5, 7, 3), {2, {2, 3}}),
                          ZN_SAMPLE("small", NULL, 2, ZN_MAP(3, 2, 16), {2, {4, 4}}),
                          ZN_SAMPLE("wide", NULL, 2, ZN_MAP(8, 32, 64), {2, {4, 4}})),
};

zn_node *zn_tile_mask(zn_graph *graph, const char *name, zn_node *x, zn_node *scores)
{
    return zn_graph_pair(graph, &zn_op_tile_mask, name, x, scores, NULL);
}
