// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// safetensors: what is read, what is refused, what is written.
#include "src/format/tensor/safetensors.h"
#include "tests/format/crafted.h"

#include <stdlib.h>

// --- what is read

ZN_TEST(reads_what_was_crafted)
{
    // "b" has the type at odd address 1 + header: nothing is aligned.
    crafted file = craft_safetensors(
        "{\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[1,9]},"
        "\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},"
        "\"z\":{\"dtype\":\"F4\",\"shape\":[6],\"data_offsets\":[9,12]},"
        "\"e\":{\"dtype\":\"BF16\",\"shape\":[3,0],\"data_offsets\":[9,9]},"
        "\"__metadata__\":{\"k\":\"v\\u00e9\",\"format\":\"pt\"}}   ",
        12);
    const float two[2] = {1.5f, -3.25f};
    memcpy(file.bytes + file.size - 11, two, sizeof two);
    zn_error err = {{0}};
    zn_safetensors *tensors;
    zn_test_ok(zn_safetensors_open_memory(file.bytes, file.size, "crafted", &tensors, &err), &err);
    assert_int_equal(zn_safetensors_count(tensors), 4);
    assert_string_equal(zn_safetensors_get(tensors, 0)->name, "a");
    assert_string_equal(zn_safetensors_get(tensors, 3)->name, "z");
    const zn_file_tensor *b = zn_safetensors_find(tensors, "b");
    assert_non_null(b);
    assert_true(b->supported && b->type == ZN_F32 && b->bytes == 8);
    float got[2];
    zn_test_ok(zn_file_tensor_read(b, got, &err), &err);
    assert_memory_equal(got, two, sizeof two);
    assert_int_equal(zn_safetensors_find(tensors, "e")->bytes, 0);
    assert_int_equal(zn_safetensors_find(tensors, "a")->shape.rank, 0);
    assert_null(zn_safetensors_find(tensors, "c"));
    assert_string_equal(zn_safetensors_metadata(tensors, "format"), "pt");
    assert_string_equal(zn_safetensors_metadata(tensors, "k"), "v\xc3\xa9");
    assert_null(zn_safetensors_metadata(tensors, "x"));
    assert_int_equal(zn_safetensors_metadata_count(tensors), 2);

    const zn_file_tensor *z = zn_safetensors_find(tensors, "z"); // listed, but of no use
    assert_false(z->supported);
    assert_string_equal(z->dtype, "F4");
    zenith_status status = zn_file_tensor_read(z, got, &err);
    expect_refusal("z", status, &err, ZENITH_UNSUPPORTED, "\"z\" has elements of type F4");
    zn_safetensors_free(tensors);
}

// Every type, stored at an odd address, comes out as the same numbers.
ZN_TEST(converts_every_type)
{
    static const zn_type types[] = {ZN_F64, ZN_F32, ZN_F16, ZN_BF16, ZN_S64, ZN_S32,
                                    ZN_S16, ZN_S8,  ZN_U16, ZN_U8,   ZN_BOOL};
    uint8_t bytes[1 + 600 * 8];
    float values[600], got[600];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        uint64_t aligned[600];
        for (size_t i = 0; i < 600; i++) {
            values[i] = types[t] == ZN_BOOL ? (float)(i % 2) : (float)(i % 100);
            zn_type_store(types[t], aligned, i, values[i]);
        }
        size_t size = 600 * zn_type_size(types[t]);
        memcpy(bytes + 1, aligned, size);
        zn_file_tensor tensor = {.name = "t",
                                 .type = types[t],
                                 .supported = true,
                                 .shape = ZN_SHAPE(2, 300),
                                 .data = bytes + 1,
                                 .bytes = size};
        zn_error err = {{0}};
        zn_test_ok(zn_file_tensor_read(&tensor, got, &err), &err);
        assert_memory_equal(got, values, sizeof got);
    }
}

// --- what is refused

#define ENTRY(dtype, shape, offsets)                                                               \
    "{\"t\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define PAIR(begin1, end1, begin2, end2)                                                           \
    "{\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" begin1 "," end1 "]},"              \
    "\"u\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" begin2 "," end2 "]}}"

static const struct broken {
    const char *name;
    const char *header;
    size_t data;
    zenith_status status;
    const char *fragment;
} broken[] = {
    {"no header", "", 0, ZENITH_BAD_FILE, "broken JSON"},
    {"not JSON", "hello", 0, ZENITH_BAD_FILE, "broken JSON"},
    {"not an object", "[1]", 0, ZENITH_BAD_FILE, "not a JSON object"},
    {"text after it", "{} {}", 0, ZENITH_BAD_FILE, "broken JSON"},
    {"invalid UTF-8", "{\"\xff\":1}", 0, ZENITH_BAD_FILE, "broken JSON"},
    {"zero in a name", "{\"a\\u0000b\":1}", 0, ZENITH_BAD_FILE, "broken JSON"},
    {"tensor is a number", "{\"t\":1}", 0, ZENITH_BAD_FILE, "\"t\": it is not described"},
    {"no type", "{\"t\":{\"shape\":[],\"data_offsets\":[0,0]}}", 0, ZENITH_BAD_FILE,
     "\"t\": \"dtype\" must be a string but is absent"},
    {"type is a number", "{\"t\":{\"dtype\":1}}", 0, ZENITH_BAD_FILE,
     "\"dtype\" must be a string but is an integer"},
    {"no shape", "{\"t\":{\"dtype\":\"U8\",\"data_offsets\":[0,0]}}", 0, ZENITH_BAD_FILE,
     "\"shape\" must be an array"},
    {"no offsets", "{\"t\":{\"dtype\":\"U8\",\"shape\":[0]}}", 0, ZENITH_BAD_FILE,
     "\"data_offsets\" must be an array"},
    {"negative dimension", ENTRY("U8", "[-1]", "[0,0]"), 0, ZENITH_BAD_FILE, "a dimension"},
    {"fractional dimension", ENTRY("U8", "[1.0]", "[0,1]"), 1, ZENITH_BAD_FILE, "a dimension"},
    {"text dimension", ENTRY("U8", "[\"1\"]", "[0,1]"), 1, ZENITH_BAD_FILE, "a dimension"},
    {"dimension past 64 bits", ENTRY("U8", "[99999999999999999999]", "[0,1]"), 1, ZENITH_BAD_FILE,
     "broken JSON"},
    {"product past 64 bits", ENTRY("U8", "[4294967296,4294967296,4294967296]", "[0,0]"), 0,
     ZENITH_BAD_FILE, "too large"},
    {"bytes past 64 bits", ENTRY("F64", "[4611686018427387904]", "[0,0]"), 0, ZENITH_BAD_FILE,
     "does not make"},
    {"seven dimensions", ENTRY("U8", "[1,1,1,1,1,1,1]", "[0,1]"), 1, ZENITH_UNSUPPORTED,
     "\"t\": it has 7 dimensions; at most 6"},
    {"one offset", ENTRY("U8", "[1]", "[0]"), 1, ZENITH_BAD_FILE, "[begin, end]"},
    {"three offsets", ENTRY("U8", "[1]", "[0,1,1]"), 1, ZENITH_BAD_FILE, "[begin, end]"},
    {"backward offsets", ENTRY("U8", "[1]", "[1,0]"), 1, ZENITH_BAD_FILE, "[begin, end]"},
    {"negative offset", ENTRY("U8", "[1]", "[-1,0]"), 1, ZENITH_BAD_FILE, "[begin, end]"},
    {"past the end", ENTRY("U8", "[2]", "[0,2]"), 1, ZENITH_BAD_FILE,
     "ends at byte 2 of the data, which has only 1"},
    {"far past the end", ENTRY("U8", "[9223372036854775807]", "[0,9223372036854775807]"), 1,
     ZENITH_BAD_FILE, "cut short"},
    {"size is not the shape's", ENTRY("F32", "[1,2]", "[0,4]"), 4, ZENITH_BAD_FILE,
     "[1, 2] of type F32 does not make the 4 bytes"},
    {"size of a listed type", ENTRY("U32", "[1]", "[0,2]"), 2, ZENITH_BAD_FILE, "does not make"},
    {"same name twice", "{\"t\":{},\"t\":{}}", 0, ZENITH_BAD_FILE, "duplicate"},
    {"same key twice",
     "{\"t\":{\"dtype\":\"U8\",\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,1]}}", 1,
     ZENITH_BAD_FILE, "duplicate"},
    {"overlap", PAIR("0", "4", "2", "6"), 6, ZENITH_BAD_FILE, "\"u\" begins at byte 2"},
    {"the same bytes twice", PAIR("0", "4", "0", "4"), 4, ZENITH_BAD_FILE, "overlap"},
    {"hole at the start", PAIR("1", "5", "5", "9"), 9, ZENITH_BAD_FILE, "byte 0 is next"},
    {"hole between", PAIR("0", "4", "5", "9"), 9, ZENITH_BAD_FILE, "leave a hole"},
    {"hole at the end", PAIR("0", "4", "4", "8"), 9, ZENITH_BAD_FILE, "belongs to none"},
    {"data without tensors", "{}", 1, ZENITH_BAD_FILE, "belongs to none"},
    {"metadata is a text", "{\"__metadata__\":\"x\"}", 0, ZENITH_BAD_FILE, "not an object"},
    {"metadata holds a number", "{\"__metadata__\":{\"n\":1}}", 0, ZENITH_BAD_FILE,
     "metadata \"n\" is not a string"},
};

ZN_TEST(refuses_broken_files)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        crafted file = craft_safetensors(broken[i].header, broken[i].data);
        zn_safetensors *tensors = NULL;
        zn_error err = {{0}};
        zenith_status status = zn_safetensors_open_memory(file.bytes, file.size, "bad.safetensors",
                                                          &tensors, &err);
        expect_refusal(broken[i].name, status, &err, broken[i].status, broken[i].fragment);
        expect_refusal(broken[i].name, status, &err, broken[i].status, "bad.safetensors: ");
        assert_null(tensors);
    }
}

ZN_TEST(refuses_bad_lengths)
{
    const char *good = ENTRY("U8", "[4]", "[0,4]");
    crafted file = craft_safetensors(good, 4);
    zn_safetensors *tensors = NULL;
    for (size_t size = 0; size < file.size; size++) { // every way to cut it short
        zn_error err = {{0}};
        zenith_status status = zn_safetensors_open_memory(size ? file.bytes : NULL, size, "cut",
                                                          &tensors, &err);
        expect_refusal("cut", status, &err, ZENITH_BAD_FILE, "cut: ");
    }
    file.bytes[7] = 0xff; // a header of 2^63 bytes and more
    zn_error err = {{0}};
    zenith_status status = zn_safetensors_open_memory(file.bytes, file.size, "long", &tensors,
                                                      &err);
    expect_refusal("long", status, &err, ZENITH_BAD_FILE, "not a safetensors file");
}

ZN_TEST(refuses_deep_and_many)
{
    static char text[3 << 20];
    memset(text, '[', sizeof text);
    uint8_t *file = malloc(8 + sizeof text);
    zn_safetensors *tensors = NULL;
    zn_error err = {{0}};
    memset(file, 0, 8);
    file[2] = sizeof text >> 16;
    memcpy(file + 8, text, sizeof text);
    zenith_status status = zn_safetensors_open_memory(file, 8 + sizeof text, "deep", &tensors,
                                                      &err);
    expect_refusal("deep", status, &err, ZENITH_BAD_FILE, "nested 3145728 levels deep");
    for (size_t i = 0; i < sizeof text; i++) file[8 + i] = (uint8_t) "{},"[i % 3];
    file[8] = '[';
    err.text[0] = '\0';
    status = zn_safetensors_open_memory(file, 8 + sizeof text, "many", &tensors, &err);
    expect_refusal("many", status, &err, ZENITH_BAD_FILE, "values, more than the limit");
    free(file);
}

ZN_TEST(says_which_file_is_missing)
{
    zn_safetensors *tensors = NULL;
    zn_error err = {{0}};
    zenith_status status = zn_safetensors_open("no/such.safetensors", &tensors, &err);
    expect_refusal("missing", status, &err, ZENITH_NOT_FOUND, "no/such.safetensors");
}

// --- what is written

ZN_TEST(writes_what_it_reads)
{
    const float f[3] = {1, 2, 3};
    const uint16_t h[2] = {0x3f80, 0x4000};
    const uint8_t u[5] = {9, 8, 7, 6, 5};
    zn_file_tensor tensors[] = {
        {.name = "u", .type = ZN_U8, .shape = ZN_SHAPE(5), .data = u},
        {.name = "h", .type = ZN_BF16, .shape = ZN_SHAPE(2, 1), .data = (const uint8_t *)h},
        {.name = "f", .type = ZN_F32, .shape = ZN_SHAPE(1, 3), .data = (const uint8_t *)f},
        {.name = "\"q\" \n", .type = ZN_F32, .shape = {.rank = 1}},
        {.name = "a", .type = ZN_U8, .shape = {.rank = 0}, .data = u},
    };
    const zn_metadata metadata[] = {{"z", "\xc3\xa9 \"x\""}, {"b", ""}};
    const char *path = scratch("written.safetensors");
    zn_error err = {{0}};
    zn_writer *writer;
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_safetensors_write(writer, tensors, 5, metadata, 2, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);

    zn_mapped file = {0};
    zn_test_ok(zn_mapped_open(path, &file, &err), &err);
    const char
        *header = "{\"\\\"q\\\" \\n\":{\"data_offsets\":[0,0],\"dtype\":\"F32\",\"shape\":[0]},"
                  "\"__metadata__\":{\"b\":\"\",\"z\":\"\xc3\xa9 \\\"x\\\"\"},"
                  "\"a\":{\"data_offsets\":[16,17],\"dtype\":\"U8\",\"shape\":[]},"
                  "\"f\":{\"data_offsets\":[0,12],\"dtype\":\"F32\",\"shape\":[1,3]},"
                  "\"h\":{\"data_offsets\":[12,16],\"dtype\":\"BF16\",\"shape\":[2,1]},"
                  "\"u\":{\"data_offsets\":[17,22],\"dtype\":\"U8\",\"shape\":[5]}}";
    assert_memory_equal(file.data + 8, header, strlen(header)); // every byte is decided
    assert_int_equal(file.data[0] % 8, 0);
    zn_mapped_close(&file);

    zn_safetensors *back;
    zn_test_ok(zn_safetensors_open(path, &back, &err), &err);
    assert_int_equal(zn_safetensors_count(back), 5);
    assert_memory_equal(zn_safetensors_find(back, "f")->data, f, sizeof f);
    assert_memory_equal(zn_safetensors_find(back, "h")->data, h, sizeof h);
    assert_memory_equal(zn_safetensors_find(back, "u")->data, u, sizeof u);
    assert_string_equal(zn_safetensors_metadata(back, "z"), "\xc3\xa9 \"x\"");
    zn_safetensors_free(back);
}

ZN_TEST(refuses_to_write_nonsense)
{
    const uint8_t u[1] = {0};
    zn_file_tensor twice[] = {{.name = "t", .type = ZN_U8, .shape = ZN_SHAPE(1), .data = u},
                              {.name = "t", .type = ZN_U8, .shape = ZN_SHAPE(1), .data = u}};
    zn_file_tensor huge = {.name = "t", .type = ZN_F64, .shape = ZN_SHAPE(INT64_MAX, 4)};
    const zn_metadata bad = {"k", "\xff"};
    zn_writer *writer;
    zn_error err = {{0}};
    zn_test_ok(zn_writer_open(scratch("refused.safetensors"), &writer, &err), &err);
    zenith_status status = zn_safetensors_write(writer, twice, 2, NULL, 0, &err);
    expect_refusal("twice", status, &err, ZENITH_INVALID_ARGUMENT, "\"t\" occurs twice");
    err.text[0] = '\0';
    status = zn_safetensors_write(writer, &huge, 1, NULL, 0, &err);
    expect_refusal("huge", status, &err, ZENITH_INVALID_ARGUMENT, "too large");
    err.text[0] = '\0';
    status = zn_safetensors_write(writer, twice, 1, &bad, 1, &err);
    expect_refusal("bad text", status, &err, ZENITH_INVALID_ARGUMENT, "not valid UTF-8");
    zn_writer_discard(writer);
}
