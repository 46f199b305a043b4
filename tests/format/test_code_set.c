// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files with the codes of many pictures: what is written comes back to the bit, with mean and
// deviation; without them they are computed; what is no such file is refused with a sentence.
#include "tests/testing.h"

#include "src/format/latent/code_set.h"
#include "src/format/tensor/safetensors.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 3, COUNT = 4 };
static const float codes[COUNT][NUMBERS] = {{1, 2, 7}, {2, 2, -7}, {3, 2, 7}, {6, 2, -7}};
static const char *const names[COUNT] = {"a/1.png", "a/2.png", "b \"quoted\".png", "\xc3\xa4.png"};

static const char *path_of(void)
{
    return zn_test_path(zn_test_build(), "code_set.safetensors");
}

ZN_TEST(there_and_back)
{
    zn_error err = {0};
    zn_writer *writer = NULL;
    zn_code_set read = {.count = 0};
    zn_code_set is = {.weights = "0123abcd", .width = 8, .height = 16, .numbers = NUMBERS};
    for (int i = 0; i < COUNT; i++)
        zn_test_ok(zn_code_set_add(&is, names[i], codes[i], &err), &err);
    zn_test_ok(zn_code_set_add_failed(&is, "broken.png", &err), &err);
    zn_test_ok(zn_code_set_measure(&is, &err), &err);
    zn_test_ok(zn_writer_open(path_of(), &writer, &err), &err);
    zn_test_ok(zn_code_set_write(writer, &is, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    zn_test_ok(zn_code_set_open(path_of(), &read, &err), &err);
    assert_string_equal(read.weights, is.weights);
    assert_int_equal(read.width, 8);
    assert_int_equal(read.height, 16);
    assert_int_equal(read.count, COUNT);
    assert_int_equal(read.numbers, NUMBERS);
    assert_memory_equal(read.codes, codes, sizeof codes);
    for (size_t i = 0; i < COUNT; i++) assert_string_equal(zn_code_set_name(&read, i), names[i]);
    assert_null(zn_code_set_name(&read, COUNT));
    assert_int_equal(zn_json_size(read.failed), 1);
    assert_float_equal(read.mean[0], 3, 0);
    assert_float_equal(read.deviation[0], sqrtf(14.0f / 3), 1e-6); // over one less than there are
    assert_float_equal(read.deviation[1], 1, 0);                   // all agree
    assert_float_equal(read.mean[2], 0, 0);
    zn_code_set_free(&read);
    zn_code_set_free(&is);
    assert_int_equal(zn_code_set_add(&is, "\xff.png", codes[0], &err), ZENITH_INVALID_ARGUMENT);
    zn_code_set_free(&is);
}

// Files of other shapes or facts.
ZN_TEST(refused)
{
    static const struct {
        const char *model, *size, *pictures;
        int64_t rank, statistics;
        float last;
        zenith_status status;
    } cases[] = {
        {"diffae", "[8,8]", "[\"a\",\"b\"]", 2, 3, 1, ZENITH_OK},
        {"diffae", NULL, NULL, 2, 3, 1, ZENITH_OK},
        {"diffae", "[8,8]", "[\"a\",\"b\"]", 2, 0, 1, ZENITH_OK},
        {"taesd", "[8,8]", "[\"a\",\"b\"]", 2, 3, 1, ZENITH_BAD_FILE},
        {"diffae", "8", "[\"a\",\"b\"]", 2, 3, 1, ZENITH_BAD_FILE},
        {"diffae", "[8,0]", "[\"a\",\"b\"]", 2, 3, 1, ZENITH_BAD_FILE},
        {"diffae", "[8,8]", "[\"a\"]", 2, 3, 1, ZENITH_BAD_FILE},
        {"diffae", "[8,8]", "[\"a\",1]", 2, 3, 1, ZENITH_BAD_FILE},
        {"diffae", "[8,8]", "[\"a\",\"b\"]", 1, 3, 1, ZENITH_BAD_FILE},
        {"diffae", "[8,8]", "[\"a\",\"b\"]", 2, 2, 1, ZENITH_BAD_FILE},
        {"diffae", "[8,8]", "[\"a\",\"b\"]", 2, 3, 0, ZENITH_BAD_FILE},
        {"diffae", "[8,8]", "[\"a\",\"b\"]", 2, 3, INFINITY, ZENITH_BAD_FILE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_error err = {0};
        zn_writer *writer = NULL;
        zn_code_set read;
        float z[6] = {1, 2, 3, 4, 5, 6}, mean[3] = {0}, deviation[3] = {1, 1, cases[i].last};
        zn_metadata facts[3] = {{"zenith.model", cases[i].model}};
        size_t pairs = 1;
        if (cases[i].size) facts[pairs++] = (zn_metadata){"zenith.size", cases[i].size};
        if (cases[i].pictures) facts[pairs++] = (zn_metadata){"zenith.pictures", cases[i].pictures};
        zn_file_tensor tensors[3] = {
            {.name = "z", .type = ZN_F32, .shape = ZN_SHAPE(2, 3), .data = (const void *)z},
            {.name = "conds_mean", .type = ZN_F32, .data = (const void *)mean},
            {.name = "conds_std", .type = ZN_F32, .data = (const void *)deviation}};
        if (cases[i].rank == 1) tensors[0].shape = ZN_SHAPE(6);
        tensors[1].shape = tensors[2].shape = ZN_SHAPE(cases[i].statistics);
        zn_test_ok(zn_writer_open(path_of(), &writer, &err), &err);
        zn_test_ok(
            zn_safetensors_write(writer, tensors, cases[i].statistics ? 3 : 1, facts, pairs, &err),
            &err);
        zn_test_ok(zn_writer_commit(writer, &err), &err);
        zenith_status status = zn_code_set_open(path_of(), &read, &err);
        if (status != cases[i].status) print_message("case %zu: %s\n", i, err.text);
        assert_int_equal(status, cases[i].status);
        if (status == ZENITH_OK) zn_code_set_free(&read);
    }
}
