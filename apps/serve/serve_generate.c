// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See serve_generate.h.
//
// Invariants
//   1. A generation is in the list `waiting` from start to its turn; `running` is the one whose turn it is. Whoever takes
//      it out of either calls `done`, so that is called once.
//   2. Previews are decoded by a context of their own: a call on the generating context would wait for itself.
#include "apps/serve/serve_generate.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PIPELINES = 8 };

typedef struct pipeline {
    char name[64];
    zenith_generator *generator;
    zenith_generator_info info;
    zenith_model *decoder, *preview, *encoder; // NULL: there is no encoder
    zenith_model_info decoder_info;
} pipeline;

struct serve_generators {
    serve_settings settings;
    zenith_context *reading;              // the server's
    zenith_context *context, *previewing; // of the thread, and of previews
    pipeline list[PIPELINES];
    size_t count;
    pthread_t thread;
    bool threaded;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t stirred;
    size_t chosen;
    bool ending;
    int admitted; // that wait or run
    serve_generation *waiting;
    serve_generation *running;
    double rate; // seconds for a step of a pixel, as measured; 0: not yet
    double work; // steps of pixels that are admitted
    uint64_t pictures, steps, cancelled;
    double seconds;
};

struct serve_generation {
    serve_generators *all;
    pipeline *with;
    serve_wish wish;
    int kind;
    void (*event)(serve_generation *generation, const serve_event *event);
    void (*done)(void *cookie);
    void *cookie;
    zenith_cancel *cancel;
    zenith_source *source; // of the picture to begin with
    float *latent, *first; // the second: of that picture
    zenith_bytes *pictures[SERVE_MOST_PICTURES], *preview;
    char *texts[SERVE_MOST_PICTURES];
    uint32_t made;
    serve_failure failure;
    serve_generation *next;
    uint32_t step, steps, partial; // of the lock of `all`
    double began;
    atomic_bool interrupted;
    pthread_mutex_t lock; // of what follows
    char *said;
    size_t said_size, said_read;
    bool last, sleeping;
    void (*wake)(void *cookie);
    void *wake_cookie;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// --- pipelines ----------------------------------------------------------------------------------

static bool has_index(const char *folder)
{
    char path[4096];
    struct stat facts;
    const int length = snprintf(path, sizeof path, "%s/model_index.json", folder);
    return length > 0 && (size_t)length < sizeof path && stat(path, &facts) == 0;
}

static const char published[] = "z-image-turbo";

bool serve_is_pipeline(const char *word)
{
    const char *equals = strchr(word, '=');
    return strcmp(word, published) == 0 || has_index(word) ||
           (equals != NULL && has_index(equals + 1));
}

// The folder, NULL: where models are searched for; and what requests call it.
static const char *split_word(const char *word, char *name, size_t size)
{
    const char *equals = strchr(word, '='), *folder = word;
    size_t length = strlen(word);
    if (strcmp(word, published) == 0) {
        snprintf(name, size, "%s", word);
        return NULL;
    }
    if (!has_index(word) && equals != NULL) {
        folder = equals + 1;
        length = (size_t)(equals - word);
    }
    while (length > 1 && word[length - 1] == '/') length--;
    const char *begin = word + length;
    while (folder == word && begin > word && begin[-1] != '/') begin--;
    if (folder != word) begin = word;
    snprintf(name, size, "%.*s", (int)(word + length - begin), begin);
    return folder;
}

// As in `zenith generate`: a lone file can be alike for several models, and the one is meant whose latents these are.
static zenith_status open_own(serve_generators *all, const pipeline *p, unsigned parts,
                              zenith_model **out)
{
    const char *const names[] = {NULL, p->info.latents, "taef1"};
    zenith_status status = ZENITH_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const zenith_model_params params = {.size = sizeof params,
                                            .name = names[i],
                                            .weights = p->info.autoencoder,
                                            .parts = parts};
        status = zenith_model_open(all->context, &params, out);
        if (status == ZENITH_OK || (i == 0 && status != ZENITH_AMBIGUOUS)) break;
    }
    return status;
}

static zenith_status open_named(zenith_context *context, const char *name, unsigned parts,
                                zenith_model **out)
{
    const zenith_model_params params = {.size = sizeof params, .name = name, .parts = parts};
    return zenith_model_open(context, &params, out);
}

static zenith_status open_decoder(serve_generators *all, pipeline *p)
{
    zenith_status status = p->info.autoencoder != NULL
                               ? open_own(all, p, ZENITH_DECODER, &p->decoder)
                               : open_named(all->context, "zenith-f1-fast", ZENITH_DECODER,
                                            &p->decoder);
    if (status != ZENITH_OK) return status;
    p->decoder_info = (zenith_model_info){.size = sizeof p->decoder_info};
    zenith_model_get_info(p->decoder, &p->decoder_info);
    return ZENITH_OK;
}

// What is not found leaves requests for it with a sentence, or with the usual decoder.
static void open_rest(serve_generators *all, pipeline *p)
{
    static const char *const small[] = {"zenith-f1-small", "zenith-f1-fast", "taef1"};
    if ((p->info.autoencoder != NULL ? open_own(all, p, ZENITH_ENCODER, &p->encoder)
                                     : open_named(all->context, p->decoder_info.name,
                                                  ZENITH_ENCODER, &p->encoder)) != ZENITH_OK)
        p->encoder = NULL;
    for (size_t i = 0; i < sizeof small / sizeof *small && p->preview == NULL; i++)
        if (zenith_models_share_latents(small[i], p->info.latents) &&
            open_named(all->previewing, small[i], ZENITH_DECODER, &p->preview) != ZENITH_OK)
            p->preview = NULL;
}

static bool is_taken(const serve_generators *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].name, name) == 0) return true;
    return false;
}

bool serve_generators_add(serve_generators *all, const char *word)
{
    pipeline *p = &all->list[all->count];
    char name[sizeof p->name];
    const char *folder = split_word(word, name, sizeof name);
    if (all->count == PIPELINES || name[0] == 0 || is_taken(all, name)) {
        all->settings.say("'%s' cannot be served: a pipeline is named once, and there are at most "
                          "%d",
                          word, PIPELINES);
        return false;
    }
    all->count++;
    memcpy(p->name, name, sizeof name);
    const zenith_generator_params where = {.size = sizeof where, .folder = folder};
    zenith_status status = zenith_generator_open(all->context, &where, &p->generator);
    if (status == ZENITH_OK) {
        p->info = (zenith_generator_info){.size = sizeof p->info};
        zenith_generator_get_info(p->generator, &p->info);
        status = open_decoder(all, p);
    }
    if (status != ZENITH_OK) {
        all->settings.say("%s: %s", name, zenith_context_error(all->context));
        return false;
    }
    open_rest(all, p);
    return true;
}

size_t serve_generators_count(const serve_generators *all)
{
    return all != NULL ? all->count : 0;
}

const char *serve_generators_name(const serve_generators *all, size_t index)
{
    return all->list[index].name;
}

const zenith_generator_info *serve_generators_info(const serve_generators *all, size_t index)
{
    return &all->list[index].info;
}

bool serve_generators_edit(const serve_generators *all, size_t index)
{
    return all->list[index].encoder != NULL;
}

const char *serve_generators_chosen(serve_generators *all)
{
    pthread_mutex_lock(&all->lock);
    const size_t chosen = all->chosen;
    pthread_mutex_unlock(&all->lock);
    return all->list[chosen].name;
}

bool serve_generators_choose(serve_generators *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->list[i].name, name) != 0) continue;
        pthread_mutex_lock(&all->lock);
        all->chosen = i;
        pthread_mutex_unlock(&all->lock);
        return true;
    }
    return false;
}

// --- pictures -----------------------------------------------------------------------------------

static zenith_latent latent_of(const serve_generation *g, float *data)
{
    const zenith_generator_info *info = &g->with->info;
    return (zenith_latent){.size = sizeof(zenith_latent),
                           .width = g->wish.width / info->factor,
                           .height = g->wish.height / info->factor,
                           .channels = info->latent_channels,
                           .data = data};
}

static size_t latent_bytes(const serve_generation *g)
{
    const zenith_latent latent = latent_of(g, NULL);
    return (size_t)latent.width * latent.height * latent.channels * sizeof(float);
}

static bool failed(serve_generation *g, zenith_status status, const char *sentence)
{
    if (sentence == NULL || *sentence == 0) sentence = zenith_context_error(g->all->context);
    return serve_fail_status(&g->failure, status, sentence);
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
                               .cancel = g->cancel};
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
    pthread_mutex_lock(&all->lock);
    g->step = report->step;
    g->steps = report->steps;
    all->steps++;
    pthread_mutex_unlock(&all->lock);
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
    const serve_picture_facts facts = {.prompt = g->wish.prompt,
                                       .negative = g->wish.negative,
                                       .model = g->with->info.name,
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
                                           .cancel = g->cancel,
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

static void make_all(serve_generation *g)
{
    serve_generators *all = g->all;
    bool going = g->source == NULL || encode_first(g);
    for (uint32_t i = 0; going && i < g->wish.count; i++) {
        const double begin = now();
        going = make_picture(g, i);
        if (!going) break;
        tell(g, g->pictures[i], false);
        const double each = (now() - begin) / g->wish.steps /
                            ((double)g->wish.width * g->wish.height);
        pthread_mutex_lock(&all->lock);
        g->made++;
        g->step = 0;
        all->pictures++;
        all->seconds += now() - begin;
        all->rate = all->rate > 0 ? 0.7 * all->rate + 0.3 * each : each;
        pthread_mutex_unlock(&all->lock);
    }
}

// --- the queue ----------------------------------------------------------------------------------

static double work_of(const serve_generation *g)
{
    return (double)g->wish.count * g->wish.steps * g->wish.width * g->wish.height;
}

static void *make_in_turn(void *cookie)
{
    serve_generators *all = cookie;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        while (all->waiting == NULL && !all->ending) pthread_cond_wait(&all->stirred, &all->lock);
        serve_generation *g = all->waiting;
        if (g == NULL) break;
        all->waiting = g->next;
        all->running = g;
        g->began = now();
        pthread_mutex_unlock(&all->lock);
        make_all(g);
        pthread_mutex_lock(&all->lock);
        all->running = NULL;
        if (g->failure.code != 0) all->cancelled++;
        pthread_mutex_unlock(&all->lock);
        g->done(g->cookie);
        pthread_mutex_lock(&all->lock);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

serve_generators *serve_generators_create(const serve_settings *settings, zenith_context *context)
{
    serve_generators *all = calloc(1, sizeof *all);
    const zenith_context_params machine = {.size = sizeof machine, .threads = settings->threads};
    if (all == NULL) return NULL;
    all->settings = *settings;
    all->reading = context;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->stirred, NULL);
    if (zenith_context_create(&machine, &all->context) == ZENITH_OK &&
        zenith_context_create(&machine, &all->previewing) == ZENITH_OK &&
        pthread_create(&all->thread, NULL, make_in_turn, all) == 0) {
        all->threaded = true;
        return all;
    }
    serve_generators_free(all);
    return NULL;
}

void serve_generators_free(serve_generators *all)
{
    if (all == NULL) return;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    if (all->running != NULL) zenith_cancel_request(all->running->cancel);
    pthread_cond_broadcast(&all->stirred);
    pthread_mutex_unlock(&all->lock);
    if (all->threaded) pthread_join(all->thread, NULL);
    for (size_t i = 0; i < all->count; i++) {
        pipeline *p = &all->list[i];
        zenith_model_free(p->preview);
        zenith_model_free(p->encoder);
        zenith_model_free(p->decoder);
        zenith_generator_free(p->generator);
    }
    zenith_context_free(all->previewing);
    zenith_context_free(all->context);
    pthread_cond_destroy(&all->stirred);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

static bool enter(serve_generators *all, serve_generation *g, int *retry_after,
                  serve_failure *failure)
{
    pthread_mutex_lock(&all->lock);
    const double seconds = all->work * all->rate;
    const bool fits = all->admitted < all->settings.queue;
    if (fits) {
        all->admitted++;
        all->work += work_of(g);
        g->all = all; // from here on _free leaves the queue
    }
    pthread_mutex_unlock(&all->lock);
    *retry_after = fits ? 0 : seconds < 1 ? 1 : seconds > 3600 ? 3600 : (int)seconds;
    return fits || serve_fail(failure, 429, "queue_full",
                              "the queue is full: ask again in %d seconds", *retry_after);
}

void serve_generation_start(serve_generation *g, void (*done)(void *cookie), void *cookie)
{
    serve_generators *all = g->all;
    g->done = done;
    g->cookie = cookie;
    pthread_mutex_lock(&all->lock);
    serve_generation **end = &all->waiting;
    while (*end != NULL) end = &(*end)->next;
    *end = g;
    pthread_cond_broadcast(&all->stirred);
    pthread_mutex_unlock(&all->lock);
}

void serve_generation_cancel(serve_generation *g)
{
    serve_generators *all = g->all;
    zenith_cancel_request(g->cancel);
    pthread_mutex_lock(&all->lock);
    serve_generation **link = &all->waiting;
    while (*link != NULL && *link != g) link = &(*link)->next;
    const bool waited = *link != NULL;
    if (waited) *link = g->next;
    if (waited) all->cancelled++;
    pthread_mutex_unlock(&all->lock);
    if (!waited) return;
    serve_fail_status(&g->failure, ZENITH_CANCELLED, "");
    g->done(g->cookie);
}

// --- opening ------------------------------------------------------------------------------------

static pipeline *find(serve_generators *all, const char *name, serve_failure *failure)
{
    const char *wanted = *name || all == NULL || all->count == 0 ? name
                                                                 : serve_generators_chosen(all);
    for (size_t i = 0; all != NULL && i < all->count; i++)
        if (strcmp(all->list[i].name, wanted) == 0) return &all->list[i];
    serve_fail(failure, 404, "model_not_found",
               *name ? "there is no model '%.60s' here that makes pictures"
                     : "no model here makes pictures%s: start the server with a pipeline's folder",
               name);
    return NULL;
}

static bool open_source(serve_generation *g, serve_generators *all, uint32_t turned[2],
                        serve_failure *failure)
{
    zenith_source_params params = {.size = sizeof params,
                                   .fit = g->wish.width ? ZENITH_FIT_RESIZE : ZENITH_FIT_PAD,
                                   .multiple = g->with->info.multiple,
                                   .width = g->wish.width,
                                   .height = g->wish.height,
                                   .background = {255, 255, 255},
                                   .max_pixels = all->settings.max_pixels,
                                   .max_memory = all->settings.queue_memory};
    zenith_source_info info = {.size = sizeof info};
    zenith_source_free(g->source);
    g->source = NULL;
    zenith_status status = zenith_source_open_memory(all->reading, g->wish.image,
                                                     g->wish.image_size, &params, &g->source);
    if (status != ZENITH_OK)
        return serve_fail_status(failure, status, zenith_context_error(all->reading));
    zenith_source_get_info(g->source, &info);
    turned[0] = info.turned_width;
    turned[1] = info.turned_height;
    return true;
}

// The picture's header is looked at twice: for its size, and then to be brought to that in the pipeline's multiples.
static bool settle(serve_generation *g, serve_generators *all, serve_failure *failure)
{
    uint32_t turned[2] = {0, 0};
    const uint64_t most = all->settings.max_pixels;
    const bool given = g->wish.width != 0, from = g->wish.image != NULL;
    if (from && g->with->encoder == NULL)
        return serve_fail(failure, 422, "unprocessable",
                          "%s has no encoder for a picture to begin with", g->with->name);
    if (given && !serve_wish_settle(&g->wish, &g->with->info, turned, most, failure)) return false;
    if (from && !open_source(g, all, turned, failure)) return false;
    if (!given && !serve_wish_settle(&g->wish, &g->with->info, turned, most, failure)) return false;
    return !from || given || open_source(g, all, turned, failure);
}

static bool allocate(serve_generation *g, serve_failure *failure)
{
    g->latent = calloc(1, latent_bytes(g));
    if (g->source != NULL) g->first = calloc(1, latent_bytes(g));
    const bool good = g->latent != NULL && (g->source == NULL || g->first != NULL) &&
                      zenith_bytes_create(&g->preview) == ZENITH_OK &&
                      zenith_cancel_create(&g->cancel) == ZENITH_OK;
    return good || serve_fail(failure, 503, "out_of_memory", "out of memory");
}

bool serve_generation_open(serve_generators *all, const serve_generation_params *params,
                           serve_generation **out, int *retry_after, serve_failure *failure)
{
    pipeline *with = find(all, params->wish->model, failure);
    if (with == NULL) return false;
    serve_generation *g = calloc(1, sizeof *g);
    if (g == NULL) return serve_fail(failure, 503, "out_of_memory", "out of memory");
    g->with = with;
    g->wish = *params->wish;
    g->kind = params->kind;
    g->event = params->event;
    pthread_mutex_init(&g->lock, NULL);
    if (settle(g, all, failure) && enter(all, g, retry_after, failure) && allocate(g, failure)) {
        *params->wish = (serve_wish){0};
        *out = g;
        return true;
    }
    g->wish = (serve_wish){0};
    serve_generation_free(g);
    return false;
}

// Pictures as files, as base64 and in the answer; PNG files of noise are the largest.
uint64_t serve_generation_bytes(const serve_generation *g)
{
    const uint64_t file = (uint64_t)g->wish.width * g->wish.height * 3 + (64 << 10);
    return (g->wish.count + g->wish.partial) * file * 4 + 2 * latent_bytes(g) +
           (g->wish.own != NULL ? g->wish.image_size : 0);
}

void serve_generation_free(serve_generation *g)
{
    if (g == NULL) return;
    if (g->all != NULL) {
        pthread_mutex_lock(&g->all->lock);
        g->all->admitted--;
        g->all->work = g->all->admitted ? g->all->work - work_of(g) : 0;
        pthread_mutex_unlock(&g->all->lock);
    }
    for (size_t i = 0; i < SERVE_MOST_PICTURES; i++) {
        zenith_bytes_free(g->pictures[i]);
        free(g->texts[i]);
    }
    zenith_bytes_free(g->preview);
    zenith_source_free(g->source);
    zenith_cancel_free(g->cancel);
    serve_wish_free(&g->wish);
    free(g->latent);
    free(g->first);
    free(g->said);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

// --- results ------------------------------------------------------------------------------------

const serve_wish *serve_generation_wish(const serve_generation *g)
{
    return &g->wish;
}

int serve_generation_kind(const serve_generation *g)
{
    return g->kind;
}

bool serve_generation_result(const serve_generation *g, serve_failure *failure)
{
    if (g->failure.code == 0) return true;
    *failure = g->failure;
    return false;
}

bool serve_generation_interrupted(const serve_generation *g)
{
    return atomic_load(&g->interrupted);
}

uint32_t serve_generation_made(const serve_generation *g)
{
    return g->made;
}

const void *serve_generation_picture(const serve_generation *g, uint32_t index, size_t *size)
{
    return zenith_bytes_get(g->pictures[index], size);
}

const char *serve_generation_text(const serve_generation *g, uint32_t index)
{
    return g->texts[index];
}

// --- events -------------------------------------------------------------------------------------

void serve_generation_say(serve_generation *g, char *text, bool last)
{
    const size_t length = text != NULL ? strlen(text) : 0;
    pthread_mutex_lock(&g->lock);
    char *larger = length > 0 ? realloc(g->said, g->said_size + length) : NULL;
    if (larger != NULL) {
        memcpy(larger + g->said_size, text, length);
        g->said = larger;
        g->said_size += length;
    }
    g->last = g->last || last;
    const bool sleeping = g->sleeping;
    g->sleeping = false;
    if (sleeping) g->wake(g->wake_cookie);
    pthread_mutex_unlock(&g->lock);
    free(text);
}

ssize_t serve_generation_read(serve_generation *g, char *dst, size_t most,
                              void (*wait)(void *cookie), void (*wake)(void *cookie), void *cookie)
{
    pthread_mutex_lock(&g->lock);
    const size_t left = g->said_size - g->said_read, size = left < most ? left : most;
    if (size > 0) {
        memcpy(dst, g->said + g->said_read, size);
        g->said_read += size;
    }
    if (size > 0 && g->said_read == g->said_size) g->said_read = g->said_size = 0;
    const bool last = g->last;
    if (size == 0 && !last) {
        g->sleeping = true;
        g->wake = wake;
        g->wake_cookie = cookie;
        wait(cookie);
    }
    pthread_mutex_unlock(&g->lock);
    return size > 0 ? (ssize_t)size : last ? -1 : 0;
}

// --- the one under way --------------------------------------------------------------------------

void serve_generators_progress(serve_generators *all, int kind, serve_progress *out)
{
    *out = (serve_progress){0};
    if (all == NULL) return;
    pthread_mutex_lock(&all->lock);
    for (const serve_generation *g = all->waiting; g != NULL; g = g->next) out->waiting++;
    const serve_generation *g = all->running;
    if (g != NULL && g->kind == kind) {
        out->busy = true;
        out->interrupted = atomic_load(&g->interrupted);
        out->picture = g->made;
        out->pictures = g->wish.count;
        out->step = g->step;
        out->steps = g->steps ? g->steps : g->wish.steps;
        out->seconds = now() - g->began;
    }
    pthread_mutex_unlock(&all->lock);
}

void serve_generators_interrupt(serve_generators *all, int kind)
{
    if (all == NULL) return;
    pthread_mutex_lock(&all->lock);
    if (all->running != NULL && all->running->kind == kind) {
        atomic_store(&all->running->interrupted, true);
        zenith_cancel_request(all->running->cancel);
    }
    pthread_mutex_unlock(&all->lock);
}

void serve_generators_write(serve_generators *all, FILE *out)
{
    if (all == NULL) return;
    pthread_mutex_lock(&all->lock);
    fprintf(out,
            "# HELP zenith_diffusion_steps_total Steps of diffusion models.\n"
            "# TYPE zenith_diffusion_steps_total counter\n"
            "zenith_diffusion_steps_total %" PRIu64 "\n"
            "# HELP zenith_generated_pictures_total Pictures made from text.\n"
            "# TYPE zenith_generated_pictures_total counter\n"
            "zenith_generated_pictures_total %" PRIu64 "\n"
            "# HELP zenith_generated_seconds_total The time that they took.\n"
            "# TYPE zenith_generated_seconds_total counter\n"
            "zenith_generated_seconds_total %.3f\n"
            "# HELP zenith_generations_given_up_total Requests for pictures that failed or were "
            "given up.\n"
            "# TYPE zenith_generations_given_up_total counter\n"
            "zenith_generations_given_up_total %" PRIu64 "\n"
            "# HELP zenith_generations Requests for pictures that wait or are made.\n"
            "# TYPE zenith_generations gauge\n"
            "zenith_generations %d\n",
            all->steps, all->pictures, all->seconds, all->cancelled, all->admitted);
    pthread_mutex_unlock(&all->lock);
}
