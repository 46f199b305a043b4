// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Scales of weights stored as 8-bit floats: both sets of names, plain casts, and what is refused.
#include "src/format/tensor/weight_scale.h"
#include "tests/format/crafted.h"

#include <math.h>

// 1, -2, 448, 0x1p-9; 1, -2, 57344, 0x1p-16
static const uint8_t e4m3[] = {0x38, 0xc0, 0x7e, 0x01}, e5m2[] = {0x3c, 0xc0, 0x7b, 0x01};
static const uint16_t bf16[] = {0x3f80, 0xc000, 0x4000, 0x3f00};
static const float numbers[] = {0.25f, 3, 0.1f, 7};
static const float none = NAN, endless = INFINITY;
static const uint16_t half_bf16 = 0x3f00;
static const uint8_t text[] = "{\"format\": \"float8_e4m3fn\"}";

static zn_file_tensor tensor(const char *name, zn_type type, zn_shape shape, const void *data)
{
    return (zn_file_tensor){.name = name, .type = type, .shape = shape, .data = data};
}

static zn_file_tensor number(const char *name, const float *value)
{
    return tensor(name, ZN_F32, zn_shape_make(0, NULL), value);
}

static zn_weights *write_and_open(zn_file_tensor *tensors, size_t count)
{
    zn_error err = {{0}};
    zn_writer *writer = NULL;
    zn_weights *weights = NULL;
    const char *path = scratch("weight_scale.safetensors");
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_safetensors_write(writer, tensors, count, NULL, 0, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    zn_test_ok(zn_weights_open(path, &weights, &err), &err);
    return weights;
}

static void expect(const zn_weights *weights, const char *name, float scale, const float values[4])
{
    zn_error err = {{0}};
    float found = NAN, read[4];
    zn_test_ok(zn_weight_scale(weights, zn_weights_find(weights, name), &found, &err), &err);
    assert_true(found == scale);
    zn_test_ok(zn_weights_read_f32(weights, name, NULL, read, &err), &err);
    for (int i = 0; i < 4; i++) assert_true(read[i] == values[i]);
}

ZN_TEST(both_sets_of_names)
{
    const zn_shape four = ZN_SHAPE(2, 2), one = ZN_SHAPE(1);
    zn_file_tensor tensors[] = {
        tensor("a.weight", ZN_F8_E4M3, four, e4m3),
        number("a.weight_scale", &numbers[0]),
        number("a.input_scale", &numbers[1]),
        tensor("a.comfy_quant", ZN_U8, ZN_SHAPE(sizeof text - 1), text),
        tensor("b.c.weight", ZN_F8_E5M2, four, e5m2),
        tensor("b.c.scale_weight", ZN_F32, one, &numbers[1]),
        number("b.c.scale_input", &numbers[3]),
        tensor("scaled_fp8", ZN_F8_E4M3, ZN_SHAPE(0), e4m3),
        tensor("d.weight", ZN_F8_E4M3, four, e4m3), // a plain cast
        tensor("d.bias", ZN_F8_E5M2, four, e5m2),
        tensor("e.weight", ZN_F8_E4M3, four, e4m3),
        tensor("e.weight_scale", ZN_BF16, one, &half_bf16),
        tensor("f.weight_scale", ZN_F32, one, &numbers[1]), // of nothing
    };
    zn_weights *weights = write_and_open(tensors, sizeof tensors / sizeof *tensors);
    expect(weights, "a.weight", 0.25f, (const float[]){0.25f, -0.5f, 112, 0x1p-11f});
    expect(weights, "b.c.weight", 3, (const float[]){3, -6, 172032, 0x1.8p-15f});
    expect(weights, "d.weight", 1, (const float[]){1, -2, 448, 0x1p-9f});
    expect(weights, "d.bias", 1, (const float[]){1, -2, 57344, 0x1p-16f});
    expect(weights, "e.weight", 0.5f, (const float[]){0.5f, -1, 224, 0x1p-10f});
    assert_int_equal(zn_weight_notes(weights), 7); // all but five weights and the scale of nothing
    zn_weights_free(weights);
}

ZN_TEST(refused)
{
    const zn_shape four = ZN_SHAPE(2, 2);
    const struct {
        zn_file_tensor weight, scale;
        zenith_status status;
        const char *fragment;
    } cases[] = {
        {tensor("a.weight", ZN_F8_E4M3, four, e4m3),
         tensor("a.weight_scale", ZN_F32, ZN_SHAPE(3, 1), numbers), ZENITH_UNSUPPORTED,
         "by row or block"},
        {tensor("a.weight", ZN_F8_E4M3, four, e4m3),
         tensor("a.weight_scale", ZN_U8, ZN_SHAPE(1), text), ZENITH_UNSUPPORTED, "floating number"},
        {tensor("a.weight", ZN_F8_E4M3, four, e4m3),
         tensor("a.weight_scale", ZN_F32, ZN_SHAPE(0), numbers), ZENITH_UNSUPPORTED,
         "floating number"},
        {tensor("a.weight", ZN_F8_E5M2, four, e5m2), number("a.scale_weight", &none),
         ZENITH_BAD_FILE, "a.scale_weight' is not a finite number"},
        {tensor("a.weight", ZN_F8_E5M2, four, e5m2), number("a.weight_scale", &endless),
         ZENITH_BAD_FILE, "not a finite number"},
        {tensor("a.weight", ZN_BF16, four, bf16), number("a.weight_scale", &numbers[2]),
         ZENITH_UNSUPPORTED, "stored as BF16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_file_tensor tensors[] = {cases[i].weight, cases[i].scale};
        zn_weights *weights = write_and_open(tensors, 2);
        const zn_file_tensor *weight = zn_weights_find(weights, "a.weight");
        zn_error err = {{0}};
        float scale, values[4];
        zenith_status status = zn_weight_scale(weights, weight, &scale, &err);
        expect_refusal("scale", status, &err, cases[i].status, cases[i].fragment);
        err = (zn_error){{0}};
        status = zn_weights_read_f32(weights, "a.weight", NULL, values, &err);
        expect_refusal("values", status, &err, cases[i].status, cases[i].fragment);
        zn_weights_free(weights);
    }
}

// Names of any length are looked at without going past what they are put together in.
ZN_TEST(long_names)
{
    static char name[1200];
    memset(name, 'x', 1100);
    memcpy(name + 1100, ".weight", sizeof ".weight");
    zn_file_tensor tensors[] = {tensor(name, ZN_F8_E4M3, ZN_SHAPE(2, 2), e4m3)};
    zn_weights *weights = write_and_open(tensors, 1);
    expect(weights, name, 1, (const float[]){1, -2, 448, 0x1p-9f});
    assert_int_equal(zn_weight_notes(weights), 0);
    zn_weights_free(weights);
}
