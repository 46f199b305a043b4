// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures from text through the public interface: the golden pipeline's latents from its prompt,
// step by step, and its picture; reports that stop and a cancel; structs of other sizes; what is
// missing in a folder; what is refused.
#include "tests/api/api_context.h"

#include "src/base/memory.h"
#include "src/format/tensor/safetensors.h"
#include "zenith/generate.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 96, HEIGHT = 64, FACTOR = 8, CHANNELS = 16, STEPS = 8, SEED = 42 };
enum { VALUES = WIDTH * HEIGHT / FACTOR / FACTOR * CHANNELS, SAMPLES = WIDTH * HEIGHT * 3 };
static const char prompt[] = "a photo of a cat sitting on a red chair";

static zenith_generator *generator;
static zn_safetensors *golden;

static zenith_status open_folder(const char *folder, zenith_generator **out)
{
    const zenith_generator_params where = {.size = sizeof where, .folder = folder};
    return zenith_generator_open(context, &where, out);
}

ZN_TEST_SETUP(open_all)
{
    zn_test_need(zn_test_path(zn_test_golden(), "pipeline/io_turbo.safetensors"));
    zn_error err = {0};
    const zenith_context_params machine = {.size = sizeof machine, .threads = 2};
    assert_int_equal(zenith_context_create(&machine, &context), ZENITH_OK);
    api_ok(open_folder(zn_test_path(zn_test_golden(), "pipeline"), &generator));
    zn_test_ok(zn_safetensors_open(zn_test_path(zn_test_golden(), "pipeline/io_turbo.safetensors"),
                                   &golden, &err),
               &err);
    return 0;
}

ZN_TEST_TEARDOWN(close_all)
{
    zn_safetensors_free(golden);
    zenith_generator_free(generator);
    zenith_context_free(context);
    return 0;
}

static zenith_latent latent_of(float *data)
{
    return (zenith_latent){.size = sizeof(zenith_latent),
                           .width = WIDTH / FACTOR,
                           .height = HEIGHT / FACTOR,
                           .channels = CHANNELS,
                           .data = data};
}

static zenith_generate_params usual(void)
{
    return (zenith_generate_params){.size = sizeof(zenith_generate_params),
                                    .prompt = prompt,
                                    .seed = SEED,
                                    .dtype = ZENITH_DTYPE_F32};
}

// The relative distance of values to a tensor of the golden.
static double distance(const char *name, const float *values, size_t count)
{
    zn_error err = {0};
    double error = 0, size = 0;
    const zn_file_tensor *tensor = zn_safetensors_find(golden, name);
    assert_non_null(tensor);
    assert_int_equal(tensor->bytes, count * sizeof(float));
    float *expected = malloc(tensor->bytes);
    zn_test_ok(zn_file_tensor_read(tensor, expected, &err), &err);
    for (size_t i = 0; i < count; i++) {
        error += pow((double)values[i] - (double)expected[i], 2);
        size += pow((double)expected[i], 2);
    }
    free(expected);
    return sqrt(error / size);
}

// --- pictures -----------------------------------------------------------------------------------

// Filled on a thread of the library, looked at on the test's own.
typedef struct seen {
    uint32_t steps, stop_after;
    zenith_generate_report reports[STEPS];
    zenith_latent shapes[STEPS];
    float latents[STEPS][VALUES], predicted[STEPS][VALUES];
    zenith_cancel *cancel; // requested after the second step
} seen;

static int on_step(void *cookie, const zenith_generate_report *report)
{
    seen *s = cookie;
    if (s->steps == STEPS) return 1;
    s->reports[s->steps] = *report;
    s->shapes[s->steps] = *report->latent;
    memcpy(s->latents[s->steps], report->latent->data, sizeof s->latents[0]);
    memcpy(s->predicted[s->steps], report->predicted->data, sizeof s->predicted[0]);
    s->steps++;
    if (s->cancel && s->steps == 2) zenith_cancel_request(s->cancel);
    return s->stop_after == s->steps;
}

static void check_steps(const seen *s)
{
    assert_int_equal(s->steps, STEPS);
    for (uint32_t i = 0; i < STEPS; i++) {
        char name[32];
        const zenith_generate_report *report = &s->reports[i];
        assert_int_equal(report->size, sizeof *report);
        assert_int_equal(report->step, i + 1);
        assert_int_equal(report->steps, STEPS);
        assert_true(report->seconds >= (i ? report[-1].seconds : 0));
        assert_int_equal(s->shapes[i].width, WIDTH / FACTOR);
        assert_int_equal(s->shapes[i].height, HEIGHT / FACTOR);
        snprintf(name, sizeof name, "latents.%u", (unsigned)i + 1);
        assert_true(distance(name, s->latents[i], VALUES) < 1e-4);
    }
}

ZN_TEST(every_step_is_reported)
{
    static float values[VALUES];
    static seen s;
    zenith_generate_facts facts = {.size = sizeof facts};
    zenith_generate_params params = usual();
    const zenith_latent latent = latent_of(values);
    params.report = on_step;
    params.report_cookie = &s;
    params.facts = &facts;
    api_ok(zenith_generate(context, generator, &params, &latent));
    check_steps(&s);
    assert_memory_equal(values, s.latents[STEPS - 1], sizeof values);
    assert_memory_equal(values, s.predicted[STEPS - 1], sizeof values);
    assert_memory_not_equal(values, s.predicted[0], sizeof values);
    assert_int_equal(facts.dtype, ZENITH_DTYPE_F32);
    const size_t tokens = zn_safetensors_find(golden, "ids")->bytes / sizeof(int64_t);
    assert_int_equal(facts.tokens, tokens);
    assert_int_equal(facts.tokens_read, tokens);
    assert_true(facts.seconds >= s.reports[STEPS - 1].seconds);
}

// By the folder's own autoencoder, and by another model of the same latents.
ZN_TEST(the_latent_is_decoded)
{
    static float values[VALUES], pixels[SAMPLES];
    zenith_generator_info info = {.size = sizeof info};
    zenith_model *own = NULL;
    const zenith_generate_params params = usual();
    const zenith_run_params f32 = {.size = sizeof f32, .dtype = ZENITH_DTYPE_F32};
    const zenith_latent latent = latent_of(values);
    const zenith_image image = {.size = sizeof image,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .number = ZENITH_F32,
                                .order = ZENITH_CHW,
                                .data = pixels};
    zenith_generator_get_info(generator, &info);
    assert_string_equal(info.name, "z-image");
    assert_true(info.factor == FACTOR && info.multiple == 16 && info.latent_channels == CHANNELS);
    assert_true(info.shift == 3);
    assert_true(zenith_models_share_latents(info.latents, "zenith-f1-fast"));
    const zenith_model_params which = {.size = sizeof which, .weights = info.autoencoder};
    api_ok(zenith_model_open(context, &which, &own));
    api_ok(zenith_generate(context, generator, &params, &latent));
    api_ok(zenith_decode(context, own, &latent, &image, 1, &f32));
    for (int i = 0; i < SAMPLES; i++) pixels[i] = fminf(fmaxf(pixels[i], 0), 1);
    assert_true(distance("image", pixels, SAMPLES) < 1e-4);
    zenith_model_free(own);
}

// --- from a picture -----------------------------------------------------------------------------

// With all of it made anew, nothing of the picture is left; and every step is diffusers'
// (tools/goldens/make_img2img_golden.py).
ZN_TEST(pictures_begin_with_a_picture)
{
    static float values[VALUES], alone[VALUES], begin[VALUES];
    static seen s;
    zn_error err = {0};
    zn_safetensors *own = golden, *made = NULL;
    const zenith_latent latent = latent_of(values), first = latent_of(begin);
    zenith_generate_params params = usual();
    zn_test_ok(zn_safetensors_open(
                   zn_test_path(zn_test_source(), "tests/golden/img2img.safetensors"), &made, &err),
               &err);
    zn_test_ok(zn_file_tensor_read(zn_safetensors_find(made, "picture"), begin, &err), &err);
    api_ok(zenith_generate(context, generator, &params, &latent));
    memcpy(alone, values, sizeof alone);
    params.picture = &first;
    params.strength = 1;
    api_ok(zenith_generate(context, generator, &params, &latent));
    assert_memory_equal(values, alone, sizeof alone);
    params.report = on_step;
    params.report_cookie = &s;
    golden = made;
    for (int pass = 0; pass < 2; pass++) {
        static const char *const strengths[] = {"0.6", "0.125"};
        const uint32_t steps = pass ? 1 : 5;
        params.strength = pass ? 0.125 : 0; // the usual one
        s.steps = 0;
        api_ok(zenith_generate(context, generator, &params, &latent));
        assert_int_equal(s.steps, steps);
        assert_int_equal(s.reports[0].step, 1);
        assert_int_equal(s.reports[0].steps, steps);
        for (uint32_t i = 0; i < steps; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s.latents.%u", strengths[pass], (unsigned)i + 1);
            assert_true(distance(name, s.latents[i], VALUES) < 1e-4);
        }
    }
    golden = own;
    params.strength = 1.5;
    api_fails(zenith_generate(context, generator, &params, &latent), ZENITH_INVALID_ARGUMENT,
              "strength");
    params.strength = 0.5;
    begin[7] = NAN;
    api_fails(zenith_generate(context, generator, &params, &latent), ZENITH_INVALID_ARGUMENT,
              "NaN");
    zn_safetensors_free(made);
}

ZN_TEST(it_stops)
{
    static float values[VALUES];
    static seen s;
    zenith_generate_params params = usual();
    const zenith_latent latent = latent_of(values);
    params.report = on_step;
    params.report_cookie = &s;
    s.stop_after = 3;
    assert_int_equal(zenith_generate(context, generator, &params, &latent), ZENITH_CANCELLED);
    assert_int_equal(s.steps, 3);
    s.steps = s.stop_after = 0;
    api_ok(zenith_cancel_create(&s.cancel));
    params.cancel = s.cancel;
    assert_int_equal(zenith_generate(context, generator, &params, &latent), ZENITH_CANCELLED);
    assert_int_equal(s.steps, 2);
    zenith_cancel_reset(s.cancel);
    s.steps = 0;
    s.cancel = NULL;
    api_ok(zenith_generate(context, generator, &params, &latent));
    zenith_cancel_free(params.cancel);
}

typedef struct late {
    zenith_cancel *cancel;
    double after; // seconds
    zn_test_moment at;
} late;

static void *cancel_later(void *arg)
{
    late *l = arg;
    usleep((useconds_t)(l->after * 1e6));
    l->at = zn_test_now();
    zenith_cancel_request(l->cancel);
    return NULL;
}

static int no_end(void *cookie, const zenith_generate_report *report)
{
    (void)cookie;
    return report->step > 900; // it must not come that far
}

// Whenever it comes: while the prompt is read, while weights are packed, in a step.
ZN_TEST(a_cancel_is_answered_soon)
{
    enum { SIDE = 64 };
    static const double moments[] = {0, 0.002, 0.01, 0.05, 0.2};
    static float values[SIDE * SIDE * CHANNELS];
    zenith_latent latent = latent_of(values);
    zenith_generate_params params = usual();
    latent.width = latent.height = SIDE;
    params.steps = 1000;
    params.report = no_end;
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        pthread_t thread;
        char word[16];
        late l = {.after = moments[i]};
        snprintf(word, sizeof word, "cancel %u", (unsigned)i); // a prompt that is not kept
        params.prompt = word;
        zenith_generator_trim(context, generator);
        api_ok(zenith_cancel_create(&l.cancel));
        params.cancel = l.cancel;
        assert_int_equal(pthread_create(&thread, NULL, cancel_later, &l), 0);
        assert_int_equal(zenith_generate(context, generator, &params, &latent), ZENITH_CANCELLED);
        const double took = zn_test_seconds_since(l.at);
        pthread_join(thread, NULL);
        print_message("%.3f s after the beginning: answered in %.1f ms\n", moments[i], took * 1e3);
        assert_true(took < 0.25 * ZN_TEST_SLOWER);
        zenith_cancel_free(l.cancel);
    }
}

// --- structs ------------------------------------------------------------------------------------

// A caller with a newer header, whose further fields are zero, and one that sets one of them.
ZN_TEST(structs_may_be_longer)
{
    static float values[VALUES];
    struct {
        zenith_generate_params known;
        uint64_t more[2];
    } longer = {.known = usual()};
    struct {
        zenith_generator_info known;
        uint64_t more[2];
    } info = {.more = {7, 7}};
    const zenith_latent latent = latent_of(values);
    longer.known.size = sizeof longer;
    longer.known.steps = 1;
    api_ok(zenith_generate(context, generator, &longer.known, &latent));
    longer.more[1] = 1;
    assert_int_equal(zenith_generate(context, generator, &longer.known, &latent),
                     ZENITH_UNSUPPORTED);
    info.known.size = sizeof info;
    zenith_generator_get_info(generator, &info.known);
    assert_non_null(info.known.name);
    assert_true(info.more[0] == 7 && info.more[1] == 7);
    info.known = (zenith_generator_info){.size = offsetof(zenith_generator_info, text)};
    zenith_generator_get_info(generator, &info.known);
    assert_non_null(info.known.name);
    assert_null(info.known.text);
}

// --- folders ------------------------------------------------------------------------------------

static const char *const parts[] = {"scheduler", "tokenizer", "text_encoder", "transformer", "vae"};
enum { PARTS = sizeof parts / sizeof *parts };

// A folder of links to the golden's parts, but for one.
static const char *without(const char *missing)
{
    static char folder[1024], from[1024];
    snprintf(folder, sizeof folder, "%s", zn_test_path(zn_test_build(), "generation-parts"));
    mkdir(folder, 0755);
    snprintf(from, sizeof from, "%s", zn_test_path(zn_test_golden(), "pipeline"));
    for (int i = -1; i < PARTS; i++) {
        const char *part = i < 0 ? "model_index.json" : parts[i];
        const char *place = zn_test_path(folder, part);
        unlink(place);
        if (strcmp(part, missing) == 0) continue;
        assert_int_equal(symlink(zn_test_path(from, part), place), 0);
    }
    return folder;
}

ZN_TEST(what_is_missing_is_said)
{
    zenith_generator *none = NULL;
    zenith_generator_info info = {.size = sizeof info};
    for (int i = 0; i + 1 < PARTS; i++) {
        char sentence[64];
        snprintf(sentence, sizeof sentence, "has no %s", parts[i]);
        api_fails(open_folder(without(parts[i]), &none), ZENITH_NOT_FOUND, sentence);
        assert_non_null(strstr(zenith_context_error(context), "fetch the whole pipeline"));
    }
    api_fails(open_folder(without("model_index.json"), &none), ZENITH_NOT_FOUND,
              "model_index.json");
    api_fails(open_folder("nowhere", &none), ZENITH_NOT_FOUND, "there is no folder 'nowhere'");
    api_fails(zenith_generator_open(context, NULL, NULL), ZENITH_INVALID_ARGUMENT, "place");
    api_ok(open_folder(without("vae"), &none));
    zenith_generator_get_info(none, &info);
    assert_null(info.autoencoder);
    zenith_generator_free(none);
}

// A shift of the caller leaves the pipeline its own steps and guidance.
ZN_TEST(a_shift_alone_changes)
{
    static const char config[] =
        "{\"shift\": 3, \"num_inference_steps\": 5, \"guidance_scale\": 2}";
    char folder[1024], file[1024];
    zenith_generator *opened = NULL;
    zenith_generator_info info = {.size = sizeof info};
    zenith_generator_params where = {
        .size = sizeof where, .folder = without("scheduler"), .shift = 6};
    snprintf(folder, sizeof folder, "%s", zn_test_path(where.folder, "scheduler"));
    snprintf(file, sizeof file, "%s", zn_test_path(folder, "scheduler_config.json"));
    assert_int_equal(mkdir(folder, 0755), 0);
    FILE *written = fopen(file, "w");
    assert_non_null(written);
    fputs(config, written);
    fclose(written);
    api_ok(zenith_generator_open(context, &where, &opened));
    zenith_generator_get_info(opened, &info);
    zenith_generator_free(opened);
    unlink(file);
    rmdir(folder);
    assert_true(info.shift == 6);
    assert_int_equal(info.steps, 5);
    assert_true(info.guidance == 2);
}

// Files by themselves, some of them or all, make the same picture as the folder.
ZN_TEST(parts_lie_anywhere)
{
    static float values[VALUES], other[VALUES];
    static char transformer[1024], text[1024], tokenizer[1024], vae[1024];
    const zenith_latent latent = latent_of(values), again = latent_of(other);
    zenith_generate_params params = usual();
    zenith_generator *apart = NULL;
    zenith_generator_info info = {.size = sizeof info};
    params.steps = 2;
    api_ok(zenith_generate(context, generator, &params, &latent));
    snprintf(transformer, sizeof transformer, "%s",
             zn_test_path(zn_test_golden(), "pipeline/transformer"));
    snprintf(text, sizeof text, "%s", zn_test_path(zn_test_golden(), "pipeline/text_encoder"));
    snprintf(tokenizer, sizeof tokenizer, "%s",
             zn_test_path(zn_test_golden(), "pipeline/tokenizer/tokenizer.json"));
    snprintf(vae, sizeof vae, "%s", zn_test_path(zn_test_golden(), "pipeline/vae"));
    zenith_generator_params files = {.size = sizeof files,
                                     .transformer = transformer,
                                     .text_encoder = text,
                                     .tokenizer = tokenizer,
                                     .autoencoder = vae};
    api_ok(zenith_generator_open(context, &files, &apart));
    zenith_generator_get_info(apart, &info);
    assert_string_equal(info.autoencoder, vae);
    assert_true(info.shift == 3);
    api_ok(zenith_generate(context, apart, &params, &again));
    assert_memory_equal(values, other, sizeof values);
    zenith_generator_free(apart);

    files.folder = without("transformer");
    files.text_encoder = files.tokenizer = NULL;
    files.shift = 6;
    api_ok(zenith_generator_open(context, &files, &apart));
    zenith_generator_get_info(apart, &info);
    assert_true(info.shift == 6);
    zenith_generator_free(apart);

    files = (zenith_generator_params){.size = sizeof files, .text_encoder = text};
    api_fails(zenith_generator_open(context, &files, &apart), ZENITH_NOT_FOUND,
              "there is no tokenizer");
    files.tokenizer = tokenizer;
    api_fails(zenith_generator_open(context, &files, &apart), ZENITH_NOT_FOUND,
              "there is no transformer");
    files.transformer = "nowhere.gguf";
    api_fails(zenith_generator_open(context, &files, &apart), ZENITH_NOT_FOUND, "nowhere.gguf");
    files.transformer = text;
    api_fails(zenith_generator_open(context, &files, &apart), ZENITH_UNSUPPORTED, "holds qwen3");
}

// --- memory -------------------------------------------------------------------------------------

// Packed weights of the text model go where they have no room beside the transformer's, and come
// again for another prompt; pictures have the same bits.
ZN_TEST(memory_is_given_back)
{
    static float values[VALUES], expected[VALUES], other[VALUES];
    zenith_generate_needs needs = {.size = sizeof needs};
    zenith_generate_facts facts = {.size = sizeof facts};
    zenith_generate_params params = usual();
    const zenith_latent latent = latent_of(values);
    params.steps = 2;
    params.facts = &facts;
    zenith_generator_trim(context, generator);
    api_ok(zenith_generate(context, generator, &params, &latent));
    memcpy(expected, values, sizeof values);
    params.prompt = "a dog"; // of which nothing is kept
    api_ok(zenith_generate(context, generator, &params, &latent));
    const uint64_t both = facts.weights_bytes;
    memcpy(other, values, sizeof values);
    assert_memory_not_equal(other, expected, sizeof other);
    api_ok(zenith_generate_get_needs(context, generator, &params, &latent, &needs));
    assert_true(needs.text_bytes > 0 && needs.transformer_bytes > 0 && needs.buffer_bytes > 0);

    zenith_generator_trim(context, generator);
    params.held_memory = needs.transformer_bytes + needs.buffer_bytes;
    api_ok(zenith_generate(context, generator, &params, &latent)); // without the text model
    assert_memory_equal(values, other, sizeof values);
    assert_true(facts.weights_bytes > 0 && facts.weights_bytes < both);
    const uint64_t held = params.held_memory;
    params.steps = 1;
    params.held_memory = 0;
    for (int i = 0; i < 34; i++) { // more prompts than are kept
        char word[16];
        snprintf(word, sizeof word, "%d", i);
        params.prompt = word;
        api_ok(zenith_generate(context, generator, &params, &latent));
    }
    assert_int_equal(facts.weights_bytes, both);
    params.prompt = prompt;
    params.steps = 2;
    params.held_memory = held;
    api_ok(zenith_generate(context, generator, &params, &latent));
    assert_memory_equal(values, expected, sizeof values);
    assert_true(facts.weights_bytes < both);
    params.max_memory = needs.transformer_bytes / 2;
    api_fails(zenith_generate(context, generator, &params, &latent), ZENITH_LIMIT,
              "the transformer needs at least");
    zenith_generator_trim(context, generator);
    zenith_generator_trim(context, NULL);
}

ZN_TEST(mistakes_are_refused)
{
    static float values[VALUES];
    const zenith_status invalid = ZENITH_INVALID_ARGUMENT;
    zenith_generate_params params = usual();
    zenith_latent latent = latent_of(values);
    latent.width--;
    api_fails(zenith_generate(context, generator, &params, &latent), invalid, "multiples of 16");
    latent = latent_of(NULL);
    api_fails(zenith_generate(context, generator, &params, &latent), invalid, "16 planes");
    latent = latent_of(values);
    params.negative = "blurry";
    api_fails(zenith_generate(context, generator, &params, &latent), invalid, "only with guidance");
    params = usual();
    params.guidance = NAN;
    api_fails(zenith_generate(context, generator, &params, &latent), invalid, "guidance");
    params = usual();
    params.prompt = "\xff";
    api_fails(zenith_generate(context, generator, &params, &latent), invalid, "UTF-8");
    params.prompt = NULL;
    api_fails(zenith_generate(context, generator, &params, &latent), invalid, "prompt");
    params = usual();
    params.max_memory = 1000;
    api_fails(zenith_generate(context, generator, &params, &latent), ZENITH_LIMIT, "bytes");
    api_fails(zenith_generate(context, NULL, &params, &latent), invalid, "NULL");
    zenith_generator_free(NULL);
}
