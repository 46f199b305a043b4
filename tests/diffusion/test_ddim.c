// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Diffusion in discrete timesteps: which timesteps are taken and what a is there, clipped starts,
// the ends of both walks, noise that eta and DDPM add, stopping. The network is a function of its
// arguments. Goldens of whole walks are in tests/task/test_diffae_task.c.
#include "tests/testing.h"

#include "src/diffusion/ddim.h"

#include <math.h>
#include <string.h>

enum { COUNT = 4096, MOST = 1000 };
static const zn_ddim_betas pictures = {1000, 1e-4, 0.02}, codes = {1000, 0.008, 0.008};

typedef struct toy {
    const zn_ddim_step *steps;
    float start;    // what an exact network knows
    float constant; // not 0: the answer
    zn_prediction prediction;
    int asked, walked, stop_after, fail_at;
    int order[MOST];
    double spread[MOST]; // mean square after each step
} toy;

static zenith_status predict(void *cookie, int step, const float *x, float *answer, zn_error *err)
{
    toy *t = cookie;
    if (t->fail_at && t->asked + 1 == t->fail_at)
        return zn_fail(err, ZENITH_CANCELLED, "stopped inside");
    t->order[t->asked++] = step;
    const double a = t->steps ? t->steps[step].now : 0.5;
    for (size_t i = 0; i < COUNT; i++) {
        const double noise = ((double)x[i] - sqrt(a) * (double)t->start) / sqrt(1 - a);
        const double velocity = sqrt(a) * noise - sqrt(1 - a) * (double)t->start;
        answer[i] = t->constant != 0                       ? t->constant
                    : t->prediction == ZN_PREDICT_START    ? t->start
                    : t->prediction == ZN_PREDICT_VELOCITY ? (float)velocity
                                                           : (float)noise;
    }
    return ZENITH_OK;
}

static int stepped(void *cookie, int step, const float *x)
{
    toy *t = cookie;
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) sum += (double)x[i] * (double)x[i];
    t->spread[step] = sum / COUNT;
    t->walked = step + 1;
    return t->stop_after == step + 1;
}

static zn_ddim_run run_of(toy *t, const zn_ddim_betas *betas, int steps)
{
    return (zn_ddim_run){
        .betas = *betas, .steps = steps, .predict = predict, .stepped = stepped, .cookie = t};
}

static float *normal(void)
{
    static float x[COUNT];
    zn_noise_fill(ZN_NOISE_TORCH, 7, 0, x, COUNT);
    return x;
}

// --- schedules ----------------------------------------------------------------------------------

ZN_TEST(timesteps)
{
    static const int counts[] = {1, 2, 10, 20, 50, 100, 125, 200, 250, 500, 1000};
    static zn_ddim_step steps[MOST];
    zn_error err = {0};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const int count = counts[k], stride = 1000 / count;
        double product = 1;
        zn_test_ok(zn_ddim_steps(&pictures, count, steps, &err), &err);
        for (int t = 0, i = 0; t < 1000; t++) {
            product *= 1 - (1e-4 + (0.02 - 1e-4) * t / 999);
            if (t % stride != 0) continue;
            assert_int_equal(steps[i].timestep, t); // the first is 0, the last is not 999
            assert_true(fabs(steps[i].now - product) <= 1e-12);
            assert_true(steps[i].before == (i ? steps[i - 1].now : 1));
            if (i) assert_true(steps[i - 1].after == steps[i].now);
            i++;
        }
        assert_true(steps[count - 1].after == 0);
    }
    assert_true(fabs(steps[999].now / 4.0358297e-05 - 1) <
                1e-6); // the well-known end of 1e-4 .. 0.02
    zn_test_ok(zn_ddim_steps(&codes, 1000, steps, &err), &err);
    assert_true(fabs(steps[999].now / pow(0.992, 1000) - 1) < 1e-9); // the prior has its own betas
}

ZN_TEST(numbers_of_steps_that_do_not_divide)
{
    static zn_ddim_step steps[MOST];
    zn_error err = {0};
    zn_test_ok(zn_ddim_steps(&pictures, 30, steps, &err), &err); // 0, 34, .. 986
    assert_int_equal(steps[29].timestep, 986);
    assert_int_equal(zn_ddim_steps(&pictures, 300, steps, &err), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "250"));
    assert_non_null(strstr(err.text, "334"));
    zn_test_ok(zn_ddim_steps(&pictures, 334, steps, &err), &err);
    static const int bad[] = {0, -1, 1001, 999};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(zn_ddim_steps(&pictures, bad[i], steps, &err), ZENITH_INVALID_ARGUMENT);
    const zn_ddim_betas none[] = {
        {0, 1e-4, 0.02}, {1000, 0, 0.02}, {1000, 1e-4, 1}, {1 << 20, 0.1, 0.1}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(zn_ddim_steps(&none[i], 1, steps, &err), ZENITH_INVALID_ARGUMENT);
}

// --- walks --------------------------------------------------------------------------------------

// A network that knows the start leads there, from any noise, whatever it predicts and however many
// steps.
ZN_TEST(exact_networks)
{
    static zn_ddim_step steps[MOST];
    zn_error err = {0};
    for (int way = 0; way < 12; way++) {
        const int count = way & 1 ? 20 : 250;
        toy t = {.steps = steps, .start = 0.75f, .prediction = (zn_prediction)(way / 4)};
        float *x = normal();
        zn_test_ok(zn_ddim_steps(&pictures, count, steps, &err), &err);
        zn_ddim_run run = run_of(&t, &pictures, count);
        run.prediction = t.prediction;
        run.kind = way & 2 ? ZN_DDPM : ZN_DDIM;
        zn_test_ok(zn_ddim_sample(&run, x, COUNT, &err), &err);
        for (size_t i = 0; i < COUNT; i++) assert_true(fabsf(x[i] - 0.75f) < 2e-4f);
        assert_int_equal(t.asked, count);
        assert_int_equal(t.walked, count);
        assert_int_equal(t.order[0], count - 1); // from noise down
        assert_int_equal(t.order[count - 1], 0);
        if (way & 2) continue;
        t.asked = 0;
        zn_test_ok(zn_ddim_invert(&run, x, COUNT, &err), &err);
        assert_int_equal(t.order[0], 0); // from the start up
        assert_int_equal(t.order[count - 1], count - 1);
    }
}

// The last step up leads to a = 0: what is left is the noise that the network predicted, and
// nothing else.
ZN_TEST(inversion_ends_in_the_last_noise)
{
    static float x[COUNT];
    zn_error err = {0};
    toy t = {.constant = 0.625f};
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)i / COUNT;
    const zn_ddim_run run = run_of(&t, &pictures, 10);
    zn_test_ok(zn_ddim_invert(&run, x, COUNT, &err), &err);
    for (size_t i = 0; i < COUNT; i++) assert_true(fabsf(x[i] - 0.625f) < 1e-5f);
}

// A start beyond 1 is cut off, and the noise is what is then left; the prior's starts are not cut.
ZN_TEST(clipped_starts)
{
    static float x[COUNT];
    zn_ddim_step steps[2];
    zn_error err = {0};
    toy t = {.constant = -4};
    zn_test_ok(zn_ddim_steps(&pictures, 2, steps, &err), &err);
    for (int clips = 0; clips < 2; clips++) {
        zn_ddim_run run = run_of(&t, &pictures, 2);
        run.clips = clips;
        t.stop_after = 1;
        for (size_t i = 0; i < COUNT; i++) x[i] = 0.5f;
        assert_int_equal(zn_ddim_sample(&run, x, COUNT, &err), ZENITH_CANCELLED);
        const double a = steps[1].now, b = steps[1].before;
        double start = (0.5 + 4 * sqrt(1 - a)) / sqrt(a), noise = -4;
        if (clips) start = 1, noise = (0.5 - sqrt(a)) / sqrt(1 - a);
        const double expected = sqrt(b) * start + sqrt(1 - b) * noise;
        assert_true(fabs((double)x[0] - expected) < 1e-4 * fabs(expected) + 1e-5);
        t.stop_after = 0;
        zn_test_ok(zn_ddim_sample(&run, x, COUNT, &err), &err);
        assert_true(clips ? x[0] == 1 : x[0] > 1); // the last step leads to the start itself
    }
}

// NaN of a network is not made a picture by clipping.
ZN_TEST(nan_stays)
{
    static float x[COUNT];
    zn_error err = {0};
    toy t = {.constant = NAN};
    zn_ddim_run run = run_of(&t, &pictures, 2);
    run.clips = true;
    zn_test_ok(zn_ddim_sample(&run, x, COUNT, &err), &err);
    assert_true(isnan(x[0]));
}

// --- noise --------------------------------------------------------------------------------------

// With eta 1, and by DDPM in all timesteps, what there is at a timestep has the spread of that
// timestep.
ZN_TEST(spread_of_noise)
{
    static zn_ddim_step steps[MOST];
    zn_error err = {0};
    for (int way = 0; way < 2; way++) {
        const int count = way ? 1000 : 50;
        toy t = {.steps = steps};
        float *x = normal();
        zn_test_ok(zn_ddim_steps(&pictures, count, steps, &err), &err);
        zn_ddim_run run = run_of(&t, &pictures, count);
        run.kind = way ? ZN_DDPM : ZN_DDIM;
        run.eta = way ? 0 : 1;
        run.seed = 3;
        zn_test_ok(zn_ddim_sample(&run, x, COUNT, &err), &err);
        for (int i = 0; i + 2 < count; i += count / 10) {
            const double expected = 1 - steps[count - 1 - i].before;
            if (!(fabs(t.spread[i] / expected - 1) < 0.12))
                fail_msg("%d steps, step %d: spread %g, not %g", count, i, t.spread[i], expected);
        }
        assert_true(fabs((double)x[0]) < 1e-6); // no noise is added after the last step
    }
}

ZN_TEST(noise_is_by_seed)
{
    static float first[COUNT], other[COUNT];
    zn_error err = {0};
    toy t = {.constant = 0.25f};
    for (int way = 0; way < 6; way++) {
        zn_ddim_run run = run_of(&t, &pictures, 4);
        float *x = way % 3 == 0 ? first : other;
        run.eta = way < 3 ? 0 : 0.5;
        run.seed = way % 3 == 2 ? 6 : 5;
        t.asked = 0;
        memcpy(x, normal(), sizeof first);
        zn_test_ok(zn_ddim_sample(&run, x, COUNT, &err), &err);
        if (way % 3 == 0) continue;
        const bool same = memcmp(first, other, sizeof first) == 0;
        assert_true(same == (run.eta == 0 || run.seed == 5));
    }
}

// Of two samples in a row, each has the noise of its own seed, whichever place it has.
ZN_TEST(noise_is_by_sample)
{
    enum { EACH = COUNT / 2 };
    static float x[2][2][EACH];
    zn_error err = {0};
    toy t = {.constant = 0.25f};
    for (int i = 0; i < 2; i++) {
        zn_ddim_run run = run_of(&t, &pictures, 4);
        run.eta = 1;
        run.each = EACH;
        run.seed = 5 - (uint64_t)i;
        t.asked = 0;
        for (int k = 0; k < 2; k++) memcpy(x[i][k], normal(), sizeof x[i][k]);
        zn_test_ok(zn_ddim_sample(&run, x[i][0], COUNT, &err), &err);
    }
    assert_memory_equal(x[0][0], x[1][1], sizeof x[0][0]);
    assert_memory_not_equal(x[0][0], x[0][1], sizeof x[0][0]);
}

// --- stopping -----------------------------------------------------------------------------------

ZN_TEST(stopping)
{
    static float x[COUNT];
    zn_error err = {0};
    for (int up = 0; up < 2; up++) {
        toy t = {.constant = 1, .stop_after = 3};
        zn_ddim_run run = run_of(&t, &pictures, 10);
        zenith_status (*walk)(const zn_ddim_run *, float *, size_t,
                              zn_error *) = up ? zn_ddim_invert : zn_ddim_sample;
        assert_int_equal(walk(&run, x, COUNT, &err), ZENITH_CANCELLED);
        assert_int_equal(t.asked, 3);
        t = (toy){.constant = 1, .fail_at = 5};
        assert_int_equal(walk(&run, x, COUNT, &err), ZENITH_CANCELLED);
        assert_int_equal(t.walked, 4);
        run.eta = 1.5;
        assert_int_equal(walk(&run, x, COUNT, &err), ZENITH_INVALID_ARGUMENT);
        run.eta = 0;
        run.steps = 0;
        assert_int_equal(walk(&run, x, COUNT, &err), ZENITH_INVALID_ARGUMENT);
        run.steps = 1 << 30;
        assert_int_equal(walk(&run, x, COUNT, &err), ZENITH_INVALID_ARGUMENT);
    }
}

// --- arcs ---------------------------------------------------------------------------------------

ZN_TEST(arcs)
{
    const float a[] = {3, 0, 0}, b[] = {0, 3, 0}, zero[] = {0, 0, 0};
    float got[3];
    zn_ddim_slerp(a, b, 0, got, 3);
    assert_memory_equal(got, a, sizeof a);
    zn_ddim_slerp(a, b, 1, got, 3);
    assert_true(fabsf(got[0]) < 1e-6f && fabsf(got[1] - 3) < 1e-6f);
    zn_ddim_slerp(a, b, 1.0 / 3, got, 3); // 30 degrees: as long as the ends, which a line is not
    assert_true(fabs((double)got[0] - 3 * sqrt(0.75)) < 1e-6 && fabs((double)got[1] - 1.5) < 1e-6);
    zn_ddim_slerp(a, a, 0.25, got, 3);
    assert_memory_equal(got, a, sizeof a);
    zn_ddim_slerp(a, zero, 0.25, got, 3);
    assert_true(got[0] == 2.25f && got[1] == 0);
}
