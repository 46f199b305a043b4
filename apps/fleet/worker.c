// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See worker.h. What becomes of a shard that was taken from the queue:
//
//   it has its record now, or had it before    acknowledged; a second commit is dropped by the
//                                              library, and counted
//   another works on it (NAME.lease)           held, and looked at again every second: the other
//                                              ends it, or its lease ends
//   the output cannot be written               held, and tried again: a full disk is no fault of
//                                              the shard. No other is taken
//   it cannot be read                          given back for a while that doubles; after three
//                                              times given up
//   handed out more than five times            given up, without being touched: whoever had it died
//   the message is none                        given up
//
// What is given up goes to the queue's dead stream with the reason; 'zenith dataset verify' misses
// its record.
#include "apps/fleet/worker.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "apps/fleet/queue.h"
#include "apps/serve/metrics/worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MOST_FAILURES = 3, MOST_DELIVERIES = 5, PATH_ROOM = 4096, PORT_MOST = 65535 };
static const double usual_lease = 60, server_wait = 60;

typedef struct fleet {
    const cli_fleet_worker *worker;
    const cli_settings *settings;
    cli_queue *queue;
    serve_worker *metrics; // NULL: nobody asks
    double lease;
    char input[PATH_ROOM];
    cli_queue_message message;
    uint64_t delivered, read;
    double begun;
    zenith_dataset_info info; // of the last call
} fleet;

// --- what is told -------------------------------------------------------------------------------

static void tell(const fleet *f, serve_shard_result result, const char *text)
{
    static const char *const words[] = {"done", "duplicate", "dead", "retry"};
    const bool done = result == SERVE_SHARD_OK;
    const double seconds = cli_clock() - f->begun;
    const serve_shard_facts facts = {.result = result,
                                     .seconds = seconds,
                                     .pictures = done ? f->info.pictures : 0,
                                     .bad = done ? f->info.bad : 0,
                                     .bytes_in = done ? f->read : 0,
                                     .bytes_out = done ? f->info.bytes : 0};
    serve_worker_count(f->metrics, &facts);
    if (f->settings->json) {
        cli_json_print(
            json_pack("{s:o, s:s, s:I, s:I, s:f, s:o}", "shard", cli_json_text(f->message.shard),
                      "result", words[result], "pictures", (json_int_t)facts.pictures, "bad",
                      (json_int_t)facts.bad, "seconds", seconds, "message", cli_json_text(text)));
        fflush(stdout);
    } else if (result == SERVE_SHARD_POISON || result == SERVE_SHARD_RETRY) {
        cli_say("%s: %s: %s", f->message.shard, words[result], text);
    } else if (!f->settings->quiet) {
        cli_say("%s: %s, %llu pictures in %.1f s", f->message.shard, words[result],
                (unsigned long long)facts.pictures, seconds);
    }
}

static void add_up(fleet *f)
{
    zenith_dataset_info *sum = f->worker->sum;
    sum->shards++;
    sum->done += f->info.done;
    sum->done_before += f->info.done_before;
    sum->damaged += f->info.damaged;
    sum->pictures += f->info.pictures;
    sum->bad += f->info.bad;
    sum->bytes += f->info.bytes;
}

// --- one shard ----------------------------------------------------------------------------------

static void note_lost(fleet *f)
{
    serve_worker_lost(f->metrics);
}

static void bury(fleet *f, const char *reason)
{
    f->worker->sum->failed++;
    tell(f, SERVE_SHARD_POISON, reason);
    if (!cli_queue_bury(f->queue, reason)) note_lost(f);
}

static void finish(fleet *f)
{
    const bool cut_off = cli_queue_was_cut_off(f->queue);
    add_up(f);
    tell(f, f->info.done == 1 ? SERVE_SHARD_OK : SERVE_SHARD_DUPLICATE, "");
    if (!cli_queue_done(f->queue) || cut_off) note_lost(f);
}

static void try_again(fleet *f, const char *reason)
{
    if (f->delivered >= MOST_FAILURES) {
        bury(f, reason);
        return;
    }
    tell(f, SERVE_SHARD_RETRY, reason);
    cli_queue_later(f->queue, f->lease / 6 * (double)(1 << (f->delivered - 1)));
}

// Where the shard lies. False after it was given up.
static bool find_part(fleet *f, cli_dataset_part *out)
{
    const char *input = f->settings->inputs[0];
    const uint32_t pictures = f->worker->pictures;
    struct stat facts;
    *out = (cli_dataset_part){.input = input, .lease = f->lease};
    if (f->message.count > 0) {
        out->partition = f->message.index;
        out->partitions = f->message.count;
        if (f->message.pictures == pictures) return true;
        bury(f, "it is of shards with another number of pictures than --shard says");
        return false;
    }
    const size_t end = strlen(input);
    const bool stored = strstr(input, "://") != NULL && end > 4 &&
                        strcmp(input + end - 4, ".tar") == 0;
    if (stored || (stat(input, &facts) == 0 && S_ISREG(facts.st_mode))) return true;
    const int length = snprintf(f->input, sizeof f->input, "%s/%s.tar", input, f->message.shard);
    out->input = f->input;
    if (length > 0 && length < PATH_ROOM) return true;
    bury(f, "its path is too long");
    return false;
}

static void wait_a_second(void)
{
    (void)nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
}

// Until the shard is done, or somebody else's again. Not ZENITH_OK: this worker cannot go on.
static zenith_status work(fleet *f, const cli_dataset_part *part, cli_failure *failure)
{
    bool said = false;
    for (;; wait_a_second()) {
        f->info = (zenith_dataset_info){.size = sizeof f->info};
        f->read = 0;
        const zenith_status status = f->worker->encode(f->worker->cookie, part, &f->info, &f->read);
        if (status != ZENITH_OK) (void)cli_fail(f->worker->session, failure, status, NULL);
        const bool mine = f->info.shards == 1;
        if (status == ZENITH_OK && mine && f->info.held == 0) {
            finish(f);
            return status;
        }
        if (cli_interrupted()) {
            cli_queue_later(f->queue, 0);
            return ZENITH_OK;
        }
        if (status == ZENITH_PARTIAL || status == ZENITH_NOT_FOUND || status == ZENITH_BAD_FILE ||
            (status == ZENITH_OK && !mine)) {
            try_again(f,
                      status == ZENITH_OK ? "the input has no such shard any more" : failure->text);
            return ZENITH_OK;
        }
        if (status != ZENITH_OK && status != ZENITH_IO) {
            cli_queue_later(f->queue, 0);
            return status;
        }
        if (!said)
            cli_say("%s: waiting: %s", f->message.shard,
                    status == ZENITH_IO ? failure->text : "somebody else is at work on it");
        said = true;
    }
}

static zenith_status handle(fleet *f, const cli_queue_item *item, cli_failure *failure)
{
    cli_dataset_part part;
    char reason[64];
    f->begun = cli_clock();
    f->delivered = item->delivered > 0 ? item->delivered : 1;
    if (!cli_queue_message_read(item->text, item->size, &f->message)) {
        snprintf(f->message.shard, sizeof f->message.shard, "?");
        bury(f, "the message names no shard");
    } else if (item->delivered > MOST_DELIVERIES) {
        snprintf(reason, sizeof reason, "it was handed out %d times, and never ended",
                 MOST_DELIVERIES);
        bury(f, reason);
    } else if (find_part(f, &part)) {
        return work(f, &part, failure);
    }
    return ZENITH_OK;
}

// --- all of them --------------------------------------------------------------------------------

static zenith_status run(fleet *f, cli_failure *failure)
{
    cli_queue_item item = {0};
    while (!cli_interrupted()) {
        zenith_status status = ZENITH_OK;
        switch (cli_queue_take(f->queue, &item)) {
        case CLI_QUEUE_ITEM:
            status = handle(f, &item, failure);
            break;
        case CLI_QUEUE_NOTHING:
            break;
        case CLI_QUEUE_EMPTY:
            return ZENITH_OK;
        case CLI_QUEUE_GONE:
            (void)cli_fail_text(failure, ZENITH_NOT_FOUND,
                                "the queue is gone: 'zenith dataset publish' with IN and OUT makes "
                                "it again, of the shards that have no record");
            return failure->status;
        }
        if (status != ZENITH_OK) return status;
    }
    return ZENITH_OK;
}

static bool read_metrics(const char *text, char host[256], int *port)
{
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    if (colon == NULL || colon == text || colon - text >= 256) return false;
    snprintf(host, 256, "%.*s", (int)(colon - text), text);
    const long value = strtol(colon + 1, &end, 10);
    *port = (int)value;
    return colon[1] >= '0' && colon[1] <= '9' && *end == 0 && value <= PORT_MOST;
}

bool cli_fleet_options_agree(const char *queue, const char *metrics, const char *partition)
{
    cli_queue_address address;
    char host[256];
    int port;
    if (queue == NULL && metrics == NULL) return true;
    if (queue == NULL)
        cli_say("--metrics goes with --queue: it counts what a worker does");
    else if (!cli_queue_address_read(queue, &address))
        cli_say("--queue '%s': expected nats://HOST:PORT or nats://HOST:PORT/NAME", queue);
    else if (partition != NULL)
        cli_say("--partition and --queue are two ways to share the work: give one of them");
    else if (metrics != NULL && !read_metrics(metrics, host, &port))
        cli_say("--metrics '%s': expected HOST:PORT, such as 127.0.0.1:9464", metrics);
    else
        return true;
    return false;
}

static bool start(fleet *f, cli_failure *failure)
{
    cli_queue_address address;
    char host[256];
    int port = 0;
    (void)cli_queue_address_read(f->worker->queue, &address);
    if (!cli_queue_open(&address, server_wait, &f->queue, failure) ||
        !cli_queue_join(f->queue, &f->lease, failure))
        return false;
    if (f->worker->metrics == NULL) return true;
    (void)read_metrics(f->worker->metrics, host, &port);
    f->metrics = serve_worker_start(host, port, f->worker->model, cli_say);
    return f->metrics != NULL ||
           cli_fail_text(failure, ZENITH_IO, "there is nowhere to show the metrics");
}

zenith_status cli_fleet_run(const cli_fleet_worker *worker, cli_failure *failure)
{
    fleet f = {.worker = worker, .settings = worker->session->settings, .lease = usual_lease};
    const double begun = cli_clock();
    cli_interrupt_catch(NULL); // the shard in hand is ended
    const bool started = start(&f, failure);
    const zenith_status status = started ? run(&f, failure) : failure->status;
    worker->sum->seconds = cli_clock() - begun;
    serve_worker_stop(f.metrics);
    cli_queue_free(f.queue);
    return status;
}
