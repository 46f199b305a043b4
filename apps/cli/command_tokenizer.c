// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith tokenizer COMMAND: tokenizers of text models. Each command is a file tokenizer_command_NAME.c.
#include "apps/cli/command.h"
#include "apps/cli/help.h"

static const cli_command *const commands[] = {&cli_tokenizer_train, NULL};

static int run(const cli_settings *settings)
{
    (void)settings;
    cli_help_command(stderr, &cli_command_tokenizer);
    return CLI_USAGE;
}

static const cli_option options[] = {{.name = "help",
                                      .letter = 'h',
                                      .help = "print this text",
                                      .kind = CLI_FLAG,
                                      .offset = offsetof(cli_settings, help)},
                                     {.name = NULL}};
static const cli_option_group group = {"Options", options};
static const cli_option_group *const groups[] = {&group, NULL};
static const cli_example examples[] = {
    {"zenith tokenizer train captions.jsonl -o words/tokenizer --size 4096",
     "a tokenizer of 4096 tokens from captions"},
    {"zenith help tokenizer train", "all options of a command"},
    {NULL, NULL}};

const cli_command cli_command_tokenizer = {
    .name = "tokenizer",
    .arguments = "COMMAND [OPTIONS] ...",
    .summary = "make the tokenizer of a text model",
    .description =
        "A tokenizer turns a text into the numbers that a text model reads. docs/WORDS.md "
        "has more.",
    .groups = groups,
    .examples = examples,
    .takes = CLI_TAKES_COMMANDS,
    .commands = commands,
    .run = run,
};
