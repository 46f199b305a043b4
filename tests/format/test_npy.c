// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// npy files of every version and type, broken ones, and what is written.
#include "src/format/tensor/elements.h"
#include "src/format/tensor/npy.h"
#include "tests/format/crafted.h"

// An npy file of the given version: header text as it stands, then `data` bytes 0, 1, 2, ...
static crafted craft_npy(int version, const char *header, size_t data)
{
    crafted file = {0};
    size_t length = strlen(header);
    memcpy(file.bytes, "\x93NUMPY", 6);
    file.bytes[6] = (uint8_t)version;
    file.bytes[8] = (uint8_t)length;
    file.bytes[9] = (uint8_t)(length >> 8);
    file.size = version == 1 ? 10 : 12;
    memcpy(file.bytes + file.size, header, length);
    file.size += length;
    for (size_t i = 0; i < data; i++) file.bytes[file.size++] = (uint8_t)i;
    return file;
}

#define HEADER(descr, shape)                                                                       \
    "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"

ZN_TEST(every_version_and_type_is_read)
{
    static const struct {
        const char *header;
        zn_type type;
        size_t bytes;
    } good[] = {
        {HEADER("<f4", "(2, 3)"), ZN_F32, 24},
        {HEADER("<f2", "(6,)"), ZN_F16, 12},
        {HEADER("<f8", "(1, 2, 3)"), ZN_F64, 48},
        {HEADER("|u1", "(6,)"), ZN_U8, 6},
        {HEADER("|i1", "(6, 1)"), ZN_S8, 6},
        {HEADER("<i4", "(6,)"), ZN_S32, 24},
        {HEADER("<i8", "(3, 2)"), ZN_S64, 48},
        {HEADER("<f4", "()"), ZN_F32, 4},
        {HEADER("<f4", "(0, 5)"), ZN_F32, 0},
        {"{\"shape\":(6,),\"descr\":\"|u1\",\"fortran_order\":False}    \n", ZN_U8, 6},
    };
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            crafted file = craft_npy(version, good[i].header, good[i].bytes);
            zn_npy array = {0};
            zn_error err = {{0}};
            zn_test_ok(zn_npy_parse(file.bytes, file.size, "n", &array, &err), &err);
            assert_int_equal(array.type, good[i].type);
            assert_int_equal(array.bytes, good[i].bytes);
            if (array.bytes) assert_int_equal(array.data[array.bytes - 1], good[i].bytes - 1);
        }
}

ZN_TEST(broken_files_are_refused)
{
    static const struct {
        const char *header;
        size_t data;
        zenith_status status;
        const char *fragment;
    } bad[] = {
        {"  \n", 0, ZENITH_BAD_FILE, "not a dictionary"},
        {"{}", 0, ZENITH_BAD_FILE, "is missing"},
        {"{  ", 0, ZENITH_BAD_FILE, "a string is missing"},
        {"{'descr", 0, ZENITH_BAD_FILE, "does not end"},
        {"{'descr' '<f4'}", 0, ZENITH_BAD_FILE, "a colon"},
        {"{'a_key_too_long_for_us': 1}", 0, ZENITH_BAD_FILE, "an odd string"},
        {"{'descr': '<f4', 'fortran_order': False}", 4, ZENITH_BAD_FILE, "is missing"},
        {"{'descr': '<f4', 'descr': '<f4'}", 4, ZENITH_BAD_FILE, "occurs twice"},
        {"{'descr': '<f4' 'shape': ()}", 4, ZENITH_BAD_FILE, "a comma"},
        {"{'other': 1}", 0, ZENITH_BAD_FILE, "unknown"},
        {"{'fortran_order': 0}", 0, ZENITH_BAD_FILE, "True or False"},
        {"{'shape': [1]}", 0, ZENITH_BAD_FILE, "not a tuple"},
        {HEADER("<f4", "(1)"), 4, ZENITH_BAD_FILE, "not a tuple"},
        {HEADER("<f4", "(1 1)"), 4, ZENITH_BAD_FILE, "a comma is missing in the shape"},
        {HEADER("<f4", "(-1,)"), 4, ZENITH_BAD_FILE, "not a number"},
        {HEADER("<f4", "(1L,)"), 4, ZENITH_BAD_FILE, "comma"},
        {HEADER("<f4", "(99999999999999999999,)"), 4, ZENITH_BAD_FILE, "too large"},
        {HEADER("<f4", "(4294967296, 4294967296, 4294967296)"), 4, ZENITH_BAD_FILE, "bytes"},
        {HEADER("<f4", "(4611686018427387905,)"), 4, ZENITH_BAD_FILE, "4 bytes, which is not"},
        {HEADER("<f4", "(1, 1, 1, 1, 1, 1, 1)"), 4, ZENITH_UNSUPPORTED, "more than 6 dimensions"},
        {HEADER("<f4", "(2,)"), 7, ZENITH_BAD_FILE, "7 bytes, which is not"},
        {HEADER("<f4", "(2,)"), 9, ZENITH_BAD_FILE, "9 bytes, which is not"},
        {HEADER("<f4", "(2,)") "x", 8, ZENITH_BAD_FILE, "something follows"},
        {HEADER(">f4", "(2,)"), 8, ZENITH_UNSUPPORTED, "'>f4' is not supported"},
        {HEADER("<c8", "(1,)"), 8, ZENITH_UNSUPPORTED, "'<c8' is not supported"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4,
         ZENITH_UNSUPPORTED, "records"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", 8, ZENITH_UNSUPPORTED,
         "Fortran order"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        crafted file = craft_npy(1, bad[i].header, bad[i].data);
        zn_npy array = {0};
        zn_error err = {{0}};
        zenith_status status = zn_npy_parse(file.bytes, file.size, "bad.npy", &array, &err);
        expect_refusal(bad[i].header, status, &err, bad[i].status, bad[i].fragment);
        expect_refusal(bad[i].header, status, &err, bad[i].status, "bad.npy: ");
        assert_null(array.data);
    }
}

ZN_TEST(bad_starts_are_refused)
{
    crafted file = craft_npy(2, HEADER("<f4", "(2,)"), 8);
    zn_npy array = {0};
    for (size_t size = 0; size < file.size; size++) { // every way to cut it short
        zn_error err = {{0}};
        assert_int_equal(zn_npy_parse(file.bytes, size, "cut", &array, &err), ZENITH_BAD_FILE);
    }
    zn_error err = {{0}};
    file.bytes[11] = 0x80; // a header of 2 GB
    zenith_status status = zn_npy_parse(file.bytes, file.size, "long", &array, &err);
    expect_refusal("long", status, &err, ZENITH_BAD_FILE, "ends in its header");
    file.bytes[6] = 4;
    err.text[0] = '\0';
    status = zn_npy_parse(file.bytes, file.size, "new", &array, &err);
    expect_refusal("new", status, &err, ZENITH_UNSUPPORTED, "npy version 4.0");
}

static void round_trip(zn_type type, const zn_shape *shape, const void *data, const char *dims)
{
    const char *path = scratch("round.npy");
    zn_error err = {{0}};
    zn_writer *writer;
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_npy_write(writer, type, shape, data, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    zn_mapped file = {0};
    zn_npy array = {0};
    zn_test_ok(zn_mapped_open(path, &file, &err), &err);
    zn_test_ok(zn_npy_parse(file.data, file.size, path, &array, &err), &err);
    assert_true(array.type == type && zn_shape_equal(&array.shape, shape));
    assert_int_equal((array.data - file.data) % 64, 0); // as NumPy aligns it
    assert_int_equal(array.data[-1], '\n');
    assert_non_null(memmem(file.data, file.size, dims, strlen(dims)));
    if (array.bytes) assert_memory_equal(array.data, data, array.bytes);
    zn_mapped_close(&file);
}

ZN_TEST(writes_what_it_reads)
{
    const float values[6] = {1, -2, 3.5f, 1e-30f, 1e30f, 0};
    const uint8_t bytes[6] = {0, 1, 2, 253, 254, 255};
    zn_shape scalar = {.rank = 0}, line = ZN_SHAPE(6), plane = ZN_SHAPE(2, 3),
             none = ZN_SHAPE(0, 3);
    zn_shape deep = ZN_SHAPE(1, 1, 1, 1, 2, 3);
    round_trip(ZN_F32, &scalar, values, "'shape': (), }");
    round_trip(ZN_F32, &line, values, "'shape': (6,), }");
    round_trip(ZN_F32, &plane, values, "'shape': (2, 3), }");
    round_trip(ZN_U8, &plane, bytes, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }");
    round_trip(ZN_F32, &none, values, "(0, 3)");
    round_trip(ZN_F32, &deep, values, "(1, 1, 1, 1, 2, 3)");
    zn_error err = {{0}};
    zn_writer *writer;
    zn_test_ok(zn_writer_open(scratch("refused.npy"), &writer, &err), &err);
    zenith_status status = zn_npy_write_header(writer, ZN_BF16, &plane, &err);
    expect_refusal("bf16", status, &err, ZENITH_INVALID_ARGUMENT, "bf16");
    zn_writer_discard(writer);
}
