// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedule by which rectangles are left out while a network is trained: how many, which, and
// that the mask stands still in the end.
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/train/optim/score_schedule.h"
#include "tests/testing.h"

#include <string.h>

enum { SCORES = 16, ELEMENTS = 3 + 2 * SCORES, STEPS = 60 };
static const zn_train_prune plan = {.target = 0.75, .begin = 10, .end = 40};

typedef struct bench {
    zn_train_parameter parameters[3];
    zn_network network;
    zn_optimizer optimizer;
    zn_score_schedule schedule;
} bench;

// Two blocks' scores behind a weight.
static void open_bench(bench *b)
{
    static const char *const names[] = {"encoder.mix.weight", "encoder.a.score", "encoder.b.score"};
    const zn_train_optimizer settings = {
        .lr = 0.01, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1, .ema = 0.9};
    zn_error err = {0};
    *b = (bench){.network = {.parameters = b->parameters, .count = 3}};
    for (size_t i = 0, at = 0; i < 3; i++) {
        zn_train_parameter *p = &b->parameters[i];
        zn_text_format(p->name, sizeof p->name, "%s", names[i]);
        p->offset = at;
        p->elements = i == 0 ? 3 : SCORES;
        at += p->elements;
    }
    zn_test_ok(zn_optimizer_create(&settings, ELEMENTS, STEPS, NULL, &b->optimizer, &err), &err);
    zn_test_ok(zn_score_schedule_create(&plan, &b->network, 1, &b->schedule, &err), &err);
    assert_int_equal(b->schedule.count, 2 * SCORES);
}

static void close_bench(bench *b)
{
    zn_score_schedule_free(&b->schedule);
    zn_optimizer_free(&b->optimizer);
}

// A step whose gradient pulls score i down by more than score i + 1; weights go their own way.
static double step(bench *b)
{
    zn_error err = {0};
    zn_optimizer *o = &b->optimizer;
    for (size_t i = 0; i < ELEMENTS; i++) o->gradient[i] = (float)(ELEMENTS - i) * 1e-8f;
    zn_score_schedule_hold(&b->schedule, o);
    zn_test_ok(zn_optimizer_step(o, 1, &err), &err);
    return zn_score_schedule_apply(&b->schedule, o);
}

static size_t negative(const float *values)
{
    size_t count = 0;
    for (size_t i = 3; i < ELEMENTS; i++) count += values[i] < 0;
    return count;
}

ZN_TEST(rises_as_a_cubic)
{
    assert_int_equal(zn_score_schedule_pruned(&plan, 0, 1000), 0);
    assert_int_equal(zn_score_schedule_pruned(&plan, 10, 1000), 0);
    assert_int_equal(zn_score_schedule_pruned(&plan, 25, 1000), 656); // 750 (1 - 1/8)
    assert_int_equal(zn_score_schedule_pruned(&plan, 40, 1000), 750);
    assert_int_equal(zn_score_schedule_pruned(&plan, 60, 1000), 750);
    for (uint64_t t = 0; t < STEPS; t++)
        assert_true(zn_score_schedule_pruned(&plan, t, 97) <=
                    zn_score_schedule_pruned(&plan, t + 1, 97));
}

// Scores begin alike, so that the first masks are told apart by place only: the count is exact
// there too.
ZN_TEST(leaves_out_so_many)
{
    bench b;
    open_bench(&b);
    for (uint64_t t = 1; t <= STEPS; t++) {
        const double share = step(&b);
        const size_t wanted = zn_score_schedule_pruned(&plan, t, 2 * SCORES);
        assert_int_equal(negative(b.optimizer.weights), wanted);
        assert_int_equal(negative(b.optimizer.ema), wanted);
        assert_true(share == (double)wanted / (2 * SCORES));
    }
    for (size_t i = 0; i < 2 * SCORES; i++) // those that were pulled down most
        assert_int_equal(b.optimizer.weights[3 + i] < 0, i < 24);
    close_bench(&b);
}

// A score that the gradient lifts comes back before the end, and not after.
ZN_TEST(fixes_the_mask)
{
    bench b;
    open_bench(&b);
    zn_optimizer *o = &b.optimizer;
    while (o->step < 30) step(&b);
    assert_true(o->weights[3] < 0);
    o->weights[3] = 9;
    step(&b);
    assert_true(o->weights[3] > 0);
    while (o->step < 40) step(&b);
    float fixed[ELEMENTS];
    for (size_t i = 3; i < ELEMENTS; i++) {
        fixed[i] = o->weights[i];
        assert_true(fixed[i] == 1 || fixed[i] == -1);
    }
    const float weight = o->weights[0];
    while (o->step < STEPS) step(&b);
    for (size_t i = 3; i < ELEMENTS; i++) {
        assert_true(o->weights[i] * fixed[i] > 0.9f); // only decay moves it
        assert_true(o->ema[i] == o->weights[i]);
    }
    assert_true(o->weights[0] < weight);
    close_bench(&b);
}

// From 0 they would be negative after a step: random branches make the loss larger at first.
ZN_TEST(scores_begin_alive)
{
    zn_network network;
    zn_error err = {0};
    const zn_network_shape shape = {.sizes = {.height = 16, .width = 16}};
    const zn_variant *variant = zn_variant_find("zenith_prune");
    const zn_part *part = zn_family_part(zn_family_of(variant), "decoder");
    zn_test_ok(zn_network_of_variant(variant, part, &shape, &network, &err), &err);
    float *block = zn_alloc_zero(zn_network_place(&network, 0) * sizeof *block);
    assert_non_null(block);
    zn_network_randomise(&network, block, 1, 1, ZN_INIT_HE);
    size_t scores = 0;
    for (size_t i = 0; i < network.count; i++) {
        const zn_train_parameter *p = &network.parameters[i];
        if (!zn_text_ends_with(p->name, ".score")) continue;
        for (size_t k = 0; k < p->elements; k++, scores++) assert_true(block[p->offset + k] == 1);
    }
    assert_int_equal(scores, 6 * 16);
    zn_network_free(&network);
    zn_free(block);
}

ZN_TEST(needs_scores)
{
    static const zn_variant variant = {.name = "taesd"};
    zn_train_parameter parameter = {.name = "decoder.scores", .elements = 4};
    const zn_network network = {.variant = &variant, .parameters = &parameter, .count = 1};
    const zn_train_prune none = {0};
    zn_score_schedule schedule;
    zn_error err = {0};
    assert_int_equal(zn_score_schedule_create(&plan, &network, 1, &schedule, &err),
                     ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "taesd has none"));
    zn_test_ok(zn_score_schedule_create(&none, &network, 1, &schedule, &err), &err);
    assert_int_equal(schedule.count, 0);
    zn_score_schedule_free(&schedule);
}
