// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a network that restores pictures gets to see: crops that were spoiled. A spoiled crop is a
// pure function of (kind, amount, seed, number of the sample, pixels), so that threads and a resume
// change nothing.
//
//     gaussian  normal noise of deviation `amount` on each value, not clipped
//     shot      a share `amount` of the pixels is black or white
//     blur      the mean of 3x3 pixels; those at the border are repeated
//     haar      normal noise of deviation `amount` on the detail coefficients of an orthonormal
//               Haar transform of one level: the means of 2x2 pixels stay
#ifndef ZN_TRAIN_DATA_CORRUPT_H
#define ZN_TRAIN_DATA_CORRUPT_H

#include <stdint.h>

typedef enum zn_corruption_kind {
    ZN_CORRUPT_NOTHING = 0,
    ZN_CORRUPT_GAUSSIAN,
    ZN_CORRUPT_SHOT,
    ZN_CORRUPT_BLUR,
    ZN_CORRUPT_HAAR
} zn_corruption_kind;

typedef struct zn_corruption {
    int kind; // zn_corruption_kind
    double amount;
    uint64_t seed;
} zn_corruption;

// pixels: side * side * 3 bytes; dst: as many numbers, 0 .. 1 before they are spoiled. The side is
// even for haar.
void zn_corrupt(const zn_corruption *how, uint64_t number, int64_t side, const uint8_t *pixels,
                float *dst);

#endif
