// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar version, which is the specification (row_moments.h states it), and the choice of a
// version.
#include "src/kernel/row_moments.h"

#include "src/kernel/element.h"

#include <string.h>

enum { BLOCK = 8 }; // channels at a time: enough to use what a cache line brings

static int64_t block_size(int64_t channels, int64_t first)
{
    return channels - first < BLOCK ? channels - first : BLOCK;
}

#define CHANNEL_SUMS(type)                                                                         \
    static void channel_sums_##type(float scale, const void *row, int64_t width, int64_t channels, \
                                    int64_t first, double *sum, double *square)                    \
    {                                                                                              \
        const int64_t count = block_size(channels, first);                                         \
        memset(sum, 0, BLOCK * sizeof *sum);                                                       \
        memset(square, 0, BLOCK * sizeof *square);                                                 \
        for (int64_t x = 0; x < width; x++) {                                                      \
            for (int64_t i = 0; i < count; i++) {                                                  \
                double value = load_##type(row, (size_t)(x * channels + first + i)) * scale;       \
                sum[i] += value;                                                                   \
                square[i] += value * value;                                                        \
            }                                                                                      \
        }                                                                                          \
    }

#include "src/kernel/row_moments_groups.h"

void zn_row_moments_scalar(zn_type type, float scale, const void *row, int64_t width,
                           int64_t channels, int groups, double *out)
{
    memset(out, 0, (size_t)groups * 2 * sizeof *out);
    for (int64_t first = 0; first < channels; first += BLOCK) {
        double sum[BLOCK], square[BLOCK];
        channel_sums[type](scale, row, width, channels, first, sum, square);
        add_to_groups(first, block_size(channels, first), channels / groups, sum, square, out);
    }
}

static const struct {
    zn_isa isa;
    zn_row_moments_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, zn_row_moments_scalar},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_row_moments_avx2},
    {ZN_ISA_AVX512, zn_row_moments_avx512},
#endif
};

zn_row_moments_fn *zn_row_moments_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
