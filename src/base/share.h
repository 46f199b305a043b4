// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A share of a network that several compute together, each with a part of the heads and of the
// gated product of every layer. Who the others are (processes, or threads of a test), the share's
// maker knows.
#ifndef ZN_BASE_SHARE_H
#define ZN_BASE_SHARE_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_share {
    int index, count; // this one of how many
    // values[i] = the sum of everyone's values[i], the same bits for all. All make the same calls
    // in the same order. ZENITH_CANCELLED: all stop here.
    zenith_status (*sum)(void *cookie, float *values, size_t count, zn_error *err);
    void *cookie;
} zn_share;

typedef struct zn_share_range {
    int64_t begin, end;
} zn_share_range;

// Which of so many a share has: as many as the others, or one more or less. share NULL: all.
static inline zn_share_range zn_share_of(const zn_share *share, int64_t all)
{
    if (!share) return (zn_share_range){0, all};
    return (zn_share_range){all * share->index / share->count,
                            all * (share->index + 1) / share->count};
}

#endif
