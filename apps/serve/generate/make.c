// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See generators.h: the pictures of one request, from text to files, and previews on the way.
#include "apps/serve/generate/generators.h"
#include "apps/serve/http/clock.h"

static zenith_latent latent_of(const serve_generation *g, float *data)
{
    const zenith_generator_info *info = &g->with->info;
    return (zenith_latent){.size = sizeof(zenith_latent),
                           .width = g->wish.width / info->factor,
                           .height = g->wish.height / info->factor,
                           .channels = info->latent_channels,
                           .data = data};
}

size_t serve_generation_latent_bytes(const serve_generation *g)
{
    const zenith_latent latent = latent_of(g, NULL);
    return (size_t)latent.width * latent.height * latent.channels * sizeof(float);
}

static bool failed(serve_generation *g, zenith_status status, const char *sentence)
{
    if (sentence == NULL || *sentence == 0) sentence = zenith_context_error(g->all->context);
    return serve_fail_status(&g->errand.failure, status, sentence);
}

// Autoencoders in 8 bits would need a calibration; weights that are held leave the less.
static zenith_run_params run_params(const serve_generation *g, uint64_t held)
{
    const serve_settings *settings = &g->all->settings;
    uint64_t most = settings->max_memory;
    if (most != 0) most = most > held ? most - held : 1;
    return (zenith_run_params){.size = sizeof(zenith_run_params),
                               .dtype = settings->dtype == ZENITH_DTYPE_INT8
                                            ? ZENITH_DTYPE_DEFAULT
                                            : (zenith_dtype)settings->dtype,
                               .max_memory = most,
                               .cancel = g->errand.cancel};
}

static bool encode_first(serve_generation *g)
{
    const zenith_run_params run = run_params(g, 0);
    const zenith_image image = {.size = sizeof image,
                                .width = g->wish.width,
                                .height = g->wish.height,
                                .rows = zenith_source_rows,
                                .cookie = g->source};
    const zenith_latent latent = latent_of(g, g->first);
    zenith_status status = zenith_encode(g->all->context, g->with->encoder, &image, &latent, 1,
                                         &run);
    return status == ZENITH_OK || failed(g, status, zenith_source_error(g->source));
}

// A latent as a file in *out, which is emptied before.
static zenith_status draw(serve_generation *g, zenith_context *context, zenith_model *decoder,
                          const zenith_latent *latent, const char *text, uint64_t held,
                          zenith_bytes *out)
{
    zenith_target *target = NULL;
    const zenith_run_params run = run_params(g, held);
    const zenith_target_params params = {.size = sizeof params,
                                         .format = g->wish.format,
                                         .quality = (int)g->wish.quality,
                                         .parameters = text};
    zenith_status status = zenith_target_open_bytes(context, out, g->wish.width, g->wish.height,
                                                    &params, &target);
    const zenith_image image = {.size = sizeof image,
                                .width = g->wish.width,
                                .height = g->wish.height,
                                .rows = zenith_target_rows,
                                .cookie = target,
                                .restarts = true};
    if (status == ZENITH_OK) status = zenith_decode(context, decoder, latent, &image, 1, &run);
    if (status == ZENITH_OK) status = zenith_target_finish(target);
    zenith_target_free(target);
    return status;
}

static void tell(serve_generation *g, const zenith_bytes *bytes, bool preview)
{
    serve_event event = {.preview = preview,
                         .index = g->made,
                         .partial = g->partial,
                         .seed = g->wish.seed + g->made};
    event.data = zenith_bytes_get(bytes, &event.size);
    if (g->event != NULL) g->event(g, &event);
}

// Previews are spread over the steps; after the last one comes the picture.
static bool is_preview_due(const serve_generation *g, uint32_t step, uint32_t steps)
{
    const uint32_t parts = g->wish.partial + 1;
    return step < steps && step * parts / steps > (step - 1) * parts / steps;
}

// A preview that cannot be made is left out: the picture is what was asked for.
static int on_step(void *cookie, const zenith_generate_report *report)
{
    serve_generation *g = cookie;
    serve_generators *all = g->all;
    pthread_mutex_lock(&all->line.lock);
    g->step = report->step;
    g->steps = report->steps;
    all->steps++;
    pthread_mutex_unlock(&all->line.lock);
    if (!is_preview_due(g, report->step, report->steps)) return 0;
    zenith_model *decoder = g->with->preview != NULL ? g->with->preview : g->with->decoder;
    if (draw(g, all->previewing, decoder, report->predicted, NULL, 0, g->preview) != ZENITH_OK)
        return 0;
    tell(g, g->preview, true);
    g->partial++;
    return 0;
}

// Where the decoder has no room beside packed weights, those are freed.
static uint64_t make_room(serve_generation *g, uint64_t weights)
{
    const uint64_t room = g->all->settings.room;
    const zenith_run_params run = run_params(g, 0);
    zenith_estimate_info info = {.size = sizeof info};
    if (room == 0 || weights == 0) return weights;
    if (zenith_estimate(g->all->context, g->with->decoder, ZENITH_DECODER, g->wish.width,
                        g->wish.height, true, &run, &info) == ZENITH_OK &&
        weights + info.total_bytes <= room)
        return weights;
    zenith_generator_trim(g->all->context, g->with->generator);
    return 0;
}

static char *describe(const serve_generation *g, uint32_t index)
{
    const serve_picture_facts facts = {
        .prompt = g->wish.prompt,
        .negative = g->wish.negative,
        .model = g->with->info.pipeline != NULL ? g->with->info.pipeline : g->with->info.name,
        .decoder = g->with->decoder_info.name,
        .width = g->wish.width,
        .height = g->wish.height,
        .seed = g->wish.seed + index,
        .steps = g->wish.steps,
        .guidance = g->wish.guidance,
        .shift = g->with->info.shift,
        .strength = g->first != NULL ? g->wish.strength : 0};
    return g->all->settings.describe(&facts);
}

static bool make_picture(serve_generation *g, uint32_t index)
{
    const serve_settings *settings = &g->all->settings;
    const zenith_latent latent = latent_of(g, g->latent), first = latent_of(g, g->first);
    zenith_generate_facts facts = {.size = sizeof facts};
    const zenith_generate_params params = {.size = sizeof params,
                                           .prompt = g->wish.prompt,
                                           .negative = g->wish.negative,
                                           .seed = g->wish.seed + index,
                                           .steps = g->wish.steps,
                                           .guidance = (float)g->wish.guidance,
                                           .dtype = (zenith_dtype)settings->dtype,
                                           .max_memory = settings->max_memory,
                                           .report = on_step,
                                           .report_cookie = g,
                                           .cancel = g->errand.cancel,
                                           .facts = &facts,
                                           .picture = g->first != NULL ? &first : NULL,
                                           .strength = g->wish.strength,
                                           .held_memory = settings->room};
    g->partial = 0;
    zenith_status status = zenith_generate(g->all->context, g->with->generator, &params, &latent);
    if (status != ZENITH_OK) return failed(g, status, NULL);
    g->texts[index] = describe(g, index);
    if (g->texts[index] == NULL || zenith_bytes_create(&g->pictures[index]) != ZENITH_OK)
        return failed(g, ZENITH_OUT_OF_MEMORY, "out of memory");
    status = draw(g, g->all->context, g->with->decoder, &latent, g->texts[index],
                  make_room(g, facts.weights_bytes), g->pictures[index]);
    return status == ZENITH_OK || failed(g, status, NULL);
}

void serve_generation_make(serve_errand *errand)
{
    serve_generation *g = (serve_generation *)errand;
    serve_generators *all = g->all;
    bool going = g->source == NULL || encode_first(g);
    for (uint32_t i = 0; going && i < g->wish.count; i++) {
        const double begin = serve_clock();
        going = make_picture(g, i);
        if (!going) break;
        tell(g, g->pictures[i], false);
        const double each = (serve_clock() - begin) / g->wish.steps /
                            ((double)g->wish.width * g->wish.height);
        pthread_mutex_lock(&all->line.lock);
        g->made++;
        g->step = 0;
        all->pictures++;
        all->seconds += serve_clock() - begin;
        all->rate = all->rate > 0 ? 0.7 * all->rate + 0.3 * each : each;
        pthread_mutex_unlock(&all->line.lock);
    }
}
