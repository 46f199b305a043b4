// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The pairs of types that zn_convert_pick serves, once for every version: the including file
// defines CONVERT(from, to), which makes one static function from_to_to, and gets a table of them.
// Include it after the definition, once per file.
#include "src/kernel/convert.h"

#define CONVERT_FROM(from)                                                                         \
    CONVERT(from, f32)                                                                             \
    CONVERT(from, bf16)                                                                            \
    CONVERT(from, f16)                                                                             \
    CONVERT(from, u8)                                                                              \
    CONVERT(from, s8)

CONVERT_FROM(f32)
CONVERT_FROM(bf16)
CONVERT_FROM(f16)
CONVERT_FROM(u8)
CONVERT_FROM(s8)
CONVERT(f32, bf16x2)
CONVERT(bf16x2, f32)

#define CONVERT_ROW(from)                                                                          \
    {                                                                                              \
        [ZN_F32] = from##_to_f32, [ZN_BF16] = from##_to_bf16, [ZN_F16] = from##_to_f16,            \
        [ZN_U8] = from##_to_u8, [ZN_S8] = from##_to_s8                                             \
    }
#define CONVERT_ROW_F32                                                                            \
    {                                                                                              \
        [ZN_F32] = f32_to_f32, [ZN_BF16] = f32_to_bf16, [ZN_F16] = f32_to_f16,                     \
        [ZN_U8] = f32_to_u8, [ZN_S8] = f32_to_s8, [ZN_BF16X2] = f32_to_bf16x2                      \
    }

static zn_convert_fn *const convert_pairs[ZN_TYPE_COUNT][ZN_TYPE_COUNT] = {
    [ZN_F32] = CONVERT_ROW_F32,    [ZN_BF16X2] = {[ZN_F32] = bf16x2_to_f32},
    [ZN_BF16] = CONVERT_ROW(bf16), [ZN_F16] = CONVERT_ROW(f16),
    [ZN_U8] = CONVERT_ROW(u8),     [ZN_S8] = CONVERT_ROW(s8),
};
