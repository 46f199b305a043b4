// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One job on one stream of the engine: prompts, modulation, angles, then the steps. Inside, latents
// are maps [height, width, channels]; callers have planes.
#include "src/task/generate/generate.h"

#include "src/base/memory.h"
#include "src/diffusion/flow_match.h"
#include "src/model/text_to_image/qwen3.h"
#include "src/model/text_to_image/zimage.h"
#include "src/task/engine/part_call.h"

#include <string.h>

enum { POSITIVE, NEGATIVE, PROMPTS, MOST_PROMPT = 1 << 20 };

typedef struct conditions {
    int64_t tokens;                  // of the context, with padding
    float *context, *angles, *draft; // the latter NULL: the network has none
} conditions;

typedef struct generating {
    const zn_generation *is;
    zn_part_place place;
    zenith_dtype dtype;
    zn_zimage_facts facts;
    zn_arena arena; // all arrays below
    conditions by[PROMPTS];
    float *modulation, *map, *planes, *predicted;
    float sigmas[ZN_FLOW_MOST_STEPS + 1];
    size_t values; // of the latent
} generating;

// --- arrays -------------------------------------------------------------------------------------

static zenith_status floats(zn_arena *arena, int64_t rows, int64_t width, float **out,
                            zn_error *err)
{
    return zn_arena_floats(arena, (size_t)rows, (size_t)width, out, err);
}

static void to_map(const generating *g, const float *planes, float *map)
{
    const size_t channels = (size_t)g->facts.channels, pixels = g->values / channels;
    for (size_t i = 0; i < g->values; i++) map[i % pixels * channels + i / pixels] = planes[i];
}

static void to_planes(const generating *g, const float *map, float *planes)
{
    const size_t channels = (size_t)g->facts.channels, pixels = g->values / channels;
    for (size_t i = 0; i < g->values; i++) planes[i] = map[i % pixels * channels + i / pixels];
}

// --- prompts ------------------------------------------------------------------------------------

static zenith_status check_prompt(const zn_model *text, const zn_prompt *prompt, zn_error *err)
{
    const int64_t vocabulary = zn_qwen3_vocabulary(text);
    if (prompt->count < 1 || prompt->count > MOST_PROMPT)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "a prompt has 1 to %d tokens", MOST_PROMPT);
    for (size_t i = 0; i < prompt->count; i++) {
        if (prompt->ids[i] >= 0 && prompt->ids[i] < vocabulary) continue;
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "token %zu of the prompt is %d, and the text model knows %lld: its "
                       "tokenizer is another model's",
                       i + 1, (int)prompt->ids[i], (long long)vocabulary);
    }
    return ZENITH_OK;
}

// Tokens as the networks have them.
static zenith_status put_ids(zn_arena *arena, const zn_prompt *prompt, float **out, zn_error *err)
{
    ZN_TRY(floats(arena, (int64_t)prompt->count, 1, out, err));
    for (size_t i = 0; i < prompt->count; i++) (*out)[i] = (float)prompt->ids[i];
    return ZENITH_OK;
}

static zenith_status encode(const zn_part_place *place, zn_model *text, zenith_dtype dtype,
                            const zn_prompt *prompt, float *dst, zn_error *err)
{
    zn_arena arena = {0};
    float *ids = NULL, *angles = NULL;
    const int64_t count = (int64_t)prompt->count;
    zenith_status status;
    ZN_GO(check_prompt(text, prompt, err));
    ZN_GO(put_ids(&arena, prompt, &ids, err));
    ZN_GO(floats(&arena, count, zn_qwen3_head(text), &angles, err));
    zn_qwen3_angles(text, count, angles);
    const zn_part_call call = {.model = text,
                               .part = "text",
                               .sizes = {.tokens = count},
                               .dtype = dtype,
                               .inputs = {ids, angles},
                               .outputs = {dst}};
    ZN_GO(zn_part_call_run(place, &call, err));
fail:
    zn_arena_free(&arena);
    return status;
}

// The mean picture of a prompt's words, for networks that have one.
static zenith_status prepare_draft(generating *g, const zn_prompt *prompt, conditions *out,
                                   zn_error *err)
{
    const zn_zimage_facts *f = &g->facts;
    const int64_t count = (int64_t)prompt->count;
    float *ids = NULL;
    const int64_t places = g->is->height / f->patch * (g->is->width / f->patch);
    if (f->draft == 0) return ZENITH_OK;
    if (places != f->draft)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "this model draws pictures of %lld tokens alone, and one of this size has "
                       "%lld: leave the size out",
                       (long long)f->draft, (long long)places);
    ZN_TRY(put_ids(&g->arena, prompt, &ids, err));
    ZN_TRY(floats(&g->arena, places, f->patch * f->patch * f->channels, &out->draft, err));
    const zn_part_call call = {.model = g->is->transformer,
                               .part = "draft",
                               .sizes = {.tokens = count},
                               .dtype = g->dtype,
                               .inputs = {ids, out->angles},
                               .outputs = {out->draft}};
    return zn_part_call_run(&g->place, &call, err);
}

// What a prompt is to the denoiser, once for all steps.
static zenith_status prepare_prompt(generating *g, const zn_prompt *prompt, const float *hidden,
                                    conditions *out, zn_error *err)
{
    zn_model *transformer = g->is->transformer;
    const int64_t count = (int64_t)prompt->count, tokens = zn_zimage_caption_tokens(count);
    const zn_sizes sizes = {.height = g->is->height, .width = g->is->width, .tokens = tokens};
    const int64_t all = zn_zimage_image_tokens(transformer, sizes.height, sizes.width) + tokens;
    float *caption = NULL;
    if (!hidden) ZN_TRY(floats(&g->arena, count, g->facts.caption, &caption, err));
    ZN_TRY(floats(&g->arena, tokens, g->facts.width, &out->context, err));
    ZN_TRY(floats(&g->arena, all, g->facts.head, &out->angles, err));
    if (!hidden) ZN_TRY(encode(&g->place, g->is->text, g->dtype, prompt, caption, err));
    zn_zimage_caption_angles(transformer, tokens, out->angles);
    const zn_part_call call = {.model = transformer,
                               .part = "context",
                               .sizes = {.tokens = count},
                               .dtype = g->dtype,
                               .inputs = {hidden ? hidden : caption, out->angles},
                               .outputs = {out->context}};
    ZN_TRY(zn_part_call_run(&g->place, &call, err));
    ZN_TRY(prepare_draft(g, prompt, out, err));
    zn_zimage_angles(transformer, &sizes, out->angles);
    out->tokens = tokens;
    return ZENITH_OK;
}

// The modulation of all steps at once: its weights are read once.
static zenith_status prepare_steps(generating *g, zn_error *err)
{
    float times[ZN_FLOW_MOST_STEPS];
    const int begin = g->is->begin, steps = g->is->steps - begin;
    for (int i = 0; i < steps; i++) times[i] = zn_flow_time(g->sigmas[begin + i]);
    ZN_TRY(floats(&g->arena, steps, g->facts.modulation, &g->modulation, err));
    const zn_part_call call = {.model = g->is->transformer,
                               .part = "modulation",
                               .sizes = {.tokens = steps},
                               .dtype = g->dtype,
                               .inputs = {times},
                               .outputs = {g->modulation}};
    return zn_part_call_run(&g->place, &call, err);
}

// --- steps --------------------------------------------------------------------------------------

static zenith_status predict(void *cookie, int step, bool negative, const float *latent,
                             float *answer, zn_error *err)
{
    const generating *g = cookie;
    const conditions *c = &g->by[negative ? NEGATIVE : POSITIVE];
    const float *modulation = g->modulation + (int64_t)(step - g->is->begin) * g->facts.modulation;
    const zn_part_call call = {
        .model = g->is->transformer,
        .part = "denoiser",
        .sizes = {.height = g->is->height, .width = g->is->width, .tokens = c->tokens},
        .dtype = g->dtype,
        .inputs = {latent, c->context, modulation, c->angles, c->draft},
        .outputs = {answer}};
    return zn_part_call_run(&g->place, &call, err);
}

static int stepped(void *cookie, int step, const float *latent, const float *predicted)
{
    const generating *g = cookie;
    if (!g->is->stepped) return 0;
    to_planes(g, latent, g->planes);
    to_planes(g, predicted, g->predicted);
    return g->is->stepped(g->is->cookie, step, g->planes, g->predicted);
}

// The schedule, checked before anything is computed, and the latent at its beginning.
static zenith_status begin(generating *g, float *latent, zn_error *err)
{
    const zn_generation *is = g->is;
    ZN_TRY(zn_flow_sigmas(is->steps, is->shift, g->sigmas, err));
    if (is->begin < 0 || is->begin >= is->steps)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "of %d steps none is left to be made",
                       is->steps);
    if (is->picture) zn_flow_mix(g->sigmas[is->begin], is->picture, latent, g->values);
    return ZENITH_OK;
}

static zenith_status generate(generating *g, float *latent, zn_error *err)
{
    const zn_generation *is = g->is;
    const int64_t pixels = (int64_t)is->height * is->width;
    const zn_flow_run run = {.steps = is->steps,
                             .begin = is->begin,
                             .shift = is->shift,
                             .guidance = is->guidance,
                             .truncation = is->truncation,
                             .normalise = is->normalise,
                             .predict = predict,
                             .stepped = stepped,
                             .cookie = g};
    g->values = (size_t)(pixels * g->facts.channels);
    ZN_TRY(begin(g, latent, err));
    ZN_TRY(floats(&g->arena, pixels, g->facts.channels, &g->map, err));
    ZN_TRY(floats(&g->arena, pixels, g->facts.channels, &g->planes, err));
    ZN_TRY(floats(&g->arena, pixels, g->facts.channels, &g->predicted, err));
    ZN_TRY(prepare_steps(g, err));
    ZN_TRY(prepare_prompt(g, &is->prompt, is->captions[POSITIVE], &g->by[POSITIVE], err));
    if (is->guidance > 0)
        ZN_TRY(prepare_prompt(g, &is->negative, is->captions[NEGATIVE], &g->by[NEGATIVE], err));
    to_map(g, latent, g->map);
    g->place.bound.buffers = g->arena.used;
    if (is->prepared) *is->prepared = zn_clock_seconds();
    zenith_status status = zn_flow_sample(&run, g->map, g->values, err);
    to_planes(g, g->map, latent);
    return status;
}

// --- jobs ---------------------------------------------------------------------------------------

typedef struct job {
    zn_engine *engine;
    const zn_generation *is;
    float *latent;
    zn_error *err;
} job;

static zenith_status generate_on_stream(void *arg, zn_team *team, int stream)
{
    const job *j = arg;
    generating g = {
        .is = j->is,
        .place = {.engine = j->engine,
                  .stream = stream,
                  .team = team,
                  .bound = {.max_memory = j->is->max_memory, .large_weights = true},
                  .cancel = j->is->cancel},
        .dtype = zn_dtype_of(zn_engine_cpu(j->engine), j->is->transformer, j->is->dtype),
        .facts = zn_zimage_facts_of(j->is->transformer)};
    zenith_status status = generate(&g, j->latent, j->err);
    zn_arena_free(&g.arena);
    return status;
}

static zenith_status check_family(const zn_model *model, const char *family, zn_error *err)
{
    if (strcmp(model->family->name, family) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s is no model of the kind %s",
                   model->variant->name, family);
}

int64_t zn_generate_channels(const zn_model *transformer)
{
    return zn_zimage_facts_of(transformer).channels;
}

zenith_status zn_generate(zn_engine *engine, const zn_generation *is, float *latent, zn_error *err)
{
    enum { MOST_SIDE = 1 << 14 };
    ZN_TRY(check_family(is->text, "qwen3", err));
    ZN_TRY(check_family(is->transformer, "zimage", err));
    const zn_zimage_facts facts = zn_zimage_facts_of(is->transformer);
    if (is->height < 1 || is->width < 1 || is->height > MOST_SIDE || is->width > MOST_SIDE ||
        is->height % facts.patch != 0 || is->width % facts.patch != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a latent of %u x %u does not divide into squares of %lld", is->width,
                       is->height, (long long)facts.patch);
    if (zn_qwen3_width(is->text) != facts.caption)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the text model gives %lld numbers for each token, and the transformer "
                       "takes %lld: they do not belong together",
                       (long long)zn_qwen3_width(is->text), (long long)facts.caption);
    job j = {engine, is, latent, err};
    return zn_executor_run(zn_engine_executor(engine), generate_on_stream, &j, 1, err);
}

typedef struct encode_job {
    zn_engine *engine;
    zn_model *text;
    zenith_dtype dtype;
    const zn_prompt *prompt;
    uint64_t max_memory;
    const atomic_int *cancel;
    float *dst;
    zn_error *err;
} encode_job;

static zenith_status encode_on_stream(void *arg, zn_team *team, int stream)
{
    const encode_job *j = arg;
    const zn_part_place place = {.engine = j->engine,
                                 .stream = stream,
                                 .team = team,
                                 .bound = {.max_memory = j->max_memory, .large_weights = true},
                                 .cancel = j->cancel};
    return encode(&place, j->text, zn_dtype_of(zn_engine_cpu(j->engine), j->text, j->dtype),
                  j->prompt, j->dst, j->err);
}

zenith_status zn_encode_prompt(zn_engine *engine, zn_model *text, zenith_dtype dtype,
                               const zn_prompt *prompt, uint64_t max_memory,
                               const atomic_int *cancel, float *dst, zn_error *err)
{
    ZN_TRY(check_family(text, "qwen3", err));
    encode_job j = {engine, text, dtype, prompt, max_memory, cancel, dst, err};
    return zn_executor_run(zn_engine_executor(engine), encode_on_stream, &j, 1, err);
}
