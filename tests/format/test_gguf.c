// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// GGUF files: what a good one gives, and what is refused of bad ones.
#include "src/format/tensor/gguf.h"
#include "src/format/tensor/stored_weight.h"
#include "tests/format/craft_gguf.h"

#include <stdlib.h>

enum { F32 = 0, Q8_0 = 8, UNKNOWN = 99, U8 = 0, U32 = 4, TEXT = 8, ARRAY = 9, U64 = 10 };
static const uint64_t pair[] = {3, 2}, row[] = {32, 1}, odd[] = {31, 2};

static zenith_status open_crafted(const crafted *file, zn_gguf **out, zn_error *err)
{
    return zn_gguf_open_memory(file->bytes, file->size, "crafted", out, err);
}

// Values of a few kinds, data at multiples of 64, an empty tensor, one in blocks, one of no known
// type.
static crafted good_file(void)
{
    const uint64_t none[] = {0, 7}, four[] = {1, 2, 1, 1};
    crafted file = craft_gguf(5, 4);
    put_value(&file, "general.alignment", U32);
    put_number(&file, 64, 4);
    put_value(&file, "general.architecture", TEXT);
    put_text(&file, "qwen3");
    put_value(&file, "nested", ARRAY);
    put_number(&file, ARRAY, 4);
    put_number(&file, 2, 8);
    for (int i = 0; i < 2; i++) {
        put_number(&file, U8, 4);
        put_number(&file, 3, 8);
        put_bytes(&file, "abc", 3);
    }
    put_value(&file, "big", U64);
    put_number(&file, UINT64_MAX, 8);
    put_tensor(&file, "z.unknown", 2, pair, UNKNOWN, 128);
    put_tensor(&file, "b.weight", 2, pair, F32, 0);
    put_tensor(&file, "a.blocks", 2, row, Q8_0, 64);
    put_tensor(&file, "empty", 2, none, F32, 64);
    put_tensor(&file, "four", 4, four, F32, 192);
    put_data(&file, 64, 200);
    return file;
}

ZN_TEST(a_good_file)
{
    const crafted file = good_file();
    zn_error err = {{0}};
    zn_gguf *gguf = NULL;
    zn_test_ok(open_crafted(&file, &gguf, &err), &err);
    assert_int_equal(zn_gguf_count(gguf), 5);
    assert_string_equal(zn_gguf_get(gguf, 0)->name, "a.blocks");
    const zn_file_tensor *tensor = zn_gguf_find(gguf, "b.weight");
    const uint8_t *data = file.bytes + file.size - 200;
    assert_true(tensor->supported && tensor->type == ZN_F32 && tensor->bytes == 24);
    assert_true(tensor->shape.rank == 2 && tensor->shape.dim[0] == 2 && tensor->shape.dim[1] == 3);
    assert_ptr_equal(tensor->data, data);
    tensor = zn_gguf_find(gguf, "a.blocks");
    assert_true(!tensor->supported && tensor->blocks && tensor->bytes == 34);
    assert_ptr_equal(tensor->data, data + 64);
    tensor = zn_gguf_find(gguf, "z.unknown");
    assert_true(!zn_file_tensor_readable(tensor) && tensor->bytes == 64); // up to the next one
    assert_string_equal(tensor->dtype, "GGUF_99");
    assert_int_equal(zn_gguf_find(gguf, "empty")->bytes, 0);
    assert_int_equal(zn_gguf_find(gguf, "four")->shape.dim[2], 2);
    assert_null(zn_gguf_find(gguf, "b"));
    zn_gguf_free(gguf);
}

ZN_TEST(values_of_a_good_file)
{
    const crafted file = good_file();
    zn_error err = {{0}};
    zn_gguf *gguf = NULL;
    int64_t integer;
    double number = 0;
    zn_gguf_text text;
    zn_test_ok(open_crafted(&file, &gguf, &err), &err);
    assert_int_equal(zn_gguf_value_count(gguf), 4);
    const zn_gguf_value *value = zn_gguf_value_find(gguf, "general.architecture");
    assert_string_equal(value->text, "qwen3");
    assert_true(zn_gguf_as_text(value, &text) && text.length == 5);
    assert_false(zn_gguf_as_integer(value, &integer) || zn_gguf_as_number(value, &number));
    value = zn_gguf_value_find(gguf, "big");
    assert_false(zn_gguf_as_integer(value, &integer)); // it does not fit
    assert_true(zn_gguf_as_number(value, &number) && number == 0x1p64);
    value = zn_gguf_value_find(gguf, "nested");
    assert_true(value->type == ZN_GGUF_ARRAY && value->item == ZN_GGUF_ARRAY && value->count == 2);
    zn_gguf_items items = zn_gguf_items_of(value);
    assert_false(zn_gguf_next_integer(&items, &integer) || zn_gguf_next_text(&items, &text));
    items = zn_gguf_items_of(NULL);
    assert_false(zn_gguf_next_number(&items, &number));
    assert_null(zn_gguf_value_find(gguf, "general"));
    zn_gguf_free(gguf);
}

// However much is missing at the end, what is left is refused with a sentence: the last tensor has
// bytes.
ZN_TEST(cut_anywhere)
{
    const crafted file = good_file();
    for (size_t size = 0; size < file.size; size++) {
        zn_error err = {{0}};
        zn_gguf *gguf = NULL;
        uint8_t *copy = malloc(size + 1); // its end is guarded by the sanitizers
        memcpy(copy, file.bytes, size);
        zenith_status status = zn_gguf_open_memory(copy, size, "cut", &gguf, &err);
        if (status == ZENITH_OK && size >= file.size - 8) // zeros after the last tensor
            zn_gguf_free(gguf);
        else
            assert_true(status == ZENITH_BAD_FILE && *err.text && !gguf);
        free(copy);
    }
}

static void refused(const char *name, const crafted *file, zenith_status expected,
                    const char *fragment)
{
    zn_error err = {{0}};
    zn_gguf *gguf = NULL;
    zenith_status status = open_crafted(file, &gguf, &err);
    expect_refusal(name, status, &err, expected, fragment);
    assert_null(gguf);
}

ZN_TEST(bad_heads)
{
    crafted file = craft_gguf(0, 0);
    file.bytes[0] = 'g';
    refused("magic", &file, ZENITH_BAD_FILE, "not a GGUF file");
    file = craft_gguf(0, 0);
    file.bytes[4] = 2;
    refused("version", &file, ZENITH_UNSUPPORTED, "GGUF version 2");
    file.bytes[4] = 0;
    file.bytes[7] = 3;
    refused("order", &file, ZENITH_UNSUPPORTED, "big-endian");
    file = craft_gguf(UINT64_MAX, 0);
    refused("tensors", &file, ZENITH_BAD_FILE, "18446744073709551615 tensors");
    file = craft_gguf(0, UINT64_MAX / 40);
    refused("values", &file, ZENITH_BAD_FILE, "cannot hold");
    file = craft_gguf(0, 1);
    put_data(&file, 1, 13); // as long as the shortest value, but no value
    refused("key", &file, ZENITH_BAD_FILE, "the key of a value");
}

ZN_TEST(bad_values)
{
    crafted file = craft_gguf(0, 1);
    put_value(&file, "k", 13);
    put_number(&file, 0, 8);
    refused("type", &file, ZENITH_BAD_FILE, "\"k\" at byte 37 is of no known type");
    file = craft_gguf(0, 1);
    put_value(&file, "k", TEXT);
    put_number(&file, UINT64_MAX, 8);
    refused("text", &file, ZENITH_BAD_FILE, "does not end in the file");
    const uint64_t counts[] = {UINT64_MAX, UINT64_MAX / 8 + 2, 100};
    for (int i = 0; i < 3; i++) {
        file = craft_gguf(0, 1);
        put_value(&file, "k", ARRAY);
        put_number(&file, i == 2 ? TEXT : U64, 4);
        put_number(&file, counts[i], 8);
        put_data(&file, 1, 16);
        refused("count", &file, ZENITH_BAD_FILE, "does not end in the file");
    }
    file = craft_gguf(0, 1);
    put_value(&file, "k", ARRAY);
    for (int i = 0; i < 40; i++) {
        put_number(&file, ARRAY, 4);
        put_number(&file, 1, 8);
    }
    refused("nesting", &file, ZENITH_BAD_FILE, "nested too deep");
    file = craft_gguf(0, 2);
    for (int i = 0; i < 2; i++) {
        put_value(&file, "k", U32);
        put_number(&file, 0, 4);
    }
    refused("twice", &file, ZENITH_BAD_FILE, "two values have the key \"k\"");
}

ZN_TEST(names_are_text)
{
    static const char *const good[] = {"", "k", "\xc3\xbc", "\xe2\x9c\x93!", "\xf0\x9f\x98\x80"};
    static const char *const bad[] = {
        "\n",       "\x7f",         "\x80",         "\xc3",     "\xc0\x80",        "\xc3k",
        "\xe2\x9c", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80", "\xf4\x90\x80\x80"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        crafted file = craft_gguf(0, 1);
        zn_gguf *gguf = NULL;
        zn_error err = {{0}};
        put_value(&file, good[i], U32);
        put_number(&file, 0, 4);
        zn_test_ok(open_crafted(&file, &gguf, &err), &err);
        assert_non_null(zn_gguf_value_find(gguf, good[i]));
        zn_gguf_free(gguf);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        crafted file = craft_gguf(0, 1);
        put_value(&file, bad[i], U32);
        put_number(&file, 0, 4);
        refused("key", &file, ZENITH_BAD_FILE, "no plain text");
    }
    crafted file = craft_gguf(0, 1);
    put_value(&file, "k", U32);
    put_number(&file, 0, 4);
    file.bytes[24 + 8] = 0; // the key itself
    refused("zero", &file, ZENITH_BAD_FILE, "no plain text");
}

ZN_TEST(bad_alignments)
{
    const uint64_t alignments[] = {0, 4, 12, 33};
    for (int i = 0; i < 5; i++) {
        crafted file = craft_gguf(0, 1);
        put_value(&file, "general.alignment", i == 4 ? U64 : U32);
        put_number(&file, i == 4 ? 32 : alignments[i], 8);
        refused("alignment", &file, ZENITH_BAD_FILE, "multiple of 8");
    }
}

ZN_TEST(bad_tensors)
{
    const uint64_t large[] = {UINT64_MAX, 1}, product[] = {(uint64_t)1 << 40, (uint64_t)1 << 40};
    const uint64_t many[] = {1, 1, 1, 1};
    const uint64_t heavy[] = {(uint64_t)1 << 32, (uint64_t)1 << 30};
    const struct {
        const uint64_t *dims;
        uint32_t rank, type;
        uint64_t offset;
        const char *fragment;
    } cases[] = {
        {many, 5, F32, 0, "5 dimensions"},
        {large, 2, F32, 0, "product of its dimensions is too large"},
        {product, 2, F32, 0, "product of its dimensions is too large"},
        {heavy, 2, F32, 0, "more bytes than can be counted"},
        {odd, 2, Q8_0, 0, "rows of 31 are not whole blocks of 32"},
        {row, 0, Q8_0, 0, "rows of 1 are not whole blocks"},
        {pair, 2, F32, 16, "no multiple of 32"},
        {pair, 2, F32, 96, "cut short"},
        {pair, 2, F32, UINT64_MAX - 31, "cut short"},
        {pair, 2, UNKNOWN, 4096, "cut short"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crafted file = craft_gguf(1, 0);
        put_tensor(&file, "t", cases[i].rank, cases[i].dims, cases[i].type, cases[i].offset);
        put_data(&file, 32, 64);
        refused("tensor", &file, ZENITH_BAD_FILE, cases[i].fragment);
    }
    for (int i = 0; i < 2; i++) {
        const uint64_t dims[] = {16};
        crafted file = craft_gguf(2, 0);
        put_tensor(&file, "a", 1, dims, F32, 0);
        put_tensor(&file, i ? "a" : "b", 1, dims, F32, i ? 64 : 32);
        put_data(&file, 32, 128);
        refused("two", &file, ZENITH_BAD_FILE, i ? "the name \"a\"" : "where another has begun");
    }
}

// The same interface as for other files: found by name, read as f32, with ones in shapes left out.
ZN_TEST(as_weights)
{
    const crafted file = good_file();
    const char *path = scratch("as_weights.GGUF");
    write_file(path, file.bytes, file.size);
    zn_error err = {{0}};
    zn_weights *weights = NULL;
    float values[32];
    const zn_shape wanted = ZN_SHAPE(1, 32), other = ZN_SHAPE(32, 2), two = ZN_SHAPE(2);
    zn_test_ok(zn_weights_open(path, &weights, &err), &err);
    assert_int_equal(zn_weights_count(weights), 5);
    assert_string_equal(zn_weights_metadata(weights, "general.architecture"), "qwen3");
    assert_null(zn_weights_metadata(weights, "big"));
    assert_non_null(zn_weights_gguf(weights));
    zn_test_ok(zn_weights_read_f32(weights, "a.blocks", &wanted, values, &err), &err);
    for (int i = 0; i < 32; i++) // the scale is the f16 of the bytes 64 and 65
        assert_true(values[i] == zn_f16_to_f32(0x4140) * (float)(66 + i));
    zn_test_ok(zn_weights_read_f32(weights, "four", &two, values, &err), &err);
    zenith_status status = zn_weights_read_f32(weights, "a.blocks", &other, values, &err);
    expect_refusal("shape", status, &err, ZENITH_BAD_FILE, "has the shape [1, 32] where [32, 2]");
    err = (zn_error){{0}};
    status = zn_weights_read_f32(weights, "z.unknown", NULL, values, &err);
    expect_refusal("type", status, &err, ZENITH_UNSUPPORTED, "type GGUF_99");
    zn_weights_free(weights);
}
