// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Fast Walsh-Hadamard transforms, unnormalised: H x, H[k][i] = -1 to the number of bits that k and
// i share. Lengths are powers of two, values f32 or bf16 in memory and f32 in between.
//
// Order of sums. A transform is a stage of sums and differences for each bit of the position, from
// the lowest to the highest; what goes back after a gate takes them from the highest to the lowest.
// Every version, and every way of cutting the work, keeps to that: all give the same bits. It also
// makes frequencies cheap to leave out: those that have low bits are not there if the first stages
// keep the sums alone, and the last stages then copy.
#ifndef ZN_KERNEL_WALSH_H
#define ZN_KERNEL_WALSH_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

// Lines side by side: element i of line c is at i * step + c, of src and of dst, c < count.
typedef struct zn_walsh_lines {
    zn_type src_type, dst_type;
    size_t length, step, count;
    unsigned pruned;  // lowest bits that no frequency has: their gates are not looked at
    const void *next; // where the next call's src begins: it is fetched meanwhile; NULL: nothing is
} zn_walsh_lines;

static inline unsigned zn_walsh_log2(size_t length)
{
    unsigned bits = 0;
    while (length > 1) length >>= 1, bits++;
    return bits;
}

// Gates of lines lie in the order in which they are read: [blocks of 16 lines, lower bits of the
// frequency, its three highest bits, 16]; the last block is filled up with anything.
enum { ZN_WALSH_BLOCK = 16, ZN_WALSH_TOP_BITS = 3 };
static inline unsigned zn_walsh_low_bits(size_t length) // of a frequency: those before the three
{
    const unsigned bits = zn_walsh_log2(length);
    return bits > ZN_WALSH_TOP_BITS ? bits - ZN_WALSH_TOP_BITS : 0;
}
static inline size_t zn_walsh_gate_at(size_t length, size_t frequency, size_t line)
{
    const unsigned low = zn_walsh_low_bits(length), top = zn_walsh_log2(length) - low;
    const size_t k = (frequency & (((size_t)1 << low) - 1)) << top | frequency >> low;
    return (line / ZN_WALSH_BLOCK * length + k) * ZN_WALSH_BLOCK + line % ZN_WALSH_BLOCK;
}
static inline size_t zn_walsh_gate_floats(size_t length, size_t lines)
{
    return (lines + ZN_WALSH_BLOCK - 1) / ZN_WALSH_BLOCK * ZN_WALSH_BLOCK * length;
}

// dst = H (gate . (H src)). dst may be src. scratch: zn_walsh_scratch(length) floats, aligned to a
// cache line.
typedef void zn_walsh_gate_fn(const zn_walsh_lines *lines, const void *src, void *dst,
                              const float *gate, float *scratch);

// dst = scale . (H src), with nothing pruned.
typedef void zn_walsh_lines_fn(const zn_walsh_lines *lines, const void *src, void *dst, float scale,
                               float *scratch);

// sums += (H src) . (H other), at k * sums_step + c; other has type dst_type. Nothing pruned.
// scratch: twice zn_walsh_scratch(length).
typedef void zn_walsh_products_fn(const zn_walsh_lines *lines, const void *src, const void *other,
                                  float *sums, size_t sums_step, float *scratch);

// dst = scale . (H src) for `count` vectors of `length`, one after the other. dst may be src.
// scratch: `length` floats.
typedef void zn_walsh_vectors_fn(zn_type src_type, zn_type dst_type, const void *src, void *dst,
                                 size_t length, size_t count, float scale, float *scratch);

// A tile of size x size pixels (4, 8 or 16). Rows and columns are looked up, for mirrored borders.
enum { ZN_WALSH_TILE_MOST = 16 };
typedef struct zn_walsh_tiling {
    int size;
    unsigned pruned;        // as in lines, along both sides
    size_t channels;        // of each pixel, from the places that the lookup gives on
    size_t step;            // from one frequency to the next, of gates, thresholds and sums
    const float *gate;      // by frequency and channel
    const float *threshold; // the same, not negative; NULL: none
    float *scratch;         // zn_walsh_tile_scratch floats, aligned to a cache line
} zn_walsh_tiling;

// The pixels of a tile: pixel (y, x) is at element columns[x] of row rows[y]. A row of NULL and a
// column below zero read as zero, and are not written.
typedef struct zn_walsh_pixels {
    zn_type type;
    void *rows[ZN_WALSH_TILE_MOST];
    int64_t columns[ZN_WALSH_TILE_MOST];
} zn_walsh_pixels;

// dst = H soft(gate . (H src), threshold).
typedef void zn_walsh_tile_fn(const zn_walsh_tiling *tile, const zn_walsh_pixels *src,
                              const zn_walsh_pixels *dst);
// dst = H (gate . (H dy)) where |gate . (H x)| > threshold; there is a threshold.
typedef void zn_walsh_tile_gradient_fn(const zn_walsh_tiling *tile, const zn_walsh_pixels *dy,
                                       const zn_walsh_pixels *x, const zn_walsh_pixels *dst);
// of_gate += (H x) . (H dy), of_threshold -= sign(gate . (H x)) . (H dy), both where it is above
// the threshold; either may be NULL. Those of pruned frequencies are left alone.
typedef void zn_walsh_tile_sums_fn(const zn_walsh_tiling *tile, const zn_walsh_pixels *dy,
                                   const zn_walsh_pixels *x, float *of_gate, float *of_threshold);

typedef struct zn_walsh {
    zn_walsh_gate_fn *gate;
    zn_walsh_lines_fn *lines;
    zn_walsh_products_fn *products;
    zn_walsh_vectors_fn *vectors;
    zn_walsh_tile_fn *tile;
    zn_walsh_tile_gradient_fn *tile_gradient;
    zn_walsh_tile_sums_fn *tile_sums;
} zn_walsh;

extern const zn_walsh zn_walsh_reference; // the baseline's
ZN_VERSIONS(extern const zn_walsh, zn_walsh);

// Floats of scratch. Lines are taken in groups, as many as keep their scratch (128 KB) in the
// second-level cache beside gates, the map and what is fetched of the next.
enum { ZN_WALSH_GROUP = 64, ZN_WALSH_CACHED = 1 << 15 };
static inline size_t zn_walsh_group(size_t length)
{
    const size_t fit = ZN_WALSH_CACHED / length;
    return fit < 16 ? 16 : fit > ZN_WALSH_GROUP ? ZN_WALSH_GROUP : fit;
}
static inline size_t zn_walsh_scratch(size_t length)
{
    return length * zn_walsh_group(length);
}
static inline size_t zn_walsh_tile_scratch(int size)
{
    return 2 * 16 * (size_t)size * (size_t)size; // x and dy of the widest vector
}

#endif
