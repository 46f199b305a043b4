// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae encode IMAGE.. -o CODE: pictures to codes and noise.
#include "apps/cli/commands/diffae/session.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>

static const cli_format formats[] = {{"safetensors", ".safetensors", ".safetensors "},
                                     {NULL, NULL, NULL}};

static void report(cli_diffae *d, const char *input, const char *output, const zenith_code *code,
                   double started)
{
    json_t *numbers = json_array();
    for (uint32_t i = 0; d->own.shared.json && i < d->info.numbers; i++)
        json_array_append_new(numbers, json_real((double)code->code[i]));
    json_t *more = json_pack("{s:i, s:o}", "steps", (int)code->steps, "code", numbers);
    cli_code_report(d, input, output, code, started, more);
}

static bool encode(cli_diffae *d, const cli_outputs *outputs, const char *input, const char *output)
{
    cli_code code;
    const double started = cli_clock();
    bool done = cli_code_of_picture(d, input, !d->own.no_noise, &code);
    if (done) {
        cli_outputs_make_folders(outputs, output);
        zenith_status status = zenith_code_save(d->session.context, output, d->model->model,
                                                &code.code);
        done = cli_diffae_done(d, status, NULL);
    }
    if (done) report(d, input, output, &code.code, started);
    cli_code_free(&code);
    return done;
}

static void encode_one(cli_diffae *d, const cli_outputs *outputs, size_t index)
{
    const char *input = d->own.shared.inputs[index];
    char *output = cli_outputs_path(outputs, index, CLI_UNSET);
    d->line.number = (uint32_t)index;
    cli_progress_file(&d->session.progress, index, input);
    d->later = (uint64_t)cli_diffae_noise_steps(d) * (d->own.shared.input_count - index - 1);
    if (output == NULL) {
        cli_fail_memory(&d->failure);
        cli_diffae_failed(d, input);
    } else if (cli_output_stays(&d->own.shared, output)) {
        cli_session_kept(&d->session);
    } else if (encode(d, outputs, input, output)) {
        cli_session_done(&d->session);
    } else {
        cli_diffae_failed(d, input);
    }
    free(output);
}

static int run(const cli_settings *settings)
{
    cli_diffae d;
    cli_outputs outputs;
    int code = cli_outputs_plan(settings, formats, &outputs);
    if (code == CLI_DONE) code = cli_diffae_open(&d, settings, "encode", CLI_ENCODER);
    if (code != CLI_DONE) return code;
    d.line.all = (uint32_t)settings->input_count;
    for (size_t i = 0; i < settings->input_count && !cli_interrupted(); i++)
        encode_one(&d, &outputs, i);
    return cli_diffae_close(&d);
}

static const cli_option_group group = CLI_GROUP(
    "Codes",
    CLI_OPTION(CLI_NUMBER, cli_diffae_settings, noise_steps, "steps", 0, "N",
               "how often the network is asked on the way to the noise; default: 250", .min = 1,
               .max = 10000),
    CLI_FLAG_OPTION(
        cli_diffae_settings, no_noise, "no-noise", 0,
        "keep the code alone, which is quick: decoding it then gives another picture of the "
        "same things"));
static const cli_example examples[] = {
    {"zenith diffae encode face.jpg -o face.safetensors", "a code and its noise"},
    {"zenith diffae encode faces/ -o codes/ --no-noise", "codes alone, of a folder"},
    {NULL, NULL}};

const cli_command cli_diffae_encode = {
    .name = "diffae encode",
    .arguments = "IMAGE.. -o CODE [OPTIONS]",
    .summary = "turn pictures into codes and noise",
    .description =
        "Turns pictures (JPEG, PNG, WebP, PNM) into files with a code and the noise that holds the "
        "rest. EXIF orientation is applied, colour profiles are converted to sRGB, and the picture "
        "is scaled and cropped to the model's size. --json also prints the codes.",
    .groups = CLI_GROUPS(&cli_group_inputs, &cli_group_output, &cli_diffae_group_model, &group,
                         &cli_diffae_group_source, &cli_diffae_group_run, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_PICTURE,
    CLI_SETTINGS(cli_diffae_settings),
    .run = run,
};
