// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_dot for AMX on emulated tiles, for test_conv_dot_emulated.c.
#include "tests/kernel/amx_emulated.h"

#define zn_conv_dot_amx zn_conv_dot_amx_emulated
#include "src/kernel/x86/conv_dot_amx.c"
