// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Rotary positions: pairs of a head's channels are turned by the angles of their token, f32.
//
//     (a, b) -> (a cos - b sin, a sin + b cos)      turned back: sin with the other sign
//
// Pair i of a head is (2i, 2i + 1), or in halves (i, i + width / 2). All heads of a token turn
// alike.
//
// zn_rope_reference is the specification, in double. Versions are within 2^-23 of the sum of the
// absolute values of the two products. One version gives a token the same bits whatever is beside
// it.
#ifndef ZN_KERNEL_ROPE_H
#define ZN_KERNEL_ROPE_H

#include "src/kernel/versions.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct zn_rotation {
    size_t heads, width; // width: channels of a head, even
    bool halves, back;
} zn_rotation;

// x and dst: [tokens, heads, width]; table: [tokens, width], the cosines and then the sines. dst
// may be x.
typedef void zn_rope_fn(const zn_rotation *how, const float *x, const float *table, size_t tokens,
                        float *dst);

zn_rope_fn zn_rope_reference; // the baseline's
ZN_VERSIONS(zn_rope_fn, zn_rope);

#endif
