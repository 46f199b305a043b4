// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounded memory of a model with barriers, by the public interface: the same bits under every
// limit, with and without a spill file; the estimate is what is allocated; a refusal says the bytes
// that would do, to the byte. The library allocates by aligned_alloc alone, so defining that here
// shows the arena.
#include "tests/task/session.h"

#include <malloc.h>
#include <stdatomic.h>

enum { SIDE = 64, LATENT = SIDE / 8 * (SIDE / 8) * 4 };

static atomic_size_t largest; // allocation since it was set to 0

void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = NULL;
    if (size > atomic_load(&largest)) atomic_store(&largest, size);
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

static zenith_context *context;
static zenith_model *model;
static float values[LATENT];
static uint8_t expected[SIDE * SIDE * 3], pixels[SIDE * SIDE * 3];

static zenith_status decode(uint64_t limit, const char *spill, uint8_t *dst,
                            zenith_run_facts *facts)
{
    const zenith_image image = {.size = sizeof image, .width = SIDE, .height = SIDE, .data = dst};
    const zenith_latent latent = {.size = sizeof latent,
                                  .width = SIDE / 8,
                                  .height = SIDE / 8,
                                  .channels = 4,
                                  .data = values};
    const zenith_run_params params = {.size = sizeof params,
                                      .dtype = ZENITH_DTYPE_F32,
                                      .max_memory = limit,
                                      .spill = spill,
                                      .facts = facts};
    return zenith_decode(context, model, &latent, &image, 1, &params);
}

ZN_TEST_SETUP(setup)
{
    zn_test_need(zn_test_path(zn_test_golden(), "vae_sd/io.safetensors"));
    zn_random random = {.seed = 2};
    zenith_run_facts facts = {.size = sizeof facts};
    for (int i = 0; i < LATENT; i++) values[i] = zn_random_normal(&random);
    context = session_context(1, 1);
    model = session_model(context, NULL, zn_test_path(zn_test_golden(), "vae_sd"));
    session_ok(context, decode(0, NULL, expected, &facts));
    return 0;
}

ZN_TEST_TEARDOWN(teardown)
{
    zenith_model_free(model);
    zenith_context_free(context);
    return 0;
}

// The number after `words` in the sentence of the last failure.
static uint64_t number_after(const char *words)
{
    unsigned long long number = 0;
    const char *at = strstr(zenith_context_error(context), words);
    if (at) sscanf(at + strlen(words), "%llu", &number);
    return number;
}

static void check_run(uint64_t limit, const char *spill, zenith_run_facts *facts)
{
    zenith_estimate_info info = {.size = sizeof info};
    const zenith_run_params params = {
        .size = sizeof params, .dtype = ZENITH_DTYPE_F32, .max_memory = limit, .spill = spill};
    *facts = (zenith_run_facts){.size = sizeof *facts};
    zenith_context_trim(context); // the arena of an earlier run would do
    session_ok(context,
               zenith_estimate(context, model, ZENITH_DECODER, SIDE, SIDE, false, &params, &info));
    atomic_store(&largest, 0);
    session_ok(context, decode(limit, spill, pixels, facts));
    assert_memory_equal(pixels, expected, sizeof pixels);
    assert_int_equal(facts->arena_bytes, info.arena_bytes);
    assert_int_equal(facts->spill_bytes, info.spill_bytes);
    assert_true(facts->flops == info.flops);
    assert_true(info.total_bytes <= limit);
    assert_int_equal(atomic_load(&largest), info.arena_bytes); // it is the largest of all
}

ZN_TEST(limits_change_no_bit)
{
    zenith_run_facts facts = {.size = sizeof facts}, free_run = {.size = sizeof free_run};
    session_ok(context, decode(0, NULL, pixels, &free_run));
    const uint64_t fixed = free_run.weights_bytes + sizeof pixels + sizeof values;
    assert_int_equal(decode(fixed, NULL, pixels, &facts), ZENITH_LIMIT);
    const uint64_t least = number_after("at least "),
                   spilled = number_after("bytes of memory, or ");
    assert_true(spilled > fixed && spilled < least && least < fixed + free_run.arena_bytes);
    int recomputed = 0, spills = 0;
    for (uint64_t part = 0; part < 4; part++) {
        const uint64_t most = fixed + free_run.arena_bytes;
        check_run(least + (most - least) * part / 4, NULL, &facts);
        assert_int_equal(facts.spill_bytes, 0);
        recomputed += facts.flops > free_run.flops * 1.0001;
        check_run(spilled + (most - spilled) * part / 4, "/tmp", &facts);
        spills += facts.spill_bytes > 0;
    }
    assert_true(recomputed > 0 && spills > 0);
    assert_int_equal(decode(least - 1, NULL, pixels, &facts), ZENITH_LIMIT);
    assert_int_equal(number_after("at least "), least);
    assert_int_equal(decode(spilled - 1, "/tmp", pixels, &facts), ZENITH_LIMIT);
    assert_int_equal(number_after("at least "), spilled);
}

ZN_TEST(a_folder_that_cannot_be_written_is_a_status)
{
    zenith_run_facts facts = {.size = sizeof facts};
    assert_int_equal(decode(1, "/no/such/folder", pixels, &facts), ZENITH_LIMIT);
    const uint64_t spilled = number_after("at least ");
    assert_int_equal(decode(spilled, "/no/such/folder", pixels, &facts), ZENITH_NOT_FOUND);
    assert_non_null(strstr(zenith_context_error(context), "/no/such/folder"));
    session_ok(context, decode(spilled, "/tmp", pixels, &facts));
    assert_memory_equal(pixels, expected, sizeof pixels);
}

// From the least limit on: scratch of larger plans does not count against smaller ones. (With AVX2
// alone limits up to 250 KB above the least were refused.)
ZN_TEST(a_limit_that_suffices_is_not_refused)
{
    enum { LIMITS = 60, STEP = 777 };
    zn_test_need(zn_test_path(zn_test_weights(), "taesd_encoder.safetensors"));
    zenith_context *usual = context;
    const char *set = getenv("ZENITH_CPU");
    char *before = set ? strdup(set) : NULL;
#ifdef __x86_64__
    setenv("ZENITH_CPU", "avx2", 1);
#endif
    context = session_context(2, 1);
    zenith_model *taesd = session_model(context, "taesd", zn_test_weights());
    zenith_estimate_info info = {.size = sizeof info};
    zenith_run_params params = {.size = sizeof params, .dtype = ZENITH_DTYPE_BF16, .max_memory = 1};
    assert_int_equal(
        zenith_estimate(context, taesd, ZENITH_ENCODER, SIDE, SIDE, true, &params, &info),
        ZENITH_LIMIT);
    const uint64_t least = number_after("at least ");
    for (uint64_t i = 0; i < LIMITS; i++) {
        params.max_memory = least + i * i * STEP;
        session_ok(context, zenith_estimate(context, taesd, ZENITH_ENCODER, SIDE, SIDE, true,
                                            &params, &info));
        assert_true(info.total_bytes <= params.max_memory);
    }
    zenith_model_free(taesd);
    zenith_context_free(context);
    context = usual;
    (void)(before ? setenv("ZENITH_CPU", before, 1) : unsetenv("ZENITH_CPU"));
    free(before);
}
