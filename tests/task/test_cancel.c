// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Stopping a call: from another thread at random moments, from the progress callback, and before it
// began; in bands, in whole maps, in the barriers of a group norm and within one long product. The
// context must then work as if nothing had been, with the same bits. How fast it stops is measured
// by bench/cancel.c; the bound here is what a caller may count on.
#include "tests/task/session.h"

#include "src/base/os.h"
#include "src/graph/packs.h"
#include "src/graph/plan.h"
#include "src/op/ops.h"
#include "src/op/token/token_ops.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

enum { WIDTH = 384, HEIGHT = 512, CANCELS = 10 };

static const double patience = 0.25 * ZN_TEST_SLOWER; // seconds

static zenith_context *context;
static zenith_model *model;
static zenith_cancel *cancel;
static zenith_latent latent;
static zenith_image image;

// Of the sides: suites that follow a full one take smaller pictures.
static uint32_t part(void)
{
    return zn_test_quick() ? 4 : 1;
}

ZN_TEST_SETUP(setup)
{
    zn_test_need(zn_test_path(zn_test_weights(), "taesd_decoder.safetensors"));
    zn_test_need(zn_test_path(zn_test_weights(), "taef2_decoder.safetensors"));
    context = session_context(1, 1);
    model = session_model(context, "taesd", zn_test_weights());
    latent = session_latent(WIDTH / part(), HEIGHT / part(), 3);
    image = session_image(WIDTH / part(), HEIGHT / part(), 4);
    return zenith_cancel_create(&cancel) == ZENITH_OK ? 0 : -1;
}

ZN_TEST_TEARDOWN(teardown)
{
    free(latent.data);
    free(image.data);
    zenith_cancel_free(cancel);
    zenith_model_free(model);
    zenith_context_free(context);
    return 0;
}

static zenith_run_params params_for(bool banded)
{
    return (zenith_run_params){.size = sizeof(zenith_run_params),
                               .dtype = ZENITH_DTYPE_F32,
                               .bands = banded ? ZENITH_BANDS_ROWS : ZENITH_BANDS_OFF,
                               .band_rows = 4,
                               .cancel = cancel};
}

static zenith_status decode(const zenith_run_params *params)
{
    return zenith_decode(context, model, &latent, &image, 1, params);
}

// --- from another thread ------------------------------------------------------------------------

// Waits for a fraction of the work rather than for a time: the machine may be busy.
typedef struct later {
    double fraction;
    atomic_int thousandths; // done
    zn_test_moment at;      // when it was requested
} later;

static int note_fraction(void *cookie, double fraction)
{
    later *l = cookie;
    atomic_store(&l->thousandths, (int)(fraction * 1000));
    return 0;
}

static void *request_later(void *arg)
{
    later *l = arg;
    const struct timespec moment = {.tv_nsec = 500000};
    while (atomic_load(&l->thousandths) < l->fraction * 1000) nanosleep(&moment, NULL);
    l->at = zn_test_now();
    zenith_cancel_request(cancel);
    return NULL;
}

static void check_cancels(bool banded)
{
    zenith_run_params params = params_for(banded);
    const size_t bytes = session_image_bytes(&image);
    uint8_t *good = malloc(bytes);
    zn_random random = {.seed = banded ? 11 : 12};
    session_ok(context, decode(&params));
    memcpy(good, image.data, bytes);
    for (int i = 0; i < (zn_test_quick() ? CANCELS / 3 : CANCELS); i++) {
        later l = {.fraction = 0.8 * (double)zn_random_below(&random, 1000) / 1000};
        pthread_t thread;
        params.progress = note_fraction;
        params.progress_cookie = &l;
        assert_int_equal(pthread_create(&thread, NULL, request_later, &l), 0);
        zenith_status status = decode(&params);
        const double took = zn_test_seconds_since(l.at);
        pthread_join(thread, NULL);
        assert_int_equal(status, ZENITH_CANCELLED);
        assert_true(took < patience);
        zenith_cancel_reset(cancel);
    }
    memset(image.data, 0, bytes);
    params.progress = NULL;
    session_ok(context, decode(&params));
    assert_memory_equal(image.data, good, bytes);
    free(good);
}

ZN_TEST(cancels_of_whole_maps)
{
    check_cancels(false);
}

ZN_TEST(cancels_of_bands)
{
    check_cancels(true);
}

// TAEF2's group norms need every row of a map at once.
ZN_TEST(cancels_of_barriers)
{
    zenith_model *const plain = model;
    const zenith_latent plain_latent = latent;
    const zenith_image plain_image = image;
    zenith_model_info info = {.size = sizeof info};
    model = session_model(context, "taef2", zn_test_weights());
    zenith_model_get_info(model, &info);
    const uint32_t width = WIDTH / part(), height = HEIGHT / part();
    latent.width = width / info.factor;
    latent.height = height / info.factor;
    latent.channels = info.latent_channels;
    latent.data = calloc((size_t)latent.width * latent.height * latent.channels, sizeof(float));
    image = session_image(width, height, 5);
    check_cancels(false);
    free(latent.data);
    free(image.data);
    zenith_model_free(model);
    model = plain;
    latent = plain_latent;
    image = plain_image;
}

// --- within one operator ------------------------------------------------------------------------

enum { TOKENS = 4096, IN = 1536, OUT = 4096 };

typedef struct product {
    atomic_int reading, requested;
    zn_test_moment at;
} product;

static zenith_status read_zeros(void *cookie, int input, int64_t row, int64_t count, void *dst,
                                zn_error *err)
{
    product *p = cookie;
    (void)input, (void)row, (void)err;
    memset(dst, 0, (size_t)count * IN * sizeof(float));
    atomic_store(&p->reading, 1);
    return ZENITH_OK;
}

static zenith_status drop_rows(void *cookie, int output, int64_t row, int64_t count,
                               const void *src, zn_error *err)
{
    (void)cookie, (void)output, (void)row, (void)count, (void)src, (void)err;
    return ZENITH_OK;
}

static void *request_soon(void *arg)
{
    product *p = arg;
    const struct timespec moment = {.tv_nsec = 5000000};
    while (!atomic_load(&p->reading)) nanosleep(&moment, NULL);
    nanosleep(&moment, NULL);
    p->at = zn_test_now();
    atomic_store(&p->requested, 1);
    return NULL;
}

// One linear over 4,096 tokens, on one thread: half a second and more of work in one node.
ZN_TEST(cancel_of_a_linear)
{
    zn_error err = {0};
    zn_graph graph = {0};
    zn_packs *packs = NULL;
    zn_plan *plan = NULL;
    product p = {0};
    pthread_t thread;
    float *weights = calloc((size_t)IN * OUT, sizeof *weights);
    zn_graph_begin(&graph, &err);
    zn_node *x = zn_graph_input(&graph, "x", zn_desc_make(ZN_F32, ZN_SHAPE(1, TOKENS, 1, IN)));
    zn_tensor constant = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(OUT, IN)), .data = weights};
    zn_node *weight = zn_graph_parameter(&graph, "weight", constant);
    zn_graph_output(&graph, zn_linear(&graph, "linear", x, weight, NULL));
    zn_test_ok(zn_graph_finish(&graph), &err);
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    const zn_plan_options options = {
        .mode = ZN_PLAN_PLANES, .cpu = zn_cpu_detect(), .threads = 1, .packs = packs};
    zn_test_ok(zn_plan_create(&graph, &options, &plan, &err), &err);
    void *arena = zn_alloc(zn_plan_bytes(plan));
    const zn_run run = {
        .read = read_zeros, .write = drop_rows, .cookie = &p, .cancel = &p.requested};
    assert_int_equal(pthread_create(&thread, NULL, request_soon, &p), 0);
    zenith_status status = zn_plan_run(plan, arena, NULL, &run, &err);
    const double took = zn_test_seconds_since(p.at);
    pthread_join(thread, NULL);
    assert_int_equal(status, ZENITH_CANCELLED);
    assert_true(took < patience);
    zn_free(arena);
    zn_plan_free(plan);
    zn_packs_free(packs);
    zn_graph_free(&graph);
    free(weights);
}

// Also when nothing is compiled yet: compiling looks at the flag too.
ZN_TEST(requested_before_the_call)
{
    const zenith_run_params params = params_for(true);
    zenith_cancel_request(cancel);
    for (int trimmed = 0; trimmed <= 1; trimmed++) {
        if (trimmed) zenith_context_trim(context);
        const zn_test_moment begin = zn_test_now();
        assert_int_equal(decode(&params), ZENITH_CANCELLED);
        assert_true(zn_test_seconds_since(begin) < patience);
        assert_string_not_equal(zenith_context_error(context), "");
    }
    zenith_cancel_reset(cancel);
    session_ok(context, decode(&params));
}

// --- from the progress callback -----------------------------------------------------------------

typedef struct progress {
    double last, stop_at;
    int calls, calls_after_stop;
    bool stopped;
} progress;

static int note_progress(void *cookie, double fraction)
{
    progress *p = cookie;
    assert_true(fraction >= p->last && fraction <= 1);
    p->last = fraction;
    p->calls++;
    p->calls_after_stop += p->stopped;
    p->stopped |= fraction >= p->stop_at;
    return p->stopped;
}

ZN_TEST(progress_rises_to_one)
{
    for (int banded = 0; banded <= 1; banded++) {
        zenith_run_params params = params_for(banded);
        progress p = {.stop_at = 2};
        params.progress = note_progress;
        params.progress_cookie = &p;
        session_ok(context, decode(&params));
        assert_true(p.last == 1 && p.calls > 20);
    }
}

ZN_TEST(progress_stops_the_call)
{
    for (int banded = 0; banded <= 1; banded++) {
        zenith_run_params params = params_for(banded);
        progress p = {.stop_at = 0.3};
        params.progress = note_progress;
        params.progress_cookie = &p;
        assert_int_equal(decode(&params), ZENITH_CANCELLED);
        assert_true(p.last >= 0.3 && p.last < 0.5);
        assert_int_equal(p.calls_after_stop, 0);
    }
}

// A stop on one stream is one for the pictures on the others.
ZN_TEST(progress_stops_every_stream)
{
    enum { COUNT = 4 };
    zenith_context *both = session_context(1, 2);
    zenith_latent latents[COUNT];
    zenith_image images[COUNT];
    zenith_run_params params = params_for(true);
    progress p = {.stop_at = 0.02};
    params.progress = note_progress;
    params.progress_cookie = &p;
    for (int i = 0; i < COUNT; i++) {
        latents[i] = latent;
        images[i] = session_image(WIDTH / part(), HEIGHT / part(), 1);
    }
    assert_int_equal(zenith_decode(both, model, latents, images, COUNT, &params), ZENITH_CANCELLED);
    assert_int_equal(p.calls_after_stop, 0);
    for (int i = 0; i < COUNT; i++) free(images[i].data);
    zenith_context_free(both);
}
