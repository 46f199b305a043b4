// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The library's sentences name fields and functions of the C interface. Users of the program know
// its options and commands.
#ifndef ZN_CLI_OPTIONS_SENTENCES_H
#define ZN_CLI_OPTIONS_SENTENCES_H

#include <stddef.h>

// The sentence with the program's words in place of the library's; cut off where dst ends.
void cli_say_options(const char *sentence, char *dst, size_t size);
// The same for a command whose config names models and weights.
void cli_say_config(const char *sentence, char *dst, size_t size);

#endif
