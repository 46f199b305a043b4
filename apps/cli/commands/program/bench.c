// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith bench --model NAME: how fast a model is on this machine, and what memory it takes.
#include "apps/cli/commands/program/measure.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/zenith.h"

#include <stdlib.h>
#include <string.h>

typedef struct bench_settings {
    cli_settings shared;
    int operation; // ZENITH_ENCODER | ZENITH_DECODER
    int repeats;
} bench_settings;

static const bench_settings *own(const cli_settings *settings)
{
    return (const bench_settings *)settings;
}

enum { DEFAULT_SIDE = 512, DEFAULT_REPEATS = 20 };

static const char *const verbs[] = {"", "encode", "decode"};

static json_t *timing_json(const cli_timing *timing, const cli_measure *measure)
{
    double megapixels = (double)measure->width * measure->height * 1e-6;
    json_t *object = json_object();
    json_object_set_new(object, "dtype", json_string(cli_dtype_name(timing->facts.dtype)));
    json_object_set_new(object, "repeats", json_integer(timing->repeats));
    json_object_set_new(object, "ms", json_real(timing->median * 1e3));
    json_object_set_new(object, "lowest_ms", json_real(timing->lowest * 1e3));
    json_object_set_new(object, "highest_ms", json_real(timing->highest * 1e3));
    json_object_set_new(object, "spread", json_real(timing->spread));
    json_object_set_new(object, "megapixels_per_second", json_real(megapixels / timing->median));
    json_object_set_new(object, "planned_bytes", json_integer((json_int_t)timing->planned_bytes));
    json_object_set_new(object, "gflops", json_real(timing->flops / timing->median * 1e-9));
    json_object_set_new(object, "banded", json_boolean(timing->facts.banded));
    if (measure->tuned) {
        json_object_set_new(object, "untuned_ms", json_real(timing->untuned * 1e3));
        json_object_set_new(object, "tuned_gain", json_real(timing->untuned / timing->median));
    }
    return object;
}

static void print_timing(const cli_timing *timing, const cli_measure *measure)
{
    double megapixels = (double)measure->width * measure->height * 1e-6;
    printf("%-8s %10.2f %10.2f %10.2f %8.1f %10.2f %10.1f\n", verbs[measure->part],
           timing->median * 1e3, timing->lowest * 1e3, timing->highest * 1e3, timing->spread * 100,
           megapixels / timing->median, (double)timing->planned_bytes / (1 << 20));
    if (measure->tuned)
        printf("  untuned, in turns: %.2f ms, %.3f times as long\n", timing->untuned * 1e3,
               timing->untuned / timing->median);
}

static void print_heading(const cli_session *session, const cli_open_model *model,
                          const cli_measure *measure, zenith_dtype dtype)
{
    zenith_machine_info machine = {.size = sizeof machine};
    zenith_context_get_machine(session->context, &machine);
    printf("%s, %ux%u, %s, %d thread%s, %s\n\n", model->info.name, (unsigned)measure->width,
           (unsigned)measure->height, cli_dtype_name(dtype), machine.threads,
           machine.threads == 1 ? "" : "s", machine.isa);
    printf("%-8s %10s %10s %10s %8s %10s %10s\n", "", "median ms", "lowest", "highest", "spread %",
           "MP/s", "memory MiB");
}

static json_t *heading_json(const cli_session *session, const cli_open_model *model,
                            const cli_measure *measure)
{
    zenith_machine_info machine = {.size = sizeof machine};
    zenith_context_get_machine(session->context, &machine);
    return json_pack("{s:s, s:i, s:i, s:i, s:s, s:s}", "model", model->info.name, "width",
                     (int)measure->width, "height", (int)measure->height, "threads",
                     machine.threads, "isa", machine.isa, "onednn", machine.onednn);
}

static bool measure_parts(cli_session *session, const cli_open_model *model, cli_measure measure,
                          cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    const bench_settings *o = own(settings);
    int wanted = o->operation != 0 ? o->operation : (int)model->info.parts;
    json_t *json = heading_json(session, model, &measure);
    bool done = true, first = true;
    for (unsigned part = ZENITH_ENCODER; done && part <= ZENITH_DECODER; part <<= 1) {
        cli_timing timing;
        if (!((unsigned)wanted & part)) continue;
        measure.part = part;
        cli_progress_file(&session->progress, 0, verbs[part]);
        done = cli_measure_run(session, model, &measure, &timing, failure);
        cli_status_clear();
        if (!done) break;
        json_object_set_new(json, verbs[part], timing_json(&timing, &measure));
        if (settings->json) continue;
        if (first) print_heading(session, model, &measure, timing.facts.dtype);
        print_timing(&timing, &measure);
        first = false;
    }
    uint64_t peak = cli_peak_resident();
    json_object_set_new(json, "peak_resident_bytes", json_integer((json_int_t)peak));
    if (done && settings->json)
        cli_json_print(json_incref(json));
    else if (done)
        printf("\nThe process had %.1f MiB resident at most. Spread: of the middle half of %d "
               "runs.\n",
               (double)peak / (1 << 20), measure.repeats);
    json_decref(json);
    return done;
}

static bool check_size(const cli_measure *measure, uint32_t factor, cli_failure *failure)
{
    if (factor == 0) // of a text model, or another that turns no pictures
        return cli_fail_text(failure, ZENITH_UNSUPPORTED,
                             "this model is no autoencoder: 'zenith bench' measures encoding and "
                             "decoding");
    if (measure->width % factor == 0 && measure->height % factor == 0) return true;
    return cli_fail_text(failure, ZENITH_INVALID_ARGUMENT,
                         "--size %ux%u: both sides must be multiples of %u",
                         (unsigned)measure->width, (unsigned)measure->height, (unsigned)factor);
}

static int run(const cli_settings *settings)
{
    const bench_settings *o = own(settings);
    cli_session session;
    cli_failure failure = {0};
    const cli_open_model *model = NULL;
    cli_measure measure = {.width = DEFAULT_SIDE,
                           .height = DEFAULT_SIDE,
                           .repeats = o->repeats != 0 ? o->repeats : DEFAULT_REPEATS,
                           .tuned = settings->run.tune};
    if (settings->source.size.width != 0)
        measure.width = measure.height = settings->source.size.width;
    if (settings->source.size.height != 0) measure.height = settings->source.size.height;
    if (settings->source.size.width == 0 && settings->source.size.height != 0)
        measure.width = measure.height;
    if (!cli_model_options_agree(settings)) return CLI_USAGE;
    int code = cli_session_open(&session, settings, "bench");
    if (code != CLI_DONE) return code;
    session.progress.count = 1;
    bool done = cli_session_model(&session, settings->model, (unsigned)o->operation, &model,
                                  &failure) &&
                check_size(&measure, model->info.factor, &failure) &&
                measure_parts(&session, model, measure, &failure);
    if (!done) cli_session_model_failed(&session, &failure);
    return cli_session_close(&session);
}

static const cli_choice operations[] = {{"encode", ZENITH_ENCODER},
                                        {"decode", ZENITH_DECODER},
                                        {"both", ZENITH_ENCODER | ZENITH_DECODER},
                                        {NULL, 0}};
static const cli_option_group group = CLI_GROUP(
    "Measurement",
    CLI_OPTION(CLI_CHOICE, bench_settings, operation, "op", 0, "encode|decode|both",
               "what to measure; default: what the weights have", .choices = operations),
    CLI_OPTION(CLI_DIMENSIONS, cli_settings, source.size, "size", 's', "WxH",
               "of the picture; default: 512x512"),
    CLI_OPTION(CLI_NUMBER, bench_settings, repeats, "repeats", 'n', "N",
               "runs that are counted, after one that is not; default: 20", .min = 1,
               .max = CLI_MOST_REPEATS),
    CLI_FLAG_OPTION(
        cli_settings, run.tune, "tune", 0,
        "measure the plans first, as encode and decode do in passing, then the fastest beside "
        "the one that is taken without --tune, in turns"));
static const cli_example examples[] = {
    {"zenith bench --model taesd", "encode and decode 512x512"},
    {"zenith bench --model taef1 --op decode --size 1024x1024 --dtype int8 --json",
     "one figure, for scripts"},
    {"zenith bench --model taesd --size 4096x4096 --max-memory 300M -n 3",
     "what bounded memory costs"},
    {NULL, NULL}};

const cli_command cli_command_bench = {
    .name = "bench",
    .arguments = "--model NAME [OPTIONS]",
    .summary = "measure how fast a model is here",
    .description =
        "Encodes and decodes a made-up picture in memory, many times, and prints the median time, "
        "the lowest and highest, the spread of the middle half, megapixels per second, and the "
        "memory of a run (working memory, packed weights, picture and latent). Reading and writing "
        "files is not counted. Close other programs first: they are what spread shows.",
    .groups = CLI_GROUPS(&cli_group_model, &group, &cli_group_run, &cli_group_facts),
    .examples = examples,
    CLI_SETTINGS(bench_settings),
    .run = run,
};
