// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files in JSON: base64 of RFC 4648, with padding.
#ifndef ZN_SERVE_PARSE_BASE64_H
#define ZN_SERVE_PARSE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A text to be freed; NULL: out of memory.
char *serve_base64_write(const void *data, size_t size);
// Bytes to be freed, *size of them. False: it is no base64 (*out is NULL), or out of memory.
bool serve_base64_read(const char *text, size_t length, uint8_t **out, size_t *size);

#endif
