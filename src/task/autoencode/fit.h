// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Fit: which part of a picture is used, and at which size, so that its sides become multiples of a
// model's factor. Arithmetic only; task/autoencode/picture.h moves the pixels.
#ifndef ZN_TASK_AUTOENCODE_FIT_H
#define ZN_TASK_AUTOENCODE_FIT_H

#include "src/base/status.h"
#include "zenith/zenith.h"

#include <stdint.h>

typedef struct zn_fit_size {
    uint32_t width, height;
} zn_fit_size;

typedef struct zn_fit_options {
    zenith_fit fit;
    uint32_t multiple;      // 0: 8
    uint32_t width, height; // of ZENITH_FIT_RESIZE; one of them 0: the shape is kept
    uint64_t max_pixels;    // of the result, and of the scaled picture that it is cut from; 0: 2^29
    // Of ZENITH_FIT_RESIZE, instead of width and height: sizes to choose from. NULL: none.
    const zn_fit_size *buckets;
    size_t bucket_count;
    // Where the result is cut out: not in the middle, but so many 2^32ths into what hangs over.
    bool placed;
    uint32_t at_x, at_y;
    bool mirror; // left and right change places, last of all
} zn_fit_options;

typedef struct zn_fit_plan {
    uint32_t width, height;               // of the result
    uint32_t scaled_width, scaled_height; // before it is cut out; as found if not resized
    uint32_t cut_x, cut_y;                // where the result begins in the scaled picture
    uint32_t crop_x, crop_y, crop_width, crop_height; // the part used, in pixels as found
    size_t bucket; // the number of the size that was chosen; 0 where there are none
    bool mirror;
} zn_fit_plan;

// For a picture of width x height, none of them 0.
//   CROP    the middle; what is odd is taken off at right and bottom
//   PAD     all of it, plus edge pixels at right and bottom
//   RESIZE  scaled to cover the wanted size, the middle of that. With buckets no picture is
//           enlarged: of those that it covers, the largest one among those that keep nine tenths or
//           more of what the best keeps of it, the first of equals; ZENITH_INVALID_ARGUMENT where
//           it covers none
//   EXACT   all of it, or ZENITH_INVALID_ARGUMENT
zenith_status zn_fit_plan_make(const zn_fit_options *options, uint32_t width, uint32_t height,
                               zn_fit_plan *out, zn_error *err);

#endif
