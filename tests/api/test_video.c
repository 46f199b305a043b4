// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Clips through the public interface: the frames and latents of the golden of Wan 2.1, step by
// step, also in bytes and in bounded memory; as much memory for 33 frames as for nine; what is
// refused.
#include "tests/api/api_context.h"

#include "src/format/tensor/safetensors.h"
#include "zenith/zenith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 48, HEIGHT = 32, FACTOR = 8, CHANNELS = 16, FRAMES = 9, LATENTS = 3, MOST = 4 };
enum { PICTURE = WIDTH * HEIGHT * 3, LATENT = WIDTH * HEIGHT / FACTOR / FACTOR * CHANNELS };

static zenith_model *model;
static float pixels[FRAMES * PICTURE], decoded[FRAMES * PICTURE]; // each [3, h, w], 0 .. 1
static float latents[LATENTS * LATENT];

// [1, C, T, h, w] as T times [C, h, w].
static void read_golden(const zn_safetensors *golden, const char *name, size_t frames, float *dst)
{
    zn_error err = {0};
    const zn_file_tensor *tensor = zn_safetensors_find(golden, name);
    assert_non_null(tensor);
    float *all = malloc(tensor->bytes);
    zn_test_ok(zn_file_tensor_read(tensor, all, &err), &err);
    const size_t count = tensor->bytes / sizeof(float),
                 plane = (size_t)(tensor->shape.dim[3] * tensor->shape.dim[4]);
    const size_t channels = count / frames / plane;
    for (size_t i = 0; i < count; i++) {
        const size_t c = i / plane / frames, t = i / plane % frames;
        dst[(t * channels + c) * plane + i % plane] = all[i];
    }
    free(all);
}

ZN_TEST_SETUP(open_all)
{
    zn_error err = {0};
    zn_safetensors *golden = NULL;
    const char *path = zn_test_path(zn_test_golden(), "vae_wan21/io.safetensors");
    zn_test_need(path);
    zn_test_ok(zn_safetensors_open(path, &golden, &err), &err);
    read_golden(golden, "video.pixels", FRAMES, pixels);
    read_golden(golden, "video.decoded", FRAMES, decoded);
    read_golden(golden, "video.latent", LATENTS, latents);
    zn_safetensors_free(golden);
    for (int i = 0; i < FRAMES * PICTURE; i++) {
        pixels[i] = pixels[i] / 2 + 0.5f;
        decoded[i] = decoded[i] / 2 + 0.5f;
    }
    const zenith_context_params machine = {.size = sizeof machine, .threads = 2};
    assert_int_equal(zenith_context_create(&machine, &context), ZENITH_OK);
    const zenith_model_params which = {.size = sizeof which,
                                       .weights = zn_test_path(zn_test_golden(), "vae_wan21")};
    api_ok(zenith_model_open(context, &which, &model));
    return 0;
}

ZN_TEST_TEARDOWN(close_all)
{
    zenith_model_free(model);
    zenith_context_free(context);
    return 0;
}

static zenith_clip *open_clip(unsigned part, zenith_number number, const zenith_run_params *run)
{
    zenith_clip *clip = NULL;
    const zenith_clip_params how = {.size = sizeof how,
                                    .part = part,
                                    .width = WIDTH,
                                    .height = HEIGHT,
                                    .number = number,
                                    .run = run};
    api_ok(zenith_clip_open(context, model, &how, &clip));
    return clip;
}

static zenith_image image_of(float *data)
{
    return (zenith_image){.size = sizeof(zenith_image),
                          .width = WIDTH,
                          .height = HEIGHT,
                          .number = ZENITH_F32,
                          .order = ZENITH_CHW,
                          .data = data};
}

static zenith_latent latent_of(float *data)
{
    return (zenith_latent){.size = sizeof(zenith_latent),
                           .width = WIDTH / FACTOR,
                           .height = HEIGHT / FACTOR,
                           .channels = CHANNELS,
                           .data = data};
}

static double error_of(const float *got, const float *expected, size_t count)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        error += pow((double)got[i] - (double)expected[i], 2);
        size += pow((double)expected[i], 2);
    }
    return sqrt(error / size);
}

// The frames of all latents into dst; in 0 .. 1, where the reference ends.
static void decode_all(zenith_clip *clip, float *dst)
{
    int at = 0;
    for (int i = 0; i < LATENTS; i++) {
        const uint32_t frames = zenith_clip_frames(clip);
        zenith_image images[MOST];
        zenith_latent latent = latent_of(latents + i * LATENT);
        assert_int_equal(frames, i == 0 ? 1 : 4);
        for (uint32_t t = 0; t < frames; t++) images[t] = image_of(dst + PICTURE * at++);
        api_ok(zenith_clip_step(clip, images, frames, &latent));
    }
    assert_int_equal(at, FRAMES);
    for (int i = 0; i < FRAMES * PICTURE; i++) dst[i] = fminf(fmaxf(dst[i], 0), 1);
}

ZN_TEST(frames_are_decoded)
{
    static float first[FRAMES * PICTURE], again[FRAMES * PICTURE];
    const zenith_run_params f32 = {.size = sizeof f32, .dtype = ZENITH_DTYPE_F32};
    zenith_clip *clip = open_clip(ZENITH_DECODER, ZENITH_F32, &f32);
    decode_all(clip, first);
    assert_true(error_of(first, decoded, FRAMES * PICTURE) < 1e-5);
    zenith_clip_reset(clip);
    decode_all(clip, again);
    assert_memory_equal(first, again, sizeof first);
    zenith_clip_free(clip);
}

// A step in which numbers grow beyond bounds fails and says what to do; the clip is as it was
// before.
ZN_TEST(overflow_is_said)
{
    static float huge[LATENT], wanted[PICTURE], got[PICTURE];
    const zenith_run_params bf16 = {.size = sizeof bf16, .dtype = ZENITH_DTYPE_BF16};
    zenith_clip *clip = open_clip(ZENITH_DECODER, ZENITH_F32, &bf16);
    zenith_image image = image_of(wanted);
    zenith_latent latent = latent_of(latents), bad = latent_of(huge);
    for (int i = 0; i < LATENT; i++) huge[i] = 3e38f;
    api_ok(zenith_clip_step(clip, &image, 1, &latent));
    zenith_clip_reset(clip);
    assert_int_equal(zenith_clip_step(clip, &image, 1, &bad), ZENITH_OVERFLOW);
    assert_non_null(strstr(zenith_context_error(context), "begin this clip again in f32"));
    image = image_of(got);
    api_ok(zenith_clip_step(clip, &image, 1, &latent));
    assert_memory_equal(got, wanted, sizeof got);
    zenith_clip_free(clip);
}

ZN_TEST(frames_are_encoded)
{
    const zenith_run_params f32 = {.size = sizeof f32, .dtype = ZENITH_DTYPE_F32};
    zenith_clip *clip = open_clip(ZENITH_ENCODER, ZENITH_F32, &f32);
    static float made[LATENTS * LATENT];
    for (int i = 0, at = 0; i < LATENTS; i++) {
        const uint32_t frames = zenith_clip_frames(clip);
        zenith_image images[MOST];
        zenith_latent latent = latent_of(made + i * LATENT);
        for (uint32_t t = 0; t < frames; t++) images[t] = image_of(pixels + PICTURE * at++);
        api_ok(zenith_clip_step(clip, images, frames, &latent));
    }
    assert_true(error_of(made, latents, LATENTS * LATENT) < 1e-5);
    zenith_clip_free(clip);
}

ZN_TEST(memory_does_not_grow)
{
    static float frames[MOST][PICTURE];
    zenith_image images[MOST];
    zenith_clip *clip = open_clip(ZENITH_DECODER, ZENITH_F32, NULL);
    const uint64_t before = zenith_clip_bytes(clip);
    for (int t = 0; t < MOST; t++) images[t] = image_of(frames[t]);
    for (int i = 0; i < 1 + 32 / 4; i++) { // 33 frames
        zenith_latent latent = latent_of(latents + i % LATENTS * LATENT);
        api_ok(zenith_clip_step(clip, images, zenith_clip_frames(clip), &latent));
        assert_int_equal(zenith_clip_bytes(clip), before);
    }
    zenith_clip_free(clip);
}

// The same bits in bands; and a bound that is too low is refused before anything is computed.
ZN_TEST(memory_is_bounded)
{
    static float whole[FRAMES * PICTURE], bounded[FRAMES * PICTURE];
    zenith_run_params how = {
        .size = sizeof how, .dtype = ZENITH_DTYPE_F32, .bands = ZENITH_BANDS_OFF};
    zenith_clip *clip = open_clip(ZENITH_DECODER, ZENITH_F32, &how);
    decode_all(clip, whole);
    zenith_clip_free(clip);
    how.bands = ZENITH_BANDS_ROWS;
    how.band_rows = 1;
    clip = open_clip(ZENITH_DECODER, ZENITH_F32, &how);
    decode_all(clip, bounded);
    zenith_clip_free(clip);
    assert_memory_equal(whole, bounded, sizeof whole);
    how.max_memory = 1 << 16;
    const zenith_clip_params params = {.size = sizeof params,
                                       .part = ZENITH_DECODER,
                                       .width = WIDTH,
                                       .height = HEIGHT,
                                       .run = &how};
    assert_int_equal(zenith_clip_open(context, model, &params, &clip), ZENITH_LIMIT);
}

// About the smallest bound that a decoder can be opened with.
static uint64_t least_memory(zenith_run_params how)
{
    uint64_t low = 1 << 16, high = 1 << 27;
    while (high - low > high / 8) {
        zenith_clip *clip = NULL;
        how.max_memory = low + (high - low) / 2;
        const zenith_clip_params params = {.size = sizeof params,
                                           .part = ZENITH_DECODER,
                                           .width = WIDTH,
                                           .height = HEIGHT,
                                           .number = ZENITH_F32,
                                           .run = &how};
        if (zenith_clip_open(context, model, &params, &clip) == ZENITH_OK)
            high = how.max_memory;
        else
            low = how.max_memory;
        zenith_clip_free(clip);
    }
    return high;
}

static int stop_when_asked(void *cookie, double fraction)
{
    return *(const bool *)cookie && fraction > 0.5;
}

// Under the least memory a step writes over what it reads: after a stop the clip says so until it
// is reset.
ZN_TEST(stopped_clip_is_reset)
{
    static float whole[FRAMES * PICTURE], again[FRAMES * PICTURE], frames[MOST][PICTURE];
    bool stop = false;
    zenith_run_params how = {.size = sizeof how, .dtype = ZENITH_DTYPE_F32};
    zenith_clip *clip = open_clip(ZENITH_DECODER, ZENITH_F32, &how);
    decode_all(clip, whole);
    zenith_clip_free(clip);
    how.max_memory = least_memory(how);
    how.progress = stop_when_asked;
    how.progress_cookie = &stop;
    clip = open_clip(ZENITH_DECODER, ZENITH_F32, &how);
    zenith_image images[MOST];
    for (int t = 0; t < MOST; t++) images[t] = image_of(frames[t]);
    zenith_latent first = latent_of(latents), second = latent_of(latents + LATENT);
    api_ok(zenith_clip_step(clip, images, 1, &first));
    stop = true;
    assert_int_equal(zenith_clip_step(clip, images, MOST, &second), ZENITH_CANCELLED);
    stop = false;
    assert_int_equal(zenith_clip_step(clip, images, MOST, &second), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(zenith_context_error(context), "reset the clip"));
    zenith_clip_reset(clip);
    decode_all(clip, again);
    assert_memory_equal(whole, again, sizeof whole);
    zenith_clip_free(clip);
}

ZN_TEST(bytes_are_pictures)
{
    static uint8_t bytes[MOST][PICTURE];
    const zenith_run_params f32 = {.size = sizeof f32, .dtype = ZENITH_DTYPE_F32}; // as `decoded`
    zenith_clip *clip = open_clip(ZENITH_DECODER, ZENITH_U8, &f32);
    zenith_latent latent = latent_of(latents);
    zenith_image image = image_of(NULL);
    image.number = ZENITH_U8;
    image.data = bytes[0];
    api_ok(zenith_clip_step(clip, &image, 1, &latent));
    int worst = 0;
    for (int i = 0; i < PICTURE; i++) {
        const int expected = (int)lrintf(decoded[i] * 255), off = abs(bytes[0][i] - expected);
        if (off > worst) worst = off;
    }
    assert_true(worst <= 1);
    // One picture by itself is the first of a clip.
    static uint8_t alone[PICTURE];
    image.data = alone;
    api_ok(zenith_decode(context, model, &latent, &image, 1, &f32));
    assert_memory_equal(alone, bytes[0], sizeof alone);
    zenith_clip_free(clip);
}

ZN_TEST(mistakes_are_refused)
{
    zenith_clip *clip = open_clip(ZENITH_DECODER, ZENITH_F32, NULL), *none = NULL;
    zenith_latent latent = latent_of(latents);
    static float frame[PICTURE];
    zenith_image images[] = {image_of(frame), image_of(frame)};
    assert_int_equal(zenith_clip_step(clip, images, 2, &latent), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(zenith_context_error(context), "1 pictures"));
    images[0].number = ZENITH_U8;
    assert_int_equal(zenith_clip_step(clip, images, 1, &latent), ZENITH_INVALID_ARGUMENT);
    zenith_clip_params params = {
        .size = sizeof params, .part = ZENITH_DECODER, .width = WIDTH + 1, .height = HEIGHT};
    assert_int_equal(zenith_clip_open(context, model, &params, &none), ZENITH_INVALID_ARGUMENT);
    params.part = ZENITH_ENCODER | ZENITH_DECODER;
    assert_int_equal(zenith_clip_open(context, model, &params, &none), ZENITH_INVALID_ARGUMENT);
    zenith_clip_free(clip);
    zenith_clip_free(NULL);
}
