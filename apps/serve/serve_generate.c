// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See serve_generate.h: the queue, the thread that works it, and what it counts.
#include "apps/serve/serve_clock.h"
#include "apps/serve/serve_generators.h"

#include <inttypes.h>
#include <stdlib.h>

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
        g->began = serve_clock();
        pthread_mutex_unlock(&all->lock);
        serve_generation_make(g);
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
        serve_pipeline *p = &all->list[i];
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

bool serve_generators_enter(serve_generators *all, serve_generation *g, int *retry_after,
                            serve_failure *failure)
{
    pthread_mutex_lock(&all->lock);
    const double seconds = all->work * all->rate;
    const bool fits = all->admitted < all->settings.queue;
    if (fits) {
        all->admitted++;
        all->work += serve_generation_work(g);
        g->all = all; // from here on serve_generation_free leaves the queue
    }
    pthread_mutex_unlock(&all->lock);
    *retry_after = fits ? 0 : seconds < 1 ? 1 : seconds > 3600 ? 3600 : (int)seconds;
    return fits || serve_fail(failure, 429, "queue_full",
                              "the queue is full: ask again in %d seconds", *retry_after);
}

void serve_generators_leave(serve_generators *all, const serve_generation *g)
{
    pthread_mutex_lock(&all->lock);
    all->admitted--;
    all->work = all->admitted ? all->work - serve_generation_work(g) : 0;
    pthread_mutex_unlock(&all->lock);
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
        out->seconds = serve_clock() - g->began;
    }
    pthread_mutex_unlock(&all->lock);
}

// Steps of pixels that are left of it. The lock is held.
static double work_left(const serve_generation *g)
{
    const double all = serve_generation_work(g), each = all / g->wish.count;
    const double part = g->steps ? (double)g->step / g->steps : 0;
    return all - each * (g->made + part);
}

void serve_generation_place(serve_generation *g, serve_place *out)
{
    serve_generators *all = g->all;
    pthread_mutex_lock(&all->lock);
    const uint32_t steps = g->steps ? g->steps : g->wish.steps;
    *out = (serve_place){.running = all->running == g,
                         .step = g->made * steps + g->step,
                         .total = g->wish.count * steps};
    double work = work_left(g);
    if (!out->running && all->running != NULL) {
        out->before++;
        work += work_left(all->running);
    }
    const serve_generation *each = out->running ? NULL : all->waiting;
    for (; each != NULL && each != g; each = each->next) {
        out->before++;
        work += work_left(each);
    }
    out->seconds = all->rate > 0 ? work * all->rate : -1;
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
