// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See generate.h: the queue, the thread that works it, and what it counts.
#include "apps/serve/generate/generators.h"
#include "apps/serve/http/clock.h"

#include <inttypes.h>
#include <stdlib.h>

serve_generators *serve_generators_create(const serve_settings *settings, zenith_context *context)
{
    serve_generators *all = calloc(1, sizeof *all);
    const zenith_context_params machine = {.size = sizeof machine, .threads = settings->threads};
    if (all == NULL) return NULL;
    all->settings = *settings;
    all->reading = context;
    if (serve_line_open(&all->line) &&
        zenith_context_create(&machine, &all->context) == ZENITH_OK &&
        zenith_context_create(&machine, &all->previewing) == ZENITH_OK)
        return all;
    serve_generators_free(all);
    return NULL;
}

void serve_generators_free(serve_generators *all)
{
    if (all == NULL) return;
    serve_line_end(&all->line);
    for (size_t i = 0; i < all->count; i++) serve_pipeline_free(all->list[i]);
    zenith_context_free(all->previewing);
    zenith_context_free(all->context);
    serve_line_close(&all->line);
    free(all);
}

bool serve_generators_enter(serve_generators *all, serve_generation *g, int *retry_after,
                            serve_failure *failure)
{
    pthread_mutex_lock(&all->line.lock);
    const double seconds = all->work * all->rate;
    const bool fits = all->admitted < all->settings.queue;
    if (fits) {
        all->admitted++;
        all->work += serve_generation_work(g);
        g->all = all; // from here on serve_generation_free leaves the queue
    }
    pthread_mutex_unlock(&all->line.lock);
    *retry_after = fits ? 0 : seconds < 1 ? 1 : seconds > 3600 ? 3600 : (int)seconds;
    return fits || serve_fail(failure, 429, "queue_full",
                              "the queue is full: ask again in %d seconds", *retry_after);
}

void serve_generators_leave(serve_generators *all, const serve_generation *g)
{
    pthread_mutex_lock(&all->line.lock);
    all->admitted--;
    all->work = all->admitted ? all->work - serve_generation_work(g) : 0;
    pthread_mutex_unlock(&all->line.lock);
}

void serve_generation_start(serve_generation *g, void (*done)(void *cookie), void *cookie)
{
    serve_line_start(&g->all->line, &g->errand, done, cookie);
}

void serve_generation_cancel(serve_generation *g)
{
    serve_line_cancel(&g->all->line, &g->errand);
}

// --- the one under way --------------------------------------------------------------------------

// Not the retirement of a pipeline. The lock is held.
static serve_generation *under_way(const serve_generators *all, int kind)
{
    serve_errand *errand = all->line.running;
    if (errand == NULL || errand->run != serve_generation_make) return NULL;
    serve_generation *g = (serve_generation *)errand;
    return g->kind == kind ? g : NULL;
}

void serve_generators_progress(serve_generators *all, int kind, serve_progress *out)
{
    *out = (serve_progress){0};
    if (all == NULL) return;
    pthread_mutex_lock(&all->line.lock);
    for (const serve_errand *e = all->line.waiting; e != NULL; e = e->next)
        out->waiting += e->run == serve_generation_make;
    const serve_generation *g = under_way(all, kind);
    if (g != NULL) {
        out->busy = true;
        out->interrupted = atomic_load(&g->interrupted);
        out->picture = g->made;
        out->pictures = g->wish.count;
        out->step = g->step;
        out->steps = g->steps ? g->steps : g->wish.steps;
        out->seconds = serve_clock() - g->errand.began;
    }
    pthread_mutex_unlock(&all->line.lock);
}

double serve_generation_left(const serve_errand *errand)
{
    const serve_generation *g = (const serve_generation *)errand;
    const double all = serve_generation_work(g), each = all / g->wish.count;
    const double part = g->steps ? (double)g->step / g->steps : 0;
    return g->all->rate > 0 ? (all - each * (g->made + part)) * g->all->rate : -1;
}

void serve_generation_place(serve_generation *g, serve_place *out)
{
    pthread_mutex_lock(&g->all->line.lock);
    const uint32_t steps = g->steps ? g->steps : g->wish.steps;
    serve_line_place(&g->all->line, &g->errand, out);
    out->step = g->made * steps + g->step;
    out->total = g->wish.count * steps;
    pthread_mutex_unlock(&g->all->line.lock);
}

void serve_generators_interrupt(serve_generators *all, int kind)
{
    if (all == NULL) return;
    pthread_mutex_lock(&all->line.lock);
    serve_generation *g = under_way(all, kind);
    if (g != NULL) {
        atomic_store(&g->interrupted, true);
        zenith_cancel_request(g->errand.cancel);
    }
    pthread_mutex_unlock(&all->line.lock);
}

void serve_generators_write(serve_generators *all, FILE *out)
{
    if (all == NULL) return;
    pthread_mutex_lock(&all->line.lock);
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
            all->steps, all->pictures, all->seconds, all->line.given_up, all->admitted);
    pthread_mutex_unlock(&all->line.lock);
}
