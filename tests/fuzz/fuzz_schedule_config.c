// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as the schedule of a pipeline: a shift that can be computed with, or a sentence.
#include "src/format/schedule_config.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double shift = -1;
    zn_error err = {{0}};
    zenith_status status = zn_schedule_config_parse((const char *)data, size, "fuzz", &shift, &err);
    if (status == ZENITH_OK && !(shift > 0 && shift <= 1e3)) __builtin_trap();
    if (status != ZENITH_OK && (!*err.text || shift != -1)) __builtin_trap();
    return 0;
}
