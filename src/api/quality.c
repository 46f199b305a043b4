// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of picture quality.
#include "src/api/context.h"
#include "src/api/models.h"
#include "src/base/memory.h"
#include "src/task/autoencode/pixels.h"
#include "src/task/quality/judge.h"

#include <math.h>

struct zenith_judge {
    zn_judge *inner;
};

static zenith_status open(zenith_context *context, const zenith_judge_params *params,
                          zenith_judge **out)
{
    zn_error *err = &context->error;
    zenith_judge_params filled;
    if (!out) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "out is NULL");
    ZN_TRY(zn_params_copy(params, &filled, sizeof filled, err));
    zenith_judge *judge = zn_alloc_zero(sizeof *judge);
    if (!judge) return zn_fail_memory(err, sizeof *judge);
    zenith_status status = zn_judge_open(filled.squeezenet, filled.weights, &judge->inner, err);
    if (status != ZENITH_OK) {
        zn_free(judge);
        return status;
    }
    *out = judge;
    return ZENITH_OK;
}

zenith_status zenith_judge_open(zenith_context *context, const zenith_judge_params *params,
                                zenith_judge **out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, open(context, params, out));
}

void zenith_judge_free(zenith_judge *judge)
{
    if (!judge) return;
    zn_judge_free(judge->inner);
    zn_free(judge);
}

const char *zenith_judge_get_squeezenet(const zenith_judge *judge)
{
    return judge ? zn_judge_squeezenet(judge->inner) : NULL;
}

// --- comparing ----------------------------------------------------------------------------------

static bool in_memory(const zenith_image *image)
{
    return zn_image_plain(image) && image->number == ZENITH_U8;
}

static zenith_status check_pair(const zenith_image *original, const zenith_image *picture,
                                zn_error *err)
{
    if (!in_memory(original) || !in_memory(picture)) {
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "images to compare must be in memory: 8-bit RGB, HWC, without gaps between rows");
    }
    if (original->width == picture->width && original->height == picture->height &&
        original->width > 0 && original->height > 0) {
        return ZENITH_OK;
    }
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "images to compare must have the same size, not %u x %u and %u x %u",
                   original->width, original->height, picture->width, picture->height);
}

// The caller's two structs as ours, checked.
static zenith_status take_pair(const zenith_judge *judge, const zenith_image *original,
                               const zenith_image *picture, const zenith_quality *out,
                               zenith_image pair[2], zn_error *err)
{
    if (!judge || !original || !picture || !out) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the judge, a picture or the result is NULL");
    }
    ZN_TRY(zn_image_take(original, 0, &pair[0], err));
    ZN_TRY(zn_image_take(picture, 0, &pair[1], err));
    return check_pair(&pair[0], &pair[1], err);
}

static zenith_quality nothing_measured(void)
{
    const double none = (double)NAN;
    return (zenith_quality){0,    none, none, none, none, none, none,
                            none, none, none, none, none, none};
}

static zenith_status compare(zenith_context *context, zenith_judge *judge,
                             const zenith_image *original, const zenith_image *picture,
                             zenith_quality *out)
{
    zenith_quality quality = nothing_measured();
    zenith_image pair[2];
    ZN_TRY(take_pair(judge, original, picture, out, pair, &context->error));
    const zn_comparison comparison = {pair[0].data, pair[1].data, pair[0].width, pair[0].height,
                                      NULL};
    ZN_TRY(zn_judge_compare(judge->inner, context->engine, &comparison, &quality, &context->error));
    zn_caller_struct_out(&quality, sizeof quality, out);
    return ZENITH_OK;
}

zenith_status zenith_compare(zenith_context *context, zenith_judge *judge,
                             const zenith_image *original, const zenith_image *picture,
                             zenith_quality *out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, compare(context, judge, original, picture, out));
}

static zenith_status evaluate(zenith_context *context, zenith_judge *judge, zenith_model *encoder,
                              zenith_model *decoder, const zenith_image *original,
                              const zenith_image *picture, const zenith_run_params *params,
                              zenith_quality *out)
{
    zenith_quality quality = nothing_measured();
    zenith_image pair[2];
    zn_evaluation evaluation = {.original = &pair[0], .picture = &pair[1]};
    ZN_TRY(take_pair(judge, original, picture, out, pair, &context->error));
    if (!encoder || !decoder) {
        return zn_fail(&context->error, ZENITH_INVALID_ARGUMENT, "a model is NULL");
    }
    evaluation.encoder = encoder->inner;
    evaluation.decoder = decoder->inner;
    ZN_TRY(zn_run_params_fill(context, params, &evaluation.params, &context->error));
    ZN_TRY(
        zn_judge_evaluate(judge->inner, context->engine, &evaluation, &quality, &context->error));
    zn_caller_struct_out(&quality, sizeof quality, out);
    return ZENITH_OK;
}

zenith_status zenith_evaluate(zenith_context *context, zenith_judge *judge, zenith_model *encoder,
                              zenith_model *decoder, const zenith_image *original,
                              const zenith_image *picture, const zenith_run_params *params,
                              zenith_quality *out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(
        context, evaluate(context, judge, encoder, decoder, original, picture, params, out));
}
