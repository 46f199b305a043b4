// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tried in this order: a picture (by its first bytes), a latent (one tensor, or our metadata),
// codes of diffusion autoencoders, any array (npy), a checkpoint of a training run (by its
// metadata).
#include "src/task/inspect/bytes.h"

#include "src/base/json.h"
#include "src/format/image/image.h"
#include "src/format/latent/code_set.h"
#include "src/format/latent/diffae_code.h"
#include "src/format/latent/file.h"
#include "src/format/tensor/npy.h"
#include "src/format/tensor/safetensors.h"

#include <stdlib.h>

typedef struct bytes {
    const uint8_t *data;
    size_t size;
    const char *name;
} bytes;

json_t *zn_shape_json(const zn_shape *shape)
{
    json_t *list = json_array();
    for (int i = 0; i < shape->rank; i++) {
        json_array_append_new(list, json_integer((json_int_t)shape->dim[i]));
    }
    return list;
}

// --- pictures and latents -----------------------------------------------------------------------

static zenith_status inspect_picture(const bytes *b, json_t **out, zn_error *err)
{
    zn_image_reader *reader = NULL;
    zn_image_options options = zn_image_options_default();
    options.first_frame = true;
    if (zn_image_sniff(b->data, b->size) == ZN_IMAGE_UNKNOWN) return ZENITH_UNSUPPORTED;
    ZN_TRY(zn_image_reader_open(b->data, b->size, &options, &reader, err));
    const zn_image_facts *facts = zn_image_reader_facts(reader);
    *out = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:b, s:b, s:b, s:s}", "kind", "picture",
                     "format", zn_image_format_name(facts->format), "width", (int)facts->width,
                     "height", (int)facts->height, "orientation", facts->orientation, "bits",
                     facts->bits, "channels", facts->channels, "alpha", (int)facts->has_alpha,
                     "profile", (int)facts->has_icc, "animated", (int)facts->animated, "colour",
                     facts->colour);
    zn_image_reader_free(reader);
    return ZENITH_OK;
}

// What the file says; npy says nothing.
static void add_latent_facts(json_t *json, const zn_latent_facts *facts)
{
    if (*facts->model) json_object_set_new(json, "model", json_string(facts->model));
    if (*facts->space) json_object_set_new(json, "space", json_string(facts->space));
    if (facts->has_scale) {
        json_object_set_new(json, "scale", json_real((double)facts->scale));
        json_object_set_new(json, "shift", json_real((double)facts->shift));
    }
    if (facts->source_width) {
        json_object_set_new(json, "source_width", json_integer(facts->source_width));
        json_object_set_new(json, "source_height", json_integer(facts->source_height));
    }
    if (facts->frames) json_object_set_new(json, "frames", json_integer(facts->frames));
    if (facts->crop_width)
        json_object_set_new(json, "crop",
                            json_pack("[i, i, i, i]", (int)facts->crop_x, (int)facts->crop_y,
                                      (int)facts->crop_width, (int)facts->crop_height));
}

static zenith_status inspect_latent(const bytes *b, json_t **out)
{
    zn_latent_file *file = NULL;
    ZN_TRY(zn_latent_file_open_memory(b->data, b->size, b->name, &file, NULL));
    const zn_latent_facts *facts = zn_latent_file_facts(file);
    const zn_shape shape = zn_latent_file_shape(file);
    *out = json_pack("{s:s, s:o, s:s}", "kind", "latent", "shape", zn_shape_json(&shape), "type",
                     zn_type_name(zn_latent_file_type(file)));
    add_latent_facts(*out, facts);
    zn_latent_file_free(file);
    return ZENITH_OK;
}

// --- codes and checkpoints ----------------------------------------------------------------------

static void add_size(json_t *json, uint32_t width, uint32_t height, const char *weights)
{
    if (width) json_object_set_new(json, "width", json_integer(width));
    if (height) json_object_set_new(json, "height", json_integer(height));
    if (*weights) json_object_set_new(json, "weights", json_string(weights));
}

static zenith_status inspect_code(const bytes *b, json_t **out)
{
    zn_diffae_code code = {.numbers = 0};
    ZN_TRY(zn_diffae_code_read(b->data, b->size, b->name, &code, NULL));
    *out = json_pack("{s:s, s:I, s:b}", "kind", "code", "numbers", (json_int_t)code.numbers,
                     "noise", code.noise != NULL);
    if (code.steps) json_object_set_new(*out, "steps", json_integer(code.steps));
    add_size(*out, code.width, code.height, code.weights);
    zn_diffae_code_free(&code);
    return ZENITH_OK;
}

static zenith_status inspect_codes(const bytes *b, json_t **out)
{
    zn_code_set set = {.count = 0};
    ZN_TRY(zn_code_set_read(b->data, b->size, b->name, &set, NULL));
    *out = json_pack("{s:s, s:I, s:I, s:I}", "kind", "codes", "count", (json_int_t)set.count,
                     "numbers", (json_int_t)set.numbers, "failed",
                     (json_int_t)json_array_size(set.failed));
    add_size(*out, set.width, set.height, set.weights);
    zn_code_set_free(&set);
    return ZENITH_OK;
}

// Such as codes without their names, which are an array of two dimensions.
static zenith_status inspect_array(const bytes *b, json_t **out)
{
    zn_npy array;
    if (!zn_npy_is(b->data, b->size)) return ZENITH_UNSUPPORTED;
    ZN_TRY(zn_npy_parse(b->data, b->size, b->name, &array, NULL));
    *out = json_pack("{s:s, s:o, s:s}", "kind", "array", "shape", zn_shape_json(&array.shape),
                     "type", zn_type_name(array.type));
    return ZENITH_OK;
}

static zenith_status inspect_checkpoint(const bytes *b, json_t **out)
{
    zn_safetensors *file = NULL;
    ZN_TRY(zn_safetensors_open_memory(b->data, b->size, b->name, &file, NULL));
    const char *step = zn_safetensors_metadata(file, "zenith.step");
    if (step && zn_safetensors_metadata(file, "zenith.config"))
        *out = json_pack("{s:s, s:I, s:I}", "kind", "checkpoint", "step",
                         (json_int_t)strtoll(step, NULL, 10), "tensors",
                         (json_int_t)zn_safetensors_count(file));
    zn_safetensors_free(file);
    return *out ? ZENITH_OK : ZENITH_UNSUPPORTED;
}

zenith_status zn_inspect_bytes(const uint8_t *data, size_t size, const char *name, json_t **out,
                               zn_error *err)
{
    static zenith_status (*const kinds[])(const bytes *, json_t **) = {
        inspect_latent, inspect_code, inspect_codes, inspect_array, inspect_checkpoint};
    const bytes b = {data, size, name};
    zenith_status status = inspect_picture(&b, out, err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (status != ZENITH_UNSUPPORTED) return status;
        status = kinds[i](&b, out);
        if (status != ZENITH_OK && status != ZENITH_OUT_OF_MEMORY) status = ZENITH_UNSUPPORTED;
    }
    return status;
}
