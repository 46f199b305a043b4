// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith dataset retry IN OUT: shards with bad samples again.
#include "apps/cli/commands/dataset/work.h"

static int run(const cli_settings *settings)
{
    return cli_dataset_work(settings, true);
}

static const cli_example examples[] = {
    {"zenith dataset retry photos latents -m taesd --size 256x256 --max-memory 8G",
     "what did not fit into memory the first time"},
    {NULL, NULL}};

const cli_command cli_dataset_retry = {
    .name = "dataset retry",
    .arguments = "IN OUT --model NAME [OPTIONS]",
    .summary = "do shards again that have bad samples",
    .description =
        "As 'zenith dataset encode' with the same options, but shards that have samples which "
        "could not be used are done again, all of them. An input that has changed needs no retry: "
        "'zenith dataset encode' sees that.",
    .groups = cli_dataset_retry_groups,
    .examples = examples,
    .min_inputs = 2,
    .max_inputs = 2,
    CLI_DATASET_DEFAULTS,
    .run = run,
};
