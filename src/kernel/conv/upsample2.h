// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Nearest-neighbour doubling of channels-last rows, for elements of any type.
#ifndef ZN_KERNEL_UPSAMPLE2_H
#define ZN_KERNEL_UPSAMPLE2_H

#include <stddef.h>
#include <stdint.h>

// Writes `rows` rows of 2 * width pixels, which are the rows first_row .. of the doubled picture;
// first_row may be negative (a band's halo). Row r of it is source row floor(r / 2) with each pixel
// twice; src points at the source row floor(first_row / 2). The arrays must not overlap.
void zn_upsample2_rows(const void *src, int64_t width, size_t pixel_bytes, void *dst,
                       int64_t first_row, int64_t rows);

#endif
