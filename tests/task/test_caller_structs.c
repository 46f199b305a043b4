// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of a caller whose structs are longer than ours, because his header is newer, or shorter,
// because it is older: runs and calibration find each element by his `size`, and give the bits they
// give for ours. Fields that we do not know must be zero; sizes that no header had are refused.
// (test_first_header.c is a whole program of an older header.)
#include "tests/task/session.h"
#include "zenith/train.h"

enum { COUNT = 8, WIDTH = 32, HEIGHT = 24 };

typedef struct newer_image {
    zenith_image image;
    uint64_t fields[3]; // that our header does not have
} newer_image;

typedef struct newer_latent {
    zenith_latent latent;
    uint64_t fields[5];
} newer_latent;

static zenith_context *context;
static zenith_model *model;
static zenith_image images[COUNT];
static zenith_latent latents[COUNT];
static newer_image newer_images[COUNT];
static newer_latent newer_latents[COUNT];

// Pictures of two sizes, in both kinds of array; latents with memory of their own in each.
ZN_TEST_SETUP(setup)
{
    context = session_context(1, 1);
    model = session_tiny(context);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t width = WIDTH + i / 4 * 8;
        images[i] = newer_images[i].image = session_image(width, HEIGHT, i);
        newer_images[i].image.size = sizeof *newer_images;
        latents[i] = session_latent(width, HEIGHT, 1);
        newer_latents[i].latent = session_latent(width, HEIGHT, 2);
        newer_latents[i].latent.size = sizeof *newer_latents;
    }
    return 0;
}

ZN_TEST_TEARDOWN(teardown)
{
    for (int i = 0; i < COUNT; i++) {
        free(images[i].data);
        free(latents[i].data);
        free(newer_latents[i].latent.data);
    }
    zenith_model_free(model);
    zenith_context_free(context);
    return 0;
}

ZN_TEST(runs_take_longer_structs)
{
    session_ok(context, zenith_encode(context, model, images, latents, COUNT, NULL));
    session_ok(context, zenith_encode(context, model, &newer_images->image, &newer_latents->latent,
                                      COUNT, NULL));
    for (int i = 0; i < COUNT; i++) {
        assert_memory_equal(newer_latents[i].latent.data, latents[i].data,
                            session_latent_bytes(&latents[i]));
    }
}

// The text of a calibration on these pictures; the file is gone again.
static void calibrate(const zenith_image *pictures, char *text, size_t capacity)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/test-caller-structs.calib.json", zn_test_build());
    session_ok(context, zenith_calibrate(context, model, pictures, COUNT, path, NULL));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(text, 1, capacity - 1, file);
    assert_in_range(length, 1, capacity - 2);
    text[length] = 0;
    fclose(file);
    remove(path);
}

ZN_TEST(calibration_takes_longer_structs)
{
    static char expected[1 << 16], text[1 << 16];
    calibrate(images, expected, sizeof expected);
    calibrate(&newer_images->image, text, sizeof text);
    assert_string_equal(text, expected);
}

// Pictures as the first header had them, which ended with `cookie`.
ZN_TEST(runs_take_shorter_structs)
{
    enum { OLD = offsetof(zenith_image, cookie) + sizeof(void *) };
    _Alignas(zenith_image) static uint8_t old[COUNT][OLD];
    assert_true(sizeof *old < sizeof *images);
    for (int i = 0; i < COUNT; i++) {
        memcpy(old[i], &images[i], sizeof *old);
        ((zenith_image *)(void *)old[i])->size = sizeof *old;
        memset(newer_latents[i].latent.data, 0, session_latent_bytes(&latents[i]));
    }
    session_ok(context, zenith_encode(context, model, images, latents, COUNT, NULL));
    session_ok(context, zenith_encode(context, model, (const zenith_image *)(const void *)old,
                                      &newer_latents->latent, COUNT, NULL));
    for (int i = 0; i < COUNT; i++) {
        assert_memory_equal(newer_latents[i].latent.data, latents[i].data,
                            session_latent_bytes(&latents[i]));
    }
}

ZN_TEST(unknown_fields_are_refused)
{
    newer_images[COUNT - 1].fields[2] = 1;
    assert_int_equal(
        zenith_encode(context, model, &newer_images->image, &newer_latents->latent, COUNT, NULL),
        ZENITH_UNSUPPORTED);
    assert_non_null(strstr(zenith_context_error(context), "does not know"));
    newer_images[COUNT - 1].fields[2] = 0;
}

ZN_TEST(other_sizes_are_refused)
{
    const size_t size = images[0].size;
    for (size_t wrong = 0; wrong < size - sizeof(size_t); wrong += size / 2) {
        images[0].size = wrong;
        assert_int_equal(zenith_encode(context, model, images, latents, COUNT, NULL),
                         ZENITH_INVALID_ARGUMENT);
        assert_non_null(strstr(zenith_context_error(context), "`size`"));
        assert_int_equal(zenith_calibrate(context, model, images, COUNT, "none.json", NULL),
                         ZENITH_INVALID_ARGUMENT);
        assert_non_null(strstr(zenith_context_error(context), "`size`"));
    }
    images[0].size = size;
}
