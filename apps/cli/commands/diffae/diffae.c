// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae COMMAND: diffusion autoencoders. Each command is a file of this folder.
#include "apps/cli/command.h"

static const cli_command *const commands[] = {
    &cli_diffae_encode,      &cli_diffae_decode, &cli_diffae_edit,
    &cli_diffae_interpolate, &cli_diffae_sample, &cli_diffae_features,
    &cli_diffae_classify,    &cli_diffae_join,   NULL};

static const cli_example examples[] = {
    {"zenith diffae encode face.jpg -m ffhq256 -o face.safetensors", "a picture to its code"},
    {"zenith diffae decode face.safetensors -m ffhq256 -o face.png", "and back"},
    {"zenith diffae edit face.safetensors -m ffhq256 --attribute Smiling -o smile.png",
     "another face"},
    {"zenith help diffae edit", "all options of a command"},
    {NULL, NULL}};

const cli_command cli_command_diffae = {
    .name = "diffae",
    .arguments = "COMMAND [OPTIONS] ...",
    .summary = "change, mix, draw and classify pictures by a diffusion autoencoder",
    .description =
        "A diffusion autoencoder turns a picture into a code of a few hundred numbers, which say "
        "what is in it, and into noise, which holds the rest. Codes can be moved towards an "
        "attribute, mixed, drawn and classified. DIFFAE.md in share/doc/zenith says how a model is "
        "made.",
    .groups = CLI_GROUPS(&cli_group_help),
    .examples = examples,
    .takes = CLI_TAKES_COMMANDS,
    .commands = commands,
};
