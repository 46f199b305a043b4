// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor: a description (type, shape, layout) and bytes. Shapes are in memory order, the last
// dimension contiguous: pictures and feature maps are [n, h, w, c], convolution weights
// [out, in, kh, kw] as checkpoints have them.
#ifndef ZN_TENSOR_TENSOR_H
#define ZN_TENSOR_TENSOR_H

#include "src/base/status.h"
#include "src/tensor/type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZN_MAX_RANK 6

typedef struct zn_shape {
    int rank; // 0 = a scalar
    int64_t dim[ZN_MAX_RANK];
} zn_shape;

// A layout that only its maker can read (packed weights): its content is `bytes` long and named by
// a blob that compares equal for equal layouts. NULL in a description means dense row-major.
typedef struct zn_layout {
    size_t bytes;
    size_t key_size;
    const void *key;
} zn_layout;

typedef struct zn_desc {
    zn_type type;
    zn_shape shape;
    float
        scale; // of quantised types and f8 weights: real value = scale * stored value; 1 otherwise
    const zn_layout *layout; // NULL: dense
} zn_desc;

typedef struct zn_tensor {
    zn_desc desc;
    void *data;
    const struct zn_row_source *rows; // of a constant that is no array (row_source.h): data is NULL
} zn_tensor;

// A rank outside 0 .. ZN_MAX_RANK makes a shape of rank -1, which zn_shape_elements refuses.
zn_shape zn_shape_make(int rank, const int64_t *dim);
#define ZN_SHAPE(...)                                                                              \
    zn_shape_make((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                       \
                  (const int64_t[]){__VA_ARGS__})
bool zn_shape_equal(const zn_shape *a, const zn_shape *b);
// False for a negative dimension, a rank that is none, or more elements than a size_t counts.
bool zn_shape_elements(const zn_shape *shape, size_t *out);
// "[1, 64, 64, 4]", cut to `size` bytes with the closing zero; returns its length.
size_t zn_shape_text(const zn_shape *shape, char *dst, size_t size);

zn_desc zn_desc_make(zn_type type, zn_shape shape);
bool zn_desc_bytes(const zn_desc *desc, size_t *out); // false where it does not fit
// Two NULLs are equal; the keys are compared by content.
bool zn_layout_equal(const zn_layout *a, const zn_layout *b);

#endif
