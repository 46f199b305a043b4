// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Spoiled crops: what their numbers are like, and that they follow from the sample's number alone.
#include "src/train/data/corrupt.h"
#include "tests/testing.h"

#include <math.h>
#include <string.h>

enum { SIDE = 64, PIXELS = SIDE * SIDE, VALUES = 3 * PIXELS };

// A slope in each channel: never 0 or 255, so that shots stand out.
static const uint8_t *crop(void)
{
    static uint8_t pixels[VALUES];
    for (int i = 0; i < VALUES && pixels[VALUES - 1] == 0; i++)
        pixels[i] = (uint8_t)(40 + i / 3 % SIDE + 20 * (i % 3) + i / 3 / SIDE);
    return pixels;
}

static const float *spoil(int kind, double amount, uint64_t seed, uint64_t number)
{
    static float results[2][VALUES];
    static int turn;
    const zn_corruption how = {kind, amount, seed};
    float *dst = results[turn ^= 1];
    zn_corrupt(&how, number, SIDE, crop(), dst);
    return dst;
}

static double noise_at(const float *spoiled, int i)
{
    return (double)spoiled[i] - crop()[i] / 255.0;
}

// Mean of products of the noise with itself, `apart` values further on.
static double correlation(const float *spoiled, int apart)
{
    double sum = 0;
    for (int i = 0; i + apart < VALUES; i++)
        sum += noise_at(spoiled, i) * noise_at(spoiled, i + apart);
    return sum / (VALUES - apart);
}

ZN_TEST(gaussian_noise_is_normal_and_white)
{
    const float *spoiled = spoil(ZN_CORRUPT_GAUSSIAN, 0.3, 1, 2);
    double mean = 0, fourth = 0, outside = 0;
    for (int i = 0; i < VALUES; i++) {
        const double noise = noise_at(spoiled, i);
        mean += noise / VALUES;
        fourth += noise * noise * noise * noise / VALUES;
        outside += spoiled[i] < 0 || spoiled[i] > 1;
    }
    const double variance = correlation(spoiled, 0);
    assert_true(fabs(mean) < 0.01);
    assert_true(fabs(variance - 0.09) < 0.004);
    assert_true(fabs(fourth / (variance * variance) - 3) < 0.2);
    assert_true(outside > 0.05 * VALUES); // it is not clipped
    static const int apart[] = {1, 2, 3, 4, 3 * SIDE};
    for (int i = 0; i < 5; i++) assert_true(fabs(correlation(spoiled, apart[i])) < 0.005);
}

ZN_TEST(shots_are_whole_pixels_black_or_white)
{
    const float *spoiled = spoil(ZN_CORRUPT_SHOT, 0.05, 1, 2);
    int black = 0, white = 0;
    for (int i = 0; i < PIXELS; i++) {
        const float *pixel = spoiled + 3 * (size_t)i;
        if (pixel[0] == 0 || pixel[0] == 1) {
            assert_true(pixel[1] == pixel[0] && pixel[2] == pixel[0]);
            black += pixel[0] == 0;
            white += pixel[0] == 1;
            continue;
        }
        for (int c = 0; c < 3; c++) assert_true(pixel[c] == (float)crop()[3 * i + c] / 255.0f);
    }
    assert_in_range(black + white, 160, 250); // of 205
    assert_in_range(black, 70, 140);
    assert_in_range(white, 70, 140);
    spoiled = spoil(ZN_CORRUPT_SHOT, 1, 1, 2);
    for (int i = 0; i < VALUES; i++) assert_true(spoiled[i] == 0 || spoiled[i] == 1);
}

// A slope is its own mean, but for the repeated border.
ZN_TEST(blur_is_the_mean_of_nine)
{
    const float *spoiled = spoil(ZN_CORRUPT_BLUR, 0, 1, 2);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const int i = 3 * (y * SIDE + x);
            const int border = (x == 0) - (x == SIDE - 1) + (y == 0) - (y == SIDE - 1);
            assert_true(fabs(noise_at(spoiled, i) - border / 3.0 / 255) < 1e-6);
        }
    }
}

ZN_TEST(haar_noise_leaves_the_means)
{
    const float *spoiled = spoil(ZN_CORRUPT_HAAR, 0.3, 1, 2);
    // Orthonormal details: across, down, both.
    static const int signs[3][4] = {{1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}};
    double squares[3] = {0};
    for (int i = 0; i < VALUES / 4; i++) {
        const int x = i / 3 % (SIDE / 2), y = i / 3 / (SIDE / 2);
        const int first = 3 * (2 * y * SIDE + 2 * x) + i % 3;
        const double noise[4] = {noise_at(spoiled, first), noise_at(spoiled, first + 3),
                                 noise_at(spoiled, first + 3 * SIDE),
                                 noise_at(spoiled, first + 3 * SIDE + 3)};
        assert_true(fabs(noise[0] + noise[1] + noise[2] + noise[3]) < 1e-5);
        for (int k = 0; k < 3; k++) {
            double detail = 0;
            for (int j = 0; j < 4; j++) detail += signs[k][j] * noise[j] / 2;
            squares[k] += 4 * detail * detail / VALUES;
        }
    }
    for (int k = 0; k < 3; k++) assert_true(fabs(squares[k] - 0.09) < 0.008);
}

ZN_TEST(the_number_decides)
{
    static const int kinds[] = {ZN_CORRUPT_GAUSSIAN, ZN_CORRUPT_SHOT, ZN_CORRUPT_HAAR};
    static float first[VALUES];
    for (int i = 0; i < 3; i++) {
        memcpy(first, spoil(kinds[i], 0.3, 1, 7), sizeof first);
        (void)spoil(kinds[i], 0.3, 1, 8);
        assert_memory_equal(first, spoil(kinds[i], 0.3, 1, 7), sizeof first);
        assert_memory_not_equal(first, spoil(kinds[i], 0.3, 1, 8), sizeof first);
        assert_memory_not_equal(first, spoil(kinds[i], 0.3, 2, 7), sizeof first);
        assert_memory_not_equal(first, spoil(kinds[i], 0.3, 1, 7 + (1ull << 32)), sizeof first);
    }
}
