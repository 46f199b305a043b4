// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How a picture was made, as the text that other programs (AUTOMATIC1111's and those after it) put
// into PNG files and read from them:
//
//     a red apple
//     Negative prompt: blurry
//     Steps: 8, Sampler: Euler, Schedule type: Simple, CFG scale: 1, Seed: 42, Size: 512x512,
//         Model: z-image, ...                                                 (all one line)
#ifndef ZN_CLI_COMMANDS_GENERATE_PICTURE_PARAMETERS_H
#define ZN_CLI_COMMANDS_GENERATE_PICTURE_PARAMETERS_H

#include "apps/cli/command.h"

typedef struct cli_parameters {
    const char *prompt, *negative; // negative may be NULL
    const char *model, *decoder;
    cli_dimensions size;
    cli_seed seed;
    uint32_t steps;
    double guidance;  // as --guidance; other programs count from 1
    double shift;     // of the schedule
    double strength;  // how much of another picture was made anew; 0: it was made from text alone
    bool transparent; // the ground was cut out
} cli_parameters;

// To be freed; NULL when memory ran out.
char *cli_parameters_text(const cli_parameters *parameters);

// The other way, of any program's text, which is cut into pieces: prompts and model point into it.
// What the text does not say, or says out of bounds, is 0 or ""; decoder and shift are not read.
// False where it is no such text.
bool cli_parameters_parse(char *text, cli_parameters *out);

#endif
