// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith convert PATH -o OUT: weights as safetensors under the flat names, in one type; or, of text
// models and diffusion transformers, in few bits (few_bits.h).
#include "apps/cli/commands/models/few_bits.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/generate.h"
#include "zenith/zenith.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file_name(const char *path)
{
    static const char ending[] = ".safetensors";
    size_t length = strlen(path), end = strlen(ending);
    return length > end && strcmp(path + length - end, ending) == 0;
}

static bool make_folder(const char *path, cli_failure *failure)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && cli_is_folder(path))) return true;
    return cli_fail_text(failure, ZENITH_IO,
                         "cannot make the folder '%s': %s (one file has to end with .safetensors)",
                         path, strerror(errno));
}

static void report(const cli_settings *settings, const zenith_model_info *info, const char *type)
{
    bool both = info->parts == (ZENITH_ENCODER | ZENITH_DECODER);
    const char *parts = info->latent_channels == 0     ? "all parts"
                        : both                         ? "encoder and decoder"
                        : info->parts & ZENITH_ENCODER ? "encoder"
                                                       : "decoder";
    if (settings->json)
        cli_json_print(json_pack(
            "{s:o, s:o, s:s, s:s, s:b, s:b, s:I}", "input", cli_json_text(settings->inputs[0]),
            "output", cli_json_text(settings->output), "model", info->name, "type", type, "encoder",
            (info->parts & ZENITH_ENCODER) != 0, "decoder", (info->parts & ZENITH_DECODER) != 0,
            "parameters", (json_int_t)info->parameters));
    else if (!settings->quiet)
        cli_say("%s -> %s, %s of %s, %s", settings->inputs[0], settings->output, parts, info->name,
                type);
}

// Recipes of few bits come after all types of numbers.
enum { RECIPES = 1000 };
static const cli_choice stores[] = {{"f32", ZENITH_F32},
                                    {"f16", ZENITH_F16},
                                    {"bf16", ZENITH_BF16},
                                    {"f8_e4m3", ZENITH_F8_E4M3},
                                    {"f8_e5m2", ZENITH_F8_E5M2},
                                    {"mixed", RECIPES + ZENITH_RECIPE_MIXED},
                                    {"q4", RECIPES + ZENITH_RECIPE_Q4},
                                    {"q8", RECIPES + ZENITH_RECIPE_Q8},
                                    {NULL, 0}};

static const char *name_of(int store)
{
    const cli_choice *choice = stores;
    while (choice->value != store) choice++;
    return choice->word;
}

static bool convert(cli_session *session, zenith_model **model, cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    const cli_convert_settings *own = cli_convert_of(settings);
    int store = own->store == CLI_UNSET ? ZENITH_F32 : own->store;
    zenith_model_info info = {.size = sizeof info};
    zenith_model_params params = {
        .size = sizeof params, .name = settings->model, .weights = settings->inputs[0]};
    zenith_status status = zenith_model_open(session->context, &params, model);
    if (status != ZENITH_OK) {
        failure->model = true;
        return cli_fail(session, failure, status, NULL);
    }
    zenith_model_get_info(*model, &info);
    if (!is_file_name(settings->output) && !make_folder(settings->output, failure)) return false;
    status = zenith_model_save(session->context, *model, settings->output, (zenith_number)store);
    if (status != ZENITH_OK) return cli_fail(session, failure, status, NULL);
    report(settings, &info, name_of(store));
    return true;
}

static int run(const cli_settings *settings)
{
    const cli_convert_settings *own = cli_convert_of(settings);
    cli_session session;
    cli_failure failure = {0};
    zenith_model *model = NULL;
    if (settings->output == NULL) {
        cli_say("where should the weights go? Give -o DIR, or -o FILE.safetensors");
        return CLI_USAGE;
    }
    int code = is_file_name(settings->output) ? cli_output_check(settings->output)
                                              : cli_output_check_folder(settings->output);
    if (code != CLI_DONE && !is_file_name(settings->output))
        cli_say("one file has to end with .safetensors");
    if (code != CLI_DONE) return code;
    if (own->no_rotate && own->store < RECIPES) {
        cli_say("--no-rotate is for weights in few bits: --store mixed, q4 or q8");
        return CLI_USAGE;
    }
    code = cli_session_open(&session, settings, "convert");
    if (code != CLI_DONE) return code;
    if (own->store >= RECIPES
            ? cli_few_bits(&session, (zenith_recipe)(own->store - RECIPES), &failure)
            : convert(&session, &model, &failure))
        cli_session_done(&session);
    else
        cli_session_failed(&session, settings->inputs[0], &failure);
    zenith_model_free(model);
    return cli_session_close(&session);
}

static const cli_option_group group = CLI_GROUP(
    "Weights",
    CLI_OPTION(
        CLI_TEXT, cli_settings, output, "output", 'o', "PATH",
        "a folder, which gets NAME_encoder.safetensors and NAME_decoder.safetensors, or of "
        "a diffusion autoencoder diffae.safetensors; or one "
        "file that ends with .safetensors, in which names begin with encoder. or decoder. In few "
        "bits: a folder, which gets the weights and config.json, or the whole pipeline"),
    CLI_OPTION(
        CLI_CHOICE, cli_convert_settings, store, "store", 0,
        "f32|f16|bf16|f8_e4m3|f8_e5m2|mixed|q4|q8",
        "type of the numbers; default: f32, which holds the others without loss. f8: 8-bit "
        "floats with a scale for each tensor, for weights of convolutions and matrices only. "
        "Text models and diffusion transformers in few bits: q4 and q8 for matrices of 4 or 8 "
        "bits; mixed: 4, and 8 for those that bear rounding worst",
        .choices = stores),
    CLI_FLAG_OPTION(
        cli_convert_settings, no_rotate, "no-rotate", 0,
        "in few bits: do not rotate rows in runs of 256 before they are rounded, which spreads "
        "what is much larger than the rest"),
    CLI_OPTION(CLI_TEXT, cli_settings, model, "model", 'm', "NAME",
               "which model these weights are, where names and shapes fit several; 'zenith models' "
               "lists them"));
static const cli_example examples[] = {
    {"zenith convert taesd-diffusers/ -o weights --model taesd", "from diffusers' layout"},
    {"zenith convert taef2.safetensors -o weights --store f16", "one file into two"},
    {"zenith convert weights -o taef1.safetensors --model taef1 --store bf16", "two into one"},
    {"zenith convert vae -o flux-f8.safetensors --store f8_e4m3", "half the bytes of bf16"},
    {"zenith convert Z-Image-Turbo -o z-image-q --store mixed", "a whole pipeline in few bits"},
    {"zenith convert z-image-Q8_0.gguf -o transformer --store q4", "from GGUF"},
    {NULL, NULL}};

const cli_command cli_command_convert = {
    .name = "convert",
    .arguments = "PATH -o OUT [OPTIONS]",
    .summary = "write weights in the published layout or in few bits",
    .description =
        "Reads weights (safetensors: a file, a folder of published files, a folder in diffusers' "
        "layout, shards with an index) and writes them as safetensors under the flat names of the "
        "published files. Tensors that the model does not use are left out. A calibration is bound "
        "to the weights and their type: in another type they need their own ('zenith calibrate').\n"
        "With --store mixed, q4 or q8 PATH is a pipeline's folder, the folder of a text model "
        "(qwen3) or of a diffusion transformer (z-image), or its file: safetensors under "
        "diffusers' or "
        "ComfyUI's names, or GGUF, quantised or not. What is written is mapped and used as it "
        "lies.",
    .groups = CLI_GROUPS(&group, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = 1,
    CLI_SETTINGS_WITH(cli_convert_settings, .store = CLI_UNSET),
    .run = run,
};
