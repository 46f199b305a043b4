// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See multipart.h. A body is
//
//   --BOUNDARY CRLF headers CRLF CRLF data CRLF --BOUNDARY CRLF .. CRLF --BOUNDARY--
#include "apps/serve/parse/multipart.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_BOUNDARY = 70, LONGEST_HEADERS = 4096 };

static bool broken(serve_failure *failure, const char *what)
{
    return serve_fail_request(failure, "the form is broken: %s", what);
}

// CRLF, "--" and the boundary; its length, 0: there is none.
static size_t read_boundary(const char *type, char out[LONGEST_BOUNDARY + 8])
{
    const char *at = strcasestr(type, "boundary=");
    if (at == NULL || strncasecmp(type, "multipart/form-data", 19) != 0) return 0;
    at += strlen("boundary=");
    const bool quoted = *at == '"';
    if (quoted) at++;
    const size_t length = strcspn(at, quoted ? "\"" : "; \t\"");
    if (length == 0 || length > LONGEST_BOUNDARY) return 0;
    return (size_t)snprintf(out, LONGEST_BOUNDARY + 8, "\r\n--%.*s", (int)length, at);
}

// The value of NAME="..." among the headers; false: it is not there.
static bool find_quoted(const char *headers, const char *name, char *out, size_t size)
{
    const char *at = strcasestr(headers, name);
    if (at == NULL) return false;
    at += strlen(name);
    const size_t length = strcspn(at, "\"\r\n");
    if (at[length] != '"' || length >= size) return false;
    memcpy(out, at, length);
    out[length] = 0;
    return true;
}

static bool read_headers(const uint8_t *begin, size_t size, serve_part *part,
                         serve_failure *failure)
{
    char headers[LONGEST_HEADERS + 1];
    if (size > LONGEST_HEADERS || memchr(begin, 0, size) != NULL)
        return broken(failure, "the headers of a part are too long");
    memcpy(headers, begin, size);
    headers[size] = 0;
    part->file = strcasestr(headers, "; filename=") != NULL;
    return find_quoted(headers, "; name=\"", part->name, sizeof part->name) ||
           broken(failure, "a part has no name");
}

// The part that begins at *at, behind its boundary's line; *at moves to the next boundary.
static bool read_part(const uint8_t **at, const uint8_t *end, const char *boundary, size_t length,
                      serve_part *part, serve_failure *failure)
{
    const uint8_t *data = memmem(*at, (size_t)(end - *at), "\r\n\r\n", 4);
    if (data == NULL) return broken(failure, "a part has no end of its headers");
    if (!read_headers(*at, (size_t)(data - *at), part, failure)) return false;
    // The data may be empty: then its boundary begins with the CRLF that ends the headers' line.
    const uint8_t *next = memmem(data + 2, (size_t)(end - data - 2), boundary, length);
    if (next == NULL) return broken(failure, "a part has no end");
    data += 4;
    part->data = data;
    part->size = next > data ? (size_t)(next - data) : 0;
    *at = next;
    return true;
}

bool serve_multipart_read(const char *content_type, const void *body, size_t size, serve_parts *out,
                          serve_failure *failure)
{
    char boundary[LONGEST_BOUNDARY + 8];
    const size_t length = content_type != NULL ? read_boundary(content_type, boundary) : 0;
    const uint8_t *at = body, *end = at + size;
    out->count = 0;
    if (length == 0)
        return serve_fail(failure, 415, "unsupported_media_type",
                          "the body is taken as multipart/form-data with a boundary");
    if (size < length || memcmp(at, boundary + 2, length - 2) != 0)
        return broken(failure, "it does not begin with its boundary");
    at += length - 2;
    while (end - at < 2 || memcmp(at, "--", 2) != 0) {
        if (end - at < 2 || memcmp(at, "\r\n", 2) != 0)
            return broken(failure, "a boundary is not the end of its line");
        if (out->count == SERVE_PARTS) return broken(failure, "it has more than 32 parts");
        at += 2;
        if (!read_part(&at, end, boundary, length, &out->list[out->count], failure)) return false;
        out->count++;
        at += length;
    }
    return true;
}
