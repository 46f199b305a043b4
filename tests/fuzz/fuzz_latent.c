// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a latent file; what opens is read whole and by rows, which must agree.
#include "src/base/memory.h"
#include "src/format/latent/file.h"

#include <string.h>

static void compare(const zn_latent_file *file, size_t elements)
{
    zn_shape shape = zn_latent_file_shape(file);
    size_t c = (size_t)shape.dim[1], h = (size_t)shape.dim[2], w = (size_t)shape.dim[3];
    float *whole = zn_alloc(elements * sizeof *whole), *rows = zn_alloc(c * h * w * sizeof *rows);
    zn_latent_file_read(file, whole);
    size_t last = (size_t)shape.dim[0] - 1;
    if (zn_latent_file_read_rows(file, (int64_t)last, 0, (int64_t)h, rows, NULL) != ZENITH_OK)
        __builtin_trap();
    for (size_t i = 0; i < c * h * w; i++) { // i over [c, h, w]
        size_t plane = i / (h * w), pixel = i % (h * w);
        if (memcmp(&whole[last * c * h * w + i], &rows[pixel * c + plane], sizeof(float)) != 0)
            __builtin_trap();
    }
    zn_free(whole);
    zn_free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_latent_file *file = NULL;
    zn_error err = {{0}};
    if (zn_latent_file_open_memory(data, size, "fuzz", &file, &err) != ZENITH_OK) {
        if (file || !*err.text) __builtin_trap();
        return 0;
    }
    zn_shape shape = zn_latent_file_shape(file);
    size_t elements;
    if (!zn_shape_elements(&shape, &elements) || elements == 0 || elements > size) __builtin_trap();
    compare(file, elements);
    zn_latent_file_free(file);
    return 0;
}
