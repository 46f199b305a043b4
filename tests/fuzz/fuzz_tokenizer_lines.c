// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of tokenizers that are lines. The first byte says what the others are: 0 qwen.tiktoken,
// 1 the same after the lines of the 256 bytes, 2 merges.txt and 3 tokenizer_config.json of a fixed
// vocabulary, else the merges of GGUF arrays.
#include "tests/fuzz/encoded.h"

#include <stdio.h>
#include <stdlib.h>

static zenith_status parse_ranks(zn_bytes tail, zn_tokenizer **out, zn_error *err)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(256 * 16 + tail.size);
    size_t used = 0;
    if (!text) return ZENITH_OUT_OF_MEMORY;
    for (unsigned b = 0; b < 256; b++)
        used += (size_t)snprintf(text + used, 16, "%c%c== %u\n", digits[b >> 2],
                                 digits[(b & 3) << 4], b);
    memcpy(text + used, tail.data, tail.size);
    const zenith_status status = zn_tokenizer_parse_tiktoken((zn_bytes){text, used + tail.size},
                                                             "fuzz", out, err);
    free(text);
    return status;
}

static zenith_status parse_with_vocabulary(zn_bytes merges, zn_bytes config, zn_tokenizer **out,
                                           zn_error *err)
{
    static char text[MADE_TOKENS * 64];
    static size_t used;
    if (used == 0) {
        made_tokens made;
        make_tokens(&made);
        used = (size_t)snprintf(text, sizeof text, "{");
        for (size_t i = 0; i < 256 + MADE_WORDS; i++) {
            const char c = made.tokens[i].data[0];
            used += (size_t)snprintf(text + used, 64, "%s\"%s%.*s\":%zu", i ? "," : "",
                                     i < 256 && (c == '"' || c == '\\') ? "\\" : "",
                                     (int)made.tokens[i].size, made.tokens[i].data, i);
        }
        used += (size_t)snprintf(text + used, 2, "}");
    }
    return zn_tokenizer_parse_merges((zn_bytes){text, used}, merges, config, "fuzz", out, err);
}

// Every line is a string of the array.
static zenith_status parse_arrays(zn_bytes lines, zn_tokenizer **out, zn_error *err)
{
    enum { MOST = 4096 };
    static made_tokens made;
    static zn_bytes merges[MOST];
    size_t count = 0;
    make_tokens(&made);
    while (lines.size > 0 && count < MOST) {
        const char *end = memchr(lines.data, '\n', lines.size);
        const size_t length = end ? (size_t)(end - lines.data) : lines.size;
        merges[count++] = (zn_bytes){lines.data, length};
        lines.data += end ? length + 1 : length;
        lines.size -= end ? length + 1 : length;
    }
    const zn_tokenizer_arrays arrays = {.tokens = made.tokens,
                                        .types = made.types,
                                        .token_count = MADE_TOKENS,
                                        .merges = merges,
                                        .merge_count = count};
    return zn_tokenizer_from_arrays(&arrays, "fuzz", out, err);
}

static zenith_status parse(uint8_t kind, zn_bytes file, zn_tokenizer **out, zn_error *err)
{
    const zn_bytes none = {"", 0}, one = {"a b\n", 4};
    switch (kind) {
    case 0:
        return zn_tokenizer_parse_tiktoken(file, "fuzz", out, err);
    case 1:
        return parse_ranks(file, out, err);
    case 2:
        return parse_with_vocabulary(file, none, out, err);
    case 3:
        return parse_with_vocabulary(one, file, out, err);
    default:
        return parse_arrays(file, out, err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] = "the abc aaaaa  the\n\n12 caf\xc3\xa9 cafe\xcc\x81 <|im_end|>";
    zn_tokenizer *tokenizer = NULL;
    zn_error err = {{0}};
    if (size == 0) return 0;
    const zn_bytes file = {(const char *)data + 1, size - 1};
    if (parse(data[0], file, &tokenizer, &err) != ZENITH_OK) {
        if (tokenizer || !*err.text) __builtin_trap(); // every refusal has its sentence
        return 0;
    }
    if (encode_and_check(tokenizer, text, sizeof text - 1) != ZENITH_OK) __builtin_trap();
    zn_tokenizer_free(tokenizer);
    return 0;
}
