// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The formatter against a table, and against the C library's where both mean the same; UTF-8, every
// character and every way to be none.
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

ZN_TEST(integers)
{
    same("%d %i %u %x", INT_MIN, -7, UINT_MAX, 0xdeadbeefu);
    same("%ld %lu %lx", LONG_MIN, ULONG_MAX, 0x123456789abcul);
    same("%lld %llu", LLONG_MIN, ULLONG_MAX);
    same("%zu %zd", (size_t)SIZE_MAX, (ssize_t)-5);
    same("[%5d] [%05u] [%-5d] [%08x] [%05d]", 42, 42u, 42, 0xabcu, -42);
    same("[%*d] [%-*d]", 7, 1, 7, 2);
    same("%d%%", 100);
    same("%d", 0);
}

ZN_TEST(texts)
{
    const char *volatile none = NULL;
    same("%s|%.3s|%.*s|%c", "abc", "abcdef", 2, "xyz", 'q');
    same("[%8s] [%-8s]", "right", "left");
    check("(null)", "%s", none);
    check("", "%s", "");
    const char unterminated[3] = {'a', 'b', 'c'};
    same("%.*s", 3, unterminated);
}

ZN_TEST(doubles)
{
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

ZN_TEST(random_doubles)
{
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

ZN_TEST(cutting)
{
    char small[8];
    assert_int_equal(zn_text_format(small, sizeof small, "%s", "0123456789"), 7);
    assert_string_equal(small, "0123456");
    assert_int_equal(zn_text_format(small, sizeof small, "abc%09d", 5), 7);
    assert_string_equal(small, "abc0000");
    assert_int_equal(zn_text_format(small, 1, "abc"), 0);
    assert_string_equal(small, "");
    assert_int_equal(zn_text_format(small, sizeof small, "%99999d", 1), 7);
}

ZN_TEST(unknown_conversions)
{
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

ZN_TEST(endings)
{
    assert_true(zn_text_ends_with("a.png", ".png"));
    assert_false(zn_text_ends_with("a.PNG", ".png"));
    assert_true(zn_text_ends_with("a", ""));
    assert_false(zn_text_ends_with("g", ".png"));
    assert_true(zn_text_ends_with_nocase("a.PnG", ".pNg"));
    assert_false(zn_text_ends_with_nocase("a.pnx", ".png"));
    assert_false(zn_text_ends_with_nocase("g", ".png"));
}

ZN_TEST(errors)
{
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

// The bytes of a number by the pattern of so many bytes, valid or not; returns how many.
static size_t encode(uint32_t point, size_t bytes, char *dst)
{
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = bytes - 1; i > 0; i--, point >>= 6) dst[i] = (char)(0x80 | (point & 0x3f));
    dst[0] = (char)(lead[bytes] | point);
    return bytes;
}

static size_t bytes_of(uint32_t point)
{
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

// Every number in every pattern that has room for it: valid in the shortest, where it is a
// character.
ZN_TEST(utf8_characters)
{
    static const uint32_t room[] = {0, 0x80, 0x800, 0x10000, 0x200000};
    for (size_t bytes = 1; bytes <= 4; bytes++)
        for (uint32_t point = 0; point < room[bytes]; point++) {
            char text[4];
            const bool surrogate = point >= 0xd800 && point <= 0xdfff;
            const bool valid = bytes == bytes_of(point) && point <= 0x10ffff && !surrogate;
            uint32_t seen = 0xffffffff;
            encode(point, bytes, text);
            if (zn_utf8_next(text, bytes, &seen) != (valid ? bytes : 0) ||
                seen != (valid ? point : 0xffffffff))
                fail_msg("U+%x in %zu bytes: U+%x", point, bytes, seen);
        }
}

ZN_TEST(utf8_broken)
{
    static const struct {
        const char *text;
        size_t size, valid;
    } cases[] = {
        {"", 0, 0},
        {"a\0b", 3, 3},
        {"caf\xc3\xa9", 5, 5},
        {"\xf0\x9f\x98\x80!", 5, 5},
        {"\xef\xbf\xbf\xf4\x8f\xbf\xbf", 7, 7}, // U+FFFF, U+10FFFF
        {"ab\xc3", 3, 2},                       // cut
        {"ab\xe2\x82", 4, 2},
        {"ab\xf0\x9f\x98", 5, 2},
        {"ab\xc3(", 4, 2}, // another character where one should go on
        {"ab\xe2\x82(", 5, 2},
        {"ab\xe2(\xa1", 5, 2},
        {"ab\xc3\xc3\xa9", 5, 2},
        {"ab\x80", 3, 2}, // goes on with none begun
        {"ab\xbf\xbf", 4, 2},
        {"ab\xc0\x80", 4, 2}, // overlong
        {"ab\xc1\xbf", 4, 2},
        {"ab\xe0\x9f\xbf", 5, 2},
        {"ab\xf0\x8f\xbf\xbf", 6, 2},
        {"ab\xed\xa0\x80", 5, 2}, // surrogates
        {"ab\xed\xbf\xbf", 5, 2},
        {"ab\xf4\x90\x80\x80", 6, 2}, // U+110000
        {"ab\xf5\x80\x80\x80", 6, 2},
        {"ab\xf8\x88\x80\x80\x80", 7, 2}, // five bytes
        {"ab\xf9\x80\x80\x80", 6, 2},
        {"ab\xfe\xff", 4, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t valid = zn_utf8_valid(cases[i].text, cases[i].size);
        if (valid != cases[i].valid) fail_msg("case %zu: %zu", i, valid);
    }
}

// What lies behind the end is not looked at, though it would complete the character.
ZN_TEST(utf8_end)
{
    static const char text[] = "\xf0\x9f\x98\x80";
    uint32_t point = 0;
    for (size_t size = 0; size < 4; size++) {
        assert_int_equal(zn_utf8_next(text, size, &point), 0);
        assert_int_equal(zn_utf8_valid(text, size), 0);
    }
    assert_int_equal(zn_utf8_next(text, 4, &point), 4);
    assert_int_equal(point, 0x1f600);
}

static void keep_line(void *cookie, int level, const char *message)
{
    snprintf(cookie, 64, "%d %s", level, message);
}

ZN_TEST(logging)
{
    char line[64] = "";
    zn_log log = {.write = keep_line, .cookie = line, .level = ZN_LOG_INFO};
    zn_log_write(&log, ZN_LOG_DEBUG, "too quiet");
    assert_string_equal(line, "");
    zn_log_write(&log, ZN_LOG_WARNING, "%d files", 3);
    assert_string_equal(line, "2 3 files");
    zn_log_write(&(zn_log){0}, ZN_LOG_WARNING, "nobody");
    zn_log_write(NULL, ZN_LOG_WARNING, "nobody");
}
