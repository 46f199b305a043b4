// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a tokenizer promises besides the golden ids: the way back, added tokens, text that is not
// UTF-8, and linear time for texts made to take more.
#include "src/base/memory.h"
#include "src/base/random.h"
#include "tests/text/golden_ids.h"
#include "tests/text/made_tokenizer.h"

#include <stdlib.h>

static void expect_ids(const zn_tokenizer *tokenizer, const char *text, size_t size,
                       const int32_t *wanted, size_t count)
{
    zn_error err = {{0}};
    int32_t *ids = NULL;
    size_t made = 0;
    zn_test_ok(zn_tokenizer_encode(tokenizer, text, size, &ids, &made, &err), &err);
    assert_int_equal(made, count);
    if (count > 0) assert_memory_equal(ids, wanted, count * sizeof *ids);
    zn_free(ids);
}

#define EXPECT(tokenizer, text, ...)                                                               \
    expect_ids(tokenizer, text, sizeof text - 1, (const int32_t[]){__VA_ARGS__},                   \
               sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

// Ranks decide, and of equal ranks the left one.
ZN_TEST(merges_go_by_rank)
{
    zn_tokenizer *tokenizer = open_made(&(made_json){
        .tokens = ",\"bc\":256,\"ab\":257,\"aa\":258,\"abc\":259,\"aaaa\":260,\"\xc4\xa0x\":261",
        .merges = "\"b c\",[\"a\",\"b\"],\"a a\",\"a bc\",\"aa aa\",\"\xc4\xa0 x\""});
    EXPECT(tokenizer, "abc", 259);
    EXPECT(tokenizer, "abd", 257, 'd');
    EXPECT(tokenizer, "aaa", 258, 'a');
    EXPECT(tokenizer, "aaaaa", 260, 'a');
    EXPECT(tokenizer, "aab", 'a', 257);
    EXPECT(tokenizer, "y x", 'y', 261); // a space goes with the word behind it
    expect_ids(tokenizer, "", 0, NULL, 0);
    EXPECT(tokenizer, "a\0b", 'a', 0, 'b');
    zn_tokenizer_free(tokenizer);
}

ZN_TEST(whole_words_come_first)
{
    const char *tokens = ",\"ab\":256,\"abc\":257";
    zn_tokenizer *plain = open_made(&(made_json){.tokens = tokens, .merges = "\"a b\""});
    zn_tokenizer *whole = open_made(
        &(made_json){.tokens = tokens, .merges = "\"a b\"", .model = "\"ignore_merges\":true,"});
    EXPECT(plain, "abc", 256, 'c');
    EXPECT(whole, "abc", 257);
    EXPECT(whole, "abcd", 256, 'c', 'd');
    zn_tokenizer_free(plain);
    zn_tokenizer_free(whole);
}

#define ADDED(text, id, more) "{\"content\":\"" text "\",\"id\":" id more "}"

ZN_TEST(added_tokens_are_cut_out)
{
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = open_made(&(made_json){
        .added = ADDED("<s>", "300", ",\"special\":true") "," ADDED("<s>>", "301", "") "," ADDED(
            "<", "60", "") "," ADDED("\xc3\xa9!", "303",
                                     ",\"normalized\":true") "," ADDED("\xc3\xa9?", "304", "")});
    EXPECT(tokenizer, "a<s>b", 'a', 300, 'b');
    EXPECT(tokenizer, "<s>><s><", 301, 300, '<'); // the longest at each place
    EXPECT(tokenizer, "<s", '<', 's');
    EXPECT(tokenizer, "xe\xcc\x81!", 'x', 303); // found in normalised text
    EXPECT(tokenizer, "\xc3\xa9?", 304);
    EXPECT(tokenizer, "e\xcc\x81?", 0xc3, 0xa9, '?'); // not found in the text as it comes
    char *text = NULL;
    size_t size;
    const int32_t ids[] = {'a', 300, 303, '<'};
    zn_test_ok(zn_tokenizer_decode(tokenizer, ids, 4, true, &text, &size, &err), &err);
    assert_string_equal(text, "a\xc3\xa9!<");
    zn_free(text);
    zn_test_ok(zn_tokenizer_decode(tokenizer, ids, 4, false, &text, &size, &err), &err);
    assert_string_equal(text, "a<s>\xc3\xa9!<");
    zn_free(text);
    zn_tokenizer_free(tokenizer);
}

ZN_TEST(ids_without_tokens_are_refused)
{
    zn_tokenizer *tokenizer = open_made(&(made_json){.added = ADDED("<s>", "300", "")});
    static const int32_t bad[] = {-1, 256, 299, 301, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        zn_error err = {{0}};
        char *text = NULL;
        size_t size;
        const zenith_status status = zn_tokenizer_decode(tokenizer, &bad[i], 1, false, &text, &size,
                                                         &err);
        assert_int_equal(status, ZENITH_INVALID_ARGUMENT);
        assert_non_null(strstr(err.text, "is no token"));
        assert_null(text);
    }
    zn_tokenizer_free(tokenizer);
}

ZN_TEST(text_must_be_utf8)
{
    zn_tokenizer *tokenizer = open_made(&(made_json){0});
    static const char *const bad[] = {"ab\xff",
                                      "ab\xc3",
                                      "ab\x80",
                                      "ab\xc0\xaf",
                                      "ab\xed\xa0\x80", // overlong, a surrogate
                                      "ab\xf4\x90\x80\x80",
                                      "ab\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        zn_error err = {{0}};
        int32_t *ids = NULL;
        size_t count;
        const zenith_status status = zn_tokenizer_encode(tokenizer, bad[i], strlen(bad[i]), &ids,
                                                         &count, &err);
        assert_int_equal(status, ZENITH_INVALID_ARGUMENT);
        assert_non_null(strstr(err.text, "not UTF-8 from byte 2"));
        assert_null(ids);
    }
    zn_tokenizer_free(tokenizer);
}

// A character of a random kind; what it makes may or may not be its own normal form.
static int32_t random_point(zn_random *random)
{
    static const int32_t ranges[][2] = {{0, 0x7f},        {0x80, 0x24f},    {0x300, 0x36f},
                                        {0x370, 0x1fff},  {0x2000, 0x206f}, {0x3040, 0x9fff},
                                        {0xac00, 0xd7a3}, {0x1100, 0x11ff}, {0x1f300, 0x1faff}};
    const int32_t *range = ranges[zn_random_below(random, sizeof ranges / sizeof *ranges)];
    return range[0] + (int32_t)zn_random_below(random, (uint32_t)(range[1] - range[0] + 1));
}

static size_t put_point(char *to, int32_t point)
{
    if (point < 0x80) return (void)(to[0] = (char)point), 1;
    if (point < 0x800) {
        to[0] = (char)(0xc0 | point >> 6);
        to[1] = (char)(0x80 | (point & 63));
        return 2;
    }
    const size_t length = point < 0x10000 ? 3 : 4;
    to[0] = (char)(length == 3 ? 0xe0 | point >> 12 : 0xf0 | point >> 18);
    if (length == 4) to[1] = (char)(0x80 | (point >> 12 & 63));
    to[length - 2] = (char)(0x80 | (point >> 6 & 63));
    to[length - 1] = (char)(0x80 | (point & 63));
    return length;
}

ZN_TEST(decoding_is_the_way_back)
{
    const char *path = zn_test_path(zn_test_source(), "tests/golden/tokenizer_tiny/tokenizer.json");
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    zn_random random = {.seed = 7};
    zn_test_ok(zn_tokenizer_open(path, &tokenizer, &err), &err);
    for (int round = 0; round < 3000; round++) {
        char text[256];
        size_t size = 0, count;
        int32_t *ids = NULL;
        const uint32_t points = zn_random_below(&random, 60);
        for (uint32_t i = 0; i < points; i++) size += put_point(text + size, random_point(&random));
        zn_test_ok(zn_tokenizer_encode(tokenizer, text, size, &ids, &count, &err), &err);
        check_back(tokenizer, text, size, ids, count);
        zn_free(ids);
    }
    zn_tokenizer_free(tokenizer);
}

// `bytes` of `unit`, then `end`; how many ids come out. Anything quadratic would take an hour.
static size_t encode_long(const zn_tokenizer *tokenizer, size_t bytes, const char *unit,
                          const char *end)
{
    zn_error err = {{0}};
    const size_t length = strlen(unit), repeats = bytes / length;
    const size_t size = repeats * length + strlen(end);
    char *text = malloc(size + 1);
    int32_t *ids = NULL;
    size_t count = 0;
    assert_non_null(text);
    for (size_t i = 0; i < repeats; i++) memcpy(text + i * length, unit, length);
    strcpy(text + repeats * length, end);
    zn_test_ok(zn_tokenizer_encode(tokenizer, text, size, &ids, &count, &err), &err);
    check_back(tokenizer, text, size, ids, count);
    zn_free(ids);
    free(text);
    return count;
}

ZN_TEST(long_texts_take_linear_time)
{
    zn_tokenizer *tokenizer = open_made(
        &(made_json){.tokens = ",\"aa\":256,\"aaaa\":257,\"\xc4\xa0\xc4\xa0\":258",
                     .merges = "\"a a\",\"aa aa\",\"\xc4\xa0 \xc4\xa0\"",
                     .added = ADDED("<a>", "300", "") "," ADDED("<a><a><b>", "301", "")});
    const size_t million = (size_t)1 << 20, part = million / 4;
    assert_int_equal(encode_long(tokenizer, million, "a", ""), million / 4);
    // All spaces but the last are one word, and the last goes with the letter.
    assert_int_equal(encode_long(tokenizer, million, " ", "x"), million / 2 - 1 + 3);
    assert_int_equal(encode_long(tokenizer, part, "<a>", ""), part / 3);
    assert_int_equal(encode_long(tokenizer, part, "!a\n", ""), part / 3 * 3);
    // Marks in the wrong order: canonical ordering moves half of them past the other half.
    assert_int_equal(encode_long(tokenizer, million, "\xcc\x81\xcc\xa7", ""), million);
    zn_tokenizer_free(tokenizer);
}

ZN_TEST(text_has_a_limit)
{
    zn_error err = {{0}};
    int32_t *ids = NULL;
    size_t count;
    zn_tokenizer *tokenizer = open_made(&(made_json){0});
    const zenith_status status = zn_tokenizer_encode(tokenizer, "", ZN_TOKENIZER_TEXT_MOST + 1,
                                                     &ids, &count, &err);
    assert_int_equal(status, ZENITH_LIMIT);
    zn_tokenizer_free(tokenizer);
}
