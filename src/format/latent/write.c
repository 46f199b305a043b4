// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing latents: a header with the facts, then the images as they are, in the file's own type.
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/latent/facts.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/npy.h"

#include <string.h>

enum { CHUNK = 4096 };

zn_latent_format zn_latent_format_of(const char *path)
{
    if (zn_text_ends_with_nocase(path, ".latent")) return ZN_LATENT_COMFY;
    if (zn_text_ends_with_nocase(path, ".npy")) return ZN_LATENT_NPY;
    return ZN_LATENT_SAFETENSORS;
}

static zenith_status check_request(zn_latent_format format, const zn_shape *shape, zn_type type,
                                   bool moments, const zn_latent_facts *facts, zn_error *err)
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
    if (moments && format != ZN_LATENT_SAFETENSORS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "moments are two tensors: only a .safetensors file holds them");
    if (format == ZN_LATENT_COMFY && strcmp(facts->space, "model") == 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "ComfyUI's .latent files hold the raw space; ask for a raw latent, or write "
                       "a .safetensors file");
    return zn_latent_facts_check(facts, err);
}

zenith_status zn_latent_write_header(zn_writer *to, zn_latent_format format, const zn_shape *shape,
                                     zn_type type, bool moments, const zn_latent_facts *facts,
                                     zn_error *err)
{
    ZN_TRY(check_request(format, shape, type, moments, facts, err));
    if (format == ZN_LATENT_NPY) return zn_npy_write_header(to, type, shape, err);
    bool comfy = format == ZN_LATENT_COMFY;
    zn_file_tensor tensors[2] = {
        {.name = comfy ? "latent_tensor" : "latent", .type = type, .shape = *shape},
        {.name = "latent_format_version_0", .type = ZN_F32, .shape = {.rank = 1}}, // no bytes
    };
    if (moments) tensors[1] = (zn_file_tensor){.name = "logvar", .type = type, .shape = *shape};
    zn_arena arena = {0};
    zn_metadata *metadata = NULL;
    size_t pairs = 0;
    zenith_status status = zn_latent_facts_write(facts, &arena, &metadata, &pairs, err);
    if (status == ZENITH_OK)
        status = zn_safetensors_write_header(to, tensors, comfy || moments ? 2 : 1, metadata, pairs,
                                             err);
    zn_arena_free(&arena);
    return status;
}

zenith_status zn_latent_write_image(zn_writer *to, zn_type type, const float *src, size_t elements,
                                    zn_error *err)
{
    uint8_t stored[CHUNK * sizeof(float)];
    for (size_t i = 0; i < elements;) {
        size_t now = elements - i < CHUNK ? elements - i : CHUNK;
        zn_elements_from_f32(type, src + i, now, stored);
        ZN_TRY(zn_writer_write(to, stored, now * zn_type_size(type), err));
        i += now;
    }
    return ZENITH_OK;
}
