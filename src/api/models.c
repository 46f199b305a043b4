// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/api/models.h"

#include "src/api/context.h"
#include "src/model/autoencoder.h"

enum { MOST_FILES = 256 }; // of a model that is not on disk

// What a file has in memory, or what its function reads, into `held`.
static zenith_status take_file(const zenith_file *files, size_t i, zn_arena *held,
                               zn_memory_file *out, zn_error *err)
{
    zenith_file file;
    ZN_TRY(zn_caller_element_in(files, i, sizeof file, &file, sizeof file, err));
    if (!file.name || (!file.data && !file.read) || file.bytes > SIZE_MAX)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "file %zu of the model needs a name, and data or a function that reads it",
                       i);
    *out = (zn_memory_file){.name = file.name, .data = file.data, .size = (size_t)file.bytes};
    if (file.data) return ZENITH_OK;
    uint8_t *bytes = zn_arena_alloc(held, out->size);
    if (!bytes) return zn_fail_memory(err, out->size);
    out->data = bytes;
    const zenith_status status = file.read(file.cookie, 0, bytes, out->size);
    if (status == ZENITH_OK) return ZENITH_OK;
    return zn_fail(err, status, "%s: the function that reads it failed: %s", file.name,
                   zenith_status_text(status));
}

static zenith_status open_files(const zenith_model_params *params, zn_model_request *request,
                                zn_model **out, zn_error *err)
{
    zn_arena held = {0};
    zn_memory_file *files = zn_arena_alloc(&held, params->file_count * sizeof *files);
    zenith_status status = files ? ZENITH_OK : zn_fail_memory(err, SIZE_MAX);
    for (size_t i = 0; status == ZENITH_OK && i < params->file_count; i++)
        status = take_file(params->files, i, &held, &files[i], err);
    request->files = files;
    request->file_count = params->file_count;
    request->held = &held;
    if (status == ZENITH_OK) status = zn_model_open(request, out, err);
    zn_arena_free(&held);
    return status;
}

static zenith_status open_inner(const zenith_model_params *params, zn_model **out, zn_error *err)
{
    zn_model_request request = {.name = params->name,
                                .weights = params->weights,
                                .parts = zn_autoencoder_names(params->parts)};
    if (!params->file_count) return zn_model_open(&request, out, err);
    if (params->weights || !params->files || params->file_count > MOST_FILES)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a model is opened either from `weights` or from 1 to %d `files`",
                       MOST_FILES);
    return open_files(params, &request, out, err);
}

static zenith_status open(zenith_context *context, const zenith_model_params *params,
                          zenith_model **out)
{
    zn_error *err = &context->error;
    zenith_model_params filled;
    if (!params || !out) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "params or out is NULL");
    ZN_TRY(zn_params_copy(params, &filled, sizeof filled, err));
    zenith_model *model = zn_alloc_zero(sizeof *model);
    if (!model) return zn_fail_memory(err, sizeof *model);
    zenith_status status = open_inner(&filled, &model->inner, err);
    if (status != ZENITH_OK) {
        zn_free(model);
        return status;
    }
    if (model->inner->unexpected) {
        zn_log_write(&context->log, ZN_LOG_WARNING,
                     "%zu tensors of these weights are not used by %s", model->inner->unexpected,
                     model->inner->variant->name);
    }
    *out = model;
    return ZENITH_OK;
}

zenith_status zenith_model_open(zenith_context *context, const zenith_model_params *params,
                                zenith_model **out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, open(context, params, out));
}

void zenith_model_free(zenith_model *model)
{
    if (!model) return;
    zn_model_close(model->inner);
    zn_free(model);
}

const char *zenith_model_weights_sha256(const zenith_model *model)
{
    return model ? zn_model_sha256(model->inner) : NULL;
}

// Not where a caller who asks for a name would wait for it: a processor hashes some 150 MB in a
// second.
static bool tells_hash(const zn_model *model)
{
    enum { QUICK = 16 << 20 }; // parameters
    return model->variant->autoencoder && (model->parameters <= QUICK || zn_model_hashed(model));
}

void zenith_model_get_info(const zenith_model *model, zenith_model_info *out)
{
    if (!model || !out) return;
    const zn_model *inner = model->inner;
    const zn_variant *variant = inner->variant;
    static const zn_autoencoder_facts none = {.latent_channels = 0};
    const zn_autoencoder_facts *facts = variant->autoencoder ? variant->autoencoder : &none;
    const char *problem = zn_model_calibration_problem(inner);
    const zenith_model_info info = {
        .name = variant->name,
        .description = variant->description,
        .parts = zn_autoencoder_flags(inner),
        .latent_channels = (uint32_t)facts->latent_channels,
        .factor = (uint32_t)facts->factor,
        .has_raw = facts->has_raw && !facts->mean,
        .scale = facts->scale,
        .shift = facts->shift,
        .parameters = inner->parameters,
        .weights_sha256 = tells_hash(inner) ? zn_model_sha256(inner) : NULL,
        .has_int8 = zn_model_has_int8(inner),
        .can_int8 = variant->int8 != ZN_INT8_NONE,
        .weights_path = zn_weights_file(inner->weights, zn_weights_get(inner->weights, 0)),
        .has_moments = inner->family->moments && zn_model_part(inner, "encoder"),
        .frames = (uint32_t)facts->frames,
        .first_frames = (uint32_t)facts->first_frames,
        .calibration_problem = *problem ? problem : NULL};
    zn_caller_struct_out(&info, sizeof info, out);
}

zenith_status zn_weight_type(zenith_number number, zn_type *out, zn_error *err)
{
    static const struct {
        zenith_number number;
        zn_type type;
    } stored[] = {{ZENITH_NUMBER_DEFAULT, ZN_F32},
                  {ZENITH_F32, ZN_F32},
                  {ZENITH_F16, ZN_F16},
                  {ZENITH_BF16, ZN_BF16},
                  {ZENITH_F8_E4M3, ZN_F8_E4M3},
                  {ZENITH_F8_E5M2, ZN_F8_E5M2}};
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++)
        if (stored[i].number == number) {
            *out = stored[i].type;
            return ZENITH_OK;
        }
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "Weights are stored as f32, f16, bf16, f8_e4m3 or f8_e5m2, not as number type "
                   "%d.",
                   (int)number);
}

static zenith_status save(const zn_model *model, const char *path, zenith_number number,
                          zn_error *err)
{
    zn_type type = ZN_F32;
    ZN_TRY(zn_weight_type(number, &type, err));
    return zn_model_write(model, path, type, err);
}

zenith_status zenith_model_save(zenith_context *context, const zenith_model *model,
                                const char *path, zenith_number number)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status = model && path ? save(model->inner, path, number, &context->error)
                                         : zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                                                   "model or path is NULL");
    return zn_context_leave(context, status);
}

const char *zenith_model_name(size_t index)
{
    const zn_variant *variant = zn_variant_at(index);
    return variant ? variant->name : NULL;
}

const char *zenith_model_description(size_t index)
{
    const zn_variant *variant = zn_variant_at(index);
    return variant ? variant->description : NULL;
}

bool zenith_models_share_latents(const char *a, const char *b)
{
    const zn_variant *x = a ? zn_variant_find(a) : NULL, *y = b ? zn_variant_find(b) : NULL;
    if (!x || !y) return false;
    if (x == y) return true;
    return x->autoencoder && y->autoencoder && zn_latents_equal(x->autoencoder, y->autoencoder);
}
