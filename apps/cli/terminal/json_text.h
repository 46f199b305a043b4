// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON as text for people: keys and values in two columns, lists of objects as tables. It knows
// nothing of what the objects mean, so that facts which the library adds are shown too.
#ifndef ZN_CLI_TERMINAL_JSON_TEXT_H
#define ZN_CLI_TERMINAL_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

void cli_print_json_text(FILE *out, const json_t *value);

#endif
