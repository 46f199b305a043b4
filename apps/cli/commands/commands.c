// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of commands, and how a word of the command line finds one.
#include "apps/cli/command.h"
#include "apps/cli/options/options.h"
#include "apps/cli/terminal/terminal.h"

#include <string.h>

const cli_command *const cli_commands[] = {
    &cli_command_encode, &cli_command_decode,  &cli_command_reconstruct, &cli_command_generate,
    &cli_command_diffae, &cli_command_serve,   &cli_command_inspect,     &cli_command_models,
    &cli_command_pull,   &cli_command_convert, &cli_command_calibrate,   &cli_command_eval,
    &cli_command_train,  &cli_command_prune,   &cli_command_tokenizer,   &cli_command_dataset,
    &cli_command_bench,  &cli_command_doctor,  &cli_command_help,        NULL};

const char *cli_command_word(const cli_command *command)
{
    const char *space = strchr(command->name, ' ');
    return space != NULL ? space + 1 : command->name;
}

// Among the program's commands, or those of one of them (`of`).
static const cli_command *find_among(const cli_command *const *commands, const cli_command *of,
                                     const char *word)
{
    const char *names[sizeof cli_commands / sizeof cli_commands[0]] = {NULL};
    const char *before = of != NULL ? of->name : "", *space = of != NULL ? " " : "";
    for (size_t i = 0; commands[i] != NULL; i++) {
        names[i] = cli_command_word(commands[i]);
        if (strcmp(names[i], word) == 0) return commands[i];
    }
    const char *near = cli_nearest_word(word, names);
    if (near != NULL)
        cli_say("unknown command '%s%s%s'; did you mean %s%s%s?", before, space, word, before,
                space, near);
    else
        cli_say("unknown command '%s%s%s'; 'zenith help%s%s' lists them all", before, space, word,
                space, before);
    return NULL;
}

const cli_command *cli_command_find(const char *const *words, size_t count, size_t *used)
{
    const cli_command *command = find_among(cli_commands, NULL, words[0]);
    *used = 1;
    if (command == NULL || command->commands == NULL || count < 2 || words[1][0] == '-')
        return command;
    *used = 2;
    return find_among(command->commands, command, words[1]);
}
