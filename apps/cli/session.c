// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See session.h.
#include "apps/cli/session.h"
#include "apps/cli/terminal.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// --- signals
// ------------------------------------------------------------------------------------------

// The first signal asks the run to stop, so that unfinished outputs are removed; a second one kills
// as usual (SA_RESETHAND). zenith_cancel_request only stores an atomic flag, which a handler may
// do.
static volatile sig_atomic_t interrupted;
static zenith_cancel *_Atomic cancel_on_signal;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
    zenith_cancel *cancel = atomic_load(&cancel_on_signal);
    if (cancel != NULL) zenith_cancel_request(cancel);
}

// A signal that is ignored stays so: nohup and background jobs of a script ask for that.
static void catch_signal(int number)
{
    struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

static void catch_signals(zenith_cancel *cancel)
{
    atomic_store(&cancel_on_signal, cancel);
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

// --- open and close
// -------------------------------------------------------------------------------------

static void print_log(void *cookie, int level, const char *message)
{
    static const char *const names[] = {"debug", "info", "warning"};
    (void)cookie;
    cli_say("%s: %s", names[level < 0 ? 0 : level > 2 ? 2 : level], message);
}

int cli_session_open(cli_session *session, const cli_settings *settings, const char *verb)
{
    zenith_context_params machine = {.size = sizeof machine, .threads = settings->threads};
    if (settings->log) machine.log = print_log;
    *session = (cli_session){.settings = settings};
    zenith_status status = zenith_context_create(&machine, &session->context);
    if (status == ZENITH_OK) status = zenith_cancel_create(&session->cancel);
    if (status != ZENITH_OK) {
        cli_say("cannot start: %s", zenith_status_text(status));
        zenith_context_free(session->context);
        return CLI_MEMORY;
    }
    catch_signals(session->cancel);
    cli_progress_start(&session->progress, verb, settings->input_count,
                       !settings->quiet && cli_terminal_columns(stderr) > 0);
    return CLI_DONE;
}

static void say_summary(const cli_session *session)
{
    const cli_progress *progress = &session->progress;
    size_t all = session->settings->input_count;
    if (session->failed > 0 && all > 1 && !session->blocked)
        cli_say("%zu of %zu inputs failed, %zu done", session->failed, all, session->done);
    if (cli_interrupted()) {
        cli_say("interrupted, %zu of %zu inputs done", session->done, all);
    } else if (session->failed == 0 && progress->bar && progress->total_megapixels > 0) {
        double seconds = cli_clock() - progress->started;
        cli_say("%zu file%s, %.1f MP in %.2f s", session->done, session->done == 1 ? "" : "s",
                progress->total_megapixels, seconds);
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
    atomic_store(&cancel_on_signal, NULL);
    for (size_t i = 0; i < session->model_count; i++) zenith_model_free(session->models[i].model);
    zenith_context_free(session->context);
    zenith_cancel_free(session->cancel);
    return exit_code(session);
}

// --- failures
// -------------------------------------------------------------------------------------------

bool cli_fail(cli_session *session, cli_failure *failure, zenith_status status, const char *text)
{
    if (text == NULL || *text == 0) text = zenith_context_error(session->context);
    if (*text == 0) text = zenith_status_text(status);
    failure->status = status;
    snprintf(failure->text, sizeof failure->text, "%s", text);
    return false;
}

bool cli_fail_text(cli_failure *failure, zenith_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(failure->text, sizeof failure->text, format, list);
    va_end(list);
    failure->status = status;
    return false;
}

// The library says what to do by its own names; a bound in memory is the one that has two options.
static const char *advice(const cli_session *session, const cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    if (failure->status != ZENITH_LIMIT || settings->max_memory == 0) return NULL;
    return settings->bands.bands == ZENITH_BANDS_AUTO ? "raise --max-memory"
                                                      : "raise --max-memory, or use --bands auto";
}

// What "-" stands for.
static const char *shown_name(const char *path, const char *standard)
{
    return strcmp(path, "-") == 0 ? standard : path;
}

static void say_failure(const cli_session *session, const char *what, const cli_failure *failure)
{
    // The library's sentence often names the file already.
    bool named = what == NULL || strstr(failure->text, what) != NULL;
    cli_say("%s%s%s", named ? "" : what, named ? "" : ": ", failure->text);
    const char *next = advice(session, failure);
    if (next != NULL) cli_say("%s", next);
}

static void count_failure(cli_session *session, const cli_failure *failure)
{
    session->failed++;
    if (failure->status == ZENITH_LIMIT || failure->status == ZENITH_OUT_OF_MEMORY)
        session->failed_by_memory++;
    else if (failure->model)
        session->failed_by_model++;
}

void cli_session_failed(cli_session *session, const char *input, const cli_failure *failure)
{
    cli_progress_file_end(&session->progress, false);
    if (failure->status == ZENITH_CANCELLED) return;
    say_failure(session, shown_name(input, "standard input"), failure);
    count_failure(session, failure);
    if (!session->settings->json) return;
    json_t *object = json_object();
    json_object_set_new(object, "input", cli_json_text(input));
    json_object_set_new(object, "error", cli_json_text(failure->text));
    json_object_set_new(object, "status", json_string(zenith_status_text(failure->status)));
    cli_json_print(object);
}

void cli_session_model_failed(cli_session *session, const cli_failure *failure)
{
    say_failure(session, NULL, failure);
    count_failure(session, failure);
    session->blocked = true;
}

// --- models and parameters
// --------------------------------------------------------------------------------

static bool has_parts(const cli_open_model *open, unsigned parts)
{
    return (open->info.parts & parts) == parts;
}

bool cli_session_model(cli_session *session, const char *name, unsigned parts,
                       const cli_open_model **out, cli_failure *failure)
{
    const size_t most = sizeof session->models / sizeof session->models[0];
    const char *key = name != NULL ? name : "";
    for (size_t i = 0; i < session->model_count; i++) {
        *out = &session->models[i];
        if (strcmp((*out)->name, key) == 0 && has_parts(*out, parts)) return true;
    }
    failure->model = true;
    if (session->model_count == most)
        return cli_fail_text(failure, ZENITH_LIMIT, "more than %zu models at once", most);
    cli_open_model *open = &session->models[session->model_count];
    zenith_model_params params = {
        .size = sizeof params, .name = name, .weights = session->settings->weights, .parts = parts};
    zenith_status status = zenith_model_open(session->context, &params, &open->model);
    if (status != ZENITH_OK) return cli_fail(session, failure, status, NULL);
    session->model_count++;
    snprintf(open->name, sizeof open->name, "%s", key);
    open->info = (zenith_model_info){.size = sizeof open->info};
    zenith_model_get_info(open->model, &open->info);
    if (session->settings->dtype == ZENITH_DTYPE_INT8 && !open->info.has_int8)
        return cli_fail_text(failure, ZENITH_NOT_FOUND,
                             "there is no int8 calibration for these weights of %s: make one with "
                             "zenith calibrate",
                             open->info.name);
    failure->model = false;
    *out = open;
    return true;
}

bool cli_model_options_agree(const cli_settings *settings)
{
    if (settings->model != NULL || settings->weights != NULL) return true;
    cli_say("which model? Give --model NAME; 'zenith help' lists them");
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
    uint64_t most = settings->max_memory;
    if (most != 0) most = most > held ? most - held : 1; // 0 would be no bound
    *facts = (zenith_run_facts){.size = sizeof *facts};
    return (zenith_run_params){.size = sizeof(zenith_run_params),
                               .dtype = (zenith_dtype)settings->dtype,
                               .bands = (zenith_bands)settings->bands.bands,
                               .band_rows = settings->bands.rows,
                               .max_memory = most,
                               .progress = on_progress,
                               .progress_cookie = &session->progress,
                               .cancel = session->cancel,
                               .facts = facts};
}

bool cli_source_options_agree(const cli_settings *settings)
{
    bool sized = settings->size.width != 0 || settings->size.height != 0;
    if (sized && settings->fit != CLI_UNSET && settings->fit != ZENITH_FIT_RESIZE) {
        cli_say("--size scales the picture: it goes with --fit resize only");
        return false;
    }
    if (!sized && settings->fit == ZENITH_FIT_RESIZE) {
        cli_say("--fit resize needs a size: --size WxH");
        return false;
    }
    return true;
}

zenith_source_params cli_source_params(const cli_settings *settings, uint32_t factor)
{
    bool sized = settings->size.width != 0 || settings->size.height != 0;
    int fit = sized                        ? ZENITH_FIT_RESIZE
              : settings->fit == CLI_UNSET ? ZENITH_FIT_CROP
                                           : settings->fit;
    zenith_source_params params = {.size = sizeof params,
                                   .fit = (zenith_fit)fit,
                                   .multiple = factor,
                                   .width = settings->size.width,
                                   .height = settings->size.height,
                                   .filter = (zenith_filter)settings->filter,
                                   .first_frame = settings->first_frame,
                                   .max_memory = settings->max_memory};
    memcpy(params.background, settings->background, sizeof params.background);
    return params;
}

uint64_t cli_source_held(const zenith_source_info *info)
{
    if (info->streamed) return 0;
    return 3ull * info->stored_width * info->stored_height;
}

// --- results
// --------------------------------------------------------------------------------------------

json_t *cli_json_text(const char *text)
{
    json_t *string = json_string(text);
    if (string != NULL) return string;
    char *copy = strdup(text);
    if (copy == NULL) return json_null();
    for (char *p = copy; *p != 0; p++)
        if ((unsigned char)*p >= 0x80) *p = '?';
    string = json_string(copy);
    free(copy);
    return string;
}

void cli_json_print(json_t *object)
{
    cli_status_clear();
    if (object == NULL || json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0)
        cli_say("cannot print the facts: out of memory");
    fputc('\n', stdout);
    fflush(stdout); // whoever reads the lines wants each when it is done
    json_decref(object);
}

static void print_json(const cli_result *result, double seconds)
{
    static const char *const dtypes[] = {"default", "f32", "bf16", "int8"};
    const zenith_run_facts *facts = result->facts;
    json_t *object = json_object();
    json_object_set_new(object, "input", cli_json_text(result->input));
    if (result->output != NULL)
        json_object_set_new(object, "output", cli_json_text(result->output));
    json_object_set_new(object, "width", json_integer(result->width));
    json_object_set_new(object, "height", json_integer(result->height));
    json_object_set_new(object, "model", json_string(result->model));
    json_object_set_new(object, "dtype", json_string(dtypes[facts->dtype & 3]));
    json_object_set_new(object, "ms", json_real(facts->seconds * 1e3));
    json_object_set_new(object, "total_ms", json_real(seconds * 1e3));
    json_object_set_new(object, "arena_bytes", json_integer((json_int_t)facts->arena_bytes));
    json_object_set_new(object, "weights_bytes", json_integer((json_int_t)facts->weights_bytes));
    json_object_set_new(object, "banded", json_boolean(facts->banded));
    json_object_set_new(object, "band_rows", json_integer(facts->band_rows));
    if (result->more != NULL) json_object_update(object, result->more);
    cli_json_print(object);
}

void cli_session_report(cli_session *session, const cli_result *result)
{
    double seconds = cli_clock() - result->started;
    if (session->settings->json) {
        print_json(result, seconds);
    } else if (!session->settings->quiet && !session->progress.bar && result->output != NULL) {
        double megapixels = (double)result->width * result->height * 1e-6;
        cli_say("%s -> %s, %ux%u, %.3f s, %.2f MP/s", shown_name(result->input, "standard input"),
                shown_name(result->output, "standard output"), (unsigned)result->width,
                (unsigned)result->height, seconds, megapixels / seconds);
    }
    json_decref(result->more);
}

void cli_session_done(cli_session *session)
{
    session->done++;
    cli_progress_file_end(&session->progress, true);
}
