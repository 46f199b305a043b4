// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Small text tools for messages. The library imports nothing of the printf family (a host may
// forbid it, and locale must not change our bytes), so formatting is ours: %s %c %d %i %u %x %ld
// %lu %lld %llu %zu %zd %% with an optional width for integers
// (%05u), %.*s, and %f / %.3f / %g (as %.6f without trailing zeros).
#ifndef ZN_BASE_TEXT_H
#define ZN_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Writes at most size bytes with the closing zero (size > 0) and returns the length of what was
// written; cuts what is too long.
size_t zn_text_format(char *dst, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t zn_text_format_list(char *dst, size_t size, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

bool zn_text_ends_with(const char *text, const char *tail);        // case-sensitive
bool zn_text_ends_with_nocase(const char *text, const char *tail); // ASCII only

#endif
