// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/tensor/panel_weight.h"

#include "src/format/tensor/convrot.h"

#include <math.h>
#include <string.h>

enum { LANES = 16, LEAST_FOUR = -8, MOST_FOUR = 7, MOST_EIGHT = 127 };
static const float half_way = 7.5f; // between the ends' sizes: where a row's largest is
// Rows with no larger number are zeros: their scale would not be a normal number.
static const float least_largest = 1e-30f;
static const float most_largest = 1e18f; // sums of squares of 64 are finite
// Adding and subtracting it rounds a float below 2^22 to the nearest integer.
static const float rounder = 12582912.0f;

// Loops here are such that compilers make vectors of them: no branches, and sums of sixteen at a
// time.
static inline float round_float(float value)
{
    return (value + rounder) - rounder;
}

// An integer within what 4 bits hold: half of |n + 8| - |n - 7| is between both ends.
static inline float bound_four(float number)
{
    return (fabsf(number - LEAST_FOUR) - fabsf(number - MOST_FOUR) + (LEAST_FOUR + MOST_FOUR)) *
           0.5f;
}

static inline float sum_group(const float *group)
{
    float sums[LANES], sum = 0;
    for (int i = 0; i < LANES; i++)
        sums[i] = (group[i] + group[LANES + i]) + (group[2 * LANES + i] + group[3 * LANES + i]);
    for (int i = 0; i < LANES / 4; i++)
        sum += (sums[i] + sums[4 + i]) + (sums[8 + i] + sums[12 + i]);
    return sum;
}

// Sizes of floats are in the order of their bits.
static float largest_of(const float *row, int64_t count)
{
    int32_t most = 0;
    float largest;
    for (int64_t k = 0; k < count; k++) {
        int32_t bits;
        memcpy(&bits, &row[k], sizeof bits);
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
    }
    memcpy(&largest, &most, sizeof largest);
    return largest;
}

// --- where bytes go

static uint8_t *quad_of(const zn_panel_target *dst, int64_t quad, int place)
{
    return dst->numbers + (quad * ZN_PANEL_OUTPUTS + place) * ZN_PANEL_QUAD;
}

static void place_eight(const zn_panel_kind *kind, int place, const int8_t *bytes,
                        const zn_panel_target *dst)
{
    for (int64_t k = 0; k < kind->padded_inputs; k += ZN_PANEL_QUAD)
        memcpy(quad_of(dst, k / ZN_PANEL_QUAD, place), bytes + k, ZN_PANEL_QUAD);
}

// bytes: u - 8.
static void place_four(const zn_panel_kind *kind, int place, const int8_t *bytes,
                       const zn_panel_target *dst)
{
    for (int64_t k = 0; k < kind->padded_inputs; k += 2 * ZN_PANEL_QUAD) {
        uint8_t *pairs = quad_of(dst, k / (2 * ZN_PANEL_QUAD), place);
        for (int i = 0; i < ZN_PANEL_QUAD; i++)
            pairs[i] = (uint8_t)((bytes[k + i] + 8) | (bytes[k + ZN_PANEL_QUAD + i] + 8) << 4);
    }
}

void zn_panel_clear(const zn_panel_kind *kind, const zn_panel_target *dst)
{
    const size_t weights = (size_t)kind->padded_inputs * ZN_PANEL_OUTPUTS;
    const bool four = kind->bits == 4;
    memset(dst->numbers, four ? 0x88 : 0, four ? weights / 2 : weights);
    if (four) memset(dst->steps, 0, weights / ZN_PANEL_GROUP);
    memset(dst->scales, 0, ZN_PANEL_OUTPUTS * sizeof *dst->scales);
    memset(dst->sums, 0, ZN_PANEL_OUTPUTS * sizeof *dst->sums);
}

// --- 8 bits

static void pack_eight(const zn_panel_kind *kind, int place, const float *row, int8_t *bytes,
                       const zn_panel_target *dst, float largest)
{
    const float scale = largest / MOST_EIGHT, inverse = MOST_EIGHT / largest;
    int32_t sum = 0;
    for (int64_t k = 0; k < kind->padded_inputs; k++)
        bytes[k] = (int8_t)round_float(row[k] * inverse);
    for (int64_t k = 0; k < kind->padded_inputs; k++) sum += bytes[k];
    dst->scales[place] = scale;
    dst->sums[place] = sum;
    place_eight(kind, place, bytes, dst);
}

// --- 4 bits

// The squared error of a group whose numbers are multiples of `step`.
static float group_error(const float *group, float step)
{
    const float inverse = 1 / step;
    float squares[ZN_PANEL_GROUP];
    for (int k = 0; k < ZN_PANEL_GROUP; k++) {
        const float rest = group[k] - bound_four(round_float(group[k] * inverse)) * step;
        squares[k] = rest * rest;
    }
    return sum_group(squares);
}

// The best m of a group for this scale, and its error: from the usual one on to where the error
// grows. Steps under the one that holds the largest cut it off, and round the others better.
static int choose_step(const float *group, float largest, float scale, float *error)
{
    static const float usual = 0.9f; // of the step that holds the largest
    const float begin = usual * largest / (half_way * scale) + 0.5f;
    int best = begin < 1 ? 1 : begin > ZN_PANEL_STEPS ? ZN_PANEL_STEPS : (int)begin;
    bool moved = false;
    *error = group_error(group, (float)best * scale);
    for (int way = -1; way <= 1 && !moved; way += 2)
        for (int m = best + way; m >= 1 && m <= ZN_PANEL_STEPS; m += way) {
            const float now = group_error(group, (float)m * scale);
            if (now >= *error) break;
            best = m;
            *error = now;
            moved = true;
        }
    return best;
}

// Steps of all groups, one directly after the other; the row's error.
static double choose_steps(const zn_panel_kind *kind, const float *row, float scale, int8_t *steps)
{
    double sum = 0;
    for (int64_t g = 0; g < kind->padded_inputs / ZN_PANEL_GROUP; g++) {
        const float *group = row + g * ZN_PANEL_GROUP;
        const float largest = largest_of(group, ZN_PANEL_GROUP);
        float error = 0;
        int m = 0;
        if (largest > 0) m = choose_step(group, largest, scale, &error);
        steps[g] = (int8_t)m;
        sum += (double)error;
    }
    return sum;
}

// The row's scale, and its steps where the panel has them. `tried` is room for a row's steps.
static float choose_scale(const zn_panel_kind *kind, const float *row, float largest, int8_t *tried,
                          uint8_t *steps)
{
    static const float shares[] = {1, 0.88f, 0.76f}; // of the scale that holds the largest
    double least = 0;
    float best = 0;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        const float scale = largest / (half_way * ZN_PANEL_STEPS) * shares[i];
        const double error = choose_steps(kind, row, scale, tried);
        if (i > 0 && error >= least) continue;
        least = error;
        best = scale;
        for (int64_t g = 0; g < kind->padded_inputs / ZN_PANEL_GROUP; g++)
            steps[g * ZN_PANEL_OUTPUTS] = (uint8_t)tried[g];
    }
    return best;
}

// Numbers u - 8 of one group, and what the best scale needs: the sums of q * weight and of q * q.
static void round_group(const float *group, int m, float scale, int8_t *bytes, double sums[2],
                        int32_t *sum)
{
    const float inverse = m ? 1 / ((float)m * scale) : 0;
    float numbers[ZN_PANEL_GROUP], products[ZN_PANEL_GROUP], squares[ZN_PANEL_GROUP];
    for (int k = 0; k < ZN_PANEL_GROUP; k++) {
        numbers[k] = bound_four(round_float(group[k] * inverse));
        products[k] = numbers[k] * group[k];
        squares[k] = numbers[k] * numbers[k];
    }
    for (int k = 0; k < ZN_PANEL_GROUP; k++) bytes[k] = (int8_t)numbers[k];
    sums[0] += m * (double)sum_group(products);
    sums[1] += m * m * (double)sum_group(squares);
    *sum += m * (int32_t)sum_group(numbers); // exact: they are small integers
}

// Numbers of a row by its steps and scale. Returns the scale that would fit these numbers best.
static float round_four(const zn_panel_kind *kind, const float *row, float scale,
                        const uint8_t *steps, int8_t *bytes, int32_t *sum)
{
    double sums[2] = {0};
    *sum = 0;
    for (int64_t g = 0; g < kind->padded_inputs / ZN_PANEL_GROUP; g++)
        round_group(row + g * ZN_PANEL_GROUP, steps[g * ZN_PANEL_OUTPUTS], scale,
                    bytes + g * ZN_PANEL_GROUP, sums, sum);
    return sums[1] > 0 ? (float)(sums[0] / sums[1]) : scale;
}

static void pack_four(const zn_panel_kind *kind, int place, const float *row, int8_t *bytes,
                      const zn_panel_target *dst, float largest)
{
    uint8_t *steps = dst->steps + place;
    float scale = choose_scale(kind, row, largest, bytes, steps);
    scale = round_four(kind, row, scale, steps, bytes, &dst->sums[place]);
    (void)round_four(kind, row, scale, steps, bytes, &dst->sums[place]);
    dst->scales[place] = scale;
    place_four(kind, place, bytes, dst);
}

// --- rows

static void add_error(const zn_panel_kind *kind, int place, const float *row, const int8_t *bytes,
                      const zn_panel_target *dst, zn_panel_error *error)
{
    const float scale = dst->scales[place];
    for (int64_t g = 0; g < kind->padded_inputs / ZN_PANEL_GROUP; g++) {
        const int m = kind->bits == 4 ? dst->steps[g * ZN_PANEL_OUTPUTS + place] : 1;
        const float *group = row + g * ZN_PANEL_GROUP;
        float rests[ZN_PANEL_GROUP], squares[ZN_PANEL_GROUP];
        for (int k = 0; k < ZN_PANEL_GROUP; k++) {
            const float rest = group[k] - (float)(bytes[g * ZN_PANEL_GROUP + k] * m) * scale;
            rests[k] = rest * rest;
            squares[k] = group[k] * group[k];
        }
        error->squared += (double)sum_group(rests);
        error->whole += (double)sum_group(squares);
    }
}

bool zn_panel_pack(const zn_panel_kind *kind, int place, float *row, int8_t *bytes,
                   const zn_panel_target *dst, zn_panel_error *error)
{
    const size_t beyond = (size_t)(kind->padded_inputs - kind->inputs);
    memset(row + kind->inputs, 0, beyond * sizeof *row);
    if (kind->rotated_by) zn_convrot_quick(row, (size_t)kind->inputs, kind->rotated_by);
    const float largest = largest_of(row, kind->padded_inputs);
    if (!(largest <= most_largest)) return false; // NaN is larger than all, by its bits
    if (largest < least_largest) return true;
    if (kind->bits == 8)
        pack_eight(kind, place, row, bytes, dst, largest);
    else
        pack_four(kind, place, row, bytes, dst, largest);
    add_error(kind, place, row, bytes, dst, error);
    return true;
}
