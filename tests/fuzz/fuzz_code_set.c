// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a file with the codes of many pictures: what is read has as many rows and names as
// it says.
#include "src/format/latent/code_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_code_set set;
    volatile float sum = 0;
    if (zn_code_set_read(data, size, "fuzz", &set, NULL) != ZENITH_OK) return 0;
    for (size_t i = 0; i < set.count * set.numbers; i++) sum += set.codes[i];
    for (size_t k = 0; k < set.numbers; k++) {
        sum += set.mean[k];
        if (!(set.deviation[k] > 0)) __builtin_trap();
    }
    for (size_t i = 0; i < set.count; i++)
        if ((zn_code_set_name(&set, i) == NULL) != (set.names == NULL)) __builtin_trap();
    (void)sum;
    zn_code_set_free(&set);
    return 0;
}
