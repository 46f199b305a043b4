// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing latents: rows come as they are computed, [w, C], and the file wants planes [C, h, w], so
// each image is collected in the file's own type and written when its last row has come.
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/elements.h"
#include "src/format/latent_facts.h"
#include "src/format/npy.h"

#include <string.h>

enum { CHUNK = 256 };

struct zn_latent_writer {
    zn_writer *to;
    zn_type type;
    size_t n, c, h, w;
    size_t rows; // that have come, of n * h
    size_t image_bytes;
    uint8_t *image; // [c, h, w]
};

zn_latent_format zn_latent_format_of(const char *path)
{
    if (zn_text_ends_with_nocase(path, ".latent")) return ZN_LATENT_COMFY;
    if (zn_text_ends_with_nocase(path, ".npy")) return ZN_LATENT_NPY;
    return ZN_LATENT_SAFETENSORS;
}

static zenith_status check_request(zn_latent_format format, const zn_shape *shape, zn_type type,
                                   const zn_latent_facts *facts, zn_error *err)
{
    size_t elements;
    bool valid = shape->rank == 4 && zn_shape_elements(shape, &elements) && elements > 0;
    if (!valid)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a latent is written as [N, C, h, w], none of them 0");
    if (type != ZN_F32 && type != ZN_BF16 && type != ZN_F16)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a latent is written as f32, bf16 or f16, not as %s", zn_type_name(type));
    if (format == ZN_LATENT_NPY && type != ZN_F32)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "an npy latent is written as f32, not as %s",
                       zn_type_name(type));
    if (format == ZN_LATENT_COMFY && strcmp(facts->space, "model") == 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "ComfyUI's .latent files hold the raw space; ask for a raw latent, or write "
                       "a .safetensors file");
    return zn_latent_facts_check(facts, err);
}

static zenith_status write_header(zn_writer *to, zn_latent_format format, const zn_shape *shape,
                                  zn_type type, const zn_latent_facts *facts, zn_error *err)
{
    if (format == ZN_LATENT_NPY) return zn_npy_write_header(to, type, shape, err);
    bool comfy = format == ZN_LATENT_COMFY;
    zn_file_tensor tensors[2] = {
        {.name = comfy ? "latent_tensor" : "latent", .type = type, .shape = *shape},
        {.name = "latent_format_version_0", .type = ZN_F32, .shape = {.rank = 1}}, // no bytes
    };
    zn_arena arena = {0};
    zn_metadata *metadata = NULL;
    size_t pairs = 0;
    zenith_status status = zn_latent_facts_write(facts, &arena, &metadata, &pairs, err);
    if (status == ZENITH_OK)
        status = zn_safetensors_write_header(to, tensors, comfy ? 2 : 1, metadata, pairs, err);
    zn_arena_free(&arena);
    return status;
}

zenith_status zn_latent_writer_open(zn_writer *to, zn_latent_format format, const zn_shape *shape,
                                    zn_type type, const zn_latent_facts *facts,
                                    zn_latent_writer **out, zn_error *err)
{
    zenith_status status;
    ZN_TRY(check_request(format, shape, type, facts, err));
    zn_latent_writer *writer = zn_alloc_zero(sizeof *writer);
    if (!writer) return zn_fail_memory(err, sizeof *writer);
    writer->to = to;
    writer->type = type;
    writer->n = (size_t)shape->dim[0], writer->c = (size_t)shape->dim[1];
    writer->h = (size_t)shape->dim[2], writer->w = (size_t)shape->dim[3];
    size_t elements = writer->c * writer->h * writer->w; // fits: zn_shape_elements has said so
    if (zn_mul_size(elements, zn_type_size(type), &writer->image_bytes))
        writer->image = zn_alloc(writer->image_bytes);
    if (!writer->image) {
        status = zn_fail_memory(err, elements);
        goto fail;
    }
    ZN_GO(write_header(to, format, shape, type, facts, err));
    *out = writer;
    return ZENITH_OK;
fail:
    zn_latent_writer_free(writer);
    return status;
}

// One row [w, c] into its place in each plane of the image.
static void scatter_row(zn_latent_writer *writer, size_t y, const float *row)
{
    size_t size = zn_type_size(writer->type), c = writer->c, w = writer->w;
    float part[CHUNK];
    for (size_t channel = 0; channel < c; channel++) {
        uint8_t *line = writer->image + (channel * writer->h + y) * w * size;
        for (size_t x = 0; x < w;) {
            size_t now = w - x < CHUNK ? w - x : CHUNK;
            for (size_t i = 0; i < now; i++) part[i] = row[(x + i) * c + channel];
            zn_elements_from_f32(writer->type, part, now, line + x * size);
            x += now;
        }
    }
}

zenith_status zn_latent_writer_rows(zn_latent_writer *writer, const float *src, int64_t count,
                                    zn_error *err)
{
    if (count < 0 || (uint64_t)count > writer->n * writer->h - writer->rows)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "more rows than the latent's %zu",
                       writer->n * writer->h);
    for (size_t i = 0; i < (size_t)count; i++) {
        size_t y = writer->rows % writer->h;
        scatter_row(writer, y, src + i * writer->w * writer->c);
        writer->rows++;
        if (y + 1 == writer->h)
            ZN_TRY(zn_writer_write(writer->to, writer->image, writer->image_bytes, err));
    }
    return ZENITH_OK;
}

zenith_status zn_latent_writer_finish(zn_latent_writer *writer, zn_error *err)
{
    if (writer->rows == writer->n * writer->h) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "only %zu of the latent's %zu rows were written",
                   writer->rows, writer->n * writer->h);
}

void zn_latent_writer_free(zn_latent_writer *writer)
{
    if (!writer) return;
    zn_free(writer->image);
    zn_free(writer);
}
