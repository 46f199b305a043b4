// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith convert --store mixed|q4|q8: weights of text models and diffusion transformers in few bits.
#ifndef ZN_CLI_COMMANDS_MODELS_FEW_BITS_H
#define ZN_CLI_COMMANDS_MODELS_FEW_BITS_H

#include "apps/cli/session/session.h"
#include "zenith/generate.h"

// Converts the session's one input and says what was written. False with *failure filled.
bool cli_few_bits(cli_session *session, zenith_recipe recipe, cli_failure *failure);

#endif
