// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
//   tEXt: keyword 0 text
//   iTXt: keyword 0 compressed method language 0 keyword 0 text
#include "src/format/image/png_text.h"

#include "src/base/memory.h"

#include <string.h>

// Goes behind the next zero; false where there is none.
static bool skip_zero(const uint8_t **data, size_t *size)
{
    const uint8_t *zero = *size ? memchr(*data, 0, *size) : NULL;
    if (!zero) return false;
    *size -= (size_t)(zero + 1 - *data);
    *data = zero + 1;
    return true;
}

bool zn_png_text_find(const uint8_t *name, const uint8_t *body, size_t size, const char *keyword,
                      zn_png_text *out)
{
    const bool latin = memcmp(name, "tEXt", 4) == 0;
    const size_t length = strlen(keyword) + 1; // with its zero
    if ((!latin && memcmp(name, "iTXt", 4) != 0) || size > ZN_PNG_TEXT_MOST) return false;
    if (size < length || memcmp(body, keyword, length) != 0) return false;
    body += length;
    size -= length;
    if (!latin) {
        if (size < 2 || body[0] != 0) return false; // compressed
        body += 2;
        size -= 2;
        if (!skip_zero(&body, &size) || !skip_zero(&body, &size)) return false;
    }
    *out = (zn_png_text){body, size, latin};
    return true;
}

zenith_status zn_png_text_copy(const zn_png_text *text, char **out, zn_error *err)
{
    const size_t most = 2 * text->size + 1;
    char *copy = zn_alloc(most), *to = copy;
    if (!copy) return zn_fail_memory(err, most);
    for (size_t i = 0; i < text->size && text->data[i]; i++) {
        const uint8_t c = text->data[i];
        const bool two = text->latin && c >= 0x80;
        if (two) *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(two ? 0x80 | (c & 0x3f) : c);
    }
    *to = 0;
    *out = copy;
    return ZENITH_OK;
}
