// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// H has -1 where row and column, as numbers of two bits, have all bits different. So the sign of R
// at row k and column j depends on k ^ j alone: it is negative where an odd number of its pairs of
// bits are 3.
#include "src/format/tensor/convrot.h"

#include <string.h>

bool zn_convrot_group(size_t group)
{
    for (size_t power = 4; power <= ZN_CONVROT_MOST; power *= 4)
        if (power == group) return true;
    return false;
}

static bool negative(size_t place)
{
    bool odd = false;
    for (; place > 0; place >>= 2) odd ^= (place & 3) == 3;
    return odd;
}

// R's numbers by k ^ j, four times: table t has those of the places whose two lowest bits are
// changed by t, so that the numbers for k and four neighbours j are neighbours in table k & 3. The
// root of a power of four is a power of two, so products with it are exact.
typedef float sign_table[4][ZN_CONVROT_MOST];

static void fill_signs(size_t group, sign_table signs)
{
    float root = 1;
    while ((size_t)(root * root) < group) root *= 2;
    for (size_t t = 0; t < 4; t++)
        for (size_t i = 0; i < group; i++) signs[t][i] = negative(i ^ t) ? -1 / root : 1 / root;
}

// Adds number k of a run, times its row of R.
static void add_row(float number, const float *signs, size_t high, size_t group, float *sums)
{
    for (size_t j = 0; j < group; j += 4) {
        const float *four = signs + (high ^ j);
        for (size_t i = 0; i < 4; i++) sums[j + i] += number * four[i];
    }
}

void zn_convrot_row(float *row, size_t columns, size_t group)
{
    sign_table signs;
    float sums[ZN_CONVROT_MOST];
    fill_signs(group, signs);
    for (size_t at = 0; at < columns; at += group) {
        float *run = row + at;
        memset(sums, 0, group * sizeof *sums);
        for (size_t k = 0; k < group; k++)
            add_row(run[k], signs[k & 3], k & ~(size_t)3, group, sums);
        memcpy(run, sums, group * sizeof *sums);
    }
}

// H / 2 of four numbers that are `apart`: half their sum, less each in turn from the last.
static void turn_four(float *run, size_t group, size_t apart)
{
    for (size_t at = 0; at < group; at += 4 * apart)
        for (size_t i = at; i < at + apart; i++) {
            const float a = run[i], b = run[i + apart];
            const float c = run[i + 2 * apart], d = run[i + 3 * apart];
            const float half = ((a + b) + (c + d)) * 0.5f;
            run[i] = half - d;
            run[i + apart] = half - c;
            run[i + 2 * apart] = half - b;
            run[i + 3 * apart] = half - a;
        }
}

void zn_convrot_quick(float *row, size_t columns, size_t group)
{
    for (size_t at = 0; at < columns; at += group)
        for (size_t apart = 1; apart < group; apart *= 4) turn_four(row + at, group, apart);
}
