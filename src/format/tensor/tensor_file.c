// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/tensor/tensor_file.h"

#include <stdlib.h>
#include <string.h>

static zenith_status create(const zn_tensor_format *format, const char *name, zn_tensor_file **out,
                            zn_error *err)
{
    zn_tensor_file *file = zn_alloc_zero(format->struct_bytes);
    if (!file) return zn_fail_memory(err, format->struct_bytes);
    file->name = zn_arena_text(&file->arena, name);
    if (!file->name) {
        zn_tensor_file_free(file);
        return zn_fail_memory(err, strlen(name) + 1);
    }
    *out = file;
    return ZENITH_OK;
}

zenith_status zn_tensor_file_open_memory(const zn_tensor_format *format, const uint8_t *data,
                                         size_t size, const char *name, zn_tensor_file **out,
                                         zn_error *err)
{
    zn_tensor_file *file = NULL;
    ZN_TRY(create(format, name, &file, err));
    zenith_status status = format->parse(file, data, size, err);
    if (status == ZENITH_OK)
        *out = file;
    else
        zn_tensor_file_free(file);
    return status;
}

zenith_status zn_tensor_file_open(const zn_tensor_format *format, const char *path,
                                  zn_tensor_file **out, zn_error *err)
{
    zn_tensor_file *file = NULL;
    zenith_status status;
    ZN_TRY(create(format, path, &file, err));
    ZN_GO(zn_mapped_open(path, &file->mapped, err));
    ZN_GO(format->parse(file, file->mapped.data, file->mapped.size, err));
    *out = file;
    return ZENITH_OK;
fail:
    zn_tensor_file_free(file);
    return status;
}

void zn_tensor_file_forget(const zn_tensor_file *file)
{
    zn_mapped_forget(&file->mapped, 0, file->mapped.size);
}

void zn_tensor_file_free(zn_tensor_file *file)
{
    if (!file) return;
    zn_mapped_close(&file->mapped);
    zn_arena_free(&file->arena);
    zn_free(file);
}

zenith_status zn_tensor_file_reserve(zn_tensor_file *file, size_t count, zn_error *err)
{
    size_t bytes = 0;
    if (zn_mul_size(count, sizeof *file->tensors, &bytes))
        file->tensors = zn_arena_alloc(&file->arena, bytes);
    return file->tensors ? ZENITH_OK : zn_fail_memory(err, bytes);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const zn_file_tensor *)a)->name, ((const zn_file_tensor *)b)->name);
}

void zn_tensor_file_sort(zn_tensor_file *file)
{
    if (file->count) qsort(file->tensors, file->count, sizeof *file->tensors, by_name);
}

const zn_file_tensor *zn_tensor_file_find(const zn_tensor_file *file, const char *name)
{
    const zn_file_tensor key = {.name = name};
    if (file->count == 0) return NULL;
    return bsearch(&key, file->tensors, file->count, sizeof key, by_name);
}
