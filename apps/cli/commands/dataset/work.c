// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See work.h.
#include "apps/cli/commands/dataset/work.h"
#include "apps/cli/commands/dataset/buckets.h"
#include "apps/cli/session/report.h"
#include "apps/cli/session/source_options.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "apps/fleet/worker.h"
#include "apps/net/s3_storage.h"
#include "zenith/dataset.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 8 }; // that the library takes at once

typedef struct job {
    uint32_t partition, partitions;
    cli_session *session;
    zenith_model *models[MODELS];
    uint32_t model_count, multiple;
    double shown;
    bool drains;   // signals do not stop the shard in hand
    uint64_t read; // bytes of the input, as far as the call got
    zenith_dataset_info info;
    cli_buckets buckets;
    zenith_storage storage; // of s3://
} job;

// `narrow`: without the shares of time, which 80 columns have no room for.
static void format_line(const zenith_dataset_report *r, bool narrow, char *line, size_t size)
{
    char left[32], bad[40] = "", shares[80] = "";
    const double done = r->bytes > 0 ? (double)r->bytes_done / (double)r->bytes : 0;
    const double seconds = r->seconds > 0 ? r->seconds : 1;
    cli_progress_left(left, sizeof left, done > 0 ? seconds / done - seconds : 0);
    if (r->bad > 0) snprintf(bad, sizeof bad, "  %llu bad", (unsigned long long)r->bad);
    if (!narrow)
        snprintf(shares, sizeof shares, "  read %.0f%% decode %.0f%% encode %.0f%% write %.0f%%",
                 100 * r->read_share, 100 * r->decode_share, 100 * r->encode_share,
                 100 * r->write_share);
    snprintf(line, size, "shard %s  %.0f%%  %.1f images/s%s%s  %s", r->shard, 100 * done,
             (double)(r->pictures + r->bad) / seconds, shares, bad, left);
}

// On a terminal a line that is drawn over itself, elsewhere a plain one each minute.
static int show(void *cookie, const zenith_dataset_report *report)
{
    job *j = cookie;
    const cli_settings *settings = j->session->settings;
    const bool bar = j->session->progress.bar;
    char line[320];
    const double now = cli_clock();
    const int stop = cli_interrupted() && !j->drains;
    j->read = report->bytes;
    if (settings->quiet || settings->json || now - j->shown < (bar ? 0.1 : 60)) return stop;
    j->shown = now;
    format_line(report, false, line, sizeof line);
    if (!bar) {
        cli_say("%s", line);
        return stop;
    }
    const int columns = cli_terminal_columns(stderr);
    if (cli_text_columns(line) >= columns) format_line(report, true, line, sizeof line);
    if (cli_text_columns(line) < columns) cli_status_show(line);
    return stop;
}

static void print_json(const cli_settings *settings, const zenith_dataset_info *i)
{
    json_t *shards = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "all", (json_int_t)i->shards,
                               "done", (json_int_t)i->done, "done_before",
                               (json_int_t)i->done_before, "in_work", (json_int_t)i->held, "failed",
                               (json_int_t)i->failed, "damaged", (json_int_t)i->damaged);
    cli_json_print(json_pack("{s:o, s:o, s:I, s:I, s:I, s:f, s:{s:f, s:f, s:f, s:f}}", "output",
                             cli_json_text(settings->inputs[1]), "shards", shards, "pictures",
                             (json_int_t)i->pictures, "bad", (json_int_t)i->bad, "bytes",
                             (json_int_t)i->bytes, "seconds", i->seconds, "shares", "read",
                             i->read_share, "decode", i->decode_share, "encode", i->encode_share,
                             "write", i->write_share));
}

static void say_bad(const zenith_dataset_info *i, const char *in, const char *out)
{
    char samples[64] = "", archives[80] = "";
    if (i->bad == 0 && i->damaged == 0) return;
    if (i->bad > 0)
        snprintf(samples, sizeof samples, "%llu sample%s could not be used",
                 (unsigned long long)i->bad, i->bad == 1 ? "" : "s");
    if (i->damaged > 0)
        snprintf(archives, sizeof archives, "%llu archive%s could not be read to %s end",
                 (unsigned long long)i->damaged, i->damaged == 1 ? "" : "s",
                 i->damaged == 1 ? "its" : "their");
    cli_say("%s%s%s: 'zenith dataset stats %s %s' counts the reasons, and the records in %s have "
            "each",
            samples, i->bad > 0 && i->damaged > 0 ? ", and " : "", archives, in, out, out);
}

static void say_result(const cli_settings *settings, const zenith_dataset_info *i)
{
    const char *in = settings->inputs[0], *out = settings->inputs[1];
    if (settings->json) print_json(settings, i);
    if (settings->json || settings->quiet) return;
    if (i->done == 0 && i->done_before == i->shards)
        cli_say("all %llu shards were done before -> %s", (unsigned long long)i->shards, out);
    else
        cli_say("%llu pictures in %llu shard%s, %.1f s (%.1f images/s) -> %s",
                (unsigned long long)i->pictures, (unsigned long long)i->done,
                i->done == 1 ? "" : "s", i->seconds,
                i->seconds > 0 ? (double)i->pictures / i->seconds : 0, out);
    if (i->held > 0)
        cli_say("%llu shard%s in work elsewhere", (unsigned long long)i->held,
                i->held == 1 ? " is" : "s are");
    say_bad(i, in, out);
}

static zenith_status encode(job *j, const cli_dataset_part *part, bool retry,
                            zenith_dataset_info *info)
{
    cli_session *session = j->session;
    const cli_settings *settings = session->settings;
    const cli_dataset_settings *own = cli_dataset_of(settings);
    zenith_run_facts facts;
    zenith_run_params run = cli_session_run_params(session, &facts, 0);
    const zenith_source_params source = cli_source_params(settings, j->multiple);
    run.progress = NULL;
    const zenith_dataset_params params = {
        .size = sizeof params,
        .input = part->input,
        .output = settings->inputs[1],
        .source = &source,
        .run = &run,
        .number = own->store == CLI_UNSET ? ZENITH_F16 : (zenith_number)own->store,
        .space = own->space == ZENITH_SPACE_RAW ? ZENITH_SPACE_RAW : ZENITH_SPACE_MODEL,
        .kind = own->moments ? ZENITH_LATENT_MOMENTS : ZENITH_LATENT_MEAN,
        .shard_pictures = (uint32_t)own->shard,
        .lease_seconds = own->lease > 0 ? own->lease : part->lease,
        .retry = retry,
        .report = show,
        .report_cookie = j,
        .partition = part->partition,
        .partitions = part->partitions,
        .container = (zenith_container)own->container,
        .random_crop = own->crop == 1,
        .mirror = own->mirror,
        .seed = settings->sampling.seed.value,
        .buckets = j->buckets.sizes,
        .bucket_count = j->buckets.count,
        .more_models = j->models + 1,
        .more_count = j->model_count - 1,
        .storage = cli_s3_get(&j->storage)};
    return zenith_dataset_encode(session->context, j->models[0], &params, info);
}

static zenith_status encode_all(job *j, bool retry)
{
    const cli_dataset_part all = {.input = j->session->settings->inputs[0],
                                  .partition = j->partition,
                                  .partitions = j->partitions};
    return encode(j, &all, retry, &j->info);
}

static int finish(job *j, zenith_status status)
{
    cli_session *session = j->session;
    const cli_settings *settings = session->settings;
    cli_failure failure = {0};
    cli_status_clear();
    session->told = true; // shards are what is counted, not the two arguments
    if (status == ZENITH_OK || status == ZENITH_PARTIAL) say_result(settings, &j->info);
    const bool stopped = cli_interrupted() && status == ZENITH_CANCELLED;
    if (stopped)
        cli_say("interrupted, %llu of %llu shards done: the same command goes on",
                (unsigned long long)(j->info.done + j->info.done_before),
                (unsigned long long)j->info.shards);
    if (status != ZENITH_OK && !stopped) {
        (void)cli_fail(session, &failure, status, NULL);
        cli_session_failed(session, settings->inputs[status == ZENITH_NOT_FOUND ? 0 : 1], &failure);
    }
    cli_s3_close(&j->storage);
    const int code = cli_session_close(session);
    const bool some = j->info.bad > 0 || j->info.damaged > 0;
    return code == CLI_DONE && some ? CLI_SOME_FAILED : code;
}

// --- from a queue -------------------------------------------------------------------------------

static zenith_status encode_part(void *cookie, const cli_dataset_part *part,
                                 zenith_dataset_info *info, uint64_t *read)
{
    job *j = cookie;
    j->read = 0;
    const zenith_status status = encode(j, part, false, info);
    *read = j->read;
    return status;
}

static int work_for_queue(job *j)
{
    cli_session *session = j->session;
    const cli_settings *settings = session->settings;
    cli_failure failure = {0};
    const cli_dataset_settings *own = cli_dataset_of(settings);
    const cli_fleet_worker worker = {.session = session,
                                     .queue = own->queue_address,
                                     .metrics = own->metrics,
                                     .pictures = own->shard > 0 ? (uint32_t)own->shard : 5000,
                                     .model = settings->model,
                                     .encode = encode_part,
                                     .cookie = j,
                                     .sum = &j->info};
    j->drains = true;
    const zenith_status status = cli_fleet_run(&worker, &failure);
    cli_status_clear();
    session->told = true;
    if (status == ZENITH_OK)
        say_result(settings, &j->info);
    else
        cli_session_failed(session, own->queue_address, &failure);
    cli_s3_close(&j->storage);
    const int code = cli_session_close(session);
    if (status != ZENITH_OK) return code;
    return j->info.bad > 0 || j->info.damaged > 0 || j->info.failed > 0 ? CLI_SOME_FAILED
                                                                        : CLI_DONE;
}

// "3/8" is the third of eight: number 2.
static bool read_partition(const char *text, job *j)
{
    char *end = NULL;
    if (text == NULL) return true;
    const unsigned long which = text[0] >= '1' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    const bool two = end != NULL && end[0] == '/' && end[1] >= '1' && end[1] <= '9';
    const unsigned long all = two ? strtoul(end + 1, &end, 10) : 0;
    if (which >= 1 && which <= all && all <= INT_MAX && *end == 0) {
        j->partition = (uint32_t)which - 1;
        j->partitions = (uint32_t)all;
        return true;
    }
    cli_say("--partition '%s': expected I/N, such as 1/8 to 8/8", text);
    return false;
}

static bool choices_agree(const cli_settings *settings)
{
    const cli_dataset_settings *own = cli_dataset_of(settings);
    const bool sized = settings->source.size.width != 0 || settings->source.size.height != 0;
    const bool chosen = own->crop == 1 || own->mirror;
    const char *wrong = NULL;
    if (own->buckets != NULL && (sized || settings->source.fit != CLI_UNSET))
        wrong = "--buckets says the sizes: leave out --size and --fit";
    else if (own->aspects != NULL && own->buckets == NULL)
        wrong = "--aspects goes with --buckets, which says how large they are";
    else if (own->crop == 1 &&
             (settings->source.fit == ZENITH_FIT_PAD || settings->source.fit == ZENITH_FIT_EXACT))
        wrong = "--crop random goes with --size, --buckets or --fit crop: others crop nothing";
    else if (settings->sampling.seed.given && !chosen)
        wrong = "--seed goes with --crop random and --mirror: nothing else is left to chance";
    if (wrong != NULL) cli_say("%s", wrong);
    return wrong == NULL;
}

static bool open_model(job *j, const char *name, cli_failure *failure)
{
    const cli_open_model *opened = NULL;
    if (j->model_count == MODELS) {
        cli_fail_text(failure, ZENITH_INVALID_ARGUMENT, "--model takes %d models at most", MODELS);
        return false;
    }
    if (!cli_session_model(j->session, name, ZENITH_ENCODER, &opened, failure)) return false;
    const uint32_t before = j->model_count == 0 ? 1 : j->multiple;
    const uint32_t factor = opened->info.factor;
    j->multiple = before;
    while (factor != 0 && j->multiple % factor != 0) j->multiple += before;
    j->models[j->model_count++] = opened->model;
    return true;
}

// "a,b": several, all of which encode each picture.
static bool open_models(job *j, const char *names, cli_failure *failure)
{
    char name[64];
    if (names == NULL || strchr(names, ',') == NULL) return open_model(j, names, failure);
    if (j->session->settings->weights != NULL)
        return cli_fail_text(failure, ZENITH_INVALID_ARGUMENT,
                             "--weights is of one model: of several, put the weights into folders "
                             "with their names, and name the folder above with ZENITH_MODELS");
    for (const char *at = names;; at++) {
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < 64 ? length : 63), at);
        if (!open_model(j, name, failure)) return false;
        at += length;
        if (*at == 0) return true;
    }
}

int cli_dataset_work(const cli_settings *given, bool retry)
{
    cli_dataset_settings own = *cli_dataset_of(given);
    cli_settings *settings = &own.shared;
    cli_session session;
    cli_failure failure = {0};
    job j = {.session = &session, .info = {.size = sizeof j.info}};
    settings->side_by_side = true;
#ifdef SIGXFSZ
    signal(SIGXFSZ,
           SIG_IGN); // a file that grows beyond the limit of a shell is a failure with a sentence
#endif
    if (!read_partition(own.partition, &j)) return CLI_USAGE;
    if (!cli_model_options_agree(settings) || !cli_source_options_agree(settings) ||
        !choices_agree(settings) ||
        !cli_fleet_options_agree(own.queue_address, own.metrics, own.partition))
        return CLI_USAGE;
    const int code = cli_session_open(&session, settings, "dataset encode");
    if (code != CLI_DONE) return code;
    j.shown = session.progress.bar ? 0 : cli_clock();
    if (!cli_s3_open(settings->inputs, settings->input_count, settings->quiet, &j.storage,
                     &failure)) {
        session.told = true;
        cli_session_failed(&session, "s3://", &failure);
        return cli_session_close(&session);
    }
    if (!open_models(&j, settings->model, &failure)) {
        cli_s3_close(&j.storage);
        cli_session_model_failed(&session, &failure);
        return cli_session_close(&session);
    }
    if (own.buckets != NULL &&
        !cli_buckets_read(own.buckets, own.aspects, j.multiple, &j.buckets)) {
        session.told = true;
        cli_s3_close(&j.storage);
        (void)cli_session_close(&session);
        return CLI_USAGE;
    }
    if (own.queue_address != NULL) return work_for_queue(&j);
    return finish(&j, encode_all(&j, retry));
}

static const cli_choice stores[] = {
    {"f16", ZENITH_F16}, {"bf16", ZENITH_BF16}, {"f32", ZENITH_F32}, {"u8", ZENITH_U8}, {NULL, 0}};
static const cli_choice containers[] = {
    {"npy", ZENITH_CONTAINER_NPY}, {"safetensors", ZENITH_CONTAINER_SAFETENSORS}, {NULL, 0}};
static const cli_choice crops[] = {{"centre", 0}, {"random", 1}, {NULL, 0}};
static const cli_option_group group = CLI_GROUP(
    "Dataset", CLI_DATASET_SHARD,
    CLI_OPTION(CLI_CHOICE, cli_dataset_settings, store, "store", 0, "f16|bf16|f32|u8",
               "type of the numbers of a latent; u8 has a scale and an offset for each channel of "
               "each picture; default: f16",
               .choices = stores),
    CLI_OPTION(
        CLI_CHOICE, cli_dataset_settings, container, "container", 0, "npy|safetensors",
        "the file of a latent; default: npy, and safetensors for bf16, which npy does not have",
        .choices = containers),
    CLI_OPTION(
        CLI_CHOICE, cli_dataset_settings, space, "space", 0, "model|raw",
        "as the diffusion model sees it, or as the full VAE gives it, before scale and shift; "
        "default: model",
        .choices = cli_choices_space),
    CLI_FLAG_OPTION(
        cli_dataset_settings, moments, "moments", 0,
        "of the KL autoencoders (sd-vae, flux-vae ..): the mean, and after it the logarithm of "
        "the variance, as one array of twice the channels"),
    CLI_OPTION(
        CLI_CHOICE, cli_dataset_settings, crop, "crop", 0, "centre|random",
        "where a picture that is larger than its size is cut out: in the middle, or at a place "
        "that follows from --seed and the picture's key; default: centre",
        .choices = crops),
    CLI_FLAG_OPTION(
        cli_dataset_settings, mirror, "mirror", 0,
        "let left and right change places in half of the pictures: which, follows from --seed "
        "and the picture's key"),
    CLI_OPTION(CLI_SEED, cli_settings, sampling.seed, "seed", 0, "N",
               "of --crop random and --mirror; default: 0"),
    CLI_OPTION(
        CLI_TEXT, cli_dataset_settings, buckets, "buckets", 0, "LIST",
        "sizes to choose from for each picture, by its shape and without enlarging it: WxH,.. "
        "or sides N,.., which are sizes of about N*N pixels in the shapes of --aspects"),
    CLI_OPTION(CLI_TEXT, cli_dataset_settings, aspects, "aspects", 0, "LIST",
               "shapes W:H,.. of the sides of --buckets; default: 1:1"),
    CLI_DATASET_LEASE("after which a shard whose worker does not stir is another's; default: 60"),
    CLI_OPTION(CLI_TEXT, cli_dataset_settings, partition, "partition", 0, "I/N",
               "only every N-th shard, beginning with number I: for arrays of jobs, 1/N to N/N; "
               "default: all"));
static const cli_option_group fleet_group = CLI_GROUP(
    "Fleet",
    CLI_OPTION(
        CLI_TEXT, cli_dataset_settings, queue_address, "queue", 0, "nats://HOST:PORT[/NAME]",
        "take shards from a queue that 'zenith dataset publish' has filled, until it is empty"),
    CLI_OPTION(CLI_TEXT, cli_dataset_settings, metrics, "metrics", 0, "HOST:PORT",
               "show at http://HOST:PORT/metrics what this worker has done, for Prometheus"));
const cli_option_group *const cli_dataset_retry_groups[] = {
    &cli_group_model, &group, &cli_group_source, &cli_group_run, &cli_group_report, NULL};
const cli_option_group *const cli_dataset_work_groups[] = {
    &cli_group_model,  &group, &fleet_group, &cli_group_source, &cli_group_run,
    &cli_group_report, NULL};
