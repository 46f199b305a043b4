// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A diffusion autoencoder as deep as the published ones (two blocks in a level, attention in the
// middle of the way, a level more in the encoder) against PyTorch: which block follows which, and
// what the way up takes from the way down. Small enough to lie in the tree:
// tools/goldens/make_diffae_goldens.py.
#include "tests/model/part_runs.h"

#include "src/model/diffae/diffae.h"

enum { SIDE = 16, PLANES = 3, PIXELS = SIDE * SIDE, VALUES = PIXELS * PLANES, CODE = 24 };

static const char *const folder = "tests/golden/diffae";
static const zn_sizes picture_sizes = {.height = SIDE, .width = SIDE}, one = {.tokens = 1};

static void run_part(zn_model *model, const char *part, zn_sizes sizes, const float *first,
                     const float *second, float *output)
{
    zn_error err = {0};
    part_run r = {.model = model,
                  .part = part_need((void *)(uintptr_t)zn_model_part(model, part)),
                  .sizes = sizes,
                  .inputs = {first, second},
                  .output = output,
                  .dtype = ZENITH_DTYPE_F32};
    zn_test_ok(part_run_compiled(&r, &err), &err);
}

static float *as_map(const zn_safetensors *io, const char *name)
{
    float *planes = part_tensor(io, name, NULL), *map = part_need(zn_alloc(VALUES * sizeof *map));
    for (size_t i = 0; i < VALUES; i++) map[i % PIXELS * PLANES + i / PIXELS] = planes[i];
    zn_free(planes);
    return map;
}

static void compare(const zn_safetensors *io, const char *name, const float *got)
{
    float *expected = part_tensor(io, name, NULL);
    part_compare(name, got, expected, CODE, 1e-5);
    zn_free(expected);
}

ZN_TEST(every_network_matches)
{
    static float code[CODE], prediction[VALUES];
    zn_error err = {0};
    zn_model *model = NULL;
    zn_safetensors *io = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", zn_test_path(zn_test_source(), folder));
    const zn_model_request request = {.weights = zn_test_path(path, "model.safetensors")};
    assert_int_equal(zn_model_open(&request, &model, &err), ZENITH_BAD_FILE); // sizes are not known
    const zn_model_request whole = {.weights = path};
    zn_test_ok(zn_model_open(&whole, &model, &err), &err);
    assert_int_equal(model->unexpected, 0);
    zn_test_ok(zn_safetensors_open(zn_test_path(path, "io.safetensors"), &io, &err), &err);
    const zn_diffae_facts facts = zn_diffae_facts_of(model);
    float *modulation = part_need(zn_alloc((size_t)facts.modulation * sizeof(float)));
    float *picture = as_map(io, "picture"), *noisy = as_map(io, "noisy");
    float *expected = as_map(io, "prediction"), *noise = part_tensor(io, "noise", NULL);
    float *time = part_tensor(io, "time", NULL);
    run_part(model, "encoder", picture_sizes, picture, NULL, code);
    compare(io, "code", code);
    run_part(model, "modulation", one, time, code, modulation);
    run_part(model, "denoiser", picture_sizes, noisy, modulation, prediction);
    part_compare("prediction", prediction, expected, VALUES, 1e-5);
    run_part(model, "prior_modulation", one, time, NULL, modulation);
    run_part(model, "prior", one, noise, modulation, code);
    compare(io, "prior", code);
    float *const all[] = {modulation, picture, noisy, expected, noise, time};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) zn_free(all[i]);
    zn_safetensors_free(io);
    zn_model_unref(model);
}
