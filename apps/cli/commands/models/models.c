// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith models: the models this version knows, and what of each is found where on this machine.
#include "apps/cli/session/published.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/generate.h"
#include "zenith/zenith.h"

#include <stdlib.h>
#include <string.h>

typedef struct models_settings {
    cli_settings shared;
    bool all;
} models_settings;

static const models_settings *own(const cli_settings *settings)
{
    return (const models_settings *)settings;
}

// The folder of a file, as ls would be given it.
static void folder_of(const char *path, char *dst, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(dst, size, "%.*s", slash == NULL ? 1 : (int)(slash - path),
             slash == NULL ? "." : path);
}

static json_t *types_json(const zenith_model_info *info)
{
    json_t *types = json_pack("[s, s]", "f32", "bf16");
    if (info->has_int8) json_array_append_new(types, json_string("int8"));
    return types;
}

static json_t *found_json(const zenith_model *model, const zenith_model_info *info)
{
    char folder[4096];
    folder_of(info->weights_path, folder, sizeof folder);
    json_t *object = json_object();
    json_object_set_new(object, "found", json_true());
    json_object_set_new(object, "folder", cli_json_text(folder));
    json_object_set_new(object, "encoder", json_boolean(info->parts & ZENITH_ENCODER));
    json_object_set_new(object, "decoder", json_boolean(info->parts & ZENITH_DECODER));
    json_object_set_new(object, "types", types_json(info));
    json_object_set_new(object, "int8_possible", json_boolean(info->can_int8));
    json_object_set_new(object, "latent_channels", json_integer(info->latent_channels));
    json_object_set_new(object, "factor", json_integer(info->factor));
    json_object_set_new(object, "parameters", json_integer((json_int_t)info->parameters));
    json_object_set_new(object, "weights_sha256", json_string(zenith_model_weights_sha256(model)));
    return object;
}

// One model as an object: what is found of it, or why it cannot be used.
static json_t *model_json(cli_session *session, const char *name)
{
    zenith_model *model = NULL;
    zenith_model_info info = {.size = sizeof info};
    zenith_model_params params = {
        .size = sizeof params, .name = name, .weights = session->settings->weights};
    zenith_status status = zenith_model_open(session->context, &params, &model);
    if (status == ZENITH_OK) {
        zenith_model_get_info(model, &info);
        json_t *object = found_json(model, &info);
        zenith_model_free(model);
        return object;
    }
    json_t *object = json_pack("{s:b}", "found", 0);
    cli_failure failure = {0};
    cli_fail(session, &failure, status, NULL);
    // A folder with the weights of another model has none of this one.
    if (status != ZENITH_NOT_FOUND && status != ZENITH_INVALID_ARGUMENT)
        json_object_set_new(object, "problem", cli_json_text(failure.text));
    return object;
}

// Likewise a pipeline, which is a folder.
static json_t *pipeline_json(cli_session *session, const char *name)
{
    char folder[4096];
    const char *weights = session->settings->weights;
    snprintf(folder, sizeof folder, "%s%s%s", weights != NULL ? weights : "",
             weights != NULL ? "/" : "", name);
    const zenith_generator_params params = {.size = sizeof params, .folder = folder};
    zenith_generator *generator = NULL;
    if (zenith_generator_open(session->context, &params, &generator) != ZENITH_OK)
        return json_pack("{s:b}", "found", 0);
    zenith_generator_info info = {.size = sizeof info};
    zenith_generator_get_info(generator, &info);
    if (info.autoencoder != NULL) folder_of(info.autoencoder, folder, sizeof folder);
    json_t *object = json_pack("{s:b, s:o, s:[s, s, s], s:I}", "found", 1, "folder",
                               cli_json_text(folder), "types", "f32", "bf16", "int8", "parameters",
                               (json_int_t)info.parameters);
    zenith_generator_free(generator);
    return object;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static bool flag_of(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

// What is missing, and how to get it.
static void print_missing(const json_t *model)
{
    if (*text_of(model, "problem") != 0) {
        fputs("cannot be used: ", stdout);
        cli_print_clean(stdout, text_of(model, "problem"));
        fputc('\n', stdout);
    } else {
        char how[640];
        cli_published_how(text_of(model, "name"), how, sizeof how);
        int used = printf("weights not found:") + 4;
        cli_print_wrapped(stdout, how, used, 4, 80);
    }
}

// A network of research without weights here: only its name is listed.
static bool is_name_alone(const json_t *model)
{
    return !flag_of(model, "found") && *text_of(model, "problem") == 0 &&
           !cli_model_is_product(text_of(model, "name"));
}

static void print_model(const json_t *model)
{
    printf("%s\n    ", text_of(model, "name"));
    cli_print_clean(stdout, text_of(model, "description"));
    fputs("\n    ", stdout);
    if (!flag_of(model, "found")) {
        print_missing(model);
        return;
    }
    const bool latents = json_integer_value(json_object_get(model, "latent_channels")) > 0;
    bool encoder = latents && flag_of(model, "encoder"), decoder = flag_of(model, "decoder");
    bool int8 = json_array_size(json_object_get(model, "types")) > 2;
    printf("%s in ", encoder && decoder ? "encoder and decoder"
                     : encoder          ? "encoder"
                     : decoder          ? "decoder"
                                        : "weights");
    cli_print_clean(stdout, text_of(model, "folder"));
    printf("\n    f32, bf16%s\n", int8 ? ", int8"
                                  : flag_of(model, "int8_possible")
                                      ? "; int8 after 'zenith calibrate'"
                                      : "");
}

// In lines that fit a terminal.
static void print_names(const json_t *models)
{
    enum { WIDTH = 80, INDENT = 4 };
    size_t i, column = 0;
    const json_t *model;
    json_array_foreach(models, i, model)
    {
        const char *name = text_of(model, "name");
        if (!is_name_alone(model)) continue;
        if (column == 0) puts("research models, without weights here ('zenith train' makes them)");
        if (column == 0 || column + strlen(name) + 2 > WIDTH)
            column = (size_t)printf("%s%*s", column ? ",\n" : "", INDENT, "") - (column ? 2 : 0);
        else
            column += (size_t)printf(", ");
        column += (size_t)printf("%s", name);
    }
    if (column > 0) putchar('\n');
}

// Whether it is found. It is printed, unless JSON is asked for, and added to models.
static bool list_model(cli_session *session, const char *name, const char *description,
                       json_t *model, json_t *models)
{
    const cli_settings *settings = session->settings;
    const bool product = cli_model_is_product(name);
    json_object_set_new(model, "name", json_string(name));
    json_object_set_new(model, "description", json_string(description));
    json_object_set_new(model, "research", json_boolean(!product));
    const bool found = flag_of(model, "found");
    const bool shown = product || found || own(settings)->all;
    if (!settings->json && shown && !is_name_alone(model)) print_model(model);
    json_array_append_new(models, model);
    return found;
}

static int run(const cli_settings *settings)
{
    cli_session session;
    const char *name;
    size_t found = 0;
    int code = cli_session_open(&session, settings, "models");
    if (code != CLI_DONE) return code;
    json_t *models = json_array();
    for (size_t i = 0; (name = zenith_model_name(i)) != NULL; i++)
        found += list_model(&session, name, zenith_model_description(i), model_json(&session, name),
                            models);
    for (const cli_shipped *it = cli_shipped_diffae; it->name != NULL; it++)
        found += list_model(&session, it->name, it->description, model_json(&session, it->name),
                            models);
    for (const cli_shipped *it = cli_shipped_pipelines; it->name != NULL; it++)
        found += list_model(&session, it->name, it->description, pipeline_json(&session, it->name),
                            models);
    if (settings->json)
        cli_json_print(json_pack("{s:O}", "models", models));
    else if (own(settings)->all)
        print_names(models);
    else
        puts("\n'zenith models --all' also lists the research models.");
    if (!settings->json && found == 0 && settings->weights == NULL)
        puts("\nWeights are looked for in $ZENITH_MODELS, ./models, ~/.local/share/zenith and the "
             "install\nprefix's share/zenith/models; --weights PATH looks elsewhere.");
    json_decref(models);
    return cli_session_close(&session);
}

static const cli_option_group group = CLI_GROUP(
    "Models",
    CLI_OPTION(
        CLI_TEXT, cli_settings, weights, "weights", 'w', "DIR",
        "look in this folder; default: where every command looks (see 'zenith help encode')"),
    CLI_FLAG_OPTION(models_settings, all, "all", 'a',
                    "also list the research models, for weights that you train"));
static const cli_example examples[] = {
    {"zenith models", "the models to use, and where their weights are"},
    {"zenith models --all", "the research models too"},
    {"zenith models --weights weights --json", "what is in a folder, for scripts"},
    {NULL, NULL}};

const cli_command cli_command_models = {
    .name = "models",
    .arguments = "[OPTIONS]",
    .summary = "list the models, and the weights that are found here",
    .description = "Lists the models. For each it says which weights are found on this machine "
                   "(encoder, decoder, in which folder) and which types it can be computed in. "
                   "int8 needs a calibration for the weights that were found.",
    .groups = CLI_GROUPS(&group, &cli_group_facts),
    .examples = examples,
    CLI_SETTINGS(models_settings),
    .run = run,
};
