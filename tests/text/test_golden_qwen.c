// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Qwen's own vocabulary, 151,643 tokens, which tools/bootstrap puts into .deps, against the Hugging Face
// library's ids.
#include "tests/text/golden_ids.h"

static const char *vocabulary(void)
{
    const char *path = zn_test_path(zn_test_source(), ".deps/qwen.tiktoken");
    zn_test_need(path);
    return path;
}

static void qwen_tiktoken(void **state)
{
    (void)state;
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    zn_test_ok(zn_tokenizer_open(vocabulary(), &tokenizer, &err), &err);
    assert_int_equal(zn_tokenizer_count(tokenizer), 151669);
    assert_int_equal(zn_tokenizer_find(tokenizer, "<|im_end|>", 10), 151645);
    assert_int_equal(zn_tokenizer_find(tokenizer, "</think>", 8), 151668);
    check_golden(tokenizer,
                 zn_test_path(zn_test_source(), "tests/golden/tokenizer_qwen/golden.json"), 37);
    zn_tokenizer_free(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(qwen_tiktoken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
