// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/latent/diffae_code.h"

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/tensor/safetensors.h"
#include "src/tensor/finite.h"

#include <string.h>

enum { MOST_SIDE = 1 << 14, MOST_CHANNELS = 256, MOST_STEPS = 10000, MOST_NUMBERS = 1 << 14 };

// --- writing ------------------------------------------------------------------------------------

static bool fits(const zn_diffae_code *is)
{
    const bool noise = is->noise && is->channels >= 1 && is->channels <= MOST_CHANNELS &&
                       is->factor >= 1 && is->width % is->factor == 0 &&
                       is->height % is->factor == 0 && is->steps >= 1 && is->steps <= MOST_STEPS;
    return is->code && is->numbers >= 1 && is->numbers <= MOST_NUMBERS && is->width >= 1 &&
           is->height >= 1 && is->width <= MOST_SIDE && is->height <= MOST_SIDE &&
           (noise || (!is->noise && is->channels == 0 && is->steps == 0));
}

zenith_status zn_diffae_code_write(zn_writer *writer, const zn_diffae_code *code, zn_error *err)
{
    char size[32], steps[16];
    size_t pairs = 2;
    if (!fits(code))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a code needs its numbers and the picture's size, and with noise its "
                       "channels and steps");
    const uint32_t factor = code->noise ? code->factor : 1;
    zn_text_format(size, sizeof size, "[%u,%u]", code->width, code->height);
    zn_text_format(steps, sizeof steps, "%d", code->steps);
    zn_metadata metadata[4] = {{"zenith.model", "diffae"}, {"zenith.size", size}};
    if (code->weights[0]) metadata[pairs++] = (zn_metadata){"zenith.weights", code->weights};
    if (code->noise) metadata[pairs++] = (zn_metadata){"zenith.steps", steps};
    zn_file_tensor tensors[2] = {
        {.name = "z",
         .type = ZN_F32,
         .shape = ZN_SHAPE((int64_t)code->numbers),
         .data = (const void *)code->code},
        {.name = "x_T",
         .type = ZN_F32,
         .shape = ZN_SHAPE(code->channels, code->height / factor, code->width / factor),
         .data = (const void *)code->noise},
    };
    return zn_safetensors_write(writer, tensors, code->noise ? 2 : 1, metadata, pairs, err);
}

// --- reading ------------------------------------------------------------------------------------

static zenith_status bad(const char *name, const char *what, zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE, "%s: %s; a diffusion autoencoder's code is expected", name,
                   what);
}

// A number of metadata, or a list of two.
static bool read_numbers(const zn_safetensors *file, const char *key, int count, int64_t most,
                         int64_t *out)
{
    const char *text = zn_safetensors_metadata(file, key);
    zn_json *value = NULL;
    if (!text || zn_json_parse(text, strlen(text), key, &value, NULL) != ZENITH_OK) return false;
    bool read = count == 1 || zn_json_size(value) == (size_t)count;
    for (int i = 0; read && i < count; i++)
        read = zn_json_as_integer(count == 1 ? value : zn_json_at(value, (size_t)i), &out[i]) &&
               out[i] >= 1 && out[i] <= most;
    zn_json_free(value);
    return read;
}

static zenith_status take_facts(const zn_safetensors *file, const char *name, zn_diffae_code *out,
                                zn_error *err)
{
    const char *model = zn_safetensors_metadata(file, "zenith.model");
    const char *weights = zn_safetensors_metadata(file, "zenith.weights");
    int64_t sides[2], steps = 0;
    if (!model || strcmp(model, "diffae") != 0) return bad(name, "zenith.model is not diffae", err);
    if (!read_numbers(file, "zenith.size", 2, MOST_SIDE, sides))
        return bad(name, "zenith.size is no [width,height]", err);
    if (weights && strlen(weights) >= sizeof out->weights)
        return bad(name, "zenith.weights is no SHA-256", err);
    if (zn_safetensors_find(file, "x_T") &&
        !read_numbers(file, "zenith.steps", 1, MOST_STEPS, &steps))
        return bad(name, "zenith.steps is no number of steps", err);
    zn_text_format(out->weights, sizeof out->weights, "%s", weights ? weights : "");
    out->width = (uint32_t)sides[0];
    out->height = (uint32_t)sides[1];
    out->steps = (int)steps;
    return ZENITH_OK;
}

static zenith_status take_tensor(const zn_file_tensor *tensor, const char *name, float **out,
                                 size_t *count, zn_error *err)
{
    if (tensor->type != ZN_F32 || !tensor->supported || !zn_shape_elements(&tensor->shape, count))
        return bad(name, "a tensor is not of f32", err);
    *out = zn_alloc(*count * sizeof **out); // no more than the file has
    if (!*out) return zn_fail_memory(err, *count * sizeof **out);
    ZN_TRY(zn_file_tensor_read(tensor, *out, err));
    if (zn_all_finite(ZN_F32, *out, *count)) return ZENITH_OK;
    return bad(name, "there is NaN or infinity in it", err);
}

static zenith_status take_all(const zn_safetensors *file, const char *name, zn_diffae_code *out,
                              zn_error *err)
{
    const zn_file_tensor *code = zn_safetensors_find(file, "z");
    const zn_file_tensor *noise = zn_safetensors_find(file, "x_T");
    size_t count = 0;
    if (!code || code->shape.rank != 1 || code->shape.dim[0] < 1 ||
        code->shape.dim[0] > MOST_NUMBERS)
        return bad(name, "there is no tensor z of rank 1", err);
    ZN_TRY(take_facts(file, name, out, err));
    ZN_TRY(take_tensor(code, name, &out->code, &out->numbers, err));
    if (!noise) return ZENITH_OK;
    const int64_t *dim = noise->shape.dim;
    const int64_t factor = noise->shape.rank == 3 && dim[1] >= 1 ? out->height / dim[1] : 0;
    if (factor < 1 || dim[0] < 1 || dim[0] > MOST_CHANNELS || dim[1] * factor != out->height ||
        dim[2] * factor != out->width)
        return bad(name, "x_T is not [channels, height, width] of zenith.size, or of a part of it",
                   err);
    out->channels = (uint32_t)dim[0];
    out->factor = (uint32_t)factor;
    return take_tensor(noise, name, &out->noise, &count, err);
}

static zenith_status take(zn_safetensors *file, const char *name, zn_diffae_code *out,
                          zn_error *err)
{
    zn_diffae_code read = {.channels = 0};
    zenith_status status = take_all(file, name, &read, err);
    zn_safetensors_free(file);
    if (status == ZENITH_OK)
        *out = read;
    else
        zn_diffae_code_free(&read);
    return status;
}

zenith_status zn_diffae_code_open(const char *path, zn_diffae_code *out, zn_error *err)
{
    zn_safetensors *file = NULL;
    ZN_TRY(zn_safetensors_open(path, &file, err));
    return take(file, path, out, err);
}

zenith_status zn_diffae_code_read(const uint8_t *data, size_t size, const char *name,
                                  zn_diffae_code *out, zn_error *err)
{
    zn_safetensors *file = NULL;
    ZN_TRY(zn_safetensors_open_memory(data, size, name, &file, err));
    return take(file, name, out, err);
}

void zn_diffae_code_free(zn_diffae_code *code)
{
    zn_free(code->code);
    zn_free(code->noise);
    *code = (zn_diffae_code){.channels = 0};
}
