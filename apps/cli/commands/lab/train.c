// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith train CONFIG.json: trains a model. On a terminal one line shows how it goes; elsewhere a
// plain line is printed now and then, and one at the end.
#include "zenith/train.h"
#include "apps/cli/commands/lab/train_config.h"
#include "apps/cli/options/sentences.h"
#include "apps/cli/session/report.h"
#include "apps/cli/session/session.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/zenith.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

static const double line_seconds = 0.1, plain_seconds = 60;

typedef struct watching {
    const cli_settings *settings;
    bool terminal;
    double shown; // cli_clock
    zenith_train_report last;
} watching;

static void format_left(char *text, size_t size, double seconds)
{
    unsigned long all = seconds > 1e7 ? 10000000ul : (unsigned long)(seconds + 0.5);
    if (all >= 3600)
        snprintf(text, size, "%lu:%02lu:%02lu", all / 3600, all / 60 % 60, all % 60);
    else
        snprintf(text, size, "%lu:%02lu", all / 60, all % 60);
}

// Not every task makes pictures in its steps: then there is nothing to say.
static const char *format_psnr(char text[32], const char *before, double psnr)
{
    text[0] = 0;
    if (isfinite(psnr)) snprintf(text, 32, "%sPSNR %.2f dB", before, psnr);
    return text;
}

static void format_line(char *text, size_t size, const zenith_train_report *r)
{
    char left[32], psnr[32];
    format_left(left, sizeof left, r->seconds_left);
    snprintf(text, size, "step %llu/%llu  loss %.5f%s  %.1f images/s  %s left",
             (unsigned long long)r->step, (unsigned long long)r->steps, r->loss,
             format_psnr(psnr, "  ", r->psnr), r->images_per_second, left);
}

static int on_report(void *cookie, const zenith_train_report *report)
{
    watching *w = cookie;
    char line[256];
    double now = cli_clock();
    bool first = w->last.step == 0;
    w->last = *report;
    if (w->settings->quiet || w->settings->json) return 0;
    if (now - w->shown < (w->terminal ? line_seconds : plain_seconds) && !first) return 0;
    w->shown = now;
    format_line(line, sizeof line, report);
    if (w->terminal)
        cli_status_show(line);
    else
        cli_say("%s", line);
    return 0;
}

static void on_skip(void *cookie, const char *name, const char *reason)
{
    const watching *w = cookie;
    if (w->settings->quiet) return;
    cli_status_clear();
    cli_say("%s: %s; training goes on without it", name, reason);
}

// Where the trained weights are, if the run is over: the folder `name` of the config's output. ""
// otherwise.
static void find_weights(const char *config, const char *name, char *path, size_t size)
{
    struct stat facts;
    json_error_t error;
    json_t *object = json_load_file(config, 0, &error);
    const char *output = json_string_value(json_object_get(object, "output"));
    snprintf(path, size, "%s/%s", output != NULL ? output : "", name);
    if (stat(path, &facts) != 0 || output == NULL) path[0] = 0;
    json_decref(object);
}

static bool is_over(const zenith_train_report *last)
{
    return last->step == 0 || last->step == last->steps;
}

static void say_end(const watching *w, const char *config)
{
    const zenith_train_report *r = &w->last;
    char weights[4096] = "", averaged[4096] = "", psnr[32];
    if (is_over(r)) {
        find_weights(config, "weights", weights, sizeof weights);
        find_weights(config, "ema", averaged, sizeof averaged);
    }
    if (w->settings->json && r->step > 0) {
        cli_json_print(json_pack(
            "{s:o, s:I, s:I, s:f, s:o, s:f, s:o*}", "config", cli_json_text(config), "step",
            (json_int_t)r->step, "steps", (json_int_t)r->steps, "loss", r->loss, "psnr",
            isfinite(r->psnr) ? json_real(r->psnr) : json_null(), "images_per_second",
            r->images_per_second, "weights", *weights != 0 ? cli_json_text(weights) : NULL));
        return;
    }
    if (w->settings->quiet || w->settings->json) return;
    if (r->step > 0)
        cli_say("step %llu of %llu, loss %.5f%s, %.1f images/s", (unsigned long long)r->step,
                (unsigned long long)r->steps, r->loss, format_psnr(psnr, ", ", r->psnr),
                r->images_per_second);
    else if (*weights != 0) // and not another of several processes
        cli_say("nothing is left to do: this run is finished");
    if (*weights != 0)
        cli_say("the trained weights are in %s%s%s", weights,
                *averaged != 0 ? ", averaged over steps in " : "", averaged);
}

static int run(const cli_settings *settings)
{
    cli_session session;
    cli_failure failure = {0};
    char config[4096];
    watching w = {.settings = settings, .terminal = cli_terminal_columns(stderr) > 0};
    int code = cli_train_config(settings, config, sizeof config);
    if (code == CLI_DONE) code = cli_session_open(&session, settings, "train");
    if (code != CLI_DONE) return code;
    const zenith_train_params params = {.size = sizeof params,
                                        .config = config,
                                        .resume = cli_train_of(settings)->resume,
                                        .stop_at = (uint64_t)settings->sampling.steps,
                                        .report = on_report,
                                        .report_cookie = &w,
                                        .cancel = session.cancel,
                                        .skip = on_skip};
    zenith_status status = zenith_train(session.context, &params);
    cli_status_clear();
    if (status == ZENITH_OK) {
        session.done = 1;
        say_end(&w, config);
    } else if (status == ZENITH_CANCELLED) {
        session.told = true;
        cli_fail(&session, &failure, status, NULL);
        cli_say("%s", failure.text);
    } else {
        cli_fail(&session, &failure, status, NULL);
        if (*zenith_context_error(session.context) != 0)
            cli_say_config(zenith_context_error(session.context), failure.text,
                           sizeof failure.text);
        cli_session_failed(&session, config, &failure);
    }
    return cli_session_close(&session);
}

static const cli_option_group group = CLI_GROUP(
    "Training",
    CLI_OPTION(
        CLI_TEXT, cli_train_settings, data, "data", 0, "PATH",
        "train on this folder, tar archive or LMDB database instead of the config's pictures, "
        "with no validation"),
    CLI_OPTION(CLI_TEXT, cli_settings, output, "output", 'o', "DIR",
               "folder for the results instead of the config's. With --data or this, the changed "
               "config is written there as run.json"),
    CLI_FLAG_OPTION(cli_train_settings, resume, "resume", 0,
                    "continue from the newest checkpoint in the output folder; without one, begin"),
    CLI_OPTION(CLI_NUMBER, cli_settings, sampling.steps, "steps", 0, "N",
               "stop after step N, with a checkpoint; the learning rate still follows the config's "
               "own steps",
               .min = 1, .max = 2147483647));
static const cli_example examples[] = {
    {"zenith train run.json", "begin a run; Ctrl-C stops it after the step, with a checkpoint"},
    {"zenith train diffae64.json --data faces -o runs/faces",
     "a diffusion autoencoder of the pictures in a folder; the config is in "
     "share/zenith/models/training"},
    {"zenith train run.json --resume",
     "continue; the result has the same bits as without the stop"},
    {NULL, NULL}};

const cli_command cli_command_train = {
    .name = "train",
    .arguments = "CONFIG.json [OPTIONS]",
    .summary = "train a model on pictures",
    .description =
        "Trains an encoder or a decoder. A JSON file says which model, which pictures, which "
        "losses, how many steps. The output folder gets a log (train.jsonl), a plot of loss and "
        "PSNR (plot.svg), sample pictures, checkpoints, and at the end the weights, for --weights "
        "of other commands. With \"quantise\" in the file, training sees the rounding of int8 or "
        "f8. "
        "TRAINING.md in share/doc/zenith describes the file.",
    .groups = CLI_GROUPS(&group, &cli_group_threads, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = 1,
    CLI_SETTINGS(cli_train_settings),
    .run = run,
};
