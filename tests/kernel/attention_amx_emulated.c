// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// attention for AMX on emulated tiles, for test_attention.c.
#include "tests/kernel/amx_emulated.h"

#define zn_attention_amx zn_attention_amx_emulated
#include "src/kernel/x86/attention_amx.c"
