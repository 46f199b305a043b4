// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/pixels.h"

#include "src/base/caller_struct.h"
#include "src/base/random.h"

#include <math.h>
#include <string.h>

enum { CHANNELS = 3 };
static const float beyond_f16 = 65520; // rounds to infinity

// --- structs ------------------------------------------------------------------------------------

static zenith_status image_in(const zenith_image *images, size_t i, zenith_image *out,
                              zn_error *err)
{
    return zn_caller_element_in(images, i, ZN_SIZE_UP_TO(zenith_image, cookie), out, sizeof *out,
                                err);
}

static zenith_status latent_in(const zenith_latent *latents, size_t i, zenith_latent *out,
                               zn_error *err)
{
    return zn_caller_element_in(latents, i, ZN_SIZE_UP_TO(zenith_latent, cookie), out, sizeof *out,
                                err);
}

zenith_status zn_images_check(const zenith_image *images, size_t count, zn_error *err)
{
    zenith_image image;
    for (size_t i = 0; i < count; i++) ZN_TRY(image_in(images, i, &image, err));
    return ZENITH_OK;
}

zenith_status zn_latents_check(const zenith_latent *latents, size_t count, zn_error *err)
{
    zenith_latent latent;
    for (size_t i = 0; i < count; i++) ZN_TRY(latent_in(latents, i, &latent, err));
    return ZENITH_OK;
}

zenith_image zn_image_at(const zenith_image *images, size_t i)
{
    zenith_image image;
    (void)image_in(images, i, &image, NULL); // zero if it fails, which it did not when checked
    return image;
}

zenith_latent zn_latent_at(const zenith_latent *latents, size_t i)
{
    zenith_latent latent;
    (void)latent_in(latents, i, &latent, NULL);
    return latent;
}

// --- sizes --------------------------------------------------------------------------------------

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

static size_t dense_row_bytes(const zenith_image *image)
{
    return image->width * pixel_bytes(image) * (image->order == ZENITH_CHW ? 1 : CHANNELS);
}

static size_t row_bytes(const zenith_image *image)
{
    return image->row_bytes ? image->row_bytes : dense_row_bytes(image);
}

bool zn_image_rows_fit(const zenith_image *image)
{
    return row_bytes(image) >= dense_row_bytes(image) && row_bytes(image) % pixel_bytes(image) == 0;
}

bool zn_image_dense(const zenith_image *image)
{
    return row_bytes(image) == dense_row_bytes(image);
}

uint64_t zn_image_bytes(const zenith_image *image)
{
    if (!image->data) return 0;
    return (uint64_t)row_bytes(image) * image->height * (image->order == ZENITH_CHW ? CHANNELS : 1);
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

// --- numbers ------------------------------------------------------------------------------------

static bool is_finite(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}

// Rows from `row` on, [count][width][channels].
static zenith_status check_finite(const float *rows, int64_t row, int64_t count, size_t width,
                                  size_t channels, const char *what, zn_error *err)
{
    const size_t elements = (size_t)count * width * channels;
    bool all = true;
    for (size_t i = 0; i < elements; i++) all &= is_finite(rows[i]);
    if (all) return ZENITH_OK;
    size_t at = 0;
    while (is_finite(rows[at])) at++;
    const float bad = rows[at];
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "the %s has %s in channel %zu, row %zu, column %zu, and only finite numbers can "
                   "be computed with",
                   what, bad != bad ? "NaN" : "an infinity", at % channels,
                   (size_t)row + at / (width * channels), at / channels % width);
}

// --- pictures -----------------------------------------------------------------------------------

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
    const size_t width = image->width, stride = row_bytes(image) / pixel_bytes(image);
    const size_t plane = stride * image->height;
    for (size_t i = 0; i < (size_t)rows; i++) {
        const size_t at = ((size_t)row + i) * stride, from = i * width * CHANNELS;
        if (zn_image_number(image) == ZENITH_U8)
            move_u8((uint8_t *)planes + at, (uint8_t *)packed + from, plane, width, to_planes);
        else
            move_f32((float *)planes + at, (float *)packed + from, plane, width, to_planes);
    }
}

// Copies rows that lie row_bytes apart on the picture's side and are dense on the other.
static void move_rows(uint8_t *picture, uint8_t *packed, const zenith_image *image, int64_t row,
                      int64_t rows, bool to_picture)
{
    const size_t dense = dense_row_bytes(image), stride = row_bytes(image);
    const size_t each = stride == dense ? (size_t)rows * dense : dense;
    picture += (size_t)row * stride;
    for (size_t done = 0; done < (size_t)rows * dense; done += each, picture += stride) {
        memcpy(to_picture ? picture : packed + done, to_picture ? packed + done : picture, each);
    }
}

static zenith_status fetch_rows(const zenith_image *image, int64_t row, int64_t count, void *dst,
                                zn_error *err)
{
    if (!image->data) {
        return callback_failed(image->rows(image->cookie, (uint32_t)row, (uint32_t)count, dst),
                               err);
    }
    if (image->order == ZENITH_CHW)
        move_planes(image->data, dst, image, row, count, false);
    else
        move_rows(image->data, dst, image, row, count, false);
    return ZENITH_OK;
}

zenith_status zn_image_read_rows(const zenith_image *image, int64_t row, int64_t count, void *dst,
                                 zn_error *err)
{
    ZN_TRY(fetch_rows(image, row, count, dst, err));
    if (zn_image_number(image) == ZENITH_U8) return ZENITH_OK;
    return check_finite(dst, row, count, image->width, CHANNELS, "picture", err);
}

zenith_status zn_image_write_rows(const zenith_image *image, int64_t row, int64_t count,
                                  const void *src, zn_error *err)
{
    void *rows = (void *)(uintptr_t)src; // a target's callback only reads
    if (!image->data) {
        return callback_failed(image->rows(image->cookie, (uint32_t)row, (uint32_t)count, rows),
                               err);
    }
    if (image->order == ZENITH_CHW)
        move_planes(image->data, rows, image, row, count, true);
    else
        move_rows(image->data, rows, image, row, count, true);
    return ZENITH_OK;
}

// --- latents ------------------------------------------------------------------------------------

// Where element (y, x, c) of a latent lies in its data.
static size_t latent_at(const zenith_latent *latent, size_t y, size_t x, size_t c)
{
    if (latent->order == ZENITH_HWC) return (y * latent->width + x) * latent->channels + c;
    return (c * latent->height + y) * latent->width + x;
}

zenith_status zn_latent_read_rows(const zenith_latent *latent, const zn_autoencoder_facts *facts,
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
    const bool raw = latent->space == ZENITH_SPACE_RAW;
    for (size_t i = 0; raw && i < (size_t)count * width * channels; i++) {
        dst[i] = zn_latent_from_raw(facts, i % channels, dst[i]);
    }
    return check_finite(dst, row, count, width, channels, "latent", err);
}

static float to_space(const zenith_latent *latent, const zn_autoencoder_facts *facts, size_t c,
                      float value)
{
    const size_t channels = (size_t)facts->latent_channels;
    if (latent->space == ZENITH_SPACE_MODEL) return value;
    if (c >= channels) return value - zn_latent_logvar_step(facts, c - channels);
    return zn_latent_to_raw(facts, c, value);
}

void zn_latent_sample_rows(const zenith_latent *latent, int64_t row, int64_t count, float *rows)
{
    const size_t width = latent->width, height = latent->height, channels = latent->channels;
    for (size_t i = 0; i < (size_t)count * width; i++) {
        const size_t y = (size_t)row + i / width, x = i % width;
        const float *mean = rows + i * 2 * channels, *logvar = mean + channels;
        for (size_t c = 0; c < channels; c++) {
            const uint64_t number = (c * height + y) * width + x;
            zn_random noise = {.seed = latent->seed, .position = 2 * number}; // a normal takes two
            rows[i * channels + c] = mean[c] + expf(0.5f * logvar[c]) * zn_random_normal(&noise);
        }
    }
}

// A stream gets its rows as they are in its space; they are changed in place, in the plan's window,
// which nobody reads any more: the latent is the graph's output.
static zenith_status stream_latent(const zenith_latent *latent, const zn_autoencoder_facts *facts,
                                   int64_t row, int64_t count, float *rows, zn_error *err)
{
    for (size_t i = 0; i < (size_t)count * latent->width * latent->channels; i++) {
        rows[i] = to_space(latent, facts, i % latent->channels, rows[i]);
    }
    return callback_failed(latent->rows(latent->cookie, (uint32_t)row, (uint32_t)count, rows), err);
}

zenith_status zn_latent_write_rows(const zenith_latent *latent, const zn_autoencoder_facts *facts,
                                   int64_t row, int64_t count, const float *src, zn_error *err)
{
    const size_t width = latent->width, channels = latent->channels;
    if (!latent->data) {
        return stream_latent(latent, facts, row, count, (float *)(uintptr_t)src, err);
    }
    zn_type type = latent_type(latent);
    float largest = 0;
    for (size_t y = 0; y < (size_t)count; y++) {
        for (size_t x = 0; x < width; x++) {
            for (size_t c = 0; c < channels; c++) {
                float value = to_space(latent, facts, c, src[(y * width + x) * channels + c]);
                zn_type_store(type, latent->data, latent_at(latent, (size_t)row + y, x, c), value);
                if (fabsf(value) > largest) largest = fabsf(value);
            }
        }
    }
    if (type != ZN_F16 || largest < beyond_f16) return ZENITH_OK;
    return zn_fail(err, ZENITH_OVERFLOW,
                   "the latent has a value of %g, and f16 holds up to 65504: take f32 or bf16",
                   (double)largest);
}
