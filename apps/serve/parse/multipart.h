// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A form with files, multipart/form-data of RFC 7578, of which the whole body is here. Nothing is
// copied but names.
#ifndef ZN_SERVE_PARSE_MULTIPART_H
#define ZN_SERVE_PARSE_MULTIPART_H

#include "apps/serve/http/failure.h"

#include <stddef.h>
#include <stdint.h>

enum { SERVE_PARTS = 32 };

typedef struct serve_part {
    char name[48];
    bool file; // it has the name of a file
    const uint8_t *data;
    size_t size;
} serve_part;

typedef struct serve_parts {
    serve_part list[SERVE_PARTS];
    size_t count;
} serve_parts;

bool serve_multipart_read(const char *content_type, const void *body, size_t size, serve_parts *out,
                          serve_failure *failure);

#endif
