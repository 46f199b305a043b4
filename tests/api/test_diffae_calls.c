// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Diffusion autoencoders through the public interface: PyTorch's codes, noise and pictures, the
// bits of the task below, and of a code alone and among others; files; reports that stop and a
// cancel; structs of other sizes; what is refused.
#include "tests/api/api_context.h"
#include "tests/model/diffae_golden.h"

#include "src/task/diffae/task.h"
#include "zenith/diffae.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static zenith_model *model;
static zn_safetensors *io;
static char folder[256];

ZN_TEST_SETUP(open_all)
{
    zn_test_need(zn_test_path(zn_test_golden(), golden_io));
    const zenith_context_params machine = {.size = sizeof machine, .threads = 2};
    golden_folder("diffae_calls", folder);
    const zenith_model_params which = {.size = sizeof which, .weights = folder};
    assert_int_equal(zenith_context_create(&machine, &context), ZENITH_OK);
    api_ok(zenith_model_open(context, &which, &model));
    io = part_golden(golden_io);
    return 0;
}

ZN_TEST_TEARDOWN(close_all)
{
    zn_safetensors_free(io);
    zenith_model_free(model);
    zenith_context_free(context);
    return 0;
}

static zenith_diffae_params usual(uint32_t steps)
{
    return (zenith_diffae_params){
        .size = sizeof(zenith_diffae_params), .steps = steps, .dtype = ZENITH_DTYPE_F32};
}

static zenith_code code_of(float *numbers, float *noise)
{
    return (zenith_code){.size = sizeof(zenith_code),
                         .width = SIDE,
                         .height = SIDE,
                         .code = numbers,
                         .noise = noise};
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

// Picture `number` of the golden, in 0 .. 1.
static void golden_picture(int number, float dst[VALUES])
{
    float *picture = golden_item(io, "image", number, VALUES);
    for (int i = 0; i < VALUES; i++) dst[i] = picture[i] * 0.5f + 0.5f;
    zn_free(picture);
}

static void compare_item(const char *name, int number, const float *got, size_t count, double bound)
{
    float *expected = golden_item(io, name, number, count);
    part_compare(name, got, expected, count, bound);
    zn_free(expected);
}

// --- pictures -----------------------------------------------------------------------------------

typedef struct seen {
    uint32_t steps, stop_after, predictions;
    zenith_diffae_report last;
    float predicted[VALUES];
    zenith_cancel *cancel; // requested after the second step
} seen;

static int on_step(void *cookie, const zenith_diffae_report *report)
{
    seen *s = cookie;
    s->last = *report;
    s->steps++;
    if (report->predicted) memcpy(s->predicted, report->predicted->data, sizeof s->predicted);
    s->predictions += report->predicted != NULL;
    if (s->cancel && s->steps == 2) zenith_cancel_request(s->cancel);
    return s->stop_after == s->steps;
}

ZN_TEST(pictures_go_there_and_back)
{
    static float picture[VALUES], noise[VALUES], back[VALUES];
    static seen s;
    float numbers[CODE];
    zenith_diffae_facts facts = {.size = sizeof facts};
    zenith_diffae_params params = usual(STEPS);
    const zenith_code code = code_of(numbers, noise);
    const zenith_image from = image_of(picture), to = image_of(back);
    params.report = on_step;
    params.report_cookie = &s;
    params.facts = &facts;
    for (int i = 0; i < PICTURES; i++) {
        golden_picture(i, picture);
        s = (seen){.steps = 0};
        api_ok(zenith_diffae_encode(context, model, &from, &code, &params));
        assert_true(s.steps == STEPS && s.last.step == STEPS && s.last.steps == STEPS);
        assert_int_equal(s.predictions, 0);
        compare_item("z", i, numbers, CODE, 1e-5);
        compare_item("x_T", i, noise, VALUES, 2e-4);
        s = (seen){.steps = 0};
        api_ok(zenith_diffae_decode(context, model, &code, &to, &params));
        assert_true(s.steps == STEPS && s.predictions == STEPS);
        assert_memory_equal(s.predicted, back, sizeof back); // the last step leads to the picture
        float *expected = golden_item(io, "reconstruction", i, VALUES);
        for (int k = 0; k < VALUES; k++) expected[k] = expected[k] * 0.5f + 0.5f;
        part_compare("reconstruction", back, expected, VALUES, 2e-4);
        zn_free(expected);
        assert_true(facts.dtype == ZENITH_DTYPE_F32 && facts.seconds >= s.last.seconds);
    }
}

// What the task makes of the same planes, and bytes that are its rounded numbers.
ZN_TEST(bits_are_those_of_the_task)
{
    static float picture[VALUES], planes[VALUES], noise[VALUES], expected[VALUES];
    static uint8_t bytes[VALUES];
    float numbers[CODE], known[CODE];
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_executor *executor = NULL;
    zn_engine *engine = NULL;
    zn_model *inner = golden_model("diffae_calls");
    const zn_diffae_call call = {.model = inner, .dtype = ZENITH_DTYPE_F32, .steps = 2};
    const zenith_diffae_params params = usual(2);
    const zenith_code code = code_of(numbers, noise);
    const zenith_image from = image_of(picture);
    const zenith_image to = {.size = sizeof to, .width = SIDE, .height = SIDE, .data = bytes};
    golden_picture(1, picture);
    for (int i = 0; i < VALUES; i++) planes[i] = (picture[i] - 0.5f) / 0.5f;
    zn_test_ok(zn_executor_create(1, 1, &executor, &err), &err);
    zn_test_ok(zn_engine_create(executor, &cpu, 0, NULL, &engine, &err), &err);
    zn_test_ok(zn_diffae_encode(engine, &call, planes, known, expected, &err), &err);
    api_ok(zenith_diffae_encode(context, model, &from, &code, &params));
    assert_memory_equal(numbers, known, sizeof known);
    assert_memory_equal(noise, expected, sizeof expected);
    zn_test_ok(zn_diffae_decode(engine, &call, known, expected, expected, &err), &err);
    api_ok(zenith_diffae_decode(context, model, &code, &to, &params));
    for (int i = 0; i < VALUES; i++) {
        const float value = expected[i % PLANES * PIXELS + i / PLANES] * 0.5f + 0.5f;
        assert_int_equal(bytes[i], (int)(fminf(fmaxf(value, 0), 1) * 255 + 0.5f));
    }
    zn_engine_free(engine);
    zn_executor_free(executor);
    zn_model_unref(inner);
}

// Code, noise and reconstruction of a picture by the golden's networks with other keys.
static void run_with(const char *keys, float *picture, float *numbers, float *noise, float *back)
{
    char other[256];
    zenith_model *opened = NULL;
    const zenith_diffae_params params = usual(STEPS);
    const zenith_code code = code_of(numbers, noise);
    const zenith_image from = image_of(picture), to = image_of(back);
    golden_folder("diffae_keys", other);
    golden_copy_config(other, keys);
    const zenith_model_params which = {.size = sizeof which, .weights = other};
    api_ok(zenith_model_open(context, &which, &opened));
    api_ok(zenith_diffae_encode(context, opened, &from, &code, &params));
    api_ok(zenith_diffae_decode(context, opened, &code, &to, &params));
    zenith_model_free(opened);
}

// Twice the contrast of a picture that has half of it is the picture.
ZN_TEST(contrast_is_what_networks_see)
{
    static float picture[VALUES], noise[2][VALUES], back[2][VALUES];
    float numbers[2][CODE];
    golden_picture(0, picture);
    for (int i = 0; i < VALUES; i++)
        picture[i] = floorf(picture[i] * 256) / 256; // so that halves are exact
    run_with("\"clip\": false, ", picture, numbers[0], noise[0], back[0]);
    for (int i = 0; i < VALUES; i++) picture[i] = picture[i] * 0.5f + 0.25f;
    run_with("\"clip\": false, \"contrast\": 2, ", picture, numbers[1], noise[1], back[1]);
    for (int i = 0; i < VALUES; i++) back[0][i] = back[0][i] * 0.5f + 0.25f;
    assert_memory_equal(numbers[1], numbers[0], sizeof *numbers);
    assert_memory_equal(noise[1], noise[0], sizeof *noise);
    part_compare("picture", back[1], back[0], VALUES, 1e-5);
    run_with("\"clip\": false, ", picture, numbers[1], noise[1], back[1]);
    assert_memory_not_equal(numbers[1], numbers[0], sizeof *numbers); // the picture matters
}

ZN_TEST(noise_is_drawn_by_the_seed)
{
    static float noise[VALUES], drawn[VALUES], given[VALUES], other[VALUES];
    float *numbers = golden_item(io, "z", 0, CODE);
    zenith_code code = code_of(numbers, NULL);
    zenith_diffae_params params = usual(2);
    const zenith_image first = image_of(drawn), second = image_of(given), third = image_of(other);
    params.seed = 7;
    api_ok(zenith_diffae_decode(context, model, &code, &first, &params));
    zn_noise_fill(ZN_NOISE_TORCH, 7, 0, noise, VALUES);
    code.noise = noise;
    params.seed = 8;
    api_ok(zenith_diffae_decode(context, model, &code, &second, &params));
    assert_memory_equal(drawn, given, sizeof drawn);
    code.noise = NULL;
    api_ok(zenith_diffae_decode(context, model, &code, &third, &params));
    assert_memory_not_equal(drawn, other, sizeof drawn);
    zn_free(numbers);
}

// --- codes --------------------------------------------------------------------------------------

ZN_TEST(codes_are_moved_and_mixed)
{
    static float mixed_noise[VALUES];
    float mixed[CODE], before[ATTRIBUTES], after[ATTRIBUTES];
    float *numbers = part_tensor(io, "z", NULL), *noises = part_tensor(io, "x_T", NULL);
    const zenith_code a = code_of(numbers, noises), b = code_of(numbers + CODE, noises + VALUES);
    const zenith_code out = code_of(mixed, mixed_noise);
    api_ok(zenith_diffae_mix(context, model, &a, &b, 0.25, &out));
    compare_item("z.lerp", 0, mixed, CODE, 1e-6);
    compare_item("x_T.slerp", 0, mixed_noise, VALUES, 1e-6);
    api_ok(zenith_diffae_classify(context, model, &a, 1, before, NULL));
    api_ok(zenith_diffae_edit(context, model, &a, 3, 0.3));
    compare_item("z.manipulated", 0, numbers, CODE, 1e-6);
    api_ok(zenith_diffae_classify(context, model, &a, 1, after, NULL));
    for (int i = 0; i < ATTRIBUTES; i++) assert_true(after[i] >= 0 && after[i] <= 1);
    assert_true(after[3] > before[3]);
    zn_free(numbers);
    zn_free(noises);
}

ZN_TEST(codes_are_drawn)
{
    enum { COUNT = 3 };
    static float numbers[COUNT][CODE], noises[COUNT][VALUES], noise[VALUES];
    float alone[CODE], bare[CODE];
    zenith_code codes[COUNT], one = code_of(alone, noise), without = code_of(bare, NULL);
    zenith_diffae_params params = usual(STEPS);
    for (int i = 0; i < COUNT; i++) codes[i] = code_of(numbers[i], noises[i]);
    params.seed = 5;
    api_ok(zenith_diffae_sample(context, model, codes, COUNT, &params));
    params.seed = 7;
    api_ok(zenith_diffae_sample(context, model, &one, 1, &params));
    api_ok(zenith_diffae_sample(context, model, &without, 1, &params));
    assert_memory_equal(alone, numbers[2], sizeof alone);
    assert_memory_equal(noise, noises[2], sizeof noise);
    assert_memory_equal(bare, alone, sizeof bare);
    // CODE is a multiple of 16, so torch.randn(CODE) and torch.randn(3, H, W) of one generator are
    // these.
    static float stream[CODE + VALUES];
    zn_noise_fill(ZN_NOISE_TORCH, 7, 0, stream, CODE + VALUES);
    assert_memory_equal(noise, stream + CODE, sizeof noise);
}

ZN_TEST(attributes_have_names)
{
    zenith_diffae_info info = {.size = sizeof info};
    zenith_model *named = NULL;
    char path[256];
    golden_folder("diffae_named", path);
    FILE *file = fopen(zn_test_path(path, "config.json"), "rb+");
    assert_non_null(file);
    assert_int_equal(fgetc(file), '{');
    char rest[4096];
    const size_t length = fread(rest, 1, sizeof rest, file);
    rewind(file);
    fputs("{\"attributes\": [\"Smiling\", 7, \"\", \"Young\"],", file);
    assert_int_equal(fwrite(rest, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    const zenith_model_params which = {.size = sizeof which, .weights = path};
    api_ok(zenith_model_open(context, &which, &named));
    api_ok(zenith_diffae_get_info(context, named, &info));
    assert_true(info.attributes == ATTRIBUTES && info.numbers == CODE && info.width == SIDE);
    assert_true(info.has_encoder && info.has_decoder && info.has_prior && info.timesteps == 1000);
    assert_string_equal(zenith_diffae_attribute(named, 0), "Smiling");
    assert_null(zenith_diffae_attribute(named, 1));
    assert_null(zenith_diffae_attribute(named, 2));
    assert_string_equal(zenith_diffae_attribute(named, 3), "Young");
    assert_null(zenith_diffae_attribute(named, 4));
    assert_null(zenith_diffae_attribute(model, 0));
    zenith_model_free(named);
}

// --- files --------------------------------------------------------------------------------------

ZN_TEST(codes_lie_in_files)
{
    char path[300];
    float *numbers = golden_item(io, "z", 0, CODE), *noise = golden_item(io, "x_T", 0, VALUES);
    zenith_code code = code_of(numbers, noise), back = {.size = sizeof back};
    zenith_code_file *file = NULL;
    snprintf(path, sizeof path, "%s/code.safetensors", folder);
    api_fails(zenith_code_save(context, path, model, &code), ZENITH_INVALID_ARGUMENT, "steps");
    code.steps = STEPS;
    api_ok(zenith_code_save(context, path, model, &code));
    api_ok(zenith_code_file_open(context, path, &file));
    zenith_code_file_get(file, &back);
    assert_true(back.width == SIDE && back.height == SIDE && back.steps == STEPS);
    assert_int_equal(back.numbers, CODE);
    assert_memory_equal(back.code, numbers, CODE * sizeof(float));
    assert_memory_equal(back.noise, noise, VALUES * sizeof(float));
    assert_int_equal(strlen(back.weights), 64);
    api_ok(zenith_diffae_edit(context, model, &back, 0, 0.1)); // its weights are these
    char foreign[65];
    snprintf(foreign, sizeof foreign, "%s", back.weights);
    foreign[0] = foreign[0] == '0' ? '1' : '0';
    back.weights = foreign;
    api_fails(zenith_diffae_edit(context, model, &back, 0, 0.1), ZENITH_INVALID_ARGUMENT,
              "other weights");
    zenith_code_file_free(file);
    zenith_code_file_free(NULL);
    api_fails(zenith_code_file_open(context, zn_test_path(folder, "model.safetensors"), &file),
              ZENITH_BAD_FILE, "code is expected");
    api_fails(zenith_code_file_open(context, "nowhere", &file), ZENITH_NOT_FOUND, "nowhere");
    unlink(path);
    zn_free(numbers);
    zn_free(noise);
}

// --- stopping -----------------------------------------------------------------------------------

ZN_TEST(it_stops)
{
    static float picture[VALUES], noise[VALUES];
    static seen s;
    float numbers[CODE] = {0};
    zenith_diffae_params params = usual(STEPS);
    const zenith_code code = code_of(numbers, noise);
    const zenith_image image = image_of(picture);
    params.report = on_step;
    params.report_cookie = &s;
    for (int way = 0; way < 2; way++) {
        s = (seen){.stop_after = 3};
        zenith_status status = way ? zenith_diffae_decode(context, model, &code, &image, &params)
                                   : zenith_diffae_encode(context, model, &image, &code, &params);
        assert_int_equal(status, ZENITH_CANCELLED);
        assert_int_equal(s.steps, 3);
    }
    s = (seen){.steps = 0};
    api_ok(zenith_cancel_create(&s.cancel));
    params.cancel = s.cancel;
    assert_int_equal(zenith_diffae_sample(context, model, &code, 1, &params), ZENITH_CANCELLED);
    assert_int_equal(s.steps, 2);
    assert_int_equal(zenith_diffae_classify(context, model, &code, 1, picture, &params),
                     ZENITH_CANCELLED);
    zenith_cancel_free(s.cancel);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

typedef struct late {
    zenith_cancel *cancel;
    double at;
} late;

static void *cancel_later(void *arg)
{
    late *l = arg;
    usleep(300000);
    l->at = now();
    zenith_cancel_request(l->cancel);
    return NULL;
}

// Of a picture larger than the model was trained with, whose thousand steps take minutes.
ZN_TEST(a_cancel_is_answered_soon)
{
    enum { LARGE = 256, MANY = LARGE * LARGE * PLANES };
    float numbers[CODE] = {0}, *pixels = calloc(MANY, sizeof *pixels);
    zenith_code code = code_of(numbers, NULL);
    zenith_image image = image_of(pixels);
    zenith_diffae_params params = usual(1000);
    pthread_t thread;
    late l;
    assert_non_null(pixels);
    code.width = code.height = image.width = image.height = LARGE;
    api_ok(zenith_cancel_create(&l.cancel));
    params.cancel = l.cancel;
    assert_int_equal(pthread_create(&thread, NULL, cancel_later, &l), 0);
    assert_int_equal(zenith_diffae_decode(context, model, &code, &image, &params),
                     ZENITH_CANCELLED);
    const double ended = now();
    pthread_join(thread, NULL);
    print_message("answered in %.1f ms\n", (ended - l.at) * 1e3);
    assert_true(ended - l.at < 0.5 * ZN_TEST_SLOWER);
    zenith_cancel_free(l.cancel);
    zenith_context_trim(context);
    free(pixels);
}

// --- what is refused ----------------------------------------------------------------------------

ZN_TEST(structs_may_be_longer)
{
    float numbers[CODE] = {0};
    struct {
        zenith_code known;
        uint64_t more[2];
    } longer = {.known = code_of(numbers, NULL)};
    struct {
        zenith_diffae_info known;
        uint64_t more;
    } info = {.more = 7};
    longer.known.size = sizeof longer;
    api_ok(zenith_diffae_edit(context, model, &longer.known, 0, 0.1));
    longer.more[1] = 1;
    assert_int_equal(zenith_diffae_edit(context, model, &longer.known, 0, 0.1), ZENITH_UNSUPPORTED);
    info.known.size = sizeof info;
    api_ok(zenith_diffae_get_info(context, model, &info.known));
    assert_true(info.known.numbers == CODE && info.more == 7);
    info.known = (zenith_diffae_info){.size = offsetof(zenith_diffae_info, numbers)};
    api_ok(zenith_diffae_get_info(context, model, &info.known));
    assert_true(info.known.width == SIDE && info.known.numbers == 0);
}

ZN_TEST(mistakes_are_refused)
{
    static float picture[VALUES], noise[VALUES];
    const zenith_status invalid = ZENITH_INVALID_ARGUMENT;
    float numbers[CODE] = {0}, scores[ATTRIBUTES];
    zenith_code code = code_of(numbers, noise), bare = code_of(numbers, NULL);
    zenith_image image = image_of(picture);
    zenith_diffae_params params = usual(300);
    zenith_model *other = NULL;
    const zenith_model_params which = {
        .size = sizeof which,
        .name = "taesd",
        .weights = zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers")};
    api_fails(zenith_diffae_decode(context, model, &code, &image, &params), invalid, "250 or 334");
    params.steps = 20000;
    api_fails(zenith_diffae_decode(context, model, &code, &image, &params), invalid, "steps");
    image.width = SIDE * 2;
    api_fails(zenith_diffae_encode(context, model, &image, &code, NULL), invalid,
              "size of the code");
    image.width = code.width = SIDE + 1;
    api_fails(zenith_diffae_encode(context, model, &image, &code, NULL), invalid, "multiples of");
    image = image_of(NULL);
    api_fails(zenith_diffae_encode(context, model, &image, &bare, NULL), invalid, "data or rows");
    api_fails(zenith_diffae_encode(context, model, NULL, &bare, NULL), invalid, "NULL");
    api_fails(zenith_diffae_encode(context, NULL, &image, &bare, NULL), invalid, "NULL");
    bare.numbers = CODE + 1;
    api_fails(zenith_diffae_edit(context, model, &bare, 0, 1), invalid, "another model");
    bare = code_of(NULL, NULL);
    api_fails(zenith_diffae_edit(context, model, &bare, 0, 1), invalid, "room for");
    bare = code_of(numbers, NULL);
    api_fails(zenith_diffae_edit(context, model, &bare, ATTRIBUTES, 1), invalid, "no attribute 40");
    api_fails(zenith_diffae_edit(context, model, &bare, 0, INFINITY), invalid, "strength");
    code = code_of(numbers, noise);
    api_fails(zenith_diffae_mix(context, model, &code, &bare, 0.5, &code), invalid, "both codes");
    api_fails(zenith_diffae_mix(context, model, &bare, &bare, 1.5, &bare), invalid, "weight");
    api_fails(zenith_diffae_sample(context, model, &bare, 0, NULL), invalid, "codes");
    api_fails(zenith_diffae_classify(context, model, &bare, 1, NULL, NULL), invalid, "place");
    numbers[3] = NAN;
    api_fails(zenith_diffae_classify(context, model, &bare, 1, scores, NULL), invalid, "NaN");
    api_fails(zenith_code_file_open(context, NULL, NULL), invalid, "NULL");
    api_ok(zenith_model_open(context, &which, &other));
    api_fails(zenith_diffae_edit(context, other, &bare, 0, 1), invalid, "no diffusion autoencoder");
    assert_null(zenith_diffae_attribute(other, 0));
    zenith_model_free(other);
}

// The checked-in model has neither statistics nor classifier.
ZN_TEST(what_is_missing_is_said)
{
    float numbers[CODE] = {0}, scores[ATTRIBUTES];
    zenith_diffae_info info = {.size = sizeof info};
    zenith_model *bare = NULL;
    const zenith_code code = code_of(numbers, NULL);
    const zenith_model_params which = {
        .size = sizeof which, .weights = zn_test_path(zn_test_source(), "tests/golden/diffae")};
    api_ok(zenith_model_open(context, &which, &bare));
    api_ok(zenith_diffae_get_info(context, bare, &info));
    assert_true(info.has_decoder && !info.has_prior && info.attributes == 0);
    api_fails(zenith_diffae_sample(context, bare, &code, 1, NULL), ZENITH_NOT_FOUND, "no prior");
    api_fails(zenith_diffae_classify(context, bare, &code, 1, scores, NULL), ZENITH_NOT_FOUND,
              "no classifier");
    api_fails(zenith_diffae_edit(context, bare, &code, 0, 1), ZENITH_NOT_FOUND, "convert");
    zenith_model_free(bare);
}
