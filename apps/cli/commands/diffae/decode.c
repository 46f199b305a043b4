// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae decode CODE.. -o PICTURE: codes to pictures.
#include "apps/cli/commands/diffae/picture_grid.h"
#include "apps/cli/commands/diffae/session.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>

struct job {
    cli_diffae d;
    cli_outputs outputs;
    uint64_t seed; // of the first
};

static void report(struct job *job, const char *input, const char *output, const zenith_code *code,
                   uint64_t seed, double started)
{
    cli_diffae *d = &job->d;
    const uint32_t steps = cli_diffae_steps(d);
    json_t *more = json_pack("{s:i, s:f}", "steps", (int)steps, "seconds_per_step",
                             cli_step_line_seconds(&d->line, steps));
    if (code->noise == NULL) json_object_set_new(more, "seed", cli_json_seed(seed));
    cli_code_report(d, input, output, code, started, more);
}

static bool decode(struct job *job, const char *input, const char *output, uint64_t seed)
{
    cli_diffae *d = &job->d;
    cli_code code;
    cli_grid grid = {.pixels = NULL};
    const double started = cli_clock();
    bool done = cli_code_open(d, input, &code);
    if (done && d->own.random) code.code.noise = NULL; // the file has it
    done = done && cli_grid_create(1, 1, code.code.width, code.code.height, &grid, &d->failure);
    if (done) {
        const zenith_image image = cli_grid_image(&grid, 0);
        cli_outputs_make_folders(&job->outputs, output);
        done = cli_code_decode(d, &code, seed, &image, output) &&
               cli_grid_write(&d->session, &grid, job->outputs.format, output, &d->failure);
    }
    if (done) report(job, input, output, &code.code, seed, started);
    cli_grid_free(&grid);
    cli_code_free(&code);
    return done;
}

static void decode_one(struct job *job, size_t index)
{
    cli_diffae *d = &job->d;
    const char *input = d->own.shared.inputs[index];
    char *output = cli_outputs_path(&job->outputs, index, CLI_UNSET);
    d->line.number = (uint32_t)index;
    cli_progress_file(&d->session.progress, index, input);
    d->later = (uint64_t)cli_diffae_steps(d) * (d->own.shared.input_count - index - 1);
    if (output == NULL) {
        cli_fail_memory(&d->failure);
        cli_diffae_failed(d, input);
    } else if (cli_output_stays(&d->own.shared, output)) {
        cli_session_kept(&d->session);
    } else if (decode(job, input, output, job->seed + index)) {
        cli_session_done(&d->session);
    } else {
        cli_diffae_failed(d, input);
    }
    free(output);
}

static int check_inputs(const cli_settings *settings)
{
    for (size_t i = 0; i < settings->input_count; i++) {
        if (cli_code_is(settings->inputs[i]) || settings->inputs[i][0] == '-') continue;
        cli_say("'%s' is not the name of a code (.safetensors); zenith diffae encode makes one of "
                "a picture",
                settings->inputs[i]);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

static int run(const cli_settings *settings)
{
    struct job job;
    int code = check_inputs(settings);
    if (code == CLI_DONE && !cli_show_options_agree(settings, false)) code = CLI_USAGE;
    if (code == CLI_DONE) code = cli_outputs_plan(settings, cli_formats_picture, &job.outputs);
    if (code == CLI_DONE) code = cli_diffae_open(&job.d, settings, "decode", CLI_DECODER);
    if (code != CLI_DONE) return code;
    job.d.line.all = (uint32_t)settings->input_count;
    if (!cli_diffae_seed(&job.d, &job.seed))
        cli_session_model_failed(&job.d.session, &job.d.failure);
    for (size_t i = 0;
         i < settings->input_count && !cli_interrupted() && job.d.failure.status == ZENITH_OK; i++)
        decode_one(&job, i);
    return cli_diffae_close(&job.d);
}

static const cli_option_group group = CLI_GROUP(
    "Picture", CLI_DIFFAE_STEPS,
    CLI_FLAG_OPTION(
        cli_diffae_settings, random, "random", 0,
        "leave the noise of the file alone, and draw another: another picture of the same "
        "code"),
    CLI_DIFFAE_SEED, CLI_DIFFAE_FORCE, CLI_DIFFAE_PREVIEWS, CLI_PICTURE_FORMAT);
static const cli_example examples[] = {
    {"zenith diffae decode face.safetensors -o face.png", "the picture"},
    {"zenith diffae decode face.safetensors -o other.png --random --seed 7 --steps 20",
     "another one of the same code, quickly"},
    {NULL, NULL}};

const cli_command cli_diffae_decode = {
    .name = "diffae decode",
    .arguments = "CODE.. -o PICTURE [OPTIONS]",
    .summary = "turn codes into pictures",
    .description = "Turns files of zenith diffae encode into pictures. A code without noise, or "
                   "with --random, becomes a picture by the noise of --seed.",
    .groups = CLI_GROUPS(&cli_group_inputs, &cli_group_output, &cli_diffae_group_model, &group,
                         &cli_group_picture, &cli_group_show, &cli_diffae_group_run,
                         &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_CODE,
    CLI_SETTINGS(cli_diffae_settings),
    .run = run,
};
