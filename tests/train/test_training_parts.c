// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of a training run by themselves: what configs are refused, AdamW against PyTorch, the
// log that is cut on resume, the plot of numbers that cannot be drawn.
#include "src/base/denormals.h"
#include "src/base/executor.h"
#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/train/config/config.h"
#include "src/train/optim/optimizer.h"
#include "src/train/run/log.h"
#include "src/train/run/plot.h"
#include "tests/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- config -------------------------------------------------------------------------------------

#define DATA   "\"data\": {\"sources\": [\"a\"], \"crop\": 64}"
#define REST   "\"steps\": 10, \"output\": \"o\""
#define LOSSES "\"losses\": [{\"kind\": \"l1\", \"weight\": 1}]"
#define PLAIN  "\"model\": \"taesd\", " DATA ", " REST
#define DIFFAE "\"model\": \"diffae\", \"task\": \"diffae\", " DATA ", " REST
#define RIVAL  "{\"kind\": \"adversarial\", \"weight\": 1}"
#define SPOILED(crop, how, more)                                                                   \
    "{\"model\": \"taesd\", \"data\": {\"sources\": [\"a\"], \"crop\": " crop                      \
    ", \"corrupt\": " how "}, " REST ", " LOSSES more "}"
#define WHOLE "\"model\": \"taesd\", " DATA ", " REST ", " LOSSES

static zenith_status parse(const char *text, zn_train_config *config, zn_error *err)
{
    *err = (zn_error){0};
    return zn_train_config_parse(text, strlen(text), "run.json", config, err);
}

ZN_TEST(refuses_what_is_wrong)
{
    static const struct {
        const char *text, *why; // the sentence must have it
    } cases[] = {
        {"", "run.json: broken JSON"},
        {"[]", "a JSON object is expected"},
        {"{}", "\"model\" is missing"},
        {"{\"model\": \"taesd\", " REST ", " LOSSES "}", "\"data\" is missing"},
        {"{" WHOLE ", \"bach\": 3}", "no key \"bach\"; allowed are model, part"},
        {"{" WHOLE ", \"batch\": 0}", "\"batch\" must be an integer from 1 to 65536"},
        {"{" WHOLE ", \"batch\": 1.5}", "\"batch\" must be an integer"},
        {"{" WHOLE ", \"batch\": \"16\"}", "\"batch\" must be an integer"},
        {"{" WHOLE ", \"batch\": -9223372036854775808}", "\"batch\" must be an integer"},
        {"{" WHOLE ", \"part\": \"middle\"}", "\"part\" must be one of decoder, encoder, both"},
        {"{" WHOLE ", \"dtype\": 3}", "\"dtype\" must be one of f32, bf16, f16"},
        {"{" WHOLE ", \"optimizer\": {\"loss_scale\": 8}}", "are for \"dtype\": \"f16\""},
        {"{" WHOLE ", \"dtype\": \"bf16\", \"optimizer\": {\"scale_window\": 8}}",
         "are for \"dtype\": \"f16\""},
        {"{" WHOLE ", \"dtype\": \"f16\", \"optimizer\": {\"loss_scale\": 1000}}",
         "must be a power of two"},
        {"{" WHOLE ", \"dtype\": \"f16\", \"optimizer\": {\"loss_scale\": 0.5}}",
         "\"optimizer.loss_scale\" must be a number from 1"},
        {"{" WHOLE ", \"optimizer\": {\"lr\": -1}}", "\"optimizer.lr\" must be a number from 0"},
        {"{" WHOLE ", \"optimizer\": {\"speed\": 1}}",
         "no key \"optimizer.speed\"; allowed are lr"},
        {"{" WHOLE ", \"optimizer\": 1}", "\"optimizer\" must be an object"},
        {"{" WHOLE ", \"optimizer\": {\"warmup\": 11}}", "must not be above \"steps\""},
        {"{" WHOLE ", \"optimizer\": {\"min_lr\": 1}}", "must not be above \"optimizer.lr\""},
        {"{" WHOLE ", \"recompute\": 1}", "\"recompute\" must be true or false"},
        {"{" WHOLE ", \"feature_window\": 4096}", "must not be above \"data.crop\""},
        {"{" WHOLE ", \"squeezenet\": 1}", "\"squeezenet\" must be a text"},
        {"{" WHOLE ", \"validate_every\": 1}", "needs \"validation\""},
        {"{" WHOLE ", \"model\": \"taesd\"}", "broken JSON"}, // twice
        {"{\"model\": \"\", " DATA ", " REST ", " LOSSES "}", "\"model\" must be a text"},
        {"{\"model\": \"t\", " DATA ", " REST ", \"losses\": []}", "\"losses\" must be"},
        {"{\"model\": \"t\", " DATA ", " REST ", \"losses\": [{\"kind\": \"l3\", \"weight\": 1}]}",
         "one of l1, mse, charbonnier, feature, gradient, walsh, squeezenet, stages, latent, "
         "adversarial, lattice, texture, kl, logistic, and"},
        {"{\"model\": \"t\", " DATA ", " REST ", \"losses\": [{\"kind\": \"l1\"}]}", "\"weight\""},
        {"{" WHOLE ", \"discriminator\": {}}", "is for a loss of the kind adversarial"},
        {"{" PLAIN ", \"losses\": [" RIVAL ", " RIVAL "]}", "must not have two of the kind"},
        {"{" PLAIN ", \"losses\": [" RIVAL "], \"discriminator\": {\"depth\": 3}}",
         "no key \"discriminator.depth\"; allowed are lr, start, width"},
        {"{" PLAIN ", \"losses\": [" RIVAL "], \"discriminator\": {\"width\": 0}}",
         "\"discriminator.width\" must be an integer from 1 to 1024"},
        {"{" PLAIN ", \"losses\": [" RIVAL "], \"discriminator\": {\"lr\": -1}}",
         "\"discriminator.lr\" must be a number from 0"},
        {"{" PLAIN ", \"losses\": [" RIVAL "], \"discriminator\": {\"start\": 10}}",
         "\"discriminator.start\" must be below \"steps\""},
        {"{" WHOLE ", \"prune\": {\"target\": 0.5}}", "\"prune.end\" is missing"},
        {"{" WHOLE ", \"prune\": {\"target\": 1, \"end\": 5}}",
         "\"prune.target\" must be a number from 0 to 0.99"},
        {"{" WHOLE ", \"prune\": {\"end\": 5}}", "\"prune.target\" must say which share"},
        {"{" WHOLE ", \"prune\": {\"target\": 0.5, \"begin\": 5, \"end\": 5}}",
         "\"prune.begin\" must be below"},
        {"{" WHOLE ", \"prune\": {\"target\": 0.5, \"end\": 11}}", "not above \"steps\""},
        {"{\"model\": \"t\", \"data\": {\"sources\": [], \"crop\": 64}, " REST ", " LOSSES "}",
         "\"data.sources\" must be a list"},
        {"{\"model\": \"t\", \"data\": {\"sources\": [1], \"crop\": 64}, " REST ", " LOSSES "}",
         "\"data.sources\" must be a list of paths"},
        {SPOILED("64", "{}", ""), "\"data.corrupt.kind\" is missing"},
        {SPOILED("64", "\"blur\"", ""), "\"data.corrupt\" must be an object"},
        {SPOILED("64", "{\"kind\": \"rain\"}", ""),
         "\"data.corrupt.kind\" must be one of gaussian, shot, blur, haar"},
        {SPOILED("64", "{\"kind\": \"haar\", \"sigma\": 1}", ""),
         "no key \"data.corrupt.sigma\"; allowed are kind, amount"},
        {SPOILED("64", "{\"kind\": \"haar\", \"amount\": -1}", ""),
         "\"data.corrupt.amount\" must be a number from 0"},
        {SPOILED("64", "{\"kind\": \"blur\", \"amount\": 3}", ""), "not for blur"},
        {SPOILED("64", "{\"kind\": \"shot\", \"amount\": 5}", ""), "from 0 to 1"},
        {SPOILED("65", "{\"kind\": \"haar\"}", ""), "\"data.crop\" must be even"},
        {"{" WHOLE ", \"residual\": true}", "\"residual\" is for \"data.corrupt\""},
        {"{" WHOLE ", \"quantise\": {}}", "\"quantise.type\" is missing"},
        {"{" WHOLE ", \"quantise\": {\"type\": \"s4\"}}",
         "\"quantise.type\" must be one of int8, f8_e4m3, f8_e5m2"},
        {"{" WHOLE ", \"quantise\": {\"type\": \"int8\"}}", "needs \"init.weights\""},
        {"{" PLAIN "}", "the key \"losses\" is missing"},
        {"{" WHOLE ", \"network\": {}}", "\"network\" is for \"task\""},
        {"{" WHOLE ", \"task\": \"sing\"}", "\"task\" must be one of autoencoder, diffae"},
        {"{" DIFFAE "}", "\"network\" must say what is trained"},
        {"{" DIFFAE ", \"network\": 3}", "\"network\" must be an object"},
        {"{" DIFFAE ", \"network\": {}, \"part\": \"both\"}", "\"part\" is not for \"task\""},
        {"{" DIFFAE ", \"network\": {}, \"quantise\": {\"type\": \"int8\"}}",
         "\"quantise\" to int8 is not for \"task\": \"diffae\""},
        {"{" DIFFAE ", \"network\": {}, \"losses\": [{\"kind\": \"kl\", \"weight\": 1}]}",
         "is one of the kinds l1 and mse"},
        {"{" WHOLE ", \"init\": {\"score\": -1}}", "\"init.score\" must be a number from 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_train_config config;
        zn_error err;
        assert_int_not_equal(parse(cases[i].text, &config, &err), ZENITH_OK);
        if (!strstr(err.text, cases[i].why)) fail_msg("%s\nsays %s", cases[i].text, err.text);
    }
}

ZN_TEST(reads_where_squeezenet_is)
{
    zn_train_config config;
    zn_error err;
    zn_test_ok(parse("{\"model\": \"taesd\", " DATA ", " REST
                     ", \"squeezenet\": \"s.safetensors\", "
                     "\"losses\": [{\"kind\": \"squeezenet\", \"weight\": 0.25}]}",
                     &config, &err),
               &err);
    assert_string_equal(config.squeezenet, "s.safetensors");
    assert_int_equal(config.losses[0].kind, ZN_LOSS_SQUEEZENET);
    assert_string_equal(zn_loss_name(ZN_LOSS_SQUEEZENET), "squeezenet");
    assert_true(config.losses[0].weight == 0.25);
    zn_train_config_close(&config);
    zn_test_ok(parse("{" WHOLE "}", &config, &err), &err);
    assert_null(config.squeezenet);
    zn_train_config_close(&config);
}

static const zn_train_read none_read;

ZN_TEST(knows_another_run)
{
    zn_train_config a, b;
    zn_error err = {0};
    char *first = NULL, *second = NULL;
    zn_test_ok(parse("{" WHOLE ", \"threads\": 3}", &a, &err), &err);
    zn_test_ok(parse("{" WHOLE ", \"optimizer\": {\"eps\": 2e-8}}", &b, &err), &err);
    assert_int_equal(a.batch, 16);
    assert_int_equal(a.losses_count, 1);
    zn_test_ok(zn_train_config_identity(&a, &none_read, &first, &err), &err);
    zn_test_ok(zn_train_config_identity(&b, &none_read, &second, &err), &err);
    zn_test_ok(zn_train_config_agree(first, first, &err), &err);
    assert_int_equal(zn_train_config_agree(first, second, &err), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "optimizer.eps = 0.00000002"));
    zn_free(first);
    zn_free(second);
    zn_train_config_close(&a);
    zn_train_config_close(&b);
}

// What the discriminator is decides the weights that come out.
ZN_TEST(knows_another_discriminator)
{
    static const char *const ends[] = {"{\"lr\": 1e-3}", "{\"start\": 5}", "{\"width\": 16}", "{}"};
    enum { COUNT = sizeof ends / sizeof *ends };
    char *texts[COUNT];
    zn_error err = {0};
    for (int i = 0; i < COUNT; i++) {
        zn_train_config config;
        char text[512];
        zn_text_format(text, sizeof text,
                       "{" PLAIN ", \"losses\": [" RIVAL "], \"discriminator\": %s}", ends[i]);
        zn_test_ok(parse(text, &config, &err), &err);
        assert_ptr_equal(zn_train_find_loss(&config, ZN_LOSS_ADVERSARIAL), &config.losses[0]);
        zn_test_ok(zn_train_config_identity(&config, &none_read, &texts[i], &err), &err);
        assert_non_null(strstr(texts[i], "discriminator.width = "));
        zn_train_config_close(&config);
    }
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++)
            assert_int_equal(zn_train_config_agree(texts[i], texts[k], &err),
                             i == k ? ZENITH_OK : ZENITH_INVALID_ARGUMENT);
    for (int i = 0; i < COUNT; i++) zn_free(texts[i]);
}

ZN_TEST(knows_how_crops_are_spoiled)
{
    static const char *const texts[] = {
        "{" WHOLE "}",
        "{" WHOLE ", \"init\": {\"score\": 0}}",
        SPOILED("64", "{\"kind\": \"gaussian\"}", ""),
        SPOILED("64", "{\"kind\": \"gaussian\", \"amount\": 0.2}", ""),
        SPOILED("64", "{\"kind\": \"shot\"}", ""),
        SPOILED("64", "{\"kind\": \"blur\"}", ""),
        SPOILED("64", "{\"kind\": \"haar\"}", ""),
        SPOILED("64", "{\"kind\": \"haar\"}", ", \"residual\": true")};
    enum { COUNT = sizeof texts / sizeof *texts };
    static const double amounts[COUNT] = {0.3, 0.3, 0.3, 0.2, 0.05, 0, 0.3, 0.3};
    char *identities[COUNT];
    zn_error err = {0};
    for (int i = 0; i < COUNT; i++) {
        zn_train_config config;
        zn_test_ok(parse(texts[i], &config, &err), &err);
        assert_true(config.data.corrupt.amount == amounts[i]);
        zn_test_ok(zn_train_config_identity(&config, &none_read, &identities[i], &err), &err);
        zn_train_config_close(&config);
    }
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++)
            assert_int_equal(zn_train_config_agree(identities[i], identities[k], &err),
                             i == k ? ZENITH_OK : ZENITH_INVALID_ARGUMENT);
    for (int i = 0; i < COUNT; i++) zn_free(identities[i]);
}

// The same config with other weights that are only read is another run.
ZN_TEST(knows_other_weights)
{
    static const zn_train_read hashes[] = {
        {{{"frozen", "aa"}, {"squeezenet", "bb"}}, 2},
        {{{"frozen", "aa"}, {"squeezenet", "cc"}}, 2},
        {{{"frozen", "dd"}, {"squeezenet", "bb"}}, 2},
        {{{"frozen", "aa"}}, 1},
        {{{"squeezenet", "bb"}}, 1},
        {{{"frozen", "aa"}, {"squeezenet", "bb"}, {"calibration", "ee"}}, 3}};
    enum { COUNT = sizeof hashes / sizeof *hashes };
    zn_train_config config;
    zn_error err = {0};
    char *texts[COUNT];
    zn_test_ok(parse("{" WHOLE "}", &config, &err), &err);
    for (int i = 0; i < COUNT; i++)
        zn_test_ok(zn_train_config_identity(&config, &hashes[i], &texts[i], &err), &err);
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++)
            assert_int_equal(zn_train_config_agree(texts[i], texts[k], &err),
                             i == k ? ZENITH_OK : ZENITH_INVALID_ARGUMENT);
    err = (zn_error){0};
    (void)zn_train_config_agree(texts[0], texts[2], &err);
    assert_non_null(strstr(err.text, "what \"frozen\" names has changed"));
    assert_non_null(strstr(err.text, "(frozen.sha256 is another)"));
    err = (zn_error){0};
    (void)zn_train_config_agree(texts[0], texts[3], &err);
    assert_non_null(strstr(err.text, "where the config has 'squeezenet.sha256 = bb'"));
    for (int i = 0; i < COUNT; i++) zn_free(texts[i]);
    zn_train_config_close(&config);
}

// --- optimizer ----------------------------------------------------------------------------------

static double number(const zn_json *golden, const char *key)
{
    double value = 0;
    zn_error err = {0};
    zn_test_ok(zn_json_get_number(golden, key, &value, &err), &err);
    return value;
}

static void compare(const zn_json *golden, const char *key, const float *values, size_t count)
{
    const zn_json *list;
    zn_error err = {0};
    zn_test_ok(zn_json_get_array(golden, key, &list, &err), &err);
    assert_int_equal(zn_json_size(list), count);
    for (size_t i = 0; i < count; i++) {
        double expected = 0;
        assert_true(zn_json_as_number(zn_json_at(list, i), &expected));
        if (fabs((double)values[i] - expected) > 2e-6 * fmax(1, fabs(expected)))
            fail_msg("%s[%zu] is %.9f, PyTorch has %.9f", key, i, (double)values[i], expected);
    }
}

ZN_TEST(is_pytorchs_adamw)
{
    zn_json *golden = NULL;
    zn_error err = {0};
    zn_optimizer o;
    float norms[16];
    zn_test_ok(
        zn_json_open(zn_test_path(zn_test_source(), "tests/golden/adamw.json"), &golden, &err),
        &err);
    const zn_train_optimizer settings = {.lr = number(golden, "lr"),
                                         .min_lr = number(golden, "min_lr"),
                                         .warmup = (int64_t)number(golden, "warmup"),
                                         .beta1 = number(golden, "beta1"),
                                         .beta2 = number(golden, "beta2"),
                                         .eps = number(golden, "eps"),
                                         .weight_decay = number(golden, "weight_decay"),
                                         .clip = number(golden, "clip"),
                                         .ema = number(golden, "ema")};
    const size_t count = (size_t)number(golden, "count"), steps = (size_t)number(golden, "steps");
    zn_test_ok(zn_optimizer_create(&settings, count, steps, NULL, &o, &err), &err);
    for (size_t i = 0; i < count; i++) o.ema[i] = o.weights[i] = (float)cos((double)i * 0.7);
    for (size_t step = 0; step < steps; step++) {
        // Four pictures' sum, which the step divides again: exact, since four is a power of two.
        for (size_t i = 0; i < count; i++)
            o.gradient[i] = 4 * (float)sin((double)i * 0.37 + (double)step) *
                            (0.25f + 0.25f * (float)step);
        zn_test_ok(zn_optimizer_step(&o, 0.25f, &err), &err);
        norms[step] = (float)o.parts[0].norm;
    }
    compare(golden, "norms", norms, steps);
    compare(golden, "weights", o.weights, count);
    compare(golden, "averages", o.ema, count);
    zn_optimizer_free(&o);
    zn_json_free(golden);
}

// Moments of gradients that vanish would stay below 1.2e-38 for ever, and slow every later step
// down.
ZN_TEST(keeps_no_denormals)
{
    enum { COUNT = 2 * ZN_OPTIMIZER_PIECE + 13 };
    static const float sizes[] = {1, 1e-19f, 1e-21f, 1e-37f};
    const zn_train_optimizer settings = {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    zn_error err = {0};
    for (int threads = 0; threads < 3; threads++) {
        zn_optimizer o;
        zn_executor *executor = NULL;
        if (threads) zn_test_ok(zn_executor_create(threads, 1, &executor, &err), &err);
        zn_test_ok(zn_optimizer_create(&settings, COUNT, 100, executor, &o, &err), &err);
        for (int step = 0; step < 20; step++) {
            for (size_t i = 0; i < COUNT; i++) o.gradient[i] = step ? 0 : sizes[i % 4];
            zn_test_ok(zn_optimizer_step(&o, 1, &err), &err);
        }
        for (size_t i = 0; i < COUNT; i++)
            assert_true(fpclassify(o.m[i]) != FP_SUBNORMAL && fpclassify(o.v[i]) != FP_SUBNORMAL);
        assert_true(o.m[0] > 0 && o.v[0] > 0);
        assert_false(zn_denormals_flushed()); // the caller's thread is as it was
        zn_optimizer_free(&o);
        zn_executor_free(executor);
    }
}

// Pieces are shared out to threads: the same bits for any number of them.
ZN_TEST(has_the_same_bits_on_threads)
{
    enum { COUNT = 5 * ZN_OPTIMIZER_PIECE + 13 };
    const zn_train_optimizer settings = {
        .lr = 0.1, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .clip = 1, .ema = 0.5};
    zn_optimizer o[2];
    zn_executor *executor = NULL;
    zn_error err = {0};
    zn_test_ok(zn_executor_create(3, 1, &executor, &err), &err);
    for (int k = 0; k < 2; k++) {
        zn_test_ok(zn_optimizer_create(&settings, COUNT, 10, k ? executor : NULL, &o[k], &err),
                   &err);
        for (int step = 0; step < 3; step++) {
            for (size_t i = 0; i < COUNT; i++) o[k].gradient[i] = (float)(i * 7919 % 1000) - 499;
            zn_test_ok(zn_optimizer_step(&o[k], 1, &err), &err);
        }
    }
    assert_memory_equal(o[0].weights, o[1].weights, COUNT * sizeof(float));
    assert_memory_equal(o[0].ema, o[1].ema, COUNT * sizeof(float));
    assert_true(o[0].parts[0].norm == o[1].parts[0].norm);
    o[0].gradient[COUNT - 1] = NAN;
    assert_int_not_equal(zn_optimizer_step(&o[0], 1, &err), ZENITH_OK);
    for (int k = 0; k < 2; k++) zn_optimizer_free(&o[k]);
    zn_executor_free(executor);
}

ZN_TEST(halves_and_doubles_its_loss_scale)
{
    enum { COUNT = 5, WINDOW = 3 };
    const zn_train_optimizer settings = {.lr = 0.1,
                                         .beta1 = 0.9,
                                         .beta2 = 0.99,
                                         .eps = 1e-8,
                                         .clip = 1,
                                         .loss_scale = 4,
                                         .scale_window = WINDOW};
    zn_train_optimizer plain = settings;
    zn_optimizer o, other;
    zn_error err = {0};
    const float nothing[COUNT] = {0};
    plain.loss_scale = 0;
    zn_test_ok(zn_optimizer_create(&settings, COUNT, 100, NULL, &o, &err), &err);
    zn_test_ok(zn_optimizer_create(&plain, COUNT, 100, NULL, &other, &err), &err);
    assert_true(zn_optimizer_scale(&o) == 4.0f && zn_optimizer_scale(&other) == 1.0f);
    o.gradient[0] = 1;
    o.gradient[2] = INFINITY;
    zn_test_ok(zn_optimizer_step(&o, 1, &err), &err); // 4 to 2: nothing else changes
    assert_true(o.overflowed && o.step == 0 && o.scale.overflows == 1);
    assert_memory_equal(o.weights, nothing, sizeof nothing);
    assert_memory_equal(o.m, nothing, sizeof nothing);
    for (int step = 1; step <= 2 * WINDOW; step++) { // 2, 2, 2, 4, 4, 4, 8
        assert_true(zn_optimizer_scale(&o) == (step <= WINDOW ? 2.0f : 4.0f));
        for (int i = 0; i < COUNT; i++) {
            other.gradient[i] = (float)(i + step);
            o.gradient[i] = other.gradient[i] * zn_optimizer_scale(&o);
        }
        zn_test_ok(zn_optimizer_step(&o, 0.25f, &err), &err);
        zn_test_ok(zn_optimizer_step(&other, 0.25f, &err), &err);
        assert_true(!o.overflowed && o.step == (uint64_t)step &&
                    o.parts[0].norm == other.parts[0].norm);
        assert_memory_equal(o.weights, other.weights, sizeof nothing);
    }
    assert_true(zn_optimizer_scale(&o) == 8.0f && zn_optimizer_scale(&other) == 1.0f);
    o.gradient[0] = NAN;
    for (int i = 0; i < 3; i++) zn_test_ok(zn_optimizer_step(&o, 1, &err), &err);
    assert_true(zn_optimizer_scale(&o) == 1.0f && o.scale.overflows == 4);
    assert_int_not_equal(zn_optimizer_step(&o, 1, &err), ZENITH_OK);
    assert_non_null(strstr(err.text, "with a loss scale of 1 too"));
    zn_optimizer_free(&o);
    zn_optimizer_free(&other);
}

// Two parts of one block have the bits of two optimizers, and one that overflows stops both.
ZN_TEST(keeps_parts_apart)
{
    enum { FIRST = 2 * ZN_OPTIMIZER_PIECE, SECOND = ZN_OPTIMIZER_PIECE + 5, ALL = FIRST + SECOND };
    const zn_train_optimizer model = {.lr = 0.1,
                                      .beta1 = 0.9,
                                      .beta2 = 0.999,
                                      .eps = 1e-8,
                                      .weight_decay = 0.1,
                                      .clip = 1,
                                      .ema = 0.5,
                                      .loss_scale = 2,
                                      .scale_window = 100};
    const zn_train_optimizer rival = {
        .lr = 0.2, .min_lr = 0.2, .beta1 = 0.5, .beta2 = 0.99, .eps = 1e-8, .clip = 3};
    zn_optimizer both, apart[2];
    zn_error err = {0};
    zn_test_ok(zn_optimizer_create(&model, ALL, 10, NULL, &both, &err), &err);
    zn_optimizer_divide(&both, FIRST, &rival);
    zn_test_ok(zn_optimizer_create(&model, FIRST, 10, NULL, &apart[0], &err), &err);
    zn_test_ok(zn_optimizer_create(&rival, SECOND, 10, NULL, &apart[1], &err), &err);
    for (int step = 0; step < 3; step++) {
        for (size_t i = 0; i < ALL; i++) {
            float value = (float)((i + (size_t)step) * 7919 % 1000) - 499;
            both.gradient[i] = 2 * value; // by the loss scale, which the second by itself has not
            if (i < FIRST) apart[0].gradient[i] = 2 * value;
            if (i >= FIRST) apart[1].gradient[i - FIRST] = value;
        }
        zn_test_ok(zn_optimizer_step(&both, 1, &err), &err);
        for (int k = 0; k < 2; k++) {
            zn_test_ok(zn_optimizer_step(&apart[k], 1, &err), &err);
            assert_true(both.parts[k].norm == apart[k].parts[0].norm);
            assert_true(both.parts[k].lr == apart[k].parts[0].lr);
        }
    }
    assert_memory_equal(both.weights, apart[0].weights, FIRST * sizeof(float));
    assert_memory_equal(both.ema, apart[0].ema, FIRST * sizeof(float));
    assert_memory_equal(both.weights + FIRST, apart[1].weights, SECOND * sizeof(float));
    both.gradient[ALL - 1] = INFINITY;
    zn_test_ok(zn_optimizer_step(&both, 1, &err), &err);
    assert_true(both.overflowed && both.step == 3);
    assert_memory_equal(both.weights, apart[0].weights, FIRST * sizeof(float));
    zn_optimizer_free(&both);
    for (int k = 0; k < 2; k++) zn_optimizer_free(&apart[k]);
}

// --- log and plot -------------------------------------------------------------------------------

static void write_steps(const char *path, uint64_t kept, uint64_t from, uint64_t to)
{
    zn_train_config config;
    zn_training_log log;
    zn_error err = {0};
    zn_test_ok(parse("{" WHOLE "}", &config, &err), &err);
    zn_test_ok(zn_training_log_open(path, kept, &log, &err), &err);
    assert_int_equal(log.steps.count, from - 1);
    assert_true(log.cpu_seconds == 2.5 * (double)(from - 1));
    for (uint64_t step = from; step <= to; step++) {
        const zn_step_facts facts = {.step = step,
                                     .loss = 1.0 / (double)step,
                                     .psnr = INFINITY,
                                     .cpu_seconds = 2.5 * (double)step};
        zn_test_ok(zn_training_log_step(&log, &config, &facts, &err), &err);
        if (step == 3) zn_test_ok(zn_training_log_skip(&log, 3, "a\"\n\xff", "w\\hy", &err), &err);
    }
    zn_training_log_close(&log);
    zn_train_config_close(&config);
}

static void read_steps(const char *path, uint64_t last)
{
    zn_mapped file;
    zn_error err = {0};
    uint64_t step = 0;
    zn_test_ok(zn_mapped_open(path, &file, &err), &err);
    for (const char *at = (const char *)file.data, *end; (end = memchr(at, '\n', file.size));
         at = end + 1) {
        zn_json *line = NULL;
        int64_t found = 0;
        zn_test_ok(zn_json_parse(at, (size_t)(end - at), path, &line, &err), &err);
        zn_test_ok(zn_json_get_integer(line, "step", 1, 100, &found, &err), &err);
        if (!zn_json_has(line, "skipped")) assert_int_equal(found, ++step);
        zn_json_free(line);
        if ((const uint8_t *)end + 1 == file.data + file.size) break;
    }
    assert_int_equal(step, last);
    zn_mapped_close(&file);
}

ZN_TEST(cuts_the_log_on_resume)
{
    char path[256];
    zn_text_format(path, sizeof path, "%s/test_training_log.jsonl", zn_test_build());
    remove(path);
    write_steps(path, 0, 1, 9);
    FILE *file = fopen(path, "a"); // a line that was cut off by a kill
    assert_non_null(file);
    fputs("{\"step\":10,\"lo", file);
    fclose(file);
    write_steps(path, 20, 10, 10); // goes on behind the last whole line
    read_steps(path, 10);
    write_steps(path, 6, 7, 8); // from a checkpoint of step 6
    read_steps(path, 8);
    write_steps(path, 0, 1, 2); // anew
    read_steps(path, 2);
    remove(path);
}

// Tags must be closed and text escaped; a browser shows nothing otherwise.
ZN_TEST(draws_whatever_it_is_given)
{
    char path[256];
    zn_history_point points[700];
    zn_error err = {0};
    zn_training_log log = {.steps = {points, 0, 700}, .validation = {points, 2, 700}};
    static const size_t counts[] = {0, 1, 2, 700};
    zn_text_format(path, sizeof path, "%s/test_plot.svg", zn_test_build());
    for (size_t i = 0; i < 700; i++)
        points[i] = (zn_history_point){i + 1,
                                       i == 5   ? NAN
                                       : i == 6 ? 0
                                                : 1 / (double)(i + 1),
                                       i == 7 ? INFINITY : 20};
    for (size_t c = 0; c < 4; c++) {
        zn_mapped file;
        int open = 0;
        log.steps.count = counts[c];
        zn_test_ok(zn_plot_write(path, "a <b> & \"c\"\x01", &log, &err), &err);
        zn_test_ok(zn_mapped_open(path, &file, &err), &err);
        const char *text = (const char *)file.data;
        assert_memory_equal(text, "<svg ", 5);
        for (size_t i = 0; i < file.size; i++) {
            assert_true((unsigned char)text[i] < 0x7f);
            if (text[i] == '&') assert_true(text[i + 1] == '#');
            if (text[i] == '<') open += text[i + 1] == '/' ? -1 : 1;
            if (text[i] == '>' && text[i - 1] == '/') open--;
        }
        assert_int_equal(open, 0);
        zn_mapped_close(&file);
    }
    remove(path);
}
