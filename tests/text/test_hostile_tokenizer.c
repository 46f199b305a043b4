// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of tokenizers that are broken, hostile, or of another kind: each is refused with a sentence
// that says what is wrong.
#include "src/base/memory.h"
#include "tests/text/made_tokenizer.h"

#include <stdlib.h>

ZN_TEST(broken_vocabularies)
{
    const zenith_status bad = ZENITH_BAD_FILE;
    refused_json(&(made_json){.tokens = ",\"ab\":255"}, bad, "two tokens have the id 255");
    refused_json(&(made_json){.tokens = ",\"ab\":-1"}, bad, "token id -1");
    refused_json(&(made_json){.tokens = ",\"ab\":1048576"}, bad, "token id 1048576");
    refused_json(&(made_json){.tokens = ",\"ab\":9223372036854775807"}, bad, "token id 92233");
    refused_json(&(made_json){.tokens = ",\"ab\":2.5"}, bad, "no integer as its id");
    refused_json(&(made_json){.tokens = ",\"ab\":\"256\""}, bad, "no integer as its id");
    refused_json(&(made_json){.tokens = ",\"ab\":256,\"ab\":257"}, bad, "duplicate");
    refused_json(&(made_json){.tokens = ",\"\":256"}, bad, "0 bytes");
}

ZN_TEST(a_byte_is_missing)
{
    static made_text text;
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    put_json(&text, &(made_json){0});
    char *letter = strstr(text.data, ",\"q\":113");
    assert_non_null(letter);
    memset(letter, ' ', 8);
    const zenith_status status = zn_tokenizer_parse_json(bytes_of(&text), "made", &tokenizer, &err);
    assert_int_equal(status, ZENITH_BAD_FILE);
    assert_non_null(strstr(err.text, "no token of the byte 0x71"));
    assert_null(tokenizer);
}

ZN_TEST(tokens_that_are_too_long)
{
    static char tokens[5000];
    for (size_t length = 1024; length <= 4096; length += 1) {
        memcpy(tokens, ",\"", 2);
        memset(tokens + 2, 'a', length);
        strcpy(tokens + 2 + length, "\":256");
        if (length > 1024)
            refused_json(&(made_json){.tokens = tokens}, ZENITH_BAD_FILE, "bytes, and a");
        else
            zn_tokenizer_free(open_made(&(made_json){.tokens = tokens}));
        if (length > 1100) length += 900;
    }
}

ZN_TEST(broken_merges)
{
    const char *tokens = ",\"ab\":256,\"\xe6\x97\xa5\":257";
    const zenith_status bad = ZENITH_BAD_FILE;
    refused_json(&(made_json){.tokens = tokens, .merges = "\"a zz\""}, bad,
                 "\"zz\", which is no token");
    refused_json(&(made_json){.tokens = tokens, .merges = "\"a b\",\"b a\""}, bad, "does not have");
    refused_json(&(made_json){.tokens = tokens, .merges = "\"a b\",\"a b\""}, bad, "are the same");
    refused_json(&(made_json){.tokens = tokens, .merges = "\"ab\""}, bad, "a space between");
    refused_json(&(made_json){.tokens = tokens, .merges = "\"\""}, bad, "a space between");
    refused_json(&(made_json){.tokens = tokens, .merges = "\" ab\""}, bad, "which is no token");
    refused_json(&(made_json){.tokens = tokens, .merges = "\"ab \""}, bad, "which is no token");
    refused_json(&(made_json){.tokens = tokens, .merges = "\"a b c\""}, bad, "which is no token");
    refused_json(&(made_json){.tokens = tokens, .merges = "[\"a\"]"}, bad, "no pair of tokens");
    refused_json(&(made_json){.tokens = tokens, .merges = "[\"a\",1]"}, bad, "no pair of tokens");
    refused_json(&(made_json){.tokens = tokens, .merges = "7"}, bad, "no pair of tokens");
    // Outside the byte alphabet: such a token is never made of others.
    refused_json(&(made_json){.tokens = tokens, .merges = "[\"\xe6\x97\xa5\",\"a\"]"}, bad,
                 "not of two tokens");
}

#define TOKEN(text, id, more) "{\"content\":\"" text "\",\"id\":" id more "}"

ZN_TEST(broken_added_tokens)
{
    const zenith_status bad = ZENITH_BAD_FILE;
    refused_json(&(made_json){.added = TOKEN("<s>", "97", "")}, bad, "two tokens have the id 97");
    refused_json(&(made_json){.added = TOKEN("a", "300", "")}, bad, "is token 97 and is added");
    refused_json(&(made_json){.added = TOKEN("<s>", "300", "") "," TOKEN("<s>", "301", "")}, bad,
                 "is token 300 and is added as token 301");
    refused_json(&(made_json){.added = TOKEN("<s>", "300", "") "," TOKEN("<s>", "300", "")}, bad,
                 "have the same text");
    refused_json(&(made_json){.added = TOKEN("<s>", "1048576", "")}, bad, "must be between");
    refused_json(&(made_json){.added = TOKEN("", "300", "")}, bad, "0 bytes");
    refused_json(&(made_json){.added = "7"}, bad, "must be an integer but is absent");
    refused_json(&(made_json){.added = TOKEN("<s>", "300", ",\"special\":1")}, bad,
                 "true or false");
    refused_json(&(made_json){.added = TOKEN("<s>", "300", ",\"lstrip\":true")}, ZENITH_UNSUPPORTED,
                 "\"lstrip\"");
}

ZN_TEST(tokenizers_of_other_kinds)
{
    const zenith_status other = ZENITH_UNSUPPORTED;
    refused_json(&(made_json){.normaliser = "{\"type\":\"NFKC\"}"}, other, "NFKC");
    refused_json(&(made_json){.model = "\"dropout\":0.1,"}, other, "dropout");
    refused_json(&(made_json){.model = "\"end_of_word_suffix\":\"</w>\","}, other, "suffix");
    refused_json(&(made_json){.splits = QWEN_SPLIT}, other, "not ByteLevel");
    refused_json(&(made_json){.splits = QWEN_SPLIT "," QWEN_SPLIT "," BYTE_LEVEL}, other,
                 "one split");
    refused_json(&(made_json){.splits = "{\"type\":\"Whitespace\"}"}, other, "Whitespace");
    refused_json(&(made_json){.splits = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}"},
                 other, "add_prefix_space");
    refused_json(&(made_json){.root = "\"post_processor\":{\"type\":\"TemplateProcessing\","
                                      "\"single\":[{\"SpecialToken\":{}}]},"},
                 other, "adds tokens");
    zn_tokenizer_free(open_made(&(made_json){.splits = "{\"type\":\"ByteLevel\"}"}));
    zn_tokenizer_free(open_made(&(made_json){.normaliser = "null"}));
}

#define SPLIT(pattern)                                                                             \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" pattern                                        \
    "\"},\"behavior\":\"Isolated\"}," BYTE_LEVEL

ZN_TEST(broken_patterns)
{
    refused_json(&(made_json){.splits = SPLIT("(a")}, ZENITH_BAD_FILE, "wrong at byte 2");
    refused_json(&(made_json){.splits = SPLIT("\\\\C")}, ZENITH_BAD_FILE, "\\C");
    refused_json(&(made_json){.splits = SPLIT("((a{1,999}){1,999}){1,999}")}, ZENITH_BAD_FILE,
                 "too large");
}

// Patterns that would run for hours: each ends with a status.
ZN_TEST(patterns_that_take_too_long)
{
    static const char *const splits[] = {
        SPLIT("(a|a)*[^a]"),         // exponential
        SPLIT("(?=\\\\p{L}*+!)x|."), // looks to the end of the text from every letter
        SPLIT("(?=(\\\\p{L}+)+!)x|."),
        SPLIT("(?=a*a*a*a*!)x|."),
    };
    const size_t size = 100000;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'a', size);
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        zn_error err = {{0}};
        int32_t *ids = NULL;
        size_t count;
        zn_tokenizer *tokenizer = open_made(&(made_json){.splits = splits[i]});
        const zenith_status status = zn_tokenizer_encode(tokenizer, text, size, &ids, &count, &err);
        assert_int_equal(status, ZENITH_LIMIT);
        assert_non_null(strstr(err.text, "too many steps"));
        assert_null(ids);
        zn_tokenizer_free(tokenizer);
    }
    free(text);
}

// Matches may be empty, and need not cover the text: every byte still comes out once.
ZN_TEST(patterns_that_leave_gaps)
{
    static const char *const splits[] = {SPLIT("b"),       SPLIT("b*"), SPLIT("(?=b)"),
                                         SPLIT("a\\\\Kb"), SPLIT("x"),  SPLIT("$")};
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        zn_error err = {{0}};
        int32_t *ids = NULL;
        size_t count;
        zn_tokenizer *tokenizer = open_made(&(made_json){.splits = splits[i]});
        zn_test_ok(zn_tokenizer_encode(tokenizer,
                                       "abb\xc3\xa9"
                                       "ab",
                                       7, &ids, &count, &err),
                   &err);
        assert_int_equal(count, 7);
        for (size_t b = 0; b < 7; b++)
            assert_int_equal(ids[b], (uint8_t) "abb\xc3\xa9"
                                               "ab"[b]);
        zn_free(ids);
        zn_tokenizer_free(tokenizer);
    }
}

// Cut anywhere, a file is refused and nothing leaks.
ZN_TEST(truncated_files)
{
    static made_text text;
    put_json(&text, &(made_json){.tokens = ",\"ab\":256",
                                 .merges = "\"a b\"",
                                 .added = TOKEN("<s>", "300", "")});
    for (size_t size = 0; size < text.size; size++) {
        zn_error err = {{0}};
        zn_tokenizer *tokenizer = NULL;
        const zn_bytes part = {text.data, size};
        assert_int_equal(zn_tokenizer_parse_json(part, "made", &tokenizer, &err), ZENITH_BAD_FILE);
        assert_string_not_equal(err.text, "");
        assert_null(tokenizer);
    }
}

static void refused_tiktoken(const char *lines, const char *words)
{
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    const zn_bytes file = {lines, strlen(lines)};
    assert_int_equal(zn_tokenizer_parse_tiktoken(file, "made", &tokenizer, &err), ZENITH_BAD_FILE);
    if (!strstr(err.text, words)) fail_msg("\"%s\" instead of \"%s\"", err.text, words);
    assert_null(tokenizer);
}

ZN_TEST(broken_rank_files)
{
    refused_tiktoken("", "no token of the byte");
    refused_tiktoken("YQ== 0\n", "no token of the byte 0x00");
    refused_tiktoken("YQ== 0\nYg== 0\n", "two tokens have the id 0");
    refused_tiktoken("YQ== 0\nYQ== 1\n", "the same content");
    refused_tiktoken("YQ==\n", "line 1 is not");
    refused_tiktoken("YQ== 0\nYQ= 1\n", "line 2 is not");
    refused_tiktoken("Y*== 0\n", "line 1 is not");
    refused_tiktoken("==== 0\n", "line 1 is not");
    refused_tiktoken("Y=Q= 0\n", "line 1 is not");
    refused_tiktoken("YQ== -1\n", "line 1 is not");
    refused_tiktoken("YQ== 12345678901\n", "line 1 is not");
    refused_tiktoken("YQ== 999999999\n", "token id 999999999");
    refused_tiktoken(" 0\n", "line 1 is not");
}

static void refused_merges(const char *merges, const char *config, const char *words)
{
    static made_text vocabulary;
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    vocabulary.size = 0;
    put_vocabulary(&vocabulary, ",\"ab\":256");
    const zenith_status status = zn_tokenizer_parse_merges(
        bytes_of(&vocabulary), (zn_bytes){merges, strlen(merges)},
        (zn_bytes){config, strlen(config)}, "made", &tokenizer, &err);
    assert_int_equal(status, ZENITH_BAD_FILE);
    if (!strstr(err.text, words)) fail_msg("\"%s\" instead of \"%s\"", err.text, words);
    assert_null(tokenizer);
}

ZN_TEST(broken_merge_files)
{
    refused_merges("#version: 0.2\na zz\n", "", "merge 0 has \"zz\"");
    refused_merges("a b\n\na b", "", "the merges 0 and 1 are the same");
    refused_merges("a b", "{", "broken JSON");
    refused_merges("a b", "{\"added_tokens_decoder\":{\"x\":{\"content\":\"<s>\"}}}", "for its id");
    refused_merges("a b", "{\"added_tokens_decoder\":{\"5\":{\"content\":\"<s>\"}}}", "the id 5");
    refused_merges("a b", "{\"added_tokens_decoder\":{\"300\":7}}", "not an object");
}

static void refused_arrays(const zn_tokenizer_arrays *arrays, zenith_status wanted,
                           const char *words)
{
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    assert_int_equal(zn_tokenizer_from_arrays(arrays, "made", &tokenizer, &err), wanted);
    if (!strstr(err.text, words)) fail_msg("\"%s\" instead of \"%s\"", err.text, words);
    assert_null(tokenizer);
}

ZN_TEST(broken_arrays)
{
    const zn_bytes two[] = {{"a", 1}, {"a", 1}}, empty = {NULL, 0}, broken = {"<\xff>", 3};
    const int32_t control[] = {3, 3};
    refused_arrays(&(zn_tokenizer_arrays){0}, ZENITH_BAD_FILE, "no token of the byte");
    refused_arrays(&(zn_tokenizer_arrays){.pre = "llama-bpe"}, ZENITH_UNSUPPORTED, "llama-bpe");
    refused_arrays(&(zn_tokenizer_arrays){.tokens = two, .token_count = 2}, ZENITH_BAD_FILE,
                   "the tokens 0 and 1 have the same content");
    refused_arrays(&(zn_tokenizer_arrays){.tokens = &empty, .token_count = 1}, ZENITH_BAD_FILE,
                   "0 bytes");
    refused_arrays(&(zn_tokenizer_arrays){.tokens = &broken, .types = control, .token_count = 1},
                   ZENITH_BAD_FILE, "not UTF-8");
    refused_arrays(&(zn_tokenizer_arrays){.merges = &empty, .merge_count = 1}, ZENITH_BAD_FILE,
                   "a space between");
    refused_arrays(&(zn_tokenizer_arrays){.token_count = (size_t)1 << 40}, ZENITH_BAD_FILE,
                   "limits");
}
