// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture as a diffusion autoencoder has it, in a safetensors file: the tensor "z" [numbers of
// the code], and perhaps "x_T" [channels, height, width], the noise that holds what the code does
// not. Its sides are the picture's, or, where the model works on latents, so many times smaller.
// Metadata:
//   zenith.model "diffae"           zenith.weights SHA-256 of the weights that made it
//   zenith.size "[width,height]"    of the picture (also where there is no noise)
//   zenith.steps "250"              steps from the picture to the noise (only with noise)
#ifndef ZN_FORMAT_LATENT_DIFFAE_CODE_H
#define ZN_FORMAT_LATENT_DIFFAE_CODE_H

#include "src/base/os.h"
#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_diffae_code {
    char weights[65];       // "": not known
    uint32_t width, height; // of the picture
    uint32_t channels;      // of the noise; 0: there is none
    uint32_t factor; // pixels of the picture along each side of one of the noise; 0: there is none
    int steps;       // to the noise; 0: there is none
    size_t numbers;  // of the code
    float *code, *noise; // of an open file its own; noise may be NULL
} zn_diffae_code;

zenith_status zn_diffae_code_write(zn_writer *writer, const zn_diffae_code *code, zn_error *err);

// What is not as above is ZENITH_BAD_FILE. Free it with zn_diffae_code_free.
zenith_status zn_diffae_code_open(const char *path, zn_diffae_code *out, zn_error *err);
// The same of bytes; `name` is used in messages.
zenith_status zn_diffae_code_read(const uint8_t *data, size_t size, const char *name,
                                  zn_diffae_code *out, zn_error *err);

// Numbers of its noise.
static inline size_t zn_diffae_code_noise(const zn_diffae_code *code)
{
    if (!code->noise) return 0;
    return (size_t)code->channels * (code->height / code->factor) * (code->width / code->factor);
}

void zn_diffae_code_free(zn_diffae_code *code); // zeroes it; a zeroed one is fine

#endif
