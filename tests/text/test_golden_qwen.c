// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Qwen's own vocabulary, 151,643 tokens, which tools/bootstrap puts into .deps, against the Hugging
// Face library's ids.
#include "src/text/tokenizer_parts.h"
#include "src/text/vocabulary_json.h"
#include "tests/text/golden_ids.h"

#include <stdlib.h>

enum { BYTE_LEVEL = 151643, MERGES = BYTE_LEVEL - 256 };

static const char *vocabulary(void)
{
    const char *path = zn_test_path(zn_test_source(), ".deps/qwen.tiktoken");
    zn_test_need(path);
    return path;
}

static const char *golden(void)
{
    return zn_test_path(zn_test_source(), "tests/golden/tokenizer_qwen/golden.json");
}

ZN_TEST(qwen_tiktoken)
{
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    zn_test_ok(zn_tokenizer_open(vocabulary(), &tokenizer, &err), &err);
    assert_int_equal(zn_tokenizer_count(tokenizer), 151669);
    assert_int_equal(zn_tokenizer_find(tokenizer, "<|im_end|>", 10), 151645);
    assert_int_equal(zn_tokenizer_find(tokenizer, "</think>", 8), 151668);
    check_golden(tokenizer, golden(), 37);
    zn_tokenizer_free(tokenizer);
}

static int by_rank(const void *left, const void *right)
{
    const zn_merge *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

// The same vocabulary written as tokenizer.json, megabytes of it, and read back.
ZN_TEST(as_tokenizer_json)
{
    static const char *const added[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    static zn_merge merges[MERGES];
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL, *back = NULL;
    char *json = NULL;
    size_t count = 0, size = 0;
    zn_test_ok(zn_tokenizer_open(vocabulary(), &tokenizer, &err), &err);
    zn_vocabulary byte_level = tokenizer->vocabulary; // borrowed, without the added tokens
    byte_level.count = BYTE_LEVEL;
    assert_int_equal(byte_level.merge_count, MERGES); // every token can come up
    for (size_t i = 0; i <= byte_level.merges_mask; i++)
        if (byte_level.merges[i].rank != UINT32_MAX) merges[count++] = byte_level.merges[i];
    assert_int_equal(count, MERGES);
    qsort(merges, count, sizeof *merges, by_rank);
    zn_test_ok(zn_vocabulary_json(&byte_level, merges, count, added, 3, &json, &size, &err), &err);
    zn_tokenizer_free(tokenizer);
    assert_true(size > 5000000);
    zn_test_ok(zn_tokenizer_parse_json((zn_bytes){json, size}, "json", &back, &err), &err);
    zn_free(json);
    check_golden(back, golden(), 37);
    zn_tokenizer_free(back);
}
