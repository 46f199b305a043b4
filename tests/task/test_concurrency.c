// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that share what may be shared: one model under several contexts, one context under
// several threads, streams of one batch, progress and cancels across threads. Every result must
// have the bits of a quiet run. Meant for the thread sanitizer; it also runs without.
#include "tests/task/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS = 4, ROUNDS = 6, SIZES = 3, BATCH = 5 };

static zenith_context *quiet;
static zenith_model *model;
static zenith_latent latents[SIZES];
static zenith_image expected[SIZES];

static uint32_t width_of(int i)
{
    return 32 + 8 * (uint32_t)i;
}

ZN_TEST_SETUP(setup)
{
    quiet = session_context(1, 1);
    model = session_tiny(quiet);
    for (int i = 0; i < SIZES; i++) {
        latents[i] = session_latent(width_of(i), 40, (uint64_t)i);
        expected[i] = session_image(width_of(i), 40, 0);
    }
    // A model of its own: the shared one stays unpacked, so that threads meet in packing it.
    zenith_model *same = session_tiny(quiet);
    session_ok(quiet, zenith_decode(quiet, same, latents, expected, SIZES, NULL));
    zenith_model_free(same);
    return 0;
}

ZN_TEST_TEARDOWN(teardown)
{
    for (int i = 0; i < SIZES; i++) {
        free(latents[i].data);
        free(expected[i].data);
    }
    zenith_model_free(model);
    zenith_context_free(quiet);
    return 0;
}

typedef struct worker {
    pthread_t thread;
    zenith_context *context; // NULL: makes its own
    zenith_cancel *cancel;   // NULL: none
    int number;
    long bad, cancelled;
} worker;

static bool decodes_well(worker *w, zenith_context *context, int i)
{
    zenith_image image = session_image(width_of(i), 40, 9);
    const zenith_run_params params = {
        .size = sizeof params, .max_memory = i == 1 ? 3u << 20 : 0, .cancel = w->cancel};
    zenith_status status = zenith_decode(context, model, &latents[i], &image, 1, &params);
    bool same = memcmp(image.data, expected[i].data, session_image_bytes(&image)) == 0;
    free(image.data);
    w->cancelled += status == ZENITH_CANCELLED;
    return status == ZENITH_CANCELLED ? w->cancel != NULL : status == ZENITH_OK && same;
}

static bool encodes(zenith_context *context, int i)
{
    zenith_image image = session_image(width_of(i), 40, 9);
    zenith_latent latent = session_latent(width_of(i), 40, 0);
    zenith_status status = zenith_encode(context, model, &image, &latent, 1, NULL);
    free(image.data);
    free(latent.data);
    return status == ZENITH_OK;
}

static void *work(void *arg)
{
    worker *w = arg;
    zenith_context *context = w->context;
    const zenith_context_params params = {.size = sizeof params, .threads = 1 + w->number % 2};
    if (!context && zenith_context_create(&params, &context) != ZENITH_OK) w->bad++;
    for (int round = 0; round < ROUNDS && context; round++) {
        w->bad += !decodes_well(w, context, (w->number + round) % SIZES);
        w->bad += !encodes(context, round % SIZES);
        if (round == ROUNDS / 2) zenith_context_trim(context);
    }
    if (!w->context) zenith_context_free(context);
    return NULL;
}

static long run_workers(zenith_context *context, zenith_cancel *cancel)
{
    worker workers[THREADS];
    long cancelled = 0;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.context = context, .cancel = cancel, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; cancel && i < 50; i++) {
        zenith_cancel_request(cancel);
        zenith_cancel_reset(cancel);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].bad, 0);
        cancelled += workers[i].cancelled;
    }
    return cancelled;
}

ZN_TEST(one_model_many_contexts)
{
    assert_int_equal(run_workers(NULL, NULL), 0);
}

ZN_TEST(one_context_many_threads)
{
    zenith_context *context = session_context(1, 2);
    assert_int_equal(run_workers(context, NULL), 0);
    zenith_context_free(context);
}

ZN_TEST(cancels_from_elsewhere)
{
    zenith_cancel *cancel = NULL;
    assert_int_equal(zenith_cancel_create(&cancel), ZENITH_OK);
    run_workers(NULL, cancel);
    zenith_cancel_free(cancel);
}

// --- streams ------------------------------------------------------------------------------------

typedef struct watched {
    double last; // not atomic: calls come one at a time
    int calls;
} watched;

static int note_progress(void *cookie, double fraction)
{
    watched *w = cookie;
    if (fraction < w->last) return 1;
    w->last = fraction;
    w->calls++;
    return 0;
}

ZN_TEST(streams_of_a_batch)
{
    zenith_context *context = session_context(1, 2);
    zenith_latent in[BATCH];
    zenith_image out[BATCH];
    watched seen = {0};
    const zenith_run_params params = {
        .size = sizeof params, .progress = note_progress, .progress_cookie = &seen};
    for (int i = 0; i < BATCH; i++) {
        in[i] = latents[i % SIZES];
        out[i] = session_image(width_of(i % SIZES), 40, 0);
    }
    session_ok(context, zenith_decode(context, model, in, out, BATCH, &params));
    assert_true(seen.last == 1 && seen.calls > BATCH);
    for (int i = 0; i < BATCH; i++) {
        assert_memory_equal(out[i].data, expected[i % SIZES].data, session_image_bytes(&out[i]));
        free(out[i].data);
    }
    zenith_context_free(context);
}

// --- sentences ----------------------------------------------------------------------------------

// Fails in its own way again and again while others fail in theirs, and must read its own sentence.
typedef struct failing {
    pthread_t thread;
    zenith_context *context;
    uint32_t channels; // that no model has
    long bad;
} failing;

static void *fail_and_read(void *arg)
{
    failing *f = arg;
    char own[32];
    zenith_latent wrong = latents[0];
    zenith_image image = session_image(width_of(0), 40, 9);
    wrong.channels = f->channels;
    snprintf(own, sizeof own, "has %u channels", f->channels);
    for (int i = 0; i < 200; i++) {
        zenith_status status = zenith_decode(f->context, model, &wrong, &image, 1, NULL);
        f->bad += status != ZENITH_INVALID_ARGUMENT;
        f->bad += strstr(zenith_context_error(f->context), own) == NULL;
    }
    free(image.data);
    return NULL;
}

ZN_TEST(threads_read_their_own_sentences)
{
    zenith_context *context = session_context(1, 1);
    failing threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        threads[i] = (failing){.context = context, .channels = 100 + i};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, fail_and_read, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i].thread, NULL);
        assert_int_equal(threads[i].bad, 0);
    }
    assert_string_equal(zenith_context_error(context), ""); // this thread's calls went well
    zenith_context_free(context);
}
