// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the versions of row_moments share: the types, and the last step of the tree. The including
// file defines CHANNEL_SUMS(type), which makes one static function channel_sums_type of the type
// below, and gets a table of them.
#include "src/kernel/row_moments.h"

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
