// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a safetensors file of quantised weights: MLX, INT8 with rotations, scaled f8, NVFP4.
// Every weight that is seen in it is read to the last row. Sets of weights are opened by path, so
// the bytes go through a file.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/format/tensor/stored_weight.h"
#include "src/format/tensor/weight_scale.h"

#include <stdio.h>
#include <stdlib.h>

static char path[128];

static void remove_file(void)
{
    remove(path);
}

static void name_file(void)
{
    if (*path) return;
    snprintf(path, sizeof path, "/tmp/fuzz_stored_weight-%llu.safetensors",
             (unsigned long long)zn_process_id());
    atexit(remove_file);
}

static void read_weight(const zn_weights *weights, const zn_file_tensor *tensor)
{
    enum { MOST = 1 << 20 };
    zn_stored_weight weight;
    zn_error err = {{0}};
    char text[64];
    size_t elements;
    zenith_status status = zn_stored_weight_of(weights, tensor, NULL, &weight, &err);
    if (status != ZENITH_OK) {
        if (!*err.text) __builtin_trap(); // every refusal has its sentence
        return;
    }
    zn_stored_weight_text(&weight, text, sizeof text);
    if (!zn_mul_size(weight.rows, weight.columns, &elements)) __builtin_trap();
    if (elements > MOST) return;
    float *values = zn_alloc(elements * sizeof *values);
    zn_stored_weight_read(&weight, 0, weight.rows, values);
    zn_free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_weights *weights = NULL;
    name_file();
    FILE *file = fopen(path, "wb");
    if (!file) return 0;
    const size_t written = fwrite(data, 1, size, file);
    fclose(file);
    if (written != size || zn_weights_open(path, &weights, NULL) != ZENITH_OK) return 0;
    if (zn_weight_notes(weights) > zn_weights_count(weights)) __builtin_trap();
    for (size_t i = 0; i < zn_weights_count(weights); i++)
        read_weight(weights, zn_weights_get(weights, i));
    zn_weights_free(weights);
    return 0;
}
