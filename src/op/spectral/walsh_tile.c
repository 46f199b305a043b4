// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y = W soft((1 + gate) . (W x), threshold) on tiles of a map; see ops.h. Where a tile reaches beyond
// the map it reads it mirrored.
//
// Rows. A row needs those of its tile, at most size - 1 above it and below it; and at the lower
// border, where a tile may have one row inside the map, the mirrored ones, which lie above that tile.
// The rule of rows says so for any row, whatever its place in its tile: windows of a plan need a rule
// that is the same everywhere. A call computes the tiles that its rows touch.
#include "src/op/spectral/walsh_tile_lowering.h"

#include "src/base/memory.h"
#include "src/kernel/kernels.h"

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
    for (int64_t i = 0; i < dim[0] * zn_walsh_tiles(a, dim[1]); i++) {
        const int64_t top = i % zn_walsh_tiles(a, dim[1]) * a->size - a->shift;
        for (int64_t left = -a->shift; left < dim[2]; left += a->size) {
            for (int64_t c = 0; c < dim[3]; c++)
                reference_tile(node, inputs,
                               (zn_walsh_place){i / zn_walsh_tiles(a, dim[1]), top, left, c},
                               output);
        }
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct tile_lowering {
    zn_lowering base;
    const zn_walsh *kernel;
    zn_walsh_factors factors;
    zn_walsh_tile_attributes tile;
    zn_walsh_map src, dst; // without data
    size_t parts, part_bytes;
} tile_lowering;

typedef struct job {
    const tile_lowering *lowering;
    zn_walsh_map src, dst;
    zn_walsh_tiling tile;
    uint8_t *scratch;
    int64_t first, tiles_down, tiles_across; // that the call touches
} job;

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const tile_lowering *l = j->lowering;
    const int size = l->tile.size;
    const size_t count = (size_t)(j->tiles_down * j->tiles_across);
    for (size_t part = begin; part < end; part++) {
        zn_walsh_tiling tile = j->tile;
        tile.scratch = (float *)(void *)(j->scratch + part * l->part_bytes);
        for (size_t i = part * count / l->parts; i < (part + 1) * count / l->parts; i++) {
            const int64_t down = j->first + (int64_t)i / j->tiles_across;
            const int64_t across = (int64_t)i % j->tiles_across;
            const int64_t top = down * size - l->tile.shift, left = across * size - l->tile.shift;
            zn_walsh_pixels from, to;
            zn_walsh_pixels_find(&j->src, size, top, left, 0, &from);
            zn_walsh_pixels_find(&j->dst, size, top, left, 0, &to);
            l->kernel->tile(&tile, &from, &to);
        }
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const tile_lowering *l = (const tile_lowering *)base;
    const int64_t begin = call->row < 0 ? 0 : call->row, last = call->row + call->rows;
    const int64_t end = last < l->src.height ? last : l->src.height;
    if (begin >= end) return ZENITH_OK; // outside the map: dropped
    job j = {.lowering = l,
             .src = l->src,
             .dst = l->dst,
             .tile = zn_walsh_factors_get(&l->factors, call, call->scratch),
             .scratch = (uint8_t *)call->scratch + zn_walsh_factors_scratch(&l->factors),
             .first = (begin + l->tile.shift) / l->tile.size,
             .tiles_across = zn_walsh_tiles(&l->tile, l->src.width)};
    j.tiles_down = (end - 1 + l->tile.shift) / l->tile.size + 1 - j.first;
    j.src.data = (void *)(uintptr_t)call->inputs[X];
    j.src.first_row = call->row - 2 * l->tile.size + 3;
    j.dst.data = call->output;
    j.dst.first_row = call->row;
    j.dst.begin = begin;
    j.dst.end = end;
    zn_parallel(call->team, l->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    zn_walsh_factors_free(&((tile_lowering *)base)->factors);
    zn_free(base);
}

static void prepare(tile_lowering *l, const zn_lowering_request *request)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[X]->desc;
    const float size = (float)l->tile.size;
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = "walsh"};
    l->kernel = request->kernels->walsh;
    l->src = zn_walsh_map_of(x, true);
    l->dst = zn_walsh_map_of(&node->desc, false);
    l->factors = (zn_walsh_factors){.tile = node->attributes,
                                    .gate = GATE,
                                    .threshold = node->inputs_count > THRESHOLD ? THRESHOLD : -1,
                                    .gate_factor = x->scale / (size * size),
                                    .threshold_factor = 1 / size};
    l->parts = (size_t)request->threads;
    l->part_bytes = zn_round_up(zn_walsh_tile_scratch(l->tile.size) * sizeof(float), ZN_ALIGN);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    tile_lowering *l = zn_alloc_zero(sizeof *l);
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
    return zn_walsh_tile_flops(node->attributes) * (double)(dim[0] * dim[1]) *
           (double)(dim[2] * dim[3]);
}

// --- gradient -----------------------------------------------------------------------------------

// W gate W is symmetric on tiles; around the map stand its mirrored pixels, whose share is folded back.
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
    return zn_mirror_fold(graph, node->name, covered,
                          (zn_mirror_fold_attributes){a->shift, dim[1], dim[2]});
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
#define SAMPLE(label, attribute, n, h, w, c, k, parameter)                                         \
    {                                                                                              \
        .name = label, .inputs_count = n, .inputs = {{4, {1, h, w, c}}, {2, {k, c}}, {2, {k, c}}}, \
        .parameters = parameter, .attributes = &(attribute)                                        \
    }
static const zn_op_sample samples[] = {
    SAMPLE("four", four, 3, 8, 12, 3, 16, 6),    SAMPLE("shifted", eight, 3, 17, 9, 16, 64, 6),
    SAMPLE("half", half, 2, 11, 16, 20, 64, 2),  SAMPLE("sixteen", sixteen, 2, 19, 33, 5, 256, 2),
    SAMPLE("some", some, 3, 5, 32, 4, 256, 4),   SAMPLE("mean", mean, 2, 6, 7, 33, 16, 0),
    SAMPLE("smaller", eight, 2, 3, 1, 2, 64, 0),
};

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
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_walsh_tile(zn_graph *graph, const char *name, zn_node *x, zn_node *gate,
                       zn_node *threshold, zn_walsh_tile_attributes attributes)
{
    return zn_graph_add(graph, &zn_op_walsh_tile, name, (zn_node *[]){x, gate, threshold},
                        threshold ? INPUTS : INPUTS - 1, &attributes);
}
