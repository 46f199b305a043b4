// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the lowerings of walsh_tile and of its gradients share: factors as the kernels want them,
// and the pixels of a tile looked up in a map.
#ifndef ZN_OP_WALSH_TILE_LOWERING_H
#define ZN_OP_WALSH_TILE_LOWERING_H

#include "src/kernel/spectral/walsh.h"
#include "src/op/spectral/walsh_checks.h"

// The gate and threshold of a tile operator, multiplied out. Parameters are looked at once, other
// values with each call, into its scratch.
typedef struct zn_walsh_factors {
    const zn_node *node;
    const zn_walsh_tile_attributes *tile;
    int gate, threshold; // inputs; threshold < 0: none
    float gate_factor, threshold_factor;
    float *kept;   // both, of parameters; NULL: made by each call
    size_t values; // of each
} zn_walsh_factors;

zenith_status zn_walsh_factors_prepare(zn_walsh_factors *factors,
                                       const zn_lowering_request *request, zn_error *err);
size_t zn_walsh_factors_scratch(const zn_walsh_factors *factors); // bytes, a multiple of ZN_ALIGN
void zn_walsh_factors_free(zn_walsh_factors *factors);
// At the beginning of a call. scratch: zn_walsh_factors_scratch bytes.
void zn_walsh_factors_make(const zn_walsh_factors *factors, const zn_call *call, void *scratch);
// After that. The tile's own scratch is not set.
zn_walsh_tiling zn_walsh_factors_get(const zn_walsh_factors *factors, const void *scratch);

// A map, or some of its rows.
typedef struct zn_walsh_map {
    void *data; // of row `first_row`
    int64_t first_row;
    int64_t begin, end; // rows that may be touched
    int64_t height, width, channels;
    zn_type type;
    bool mirrored; // outside it; else there is nothing
} zn_walsh_map;

// The whole of a map, whose data is set later.
zn_walsh_map zn_walsh_map_of(const zn_desc *desc, bool mirrored);
static inline zn_walsh_map zn_walsh_map_at(const zn_walsh_map *map, const void *data)
{
    zn_walsh_map with = *map;
    with.data = (void *)(uintptr_t)data;
    return with;
}

// The tile whose first pixel is (top, left), from `channel` on.
void zn_walsh_pixels_find(const zn_walsh_map *map, int size, int64_t top, int64_t left,
                          int64_t channel, zn_walsh_pixels *out);

// A lowering of walsh_tile or of a gradient of it. In the scratch: the factors, then that of each
// thread.
typedef struct zn_walsh_tiles {
    zn_lowering base;
    const zn_walsh *kernel;
    zn_walsh_factors factors;
    zn_walsh_map maps[3]; // without data
    float factor;
} zn_walsh_tiles;

// made: with `run`, `piece`, the factors and maps; gets the rest.
zenith_status zn_walsh_tiles_lower(const zn_lowering_request *request, zn_walsh_tiles *made,
                                   zn_lowering **out, zn_error *err);
// At the beginning of a call; then what each piece has.
void zn_walsh_tiles_begin(const zn_walsh_tiles *tiles, const zn_call *call);
zn_walsh_tiling zn_walsh_tiles_get(const zn_walsh_tiles *tiles, const zn_call *call, void *scratch);

#endif
