// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A failure on its way to the user: the program's own sentence, or the library's.
#ifndef ZN_CLI_TERMINAL_FAILURE_H
#define ZN_CLI_TERMINAL_FAILURE_H

#include "zenith/zenith.h"

#include <stdbool.h>

typedef struct cli_failure {
    zenith_status status; // ZENITH_OK: none
    bool model;           // the model or its weights are to blame
    char text[768];
} cli_failure;

// Fills *failure with a sentence of the program and returns false.
bool cli_fail_text(cli_failure *failure, zenith_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define cli_fail_memory(failure) cli_fail_text(failure, ZENITH_OUT_OF_MEMORY, "out of memory")

#endif
