// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What 'zenith encode' and 'zenith decode' have for options of their own.
#ifndef ZN_CLI_COMMANDS_IMAGES_SETTINGS_H
#define ZN_CLI_COMMANDS_IMAGES_SETTINGS_H

#include "apps/cli/command.h"

typedef struct cli_encode_settings {
    cli_settings shared;
    int store;  // zenith_number; CLI_UNSET: f32
    int space;  // CLI_UNSET: the model's, or what the format has
    int sample; // the seed; CLI_UNSET: none is made
    bool moments;
    bool video; // inputs are frames of one clip
} cli_encode_settings;

static inline const cli_encode_settings *cli_encode_of(const cli_settings *settings)
{
    return (const cli_encode_settings *)settings;
}

typedef struct cli_decode_settings {
    cli_settings shared;
    int space;  // CLI_UNSET: what the file says, or the model's
    bool video; // a file holds one clip
    bool force, unpad;
} cli_decode_settings;

static inline const cli_decode_settings *cli_decode_of(const cli_settings *settings)
{
    return (const cli_decode_settings *)settings;
}

#endif
