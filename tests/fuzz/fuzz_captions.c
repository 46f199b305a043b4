// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a file of captions, as text or as .jsonl by the first byte: what is taken is UTF-8
// and not empty.
#include "src/base/text.h"
#include "src/text/captions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_captions captions = {0};
    zn_error err = {{0}};
    uint64_t bytes = 0;
    if (size == 0) return 0;
    const zn_bytes file = {(const char *)data + 1, size - 1};
    if (zn_captions_read(&captions, file, data[0] == 't' ? "a.txt" : "a.jsonl", NULL, &err) !=
            ZENITH_OK &&
        !*err.text)
        __builtin_trap(); // every refusal has its sentence
    for (size_t i = 0; i < captions.count; i++) {
        const zn_bytes text = captions.texts[i];
        bytes += text.size;
        if (text.size == 0 || zn_utf8_valid(text.data, text.size) < text.size) __builtin_trap();
    }
    if (bytes != captions.bytes) __builtin_trap();
    zn_captions_free(&captions);
    return 0;
}
