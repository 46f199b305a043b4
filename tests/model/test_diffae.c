// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Every network of a diffusion autoencoder against PyTorch: codes, predicted noise at two
// timesteps, the prior's prediction; in each type; the same bits in planes and bands and on one
// thread and two. Then names, sizes of the published models, and what config.json may not say.
#include "tests/model/diffae_golden.h"

#include "src/model/diffae/diffae.h"

ZN_TEST_NEEDS(zn_test_path(zn_test_golden(), golden_io))

static const double BOUND_SHORT = 5e-2;

typedef struct world {
    zn_safetensors *io;
    zn_model *model;
    part_run how; // type, mode and threads of all runs
} world;

static void open_world(world *w)
{
    *w = (world){.io = part_golden(golden_io), .model = golden_model("diffae_model")};
    w->how = (part_run){.dtype = ZENITH_DTYPE_F32, .mode = ZN_PLAN_PLANES};
    assert_string_equal(w->model->variant->name, "diffae");
    assert_int_equal(w->model->unexpected, 0);
    assert_int_equal(w->model->parts, 127);
}

static void close_world(world *w)
{
    zn_model_unref(w->model);
    zn_safetensors_free(w->io);
}

static void run_part(const world *w, const char *part, zn_sizes sizes, const float *first,
                     const float *second, float *output)
{
    zn_error err = {0};
    part_run r = w->how;
    r.model = w->model;
    r.part = part_need((void *)(uintptr_t)zn_model_part(w->model, part));
    r.sizes = sizes;
    r.inputs[0] = first;
    r.inputs[1] = second;
    r.output = output;
    zn_test_ok(part_run_compiled(&r, &err), &err);
}

static const zn_sizes picture_sizes = {.height = SIDE, .width = SIDE}, one = {.tokens = 1};

static float *golden_map(const world *w, const char *name, int number)
{
    float *planes = golden_item(w->io, name, number, VALUES),
          *map = part_need(zn_alloc(VALUES * sizeof *map));
    for (size_t i = 0; i < VALUES; i++) map[i % PIXELS * PLANES + i / PIXELS] = planes[i];
    zn_free(planes);
    return map;
}

static float timestep(const world *w, int number)
{
    int64_t times[PICTURES];
    const zn_file_tensor *tensor = zn_safetensors_find(w->io, "unet.t");
    assert_non_null(tensor);
    assert_int_equal(tensor->bytes, sizeof times);
    memcpy(times, tensor->data, sizeof times);
    return (float)times[number];
}

// --- networks -----------------------------------------------------------------------------------

enum { SEMANTIC, UNET, PRIOR, NETWORKS };
static const char *const results[NETWORKS] = {"z", "unet.eps", "latent.eps"};

static size_t result_size(int network)
{
    return network == UNET ? VALUES : CODE;
}

static void predict_noise(const world *w, int number, const float *code, float *dst)
{
    const zn_diffae_facts facts = zn_diffae_facts_of(w->model);
    const float time = timestep(w, number);
    float *modulation = part_need(zn_alloc((size_t)facts.modulation * sizeof(float)));
    float *picture = golden_map(w, "image", number);
    run_part(w, "modulation", one, &time, code, modulation);
    run_part(w, "denoiser", picture_sizes, picture, modulation, dst);
    zn_free(modulation);
    zn_free(picture);
}

static void predict_code(const world *w, int number, float *dst)
{
    const zn_diffae_facts facts = zn_diffae_facts_of(w->model);
    const float time = timestep(w, number);
    float *modulation = part_need(zn_alloc((size_t)facts.prior_modulation * sizeof(float)));
    float *noise = golden_item(w->io, "latent.noise", number, CODE);
    run_part(w, "prior_modulation", one, &time, NULL, modulation);
    run_part(w, "prior", one, noise, modulation, dst);
    zn_free(modulation);
    zn_free(noise);
}

static void compute(const world *w, int network, int number, float *dst)
{
    if (network == SEMANTIC) {
        float *picture = golden_map(w, "image", number);
        run_part(w, "encoder", picture_sizes, picture, NULL, dst);
        zn_free(picture);
    } else if (network == UNET) {
        float *code = golden_item(w->io, "z", number, CODE);
        predict_noise(w, number, code, dst);
        zn_free(code);
    } else {
        predict_code(w, number, dst);
    }
}

ZN_TEST(every_network_matches)
{
    static const struct {
        const char *label;
        zenith_dtype dtype;
        double bound;
    } types[] = {{"f32", ZENITH_DTYPE_F32, 1e-5},
                 {"bf16", ZENITH_DTYPE_BF16, BOUND_SHORT},
                 {"int8", ZENITH_DTYPE_INT8, BOUND_SHORT}};
    static float got[VALUES], again[VALUES];
    world w;
    open_world(&w);
    for (int i = 0; i < 3 * NETWORKS * PICTURES; i++) {
        const int type = i / (NETWORKS * PICTURES), network = i / PICTURES % NETWORKS;
        const int number = i % PICTURES;
        const size_t count = result_size(network);
        w.how = (part_run){.dtype = types[type].dtype, .mode = ZN_PLAN_PLANES, .threads = 1};
        compute(&w, network, number, got);
        float *expected = network == UNET ? golden_map(&w, results[network], number)
                                          : golden_item(w.io, results[network], number, count);
        print_message("%s: ", types[type].label);
        part_compare(results[network], got, expected, count, types[type].bound);
        zn_free(expected);
        for (int way = 0; number == 1 && way < 2; way++) { // bands and threads change no bit
            w.how.mode = way ? ZN_PLAN_AUTO : ZN_PLAN_PLANES;
            w.how.threads = way ? 1 : 2;
            memset(again, 0xff, sizeof again);
            compute(&w, network, number, again);
            assert_memory_equal(got, again, count * sizeof(float));
        }
    }
    close_world(&w);
}

// As many rows at a time as it likes: a row by itself has the same bits, for times and for codes.
ZN_TEST(neighbours_change_nothing)
{
    enum { ROWS = 5 };
    world w;
    open_world(&w);
    const zn_diffae_facts facts = zn_diffae_facts_of(w.model);
    const size_t row = (size_t)facts.modulation, scales = (size_t)facts.prior_modulation;
    float *many = part_need(zn_alloc(ROWS * row * sizeof *many)),
          *alone = part_need(zn_alloc(row * sizeof *alone));
    float *code = golden_item(w.io, "z", 0, CODE), codes[ROWS * CODE], out[ROWS * CODE];
    const float times[ROWS] = {0, 1, 20, 731, 999};
    run_part(&w, "modulation", (zn_sizes){.tokens = ROWS}, times, code, many);
    run_part(&w, "modulation", one, &times[3], code, alone);
    assert_memory_equal(many + 3 * row, alone, row * sizeof *alone);
    run_part(&w, "prior_modulation", (zn_sizes){.tokens = ROWS}, times, NULL, many);
    run_part(&w, "prior_modulation", one, &times[4], NULL, alone);
    assert_memory_equal(many + 4 * scales, alone, scales * sizeof *alone);
    for (size_t i = 0; i < ROWS * CODE; i++) codes[i] = code[i % CODE] * (float)(i / CODE);
    run_part(&w, "prior", (zn_sizes){.tokens = ROWS}, codes, many, out);
    run_part(&w, "prior", one, codes + 2 * CODE, many, codes);
    assert_memory_equal(out + 2 * CODE, codes, CODE * sizeof(float));
    zn_free(many);
    zn_free(alone);
    zn_free(code);
    close_world(&w);
}

// The code decides what is predicted: another one gives another noise, its own the same.
ZN_TEST(codes_matter)
{
    static float own[VALUES], swapped[VALUES];
    world w;
    open_world(&w);
    float *code = golden_item(w.io, "z", 0, CODE), *other = golden_item(w.io, "z", 1, CODE);
    predict_noise(&w, 0, code, own);
    predict_noise(&w, 0, other, swapped);
    assert_true(part_error(swapped, own, VALUES) > 1e-2);
    zn_free(code);
    zn_free(other);
    close_world(&w);
}

// What a code scales is what the timestep has shifted: gains and offsets of a block keep their
// ratio when the code changes, so a code gives a scale and no shift.
ZN_TEST(codes_scale_and_do_not_shift)
{
    world w;
    open_world(&w);
    const zn_diffae_facts facts = zn_diffae_facts_of(w.model);
    const size_t row = (size_t)facts.modulation, channels = 32; // of the first block
    const float time = 500;
    float *a = part_need(zn_alloc(row * sizeof *a)), *b = part_need(zn_alloc(row * sizeof *b));
    float *code = golden_item(w.io, "z", 0, CODE), *other = golden_item(w.io, "z", 1, CODE);
    run_part(&w, "modulation", one, &time, code, a);
    run_part(&w, "modulation", one, &time, other, b);
    for (size_t i = 0; i < channels; i++) {
        const double left = (double)a[i] * (double)b[channels + i];
        const double right = (double)b[i] * (double)a[channels + i];
        assert_true(fabs(left - right) <= 1e-5 * (fabs(left) + fabs(right)) + 1e-7);
    }
    assert_true(part_error(a, b, row) > 1e-2);
    zn_free(a);
    zn_free(b);
    zn_free(code);
    zn_free(other);
    close_world(&w);
}

// --- names and sizes ----------------------------------------------------------------------------

// Weights with "ema_model." before their names, and the prior's scales under their other name.
ZN_TEST(names_of_a_checkpoint)
{
    static zn_file_tensor tensors[MOST_TENSORS];
    static char names[MOST_TENSORS][96];
    static float first[CODE], second[CODE];
    size_t count = 0;
    world w;
    open_world(&w);
    predict_code(&w, 1, first);
    zn_safetensors *networks = part_golden("diffae/model.safetensors");
    for (size_t i = 0; i < zn_safetensors_count(networks); i++) {
        const char *own = zn_safetensors_get(networks, i)->name;
        if (strstr(own, "cond_layers.1")) continue;
        snprintf(names[count], sizeof names[count], "ema_model.%s", own);
        golden_add(tensors, &count, networks, own, names[count]);
    }
    const char *folder = zn_test_path(zn_test_build(), "diffae_renamed");
    (void)mkdir(folder, 0777);
    write_tensors(zn_test_path(folder, "model.safetensors"), tensors, count, NULL, 0);
    golden_copy_config(folder, "");
    zn_model_unref(w.model);
    w.model = model_at(folder, NULL);
    assert_int_equal(w.model->unexpected, 0);
    assert_int_equal(w.model->parts, 31); // neither statistics nor a classifier
    predict_code(&w, 1, second);
    assert_memory_equal(first, second, sizeof first);
    zn_safetensors_free(networks);
    close_world(&w);
}

// The templates, and how many parameters PyTorch counts in such networks. The encoder's residual
// blocks have one convolution: with two it would be larger by 30 % and more.
ZN_TEST(templates_have_the_published_sizes)
{
    static const struct {
        const char *name;
        size_t encoder, unet, prior;
    } published[] = {
        {"ffhq64", 19320512, 71518723, 54109696},
        {"ffhq128", 24673536, 103871619, 54109696},
        {"ffhq256", 30150400, 138341891, 54109696},
        {"horse128", 24673536, 103871619, 117106176},
        {"bedroom128", 24673536, 103871619, 117106176},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        char file[64], layout[ZN_LAYOUT_SIZE];
        zn_error err = {0};
        zn_json *config = NULL;
        zn_diffae_schedules schedules;
        snprintf(file, sizeof file, "models/diffae/%s.json", published[i].name);
        zn_test_ok(zn_json_open(zn_test_path(zn_test_source(), file), &config, &err), &err);
        zn_diffae_layout(config, ATTRIBUTES, layout);
        zn_test_ok(zn_diffae_schedules_read(config, &schedules, &err), &err);
        assert_true(schedules.picture.clips && !schedules.prior.clips);
        assert_int_equal(schedules.picture.prediction, ZN_PREDICT_NOISE);
        assert_int_equal(schedules.prior.prediction, ZN_PREDICT_NOISE);
        assert_true(schedules.picture.last == 0.02 && schedules.prior.last == 0.008);
        print_message("%s: %s\n", published[i].name, layout);
        assert_int_equal(part_parameters("diffae", "encoder", layout), published[i].encoder);
        assert_int_equal(part_parameters("diffae", "modulation", layout) +
                             part_parameters("diffae", "denoiser", layout),
                         published[i].unet);
        assert_int_equal(part_parameters("diffae", "prior_modulation", layout) +
                             part_parameters("diffae", "prior", layout),
                         published[i].prior);
        zn_json_free(config);
    }
}

// On latents: heights of maps with attention are those of latents, 32 .. 8.
ZN_TEST(config_of_latents)
{
    char layout[ZN_LAYOUT_SIZE];
    zn_error err = {0};
    zn_json *config = NULL;
    zn_diffae_space space;
    zn_diffae_shape shape;
    zn_diffae_schedules schedules;
    zn_test_ok(zn_json_open(zn_test_path(zn_test_source(), "models/diffae/avatars256.json"),
                            &config, &err),
               &err);
    zn_diffae_layout(config, ATTRIBUTES, layout);
    assert_true(zn_diffae_shape_read(layout, &shape));
    zn_test_ok(zn_diffae_space_read(config, &space, &err), &err);
    zn_test_ok(zn_diffae_schedules_read(config, &schedules, &err), &err);
    assert_string_equal(space.autoencoder, "zenith-f1-fast");
    assert_true(space.factor == 8 && space.channels == 16 && !space.scaled);
    assert_true(shape.size == 256 && shape.inputs == 16 && !schedules.picture.clips);
    assert_true(!shape.attention[0] && !shape.attention[1] && shape.attention[2]);
    zn_json_free(config);
}

// With squares of pixels: heights of maps with attention are those of the squares, 16 .. 4.
ZN_TEST(config_of_patches)
{
    static const char text[] = "{\"image_size\": 64, \"patch\": 4, \"channel_mult\": [1, 2, 3], "
                               "\"attention_resolutions\": [8], \"prediction\": \"velocity\"}";
    char layout[ZN_LAYOUT_SIZE];
    zn_error err = {0};
    zn_json *config = NULL;
    zn_diffae_shape shape;
    zn_diffae_schedules schedules;
    zn_test_ok(zn_json_parse(text, strlen(text), "test", &config, &err), &err);
    zn_diffae_layout(config, ATTRIBUTES, layout);
    assert_true(zn_diffae_shape_read(layout, &shape));
    zn_test_ok(zn_diffae_schedules_read(config, &schedules, &err), &err);
    assert_int_equal(shape.patch, 4);
    assert_int_equal(schedules.picture.prediction, ZN_PREDICT_VELOCITY);
    assert_true(!shape.attention[0] && shape.attention[1] && !shape.attention[2]);
    zn_json_free(config);
}

// A sparse encoder: as many pixels as asked for, at their places, and a channel that tells which
// they are.
ZN_TEST(some_pixels_are_seen)
{
    enum { MANY = 10000, DEPTH = 3 };
    static float map[MANY * (DEPTH + 1)], again[MANY * (DEPTH + 1)];
    for (int way = 0; way < 3; way++) {
        const float share = way == 0 ? 0.1f : way == 1 ? 1 : 0.1f;
        int seen = 0;
        for (int i = 0; i < MANY * DEPTH; i++) map[i] = (float)(i + 1);
        zn_diffae_see_some(map, MANY, DEPTH, share, (uint64_t)way);
        for (int i = 0; i < MANY; i++) {
            const float *at = map + (ptrdiff_t)i * (DEPTH + 1);
            assert_true(at[DEPTH] == 0 || at[DEPTH] == 1);
            for (int c = 0; c < DEPTH; c++)
                assert_true(at[c] == (at[DEPTH] > 0 ? (float)(i * DEPTH + c + 1) : 0));
            seen += at[DEPTH] > 0;
        }
        assert_in_range(seen, (int)(share * MANY * 0.9f), (int)(share * MANY * 1.1f));
        if (way == 2) assert_memory_not_equal(map, again, sizeof map); // another seed, other pixels
        memcpy(again, map, sizeof map);
    }
}

ZN_TEST(refused_configs)
{
    static const char *const layouts[] = {"{\"channel_mult\": [1, 0, 2]}",
                                          "{\"channel_mult\": [1, 10]}",
                                          "{\"channel_mult\": []}",
                                          "{\"channel_mult\": 4}",
                                          "{\"channels\": 127}",
                                          "{\"encoder_mult\": [1,1,1,1,1,1,1,1,1]}",
                                          "{\"res_blocks\": 5}",
                                          "{\"prior_layers\": 1}",
                                          "{\"channels\": 1e300}",
                                          "{\"code\": -4}",
                                          "{\"patch\": 0}",
                                          "{\"patch\": 9}"};
    static const char *const schedules[] = {
        "{\"betas\": \"linear 1e-4\"}", "{\"betas\": \"linear 1e-4..2\"}",
        "{\"betas\": \"cosine\"}",      "{\"betas\": 0.008}",
        "{\"prior_betas\": \"const\"}", "{\"prior_betas\": \"const 0\"}",
        "{\"timesteps\": 0}",           "{\"timesteps\": 100000}",
        "{\"prediction\": \"v\"}",      "{\"clip\": \"yes\"}"};
    static const char *const spaces[] = {
        "{\"autoencoder\": 5}",
        "{\"autoencoder\": \"diffae\"}",
        "{\"autoencoder\": \"taew2_1\", \"in_channels\": 16}",
        "{\"autoencoder\": \"taesd\"}",
        "{\"autoencoder\": \"taesd\", \"in_channels\": 4, \"image_size\": 250}",
        "{\"autoencoder\": \"taesd\", \"in_channels\": 4, \"clip\": true}",
        "{\"autoencoder\": \"taesd\", \"in_channels\": 4, \"latent_std\": [1, 1, 1, 1]}",
        "{\"autoencoder\": \"taesd\", \"in_channels\": 4, \"latent_mean\": [0, 0, 0, 0], "
        "\"latent_std\": [1, 1, 1, 0]}",
        "{\"autoencoder\": \"taesd\", \"in_channels\": 4, \"latent_mean\": [0, 0, 0, 1e300], "
        "\"latent_std\": [1, 1, 1, 1]}",
        "{\"latent_mean\": [0, 0, 0]}",
        "{\"contrast\": 2}",
        "{\"contrast\": 2, \"clip\": true}",
        "{\"contrast\": 0.5, \"clip\": false}",
        "{\"contrast\": \"3\", \"clip\": false}"};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        char layout[ZN_LAYOUT_SIZE];
        zn_error err = {0};
        zn_json *config = NULL;
        zn_diffae_shape shape;
        zn_test_ok(zn_json_parse(layouts[i], strlen(layouts[i]), "test", &config, &err), &err);
        zn_diffae_layout(config, ATTRIBUTES, layout);
        if (zn_diffae_shape_read(layout, &shape)) fail_msg("%s was taken", layouts[i]);
        assert_int_equal(shape.channels, 128); // the usual numbers instead
        zn_json_free(config);
    }
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        zn_error err = {0};
        zn_json *config = NULL;
        zn_diffae_space read;
        zn_test_ok(zn_json_parse(spaces[i], strlen(spaces[i]), "test", &config, &err), &err);
        if (zn_diffae_space_read(config, &read, &err) == ZENITH_OK)
            fail_msg("%s was taken", spaces[i]);
        zn_json_free(config);
    }
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        zn_error err = {0};
        zn_json *config = NULL;
        zn_diffae_schedules read;
        zn_test_ok(zn_json_parse(schedules[i], strlen(schedules[i]), "test", &config, &err), &err);
        assert_int_equal(zn_diffae_schedules_read(config, &read, &err), ZENITH_BAD_FILE);
        assert_true(strlen(err.text) > 10);
        zn_json_free(config);
    }
}
