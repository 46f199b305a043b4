// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Why a request is not done: what becomes its error object.
#ifndef ZN_SERVE_HTTP_FAILURE_H
#define ZN_SERVE_HTTP_FAILURE_H

#include "zenith/status.h"

#include <stdbool.h>

typedef struct serve_failure {
    int code;         // of HTTP; 0: none
    const char *type; // stable: programs look at it
    char text[768];   // for a person; plain ASCII
} serve_failure;

// Fills *failure and returns false.
bool serve_fail(serve_failure *failure, int code, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The same from what the library said.
bool serve_fail_status(serve_failure *failure, zenith_status status, const char *sentence);

// What most failures are: a request that says something wrong, one that cannot be followed, and one
// that is too large.
#define serve_fail_request(failure, ...) serve_fail(failure, 400, "invalid_request", __VA_ARGS__)
#define serve_fail_content(failure, ...) serve_fail(failure, 422, "unprocessable", __VA_ARGS__)
#define serve_fail_size(failure, ...)    serve_fail(failure, 413, "too_large", __VA_ARGS__)
#define serve_fail_memory(failure)       serve_fail(failure, 503, "out_of_memory", "out of memory")

#endif
