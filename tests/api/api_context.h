// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The context of a program that tests the API, and checks with its sentence.
#ifndef ZN_TESTS_API_API_CONTEXT_H
#define ZN_TESTS_API_API_CONTEXT_H

#include "tests/testing.h"

#include "zenith/zenith.h"

#include <string.h>

static zenith_context *context;

#define api_ok(status) api_ok_at(status, __FILE__, __LINE__)
static inline void api_ok_at(zenith_status status, const char *file, int line)
{
    if (status == ZENITH_OK) return;
    print_error("%s:%d: status %d: %s\n", file, line, (int)status, zenith_context_error(context));
    _fail(file, line);
}

// The status, and a part of the sentence.
#define api_fails(status, expected, part)                                                          \
    do {                                                                                           \
        assert_int_equal(status, expected);                                                        \
        if (!strstr(zenith_context_error(context), part))                                          \
            fail_msg("\"%s\" is not in: %s", part, zenith_context_error(context));                 \
    } while (0)

#endif
