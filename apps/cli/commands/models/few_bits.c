// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See few_bits.h. How far it is comes as a bar on a terminal, elsewhere as a line now and then.
#include "apps/cli/commands/models/few_bits.h"

#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

static const double line_seconds = 10;

struct watching {
    cli_session *session;
    bool begun;
    uint32_t index;
    char name[256]; // of the model in work
    double shown;
};

// --- how far ------------------------------------------------------------------------------------

static void begin_model(struct watching *w, const zenith_convert_report *report)
{
    cli_progress *progress = &w->session->progress;
    if (w->begun) cli_progress_file_end(progress, true);
    w->begun = true;
    w->index = report->index;
    w->shown = cli_clock();
    snprintf(w->name, sizeof w->name, "%s",
             *report->part ? report->part : w->session->settings->inputs[0]);
    progress->unit = "MB";
    progress->count = report->count;
    cli_progress_file(progress, report->index, w->name);
    cli_progress_call(progress, (double)report->bytes, 0, 1);
}

static int on_step(void *cookie, const zenith_convert_report *report)
{
    struct watching *w = cookie;
    const cli_settings *settings = w->session->settings;
    const double fraction = report->bytes ? (double)report->done / (double)report->bytes : 1;
    if (!w->begun || report->index != w->index) begin_model(w, report);
    cli_progress_update(&w->session->progress, fraction);
    if (w->session->progress.bar || settings->quiet || settings->json) return 0;
    if (cli_clock() - w->shown < line_seconds) return 0;
    w->shown = cli_clock();
    cli_say("%s: %d %%, %.0f of %.0f MB", w->name, (int)(100 * fraction),
            (double)report->done * 1e-6, (double)report->bytes * 1e-6);
    return 0;
}

// --- what was written ---------------------------------------------------------------------------

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void print_row(const char *name, const json_t *of)
{
    char bits[16] = "-", error[16] = "-";
    if (number(of, "bits") > 0) snprintf(bits, sizeof bits, "%d", (int)number(of, "bits"));
    if (json_object_get(of, "error"))
        snprintf(error, sizeof error, "%.2f %%", 100 * number(of, "error"));
    printf("  %-30s %5s %12.2f %12.2f %9.3f %9s\n", name, bits, number(of, "bytes_before") * 1e-6,
           number(of, "bytes_after") * 1e-6, number(of, "bits_per_weight"), error);
}

static void print_part(const json_t *part)
{
    size_t i;
    const json_t *class;
    const char *name = json_string_value(json_object_get(part, "part"));
    const char *model = json_string_value(json_object_get(part, "model"));
    if (*name)
        printf("%s (%s)\n", name, model);
    else
        printf("%s\n", model);
    printf("  %-30s %5s %12s %12s %9s %9s\n", "weights", "bits", "MB before", "MB after",
           "bits each", "error");
    json_array_foreach(json_object_get(part, "classes"), i, class)
        print_row(json_string_value(json_object_get(class, "class")), class);
    print_row("all", part);
}

static void print_answer(const cli_settings *settings, const char *text)
{
    size_t i;
    const json_t *part;
    json_t *answer = json_loads(text, 0, NULL);
    if (settings->json) {
        json_object_set_new(answer, "input", cli_json_text(settings->inputs[0]));
        json_object_set_new(answer, "output", cli_json_text(settings->output));
        cli_json_print(answer);
        return;
    }
    if (!settings->quiet) {
        json_array_foreach(json_object_get(answer, "parts"), i, part) print_part(part);
        cli_say("%s -> %s, %.1f MB before, %.1f MB after", settings->inputs[0], settings->output,
                number(answer, "bytes_before") * 1e-6, number(answer, "bytes_after") * 1e-6);
    }
    json_decref(answer);
}

bool cli_few_bits(cli_session *session, zenith_recipe recipe, cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    struct watching watching = {.session = session};
    char *answer = NULL;
    const zenith_convert_params params = {.size = sizeof params,
                                          .source = settings->inputs[0],
                                          .output = settings->output,
                                          .recipe = recipe,
                                          .unrotated = cli_convert_of(settings)->no_rotate,
                                          .report = on_step,
                                          .report_cookie = &watching,
                                          .cancel = session->cancel};
    const zenith_status status = zenith_convert(session->context, &params, &answer);
    if (watching.begun) cli_progress_file_end(&session->progress, status == ZENITH_OK);
    session->progress.count = settings->input_count;
    if (status != ZENITH_OK) {
        failure->model = status == ZENITH_BAD_FILE || status == ZENITH_UNSUPPORTED ||
                         status == ZENITH_NOT_FOUND || status == ZENITH_AMBIGUOUS;
        return cli_fail(session, failure, status, NULL);
    }
    print_answer(settings, answer);
    zenith_text_free(answer);
    return true;
}
