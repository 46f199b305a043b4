// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the fuzzers of tokenizers share: a vocabulary of all bytes and a few more tokens, and texts
// that whatever opens must encode and give back.
#ifndef ZN_TESTS_FUZZ_ENCODED_H
#define ZN_TESTS_FUZZ_ENCODED_H

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/text/tokenizer.h"
#include "src/text/unicode.h"

#include <string.h>

enum { MADE_WORDS = 12, MADE_ADDED = 3, MADE_TOKENS = 256 + MADE_WORDS + MADE_ADDED };

// The tokens of a made vocabulary: bytes, words, added tokens; in the byte alphabet.
typedef struct made_tokens {
    char texts[MADE_TOKENS][32];
    zn_bytes tokens[MADE_TOKENS];
    int32_t types[MADE_TOKENS];
} made_tokens;

static inline void make_tokens(made_tokens *made)
{
    static const char *const more[MADE_WORDS + MADE_ADDED] = {
        "ab", "abc",  "aa", "aaaa",     "th",           "the",        " a",         " the",
        "12", "\n\n", "  ", "\xc3\xa9", "<|im_start|>", "<|im_end|>", "<|im_end|><"};
    for (size_t i = 0; i < MADE_TOKENS; i++) {
        const uint8_t byte = (uint8_t)i;
        const char *word = i < 256 ? (const char *)&byte : more[i - 256];
        const size_t size = i < 256 ? 1 : strlen(word);
        made->types[i] = i < 256 + MADE_WORDS ? 1 : 3;
        made->tokens[i] = (zn_bytes){
            made->texts[i], zn_byte_alphabet_write((const uint8_t *)word, size, made->texts[i])};
    }
}

// Encodes and decodes; a text without added tokens must come back as its normal form, or as it is
// where the tokenizer does not normalise. Returns the status of encoding.
static inline zenith_status encode_and_check(const zn_tokenizer *tokenizer, const char *text,
                                             size_t size)
{
    zn_error err = {{0}};
    zn_nfc room = {0};
    int32_t *ids = NULL;
    char *back = NULL;
    const char *normal;
    size_t count = 0, back_size = 0, normal_size = 0;
    const zenith_status status = zn_tokenizer_encode(tokenizer, text, size, &ids, &count, &err);
    if (status != ZENITH_OK) {
        if (ids || !*err.text) __builtin_trap(); // every refusal has its sentence
        return status;
    }
    if (zn_tokenizer_decode(tokenizer, ids, count, false, &back, &back_size, &err) != ZENITH_OK ||
        zn_nfc_apply(&room, text, size, &normal, &normal_size, &err) != ZENITH_OK)
        __builtin_trap();
    const bool normalised = back_size == normal_size && memcmp(back, normal, back_size) == 0;
    const bool same = back_size == size && (size == 0 || memcmp(back, text, size) == 0);
    // Normalisation goes from added token to added token: a mark behind "<|im_end|>" stays alone.
    if (!normalised && !same && !(size && memchr(text, '<', size))) __builtin_trap();
    if (zn_utf8_valid(back, back_size) != back_size) __builtin_trap();
    zn_free(ids);
    zn_free(back);
    zn_nfc_free(&room);
    return ZENITH_OK;
}

#endif
