// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files with a diffusion autoencoder's code: what is written comes back to the bit, with and
// without noise; what is no such file is refused with a sentence.
#include "tests/testing.h"

#include "src/base/memory.h"
#include "src/format/latent/diffae_code.h"
#include "src/format/tensor/safetensors.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 6, CHANNELS = 3, HEIGHT = 4, WIDTH = 5, VALUES = CHANNELS * HEIGHT * WIDTH };

static zn_diffae_code example(bool noise)
{
    static float code[NUMBERS], noises[VALUES];
    for (int i = 0; i < NUMBERS; i++) code[i] = (float)i - 0.3f;
    for (int i = 0; i < VALUES; i++) noises[i] = (float)i * 0.01f;
    zn_diffae_code is = {
        .weights = "0123abcd", .width = WIDTH, .height = HEIGHT, .numbers = NUMBERS, .code = code};
    if (noise) is.noise = noises, is.channels = CHANNELS, is.factor = 1, is.steps = 250;
    return is;
}

static const char *path_of(void)
{
    return zn_test_path(zn_test_build(), "diffae_code.safetensors");
}

ZN_TEST(there_and_back)
{
    for (int noise = 0; noise < 2; noise++) {
        zn_error err = {0};
        zn_writer *writer = NULL;
        zn_diffae_code read = {.channels = 0};
        const zn_diffae_code is = example(noise);
        zn_test_ok(zn_writer_open(path_of(), &writer, &err), &err);
        zn_test_ok(zn_diffae_code_write(writer, &is, &err), &err);
        zn_test_ok(zn_writer_commit(writer, &err), &err);
        zn_test_ok(zn_diffae_code_open(path_of(), &read, &err), &err);
        assert_string_equal(read.weights, is.weights);
        assert_int_equal(read.width, WIDTH);
        assert_int_equal(read.height, HEIGHT);
        assert_int_equal(read.channels, is.channels);
        assert_int_equal(read.steps, is.steps);
        assert_int_equal(read.numbers, NUMBERS);
        assert_memory_equal(read.code, is.code, NUMBERS * sizeof(float));
        assert_true((read.noise != NULL) == (noise != 0));
        if (noise) assert_memory_equal(read.noise, is.noise, VALUES * sizeof(float));
        zn_diffae_code_free(&read);
    }
}

ZN_TEST(not_written)
{
    zn_error err = {0};
    zn_writer *writer = NULL;
    zn_diffae_code bad[5] = {example(true), example(true), example(false), example(true),
                             example(true)};
    bad[0].width = 0;
    bad[1].steps = 0;
    bad[2].channels = 3;
    bad[3].numbers = 0;
    bad[4].factor = 2; // of a width of 5
    zn_test_ok(zn_writer_open(path_of(), &writer, &err), &err);
    for (int i = 0; i < 5; i++)
        assert_int_equal(zn_diffae_code_write(writer, &bad[i], &err), ZENITH_INVALID_ARGUMENT);
    zn_writer_discard(writer);
}

// A file with other facts or shapes than a code has.
ZN_TEST(refused)
{
    static const struct {
        const char *model, *size, *steps;
        int64_t rank_of_z, rows;
        zn_type type;
        float number;
    } bad[] = {{"taesd", "[5,4]", "10", 1, HEIGHT, ZN_F32, 1},
               {"diffae", "[5,4,3]", "10", 1, HEIGHT, ZN_F32, 1},
               {"diffae", "[5,0]", "10", 1, HEIGHT, ZN_F32, 1},
               {"diffae", "5x4", "10", 1, HEIGHT, ZN_F32, 1},
               {"diffae", "[5,4]", "0", 1, HEIGHT, ZN_F32, 1},
               {"diffae", "[5,4]", "[10]", 1, HEIGHT, ZN_F32, 1},
               {"diffae", "[5,4]", "10", 2, HEIGHT, ZN_F32, 1},
               {"diffae", "[5,4]", "10", 1, HEIGHT - 1, ZN_F32, 1},
               {"diffae", "[5,4]", "10", 1, HEIGHT, ZN_BF16, 1},
               {"diffae", "[5,4]", "10", 1, HEIGHT, ZN_F32, NAN}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        static float values[VALUES];
        zn_error err = {0};
        zn_writer *writer = NULL;
        zn_diffae_code read;
        zn_metadata metadata[] = {{"zenith.model", bad[i].model},
                                  {"zenith.size", bad[i].size},
                                  {"zenith.steps", bad[i].steps}};
        zn_file_tensor tensors[] = {
            {.name = "z",
             .type = bad[i].type,
             .shape = bad[i].rank_of_z == 1 ? ZN_SHAPE(NUMBERS) : ZN_SHAPE(1, NUMBERS),
             .data = (const void *)values},
            {.name = "x_T",
             .type = ZN_F32,
             .shape = ZN_SHAPE(CHANNELS, bad[i].rows, WIDTH),
             .data = (const void *)values}};
        values[2] = bad[i].number;
        zn_test_ok(zn_writer_open(path_of(), &writer, &err), &err);
        zn_test_ok(zn_safetensors_write(writer, tensors, 2, metadata, 3, &err), &err);
        zn_test_ok(zn_writer_commit(writer, &err), &err);
        assert_int_equal(zn_diffae_code_open(path_of(), &read, &err), ZENITH_BAD_FILE);
        assert_non_null(strstr(err.text, "code"));
    }
}
