// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Saving what is in memory: latents with the facts without which their numbers mean nothing, and
// float pictures as npy.
#include "src/api/context.h"
#include "src/api/memory_files.h"
#include "src/base/memory.h"
#include "src/format/latent/file.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/npy.h"
#include "src/model/autoencoder.h"
#include "src/task/autoencode/picture.h"
#include "src/task/autoencode/pixels.h"

#include <string.h>

static const struct {
    const char *name;
    zn_latent_format format;
} formats[] = {
    {"safetensors", ZN_LATENT_SAFETENSORS}, {"latent", ZN_LATENT_COMFY}, {"npy", ZN_LATENT_NPY}};

static zenith_status choose_format(const char *path, const char *name, zn_latent_format *out,
                                   zn_error *err)
{
    if (!name) {
        *out = zn_latent_format_of(path);
        return ZENITH_OK;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(name, formats[i].name) == 0) {
            *out = formats[i].format;
            return ZENITH_OK;
        }
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "Latents cannot be written as '%s', only as safetensors, latent or npy.", name);
}

static zenith_status choose_type(zenith_number number, zn_type *out, zn_error *err)
{
    switch (number) {
    case ZENITH_NUMBER_DEFAULT:
    case ZENITH_F32:
        *out = ZN_F32;
        return ZENITH_OK;
    case ZENITH_F16:
        *out = ZN_F16;
        return ZENITH_OK;
    case ZENITH_BF16:
        *out = ZN_BF16;
        return ZENITH_OK;
    default:
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "Latents are stored as f32, f16 or bf16, not as number type %d.",
                       (int)number);
    }
}

static zenith_status fill_facts(const zenith_latent_save_params *params, zenith_space space,
                                zn_latent_facts *out, zn_error *err)
{
    zn_latent_facts facts = {0};
    const char *model = params->model ? params->model : "";
    if (strlen(model) >= sizeof facts.model)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "The model's name is longer than %zu letters.",
                       sizeof facts.model - 1);
    memcpy(facts.model, model, strlen(model) + 1);
    bool raw = space == ZENITH_SPACE_RAW;
    memcpy(facts.space, raw ? "raw" : "model", raw ? sizeof "raw" : sizeof "model");
    facts.has_scale = *model && zn_model_space(model, &facts.scale, &facts.shift);
    facts.frames = params->frames;
    if (params->source) {
        zenith_source_info source;
        ZN_TRY(zn_params_copy(params->source, &source, sizeof source, err));
        // As the crop is: in pixels of the picture turned upright.
        facts.source_width = source.turned_width, facts.source_height = source.turned_height;
        facts.crop_x = source.crop_x, facts.crop_y = source.crop_y;
        facts.crop_width = source.crop_width, facts.crop_height = source.crop_height;
        memcpy(facts.pipeline, ZN_PIPELINE_VERSION, sizeof ZN_PIPELINE_VERSION);
    }
    *out = facts;
    return ZENITH_OK;
}

// Latent i of the caller's array, whose elements have the size that his header gave them.
static zenith_status latent_at(const zenith_latent *latents, size_t i, zenith_latent *out,
                               zn_error *err)
{
    ZN_TRY(zn_caller_element_in(latents, i, ZN_SIZE_UP_TO(zenith_latent, cookie), out, sizeof *out,
                                err));
    bool stored = out->data &&
                  (out->number == ZENITH_NUMBER_DEFAULT || out->number == ZENITH_F32) &&
                  (out->order == ZENITH_ORDER_DEFAULT || out->order == ZENITH_CHW);
    if (!stored)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "Latent %zu cannot be saved: it must be data in memory, F32, in the order CHW.", i);
    return ZENITH_OK;
}

static bool is_moments(const zenith_latent *latent)
{
    return latent->kind == ZENITH_LATENT_MOMENTS;
}

static zenith_status check_alike(const zenith_latent *latents, size_t count, zenith_latent *first,
                                 zn_error *err)
{
    for (size_t i = 0; i < count; i++) {
        zenith_latent latent;
        ZN_TRY(latent_at(latents, i, &latent, err));
        if (i == 0) *first = latent;
        if (latent.width != first->width || latent.height != first->height ||
            latent.channels != first->channels || latent.space != first->space ||
            is_moments(&latent) != is_moments(first))
            return zn_fail(
                err, ZENITH_INVALID_ARGUMENT,
                "Latents 0 and %zu differ in size, space or kind, so they cannot share a file.", i);
    }
    return ZENITH_OK;
}

// Moments have two tensors in the file, and a latent's lie one after the other in its data.
static zenith_status write_latents(zn_writer *file, zn_type type, const zenith_latent *latents,
                                   size_t count, size_t tensors, zn_error *err)
{
    for (size_t i = 0; i < count * tensors; i++) {
        zenith_latent latent;
        ZN_TRY(latent_at(latents, i % count, &latent, err));
        const size_t elements = (size_t)latent.channels / tensors * latent.height * latent.width;
        const float *data = latent.data;
        ZN_TRY(zn_latent_write_image(file, type, data + i / count * elements, elements, err));
    }
    return ZENITH_OK;
}

static zenith_status save_latents(const zn_place *place, const zenith_latent *latents, size_t count,
                                  const zenith_latent_save_params *params, zn_error *err)
{
    zenith_latent_save_params full;
    zenith_latent first = {.size = 0};
    zn_latent_format format = ZN_LATENT_SAFETENSORS;
    zn_type type = ZN_F32;
    zn_latent_facts facts;
    ZN_TRY(zn_params_copy(params, &full, sizeof full, err));
    ZN_TRY(choose_format(place->path, full.format, &format, err));
    ZN_TRY(choose_type(full.number, &type, err));
    ZN_TRY(check_alike(latents, count, &first, err));
    ZN_TRY(fill_facts(&full, first.space, &facts, err));
    const bool moments = is_moments(&first);
    const uint32_t tensors = moments ? 2 : 1;
    if (first.channels % tensors != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "Moments have an even number of channels, not %u.", first.channels);
    zn_shape shape = {.rank = 4,
                      .dim = {(int64_t)count, first.channels / tensors, first.height, first.width}};
    zn_writer *file = NULL;
    zenith_status status;
    ZN_GO(zn_place_open(place, &file, err));
    ZN_GO(zn_latent_write_header(file, format, &shape, type, moments, &facts, err));
    ZN_GO(write_latents(file, type, latents, count, tensors, err));
    return zn_writer_commit(file, err);
fail:
    zn_writer_discard(file);
    return status;
}

zenith_status zenith_latent_save(zenith_context *context, const char *path,
                                 const zenith_latent *latents, size_t count,
                                 const zenith_latent_save_params *params)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if (!path || !latents || !count)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_latent_save needs a path and at least one latent.");
    else
        status = save_latents(&(zn_place){path, NULL}, latents, count, params, &context->error);
    return zn_context_leave(context, status);
}

zenith_status zenith_latent_save_bytes(zenith_context *context, zenith_bytes *to,
                                       const zenith_latent *latents, size_t count,
                                       const zenith_latent_save_params *params)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if (!to || !latents || !count)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_latent_save_bytes needs bytes and at least one latent.");
    else
        status = save_latents(&(zn_place){"latent.safetensors", to}, latents, count, params,
                              &context->error);
    return zn_context_leave(context, status);
}

static zenith_status write_planes(zn_writer *file, const zenith_image *image, float *row,
                                  uint8_t *stored, zn_error *err)
{
    const float *src = image->data; // [h][w][3]
    size_t w = image->width;
    for (size_t channel = 0; channel < 3; channel++)
        for (size_t y = 0; y < image->height; y++) {
            for (size_t x = 0; x < w; x++) row[x] = src[(y * w + x) * 3 + channel];
            zn_elements_from_f32(ZN_F32, row, w, stored);
            ZN_TRY(zn_writer_write(file, stored, w * sizeof *row, err));
        }
    return ZENITH_OK;
}

static zenith_status save_image(const zn_place *place, const zenith_image *image, zn_error *err)
{
    zenith_image full;
    ZN_TRY(zn_image_take(image, 0, &full, err));
    const bool stored = zn_image_plain(&full) && full.number == ZENITH_F32;
    if (!stored || !full.width || !full.height)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "An image is saved as npy only from data in memory: F32 RGB, in the order "
                       "HWC, without gaps between rows.");
    zn_shape shape = {.rank = 4, .dim = {1, 3, full.height, full.width}};
    zn_writer *file = NULL;
    zenith_status status = ZENITH_OK;
    size_t bytes = full.width * sizeof(float);
    float *row = zn_alloc(bytes);
    uint8_t *line = zn_alloc(bytes);
    if (!row || !line) ZN_GO(zn_fail_memory(err, bytes));
    ZN_GO(zn_place_open(place, &file, err));
    ZN_GO(zn_npy_write_header(file, ZN_F32, &shape, err));
    ZN_GO(write_planes(file, &full, row, line, err));
    status = zn_writer_commit(file, err);
    file = NULL;
fail:
    zn_writer_discard(file);
    zn_free(line);
    zn_free(row);
    return status;
}

zenith_status zenith_image_save_npy(zenith_context *context, const char *path,
                                    const zenith_image *image)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if (!path || !image)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_image_save_npy needs a path and a picture.");
    else
        status = save_image(&(zn_place){path, NULL}, image, &context->error);
    return zn_context_leave(context, status);
}

zenith_status zenith_image_save_npy_bytes(zenith_context *context, zenith_bytes *to,
                                          const zenith_image *image)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if (!to || !image)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_image_save_npy_bytes needs bytes and a picture.");
    else
        status = save_image(&(zn_place){"picture.npy", to}, image, &context->error);
    return zn_context_leave(context, status);
}
