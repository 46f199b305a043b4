// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith help [COMMAND]. Two options that --help does not show print the same tables for others:
// --man as the source of a manual page, --completion for a shell. The build uses them.
#include "apps/cli/command.h"
#include "apps/cli/commands/program/help_text.h"
#include "apps/cli/terminal/terminal.h"

typedef struct help_settings {
    cli_settings shared;
    bool all, man;
    const char *shell;
} help_settings;

static const help_settings *own(const cli_settings *settings)
{
    return (const help_settings *)settings;
}

static int run(const cli_settings *settings)
{
    const help_settings *o = own(settings);
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
    if (o->shell != NULL)
        cli_help_completion(stdout, o->shell);
    else if (o->man)
        cli_help_man(stdout, command);
    else if (command != NULL)
        cli_help_command(stdout, command);
    else
        cli_help_program(stdout, o->all);
    return CLI_DONE;
}

static const cli_choice shells[] = {{"bash", 0}, {"zsh", 0}, {"fish", 0}, {NULL, 0}};
static const cli_option_group group = CLI_GROUP(
    "Options", CLI_FLAG_OPTION(cli_settings, help, "help", 'h', "print this text"),
    CLI_FLAG_OPTION(help_settings, all, "all", 'a', "also list the research models"),
    CLI_FLAG_OPTION(help_settings, man, "man", 0, NULL),
    CLI_OPTION(CLI_WORD, help_settings, shell, "completion", 0, "bash|zsh|fish", NULL,
               .choices = shells));
static const cli_example examples[] = {{"zenith help", "the commands and models"},
                                       {"zenith help encode", "all options of a command"},
                                       {NULL, NULL}};

const cli_command cli_command_help = {
    .name = "help",
    .arguments = "[COMMAND] [OPTIONS]",
    .summary = "print how to use the program, or one command",
    .description = "Prints how to use the program, or one command.",
    .groups = CLI_GROUPS(&group),
    .examples = examples,
    .max_inputs = 2,
    .takes = CLI_TAKES_COMMANDS,
    CLI_SETTINGS(help_settings),
    .run = run,
};
