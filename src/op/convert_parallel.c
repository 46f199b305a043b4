// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/convert_parallel.h"
#include "src/kernel/kernels.h"

#include <string.h>

// Elements of a tile: its two sides fit the first-level cache, and waking a thread pays.
enum { TILE = 8192 };

zenith_status zn_conversion_make(const zn_kernels *kernels, zn_type from, float from_scale,
                                 zn_type to, float to_scale, zn_conversion *out, zn_error *err)
{
    zn_convert_fn *run = kernels->convert(from, to);
    if (!run)
        return zn_fail(err, ZENITH_UNSUPPORTED, "there is no conversion from %s to %s",
                       zn_type_name(from), zn_type_name(to));
    *out = (zn_conversion){run, from, to, from_scale, to_scale};
    return ZENITH_OK;
}

typedef struct job {
    const zn_conversion *conversion;
    const uint8_t *src;
    uint8_t *dst;
} job;

static void convert_tile(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const zn_conversion *c = j->conversion;
    c->run(j->src + begin * zn_type_size(c->from), c->from_scale,
           j->dst + begin * zn_type_size(c->to), c->to_scale, end - begin);
}

void zn_conversion_run(const zn_conversion *conversion, zn_team *team, const void *src, void *dst,
                       size_t count)
{
    job j = {conversion, src, dst};
    zn_parallel(team, count, TILE, convert_tile, &j);
}

static void copy_tile(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    memcpy(j->dst + begin, j->src + begin, end - begin);
}

void zn_copy_parallel(zn_team *team, const void *src, void *dst, size_t bytes)
{
    if (src == dst) return;
    job j = {NULL, src, dst};
    zn_parallel(team, bytes, (size_t)TILE * sizeof(float), copy_tile, &j);
}
