// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as tokenizer.json; whatever opens encodes some texts and gives them back.
#include "tests/fuzz/encoded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const texts[] = {
        "",
        "the abc's 12 aaaa  the\n\n x",
        "caf\xc3\xa9 cafe\xcc\x81 \xe2\x84\xab \xe6\x97\xa5",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
    };
    zn_tokenizer *tokenizer = NULL;
    zn_error err = {{0}};
    const zn_bytes file = {(const char *)data, size};
    if (zn_tokenizer_parse_json(file, "fuzz", &tokenizer, &err) != ZENITH_OK) {
        if (tokenizer || !*err.text) __builtin_trap(); // every refusal has its sentence
        return 0;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const zenith_status status = encode_and_check(tokenizer, texts[i], strlen(texts[i]));
        // A pattern of the file may be broken in ways that only a text shows.
        if (status != ZENITH_OK && status != ZENITH_LIMIT && status != ZENITH_BAD_FILE)
            __builtin_trap();
    }
    zn_tokenizer_free(tokenizer);
    return 0;
}
