// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/data/corrupt.h"

#include "src/base/random.h"

#include <math.h>
#include <stddef.h>

enum { CHANNELS = 3 };

// A seed for each sample: its numbers begin at 0, however many it takes.
static uint64_t seed_of(uint64_t seed, uint64_t number)
{
    uint32_t out[4];
    zn_philox(seed, number, out);
    return (uint64_t)out[0] << 32 | out[1];
}

// Four at a time: noise is made for every value of every picture.
static void draw_normals(uint64_t seed, uint64_t block, float out[4])
{
    uint32_t drawn[4];
    zn_philox(seed, block, drawn);
    zn_philox_normals(drawn, out);
}

static void add_noise(uint64_t seed, float deviation, size_t count, float *dst)
{
    float normals[4] = {0};
    for (size_t i = 0; i < count; i++) {
        if (i % 4 == 0) draw_normals(seed, i / 4, normals);
        dst[i] += deviation * normals[i % 4];
    }
}

static void replace_pixels(uint64_t seed, double share, size_t count, float *dst)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t drawn[4];
        zn_philox(seed, i, drawn);
        if ((double)drawn[0] * 0x1p-32 >= share) continue;
        for (int c = 0; c < CHANNELS; c++) dst[i * CHANNELS + (size_t)c] = (float)(drawn[1] >> 31);
    }
}

static int64_t inside(int64_t at, int64_t side)
{
    return at < 0 ? 0 : at < side ? at : side - 1;
}

static void blur(int64_t side, const uint8_t *pixels, float *dst)
{
    for (int64_t y = 0; y < side; y++) {
        for (int64_t i = 0; i < side * CHANNELS; i++) {
            const int64_t x = i / CHANNELS, c = i % CHANNELS;
            int sum = 0;
            for (int64_t v = y - 1; v <= y + 1; v++)
                for (int64_t u = x - 1; u <= x + 1; u++)
                    sum += pixels[(inside(v, side) * side + inside(u, side)) * CHANNELS + c];
            dst[y * side * CHANNELS + i] = (float)sum / (9 * 255.0f);
        }
    }
}

// The transform is linear, so noise on coefficients is added as the picture that it would become.
static void add_details(uint64_t seed, float deviation, int64_t side, float *dst)
{
    const int64_t row = side * CHANNELS;
    uint64_t block = 0;
    for (int64_t y = 0; y < side; y += 2) {
        for (int64_t x = 0; x < side; x += 2) {
            for (int64_t c = 0; c < CHANNELS; c++) {
                float *at = dst + y * row + x * CHANNELS + c, noise[4];
                draw_normals(seed, block++, noise);
                const float half = deviation / 2;
                const float across = half * noise[0], down = half * noise[1];
                const float both = half * noise[2];
                at[0] += across + down + both;
                at[CHANNELS] += down - across - both;
                at[row] += across - down - both;
                at[row + CHANNELS] += both - across - down;
            }
        }
    }
}

void zn_corrupt(const zn_corruption *how, uint64_t number, int64_t side, const uint8_t *pixels,
                float *dst)
{
    const size_t count = (size_t)(side * side);
    const uint64_t seed = seed_of(how->seed, number);
    for (size_t i = 0; i < count * CHANNELS; i++) dst[i] = (float)pixels[i] / 255.0f;
    switch ((zn_corruption_kind)how->kind) {
    case ZN_CORRUPT_NOTHING:
        break;
    case ZN_CORRUPT_GAUSSIAN:
        add_noise(seed, (float)how->amount, count * CHANNELS, dst);
        break;
    case ZN_CORRUPT_SHOT:
        replace_pixels(seed, how->amount, count, dst);
        break;
    case ZN_CORRUPT_BLUR:
        blur(side, pixels, dst);
        break;
    case ZN_CORRUPT_HAAR:
        add_details(seed, (float)how->amount, side, dst);
        break;
    }
}
