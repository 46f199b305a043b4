// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an npy file; what is accepted lies inside the bytes and has the size of its shape.
#include "src/format/tensor/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_npy array = {0};
    zn_error err = {{0}};
    if (zn_npy_parse(data, size, "fuzz", &array, &err) != ZENITH_OK) {
        if (!*err.text) __builtin_trap();
        return 0;
    }
    zn_desc desc = zn_desc_make(array.type, array.shape);
    size_t bytes;
    if (!zn_desc_bytes(&desc, &bytes) || bytes != array.bytes) __builtin_trap();
    if (array.data < data || array.data + array.bytes != data + size) __builtin_trap();
    return 0;
}
