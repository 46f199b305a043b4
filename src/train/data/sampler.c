// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures are decoded whole even where a crop needs a corner of them: whether a picture is broken
// must not depend on the crop, or a sample would depend on what was asked before it.
#include "src/train/data/sampler.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/random.h"
#include "src/format/image/resize.h"
#include "src/train/data/permutation.h"
#include "src/train/data/picture_cache.h"

#include <string.h>

enum { DRAWS = 8 }; // random numbers set apart for a sample; it takes four

struct zn_sampler {
    const zn_sources *sources;
    zn_picture_cache *cache;
    uint64_t count; // pictures
    uint32_t crop;
    bool flip, whole;
    double min_scale;
    uint64_t order_seed, crop_seed; // of their own, since the caller's seed may serve others too
    zn_image_options reading;
    zn_mutex *lock;
    char **reasons; // by number, once known; guarded by the lock, the texts do not change
};

static uint64_t derive_seed(uint64_t seed, uint64_t what)
{
    uint32_t out[4];
    zn_philox(seed, UINT64_MAX - what, out);
    return (uint64_t)out[0] << 32 | out[1];
}

zenith_status zn_sampler_create(const zn_data_options *options, const zn_sources *sources,
                                zn_sampler **out, zn_error *err)
{
    zn_sampler *sampler = zn_alloc_zero(sizeof *sampler);
    if (!sampler) return zn_fail_memory(err, sizeof *sampler);
    zenith_status status;
    size_t count = zn_sources_count(sources), bytes = count * sizeof *sampler->reasons;
    sampler->sources = sources;
    sampler->count = count;
    sampler->crop = (uint32_t)options->crop;
    sampler->flip = options->flip;
    sampler->whole = options->whole;
    sampler->min_scale = options->min_scale > 0 ? options->min_scale : 1;
    sampler->order_seed = derive_seed(options->seed, 0);
    sampler->crop_seed = derive_seed(options->seed, 1);
    sampler->reading = zn_image_options_default();
    sampler->reading.limits = options->limits;
    sampler->reasons = zn_alloc_zero(bytes);
    if (!sampler->reasons) ZN_GO(zn_fail_memory(err, bytes));
    ZN_GO(zn_mutex_create(&sampler->lock, err));
    ZN_GO(zn_picture_cache_create(count, options->cache_bytes, &sampler->cache, err));
    *out = sampler;
    return ZENITH_OK;
fail:
    zn_sampler_free(sampler);
    return status;
}

void zn_sampler_free(zn_sampler *sampler)
{
    if (!sampler) return;
    for (size_t i = 0; sampler->reasons && i < sampler->count; i++) zn_free(sampler->reasons[i]);
    zn_free(sampler->reasons);
    zn_picture_cache_free(sampler->cache);
    zn_mutex_free(sampler->lock);
    zn_free(sampler);
}

size_t zn_sampler_picture(const zn_sampler *sampler, uint64_t index, uint64_t skipped)
{
    uint64_t epoch = index / sampler->count, place = index % sampler->count;
    place = (place + skipped) % sampler->count;
    return (size_t)zn_permutation_at(sampler->order_seed, epoch, sampler->count, place);
}

const char *zn_sampler_reason(zn_sampler *sampler, size_t number)
{
    zn_mutex_lock(sampler->lock);
    const char *reason = sampler->reasons[number];
    zn_mutex_unlock(sampler->lock);
    return reason;
}

size_t zn_sampler_cached(zn_sampler *sampler)
{
    return zn_picture_cache_bytes(sampler->cache);
}

// --- pictures

static zenith_status remember_reason(zn_sampler *sampler, size_t number, const char *reason,
                                     zn_error *err)
{
    size_t size = strlen(reason) + 1;
    char *copy = zn_alloc(size);
    if (!copy) return zn_fail_memory(err, size);
    memcpy(copy, reason, size);
    zn_mutex_lock(sampler->lock);
    bool first = !sampler->reasons[number];
    if (first) sampler->reasons[number] = copy;
    zn_mutex_unlock(sampler->lock);
    if (!first) zn_free(copy);
    return ZENITH_OK;
}

static zenith_status read_picture(zn_sampler *sampler, size_t number, zn_image_pixels *out,
                                  zn_error *err)
{
    zn_image_pixels pixels = {0};
    ZN_TRY(zn_sources_read(sampler->sources, number, &sampler->reading, &pixels, err));
    uint32_t width = pixels.width, height = pixels.height, crop = sampler->crop;
    if (width < crop || height < crop) {
        zn_image_pixels_free(&pixels);
        return zn_fail(err, ZENITH_LIMIT,
                       "it has %u x %u pixels, which is smaller than the crop of %u x %u", width,
                       height, crop, crop);
    }
    *out = pixels;
    return ZENITH_OK;
}

// The decoded picture, held; NULL (and a reason) for one that is of no use. Failures are those of
// the machine: memory, or files that changed.
static zenith_status hold_picture(zn_sampler *sampler, size_t number, zn_cached_picture **out,
                                  zn_error *err)
{
    zn_image_pixels pixels = {0};
    zn_error why = {0};
    *out = NULL;
    if (zn_sampler_reason(sampler, number)) return ZENITH_OK;
    *out = zn_picture_cache_find(sampler->cache, number);
    if (*out) return ZENITH_OK;
    zenith_status status = read_picture(sampler, number, &pixels, &why);
    if (status == ZENITH_BAD_FILE || status == ZENITH_UNSUPPORTED || status == ZENITH_LIMIT)
        return remember_reason(sampler, number, why.text, err);
    if (status != ZENITH_OK) return zn_fail(err, status, "%s", why.text);
    status = zn_picture_cache_add(sampler->cache, number, &pixels, out, err);
    zn_image_pixels_free(&pixels); // where it was not taken over
    return status;
}

// --- crops

typedef struct square {
    uint32_t x, y, side;
    bool mirrored;
} square;

// A pure function of (seed, index) and the picture's size.
static square draw_square(const zn_sampler *sampler, uint64_t index, uint32_t width,
                          uint32_t height)
{
    zn_random random = {sampler->crop_seed, index * DRAWS};
    uint32_t shorter = width < height ? width : height, crop = sampler->crop;
    double least = (double)crop / shorter, unit = (double)zn_random_unit(&random);
    if (least < sampler->min_scale) least = sampler->min_scale;
    double side = crop / (least + (1 - least) * unit) + 0.5;
    square drawn = {.side = side < shorter ? (uint32_t)side : shorter};
    if (drawn.side < crop) drawn.side = crop;
    if (sampler->whole) drawn.side = shorter;
    drawn.x = zn_random_below(&random, width - drawn.side + 1);
    drawn.y = zn_random_below(&random, height - drawn.side + 1);
    if (sampler->whole) drawn.x = (width - shorter) / 2, drawn.y = (height - shorter) / 2;
    drawn.mirrored = sampler->flip && zn_random_u32(&random) >> 31;
    return drawn;
}

static void mirror_row(uint8_t *row, uint32_t width)
{
    for (uint8_t *left = row, *right = row + 3 * ((size_t)width - 1); left < right;
         left += 3, right -= 3) {
        for (int c = 0; c < 3; c++) {
            uint8_t kept = left[c];
            left[c] = right[c];
            right[c] = kept;
        }
    }
}

static zenith_status cut(const zn_sampler *sampler, const zn_image_pixels *from, uint64_t index,
                         uint8_t *dst, zn_error *err)
{
    const square taken = draw_square(sampler, index, from->width, from->height);
    const size_t stride = 3 * (size_t)from->width, dst_stride = 3 * (size_t)sampler->crop;
    const uint8_t *src = from->data + taken.y * stride + 3 * (size_t)taken.x;
    const zn_resize how = zn_resize_whole(taken.side, taken.side, stride, sampler->crop,
                                          sampler->crop, ZN_RESIZE_BICUBIC);
    ZN_TRY(zn_resize_rgb(&how, src, dst, dst_stride, err)); // of equal sizes: a copy
    for (uint32_t y = 0; taken.mirrored && y < sampler->crop; y++)
        mirror_row(dst + y * dst_stride, sampler->crop);
    return ZENITH_OK;
}

static zenith_status fail_none(zn_sampler *sampler, uint64_t index, zn_error *err)
{
    size_t first = zn_sampler_picture(sampler, index, 0);
    return zn_fail(err, ZENITH_BAD_FILE, "none of the %llu pictures can be used: %s: %s",
                   (unsigned long long)sampler->count, zn_sources_name(sampler->sources, first),
                   zn_sampler_reason(sampler, first));
}

zenith_status zn_sampler_make(zn_sampler *sampler, uint64_t index, uint8_t *pixels,
                              uint64_t *skipped, zn_error *err)
{
    for (*skipped = 0; *skipped < sampler->count; (*skipped)++) {
        size_t number = zn_sampler_picture(sampler, index, *skipped);
        zn_cached_picture *held = NULL;
        ZN_TRY(hold_picture(sampler, number, &held, err));
        if (!held) continue;
        zenith_status status = cut(sampler, &held->pixels, index, pixels, err);
        zn_picture_cache_release(sampler->cache, held);
        return status;
    }
    return fail_none(sampler, index, err);
}
