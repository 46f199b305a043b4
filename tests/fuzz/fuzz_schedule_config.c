// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as the schedule of a pipeline: numbers that can be computed with, or a sentence.
#include "src/format/pipeline/schedule_config.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_schedule_config read = {.shift = -1};
    zn_error err = {{0}};
    zenith_status status = zn_schedule_config_parse((const char *)data, size, "fuzz", &read, &err);
    if (status == ZENITH_OK && (!(read.shift > 0 && read.shift <= 1e3) ||
                                !(read.guidance >= 0 && read.guidance <= 100) || read.steps > 1000))
        __builtin_trap();
    if (status != ZENITH_OK && (!*err.text || read.shift != -1)) __builtin_trap();
    return 0;
}
