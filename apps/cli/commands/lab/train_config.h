// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith train CONFIG.json --data PATH --output DIR: the same run on other pictures, in another
// folder.
#ifndef ZN_CLI_COMMANDS_LAB_TRAIN_CONFIG_H
#define ZN_CLI_COMMANDS_LAB_TRAIN_CONFIG_H

#include "apps/cli/command.h"

#include <stddef.h>

typedef struct cli_train_settings {
    cli_settings shared;
    bool resume;
    const char *data;
} cli_train_settings;

static inline const cli_train_settings *cli_train_of(const cli_settings *settings)
{
    return (const cli_train_settings *)settings;
}

// The path of the config to train by: the one that is named, or, with either option, DIR/run.json,
// which is written here, so that the run can be read, changed and resumed like any other. Says what
// is wrong.
int cli_train_config(const cli_settings *settings, char *path, size_t size);

#endif
