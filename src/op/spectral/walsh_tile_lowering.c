// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/spectral/walsh_tile_lowering.h"
#include "src/kernel/kernels.h"

#include "src/base/memory.h"
#include "src/op/convert_parallel.h"

#include <math.h>

static void multiply_out(const zn_walsh_factors *f, const float *gate, const float *threshold,
                         float *dst)
{
    const zn_walsh_tile_attributes *a = f->tile;
    const size_t channels = f->values / (size_t)(a->size * a->size);
    for (size_t i = 0; i < f->values; i++) {
        const int k = (int)(i / channels);
        const bool kept = zn_walsh_keeps(a, k / a->size) && zn_walsh_keeps(a, k % a->size);
        dst[i] = kept ? (a->plain ? gate[i] : 1 + gate[i]) * f->gate_factor : 0;
    }
    for (size_t i = 0; threshold && i < f->values; i++)
        dst[f->values + i] = fabsf(threshold[i]) * f->threshold_factor;
}

static bool is_parameter(const zn_walsh_factors *f, int input)
{
    return input < 0 || f->node->inputs[input]->kind == ZN_NODE_PARAMETER;
}

static zenith_status take(const zn_walsh_factors *f, const zn_lowering_request *request, int input,
                          const float **out, zn_error *err)
{
    if (input < 0) return ZENITH_OK;
    return zn_pack_vector(request->packs, &f->node->inputs[input]->constant, (const void **)out,
                          err);
}

zenith_status zn_walsh_factors_prepare(zn_walsh_factors *f, const zn_lowering_request *request,
                                       zn_error *err)
{
    const zn_shape *shape = &request->node->inputs[f->gate]->desc.shape;
    f->node = request->node;
    f->values = (size_t)(shape->dim[0] * shape->dim[1]);
    if (!is_parameter(f, f->gate) || !is_parameter(f, f->threshold)) return ZENITH_OK;
    const float *gate = NULL, *threshold = NULL;
    ZN_TRY(take(f, request, f->gate, &gate, err));
    ZN_TRY(take(f, request, f->threshold, &threshold, err));
    f->kept = zn_alloc(2 * f->values * sizeof *f->kept);
    if (!f->kept) return zn_fail_memory(err, 2 * f->values * sizeof *f->kept);
    multiply_out(f, gate, threshold, f->kept);
    return ZENITH_OK;
}

size_t zn_walsh_factors_scratch(const zn_walsh_factors *f)
{
    return f->kept ? 0 : zn_round_up(4 * f->values * sizeof(float), ZN_ALIGN);
}

void zn_walsh_factors_free(zn_walsh_factors *f)
{
    zn_free(f->kept);
}

// A value of the call in f32: parameters may be of another type, and lie off their alignment.
static const float *value_of(const zn_walsh_factors *f, const zn_call *call, int input, float *dst)
{
    if (input < 0) return NULL;
    if (!is_parameter(f, input)) return call->inputs[input];
    const zn_tensor *constant = &f->node->inputs[input]->constant;
    zn_values_get(constant, 0, f->values, dst);
    return dst;
}

void zn_walsh_factors_make(const zn_walsh_factors *f, const zn_call *call, void *scratch)
{
    float *made = scratch;
    if (f->kept) return;
    multiply_out(f, value_of(f, call, f->gate, made + 2 * f->values),
                 value_of(f, call, f->threshold, made + 3 * f->values), made);
}

zn_walsh_tiling zn_walsh_factors_get(const zn_walsh_factors *f, const void *scratch)
{
    const zn_walsh_tile_attributes *a = f->tile;
    const float *gate = f->kept ? f->kept : scratch;
    const size_t channels = f->values / (size_t)(a->size * a->size);
    return (zn_walsh_tiling){.size = a->size,
                             .pruned = zn_walsh_pruned(a),
                             .channels = channels,
                             .step = channels,
                             .gate = gate,
                             .threshold = f->threshold < 0 ? NULL : gate + f->values};
}

static void tiles_free(zn_lowering *base)
{
    zn_walsh_factors_free(&((zn_walsh_tiles *)base)->factors);
    zn_free(base);
}

zenith_status zn_walsh_tiles_lower(const zn_lowering_request *request, zn_walsh_tiles *made,
                                   zn_lowering **out, zn_error *err)
{
    const size_t bytes = zn_walsh_tile_scratch(made->factors.tile->size) * sizeof(float);
    zenith_status status;
    made->base.free = tiles_free;
    made->base.id = "walsh";
    made->kernel = request->kernels->walsh;
    ZN_GO(zn_walsh_factors_prepare(&made->factors, request, err));
    ZN_GO(zn_lowering_part(&made->base, request, zn_walsh_factors_scratch(&made->factors),
                           zn_round_up(bytes, ZN_ALIGN), err));
    ZN_GO(zn_lowering_keep(made, sizeof *made, out, err));
    return ZENITH_OK;
fail:
    zn_walsh_factors_free(&made->factors);
    return status;
}

void zn_walsh_tiles_begin(const zn_walsh_tiles *tiles, const zn_call *call)
{
    zn_walsh_factors_make(&tiles->factors, call, call->scratch);
}

zn_walsh_tiling zn_walsh_tiles_get(const zn_walsh_tiles *tiles, const zn_call *call, void *scratch)
{
    zn_walsh_tiling tile = zn_walsh_factors_get(&tiles->factors, call->scratch);
    tile.scratch = scratch;
    return tile;
}

zn_walsh_map zn_walsh_map_of(const zn_desc *desc, bool mirrored)
{
    const int64_t *dim = desc->shape.dim;
    return (zn_walsh_map){.end = dim[1],
                          .height = dim[1],
                          .width = dim[2],
                          .channels = dim[3],
                          .type = desc->type,
                          .mirrored = mirrored};
}

void zn_walsh_pixels_find(const zn_walsh_map *map, int size, int64_t top, int64_t left,
                          int64_t channel, zn_walsh_pixels *out)
{
    const size_t row_bytes = (size_t)(map->width * map->channels) * zn_type_size(map->type);
    out->type = map->type;
    for (int i = 0; i < size; i++) {
        const int64_t row = map->mirrored ? zn_mirror(top + i, map->height) : top + i;
        const bool there = row >= map->begin && row < map->end;
        out->rows[i] = there ? (uint8_t *)map->data + (size_t)(row - map->first_row) * row_bytes
                             : NULL;
        const int64_t column = map->mirrored ? zn_mirror(left + i, map->width) : left + i;
        const bool inside = column >= 0 && column < map->width;
        out->columns[i] = inside ? column * map->channels + channel : -1;
    }
}
