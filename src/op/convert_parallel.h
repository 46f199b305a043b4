// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversion and copying of long arrays by a team.
#ifndef ZN_OP_CONVERT_PARALLEL_H
#define ZN_OP_CONVERT_PARALLEL_H

#include "src/base/parallel.h"
#include "src/kernel/kernels.h"

// One conversion, chosen when a lowering is made.
typedef struct zn_conversion {
    zn_convert_fn *run;
    zn_type from, to;
    float from_scale, to_scale;
} zn_conversion;

// ZENITH_UNSUPPORTED where there is no kernel for the pair.
zenith_status zn_conversion_make(const zn_kernels *kernels, zn_type from, float from_scale,
                                 zn_type to, float to_scale, zn_conversion *out, zn_error *err);
void zn_conversion_run(const zn_conversion *conversion, zn_team *team, const void *src, void *dst,
                       size_t count);

// memcpy; nothing where src is dst.
void zn_copy_parallel(zn_team *team, const void *src, void *dst, size_t bytes);

#endif
