// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae classify IMAGE|CODE..: how probable each attribute of the model's classifier is.
#include "apps/cli/commands/diffae/session.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>

// Lines "0.983  Smiling", the most probable first.
struct line {
    float probability;
    uint32_t attribute;
};

static int compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->probability != y->probability) return x->probability < y->probability ? 1 : -1;
    return x->attribute < y->attribute ? -1 : 1;
}

static void print_text(const cli_diffae *d, const char *input, struct line *lines)
{
    const uint32_t count = d->info.attributes;
    cli_status_clear();
    qsort(lines, count, sizeof *lines, compare);
    if (d->own.shared.input_count > 1) {
        cli_print_clean(stdout, input);
        fputs("\n", stdout);
    }
    for (uint32_t i = 0; i < count; i++) {
        char number[16];
        printf("%.3f  ", (double)lines[i].probability);
        cli_print_clean(stdout, cli_diffae_attribute_name(d, lines[i].attribute, number));
        fputs("\n", stdout);
    }
}

static void print_json(const cli_diffae *d, const char *input, const struct line *lines)
{
    json_t *attributes = json_object(), *object = json_object();
    for (uint32_t i = 0; i < d->info.attributes; i++) {
        char number[16];
        json_object_set_new(attributes, cli_diffae_attribute_name(d, i, number),
                            json_real((double)lines[i].probability));
    }
    json_object_set_new(object, "input", cli_json_text(input));
    json_object_set_new(object, "attributes", attributes);
    cli_json_print(object);
}

static bool classify(cli_diffae *d, const char *input, float *probabilities, struct line *lines)
{
    cli_code code;
    bool done = cli_code_read(d, input, false, &code);
    if (done) {
        const zenith_diffae_params params = cli_diffae_params(d, 0, 0);
        done = cli_diffae_done(d,
                               zenith_diffae_classify(d->session.context, d->model->model,
                                                      &code.code, 1, probabilities, &params),
                               NULL);
    }
    cli_code_free(&code);
    for (uint32_t i = 0; done && i < d->info.attributes; i++)
        lines[i] = (struct line){probabilities[i], i};
    if (done && d->own.shared.json) print_json(d, input, lines);
    if (done && !d->own.shared.json) print_text(d, input, lines);
    return done;
}

static void classify_all(cli_diffae *d)
{
    float *probabilities = calloc(d->info.attributes, sizeof *probabilities);
    struct line *lines = calloc(d->info.attributes, sizeof *lines);
    d->line.all = (uint32_t)d->own.shared.input_count;
    if (probabilities == NULL || lines == NULL) {
        cli_fail_text(&d->failure, ZENITH_OUT_OF_MEMORY, "no memory for the attributes");
        cli_session_model_failed(&d->session, &d->failure);
    }
    for (size_t i = 0; d->failure.status == ZENITH_OK && i < d->own.shared.input_count; i++) {
        const char *input = d->own.shared.inputs[i];
        if (cli_interrupted()) break;
        d->line.number = (uint32_t)i;
        cli_progress_file(&d->session.progress, i, input);
        if (classify(d, input, probabilities, lines))
            cli_session_done(&d->session);
        else
            cli_diffae_failed(d, input);
    }
    free(probabilities);
    free(lines);
}

static int run(const cli_settings *settings)
{
    cli_diffae d;
    bool codes = true;
    for (size_t i = 0; i < settings->input_count; i++)
        codes = codes && cli_code_is(settings->inputs[i]);
    int code = cli_diffae_open(&d, settings, "classify",
                               (codes ? 0 : CLI_ENCODER) | CLI_CLASSIFIER);
    if (code != CLI_DONE) return code;
    classify_all(&d);
    return cli_diffae_close(&d);
}

static const cli_example examples[] = {
    {"zenith diffae classify face.jpg | head -5", "the most probable attributes"},
    {"zenith diffae classify faces/ --json", "one JSON object for each picture"},
    {NULL, NULL}};

const cli_command cli_diffae_classify = {
    .name = "diffae classify",
    .arguments = "IMAGE|CODE.. [OPTIONS]",
    .summary = "say which attributes pictures have",
    .description =
        "Prints how probable each attribute of the model's classifier is, from 0 to 1, the most "
        "probable first. Inputs are pictures, or codes of zenith diffae encode.",
    .groups = CLI_GROUPS(&cli_group_inputs, &cli_diffae_group_model, &cli_diffae_group_codes,
                         &cli_diffae_group_source, &cli_diffae_group_run, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_PICTURE CLI_ENDINGS_CODE,
    CLI_SETTINGS(cli_diffae_settings),
    .run = run,
};
