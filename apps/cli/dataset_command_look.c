// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith dataset verify, status and stats IN OUT: what is there, by the records beside the shards.
#include "apps/cli/interrupt.h"
#include "apps/cli/json_text.h"
#include "apps/cli/report.h"
#include "apps/cli/terminal.h"
#include "zenith/experimental.h"

#include <string.h>

static long long number(const json_t *facts, const char *key)
{
    return (long long)json_integer_value(json_object_get(facts, key));
}

static void print_line(const char *text)
{
    cli_print_clean(stdout, text);
    putchar('\n');
}

static void print_status(const json_t *facts)
{
    char line[256];
    snprintf(line, sizeof line,
             "%lld of %lld shards done, %lld in work, %lld missing: %lld pictures, %lld bad",
             number(facts, "done"), number(facts, "shards"), number(facts, "in_work"),
             number(facts, "missing"), number(facts, "ok"), number(facts, "bad"));
    print_line(line);
}

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
        print_line(line);
    }
}

// The library's facts; NULL after a message, with *code set.
static json_t *look(const cli_settings *settings, bool verify, int *code)
{
    cli_session session;
    cli_failure failure = {0};
    char *text = NULL;
    json_t *facts = NULL;
    *code = cli_session_open(&session, settings, "dataset");
    if (*code != CLI_DONE) return NULL;
    const zenith_dataset_look_params params = {.size = sizeof params,
                                               .input = settings->inputs[0],
                                               .output = settings->inputs[1],
                                               .lease_seconds = settings->lease,
                                               .verify = verify,
                                               .cancel = session.cancel};
    const zenith_status status = zenith_dataset_look(session.context, &params, &text);
    session.told = !cli_interrupted();
    if (status == ZENITH_OK) {
        facts = json_loads(text, 0, NULL);
    } else {
        (void)cli_fail(&session, &failure, status, NULL);
        cli_session_failed(&session, settings->inputs[1], &failure);
    }
    zenith_text_free(text);
    *code = cli_session_close(&session);
    return facts;
}

static int end(json_t *facts, int code, bool judged)
{
    const bool faulty = json_array_size(json_object_get(facts, "faults")) > 0;
    json_decref(facts);
    return code == CLI_DONE && judged && faulty ? CLI_SOME_FAILED : code;
}

static int verify(const cli_settings *settings)
{
    int code;
    json_t *facts = look(settings, true, &code);
    if (facts == NULL) return code;
    if (settings->json) {
        cli_json_print(json_incref(facts));
    } else {
        print_faults(facts);
        if (!settings->quiet) print_status(facts);
    }
    return end(facts, code, true);
}

static int status(const cli_settings *settings)
{
    int code;
    json_t *facts = look(settings, false, &code);
    if (facts == NULL) return code;
    if (settings->json)
        cli_json_print(json_incref(facts));
    else
        print_status(facts);
    return end(facts, code, false);
}

static int stats(const cli_settings *settings)
{
    int code;
    json_t *facts = look(settings, false, &code);
    if (facts == NULL) return code;
    json_object_del(facts, "faults");
    const double seconds = json_real_value(json_object_get(facts, "seconds"));
    const double pictures = (double)number(facts, "ok") + (double)number(facts, "bad");
    if (seconds > 0) json_object_set_new(facts, "images_per_second", json_real(pictures / seconds));
    if (settings->json)
        cli_json_print(json_incref(facts));
    else
        cli_print_json_text(stdout, facts);
    return end(facts, code, false);
}

static const cli_option options[] = {
    {.name = "lease",
     .argument = "SECONDS",
     .help = "after which a worker that does not stir counts as gone; default: 60",
     .kind = CLI_NUMBER,
     .offset = offsetof(cli_settings, lease),
     .min = 1,
     .max = 86400},
    {.name = NULL}};
static const cli_option_group group = {"Dataset", options};
static const cli_option_group *const groups[] = {&group, &cli_group_report, NULL};
static const cli_example verify_examples[] = {
    {"zenith dataset verify photos latents", "exit code 0: all of it is there, and right"},
    {NULL, NULL}};
static const cli_example status_examples[] = {
    {"zenith dataset status photos latents", "while others work on it"}, {NULL, NULL}};
static const cli_example stats_examples[] = {
    {"zenith dataset stats photos latents --json", "samples by reason, bytes, seconds, settings"},
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
    .groups = groups,
    .examples = verify_examples,
    .min_inputs = 2,
    .max_inputs = 2,
    .run = verify,
};
const cli_command cli_dataset_status = {
    .name = "dataset status",
    .arguments = "IN OUT [OPTIONS]",
    .summary = "how many shards are done, in work and missing",
    .description = "Counts the shards of OUT against those of IN, by their records. It reads no "
                   "latents.",
    .groups = groups,
    .examples = status_examples,
    .min_inputs = 2,
    .max_inputs = 2,
    .run = status,
};
const cli_command cli_dataset_stats = {
    .name = "dataset stats",
    .arguments = "IN OUT [OPTIONS]",
    .summary = "samples by reason, bytes, seconds and settings",
    .description =
        "Adds up the records of OUT: pictures, samples that could not be used by reason, "
        "bytes, seconds, and the settings. Which sample it was, and why, is in the "
        "bad_samples of its shard's record, OUT/NAME.json.",
    .groups = groups,
    .examples = stats_examples,
    .min_inputs = 2,
    .max_inputs = 2,
    .run = stats,
};
