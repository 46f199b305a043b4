// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What 'zenith dataset verify', 'status' and 'stats' share: the library's facts about a dataset,
// and their end.
#ifndef ZN_CLI_COMMANDS_DATASET_FACTS_H
#define ZN_CLI_COMMANDS_DATASET_FACTS_H

#include "apps/cli/commands/dataset/settings.h"

#include <jansson.h>

extern const cli_option_group *const cli_dataset_look_groups[]; // ends with NULL

// The facts of IN and OUT (settings->inputs; OUT may be NULL) as zenith_dataset_look gives them;
// NULL after a message, with *code set.
json_t *cli_dataset_look(const cli_settings *settings, bool verify, int *code);
long long cli_dataset_number(const json_t *facts, const char *key);
void cli_dataset_print(const char *text);           // a line on standard output
void cli_dataset_print_status(const json_t *facts); // the line of 'status'
// Frees them and returns the exit code. judged: faults are failures.
int cli_dataset_end(json_t *facts, int code, bool judged);

#endif
