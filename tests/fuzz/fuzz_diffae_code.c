// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a file with a diffusion autoencoder's code: what is read has as many numbers as it
// says.
#include "src/format/latent/diffae_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_diffae_code code;
    volatile float sum = 0;
    if (zn_diffae_code_read(data, size, "fuzz", &code, NULL) != ZENITH_OK) return 0;
    for (size_t i = 0; i < code.numbers; i++) sum += code.code[i];
    const size_t values = zn_diffae_code_noise(&code);
    for (size_t i = 0; i < values; i++) sum += code.noise[i];
    if ((code.noise == NULL) != (code.channels == 0) || !code.code) __builtin_trap();
    (void)sum;
    zn_diffae_code_free(&code);
    return 0;
}
