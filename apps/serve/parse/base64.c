// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See base64.h.
#include "apps/serve/parse/base64.h"

#include <stdlib.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *serve_base64_write(const void *data, size_t size)
{
    const uint8_t *src = data;
    char *text = size < SIZE_MAX / 2 ? malloc((size + 2) / 3 * 4 + 1) : NULL, *to = text;
    if (text == NULL) return NULL;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t bits = (uint32_t)src[i] << 16 | (left > 1 ? (uint32_t)src[i + 1] << 8 : 0) |
                              (left > 2 ? src[i + 2] : 0);
        *to++ = letters[bits >> 18];
        *to++ = letters[bits >> 12 & 63];
        *to++ = left > 1 ? letters[bits >> 6 & 63] : '=';
        *to++ = left > 2 ? letters[bits & 63] : '=';
    }
    *to = 0;
    return text;
}

static int value_of(char c)
{
    const char *at = c != 0 ? memchr(letters, c, 64) : NULL;
    return at != NULL ? (int)(at - letters) : -1;
}

bool serve_base64_read(const char *text, size_t length, uint8_t **out, size_t *size)
{
    size_t padding = 0;
    while (padding < 2 && length > padding && text[length - 1 - padding] == '=') padding++;
    *out = NULL;
    if (length == 0 || length % 4 != 0) return false;
    uint8_t *bytes = malloc(length / 4 * 3), *to = bytes;
    if (bytes == NULL) return false;
    for (size_t i = 0; i < length; i += 4) {
        uint32_t bits = 0;
        for (size_t j = i; j < i + 4; j++) {
            const int value = j >= length - padding ? 0 : value_of(text[j]);
            if (value < 0) {
                free(bytes);
                return false;
            }
            bits = bits << 6 | (uint32_t)value;
        }
        *to++ = (uint8_t)(bits >> 16);
        *to++ = (uint8_t)(bits >> 8);
        *to++ = (uint8_t)bits;
    }
    *out = bytes;
    *size = length / 4 * 3 - padding;
    return true;
}
