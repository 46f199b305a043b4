// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Help texts out of the command tables.
#ifndef ZN_CLI_HELP_H
#define ZN_CLI_HELP_H

#include "apps/cli/command.h"

#include <stdio.h>

void cli_help_program(FILE *out);
void cli_help_command(FILE *out, const cli_command *command);

#endif
