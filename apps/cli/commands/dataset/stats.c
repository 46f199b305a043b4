// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith dataset stats IN OUT: the records beside the shards, added up.
#include "apps/cli/commands/dataset/facts.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/json_text.h"

static int run(const cli_settings *settings)
{
    int code;
    json_t *facts = cli_dataset_look(settings, false, &code);
    if (facts == NULL) return code;
    json_object_del(facts, "faults");
    const double seconds = json_real_value(json_object_get(facts, "seconds"));
    const double pictures = (double)cli_dataset_number(facts, "ok") +
                            (double)cli_dataset_number(facts, "bad");
    if (seconds > 0) json_object_set_new(facts, "images_per_second", json_real(pictures / seconds));
    if (settings->json)
        cli_json_print(json_incref(facts));
    else
        cli_print_json_text(stdout, facts);
    return cli_dataset_end(facts, code, false);
}

static const cli_example examples[] = {
    {"zenith dataset stats photos latents --json", "samples by reason, bytes, seconds, settings"},
    {NULL, NULL}};

const cli_command cli_dataset_stats = {
    .name = "dataset stats",
    .arguments = "IN OUT [OPTIONS]",
    .summary = "samples by reason, bytes, seconds and settings",
    .description =
        "Adds up the records of OUT: pictures, samples that could not be used by reason, "
        "bytes, seconds, and the settings. Which sample it was, and why, is in the "
        "bad_samples of its shard's record, OUT/NAME.json.",
    .groups = cli_dataset_look_groups,
    .examples = examples,
    .min_inputs = 2,
    .max_inputs = 2,
    CLI_DATASET_DEFAULTS,
    .run = run,
};
