// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Parsing of the command line by a command's option tables.
#ifndef ZN_CLI_OPTIONS_OPTIONS_H
#define ZN_CLI_OPTIONS_OPTIONS_H

#include "apps/cli/command.h"

// Fills *out from the words after the command's name; options and inputs may be mixed, "--" ends
// the options. CLI_DONE, or CLI_USAGE after saying what is wrong. The inputs belong to *out
// (cli_settings_free); all texts are borrowed from argv.
int cli_options_parse(const cli_command *command, int argc, char **argv, cli_settings **out);
void cli_settings_free(cli_settings *settings);

// The word of `words` (ends with NULL) that is at most two typing errors away; NULL if none is.
const char *cli_nearest_word(const char *word, const char *const *words);

#endif
