// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What 'zenith dataset encode' and 'retry' share: all of it but the word.
#ifndef ZN_CLI_COMMANDS_DATASET_WORK_H
#define ZN_CLI_COMMANDS_DATASET_WORK_H

#include "apps/cli/commands/dataset/settings.h"

extern const cli_option_group *const cli_dataset_work_groups[];  // ends with NULL
extern const cli_option_group *const cli_dataset_retry_groups[]; // likewise; without a queue

// retry: shards with bad samples are done again. Returns the exit code.
int cli_dataset_work(const cli_settings *settings, bool retry);

#endif
