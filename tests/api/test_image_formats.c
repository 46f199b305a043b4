// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Images of a caller in every layout that zenith_image has (RGB, BGR, RGBA, BGRA; packed or planes;
// with and without a gap between rows; 8 bits, 16 bits, float): each encodes and decodes to the
// bits of dense RGB.
#include "tests/task/session.h"

#include <math.h>

enum { WIDTH = 24, HEIGHT = 16, PIXELS = WIDTH * HEIGHT, SAMPLES = 4, GAP = 8 };
enum { MOST = (PIXELS + GAP * HEIGHT) * SAMPLES, VALUES = 4 * (WIDTH / 8) * (HEIGHT / 8) };

SESSION_OF(1, 1)

static const zenith_run_params how = {.size = sizeof how, .dtype = ZENITH_DTYPE_F32};

typedef struct layout {
    zenith_number number;
    zenith_order order;
    zenith_channels channels;
    bool gap;
} layout;

typedef union samples {
    uint8_t u8[MOST];
    uint16_t u16[MOST];
    float f32[MOST];
} samples;

static size_t bytes_of(zenith_number number)
{
    return number == ZENITH_U8 ? 1 : number == ZENITH_U16 ? 2 : 4;
}

static zenith_image image_of(const layout *is, samples *data)
{
    const size_t each = is->order == ZENITH_CHW ? 1 : is->channels >= ZENITH_RGBA ? 4 : 3;
    zenith_image image;
    zenith_image_init(&image);
    image.width = WIDTH;
    image.height = HEIGHT;
    image.number = is->number;
    image.order = is->order;
    image.channels = is->channels;
    image.data = data;
    if (is->gap) image.row_bytes = (WIDTH * each + GAP) * bytes_of(is->number);
    return image;
}

// The place of a sample, written down anew: colour 0 to 2 is red to blue, 3 alpha.
static size_t place(const layout *is, size_t y, size_t x, size_t colour)
{
    const bool turned = is->channels == ZENITH_BGR || is->channels == ZENITH_BGRA;
    const size_t each = is->channels >= ZENITH_RGBA ? 4 : 3;
    const size_t sample = turned && colour < 3 ? 2 - colour : colour;
    const size_t gap = is->gap ? GAP : 0;
    if (is->order == ZENITH_CHW) return (sample * HEIGHT + y) * (WIDTH + gap) + x;
    return y * (WIDTH * each + gap) + x * each + sample;
}

static void set(const layout *is, samples *data, size_t at, uint8_t value)
{
    if (is->number == ZENITH_U8)
        data->u8[at] = value;
    else if (is->number == ZENITH_U16)
        data->u16[at] = (uint16_t)(value * 257);
    else
        data->f32[at] = (float)value / 255;
}

static double get(const layout *is, const samples *data, size_t at)
{
    if (is->number == ZENITH_U8) return data->u8[at];
    return is->number == ZENITH_U16 ? data->u16[at] : (double)data->f32[at];
}

// Every layout, by number; false past the last.
static bool layout_at(int index, layout *out)
{
    static const zenith_number numbers[] = {ZENITH_U8, ZENITH_U16, ZENITH_F32};
    *out = (layout){.number = numbers[index / 16 % 3],
                    .order = index & 8 ? ZENITH_CHW : ZENITH_HWC,
                    .channels = (zenith_channels)(index & 3),
                    .gap = index & 4};
    return index < 48;
}

static uint8_t value_at(size_t y, size_t x, size_t colour)
{
    return (uint8_t)((y * 37 + x * 11 + colour * 101) * 7);
}

static void encode(const zenith_image *image, float values[VALUES])
{
    const zenith_latent latent = {.size = sizeof latent,
                                  .width = WIDTH / 8,
                                  .height = HEIGHT / 8,
                                  .channels = 4,
                                  .data = values};
    session_ok(context, zenith_encode(context, model, image, &latent, 1, &how));
}

// Alpha and gaps hold what must not be read.
ZN_TEST(every_layout_encodes_the_same)
{
    static samples data;
    static float expected[3][VALUES], found[VALUES];
    layout is;
    for (int i = 0; layout_at(i, &is); i++) {
        memset(&data, 0xff, sizeof data); // NaN, as floats
        for (size_t p = 0; p < PIXELS * 3; p++) {
            const size_t y = p / 3 / WIDTH, x = p / 3 % WIDTH, colour = p % 3;
            set(&is, &data, place(&is, y, x, colour), value_at(y, x, colour));
        }
        const zenith_image image = image_of(&is, &data);
        encode(&image, i % 16 ? found : expected[i / 16]);
        if (i % 16) assert_memory_equal(found, expected[i / 16], sizeof found);
    }
    // 257 * v of 65535 is v of 255: all three number types hold one picture.
    for (int v = 0; v < VALUES; v++) {
        assert_true(fabsf(expected[1][v] - expected[0][v]) < 1e-5f);
        assert_true(fabsf(expected[2][v] - expected[0][v]) < 1e-5f);
    }
}

static void decode(const zenith_image *image)
{
    zenith_latent latent = session_latent(WIDTH, HEIGHT, 3);
    session_ok(context, zenith_decode(context, model, &latent, image, 1, &how));
    free(latent.data);
}

// What a layout must hold, from the float picture.
static double expected_of(const layout *is, float value)
{
    const double most = is->number == ZENITH_U8 ? 255 : 65535;
    if (is->number == ZENITH_F32) return (double)value;
    return floor(fmin(fmax((double)value, 0), 1) * most + 0.5);
}

ZN_TEST(every_layout_decodes_the_same)
{
    static samples data, plain;
    static bool touched[MOST];
    const layout floats = {ZENITH_F32, ZENITH_HWC, ZENITH_RGB, false};
    zenith_image image = image_of(&floats, &plain);
    layout is;
    decode(&image);
    for (int i = 0; layout_at(i, &is); i++) {
        const double opaque = is.number == ZENITH_U8 ? 255 : is.number == ZENITH_U16 ? 65535 : 1;
        const double off = is.number == ZENITH_F32 ? 0 : 1; // the product's rounding in f32
        memset(&data, 0, sizeof data);
        memset(touched, 0, sizeof touched);
        image = image_of(&is, &data);
        decode(&image);
        for (size_t p = 0; p < PIXELS * SAMPLES; p++) {
            const size_t y = p / SAMPLES / WIDTH, x = p / SAMPLES % WIDTH, colour = p % SAMPLES;
            if (colour == 3 && is.channels < ZENITH_RGBA) continue;
            const size_t at = place(&is, y, x, colour);
            const float value = plain.f32[(y * WIDTH + x) * 3 + colour % 3];
            const double wanted = colour == 3 ? opaque : expected_of(&is, value);
            assert_true(fabs(get(&is, &data, at) - wanted) <= (colour == 3 ? 0 : off));
            touched[at] = true;
        }
        for (size_t at = 0; at < MOST; at++)
            if (!touched[at]) assert_true(get(&is, &data, at) == 0); // gaps stay as they were
    }
}

static zenith_status no_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    (void)cookie, (void)y, (void)count, (void)rows;
    return ZENITH_IO;
}

ZN_TEST(refused)
{
    static samples data;
    static float values[VALUES];
    const zenith_latent latent = {.size = sizeof latent,
                                  .width = WIDTH / 8,
                                  .height = HEIGHT / 8,
                                  .channels = 4,
                                  .data = values};
    const layout is = {ZENITH_U16, ZENITH_HWC, ZENITH_BGRA, false};
    zenith_image images[5];
    for (int i = 0; i < 5; i++) images[i] = image_of(&is, &data);
    images[0].data = NULL, images[0].rows = no_rows; // 16 bits are not streamed
    images[1].channels = (zenith_channels)4;         // no such layout
    images[2].row_bytes = WIDTH * 4 * 2 - 2;         // too short for a row
    images[3].row_bytes = WIDTH * 4 * 2 + 1;         // not whole samples
    images[4].number = ZENITH_BF16;                  // not a number type of images
    for (int i = 0; i < 5; i++)
        assert_int_equal(zenith_encode(context, model, &images[i], &latent, 1, &how),
                         ZENITH_INVALID_ARGUMENT);
    zenith_image rgba = image_of(&(layout){ZENITH_U8, ZENITH_HWC, ZENITH_RGBA, false}, &data);
    assert_int_equal(zenith_image_save_npy(context, "-", &rgba), ZENITH_INVALID_ARGUMENT);
}
