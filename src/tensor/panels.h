// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrices of weights [outputs, inputs] in 8 or in 4 bits, laid out as products read them, in
// memory and in files alike:
//
//     8 bits   [panel][k / 4][32 outputs][4 of k]     a byte with a sign, -127 .. 127
//     4 bits   [panel][k / 8][32 outputs][4 of k]     two numbers u, 0 .. 15: k = 8j + i in the low
//                                                     half of byte i of group j, k = 8j + 4 + i in
//                                                     the high half
//     steps    [panel][k / 64][32 outputs]            4 bits only: a byte m, 0 .. 15
//     scales   [outputs]                              f32
//     sums     [outputs]                              s32: the sum of a row's bytes q
//
//     weight = q * scale of the row,     q = the byte (8 bits), (u - 8) * m (4 bits)
//
// A panel is 32 outputs. Outputs are filled up to whole panels, inputs to 128, so that each array
// is a multiple of 64 bytes; what is beyond them is zero (u = 8). A product multiplies the bytes q:
// 4 bits become 8 without a floating number, and the sums are exact.
//
// Others' 4 bits (four_panels.h), in memory only, have no steps but two numbers for each `group`
// inputs of an output:
//
//     factors  [panel][k / group][32 outputs]         s16
//     offsets  [panel][k / group][32 outputs]         s16; or none, which is 128
//
//     q = bounded(((256 v * factor + 2^14) >> 15) + offset) >> 8,     v = levels[u]
//
// where bounded() limits to 16 bits.
//
// Rotated weights stand for W R, where R rotates each run of `rotated_by` inputs (convrot.h);
// tokens are rotated likewise before they are rounded, since (x R) (W R)^T = x W^T.
#ifndef ZN_TENSOR_PANELS_H
#define ZN_TENSOR_PANELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ZN_PANEL_OUTPUTS = 32,
    ZN_PANEL_QUAD = 4,   // of k, which lie together
    ZN_PANEL_GROUP = 64, // of k, which share a step
    ZN_PANEL_FILL = 128, // k is filled up to a multiple of this
    ZN_PANEL_STEPS = 15, // the largest step
    ZN_FOUR_HALF = 128,  // of others' 4 bits: what offsets have besides, for rounding
};

typedef struct zn_panels {
    int64_t outputs, inputs;
    int bits;                         // 8 or 4
    int64_t rotated_by;               // 0: not rotated
    const void *numbers;              // aligned to 64 bytes, as the others are
    const uint8_t *steps;             // 4 bits only
    const int16_t *factors, *offsets; // of others' 4 bits
    const int8_t *levels;             // 16 of them
    int64_t group;                    // divides 128, a multiple of 8
    const float *scales;              // filled up with zeros to whole panels, as sums are
    const int32_t *sums;
} zn_panels;

typedef struct zn_panels_size {
    int64_t panels, padded_inputs;
    size_t numbers_bytes, steps_bytes, scales_bytes; // sums take as much as scales
} zn_panels_size;

// False for sizes that do not fit, or bits that are neither 8 nor 4.
bool zn_panels_measure(int64_t outputs, int64_t inputs, int bits, zn_panels_size *out);

// Row `output` in f32, still rotated where the weights are: the specification of faster code.
void zn_panels_read(const zn_panels *panels, int64_t output, float *dst);
// One byte q of it, and all of them. padded_inputs: as measured.
int zn_panels_byte(const zn_panels *panels, int64_t padded_inputs, int64_t output, int64_t k);
void zn_panels_read_bytes(const zn_panels *panels, int64_t output, int8_t *dst);

// The byte q of others' 4 bits, from v, a factor and an offset. The product is rounded as one
// instruction of x86 does it.
static inline int zn_four_byte(int level, int factor, int offset)
{
    int sum = ((256 * level * factor + (1 << 14)) >> 15) + offset;
    sum = sum < INT16_MIN ? INT16_MIN : sum > INT16_MAX ? INT16_MAX : sum;
    return sum >> 8;
}

// The outputs [first, first + count) as panels of their own, where they begin at a whole panel;
// else false.
bool zn_panels_slice(const zn_panels *panels, int64_t first, int64_t count, zn_panels *out);

#endif
