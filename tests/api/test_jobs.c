// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Jobs: their order, their bits, their end by cancelling and by the end of the context, many
// threads, forks. A job whose latent comes by rows stops at a gate, so that the queue behind it can
// be looked at.
#include "tests/task/session.h"
#include "zenith/zenith.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIDE = 64, JOBS = 6, THREADS = 4, ROUNDS = 12 };

SESSION_OF(2, 1)

// --- a gate -------------------------------------------------------------------------------------

typedef struct gate {
    atomic_int reached, open;
    const zenith_latent *latent; // CHW
} gate;

static zenith_status gated_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    gate *at = cookie;
    const zenith_latent *l = at->latent;
    const float *src = l->data;
    float *dst = rows;
    atomic_store(&at->reached, 1);
    while (!atomic_load(&at->open)) usleep(1000);
    for (uint32_t i = y; i < y + count; i++)
        for (uint32_t x = 0; x < l->width; x++)
            for (uint32_t c = 0; c < l->channels; c++)
                *dst++ = src[((size_t)c * l->height + i) * l->width + x];
    return ZENITH_OK;
}

static void wait_for(atomic_int *flag)
{
    while (!atomic_load(flag)) usleep(1000);
}

// A decode that stands at the gate when this returns.
static zenith_job *block(zenith_context *where, gate *at, const zenith_latent *latent,
                         zenith_image *image)
{
    zenith_latent streamed = *latent;
    zenith_job *job = NULL;
    at->latent = latent;
    streamed.data = NULL;
    streamed.rows = gated_rows;
    streamed.cookie = at;
    *image = session_image(SIDE, SIDE, 0);
    const zenith_job_params params = {.size = sizeof params,
                                      .kind = ZENITH_JOB_DECODE,
                                      .model = model,
                                      .latent = &streamed,
                                      .image = image};
    session_ok(where, zenith_job_submit(where, &params, &job));
    wait_for(&at->reached);
    return job;
}

// --- one job ------------------------------------------------------------------------------------

typedef struct work {
    zenith_latent latent;
    zenith_image image;
    zenith_job *job;
    int number, priority;
    atomic_int ended;
    zenith_status status;
} work;

static atomic_int order;

static void note_end(void *cookie, zenith_status status, const char *message)
{
    work *w = cookie;
    assert_true((status == ZENITH_OK) == (message[0] == 0));
    w->status = status;
    atomic_store(&w->ended, 1 + atomic_fetch_add(&order, 1));
}

static void submit(zenith_context *where, work *w, int number, int priority)
{
    *w = (work){.number = number, .priority = priority};
    w->latent = session_latent(SIDE, SIDE, (uint64_t)number);
    w->image = session_image(SIDE, SIDE, 0);
    const zenith_job_params params = {.size = sizeof params,
                                      .kind = ZENITH_JOB_DECODE,
                                      .model = model,
                                      .latent = &w->latent,
                                      .image = &w->image,
                                      .priority = priority,
                                      .done = note_end,
                                      .done_cookie = w};
    session_ok(where, zenith_job_submit(where, &params, &w->job));
}

static zenith_job_info info_of(const work *w)
{
    zenith_job_info info = {.size = sizeof info};
    zenith_job_get_info(w->job, &info);
    return info;
}

static void drop(work *w)
{
    zenith_job_free(w->job);
    free(w->latent.data);
    free(w->image.data);
}

// --- tests --------------------------------------------------------------------------------------

ZN_TEST(same_bits_as_calls)
{
    zenith_image image = session_image(SIDE, 40, 5), a = session_image(SIDE, 40, 0), b = a;
    zenith_latent expected = session_latent(SIDE, 40, 0), latent = session_latent(SIDE, 40, 1);
    zenith_run_facts facts = {.size = sizeof facts};
    const zenith_run_params run = {.size = sizeof run, .facts = &facts};
    zenith_job *jobs[3] = {NULL};
    b.data = malloc(session_image_bytes(&b));
    session_ok(context, zenith_encode(context, model, &image, &expected, 1, NULL));
    session_ok(context, zenith_decode(context, model, &expected, &a, 1, NULL));
    zenith_job_params what = {.size = sizeof what,
                              .kind = ZENITH_JOB_ENCODE,
                              .model = model,
                              .image = &image,
                              .latent = &latent,
                              .run = &run};
    session_ok(context, zenith_job_submit(context, &what, &jobs[0]));
    assert_int_equal(zenith_job_wait(jobs[0]), ZENITH_OK);
    assert_memory_equal(latent.data, expected.data, session_latent_bytes(&latent));
    assert_true(facts.seconds > 0 && facts.arena_bytes > 0);
    what.kind = ZENITH_JOB_DECODE;
    what.image = &b;
    session_ok(context, zenith_job_submit(context, &what, &jobs[1]));
    assert_int_equal(zenith_job_wait(jobs[1]), ZENITH_OK);
    assert_memory_equal(a.data, b.data, session_image_bytes(&b));
    memset(b.data, 0, session_image_bytes(&b));
    what.kind = ZENITH_JOB_RECONSTRUCT;
    what.image = &image;
    what.latent = NULL;
    what.result = &b;
    session_ok(context, zenith_job_submit(context, &what, &jobs[2]));
    assert_int_equal(zenith_job_wait(jobs[2]), ZENITH_OK);
    assert_memory_equal(a.data, b.data, session_image_bytes(&b));
    for (int i = 0; i < 3; i++) zenith_job_free(jobs[i]);
    free(image.data), free(a.data), free(b.data), free(latent.data), free(expected.data);
}

ZN_TEST(by_priority)
{
    static const int priorities[JOBS] = {0, -5, 3, 0, 3, -1}, expected[JOBS] = {3, 6, 1, 4, 2, 5};
    gate at = {0};
    work works[JOBS];
    zenith_latent latent = session_latent(SIDE, SIDE, 77);
    zenith_image image;
    zenith_job *first = block(context, &at, &latent, &image);
    atomic_store(&order, 0);
    for (int i = 0; i < JOBS; i++) submit(context, &works[i], i, priorities[i]);
    for (int i = 0; i < JOBS; i++) {
        const zenith_job_info info = info_of(&works[i]);
        assert_int_equal(info.state, ZENITH_JOB_WAITING);
        assert_int_equal(info.before, expected[i] - 1);
    }
    zenith_job_info running = {.size = sizeof running};
    zenith_job_get_info(first, &running);
    assert_int_equal(running.state, ZENITH_JOB_RUNNING);
    atomic_store(&at.open, 1);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(zenith_job_wait(works[i].job), ZENITH_OK);
        const zenith_job_info info = info_of(&works[i]);
        assert_int_equal(info.state, ZENITH_JOB_OVER);
        assert_true(info.ran > 0 && info.waited > 0);
        assert_int_equal(atomic_load(&works[i].ended), expected[i]);
        zenith_image plain = session_image(SIDE, SIDE, 0);
        session_ok(context, zenith_decode(context, model, &works[i].latent, &plain, 1, NULL));
        assert_memory_equal(plain.data, works[i].image.data, session_image_bytes(&plain));
        free(plain.data);
        drop(&works[i]);
    }
    zenith_job_free(first);
    free(latent.data), free(image.data);
}

ZN_TEST(cancelled)
{
    gate at = {0};
    work waiting, other;
    zenith_latent latent = session_latent(SIDE, SIDE, 78);
    zenith_image image;
    zenith_job *running = block(context, &at, &latent, &image);
    submit(context, &waiting, 1, 0);
    submit(context, &other, 2, 0);
    assert_int_equal(info_of(&other).before, 1);
    zenith_job_cancel(waiting.job); // over at once, whatever runs
    assert_int_equal(waiting.status, ZENITH_CANCELLED);
    assert_int_equal(zenith_job_wait(waiting.job), ZENITH_CANCELLED);
    assert_int_equal(info_of(&waiting).status, ZENITH_CANCELLED);
    assert_string_not_equal(info_of(&waiting).message, "");
    assert_int_equal(info_of(&other).before, 0);
    zenith_job_cancel(running);
    atomic_store(&at.open, 1);
    assert_int_equal(zenith_job_wait(running), ZENITH_CANCELLED);
    assert_int_equal(zenith_job_wait(other.job), ZENITH_OK);
    zenith_job_cancel(other.job); // too late, and no matter
    assert_int_equal(zenith_job_wait(other.job), ZENITH_OK);
    zenith_job_free(running);
    drop(&waiting), drop(&other);
    free(latent.data), free(image.data);
}

ZN_TEST(freeing_cancels)
{
    gate at = {0};
    work waiting;
    zenith_latent latent = session_latent(SIDE, SIDE, 79);
    zenith_image image;
    zenith_job *running = block(context, &at, &latent, &image);
    submit(context, &waiting, 1, 0);
    drop(&waiting);
    assert_int_equal(waiting.status, ZENITH_CANCELLED);
    atomic_store(&at.open, 1);
    assert_int_equal(zenith_job_wait(running), ZENITH_OK);
    zenith_job_free(running);
    zenith_job_free(NULL);
    free(latent.data), free(image.data);
}

static void *free_context(void *arg)
{
    zenith_context_free(arg);
    return NULL;
}

ZN_TEST(context_ends)
{
    zenith_context *own = session_context(1, 1);
    gate at = {0};
    work works[3];
    zenith_latent latent = session_latent(SIDE, SIDE, 80);
    zenith_image image;
    zenith_job *running = block(own, &at, &latent, &image);
    for (int i = 0; i < 3; i++) submit(own, &works[i], i, i);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_context, own), 0);
    usleep(20000);
    atomic_store(&at.open, 1);
    pthread_join(thread, NULL);
    assert_int_equal(zenith_job_wait(running), ZENITH_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(zenith_job_wait(works[i].job), ZENITH_CANCELLED);
        assert_non_null(strstr(info_of(&works[i]).message, "context"));
        drop(&works[i]);
    }
    zenith_job_free(running);
    free(latent.data), free(image.data);
}

static void *many(void *arg)
{
    long *bad = arg;
    for (int round = 0; round < ROUNDS; round++) {
        work w;
        submit(context, &w, round, round % 3);
        if (round % 4 == 3) zenith_job_cancel(w.job);
        if (round == ROUNDS / 2) zenith_context_trim(context);
        const zenith_status status = zenith_job_wait(w.job);
        *bad += status != ZENITH_OK && !(round % 4 == 3 && status == ZENITH_CANCELLED);
        if (status == ZENITH_OK) {
            zenith_image plain = session_image(SIDE, SIDE, 0);
            *bad += zenith_decode(context, model, &w.latent, &plain, 1, NULL) != ZENITH_OK;
            *bad += memcmp(plain.data, w.image.data, session_image_bytes(&plain)) != 0;
            free(plain.data);
        }
        drop(&w);
    }
    return NULL;
}

ZN_TEST(many_threads)
{
    pthread_t threads[THREADS];
    long bad[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many, &bad[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(bad[i], 0);
    }
}

ZN_TEST(refused)
{
    zenith_latent latent = session_latent(SIDE, SIDE, 1);
    zenith_image image = session_image(SIDE, SIDE, 1), odd = image;
    zenith_cancel *cancel = NULL;
    assert_int_equal(zenith_cancel_create(&cancel), ZENITH_OK);
    const zenith_run_params run = {.size = sizeof run, .cancel = cancel};
    const zenith_job_params good = {.size = sizeof good,
                                    .kind = ZENITH_JOB_DECODE,
                                    .model = model,
                                    .latent = &latent,
                                    .image = &image};
    zenith_job_params bad[7];
    for (int i = 0; i < 7; i++) bad[i] = good;
    odd.width = 24;
    bad[0].kind = (zenith_job_kind)0;
    bad[1].kind = (zenith_job_kind)9;
    bad[2].model = NULL;
    bad[3].latent = NULL;
    bad[4].image = &odd;
    bad[5].run = &run;
    bad[6].kind = ZENITH_JOB_RECONSTRUCT; // without a result
    zenith_job *job = NULL;
    for (int i = 0; i < 7; i++) {
        assert_int_equal(zenith_job_submit(context, &bad[i], &job), ZENITH_INVALID_ARGUMENT);
        assert_string_not_equal(zenith_context_error(context), "");
        assert_null(job);
    }
    assert_int_equal(zenith_job_submit(NULL, &good, &job), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zenith_job_wait(NULL), ZENITH_INVALID_ARGUMENT);
    zenith_cancel_free(cancel);
    free(latent.data), free(image.data);
}

ZN_TEST(forked_child)
{
    work w;
    submit(context, &w, 1, 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20); // a child that hangs dies by this
        zenith_job *job = NULL;
        const zenith_job_params params = {.size = sizeof params};
        const bool right = zenith_job_wait(w.job) == ZENITH_FORKED &&
                           zenith_job_submit(context, &params, &job) == ZENITH_FORKED;
        zenith_job_cancel(w.job);
        _exit(right ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_int_equal(zenith_job_wait(w.job), ZENITH_OK);
    drop(&w);
}
