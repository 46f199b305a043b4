// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the names on the command line stand for.
#ifndef ZN_CLI_OPTIONS_INPUTS_H
#define ZN_CLI_OPTIONS_INPUTS_H

#include "apps/cli/command.h"

// Replaces, in settings->inputs of a command that takes files of certain endings,
//   - a name with * ? or [ that is no file itself (a shell that found nothing, or a quoted one) by
//     the files that fit it, sorted;
//   - a folder by its files with one of these endings, sorted; folders in it are not entered.
// CLI_DONE, or CLI_USAGE after a message where that leaves nothing of a name.
int cli_inputs_expand(const cli_command *command, cli_settings *settings);

#endif
