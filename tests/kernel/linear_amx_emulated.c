// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// linear for AMX on emulated tiles, for test_linear.c.
#include "tests/kernel/amx_emulated.h"

#define zn_linear_bf16_amx zn_linear_bf16_amx_emulated
#define zn_linear_s8_amx   zn_linear_s8_amx_emulated
#include "src/kernel/x86/linear_amx.c"
