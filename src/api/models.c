// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/api/models.h"

#include "src/api/context.h"

static zenith_status open(zenith_context *context, const zenith_model_params *params,
                          zenith_model **out)
{
    zn_error *err = &context->error;
    zenith_model_params filled;
    if (!params || !out) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "params or out is NULL");
    ZN_TRY(zn_params_copy(params, &filled, sizeof filled, err));
    zenith_model *model = zn_alloc_zero(sizeof *model);
    if (!model) return zn_fail_memory(err, sizeof *model);
    const zn_model_request request = {filled.name, filled.weights, filled.parts};
    zenith_status status = zn_model_open(&request, &model->inner, err);
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
    zn_model_unref(model->inner);
    zn_free(model);
}

void zenith_model_get_info(const zenith_model *model, zenith_model_info *out)
{
    if (!model || !out) return;
    const zn_model *inner = model->inner;
    const zn_variant *variant = inner->variant;
    const zenith_model_info info = {.name = variant->name,
                                    .description = variant->description,
                                    .parts = inner->parts,
                                    .latent_channels = (uint32_t)variant->latent_channels,
                                    .factor = (uint32_t)variant->factor,
                                    .has_raw = variant->has_raw,
                                    .scale = variant->scale,
                                    .shift = variant->shift,
                                    .parameters = inner->parameters,
                                    .weights_sha256 = inner->sha256,
                                    .has_int8 = inner->calibration != NULL};
    zn_info_copy(&info, sizeof info, out);
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
