// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae join FOLDER.. -o FILE: what training leaves, as one model.
#include "apps/cli/commands/diffae/session.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"

#include <sys/stat.h>

static const cli_choice stores[] = {{"f32", ZENITH_F32},         {"f16", ZENITH_F16},
                                    {"bf16", ZENITH_BF16},       {"f8_e4m3", ZENITH_F8_E4M3},
                                    {"f8_e5m2", ZENITH_F8_E5M2}, {NULL, 0}};

static void report(const cli_settings *settings)
{
    struct stat facts;
    const double bytes = stat(settings->output, &facts) == 0 ? (double)facts.st_size : 0;
    if (settings->json)
        cli_json_print(json_pack("{s:o, s:I}", "output", cli_json_text(settings->output), "bytes",
                                 (json_int_t)bytes));
    else if (!settings->quiet)
        cli_say("%s: %.1f MB", settings->output, bytes / 1e6);
}

static int run(const cli_settings *settings)
{
    const cli_diffae_settings *own = cli_diffae_of(settings);
    cli_session session;
    cli_failure failure = {0};
    if (settings->output == NULL || !cli_code_is(settings->output)) {
        cli_say("where should the model go? Give -o FILE.safetensors");
        return CLI_USAGE;
    }
    int code = cli_output_check(settings->output);
    if (code == CLI_DONE) code = cli_session_open(&session, settings, "join");
    if (code != CLI_DONE) return code;
    const zenith_diffae_join_params params = {
        .size = sizeof params,
        .sources = (const char *const *)settings->inputs,
        .count = settings->input_count,
        .output = settings->output,
        .number = own->store == CLI_UNSET ? ZENITH_F32 : (zenith_number)own->store,
        .force = own->force};
    const zenith_status status = zenith_diffae_join(session.context, &params);
    if (status == ZENITH_OK) {
        cli_session_done(&session);
        report(settings);
    } else {
        (void)cli_fail(&session, &failure, status, NULL);
        cli_session_failed(&session, settings->output, &failure);
    }
    return cli_session_close(&session);
}

static const cli_option_group group = CLI_GROUP(
    "Model",
    CLI_OPTION(CLI_TEXT, cli_settings, output, "output", 'o', "FILE",
               "the model, a file that ends with .safetensors"),
    CLI_OPTION(
        CLI_CHOICE, cli_diffae_settings, store, "store", 0, "f32|f16|bf16|f8_e4m3|f8_e5m2",
        "type of the numbers; default: f32. f8: 8-bit floats with a scale for each tensor, for "
        "weights of convolutions and matrices only",
        .choices = stores),
    CLI_FLAG_OPTION(cli_diffae_settings, force, "force", 0,
                    "take a prior or a classifier that was trained on codes of other weights"));
static const cli_example examples[] = {
    {"zenith diffae join runs/faces/ema runs/prior/ema runs/classifier/ema -o faces.safetensors "
     "--store f16",
     "one file from three runs of zenith train"},
    {NULL, NULL}};

const cli_command cli_diffae_join = {
    .name = "diffae join",
    .arguments = "FOLDER.. -o FILE [OPTIONS]",
    .summary = "put what training leaves into one model file",
    .description =
        "Joins the folders that 'zenith train' has written: an autoencoder, and the prior and the "
        "classifier that were trained on its codes, in any order; each but the first kind may be "
        "left out. The file has all weights, mean and deviation of codes, and what config.json "
        "says; the other commands take it as --model.",
    .groups = CLI_GROUPS(&group, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = 3,
    CLI_SETTINGS_WITH(cli_diffae_settings, .store = CLI_UNSET),
    .run = run,
};
