// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See report.h.
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

json_t *cli_json_seed(uint64_t seed)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_string(text);
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

// The library says what to do by its own names; a bound in memory is the one that has two options.
static const char *advice(const cli_session *session, const cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    if (failure->status != ZENITH_LIMIT || settings->run.max_memory == 0) return NULL;
    if (settings->run.bands.bands != ZENITH_BANDS_AUTO)
        return "raise --max-memory, or use --bands auto";
    const bool helps = !settings->run.spill && strstr(failure->text, "spill file") != NULL;
    return helps ? "raise --max-memory, or allow a file by --spill DIR" : "raise --max-memory";
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
    if (failure->status == ZENITH_CANCELLED) return;
    say_failure(session, NULL, failure);
    count_failure(session, failure);
    session->blocked = true;
}

const char *cli_dtype_name(zenith_dtype dtype)
{
    static const char *const names[] = {"default", "f32", "bf16", "int8"};
    return names[dtype & 3];
}

static void print_json(const cli_result *result, double seconds)
{
    const zenith_run_facts *facts = result->facts;
    json_t *object = json_object();
    json_object_set_new(object, "input", cli_json_text(result->input));
    if (result->output != NULL)
        json_object_set_new(object, "output", cli_json_text(result->output));
    json_object_set_new(object, "width", json_integer(result->width));
    json_object_set_new(object, "height", json_integer(result->height));
    json_object_set_new(object, "model", json_string(result->model));
    json_object_set_new(object, "dtype", json_string(cli_dtype_name(facts->dtype)));
    json_object_set_new(object, "ms", json_real(facts->seconds * 1e3));
    json_object_set_new(object, "total_ms", json_real(seconds * 1e3));
    json_object_set_new(object, "arena_bytes", json_integer((json_int_t)facts->arena_bytes));
    if (facts->spill_bytes)
        json_object_set_new(object, "spill_bytes", json_integer((json_int_t)facts->spill_bytes));
    json_object_set_new(object, "weights_bytes", json_integer((json_int_t)facts->weights_bytes));
    json_object_set_new(object, "banded", json_boolean(facts->banded));
    json_object_set_new(object, "band_rows", json_integer(facts->band_rows));
    if (facts->measured > 0) json_object_set_new(object, "measured", json_integer(facts->measured));
    if (facts->again > 0)
        json_object_set_new(object, "overflowed", json_string(cli_dtype_name(facts->overflowed)));
    if (result->more != NULL) json_object_update(object, result->more);
    cli_json_print(object);
}

// Not a failure, and worth a line: the next picture of the kind is better begun in f32.
static void say_overflow(const cli_session *session, const cli_result *result)
{
    if (result->facts->again == 0 || session->settings->quiet || session->settings->json) return;
    cli_say("%s: %s overflowed; this picture was computed in f32",
            shown_name(result->input, "standard input"), cli_dtype_name(result->facts->overflowed));
}

void cli_session_report(cli_session *session, const cli_result *result)
{
    double seconds = cli_clock() - result->started;
    say_overflow(session, result);
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

void cli_session_kept(cli_session *session)
{
    session->kept++;
    cli_progress_file_end(&session->progress, true);
}

void cli_session_done(cli_session *session)
{
    session->done++;
    cli_progress_file_end(&session->progress, true);
}
