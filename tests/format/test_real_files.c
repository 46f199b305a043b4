// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The readers on files that others made: published weights and the goldens of PyTorch. A program of
// its own, because it is skipped as a whole where that material is not there.
#include "src/format/tensor/safetensors.h"
#include "src/format/tensor/weights.h"
#include "tests/format/crafted.h"

#include <stdlib.h>

ZN_TEST(reads_real_weights)
{
    const char *path = zn_test_path(zn_test_weights(), "taesd_encoder.safetensors");
    zn_test_need(path);
    zn_error err = {{0}};
    zn_safetensors *file;
    zn_test_ok(zn_safetensors_open(path, &file, &err), &err);
    const zn_file_tensor *first = zn_safetensors_find(file, "0.weight");
    assert_non_null(first);
    zn_shape expected = ZN_SHAPE(64, 3, 3, 3);
    assert_true(zn_shape_equal(&first->shape, &expected));
    float values[64 * 27], sum = 0;
    zn_test_ok(zn_file_tensor_read(first, values, &err), &err);
    for (size_t i = 0; i < 64 * 27; i++) {
        assert_true(values[i] > -10 && values[i] < 10);
        sum += values[i] * values[i];
    }
    assert_true(sum > 0.1f);

    // Written again, every tensor has the same bytes.
    size_t count = zn_safetensors_count(file);
    zn_file_tensor *copy = calloc(count, sizeof *copy);
    for (size_t i = 0; i < count; i++) copy[i] = *zn_safetensors_get(file, i);
    zn_writer *writer;
    const char *again = scratch("again.safetensors");
    zn_test_ok(zn_writer_open(again, &writer, &err), &err);
    zn_test_ok(zn_safetensors_write(writer, copy, count, NULL, 0, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    zn_safetensors *back;
    zn_test_ok(zn_safetensors_open(again, &back, &err), &err);
    assert_int_equal(zn_safetensors_count(back), count);
    for (size_t i = 0; i < count; i++) {
        const zn_file_tensor *a = zn_safetensors_get(file, i), *b = zn_safetensors_get(back, i);
        assert_string_equal(a->name, b->name);
        assert_true(zn_shape_equal(&a->shape, &b->shape) && a->type == b->type);
        assert_memory_equal(a->data, b->data, a->bytes);
    }
    free(copy);
    zn_safetensors_free(back);
    zn_safetensors_free(file);
}

ZN_TEST(opens_shards)
{
    static const char *const folders[] = {"zimage_transformer", "pipeline/transformer"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = zn_test_path(zn_test_golden(), folders[i]);
        zn_test_need(path);
        zn_error err = {{0}};
        zn_weights *weights = NULL;
        zn_test_ok(zn_weights_open(path, &weights, &err), &err);
        size_t bytes = 0;
        for (size_t t = 0; t < zn_weights_count(weights); t++)
            bytes += zn_weights_get(weights, t)->bytes;
        assert_int_equal(bytes, 3782912); // "total_size" of its index
        assert_non_null(zn_weights_find(weights, "all_final_layer.2-1.adaLN_modulation.1.bias"));
        assert_non_null(zn_weights_config(weights));
        zn_weights_free(weights);
    }
}

ZN_TEST(opens_folders_with_one_file)
{
    static const char *const folders[] = {"tiny_taesd", "vae_sd", "qwen3", "diffae"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *path = zn_test_path(zn_test_golden(), folders[i]);
        zn_test_need(path);
        zn_error err = {{0}};
        zn_weights *weights = NULL;
        zn_test_ok(zn_weights_open(path, &weights, &err), &err);
        assert_true(zn_weights_count(weights) > 0);
        assert_non_null(zn_weights_config(weights));
        zn_weights_free(weights);
    }
}
