// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The sampler of flow matching: schedules as diffusers makes them, as many answers of the network
// as steps, guidance, and stopping. The network is a function of its arguments.
#include "tests/testing.h"

#include "src/base/json.h"
#include "src/diffusion/flow_match.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 5 };

typedef struct toy {
    int positive, negative; // answers that were asked for
    int last_step, stop_after, fail_at;
    float seen[4][COUNT];                  // the latent of each step
    float latent[COUNT], predicted[COUNT]; // of the last
} toy;

static zenith_status predict(void *cookie, int step, bool negative, const float *latent,
                             float *answer, zn_error *err)
{
    toy *t = cookie;
    if (t->fail_at && step + 1 == t->fail_at)
        return zn_fail(err, ZENITH_CANCELLED, "stopped inside");
    for (int i = 0; i < COUNT; i++) {
        answer[i] = negative ? 0.25f * latent[i] : latent[i] + (float)i;
        if (step < 4) t->seen[step][i] = latent[i];
    }
    *(negative ? &t->negative : &t->positive) += 1;
    return ZENITH_OK;
}

static int stepped(void *cookie, int step, const float *latent, const float *predicted)
{
    toy *t = cookie;
    t->last_step = step + 1;
    memcpy(t->latent, latent, sizeof t->latent);
    memcpy(t->predicted, predicted, sizeof t->predicted);
    return t->stop_after && step + 1 == t->stop_after;
}

static zn_flow_run run_of(toy *t)
{
    *t = (toy){.positive = 0};
    return (zn_flow_run){
        .steps = 8, .shift = 3, .predict = predict, .stepped = stepped, .cookie = t};
}

ZN_TEST(schedules)
{
    static const int steps[] = {1, 4, 8, 9, 20, 50};
    zn_error err = {0};
    zn_json *golden = NULL;
    zn_test_need(zn_test_path(zn_test_golden(), "pipeline/schedules.json"));
    zn_test_ok(
        zn_json_open(zn_test_path(zn_test_golden(), "pipeline/schedules.json"), &golden, &err),
        &err);
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        char key[16];
        float sigmas[64];
        const zn_json *times = NULL, *expected = NULL, *entry = NULL;
        snprintf(key, sizeof key, "%d", steps[k]);
        zn_test_ok(zn_json_get_object(golden, key, &entry, &err), &err);
        zn_test_ok(zn_json_get_array(entry, "sigmas", &expected, &err), &err);
        zn_test_ok(zn_json_get_array(entry, "timesteps", &times, &err), &err);
        assert_int_equal(zn_json_size(expected), steps[k] + 1);
        zn_test_ok(zn_flow_sigmas(steps[k], 3.0, sigmas, &err), &err);
        for (int i = 0; i <= steps[k]; i++) {
            double sigma = 0, time = 0;
            assert_true(zn_json_as_number(zn_json_at(expected, (size_t)i), &sigma));
            if (!(fabs((double)sigmas[i] - sigma) <= 1.2e-7))
                fail_msg("%d steps: sigma %d is %.9g, diffusers' %.9g", steps[k], i,
                         (double)sigmas[i], sigma);
            if (i == steps[k]) break;
            assert_true(zn_json_as_number(zn_json_at(times, (size_t)i), &time));
            assert_true(fabs((double)zn_flow_time(sigmas[i]) - (1000 - time) / 1000) <= 2e-7);
        }
    }
    zn_json_free(golden);
}

// n steps are n answers; no ninth for sigma 0.
ZN_TEST(as_many_answers_as_steps)
{
    toy t;
    zn_error err = {0};
    float latent[COUNT] = {1, -2, 3, 0.5f, 0};
    zn_flow_run run = run_of(&t);
    zn_test_ok(zn_flow_sample(&run, latent, COUNT, &err), &err);
    assert_int_equal(t.positive, 8);
    assert_int_equal(t.negative, 0);
    assert_int_equal(t.last_step, 8);
    run = run_of(&t);
    run.guidance = 4;
    zn_test_ok(zn_flow_sample(&run, latent, COUNT, &err), &err);
    assert_int_equal(t.positive, 8);
    assert_int_equal(t.negative, 8);
}

// One step from sigma 1 to 0 adds the answer itself.
ZN_TEST(guided_answers)
{
    toy t;
    zn_error err = {0};
    float latent[COUNT] = {1, -2, 3, 0.5f, 0};
    const float before[COUNT] = {1, -2, 3, 0.5f, 0};
    zn_flow_run run = run_of(&t);
    run.steps = 1;
    run.guidance = 2;
    zn_test_ok(zn_flow_sample(&run, latent, COUNT, &err), &err);
    double shorter = 0, longer = 0;
    float guided[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const float p = before[i] + (float)i, n = 0.25f * before[i];
        guided[i] = p + 2 * (p - n);
        assert_true(fabsf(latent[i] - (before[i] + guided[i])) < 1e-6f);
        shorter += (double)(p * p);
        longer += (double)(guided[i] * guided[i]);
    }
    for (int i = 0; i < COUNT; i++) latent[i] = before[i];
    run.normalise = 0.5f;
    zn_test_ok(zn_flow_sample(&run, latent, COUNT, &err), &err);
    for (int i = 0; i < COUNT; i++) {
        const double expected = (double)guided[i] * 0.5 * sqrt(shorter / longer);
        assert_true(fabs((double)(latent[i] - before[i]) - expected) < 1e-5);
    }
}

// No guidance from a time on: of eight steps those whose time is above it ask once.
ZN_TEST(truncated_guidance)
{
    toy t;
    zn_error err = {0};
    float latent[COUNT] = {0}, sigmas[9];
    int before = 0;
    zn_flow_run run = run_of(&t);
    run.guidance = 4;
    run.truncation = 0.3f;
    zn_test_ok(zn_flow_sample(&run, latent, COUNT, &err), &err);
    zn_test_ok(zn_flow_sigmas(8, 3, sigmas, &err), &err);
    for (int i = 0; i < 8; i++) before += zn_flow_time(sigmas[i]) <= 0.3f;
    assert_true(before > 0 && before < 8);
    assert_int_equal(t.negative, before);
}

ZN_TEST(stopping)
{
    toy t;
    zn_error err = {0};
    float latent[COUNT] = {0};
    zn_flow_run run = run_of(&t);
    t.stop_after = 3;
    assert_int_equal(zn_flow_sample(&run, latent, COUNT, &err), ZENITH_CANCELLED);
    assert_int_equal(t.positive, 3);
    run = run_of(&t);
    t.fail_at = 5;
    assert_int_equal(zn_flow_sample(&run, latent, COUNT, &err), ZENITH_CANCELLED);
    assert_int_equal(t.last_step, 4);
    run.steps = 0;
    assert_int_equal(zn_flow_sample(&run, latent, COUNT, &err), ZENITH_INVALID_ARGUMENT);
    run.steps = 1001;
    assert_int_equal(zn_flow_sample(&run, latent, COUNT, &err), ZENITH_INVALID_ARGUMENT);
    run.steps = 8;
    run.shift = 0;
    assert_int_equal(zn_flow_sample(&run, latent, COUNT, &err), ZENITH_INVALID_ARGUMENT);
}

// The last step leads to the picture itself; before, the prediction is the latent with all of its
// noise taken off.
ZN_TEST(predictions)
{
    toy t;
    zn_error err = {0};
    float latent[COUNT] = {1, -2, 3, 0.5f, 0};
    zn_flow_run run = run_of(&t);
    zn_test_ok(zn_flow_sample(&run, latent, COUNT, &err), &err);
    assert_memory_equal(t.predicted, latent, sizeof latent);
    run = run_of(&t);
    t.stop_after = 1;
    const float before[COUNT] = {1, -2, 3, 0.5f, 0};
    memcpy(latent, before, sizeof latent);
    assert_int_equal(zn_flow_sample(&run, latent, COUNT, &err), ZENITH_CANCELLED);
    for (int i = 0; i < COUNT; i++) // sigma is 1
        assert_true(t.predicted[i] == before[i] + (before[i] + (float)i));
}

// int(steps - min(steps * strength, steps)), as diffusers counts.
ZN_TEST(beginnings)
{
    toy t;
    zn_error err = {0};
    float noise[COUNT] = {1, -2, 3, 0.5f, -0.0f}, kept[COUNT];
    const float picture[COUNT] = {5, 4, 3, 2, 1};
    assert_int_equal(zn_flow_begin(8, 1), 0);
    assert_int_equal(zn_flow_begin(8, 0.6), 3);
    assert_int_equal(zn_flow_begin(8, 0.5), 4);
    assert_int_equal(zn_flow_begin(10, 0.7), 3);
    assert_int_equal(zn_flow_begin(8, 0.01), 7);
    memcpy(kept, noise, sizeof kept);
    zn_flow_mix(1, picture, noise, COUNT);
    assert_memory_equal(noise, kept, sizeof kept);
    zn_flow_mix(0.25f, picture, noise, COUNT);
    for (int i = 0; i < COUNT; i++) assert_true(noise[i] == 0.25f * kept[i] + 0.75f * picture[i]);
    zn_flow_run run = run_of(&t);
    run.begin = 3;
    zn_test_ok(zn_flow_sample(&run, noise, COUNT, &err), &err);
    assert_int_equal(t.positive, 5);
    assert_int_equal(t.last_step, 8);
    run.begin = 8;
    assert_int_equal(zn_flow_sample(&run, noise, COUNT, &err), ZENITH_INVALID_ARGUMENT);
}
