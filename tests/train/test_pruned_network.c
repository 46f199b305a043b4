// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pruned networks: they compute what the whole ones do with the same channels, blocks or
// frequencies zeroed; what is left out is what matters least; refusals.
#include "tests/model/weight_files.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/op/spectral/walsh_checks.h"
#include "src/train/prune/prune.h"
#include "src/train/prune/pruned_network.h"
#include "src/train/run/checkpoint.h"
#include "zenith/train.h"
#include "zenith/zenith.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 40, HEIGHT = 24, PIXELS = 3 * HEIGHT * WIDTH, MOST_LATENT = 32 * 6 * 10 };

typedef struct opened {
    zn_model *model;
    zn_network network;
    float *block;
} opened;

static const char *golden(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/tests/golden/%s.safetensors", zn_test_source(), name);
    return path;
}

static opened open_golden(const char *name, unsigned part)
{
    opened o = {0};
    zn_error err = {0};
    o.model = model_at(golden(name), NULL);
    zn_test_ok(
        zn_network_of_model(o.model, zn_autoencoder_part(o.model->family, part), &o.network, &err),
        &err);
    o.block = zn_alloc_zero(zn_network_place(&o.network, 0) * sizeof *o.block);
    assert_non_null(o.block);
    zn_network_move(&o.network, o.block);
    return o;
}

static void close_golden(opened *o)
{
    zn_network_free(&o->network);
    zn_free(o->block);
    zn_model_unref(o->model);
}

static const char *folder(const char *name)
{
    zn_error err = {0};
    const char *path = zn_test_path(zn_test_build(), name);
    zn_test_ok(zn_directory_make(path, &err), &err);
    return path;
}

// The file that a network of a golden model becomes.
static const char *file_of(const char *where, const zn_network *network)
{
    char name[128];
    snprintf(name, sizeof name, "%s_%s.safetensors", network->variant->name, network->part->name);
    return zn_test_path(folder(where), name);
}

static void write(const char *where, const zn_network *network, const float *block)
{
    zn_error err = {0};
    zn_test_ok(zn_weights_write(folder(where), network, block, &err), &err);
}

// What the file of a network makes of fixed noise, in f32.
static size_t compute(const char *weights, const zn_network *network, float out[PIXELS])
{
    static float latent[MOST_LATENT], pixels[PIXELS];
    const zn_variant *variant = network->variant;
    const uint32_t factor = (uint32_t)variant->autoencoder->factor;
    zenith_context *context = NULL;
    zenith_model *model = NULL;
    const zenith_context_params one = {.size = sizeof one, .threads = 1};
    const zenith_model_params which = {.size = sizeof which, .weights = weights};
    const zenith_run_params how = {.size = sizeof how, .dtype = ZENITH_DTYPE_F32};
    const bool decodes = strcmp(network->part->name, "decoder") == 0;
    for (int i = 0; i < MOST_LATENT; i++) latent[i] = sinf((float)(i * i));
    for (int i = 0; i < PIXELS; i++) pixels[i] = 0.5f + 0.5f * sinf((float)(i * i));
    zenith_latent l = {.size = sizeof l,
                       .width = WIDTH / factor,
                       .height = HEIGHT / factor,
                       .channels = (uint32_t)variant->autoencoder->latent_channels};
    zenith_image p = {.size = sizeof p, .width = WIDTH, .height = HEIGHT, .number = ZENITH_F32};
    l.data = decodes ? latent : out;
    p.data = decodes ? out : pixels;
    assert_int_equal(zenith_context_create(&one, &context), ZENITH_OK);
    if (zenith_model_open(context, &which, &model) != ZENITH_OK)
        fail_msg("%s", zenith_context_error(context));
    zenith_status status = decodes ? zenith_decode(context, model, &l, &p, 1, &how)
                                   : zenith_encode(context, model, &p, &l, 1, &how);
    assert_int_equal(status, ZENITH_OK);
    zenith_model_free(model);
    zenith_context_free(context);
    return decodes ? PIXELS : (size_t)(l.width * l.height * l.channels);
}

// The files of a network in two folders.
static void compare(const char *a, const char *b, const zn_network *network)
{
    static float x[PIXELS], y[PIXELS];
    const size_t count = compute(file_of(a, network), network, x);
    assert_int_equal(compute(file_of(b, network), network, y), count);
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(x[i] - y[i]) <= 1e-5f))
            fail_msg("%s: element %zu is %g, not %g", a, i, (double)x[i], (double)y[i]);
}

static zn_train_parameter *parameter(zn_network *network, const char *name)
{
    for (size_t i = 0; i < network->count; i++)
        if (strcmp(network->parameters[i].name, name) == 0) return &network->parameters[i];
    fail_msg("there is no '%s'", name);
    return NULL;
}

// --- the same values ----------------------------------------------------------------------------

static void zero_channel(const zn_inner_layer *l, int64_t channel)
{
    const size_t kernel = 9, outputs = l->outgoing->elements / ((size_t)l->width * kernel);
    float *w = l->outgoing->tensor.data;
    for (size_t o = 0; o < outputs; o++)
        memset(w + (o * (size_t)l->width + (size_t)channel) * kernel, 0, kernel * sizeof *w);
}

static void check_channels(const char *name, unsigned part)
{
    zn_error err = {0};
    zn_inner_layers layers;
    zn_network narrow;
    float *block;
    double before, after;
    opened o = open_golden(name, part);
    zn_test_ok(zn_inner_layers_find(&o.network, &layers, &err), &err);
    assert_true(layers.count >= 4);
    for (size_t n = 0; n < layers.count; n++) // a different choice in each, down to one channel
        for (int64_t c = 0; c < layers.layers[n].width; c++)
            layers.layers[n].keep[c] = (size_t)c % (n + 2) == n % 2;
    zn_test_ok(zn_network_narrow(&o.network, &layers, &narrow, &block, &err), &err);
    write("prune-narrow", &narrow, block);
    zn_test_ok(zn_network_operations(&o.network, &before, &err), &err);
    zn_test_ok(zn_network_operations(&narrow, &after, &err), &err);
    assert_true(after < 0.9 * before);
    for (size_t n = 0; n < layers.count; n++)
        for (int64_t c = 0; c < layers.layers[n].width; c++)
            if (!layers.layers[n].keep[c]) zero_channel(&layers.layers[n], c);
    write("prune-zeroed", &o.network, o.block);
    compare("prune-narrow", "prune-zeroed", &o.network);
    zn_network_free(&narrow);
    zn_free(block);
    zn_inner_layers_free(&layers);
    close_golden(&o);
}

ZN_TEST(channels_as_zeroed)
{
    check_channels("zenith-three", ZENITH_DECODER);
    check_channels("zenith-three", ZENITH_ENCODER);
}

static void zero_parameter(opened *o, const char *name)
{
    const zn_train_parameter *p = parameter(&o->network, name);
    memset(p->tensor.data, 0, p->elements * sizeof(float));
}

// What goes into these blocks is after a relu, so that without the branch they change nothing.
static void check_block(const char *name, unsigned part, int block, const char *layout)
{
    zn_error err = {0};
    zn_network without;
    char weight[ZN_NAME_SIZE], bias[ZN_NAME_SIZE];
    opened o = open_golden(name, part);
    assert_true(zn_network_has_block(&o.network, block));
    zn_test_ok(zn_network_without_block(&o.network, block, &without, &err), &err);
    assert_string_equal(without.layout, layout);
    assert_int_equal(without.count + 6, o.network.count);
    write("prune-without", &without, o.block);
    snprintf(weight, sizeof weight, "%s.%d.conv.4.weight", zn_autoencoder_name(part), block);
    snprintf(bias, sizeof bias, "%s.%d.conv.4.bias", zn_autoencoder_name(part), block);
    zero_parameter(&o, weight);
    zero_parameter(&o, bias);
    write("prune-zeroed", &o.network, o.block);
    compare("prune-without", "prune-zeroed", &o.network);
    zn_network_free(&without);
    close_golden(&o);
}

ZN_TEST(blocks_as_zeroed)
{
    check_block("zenith-one", ZENITH_DECODER, 3, "8x1"); // 4 becomes 3
    check_block("zenith-one", ZENITH_DECODER, 4, "8x1");
    check_block("zenith-three", ZENITH_DECODER, 9, "16x1 8x1 8x1");
    check_block("zenith-three", ZENITH_ENCODER, 8, "16x1 8x1 8x1");
    opened o = open_golden("zenith-three", ZENITH_DECODER);
    zn_network none;
    zn_error err = {0};
    assert_false(zn_network_has_block(&o.network, 5));
    assert_int_equal(zn_network_without_block(&o.network, 5, &none, &err), ZENITH_INVALID_ARGUMENT);
    close_golden(&o);
}

// --- frequencies --------------------------------------------------------------------------------

// A network of a family without goldens: random weights, gates and thresholds between -0.3 and 0.3,
// and scores of both signs.
static void invent(opened *o, const char *name, unsigned part)
{
    zn_error err = {0};
    const zn_network_shape shape = {.sizes = {.height = 16, .width = 16}};
    const zn_variant *variant = zn_variant_find(name);
    const zn_part *which = zn_autoencoder_part(zn_family_of(variant), part);
    zn_test_ok(zn_network_of_variant(variant, which, &shape, &o->network, &err), &err);
    o->block = zn_alloc_zero(zn_network_place(&o->network, 0) * sizeof *o->block);
    assert_non_null(o->block);
    zn_network_randomise(&o->network, o->block, 7, 1, ZN_INIT_HE);
    for (size_t i = 0; i < o->network.count; i++) {
        const zn_train_parameter *p = &o->network.parameters[i];
        if (p->tensor.desc.shape.rank != 2) continue;
        for (size_t k = 0; k < p->elements; k++)
            o->block[p->offset + k] = 0.3f * sinf((float)(k * k + i));
    }
}

// 1 + gate becomes 0 where a frequency is left out.
static void shut_gates(opened *o, int kept)
{
    const zn_walsh_tile_attributes tile = {.size = 8, .kept = kept};
    for (size_t i = 0; i < o->network.count; i++) {
        const zn_train_parameter *p = &o->network.parameters[i];
        if (!zn_text_ends_with(p->name, ".spectral.weight")) continue;
        const size_t channels = p->elements / 64;
        for (size_t k = 0; k < p->elements; k++) {
            const int frequency = (int)(k / channels);
            if (!zn_walsh_keeps(&tile, frequency / 8) || !zn_walsh_keeps(&tile, frequency % 8))
                o->block[p->offset + k] = -1;
        }
    }
}

static void check_frequencies(const char *name, unsigned part, int kept)
{
    zn_error err = {0};
    zn_prune_report report;
    opened o = {0};
    invent(&o, name, part);
    write("prune-dense", &o.network, o.block);
    o.model = model_at(file_of("prune-dense", &o.network), NULL);
    const zn_prune_options options = {.model = o.model,
                                      .output = folder("prune-low"),
                                      .multiple = 1,
                                      .batches = 1,
                                      .frequencies = kept};
    zn_test_ok(zn_prune(&options, &report, &err), &err);
    assert_int_equal(report.before.frequencies, 8);
    assert_int_equal(report.after.frequencies, kept);
    assert_true(report.after.operations < report.before.operations);
    shut_gates(&o, kept);
    write("prune-shut", &o.network, o.block);
    compare("prune-low", "prune-shut", &o.network);
    close_golden(&o);
}

ZN_TEST(frequencies_as_shut)
{
    check_frequencies("zenith_hierarchical", ZENITH_DECODER, 4);
    check_frequencies("zenith_prune", ZENITH_ENCODER, 4);
    check_frequencies("zenith_soft", ZENITH_DECODER, 2);
    check_frequencies("zenith_prune", ZENITH_DECODER, 1);
}

// A model that was pruned once keeps what it says; layouts that are none are refused.
ZN_TEST(frequencies_again)
{
    zn_error err = {0};
    zn_prune_report report;
    zn_model *model;
    opened o = {0};
    invent(&o, "zenith_prune", ZENITH_DECODER);
    snprintf(o.network.layout, sizeof o.network.layout, "f2");
    write("prune-again", &o.network, o.block);
    o.model = model_at(file_of("prune-again", &o.network), NULL);
    zn_prune_options options = {.model = o.model,
                                .output = folder("prune-twice"),
                                .multiple = 1,
                                .batches = 1,
                                .frequencies = 2};
    assert_int_equal(zn_prune(&options, &report, &err), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "keeps 2 frequencies already"));
    options.frequencies = 1;
    zn_test_ok(zn_prune(&options, &report, &err), &err);
    assert_int_equal(report.before.frequencies, 2);
    options.frequencies = 3;
    assert_int_equal(zn_prune(&options, &report, &err), ZENITH_INVALID_ARGUMENT);
    static const char *const wrong[] = {"f3",
                                        "64x3",
                                        "4",
                                        "f0",
                                        "f4,",
                                        "f",
                                        "f4s",
                                        "f4s-5",
                                        "f4s1000",
                                        "f4s05",
                                        "f4s4294967346",
                                        "f4s5 ",
                                        "s50",
                                        "f4s50f4",
                                        "f16",
                                        "F4",
                                        "4 of 8 frequencies"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(o.network.layout, sizeof o.network.layout, "%s", wrong[i]);
        write("prune-wrong", &o.network, o.block);
        const zn_model_request bad = {.weights = file_of("prune-wrong", &o.network)};
        err = (zn_error){0};
        assert_int_equal(zn_model_open(&bad, &model, &err), ZENITH_BAD_FILE);
        assert_non_null(strstr(err.text, "is no layout"));
    }
    close_golden(&o);
}

// What the layout says is read again, and kept when something else is pruned.
ZN_TEST(still_parts)
{
    zn_error err = {0};
    zn_prune_report report;
    opened o = {0};
    invent(&o, "zenith_soft", ZENITH_DECODER);
    write("prune-dense", &o.network, o.block);
    o.model = model_at(file_of("prune-dense", &o.network), NULL);
    zn_prune_options options = {.model = o.model,
                                .output = folder("prune-still"),
                                .multiple = 1,
                                .batches = 1,
                                .still = 0.05};
    zn_test_ok(zn_prune(&options, &report, &err), &err);
    zn_model_unref(o.model);
    o.model = model_at(file_of("prune-still", &o.network), NULL);
    assert_string_equal(zn_model_layout(o.model, zn_model_part(o.model, "decoder")), "f8s50");
    options = (zn_prune_options){.model = o.model,
                                 .output = folder("prune-again"),
                                 .multiple = 1,
                                 .batches = 1,
                                 .frequencies = 4};
    zn_test_ok(zn_prune(&options, &report, &err), &err);
    zn_model_unref(o.model);
    o.model = model_at(file_of("prune-again", &o.network), NULL);
    assert_string_equal(zn_model_layout(o.model, zn_model_part(o.model, "decoder")), "f4s50");
    options.frequencies = 0, options.still = 1;
    assert_int_equal(zn_prune(&options, &report, &err), ZENITH_INVALID_ARGUMENT);
    close_golden(&o);

    o = (opened){0};
    err = (zn_error){0};
    invent(&o, "zenith_hierarchical", ZENITH_DECODER);
    write("prune-dense", &o.network, o.block);
    o.model = model_at(file_of("prune-dense", &o.network), NULL);
    options = (zn_prune_options){
        .model = o.model, .output = "prune-no", .multiple = 1, .batches = 1, .still = 0.05};
    assert_int_equal(zn_prune(&options, &report, &err), ZENITH_UNSUPPORTED);
    assert_non_null(strstr(err.text, "has no scores"));
    close_golden(&o);
}

// --- the choice ---------------------------------------------------------------------------------

static zn_prune_options options_for(zn_model *model, const char *where)
{
    return (zn_prune_options){.model = model,
                              .output = folder(where),
                              .multiple = 4,
                              .batches = 1,
                              .threads = 1,
                              .channels = 0.5};
}

// Channels whose outgoing weights are next to nothing are those that go, and the others stay as
// they are, in their order.
ZN_TEST(least_worth_go)
{
    zn_error err = {0};
    zn_inner_layers layers;
    zn_prune_report report;
    opened o = open_golden("zenith-one", ZENITH_DECODER);
    zn_test_ok(zn_inner_layers_find(&o.network, &layers, &err), &err);
    for (size_t n = 0; n < layers.count; n++)
        for (int64_t c = 0; c < 8; c += 2) zero_channel(&layers.layers[n], c);
    write("prune-marked", &o.network, o.block);
    zn_model *marked, *small;
    zn_network network;
    const zn_model_request request = {.weights = file_of("prune-marked", &o.network)};
    zn_test_ok(zn_model_open(&request, &marked, &err), &err);
    zn_prune_options options = options_for(marked, "prune-chosen");
    zn_test_ok(zn_prune(&options, &report, &err), &err);
    assert_int_equal(report.parts, ZENITH_DECODER);
    assert_int_equal(report.before.channels, 32);
    assert_int_equal(report.after.channels, 16);
    assert_int_equal(report.after.blocks, 2);
    assert_true(report.after.parameters < report.before.parameters);
    assert_true(report.after.operations < report.before.operations);
    compare("prune-chosen", "prune-marked", &o.network);
    const zn_model_request chosen = {.weights = file_of("prune-chosen", &o.network)};
    zn_test_ok(zn_model_open(&chosen, &small, &err), &err);
    zn_test_ok(zn_network_of_model(small, zn_model_part(small, "decoder"), &network, &err), &err);
    const float *left = parameter(&network, "decoder.4.conv.0.bias")->tensor.data;
    const float *all = parameter(&o.network, "decoder.4.conv.0.bias")->tensor.data;
    for (int c = 0; c < 4; c++) assert_true(left[c] == all[2 * c + 1]);
    zn_network_free(&network);
    zn_model_unref(small);
    zn_model_unref(marked);
    zn_inner_layers_free(&layers);
    close_golden(&o);
}

static void refuse(zn_prune_options options, zenith_status status, const char *words)
{
    zn_error err = {0};
    zn_prune_report report;
    assert_int_equal(zn_prune(&options, &report, &err), status);
    if (!strstr(err.text, words)) fail_msg("'%s' lacks '%s'", err.text, words);
}

ZN_TEST(refusals)
{
    opened o = open_golden("zenith-one", ZENITH_DECODER);
    const zn_prune_options good = options_for(o.model, "prune-refused");
    zn_prune_options bad = good;
    bad.channels = 0;
    refuse(bad, ZENITH_INVALID_ARGUMENT, "nothing is to be left out");
    bad.channels = 1;
    refuse(bad, ZENITH_INVALID_ARGUMENT, "below 1");
    bad.channels = (double)NAN;
    refuse(bad, ZENITH_INVALID_ARGUMENT, "below 1");
    bad = good, bad.multiple = 0;
    refuse(bad, ZENITH_INVALID_ARGUMENT, "the multiple");
    bad = good, bad.multiple = 8;
    refuse(bad, ZENITH_INVALID_ARGUMENT, "no channels can be left out");
    bad = good, bad.blocks = 1;
    refuse(bad, ZENITH_INVALID_ARGUMENT, "measured on pictures");
    bad = good, bad.config = "/nowhere.json";
    refuse(bad, ZENITH_NOT_FOUND, "nowhere");
    atomic_int cancel = 1;
    bad = good, bad.cancel = &cancel;
    refuse(bad, ZENITH_CANCELLED, "stopped");
    close_golden(&o);
}

// A block whose weights disagree about the width inside is not taken.
ZN_TEST(disagreeing_widths)
{
    zn_error err = {0};
    zn_inner_layers layers;
    zn_network narrow;
    float *block;
    zn_model *model;
    opened o = open_golden("zenith-one", ZENITH_DECODER);
    zn_test_ok(zn_inner_layers_find(&o.network, &layers, &err), &err);
    layers.layers[0].keep[1] = false;
    zn_test_ok(zn_network_narrow(&o.network, &layers, &narrow, &block, &err), &err);
    zn_train_parameter *next = parameter(&narrow, "decoder.3.conv.2.weight");
    next->tensor.desc.shape.dim[1] = 6; // one less than conv.0 makes
    write("prune-broken", &narrow, block);
    const zn_model_request request = {.weights = file_of("prune-broken", &o.network)};
    assert_int_equal(zn_model_open(&request, &model, &err), ZENITH_BAD_FILE);
    assert_non_null(strstr(err.text, "3.conv.2.weight"));
    zn_network_free(&narrow);
    zn_free(block);
    zn_inner_layers_free(&layers);
    close_golden(&o);
}
