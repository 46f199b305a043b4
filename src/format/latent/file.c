// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading latents. All layouts come down to one row-major array of elements [N,C,h,w], or of a clip
// [C,N,h,w], in mapped bytes; rows are gathered from it, channel by channel, through a small
// buffer.
#include "src/format/latent/file.h"

#include "src/base/memory.h"
#include "src/format/latent/facts.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/npy.h"
#include "src/format/tensor/safetensors.h"

#include <string.h>

enum { CHUNK = 256, NAME_SHOWN = 100 };

struct zn_latent_file {
    zn_mapped mapped;        // empty when the bytes are the caller's
    zn_safetensors *tensors; // NULL for npy
    const uint8_t *data;
    zn_type type;
    zn_shape shape;    // [N, C, h, w]
    bool channels_out; // stored as [1, C, N, h, w], which is how pipelines of video keep a clip
    zn_latent_facts facts;
};

// Takes an array as the latent, if it can be one.
static zenith_status adopt(zn_latent_file *file, const char *name, zn_type type,
                           const zn_shape *shape, const uint8_t *data, zn_error *err)
{
    bool real = type == ZN_F32 || type == ZN_BF16 || type == ZN_F16 || type == ZN_F64;
    char text[128];
    zn_shape_text(shape, text, sizeof text);
    if (!real)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s: a latent of type %s; f32, bf16, f16 and f64 are read", name,
                       zn_type_name(type));
    const bool clip = shape->rank == 5 && shape->dim[0] == 1;
    if (shape->rank != 3 && shape->rank != 4 && !clip)
        return zn_fail(
            err, ZENITH_UNSUPPORTED,
            "%s: a latent of the shape %s; it must be [N, C, h, w] or [C, h, w], or of a "
            "clip [1, C, t, h, w]",
            name, text);
    file->shape = (zn_shape){.rank = 4, .dim = {1}};
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 1)
            return zn_fail(err, ZENITH_BAD_FILE, "%s: the latent is empty: %s", name, text);
        if (!clip) file->shape.dim[4 - shape->rank + i] = shape->dim[i];
    }
    if (clip) {
        const int64_t *dim = shape->dim;
        file->shape = ZN_SHAPE(dim[2], dim[1], dim[3], dim[4]);
        file->channels_out = true;
    }
    file->type = type;
    file->data = data;
    return ZENITH_OK;
}

// The tensor that is the latent: by the names we know, else the only one.
static zenith_status choose(const zn_latent_file *file, const char *name,
                            const zn_file_tensor **out, zn_error *err)
{
    const zn_file_tensor *tensor = zn_safetensors_find(file->tensors, "latent");
    if (!tensor) tensor = zn_safetensors_find(file->tensors, "latent_tensor");
    size_t count = zn_safetensors_count(file->tensors);
    if (!tensor && count == 1) tensor = zn_safetensors_get(file->tensors, 0);
    if (!tensor)
        return zn_fail(err, count ? ZENITH_AMBIGUOUS : ZENITH_BAD_FILE,
                       "%s: %zu tensors, and none is named \"latent\" or \"latent_tensor\"", name,
                       count);
    if (!tensor->supported)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s: a latent of type %.*s; f32, bf16, f16 and "
                       "f64 are read",
                       name, NAME_SHOWN, tensor->dtype);
    *out = tensor;
    return ZENITH_OK;
}

// What ComfyUI's layout says without words; facts that are written down stand before it.
static void add_comfy_facts(zn_latent_file *file)
{
    zn_latent_facts *facts = &file->facts;
    if (*facts->space) return;
    bool marked = zn_safetensors_find(file->tensors, "latent_format_version_0") != NULL;
    memcpy(facts->space, marked ? "raw" : "model", marked ? sizeof "raw" : sizeof "model");
    if (marked || facts->has_scale) return;
    facts->has_scale = true;
    facts->scale = 0.18215f;
}

static zenith_status open_safetensors(zn_latent_file *file, const uint8_t *data, size_t size,
                                      const char *name, zn_error *err)
{
    const zn_file_tensor *tensor = NULL;
    ZN_TRY(zn_safetensors_open_memory(data, size, name, &file->tensors, err));
    ZN_TRY(choose(file, name, &tensor, err));
    ZN_TRY(adopt(file, name, tensor->type, &tensor->shape, tensor->data, err));
    ZN_TRY(zn_latent_facts_read(file->tensors, name, &file->facts, err));
    if (file->facts.statistics && file->facts.statistics != file->shape.dim[1])
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: statistics for %d channels, but the latent has %lld", name,
                       file->facts.statistics, (long long)file->shape.dim[1]);
    if (strcmp(tensor->name, "latent_tensor") == 0) add_comfy_facts(file);
    return ZENITH_OK;
}

static zenith_status open_bytes(zn_latent_file *file, const uint8_t *data, size_t size,
                                const char *name, zn_error *err)
{
    if (!zn_npy_is(data, size)) return open_safetensors(file, data, size, name, err);
    zn_npy array = {0};
    ZN_TRY(zn_npy_parse(data, size, name, &array, err));
    return adopt(file, name, array.type, &array.shape, array.data, err);
}

zenith_status zn_latent_file_open_memory(const uint8_t *data, size_t size, const char *name,
                                         zn_latent_file **out, zn_error *err)
{
    zn_latent_file *file = zn_alloc_zero(sizeof *file);
    if (!file) return zn_fail_memory(err, sizeof *file);
    zenith_status status = open_bytes(file, data, size, name, err);
    if (status == ZENITH_OK)
        *out = file;
    else
        zn_latent_file_free(file);
    return status;
}

zenith_status zn_latent_file_open(const char *path, zn_latent_file **out, zn_error *err)
{
    zenith_status status;
    zn_latent_file *file = zn_alloc_zero(sizeof *file);
    if (!file) return zn_fail_memory(err, sizeof *file);
    ZN_GO(zn_mapped_open(path, &file->mapped, err));
    ZN_GO(open_bytes(file, file->mapped.data, file->mapped.size, path, err));
    *out = file;
    return ZENITH_OK;
fail:
    zn_latent_file_free(file);
    return status;
}

void zn_latent_file_free(zn_latent_file *file)
{
    if (!file) return;
    zn_safetensors_free(file->tensors);
    zn_mapped_close(&file->mapped);
    zn_free(file);
}

zn_shape zn_latent_file_shape(const zn_latent_file *file)
{
    return file->shape;
}

zn_type zn_latent_file_type(const zn_latent_file *file)
{
    return file->type;
}

const zn_latent_facts *zn_latent_file_facts(const zn_latent_file *file)
{
    return &file->facts;
}

// Which map of h x w elements is a channel of latent n.
static size_t plane_of(const zn_latent_file *file, size_t n, size_t channel)
{
    const size_t count = (size_t)file->shape.dim[0], channels = (size_t)file->shape.dim[1];
    return file->channels_out ? channel * count + n : n * channels + channel;
}

void zn_latent_file_read(const zn_latent_file *file, float *dst)
{
    const size_t count = (size_t)file->shape.dim[0], channels = (size_t)file->shape.dim[1];
    const size_t each = (size_t)file->shape.dim[2] * (size_t)file->shape.dim[3];
    for (size_t n = 0; n < count; n++)
        for (size_t c = 0; c < channels; c++, dst += each)
            zn_elements_to_f32(file->type, file->data, plane_of(file, n, c) * each, each, dst);
}

// dst[i * stride] = element first + i, i < count
static void gather(const zn_latent_file *file, size_t first, size_t count, size_t stride,
                   float *dst)
{
    float part[CHUNK];
    for (size_t done = 0; done < count;) {
        size_t now = count - done < CHUNK ? count - done : CHUNK;
        zn_elements_to_f32(file->type, file->data, first + done, now, part);
        for (size_t i = 0; i < now; i++) dst[(done + i) * stride] = part[i];
        done += now;
    }
}

zenith_status zn_latent_file_read_rows(const zn_latent_file *file, int64_t n, int64_t y,
                                       int64_t count, float *dst, zn_error *err)
{
    const int64_t *dim = file->shape.dim;
    if (n < 0 || n >= dim[0] || y < 0 || count < 0 || y > dim[2] || count > dim[2] - y)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the latent has %lld images of %lld rows; asked for %lld rows from %lld of "
                       "image %lld",
                       (long long)dim[0], (long long)dim[2], (long long)count, (long long)y,
                       (long long)n);
    size_t c = (size_t)dim[1], h = (size_t)dim[2], w = (size_t)dim[3];
    for (size_t row = 0; row < (size_t)count; row++)
        for (size_t channel = 0; channel < c; channel++) {
            const size_t plane = plane_of(file, (size_t)n, channel);
            gather(file, (plane * h + (size_t)y + row) * w, w, c, dst + row * w * c + channel);
        }
    return ZENITH_OK;
}
