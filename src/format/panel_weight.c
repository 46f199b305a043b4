// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/panel_weight.h"

#include "src/format/convrot.h"

#include <math.h>
#include <string.h>

enum { LANES = 16, LEAST_FOUR = -8, MOST_FOUR = 7, MOST_EIGHT = 127 };
// Rows with no larger number are zeros: their scale would not be a normal number.
static const float least_largest = 1e-30f;
// Adding and subtracting it rounds a float below 2^22 to the nearest integer.
static const float rounder = 12582912.0f;

static inline float round_float(float value)
{
    return (value + rounder) - rounder;
}

static inline float bound(float value, float least, float most)
{
    value = value < least ? least : value;
    return value > most ? most : value;
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

static float largest_of(const float *row, int64_t count)
{
    float most[LANES] = {0}, largest = 0;
    for (int64_t k = 0; k < count; k += LANES)
        for (int i = 0; i < LANES; i++) {
            const float size = fabsf(row[k + i]);
            most[i] = size > most[i] ? size : most[i];
        }
    for (int i = 0; i < LANES; i++) largest = most[i] > largest ? most[i] : largest;
    return largest;
}

static void pack_eight(const zn_panel_kind *kind, int place, const float *row, int8_t *bytes,
                       const zn_panel_target *dst, float largest)
{
    const float scale = largest / MOST_EIGHT, inverse = MOST_EIGHT / largest;
    int32_t sum = 0;
    for (int64_t k = 0; k < kind->padded_inputs; k++) {
        const float number = round_float(bound(row[k] * inverse, -MOST_EIGHT, MOST_EIGHT));
        bytes[k] = (int8_t)number;
        sum += bytes[k];
    }
    dst->scales[place] = scale;
    dst->sums[place] = sum;
    place_eight(kind, place, bytes, dst);
}

// --- 4 bits

// The squared error of a group whose numbers are multiples of `step`.
static float group_error(const float *group, float step)
{
    const float inverse = 1 / step;
    float sums[LANES] = {0}, sum = 0;
    for (int k = 0; k < ZN_PANEL_GROUP; k += LANES)
        for (int i = 0; i < LANES; i++) {
            const float weight = group[k + i];
            const float number = round_float(bound(weight * inverse, LEAST_FOUR, MOST_FOUR));
            const float rest = weight - number * step;
            sums[i] += rest * rest;
        }
    for (int i = 0; i < LANES; i++) sum += sums[i];
    return sum;
}

// The step that holds all numbers of a group.
static float whole_step(const float *group)
{
    float least[LANES] = {0}, most[LANES] = {0}, down = 0, up = 0;
    for (int k = 0; k < ZN_PANEL_GROUP; k += LANES)
        for (int i = 0; i < LANES; i++) {
            const float weight = group[k + i];
            least[i] = weight < least[i] ? weight : least[i];
            most[i] = weight > most[i] ? weight : most[i];
        }
    for (int i = 0; i < LANES; i++) {
        down = least[i] < down ? least[i] : down;
        up = most[i] > up ? most[i] : up;
    }
    return fmaxf(down / LEAST_FOUR, up / MOST_FOUR);
}

// The best m of a group for this scale, and its error. Steps under the one that holds the largest cut it
// off, and round the others better.
static int choose_step(const float *group, float whole, float scale, float *error)
{
    static const float cut = 0.7f;
    const int least = (int)(whole * cut / scale), most = (int)(whole / scale) + 1;
    int best = 0;
    for (int m = least < 1 ? 1 : least; m <= most && m <= ZN_PANEL_STEPS; m++) {
        const float now = group_error(group, (float)m * scale);
        if (best && now >= *error) continue;
        best = m;
        *error = now;
    }
    if (best) return best;
    *error = group_error(group,
                         ZN_PANEL_STEPS * scale); // all of the above are larger than there are
    return ZN_PANEL_STEPS;
}

// Steps of all groups at a distance of `stride`; the row's error.
static double choose_steps(const zn_panel_kind *kind, const float *row, float scale, uint8_t *steps)
{
    double sum = 0;
    for (int64_t g = 0; g < kind->padded_inputs / ZN_PANEL_GROUP; g++) {
        const float *group = row + g * ZN_PANEL_GROUP;
        const float whole = whole_step(group);
        float error = 0;
        steps[g * ZN_PANEL_OUTPUTS] = whole > 0 ? (uint8_t)choose_step(group, whole, scale, &error)
                                                : 0;
        sum += (double)error;
    }
    return sum;
}

static float choose_scale(const zn_panel_kind *kind, const float *row, float largest,
                          uint8_t *steps)
{
    static const float shares[] = {1, 0.9f, 0.8f, 0.7f}; // of the scale that holds the largest
    double least = 0;
    float best = 0;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        const float scale = largest / (7.5f * ZN_PANEL_STEPS) * shares[i];
        const double error = choose_steps(kind, row, scale, steps);
        if (i > 0 && error >= least) continue;
        least = error;
        best = scale;
    }
    choose_steps(kind, row, best, steps);
    return best;
}

// Numbers of a row by its steps and scale. Returns the scale that would fit these numbers best.
static float round_four(const zn_panel_kind *kind, const float *row, float scale,
                        const uint8_t *steps, int8_t *bytes, int32_t *sum)
{
    double with_weights = 0, with_itself = 0;
    *sum = 0;
    for (int64_t g = 0; g < kind->padded_inputs / ZN_PANEL_GROUP; g++) {
        const int m = steps[g * ZN_PANEL_OUTPUTS];
        const float inverse = m ? 1 / ((float)m * scale) : 0;
        for (int64_t k = g * ZN_PANEL_GROUP; k < (g + 1) * ZN_PANEL_GROUP; k++) {
            bytes[k] = (int8_t)round_float(bound(row[k] * inverse, LEAST_FOUR, MOST_FOUR));
            const int q = bytes[k] * m;
            with_weights += (double)q * (double)row[k];
            with_itself += (double)q * (double)q;
            *sum += q;
        }
    }
    return with_itself > 0 ? (float)(with_weights / with_itself) : scale;
}

static void pack_four(const zn_panel_kind *kind, int place, const float *row, int8_t *bytes,
                      const zn_panel_target *dst, float largest)
{
    uint8_t *steps = dst->steps + place;
    float scale = choose_scale(kind, row, largest, steps);
    scale = round_four(kind, row, scale, steps, bytes, &dst->sums[place]);
    (void)round_four(kind, row, scale, steps, bytes, &dst->sums[place]);
    dst->scales[place] = scale;
    place_four(kind, place, bytes, dst);
}

// --- rows

static void add_error(const zn_panel_kind *kind, int place, const float *row, const int8_t *bytes,
                      const zn_panel_target *dst, zn_panel_error *error)
{
    double squared = 0, whole = 0;
    for (int64_t k = 0; k < kind->padded_inputs; k++) {
        const int64_t group = k / ZN_PANEL_GROUP * ZN_PANEL_OUTPUTS;
        const int q = kind->bits == 4 ? bytes[k] * dst->steps[group + place] : bytes[k];
        const double rest = (double)row[k] - (double)((float)q * dst->scales[place]);
        squared += rest * rest;
        whole += (double)row[k] * (double)row[k];
    }
    error->squared += squared;
    error->whole += whole;
}

// What is infinite or no number less itself is no number, and so is a sum with it.
static bool all_finite(const float *row, int64_t count)
{
    float sums[LANES] = {0}, sum = 0;
    for (int64_t k = 0; k < count; k += LANES)
        for (int i = 0; i < LANES; i++) sums[i] += row[k + i] - row[k + i];
    for (int i = 0; i < LANES; i++) sum += sums[i];
    return sum == 0;
}

bool zn_panel_pack(const zn_panel_kind *kind, int place, float *row, int8_t *bytes,
                   const zn_panel_target *dst, zn_panel_error *error)
{
    const size_t beyond = (size_t)(kind->padded_inputs - kind->inputs);
    memset(row + kind->inputs, 0, beyond * sizeof *row);
    if (!all_finite(row, kind->padded_inputs)) return false;
    if (kind->rotated_by) zn_convrot_quick(row, (size_t)kind->inputs, kind->rotated_by);
    if (!all_finite(row, kind->padded_inputs)) return false;
    const float largest = largest_of(row, kind->padded_inputs);
    if (largest < least_largest) return true;
    if (kind->bits == 8)
        pack_eight(kind, place, row, bytes, dst, largest);
    else
        pack_four(kind, place, row, bytes, dst, largest);
    add_error(kind, place, row, bytes, dst, error);
    return true;
}
