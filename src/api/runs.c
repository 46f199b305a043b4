// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Encode, decode, estimate, calibrate, and the flag that stops them.
#include "src/api/context.h"
#include "src/api/models.h"
#include "src/base/memory.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/convert/calibrate.h"
#include "zenith/train.h"

// --- cancel -------------------------------------------------------------------------------------

zenith_status zenith_cancel_create(zenith_cancel **out)
{
    if (!out) return ZENITH_INVALID_ARGUMENT;
    zenith_cancel *cancel = zn_alloc_zero(sizeof *cancel);
    if (!cancel) return ZENITH_OUT_OF_MEMORY;
    atomic_init(&cancel->requested, 0);
    *out = cancel;
    return ZENITH_OK;
}

void zenith_cancel_free(zenith_cancel *cancel)
{
    zn_free(cancel);
}

void zenith_cancel_request(zenith_cancel *cancel)
{
    atomic_store(&cancel->requested, 1);
}

void zenith_cancel_reset(zenith_cancel *cancel)
{
    atomic_store(&cancel->requested, 0);
}

// --- runs ---------------------------------------------------------------------------------------

zenith_status zn_run_params_fill(const zenith_context *context, const zenith_run_params *params,
                                 zenith_run_params *out, zn_error *err)
{
    ZN_TRY(zn_params_copy(params, out, sizeof *out, err));
    if (out->dtype == ZENITH_DTYPE_DEFAULT) out->dtype = zn_default_dtype(&context->cpu);
    bool known = (int)out->dtype > 0 && out->dtype <= ZENITH_DTYPE_INT8 && (int)out->bands >= 0 &&
                 out->bands <= ZENITH_BANDS_ROWS;
    if (known) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "an unknown dtype or kind of bands");
}

static zenith_status run(zenith_context *context, zenith_model *model, unsigned part,
                         const zenith_image *images, const zenith_latent *latents, size_t count,
                         const zenith_run_params *params)
{
    zn_batch batch = {.part = part, .images = images, .latents = latents, .count = count};
    if (!model || ((!images || !latents) && count > 0)) {
        return zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                       "the model, the pictures or the latents are NULL");
    }
    batch.model = model->inner;
    ZN_TRY(zn_run_params_fill(context, params, &batch.params, &context->error));
    zenith_run_facts facts = {0}, *wanted = batch.params.facts;
    batch.params.facts = &facts;
    zenith_status status = zn_autoencode(context->engine, &batch, &context->error);
    const bool ran = status == ZENITH_OK || status == ZENITH_PARTIAL;
    if (ran && wanted) zn_caller_struct_out(&facts, sizeof facts, wanted);
    return status;
}

zenith_status zenith_encode(zenith_context *context, zenith_model *model,
                            const zenith_image *images, const zenith_latent *latents, size_t count,
                            const zenith_run_params *params)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context,
                            run(context, model, ZENITH_ENCODER, images, latents, count, params));
}

zenith_status zenith_decode(zenith_context *context, zenith_model *model,
                            const zenith_latent *latents, const zenith_image *images, size_t count,
                            const zenith_run_params *params)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context,
                            run(context, model, ZENITH_DECODER, images, latents, count, params));
}

static zenith_status estimate(zenith_context *context, zenith_model *model, unsigned part,
                              uint32_t width, uint32_t height, bool streamed,
                              const zenith_run_params *params, zenith_estimate_info *out)
{
    zenith_run_params filled;
    zenith_estimate_info info = {0};
    if (!model || !out || (part != ZENITH_ENCODER && part != ZENITH_DECODER)) {
        return zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                       "the model or the result is NULL, or the part is unknown");
    }
    ZN_TRY(zn_run_params_fill(context, params, &filled, &context->error));
    ZN_TRY(zn_estimate(context->engine, model->inner, part, width, height, streamed, &filled, &info,
                       &context->error));
    zn_caller_struct_out(&info, sizeof info, out);
    return ZENITH_OK;
}

zenith_status zenith_estimate(zenith_context *context, zenith_model *model, unsigned part,
                              uint32_t width, uint32_t height, bool streamed,
                              const zenith_run_params *params, zenith_estimate_info *out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context,
                            estimate(context, model, part, width, height, streamed, params, out));
}

static zenith_status calibrate(zenith_context *context, zenith_model *model,
                               const zenith_image *images, size_t count, const char *path,
                               const zenith_run_params *params)
{
    zenith_run_params filled;
    if (!model || !images || !path) {
        return zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                       "the model, the pictures or the path are NULL");
    }
    ZN_TRY(zn_run_params_fill(context, params, &filled, &context->error));
    return zn_calibrate(context->engine, model->inner, images, count, path, &filled,
                        &context->error);
}

zenith_status zenith_calibrate(zenith_context *context, zenith_model *model,
                               const zenith_image *images, size_t count, const char *path,
                               const zenith_run_params *params)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, calibrate(context, model, images, count, path, params));
}
