// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith dataset COMMAND: many pictures as latents. Each command is a file of this folder.
#include "apps/cli/command.h"

static const cli_command *const commands[] = {&cli_dataset_encode,
                                              &cli_dataset_verify,
                                              &cli_dataset_status,
                                              &cli_dataset_stats,
                                              &cli_dataset_retry,
                                              &cli_dataset_publish,
                                              NULL};

static const cli_example examples[] = {
    {"zenith dataset encode photos latents -m taesd --size 256x256",
     "the latents of a folder, in tar shards that WebDataset reads"},
    {"zenith dataset verify photos latents", "whether all of it is there, and right"},
    {"zenith help dataset encode", "all options of a command"},
    {NULL, NULL}};

const cli_command cli_command_dataset = {
    .name = "dataset",
    .arguments = "COMMAND [OPTIONS] ...",
    .summary = "turn many pictures into shards of latents",
    .description =
        "Turns a folder of pictures, or of tar shards, into shards of latents, one after the "
        "other. A run that was stopped or killed goes on where it was, several may work at once, "
        "and every picture is accounted for. DATASET.md in share/doc/zenith has more.",
    .groups = CLI_GROUPS(&cli_group_help),
    .examples = examples,
    .takes = CLI_TAKES_COMMANDS,
    .commands = commands,
};
