// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of 4 by 8 sums stay in registers over all pixels of the call.
#include "src/kernel/outer_sum.h"

#include "src/kernel/four.h"

enum { OUT = 4, IN = 8 };

static void block(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t pixels,
                  float *sums, int64_t row)
{
    four total[OUT][2] = {{{0}}};
    for (int64_t p = 0; p < pixels; p++, a += a_step, b += b_step) {
        const four low = four_load(b), high = four_load(b + 4);
        for (int o = 0; o < OUT; o++) {
            const four factor = {a[o], a[o], a[o], a[o]};
            total[o][0] += factor * low;
            total[o][1] += factor * high;
        }
    }
    for (int o = 0; o < OUT; o++, sums += row) {
        four_store(sums, four_load(sums) + total[o][0]);
        four_store(sums + 4, four_load(sums + 4) + total[o][1]);
    }
}

static void single(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t pixels,
                   float *sum)
{
    float total = 0;
    for (int64_t p = 0; p < pixels; p++) total += a[p * a_step] * b[p * b_step];
    *sum += total;
}

void zn_outer_sum_f32(const float *a, int64_t a_step, int64_t out, const float *b, int64_t b_step,
                      int64_t in, int64_t pixels, float *sums)
{
    const int64_t whole_out = out / OUT * OUT, whole_in = in / IN * IN;
    for (int64_t o = 0; o < whole_out; o += OUT) {
        for (int64_t i = 0; i < whole_in; i += IN)
            block(a + o, a_step, b + i, b_step, pixels, sums + o * in + i, in);
    }
    for (int64_t o = 0; o < out; o++) {
        for (int64_t i = o < whole_out ? whole_in : 0; i < in; i++)
            single(a + o, a_step, b + i, b_step, pixels, sums + o * in + i);
    }
}
