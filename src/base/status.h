// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How failures travel: a status is returned, and one sentence for a person is left in a zn_error
// that the caller passes down. The deepest message wins: whoever knows the file, the tensor or the
// byte position writes it first, and callers above only hand the status on. Every function here
// accepts err == NULL.
#ifndef ZN_BASE_STATUS_H
#define ZN_BASE_STATUS_H

#include "zenith/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct zn_error {
    char text[512]; // "" while nothing failed
} zn_error;

// Leaves the sentence, formatted as in base/text.h, unless a deeper one is there already, and
// returns `status`.
zenith_status zn_fail(zn_error *err, zenith_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ZENITH_OUT_OF_MEMORY, with the number of bytes that could not be had.
zenith_status zn_fail_memory(zn_error *err, size_t bytes);

// Puts "prefix: " before the message that is there; for adding a file's name on the way up.
void zn_error_prefix(zn_error *err, const char *prefix);

// Returns from the calling function with the status of `call` unless it is ZENITH_OK.
#define ZN_TRY(call)                                                                               \
    do {                                                                                           \
        zenith_status zn_try_status_ = (call);                                                     \
        if (zn_try_status_ != ZENITH_OK) return zn_try_status_;                                    \
    } while (0)

// The same in a function that owns something: needs `zenith_status status` and, at the end, a label
// `fail`.
#define ZN_GO(call)                                                                                \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != ZENITH_OK) goto fail;                                                        \
    } while (0)

#endif
