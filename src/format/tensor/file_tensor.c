// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/tensor/file_tensor.h"

#include "src/base/memory.h"
#include "src/format/tensor/elements.h"

enum { NAME_SHOWN = 100 };

bool zn_file_tensor_readable(const zn_file_tensor *tensor)
{
    return tensor->supported || tensor->blocks;
}

bool zn_file_tensor_rows(const zn_file_tensor *tensor, size_t *rows, size_t *columns)
{
    const int rank = tensor->shape.rank;
    size_t elements;
    if (!zn_shape_elements(&tensor->shape, &elements)) return false;
    *columns = rank > 0 ? (size_t)tensor->shape.dim[rank - 1] : 1;
    *rows = *columns > 0 ? elements / *columns : 0;
    return true;
}

void zn_file_tensor_read_rows(const zn_file_tensor *tensor, size_t begin, size_t end, float *dst)
{
    size_t rows = 0, columns = 0;
    if (!zn_file_tensor_rows(tensor, &rows, &columns)) return;
    const size_t first = begin * columns, count = (end - begin) * columns;
    if (tensor->blocks) {
        const size_t size = tensor->blocks->weights;
        zn_blocks_to_f32(tensor->blocks, tensor->data, first / size, count / size, dst);
    } else {
        zn_elements_to_f32(tensor->type, tensor->data, first, count, dst);
    }
}

zenith_status zn_file_tensor_read(const zn_file_tensor *tensor, float *dst, zn_error *err)
{
    size_t rows, columns;
    if (!zn_file_tensor_readable(tensor))
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "tensor \"%.*s\" has elements of type %.*s, which this version cannot read",
                       NAME_SHOWN, tensor->name, NAME_SHOWN, tensor->dtype);
    if (!zn_file_tensor_rows(tensor, &rows, &columns))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "tensor \"%.*s\" has no valid shape",
                       NAME_SHOWN, tensor->name);
    zn_file_tensor_read_rows(tensor, 0, rows, dst);
    return ZENITH_OK;
}
