// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a safetensors file; whatever opens is read to the last byte.
#include "src/base/memory.h"
#include "src/format/tensor/safetensors.h"

static volatile uint8_t sink; // keeps the reads

static void read_tensor(const zn_file_tensor *tensor)
{
    for (size_t i = 0; i < tensor->bytes; i++) sink ^= tensor->data[i];
    size_t elements;
    if (!zn_shape_elements(&tensor->shape, &elements) || elements > 1 << 20) return;
    float *values = zn_alloc(elements * sizeof *values);
    zenith_status status = zn_file_tensor_read(tensor, values, NULL);
    if ((status == ZENITH_OK) != tensor->supported) __builtin_trap();
    zn_free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_safetensors *file = NULL;
    zn_error err = {{0}};
    if (zn_safetensors_open_memory(data, size, "fuzz", &file, &err) != ZENITH_OK) {
        if (file || !*err.text) __builtin_trap(); // every refusal has its sentence
        return 0;
    }
    size_t bytes = 0;
    for (size_t i = 0; i < zn_safetensors_count(file); i++) {
        const zn_file_tensor *tensor = zn_safetensors_get(file, i);
        if (zn_safetensors_find(file, tensor->name) != tensor) __builtin_trap();
        bytes += tensor->bytes;
        read_tensor(tensor);
    }
    if (bytes > size) __builtin_trap(); // tensors do not share bytes
    for (size_t i = 0; i < zn_safetensors_metadata_count(file); i++) {
        zn_metadata pair = zn_safetensors_metadata_get(file, i);
        if (zn_safetensors_metadata(file, pair.key) != pair.value) __builtin_trap();
    }
    zn_safetensors_free(file);
    return 0;
}
