// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith dataset verify IN OUT: whether all latents are there, and right, by the records beside the
// shards.
#include "apps/cli/commands/dataset/facts.h"
#include "apps/cli/session/report.h"

#include <stdio.h>

static void print_faults(const json_t *facts)
{
    const json_t *faults = json_object_get(facts, "faults");
    for (size_t i = 0; i < json_array_size(faults); i++) {
        const json_t *fault = json_array_get(faults, i);
        char line[1024];
        snprintf(line, sizeof line, "%s: %s: %s",
                 json_string_value(json_object_get(fault, "shard")),
                 json_string_value(json_object_get(fault, "fault")),
                 json_string_value(json_object_get(fault, "message")));
        cli_dataset_print(line);
    }
}

static int run(const cli_settings *settings)
{
    int code;
    json_t *facts = cli_dataset_look(settings, true, &code);
    if (facts == NULL) return code;
    if (settings->json) {
        cli_json_print(json_incref(facts));
    } else {
        print_faults(facts);
        if (!settings->quiet) cli_dataset_print_status(facts);
    }
    return cli_dataset_end(facts, code, true);
}

static const cli_example examples[] = {
    {"zenith dataset verify photos latents", "exit code 0: all of it is there, and right"},
    {NULL, NULL}};
const cli_command cli_dataset_verify = {
    .name = "dataset verify",
    .arguments = "IN OUT [OPTIONS]",
    .summary = "check that all latents are there, and right",
    .description =
        "Compares the shards of OUT with IN and with their records, reading all bytes. It finds "
        "shards that are missing, whose input has changed (stale), whose tar is damaged (output), "
        "that were made with other settings or weights, records that cannot be read, and records "
        "without an input (extra). Each is a line NAME: FAULT: SENTENCE; the exit code is then 1.",
    .groups = cli_dataset_look_groups,
    .examples = examples,
    .min_inputs = 2,
    .max_inputs = 2,
    CLI_DATASET_DEFAULTS,
    .run = run,
};
