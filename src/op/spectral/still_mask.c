// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y becomes zero in the cells over which another map x, of the same size, is still. x decides only:
// a step has no slope, so it gets no gradient.
//
// Cells are those of a coarse grid, each of its rectangles divided into as many as leave 16 pixels
// a side. A cell that is not still is known after its first rows, so asking costs little where the
// answer is no.
#include "src/op/spectral/still_mask.h"
#include "src/op/operator.h"

#include <math.h>

enum { Y, X, INPUTS };

// --- cells ---------------------------------------------------------------------------------------

static int64_t pieces(int64_t length, int64_t count)
{
    const int64_t most = length / (count * ZN_STILL_SIDE);
    return most > 1 ? count * most : count;
}

zn_tile_grid zn_still_cells(const zn_tile_grid *grid)
{
    return (zn_tile_grid){pieces(grid->height, grid->rows), pieces(grid->width, grid->columns),
                          grid->height, grid->width};
}

zenith_status zn_stillness_make(const zn_kernels *kernels, const zn_desc *map, float below,
                                zn_stillness *out, zn_error *err)
{
    zn_stillness s = {.channels = (size_t)map->shape.dim[3], .below = below};
    ZN_TRY(zn_conversion_make(kernels, map->type, map->scale, ZN_F32, 1, &s.widen, err));
    *out = s;
    return ZENITH_OK;
}

size_t zn_stillness_scratch(const zn_stillness *s, int64_t width)
{
    return zn_round_up((size_t)(width + 2) * s->channels * sizeof(float), ZN_ALIGN);
}

static void widen_range(const float *restrict pixel, size_t channels, float *restrict low,
                        float *restrict high)
{
    for (size_t c = 0; c < channels; c++) {
        low[c] = pixel[c] < low[c] ? pixel[c] : low[c];
        high[c] = pixel[c] > high[c] ? pixel[c] : high[c];
    }
}

static bool is_narrow(const zn_stillness *s, const float *low, const float *high)
{
    bool narrow = true;
    for (size_t c = 0; c < s->channels; c++) narrow &= high[c] - low[c] < s->below;
    return narrow;
}

bool zn_is_still(const zn_stillness *s, const void *first, size_t line, int64_t height,
                 int64_t width, float *scratch)
{
    float *low = scratch, *high = low + s->channels, *row = high + s->channels;
    bool narrow = true;
    for (int64_t y = 0; y < height && narrow; y++) {
        s->widen.run((const uint8_t *)first + (size_t)y * line, s->widen.from_scale, row, 1,
                     (size_t)width * s->channels);
        for (size_t c = 0; y == 0 && c < s->channels; c++) low[c] = high[c] = row[c];
        for (int64_t x = 0; x < width; x++)
            widen_range(row + (size_t)x * s->channels, s->channels, low, high);
        narrow = is_narrow(s, low, high);
    }
    return narrow;
}

// --- the operator --------------------------------------------------------------------------------

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_still_mask_attributes *a = node->attributes;
    ZN_TRY(zn_infer_two_maps(node, err));
    if (node->inputs[Y]->desc.shape.dim[0] != 1 || zn_is_quantised(node->inputs[Y]->desc.type) ||
        zn_is_quantised(node->inputs[X]->desc.type))
        return zn_fail(err, ZENITH_UNSUPPORTED, "still_mask takes one map, in a floating type");
    if (a->rows < 1 || a->columns < 1 || !(a->below >= 0))
        return zn_fail(err, ZENITH_INTERNAL, "still_mask needs a grid and a bound");
    return ZENITH_OK;
}

static zn_tile_grid cells_of(const zn_node *node)
{
    const zn_still_mask_attributes *a = node->attributes;
    const int64_t *dim = node->desc.shape.dim;
    const zn_tile_grid grid = {a->rows, a->columns, dim[1], dim[2]};
    return zn_still_cells(&grid);
}

static bool reference_is_still(const zn_node *node, const zn_tensor *x, zn_tile_area area)
{
    const zn_still_mask_attributes *a = node->attributes;
    const int64_t *dim = x->desc.shape.dim;
    for (int64_t c = 0; c < dim[3]; c++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t row = area.top; row < area.bottom; row++) {
            for (int64_t column = area.left; column < area.right; column++) {
                const float value = zn_value_get(x, (size_t)((row * dim[2] + column) * dim[3] + c));
                low = value < low ? value : low;
                high = value > high ? value : high;
            }
        }
        if (!(high - low < a->below)) return false;
    }
    return true;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = output->desc.shape.dim;
    const zn_tile_grid grid = cells_of(node);
    for (int64_t i = 0; i < grid.rows * grid.columns; i++) {
        const zn_tile_area area = zn_tile_grid_area(&grid, i);
        const bool still = reference_is_still(node, &inputs[X], area);
        for (int64_t row = area.top; row < area.bottom; row++) {
            for (int64_t k = area.left * dim[3]; k < area.right * dim[3]; k++) {
                const size_t at = (size_t)(row * dim[2] * dim[3] + k);
                zn_value_set(output, at, still ? 0 : zn_value_get(&inputs[Y], at));
            }
        }
    }
}

// --- lowering: cells, each copied, converted or cleared ------------------------------------------

typedef struct still_lowering {
    zn_lowering base;
    zn_tile_grid cells;
    zn_stillness stillness;
    zn_conversion convert; // of y
} still_lowering;

static void run_cell(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const still_lowering *l = (const still_lowering *)base;
    const zn_tile_area area = zn_tile_grid_area(&l->cells, (int64_t)index);
    const size_t channels = l->stillness.channels, wide = (size_t)(area.right - area.left);
    const size_t line = (size_t)l->cells.width * channels, left = (size_t)area.left * channels;
    const size_t from = zn_type_size(l->convert.from), to = zn_type_size(l->convert.to);
    const size_t x = zn_type_size(l->stillness.widen.from);
    const uint8_t *first = (const uint8_t *)call->inputs[X] + ((size_t)area.top * line + left) * x;
    const bool still = zn_is_still(&l->stillness, first, line * x, area.bottom - area.top,
                                   area.right - area.left, scratch);
    for (int64_t row = area.top; row < area.bottom; row++) {
        const size_t at = (size_t)row * line + left;
        zn_tile_take(&l->convert, still, (const uint8_t *)call->inputs[Y] + at * from,
                     (uint8_t *)call->output + at * to, wide * channels);
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_still_mask_attributes *a = node->attributes;
    still_lowering made = {.base = ZN_LOWERING_OF_PIECES(run_cell, "still"),
                           .cells = cells_of(node)};
    ZN_TRY(zn_stillness_make(request->kernels, &node->inputs[X]->desc, a->below, &made.stillness,
                             err));
    ZN_TRY(zn_conversion_pass(request, Y, &made.convert, err));
    made.base.pieces = (size_t)(made.cells.rows * made.cells.columns);
    const int64_t widest = made.cells.width / made.cells.columns + 1;
    ZN_TRY(zn_lowering_part(&made.base, request, 0, zn_stillness_scratch(&made.stillness, widest),
                            err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input != Y) return NULL;
    return zn_still_mask(graph, node->name, dy, node->inputs[X],
                         *(const zn_still_mask_attributes *)node->attributes);
}

static const zn_still_mask_attributes all = {1, 1, 1e9f}, none = {1, 1, 0}, some = {2, 3, 3},
                                      many = {2, 1, 5.7f};

const zn_op zn_op_still_mask = {
    .name = "still_mask",
    .summary = "zeros where another map hardly changes",
    .attributes_size = sizeof(zn_still_mask_attributes),
    .traits = ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("all", &all, 0, ZN_MAP(3, 2, 3), ZN_MAP(3, 2, 3)),
                          ZN_SAMPLE("none", &none, 0, ZN_MAP(3, 2, 3), ZN_MAP(3, 2, 3)),
                          ZN_SAMPLE("some", &some, 0, ZN_MAP(5, 7, 2), ZN_MAP(5, 7, 2)),
                          ZN_SAMPLE("many", &many, 0, ZN_MAP(70, 33, 1), ZN_MAP(70, 33, 1))),
};

zn_node *zn_still_mask(zn_graph *graph, const char *name, zn_node *y, zn_node *x,
                       zn_still_mask_attributes attributes)
{
    return zn_graph_pair(graph, &zn_op_still_mask, name, y, x, &attributes);
}
