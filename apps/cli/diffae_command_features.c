// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae features IMAGE.. -o CODES: the codes of many pictures as one array.
#include "apps/cli/diffae_session.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/outputs.h"
#include "apps/cli/report.h"
#include "apps/cli/terminal.h"

#include <stdlib.h>

static const cli_format formats[] = {
    {"safetensors", ".safetensors", ".safetensors "}, {"npy", ".npy", ".npy "}, {NULL, NULL, NULL}};

struct job {
    cli_diffae d;
    cli_settings naming; // one output for all inputs
    cli_outputs outputs;
    cli_code *codes;
    size_t count; // that are done
};

static void report(struct job *job, double started)
{
    cli_diffae *d = &job->d;
    const zenith_run_facts facts = {.dtype = d->facts.dtype, .seconds = cli_clock() - started};
    json_t *names = json_array();
    for (size_t i = 0; i < job->count; i++)
        json_array_append_new(names, cli_json_text(d->settings.inputs[i]));
    json_t *more = json_pack("{s:[i,i], s:o}", "shape", (int)job->count, (int)d->info.numbers,
                             "pictures", names);
    cli_session_report(&d->session, &(cli_result){.input = d->settings.inputs[0],
                                                  .output = job->outputs.place,
                                                  .width = d->settings.size.width,
                                                  .height = d->settings.size.height,
                                                  .model = d->model->info.name,
                                                  .facts = &facts,
                                                  .started = started,
                                                  .more = more});
}

static bool save(struct job *job)
{
    cli_diffae *d = &job->d;
    zenith_code *codes = calloc(job->count, sizeof *codes);
    if (codes == NULL)
        return cli_fail_text(&d->failure, ZENITH_OUT_OF_MEMORY, "no memory for the codes");
    for (size_t i = 0; i < job->count; i++) codes[i] = job->codes[i].code;
    const zenith_status status = zenith_codes_save(d->session.context, job->outputs.place,
                                                   d->model->model, codes, job->count);
    free(codes);
    return cli_diffae_done(d, status, NULL);
}

// A picture that cannot be read ends it: rows without their picture would be worth nothing.
static void make_all(struct job *job)
{
    cli_diffae *d = &job->d;
    const size_t all = d->settings.input_count;
    const double started = cli_clock();
    bool going = true;
    for (size_t i = 0; i < all && going && !cli_interrupted(); i++) {
        cli_progress_file(&d->session.progress, i, d->settings.inputs[i]);
        going = cli_code_of_picture(d, d->settings.inputs[i], false, &job->codes[i]);
        job->count = i + 1;
        if (!going) cli_diffae_failed(d, d->settings.inputs[i]);
        if (going) cli_session_done(&d->session);
    }
    if (!going || cli_interrupted()) return;
    if (save(job))
        report(job, started);
    else
        cli_diffae_failed(d, job->outputs.place);
}

static int run(const cli_settings *settings)
{
    struct job job = {.naming = *settings};
    job.naming.input_count = 1;
    job.naming.from_folder = false;
    int code = cli_outputs_plan(&job.naming, formats, &job.outputs);
    if (code == CLI_DONE && job.outputs.folder) {
        cli_say("the codes go into one file: give -o NAME.npy or NAME.safetensors");
        code = CLI_USAGE;
    }
    if (code == CLI_DONE) code = cli_diffae_open(&job.d, settings, "features", CLI_ENCODER);
    if (code != CLI_DONE) return code;
    job.d.line.all = (uint32_t)settings->input_count;
    job.codes = calloc(settings->input_count, sizeof *job.codes);
    if (job.codes != NULL) {
        make_all(&job);
    } else {
        cli_fail_text(&job.d.failure, ZENITH_OUT_OF_MEMORY, "no memory for the codes");
        cli_session_model_failed(&job.d.session, &job.d.failure);
    }
    for (size_t i = 0; i < job.count; i++) cli_code_free(&job.codes[i]);
    free(job.codes);
    return cli_diffae_close(&job.d);
}

static const cli_option_group *const groups[] = {&cli_group_inputs,
                                                 &cli_diffae_group_file,
                                                 &cli_diffae_group_model,
                                                 &cli_diffae_group_source,
                                                 &cli_diffae_group_run,
                                                 &cli_group_report,
                                                 NULL};
static const cli_example examples[] = {
    {"zenith diffae features faces/ -m ffhq256 -o codes.npy", "a row of 512 numbers for each"},
    {NULL, NULL}};

const cli_command cli_diffae_features = {
    .name = "diffae features",
    .arguments = "IMAGE.. -o CODES --model FOLDER [OPTIONS]",
    .summary = "write the codes of many pictures as one array",
    .description =
        "Writes the codes of pictures, without their noise, as one array with a row for each "
        "picture, in the order of the arguments and, in folders, of names. --json lists them. A "
        "picture that cannot be read ends it, and nothing is written.",
    .groups = groups,
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_PICTURE,
    .run = run,
};
