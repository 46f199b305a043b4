// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How pictures are read, from the options of cli_group_source.
#ifndef ZN_CLI_SESSION_SOURCE_OPTIONS_H
#define ZN_CLI_SESSION_SOURCE_OPTIONS_H

#include "apps/cli/session/session.h"
#include "zenith/zenith.h"

// False after a message where --fit and --size contradict each other.
bool cli_source_options_agree(const cli_settings *settings);
// For a model with this factor.
zenith_source_params cli_source_params(const cli_settings *settings, uint32_t factor);
// Memory that an open source holds besides a few rows.
uint64_t cli_source_held(const zenith_source_info *info);

// zenith_source_open. A failure that has a remedy names it: --first-frame for an animation, the
// command that converts a format that is not read.
zenith_status cli_source_open(cli_session *session, const char *input,
                              const zenith_source_params *params, zenith_source **out,
                              cli_failure *failure);

#endif
