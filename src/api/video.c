// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Clips: pictures and latents of video, a step at a time.
#include "src/api/context.h"
#include "src/api/models.h"
#include "src/base/memory.h"
#include "src/task/autoencode/clip.h"

struct zenith_clip {
    zenith_context *context;
    zn_clip *inner;
    zenith_run_facts *facts; // the caller's; NULL: not wanted
};

static zenith_status open_clip(zenith_context *context, zenith_model *model,
                               const zenith_clip_params *params, zenith_clip **out)
{
    zenith_clip_params p;
    ZN_TRY(zn_params_copy(params, &p, sizeof p, &context->error));
    if (!model || !out || (p.part != ZENITH_ENCODER && p.part != ZENITH_DECODER) ||
        p.number > ZENITH_F32)
        return zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                       "the model or the result is NULL, the part is unknown, or the images are "
                       "neither u8 nor f32");
    zn_clip_request request = {.model = model->inner,
                               .part = p.part,
                               .width = p.width,
                               .height = p.height,
                               .pixels = p.number == ZENITH_F32 ? ZENITH_F32 : ZENITH_U8};
    ZN_TRY(zn_run_params_fill(context, p.run, &request.params, &context->error));
    zenith_clip *clip = zn_alloc_zero(sizeof *clip);
    if (!clip) return zn_fail_memory(&context->error, sizeof *clip);
    clip->context = context;
    clip->facts = request.params.facts;
    zenith_status status = zn_clip_open(context->engine, &request, &clip->inner, &context->error);
    if (status == ZENITH_OK)
        *out = clip;
    else
        zn_free(clip);
    return status;
}

zenith_status zenith_clip_open(zenith_context *context, zenith_model *model,
                               const zenith_clip_params *params, zenith_clip **out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, open_clip(context, model, params, out));
}

void zenith_clip_free(zenith_clip *clip)
{
    if (!clip) return;
    const bool entered = zn_context_enter(clip->context) == ZENITH_OK;
    zn_clip_free(clip->inner);
    if (entered) (void)zn_context_leave(clip->context, ZENITH_OK);
    zn_free(clip);
}

uint32_t zenith_clip_frames(const zenith_clip *clip)
{
    return (uint32_t)zn_clip_frames(clip->inner);
}

uint64_t zenith_clip_bytes(const zenith_clip *clip)
{
    return zn_clip_bytes(clip->inner);
}

void zenith_clip_reset(zenith_clip *clip)
{
    zn_clip_reset(clip->inner);
}

static zenith_status make_step(zenith_clip *clip, const zenith_image *images,
                               const zenith_latent *latent)
{
    const double begun = zn_clock_seconds();
    ZN_TRY(zn_clip_step(clip->inner, images, latent, &clip->context->error));
    if (!clip->facts) return ZENITH_OK;
    zenith_run_facts facts = zn_clip_facts(clip->inner);
    facts.seconds = zn_clock_seconds() - begun;
    zn_caller_struct_out(&facts, sizeof facts, clip->facts);
    return ZENITH_OK;
}

zenith_status zenith_clip_step(zenith_clip *clip, const zenith_image *images, size_t count,
                               const zenith_latent *latent)
{
    if (!clip) return ZENITH_INVALID_ARGUMENT;
    zenith_context *context = clip->context;
    ZN_TRY(zn_context_enter(context));
    zenith_status status = ZENITH_OK;
    if (!images || !latent || count != (size_t)zn_clip_frames(clip->inner))
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "this step has one latent and %d pictures (zenith_clip_frames), not %zu",
                         zn_clip_frames(clip->inner), count);
    else
        status = make_step(clip, images, latent);
    return zn_context_leave(context, status);
}
