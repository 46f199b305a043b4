// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Which calls compile: counted by the engine. A plan serves every call that computes the same and
// whose memory it fits, whatever the other pictures of the batch leave of the budget; results keep
// their bits.
#include "tests/task/session.h"

#include "src/api/context.h"
#include "src/api/models.h"
#include "src/task/engine/engine.h"

// Named, because what a budget holds depends on it.
#define TYPE .dtype = ZENITH_DTYPE_F32
enum { SIZES = 3, HEIGHT = 64, MOST = 8, COMPOSITIONS = 20 };

static zenith_model *model;
static zenith_latent latents[SIZES];
static zenith_image expected[SIZES];

static uint32_t width_of(size_t i)
{
    return 64 + 64 * (uint32_t)i;
}

ZN_TEST_SETUP(setup)
{
    const zenith_run_params plain = {.size = sizeof plain, TYPE};
    zenith_context *quiet = session_context(1, 1);
    model = session_tiny(quiet);
    for (size_t i = 0; i < SIZES; i++) {
        latents[i] = session_latent(width_of(i), HEIGHT, i);
        expected[i] = session_image(width_of(i), HEIGHT, 0);
        session_ok(quiet, zenith_decode(quiet, model, &latents[i], &expected[i], 1, &plain));
    }
    zenith_context_free(quiet);
    return 0;
}

ZN_TEST_TEARDOWN(teardown)
{
    for (size_t i = 0; i < SIZES; i++) {
        free(latents[i].data);
        free(expected[i].data);
    }
    zenith_model_free(model);
    return 0;
}

// Decodes these sizes as one batch, checks the bits, and returns how many plans were compiled for
// it.
static uint64_t decode(zenith_context *context, const size_t *sizes, size_t count,
                       uint64_t max_memory)
{
    const zenith_run_params params = {.size = sizeof params, TYPE, .max_memory = max_memory};
    const uint64_t before = zn_engine_compiles(context->engine);
    zenith_latent in[MOST];
    zenith_image out[MOST];
    for (size_t i = 0; i < count; i++) {
        in[i] = latents[sizes[i]];
        out[i] = session_image(width_of(sizes[i]), HEIGHT, 1);
    }
    session_ok(context, zenith_decode(context, model, in, out, count, &params));
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(out[i].data, expected[sizes[i]].data, session_image_bytes(&out[i]));
        free(out[i].data);
    }
    return zn_engine_compiles(context->engine) - before;
}

// The least that decoding the largest size takes.
static uint64_t least_memory(zenith_context *context)
{
    const zenith_run_params narrow = {
        .size = sizeof narrow, TYPE, .bands = ZENITH_BANDS_ROWS, .band_rows = 1};
    zenith_estimate_info info = {.size = sizeof info};
    session_ok(context, zenith_estimate(context, model, ZENITH_DECODER, width_of(SIZES - 1), HEIGHT,
                                        false, &narrow, &info));
    return info.total_bytes;
}

ZN_TEST(a_second_call_compiles_nothing)
{
    const size_t sizes[] = {2};
    zenith_context *context = session_context(1, 1);
    const uint64_t least = least_memory(context);
    for (uint64_t limit = 0; limit <= 4 * least; limit += limit ? limit : least) {
        decode(context, sizes, 1, limit);
        assert_int_equal(decode(context, sizes, 1, limit), 0);
    }
    zenith_context_free(context);
}

// Budgets of the pictures differ from batch to batch, because the buffers of the others differ.
ZN_TEST(compositions_compile_nothing_new)
{
    const size_t all[] = {0, 1, 2};
    zn_random random = {.seed = 3};
    zenith_context *context = session_context(1, 1);
    const uint64_t limit = 4 * least_memory(context);
    assert_true(decode(context, all, SIZES, limit) >= SIZES);
    for (int i = 0; i < COMPOSITIONS; i++) {
        size_t sizes[MOST];
        const size_t count = 1 + zn_random_below(&random, MOST);
        for (size_t k = 0; k < count; k++) sizes[k] = zn_random_below(&random, SIZES);
        assert_int_equal(decode(context, sizes, count, limit), 0);
    }
    zenith_context_free(context);
}

// A plan that needs more than the budget does not do, and one with narrow bands not for a call
// without one.
ZN_TEST(budgets_that_differ_much)
{
    const size_t sizes[] = {2};
    zenith_context *context = session_context(1, 1);
    const uint64_t least = least_memory(context), room = least / 16;
    decode(context, sizes, 1, 0);
    assert_int_equal(decode(context, sizes, 1, least + room) > 0, 1);
    assert_int_equal(decode(context, sizes, 1, 0), 0);
    assert_int_equal(decode(context, sizes, 1, least + room), 0);
    zenith_context_trim(context);
    assert_int_equal(decode(context, sizes, 1, least + room) > 0, 1);
    assert_int_equal(decode(context, sizes, 1, 0), 1);
    zenith_context_free(context);
}

// With room for nothing the last plan stays, and no other.
ZN_TEST(old_plans_go)
{
    const size_t first[] = {0}, second[] = {1};
    zenith_context *context = NULL;
    const zenith_context_params params = {.size = sizeof params, .threads = 1, .plan_memory = 1};
    assert_int_equal(zenith_context_create(&params, &context), ZENITH_OK);
    assert_int_equal(decode(context, first, 1, 0), 1);
    assert_int_equal(decode(context, first, 1, 0), 0);
    assert_int_equal(decode(context, second, 1, 0), 1);
    assert_int_equal(decode(context, first, 1, 0), 1);
    zenith_context_free(context);
}

// Plans of a model that was freed go when the next plan is made, and its packed weights with them.
ZN_TEST(plans_of_freed_models_go)
{
    const size_t sizes[] = {1};
    zenith_context *context = session_context(1, 1);
    zenith_model *freed = session_tiny(context);
    zn_model *inner = zn_model_ref(freed->inner);
    zenith_image image = session_image(width_of(0), HEIGHT, 0);
    session_ok(context, zenith_decode(context, freed, &latents[0], &image, 1, NULL));
    zenith_model_free(freed);
    assert_int_equal(atomic_load(&inner->references), 2);
    assert_int_equal(decode(context, sizes, 1, 0), 1);
    assert_int_equal(atomic_load(&inner->references), 1);
    zn_model_unref(inner);
    free(image.data);
    zenith_context_free(context);
}
