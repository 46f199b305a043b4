// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Small text tools for messages. The library imports nothing of the printf family (a host may
// forbid it, and locale must not change our bytes), so formatting is ours:
//
//     %s %.8s %.*s %c %%              text; NULL is "(null)"
//     %d %i %u %x, with l, ll, z      integers
//     %f %.3f                         a double, exactly rounded, at most 18 decimals
//     %g                              the same as %f without trailing zeros
//     %5u %-8s %05d %*d               a width, the left edge, zeros
//
// At any other conversion the rest of the format is copied as it stands.
#ifndef ZN_BASE_TEXT_H
#define ZN_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Writes at most `size` bytes with the closing zero (size > 0), cutting what is too long, and
// returns the length of what was written.
size_t zn_text_format(char *dst, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t zn_text_format_list(char *dst, size_t size, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

bool zn_text_ends_with(const char *text, const char *tail);        // case-sensitive
bool zn_text_ends_with_nocase(const char *text, const char *tail); // ASCII only

// UTF-8 in its one valid form: no overlong forms, no surrogates, nothing above U+10FFFF. The bytes
// of the character that the text begins with, and its number; 0 (and *point untouched) where it
// begins with none, or is empty.
size_t zn_utf8_next(const char *text, size_t size, uint32_t *point);
// The length of the longest beginning that is UTF-8; `size` when all of it is.
size_t zn_utf8_valid(const char *text, size_t size);

#endif
