// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith tokenizer COMMAND: tokenizers of text models. Each command is a file tokenizer_NAME.c.
#include "apps/cli/command.h"

static const cli_command *const commands[] = {&cli_tokenizer_train, NULL};

static const cli_example examples[] = {
    {"zenith tokenizer train captions.jsonl -o words/tokenizer --size 4096",
     "a tokenizer of 4096 tokens from captions"},
    {"zenith help tokenizer train", "all options of a command"},
    {NULL, NULL}};

const cli_command cli_command_tokenizer = {
    .name = "tokenizer",
    .arguments = "COMMAND [OPTIONS] ...",
    .summary = "make the tokenizer of a text model",
    .description = "A tokenizer turns a text into the numbers that a text model reads. WORDS.md in "
                   "share/doc/zenith "
                   "has more.",
    .groups = CLI_GROUPS(&cli_group_help),
    .examples = examples,
    .takes = CLI_TAKES_COMMANDS,
    .commands = commands,
};
