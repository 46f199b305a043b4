// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith help [COMMAND]
#include "apps/cli/command.h"
#include "apps/cli/help.h"

static int run(const cli_settings *settings)
{
    if (settings->input_count == 0) {
        cli_help_program(stdout);
        return CLI_DONE;
    }
    const cli_command *command = cli_command_find(settings->inputs[0]);
    if (command == NULL) return CLI_USAGE;
    cli_help_command(stdout, command);
    return CLI_DONE;
}

static const cli_option options[] = {{.name = "help",
                                      .letter = 'h',
                                      .help = "print this text",
                                      .kind = CLI_FLAG,
                                      .offset = offsetof(cli_settings, help)},
                                     {.name = NULL}};
static const cli_option_group group = {"Options", options};
static const cli_option_group *const groups[] = {&group, NULL};

const cli_command cli_command_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "print how to use the program, or one command",
    .description = "Prints how to use the program, or one command.",
    .groups = groups,
    .max_inputs = 1,
    .run = run,
};
