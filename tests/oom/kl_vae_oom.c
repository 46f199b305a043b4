// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a session with an AutoencoderKL: open, encode a sample, decode with a spill file.
#include "tests/oom/oom.h"
#include "tests/task/session.h"

enum { SIDE = 32, LATENT = SIDE / 8 * (SIDE / 8) * 4 };

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
    // Too small a bound for all values that lie between norms: some are computed again, some
    // spilled.
    const zenith_run_params bound = {
        .size = sizeof bound, .max_memory = most, .spill = "/tmp", .dtype = ZENITH_DTYPE_F32};
    return zenith_decode(context, model, &latent, &image, 1, &bound);
}

static zenith_status session(void *decoded)
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

static void a_bound_changes_no_pixel(void **state)
{
    static uint8_t expected[sizeof pixels], decoded[sizeof pixels];
    (void)state;
    zn_random random = {.seed = 9};
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)zn_random_below(&random, 256);
    assert_int_equal(session(expected), ZENITH_OK);
    most = 1;
    assert_int_equal(session(decoded), ZENITH_LIMIT);
    assert_int_equal(session(decoded), ZENITH_OK);
    assert_memory_equal(decoded, expected, sizeof decoded);
}

const oom_program program_kl_vae_oom = {
    .need = "vae_sd/io.safetensors",
    .tests = {cmocka_unit_test(a_bound_changes_no_pixel)}, // and finds the bound
    .sessions = {{"session", session, sizeof pixels, 100, 41, 0}},
};
