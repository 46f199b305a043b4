// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Networks of the zenith family, of one, two and three stages, against PyTorch
// (tools/goldens/make_zenith_goldens.py), through the public calls; and layouts that are none.
#include "tests/testing.h"

#include "src/format/tensor/safetensors.h"
#include "src/train/network/network.h"
#include "zenith/zenith.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 48, PIXELS = 3 * HEIGHT * WIDTH, LATENT = 16 * 6 * 8 };

static void read(const zn_safetensors *file, const char *name, float *dst)
{
    zn_error err = {0};
    zn_test_ok(zn_file_tensor_read(zn_safetensors_find(file, name), dst, &err), &err);
}

static void compare(const char *what, const float *found, const float *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fabsf(found[i] - expected[i]) <= 2e-5f) continue;
        fail_msg("%s: element %zu is %g, not %g", what, i, (double)found[i], (double)expected[i]);
    }
}

static void check_model(const char *file, const char *name, uint32_t channels)
{
    static float latent[LATENT], pixels[PIXELS], decoded[PIXELS], encoded[LATENT];
    static float pixels_out[PIXELS], latent_out[LATENT];
    char path[1024], weights[64], io[64];
    zn_error err = {0};
    zn_safetensors *golden = NULL;
    snprintf(weights, sizeof weights, "tests/golden/%s.safetensors", file);
    snprintf(io, sizeof io, "tests/golden/%s.io.safetensors", file);
    zn_test_ok(zn_safetensors_open(zn_test_path(zn_test_source(), io), &golden, &err), &err);
    read(golden, "latent", latent);
    read(golden, "decoded", decoded);
    read(golden, "pixels", pixels);
    read(golden, "encoded", encoded);
    zn_safetensors_free(golden);
    snprintf(path, sizeof path, "%s", zn_test_path(zn_test_source(), weights));

    zenith_context *context = NULL;
    zenith_model *model = NULL;
    const zenith_context_params one = {.size = sizeof one, .threads = 1};
    assert_int_equal(zenith_context_create(&one, &context), ZENITH_OK);
    const zenith_model_params which = {.size = sizeof which, .name = name, .weights = path};
    assert_int_equal(zenith_model_open(context, &which, &model), ZENITH_OK);
    const zenith_run_params how = {.size = sizeof how, .dtype = ZENITH_DTYPE_F32};
    zenith_latent l = {
        .size = sizeof l, .width = 8, .height = 6, .channels = channels, .data = latent};
    zenith_image p = {.size = sizeof p,
                      .width = WIDTH,
                      .height = HEIGHT,
                      .number = ZENITH_F32,
                      .order = ZENITH_CHW,
                      .data = pixels_out};
    assert_int_equal(zenith_decode(context, model, &l, &p, 1, &how), ZENITH_OK);
    compare("decoded", pixels_out, decoded, PIXELS);
    p.data = pixels;
    l.data = latent_out;
    assert_int_equal(zenith_encode(context, model, &p, &l, 1, &how), ZENITH_OK);
    compare("encoded", latent_out, encoded, (size_t)channels * 6 * 8);
    zenith_model_free(model);
    zenith_context_free(context);
}

ZN_TEST(as_pytorch)
{
    check_model("zenith-one", "zenith-sd-fast", 4);
    check_model("zenith-two", "zenith-f1-fast", 16);
    check_model("zenith-three", "zenith-sd-small", 4);
}

ZN_TEST(refuses_layouts)
{
    static const char *const wrong[] = {
        "64",     "64x4",       "x3",     "64x3,64x3",       "2000x1",
        "64x3  ", "64x3 64x3x", "-8x1",   "8x1 8x1 8x1 8x1", "64x3 64",
        "64x3w",  "64x3w4",     "64x3w88"};
    const zn_variant *variant = zn_variant_find("zenith-sd-fast");
    const zn_part *decoder = zn_family_part(zn_family_of(variant), "decoder");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        zn_network network;
        zn_error err = {0};
        const zn_network_shape shape = {
            .width = 64, .layout = wrong[i], .sizes = {.height = 8, .width = 8}};
        assert_int_equal(zn_network_of_variant(variant, decoder, &shape, &network, &err),
                         ZENITH_BAD_FILE);
        assert_non_null(strstr(err.text, "is no layout"));
    }
}
