// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A model written as 8-bit floats: which tensors are, how far each value is from what it was, what
// its scale is, and what is left after writing again. tests/api/test_models.c runs such models.
#include "tests/model/weight_files.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/format/tensor/weight_scale.h"
#include "src/model/model.h"

#include <math.h>
#include <string.h>

typedef struct f8 {
    zn_type type;
    double largest, step, smallest; // the largest number, relative and absolute half steps
} f8;

static const f8 kinds[] = {{ZN_F8_E4M3, 448, 0x1p-4, 0x1p-10},
                           {ZN_F8_E5M2, 57344, 0x1p-3, 0x1p-17}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static zn_model *open_tiny(void)
{
    return model_at(zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers"), "taesd");
}

static void write_model(const zn_model *model, const char *path, zn_type type)
{
    zn_error err = {0};
    zn_test_ok(zn_model_write(model, path, type, &err), &err);
}

static float *values_of(const zn_weights *weights, const zn_file_tensor *tensor, size_t *count)
{
    zn_error err = {0};
    assert_true(zn_shape_elements(&tensor->shape, count));
    float *values = zn_alloc(*count * sizeof *values);
    assert_non_null(values);
    zn_test_ok(zn_weights_read_f32(weights, tensor->name, NULL, values, &err), &err);
    return values;
}

// The scale is a power of two, and half of it would be too small.
static void check_scale(const f8 *kind, float scale, const float *values, size_t count)
{
    float largest_value = 0; // in float: gcc 12 for 64-bit Arm fails on the loop in double
    int exponent;
    for (size_t i = 0; i < count; i++) {
        if (fabsf(values[i]) > largest_value) largest_value = fabsf(values[i]);
    }
    const double largest = (double)largest_value;
    assert_true(frexp((double)scale, &exponent) == 0.5);
    assert_true(largest / (double)scale <= kind->largest);
    assert_true(largest / ((double)scale / 2) > kind->largest);
}

static void check_tensor(const f8 *kind, const zn_weights *before, const zn_weights *after,
                         const zn_file_tensor *old, size_t *narrow)
{
    size_t count, same;
    zn_error err = {0};
    float scale = 0;
    const zn_file_tensor *now = zn_weights_find(after, old->name);
    assert_non_null(now);
    assert_true(zn_shape_equal(&old->shape, &now->shape));
    float *values = values_of(before, old, &count), *stored = values_of(after, now, &same);
    if (old->shape.rank == 4) {
        assert_int_equal(now->type, kind->type);
        zn_test_ok(zn_weight_scale(after, now, &scale, &err), &err);
        check_scale(kind, scale, values, count);
        for (size_t i = 0; i < count; i++) {
            const double bound = fmax(fabs((double)values[i]) * kind->step,
                                      (double)scale * kind->smallest);
            assert_true(fabs((double)stored[i] - (double)values[i]) <= bound);
        }
        ++*narrow;
    } else {
        assert_int_equal(now->type, ZN_F32);
        assert_memory_equal(values, stored, count * sizeof *values);
    }
    zn_free(values);
    zn_free(stored);
}

ZN_TEST(convolutions_alone)
{
    zn_model *model = open_tiny();
    const char *wide = zn_test_path(zn_test_build(), "f8_wide.safetensors");
    const char *path = zn_test_path(zn_test_build(), "f8_narrow.safetensors");
    write_model(model, wide, ZN_F32);
    for (int i = 0; i < KINDS; i++) {
        zn_error err = {0};
        zn_weights *before = NULL, *after = NULL;
        size_t narrow = 0;
        write_model(model, path, kinds[i].type);
        zn_test_ok(zn_weights_open(wide, &before, &err), &err);
        zn_test_ok(zn_weights_open(path, &after, &err), &err);
        for (size_t k = 0; k < zn_weights_count(before); k++)
            check_tensor(&kinds[i], before, after, zn_weights_get(before, k), &narrow);
        assert_true(narrow > 10);
        assert_int_equal(zn_weights_count(after), zn_weights_count(before) + narrow);
        zn_weights_free(before);
        zn_weights_free(after);
    }
    zn_model_unref(model);
}

static void same_file(const char *a, const char *b)
{
    zn_error err = {0};
    zn_mapped x = {0}, y = {0};
    zn_test_ok(zn_mapped_open(a, &x, &err), &err);
    zn_test_ok(zn_mapped_open(b, &y, &err), &err);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    zn_mapped_close(&x);
    zn_mapped_close(&y);
}

static void same_values(const char *a, const char *b)
{
    zn_error err = {0};
    zn_weights *x = NULL, *y = NULL;
    zn_test_ok(zn_weights_open(a, &x, &err), &err);
    zn_test_ok(zn_weights_open(b, &y, &err), &err);
    assert_true(zn_weights_count(y) > 10);
    for (size_t i = 0; i < zn_weights_count(y); i++) {
        size_t count, same;
        const zn_file_tensor *tensor = zn_weights_get(y, i);
        if (tensor->shape.rank != 4) continue; // biases were f32 and are rounded
        float *left = values_of(x, zn_weights_find(x, tensor->name), &count);
        float *right = values_of(y, tensor, &same);
        assert_memory_equal(left, right, count * sizeof *left);
        zn_free(left);
        zn_free(right);
    }
    zn_weights_free(x);
    zn_weights_free(y);
}

// Written again they keep numbers and scales. bf16 holds them, since the scale is a power of two.
ZN_TEST(written_again)
{
    zn_model *model = open_tiny();
    const char *first = zn_test_path(zn_test_build(), "f8_first.safetensors");
    const char *again = zn_test_path(zn_test_build(), "f8_again.safetensors");
    const char *between = zn_test_path(zn_test_build(), "f8_between.safetensors");
    for (int i = 0; i < KINDS; i++) {
        write_model(model, first, kinds[i].type);
        zn_model *narrow = model_at(first, "taesd");
        assert_int_equal(narrow->unexpected, 0); // scales belong to their weights
        write_model(narrow, again, kinds[i].type);
        same_file(first, again);
        write_model(narrow, between, ZN_BF16);
        same_values(first, between);
        zn_model_unref(narrow);
    }
    zn_model_unref(model);
}
