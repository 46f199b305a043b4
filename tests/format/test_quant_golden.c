// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Every form in which weights are stored, against numbers that other programs made of the same
// bytes: equal to the bit. A program of its own, because it is skipped as a whole where that
// material is not there.
#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/format/tensor/stored_weight.h"
#include "tests/format/crafted.h"

#include <math.h>
#include <stdlib.h>

static zn_safetensors *open_golden(const char *name)
{
    zn_error err = {{0}};
    zn_safetensors *file = NULL;
    const char *path = zn_test_path(zn_test_quant(), name);
    zn_test_need(path);
    zn_test_ok(zn_safetensors_open(path, &file, &err), &err);
    return file;
}

static zn_weights *open_weights(const char *path)
{
    zn_error err = {{0}};
    zn_weights *weights = NULL;
    zn_test_need(path);
    zn_test_ok(zn_weights_open(path, &weights, &err), &err);
    return weights;
}

static const zn_file_tensor *need(const zn_safetensors *file, const char *name)
{
    const zn_file_tensor *tensor = zn_safetensors_find(file, name);
    if (!tensor) fail_msg("no tensor %s", name);
    return tensor;
}

static void same_bits(const char *what, const float *found, const uint8_t *golden, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float wanted;
        memcpy(&wanted, golden + 4 * i, 4);
        if (memcmp(&found[i], &wanted, 4) != 0 && !(isnan(found[i]) && isnan(wanted)))
            fail_msg("%s: number %zu is %a where %a is expected", what, i, (double)found[i],
                     (double)wanted);
    }
}

// What 4 bits stand for is the row, but for roundings of a few bits.
static void same_fours(const zn_stored_weight *weight, const char *name, const float *values)
{
    zn_stored_four four;
    if (!zn_stored_weight_is_four(weight, &four)) return;
    const size_t columns = weight->columns, groups = columns / four.group;
    uint8_t *numbers = zn_alloc(columns);
    float *factors = zn_alloc(2 * groups * sizeof *factors), *offsets = factors + groups;
    assert_true(numbers && factors);
    for (size_t row = 0; row < weight->rows; row++) {
        const size_t left = columns > four.unit && row % 2 ? four.unit : 0; // or a part of it
        zn_stored_weight_read_four(weight, row, left, columns - left, numbers, factors, offsets);
        for (size_t k = left; k < columns; k++) {
            const size_t g = (k - left) / four.group;
            const float factor = factors[g], offset = four.offsets ? offsets[g] : 0;
            const float wanted = values[row * columns + k];
            const float value = factor * four.levels[numbers[k - left]] + offset;
            const float size = 128 * fabsf(factor) + fabsf(offset);
            if (isfinite(size) && !(fabsf(value - wanted) <= 1e-6f * size))
                fail_msg("%s: number %zu of row %zu is %a where %a is expected", name, k, row,
                         (double)value, (double)wanted);
        }
    }
    zn_free(numbers);
    zn_free(factors);
}

// A weight of a set against a golden, whole and by rows that begin anywhere.
static void same_weight(const zn_weights *weights, const char *name, const zn_shape *expected,
                        const zn_file_tensor *golden)
{
    zn_error err = {{0}};
    zn_stored_weight weight;
    const zn_file_tensor *tensor = zn_weights_find(weights, name);
    assert_non_null(tensor);
    zn_test_ok(zn_stored_weight_of(weights, tensor, expected, &weight, &err), &err);
    if (!zn_shape_equal(&weight.shape, &golden->shape)) fail_msg("%s has another shape", name);
    const size_t row = weight.columns;
    float *values = malloc(weight.rows * row * sizeof *values);
    zn_test_ok(zn_weights_read_f32(weights, name, expected, values, &err), &err);
    same_bits(name, values, golden->data, weight.rows * row);
    same_fours(&weight, name, values);
    for (size_t r = 0; r < weight.rows; r += 1 + r % 5) {
        const size_t end = r + 3 < weight.rows ? r + 3 : weight.rows;
        zn_stored_weight_read(&weight, r, end, values);
        same_bits(name, values, golden->data + r * row * 4, (end - r) * row);
    }
    free(values);
}

ZN_TEST(every_block_type)
{
    const zn_block_type *type;
    for (size_t i = 0; (type = zn_block_type_at(i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "gguf_%s.safetensors", type->name);
        zn_safetensors *file = open_golden(name);
        const zn_file_tensor *raw = need(file, "raw"), *golden = need(file, "deq");
        const size_t blocks = raw->bytes / type->bytes;
        assert_int_equal(blocks * type->weights * 4, golden->bytes);
        float *values = malloc(golden->bytes);
        zn_blocks_to_f32(type, raw->data, 0, blocks, values);
        same_bits(type->name, values, golden->data, blocks * type->weights);
        const zn_file_tensor tensor = {.blocks = type, .data = raw->data, .bytes = raw->bytes};
        const zn_stored_weight two_rows = {.form = ZN_WEIGHT_BLOCKS,
                                           .rows = 2,
                                           .columns = blocks / 2 * type->weights,
                                           .numbers = &tensor,
                                           .scale = 1};
        same_fours(&two_rows, type->name, values);
        zn_blocks_to_f32(type, raw->data, blocks / 2, 1, values);
        same_bits(type->name, values, golden->data + blocks / 2 * type->weights * 4, type->weights);
        free(values);
        zn_safetensors_free(file);
    }
}

ZN_TEST(half_types)
{
    zn_safetensors *file = open_golden("gguf_F16_BF16.safetensors");
    const char *const names[2][2] = {{"f16_raw", "f16_deq"}, {"bf16_raw", "bf16_deq"}};
    for (int i = 0; i < 2; i++) {
        const zn_file_tensor *golden = need(file, names[i][1]);
        zn_file_tensor raw = *need(file, names[i][0]);
        zn_error err = {{0}};
        float values[16 * 256];
        raw.type = i == 0 ? ZN_F16 : ZN_BF16;
        raw.shape = golden->shape;
        zn_test_ok(zn_file_tensor_read(&raw, values, &err), &err);
        same_bits(names[i][0], values, golden->data, 16 * 256);
    }
    zn_safetensors_free(file);
}

// --- whole GGUF files

typedef struct listing {
    const zn_weights *weights;
    const uint8_t *start; // the first byte of the file
    size_t seen;
} listing;

// One tensor of the list that another reader made.
static zenith_status check_listed(void *cookie, const char *name, const zn_json *entry,
                                  zn_error *err)
{
    listing *list = cookie;
    const zn_json *dims = NULL;
    const char *type = NULL;
    int64_t bytes = 0, offset = 0, dim = 0;
    const zn_file_tensor *tensor = zn_weights_find(list->weights, name);
    if (!tensor) fail_msg("%s is not there", name);
    ZN_TRY(zn_json_get_text(entry, "type", &type, err));
    ZN_TRY(zn_json_get_array(entry, "dims_as_stored", &dims, err));
    ZN_TRY(zn_json_get_integer(entry, "nbytes", 0, INT64_MAX, &bytes, err));
    ZN_TRY(zn_json_get_integer(entry, "abs_offset", 0, INT64_MAX, &offset, err));
    assert_string_equal(tensor->dtype, type);
    assert_int_equal(tensor->bytes, bytes);
    assert_ptr_equal(tensor->data, list->start + offset);
    const size_t rank = zn_json_size(dims);
    assert_int_equal(tensor->shape.rank, rank);
    for (size_t i = 0; i < rank; i++) {
        assert_true(zn_json_as_integer(zn_json_at(dims, i), &dim));
        assert_int_equal(tensor->shape.dim[rank - 1 - i], dim);
    }
    list->seen++;
    return ZENITH_OK;
}

// The offsets are of the file, and every tensor's must agree with one start of the mapping: the
// first's.
static const uint8_t *start_of(const zn_weights *weights, const zn_json *tensors)
{
    const zn_json *entry = NULL;
    int64_t offset = 0;
    const char *name = "layers.0.q8_0.weight";
    assert_int_equal(zn_json_get_object(tensors, name, &entry, NULL), ZENITH_OK);
    assert_int_equal(zn_json_get_integer(entry, "abs_offset", 0, INT64_MAX, &offset, NULL),
                     ZENITH_OK);
    return zn_weights_find(weights, name)->data - offset;
}

ZN_TEST(whole_gguf_files)
{
    static const char *const names[] = {"tiny.gguf", "tiny_nokv.gguf"};
    zn_safetensors *golden = open_golden("tiny_gguf_deq.safetensors");
    zn_error err = {{0}};
    zn_json *lists = NULL;
    zn_test_ok(zn_json_open(zn_test_path(zn_test_quant(), "tiny_gguf.json"), &lists, &err), &err);
    for (int i = 0; i < 2; i++) {
        const zn_json *list = NULL, *tensors = NULL;
        zn_weights *weights = open_weights(zn_test_path(zn_test_quant(), names[i]));
        zn_test_ok(zn_json_get_object(lists, names[i], &list, &err), &err);
        zn_test_ok(zn_json_get_object(list, "tensors", &tensors, &err), &err);
        listing all = {.weights = weights, .start = start_of(weights, tensors)};
        zn_test_ok(zn_json_each(tensors, check_listed, &all, &err), &err);
        assert_int_equal(all.seen, zn_weights_count(weights));
        for (size_t t = 0; t < zn_safetensors_count(golden); t++) {
            const zn_file_tensor *values = zn_safetensors_get(golden, t);
            same_weight(weights, values->name, &values->shape, values);
        }
        zn_weights_free(weights);
    }
    zn_json_free(lists);
    zn_safetensors_free(golden);
}

static void integer_is(const zn_gguf *file, const char *key, int64_t wanted)
{
    int64_t found = 0;
    assert_true(zn_gguf_as_integer(zn_gguf_value_find(file, key), &found));
    assert_true(found == wanted);
}

static void number_is(const zn_gguf *file, const char *key, double wanted)
{
    double found = 0;
    assert_true(zn_gguf_as_number(zn_gguf_value_find(file, key), &found));
    assert_true(found == wanted);
}

ZN_TEST(values_of_every_type)
{
    zn_error err = {{0}};
    zn_gguf *file = NULL;
    const char *path = zn_test_path(zn_test_quant(), "tiny.gguf");
    zn_test_need(path);
    zn_test_ok(zn_gguf_open(path, &file, &err), &err);
    integer_is(file, "test.u8", 200);
    integer_is(file, "test.i8", -5);
    integer_is(file, "test.u16", 60000);
    integer_is(file, "test.i16", -300);
    integer_is(file, "test.u32", 4000000000);
    integer_is(file, "test.i32", -7);
    integer_is(file, "test.u64", (int64_t)1 << 40);
    integer_is(file, "test.i64", -((int64_t)1 << 40));
    integer_is(file, "test.bool", 1);
    number_is(file, "test.f32", 0.5);
    number_is(file, "test.f64", -2.25);
    assert_string_equal(zn_gguf_value_find(file, "test.str")->text, "Z\xc3\xbcrich \xe2\x9c\x93");
    assert_string_equal(zn_gguf_value_find(file, "general.architecture")->text, "lumina2");
    zn_gguf_items items = zn_gguf_items_of(zn_gguf_value_find(file, "test.arr_i32"));
    const int64_t integers[] = {1, -2, 3};
    int64_t integer;
    for (int i = 0; i < 3; i++)
        assert_true(zn_gguf_next_integer(&items, &integer) && integer == integers[i]);
    assert_false(zn_gguf_next_integer(&items, &integer));
    items = zn_gguf_items_of(zn_gguf_value_find(file, "test.arr_str"));
    const char *const texts[] = {"a", "", "ccc"};
    zn_gguf_text text;
    for (int i = 0; i < 3; i++) {
        assert_true(zn_gguf_next_text(&items, &text) && text.length == strlen(texts[i]));
        assert_memory_equal(text.data, texts[i], text.length);
    }
    assert_false(zn_gguf_next_text(&items, &text));
    items = zn_gguf_items_of(zn_gguf_value_find(file, "test.arr_f32"));
    double number;
    assert_true(zn_gguf_next_number(&items, &number) && number == 1.5);
    assert_true(zn_gguf_next_number(&items, &number) && number == -0.25);
    zn_gguf_free(file);
}

// --- safetensors files of other makers

ZN_TEST(mlx_files)
{
    static const char *const types[] = {"float32", "bfloat16"};
    static const int forms[][2] = {{4, 64}, {4, 32}, {4, 128}, {8, 64}};
    const zn_shape shape = ZN_SHAPE(64, 256);
    for (int i = 0; i < 8; i++) {
        char name[64], text[64], wanted[64];
        const int bits = forms[i / 2][0], group = forms[i / 2][1];
        snprintf(name, sizeof name, "mlx_%s_b%d_g%d.safetensors", types[i % 2], bits, group);
        zn_safetensors *golden = open_golden(name);
        zn_weights *weights = open_weights(zn_test_path(zn_test_quant(), name));
        same_weight(weights, "layer.weight", &shape, need(golden, "dequant_f32"));
        same_weight(weights, "layer.weight", NULL, need(golden, "dequant_f32"));
        zn_error err = {{0}};
        zn_stored_weight weight;
        const zn_file_tensor *tensor = zn_weights_find(weights, "layer.weight");
        zn_test_ok(zn_stored_weight_of(weights, tensor, NULL, &weight, &err), &err);
        zn_stored_weight_text(&weight, text, sizeof text);
        snprintf(wanted, sizeof wanted, "MLX %d-bit, groups of %d", bits, group);
        assert_string_equal(text, wanted);
        assert_true(zn_stored_weight_bits(&weight) == bits + (i % 2 ? 32.0 : 64.0) / group);
        zn_weights_free(weights);
        zn_safetensors_free(golden);
    }
}

ZN_TEST(rotated_integers)
{
    static const char *const names[][3] = {
        {"g256.weight", "g256.weight_dequant_unrotated", "INT8 convrot 256"},
        {"g64.weight", "g64.weight_dequant_unrotated", "INT8 convrot 64"},
    };
    zn_safetensors *golden = open_golden("convrot.safetensors");
    zn_weights *weights = open_weights(zn_test_path(zn_test_quant(), "convrot.safetensors"));
    for (int i = 0; i < 2; i++) {
        zn_error err = {{0}};
        char text[64];
        zn_stored_weight weight;
        const zn_file_tensor *tensor = zn_weights_find(weights, names[i][0]);
        same_weight(weights, names[i][0], NULL, need(golden, names[i][1]));
        zn_test_ok(zn_stored_weight_of(weights, tensor, NULL, &weight, &err), &err);
        zn_stored_weight_text(&weight, text, sizeof text);
        assert_string_equal(text, names[i][2]);
    }
    // Without rotation the values are integers times their row's scale.
    const zn_file_tensor *numbers = need(golden, "plain.weight");
    const zn_file_tensor *scales = need(golden, "plain.weight_scale");
    float values[24 * 192], scale;
    zn_error err = {{0}};
    zn_test_ok(zn_weights_read_f32(weights, "plain.weight", &numbers->shape, values, &err), &err);
    for (size_t i = 0; i < 24 * 192; i++) {
        memcpy(&scale, scales->data + i / 192 * 4, 4);
        assert_true(values[i] == (float)(int8_t)numbers->data[i] * scale);
    }
    zn_weights_free(weights);
    zn_safetensors_free(golden);
}

static void write_set(const char *path, zn_file_tensor *tensors, size_t count)
{
    zn_error err = {{0}};
    zn_writer *writer = NULL;
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_safetensors_write(writer, tensors, count, NULL, 0, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
}

// The goldens have the parts under other names than files have.
ZN_TEST(small_floats)
{
    zn_safetensors *golden = open_golden("fp8_nvfp4.safetensors");
    uint8_t codes[256];
    const float scale = 0.5f;
    for (int i = 0; i < 256; i++) codes[i] = (uint8_t)i;
    zn_file_tensor tensors[] = {*need(golden, "nvfp4.weight"),
                                *need(golden, "nvfp4.weight_scale_u8"),
                                *need(golden, "nvfp4.weight_scale_2"),
                                {.name = "e4m3fn.weight", .type = ZN_F8_E4M3},
                                {.name = "e4m3fn.scale_weight", .type = ZN_F32},
                                {.name = "e5m2.weight", .type = ZN_F8_E5M2}};
    tensors[1].name = "nvfp4.weight_scale";
    tensors[1].type = ZN_F8_E4M3;
    tensors[3].shape = tensors[5].shape = ZN_SHAPE(256);
    tensors[3].data = tensors[5].data = codes;
    tensors[4].data = (const uint8_t *)&scale;
    write_set(scratch("small_floats.safetensors"), tensors, 6);
    zn_weights *weights = open_weights(scratch("small_floats.safetensors"));
    same_weight(weights, "nvfp4.weight", NULL, need(golden, "nvfp4.deq"));
    same_weight(weights, "e5m2.weight", NULL, need(golden, "e5m2"));
    float values[256];
    zn_error err = {{0}};
    zn_test_ok(zn_weights_read_f32(weights, "e4m3fn.weight", NULL, values, &err), &err);
    for (int i = 0; i < 256; i++) values[i] *= 2; // exact
    same_bits("e4m3fn", values, need(golden, "e4m3fn")->data, 256);
    zn_weights_free(weights);
    zn_safetensors_free(golden);
}
