// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith help [COMMAND]. Two options that --help does not show print the same tables for others:
// --man as the source of a manual page, --completion for a shell. The build uses them.
#include "apps/cli/command.h"
#include "apps/cli/commands/program/help_text.h"
#include "apps/cli/terminal/terminal.h"

static int run(const cli_settings *settings)
{
    const cli_command *command = NULL;
    size_t used;
    if (settings->input_count > 0) {
        command = cli_command_find(settings->inputs, settings->input_count, &used);
        if (command == NULL) return CLI_USAGE;
        if (used < settings->input_count) {
            cli_say("'%s' has no commands of its own", command->name);
            return CLI_USAGE;
        }
    }
    if (settings->shell != NULL)
        cli_help_completion(stdout, settings->shell);
    else if (settings->man)
        cli_help_man(stdout, command);
    else if (command != NULL)
        cli_help_command(stdout, command);
    else
        cli_help_program(stdout, settings->all);
    return CLI_DONE;
}

static const cli_choice shells[] = {{"bash", 0}, {"zsh", 0}, {"fish", 0}, {NULL, 0}};
static const cli_option options[] = {
    {.name = "help",
     .letter = 'h',
     .help = "print this text",
     .kind = CLI_FLAG,
     .offset = offsetof(cli_settings, help)},
    {.name = "all",
     .letter = 'a',
     .help = "also list the research models",
     .kind = CLI_FLAG,
     .offset = offsetof(cli_settings, all)},
    {.name = "man", .kind = CLI_FLAG, .offset = offsetof(cli_settings, man)},
    {.name = "completion",
     .argument = "bash|zsh|fish",
     .kind = CLI_WORD,
     .offset = offsetof(cli_settings, shell),
     .choices = shells},
    {.name = NULL}};
static const cli_option_group group = {"Options", options};
static const cli_option_group *const groups[] = {&group, NULL};
static const cli_example examples[] = {{"zenith help", "the commands and models"},
                                       {"zenith help encode", "all options of a command"},
                                       {NULL, NULL}};

const cli_command cli_command_help = {
    .name = "help",
    .arguments = "[COMMAND] [OPTIONS]",
    .summary = "print how to use the program, or one command",
    .description = "Prints how to use the program, or one command.",
    .groups = groups,
    .examples = examples,
    .max_inputs = 2,
    .takes = CLI_TAKES_COMMANDS,
    .run = run,
};
