// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Resampling of 8-bit RGB, bit-equal to Pillow's Image.resize, which most training sets went
// through: an autoencoder that is fed other pixels than its makers' scores differently. The order
// is across, then down, as in Pillow 3.3 to 12; Pillow 13 goes down first where the height shrinks
// much more than the width.
#ifndef ZN_FORMAT_RESIZE_H
#define ZN_FORMAT_RESIZE_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef enum zn_resize_filter {
    ZN_RESIZE_BICUBIC, // a = -0.5 (Catmull-Rom)
    ZN_RESIZE_LANCZOS  // three lobes
} zn_resize_filter;

// Antialiased: shrinking widens the filter. Strides are in bytes; src and dst do not overlap.
zenith_status zn_resize_rgb(const uint8_t *src, uint32_t width, uint32_t height, size_t stride,
                            zn_resize_filter filter, uint8_t *dst, uint32_t dst_width,
                            uint32_t dst_height, size_t dst_stride, zn_error *err);

#endif
