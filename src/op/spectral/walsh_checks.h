// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the operators around Walsh-Hadamard transforms share: checks, and reference loops in double.
#ifndef ZN_OP_WALSH_CHECKS_H
#define ZN_OP_WALSH_CHECKS_H

#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

enum { ZN_WALSH_LONGEST = 1 << 14, ZN_WALSH_TILE_PIXELS = 16 * 16 };

zenith_status zn_walsh_check_map(const zn_node *node, int input, zn_error *err); // a floating one
zenith_status zn_walsh_check_length(const zn_node *node, int64_t length, const char *what,
                                    zn_error *err);
zenith_status zn_walsh_check_gate(const zn_node *node, int input, int64_t frequencies,
                                  zn_error *err); // [frequencies, channels of input 0]
zenith_status zn_walsh_check_tile(const zn_node *node, const zn_walsh_tile_attributes *a,
                                  zn_error *err);

// Shape rules of a gate over the width (dimension 2) or the height (1).
zenith_status zn_walsh_infer_gate(zn_node *node, int dimension, zn_error *err);

// H x in place, of `length` values.
void zn_walsh_double(double *values, size_t length);
// The reference of a gate along a dimension.
void zn_walsh_gate_reference(const zn_tensor *inputs, int dimension, zn_tensor *output);
double zn_walsh_gate_flops(const zn_node *node, int dimension);

// --- tiles ---------------------------------------------------------------------------------------

int64_t zn_mirror(int64_t at, int64_t length); // the element that stands at a place, outside too
// Tiles along a side, and the length of the side that they cover.
static inline int64_t zn_walsh_tiles_in(const zn_walsh_tile_attributes *a, int64_t length)
{
    return (length + a->shift + a->size - 1) / a->size;
}
static inline int64_t zn_walsh_covered(const zn_walsh_tile_attributes *a, int64_t length)
{
    return zn_walsh_tiles_in(a, length) * a->size;
}
// Is a frequency (along one side) computed?
bool zn_walsh_keeps(const zn_walsh_tile_attributes *a, int frequency);
// Lowest bits that no kept frequency has.
unsigned zn_walsh_pruned(const zn_walsh_tile_attributes *a);

// Where a tile lies: the first row and column, of image and channel.
typedef struct zn_walsh_place {
    int64_t image, top, left, channel;
} zn_walsh_place;

// W of a tile's pixels in double; outside the map they are mirrored, or zero.
void zn_walsh_tile_take(const zn_walsh_tile_attributes *a, const zn_tensor *map, zn_walsh_place at,
                        bool mirrored, double *values);
// W back.
void zn_walsh_tile_double(int size, double *values);
double zn_walsh_tile_flops(const zn_walsh_tile_attributes *a); // of a pixel, there and back

#endif
