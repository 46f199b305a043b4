// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines of a text file in memory, without their ends ("\n" or "\r\n").
#ifndef ZN_TEXT_LINES_H
#define ZN_TEXT_LINES_H

#include "src/text/tokenizer.h"

#include <string.h>

// Takes the next line off *rest; false when nothing is left.
static inline bool zn_lines_next(zn_bytes *rest, zn_bytes *line)
{
    if (rest->size == 0) return false;
    const char *end = memchr(rest->data, '\n', rest->size);
    const size_t length = end ? (size_t)(end - rest->data) : rest->size;
    const size_t taken = end ? length + 1 : length;
    *line = (zn_bytes){rest->data, length};
    if (length > 0 && line->data[length - 1] == '\r') line->size--;
    rest->data += taken;
    rest->size -= taken;
    return true;
}

static inline size_t zn_lines_count(zn_bytes text)
{
    size_t count = 0;
    zn_bytes line;
    while (zn_lines_next(&text, &line)) count++;
    return count;
}

#endif
