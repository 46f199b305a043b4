// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where results go, from -o, --format and the inputs' names. Everything that can be wrong with them
// is said before the first input is read.
#ifndef ZN_CLI_OUTPUTS_H
#define ZN_CLI_OUTPUTS_H

#include "apps/cli/command.h"

typedef struct cli_format {
    const char *word;    // of --format
    const char *ending;  // given to files in a folder
    const char *endings; // that name it in -o, with a space after each
} cli_format;

extern const cli_format cli_formats_latent[];  // the first is the default; ends with a NULL word
extern const cli_format cli_formats_picture[]; // 8-bit pictures
extern const cli_format cli_formats_decoded[]; // the same and npy

typedef struct cli_outputs {
    const char *place; // -o
    bool folder;
    bool stream; // standard output
    const cli_format *format;
} cli_outputs;

// CLI_DONE, or CLI_USAGE after a message: no -o, an unknown ending, two inputs with one output, an
// output over its own input. Makes the folder if it is not there.
int cli_outputs_plan(const cli_settings *settings, const cli_format *formats, cli_outputs *out);

// The path for an input, to be freed; NULL when memory ran out. index CLI_UNSET: the input gives
// one output; otherwise NAME-index.
char *cli_outputs_path(const cli_outputs *outputs, const char *input, int64_t index);

#endif
