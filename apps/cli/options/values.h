// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of an option's value to the value, by the option's kind.
#ifndef ZN_CLI_OPTIONS_VALUES_H
#define ZN_CLI_OPTIONS_VALUES_H

#include "apps/cli/command.h"

// Writes to `out`, which points at the option's place in the settings. False if the text is no such
// value; nothing is written then.
bool cli_option_value(const cli_option *option, const char *text, void *out);

// The seed that was given, or a random one, short enough to be typed; false after a message.
bool cli_seed_choose(const cli_seed *given, uint64_t *out);

#endif
