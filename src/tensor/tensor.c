// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/tensor.h"

#include "src/base/memory.h"
#include "src/base/text.h"

#include <string.h>

zn_shape zn_shape_make(int rank, const int64_t *dim)
{
    zn_shape shape = {.rank = rank};
    if (rank < 0 || rank > ZN_MAX_RANK) {
        shape.rank = -1;
        return shape;
    }
    for (int i = 0; i < rank; i++) shape.dim[i] = dim[i];
    return shape;
}

bool zn_shape_equal(const zn_shape *a, const zn_shape *b)
{
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i]) return false;
    }
    return true;
}

bool zn_shape_elements(const zn_shape *shape, size_t *out)
{
    if (shape->rank < 0 || shape->rank > ZN_MAX_RANK) return false;
    size_t elements = 1;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 0) return false;
        if (!zn_mul_size(elements, (size_t)shape->dim[i], &elements)) return false;
    }
    *out = elements;
    return true;
}

size_t zn_shape_text(const zn_shape *shape, char *dst, size_t size)
{
    size_t length = zn_text_format(dst, size, "[");
    for (int i = 0; i < shape->rank; i++) {
        length += zn_text_format(dst + length, size - length, i ? ", %lld" : "%lld",
                                 (long long)shape->dim[i]);
    }
    return length + zn_text_format(dst + length, size - length, "]");
}

zn_desc zn_desc_make(zn_type type, zn_shape shape)
{
    return (zn_desc){.type = type, .shape = shape, .scale = 1};
}

bool zn_desc_bytes(const zn_desc *desc, size_t *out)
{
    if (desc->layout) {
        *out = desc->layout->bytes;
        return true;
    }
    size_t elements;
    return zn_shape_elements(&desc->shape, &elements) &&
           zn_mul_size(elements, zn_type_size(desc->type), out);
}

bool zn_layout_equal(const zn_layout *a, const zn_layout *b)
{
    if (!a || !b) return a == b;
    return a->bytes == b->bytes && a->key_size == b->key_size &&
           (a->key_size == 0 || memcmp(a->key, b->key, a->key_size) == 0);
}
