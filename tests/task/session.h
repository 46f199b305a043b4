// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of whole runs share: contexts, models, made-up pictures and latents.
#ifndef ZN_TESTS_TASK_SESSION_H
#define ZN_TESTS_TASK_SESSION_H

#include "tests/testing.h"

#include "src/base/random.h"
#include "zenith/zenith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define session_ok(context, status) session_ok_at(context, status, __FILE__, __LINE__)
static inline void session_ok_at(zenith_context *context, zenith_status status, const char *file,
                                 int line)
{
    if (status == ZENITH_OK) return;
    print_error("%s:%d: status %d: %s\n", file, line, (int)status, zenith_context_error(context));
    _fail(file, line);
}

static inline zenith_context *session_context(int threads, int streams)
{
    zenith_context *context = NULL;
    const zenith_context_params params = {
        .size = sizeof params, .threads = threads, .streams = streams};
    assert_int_equal(zenith_context_create(&params, &context), ZENITH_OK);
    return context;
}

static inline zenith_model *session_model(zenith_context *context, const char *name,
                                          const char *weights)
{
    zenith_model *model = NULL;
    const zenith_model_params params = {.size = sizeof params, .name = name, .weights = weights};
    session_ok(context, zenith_model_open(context, &params, &model));
    return model;
}

// TAESD with 8 channels: small and fast.
static inline zenith_model *session_tiny(zenith_context *context)
{
    return session_model(context, "taesd",
                         zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers"));
}

// A program whose tests share a context and that model: both, and what makes and frees them.
#define SESSION_OF(THREADS, STREAMS)                                                               \
    static zenith_context *context;                                                                \
    static zenith_model *model;                                                                    \
    ZN_TEST_SETUP(open_session)                                                                    \
    {                                                                                              \
        context = session_context(THREADS, STREAMS);                                               \
        model = session_tiny(context);                                                             \
        return 0;                                                                                  \
    }                                                                                              \
    ZN_TEST_TEARDOWN(close_session)                                                                \
    {                                                                                              \
        zenith_model_free(model);                                                                  \
        zenith_context_free(context);                                                              \
        return 0;                                                                                  \
    }

// A latent for a picture of this size, with normal values; free its data.
static inline zenith_latent session_latent(uint32_t width, uint32_t height, uint64_t seed)
{
    zenith_latent latent = {
        .size = sizeof latent, .width = width / 8, .height = height / 8, .channels = 4};
    const size_t count = (size_t)latent.width * latent.height * latent.channels;
    zn_random random = {.seed = seed};
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = zn_random_normal(&random);
    latent.data = values;
    return latent;
}

static inline size_t session_latent_bytes(const zenith_latent *latent)
{
    return (size_t)latent->width * latent->height * latent->channels * sizeof(float);
}

// A picture with random pixels; free its data.
static inline zenith_image session_image(uint32_t width, uint32_t height, uint64_t seed)
{
    zenith_image image = {.size = sizeof image, .width = width, .height = height};
    const size_t count = (size_t)width * height * 3;
    zn_random random = {.seed = seed};
    uint8_t *pixels = malloc(count);
    for (size_t i = 0; i < count; i++) pixels[i] = (uint8_t)zn_random_below(&random, 256);
    image.data = pixels;
    return image;
}

static inline size_t session_image_bytes(const zenith_image *image)
{
    return (size_t)image->width * image->height * 3;
}

#endif
