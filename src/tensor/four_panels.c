// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/four_panels.h"

#include "src/base/memory.h"

#include <math.h>

enum { MOST = 127 };
static const float factor_ones = 32768, offset_ones = 256; // of 1 * scale

// --- where ---

typedef struct layout {
    zn_panels_size size;
    size_t group_bytes; // of factors, and of offsets
    size_t factors, offsets, scales, sums, end;
} layout;

static bool measure(const zn_fours *fours, int64_t outputs, int64_t inputs, layout *out)
{
    layout l = {.end = 0};
    if (!zn_panels_measure(outputs, inputs, 4, &l.size)) return false;
    l.group_bytes = l.size.numbers_bytes * 2 / (size_t)fours->group * sizeof(int16_t);
    l.factors = l.size.numbers_bytes;
    l.offsets = l.factors + l.group_bytes;
    l.scales = l.offsets + (fours->offsets ? l.group_bytes : 0);
    l.sums = l.scales + l.size.scales_bytes;
    l.end = l.sums + l.size.scales_bytes;
    *out = l;
    return true;
}

bool zn_four_panels_measure(const zn_fours *fours, int64_t outputs, int64_t inputs, size_t *bytes)
{
    layout l;
    if (!measure(fours, outputs, inputs, &l)) return false;
    *bytes = l.end;
    return true;
}

void zn_four_panels_place(const zn_fours *fours, int64_t outputs, int64_t inputs, const void *block,
                          zn_panels *panels)
{
    layout l = {.end = 0};
    const char *at = block;
    (void)measure(fours, outputs, inputs, &l);
    *panels = (zn_panels){.outputs = outputs,
                          .inputs = inputs,
                          .bits = 4,
                          .numbers = at,
                          .factors = (const int16_t *)(const void *)(at + l.factors),
                          .levels = fours->levels,
                          .group = fours->group,
                          .scales = (const float *)(const void *)(at + l.scales),
                          .sums = (const int32_t *)(const void *)(at + l.sums)};
    if (fours->offsets) panels->offsets = (const int16_t *)(const void *)(at + l.offsets);
}

// --- rows ---

static zn_four_row row_in(const zn_fours *fours, int64_t inputs, void *scratch)
{
    zn_four_row row = {.factors = scratch};
    row.offsets = row.factors + inputs / fours->group;
    row.numbers = (uint8_t *)(row.offsets + inputs / fours->group);
    return row;
}

size_t zn_four_panels_scratch(const zn_fours *fours, int64_t inputs)
{
    return (size_t)inputs + 2 * sizeof(float) * (size_t)(inputs / fours->group);
}

// NaN where a number is not finite; 0 where all are too small for a scale.
static float scale_of(const zn_fours *fours, const zn_four_row *row, int64_t groups)
{
    float least = 0, most = 0, largest = 0, steepest = 0;
    for (int i = 0; i < 16; i++) {
        if (fours->levels[i] < least) least = fours->levels[i];
        if (fours->levels[i] > most) most = fours->levels[i];
    }
    for (int64_t g = 0; g < groups; g++) {
        const float factor = row->factors[g], offset = fours->offsets ? row->offsets[g] : 0;
        if (!isfinite(factor) || !isfinite(offset)) return NAN;
        largest = fmaxf(largest, fabsf(factor * least + offset));
        largest = fmaxf(largest, fabsf(factor * most + offset));
        steepest = fmaxf(steepest, fabsf(factor));
    }
    // Levels have both signs, so that offsets are between weights; factors must fit 16 bits too.
    const float scale = fmaxf(largest / MOST, steepest * 1.0001f);
    if (!isfinite(scale)) return NAN;
    return isnormal(scale) ? scale : 0;
}

static int factor_of(const zn_four_row *row, int64_t group, float scale)
{
    return (int)rintf(row->factors[group] / scale * factor_ones);
}

static int offset_of(const zn_fours *fours, const zn_four_row *row, int64_t group, float scale)
{
    return ZN_FOUR_HALF +
           (fours->offsets ? (int)rintf(row->offsets[group] / scale * offset_ones) : 0);
}

// The sum of a group's bytes.
static int32_t sum_of(const zn_fours *fours, const uint8_t *numbers, int factor, int offset)
{
    int bytes[16];
    int32_t sum = 0;
    for (int i = 0; i < 16; i++) bytes[i] = zn_four_byte(fours->levels[i], factor, offset);
    for (int64_t k = 0; k < fours->group; k++) sum += bytes[numbers[k]];
    return sum;
}

// Factors and offsets; returns the sum of the row's bytes.
static int32_t put_groups(const zn_fours *fours, const zn_four_row *row, float scale,
                          int64_t groups, int16_t *factors, int16_t *offsets)
{
    int32_t sum = 0;
    for (int64_t g = 0; g < groups; g++) {
        const int factor = factor_of(row, g, scale), offset = offset_of(fours, row, g, scale);
        factors[g * ZN_PANEL_OUTPUTS] = (int16_t)factor;
        if (fours->offsets) offsets[g * ZN_PANEL_OUTPUTS] = (int16_t)offset;
        sum += sum_of(fours, row->numbers + g * fours->group, factor, offset);
    }
    return sum;
}

static void put_numbers(const uint8_t *numbers, int64_t inputs, uint8_t *dst)
{
    for (int64_t k = 0; k < inputs; k += 8, dst += ZN_PANEL_OUTPUTS * ZN_PANEL_QUAD)
        for (int i = 0; i < ZN_PANEL_QUAD; i++)
            dst[i] = (uint8_t)(numbers[k + i] | numbers[k + ZN_PANEL_QUAD + i] << 4);
}

void zn_four_panels_pack(const zn_row_source *rows, const zn_panels *panels, int64_t output,
                         void *scratch)
{
    const zn_fours *fours = &rows->fours;
    const int64_t inputs = panels->inputs, groups = inputs / fours->group;
    const int64_t padded = (inputs + ZN_PANEL_FILL - 1) / ZN_PANEL_FILL * ZN_PANEL_FILL;
    const int64_t panel = output / ZN_PANEL_OUTPUTS, o = output % ZN_PANEL_OUTPUTS;
    const zn_four_row row = row_in(fours, inputs, scratch);
    fours->read(rows, output, &row);
    const float scale = scale_of(fours, &row, groups);
    ((float *)(uintptr_t)panels->scales)[output] = scale;
    if (!(scale > 0)) return;
    uint8_t *numbers = (uint8_t *)(uintptr_t)panels->numbers;
    const int64_t group_at = panel * (padded / fours->group) * ZN_PANEL_OUTPUTS + o;
    ((int32_t *)(uintptr_t)panels->sums)[output] = put_groups(
        fours, &row, scale, groups, (int16_t *)(uintptr_t)panels->factors + group_at,
        (int16_t *)(uintptr_t)panels->offsets + (panels->offsets ? group_at : 0));
    put_numbers(row.numbers, inputs,
                numbers + panel * padded * ZN_PANEL_OUTPUTS / 2 + o * ZN_PANEL_QUAD);
}

void zn_four_panels_row(const zn_row_source *rows, int64_t row, int64_t inputs, void *scratch,
                        int8_t *bytes, float *scale)
{
    const zn_fours *fours = &rows->fours;
    const zn_four_row is = row_in(fours, inputs, scratch);
    fours->read(rows, row, &is);
    *scale = scale_of(fours, &is, inputs / fours->group);
    for (int64_t k = 0; k < inputs; k++) {
        const int64_t g = k / fours->group;
        bytes[k] = 0;
        if (*scale > 0)
            bytes[k] = (int8_t)zn_four_byte(fours->levels[is.numbers[k]], factor_of(&is, g, *scale),
                                            offset_of(fours, &is, g, *scale));
    }
}
