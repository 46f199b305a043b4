// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar version, which is the specification (row_moments.h states it), and the one in vectors:
// LANES channels at a time down the row, in four double accumulators. Where channels is no multiple
// of LANES the last vector starts earlier and computes some channels again, which are then not
// counted; rows with fewer channels than LANES are left to the scalar version.
#include "src/kernel/norm/row_moments.h"

#include "src/kernel/element.h"
#include "src/kernel/vector.h"

#include <string.h>

#ifdef ZN_BASELINE // the specification

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

#else // in vectors

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

#endif

// Sums over the pixels, of the channels from `first` on, as many as the version takes at a time.
typedef void channel_sums_fn(float scale, const void *row, int64_t width, int64_t channels,
                             int64_t first, double *sum, double *square);

CHANNEL_SUMS(f32)
CHANNEL_SUMS(bf16)
CHANNEL_SUMS(f16)
CHANNEL_SUMS(u8)
CHANNEL_SUMS(s8)

static channel_sums_fn *const channel_sums[ZN_TYPE_COUNT] = {
    [ZN_F32] = channel_sums_f32, [ZN_BF16] = channel_sums_bf16, [ZN_F16] = channel_sums_f16,
    [ZN_U8] = channel_sums_u8,   [ZN_S8] = channel_sums_s8,
};

// Adds the sums of the channels from `first` on to their groups, of `size` channels each.
static inline void add_to_groups(int64_t first, int64_t count, int64_t size, const double *sum,
                                 const double *square, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        double *group = out + (first + i) / size * 2;
        group[0] += sum[i];
        group[1] += square[i];
    }
}

#ifdef ZN_BASELINE

void zn_row_moments_reference(zn_type type, float scale, const void *row, int64_t width,
                              int64_t channels, int groups, double *out)
{
    memset(out, 0, (size_t)groups * 2 * sizeof *out);
    for (int64_t first = 0; first < channels; first += BLOCK) {
        double sum[BLOCK], square[BLOCK];
        channel_sums[type](scale, row, width, channels, first, sum, square);
        add_to_groups(first, block_size(channels, first), channels / groups, sum, square, out);
    }
}

#else

void VERSION(zn_row_moments)(zn_type type, float scale, const void *row, int64_t width,
                             int64_t channels, int groups, double *out)
{
    if (channels < LANES) {
        zn_row_moments_reference(type, scale, row, width, channels, groups, out);
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

#endif
