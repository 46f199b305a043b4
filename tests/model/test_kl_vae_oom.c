// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a session with an AutoencoderKL (open, encode a sample, decode with a spill file) fail in turn: the first 100 of
// them, then every 41st. The session must say ZENITH_OUT_OF_MEMORY, leak nothing (the sanitizers look), and give
// the same picture once memory is back. The library allocates by aligned_alloc alone, so defining that here is
// enough.
#include "tests/task/session.h"

#include <stdatomic.h>

enum { SIDE = 32, LATENT = SIDE / 8 * (SIDE / 8) * 4, EACH = 100, STEP = 41, MOST = 100000 };

static atomic_long left = -1; // allocations until one fails; negative: none does

void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = NULL;
    if (atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0) return NULL;
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

static uint8_t pixels[SIDE * SIDE * 3];
static uint64_t most; // bytes for the decoder; 0: no bound

static zenith_status run(zenith_context *context, zenith_model *model, uint8_t *decoded)
{
    float values[LATENT];
    zenith_image image = {.size = sizeof image, .width = SIDE, .height = SIDE, .data = pixels};
    zenith_latent latent = {.size = sizeof latent,
                            .width = SIDE / 8,
                            .height = SIDE / 8,
                            .channels = 4,
                            .data = values,
                            .kind = ZENITH_LATENT_SAMPLE,
                            .seed = 5};
    ZN_TRY(zenith_encode(context, model, &image, &latent, 1, NULL));
    image.data = decoded;
    latent.kind = ZENITH_LATENT_MEAN;
    // Too small a bound for all values that lie between norms: some are computed again, some spilled.
    const zenith_run_params bound = {
        .size = sizeof bound, .max_memory = most, .spill = "/tmp", .dtype = ZENITH_DTYPE_F32};
    return zenith_decode(context, model, &latent, &image, 1, &bound);
}

static zenith_status session(uint8_t *decoded)
{
    zenith_context *context = NULL;
    zenith_model *model = NULL;
    const zenith_context_params machine = {.size = sizeof machine, .threads = 1};
    const zenith_model_params which = {.size = sizeof which,
                                       .weights = zn_test_path(zn_test_golden(), "vae_sd")};
    zenith_status status = zenith_context_create(&machine, &context);
    if (status == ZENITH_OK) status = zenith_model_open(context, &which, &model);
    if (status == ZENITH_OK) status = run(context, model, decoded);
    if (status == ZENITH_LIMIT) { // it says what it needs
        const char *number = strstr(zenith_context_error(context), "at least ");
        assert_non_null(number);
        most = strtoull(number + strlen("at least "), NULL, 10);
    }
    zenith_model_free(model);
    zenith_context_free(context);
    return status;
}

static void allocations_fail(void **state)
{
    static uint8_t expected[sizeof pixels], decoded[sizeof pixels];
    long refused = 0;
    (void)state;
    zn_random random = {.seed = 9};
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)zn_random_below(&random, 256);
    assert_int_equal(session(expected), ZENITH_OK);
    most = 1;
    assert_int_equal(session(decoded), ZENITH_LIMIT);
    assert_int_equal(session(decoded), ZENITH_OK);
    assert_memory_equal(decoded, expected, sizeof decoded);
    for (long allowed = 0; allowed < MOST; allowed += allowed < EACH ? 1 : STEP) {
        atomic_store(&left, allowed);
        const zenith_status status = session(decoded);
        const bool failed = atomic_exchange(&left, -1) < 0;
        if (status == ZENITH_OK) assert_memory_equal(decoded, expected, sizeof decoded);
        if (!failed) {
            print_message("%ld of about %ld allocations were refused\n", refused, allowed);
            assert_true(refused > EACH);
            return;
        }
        refused++;
        if (status != ZENITH_OK) assert_int_equal(status, ZENITH_OUT_OF_MEMORY);
    }
    fail_msg("the session never ended without a failure");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
    zn_test_need(zn_test_path(zn_test_golden(), "vae_sd/io.safetensors"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
