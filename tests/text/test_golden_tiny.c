// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The small tokenizer.json of tests/golden against the Hugging Face library's ids, and the same
// vocabulary through every other way in: they must all give the same ids.
#include "tests/text/golden_ids.h"

static const char *golden(const char *name)
{
    return zn_test_path(zn_test_path(zn_test_source(), "tests/golden/tokenizer_tiny"), name);
}

static void tokenizer_json(void **state)
{
    (void)state;
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    zn_test_ok(zn_tokenizer_open(golden("tokenizer.json"), &tokenizer, &err), &err);
    assert_int_equal(zn_tokenizer_count(tokenizer), 603);
    assert_int_equal(zn_tokenizer_find(tokenizer, "<|im_end|>", 10), 602);
    check_golden(tokenizer, golden("golden.json"), 22);
    zn_tokenizer_free(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokenizer_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
