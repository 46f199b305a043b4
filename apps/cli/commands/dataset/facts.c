// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See facts.h.
#include "apps/cli/commands/dataset/facts.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "apps/net/s3_storage.h"
#include "zenith/dataset.h"

long long cli_dataset_number(const json_t *facts, const char *key)
{
    return (long long)json_integer_value(json_object_get(facts, key));
}

void cli_dataset_print(const char *text)
{
    cli_print_clean(stdout, text);
    putchar('\n');
}

void cli_dataset_print_status(const json_t *facts)
{
    char line[256];
    snprintf(line, sizeof line,
             "%lld of %lld shards done, %lld in work, %lld missing: %lld pictures, %lld bad",
             cli_dataset_number(facts, "done"), cli_dataset_number(facts, "shards"),
             cli_dataset_number(facts, "in_work"), cli_dataset_number(facts, "missing"),
             cli_dataset_number(facts, "ok"), cli_dataset_number(facts, "bad"));
    cli_dataset_print(line);
}

json_t *cli_dataset_look(const cli_settings *settings, bool verify, int *code)
{
    const cli_dataset_settings *own = cli_dataset_of(settings);
    cli_session session;
    cli_failure failure = {0};
    char *text = NULL;
    json_t *facts = NULL;
    *code = cli_session_open(&session, settings, "dataset");
    if (*code != CLI_DONE) return NULL;
    zenith_storage storage;
    if (!cli_s3_open(settings->inputs, settings->input_count, settings->quiet, &storage,
                     &failure)) {
        session.told = true;
        cli_session_failed(&session, "s3://", &failure);
        *code = cli_session_close(&session);
        return NULL;
    }
    const zenith_dataset_look_params params = {.size = sizeof params,
                                               .input = settings->inputs[0],
                                               .output = settings->inputs[1],
                                               .shard_pictures = (uint32_t)own->shard,
                                               .lease_seconds = own->lease,
                                               .verify = verify,
                                               .cancel = session.cancel,
                                               .storage = cli_s3_get(&storage)};
    const zenith_status status = zenith_dataset_look(session.context, &params, &text);
    session.told = !cli_interrupted();
    if (status == ZENITH_OK) {
        facts = json_loads(text, 0, NULL);
    } else {
        (void)cli_fail(&session, &failure, status, NULL);
        cli_session_failed(&session, settings->inputs[settings->inputs[1] != NULL], &failure);
    }
    zenith_text_free(text);
    cli_s3_close(&storage);
    *code = cli_session_close(&session);
    return facts;
}

int cli_dataset_end(json_t *facts, int code, bool judged)
{
    const bool faulty = json_array_size(json_object_get(facts, "faults")) > 0;
    json_decref(facts);
    return code == CLI_DONE && judged && faulty ? CLI_SOME_FAILED : code;
}

static const cli_option_group group = CLI_GROUP(
    "Dataset",
    CLI_DATASET_LEASE("after which a worker that does not stir counts as gone; default: 60"));
const cli_option_group *const cli_dataset_look_groups[] = {&group, &cli_group_report, NULL};
