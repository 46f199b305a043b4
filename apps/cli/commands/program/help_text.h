// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Help texts out of the command tables.
#ifndef ZN_CLI_COMMANDS_PROGRAM_HELP_TEXT_H
#define ZN_CLI_COMMANDS_PROGRAM_HELP_TEXT_H

#include "apps/cli/command.h"

#include <stdio.h>

void cli_help_program(FILE *out, bool all); // all: research models too
void cli_help_command(FILE *out, const cli_command *command);

// What the arguments of a command can be, as a sentence; "" where its usage line says all.
void cli_help_inputs(const cli_command *command, char *text, size_t size);

// What every page has.
extern const cli_example cli_help_exit_codes[]; // ends with a NULL command
extern const cli_example cli_help_examples[];   // likewise
extern const char cli_help_exit_note[], cli_help_about[];

// The manual page of a command, or of the program (NULL), as scdoc source.
void cli_help_man(FILE *out, const cli_command *command);
// Completion of the command line; shell: bash, zsh or fish.
void cli_help_completion(FILE *out, const char *shell);

#endif
