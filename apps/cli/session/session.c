// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See session.h.
#include "apps/cli/session/session.h"
#include "apps/cli/options/options.h"
#include "apps/cli/options/sentences.h"
#include "apps/cli/session/published.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void print_log(void *cookie, int level, const char *message)
{
    static const char *const names[] = {"debug", "info", "warning"};
    (void)cookie;
    cli_say("%s: %s", names[level < 0 ? 0 : level > 2 ? 2 : level], message);
}

// Commands that turn many pictures of a size, or a few again and again.
static bool may_tune(const cli_settings *settings, const char *verb)
{
    static const char *const verbs[] = {"encode", "decode", "reconstruct", "dataset encode"};
    if (settings->run.tune) return true;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i], verb) == 0) return !settings->run.no_tune;
    return false;
}

// Where measured plans are kept; NULL: nowhere. The folders are made: the library does not.
static const char *plans_path(char *dst, size_t size)
{
    const char *named = getenv("ZENITH_TUNE"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    const bool own = cache != NULL && cache[0] == '/';
    if (named != NULL) return named[0] != 0 ? named : NULL;
    if (!own && (home == NULL || home[0] == 0)) return NULL;
    const int length = snprintf(dst, size, "%s%s/zenith/plans.json", own ? cache : home,
                                own ? "" : "/.cache");
    if (length < 0 || (size_t)length >= size) return NULL;
    for (char *slash = strchr(dst + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(dst, 0777); // where it cannot be made, nothing is kept
        *slash = '/';
    }
    return dst;
}

// As many streams of one thread as there would be threads.
static void ask_streams(zenith_context_params *machine)
{
    zenith_context *context;
    zenith_machine_info info = {.size = sizeof info};
    machine->streams = machine->threads;
    if (machine->threads == 0 && zenith_context_create(machine, &context) == ZENITH_OK) {
        zenith_context_get_machine(context, &info);
        zenith_context_free(context);
        machine->streams = info.threads;
    }
    machine->threads = 1;
}

int cli_session_open(cli_session *session, const cli_settings *settings, const char *verb)
{
    char plans[1024];
    zenith_context_params machine = {.size = sizeof machine, .threads = settings->run.threads};
    if (may_tune(settings, verb)) machine.tuned_plans = plans_path(plans, sizeof plans);
    if (settings->log) machine.log = print_log;
    if (settings->side_by_side) ask_streams(&machine);
    *session = (cli_session){.settings = settings, .dtype = (zenith_dtype)settings->run.dtype};
    zenith_status status = zenith_context_create(&machine, &session->context);
    if (status == ZENITH_OK) status = zenith_cancel_create(&session->cancel);
    if (status != ZENITH_OK) {
        cli_say("cannot start: %s", zenith_status_text(status));
        zenith_context_free(session->context);
        return CLI_MEMORY;
    }
    cli_interrupt_catch(session->cancel);
    cli_progress_start(&session->progress, verb, settings->input_count,
                       !settings->quiet && cli_terminal_columns(stderr) > 0);
    return CLI_DONE;
}

static void say_cropped(const cli_session *session)
{
    const zenith_source_info *crop = &session->crop;
    if (session->cropped == 0 || session->settings->quiet || session->settings->json) return;
    if (session->cropped == 1)
        cli_say(
            "the picture of %ux%u was cropped to %ux%u, multiples of %u; --fit pad keeps all of "
            "it",
            (unsigned)crop->turned_width, (unsigned)crop->turned_height, (unsigned)crop->crop_width,
            (unsigned)crop->crop_height, (unsigned)session->crop_multiple);
    else
        cli_say("%zu pictures were cropped to multiples of %u; --fit pad keeps all of them",
                session->cropped, (unsigned)session->crop_multiple);
}

static void say_summary(const cli_session *session)
{
    const cli_progress *progress = &session->progress;
    size_t all = session->settings->input_count;
    if (session->told) return;
    if (session->kept > 0 && !session->settings->quiet)
        cli_say("%zu output%s there already and kept (--no-overwrite)", session->kept,
                session->kept == 1 ? " was" : "s were");
    if (session->failed > 0 && all > 1 && !session->blocked)
        cli_say("%zu of %zu inputs failed, %zu done", session->failed, all, session->done);
    if (cli_interrupted() && all == 0) {
        cli_say("interrupted");
    } else if (cli_interrupted()) {
        cli_say("interrupted, %zu of %zu inputs done", session->done, all);
    } else if (session->failed == 0 && progress->bar && progress->total_megapixels > 0) {
        double seconds = cli_clock() - progress->started;
        const char *output = session->settings->output;
        bool named = output != NULL && strcmp(output, "-") != 0;
        cli_say("%zu file%s, %.1f %s in %.2f s%s%s", session->done, session->done == 1 ? "" : "s",
                progress->total_megapixels, progress->unit, seconds, named ? " -> " : "",
                named ? output : "");
    }
}

static int exit_code(const cli_session *session)
{
    if (cli_interrupted()) return CLI_INTERRUPTED;
    if (session->failed == 0) return CLI_DONE;
    if (session->failed == session->failed_by_model) return CLI_MODEL;
    if (session->failed == session->failed_by_memory) return CLI_MEMORY;
    return CLI_SOME_FAILED;
}

int cli_session_close(cli_session *session)
{
    cli_status_clear();
    say_summary(session);
    say_cropped(session);
    cli_interrupt_forget();
    while (session->models != NULL) {
        cli_open_model *first = session->models;
        session->models = first->next;
        zenith_model_free(first->model);
        free(first);
    }
    zenith_context_free(session->context);
    zenith_cancel_free(session->cancel);
    return exit_code(session);
}

bool cli_fail(cli_session *session, cli_failure *failure, zenith_status status, const char *text)
{
    if (text == NULL || *text == 0) text = zenith_context_error(session->context);
    if (*text == 0) text = zenith_status_text(status);
    failure->status = status;
    cli_say_options(text, failure->text, sizeof failure->text);
    return false;
}

bool cli_session_target(cli_session *session, const cli_outputs *outputs, const char *path,
                        uint32_t width, uint32_t height, zenith_target **out, cli_failure *failure)
{
    const zenith_target_params params = cli_target_params(session->settings, outputs->format);
    cli_outputs_make_folders(outputs, path);
    const zenith_status status = zenith_target_open(session->context, path, width, height, &params,
                                                    out);
    return status == ZENITH_OK || cli_fail(session, failure, status, NULL);
}

static bool has_parts(const cli_open_model *open, unsigned parts)
{
    return (open->info.parts & parts) == parts;
}

static bool is_the_one(const cli_open_model *open, const char *key, const char *weights)
{
    bool same = weights == NULL ? open->weights == NULL
                                : open->weights != NULL && strcmp(open->weights, weights) == 0;
    return same && strcmp(open->name, key) == 0;
}

bool cli_session_model(cli_session *session, const char *name, unsigned parts,
                       const cli_open_model **out, cli_failure *failure)
{
    return cli_session_model_at(session, name, session->settings->weights, parts, out, failure);
}

static bool is_model_name(const char *name)
{
    for (size_t i = 0; zenith_model_name(i) != NULL; i++)
        if (strcmp(zenith_model_name(i), name) == 0) return true;
    return false;
}

// The name of a model that this one may have been meant for; NULL: none is near.
static const char *nearest_model(const char *name)
{
    const char *names[128] = {NULL};
    for (size_t i = 0; i < 127 && zenith_model_name(i) != NULL; i++)
        names[i] = zenith_model_name(i);
    return cli_nearest_word(name, names);
}

bool cli_fail_model(cli_session *session, cli_failure *failure, zenith_status status,
                    const char *name, const char *weights)
{
    char advice[640];
    failure->model = true;
    cli_fail(session, failure, status, NULL);
    if (status == ZENITH_AMBIGUOUS && strstr(failure->text, "--model") == NULL) {
        size_t length = strlen(failure->text);
        snprintf(failure->text + length, sizeof failure->text - length, " (--model NAME)");
    }
    if (status != ZENITH_NOT_FOUND || name == NULL) return false;
    if (!is_model_name(name)) {
        const char *near = nearest_model(name);
        size_t length = strlen(failure->text);
        snprintf(failure->text + length, sizeof failure->text - length, "; %s%s%s",
                 near != NULL ? "did you mean " : "'zenith models' lists them",
                 near != NULL ? near : "", near != NULL ? "?" : "");
    } else if (weights == NULL) {
        cli_published_how(name, advice, sizeof advice);
        cli_fail_text(failure, status,
                      "the weights of '%s' were not found: %s; if you have them, name their folder "
                      "with --weights DIR or ZENITH_MODELS",
                      name, advice);
    }
    return false;
}

static bool check_dtype(const cli_session *session, const zenith_model_info *info,
                        cli_failure *failure)
{
    if (session->dtype != ZENITH_DTYPE_INT8 || info->has_int8) return true;
    failure->model = true;
    if (!info->can_int8)
        return cli_fail_text(failure, ZENITH_UNSUPPORTED, "%s has no int8: use --dtype bf16 or f32",
                             info->name);
    return cli_fail_text(failure, ZENITH_NOT_FOUND,
                         "there is no int8 calibration for these weights of %s: make one with "
                         "zenith calibrate",
                         info->name);
}

static void append_model(cli_session *session, cli_open_model *open)
{
    cli_open_model **end = &session->models;
    while (*end != NULL) end = &(*end)->next;
    *end = open;
}

bool cli_session_model_at(cli_session *session, const char *name, const char *weights,
                          unsigned parts, const cli_open_model **out, cli_failure *failure)
{
    const char *key = name != NULL ? name : "";
    for (const cli_open_model *open = session->models; open != NULL; open = open->next) {
        *out = open;
        if (is_the_one(open, key, weights) && has_parts(open, parts)) return true;
    }
    cli_open_model *open = calloc(1, sizeof *open);
    if (open == NULL) return cli_fail_memory(failure);
    zenith_model_params params = {
        .size = sizeof params, .name = name, .weights = weights, .parts = parts};
    zenith_status status = zenith_model_open(session->context, &params, &open->model);
    if (status != ZENITH_OK) {
        free(open);
        return cli_fail_model(session, failure, status, name, weights);
    }
    append_model(session, open);
    snprintf(open->name, sizeof open->name, "%s", key);
    open->weights = weights;
    open->info = (zenith_model_info){.size = sizeof open->info};
    zenith_model_get_info(open->model, &open->info);
    if (open->info.calibration_problem != NULL && !session->settings->quiet)
        cli_say("%s; int8 does without this calibration", open->info.calibration_problem);
    *out = open;
    return check_dtype(session, &open->info, failure);
}

bool cli_model_options_agree(const cli_settings *settings)
{
    if (settings->model != NULL || settings->weights != NULL) return true;
    cli_say("which model? Give --model NAME; 'zenith models' lists them");
    return false;
}

static int on_progress(void *cookie, double fraction)
{
    cli_progress_update(cookie, fraction);
    return cli_interrupted();
}

zenith_run_params cli_session_run_params(cli_session *session, zenith_run_facts *facts,
                                         uint64_t held)
{
    const cli_settings *settings = session->settings;
    uint64_t most = settings->run.max_memory;
    if (most != 0) most = most > held ? most - held : 1; // 0 would be no bound
    *facts = (zenith_run_facts){.size = sizeof *facts};
    return (zenith_run_params){.size = sizeof(zenith_run_params),
                               .dtype = session->dtype,
                               .bands = (zenith_bands)settings->run.bands.bands,
                               .band_rows = settings->run.bands.rows,
                               .max_memory = most,
                               .progress = on_progress,
                               .progress_cookie = &session->progress,
                               .cancel = session->cancel,
                               .facts = facts,
                               .spill = settings->run.spill};
}
