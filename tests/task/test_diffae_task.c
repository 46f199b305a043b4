// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A diffusion autoencoder's whole calls against PyTorch: ten steps from two pictures to their noise
// and back, codes moved, mixed, classified and drawn from the prior. The same bits on one thread
// and two, alone and beside another call; stopped by the callback and by the flag; what is refused.
#include "tests/model/diffae_golden.h"

#include "src/task/diffae/task.h"

#include <pthread.h>

ZN_TEST_NEEDS(zn_test_path(zn_test_golden(), golden_io))

static const double BOUND = 1e-5, BOUND_STEPS = 2e-4;

typedef struct world {
    zn_executor *executor;
    zn_engine *engine;
    zn_model *model;
    zn_safetensors *io;
} world;

typedef struct trace {
    float steps[STEPS][VALUES];
    int walked, stop_after, cancel_after;
    size_t count; // numbers of a step
    atomic_int cancel;
} trace;

static void open_world(world *w, int threads, int streams)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_test_ok(zn_executor_create(streams, threads, &w->executor, &err), &err);
    zn_test_ok(zn_engine_create(w->executor, &cpu, 0, NULL, &w->engine, &err), &err);
    w->model = golden_model("diffae_task");
    w->io = part_golden(golden_io);
}

static void close_world(world *w)
{
    zn_engine_free(w->engine);
    zn_executor_free(w->executor);
    zn_model_unref(w->model);
    zn_safetensors_free(w->io);
}

static int stepped(void *cookie, int step, const float *x)
{
    trace *t = cookie;
    memcpy(t->steps[step], x, t->count * sizeof *x);
    t->walked = step + 1;
    if (t->cancel_after == step + 1) atomic_store(&t->cancel, 1);
    return t->stop_after == step + 1;
}

static zn_diffae_call call_of(const world *w, trace *t)
{
    t->count = VALUES;
    return (zn_diffae_call){.model = w->model,
                            .dtype = ZENITH_DTYPE_F32,
                            .steps = STEPS,
                            .cancel = &t->cancel,
                            .stepped = stepped,
                            .cookie = t};
}

// --- against PyTorch ----------------------------------------------------------------------------

static void compare_item(const world *w, const char *name, int number, const float *got,
                         size_t count, double bound)
{
    float *expected = golden_item(w->io, name, number, count);
    part_compare(name, got, expected, count, bound);
    zn_free(expected);
}

static void compare_steps(const world *w, const char *name, int number, const trace *t)
{
    assert_int_equal(t->walked, STEPS);
    for (int i = 0; i < STEPS; i++) {
        char full[32];
        snprintf(full, sizeof full, "%s.%d", name, i);
        compare_item(w, full, number, t->steps[i], VALUES, BOUND_STEPS);
    }
}

ZN_TEST(there_and_back)
{
    static trace t;
    static float noise[VALUES], code[CODE];
    world w;
    open_world(&w, 2, 1);
    for (int number = 0; number < PICTURES; number++) {
        zn_error err = {0};
        t = (trace){.walked = 0};
        const zn_diffae_call call = call_of(&w, &t);
        float *picture = golden_item(w.io, "image", number, VALUES);
        zn_test_ok(zn_diffae_encode(w.engine, &call, picture, code, noise, &err), &err);
        compare_item(&w, "z", number, code, CODE, BOUND);
        compare_steps(&w, "invert", number, &t);
        compare_item(&w, "x_T", number, noise, VALUES, BOUND_STEPS);
        assert_memory_equal(noise, t.steps[STEPS - 1], sizeof noise);
        zn_test_ok(zn_diffae_decode(w.engine, &call, code, noise, noise, &err), &err);
        compare_steps(&w, "decode", number, &t);
        compare_item(&w, "reconstruction", number, noise, VALUES, BOUND_STEPS);
        zn_free(picture);
    }
    close_world(&w);
}

ZN_TEST(short_types)
{
    static const struct {
        const char *label;
        zenith_dtype dtype;
    } types[] = {{"bf16", ZENITH_DTYPE_BF16}, {"int8", ZENITH_DTYPE_INT8}};
    static trace t;
    static float noise[VALUES], code[CODE];
    world w;
    open_world(&w, 2, 1);
    for (size_t i = 0; i < 2; i++) {
        if (!zn_test_takes_one_in(2, i)) continue;
        zn_error err = {0};
        zn_diffae_call call = call_of(&w, &t);
        call.dtype = types[i].dtype;
        float *picture = golden_item(w.io, "image", 0, VALUES);
        zn_test_ok(zn_diffae_encode(w.engine, &call, picture, code, noise, &err), &err);
        print_message("%s: ", types[i].label);
        compare_item(&w, "z", 0, code, CODE, 5e-2);
        print_message("%s: ", types[i].label);
        compare_item(&w, "x_T", 0, noise, VALUES, 0.2); // ten steps, each on what the last one made
        zn_free(picture);
    }
    close_world(&w);
}

ZN_TEST(codes_are_moved_and_mixed)
{
    static trace t;
    float mixed[CODE], scores[PICTURES][ATTRIBUTES];
    static float arc[VALUES];
    zn_error err = {0};
    world w;
    open_world(&w, 1, 1);
    float *codes = part_tensor(w.io, "z", NULL), *noises = part_tensor(w.io, "x_T", NULL);
    zn_diffae_between_codes(codes, codes + CODE, 0.25, mixed, CODE);
    compare_item(&w, "z.lerp", 0, mixed, CODE, 1e-6);
    zn_ddim_slerp(noises, noises + VALUES, 0.25, arc, VALUES);
    compare_item(&w, "x_T.slerp", 0, arc, VALUES, 1e-6);
    const zn_diffae_call call = call_of(&w, &t);
    zn_test_ok(zn_diffae_classify(w.engine, &call, PICTURES, codes, scores[0], &err), &err);
    const float before = scores[1][3];
    for (int i = 0; i < PICTURES; i++) {
        zn_test_ok(zn_diffae_manipulate(w.model, 3, 0.3, codes + i * CODE, &err), &err);
        compare_item(&w, "z.manipulated", i, codes + i * CODE, CODE, 1e-6);
    }
    zn_test_ok(zn_diffae_classify(w.engine, &call, PICTURES, codes, scores[0], &err), &err);
    float *weights = golden_item(w.io, "classifier.weight", 3, CODE);
    double length = 0;
    for (int i = 0; i < CODE; i++) length += (double)weights[i] * (double)weights[i];
    const double gain = 0.3 * sqrt(CODE) * sqrt(length); // along the attribute's own direction
    assert_true(fabs((double)(scores[1][3] - before) - gain) < 1e-4 * gain);
    zn_free(weights);
    zn_free(codes);
    zn_free(noises);
    close_world(&w);
}

ZN_TEST(codes_of_the_prior)
{
    static trace t;
    zn_error err = {0};
    float alone[CODE];
    world w;
    open_world(&w, 2, 1);
    zn_diffae_call call = call_of(&w, &t);
    t.count = PICTURES * CODE;
    float *codes = part_tensor(w.io, "latent.noise", NULL);
    memcpy(alone, codes + CODE, sizeof alone);
    zn_test_ok(zn_diffae_sample(w.engine, &call, PICTURES, codes, &err), &err);
    assert_int_equal(t.walked, STEPS);
    for (int i = 0; i < PICTURES; i++)
        compare_item(&w, "latent.sampled", i, codes + i * CODE, CODE, BOUND_STEPS);
    t.count = CODE;
    zn_test_ok(zn_diffae_sample(w.engine, &call, 1, alone, &err), &err); // without its neighbour
    assert_memory_equal(alone, codes + CODE, sizeof alone);
    zn_free(codes);
    close_world(&w);
}

// --- same bits ----------------------------------------------------------------------------------

typedef struct racer {
    const world *w;
    int number;
    trace t;
    float noise[VALUES], code[CODE];
    zenith_status status;
} racer;

static void *race(void *arg)
{
    racer *r = arg;
    zn_error err = {0};
    zn_diffae_call call = call_of(r->w, &r->t);
    float *picture = golden_item(r->w->io, "image", r->number, VALUES);
    call.steps = 2; // the second is made of all bits of the first
    r->status = zn_diffae_encode(r->w->engine, &call, picture, r->code, r->noise, &err);
    zn_free(picture);
    return NULL;
}

ZN_TEST(threads_and_neighbours_change_nothing)
{
    static racer one[PICTURES], two, both[PICTURES];
    pthread_t threads[PICTURES];
    world w;
    open_world(&w, 1, 1);
    for (int i = 0; i < PICTURES; i++) {
        one[i] = (racer){.w = &w, .number = i};
        race(&one[i]);
        assert_int_equal(one[i].status, ZENITH_OK);
    }
    close_world(&w);
    open_world(&w, 2, 1);
    two = (racer){.w = &w};
    race(&two);
    close_world(&w);
    assert_memory_equal(one[0].t.steps, two.t.steps, sizeof two.t.steps);
    assert_memory_equal(one[0].code, two.code, sizeof two.code);
    open_world(&w, 1, 2); // both at once, on the same weights
    for (int i = 0; i < PICTURES; i++) {
        both[i] = (racer){.w = &w, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &both[i]), 0);
    }
    for (int i = 0; i < PICTURES; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    close_world(&w);
    for (int i = 0; i < PICTURES; i++)
        assert_memory_equal(one[i].noise, both[i].noise, sizeof one[i].noise);
}

// --- other sizes, stopping, refusing ------------------------------------------------------------

// A picture of another size than it was trained with, and one that is not square.
ZN_TEST(other_sizes)
{
    static trace t;
    float code[CODE];
    zn_error err = {0};
    world w;
    open_world(&w, 1, 1);
    zn_diffae_call call = call_of(&w, &t);
    float *picture = golden_item(w.io, "image", 0, VALUES);
    call.height = SIDE / 2;
    call.width = SIDE * 2; // as many numbers
    call.steps = 2;
    zn_test_ok(zn_diffae_encode(w.engine, &call, picture, code, picture, &err), &err);
    zn_test_ok(zn_diffae_decode(w.engine, &call, code, picture, picture, &err), &err);
    for (size_t i = 0; i < VALUES; i++) assert_true(fabsf(picture[i]) <= 1);
    zn_free(picture);
    close_world(&w);
}

ZN_TEST(stopped)
{
    static trace t;
    static float picture[VALUES], noise[VALUES];
    float code[CODE] = {0};
    zn_error err = {0};
    world w;
    open_world(&w, 1, 1);
    for (int way = 0; way < 6; way++) {
        t = (trace){.stop_after = way % 3 == 0 ? 3 : 0, .cancel_after = way % 3 == 1 ? 5 : 0};
        const zn_diffae_call call = call_of(&w, &t);
        if (way % 3 == 2) atomic_store(&t.cancel, 1);
        zenith_status status = way < 3
                                   ? zn_diffae_encode(w.engine, &call, picture, code, noise, &err)
                                   : zn_diffae_decode(w.engine, &call, code, noise, noise, &err);
        assert_int_equal(status, ZENITH_CANCELLED);
        assert_int_equal(t.walked, way % 3 == 0 ? 3 : way % 3 == 1 ? 5 : 0);
    }
    close_world(&w);
}

ZN_TEST(refused)
{
    static trace t;
    static float picture[VALUES];
    float code[CODE] = {0};
    world w;
    open_world(&w, 1, 1);
    const zn_diffae_call good = call_of(&w, &t);
    zn_diffae_call bad[] = {good, good, good, good, good};
    bad[0].steps = 0;
    bad[1].steps = 300; // no stride gives so many
    bad[2].height = 30;
    bad[3].eta = 2;
    bad[4].model = part_open("vae_sd");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        zn_error err = {0};
        assert_int_equal(zn_diffae_decode(w.engine, &bad[i], code, picture, picture, &err),
                         ZENITH_INVALID_ARGUMENT);
        assert_true(strlen(err.text) > 10);
    }
    zn_error err = {0};
    assert_int_equal(zn_diffae_sample(w.engine, &good, 0, code, &err), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_diffae_manipulate(w.model, 40, 1, code, &err), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_diffae_manipulate(w.model, -1, 1, code, &err), ZENITH_INVALID_ARGUMENT);
    zn_model_unref(bad[4].model);
    err = (zn_error){0};
    zn_model *bare = part_open("diffae");  // the golden's own folder: networks alone
    assert_int_equal(bare->unexpected, 6); // the prior's scales, which are there twice
    assert_int_equal(zn_diffae_manipulate(bare, 0, 1, code, &err), ZENITH_NOT_FOUND);
    assert_non_null(strstr(err.text, "latent.pkl"));
    zn_diffae_call call = good;
    call.model = bare;
    assert_int_equal(zn_diffae_sample(w.engine, &call, 1, code, &err), ZENITH_NOT_FOUND);
    zn_model_unref(bare);
    close_world(&w);
}
