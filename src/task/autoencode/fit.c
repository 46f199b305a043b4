// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See fit.h. All in integers, so that sizes do not depend on rounding modes.
#include "src/task/autoencode/fit.h"

enum {
    MAX_SIDE = 1 << 24
}; // keeps every product of sizes in task/autoencode/picture.c far from 2^64

static uint64_t divide_rounded(uint64_t a, uint64_t b)
{
    return (2 * a + b) / (2 * b);
}

// Where `wanted` of `all` pixels begin.
static uint32_t cut_at(const zn_fit_options *options, uint64_t all, uint64_t wanted, uint32_t at)
{
    const uint64_t over = all - wanted;
    return (uint32_t)(options->placed ? (over + 1) * at >> 32 : over / 2);
}

static zenith_status crop_or_refuse(const zn_fit_options *options, uint32_t multiple,
                                    uint32_t width, uint32_t height, zn_fit_plan *plan,
                                    zn_error *err)
{
    uint32_t w = width / multiple * multiple, h = height / multiple * multiple;
    if (options->fit == ZENITH_FIT_EXACT && (w != width || h != height))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "The picture is %u x %u pixels, and both must be multiples of %u: cut it "
                       "(fit crop), extend it (fit pad) or scale it (fit resize).",
                       width, height, multiple);
    if (!w || !h)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "The picture is %u x %u pixels: nothing is left when it is cropped to a "
                       "multiple of %u. Extend it (fit pad) or scale it (fit resize).",
                       width, height, multiple);
    plan->width = plan->crop_width = w;
    plan->height = plan->crop_height = h;
    plan->crop_x = plan->cut_x = cut_at(options, width, w, options->at_x);
    plan->crop_y = plan->cut_y = cut_at(options, height, h, options->at_y);
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

// How much of a picture the shape of a bucket keeps, up to 1. Both products are exact, so that
// every machine chooses alike.
static double kept_share(const zn_fit_size *bucket, uint32_t width, uint32_t height)
{
    const double across = (double)((uint64_t)width * bucket->height);
    const double along = (double)((uint64_t)height * bucket->width);
    return across < along ? across / along : along / across;
}

static bool covers(uint32_t width, uint32_t height, const zn_fit_size *bucket)
{
    return bucket->width <= width && bucket->height <= height;
}

static uint64_t area_of(const zn_fit_size *size)
{
    return (uint64_t)size->width * size->height;
}

static zenith_status choose_bucket(const zn_fit_options *options, uint32_t width, uint32_t height,
                                   size_t *out, zn_error *err)
{
    const zn_fit_size *buckets = options->buckets;
    double best = 0;
    size_t chosen = options->bucket_count, smallest = 0;
    for (size_t i = 0; i < options->bucket_count; i++) {
        const double share = kept_share(&buckets[i], width, height);
        if (covers(width, height, &buckets[i]) && share > best) best = share;
        if (area_of(&buckets[i]) < area_of(&buckets[smallest])) smallest = i;
    }
    for (size_t i = 0; i < options->bucket_count; i++)
        if (covers(width, height, &buckets[i]) &&
            kept_share(&buckets[i], width, height) >= 0.9 * best &&
            (chosen == options->bucket_count || area_of(&buckets[i]) > area_of(&buckets[chosen])))
            chosen = i;
    if (chosen == options->bucket_count)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "The picture is %u x %u pixels and covers none of the buckets, the smallest "
                       "of which has %u x %u.",
                       width, height, buckets[smallest].width, buckets[smallest].height);
    *out = chosen;
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
static void cut_back(uint32_t size, uint64_t scaled, uint64_t wanted, uint32_t cut, uint32_t *at,
                     uint32_t *used)
{
    *at = (uint32_t)((uint64_t)cut * size / scaled);
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
    plan->cut_x = cut_at(options, scaled_w, w, options->at_x);
    plan->cut_y = cut_at(options, scaled_h, h, options->at_y);
    cut_back(width, scaled_w, w, plan->cut_x, &plan->crop_x, &plan->crop_width);
    cut_back(height, scaled_h, h, plan->cut_y, &plan->crop_y, &plan->crop_height);
    return ZENITH_OK;
}

static zenith_status resize_to_bucket(const zn_fit_options *options, uint32_t multiple,
                                      uint32_t width, uint32_t height, zn_fit_plan *plan,
                                      zn_error *err)
{
    zn_fit_options sized = *options;
    if (options->bucket_count) {
        ZN_TRY(choose_bucket(options, width, height, &plan->bucket, err));
        sized.width = options->buckets[plan->bucket].width;
        sized.height = options->buckets[plan->bucket].height;
    }
    return resize(&sized, multiple, width, height, plan, err);
}

zenith_status zn_fit_plan_make(const zn_fit_options *options, uint32_t width, uint32_t height,
                               zn_fit_plan *out, zn_error *err)
{
    uint32_t multiple = options->multiple ? options->multiple : 8;
    zn_fit_plan plan = {.scaled_width = width, .scaled_height = height, .mirror = options->mirror};
    switch (options->fit) {
    case ZENITH_FIT_CROP:
    case ZENITH_FIT_EXACT:
        ZN_TRY(crop_or_refuse(options, multiple, width, height, &plan, err));
        break;
    case ZENITH_FIT_PAD:
        ZN_TRY(pad(options, multiple, width, height, &plan, err));
        break;
    case ZENITH_FIT_RESIZE:
        ZN_TRY(resize_to_bucket(options, multiple, width, height, &plan, err));
        break;
    default:
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "Fit %d is unknown: there are crop, pad, resize and exact.",
                       (int)options->fit);
    }
    *out = plan;
    return ZENITH_OK;
}
