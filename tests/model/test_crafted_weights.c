// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights that no model of ours has, made up from the networks themselves: what does not fit is
// refused with a sentence, and what fits in an unusual way is counted and found.
#include "src/model/locate.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"
#include "tests/fuzz/made_model.h"
#include "tests/model/weight_files.h"
#include "tests/testing.h"

#include <math.h>

#define LINEAR                                                                                     \
    "{\"model\":\"diffae\",\"image_size\":16,\"in_channels\":3,\"channels\":4,"                    \
    "\"channel_mult\":[1,2],\"encoder_mult\":[1,2],\"res_blocks\":1,"                              \
    "\"attention_resolutions\":[],\"code\":6,\"prior_width\":4,\"prior_layers\":3,"                \
    "\"linear_code\":1}"
static const char linear_layout[] =
    "size=16 channels=4 blocks=1 code=6 width=4 layers=3 mults=12 encoder=12 attention=0 linear=16";

static made_model model;

static void begin(const char *variant, unsigned parts, const char *layout)
{
    zn_error err = {0};
    model = (made_model){.variant = zn_variant_find(variant)};
    assert_non_null(model.variant);
    zn_test_ok(made_list(&model, parts, layout, &err), &err);
}

static made_tensor *tensor_named(const char *name)
{
    for (size_t i = 0; i < model.count; i++)
        if (strcmp(model.tensors[i].name, name) == 0) return &model.tensors[i];
    fail_msg("the network has no '%s'", name);
    return NULL;
}

static const char *write_model(const char *name)
{
    const char *path = zn_test_path(zn_test_build(), name);
    assert_true(made_write(&model, path, UINT64_C(1) << 32));
    return path;
}

// --- families -----------------------------------------------------------------------------------

static int64_t twice_from_the_third_level(const char *name)
{
    return strstr(name, "up_blocks.2.") || strstr(name, "up_blocks.3.") ? 16 : 8;
}

// A level that has more channels than before it would need each of them eight times, and four fit
// a square.
ZN_TEST(wan_widens_no_level)
{
    zn_error err = {0};
    model = (made_model){.variant = zn_variant_find("wan2.2-vae"),
                         .width = twice_from_the_third_level};
    assert_int_equal(made_list(&model, 2, NULL, &err), ZENITH_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no shortcut is known around 'up_blocks.2.shortcut'"));
}

// The encoder and the draft of a linear code are one matrix.
ZN_TEST(parameters_of_two_parts_count_once)
{
    begin("diffae", 0xff, linear_layout);
    snprintf(model.config, sizeof model.config, "%s", LINEAR);
    uint64_t parameters = 0;
    for (size_t i = 0; i < model.count; i++) {
        uint64_t elements = 1;
        for (int d = 0; d < model.tensors[i].rank; d++)
            elements *= (uint64_t)model.tensors[i].dim[d];
        parameters += elements;
    }
    zn_model *made = model_at(write_model("crafted_linear.safetensors"), model.variant->name);
    assert_int_equal(made->unexpected, 0);
    assert_int_equal(made->parameters, parameters);
    zn_model_unref(made);
    model.tensors[model.count++] = (made_tensor){.name = "nobody.knows", .rank = 1, .dim = {3}};
    made = model_at(write_model("crafted_linear.safetensors"), model.variant->name);
    assert_int_equal(made->unexpected, 1);
    assert_int_equal(made->parameters, parameters);
    zn_model_unref(made);
}

// The size that a network is for comes from a tensor, whatever that says.
ZN_TEST(sizes_are_within_bounds)
{
    static const int64_t sides[] = {0, 1, 3, INT64_C(1) << 40, INT64_C(1) << 62, INT64_MAX};
    for (int part = 0; part < 2; part++) {
        for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
            zn_error err = {0};
            zn_model *made = NULL;
            zn_weights *weights = NULL;
            begin("zenith_taesd", 1u << part, NULL);
            made_tensor *gate = tensor_named(part ? "decoder.block3.row.weight"
                                                  : "encoder.block1.row.weight");
            gate->rank = 2;
            gate->dim[0] = sides[i];
            gate->dim[1] = 0;
            const char *path = write_model("crafted_sizes.safetensors");
            if (zn_weights_open(path, &weights, &err) == ZENITH_OK) {
                const zn_sizes sizes = zn_family_of(model.variant)->sizes(weights);
                assert_in_range(sizes.height, 1, 1 << 14);
                assert_int_equal(sizes.height, sizes.width);
                zn_weights_free(weights);
            }
            const zn_model_request request = {.weights = path};
            assert_int_equal(zn_model_open(&request, &made, &err), ZENITH_BAD_FILE);
            assert_true(strlen(err.text) > 10);
        }
    }
}

// --- where they are -----------------------------------------------------------------------------

// What is named without a folder lies in the working folder, and so does what it needs beside it.
ZN_TEST(companions_lie_in_the_working_folder)
{
    char before[1024];
    zn_error err = {0};
    zn_weights *weights = NULL;
    assert_non_null(getcwd(before, sizeof before));
    begin("taesd3", 3, NULL);
    write_model("taesd3.safetensors");
    assert_int_equal(chdir(zn_test_build()), 0);
    const char *const places[] = {"model.safetensors", "./model.safetensors", "nowhere"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        zn_test_ok(zn_locate_companion("taesd3", places[i], &weights, &err), &err);
        assert_string_equal(zn_weights_file(weights, zn_weights_get(weights, 0)),
                            "./taesd3.safetensors");
        zn_weights_free(weights);
    }
    assert_int_equal(unlink("taesd3.safetensors"), 0);
    assert_int_equal(chdir(before), 0);
}

// --- builders -----------------------------------------------------------------------------------

ZN_TEST(too_many_maps_are_refused)
{
    zn_error err = {0};
    zn_graph graph;
    zn_node *maps[8];
    zn_graph_begin(&graph, &err);
    for (int i = 0; i < 8; i++)
        maps[i] = zn_graph_input(&graph, "map", zn_desc_make(ZN_F32, ZN_SHAPE(1, 1, 1, 4)));
    assert_null(zn_token_join(&graph, "joined", maps, 8, NULL, 8));
    assert_int_equal(graph.status, ZENITH_INTERNAL);
    assert_non_null(strstr(err.text, "'joined' of 8 maps: 4 are the most"));
    zn_graph_free(&graph);
}

static zn_node *any_parameter(void *cookie, zn_graph *graph, const char *name,
                              const zn_shape *shape)
{
    static float numbers[64];
    int64_t *inputs = cookie;
    *inputs = shape->rank == 2 ? shape->dim[1] : *inputs;
    return zn_graph_parameter(graph, name,
                              (zn_tensor){.desc = zn_desc_make(ZN_F32, *shape), .data = numbers});
}

ZN_TEST(linear_refuses_a_scalar)
{
    zn_error err = {0};
    zn_graph graph;
    int64_t inputs = -1;
    zn_graph_begin(&graph, &err);
    const zn_scope scope = {
        .graph = &graph, .parameter = any_parameter, .cookie = &inputs, .prefix = ""};
    assert_null(zn_nn_linear(&scope, "layer", zn_graph_scalar(&graph, "time"), 8, true));
    assert_int_not_equal(graph.status, ZENITH_OK);
    assert_int_equal(inputs, 1);
    zn_graph_free(&graph);
}

// --- numbers of a config ------------------------------------------------------------------------

// A layout has every number of config.json that is within bounds, to 15 digits.
ZN_TEST(numbers_come_back)
{
    static const zn_setting table[] = {{"theta", "theta", NULL, 7, 1e-12, 1e12, true}};
    static const double numbers[] = {500000.123,
                                     1e12,
                                     999999999999.5,
                                     1e-12,
                                     1.25e-10,
                                     0.1,
                                     1e-5,
                                     256,
                                     10000,
                                     1234567.8901234,
                                     1 / 3.0,
                                     1e-06,
                                     99.999999999,
                                     0.5,
                                     9.9999999999999995e-7};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[64], layout[ZN_LAYOUT_SIZE];
        zn_error err = {0};
        zn_json *config = NULL;
        double read = 0;
        snprintf(text, sizeof text, "{\"theta\": %.17g}", numbers[i]);
        zn_test_ok(zn_json_parse(text, strlen(text), "test", &config, &err), &err);
        zn_settings_write(config, table, 1, layout);
        if (!zn_settings_read(layout, table, 1, &read)) fail_msg("'%s' is not taken", layout);
        if (!(fabs(read - numbers[i]) <= 1e-14 + 2e-15 * numbers[i]))
            fail_msg("%.17g comes back as %.17g from '%s'", numbers[i], read, layout);
        zn_json_free(config);
    }
}
