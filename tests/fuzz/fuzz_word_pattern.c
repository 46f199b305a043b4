// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The first line is a pattern that splits words, the rest is the text: whatever compiles must give
// every byte of the text once, in words that are not empty, or end with a sentence.
#include "src/base/text.h"
#include "src/text/splitter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct rest {
    const char *text;
    size_t size;
} rest;

static zenith_status check_word(void *cookie, const char *word, size_t size, zn_error *err)
{
    rest *left = cookie;
    (void)err;
    if (word != left->text || size == 0 || size > left->size) __builtin_trap();
    left->text += size;
    left->size -= size;
    return ZENITH_OK;
}

static void split(const char *pattern, const char *text, size_t size)
{
    zn_splitter *splitter = NULL;
    zn_error err = {{0}};
    rest left = {text, size};
    zenith_status status = zn_splitter_create(pattern, "fuzz", &splitter, &err);
    if (status == ZENITH_OK) {
        status = zn_splitter_each(splitter, text, size, check_word, &left, &err);
        if (status == ZENITH_OK && left.size > 0) __builtin_trap();
    } else if (splitter) {
        __builtin_trap();
    }
    if (status != ZENITH_OK && (!*err.text || status == ZENITH_OUT_OF_MEMORY)) __builtin_trap();
    zn_splitter_free(splitter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    if (!end || zn_utf8_valid((const char *)end + 1, size - (size_t)(end - data) - 1) <
                    size - (size_t)(end - data) - 1)
        return 0;
    const size_t length = (size_t)(end - data);
    char *pattern = malloc(length + 1);
    if (!pattern) return 0;
    memcpy(pattern, data, length);
    pattern[length] = '\0';
    split(pattern, (const char *)end + 1, size - length - 1);
    free(pattern);
    return 0;
}
