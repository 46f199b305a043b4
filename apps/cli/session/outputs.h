// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where results go, from -o, --format and the inputs' names. Everything that can be wrong with them
// is said before the first input is read.
#ifndef ZN_CLI_SESSION_OUTPUTS_H
#define ZN_CLI_SESSION_OUTPUTS_H

#include "apps/cli/command.h"
#include "zenith/zenith.h"

typedef struct cli_format {
    const char *word;    // of --format
    const char *ending;  // given to files in a folder
    const char *endings; // that name it in -o, with a space after each
} cli_format;

extern const cli_format cli_formats_latent[];  // the first is the default; ends with a NULL word
extern const cli_format cli_formats_picture[]; // 8-bit pictures
extern const cli_format cli_formats_decoded[]; // the same, npy and y4m

typedef struct cli_outputs {
    const cli_settings *settings;
    const char *place; // -o
    bool folder;
    bool stream; // standard output
    const cli_format *format;
    int digits; // that numbers in names have at least; 0: as many as they need
} cli_outputs;

// CLI_DONE, or CLI_USAGE after a message: no -o, an unknown ending, two inputs with one output, an
// output over its own input, a place that cannot be written to. Makes the folder if it is not
// there.
int cli_outputs_plan(const cli_settings *settings, const cli_format *formats, cli_outputs *out);

// The path for one of the settings' inputs, to be freed; NULL when memory ran out. index CLI_UNSET:
// the input gives one output; otherwise NAME-index.
char *cli_outputs_path(const cli_outputs *outputs, size_t input, int64_t index);

// Before the path is written to: makes the folders inside the output folder that --recursive wants.
void cli_outputs_make_folders(const cli_outputs *outputs, const char *path);

// How an image file is written, by the options that all such commands have.
zenith_target_params cli_target_params(const cli_settings *settings, const cli_format *format);

// With --no-overwrite, whether the output is there and stays.
bool cli_output_stays(const cli_settings *settings, const char *path);

// CLI_DONE, or CLI_USAGE after a message where a file of this name could not be written.
int cli_output_check(const char *path);

// The same for a folder that gets files, and is made where it is not there.
int cli_output_check_folder(const char *path);
bool cli_is_folder(const char *path); // NULL is none
// Makes a folder with those above it; says why it cannot.
bool cli_make_folders(const char *path);

#endif
