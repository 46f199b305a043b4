// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith dataset publish IN [OUT] --queue ADDRESS: the shards of IN as messages of a queue.
#include "apps/cli/commands/dataset/facts.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"
#include "apps/fleet/queue.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double usual_lease = 60;

typedef struct publication {
    const cli_settings *settings;
    cli_queue *queue;
    const json_t *faults; // of shards
    uint64_t shards;      // of the input
    uint64_t run;         // names the list that is published
    bool archives;
    uint32_t pictures; // of a shard that is cut from a folder
    uint64_t taken, known;
} publication;

// What 'zenith dataset encode' would do.
static bool is_to_do(const json_t *fault)
{
    static const char *const kinds[] = {"missing", "in-work", "stale", "output", NULL};
    const char *kind = json_string_value(json_object_get(fault, "fault"));
    for (size_t i = 0; kinds[i] != NULL; i++)
        if (kind != NULL && strcmp(kind, kinds[i]) == 0) return true;
    return false;
}

// The next shard that is to be done, from number *at on; NULL at the end. Faults of one shard lie
// side by side.
static const char *next_shard(const json_t *faults, size_t *at, const char *before)
{
    while (*at < json_array_size(faults)) {
        const json_t *fault = json_array_get(faults, (*at)++);
        const char *name = json_string_value(json_object_get(fault, "shard"));
        if (name != NULL && is_to_do(fault) && (before == NULL || strcmp(name, before) != 0))
            return name;
    }
    return NULL;
}

// FNV-1a over the names: the same list again has the same number, and the server drops what it has
// already.
static uint64_t number_of_list(const json_t *faults)
{
    uint64_t hash = 14695981039346656037u;
    const char *name = NULL;
    for (size_t at = 0; (name = next_shard(faults, &at, name)) != NULL;)
        for (const char *c = name;; c++) {
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
            if (*c == 0) break;
        }
    return hash;
}

static bool fill_message(const publication *p, const char *name, cli_queue_message *out)
{
    *out = (cli_queue_message){.count = 0};
    if (strlen(name) >= sizeof out->shard) return false;
    snprintf(out->shard, sizeof out->shard, "%s", name);
    if (p->archives) return true;
    out->index = (uint32_t)strtoul(name, NULL, 10);
    out->count = (uint32_t)p->shards;
    out->pictures = p->pictures;
    return true;
}

static bool publish_one(const publication *p, const char *name, cli_failure *failure)
{
    cli_queue_message message;
    char text[CLI_QUEUE_MESSAGE], id[CLI_QUEUE_SHARD + 20];
    if (!fill_message(p, name, &message) || !cli_queue_message_write(&message, text))
        return cli_fail_text(failure, ZENITH_INVALID_ARGUMENT,
                             "the shard '%.64s' has a name that a queue cannot carry: rename it",
                             name);
    snprintf(id, sizeof id, "%016llx/%s", (unsigned long long)p->run, name);
    return cli_queue_publish(p->queue, id, text, failure);
}

static bool publish_all(publication *p, cli_failure *failure)
{
    const char *name = NULL;
    for (size_t at = 0; (name = next_shard(p->faults, &at, name)) != NULL;)
        if (!publish_one(p, name, failure)) return false;
    return cli_queue_settle(p->queue, &p->taken, &p->known, failure);
}

// A folder of pictures has no NAME.tar.
static bool has_archives(const cli_settings *settings, const json_t *faults)
{
    char path[4096];
    struct stat facts;
    size_t at = 0;
    const char *input = settings->inputs[0], *first = next_shard(faults, &at, NULL);
    if (first == NULL || stat(input, &facts) != 0 || !S_ISDIR(facts.st_mode)) return true;
    snprintf(path, sizeof path, "%s/%s.tar", input, first);
    return stat(path, &facts) == 0;
}

// As an option says, or as OUT was made.
static uint32_t pictures_of_shard(const cli_settings *settings, const json_t *facts)
{
    const cli_dataset_settings *own = cli_dataset_of(settings);
    const json_t *made = json_object_get(json_object_get(facts, "settings"), "shard");
    if (own->shard > 0) return (uint32_t)own->shard;
    return json_is_integer(made) ? (uint32_t)json_integer_value(made) : 5000;
}

static void say_published(const publication *p, const char *queue)
{
    const cli_settings *settings = p->settings;
    if (settings->json)
        cli_json_print(json_pack("{s:s, s:I, s:I, s:I}", "queue", queue, "shards",
                                 (json_int_t)p->shards, "published", (json_int_t)p->taken,
                                 "published_before", (json_int_t)p->known));
    else if (!settings->quiet)
        cli_say("%llu of %llu shards published -> %s", (unsigned long long)p->taken,
                (unsigned long long)p->shards, queue);
    if (p->known > 0 && !settings->json && !settings->quiet)
        cli_say("%llu more had been published within the last ten minutes, and were not again",
                (unsigned long long)p->known);
}

static int publish(const cli_settings *settings, const cli_queue_address *address,
                   const json_t *facts)
{
    const cli_dataset_settings *own = cli_dataset_of(settings);
    const json_t *faults = json_object_get(facts, "faults");
    cli_failure failure = {0};
    char queue[sizeof address->shown + sizeof address->name + 1];
    publication p = {.settings = settings,
                     .faults = faults,
                     .shards = (uint64_t)cli_dataset_number(facts, "shards"),
                     .run = number_of_list(faults),
                     .archives = has_archives(settings, faults),
                     .pictures = pictures_of_shard(settings, facts)};
    const double lease = own->lease > 0 ? own->lease : usual_lease;
    snprintf(queue, sizeof queue, "%s/%s", address->shown, address->name);
    const bool done = cli_queue_open(address, 0, &p.queue, &failure) &&
                      cli_queue_make(p.queue, lease, &failure) && publish_all(&p, &failure);
    cli_queue_free(p.queue);
    if (done)
        say_published(&p, queue);
    else
        cli_say("%s", failure.text);
    return done ? CLI_DONE : CLI_SOME_FAILED;
}

// OUT, where it has settings already: without them nothing is done.
static bool has_output(const cli_settings *settings)
{
    char path[4096];
    struct stat facts;
    if (settings->input_count < 2) return false;
    if (strstr(settings->inputs[1], "://") != NULL) return true;
    snprintf(path, sizeof path, "%s/_zenith.json", settings->inputs[1]);
    return stat(path, &facts) == 0;
}

static int run(const cli_settings *given)
{
    cli_dataset_settings own = *cli_dataset_of(given);
    cli_settings *settings = &own.shared;
    cli_queue_address address;
    const char *inputs[] = {given->inputs[0], has_output(given) ? given->inputs[1] : NULL, NULL};
    int code;
    settings->inputs = inputs;
    settings->input_count = inputs[1] != NULL ? 2 : 1;
    if (own.queue_address == NULL) {
        cli_say("--queue nats://HOST:PORT says where to");
        return CLI_USAGE;
    }
    if (!cli_queue_address_read(own.queue_address, &address)) {
        cli_say("--queue '%s': expected nats://HOST:PORT or nats://HOST:PORT/NAME",
                own.queue_address);
        return CLI_USAGE;
    }
    json_t *facts = cli_dataset_look(settings, false, &code);
    if (facts == NULL) return code;
    code = publish(settings, &address, facts);
    json_decref(facts);
    return code;
}

static const cli_option_group group = CLI_GROUP(
    "Dataset",
    CLI_OPTION(CLI_TEXT, cli_dataset_settings, queue_address, "queue", 0, "nats://HOST:PORT[/NAME]",
               "a NATS server with JetStream, and the name of the queue; default: zenith"),
    CLI_DATASET_SHARD,
    CLI_DATASET_LEASE(
        "after which a shard whose worker does not stir is given to another; default: 60"));
static const cli_example examples[] = {
    {"zenith dataset publish shards --queue nats://10.0.0.1:4222", "all shards of a folder"},
    {"zenith dataset publish shards latents --queue nats://10.0.0.1:4222",
     "those that have no record in latents, after the queue was lost or shards were given up"},
    {NULL, NULL}};

const cli_command cli_dataset_publish = {
    .name = "dataset publish",
    .arguments = "IN [OUT] --queue nats://HOST:PORT[/NAME] [OPTIONS]",
    .summary = "put shards into a queue for many workers",
    .description =
        "Puts a message for each shard of IN into a queue, from which workers "
        "('zenith dataset encode IN OUT --queue') take them. With OUT only shards that are not "
        "done there are published. Publishing a shard twice does no harm. Whether all is done is "
        "said by 'zenith dataset verify', never by the queue.",
    .groups = CLI_GROUPS(&group, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = 2,
    CLI_DATASET_DEFAULTS,
    .run = run,
};
