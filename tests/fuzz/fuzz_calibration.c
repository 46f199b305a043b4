// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as a calibration: what is read can be used, name by name in order.
#include "src/format/pipeline/calibration.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_calibration *calibration = NULL;
    zn_error err = {{0}};
    zenith_status status = zn_calibration_parse((const char *)data, size, "fuzz", &calibration,
                                                &err);
    if (status != ZENITH_OK) {
        if (calibration || !*err.text) __builtin_trap();
        return 0;
    }
    for (size_t i = 0; i < calibration->count; i++) {
        const zn_calibrated *value = &calibration->values[i];
        if (!(value->largest >= 0) || value->largest > 1e30f) __builtin_trap();
        if (i > 0 && strcmp(value[-1].name, value->name) >= 0) __builtin_trap();
        if (zn_calibration_find(calibration, value->name, false) != value) __builtin_trap();
    }
    zn_calibration_free(calibration);
    return 0;
}
