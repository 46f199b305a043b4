// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See fit.h. All in integers, so that sizes do not depend on rounding modes.
#include "src/task/fit.h"

enum { MAX_SIDE = 1 << 24 }; // keeps every product of sizes in task/picture.c far from 2^64

static uint64_t divide_rounded(uint64_t a, uint64_t b)
{
    return (2 * a + b) / (2 * b);
}

static zenith_status crop_or_refuse(const zn_fit_options *options, uint32_t multiple,
                                    uint32_t width, uint32_t height, zn_fit_plan *plan,
                                    zn_error *err)
{
    uint32_t w = width / multiple * multiple, h = height / multiple * multiple;
    if (options->fit == ZENITH_FIT_EXACT && (w != width || h != height))
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "The picture is %u x %u pixels, and both must be multiples of %u: cut it "
            "(ZENITH_FIT_CROP), extend it (ZENITH_FIT_PAD) or scale it (ZENITH_FIT_RESIZE).",
            width, height, multiple);
    if (!w || !h)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "The picture is %u x %u pixels: nothing is left when it is cropped to a "
            "multiple of %u. Extend it (ZENITH_FIT_PAD) or scale it (ZENITH_FIT_RESIZE).",
            width, height, multiple);
    plan->width = plan->crop_width = w;
    plan->height = plan->crop_height = h;
    plan->crop_x = (width - w) / 2;
    plan->crop_y = (height - h) / 2;
    return ZENITH_OK;
}

static zenith_status check_side(const zn_fit_options *options, uint64_t width, uint64_t height,
                                zn_error *err)
{
    uint64_t max_pixels = options->max_pixels ? options->max_pixels : (uint64_t)1 << 29;
    if (width <= MAX_SIDE && height <= MAX_SIDE && width * height <= max_pixels) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT,
                   "Fitted, the picture would become %llu x %llu pixels; the limits are %d for a "
                   "side and %llu for all pixels.",
                   (unsigned long long)width, (unsigned long long)height, MAX_SIDE,
                   (unsigned long long)max_pixels);
}

static zenith_status pad(const zn_fit_options *options, uint32_t multiple, uint32_t width,
                         uint32_t height, zn_fit_plan *plan, zn_error *err)
{
    uint64_t w = ((uint64_t)width + multiple - 1) / multiple * multiple;
    uint64_t h = ((uint64_t)height + multiple - 1) / multiple * multiple;
    ZN_TRY(check_side(options, w, h, err));
    plan->width = (uint32_t)w, plan->height = (uint32_t)h;
    plan->crop_width = width, plan->crop_height = height;
    return ZENITH_OK;
}

// The size that was asked for; where a side was left open, the multiple nearest to the shape.
static zenith_status wanted_size(const zn_fit_options *options, uint32_t multiple, uint32_t width,
                                 uint32_t height, uint64_t *w, uint64_t *h, zn_error *err)
{
    *w = options->width, *h = options->height;
    if (!*w && !*h)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "To resize a picture, give a width, a height or both.");
    if (*w % multiple || *h % multiple)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "The picture is to be resized to %u x %u pixels, and both must be multiples "
                       "of %u.",
                       options->width, options->height, multiple);
    if (!*w) *w = divide_rounded(*h * width, (uint64_t)height * multiple) * multiple;
    if (!*h) *h = divide_rounded(*w * height, (uint64_t)width * multiple) * multiple;
    if (!*w) *w = multiple;
    if (!*h) *h = multiple;
    return ZENITH_OK;
}

// One axis of the cut, from scaled pixels back to pixels as found.
static void cut_back(uint32_t size, uint64_t scaled, uint64_t wanted, uint32_t *at, uint32_t *used)
{
    *at = (uint32_t)((scaled - wanted) / 2 * size / scaled);
    *used = (uint32_t)divide_rounded(wanted * size, scaled);
    if (!*used) *used = 1;
    if (*used > size - *at) *used = size - *at;
}

static zenith_status resize(const zn_fit_options *options, uint32_t multiple, uint32_t width,
                            uint32_t height, zn_fit_plan *plan, zn_error *err)
{
    uint64_t w, h;
    ZN_TRY(wanted_size(options, multiple, width, height, &w, &h, err));
    ZN_TRY(check_side(options, w, h, err));
    // Cover: the side that needs the larger scale fits exactly, the other hangs over.
    bool by_width = w * height >= h * width;
    uint64_t scaled_w = by_width ? w : divide_rounded(width * h, height);
    uint64_t scaled_h = by_width ? divide_rounded(height * w, width) : h;
    ZN_TRY(check_side(options, scaled_w, scaled_h, err));
    plan->width = (uint32_t)w, plan->height = (uint32_t)h;
    plan->scaled_width = (uint32_t)scaled_w, plan->scaled_height = (uint32_t)scaled_h;
    cut_back(width, scaled_w, w, &plan->crop_x, &plan->crop_width);
    cut_back(height, scaled_h, h, &plan->crop_y, &plan->crop_height);
    return ZENITH_OK;
}

zenith_status zn_fit_plan_make(const zn_fit_options *options, uint32_t width, uint32_t height,
                               zn_fit_plan *out, zn_error *err)
{
    uint32_t multiple = options->multiple ? options->multiple : 8;
    zn_fit_plan plan = {.scaled_width = width, .scaled_height = height};
    switch (options->fit) {
    case ZENITH_FIT_CROP:
    case ZENITH_FIT_EXACT:
        ZN_TRY(crop_or_refuse(options, multiple, width, height, &plan, err));
        break;
    case ZENITH_FIT_PAD:
        ZN_TRY(pad(options, multiple, width, height, &plan, err));
        break;
    case ZENITH_FIT_RESIZE:
        ZN_TRY(resize(options, multiple, width, height, &plan, err));
        break;
    default:
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "Fit %d is unknown: there are crop, pad, resize and exact.",
                       (int)options->fit);
    }
    *out = plan;
    return ZENITH_OK;
}
