// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights that several tensors make: which form is seen in them, by hand-made numbers, and what is
// refused.
#include "src/format/tensor/convrot.h"
#include "src/format/tensor/quant_note.h"
#include "src/format/tensor/stored_weight.h"
#include "src/format/tensor/weight_scale.h"
#include "tests/format/crafted.h"

#include <math.h>
#include <stdlib.h>

static zn_weights *open_tensors(const zn_metadata *metadata, size_t pairs, zn_file_tensor *tensors,
                                size_t count)
{
    zn_error err = {{0}};
    zn_writer *writer = NULL;
    zn_weights *weights = NULL;
    const char *path = scratch("stored_weight.safetensors");
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_safetensors_write(writer, tensors, count, metadata, pairs, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    zn_test_ok(zn_weights_open(path, &weights, &err), &err);
    return weights;
}

static zn_file_tensor tensor(const char *name, zn_type type, zn_shape shape, const void *data)
{
    return (zn_file_tensor){.name = name, .type = type, .shape = shape, .data = data};
}

static zn_file_tensor note(const char *name, const char *text)
{
    return tensor(name, ZN_U8, ZN_SHAPE((int64_t)strlen(text)), text);
}

static const int8_t integers[2][4] = {{1, 2, 3, 4}, {-4, 0, 100, -128}};
static const float scales[] = {0.5f, 2, 4, 8};
// Row 0 times H / 2: (1 + 2 + 3 - 4, 1 + 2 - 3 + 4, 1 - 2 + 3 + 4, -1 + 2 + 3 + 4) / 2 * 0.5; and
// row 1.
static const float turned[2][4] = {{0.5f, 1, 1.5f, 2}, {224, -232, -32, -24}};

static void int8_is(zn_weights *weights, const char *name, const float values[2][4],
                    const char *text)
{
    zn_error err = {{0}};
    zn_stored_weight weight;
    char found[64];
    float read[2][4];
    const zn_file_tensor *numbers = zn_weights_find(weights, name);
    zn_test_ok(zn_stored_weight_of(weights, numbers, NULL, &weight, &err), &err);
    zn_stored_weight_text(&weight, found, sizeof found);
    assert_string_equal(found, text);
    zn_stored_weight_read(&weight, 0, 2, read[0]);
    assert_memory_equal(read, values, sizeof read);
}

ZN_TEST(rotation_by_tensor_and_by_metadata)
{
    const float plain[2][4] = {{0.5f, 1, 1.5f, 2}, {-8, 0, 200, -256}};
    const float shared[2][4] = {{0.5f, 1, 1.5f, 2}, {-2, 0, 50, -64}};
    const zn_metadata said = {
        "_quantization_metadata",
        "{\"layers\":{\"m\":{\"format\":\"int8_tensorwise\",\"params\":"
        "{\"convrot\":true,\"convrot_groupsize\":4}},\"n\":{\"format\":\"int8_tensorwise\"}}}"};
    zn_file_tensor tensors[] = {
        tensor("a.weight", ZN_S8, ZN_SHAPE(2, 4), integers),
        tensor("a.weight_scale", ZN_F32, ZN_SHAPE(2, 1), scales),
        note("a.comfy_quant",
             "{\"format\": \"int8_tensorwise\", \"convrot\": true, \"convrot_groupsize\": 4}"),
        tensor("m.weight", ZN_S8, ZN_SHAPE(2, 4), integers),
        tensor("m.weight_scale", ZN_F32, ZN_SHAPE(2), scales),
        tensor("n.weight", ZN_S8, ZN_SHAPE(2, 4), integers),
        tensor("n.weight_scale", ZN_F32, ZN_SHAPE(2, 1), scales),
        tensor("one.weight", ZN_S8, ZN_SHAPE(2, 4), integers),
        tensor("one.weight_scale", ZN_F32, zn_shape_make(0, NULL), scales),
    };
    zn_weights *weights = open_tensors(&said, 1, tensors, sizeof tensors / sizeof *tensors);
    int8_is(weights, "a.weight", turned, "INT8 convrot 4");
    int8_is(weights, "m.weight", turned, "INT8 convrot 4");
    int8_is(weights, "n.weight", plain, "INT8");
    int8_is(weights, "one.weight", shared, "INT8");
    assert_int_equal(zn_weight_notes(weights), 5);
    zn_weights_free(weights);
    // The metadata names modules as the file does, also when a prefix is put before them.
    const char *path = scratch("stored_weight.safetensors"), *prefix = "part.";
    zn_error err = {{0}};
    zn_test_ok(zn_weights_open_parts(&path, &prefix, 1, &weights, &err), &err);
    int8_is(weights, "part.m.weight", turned, "INT8 convrot 4");
    zn_weights_free(weights);
}

// Twice is nothing: R is its own inverse. These numbers have no rounding.
ZN_TEST(rotating_twice)
{
    for (size_t group = 4; group <= ZN_CONVROT_MOST; group *= 4) {
        float values[2 * ZN_CONVROT_MOST];
        for (size_t i = 0; i < 2 * group; i++) values[i] = (float)(i * 37 % 101) - 50;
        zn_convrot_row(values, 2 * group, group);
        float sum = 0, before = 0;
        for (size_t i = 0; i < group; i++) {
            sum += values[i];
            before += (float)(i * 37 % 101) - 50;
        }
        assert_true(sum == before); // each row of R has the sum 1
        zn_convrot_row(values, 2 * group, group);
        for (size_t i = 0; i < 2 * group; i++) assert_true(values[i] == (float)(i * 37 % 101) - 50);
    }
    assert_false(zn_convrot_group(0) || zn_convrot_group(2) || zn_convrot_group(32) ||
                 zn_convrot_group(4 * ZN_CONVROT_MOST));
}

ZN_TEST(f8_with_scales_by_row)
{
    const uint8_t codes[] = {0x38, 0xc0, 0x7e, 0x01}; // 1, -2, 448, 0x1p-9
    const float wanted[] = {0.5f, -1, 896, 0x1p-8f};
    zn_file_tensor tensors[] = {tensor("a.weight", ZN_F8_E4M3, ZN_SHAPE(2, 2), codes),
                                tensor("a.weight_scale", ZN_F32, ZN_SHAPE(2, 1), scales)};
    zn_weights *weights = open_tensors(NULL, 0, tensors, 2);
    zn_error err = {{0}};
    zn_stored_weight weight;
    float values[4];
    char text[64];
    zn_test_ok(zn_stored_weight_of(weights, zn_weights_get(weights, 0), NULL, &weight, &err), &err);
    zn_stored_weight_read(&weight, 0, 2, values);
    assert_memory_equal(values, wanted, sizeof wanted);
    zn_stored_weight_text(&weight, text, sizeof text);
    assert_string_equal(text, "F8_E4M3 scaled");
    assert_true(zn_stored_weight_bits(&weight) == 24);
    zn_weights_free(weights);
}

// --- MLX: U32 is no type of ours, so the file is put together from text

static zn_weights *open_mlx(const char *more, size_t bytes)
{
    char header[1024];
    zn_error err = {{0}};
    zn_weights *weights = NULL;
    snprintf(header, sizeof header, "{%s}", more);
    const crafted file = craft_safetensors(header, bytes);
    write_file(scratch("mlx.safetensors"), file.bytes, file.size);
    zn_test_ok(zn_weights_open(scratch("mlx.safetensors"), &weights, &err), &err);
    return weights;
}

#define U32_WEIGHT(shape, end)                                                                     \
    "\"a.weight\":{\"dtype\":\"U32\",\"shape\":" shape ",\"data_offsets\":[0," end "]}"
#define BESIDE(name, type, shape, begin, end)                                                      \
    ",\"a." name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end \
    "]}"

// 16 words in a row and two groups: 256 bits for a group, which is 4 bits x 64 or 8 bits x 32.
ZN_TEST(mlx_by_expected_shape)
{
    zn_weights *weights = open_mlx(U32_WEIGHT("[1,16]", "64")
                                       BESIDE("scales", "BF16", "[1,2]", "64", "68")
                                           BESIDE("biases", "BF16", "[1,2]", "68", "72"),
                                   72);
    const zn_file_tensor *numbers = zn_weights_find(weights, "a.weight");
    const zn_shape wide = ZN_SHAPE(1, 128), narrow = ZN_SHAPE(1, 64), other = ZN_SHAPE(1, 32);
    zn_stored_weight weight;
    zn_error err = {{0}};
    zn_test_ok(zn_stored_weight_of(weights, numbers, &wide, &weight, &err), &err);
    assert_true(weight.bits == 4 && weight.group == 64);
    zn_test_ok(zn_stored_weight_of(weights, numbers, &narrow, &weight, &err), &err);
    assert_true(weight.bits == 8 && weight.group == 32);
    zn_test_ok(zn_stored_weight_of(weights, numbers, NULL, &weight, &err), &err);
    assert_true(weight.bits == 4 && weight.group == 64); // MLX's usual groups
    zenith_status status = zn_stored_weight_of(weights, numbers, &other, &weight, &err);
    expect_refusal("16 bits", status, &err, ZENITH_UNSUPPORTED, "4 or 8 bits");
    assert_int_equal(zn_weight_notes(weights), 2);
    zn_weights_free(weights);
}

ZN_TEST(mlx_that_does_not_fit)
{
    static const char *const files[] = {
        U32_WEIGHT("[1,16]", "64"),
        U32_WEIGHT("[1,16]", "64") BESIDE("scales", "BF16", "[1,2]", "64", "68"),
        U32_WEIGHT("[1,16]", "64") BESIDE("scales", "BF16", "[1,2]", "64", "68")
            BESIDE("biases", "BF16", "[1,1]", "68", "70"),
        U32_WEIGHT("[1,16]", "64") BESIDE("scales", "BF16", "[2,1]", "64", "68")
            BESIDE("biases", "BF16", "[2,1]", "68", "72"),
        U32_WEIGHT("[1,16]", "64") BESIDE("scales", "BF16", "[1,0]", "64", "64")
            BESIDE("biases", "BF16", "[1,0]", "64", "64"),
        U32_WEIGHT("[16]", "64") BESIDE("scales", "BF16", "[1,2]", "64", "68")
            BESIDE("biases", "BF16", "[1,2]", "68", "72"),
        U32_WEIGHT("[1,16]", "64") BESIDE("scales", "U16", "[1,2]", "64", "68")
            BESIDE("biases", "U16", "[1,2]", "68", "72"),
    };
    static const size_t sizes[] = {64, 68, 70, 72, 64, 72, 72};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        zn_error err = {{0}};
        zn_stored_weight weight;
        zn_weights *weights = open_mlx(files[i], sizes[i]);
        zenith_status status = zn_stored_weight_of(weights, zn_weights_find(weights, "a.weight"),
                                                   NULL, &weight, &err);
        expect_refusal("mlx", status, &err, ZENITH_BAD_FILE, "'.scales' and '.biases'");
        zn_weights_free(weights);
    }
}

// --- what is refused

ZN_TEST(refused)
{
    const float bad[] = {1, NAN};
    const uint8_t bytes[2048] = {0};
    const zn_shape matrix = ZN_SHAPE(2, 4);
    const struct {
        zn_file_tensor tensors[3];
        size_t count;
        zenith_status status;
        const char *fragment;
    } cases[] = {
        {{tensor("a.weight", ZN_S8, matrix, integers),
          tensor("a.weight_scale", ZN_F32, ZN_SHAPE(3), scales)},
         2,
         ZENITH_BAD_FILE,
         "one or one for each row"},
        {{tensor("a.weight", ZN_S8, matrix, integers),
          tensor("a.weight_scale", ZN_F32, ZN_SHAPE(0), scales)},
         2,
         ZENITH_BAD_FILE,
         "one or one for each row"},
        {{tensor("a.weight", ZN_S8, matrix, integers),
          tensor("a.weight_scale", ZN_U8, ZN_SHAPE(2), scales)},
         2,
         ZENITH_BAD_FILE,
         "floating numbers"},
        {{tensor("a.weight", ZN_S8, matrix, integers),
          tensor("a.weight_scale", ZN_F32, ZN_SHAPE(2), bad)},
         2,
         ZENITH_BAD_FILE,
         "'a.weight_scale' is not finite"},
        {{tensor("a.weight", ZN_S8, ZN_SHAPE(8), integers),
          tensor("a.weight_scale", ZN_F32, ZN_SHAPE(1), scales)},
         2,
         ZENITH_BAD_FILE,
         "must be a matrix"},
        {{tensor("a.weight", ZN_S8, matrix, integers),
          tensor("a.weight_scale", ZN_F32, ZN_SHAPE(2), scales),
          note("a.comfy_quant", "{\"convrot\": true}")},
         3,
         ZENITH_BAD_FILE,
         "whole groups of rotated features"},
        {{tensor("a.weight", ZN_S8, matrix, integers),
          tensor("a.weight_scale", ZN_F32, ZN_SHAPE(2), scales),
          note("a.comfy_quant", "{\"format\": \"convrot_w4a4\"}")},
         3,
         ZENITH_UNSUPPORTED,
         "quantised as 'convrot_w4a4'"},
        {{tensor("a.weight", ZN_S8, matrix, integers),
          note("a.comfy_quant", "{\"format\": \"int8_tensorwise\"}")},
         2,
         ZENITH_UNSUPPORTED,
         "not beside it"},
        {{tensor("a.weight", ZN_S8, matrix, integers), note("a.comfy_quant", "{\"format\": ")},
         2,
         ZENITH_BAD_FILE,
         "broken JSON"},
        {{tensor("a.weight", ZN_U8, ZN_SHAPE(2, 8), bytes),
          tensor("a.weight_scale", ZN_F8_E4M3, ZN_SHAPE(2, 4), bytes),
          tensor("a.weight_scale_2", ZN_F32, ZN_SHAPE(1), scales)},
         3,
         ZENITH_BAD_FILE,
         "in tiles of 128 rows by 4"},
        {{tensor("a.weight", ZN_U8, ZN_SHAPE(2, 7), bytes),
          tensor("a.weight_scale", ZN_F8_E4M3, ZN_SHAPE(128, 4), bytes),
          tensor("a.weight_scale_2", ZN_F32, ZN_SHAPE(1), scales)},
         3,
         ZENITH_BAD_FILE,
         "whole groups of 16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_file_tensor tensors[3];
        zn_error err = {{0}};
        float values[16];
        memcpy(tensors, cases[i].tensors, sizeof tensors);
        zn_weights *weights = open_tensors(NULL, 0, tensors, cases[i].count);
        zenith_status status = zn_weights_read_f32(weights, "a.weight", NULL, values, &err);
        expect_refusal("weight", status, &err, cases[i].status, cases[i].fragment);
        zn_weights_free(weights);
    }
}

ZN_TEST(notes)
{
    const struct {
        const char *text;
        zenith_status status;
        size_t rotated_by;
        const char *said; // the format, or a part of the sentence
    } cases[] = {
        {"{}", ZENITH_OK, 0, ""},
        {"{\"format\":\"nvfp4\",\"per_row\":true,\"params\":3}", ZENITH_OK, 0, "nvfp4"},
        {"{\"format\":\"x\",\"convrot\":true}", ZENITH_OK, 256, "x"},
        {"{\"params\":{\"format\":\"y\",\"convrot\":true,\"convrot_groupsize\":64}}", ZENITH_OK, 64,
         "y"},
        {"{\"convrot\":false,\"convrot_groupsize\":\"no\"}", ZENITH_OK, 0, ""},
        {"[]", ZENITH_BAD_FILE, 0, "not a JSON object"},
        {"{\"format\":1}", ZENITH_BAD_FILE, 0, "\"format\" must be"},
        {"{\"format\":\"0123456789012345678901234567890123456789\"}", ZENITH_BAD_FILE, 0, "longer"},
        {"{\"convrot\":1}", ZENITH_BAD_FILE, 0, "\"convrot\" must be true or false"},
        {"{\"convrot\":true,\"convrot_groupsize\":32}", ZENITH_UNSUPPORTED, 0, "powers of four"},
        {"{\"convrot\":true,\"convrot_groupsize\":4096}", ZENITH_UNSUPPORTED, 0, "from 4 to 1024"},
        {"{\"convrot\":true,\"convrot_groupsize\":-4}", ZENITH_BAD_FILE, 0, "convrot_groupsize"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_error err = {{0}};
        zn_quant_note found = {.format = ""};
        zenith_status status = zn_quant_note_parse(cases[i].text, strlen(cases[i].text), "note",
                                                   &found, &err);
        if (cases[i].status != ZENITH_OK) {
            expect_refusal(cases[i].text, status, &err, cases[i].status, cases[i].said);
            continue;
        }
        zn_test_ok(status, &err);
        assert_string_equal(found.format, cases[i].said);
        assert_int_equal(found.rotated_by, cases[i].rotated_by);
    }
}
