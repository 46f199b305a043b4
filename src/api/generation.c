// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures from text: zenith/generate.h.
#include "zenith/generate.h"

#include "src/api/context.h"
#include "src/base/memory.h"
#include "src/model/autoencoder.h"
#include "src/model/text_to_image/zimage.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/autoencode/pixels.h"
#include "src/task/generate/generator.h"
#include "src/tensor/finite.h"

struct zenith_generator {
    zn_generator *inner;
};

enum { USUAL_STEPS = 8 };
static const float most_guidance = 1000;
static const double usual_strength = 0.6, most_shift = 1e6;

// --- generators ---------------------------------------------------------------------------------

static zenith_status open_generator(zenith_context *context, const zenith_generator_params *params,
                                    zenith_generator **out)
{
    zn_error *err = &context->error;
    zenith_generator_params filled;
    ZN_TRY(zn_params_copy(params, &filled, sizeof filled, err));
    if (!out) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the place for the generator is NULL");
    if (!(filled.shift >= 0 && filled.shift < most_shift))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the shift of the schedule must be above 0");
    zenith_generator *generator = zn_alloc_zero(sizeof *generator);
    if (!generator) return zn_fail_memory(err, sizeof *generator);
    const zn_generator_files files = {.folder = filled.folder,
                                      .transformer = filled.transformer,
                                      .text_encoder = filled.text_encoder,
                                      .tokenizer = filled.tokenizer,
                                      .autoencoder = filled.autoencoder,
                                      .shift = filled.shift};
    zenith_status status = zn_generator_open(&files, &generator->inner, err);
    if (status == ZENITH_OK)
        *out = generator;
    else
        zn_free(generator);
    return status;
}

zenith_status zenith_generator_open(zenith_context *context, const zenith_generator_params *params,
                                    zenith_generator **out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, open_generator(context, params, out));
}

void zenith_generator_free(zenith_generator *generator)
{
    if (!generator) return;
    zn_generator_free(generator->inner);
    zn_free(generator);
}

// As many as asked for; 0: the pipeline's own, or those of Z-Image-Turbo.
static uint32_t steps_of(const zenith_generator *generator, uint32_t asked)
{
    const uint32_t said = generator->inner->schedule.steps;
    return asked ? asked : said ? said : USUAL_STEPS;
}

void zenith_generator_get_info(const zenith_generator *generator, zenith_generator_info *out)
{
    if (!generator || !out) return;
    const zn_generator *inner = generator->inner;
    const zn_variant *latents = zn_generator_latents(inner);
    const zn_share *share = zn_together_share(inner->together);
    const zenith_generator_info info = {
        .name = inner->transformer->variant->name,
        .text = inner->text->variant->name,
        .pipeline = inner->name,
        .latents = latents->name,
        .autoencoder = inner->autoencoder[0] ? inner->autoencoder : NULL,
        .latent_channels = (uint32_t)zn_generate_channels(inner->transformer),
        .factor = (uint32_t)latents->autoencoder->factor,
        .multiple = zn_generator_multiple(inner),
        .side = zn_generator_side(inner),
        .shift = inner->schedule.shift,
        .steps = steps_of(generator, 0),
        .guidance = inner->schedule.guidance,
        .parameters = inner->text->parameters + inner->transformer->parameters,
        .process = share ? (uint32_t)share->index : 0,
        .processes = share ? (uint32_t)share->count : 1};
    zn_caller_struct_out(&info, sizeof info, out);
}

// --- pictures -----------------------------------------------------------------------------------

typedef struct watching {
    const zenith_generate_params *params;
    zenith_latent latent, predicted; // with data of their own for each report
    uint32_t left_out;               // steps at the beginning
    double begun;
} watching;

static int on_step(void *cookie, int step, const float *planes, const float *predicted)
{
    watching *w = cookie;
    if (!w->params->report) return 0;
    w->predicted = w->latent;
    w->latent.data = (void *)planes; // callers get it as const
    w->predicted.data = (void *)predicted;
    const zenith_generate_report report = {.size = sizeof report,
                                           .step = (uint32_t)step + 1 - w->left_out,
                                           .steps = w->params->steps - w->left_out,
                                           .seconds = zn_clock_seconds() - w->begun,
                                           .latent = &w->latent,
                                           .predicted = &w->predicted};
    return w->params->report(w->params->report_cookie, &report);
}

static zenith_status fill_params(const zenith_generator *generator,
                                 const zenith_generate_params *params, zenith_generate_params *out,
                                 zn_error *err)
{
    ZN_TRY(zn_params_copy(params, out, sizeof *out, err));
    if (!out->prompt) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the prompt is NULL");
    out->steps = steps_of(generator, out->steps);
    if (out->steps > INT32_MAX || !(out->guidance >= 0 && out->guidance <= most_guidance))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "too many steps, or the guidance is not between 0 and %g",
                       (double)most_guidance);
    if (out->negative && out->negative[0] && out->guidance == 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a negative prompt counts only with guidance: set "
                       "zenith_generate_params.guidance, or leave the negative prompt out");
    if (out->strength == 0) out->strength = usual_strength;
    if (!(out->strength > 0 && out->strength <= 1))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the strength, the share of the picture that is regenerated, must be above "
                       "0 and at most 1");
    const bool known = (int)out->dtype >= 0 && out->dtype <= ZENITH_DTYPE_INT8 &&
                       (int)out->noise >= 0 && out->noise <= ZENITH_NOISE_CUDA;
    if (known) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "an unknown dtype or kind of noise");
}

// The draft of a prompt is a picture of one size and shape.
static zenith_status check_side(const zn_generator *generator, uint32_t width, uint32_t height,
                                zn_error *err)
{
    const uint32_t side = zn_generator_side(generator);
    if (zn_zimage_facts_of(generator->transformer).draft == 0 || side == 0 ||
        (width == side && height == side))
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "this model draws pictures of %ux%u only: leave the size out", side, side);
}

static zenith_status check_latent(const zn_generator *generator, const zenith_latent *latent,
                                  zenith_latent *out, zn_error *err)
{
    const uint32_t multiple = zn_generator_multiple(generator);
    const uint32_t factor = (uint32_t)zn_generator_latents(generator)->autoencoder->factor;
    const uint32_t patch = multiple / factor;
    ZN_TRY(
        zn_caller_struct_in(latent, ZN_SIZE_UP_TO(zenith_latent, cookie), out, sizeof *out, err));
    const bool plain = (out->number == ZENITH_NUMBER_DEFAULT || out->number == ZENITH_F32) &&
                       (out->order == ZENITH_ORDER_DEFAULT || out->order == ZENITH_CHW) &&
                       out->space == ZENITH_SPACE_MODEL && out->kind == ZENITH_LATENT_MEAN;
    if (!out->data || !plain || out->channels != zn_generate_channels(generator->transformer))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the latent must have data for %lld planes of f32 in the model's space",
                       (long long)zn_generate_channels(generator->transformer));
    if (out->width < 1 || out->height < 1 || out->width % patch || out->height % patch ||
        out->width > ZN_GENERATOR_MOST_SIDE || out->height > ZN_GENERATOR_MOST_SIDE)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "both sides of an image must be multiples of %u, up to %u: a latent of %u x "
                       "%u does not fit",
                       multiple, ZN_GENERATOR_MOST_SIDE * factor, out->width, out->height);
    return check_side(generator, out->width * factor, out->height * factor, err);
}

// A picture to begin with, of the size of the latent.
static zenith_status check_picture(const zn_generator *generator, const zenith_latent *latent,
                                   const zenith_generate_params *params, watching *w,
                                   const float **out, zn_error *err)
{
    zenith_latent picture;
    *out = NULL;
    if (!params->picture) return ZENITH_OK;
    ZN_TRY(check_latent(generator, params->picture, &picture, err));
    if (picture.width != latent->width || picture.height != latent->height)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the latent to start from is %u x %u, but the result is %u x %u",
                       picture.width, picture.height, latent->width, latent->height);
    const size_t values = (size_t)picture.channels * picture.height * picture.width;
    if (!zn_all_finite(ZN_F32, picture.data, values))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the latent to start from contains NaN or infinity");
    *out = picture.data;
    w->left_out = (uint32_t)zn_generator_left_out((int)params->steps, params->strength);
    return ZENITH_OK;
}

static zenith_status generate(zenith_context *context, zenith_generator *generator,
                              const zenith_generate_params *params, const zenith_latent *latent)
{
    zn_error *err = &context->error;
    zenith_generate_params p;
    watching w = {.params = &p, .begun = zn_clock_seconds()};
    zn_generator_tokens tokens = {0};
    double prepared = 0;
    if (!generator || !latent)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the generator or the latent is NULL");
    ZN_TRY(fill_params(generator, params, &p, err));
    const float *picture = NULL;
    ZN_TRY(check_latent(generator->inner, latent, &w.latent, err));
    ZN_TRY(check_picture(generator->inner, &w.latent, &p, &w, &picture, err));
    const zn_generator_call call = {.prompt = p.prompt,
                                    .negative = p.negative,
                                    .seed = p.seed,
                                    .noise = p.noise == ZENITH_NOISE_CUDA ? ZN_NOISE_CUDA
                                                                          : ZN_NOISE_TORCH,
                                    .strength = p.strength,
                                    .held = p.held_memory ? p.held_memory : p.max_memory,
                                    .how = {.dtype = p.dtype,
                                            .picture = picture,
                                            .height = w.latent.height,
                                            .width = w.latent.width,
                                            .steps = (int)p.steps,
                                            .guidance = p.guidance,
                                            .max_memory = p.max_memory,
                                            .cancel = p.cancel ? &p.cancel->requested : NULL,
                                            .stepped = on_step,
                                            .cookie = &w,
                                            .prepared = &prepared}};
    ZN_TRY(zn_generator_run(context->engine, generator->inner, &call, w.latent.data, &tokens, err));
    const zenith_generate_facts facts = {
        .dtype = zn_dtype_of(&context->cpu, generator->inner->transformer, p.dtype),
        .tokens = (uint32_t)tokens.whole,
        .tokens_read = (uint32_t)tokens.read,
        .weights_bytes = zn_generator_held(generator->inner),
        .seconds = zn_clock_seconds() - w.begun,
        .prepare_seconds = prepared - w.begun};
    if (p.facts) zn_caller_struct_out(&facts, sizeof facts, p.facts);
    return ZENITH_OK;
}

zenith_status zenith_generate(zenith_context *context, zenith_generator *generator,
                              const zenith_generate_params *params, const zenith_latent *latent)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, generate(context, generator, params, latent));
}

// --- memory -------------------------------------------------------------------------------------

static zenith_status read_prompts(zenith_context *context, zenith_generator *generator,
                                  const zenith_generate_params *params, const char *const *prompts,
                                  size_t count)
{
    zn_error *err = &context->error;
    zenith_generate_params p;
    ZN_TRY(zn_params_copy(params, &p, sizeof p, err));
    if (!generator || (count > 0 && !prompts))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the generator or the prompts are NULL");
    for (size_t i = 0; i < count; i++)
        if (!prompts[i]) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "prompt %zu is NULL", i);
    const zn_generator_call call = {.held = p.held_memory ? p.held_memory : p.max_memory,
                                    .how = {.dtype = p.dtype,
                                            .max_memory = p.max_memory,
                                            .cancel = p.cancel ? &p.cancel->requested : NULL}};
    return zn_generator_read(context->engine, generator->inner, &call, prompts, count, err);
}

zenith_status zenith_generator_read(zenith_context *context, zenith_generator *generator,
                                    const zenith_generate_params *params,
                                    const char *const *prompts, size_t count)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, read_prompts(context, generator, params, prompts, count));
}

static zenith_status needs(zenith_context *context, zenith_generator *generator,
                           const zenith_generate_params *params, const zenith_latent *latent,
                           zenith_generate_needs *out)
{
    zn_error *err = &context->error;
    zenith_generate_params p;
    zenith_latent made;
    if (!generator || !latent || !out)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "an argument is NULL");
    ZN_TRY(zn_params_copy(params, &p, sizeof p, err));
    ZN_TRY(zn_latent_take(latent, 0, &made, err));
    const zn_generator_call call = {.how = {.dtype = p.dtype,
                                            .height = made.height,
                                            .width = made.width,
                                            .steps = (int)steps_of(generator, p.steps),
                                            .guidance = p.guidance}};
    const zn_generator_needs least = zn_generator_needs_of(context->engine, generator->inner,
                                                           &call);
    const zenith_generate_needs answer = {.text_bytes = least.text,
                                          .transformer_bytes = least.transformer,
                                          .buffer_bytes = least.buffers};
    zn_caller_struct_out(&answer, sizeof answer, out);
    return ZENITH_OK;
}

zenith_status zenith_generate_get_needs(zenith_context *context, zenith_generator *generator,
                                        const zenith_generate_params *params,
                                        const zenith_latent *latent, zenith_generate_needs *out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, needs(context, generator, params, latent, out));
}

void zenith_generator_trim(zenith_context *context, zenith_generator *generator)
{
    if (!generator || zn_context_enter(context) != ZENITH_OK) return;
    zn_generator_trim(context->engine, generator->inner);
    (void)zn_context_leave(context, ZENITH_OK);
}
