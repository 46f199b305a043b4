// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversion and copying of long arrays by a team, and of vectors.
#ifndef ZN_OP_CONVERT_PARALLEL_H
#define ZN_OP_CONVERT_PARALLEL_H

#include "src/graph/op.h"
#include "src/graph/packs.h"
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
// Of input `input` to f32; of f32 to the result; of the input to the result.
zenith_status zn_conversion_widen(const zn_lowering_request *request, int input, zn_conversion *out,
                                  zn_error *err);
zenith_status zn_conversion_narrow(const zn_lowering_request *request, zn_conversion *out,
                                   zn_error *err);
zenith_status zn_conversion_pass(const zn_lowering_request *request, int input, zn_conversion *out,
                                 zn_error *err);
void zn_conversion_run(const zn_conversion *conversion, zn_team *team, const void *src, void *dst,
                       size_t count);

// A parameter that is a vector, as aligned f32; packed once.
zenith_status zn_pack_vector(zn_packs *packs, const zn_tensor *bias, const void **out,
                             zn_error *err);

// memcpy; nothing where src is dst.
void zn_copy_parallel(zn_team *team, const void *src, void *dst, size_t bytes);

#endif
