// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of the commands of 'zenith dataset'.
#ifndef ZN_CLI_COMMANDS_DATASET_SETTINGS_H
#define ZN_CLI_COMMANDS_DATASET_SETTINGS_H

#include "apps/cli/command.h"

#include <limits.h>

typedef struct cli_dataset_settings {
    cli_settings shared;
    int store;        // zenith_number; CLI_UNSET: f16
    int space;        // CLI_UNSET: the model's
    int container;    // zenith_container
    int crop;         // 1: random
    int shard, lease; // 0: not given
    bool moments, mirror;
    const char *partition; // "i/N"
    const char *buckets, *aspects;
    const char *queue_address, *metrics;
} cli_dataset_settings;

static inline const cli_dataset_settings *cli_dataset_of(const cli_settings *settings)
{
    return (const cli_dataset_settings *)settings;
}

#define CLI_DATASET_DEFAULTS                                                                       \
    CLI_SETTINGS_WITH(cli_dataset_settings, .store = CLI_UNSET, .space = CLI_UNSET)

// clang-format off
#define CLI_DATASET_SHARD                                                                          \
    CLI_OPTION(CLI_NUMBER, cli_dataset_settings, shard, "shard", 0, "N",                           \
               "pictures of a shard that is cut from a folder of pictures; default: 5000",         \
               .min = 1, .max = INT_MAX)
#define CLI_DATASET_LEASE(text)                                                                    \
    CLI_OPTION(CLI_NUMBER, cli_dataset_settings, lease, "lease", 0, "SECONDS", (text),             \
               .min = 1, .max = 86400)
// clang-format on

#endif
