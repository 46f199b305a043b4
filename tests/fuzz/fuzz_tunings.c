// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as measured plans: what is read can be used, and reads back.
#include "src/format/pipeline/tunings.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_tunings tunings = {0};
    zn_error err = {{0}};
    zenith_status status = zn_tunings_parse((const char *)data, size, &tunings, &err);
    if (status != ZENITH_OK && !*err.text) __builtin_trap();
    for (size_t i = 0; i < tunings.count; i++) {
        zn_tuning *tuning = &tunings.list[i];
        if (zn_tunings_find(&tunings, tuning->key, false) != tuning) __builtin_trap();
        if (tuning->uses < 1 || tuning->uses > ZN_TUNING_PLANS * ZN_TUNING_ROUNDS) __builtin_trap();
        if (!(tuning->seconds[0] > 0) || tuning->band < 0) __builtin_trap();
    }
    zn_tunings_free(&tunings);
    return 0;
}
