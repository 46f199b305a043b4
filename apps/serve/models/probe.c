// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See probe.h. A picture alone is computed by all threads of a stream, a batch by a thread for each
// picture, with the same bits: the library promises them for every number of threads. Threads that
// share a small picture wait for each other at every layer, so a batch has the better rate there,
// and its pictures take longer one by one. Which batch is the best depends on cores, model and
// size: it is measured.
#include "apps/serve/models/probe.h"

#include <stdlib.h>

enum {
    SIDE = 256,  // of the picture that tells the seconds of a pixel
    REPEATS = 3, // of each measurement, the best of which counts
    BATCHES = 8
};
static const uint32_t sides[SERVE_CLASSES] = {64, 256};
// Pictures up to so many pixels are taken as those of `sides`; larger ones are worked alone.
static const uint64_t largest[SERVE_CLASSES] = {128 * 128, 512 * 512};
// For the batches of one part and size: a start should not take long. Where a picture alone takes a
// good share of it, it has work enough for all threads.
static const double BUDGET = 0.15;

// --- one measurement ----------------------------------------------------------------------------

typedef struct pictures {
    zenith_image images[SERVE_BATCH_MOST];
    zenith_latent latents[SERVE_BATCH_MOST];
} pictures;

static void pictures_free(pictures *all)
{
    for (size_t i = 0; all != NULL && i < SERVE_BATCH_MOST; i++) {
        free(all->images[i].data);
        free(all->latents[i].data);
    }
    free(all);
}

static pictures *pictures_make(const serve_model *m, uint32_t side, size_t count)
{
    const uint32_t across = side / m->info.factor;
    pictures *all = calloc(1, sizeof *all);
    for (size_t i = 0; all != NULL && i < count; i++) {
        zenith_image *image = &all->images[i];
        zenith_latent *latent = &all->latents[i];
        *image = (zenith_image){.size = sizeof *image, .width = side, .height = side};
        *latent = (zenith_latent){.size = sizeof *latent,
                                  .width = across,
                                  .height = across,
                                  .channels = m->info.latent_channels};
        image->data = calloc((size_t)side * side, 3);
        latent->data = calloc((size_t)across * across * latent->channels, sizeof(float));
        if (image->data != NULL && latent->data != NULL) continue;
        pictures_free(all);
        return NULL;
    }
    return all;
}

static zenith_status run(serve_server *server, const serve_model *m, unsigned part,
                         zenith_context *context, pictures *all, size_t count, double *seconds)
{
    zenith_run_facts facts = {.size = sizeof facts};
    const zenith_run_params how = {.size = sizeof how,
                                   .dtype = (zenith_dtype)server->settings.dtype,
                                   .max_memory = server->settings.max_memory,
                                   .facts = &facts};
    zenith_status status = part == ZENITH_DECODER ? zenith_decode(context, m->model, all->latents,
                                                                  all->images, count, &how)
                                                  : zenith_encode(context, m->model, all->images,
                                                                  all->latents, count, &how);
    *seconds = facts.seconds;
    return status;
}

// The first time makes plans and packs weights, and does not count. *best is 0 where `end` comes
// before the others.
static zenith_status measure(serve_server *server, const serve_model *m, unsigned part,
                             zenith_context *context, pictures *all, size_t count, double end,
                             double *best)
{
    double seconds;
    zenith_status status = run(server, m, part, context, all, count, &seconds);
    *best = 0;
    for (int i = 0; i < REPEATS && status == ZENITH_OK && serve_clock() < end; i++) {
        status = run(server, m, part, context, all, count, &seconds);
        if (i == 0 || seconds < *best) *best = seconds;
    }
    return status;
}

// --- batches ------------------------------------------------------------------------------------

serve_batch serve_probe_choose(const size_t *sizes, const double *rates, size_t count)
{
    serve_batch pays = {0};
    double best = rates[0];
    for (size_t i = 1; i < count; i++) best = rates[i] > best ? rates[i] : best;
    if (rates[0] >= 0.95 * best) return pays;
    for (size_t i = 1; i < count; i++) {
        if (rates[i] <= rates[0]) continue;
        if (pays.least == 0) pays.least = sizes[i];
        if (pays.most == 0 && rates[i] >= 0.95 * best) pays.most = sizes[i];
    }
    return pays;
}

// Powers of two, up to four pictures for each thread: what is larger only makes all of them wait.
static size_t list_sizes(const serve_server *server, size_t sizes[BATCHES])
{
    size_t most = (size_t)server->machine.threads * 4, count = 1;
    if (most > SERVE_BATCH_MOST) most = SERVE_BATCH_MOST;
    sizes[0] = 1;
    while (count < BATCHES && sizes[count - 1] * 2 <= most) {
        sizes[count] = sizes[count - 1] * 2;
        count++;
    }
    return count;
}

static zenith_status try_batches(serve_server *server, const serve_model *m, unsigned part,
                                 uint32_t side, serve_batch *out)
{
    size_t sizes[BATCHES], tried = 0;
    double rates[BATCHES], seconds = 1;
    const double end = serve_clock() + BUDGET;
    const size_t count = list_sizes(server, sizes);
    pictures *all = pictures_make(m, side, sizes[count - 1]);
    zenith_status status = all != NULL ? ZENITH_OK : ZENITH_OUT_OF_MEMORY;
    for (; tried < count && status == ZENITH_OK; tried++) {
        zenith_context *context = tried == 0 ? server->context : server->apart;
        status = measure(server, m, part, context, all, sizes[tried], end, &seconds);
        if (seconds <= 0) break;
        rates[tried] = (double)sizes[tried] / seconds;
    }
    pictures_free(all);
    if (tried > 1 && status == ZENITH_OK) *out = serve_probe_choose(sizes, rates, tried);
    return status;
}

static bool is_measured(const serve_server *server)
{
    return server->apart != NULL && server->settings.batch == 0;
}

// --- a model ------------------------------------------------------------------------------------

static zenith_status probe_part(serve_server *server, serve_model *m, unsigned part,
                                serve_operation operation)
{
    if (!(m->info.parts & part)) return ZENITH_OK;
    double seconds;
    pictures *all = pictures_make(m, SIDE, 1);
    if (all == NULL) return ZENITH_OUT_OF_MEMORY;
    zenith_status status = run(server, m, part, server->context, all, 1, &seconds);
    if (status == ZENITH_OK) status = run(server, m, part, server->context, all, 1, &seconds);
    pictures_free(all);
    m->seconds[operation] = seconds / (SIDE * SIDE);
    for (size_t i = 0; i < SERVE_CLASSES && status == ZENITH_OK && is_measured(server); i++)
        status = try_batches(server, m, part, sides[i], &m->pays[operation][i]);
    return status;
}

static serve_batch both(serve_batch a, serve_batch b)
{
    const serve_batch none = {0};
    if (a.most == 0 || b.most == 0) return none;
    return (serve_batch){.least = a.least > b.least ? a.least : b.least,
                         .most = a.most > b.most ? a.most : b.most};
}

zenith_status serve_probe(serve_server *server, serve_model *m)
{
    zenith_status status = probe_part(server, m, ZENITH_ENCODER, SERVE_ENCODE);
    if (status == ZENITH_OK) status = probe_part(server, m, ZENITH_DECODER, SERVE_DECODE);
    m->seconds[SERVE_RECONSTRUCT] = m->seconds[SERVE_ENCODE] + m->seconds[SERVE_DECODE];
    for (size_t i = 0; i < SERVE_CLASSES; i++)
        m->pays[SERVE_RECONSTRUCT][i] = both(m->pays[SERVE_ENCODE][i], m->pays[SERVE_DECODE][i]);
    return status;
}

serve_batch serve_probe_pays(const serve_server *server, const serve_model *m,
                             serve_operation operation, uint64_t pixels)
{
    const int batch = server->settings.batch;
    size_t i = 0;
    while (i < SERVE_CLASSES && pixels > largest[i]) i++;
    if (i == SERVE_CLASSES || batch == 1) return (serve_batch){0};
    if (batch > 1) return (serve_batch){.least = 2, .most = (size_t)batch};
    return m->pays[operation][i];
}
