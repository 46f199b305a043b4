// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes, hostile ones too, their texts, and descriptions.
#include "tests/testing.h"

#include "src/tensor/tensor.h"

#include <string.h>

ZN_TEST(shapes)
{
    zn_shape a = ZN_SHAPE(1, 64, 64, 4), b = ZN_SHAPE(1, 64, 64, 4), c = ZN_SHAPE(1, 64, 64);
    assert_int_equal(a.rank, 4);
    assert_true(zn_shape_equal(&a, &b));
    assert_false(zn_shape_equal(&a, &c));
    b.dim[3] = 5;
    assert_false(zn_shape_equal(&a, &b));
    size_t elements = 0;
    assert_true(zn_shape_elements(&a, &elements));
    assert_int_equal(elements, 64 * 64 * 4);
    zn_shape scalar = zn_shape_make(0, NULL), empty = ZN_SHAPE(3, 0, 2);
    assert_true(zn_shape_elements(&scalar, &elements));
    assert_int_equal(elements, 1);
    assert_true(zn_shape_elements(&empty, &elements));
    assert_int_equal(elements, 0);
}

ZN_TEST(hostile_shapes)
{
    size_t out = 7;
    zn_shape negative = ZN_SHAPE(3, -1), large = ZN_SHAPE(INT64_MAX, 3), most = ZN_SHAPE(INT64_MAX);
    zn_shape deep = ZN_SHAPE(1, 1, 1, 1, 1, 1, 1), below = zn_shape_make(-2, NULL);
    assert_false(zn_shape_elements(&negative, &out));
    assert_false(zn_shape_elements(&large, &out));
    assert_false(zn_shape_elements(&deep, &out));
    assert_false(zn_shape_elements(&below, &out));
    zn_desc desc = zn_desc_make(ZN_F32, most);
    assert_false(zn_desc_bytes(&desc, &out));
    assert_int_equal(out, 7);
}

ZN_TEST(shape_texts)
{
    char text[32], small[8];
    zn_shape shape = ZN_SHAPE(1, 64, -1, 4), scalar = zn_shape_make(0, NULL);
    assert_int_equal(zn_shape_text(&shape, text, sizeof text), strlen("[1, 64, -1, 4]"));
    assert_string_equal(text, "[1, 64, -1, 4]");
    zn_shape_text(&scalar, text, sizeof text);
    assert_string_equal(text, "[]");
    assert_int_equal(zn_shape_text(&shape, small, sizeof small), 7);
    assert_string_equal(small, "[1, 64,");
}

ZN_TEST(descriptions)
{
    size_t bytes;
    zn_desc desc = zn_desc_make(ZN_BF16, ZN_SHAPE(2, 3, 5));
    assert_true(desc.scale == 1);
    assert_null(desc.layout);
    assert_true(zn_desc_bytes(&desc, &bytes));
    assert_int_equal(bytes, 60);
    zn_layout packed = {.bytes = 128, .key_size = 3, .key = "abc"}, same = packed, other = packed;
    const char key[] = {'a', 'b', 'c'};
    same.key = key;
    other.key = "abd";
    desc.layout = &packed;
    assert_true(zn_desc_bytes(&desc, &bytes));
    assert_int_equal(bytes, 128);
    assert_true(zn_layout_equal(&packed, &same));
    assert_false(zn_layout_equal(&packed, &other));
    assert_false(zn_layout_equal(&packed, NULL));
    assert_true(zn_layout_equal(NULL, NULL));
    same.bytes = 64;
    assert_false(zn_layout_equal(&packed, &same));
}
