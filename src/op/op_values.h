// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Real values of tensors of any type, for reference loops: clear before fast.
#ifndef ZN_OP_OP_VALUES_H
#define ZN_OP_OP_VALUES_H

#include "src/tensor/row_source.h"
#include "src/tensor/tensor.h"

#include <string.h>

// Numbers of a row, of a tensor whose numbers are read by rows.
static inline size_t zn_value_columns(const zn_tensor *tensor)
{
    return (size_t)tensor->desc.shape.dim[tensor->desc.shape.rank - 1];
}

static inline float zn_value_get(const zn_tensor *tensor, size_t index)
{
    if (tensor->rows) return zn_row_source_value(tensor->rows, zn_value_columns(tensor), index);
    return zn_type_load(tensor->desc.type, tensor->data, index) * tensor->desc.scale;
}

// `count` of them, from `index` on; of a tensor with rows, whole rows.
static inline void zn_values_get(const zn_tensor *tensor, size_t index, size_t count, float *dst)
{
    if (tensor->rows) {
        const size_t columns = zn_value_columns(tensor);
        tensor->rows->read(tensor->rows, (int64_t)(index / columns),
                           (int64_t)((index + count) / columns), dst);
        return;
    }
    if (tensor->desc.type == ZN_F32 && tensor->desc.scale == 1.0f) {
        memcpy(dst, (const char *)tensor->data + index * sizeof(float), count * sizeof(float));
        return;
    }
    for (size_t i = 0; i < count; i++) dst[i] = zn_value_get(tensor, index + i);
}

static inline void zn_value_set(zn_tensor *tensor, size_t index, float value)
{
    zn_type_store(tensor->desc.type, tensor->data, index, value / tensor->desc.scale);
}

// `count` of them, from `index` on.
static inline void zn_values_set(zn_tensor *tensor, size_t index, size_t count, const float *src)
{
    if (tensor->desc.type == ZN_F32 && tensor->desc.scale == 1.0f) {
        memcpy((char *)tensor->data + index * sizeof(float), src, count * sizeof(float));
        return;
    }
    for (size_t i = 0; i < count; i++) zn_value_set(tensor, index + i, src[i]);
}

static inline size_t zn_value_count(const zn_tensor *tensor)
{
    size_t count = 0;
    return zn_shape_elements(&tensor->desc.shape, &count) ? count : 0;
}

#endif
