// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture through a model and before the judge: encode, decode, encode what came out, compare.
#include "src/model/autoencoder.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/quality/judge.h"

#include <math.h>

// Which part of the whole the running call is, for progress.
typedef struct share {
    const zenith_run_params *params; // the caller's
    double base, part;
} share;

static int report(void *cookie, double fraction)
{
    const share *s = cookie;
    if (!s->params->progress) return 0;
    return s->params->progress(s->params->progress_cookie, s->base + s->part * fraction);
}

static zenith_status run_part(zn_engine *engine, const zn_evaluation *e, unsigned part,
                              const zenith_image *image, const zenith_latent *latent, double base,
                              double *seconds, zn_error *err)
{
    share s = {&e->params, base, 0.3};
    zenith_run_facts facts = {0};
    zn_batch batch = {.model = part == ZENITH_ENCODER ? e->encoder : e->decoder,
                      .part = part,
                      .images = image,
                      .latents = latent,
                      .count = 1,
                      .params = e->params};
    batch.params.progress = report;
    batch.params.progress_cookie = &s;
    batch.params.facts = &facts;
    batch.params.results = NULL; // the call is of one picture
    ZN_TRY(zn_autoencode(engine, &batch, err));
    if (seconds) *seconds = facts.seconds;
    return ZENITH_OK;
}

// |b - a| / |a|
static double distance(const float *a, const float *b, size_t count)
{
    double difference = 0, energy = 0;
    for (size_t i = 0; i < count; i++) {
        const double d = (double)b[i] - (double)a[i];
        difference += d * d;
        energy += (double)a[i] * (double)a[i];
    }
    return sqrt(difference / energy);
}

static zenith_status check(const zn_evaluation *e, zn_error *err)
{
    const zn_variant *one = e->encoder->variant, *other = e->decoder->variant;
    ZN_TRY(zn_autoencoder_check(one, err));
    ZN_TRY(zn_autoencoder_check(other, err));
    const zn_autoencoder_facts *from = one->autoencoder, *to = other->autoencoder;
    if (from->latent_channels == to->latent_channels && from->factor == to->factor) {
        return ZENITH_OK;
    }
    return zn_fail(
        err, ZENITH_INVALID_ARGUMENT,
        "%s has latents of %d channels and factor %d, %s of %d and %d: one cannot decode the "
        "other's",
        one->name, (int)from->latent_channels, (int)from->factor, other->name,
        (int)to->latent_channels, (int)to->factor);
}

zenith_status zn_judge_evaluate(zn_judge *judge, zn_engine *engine, const zn_evaluation *evaluation,
                                zenith_quality *out, zn_error *err)
{
    const zn_evaluation *e = evaluation;
    const zenith_image *image = e->original;
    zenith_latent latents[2];
    zenith_status status;
    ZN_TRY(check(e, err));
    const zn_autoencoder_facts *facts = e->encoder->variant->autoencoder;
    const uint32_t factor = (uint32_t)facts->factor;
    for (int i = 0; i < 2; i++) {
        latents[i] = (zenith_latent){.size = sizeof latents[i],
                                     .width = image->width / factor,
                                     .height = image->height / factor,
                                     .channels = (uint32_t)facts->latent_channels};
    }
    const size_t count = (size_t)latents[0].width * latents[0].height * latents[0].channels;
    float *numbers = zn_alloc(2 * count * sizeof *numbers);
    if (!numbers) return zn_fail_memory(err, 2 * count * sizeof *numbers);
    latents[0].data = numbers;
    latents[1].data = numbers + count;
    ZN_GO(run_part(engine, e, ZENITH_ENCODER, image, &latents[0], 0, &out->encode_seconds, err));
    ZN_GO(run_part(engine, e, ZENITH_DECODER, e->picture, &latents[0], 0.3, &out->decode_seconds,
                   err));
    ZN_GO(run_part(engine, e, ZENITH_ENCODER, e->picture, &latents[1], 0.6, NULL, err));
    out->latent_distance = distance(numbers, numbers + count, count);
    const zn_comparison comparison = {.original = image->data,
                                      .picture = e->picture->data,
                                      .width = image->width,
                                      .height = image->height,
                                      .cancel = e->params.cancel ? &e->params.cancel->requested
                                                                 : NULL};
    ZN_GO(zn_judge_compare(judge, engine, &comparison, out, err));
fail:
    zn_free(numbers);
    return status;
}
