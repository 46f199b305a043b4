// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Z-Image's whole pipeline against diffusers: the numbers of a prompt's tokens and noise go in, and
// the latents after each of eight steps (and of three with guidance) and the picture come out. The
// same bits on one thread and two, alone and beside another generation; stopped between forwards
// and inside one.
#include "tests/model/part_runs.h"

#include "src/diffusion/noise.h"
#include "src/model/autoencoder.h"
#include "src/task/generate/generator.h"

#include <pthread.h>

ZN_TEST_NEEDS(zn_test_path(zn_test_golden(), "pipeline/io_turbo.safetensors"))

enum { CHANNELS = 16, MOST_STEPS = 8, MOST_VALUES = CHANNELS * 8 * 12, FACTOR = 8 };
static const double BOUND = 1e-5, BOUND_STEPS = 1e-4, BOUND_BF16 = 2e-2;

// "blurry" in the template, by the golden's tokenizer.
static const int32_t blurry[] = {601, 368, 198, 65, 75, 84, 81, 81, 88, 602, 198, 601, 535, 198};

typedef struct golden_run {
    const char *file;
    uint64_t seed;
    int steps;
    float guidance;
    uint32_t height, width;
} golden_run;
static const golden_run turbo = {"pipeline/io_turbo.safetensors", 42, 8, 0, 8, 12};
static const golden_run guided = {"pipeline/io_cfg.safetensors", 43, 3, 4, 6, 8};

typedef struct world {
    zn_executor *executor;
    zn_engine *engine;
    zn_model *text, *transformer;
} world;

typedef struct trace {
    const golden_run *of;
    float latents[MOST_STEPS][MOST_VALUES];
    float last[MOST_VALUES];
    int steps, stop_after;
    atomic_int cancel;
    int cancel_after; // the flag is set after this step
} trace;

static void open_world(world *w, int threads, int streams)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_test_ok(zn_executor_create(streams, threads, &w->executor, &err), &err);
    zn_test_ok(zn_engine_create(w->executor, &cpu, 0, NULL, &w->engine, &err), &err);
    w->text = part_open("pipeline/text_encoder");
    w->transformer = part_open("pipeline/transformer");
}

static void close_world(world *w)
{
    zn_engine_free(w->engine);
    zn_executor_free(w->executor);
    zn_model_unref(w->text);
    zn_model_unref(w->transformer);
}

static int stepped(void *cookie, int step, const float *latent, const float *predicted)
{
    trace *t = cookie;
    (void)predicted;
    const size_t count = (size_t)CHANNELS * t->of->height * t->of->width;
    memcpy(t->latents[step], latent, count * sizeof(float));
    t->steps = step + 1;
    if (t->cancel_after == step + 1) atomic_store(&t->cancel, 1);
    return t->stop_after == step + 1;
}

static size_t read_ids(const zn_safetensors *golden, int32_t ids[64])
{
    int64_t wide[64];
    const zn_file_tensor *tensor = zn_safetensors_find(golden, "ids");
    assert_non_null(tensor);
    assert_true(tensor->bytes <= sizeof wide);
    memcpy(wide, tensor->data, tensor->bytes);
    for (size_t i = 0; i < tensor->bytes / sizeof *wide; i++) ids[i] = (int32_t)wide[i];
    return tensor->bytes / sizeof *wide;
}

static zenith_status generate(const world *w, const golden_run *of, zenith_dtype dtype, trace *t,
                              zn_error *err)
{
    int32_t ids[64];
    zn_safetensors *golden = part_golden(of->file);
    const size_t count = read_ids(golden, ids);
    t->of = of;
    const zn_generation is = {.text = w->text,
                              .transformer = w->transformer,
                              .dtype = dtype,
                              .prompt = {ids, count},
                              .negative = {blurry, sizeof blurry / sizeof *blurry},
                              .height = of->height,
                              .width = of->width,
                              .steps = of->steps,
                              .shift = 3,
                              .guidance = of->guidance,
                              .cancel = &t->cancel,
                              .stepped = stepped,
                              .cookie = t};
    zn_noise_fill(ZN_NOISE_TORCH, of->seed, 0, t->last, (size_t)CHANNELS * of->height * of->width);
    zenith_status status = zn_generate(w->engine, &is, t->last, err);
    zn_safetensors_free(golden);
    return status;
}

// --- against diffusers --------------------------------------------------------------------------

static void compare_steps(const golden_run *of, const trace *t, double bound)
{
    const size_t count = (size_t)CHANNELS * of->height * of->width;
    zn_safetensors *golden = part_golden(of->file);
    for (int i = 0; i < of->steps; i++) {
        char name[32];
        size_t all;
        snprintf(name, sizeof name, "latents.%d", i + 1);
        float *expected = part_tensor(golden, name, &all);
        assert_int_equal(all, count);
        part_compare(name, t->latents[i], expected, count, bound);
        zn_free(expected);
    }
    assert_memory_equal(t->latents[of->steps - 1], t->last, count * sizeof(float));
    zn_safetensors_free(golden);
}

ZN_TEST(every_step_matches)
{
    static trace t;
    static const golden_run *const runs[] = {&turbo, &guided};
    world w;
    open_world(&w, 2, 1);
    for (size_t i = 0; i < 2; i++) {
        zn_error err = {0};
        t = (trace){.steps = 0};
        zn_test_ok(generate(&w, runs[i], ZENITH_DTYPE_F32, &t, &err), &err);
        assert_int_equal(t.steps, runs[i]->steps);
        compare_steps(runs[i], &t, BOUND_STEPS);
        t = (trace){.steps = 0};
        zn_test_ok(generate(&w, runs[i], ZENITH_DTYPE_BF16, &t, &err), &err);
        print_message("bf16: ");
        compare_steps(runs[i], &t, BOUND_BF16 * (1 + (double)runs[i]->guidance));
    }
    close_world(&w);
}

// The noise is the golden's, and so are the caption's features.
ZN_TEST(what_goes_in)
{
    int32_t ids[64];
    float noise[MOST_VALUES], hidden[64 * 64];
    size_t count;
    zn_error err = {0};
    world w;
    open_world(&w, 1, 1);
    zn_safetensors *golden = part_golden(turbo.file);
    float *expected = part_tensor(golden, "latents.init", &count);
    assert_int_equal(count, MOST_VALUES);
    zn_noise_fill(ZN_NOISE_TORCH, turbo.seed, 0, noise, count);
    assert_memory_equal(noise, expected, count * sizeof(float));
    zn_free(expected);
    const zn_prompt prompt = {ids, read_ids(golden, ids)};
    zn_test_ok(zn_encode_prompt(w.engine, w.text, ZENITH_DTYPE_F32, &prompt, 0, NULL, hidden, &err),
               &err);
    expected = part_tensor(golden, "prompt_embeds", &count);
    assert_int_equal(count, prompt.count * 64);
    part_compare("prompt_embeds", hidden, expected, count, BOUND);
    zn_free(expected);
    zn_safetensors_free(golden);
    close_world(&w);
}

// The golden's autoencoder makes the golden's picture of our latent.
ZN_TEST(the_picture)
{
    static trace t;
    enum { HEIGHT = 8 * FACTOR, WIDTH = 12 * FACTOR, PIXELS = HEIGHT * WIDTH };
    static float map[MOST_VALUES], picture[PIXELS * 3], planes[PIXELS * 3];
    zn_error err = {0};
    world w;
    open_world(&w, 1, 1);
    zn_test_ok(generate(&w, &turbo, ZENITH_DTYPE_F32, &t, &err), &err);
    for (size_t i = 0; i < MOST_VALUES; i++) map[i % 96 * CHANNELS + i / 96] = t.last[i];
    zn_model *vae = part_open("pipeline/vae");
    part_run r = {.model = vae,
                  .part = zn_model_part(vae, "decoder"),
                  .sizes = {.height = 8, .width = 12},
                  .inputs = {map},
                  .output = picture,
                  .dtype = ZENITH_DTYPE_F32};
    assert_string_equal(vae->variant->name, "flux-vae");
    zn_test_ok(part_run_compiled(&r, &err), &err);
    for (size_t i = 0; i < PIXELS * 3; i++)
        planes[i % 3 * PIXELS + i / 3] = fminf(fmaxf(picture[i], 0), 1);
    zn_safetensors *golden = part_golden(turbo.file);
    float *expected = part_tensor(golden, "image", NULL);
    part_compare("image", planes, expected, PIXELS * 3, BOUND_STEPS);
    zn_free(expected);
    zn_safetensors_free(golden);
    zn_model_unref(vae);
    close_world(&w);
}

// --- same bits ----------------------------------------------------------------------------------

typedef struct racer {
    const world *w;
    const golden_run *of;
    trace t;
    zenith_status status;
} racer;

static void *race(void *arg)
{
    racer *r = arg;
    zn_error err = {0};
    r->status = generate(r->w, r->of, ZENITH_DTYPE_F32, &r->t, &err);
    return NULL;
}

ZN_TEST(threads_and_neighbours_change_nothing)
{
    static trace one, two, other;
    static racer racers[2];
    zn_error err = {0};
    world w;
    open_world(&w, 1, 1);
    zn_test_ok(generate(&w, &turbo, ZENITH_DTYPE_F32, &one, &err), &err);
    zn_test_ok(generate(&w, &guided, ZENITH_DTYPE_F32, &other, &err), &err);
    close_world(&w);
    open_world(&w, 2, 1);
    zn_test_ok(generate(&w, &turbo, ZENITH_DTYPE_F32, &two, &err), &err);
    close_world(&w);
    assert_memory_equal(one.latents, two.latents, sizeof one.latents);
    open_world(&w, 1, 2); // both at once, on the same weights
    racers[0] = (racer){.w = &w, .of = &turbo};
    racers[1] = (racer){.w = &w, .of = &guided};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    close_world(&w);
    assert_int_equal(racers[0].status, ZENITH_OK);
    assert_int_equal(racers[1].status, ZENITH_OK);
    assert_memory_equal(one.last, racers[0].t.last, sizeof one.last);
    assert_memory_equal(other.last, racers[1].t.last, CHANNELS * 6 * 8 * sizeof(float));
}

// --- stopping and refusing ----------------------------------------------------------------------

ZN_TEST(stopped)
{
    static trace t;
    zn_error err = {0};
    world w;
    open_world(&w, 1, 1);
    t = (trace){.stop_after = 3}; // the callback says so
    assert_int_equal(generate(&w, &turbo, ZENITH_DTYPE_F32, &t, &err), ZENITH_CANCELLED);
    assert_int_equal(t.steps, 3);
    t = (trace){.cancel_after = 5}; // the flag is seen by the next forward
    assert_int_equal(generate(&w, &turbo, ZENITH_DTYPE_F32, &t, &err), ZENITH_CANCELLED);
    assert_int_equal(t.steps, 5);
    t = (trace){.steps = 0};
    atomic_store(&t.cancel, 1);
    assert_int_equal(generate(&w, &turbo, ZENITH_DTYPE_F32, &t, &err), ZENITH_CANCELLED);
    assert_int_equal(t.steps, 0);
    close_world(&w);
}

ZN_TEST(refused)
{
    static float latent[MOST_VALUES];
    const int32_t ids[] = {1, 2}, foreign[] = {1, 640};
    world w;
    open_world(&w, 1, 1);
    const zn_generation good = {.text = w.text,
                                .transformer = w.transformer,
                                .dtype = ZENITH_DTYPE_F32,
                                .prompt = {ids, 2},
                                .height = 8,
                                .width = 12,
                                .steps = 1,
                                .shift = 3};
    zn_generation bad[6] = {good, good, good, good, good, good};
    bad[0].height = 7;
    bad[1].prompt = (zn_prompt){foreign, 2};
    bad[2].prompt.count = 0;
    bad[3].steps = 0;
    bad[4].text = w.transformer;
    bad[5].guidance = 1; // without a negative prompt
    for (size_t i = 0; i < 6; i++) {
        zn_error err = {0};
        assert_int_equal(zn_generate(w.engine, &bad[i], latent, &err), ZENITH_INVALID_ARGUMENT);
        assert_true(strlen(err.text) > 10);
    }
    close_world(&w);
}

// --- several prompts ----------------------------------------------------------------------------

static size_t kept_captions(const zn_generator *generator)
{
    size_t kept = 0;
    for (int i = 0; i < ZN_CAPTIONS_KEPT; i++) kept += generator->memory.captions[i].hidden != NULL;
    return kept;
}

// What was read ahead is kept, without the text model's packed weights, and pictures have the same
// bits. A prompt that is no text is left out.
ZN_TEST(prompts_are_read_ahead)
{
    enum { SIDE = 4, VALUES = SIDE * SIDE * CHANNELS };
    static const char *const prompts[] = {"a cat", "a dog", "\xff", "a cat"};
    static float ahead[VALUES], alone[VALUES];
    const zn_generator_files files = {.folder = zn_test_path(zn_test_golden(), "pipeline")};
    zn_error err = {0};
    world w;
    zn_generator *first = NULL, *second = NULL;
    zn_generator_tokens tokens;
    const zn_generator_call call = {
        .prompt = "a dog",
        .held = 1,
        .how = {.dtype = ZENITH_DTYPE_F32, .height = SIDE, .width = SIDE, .steps = 2}};
    open_world(&w, 2, 1);
    zn_test_ok(zn_generator_open(&files, &first, &err), &err);
    zn_test_ok(zn_generator_open(&files, &second, &err), &err);
    zn_test_ok(zn_generator_read(w.engine, first, &call, prompts, 4, &err), &err);
    assert_int_equal(kept_captions(first), 2);
    assert_int_equal(zn_generator_held(first), 0);
    zn_test_ok(zn_generator_run(w.engine, first, &call, ahead, &tokens, &err), &err);
    assert_int_equal(kept_captions(first), 2);
    zn_test_ok(zn_generator_run(w.engine, second, &call, alone, &tokens, &err), &err);
    assert_memory_equal(ahead, alone, sizeof ahead);
    zn_generator_trim(w.engine, first);
    assert_int_equal(zn_generator_held(first), 0);
    zn_generator_free(first);
    zn_generator_free(second);
    close_world(&w);
}

// Packing stops at the bound, long before the last weight is packed.
ZN_TEST(packing_is_bounded)
{
    enum { MOST = 4096 };
    const int32_t ids[] = {1, 2, 3};
    const zn_prompt prompt = {ids, 3};
    float hidden[3 * 64];
    zn_error err = {0};
    world w;
    open_world(&w, 2, 1);
    const zenith_status status = zn_encode_prompt(w.engine, w.text, ZENITH_DTYPE_F32, &prompt, MOST,
                                                  NULL, hidden, &err);
    assert_int_equal(status, ZENITH_LIMIT);
    assert_non_null(strstr(err.text, "in the form that is computed with"));
    const size_t stopped_at = zn_packs_bytes(w.text->packs);
    err = (zn_error){0};
    zn_test_ok(zn_encode_prompt(w.engine, w.text, ZENITH_DTYPE_F32, &prompt, 0, NULL, hidden, &err),
               &err);
    assert_in_range(stopped_at, MOST + 1, zn_packs_bytes(w.text->packs) / 2);
    close_world(&w);
}
