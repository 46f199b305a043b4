// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of walsh_tile with respect to x, for all pixels that tiles cover: W ((1 + gate) . (W
// dy)), where W x was above the threshold. Outside the map dy is zero. mirror_fold adds what lies
// outside the map to the pixels that were mirrored there.
#include "src/op/operator.h"
#include "src/op/spectral/walsh_tile_lowering.h"

#include <math.h>

enum { DY, GATE, X, THRESHOLD, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_walsh_tile_attributes *a = node->attributes;
    const bool with_threshold = node->inputs_count > X;
    const int count = with_threshold ? INPUTS : X;
    ZN_TRY(zn_check_inputs(node, count, count, err));
    ZN_TRY(zn_walsh_check_map(node, DY, err));
    ZN_TRY(zn_walsh_check_tile(node, a, err));
    ZN_TRY(zn_walsh_check_gate(node, GATE, a->size * a->size, err));
    if (with_threshold) {
        ZN_TRY(zn_walsh_check_map(node, X, err));
        ZN_TRY(zn_check_same_shape(node, DY, X, err));
        ZN_TRY(zn_walsh_check_gate(node, THRESHOLD, a->size * a->size, err));
    }
    zn_infer_like_input(node);
    const int64_t *dim = node->inputs[DY]->desc.shape.dim;
    node->desc.shape = ZN_SHAPE(dim[0], zn_walsh_covered(a, dim[1]), zn_walsh_covered(a, dim[2]),
                                dim[3]);
    return ZENITH_OK;
}

static void reference_tile(const zn_node *node, const zn_tensor *inputs, zn_walsh_place at,
                           zn_tensor *output)
{
    const zn_walsh_tile_attributes *a = node->attributes;
    const int64_t *dim = output->desc.shape.dim;
    double values[ZN_WALSH_TILE_PIXELS], x[ZN_WALSH_TILE_PIXELS];
    zn_walsh_tile_take(a, &inputs[DY], at, false, values);
    if (node->inputs_count > X) zn_walsh_tile_take(a, &inputs[X], at, true, x);
    for (int k = 0; k < a->size * a->size; k++) {
        const size_t factor = (size_t)(k * dim[3] + at.channel);
        const double raw = (double)zn_value_get(&inputs[GATE], factor);
        const double gate = a->plain ? raw : 1 + raw;
        bool passes = zn_walsh_keeps(a, k / a->size) && zn_walsh_keeps(a, k % a->size);
        if (node->inputs_count > X)
            passes &= fabs(gate * x[k]) > fabs((double)zn_value_get(&inputs[THRESHOLD], factor));
        values[k] = passes ? values[k] * gate : 0;
    }
    zn_walsh_tile_double(a->size, values);
    for (int i = 0; i < a->size * a->size; i++) {
        const int64_t row = at.top + a->shift + i / a->size,
                      column = at.left + a->shift + i % a->size;
        const int64_t place = ((at.image * dim[1] + row) * dim[2] + column) * dim[3] + at.channel;
        zn_value_set(output, (size_t)place, (float)values[i]);
    }
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_walsh_tile_attributes *a = node->attributes;
    const int64_t *dim = output->desc.shape.dim;
    for (int64_t row = 0; row < dim[0] * dim[1]; row += a->size) {
        for (int64_t column = 0; column < dim[2]; column += a->size) {
            for (int64_t c = 0; c < dim[3]; c++)
                reference_tile(
                    node, inputs,
                    (zn_walsh_place){row / dim[1], row % dim[1] - a->shift, column - a->shift, c},
                    output);
        }
    }
}

// --- lowering -----------------------------------------------------------------------------------

enum { OF_DY, OF_X, OF_DST };

static void run_tile(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const zn_walsh_tiles *l = (const zn_walsh_tiles *)base;
    const int size = l->factors.tile->size, shift = l->factors.tile->shift;
    const zn_walsh_tiling tile = zn_walsh_tiles_get(l, call, scratch);
    const zn_walsh_map from = zn_walsh_map_at(&l->maps[OF_DY], call->inputs[DY]);
    const zn_walsh_map to = zn_walsh_map_at(&l->maps[OF_DST], call->output);
    const int64_t across = to.width / size;
    const int64_t row = (int64_t)index / across * size, column = (int64_t)index % across * size;
    zn_walsh_pixels dy, x, dst;
    zn_walsh_pixels_find(&from, size, row - shift, column - shift, 0, &dy);
    zn_walsh_pixels_find(&to, size, row, column, 0, &dst);
    if (!tile.threshold) {
        l->kernel->tile(&tile, &dy, &dst);
        return;
    }
    const zn_walsh_map of_x = zn_walsh_map_at(&l->maps[OF_X], call->inputs[X]);
    zn_walsh_pixels_find(&of_x, size, row - shift, column - shift, 0, &x);
    l->kernel->tile_gradient(&tile, &dy, &x, &dst);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const zn_walsh_tiles *l = (const zn_walsh_tiles *)base;
    const int64_t size = l->factors.tile->size;
    zn_walsh_tiles_begin(l, call);
    zn_lowering_run_pieces(
        base, call, (size_t)(l->maps[OF_DST].width / size * (l->maps[OF_DST].height / size)));
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_walsh_tile_attributes *a = node->attributes;
    const zn_desc *dy = &node->inputs[DY]->desc;
    const float size = (float)a->size;
    zn_walsh_tiles made = {
        .base = {.run = run, .piece = run_tile, .runs = true},
        .maps =
            {[OF_DY] = zn_walsh_map_of(dy, false), [OF_DST] = zn_walsh_map_of(&node->desc, false)},
        .factors = {
            .tile = a, .gate = GATE, .threshold = -1, .gate_factor = dy->scale / (size * size)}};
    if (node->inputs_count > X) {
        const zn_desc *x = &node->inputs[X]->desc;
        made.maps[OF_X] = zn_walsh_map_of(x, true);
        made.factors.threshold = THRESHOLD;
        made.factors.threshold_factor = dy->scale / (x->scale * size);
    }
    return zn_walsh_tiles_lower(request, &made, out, err);
}

static double flops(const zn_node *node)
{
    const int64_t *dim = node->desc.shape.dim;
    return 1.5 * zn_walsh_tile_flops(node->attributes) * (double)(dim[0] * dim[1]) *
           (double)(dim[2] * dim[3]);
}

static const zn_walsh_tile_attributes four = {4, 0, 4, false}, eight = {8, 4, 8, false},
                                      half = {8, 0, 4, true};

const zn_op zn_op_walsh_tile_gradient = {
    .name = "walsh_tile_gradient",
    .summary = "the gradient of walsh_tile for every pixel that tiles cover",
    .attributes_size = sizeof(zn_walsh_tile_attributes),
    .traits = ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("four", &four, 0xa, ZN_MAP(8, 12, 3), {2, {16, 3}},
                                    ZN_MAP(8, 12, 3), {2, {16, 3}}),
                          ZN_SAMPLE("shifted", &eight, 0xa, ZN_MAP(17, 9, 16), {2, {64, 16}},
                                    ZN_MAP(17, 9, 16), {2, {64, 16}}),
                          ZN_SAMPLE("half", &half, 2, ZN_MAP(11, 16, 20), {2, {64, 20}})),
};
