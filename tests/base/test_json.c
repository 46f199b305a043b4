// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Getters that name the key, bounds on hostile documents, dumps, floats that come back.
#include "src/base/json.h"
#include "src/base/memory.h"
#include "tests/testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static zn_json *parse(const char *text)
{
    zn_error err = {{0}};
    zn_json *value = NULL;
    zn_test_ok(zn_json_parse(text, strlen(text), "text", &value, &err), &err);
    return value;
}

static void expect(zenith_status status, const zn_error *err, const char *fragment)
{
    assert_int_equal(status, ZENITH_BAD_FILE);
    if (!strstr(err->text, fragment)) fail_msg("\"%s\" lacks \"%s\"", err->text, fragment);
}

ZN_TEST(getters_name_the_key)
{
    zn_json *value = parse(
        "{\"t\":\"x\",\"i\":-7,\"r\":0.5,\"f\":true,\"a\":[1,2],\"o\":{},\"n\":null}");
    zn_error err = {{0}};
    const char *text;
    int64_t integer;
    double number;
    bool flag;
    const zn_json *inner;
    zn_test_ok(zn_json_get_text(value, "t", &text, &err), &err);
    assert_string_equal(text, "x");
    zn_test_ok(zn_json_get_integer(value, "i", -7, -7, &integer, &err), &err);
    assert_int_equal(integer, -7);
    zn_test_ok(zn_json_get_number(value, "i", &number, &err), &err);
    assert_true(number == -7);
    zn_test_ok(zn_json_get_flag(value, "f", &flag, &err), &err);
    assert_true(flag);
    zn_test_ok(zn_json_get_array(value, "a", &inner, &err), &err);
    assert_int_equal(zn_json_size(inner), 2);
    assert_null(zn_json_at(inner, 2));
    zn_test_ok(zn_json_get_object(value, "o", &inner, &err), &err);
    assert_true(zn_json_has(value, "o") && !zn_json_has(value, "n") && !zn_json_has(value, "x"));

    expect(zn_json_get_text(value, "i", &text, &err), &err,
           "\"i\" must be a string but is an integer");
    err.text[0] = '\0';
    expect(zn_json_get_integer(value, "r", 0, 9, &integer, &err), &err, "\"r\" must be an integer");
    err.text[0] = '\0';
    expect(zn_json_get_integer(value, "i", -6, 9, &integer, &err), &err,
           "\"i\" is -7 and must be between -6 and 9");
    err.text[0] = '\0';
    expect(zn_json_get_number(value, "n", &number, &err), &err,
           "\"n\" must be a number but is null");
    err.text[0] = '\0';
    expect(zn_json_get_flag(value, "gone", &flag, &err), &err,
           "\"gone\" must be true or false but is absent");
    err.text[0] = '\0';
    expect(zn_json_get_array(value, "o", &inner, &err), &err, "must be an array but is an object");
    zn_json_free(value);
}

ZN_TEST(bounds_are_kept)
{
    char text[2 * ZN_JSON_MAX_DEPTH + 3];
    for (size_t depth = ZN_JSON_MAX_DEPTH; depth <= ZN_JSON_MAX_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        zn_json *value = NULL;
        zn_error err = {{0}};
        zenith_status status = zn_json_parse(text, 2 * depth, "deep", &value, &err);
        if (depth == ZN_JSON_MAX_DEPTH)
            zn_test_ok(status, &err);
        else
            expect(status, &err, "deep: JSON nested 65 levels deep");
        zn_json_free(value);
    }
    zn_json *value = parse("\"[[[[\\\"[[[{{{,,,\""); // brackets in a string are text
    zn_json_free(value);
    static const char *const bad[] = {"",     "{",        "{} x", "{\"a\":1,\"a\":2}",
                                      "[1,]", "\"\xff\"", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        zn_error err = {{0}};
        value = NULL;
        expect(zn_json_parse(bad[i], strlen(bad[i]), "bad", &value, &err), &err,
               "bad: broken JSON");
        assert_null(value);
    }
}

ZN_TEST(dump_is_sorted)
{
    zn_json *value = parse(" { \"b\" : [ 1 , 2.5 ] , \"a\" : \"\\u00e9\\n\" } ");
    zn_error err = {{0}};
    char *text = NULL;
    size_t size;
    zn_test_ok(zn_json_dump(value, &text, &size, &err), &err);
    assert_string_equal(text, "{\"a\":\"\xc3\xa9\\n\",\"b\":[1,2.5]}");
    assert_int_equal(size, strlen(text));
    zn_free(text);
    zn_json_free(value);
}

// Floats of every exponent come back to the bit.
ZN_TEST(floats_come_back)
{
    uint32_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 1664525u + 1013904223u;
        float value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        char text[32];
        zn_error err = {{0}};
        zn_test_ok(zn_json_float_text(value, text, &err), &err);
        zn_json *number = parse(text);
        double wide;
        assert_true(zn_json_as_number(number, &wide));
        back = (float)wide;
        assert_memory_equal(&value, &back, sizeof value);
        zn_json_free(number);
    }
    char text[32];
    zn_error err = {{0}};
    zn_test_ok(zn_json_float_text(0.18215f, text, &err), &err);
    assert_string_equal(text, "0.18215");
    assert_int_equal(zn_json_float_text(NAN, text, &err), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_json_float_text(-INFINITY, text, &err), ZENITH_INVALID_ARGUMENT);
}
