// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae interpolate A B -o PICTURE: pictures between two.
#include "apps/cli/commands/diffae/frames.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_COUNT = 8, COLUMNS = 8 };

struct job {
    cli_code ends[2];
    uint32_t count;
    const char *input; // in work
};

static bool make(void *cookie, cli_diffae *d, uint32_t index, cli_code *out)
{
    const struct job *job = cookie;
    const double weight = job->count > 1 ? (double)index / (job->count - 1) : 0.5;
    if (!cli_code_copy(d, &job->ends[0], out)) return false;
    return cli_diffae_done(d,
                           zenith_diffae_mix(d->session.context, d->model->model,
                                             &job->ends[0].code, &job->ends[1].code, weight,
                                             &out->code),
                           NULL);
}

// Noise is mixed where both have it, of one size; else all pictures begin with the same.
static bool read_ends(cli_diffae *d, struct job *job)
{
    zenith_code *first = &job->ends[0].code, *second = &job->ends[1].code;
    for (int i = 0; i < 2; i++) {
        const uint64_t pictures = (uint64_t)cli_diffae_steps(d) * job->count;
        d->later = pictures + (i == 0 && !cli_code_is(d->own.shared.inputs[1])
                                   ? cli_diffae_noise_steps(d)
                                   : 0);
        job->input = d->own.shared.inputs[i];
        if (!cli_code_read(d, job->input, true, &job->ends[i])) return false;
    }
    if (first->width != second->width || first->height != second->height)
        return cli_fail_text(&d->failure, ZENITH_INVALID_ARGUMENT,
                             "the first is of %ux%u pixels and the second of %ux%u: encode both "
                             "with one --size",
                             (unsigned)first->width, (unsigned)first->height,
                             (unsigned)second->width, (unsigned)second->height);
    return true;
}

// A file's arrays stay the file's.
static void forget_noise(cli_code *code)
{
    if (code->file == NULL) free(code->code.noise);
    code->code.noise = NULL;
}

static bool interpolate(cli_diffae *d, const cli_outputs *outputs, struct job *job)
{
    cli_frames frames = {.name = d->own.shared.inputs[0],
                         .count = job->count,
                         .columns = COLUMNS,
                         .animated = !outputs->folder &&
                                     strcmp(outputs->format->word, "webp") == 0 && job->count > 1,
                         .make = make,
                         .cookie = job};
    d->line.all = 1;
    if (!cli_diffae_seed(d, &frames.seed) || !read_ends(d, job)) return false;
    if (job->ends[0].code.noise == NULL || job->ends[1].code.noise == NULL)
        for (int i = 0; i < 2; i++) forget_noise(&job->ends[i]);
    frames.size = (cli_dimensions){job->ends[0].code.width, job->ends[0].code.height};
    return cli_frames_write(d, outputs, &frames,
                            json_pack("{s:b}", "animated", (int)frames.animated));
}

static int run(const cli_settings *settings)
{
    cli_diffae d;
    cli_frame_places places;
    struct job job = {.count = settings->sampling.count > 0 ? (uint32_t)settings->sampling.count
                                                            : USUAL_COUNT,
                      .input = settings->inputs[0]};
    const bool codes = cli_code_is(settings->inputs[0]) && cli_code_is(settings->inputs[1]);
    int code = cli_show_options_agree(settings, false) ? CLI_DONE : CLI_USAGE;
    if (code == CLI_DONE) code = cli_frames_plan(settings, settings->inputs[0], &places);
    if (code == CLI_DONE)
        code = cli_diffae_open(&d, settings, "interpolate",
                               (codes ? 0 : CLI_ENCODER) | CLI_DECODER);
    if (code != CLI_DONE) return code;
    d.own.shared.input_count = 1; // both are one result
    if (!interpolate(&d, &places.outputs, &job)) cli_diffae_failed(&d, job.input);
    for (int i = 0; i < 2; i++) cli_code_free(&job.ends[i]);
    return cli_diffae_close(&d);
}

static const cli_option_group group = CLI_GROUP(
    "Pictures",
    CLI_OPTION(CLI_NUMBER, cli_settings, sampling.count, "count", 'n', "N",
               "pictures, the first and the last of which are the two; default: 8", .min = 1,
               .max = 1000),
    CLI_OPTION(CLI_NUMBER, cli_diffae_settings, delay, "delay", 0, "MS",
               "of an animation: milliseconds for each picture; default: 100", .min = 10,
               .max = 60000),
    CLI_DIFFAE_STEPS, CLI_DIFFAE_SEED, CLI_DIFFAE_FORCE, CLI_DIFFAE_PREVIEWS,
    CLI_PICTURE_FORMAT_OF(
        "of the picture; webp is an animation. Default: by the ending of -o, else png"));
static const cli_example examples[] = {
    {"zenith diffae interpolate a.jpg b.jpg -o between.png", "eight pictures in a row"},
    {"zenith diffae interpolate a.safetensors b.safetensors -n 30 -o between.webp "
     "--steps 20",
     "an animation, from codes that are there already"},
    {NULL, NULL}};

const cli_command cli_diffae_interpolate = {
    .name = "diffae interpolate",
    .arguments = "A B -o PICTURE [OPTIONS]",
    .summary = "make the pictures between two",
    .description =
        "Makes pictures from one picture to another: codes on the straight line between theirs, "
        "noise on the arc. A and B are pictures, or codes of zenith diffae encode. The result is a "
        "picture with all of them, an animation (.webp), or in a folder a file for each.",
    .groups = CLI_GROUPS(&cli_diffae_group_output, &cli_diffae_group_model, &group,
                         &cli_diffae_group_noise, &cli_diffae_group_source, &cli_group_picture,
                         &cli_group_show, &cli_diffae_group_run, &cli_group_report),
    .examples = examples,
    .min_inputs = 2,
    .max_inputs = 2,
    CLI_SETTINGS(cli_diffae_settings),
    .run = run,
};
