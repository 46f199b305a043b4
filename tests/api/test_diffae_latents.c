// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A diffusion autoencoder on latents of zenith-f1-fast, with random weights: its code and noise are
// those that the same networks make of the latent of zenith_encode, its picture is zenith_decode's
// of their latent; previews, cancel, memory; what is refused.
#include "tests/api/api_context.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/random.h"
#include "src/format/tensor/safetensors.h"
#include "src/model/diffae/diffae.h"
#include "src/task/diffae/task.h"
#include "src/train/network/network.h"
#include "zenith/diffae.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FACTOR = 8, CHANNELS = 16, LOW = 8, SIDE = LOW * FACTOR, CODE = 8, STEPS = 4 };
enum { VALUES = CHANNELS * LOW * LOW, PIXELS = SIDE * SIDE, COLOURS = 3, MOST_TENSORS = 320 };

static zenith_model *model, *autoencoder;
static zn_model *plain; // the same networks without an autoencoder
static float picture[COLOURS * PIXELS];

static const char networks[] =
    "\"model\": \"diffae\", \"in_channels\": 16, \"channels\": 32, "
    "\"channel_mult\": [1, 1], \"encoder_mult\": [1, 1], \"res_blocks\": 1, "
    "\"attention_resolutions\": [4], \"code\": 8, \"timesteps\": 100";
static const char numbers[] =
    "\"latent_mean\": [0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,-0.1,-0.2,-0.3,-0.4,-0.5,-0.6,-0.7,-0.8], "
    "\"latent_std\": [1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,0.5]";

static float mean_of(int c)
{
    return (float)(c < 8 ? 0.1 * (c + 1) : -0.1 * (c - 7));
}

static float deviation_of(int c)
{
    return c == 15 ? 0.5f : (float)(c % 3 + 1);
}

// --- a model ------------------------------------------------------------------------------------

static void write_config(const char *folder, const char *more)
{
    zn_error err = {0};
    char text[1024];
    zn_writer *file = NULL;
    const int length = snprintf(text, sizeof text, "{%s, %s}", networks, more);
    zn_test_ok(zn_writer_open(zn_test_path(folder, "config.json"), &file, &err), &err);
    zn_test_ok(zn_writer_write(file, text, (size_t)length, &err), &err);
    zn_test_ok(zn_writer_commit(file, &err), &err);
}

static void add_parameters(zn_network *network, zn_file_tensor *tensors, size_t *count)
{
    for (size_t i = 0; i < network->count; i++) {
        const zn_train_parameter *p = &network->parameters[i];
        const bool gain = p->tensor.desc.shape.rank == 1 && strstr(p->name, "weight");
        zn_random random = {11, *count << 32};
        float *values = zn_alloc(p->elements * sizeof *values);
        assert_non_null(values);
        for (size_t k = 0; k < p->elements; k++)
            values[k] = (gain ? 1 : 0) + 0.2f * (zn_random_unit(&random) - 0.5f);
        assert_true(*count < MOST_TENSORS);
        tensors[(*count)++] = (zn_file_tensor){.name = p->name,
                                               .type = ZN_F32,
                                               .shape = p->tensor.desc.shape,
                                               .data = (const void *)values};
    }
}

// Random weights of the networks that `build` asks for.
static void write_weights(const char *folder)
{
    static zn_file_tensor tensors[MOST_TENSORS];
    static const char *const parts[] = {"encoder", "modulation", "denoiser"};
    zn_network made[3];
    char layout[ZN_LAYOUT_SIZE], text[512];
    zn_error err = {0};
    zn_json *config = NULL;
    zn_writer *file = NULL;
    size_t count = 0;
    const zn_variant *variant = zn_variant_find("diffae");
    const int length = snprintf(text, sizeof text, "{%s, \"image_size\": 8}", networks);
    zn_test_ok(zn_json_parse(text, (size_t)length, "test", &config, &err), &err);
    zn_diffae_layout(config, 40, layout);
    for (int i = 0; i < 3; i++) {
        const zn_network_shape shape = {.layout = layout};
        zn_test_ok(zn_network_of_variant(variant, zn_family_part(zn_family_of(variant), parts[i]),
                                         &shape, &made[i], &err),
                   &err);
        (void)zn_network_place(&made[i], 0); // counts their elements
        add_parameters(&made[i], tensors, &count);
    }
    zn_test_ok(zn_writer_open(zn_test_path(folder, "model.safetensors"), &file, &err), &err);
    zn_test_ok(zn_safetensors_write(file, tensors, count, NULL, 0, &err), &err);
    zn_test_ok(zn_writer_commit(file, &err), &err);
    for (size_t i = 0; i < count; i++) zn_free((void *)(uintptr_t)tensors[i].data);
    for (int i = 0; i < 3; i++) zn_network_free(&made[i]);
    zn_json_free(config);
}

static const char *make_folder(const char *name, const char *more)
{
    const char *folder = zn_test_path(zn_test_build(), name);
    (void)mkdir(folder, 0777);
    write_config(folder, more);
    write_weights(folder);
    return folder;
}

ZN_TEST_SETUP(open_all)
{
    zn_error err = {0};
    char more[512], folder[256];
    const zenith_context_params machine = {.size = sizeof machine, .threads = 2};
    setenv("ZENITH_MODELS", zn_test_path(zn_test_source(), "models"), 1);
    assert_int_equal(zenith_context_create(&machine, &context), ZENITH_OK);
    snprintf(more, sizeof more, "\"image_size\": 64, \"autoencoder\": \"zenith-f1-fast\", %s",
             numbers);
    snprintf(folder, sizeof folder, "%s", make_folder("diffae_latents", more));
    const zenith_model_params which = {.size = sizeof which, .weights = folder};
    const zenith_model_params its = {.size = sizeof its, .name = "zenith-f1-fast"};
    api_ok(zenith_model_open(context, &which, &model));
    api_ok(zenith_model_open(context, &its, &autoencoder));
    const zn_model_request request = {
        .weights = make_folder("diffae_plain", "\"image_size\": 8, \"clip\": false")};
    zn_test_ok(zn_model_open(&request, &plain, &err), &err);
    for (int i = 0; i < COLOURS * PIXELS; i++) // halves of 256ths survive -1 .. 1 and back
        picture[i] = (float)(i * i % 97 + i / PIXELS * 40 + i % SIDE) / 256;
    return 0;
}

ZN_TEST_TEARDOWN(close_all)
{
    zn_model_unref(plain);
    zenith_model_free(model);
    zenith_model_free(autoencoder);
    zenith_context_free(context);
    return 0;
}

static zenith_diffae_params usual(void)
{
    return (zenith_diffae_params){
        .size = sizeof(zenith_diffae_params), .steps = STEPS, .dtype = ZENITH_DTYPE_F32};
}

static zenith_code code_of(float *code, float *noise)
{
    return (zenith_code){
        .size = sizeof(zenith_code), .width = SIDE, .height = SIDE, .code = code, .noise = noise};
}

static zenith_image image_of(float *planes)
{
    return (zenith_image){.size = sizeof(zenith_image),
                          .width = SIDE,
                          .height = SIDE,
                          .number = ZENITH_F32,
                          .order = ZENITH_CHW,
                          .data = planes};
}

static zenith_latent latent_of(float *planes)
{
    return (zenith_latent){.size = sizeof(zenith_latent),
                           .width = LOW,
                           .height = LOW,
                           .channels = CHANNELS,
                           .number = ZENITH_F32,
                           .order = ZENITH_CHW,
                           .data = planes};
}

// --- values -------------------------------------------------------------------------------------

// What the networks make of the autoencoder's latent by themselves.
static void plain_run(float *latent, float *code, float *noise, float *back)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_executor *executor = NULL;
    zn_engine *engine = NULL;
    const zn_diffae_call call = {.model = plain, .dtype = ZENITH_DTYPE_F32, .steps = STEPS};
    zn_test_ok(zn_executor_create(1, 1, &executor, &err), &err);
    zn_test_ok(zn_engine_create(executor, &cpu, 0, NULL, &engine, &err), &err);
    for (int i = 0; i < VALUES; i++)
        latent[i] = (latent[i] - mean_of(i / (LOW * LOW))) / deviation_of(i / (LOW * LOW));
    zn_test_ok(zn_diffae_encode(engine, &call, latent, code, noise, &err), &err);
    zn_test_ok(zn_diffae_decode(engine, &call, code, noise, back, &err), &err);
    for (int i = 0; i < VALUES; i++)
        back[i] = back[i] * deviation_of(i / (LOW * LOW)) + mean_of(i / (LOW * LOW));
    zn_engine_free(engine);
    zn_executor_free(executor);
}

ZN_TEST(values_are_those_of_latents)
{
    static float latent[VALUES], noise[VALUES], known[VALUES], back[VALUES];
    static float made[COLOURS * PIXELS], expected[COLOURS * PIXELS];
    float code[CODE], known_code[CODE];
    const zenith_run_params how = {.size = sizeof how, .dtype = ZENITH_DTYPE_F32};
    const zenith_diffae_params params = usual();
    const zenith_code both = code_of(code, noise);
    const zenith_image from = image_of(picture), to = image_of(made), wanted = image_of(expected);
    const zenith_latent its = latent_of(latent), decoded = latent_of(back);
    api_ok(zenith_encode(context, autoencoder, &from, &its, 1, &how));
    plain_run(latent, known_code, known, back);
    api_ok(zenith_decode(context, autoencoder, &decoded, &wanted, 1, &how));
    api_ok(zenith_diffae_encode(context, model, &from, &both, &params));
    assert_memory_equal(code, known_code, sizeof code);
    assert_memory_equal(noise, known, sizeof noise);
    api_ok(zenith_diffae_decode(context, model, &both, &to, &params));
    double spread = 0;
    for (int i = 0; i < COLOURS * PIXELS; i++) {
        assert_true(fabsf(made[i] - expected[i]) <= 1e-6f * (1 + fabsf(expected[i])));
        spread += fabs((double)made[i] - (double)made[0]);
    }
    assert_true(spread > 1); // it is no plane of one colour
}

ZN_TEST(facts)
{
    zenith_diffae_info info = {.size = sizeof info};
    api_ok(zenith_diffae_get_info(context, model, &info));
    assert_int_equal(info.width, SIDE);
    assert_int_equal(info.channels, CHANNELS);
    assert_int_equal(info.factor, FACTOR);
    assert_int_equal(info.multiple, 2 * FACTOR);
    assert_int_equal(info.numbers, CODE);
}

// --- calls --------------------------------------------------------------------------------------

typedef struct seen {
    uint32_t steps, pictures, stop_after;
    float last[COLOURS * PIXELS];
} seen;

static int on_step(void *cookie, const zenith_diffae_report *report)
{
    seen *s = cookie;
    s->steps++;
    s->pictures += report->predicted != NULL;
    if (report->predicted) memcpy(s->last, report->predicted->data, sizeof s->last);
    return s->steps == s->stop_after;
}

ZN_TEST(previews_and_cancel)
{
    static seen s;
    static float made[COLOURS * PIXELS], again[COLOURS * PIXELS];
    float numbers_of_it[CODE] = {0.1f, -0.3f, 0.5f};
    zenith_diffae_params params = usual();
    const zenith_code code = code_of(numbers_of_it, NULL);
    const zenith_image to = image_of(made), other = image_of(again);
    params.report = on_step;
    params.report_cookie = &s;
    api_ok(zenith_diffae_decode(context, model, &code, &to, &params));
    assert_true(s.steps == STEPS && s.pictures == STEPS);
    assert_memory_equal(s.last, made, sizeof made); // the last step leads to the picture
    s = (seen){.steps = 0};
    params.no_pictures = true;
    api_ok(zenith_diffae_decode(context, model, &code, &other, &params));
    assert_true(s.steps == STEPS && s.pictures == 0);
    assert_memory_equal(made, again, sizeof made);
    s = (seen){.stop_after = 2};
    api_fails(zenith_diffae_decode(context, model, &code, &to, &params), ZENITH_CANCELLED, "");
    assert_int_equal(s.steps, 2);
    params = usual();
    params.max_memory = 1000;
    api_fails(zenith_diffae_decode(context, model, &code, &to, &params), ZENITH_LIMIT, "");
}

ZN_TEST(refused_calls)
{
    static float noise[VALUES], made[COLOURS * PIXELS];
    float code[CODE] = {0};
    const zenith_diffae_params params = usual();
    zenith_code bad = code_of(code, noise);
    zenith_image to = image_of(made);
    bad.noise_numbers = COLOURS * PIXELS; // of a model of pictures
    api_fails(zenith_diffae_decode(context, model, &bad, &to, &params), ZENITH_INVALID_ARGUMENT,
              "another model");
    bad = code_of(code, NULL);
    bad.width = to.width = SIDE - FACTOR; // a multiple of the autoencoder's, not of the networks'
    api_fails(zenith_diffae_decode(context, model, &bad, &to, &params), ZENITH_INVALID_ARGUMENT,
              "multiples of 16");
}

ZN_TEST(refused_models)
{
    static const struct {
        const char *config, *says;
    } bad[] = {
        {"\"image_size\": 64, \"autoencoder\": \"zenith-sd-fast\"", "4 channels"},
        {"\"image_size\": 60, \"autoencoder\": \"zenith-f1-fast\"", "multiple of 8"},
        {"\"image_size\": 64, \"autoencoder\": \"zenith-f1-fast\", \"clip\": true", "clip"},
        {"\"image_size\": 64, \"autoencoder\": \"../x\"", "no autoencoder"},
        {"\"image_size\": 64, \"autoencoder\": \"zenith-f1-fast\", \"autoencoder_sha256\": \"00\"",
         "other weights"},
        {"\"image_size\": 64, \"autoencoder\": \"zenith-f1-fast\", \"latent_mean\": [1]",
         "16 numbers"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        zenith_model *none = NULL;
        char folder[256];
        snprintf(folder, sizeof folder, "%s", make_folder("diffae_latents_bad", bad[i].config));
        const zenith_model_params which = {.size = sizeof which, .weights = folder};
        api_fails(zenith_model_open(context, &which, &none), ZENITH_BAD_FILE, bad[i].says);
    }
}
