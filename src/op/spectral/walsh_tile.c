// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y = W soft((1 + gate) . (W x), threshold) on tiles of a map; see ops.h. Where a tile reaches
// beyond the map it reads it mirrored.
//
// Rows. A row needs those of its tile, at most size - 1 above it and below it; and at the lower
// border, where a tile may have one row inside the map, the mirrored ones, which lie above that
// tile. The rule of rows says so for any row, whatever its place in its tile: windows of a plan
// need a rule that is the same everywhere. A call computes the tiles that its rows touch.
#include "src/op/operator.h"
#include "src/op/spectral/walsh_tile_lowering.h"

#include <math.h>

enum { X, GATE, THRESHOLD, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_walsh_tile_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS - 1, INPUTS, err));
    ZN_TRY(zn_walsh_check_map(node, X, err));
    ZN_TRY(zn_walsh_check_tile(node, a, err));
    for (int i = GATE; i < node->inputs_count; i++)
        ZN_TRY(zn_walsh_check_gate(node, i, a->size * a->size, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const zn_walsh_tile_attributes *a = node->attributes;
    if (input != X) return out;
    return (zn_rows){out.begin - 2 * a->size + 3, out.end + a->size - 1};
}

static double soft(double value, double threshold)
{
    const double above = fabs(value) - fabs(threshold);
    return above > 0 ? copysign(above, value) : 0;
}

static void reference_tile(const zn_node *node, const zn_tensor *inputs, zn_walsh_place at,
                           zn_tensor *output)
{
    const zn_walsh_tile_attributes *a = node->attributes;
    const int64_t *dim = output->desc.shape.dim;
    double values[ZN_WALSH_TILE_PIXELS];
    zn_walsh_tile_take(a, &inputs[X], at, true, values);
    for (int k = 0; k < a->size * a->size; k++) {
        const size_t factor = (size_t)(k * dim[3] + at.channel);
        const double gate = (double)zn_value_get(&inputs[GATE], factor);
        values[k] *= a->plain ? gate : 1 + gate;
        if (!zn_walsh_keeps(a, k / a->size) || !zn_walsh_keeps(a, k % a->size)) values[k] = 0;
        if (node->inputs_count > THRESHOLD)
            values[k] = soft(values[k], (double)zn_value_get(&inputs[THRESHOLD], factor));
    }
    zn_walsh_tile_double(a->size, values);
    for (int i = 0; i < a->size * a->size; i++) {
        const int64_t y = at.top + i / a->size, x = at.left + i % a->size;
        if (y < 0 || y >= dim[1] || x < 0 || x >= dim[2]) continue;
        const int64_t place = ((at.image * dim[1] + y) * dim[2] + x) * dim[3] + at.channel;
        zn_value_set(output, (size_t)place, (float)values[i]);
    }
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_walsh_tile_attributes *a = node->attributes;
    const int64_t *dim = output->desc.shape.dim;
    for (int64_t i = 0; i < dim[0] * zn_walsh_tiles_in(a, dim[1]); i++) {
        const int64_t top = i % zn_walsh_tiles_in(a, dim[1]) * a->size - a->shift;
        for (int64_t left = -a->shift; left < dim[2]; left += a->size) {
            for (int64_t c = 0; c < dim[3]; c++)
                reference_tile(node, inputs,
                               (zn_walsh_place){i / zn_walsh_tiles_in(a, dim[1]), top, left, c},
                               output);
        }
    }
}

// --- lowering -----------------------------------------------------------------------------------

enum { SRC, DST };

// The tiles that a call touches, down the map.
static zn_rows tiles_of(const zn_walsh_tiles *l, const zn_call *call)
{
    const zn_walsh_tile_attributes *a = l->factors.tile;
    const int64_t begin = call->row < 0 ? 0 : call->row, last = call->row + call->rows;
    const int64_t end = last < l->maps[SRC].height ? last : l->maps[SRC].height;
    if (begin >= end) return (zn_rows){0, 0}; // outside the map: dropped
    return (zn_rows){(begin + a->shift) / a->size, (end - 1 + a->shift) / a->size + 1};
}

static void run_tile(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const zn_walsh_tiles *l = (const zn_walsh_tiles *)base;
    const zn_walsh_tile_attributes *a = l->factors.tile;
    const zn_walsh_tiling tile = zn_walsh_tiles_get(l, call, scratch);
    const int64_t across = zn_walsh_tiles_in(a, l->maps[SRC].width);
    const int64_t down = tiles_of(l, call).begin + (int64_t)index / across;
    const int64_t top = down * a->size - a->shift;
    const int64_t left = (int64_t)index % across * a->size - a->shift;
    zn_walsh_map src = zn_walsh_map_at(&l->maps[SRC], call->inputs[X]);
    zn_walsh_map dst = zn_walsh_map_at(&l->maps[DST], call->output);
    zn_walsh_pixels from, to;
    src.first_row = call->row - 2 * a->size + 3;
    dst.first_row = call->row;
    dst.begin = call->row < 0 ? 0 : call->row;
    if (dst.end > call->row + call->rows) dst.end = call->row + call->rows;
    zn_walsh_pixels_find(&src, a->size, top, left, 0, &from);
    zn_walsh_pixels_find(&dst, a->size, top, left, 0, &to);
    l->kernel->tile(&tile, &from, &to);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const zn_walsh_tiles *l = (const zn_walsh_tiles *)base;
    const zn_rows tiles = tiles_of(l, call);
    const int64_t across = zn_walsh_tiles_in(l->factors.tile, l->maps[SRC].width);
    zn_walsh_tiles_begin(l, call);
    zn_lowering_run_pieces(base, call, (size_t)((tiles.end - tiles.begin) * across));
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_walsh_tile_attributes *a = node->attributes;
    const zn_desc *x = &node->inputs[X]->desc;
    zn_walsh_tiles made = {
        .base = {.run = run, .piece = run_tile, .runs = true},
        .maps = {[SRC] = zn_walsh_map_of(x, true), [DST] = zn_walsh_map_of(&node->desc, false)},
        .factors = {.tile = a,
                    .gate = GATE,
                    .threshold = node->inputs_count > THRESHOLD ? THRESHOLD : -1,
                    .gate_factor = x->scale / ((float)a->size * (float)a->size),
                    .threshold_factor = 1 / (float)a->size}};
    return zn_walsh_tiles_lower(request, &made, out, err);
}

static double flops(const zn_node *node)
{
    const int64_t *dim = node->desc.shape.dim;
    return zn_walsh_tile_flops(node->attributes) * (double)(dim[0] * dim[1]) *
           (double)(dim[2] * dim[3]);
}

// --- gradient -----------------------------------------------------------------------------------

// W gate W is symmetric on tiles; around the map stand its mirrored pixels, whose share is folded
// back.
static zn_node *gradient_of_map(zn_graph *graph, const zn_node *node, zn_node *dy)
{
    const zn_walsh_tile_attributes *a = node->attributes;
    zn_node *const *in = node->inputs;
    const int64_t *dim = in[X]->desc.shape.dim;
    zn_node *threshold = node->inputs_count > THRESHOLD ? in[THRESHOLD] : NULL;
    zn_node *covered = zn_graph_add(graph, &zn_op_walsh_tile_gradient, node->name,
                                    (zn_node *[]){dy, in[GATE], in[X], threshold},
                                    threshold ? 4 : 2, a);
    if (zn_walsh_covered(a, dim[1]) == dim[1] && zn_walsh_covered(a, dim[2]) == dim[2])
        return covered;
    return zn_graph_add(graph, &zn_op_mirror_fold, node->name, &covered, 1,
                        &(zn_mirror_fold_attributes){a->shift, dim[1], dim[2]});
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == X) return gradient_of_map(graph, node, dy);
    const zn_walsh_tile_sums_attributes a = {*(const zn_walsh_tile_attributes *)node->attributes,
                                             input == GATE ? ZN_WALSH_TILE_GATE
                                                           : ZN_WALSH_TILE_THRESHOLD};
    zn_node *const *in = node->inputs;
    zn_node *threshold = node->inputs_count > THRESHOLD ? in[THRESHOLD] : NULL;
    return zn_graph_add(graph, &zn_op_walsh_tile_sums, node->name,
                        (zn_node *[]){dy, in[X], in[GATE], threshold}, node->inputs_count + 1, &a);
}

static const zn_walsh_tile_attributes four = {4, 0, 4, false}, eight = {8, 4, 8, false},
                                      half = {8, 0, 4, true}, sixteen = {16, 8, 16, false},
                                      some = {16, 0, 5, false}, mean = {4, 2, 1, true};

const zn_op zn_op_walsh_tile = {
    .name = "walsh_tile",
    .summary = "a gate and a threshold over the Walsh frequencies of tiles",
    .attributes_size = sizeof(zn_walsh_tile_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("four", &four, 6, ZN_MAP(8, 12, 3), {2, {16, 3}}, {2, {16, 3}}),
        ZN_SAMPLE("shifted", &eight, 6, ZN_MAP(17, 9, 16), {2, {64, 16}}, {2, {64, 16}}),
        ZN_SAMPLE("half", &half, 2, ZN_MAP(11, 16, 20), {2, {64, 20}}),
        ZN_SAMPLE("sixteen", &sixteen, 2, ZN_MAP(19, 33, 5), {2, {256, 5}}),
        ZN_SAMPLE("some", &some, 4, ZN_MAP(5, 32, 4), {2, {256, 4}}, {2, {256, 4}}),
        ZN_SAMPLE("mean", &mean, 0, ZN_MAP(6, 7, 33), {2, {16, 33}}),
        ZN_SAMPLE("smaller", &eight, 0, ZN_MAP(3, 1, 2), {2, {64, 2}})),
};

zn_node *zn_walsh_tile(zn_graph *graph, const char *name, zn_node *x, zn_node *gate,
                       zn_node *threshold, zn_walsh_tile_attributes attributes)
{
    return zn_graph_add(graph, &zn_op_walsh_tile, name, (zn_node *[]){x, gate, threshold},
                        threshold ? INPUTS : INPUTS - 1, &attributes);
}
