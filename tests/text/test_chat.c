// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The prompt of Z-Image's pipeline. The text and ids are those that diffusers' ZImagePipeline makes
// of the same prompt with the small tokenizer (golden file pipeline/io_turbo, tensor "ids").
#include "src/base/memory.h"
#include "src/text/chat.h"
#include "tests/text/made_tokenizer.h"

static const char prompt[] = "a photo of a cat sitting on a red chair";

static zn_tokenizer *open_tiny(void)
{
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    const char *path = zn_test_path(zn_test_source(), "tests/golden/tokenizer_tiny/tokenizer.json");
    zn_test_ok(zn_tokenizer_open(path, &tokenizer, &err), &err);
    return tokenizer;
}

ZN_TEST(text_of_a_prompt)
{
    zn_error err = {{0}};
    char *text = NULL;
    size_t size = 0;
    zn_test_ok(zn_chat_text(prompt, strlen(prompt), &text, &size, &err), &err);
    assert_string_equal(text,
                        "<|im_start|>user\na photo of a cat sitting on a red chair<|im_end|>\n"
                        "<|im_start|>assistant\n");
    assert_int_equal(size, strlen(text));
    zn_free(text);
    zn_test_ok(zn_chat_text(NULL, 0, &text, &size, &err), &err);
    assert_string_equal(text, "<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n");
    zn_free(text);
}

ZN_TEST(ids_of_a_prompt)
{
    static const int32_t wanted[] = {601, 368, 198, 64,  525, 423, 274, 484, 533,
                                     422, 274, 432, 522, 602, 198, 601, 535, 198};
    const size_t all = sizeof wanted / sizeof *wanted;
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = open_tiny();
    const size_t limits[] = {ZN_CHAT_TOKENS_MOST, all, all - 1, 5, 0};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        int32_t *ids = NULL;
        size_t count = 0, whole = 0;
        zn_test_ok(zn_chat_encode(tokenizer, prompt, strlen(prompt), limits[i], &ids, &count,
                                  &whole, &err),
                   &err);
        assert_int_equal(whole, all);
        assert_int_equal(count, limits[i] < all ? limits[i] : all);
        if (count > 0) assert_memory_equal(ids, wanted, count * sizeof *ids);
        zn_free(ids);
    }
    zn_tokenizer_free(tokenizer);
}

ZN_TEST(a_tokenizer_without_marks)
{
    zn_error err = {{0}};
    int32_t *ids = NULL;
    size_t count;
    zn_tokenizer *tokenizer = open_made(&(made_json){0});
    assert_int_equal(zn_chat_encode(tokenizer, "x", 1, 512, &ids, &count, NULL, &err),
                     ZENITH_BAD_FILE);
    assert_non_null(strstr(err.text, "no token <|im_start|>"));
    assert_null(ids);
    zn_tokenizer_free(tokenizer);
}
