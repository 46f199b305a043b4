// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Resampling of 8-bit RGB, bit-equal to Pillow's Image.resize, which most training sets went
// through: an autoencoder that is fed other pixels than its makers' scores differently. The order
// is across, then down, as in Pillow 3.3 to 12; Pillow 13 goes down first where the height shrinks
// much more than the width.
#ifndef ZN_FORMAT_IMAGE_RESIZE_H
#define ZN_FORMAT_IMAGE_RESIZE_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef enum zn_resize_filter {
    ZN_RESIZE_BICUBIC, // a = -0.5 (Catmull-Rom)
    ZN_RESIZE_LANCZOS  // three lobes
} zn_resize_filter;

// A picture becomes one of to_width x to_height, and of that a part is made, without the rest of
// it. Antialiased: shrinking widens the filter. stride is in bytes.
typedef struct zn_resize {
    uint32_t width, height; // of the source
    size_t stride;
    uint32_t to_width, to_height;
    uint32_t left, top, cut_width, cut_height;
    zn_resize_filter filter;
} zn_resize;

// All of a picture of to_width x to_height.
static inline zn_resize zn_resize_whole(uint32_t width, uint32_t height, size_t stride,
                                        uint32_t to_width, uint32_t to_height,
                                        zn_resize_filter filter)
{
    return (zn_resize){.width = width,
                       .height = height,
                       .stride = stride,
                       .to_width = to_width,
                       .to_height = to_height,
                       .cut_width = to_width,
                       .cut_height = to_height,
                       .filter = filter};
}

// src and dst do not overlap.
zenith_status zn_resize_rgb(const zn_resize *how, const uint8_t *src, uint8_t *dst,
                            size_t dst_stride, zn_error *err);

#endif
