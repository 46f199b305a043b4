// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See session.h.
#include "apps/cli/session.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/terminal.h"

#include <stdarg.h>
#include <string.h>

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
    cli_interrupt_catch(session->cancel);
    cli_progress_start(&session->progress, verb, settings->input_count,
                       !settings->quiet && cli_terminal_columns(stderr) > 0);
    return CLI_DONE;
}

static void say_summary(const cli_session *session)
{
    const cli_progress *progress = &session->progress;
    size_t all = session->settings->input_count;
    if (session->told) return;
    if (session->failed > 0 && all > 1 && !session->blocked)
        cli_say("%zu of %zu inputs failed, %zu done", session->failed, all, session->done);
    if (cli_interrupted() && all == 0) {
        cli_say("interrupted");
    } else if (cli_interrupted()) {
        cli_say("interrupted, %zu of %zu inputs done", session->done, all);
    } else if (session->failed == 0 && progress->bar && progress->total_megapixels > 0) {
        double seconds = cli_clock() - progress->started;
        cli_say("%zu file%s, %.1f %s in %.2f s", session->done, session->done == 1 ? "" : "s",
                progress->total_megapixels, progress->unit, seconds);
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
    cli_interrupt_forget();
    for (size_t i = 0; i < session->model_count; i++) zenith_model_free(session->models[i].model);
    zenith_context_free(session->context);
    zenith_cancel_free(session->cancel);
    return exit_code(session);
}

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

bool cli_session_model_at(cli_session *session, const char *name, const char *weights,
                          unsigned parts, const cli_open_model **out, cli_failure *failure)
{
    const size_t most = sizeof session->models / sizeof session->models[0];
    const char *key = name != NULL ? name : "";
    for (size_t i = 0; i < session->model_count; i++) {
        *out = &session->models[i];
        if (is_the_one(*out, key, weights) && has_parts(*out, parts)) return true;
    }
    failure->model = true;
    if (session->model_count == most)
        return cli_fail_text(failure, ZENITH_LIMIT, "more than %zu models at once", most);
    cli_open_model *open = &session->models[session->model_count];
    zenith_model_params params = {
        .size = sizeof params, .name = name, .weights = weights, .parts = parts};
    zenith_status status = zenith_model_open(session->context, &params, &open->model);
    if (status != ZENITH_OK) return cli_fail(session, failure, status, NULL);
    session->model_count++;
    snprintf(open->name, sizeof open->name, "%s", key);
    open->weights = weights;
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
