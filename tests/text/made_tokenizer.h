// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Vocabularies that the tests write themselves: the 256 bytes have the ids 0 to 255, and a test
// adds what it is about. The same vocabulary comes as tokenizer.json, vocab.json, qwen.tiktoken or
// arrays.
#ifndef ZN_TESTS_TEXT_MADE_TOKENIZER_H
#define ZN_TESTS_TEXT_MADE_TOKENIZER_H

#include "src/text/tokenizer.h"
#include "src/text/unicode.h"
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

typedef struct made_text {
    char data[1 << 16];
    size_t size;
} made_text;

static inline __attribute__((format(printf, 2, 3))) void put(made_text *text, const char *format,
                                                             ...)
{
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(text->data + text->size, sizeof text->data - text->size, format,
                                 list);
    va_end(list);
    assert_true(length >= 0 && text->size + (size_t)length < sizeof text->data);
    text->size += (size_t)length;
}

static inline zn_bytes bytes_of(const made_text *text)
{
    return (zn_bytes){text->data, text->size};
}

// {"!": 33, .., then what `more` says (with its own comma)}
static inline void put_vocabulary(made_text *text, const char *more)
{
    put(text, "{");
    for (unsigned b = 0; b < 256; b++) {
        const uint8_t byte = (uint8_t)b;
        char written[8] = {0};
        const char *escape = b == '"' || b == '\\' ? "\\" : "";
        zn_byte_alphabet_write(&byte, 1, written);
        put(text, "%s\"%s%s\":%u", b ? "," : "", escape, written, b);
    }
    put(text, "%s}", more);
}

#define QWEN_SPLIT                                                                                 \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|"                   \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|"   \
    "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},\"behavior\":\"Isolated\",\"invert\":false}"
#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}"

// What a tokenizer.json says besides its bytes; NULL is Qwen's.
typedef struct made_json {
    const char *tokens; // ",\"ab\":256"
    const char *merges; // "\"a b\""
    const char *added;  // objects
    const char *splits; // pre-tokenizers of the sequence
    const char *normaliser;
    const char *model; // further fields of the model, with a comma at the end
    const char *root;  // further fields of the file, with a comma at the end
} made_json;

static inline void put_json(made_text *text, const made_json *made)
{
    text->size = 0;
    put(text, "{%s\"added_tokens\":[%s],\"normalizer\":%s,", made->root ? made->root : "",
        made->added ? made->added : "", made->normaliser ? made->normaliser : "{\"type\":\"NFC\"}");
    put(text, "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[%s]},",
        made->splits ? made->splits : QWEN_SPLIT "," BYTE_LEVEL);
    put(text, "\"model\":{\"type\":\"BPE\",%s\"vocab\":", made->model ? made->model : "");
    put_vocabulary(text, made->tokens ? made->tokens : "");
    put(text, ",\"merges\":[%s]}}", made->merges ? made->merges : "");
}

static inline zn_tokenizer *open_made(const made_json *made)
{
    static made_text text;
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    put_json(&text, made);
    zn_test_ok(zn_tokenizer_parse_json(bytes_of(&text), "made", &tokenizer, &err), &err);
    return tokenizer;
}

// The file is refused with this status, and the sentence has these words.
static inline void refused_json(const made_json *made, zenith_status wanted, const char *words)
{
    static made_text text;
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    put_json(&text, made);
    const zenith_status status = zn_tokenizer_parse_json(bytes_of(&text), "made", &tokenizer, &err);
    if (status != wanted || !strstr(err.text, words))
        fail_msg("status %d instead of %d, \"%s\" instead of \"%s\"", (int)status, (int)wanted,
                 err.text, words);
    assert_null(tokenizer);
}

#endif
