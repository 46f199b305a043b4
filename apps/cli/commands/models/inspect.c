// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith inspect PATH: what a file or folder is, as the library sees it.
#include "apps/cli/options/sentences.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/json_text.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/zenith.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct inspect_settings {
    cli_settings shared;
    bool graph;
} inspect_settings;

static const inspect_settings *own(const cli_settings *settings)
{
    return (const inspect_settings *)settings;
}

static void print_text(const char *text)
{
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY, &error);
    if (value == NULL) {
        cli_print_clean(stdout, text);
        fputc('\n', stdout);
        return;
    }
    cli_print_json_text(stdout, value);
    json_decref(value);
}

// Problems are sentences of the library's. A word of the program's is at most half as long again as
// the library's.
static void print_translated(const cli_settings *settings, const char *text)
{
    const size_t size = strlen(text) * 3 / 2 + 1;
    char *ours = malloc(size);
    if (ours != NULL) cli_say_options(text, ours, size);
    if (settings->json)
        printf("%s\n", ours != NULL ? ours : text);
    else
        print_text(ours != NULL ? ours : text);
    free(ours);
}

static int run(const cli_settings *settings)
{
    cli_session session;
    cli_failure failure = {0};
    char *text = NULL;
    int code = cli_session_open(&session, settings, "inspect");
    if (code != CLI_DONE) return code;
    zenith_status status = zenith_inspect(session.context, settings->inputs[0], settings->model,
                                          own(settings)->graph, &text);
    if (status != ZENITH_OK) {
        failure.model = status == ZENITH_AMBIGUOUS;
        cli_fail(&session, &failure, status, NULL);
        cli_session_failed(&session, settings->inputs[0], &failure);
    } else {
        print_translated(settings, text);
    }
    zenith_text_free(text);
    return cli_session_close(&session);
}

static const cli_option_group group = CLI_GROUP(
    "Options",
    CLI_OPTION(CLI_TEXT, cli_settings, model, "model", 'm', "NAME",
               "take the weights for those of this model; 'zenith models' lists the names"),
    CLI_FLAG_OPTION(inspect_settings, graph, "graph", 'g',
                    "for weights of a known model, also list its operators"));
static const cli_example examples[] = {
    {"zenith inspect taesd_decoder.safetensors", "which models it fits, and its tensors"},
    {"zenith inspect z_image_turbo-Q4_K.gguf", "how weights are stored, bits per weight"},
    {"zenith inspect photo.jpg", "size, orientation, colour profile"},
    {"zenith inspect weights/", "the models in a folder"},
    {"zenith inspect weights/ --model taesd --graph", "the operators of encoder and decoder"},
    {NULL, NULL}};

const cli_command cli_command_inspect = {
    .name = "inspect",
    .arguments = "PATH [OPTIONS]",
    .summary = "describe weights, latents or pictures",
    .description = "Describes a file or folder: weights (the models that fit, tensors, missing and "
                   "unexpected names), a folder with several models, latents, pictures.",
    .groups = CLI_GROUPS(&group, &cli_group_facts),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = 1,
    CLI_SETTINGS(inspect_settings),
    .run = run,
};
