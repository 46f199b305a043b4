// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith convert --store mixed|q4|q8: weights of text models and diffusion transformers in few
// bits.
#ifndef ZN_CLI_COMMANDS_MODELS_FEW_BITS_H
#define ZN_CLI_COMMANDS_MODELS_FEW_BITS_H

#include "apps/cli/session/session.h"
#include "zenith/generate.h"

typedef struct cli_convert_settings {
    cli_settings shared;
    int store; // CLI_UNSET: as they are
    bool no_rotate;
} cli_convert_settings;

static inline const cli_convert_settings *cli_convert_of(const cli_settings *settings)
{
    return (const cli_convert_settings *)settings;
}

// Converts the session's one input and says what was written. False with *failure filled.
bool cli_few_bits(cli_session *session, zenith_recipe recipe, cli_failure *failure);

#endif
