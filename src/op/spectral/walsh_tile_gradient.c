// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of walsh_tile with respect to x, for all pixels that tiles cover: W ((1 + gate) . (W dy)),
// where W x was above the threshold. Outside the map dy is zero. mirror_fold adds what lies outside
// the map to the pixels that were mirrored there.
#include "src/base/memory.h"
#include "src/kernel/kernels.h"
#include "src/op/row_lowering.h"
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

typedef struct gradient_lowering {
    zn_lowering base;
    const zn_walsh *kernel;
    zn_walsh_factors factors;
    zn_walsh_tile_attributes tile;
    zn_walsh_map dy, x, dst; // without data
    size_t parts, part_bytes;
} gradient_lowering;

typedef struct job {
    const gradient_lowering *lowering;
    zn_walsh_map dy, x, dst;
    zn_walsh_tiling tile;
    uint8_t *scratch;
} job;

static void run_tile(const job *j, const zn_walsh_tiling *tile, int64_t row, int64_t column)
{
    const gradient_lowering *l = j->lowering;
    const int64_t top = row - l->tile.shift, left = column - l->tile.shift;
    zn_walsh_pixels dy, x, dst;
    zn_walsh_pixels_find(&j->dy, tile->size, top, left, 0, &dy);
    zn_walsh_pixels_find(&j->dst, tile->size, row, column, 0, &dst);
    if (!tile->threshold) {
        l->kernel->tile(tile, &dy, &dst);
        return;
    }
    zn_walsh_pixels_find(&j->x, tile->size, top, left, 0, &x);
    l->kernel->tile_gradient(tile, &dy, &x, &dst);
}

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const gradient_lowering *l = j->lowering;
    const size_t across = (size_t)(j->dst.width / l->tile.size);
    const size_t count = across * (size_t)(j->dst.height / l->tile.size);
    for (size_t part = begin; part < end; part++) {
        zn_walsh_tiling tile = j->tile;
        tile.scratch = (float *)(void *)(j->scratch + part * l->part_bytes);
        for (size_t i = part * count / l->parts; i < (part + 1) * count / l->parts; i++)
            run_tile(j, &tile, (int64_t)(i / across) * tile.size,
                     (int64_t)(i % across) * tile.size);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const gradient_lowering *l = (const gradient_lowering *)base;
    job j = {.lowering = l,
             .dy = l->dy,
             .x = l->x,
             .dst = l->dst,
             .tile = zn_walsh_factors_get(&l->factors, call, call->scratch),
             .scratch = (uint8_t *)call->scratch + zn_walsh_factors_scratch(&l->factors)};
    j.dy.data = (void *)(uintptr_t)call->inputs[DY];
    if (j.tile.threshold) j.x.data = (void *)(uintptr_t)call->inputs[X];
    j.dst.data = call->output;
    zn_parallel(call->team, l->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    zn_walsh_factors_free(&((gradient_lowering *)base)->factors);
    zn_free(base);
}

static void prepare(gradient_lowering *l, const zn_lowering_request *request)
{
    const zn_node *node = request->node;
    const zn_desc *dy = &node->inputs[DY]->desc;
    const bool with_threshold = node->inputs_count > X;
    const float size = (float)l->tile.size;
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = "walsh"};
    l->kernel = request->kernels->walsh;
    l->dy = zn_walsh_map_of(dy, false);
    l->dst = zn_walsh_map_of(&node->desc, false);
    l->factors = (zn_walsh_factors){.tile = node->attributes,
                                    .gate = GATE,
                                    .threshold = with_threshold ? THRESHOLD : -1,
                                    .gate_factor = dy->scale / (size * size)};
    if (with_threshold) {
        const zn_desc *x = &node->inputs[X]->desc;
        l->x = zn_walsh_map_of(x, true);
        l->factors.threshold_factor = dy->scale / (x->scale * size);
    }
    l->parts = (size_t)request->threads;
    l->part_bytes = zn_round_up(zn_walsh_tile_scratch(l->tile.size) * sizeof(float), ZN_ALIGN);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    gradient_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->tile = *(const zn_walsh_tile_attributes *)request->node->attributes;
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
    const int64_t *dim = node->desc.shape.dim;
    return 1.5 * zn_walsh_tile_flops(node->attributes) * (double)(dim[0] * dim[1]) *
           (double)(dim[2] * dim[3]);
}

static const zn_walsh_tile_attributes four = {4, 0, 4, false}, eight = {8, 4, 8, false},
                                      half = {8, 0, 4, true};
#define SAMPLE(label, attribute, n, h, w, c, k, parameter)                                         \
    {                                                                                              \
        .name = label, .inputs_count = n,                                                          \
        .inputs = {{4, {1, h, w, c}}, {2, {k, c}}, {4, {1, h, w, c}}, {2, {k, c}}},                \
        .parameters = parameter, .attributes = &(attribute)                                        \
    }
static const zn_op_sample samples[] = {
    SAMPLE("four", four, 4, 8, 12, 3, 16, 10),
    SAMPLE("shifted", eight, 4, 17, 9, 16, 64, 10),
    SAMPLE("half", half, 2, 11, 16, 20, 64, 2),
};

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
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
