// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith eval --model NAME [--against NAME] --images DIR: the judge of picture quality. Each
// picture is held in memory with what each model makes of it; figures are printed at the end, since
// their mean is what counts. docs/EVALUATION.md has the protocol.
#include "apps/cli/commands/lab/quality_report.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/report.h"
#include "apps/cli/session/source_options.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/train.h"
#include "zenith/zenith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct eval_settings {
    cli_settings shared;
    const char *against, *against_weights, *squeezenet;
} eval_settings;

static const eval_settings *own(const cli_settings *settings)
{
    return (const eval_settings *)settings;
}

enum { MOST_MODELS = 2 };

struct candidate {
    const cli_open_model *model;
    const cli_open_model *encoder, *decoder; // its own, or for what it lacks the other candidate's
    char label[80];
    char *folder; // of its pictures; NULL: they are not kept
    cli_outputs outputs;
    cli_quality_rows rows;
};

struct evaluation {
    cli_session session;
    zenith_judge *judge;
    struct candidate candidates[MOST_MODELS];
    cli_settings own; // with each candidate's folder as the output
    size_t count;
    zenith_dtype dtype;
};

// --- models -------------------------------------------------------------------------------------

static bool open_models(struct evaluation *e, const cli_settings *settings, cli_failure *failure)
{
    const eval_settings *o = own(settings);
    const char *other = o->against_weights;
    bool same = o->against != NULL && settings->model != NULL &&
                strcmp(o->against, settings->model) == 0;
    // The same model again is its published weights, unless it is said where others are.
    if (other == NULL && !same && cli_is_folder(settings->weights)) other = settings->weights;
    if (!cli_session_model(&e->session, settings->model, 0, &e->candidates[0].model, failure))
        return false;
    e->count = 1;
    if (o->against == NULL) return true;
    e->count = 2;
    if (cli_session_model_at(&e->session, o->against, other, 0, &e->candidates[1].model, failure))
        return true;
    if (same && other == NULL && failure->status == ZENITH_NOT_FOUND)
        cli_fail_text(failure, ZENITH_NOT_FOUND,
                      "--against %s is the same model again: say where its other weights are, with "
                      "--against-weights PATH",
                      o->against);
    return false;
}

static const cli_open_model *with_part(const struct evaluation *e, size_t index, unsigned part)
{
    const cli_open_model *own = e->candidates[index].model;
    const cli_open_model *other = e->candidates[e->count - 1 - index].model;
    if (own->info.parts & part) return own;
    return other->info.parts & part ? other : NULL;
}

// A decoder without an encoder takes the other model's latents; an encoder without a decoder has
// the other model's pictures.
static bool choose_parts(struct evaluation *e, cli_failure *failure)
{
    for (size_t i = 0; i < e->count; i++) {
        struct candidate *c = &e->candidates[i];
        c->encoder = with_part(e, i, ZENITH_ENCODER);
        c->decoder = with_part(e, i, ZENITH_DECODER);
        if (c->encoder != NULL && c->decoder != NULL) continue;
        failure->model = true;
        return cli_fail_text(failure, ZENITH_NOT_FOUND,
                             "%s has no %s here: give --against a model that has one for the "
                             "same latents, such as the one it was trained from",
                             c->model->info.name, c->encoder == NULL ? "encoder" : "decoder");
    }
    return true;
}

static void name_candidates(struct evaluation *e)
{
    for (size_t i = 0; i < e->count; i++) {
        struct candidate *c = &e->candidates[i];
        const char *name = c->model->info.name;
        bool again = i > 0 && strcmp(name, e->candidates[0].label) == 0;
        snprintf(c->label, sizeof c->label, "%s%s", name, again ? "-against" : "");
    }
}

static bool open_judge(struct evaluation *e, const cli_settings *settings, cli_failure *failure)
{
    zenith_judge_params params = {.size = sizeof params,
                                  .squeezenet = own(settings)->squeezenet,
                                  .weights = settings->weights};
    zenith_status status = zenith_judge_open(e->session.context, &params, &e->judge);
    if (status != ZENITH_OK) return cli_fail(&e->session, failure, status, NULL);
    if (zenith_judge_get_squeezenet(e->judge) == NULL)
        cli_say("no squeezenet1_0_dc.safetensors was found, so the SqueezeNet distance is left "
                "out; say where it is with --squeezenet FILE");
    return true;
}

static int plan_outputs(struct evaluation *e, const cli_settings *settings)
{
    cli_outputs top;
    char *folder = NULL;
    if (settings->output == NULL) return CLI_DONE;
    if (asprintf(&folder, "%s/", settings->output) < 0) return CLI_MEMORY;
    e->own = *settings; // lives as long as the plans do
    e->own.output = folder;
    int code = cli_outputs_plan(&e->own, cli_formats_picture, &top);
    for (size_t i = 0; i < e->count && code == CLI_DONE; i++) {
        struct candidate *c = &e->candidates[i];
        if (asprintf(&c->folder, "%s%s/", folder, c->label) < 0) c->folder = NULL;
        e->own.output = c->folder;
        code = c->folder != NULL ? cli_outputs_plan(&e->own, cli_formats_picture, &c->outputs)
                                 : CLI_MEMORY;
    }
    free(folder);
    return code;
}

// --- pictures -----------------------------------------------------------------------------------

static bool read_picture(cli_session *session, const char *input, uint32_t factor,
                         zenith_image *image, cli_failure *failure)
{
    zenith_source *source = NULL;
    zenith_source_params params = cli_source_params(session->settings, factor);
    zenith_status status = cli_source_open(session, input, &params, &source, failure);
    if (status != ZENITH_OK) return false;
    zenith_source_info info = {.size = sizeof info};
    zenith_source_get_info(source, &info);
    *image = (zenith_image){.size = sizeof *image, .width = info.width, .height = info.height};
    image->data = malloc((size_t)info.width * info.height * 3);
    bool read = image->data != NULL ||
                cli_fail_text(failure, ZENITH_OUT_OF_MEMORY, "no memory for the picture");
    if (read) status = zenith_source_rows(source, 0, info.height, image->data);
    if (status != ZENITH_OK) read = cli_fail(session, failure, status, zenith_source_error(source));
    zenith_source_free(source);
    return read;
}

static bool write_picture(cli_session *session, const struct candidate *c, size_t input,
                          const zenith_image *picture, cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    if (c->folder == NULL) return true;
    zenith_target_params params = {
        .size = sizeof params, .format = c->outputs.format->word, .level = settings->picture.level};
    zenith_target *target = NULL;
    char *path = cli_outputs_path(&c->outputs, input, CLI_UNSET);
    if (path == NULL) return cli_fail_memory(failure);
    cli_outputs_make_folders(&c->outputs, path);
    zenith_status status = zenith_target_open(session->context, path, picture->width,
                                              picture->height, &params, &target);
    if (status == ZENITH_OK) status = zenith_target_rows(target, 0, picture->height, picture->data);
    if (status == ZENITH_OK) status = zenith_target_finish(target);
    bool written = status == ZENITH_OK ||
                   cli_fail(session, failure, status, target ? zenith_target_error(target) : NULL);
    zenith_target_free(target);
    free(path);
    return written;
}

// One picture through one model. The row counts only when every model has done the picture.
static bool evaluate(struct evaluation *e, size_t index, size_t input, const zenith_image *original,
                     const zenith_image *picture, cli_failure *failure)
{
    cli_session *session = &e->session;
    struct candidate *c = &e->candidates[index];
    cli_quality_row *row = &c->rows.rows[c->rows.count];
    zenith_run_facts facts;
    zenith_run_params params = cli_session_run_params(session, &facts, 0);
    params.facts = NULL;
    const double share = 1.0 / (double)e->count;
    cli_progress_call(&session->progress, (double)original->width * original->height,
                      share * (double)index, share);
    *row = (cli_quality_row){.input = session->settings->inputs[input],
                             .quality = {.size = sizeof row->quality}};
    zenith_status status = zenith_evaluate(session->context, e->judge, c->encoder->model,
                                           c->decoder->model, original, picture, &params,
                                           &row->quality);
    if (status != ZENITH_OK) return cli_fail(session, failure, status, NULL);
    return write_picture(session, c, input, picture, failure);
}

static void evaluate_input(struct evaluation *e, size_t index)
{
    cli_session *session = &e->session;
    const char *input = session->settings->inputs[index];
    cli_failure failure = {0};
    zenith_image original = {0}, picture;
    cli_progress_file(&session->progress, index, input);
    bool done = read_picture(session, input, e->candidates[0].model->info.factor, &original,
                             &failure);
    picture = original;
    picture.data = done ? malloc((size_t)original.width * original.height * 3) : NULL;
    if (done && picture.data == NULL)
        done = cli_fail_text(&failure, ZENITH_OUT_OF_MEMORY, "no memory for the picture");
    for (size_t i = 0; i < e->count && done; i++)
        done = evaluate(e, i, index, &original, &picture, &failure);
    for (size_t i = 0; i < e->count && done; i++) e->candidates[i].rows.count++;
    if (done)
        cli_session_done(session);
    else
        cli_session_failed(session, input, &failure);
    free(original.data);
    free(picture.data);
}

// --- the whole ----------------------------------------------------------------------------------

static void print_results(const struct evaluation *e, bool json)
{
    json_t *object = json_object();
    cli_status_clear();
    for (size_t i = 0; i < e->count; i++) {
        const struct candidate *c = &e->candidates[i];
        const char *dtype = cli_dtype_name(e->dtype), *encoder = c->encoder->info.name;
        const char *decoder = c->decoder->info.name;
        if (json) {
            json_t *model = cli_quality_json(&c->rows);
            json_object_set_new(model, "dtype", json_string(dtype));
            json_object_set_new(model, "encoder", json_string(encoder));
            json_object_set_new(model, "decoder", json_string(decoder));
            json_object_set_new(model, "failed", json_integer((json_int_t)e->session.failed));
            json_object_set_new(object, c->label, model);
            continue;
        }
        char title[2048];
        snprintf(title, sizeof title, "%s%s, %s, latents of %s%s%s", i > 0 ? "\n" : "", c->label,
                 dtype, encoder, c->decoder == c->model ? "" : ", pictures of ",
                 c->decoder == c->model ? "" : decoder);
        cli_quality_print(title, &c->rows);
    }
    if (json)
        cli_json_print(object);
    else
        json_decref(object);
}

// A model beside itself says nothing.
static bool differ(const cli_settings *settings)
{
    const eval_settings *o = own(settings);
    if (o->against == NULL || settings->model == NULL || settings->weights != NULL ||
        o->against_weights != NULL || strcmp(o->against, settings->model) != 0)
        return true;
    cli_say("--model and --against are both %s: give --weights PATH or --against-weights PATH",
            settings->model);
    return false;
}

static bool start(struct evaluation *e, const cli_settings *settings, cli_failure *failure)
{
    zenith_machine_info machine = {.size = sizeof machine};
    if (!open_models(e, settings, failure) || !choose_parts(e, failure) ||
        !open_judge(e, settings, failure))
        return false;
    name_candidates(e);
    zenith_context_get_machine(e->session.context, &machine);
    e->dtype = (zenith_dtype)settings->run.dtype;
    if (e->dtype == ZENITH_DTYPE_DEFAULT)
        e->dtype = strcmp(machine.isa, "amx") == 0 ? ZENITH_DTYPE_BF16 : ZENITH_DTYPE_F32;
    for (size_t i = 0; i < e->count; i++) {
        cli_quality_rows *rows = &e->candidates[i].rows;
        rows->rows = calloc(settings->input_count, sizeof *rows->rows);
        if (rows->rows == NULL) return cli_fail_memory(failure);
    }
    return true;
}

static int run(const cli_settings *settings)
{
    struct evaluation e = {0};
    cli_failure failure = {0};
    eval_settings lines = *own(settings);
    lines.shared.json = false; // one object at the end, not one for each input
    if (!cli_model_options_agree(settings) || !cli_source_options_agree(settings) ||
        !differ(settings))
        return CLI_USAGE;
    int code = cli_session_open(&e.session, &lines.shared, "eval");
    if (code != CLI_DONE) return code;
    if (start(&e, settings, &failure)) {
        code = plan_outputs(&e, settings);
        for (size_t i = 0; code == CLI_DONE && i < settings->input_count && !cli_interrupted(); i++)
            evaluate_input(&e, i);
        if (code == CLI_DONE && e.session.done > 0) print_results(&e, settings->json);
    } else {
        cli_session_model_failed(&e.session, &failure);
    }
    for (size_t i = 0; i < MOST_MODELS; i++) {
        free(e.candidates[i].rows.rows);
        free(e.candidates[i].folder);
    }
    zenith_judge_free(e.judge);
    int closed = cli_session_close(&e.session);
    return code != CLI_DONE ? code : closed;
}

static const cli_option_group group = CLI_GROUP(
    "Evaluation",
    {.name = "images",
     .letter = 'i',
     .argument = "DIR",
     .help = "folder of pictures; the same as naming it, or single pictures, as arguments",
     .kind = CLI_INPUT},
    CLI_OPTION(CLI_TEXT, eval_settings, against, "against", 'a', "NAME",
               "a second model to compare with, on the same pictures"),
    CLI_OPTION(
        CLI_TEXT, eval_settings, against_weights, "against-weights", 0, "PATH",
        "weights of the --against model; default: the folder that --weights names, or, for the "
        "same model, where every command looks"),
    CLI_OPTION(CLI_TEXT, eval_settings, squeezenet, "squeezenet", 0, "FILE",
               "SqueezeNet 1.0 as safetensors; default: squeezenet1_0_dc.safetensors beside the "
               "weights or where models are searched for. Without it that measure is left out"),
    CLI_OPTION(CLI_TEXT, cli_settings, output, "output-dir", 'o', "DIR",
               "keep the decoded pictures, as DIR/MODEL/NAME.png"));
static const cli_option_group message_group = CLI_GROUP(
    "Messages",
    CLI_FLAG_OPTION(
        cli_settings, json, "json", 0,
        "print one JSON object on standard output: for each model its means, and every picture"),
    CLI_FLAG_OPTION(cli_settings, quiet, "quiet", 'q', "print results and errors only"),
    CLI_FLAG_OPTION(cli_settings, log, "log", 0, "show the library's log on standard error"),
    CLI_FLAG_OPTION(cli_settings, help, "help", 'h', "print this text"));
static const cli_example examples[] = {
    {"zenith eval --model taesd --images kodak/ --dtype f32", "every measure of every picture"},
    {"zenith eval --model zenith-sd-fast --against taesd --images kodak/ --json",
     "a model of our own beside the one whose latents it takes"},
    {"zenith eval --model taesd --weights run/model.safetensors --against taesd --against-weights "
     "weights -i photos/ -o out",
     "new weights against old ones, and the pictures to look at"},
    {NULL, NULL}};

const cli_command cli_command_eval = {
    .name = "eval",
    .arguments = "--model NAME --images DIR [OPTIONS]",
    .summary = "judge the quality of a model on pictures",
    .description =
        "Encodes and decodes pictures and measures, for each and on average, what was lost: PSNR, "
        "SSIM, MS-SSIM, the distance of SqueezeNet's features, GMSD, how much of the finest detail "
        "is there (HF) and in the right place (HFcorr), a mesh of 4 pixels (mesh4), and the "
        "distance of latents (latent) when the result is encoded again.\nNo single one of them is "
        "to be trusted: EVALUATION.md in share/doc/zenith defines each and says what fools it. "
        "Look "
        "at the pictures too (--output-dir). Times are medians.",
    .groups = CLI_GROUPS(&cli_group_model, &group, &cli_group_inputs, &cli_group_source,
                         &cli_group_run, &message_group),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_PICTURE,
    CLI_SETTINGS(eval_settings),
    .run = run,
};
