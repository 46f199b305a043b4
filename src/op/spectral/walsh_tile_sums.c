// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of walsh_tile with respect to its gate and its threshold, f32 [size * size, c]:
// sums over tiles, where v = (1 + gate) . (W x) was above the threshold t,
//
//     d gate = sum (W x) . (W dy)        d t = -sign(t) sum sign(v) . (W dy)
//
// A threshold of zero counts as positive, so that one that begins there can grow.
#include "src/op/operator.h"
#include "src/op/spectral/walsh_tile_lowering.h"

#include <math.h>

enum { DY, X, GATE, THRESHOLD, INPUTS };

static bool is_of_gate(const zn_node *node)
{
    return ((const zn_walsh_tile_sums_attributes *)node->attributes)->of == ZN_WALSH_TILE_GATE;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_walsh_tile_attributes *a = &((const zn_walsh_tile_sums_attributes *)node->attributes)
                                             ->tile;
    ZN_TRY(zn_check_inputs(node, is_of_gate(node) ? THRESHOLD : INPUTS, INPUTS, err));
    ZN_TRY(zn_walsh_check_map(node, DY, err));
    ZN_TRY(zn_walsh_check_map(node, X, err));
    ZN_TRY(zn_check_same_shape(node, DY, X, err));
    ZN_TRY(zn_walsh_check_tile(node, a, err));
    for (int i = GATE; i < node->inputs_count; i++)
        ZN_TRY(zn_walsh_check_gate(node, i, a->size * a->size, err));
    node->desc = zn_desc_make(ZN_F32, node->inputs[GATE]->desc.shape);
    return ZENITH_OK;
}

// What a tile adds to the gradient of each frequency.
static void add_tile(const zn_node *node, const zn_tensor *inputs, zn_walsh_place at, double *sums)
{
    const zn_walsh_tile_attributes *a = &((const zn_walsh_tile_sums_attributes *)node->attributes)
                                             ->tile;
    const int64_t channels = inputs[X].desc.shape.dim[3];
    double dy[ZN_WALSH_TILE_PIXELS], x[ZN_WALSH_TILE_PIXELS];
    zn_walsh_tile_take(a, &inputs[DY], at, false, dy);
    zn_walsh_tile_take(a, &inputs[X], at, true, x);
    for (int k = 0; k < a->size * a->size; k++) {
        const size_t factor = (size_t)(k * channels + at.channel);
        const double gate = (double)zn_value_get(&inputs[GATE], factor);
        const double value = x[k] * (a->plain ? gate : 1 + gate);
        if (!zn_walsh_keeps(a, k / a->size) || !zn_walsh_keeps(a, k % a->size)) continue;
        if (node->inputs_count > THRESHOLD) {
            const double t = (double)zn_value_get(&inputs[THRESHOLD], factor);
            if (!(fabs(value) > fabs(t))) continue;
            if (!is_of_gate(node)) sums[k] -= copysign(1, value) * (t < 0 ? -1 : 1) * dy[k];
        }
        if (is_of_gate(node)) sums[k] += x[k] * dy[k];
    }
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_walsh_tile_attributes *a = &((const zn_walsh_tile_sums_attributes *)node->attributes)
                                             ->tile;
    const int64_t *dim = inputs[X].desc.shape.dim;
    for (int64_t c = 0; c < dim[3]; c++) {
        double sums[ZN_WALSH_TILE_PIXELS] = {0};
        for (int64_t i = 0; i < dim[0] * zn_walsh_tiles_in(a, dim[1]); i++) {
            const int64_t image = i / zn_walsh_tiles_in(a, dim[1]);
            const int64_t top = i % zn_walsh_tiles_in(a, dim[1]) * a->size - a->shift;
            for (int64_t left = -a->shift; left < dim[2]; left += a->size)
                add_tile(node, inputs, (zn_walsh_place){image, top, left, c}, sums);
        }
        for (int k = 0; k < a->size * a->size; k++)
            zn_value_set(output, (size_t)(k * dim[3] + c), (float)sums[k]);
    }
}

// --- lowering -----------------------------------------------------------------------------------

enum { PIECE = 16 }; // channels that a thread takes: a cache line of f32

enum { OF_DY, OF_X };

static void add_tiles(const zn_walsh_tiles *l, const zn_call *call, const zn_walsh_tiling *tile,
                      int64_t channel, float *sums)
{
    const bool of_gate = l->factors.threshold < 0 || is_of_gate(l->factors.node);
    const zn_walsh_map from = zn_walsh_map_at(&l->maps[OF_DY], call->inputs[DY]);
    const zn_walsh_map of_x = zn_walsh_map_at(&l->maps[OF_X], call->inputs[X]);
    const int64_t first = -l->factors.tile->shift;
    for (int64_t top = first; top < of_x.height; top += tile->size) {
        for (int64_t left = first; left < of_x.width; left += tile->size) {
            zn_walsh_pixels dy, x;
            zn_walsh_pixels_find(&from, tile->size, top, left, channel, &dy);
            zn_walsh_pixels_find(&of_x, tile->size, top, left, channel, &x);
            l->kernel->tile_sums(tile, &dy, &x, of_gate ? sums : NULL, of_gate ? NULL : sums);
        }
    }
}

// The sign of a threshold, which the kernels do not know, or 1.
static float sign_of(const zn_walsh_tiles *l, const zn_call *call, size_t at)
{
    const zn_node *node = l->factors.node;
    if (is_of_gate(node)) return 1;
    const zn_node *from = node->inputs[THRESHOLD];
    const zn_tensor threshold = {.desc = from->desc,
                                 .data = (void *)(uintptr_t)call->inputs[THRESHOLD]};
    const bool constant = from->kind == ZN_NODE_PARAMETER;
    return zn_value_get(constant ? &from->constant : &threshold, at) < 0 ? -1.0f : 1.0f;
}

// A piece of the channels, over all tiles in their order.
static void run_piece(const zn_lowering *base, const zn_call *call, size_t piece, void *scratch)
{
    const zn_walsh_tiles *l = (const zn_walsh_tiles *)base;
    const size_t first = piece * PIECE;
    zn_walsh_tiling tile = zn_walsh_tiles_get(l, call, scratch);
    const size_t frequencies = (size_t)(tile.size * tile.size);
    tile.channels = tile.step - first < PIECE ? tile.step - first : PIECE;
    tile.gate += first;
    if (tile.threshold) tile.threshold += first;
    float *sums = (float *)call->output + first;
    for (size_t k = 0; k < frequencies; k++)
        memset(sums + k * tile.step, 0, tile.channels * sizeof *sums);
    add_tiles(l, call, &tile, (int64_t)first, sums);
    for (size_t k = 0; k < frequencies; k++) {
        const bool kept = zn_walsh_keeps(l->factors.tile, (int)k / tile.size) &&
                          zn_walsh_keeps(l->factors.tile, (int)k % tile.size);
        for (size_t c = 0; c < tile.channels; c++)
            sums[k * tile.step + c] *= kept
                                           ? l->factor * sign_of(l, call, k * tile.step + first + c)
                                           : 0;
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    zn_walsh_tiles_begin((const zn_walsh_tiles *)base, call);
    return zn_lowering_run_all(base, call, err);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_walsh_tile_sums_attributes *a = node->attributes;
    const zn_desc *x = &node->inputs[X]->desc, *dy = &node->inputs[DY]->desc;
    const float size = (float)a->tile.size;
    zn_walsh_tiles made = {
        .base = {.run = run,
                 .piece = run_piece,
                 .pieces = (size_t)(x->shape.dim[3] + PIECE - 1) / PIECE},
        .maps = {[OF_DY] = zn_walsh_map_of(dy, false), [OF_X] = zn_walsh_map_of(x, true)},
        .factors = {.tile = &a->tile,
                    .gate = GATE,
                    .threshold = node->inputs_count > THRESHOLD ? THRESHOLD : -1,
                    .gate_factor = x->scale / (size * size),
                    .threshold_factor = 1 / size},
        .factor = is_of_gate(node) ? x->scale * dy->scale / (size * size) : dy->scale / size};
    return zn_walsh_tiles_lower(request, &made, out, err);
}

static double flops(const zn_node *node)
{
    const int64_t *dim = node->inputs[X]->desc.shape.dim;
    const zn_walsh_tile_sums_attributes *a = node->attributes;
    return zn_walsh_tile_flops(&a->tile) * (double)(dim[0] * dim[1]) * (double)(dim[2] * dim[3]);
}

static const zn_walsh_tile_sums_attributes gate_four = {{4, 0, 4, false}, ZN_WALSH_TILE_GATE},
                                           gate_half = {{8, 4, 4, true}, ZN_WALSH_TILE_GATE},
                                           threshold_eight = {{8, 4, 8, false},
                                                              ZN_WALSH_TILE_THRESHOLD};

const zn_op zn_op_walsh_tile_sums = {
    .name = "walsh_tile_sums",
    .summary = "the gradient of walsh_tile's gate or threshold",
    .attributes_size = sizeof(zn_walsh_tile_sums_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("four", &gate_four, 0xc, ZN_MAP(8, 12, 3), ZN_MAP(8, 12, 3), {2, {16, 3}},
                  {2, {16, 3}}),
        ZN_SAMPLE("half", &gate_half, 4, ZN_MAP(11, 16, 20), ZN_MAP(11, 16, 20), {2, {64, 20}}),
        ZN_SAMPLE("threshold", &threshold_eight, 4, ZN_MAP(17, 9, 16), ZN_MAP(17, 9, 16),
                  {2, {64, 16}}, {2, {64, 16}})),
};
