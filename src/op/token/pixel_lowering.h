// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Lowerings of operators that compute each pixel (each token) by itself, around a function on f32
// pixels. A call's pixels are cut into pieces that stay in the first cache while other types are
// converted, so that memory is read and written once, and scratch is small however wide a row is.
#ifndef ZN_OP_PIXEL_LOWERING_H
#define ZN_OP_PIXEL_LOWERING_H

#include "src/graph/op.h"
#include "src/kernel/kernels.h"

enum { ZN_PIXEL_INPUTS = 4 };

// Some pixels of the result. A value that is no map is one pixel.
typedef struct zn_pixels {
    const zn_node *node;
    const zn_kernels *kernels;
    const float *inputs[ZN_PIXEL_INPUTS]; // of a map: as many of its pixels; else the whole value
    float *dst;
    size_t count;
} zn_pixels;

typedef void zn_pixels_fn(const zn_pixels *pixels);

// Maps among the inputs have as many pixels as the result, in the same order.
zenith_status zn_pixel_lower(const zn_lowering_request *request, zn_pixels_fn *compute,
                             zn_lowering **out, zn_error *err);

// The same for operators whose vectors may be those of a row (zn_modulates_columns): a pixel is a row then.
zenith_status zn_pixel_lower_rows(const zn_lowering_request *request, zn_pixels_fn *compute,
                                  zn_lowering **out, zn_error *err);

// Elements of a pixel of a map; of another value, all.
size_t zn_pixel_elements(const zn_node *node);

#endif
