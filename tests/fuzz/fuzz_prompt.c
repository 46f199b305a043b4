// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a prompt: UTF-8 is encoded, alone and in the chat's text, and comes back; anything
// else is refused.
#include "src/text/chat.h"
#include "tests/fuzz/encoded.h"

static zn_tokenizer *tokenizer; // one for all inputs

static void make_tokenizer(void)
{
    static const char *const merges[] = {"a b",
                                         "ab c",
                                         "a a",
                                         "aa aa",
                                         "t h",
                                         "th e",
                                         "\xc4\xa0 a",
                                         "\xc4\xa0 the",
                                         "1 2",
                                         "\xc4\x8a \xc4\x8a",
                                         "\xc4\xa0 \xc4\xa0",
                                         "\xc3\x83 \xc2\xa9"};
    enum { MERGES = sizeof merges / sizeof *merges };
    made_tokens made;
    zn_bytes lines[MERGES];
    zn_error err = {{0}};
    make_tokens(&made);
    for (size_t i = 0; i < MERGES; i++) lines[i] = (zn_bytes){merges[i], strlen(merges[i])};
    const zn_tokenizer_arrays arrays = {.tokens = made.tokens,
                                        .types = made.types,
                                        .token_count = MADE_TOKENS,
                                        .merges = lines,
                                        .merge_count = MERGES};
    if (zn_tokenizer_from_arrays(&arrays, "fuzz", &tokenizer, &err) != ZENITH_OK) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *prompt = (const char *)data;
    if (!tokenizer) make_tokenizer();
    const bool valid = zn_utf8_valid(prompt, size) == size;
    const zenith_status status = encode_and_check(tokenizer, prompt, size);
    if (status != (valid ? ZENITH_OK : ZENITH_INVALID_ARGUMENT)) __builtin_trap();
    zn_error err = {{0}};
    int32_t *ids = NULL;
    size_t count = 0, whole = 0;
    if (zn_chat_encode(tokenizer, prompt, size, 16, &ids, &count, &whole, &err) != status)
        __builtin_trap();
    if (status == ZENITH_OK && (count > 16 || count > whole || whole < 6)) __builtin_trap();
    zn_free(ids);
    return 0;
}
