// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See session.h.
#include "apps/cli/commands/diffae/session.h"
#include "apps/cli/options/options.h"
#include "apps/cli/options/values.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/published.h"
#include "apps/cli/session/report.h"
#include "apps/cli/session/source_options.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_TO_NOISE = 250, USUAL_BACK = 100 };

// --- the model ----------------------------------------------------------------------------------

// --model may be a name that is searched for, a folder, or the name of a folder in --weights.
static void find_weights(cli_diffae *d, const char **name, const char **weights)
{
    const cli_settings *settings = &d->own.shared;
    *name = settings->model;
    *weights = settings->weights;
    if (settings->model == NULL) return;
    if (settings->weights != NULL)
        snprintf(d->place, sizeof d->place, "%s/%s", settings->weights, settings->model);
    const bool own = settings->weights == NULL &&
                     (strchr(settings->model, '/') != NULL || cli_is_folder(settings->model) ||
                      cli_code_is(settings->model));
    if (own) snprintf(d->place, sizeof d->place, "%s", settings->model);
    if (!own && !(settings->weights != NULL && cli_is_folder(d->place))) return;
    *name = "diffae";
    *weights = d->place;
}

static bool lacks(cli_diffae *d, const char *what, const char *remedy)
{
    d->failure.model = true;
    return cli_fail_text(&d->failure, ZENITH_NOT_FOUND, "this model has no %s: %s", what, remedy);
}

static bool check_needs(cli_diffae *d, unsigned needs)
{
    const zenith_diffae_info *info = &d->info;
    if ((needs & CLI_ENCODER) != 0 && !info->has_encoder)
        return lacks(d, "encoder", "pictures cannot become codes; codes can be decoded");
    if ((needs & CLI_DECODER) != 0 && !info->has_decoder)
        return lacks(d, "U-Net", "codes cannot become pictures");
    if ((needs & CLI_PRIOR) != 0 && !info->has_prior)
        return lacks(d, "prior with statistics of codes",
                     "train one ('zenith train'), then 'zenith diffae join' puts it beside the "
                     "autoencoder; or convert a checkpoint of one (tools/convert.py --diffae, with "
                     "--latents latent.pkl)");
    if ((needs & CLI_CLASSIFIER) != 0 && info->attributes == 0)
        return lacks(d, "classifier of attributes",
                     "train one ('zenith train'), then 'zenith diffae join' puts it beside the "
                     "autoencoder; or convert the checkpoint together with its classifier "
                     "(tools/convert.py --diffae, with --classifier CLS.ckpt)");
    return true;
}

// The size of pictures: that of --size, else the model's own.
static bool check_size(cli_diffae *d)
{
    cli_dimensions *size = &d->own.shared.source.size;
    const uint32_t multiple = d->info.multiple;
    if (size->width == 0 && size->height == 0)
        *size = (cli_dimensions){d->info.width, d->info.height};
    if (size->width > 0 && size->height > 0 && size->width % multiple == 0 &&
        size->height % multiple == 0)
        return true;
    return cli_fail_text(&d->failure, ZENITH_INVALID_ARGUMENT,
                         "--size: both sides must be multiples of %u here, such as %ux%u",
                         (unsigned)multiple, (unsigned)d->info.width, (unsigned)d->info.height);
}

// Where nobody named the model that is missing, the message says whose name it is. Returns false.
static bool say_usual_is_missing(cli_diffae *d)
{
    if (!d->usual || d->failure.status != ZENITH_NOT_FOUND) return false;
    return cli_fail_text(&d->failure, ZENITH_NOT_FOUND,
                         "%s, which comes with the program, is not found here: set ZENITH_MODELS "
                         "to the folder with its file, or give --model FOLDER",
                         d->own.shared.model);
}

// What people call it: the last word of where it is, without an ending. All are of one family,
// "diffae".
static void set_name(cli_diffae *d)
{
    const char *from = d->own.shared.model != NULL ? d->own.shared.model : d->own.shared.weights;
    size_t end = strlen(from);
    while (end > 1 && from[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && from[begin - 1] != '/') begin--;
    const size_t ending = strlen(".safetensors");
    if (end - begin > ending && strncmp(from + end - ending, ".safetensors", ending) == 0)
        end -= ending;
    snprintf(d->name, sizeof d->name, "%.*s", (int)(end - begin), from + begin);
}

static bool open_model(cli_diffae *d, unsigned needs)
{
    const char *name, *weights;
    set_name(d);
    find_weights(d, &name, &weights);
    if (!cli_session_model_at(&d->session, name, weights, 0, &d->model, &d->failure))
        return say_usual_is_missing(d);
    d->info = (zenith_diffae_info){.size = sizeof d->info};
    zenith_status status = zenith_diffae_get_info(d->session.context, d->model->model, &d->info);
    if (status != ZENITH_OK) {
        d->failure.model = true;
        return cli_fail(&d->session, &d->failure, status, NULL);
    }
    return check_needs(d, needs) && check_size(d);
}

int cli_diffae_open(cli_diffae *d, const cli_settings *settings, const char *verb, unsigned needs)
{
    *d = (cli_diffae){.own = *cli_diffae_of(settings)};
    d->usual = settings->model == NULL && settings->weights == NULL;
    if (d->usual) d->own.shared.model = cli_shipped_diffae[0].name;
    int code = cli_step_previews_check(settings);
    if (code == CLI_DONE) code = cli_session_open(&d->session, &d->own.shared, verb);
    if (code != CLI_DONE) return code;
    if (open_model(d, needs) &&
        cli_step_previews_open(&d->session, NULL, NULL, &d->previews, &d->failure))
        return CLI_DONE;
    cli_session_model_failed(&d->session, &d->failure);
    const bool usage = d->failure.status == ZENITH_INVALID_ARGUMENT && !d->failure.model;
    code = cli_diffae_close(d);
    return usage ? CLI_USAGE : code;
}

int cli_diffae_close(cli_diffae *d)
{
    cli_step_previews_free(d->previews);
    return cli_session_close(&d->session);
}

uint32_t cli_diffae_noise_steps(const cli_diffae *d)
{
    if (d->own.no_noise) return 0;
    return d->own.noise_steps > 0 ? (uint32_t)d->own.noise_steps : USUAL_TO_NOISE;
}

uint32_t cli_diffae_steps(const cli_diffae *d)
{
    return d->own.shared.sampling.steps > 0 ? (uint32_t)d->own.shared.sampling.steps : USUAL_BACK;
}

void cli_diffae_failed(cli_diffae *d, const char *input)
{
    cli_session_failed(&d->session, input, &d->failure);
    d->failure = (cli_failure){.status = ZENITH_OK};
}

// --- calls --------------------------------------------------------------------------------------

// Without previews, which are no part of a step.
static double step_clock(const cli_diffae *d)
{
    return cli_clock() - cli_step_previews_seconds(d->previews);
}

static void show_drawing(const cli_diffae *d, const zenith_diffae_report *report)
{
    char text[64];
    snprintf(text, sizeof text, "drawing codes, step %u/%u", (unsigned)report->step,
             (unsigned)report->steps);
    cli_step_line_phase(&d->line, text);
}

static int on_step(void *cookie, const zenith_diffae_report *report)
{
    cli_diffae *d = cookie;
    const double now = step_clock(d);
    const bool preview = d->previews != NULL && report->predicted != NULL;
    if (preview &&
        !cli_step_preview_picture(d->previews, report->step, report->predicted, &d->failure))
        return 1;
    if (d->drawing)
        show_drawing(d, report);
    else
        cli_step_line_step(&d->line, report->step, report->steps, d->later, now);
    return cli_interrupted();
}

zenith_diffae_params cli_diffae_params(cli_diffae *d, uint32_t steps, uint64_t seed)
{
    d->facts = (zenith_diffae_facts){.size = sizeof d->facts};
    cli_step_line_begin(&d->line, &d->session, d->line.number, d->line.all, step_clock(d));
    return (zenith_diffae_params){.size = sizeof(zenith_diffae_params),
                                  .steps = steps,
                                  .seed = seed,
                                  .dtype = d->session.dtype,
                                  .max_memory = d->own.shared.run.max_memory,
                                  .report = on_step,
                                  .report_cookie = d,
                                  .cancel = d->session.cancel,
                                  .facts = &d->facts,
                                  .no_pictures = d->previews == NULL,
                                  .seen = (float)d->own.seen};
}

// A preview that failed has said why.
bool cli_diffae_done(cli_diffae *d, zenith_status status, const char *text)
{
    if (status == ZENITH_OK) return true;
    if (d->failure.status != ZENITH_OK) return false;
    return cli_fail(&d->session, &d->failure, status, text);
}

// --- codes --------------------------------------------------------------------------------------

static bool no_memory(cli_diffae *d)
{
    return cli_fail_text(&d->failure, ZENITH_OUT_OF_MEMORY, "no memory for a code and its noise");
}

// Numbers of the noise of a code.
static size_t noise_values(const cli_diffae *d, const zenith_code *code)
{
    const uint32_t factor = d->info.factor;
    return (size_t)d->info.channels * (code->width / factor) * (code->height / factor);
}

static bool make_arrays(cli_diffae *d, bool noise, zenith_code *code)
{
    const size_t values = noise_values(d, code);
    code->numbers = d->info.numbers;
    code->code = calloc(d->info.numbers, sizeof(float));
    code->noise = noise ? calloc(values, sizeof(float)) : NULL;
    return (code->code != NULL && (code->noise != NULL || !noise)) || no_memory(d);
}

bool cli_code_create(cli_diffae *d, bool noise, cli_code *out)
{
    *out = (cli_code){.code = {.size = sizeof out->code,
                               .width = d->own.shared.source.size.width,
                               .height = d->own.shared.source.size.height,
                               .steps = noise ? cli_diffae_noise_steps(d) : 0}};
    return make_arrays(d, noise, &out->code);
}

bool cli_code_copy(cli_diffae *d, const cli_code *from, cli_code *out)
{
    const size_t values = noise_values(d, &from->code);
    *out = (cli_code){.code = from->code};
    if (from->code.noise != NULL && from->code.noise_numbers > 0 &&
        from->code.noise_numbers != values)
        return cli_fail_text(&d->failure, ZENITH_INVALID_ARGUMENT,
                             "this noise belongs to another model: --random draws another");
    if (!make_arrays(d, from->code.noise != NULL, &out->code)) return false;
    memcpy(out->code.code, from->code.code, d->info.numbers * sizeof(float));
    if (from->code.noise != NULL) memcpy(out->code.noise, from->code.noise, values * sizeof(float));
    return true;
}

void cli_code_free(cli_code *code)
{
    if (code->file == NULL) {
        free(code->code.code);
        free(code->code.noise);
    }
    zenith_code_file_free(code->file);
    *code = (cli_code){.file = NULL};
}

void cli_code_report(cli_diffae *d, const char *input, const char *output, const zenith_code *code,
                     double started, json_t *more)
{
    const zenith_run_facts facts = {.dtype = d->facts.dtype, .seconds = d->facts.seconds};
    cli_session_report(&d->session, &(cli_result){.input = input,
                                                  .output = output,
                                                  .width = code->width,
                                                  .height = code->height,
                                                  .model = d->name,
                                                  .facts = &facts,
                                                  .started = started,
                                                  .more = more});
}

bool cli_code_is(const char *input)
{
    const char *dot = strrchr(input, '.');
    return dot != NULL && strcmp(dot, ".safetensors") == 0;
}

bool cli_code_open(cli_diffae *d, const char *input, cli_code *out)
{
    *out = (cli_code){.code = {.size = sizeof out->code}};
    zenith_status status = zenith_code_file_open(d->session.context, input, &out->file);
    if (status != ZENITH_OK) return cli_fail(&d->session, &d->failure, status, NULL);
    zenith_code_file_get(out->file, &out->code);
    if (d->own.force) out->code.weights = NULL;
    if (out->code.numbers == d->info.numbers) return true;
    return cli_fail_text(&d->failure, ZENITH_INVALID_ARGUMENT,
                         "this code has %u numbers, and those of the model have %u: it belongs to "
                         "another model",
                         (unsigned)out->code.numbers, (unsigned)d->info.numbers);
}

static bool encode(cli_diffae *d, zenith_source *source, const cli_code *code)
{
    zenith_source_info info = {.size = sizeof info};
    const zenith_diffae_params params = cli_diffae_params(d, code->code.steps, d->line.number);
    zenith_source_get_info(source, &info);
    const zenith_image image = {.size = sizeof image,
                                .width = info.width,
                                .height = info.height,
                                .rows = zenith_source_rows,
                                .cookie = source};
    cli_progress_call(&d->session.progress, (double)info.width * info.height, 0, 1);
    if (code->code.noise != NULL) cli_step_line_phase(&d->line, "reading the picture");
    const zenith_status status = zenith_diffae_encode(d->session.context, d->model->model, &image,
                                                      &code->code, &params);
    if (status == ZENITH_OK && code->code.noise == NULL)
        cli_progress_update(&d->session.progress, 1); // there were no steps to tell of
    return cli_diffae_done(d, status, zenith_source_error(source));
}

bool cli_code_of_picture(cli_diffae *d, const char *input, bool noise, cli_code *out)
{
    const zenith_source_params params = cli_source_params(&d->own.shared, d->info.multiple);
    zenith_source *source = NULL;
    if (!cli_code_create(d, noise, out)) return false;
    bool done = cli_source_open(&d->session, input, &params, &source, &d->failure) == ZENITH_OK &&
                encode(d, source, out);
    zenith_source_free(source);
    return done;
}

bool cli_code_read(cli_diffae *d, const char *input, bool noise, cli_code *out)
{
    return cli_code_is(input) ? cli_code_open(d, input, out)
                              : cli_code_of_picture(d, input, noise, out);
}

bool cli_code_decode(cli_diffae *d, const cli_code *code, uint64_t seed, const zenith_image *image,
                     const char *output)
{
    const zenith_diffae_params params = cli_diffae_params(d, cli_diffae_steps(d), seed);
    cli_step_previews_begin(d->previews, output,
                            d->line.all > 1 ? (int64_t)d->line.number : CLI_UNSET);
    return cli_diffae_done(
        d, zenith_diffae_decode(d->session.context, d->model->model, &code->code, image, &params),
        NULL);
}

// --- attributes ---------------------------------------------------------------------------------

const char *cli_diffae_attribute_name(const cli_diffae *d, uint32_t attribute, char dst[16])
{
    const char *name = zenith_diffae_attribute(d->model->model, attribute);
    snprintf(dst, 16, "%u", (unsigned)attribute);
    return name != NULL ? name : dst;
}

static void list_attributes(const cli_diffae *d, char *dst, size_t size)
{
    size_t length = 0;
    dst[0] = 0;
    for (uint32_t i = 0; i < d->info.attributes && length + 1 < size; i++) {
        char number[16];
        const int added = snprintf(dst + length, size - length, "%s%s", i > 0 ? ", " : "",
                                   cli_diffae_attribute_name(d, i, number));
        length += added > 0 ? (size_t)added : 0;
    }
}

bool cli_diffae_find_attribute(cli_diffae *d, const char *word, uint32_t *out)
{
    char all[600];
    for (uint32_t i = 0; i < d->info.attributes; i++) {
        char number[16];
        const char *name = cli_diffae_attribute_name(d, i, number);
        *out = i;
        if (strcmp(word, number) == 0 || strcmp(word, name) == 0) return true;
    }
    list_attributes(d, all, sizeof all);
    return cli_fail_text(&d->failure, ZENITH_INVALID_ARGUMENT,
                         "there is no attribute '%.64s'; this model has: %s", word, all);
}

bool cli_diffae_seed(cli_diffae *d, uint64_t *out)
{
    return cli_seed_choose(&d->own.shared.sampling.seed, out) ||
           cli_fail_text(&d->failure, ZENITH_INVALID_ARGUMENT, "there is no seed");
}

// --- options ------------------------------------------------------------------------------------

const cli_option_group cli_diffae_group_output = CLI_GROUP(
    "Output",
    CLI_OPTION(
        CLI_TEXT, cli_settings, output, "output", 'o', "PATH",
        "where the result goes: a file, - for standard output, or a folder, which gets a file "
        "for each picture. It is a folder if it ends with '/' or exists as one"));

const cli_option_group cli_diffae_group_file = CLI_GROUP(
    "Output", CLI_OPTION(CLI_TEXT, cli_settings, output, "output", 'o', "PATH",
                         "the file for the result, .npy or .safetensors"));

const cli_option_group cli_diffae_group_codes = CLI_GROUP("Codes", CLI_DIFFAE_FORCE);

const cli_option_group cli_diffae_group_model = CLI_GROUP(
    "Model",
    CLI_OPTION(CLI_TEXT, cli_settings, model, "model", 'm', "FOLDER",
               "folder with config.json and safetensors, as tools/convert.py --diffae writes it; a "
               "file of 'zenith diffae join'; or the name of one in --weights, $ZENITH_MODELS, "
               "./models, ~/.local/share/zenith, or the install prefix's share/zenith/models; "
               "default: zenith-avatars64, which comes with the program"),
    CLI_OPTION(CLI_TEXT, cli_settings, weights, "weights", 'w', "DIR",
               "the model's folder, or the one that --model is in"));

const cli_option_group cli_diffae_group_run = CLI_GROUP(
    "Computation",
    CLI_OPTION(CLI_CHOICE, cli_settings, run.dtype, "dtype", 0, "f32|bf16|int8",
               "type to compute in; default: bf16 where the CPU has AMX, f32 elsewhere",
               .choices = cli_choices_dtype),
    CLI_OPTION(
        CLI_NUMBER, cli_settings, run.threads, "threads", 't', "N",
        "threads to compute with; default: the physical cores this process may use, or fewer "
        "where its cgroup has a quota of CPU time. The result has the same bits",
        .min = 1, .max = 1024),
    CLI_OPTION(
        CLI_BYTES, cli_settings, run.max_memory, "max-memory", 0, "SIZE",
        "bound for working memory and weights of each network by itself, in bytes or with K, "
        "M, G (powers of 1024). The result has the same bits; default: no bound"));

const cli_option_group cli_diffae_group_noise = CLI_GROUP(
    "Noise",
    CLI_OPTION(
        CLI_NUMBER, cli_diffae_settings, noise_steps, "noise-steps", 0, "N",
        "how often the network is asked on the way from a picture to its noise; default: 250",
        .min = 1, .max = 10000));

const cli_option_group cli_diffae_group_source = CLI_GROUP(
    "Pictures in",
    CLI_OPTION(CLI_DIMENSIONS, cli_settings, source.size, "size", 's', "WxH",
               "pictures are scaled and cropped in the middle to this size; default: the size that "
               "the model was trained with"),
    CLI_OPTION(
        CLI_DECIMAL, cli_diffae_settings, seen, "seen", 0, "SHARE",
        "the share of pixels that the encoder sees, at random; it must be one of a model with "
        "\"sparse_encoder\", and there is no noise then; default: 1",
        .min = 0, .max = 1),
    CLI_SCALING_OPTIONS);
