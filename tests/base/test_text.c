// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The formatter against a table, and against the C library's where both mean the same.
#include "tests/testing.h"

#include "src/base/log.h"
#include "src/base/text.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// The format is a literal here, so the compiler checks the arguments too.
#define check(expected, ...)                                                                       \
    do {                                                                                           \
        char text_[1024];                                                                          \
        size_t length_ = zn_text_format(text_, sizeof text_, __VA_ARGS__);                         \
        assert_string_equal(text_, expected);                                                      \
        assert_int_equal(length_, strlen(expected));                                               \
    } while (0)

// Ours must be what the C library says.
#define same(...)                                                                                  \
    do {                                                                                           \
        char theirs_[1024];                                                                        \
        snprintf(theirs_, sizeof theirs_, __VA_ARGS__);                                            \
        check(theirs_, __VA_ARGS__);                                                               \
    } while (0)

static void integers(void **state)
{
    (void)state;
    same("%d %i %u %x", INT_MIN, -7, UINT_MAX, 0xdeadbeefu);
    same("%ld %lu %lx", LONG_MIN, ULONG_MAX, 0x123456789abcul);
    same("%lld %llu", LLONG_MIN, ULLONG_MAX);
    same("%zu %zd", (size_t)SIZE_MAX, (ssize_t)-5);
    same("[%5d] [%05u] [%-5d] [%08x] [%05d]", 42, 42u, 42, 0xabcu, -42);
    same("[%*d] [%-*d]", 7, 1, 7, 2);
    same("%d%%", 100);
    same("%d", 0);
}

static void texts(void **state)
{
    (void)state;
    const char *volatile none = NULL;
    same("%s|%.3s|%.*s|%c", "abc", "abcdef", 2, "xyz", 'q');
    same("[%8s] [%-8s]", "right", "left");
    check("(null)", "%s", none);
    check("", "%s", "");
    const char unterminated[3] = {'a', 'b', 'c'};
    same("%.*s", 3, unterminated);
}

static void doubles(void **state)
{
    (void)state;
    static const double values[] = {
        0,         0.5,  1.5,    2.5,     0.125,       0.375,   1e-7,      4.9999995, 0.9999996,
        1234.5678, 1e15, 1e22,   1e300,   0x1p64,      0x1p63,  0x1.8p-60, DBL_MIN,   DBL_MAX,
        3.14159,   0.1,  0x1p53, 999.995, DBL_MIN / 4, 0x1p-75, 0x1p-54,
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (int sign = 0; sign < 2; sign++) {
            double value = sign ? -values[i] : values[i];
            for (int decimals = 0; decimals <= 18; decimals++) same("%.*f", decimals, value);
            same("%f", value);
        }
    }
    same("[%9.2f] [%-9.2f] [%09.2f]", -1.005, 1.005, -2.5);
    check("nan inf -inf", "%f %f %f", (double)NAN, (double)INFINITY, -(double)INFINITY);
    check("1.5 2 0.1 100 0 -3.25", "%g %g %g %g %g %g", 1.5, 2.0, 0.1, 100.0, 1e-9, -3.25);
    check("0.333", "%.3g", 1.0 / 3);
}

static void random_doubles(void **state)
{
    (void)state;
    uint64_t bits = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        // Exponents around one, where most decimals are, and now and then anything.
        uint64_t exponent = i % 4 ? 1023 - 70 + (bits >> 3) % 140 : (bits >> 3) % 2047;
        uint64_t pattern = (bits & 0x800fffffffffffffu) | exponent << 52;
        double value;
        memcpy(&value, &pattern, sizeof value);
        same("%.*f", i % 19, value);
    }
}

static void cutting(void **state)
{
    (void)state;
    char small[8];
    assert_int_equal(zn_text_format(small, sizeof small, "%s", "0123456789"), 7);
    assert_string_equal(small, "0123456");
    assert_int_equal(zn_text_format(small, sizeof small, "abc%09d", 5), 7);
    assert_string_equal(small, "abc0000");
    assert_int_equal(zn_text_format(small, 1, "abc"), 0);
    assert_string_equal(small, "");
    assert_int_equal(zn_text_format(small, sizeof small, "%99999d", 1), 7);
}

static void unknown_conversions(void **state)
{
    (void)state;
    const char *volatile format = "a %q %d";
    char text[32];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    zn_text_format(text, sizeof text, format);
    assert_string_equal(text, "a %q %d");
    format = "end %";
    zn_text_format(text, sizeof text, format);
#pragma GCC diagnostic pop
    assert_string_equal(text, "end %");
}

static void endings(void **state)
{
    (void)state;
    assert_true(zn_text_ends_with("a.png", ".png"));
    assert_false(zn_text_ends_with("a.PNG", ".png"));
    assert_true(zn_text_ends_with("a", ""));
    assert_false(zn_text_ends_with("g", ".png"));
    assert_true(zn_text_ends_with_nocase("a.PnG", ".pNg"));
    assert_false(zn_text_ends_with_nocase("a.pnx", ".png"));
    assert_false(zn_text_ends_with_nocase("g", ".png"));
}

static void errors(void **state)
{
    (void)state;
    zn_error err = {0};
    assert_int_equal(zn_fail(&err, ZENITH_BAD_FILE, "byte %d", 7), ZENITH_BAD_FILE);
    assert_int_equal(zn_fail(&err, ZENITH_IO, "from above"), ZENITH_IO);
    assert_string_equal(err.text, "byte 7"); // the deepest stays
    zn_error_prefix(&err, "a.png");
    assert_string_equal(err.text, "a.png: byte 7");
    char longer[600];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    zn_error_prefix(&err, longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);

    zn_error empty = {0};
    zn_error_prefix(&empty, "a.png");
    assert_string_equal(empty.text, "");
    assert_int_equal(zn_fail_memory(&empty, 123), ZENITH_OUT_OF_MEMORY);
    assert_non_null(strstr(empty.text, "123 bytes"));
    assert_int_equal(zn_fail(NULL, ZENITH_IO, "nobody listens"), ZENITH_IO);
    zn_error_prefix(NULL, "a.png");
    assert_string_equal(zenith_status_text(ZENITH_OUT_OF_MEMORY), "out of memory");
    assert_string_equal(zenith_status_text((zenith_status)12345), "unknown status");
}

static void keep_line(void *cookie, int level, const char *message)
{
    snprintf(cookie, 64, "%d %s", level, message);
}

static void logging(void **state)
{
    (void)state;
    char line[64] = "";
    zn_log log = {.write = keep_line, .cookie = line, .level = ZN_LOG_INFO};
    zn_log_write(&log, ZN_LOG_DEBUG, "too quiet");
    assert_string_equal(line, "");
    zn_log_write(&log, ZN_LOG_WARNING, "%d files", 3);
    assert_string_equal(line, "2 3 files");
    zn_log_write(&(zn_log){0}, ZN_LOG_WARNING, "nobody");
    zn_log_write(NULL, ZN_LOG_WARNING, "nobody");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers), cmocka_unit_test(texts),
        cmocka_unit_test(doubles),  cmocka_unit_test(random_doubles),
        cmocka_unit_test(cutting),  cmocka_unit_test(unknown_conversions),
        cmocka_unit_test(endings),  cmocka_unit_test(errors),
        cmocka_unit_test(logging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
