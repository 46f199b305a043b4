// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Same bits: for 1 and 2 threads, for a picture alone and among 7 others, for three band heights
// and none, with much memory and with the least, in every type, TAEF2 with its barriers included.
// Results are compared by hash.
#include "tests/task/session.h"

#include "src/base/sha256.h"

ZN_TEST_NEEDS(zn_test_path(zn_test_weights(), "taesd_encoder.safetensors"))

typedef struct bits {
    char hex[65];
} bits;

static zenith_model *open_model(zenith_context *context, const char *name)
{
    setenv("ZENITH_MODELS", zn_test_path(zn_test_source(), "models"), 1); // calibrations
    return session_model(context, name, zn_test_weights());
}

// Smooth shapes with noise on top, the same for every run.
static uint8_t *make_picture(uint32_t width, uint32_t height, uint64_t seed)
{
    uint8_t *pixels = malloc((size_t)width * height * 3);
    zn_random random = {.seed = seed};
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width * 3; x++) {
            uint32_t shape = (x / 3 * 255 / width + y * 255 / height + (x / 90 + y / 30) % 2 * 60) /
                             2;
            pixels[(size_t)y * width * 3 + x] = (uint8_t)(shape % 240 +
                                                          zn_random_below(&random, 16));
        }
    }
    return pixels;
}

static bits hash(const void *data, size_t size)
{
    bits b;
    zn_sha256 h;
    zn_sha256_begin(&h);
    zn_sha256_add(&h, data, size);
    zn_sha256_end(&h, b.hex);
    return b;
}

typedef struct trip {
    zenith_context *context;
    zenith_model *model;
    zenith_image image, decoded;
    zenith_latent latent;
} trip;

static zenith_status run_half(const trip *t, bool decodes, const zenith_run_params *params)
{
    if (decodes) return zenith_decode(t->context, t->model, &t->latent, &t->decoded, 1, params);
    return zenith_encode(t->context, t->model, &t->image, &t->latent, 1, params);
}

// With the least memory that a refusal names; narrower than what is taken where there is enough.
static void run_tight(const trip *t, bool decodes, zenith_run_params params)
{
    zenith_run_facts roomy = {.size = sizeof roomy}, tight = roomy;
    params.facts = &roomy;
    session_ok(t->context, run_half(t, decodes, &params));
    params.max_memory = 1;
    assert_int_equal(run_half(t, decodes, &params), ZENITH_LIMIT);
    const char *least = strstr(zenith_context_error(t->context), "at least ");
    assert_non_null(least);
    params.max_memory = strtoull(least + strlen("at least "), NULL, 10);
    params.facts = &tight;
    session_ok(t->context, run_half(t, decodes, &params));
    print_message("%s: %u rows instead of %u, %llu KB instead of %llu\n",
                  decodes ? "decode" : "encode", tight.band_rows, roomy.band_rows,
                  (unsigned long long)tight.arena_bytes >> 10,
                  (unsigned long long)roomy.arena_bytes >> 10);
    assert_true(tight.banded && tight.band_rows < roomy.band_rows);
}

// Latent and decoded float picture of one picture, as one hash.
static bits round_trip(zenith_context *context, zenith_model *model, uint8_t *pixels,
                       uint32_t width, uint32_t height, const zenith_run_params *params, bool tight)
{
    zenith_model_info info = {.size = sizeof info};
    zenith_model_get_info(model, &info);
    size_t elements = (size_t)width / 8 * (height / 8) * info.latent_channels;
    size_t values = (size_t)width * height * 3;
    float *out = malloc((elements + values) * sizeof *out);
    const trip t = {context,
                    model,
                    {.size = sizeof t.image, .width = width, .height = height, .data = pixels},
                    {.size = sizeof t.decoded,
                     .width = width,
                     .height = height,
                     .number = ZENITH_F32,
                     .data = out + elements},
                    {.size = sizeof t.latent,
                     .width = width / 8,
                     .height = height / 8,
                     .channels = info.latent_channels,
                     .data = out}};
    for (int decodes = 0; decodes < 2; decodes++) {
        if (tight)
            run_tight(&t, decodes, *params);
        else
            session_ok(context, run_half(&t, decodes, params));
    }
    bits b = hash(out, (elements + values) * sizeof *out);
    free(out);
    return b;
}

static bool has_type(const char *name, zenith_dtype dtype)
{
    return dtype != ZENITH_DTYPE_INT8 || strcmp(name, "taef2") != 0;
}

static const char *const dtype_names[] = {"", "f32", "bf16", "int8"};

// --- threads, neighbours ------------------------------------------------------------------------

ZN_TEST(threads_and_neighbours)
{
    static const char *const names[] = {"taesd", "taef2"};
    enum { COUNT = 8 };
    const uint32_t least = zn_test_quick() ? 16 : 56, count = zn_test_quick() ? 4 : COUNT;
    zenith_context *one = session_context(1, 1), *two = session_context(2, 1),
                   *both = session_context(1, 2);
    for (size_t n = 0; n < 2; n++) {
        zenith_model *model = open_model(one, names[n]);
        zenith_model_info info = {.size = sizeof info};
        zenith_model_get_info(model, &info);
        for (int dtype = ZENITH_DTYPE_F32; dtype <= ZENITH_DTYPE_INT8; dtype++) {
            if (!has_type(names[n], (zenith_dtype)dtype)) continue;
            const zenith_run_params params = {.size = sizeof params, .dtype = (zenith_dtype)dtype};
            zenith_image images[COUNT];
            zenith_latent latents[COUNT], streamed[COUNT];
            for (uint32_t i = 0; i < count; i++) {
                uint32_t width = least + 8 * (i % 3), height = least + 8 * (i % 2);
                size_t bytes = width / 8 * (height / 8) * info.latent_channels * sizeof(float);
                images[i] = (zenith_image){.size = sizeof *images,
                                           .width = width,
                                           .height = height,
                                           .data = make_picture(width, height, i)};
                latents[i] = (zenith_latent){.size = sizeof *latents,
                                             .width = width / 8,
                                             .height = height / 8,
                                             .channels = info.latent_channels,
                                             .data = malloc(bytes)};
                streamed[i] = latents[i];
                streamed[i].data = malloc(bytes);
            }
            session_ok(two, zenith_encode(two, model, images, latents, count, &params));
            session_ok(both, zenith_encode(both, model, images, streamed, count, &params));
            for (uint32_t i = 0; i < count; i++) {
                size_t bytes = (size_t)latents[i].width * latents[i].height * info.latent_channels *
                               sizeof(float);
                float *alone = malloc(bytes);
                zenith_latent latent = latents[i];
                latent.data = alone;
                session_ok(one, zenith_encode(one, model, &images[i], &latent, 1, &params));
                if (memcmp(alone, latents[i].data, bytes) != 0 ||
                    memcmp(alone, streamed[i].data, bytes) != 0) {
                    fail_msg("%s %s: picture %u differs alone and among others", names[n],
                             dtype_names[dtype], i);
                }
                free(alone);
                free(images[i].data);
                free(latents[i].data);
                free(streamed[i].data);
            }
        }
        zenith_model_free(model);
    }
    zenith_context_free(one);
    zenith_context_free(two);
    zenith_context_free(both);
}

// --- bands --------------------------------------------------------------------------------------

static void check_bands(const char *name, zenith_dtype dtype)
{
    uint32_t width = zn_test_quick() ? 64 : 512, height = zn_test_quick() ? 192 : 448;
    static const uint32_t bands[] = {0, 1, 3, 8};
    if (!has_type(name, dtype)) return;
    zenith_context *context = session_context(2, 1);
    zenith_model *model = open_model(context, name);
    uint8_t *pixels = make_picture(width, height, 7);
    bits first = {{0}};
    for (size_t i = 0; i < sizeof bands / sizeof *bands; i++) {
        const zenith_run_params params = {.size = sizeof params,
                                          .dtype = dtype,
                                          .bands = bands[i] ? ZENITH_BANDS_ROWS : ZENITH_BANDS_OFF,
                                          .band_rows = bands[i]};
        bits b = round_trip(context, model, pixels, width, height, &params, false);
        if (i == 0) first = b;
        if (strcmp(first.hex, b.hex) != 0) {
            fail_msg("%s %s: bands of %u rows give other bits than whole maps", name,
                     dtype_names[dtype], bands[i]);
        }
    }
    // The smallest bands, with TAEF2's cut points recomputed rather than kept.
    const zenith_run_params usual = {.size = sizeof usual, .dtype = dtype};
    bits b = round_trip(context, model, pixels, width, height, &usual, true);
    assert_string_equal(first.hex, b.hex);
    free(pixels);
    zenith_model_free(model);
    zenith_context_free(context);
}

ZN_TEST(bands_taesd_f32)
{
    check_bands("taesd", ZENITH_DTYPE_F32);
}

ZN_TEST(bands_taesd_bf16)
{
    check_bands("taesd", ZENITH_DTYPE_BF16);
}

ZN_TEST(bands_taesd_int8)
{
    check_bands("taesd", ZENITH_DTYPE_INT8);
}

ZN_TEST(bands_taef2_f32)
{
    check_bands("taef2", ZENITH_DTYPE_F32);
}

ZN_TEST(bands_taef2_bf16)
{
    check_bands("taef2", ZENITH_DTYPE_BF16);
}
