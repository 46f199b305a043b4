// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector version of row_moments.c, written in the names of x86/vector_*.h, which the including
// file has included: LANES channels at a time down the row, in four double accumulators. Where
// channels is no multiple of LANES the last vector starts earlier and computes some channels
// again, which are then not counted; rows with fewer channels than LANES are left to the scalar
// version.
#include "src/kernel/element.h"

#include <string.h>

#define CHANNEL_SUMS(type)                                                                         \
    static void channel_sums_##type(float scale, const void *row, int64_t width, int64_t channels, \
                                    int64_t first, double *sum, double *square)                    \
    {                                                                                              \
        const element_##type *src = (const element_##type *)row + first;                           \
        const vec scales = vec_set1(scale);                                                        \
        vec_f64 sum0 = vec_f64_zero(), sum1 = sum0, square0 = sum0, square1 = sum0;                \
        for (int64_t x = 0; x < width; x++, src += channels) {                                     \
            const vec value = vec_mul(vec_load_##type(src), scales);                               \
            const vec_f64 low = vec_low_f64(value), high = vec_high_f64(value);                    \
            sum0 = vec_f64_add(sum0, low);                                                         \
            sum1 = vec_f64_add(sum1, high);                                                        \
            square0 = vec_f64_fmadd(low, low, square0);                                            \
            square1 = vec_f64_fmadd(high, high, square1);                                          \
        }                                                                                          \
        vec_f64_store(sum, sum0);                                                                  \
        vec_f64_store(sum + LANES / 2, sum1);                                                      \
        vec_f64_store(square, square0);                                                            \
        vec_f64_store(square + LANES / 2, square1);                                                \
    }

#include "src/kernel/row_moments_groups.h"

static void row_moments(zn_type type, float scale, const void *row, int64_t width, int64_t channels,
                        int groups, double *out)
{
    if (channels < LANES) {
        zn_row_moments_scalar(type, scale, row, width, channels, groups, out);
        return;
    }
    memset(out, 0, (size_t)groups * 2 * sizeof *out);
    for (int64_t done = 0; done < channels; done += LANES) {
        const int64_t first = done + LANES <= channels ? done : channels - LANES;
        const int64_t again = done - first; // channels counted before
        double sum[LANES], square[LANES];
        channel_sums[type](scale, row, width, channels, first, sum, square);
        add_to_groups(done, LANES - again, channels / groups, sum + again, square + again, out);
    }
}
