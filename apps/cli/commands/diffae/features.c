// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae features IMAGE.. -o CODES: the codes of many pictures as one array.
#include "apps/cli/commands/diffae/session.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

static const cli_format formats[] = {
    {"safetensors", ".safetensors", ".safetensors "}, {"npy", ".npy", ".npy "}, {NULL, NULL, NULL}};

struct job {
    cli_diffae d;
    cli_settings naming; // one output for all inputs
    cli_outputs outputs;
    bool array;           // an array alone, without names
    zenith_code_set *set; // else
    cli_code *codes;      // of an array
    size_t count;         // that are done
    size_t reused;        // of an earlier run
    json_t *names;        // of the rows
};

static void report(struct job *job, double started)
{
    cli_diffae *d = &job->d;
    const cli_settings *settings = &d->own.shared;
    if (!settings->json && !settings->quiet)
        cli_say("%zu picture%s -> %s, %u numbers %s", job->count, job->count == 1 ? "" : "s",
                job->outputs.place, (unsigned)d->info.numbers, job->count == 1 ? "" : "each");
    if (!settings->json) return;
    const zenith_run_facts facts = {.dtype = d->facts.dtype, .seconds = cli_clock() - started};
    json_t *more = json_pack("{s:[i,i], s:O, s:i, s:i}", "shape", (int)job->count,
                             (int)d->info.numbers, "pictures", job->names, "reused",
                             (int)job->reused, "failed", (int)d->session.failed);
    cli_session_report(&d->session, &(cli_result){.input = d->own.shared.inputs[0],
                                                  .output = job->outputs.place,
                                                  .width = d->own.shared.source.size.width,
                                                  .height = d->own.shared.source.size.height,
                                                  .model = d->name,
                                                  .facts = &facts,
                                                  .started = started,
                                                  .more = more});
}

static bool save_array(struct job *job)
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

// The code of an earlier run, or a new one. A picture that cannot be read is noted: true, without a
// row.
static bool add_picture(struct job *job, const char *input)
{
    cli_diffae *d = &job->d;
    cli_code code;
    bool known = false;
    zenith_status status = zenith_code_set_reuse(d->session.context, job->set, input, &known);
    if (status != ZENITH_OK) return cli_diffae_done(d, status, NULL);
    job->reused += known;
    job->count += known;
    if (known) return true;
    const bool made = cli_code_of_picture(d, input, false, &code);
    if (!made && cli_interrupted()) {
        cli_code_free(&code);
        return true; // it is no fault of the picture
    }
    if (!made) cli_diffae_failed(d, input);
    status = zenith_code_set_add(d->session.context, job->set, input, made ? &code.code : NULL);
    job->count += made && status == ZENITH_OK;
    cli_code_free(&code);
    return cli_diffae_done(d, status, NULL);
}

// Nothing was written, and so nothing is done.
static void say_no_array(struct job *job)
{
    job->d.session.told = true;
    cli_say("'%s' is not written: rows of npy have no names, so every picture must be readable; in "
            "safetensors (-o NAME.safetensors) those that are not have no row",
            job->outputs.place);
}

// Rows of an array have no names, so a picture that cannot be read ends it.
static bool add_to_array(struct job *job, const char *input)
{
    return cli_code_of_picture(&job->d, input, false, &job->codes[job->count++]);
}

static bool save(struct job *job)
{
    cli_diffae *d = &job->d;
    if (job->array) return save_array(job);
    return cli_diffae_done(d, zenith_code_set_finish(d->session.context, job->set, true), NULL);
}

static void make_all(struct job *job)
{
    cli_diffae *d = &job->d;
    const size_t all = d->own.shared.input_count;
    const double started = cli_clock();
    bool going = true;
    for (size_t i = 0; i < all && going && !cli_interrupted(); i++) {
        const char *input = d->own.shared.inputs[i];
        const size_t before = job->count;
        d->line.number = (uint32_t)i; // also the seed of what a sparse encoder sees
        cli_progress_file(&d->session.progress, i, input);
        going = job->array ? add_to_array(job, input) : add_picture(job, input);
        if (!going) cli_diffae_failed(d, input);
        if (!going || job->count == before) continue;
        json_array_append_new(job->names, cli_json_text(input));
        cli_session_done(&d->session);
    }
    if (going && !cli_interrupted())
        going = save(job);
    else if (!job->array)
        (void)!zenith_code_set_finish(d->session.context, job->set,
                                      false); // a resumed run goes on from there
    if (cli_interrupted()) return;
    if (!going && job->array && job->count > 0 && d->failure.status == ZENITH_OK) say_no_array(job);
    if (going)
        report(job, started);
    else if (d->failure.status != ZENITH_OK)
        cli_diffae_failed(d, job->outputs.place);
}

static bool open_set(struct job *job)
{
    cli_diffae *d = &job->d;
    const zenith_code_set_params params = {.size = sizeof params,
                                           .width = d->own.shared.source.size.width,
                                           .height = d->own.shared.source.size.height,
                                           .resume = d->own.resume};
    job->names = json_array();
    if (!job->array)
        return cli_diffae_done(d,
                               zenith_code_set_open(d->session.context, job->outputs.place,
                                                    d->model->model, &params, &job->set),
                               NULL);
    job->codes = calloc(d->own.shared.input_count, sizeof *job->codes);
    return job->codes != NULL ||
           cli_fail_text(&d->failure, ZENITH_OUT_OF_MEMORY, "no memory for the codes");
}

static int check(struct job *job, const cli_settings *settings)
{
    int code = cli_outputs_plan(&job->naming, formats, &job->outputs);
    if (code != CLI_DONE) return code;
    if (job->outputs.folder) {
        cli_say("the codes go into one file: give -o NAME.npy or NAME.safetensors");
        return CLI_USAGE;
    }
    job->array = job->outputs.stream || strcmp(job->outputs.format->word, "npy") == 0;
    if (!job->array || !cli_diffae_of(settings)->resume) return CLI_DONE;
    cli_say("--resume is for -o NAME.safetensors, where rows have names");
    return CLI_USAGE;
}

static int run(const cli_settings *settings)
{
    struct job job = {.naming = *settings};
    job.naming.input_count = 1;
    job.naming.from_folder = false;
    int code = check(&job, settings);
    if (code == CLI_DONE) code = cli_diffae_open(&job.d, settings, "features", CLI_ENCODER);
    if (code != CLI_DONE) return code;
    job.d.line.all = (uint32_t)settings->input_count;
    if (open_set(&job))
        make_all(&job);
    else
        cli_session_model_failed(&job.d.session, &job.d.failure);
    for (size_t i = 0; job.array && i < job.count; i++) cli_code_free(&job.codes[i]);
    free(job.codes);
    json_decref(job.names);
    zenith_code_set_free(job.set);
    return cli_diffae_close(&job.d);
}

static const cli_option_group group = CLI_GROUP(
    "Codes",
    CLI_FLAG_OPTION(
        cli_diffae_settings, resume, "resume", 0,
        "go on where a run was stopped, killed even: a picture whose code is in the file or "
        "in FILE.parts already is not encoded again. Pictures are known by their paths"));
static const cli_example examples[] = {
    {"zenith diffae features faces/ -o codes.npy", "a row of 384 numbers for each"},
    {"zenith diffae features faces/ -o codes.safetensors --resume",
     "with names, mean and deviation, to train a prior; go on after a stop"},
    {NULL, NULL}};

const cli_command cli_diffae_features = {
    .name = "diffae features",
    .arguments = "IMAGE.. -o CODES [OPTIONS]",
    .summary = "write the codes of many pictures as one array",
    .description =
        "Writes the codes of pictures, without their noise, as one array with a row for each "
        "picture, in the order of the arguments and, in folders, of names. --json lists them. "
        "Safetensors also has the pictures' names and the mean and deviation of each number, which "
        "training on codes needs; a picture that cannot be read then has no row, is listed in the "
        "file, and makes the exit code 1. In npy it ends the run, and nothing is written.",
    .groups = CLI_GROUPS(&cli_group_inputs, &cli_diffae_group_file, &group, &cli_diffae_group_model,
                         &cli_diffae_group_source, &cli_diffae_group_run, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_PICTURE,
    CLI_SETTINGS(cli_diffae_settings),
    .run = run,
};
