// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts in PNG files, by chunk: tEXt (Latin-1) and iTXt (UTF-8) that is not compressed.
#ifndef ZN_FORMAT_IMAGE_PNG_TEXT_H
#define ZN_FORMAT_IMAGE_PNG_TEXT_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZN_PNG_TEXT_MOST ((size_t)1 << 20) // bytes of a chunk; a longer one is no text of ours

typedef struct zn_png_text {
    const uint8_t *data; // in the file
    size_t size;
    bool latin; // Latin-1
} zn_png_text;

// Whether a chunk of this name (four letters) is a text with this keyword; *out is it then.
bool zn_png_text_find(const uint8_t *name, const uint8_t *body, size_t size, const char *keyword,
                      zn_png_text *out);

// The text up to its first zero as UTF-8 with a closing zero, to be freed by zn_free. What iTXt has
// is not checked.
zenith_status zn_png_text_copy(const zn_png_text *text, char **out, zn_error *err);

#endif
