// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A hard mask: the map is cut into a grid of rectangles, each with a score [rows, columns]; where
// the score is negative the map becomes zero. Pixel (y, x) lies in rectangle (y rows / h, x columns
// / w), rounded down, so that one grid fits every size of map.
//
// A step has no slope, so its score would never be learned: the gradient with respect to the scores
// is that of a product, as if the mask were the score itself ("straight through").
//
// The sum of a * b over each rectangle of a grid and all channels, in f32: two maps of one shape ->
// [rows, columns]. The gradient of the scores of tile_mask.
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

// --- lowering: a copy or zeros, and a conversion where the types differ --------------------------

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

zenith_status zn_check_scores(const zn_node *node, int input, zn_error *err)
{
    const zn_shape *shape = &node->inputs[input]->desc.shape;
    if (node->inputs[input]->kind == ZN_NODE_PARAMETER && shape->rank == 2 && shape->dim[0] >= 1 &&
        shape->dim[1] >= 1 && shape->dim[0] < INT16_MAX && shape->dim[1] < INT16_MAX)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s: '%s' is no parameter [rows, columns]",
                   node->op->name, node->inputs[input]->name);
}

static zn_tile_grid grid_of(const zn_node *node)
{
    return zn_tile_grid_of(&node->desc.shape, node->inputs[0]->desc.shape.dim);
}

static zenith_status sums_infer(zn_node *node, zn_error *err)
{
    const zn_tile_sums_attributes *a = node->attributes;
    ZN_TRY(zn_infer_two_maps(node, err));
    if (a->rows < 1 || a->columns < 1)
        return zn_fail(err, ZENITH_INTERNAL, "tile_sums needs a grid");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(a->rows, a->columns));
    return ZENITH_OK;
}

static void sums_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = inputs[0].desc.shape.dim;
    const zn_tile_grid grid = grid_of(node);
    for (int64_t k = 0; k < grid.rows * grid.columns; k++) {
        double sum = 0;
        for (int64_t i = 0; i < (int64_t)zn_value_count(&inputs[0]); i++) {
            const int64_t x = i / dim[3] % dim[2], y = i / (dim[3] * dim[2]) % dim[1];
            if (zn_tile_grid_at(&grid, y, x) != k) continue;
            sum += (double)zn_value_get(&inputs[0], (size_t)i) *
                   (double)zn_value_get(&inputs[1], (size_t)i);
        }
        zn_value_set(output, (size_t)k, (float)sum);
    }
}

// --- lowering: pixels in order, each summed in f32, all in double -------------------------------

typedef struct sums_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_conversion widen[2];
} sums_lowering;

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const sums_lowering *l = (const sums_lowering *)base;
    const zn_tile_grid grid = grid_of(l->node);
    const size_t channels = (size_t)l->node->inputs[0]->desc.shape.dim[3];
    const size_t row = channels * (size_t)grid.width, count = (size_t)(grid.rows * grid.columns);
    double *sums = call->scratch;
    float *wide = (float *)(void *)(sums + count);
    for (size_t i = 0; i < count; i++) sums[i] = 0;
    for (int64_t y = 0; y < grid.height; y++) {
        for (int i = 0; i < 2; i++) {
            const zn_conversion *c = &l->widen[i];
            c->run((const char *)call->inputs[i] + (size_t)y * row * zn_type_size(c->from),
                   c->from_scale, wide + (size_t)i * row, 1, row);
        }
        for (int64_t x = 0; x < grid.width; x++) {
            const float *a = wide + (size_t)x * channels, *b = a + row;
            float pixel[4] = {0};
            for (size_t c = 0; c < channels; c++) pixel[c % 4] += a[c] * b[c];
            sums[zn_tile_grid_at(&grid, y, x)] += (double)pixel[0] + (double)pixel[1] +
                                                  (double)pixel[2] + (double)pixel[3];
        }
    }
    float *dst = call->output;
    for (size_t i = 0; i < count; i++) dst[i] = (float)sums[i];
    return ZENITH_OK;
}

static zenith_status sums_lower(const zn_lowering_request *request, zn_lowering **out,
                                zn_error *err)
{
    const zn_node *node = request->node;
    const size_t row = zn_row_elements(node->inputs[0]);
    const size_t count = (size_t)(node->desc.shape.dim[0] * node->desc.shape.dim[1]);
    sums_lowering made = {
        .base = {.run = run,
                 .free = zn_lowering_free,
                 .id = "sums",
                 .scratch_bytes = count * sizeof(double) + 2 * row * sizeof(float)},
        .node = node};
    for (int i = 0; i < 2; i++) ZN_TRY(zn_conversion_widen(request, i, &made.widen[i], err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static double flops(const zn_node *node)
{
    return 2 * zn_flops_of_input(node);
}

static const zn_tile_sums_attributes one = {1, 1}, six = {2, 3}, many = {4, 4};

const zn_op zn_op_tile_sums = {
    .name = "tile_sums",
    .summary = "the sum of the product of two maps, for each rectangle",
    .attributes_size = sizeof(zn_tile_sums_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = sums_infer,
    .rows = zn_rows_whole,
    .reference = sums_reference,
    .lower = sums_lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &one, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", &six, 0, ZN_MAP(5, 7, 20), ZN_MAP(5, 7, 20)),
                          ZN_SAMPLE("wide", &many, 0, ZN_MAP(8, 32, 64), ZN_MAP(8, 32, 64))),
};
