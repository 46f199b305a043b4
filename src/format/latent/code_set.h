// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The codes of many pictures, as diffusion autoencoders make them, in a safetensors file:
//   z [pictures, numbers], F32
//   conds_mean, conds_std [numbers], F32: mean and standard deviation of z (over pictures - 1)
// Metadata:
//   zenith.model "diffae"           zenith.weights SHA-256 of the weights that made them
//   zenith.size "[width,height]" of the pictures
//   zenith.pictures '["a.png",..]'  their names, in the order of rows
//   zenith.failed '["b.png",..]'    names of pictures that have no row, since they could not be
//                                   read
// What trains on codes reads such a file, and a run that makes one keeps its pieces as such files.
#ifndef ZN_FORMAT_LATENT_CODE_SET_H
#define ZN_FORMAT_LATENT_CODE_SET_H

#include "src/base/json.h"
#include "src/base/os.h"
#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_code_set {
    char weights[65];        // "": not known
    uint32_t width, height;  // of the pictures; 0: not known
    size_t count, numbers;   // of codes, and of each
    float *codes;            // [count][numbers]
    float *mean, *deviation; // [numbers]; the latter is 1 where all codes agree
    zn_json *names;          // a list of `count` texts; NULL: not known
    zn_json *failed;         // a list of texts; NULL: none
    size_t capacity;         // codes that there is room for
} zn_code_set;

// One row more, of `numbers` numbers; and a picture that has none. Names are UTF-8.
zenith_status zn_code_set_add(zn_code_set *set, const char *name, const float *code, zn_error *err);
zenith_status zn_code_set_add_failed(zn_code_set *set, const char *name, zn_error *err);
// Fills mean and deviation.
zenith_status zn_code_set_measure(zn_code_set *set, zn_error *err);

// What is there, measured; names and failed may be NULL.
zenith_status zn_code_set_write(zn_writer *writer, const zn_code_set *set, zn_error *err);

// What is not as above is ZENITH_BAD_FILE; without conds_mean and conds_std they are computed. Free
// it with zn_code_set_free.
zenith_status zn_code_set_open(const char *path, zn_code_set *out, zn_error *err);
// The same of bytes; `name` is used in messages.
zenith_status zn_code_set_read(const uint8_t *data, size_t size, const char *name, zn_code_set *out,
                               zn_error *err);
const char *zn_code_set_name(const zn_code_set *set, size_t row); // NULL: not known
void zn_code_set_free(zn_code_set *set);                          // zeroes it; a zeroed one is fine

#endif
