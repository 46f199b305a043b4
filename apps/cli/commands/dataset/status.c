// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith dataset status IN OUT: how far it is, by the records beside the shards.
#include "apps/cli/commands/dataset/facts.h"
#include "apps/cli/session/report.h"

static int run(const cli_settings *settings)
{
    int code;
    json_t *facts = cli_dataset_look(settings, false, &code);
    if (facts == NULL) return code;
    if (settings->json)
        cli_json_print(json_incref(facts));
    else
        cli_dataset_print_status(facts);
    return cli_dataset_end(facts, code, false);
}

static const cli_example examples[] = {
    {"zenith dataset status photos latents", "while others work on it"}, {NULL, NULL}};
const cli_command cli_dataset_status = {
    .name = "dataset status",
    .arguments = "IN OUT [OPTIONS]",
    .summary = "how many shards are done, in work and missing",
    .description = "Counts the shards of OUT against those of IN, by their records. It reads no "
                   "latents.",
    .groups = cli_dataset_look_groups,
    .examples = examples,
    .min_inputs = 2,
    .max_inputs = 2,
    CLI_DATASET_DEFAULTS,
    .run = run,
};
