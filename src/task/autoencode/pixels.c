// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/autoencode/pixels.h"

#include "src/base/caller_struct.h"
#include "src/base/random.h"

#include <math.h>
#include <string.h>

enum { RGB = 3, ALPHA = 3 };           // colours of a pixel; and the sample that has no colour
static const float beyond_f16 = 65520; // rounds to infinity
static const float most_u16 = 65535;

// --- structs ------------------------------------------------------------------------------------

// How a pixel's samples follow each other: how many, and which has red, green and blue.
static const struct {
    size_t samples, colour[RGB];
} layouts[] = {[ZENITH_RGB] = {3, {0, 1, 2}},
               [ZENITH_BGR] = {3, {2, 1, 0}},
               [ZENITH_RGBA] = {4, {0, 1, 2}},
               [ZENITH_BGRA] = {4, {2, 1, 0}}};

static size_t sample_bytes(const zenith_image *image)
{
    if (image->number == ZENITH_U8) return sizeof(uint8_t);
    return image->number == ZENITH_U16 ? sizeof(uint16_t) : sizeof(float);
}

static size_t dense_row_bytes(const zenith_image *image)
{
    const size_t samples = image->order == ZENITH_CHW ? 1 : layouts[image->channels].samples;
    return image->width * sample_bytes(image) * samples;
}

static bool has_layout(const zenith_image *image)
{
    return (size_t)image->channels < sizeof layouts / sizeof *layouts &&
           (image->order == ZENITH_HWC || image->order == ZENITH_CHW) &&
           (image->number == ZENITH_U8 || image->number == ZENITH_U16 ||
            image->number == ZENITH_F32);
}

zenith_status zn_image_take(const zenith_image *theirs, size_t i, zenith_image *ours, zn_error *err)
{
    const size_t least = ZN_SIZE_UP_TO(zenith_image, cookie);
    ZN_TRY(zn_caller_element_in(theirs, i, least, ours, sizeof *ours, err));
    ours->size = sizeof *ours;
    if (ours->number == ZENITH_NUMBER_DEFAULT) ours->number = ZENITH_U8;
    if (ours->order == ZENITH_ORDER_DEFAULT) ours->order = ZENITH_HWC;
    if (!ours->row_bytes && has_layout(ours)) ours->row_bytes = dense_row_bytes(ours);
    return ZENITH_OK;
}

zenith_status zn_latent_take(const zenith_latent *theirs, size_t i, zenith_latent *ours,
                             zn_error *err)
{
    const size_t least = ZN_SIZE_UP_TO(zenith_latent, cookie);
    ZN_TRY(zn_caller_element_in(theirs, i, least, ours, sizeof *ours, err));
    ours->size = sizeof *ours;
    if (ours->number == ZENITH_NUMBER_DEFAULT) ours->number = ZENITH_F32;
    if (ours->order == ZENITH_ORDER_DEFAULT) ours->order = ZENITH_CHW;
    return ZENITH_OK;
}

static zenith_status check_rows(const zenith_image *image, zn_error *err)
{
    if (!image->data) {
        if (image->channels == ZENITH_RGB && image->number != ZENITH_U16) return ZENITH_OK;
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "rows that are streamed are RGB, u8 or f32");
    }
    if (image->row_bytes >= dense_row_bytes(image) && image->row_bytes % sample_bytes(image) == 0)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "a picture %u wide cannot have rows that begin %zu bytes apart", image->width,
                   image->row_bytes);
}

zenith_status zn_image_check(const zenith_image *image, zn_error *err)
{
    if (!image->data && !image->rows)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "an image needs data or rows, and has neither");
    if (has_layout(image)) return check_rows(image, err);
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "pictures are u8, u16 or f32, in the order HWC or CHW, and RGB, BGR, RGBA or "
                   "BGRA");
}

zenith_status zn_latent_check(const zenith_latent *latent, zn_error *err)
{
    if (!latent->data && !latent->rows)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a latent needs data or rows, and has neither");
    const bool narrow = latent->number == ZENITH_F16 || latent->number == ZENITH_BF16;
    if (latent->number == ZENITH_F32 || (narrow && latent->data)) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "latents are f32, f16 or bf16, and f32 when they are streamed");
}

// --- sizes --------------------------------------------------------------------------------------

zenith_number zn_image_plan_number(const zenith_image *image)
{
    return image->number == ZENITH_U8 ? ZENITH_U8 : ZENITH_F32;
}

static zn_type latent_type(const zenith_latent *latent)
{
    if (latent->number == ZENITH_F16) return ZN_F16;
    return latent->number == ZENITH_BF16 ? ZN_BF16 : ZN_F32;
}

// Pixels as a plan has them: a row is copied at once.
static bool has_plan_pixels(const zenith_image *image)
{
    return image->order == ZENITH_HWC && image->channels == ZENITH_RGB &&
           image->number == zn_image_plan_number(image);
}

bool zn_image_plain(const zenith_image *image)
{
    return image->data && has_layout(image) && has_plan_pixels(image) &&
           image->row_bytes == dense_row_bytes(image);
}

uint64_t zn_image_bytes(const zenith_image *image)
{
    if (!image->data) return 0;
    const size_t planes = image->order == ZENITH_CHW ? layouts[image->channels].samples : 1;
    return (uint64_t)image->row_bytes * image->height * planes;
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

// One sample of each pixel of a row, `step` samples apart.
typedef struct channel {
    void *first;
    size_t step;
} channel;

static channel channel_of(const zenith_image *image, size_t row, size_t sample)
{
    uint8_t *begin = (uint8_t *)image->data + row * image->row_bytes;
    if (image->order == ZENITH_CHW)
        return (channel){begin + sample * image->row_bytes * image->height, 1};
    return (channel){begin + sample * sample_bytes(image), layouts[image->channels].samples};
}

// A colour between the caller's samples and a plan's packed pixels, whose first this is of that
// colour.
static void fetch_colour(zenith_number number, channel from, void *packed, size_t count)
{
    if (number == ZENITH_U8) {
        const uint8_t *src = from.first;
        uint8_t *dst = packed;
        for (size_t i = 0; i < count; i++) dst[i * RGB] = src[i * from.step];
    } else if (number == ZENITH_U16) {
        const uint16_t *src = from.first;
        float *dst = packed;
        for (size_t i = 0; i < count; i++) dst[i * RGB] = (float)src[i * from.step] / most_u16;
    } else {
        const float *src = from.first;
        float *dst = packed;
        for (size_t i = 0; i < count; i++) dst[i * RGB] = src[i * from.step];
    }
}

static void store_colour(zenith_number number, channel to, const void *packed, size_t count)
{
    if (number == ZENITH_U8) {
        const uint8_t *src = packed;
        uint8_t *dst = to.first;
        for (size_t i = 0; i < count; i++) dst[i * to.step] = src[i * RGB];
    } else if (number == ZENITH_U16) {
        const float *src = packed;
        uint16_t *dst = to.first;
        for (size_t i = 0; i < count; i++)
            dst[i * to.step] = (uint16_t)(fminf(fmaxf(src[i * RGB], 0), 1) * most_u16 + 0.5f);
    } else {
        const float *src = packed;
        float *dst = to.first;
        for (size_t i = 0; i < count; i++) dst[i * to.step] = src[i * RGB];
    }
}

static void store_opaque(zenith_number number, channel to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (number == ZENITH_U8)
            ((uint8_t *)to.first)[i * to.step] = UINT8_MAX;
        else if (number == ZENITH_U16)
            ((uint16_t *)to.first)[i * to.step] = UINT16_MAX;
        else
            ((float *)to.first)[i * to.step] = 1;
    }
}

// Of a row of packed pixels, and of one of their samples.
static size_t packed_sample_bytes(const zenith_image *image)
{
    return zn_image_plan_number(image) == ZENITH_U8 ? sizeof(uint8_t) : sizeof(float);
}

static size_t packed_bytes(const zenith_image *image)
{
    return image->width * RGB * packed_sample_bytes(image);
}

static void fetch_row(const zenith_image *image, size_t y, uint8_t *packed)
{
    if (has_plan_pixels(image)) {
        memcpy(packed, channel_of(image, y, 0).first, packed_bytes(image));
        return;
    }
    for (size_t c = 0; c < RGB; c++, packed += packed_sample_bytes(image)) {
        const channel from = channel_of(image, y, layouts[image->channels].colour[c]);
        fetch_colour(image->number, from, packed, image->width);
    }
}

static void store_row(const zenith_image *image, size_t y, const uint8_t *packed)
{
    if (has_plan_pixels(image)) {
        memcpy(channel_of(image, y, 0).first, packed, packed_bytes(image));
        return;
    }
    for (size_t c = 0; c < RGB; c++, packed += packed_sample_bytes(image)) {
        const channel to = channel_of(image, y, layouts[image->channels].colour[c]);
        store_colour(image->number, to, packed, image->width);
    }
    if (layouts[image->channels].samples > ALPHA)
        store_opaque(image->number, channel_of(image, y, ALPHA), image->width);
}

static zenith_status fetch_rows(const zenith_image *image, int64_t row, int64_t count, void *dst,
                                zn_error *err)
{
    if (!image->data)
        return callback_failed(image->rows(image->cookie, (uint32_t)row, (uint32_t)count, dst),
                               err);
    uint8_t *packed = dst;
    for (int64_t y = row; y < row + count; y++, packed += packed_bytes(image))
        fetch_row(image, (size_t)y, packed);
    return ZENITH_OK;
}

zenith_status zn_image_read_rows(const zenith_image *image, int64_t row, int64_t count, void *dst,
                                 zn_error *err)
{
    ZN_TRY(fetch_rows(image, row, count, dst, err));
    if (image->number != ZENITH_F32) return ZENITH_OK;
    return check_finite(dst, row, count, image->width, RGB, "picture", err);
}

zenith_status zn_image_write_rows(const zenith_image *image, int64_t row, int64_t count,
                                  const void *src, zn_error *err)
{
    if (!image->data) {
        void *rows = (void *)(uintptr_t)src; // a target's callback only reads
        return callback_failed(image->rows(image->cookie, (uint32_t)row, (uint32_t)count, rows),
                               err);
    }
    const uint8_t *packed = src;
    for (int64_t y = row; y < row + count; y++, packed += packed_bytes(image))
        store_row(image, (size_t)y, packed);
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
