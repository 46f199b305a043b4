// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of walsh_tile with respect to its gate and its threshold, f32 [size * size, c]: sums
// over tiles, where v = (1 + gate) . (W x) was above the threshold t,
//
//     d gate = sum (W x) . (W dy)        d t = -sign(t) sum sign(v) . (W dy)
//
// A threshold of zero counts as positive, so that one that begins there can grow.
#include "src/base/memory.h"
#include "src/kernel/kernels.h"
#include "src/op/row_lowering.h"
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
        for (int64_t i = 0; i < dim[0] * zn_walsh_tiles(a, dim[1]); i++) {
            const int64_t image = i / zn_walsh_tiles(a, dim[1]);
            const int64_t top = i % zn_walsh_tiles(a, dim[1]) * a->size - a->shift;
            for (int64_t left = -a->shift; left < dim[2]; left += a->size)
                add_tile(node, inputs, (zn_walsh_place){image, top, left, c}, sums);
        }
        for (int k = 0; k < a->size * a->size; k++)
            zn_value_set(output, (size_t)(k * dim[3] + c), (float)sums[k]);
    }
}

// --- lowering -----------------------------------------------------------------------------------

enum { PIECE = 16 }; // channels that a thread takes: a cache line of f32

typedef struct sums_lowering {
    zn_lowering base;
    const zn_walsh *kernel;
    zn_walsh_factors factors;
    zn_walsh_tile_attributes tile;
    zn_walsh_map dy, x; // without data
    float factor;
    size_t parts, part_bytes;
} sums_lowering;

typedef struct job {
    const sums_lowering *lowering;
    const zn_call *call;
    zn_walsh_map dy, x;
    zn_walsh_tiling tile;
} job;

static void add_tiles(const job *j, const zn_walsh_tiling *tile, int64_t channel, float *sums)
{
    const sums_lowering *l = j->lowering;
    const bool of_gate = l->factors.threshold < 0 || is_of_gate(l->factors.node);
    for (int64_t top = -l->tile.shift; top < j->x.height; top += tile->size) {
        for (int64_t left = -l->tile.shift; left < j->x.width; left += tile->size) {
            zn_walsh_pixels dy, x;
            zn_walsh_pixels_find(&j->dy, tile->size, top, left, channel, &dy);
            zn_walsh_pixels_find(&j->x, tile->size, top, left, channel, &x);
            l->kernel->tile_sums(tile, &dy, &x, of_gate ? sums : NULL, of_gate ? NULL : sums);
        }
    }
}

// The sign of a threshold, which the kernels do not know, or 1.
static float sign_of(const job *j, size_t at)
{
    const zn_node *node = j->lowering->factors.node;
    if (is_of_gate(node)) return 1;
    const zn_node *from = node->inputs[THRESHOLD];
    const zn_tensor threshold = {.desc = from->desc,
                                 .data = (void *)(uintptr_t)j->call->inputs[THRESHOLD]};
    const bool constant = from->kind == ZN_NODE_PARAMETER;
    return zn_value_get(constant ? &from->constant : &threshold, at) < 0 ? -1.0f : 1.0f;
}

// A piece of the channels, over all tiles in their order.
static void run_piece(const job *j, size_t piece, float *scratch)
{
    const sums_lowering *l = j->lowering;
    const size_t first = piece * PIECE;
    zn_walsh_tiling tile = j->tile;
    const size_t frequencies = (size_t)(tile.size * tile.size);
    tile.channels = tile.step - first < PIECE ? tile.step - first : PIECE;
    tile.scratch = scratch;
    tile.gate += first;
    if (tile.threshold) tile.threshold += first;
    float *sums = (float *)j->call->output + first;
    for (size_t k = 0; k < frequencies; k++)
        memset(sums + k * tile.step, 0, tile.channels * sizeof *sums);
    add_tiles(j, &tile, (int64_t)first, sums);
    for (size_t k = 0; k < frequencies; k++) {
        const bool kept = zn_walsh_keeps(&l->tile, (int)k / tile.size) &&
                          zn_walsh_keeps(&l->tile, (int)k % tile.size);
        for (size_t c = 0; c < tile.channels; c++)
            sums[k * tile.step + c] *= kept ? l->factor * sign_of(j, k * tile.step + first + c) : 0;
    }
}

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const sums_lowering *l = j->lowering;
    uint8_t *scratch = (uint8_t *)j->call->scratch + zn_walsh_factors_scratch(&l->factors);
    for (size_t part = begin; part < end; part++) {
        for (size_t piece = part; piece < (j->tile.step + PIECE - 1) / PIECE; piece += l->parts)
            run_piece(j, piece, (float *)(void *)(scratch + part * l->part_bytes));
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const sums_lowering *l = (const sums_lowering *)base;
    job j = {.lowering = l,
             .call = call,
             .dy = l->dy,
             .x = l->x,
             .tile = zn_walsh_factors_get(&l->factors, call, call->scratch)};
    j.dy.data = (void *)(uintptr_t)call->inputs[DY];
    j.x.data = (void *)(uintptr_t)call->inputs[X];
    zn_parallel(call->team, l->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    zn_walsh_factors_free(&((sums_lowering *)base)->factors);
    zn_free(base);
}

static void prepare(sums_lowering *l, const zn_lowering_request *request)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[X]->desc, *dy = &node->inputs[DY]->desc;
    const float size = (float)l->tile.size;
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = "walsh"};
    l->kernel = request->kernels->walsh;
    l->x = zn_walsh_map_of(x, true);
    l->dy = zn_walsh_map_of(dy, false);
    l->factors = (zn_walsh_factors){.tile = &l->tile,
                                    .gate = GATE,
                                    .threshold = node->inputs_count > THRESHOLD ? THRESHOLD : -1,
                                    .gate_factor = x->scale / (size * size),
                                    .threshold_factor = 1 / size};
    l->factor = is_of_gate(node) ? x->scale * dy->scale / (size * size) : dy->scale / size;
    l->parts = (size_t)request->threads;
    l->part_bytes = zn_round_up(zn_walsh_tile_scratch(l->tile.size) * sizeof(float), ZN_ALIGN);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    sums_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->tile = ((const zn_walsh_tile_sums_attributes *)request->node->attributes)->tile;
    prepare(l, request);
    zenith_status status = zn_walsh_factors_prepare(&l->factors, request, err);
    if (status != ZENITH_OK) {
        lowering_free(&l->base);
        return status;
    }
    l->base.scratch_bytes = zn_walsh_factors_scratch(&l->factors) + l->parts * l->part_bytes;
    *out = &l->base;
    return ZENITH_OK;
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
#define SAMPLE(label, attribute, n, h, w, c, k, parameter)                                         \
    {                                                                                              \
        .name = label, .inputs_count = n,                                                          \
        .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, c}}, {2, {k, c}}, {2, {k, c}}},                \
        .parameters = parameter, .attributes = &(attribute)                                        \
    }
static const zn_op_sample samples[] = {
    SAMPLE("four", gate_four, 4, 8, 12, 3, 16, 12),
    SAMPLE("half", gate_half, 3, 11, 16, 20, 64, 4),
    SAMPLE("threshold", threshold_eight, 4, 17, 9, 16, 64, 4),
};

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
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
