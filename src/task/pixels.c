// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/pixels.h"

#include <string.h>

enum { CHANNELS = 3 };

const zenith_image *zn_image_at(const zenith_image *images, size_t i)
{
    return (const void *)((const uint8_t *)images + i * images->size);
}

const zenith_latent *zn_latent_at(const zenith_latent *latents, size_t i)
{
    return (const void *)((const uint8_t *)latents + i * latents->size);
}

zenith_number zn_image_number(const zenith_image *image)
{
    return image->number == ZENITH_NUMBER_DEFAULT ? ZENITH_U8 : image->number;
}

static zn_type latent_type(const zenith_latent *latent)
{
    if (latent->number == ZENITH_F16) return ZN_F16;
    return latent->number == ZENITH_BF16 ? ZN_BF16 : ZN_F32;
}

static size_t pixel_bytes(const zenith_image *image)
{
    return zn_image_number(image) == ZENITH_U8 ? sizeof(uint8_t) : sizeof(float);
}

uint64_t zn_image_bytes(const zenith_image *image)
{
    if (!image->data) return 0;
    return (uint64_t)image->width * image->height * CHANNELS * pixel_bytes(image);
}

uint64_t zn_latent_bytes(const zenith_latent *latent)
{
    if (!latent->data) return 0;
    return (uint64_t)latent->width * latent->height * latent->channels *
           zn_type_size(latent_type(latent));
}

static zenith_status callback_failed(zenith_status status, zn_error *err)
{
    if (status == ZENITH_OK) return ZENITH_OK;
    return zn_fail(err, status, "the callback that moves rows failed: %s",
                   zenith_status_text(status));
}

// Copies `count` pixels between HWC (dense, `packed`) and CHW planes of `plane` elements.
#define MOVE_PLANES(name, type)                                                                    \
    static void name(type *restrict planes, type *restrict packed, size_t plane, size_t count,     \
                     bool to_planes)                                                               \
    {                                                                                              \
        for (size_t c = 0; c < CHANNELS; c++, planes += plane, packed++) {                         \
            if (to_planes)                                                                         \
                for (size_t i = 0; i < count; i++) planes[i] = packed[i * CHANNELS];               \
            else                                                                                   \
                for (size_t i = 0; i < count; i++) packed[i * CHANNELS] = planes[i];               \
        }                                                                                          \
    }
MOVE_PLANES(move_u8, uint8_t)
MOVE_PLANES(move_f32, float)

static void move_planes(void *planes, void *packed, const zenith_image *image, int64_t row,
                        int64_t rows, bool to_planes)
{
    const size_t width = image->width, plane = width * image->height;
    const size_t at = (size_t)row * width, count = (size_t)rows * width;
    if (zn_image_number(image) == ZENITH_U8)
        move_u8((uint8_t *)planes + at, packed, plane, count, to_planes);
    else
        move_f32((float *)planes + at, packed, plane, count, to_planes);
}

zenith_status zn_image_read_rows(const zenith_image *image, int64_t row, int64_t count, void *dst,
                                 zn_error *err)
{
    if (!image->data) {
        return callback_failed(image->rows(image->cookie, (uint32_t)row, (uint32_t)count, dst),
                               err);
    }
    if (image->order == ZENITH_CHW) {
        move_planes(image->data, dst, image, row, count, false);
        return ZENITH_OK;
    }
    size_t row_bytes = (size_t)image->width * CHANNELS * pixel_bytes(image);
    memcpy(dst, (const uint8_t *)image->data + (size_t)row * row_bytes, (size_t)count * row_bytes);
    return ZENITH_OK;
}

zenith_status zn_image_write_rows(const zenith_image *image, int64_t row, int64_t count,
                                  const void *src, zn_error *err)
{
    void *rows = (void *)(uintptr_t)src; // a target's callback only reads
    if (!image->data) {
        return callback_failed(image->rows(image->cookie, (uint32_t)row, (uint32_t)count, rows),
                               err);
    }
    if (image->order == ZENITH_CHW) {
        move_planes(image->data, rows, image, row, count, true);
        return ZENITH_OK;
    }
    size_t row_bytes = (size_t)image->width * CHANNELS * pixel_bytes(image);
    memcpy((uint8_t *)image->data + (size_t)row * row_bytes, src, (size_t)count * row_bytes);
    return ZENITH_OK;
}

// --- latents ------------------------------------------------------------------------------------

// Where element (y, x, c) of a latent lies in its data.
static size_t latent_at(const zenith_latent *latent, size_t y, size_t x, size_t c)
{
    if (latent->order == ZENITH_HWC) return (y * latent->width + x) * latent->channels + c;
    return (c * latent->height + y) * latent->width + x;
}

zenith_status zn_latent_read_rows(const zenith_latent *latent, const zn_variant *variant,
                                  int64_t row, int64_t count, float *dst, zn_error *err)
{
    const size_t width = latent->width, channels = latent->channels;
    if (!latent->data) {
        ZN_TRY(callback_failed(latent->rows(latent->cookie, (uint32_t)row, (uint32_t)count, dst),
                               err));
    } else {
        zn_type type = latent_type(latent);
        for (size_t y = 0; y < (size_t)count; y++) {
            for (size_t x = 0; x < width; x++) {
                for (size_t c = 0; c < channels; c++) {
                    size_t at = latent_at(latent, (size_t)row + y, x, c);
                    dst[(y * width + x) * channels + c] = zn_type_load(type, latent->data, at);
                }
            }
        }
    }
    if (latent->space == ZENITH_SPACE_MODEL) return ZENITH_OK;
    for (size_t i = 0; i < (size_t)count * width * channels; i++) {
        dst[i] = (dst[i] - variant->shift) * variant->scale;
    }
    return ZENITH_OK;
}

static float to_space(const zenith_latent *latent, const zn_variant *variant, float value)
{
    if (latent->space == ZENITH_SPACE_MODEL) return value;
    return value / variant->scale + variant->shift;
}

// A stream gets its rows as they are in its space; they are changed in place, in the plan's window,
// which nobody reads any more: the latent is the graph's output.
static zenith_status stream_latent(const zenith_latent *latent, const zn_variant *variant,
                                   int64_t row, int64_t count, float *rows, zn_error *err)
{
    for (size_t i = 0; i < (size_t)count * latent->width * latent->channels; i++) {
        rows[i] = to_space(latent, variant, rows[i]);
    }
    return callback_failed(latent->rows(latent->cookie, (uint32_t)row, (uint32_t)count, rows), err);
}

zenith_status zn_latent_write_rows(const zenith_latent *latent, const zn_variant *variant,
                                   int64_t row, int64_t count, const float *src, zn_error *err)
{
    const size_t width = latent->width, channels = latent->channels;
    if (!latent->data) {
        return stream_latent(latent, variant, row, count, (float *)(uintptr_t)src, err);
    }
    zn_type type = latent_type(latent);
    for (size_t y = 0; y < (size_t)count; y++) {
        for (size_t x = 0; x < width; x++) {
            for (size_t c = 0; c < channels; c++) {
                float value = to_space(latent, variant, src[(y * width + x) * channels + c]);
                zn_type_store(type, latent->data, latent_at(latent, (size_t)row + y, x, c), value);
            }
        }
    }
    return ZENITH_OK;
}
