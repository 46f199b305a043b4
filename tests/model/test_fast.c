// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The fast decoders against PyTorch (tools/make_fast_goldens.py), through the public calls.
#include "tests/testing.h"

#include "src/format/safetensors.h"
#include "zenith/zenith.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 64, HEIGHT = 48 };

static void check_model(const char *name)
{
    char folder[1024], file[64];
    zn_error err = {0};
    zn_safetensors *golden = NULL;
    snprintf(folder, sizeof folder, "%s/prototypes", zn_test_weights());
    snprintf(file, sizeof file, "tests/golden/%s.safetensors", name);
    zn_test_ok(zn_safetensors_open(zn_test_path(zn_test_source(), file), &golden, &err), &err);
    static float latent[4 * 6 * 8], expected[3 * HEIGHT * WIDTH], decoded[3 * HEIGHT * WIDTH];
    zn_test_ok(zn_safetensors_read_f32(zn_safetensors_find(golden, "latent"), latent, &err), &err);
    zn_test_ok(zn_safetensors_read_f32(zn_safetensors_find(golden, "decoded"), expected, &err),
               &err);

    zenith_context *context = NULL;
    zenith_model *model = NULL;
    const zenith_context_params one = {.size = sizeof one, .threads = 1};
    assert_int_equal(zenith_context_create(&one, &context), ZENITH_OK);
    const zenith_model_params which = {.size = sizeof which, .name = name, .weights = folder};
    assert_int_equal(zenith_model_open(context, &which, &model), ZENITH_OK);
    const zenith_latent source = {
        .size = sizeof source, .width = 8, .height = 6, .channels = 4, .data = latent};
    const zenith_image target = {.size = sizeof target,
                                 .width = WIDTH,
                                 .height = HEIGHT,
                                 .number = ZENITH_F32,
                                 .order = ZENITH_CHW,
                                 .data = decoded};
    const zenith_run_params how = {.size = sizeof how, .dtype = ZENITH_DTYPE_F32};
    assert_int_equal(zenith_decode(context, model, &source, &target, 1, &how), ZENITH_OK);
    for (size_t i = 0; i < sizeof decoded / sizeof *decoded; i++) {
        if (fabsf(decoded[i] - expected[i]) > 2e-5f) {
            fail_msg("%s: element %zu is %g, not %g", name, i, (double)decoded[i],
                     (double)expected[i]);
        }
    }
    // No encoder: said so, not computed.
    assert_int_equal(zenith_encode(context, model, &target, &source, 1, &how), ZENITH_NOT_FOUND);
    zenith_model_free(model);
    zenith_context_free(context);
    zn_safetensors_free(golden);
}

static void sd_v1(void **state)
{
    (void)state;
    check_model("sd_v1");
}

static void sd_v1b(void **state)
{
    (void)state;
    check_model("sd_v1b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sd_v1), cmocka_unit_test(sd_v1b)};
    zn_test_need(zn_test_path(zn_test_weights(), "prototypes/sd_v1_decoder.safetensors"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
