// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae sample -o PICTURE: pictures of codes that the prior draws.
#include "apps/cli/commands/diffae/frames.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"

enum { USUAL_COUNT = 16, AT_ONCE = 32 };

struct job {
    uint32_t count;
    uint64_t seed;
    cli_code codes[AT_ONCE]; // of the pictures in work, with their noise
};

static void free_codes(struct job *job)
{
    for (int i = 0; i < AT_ONCE; i++) cli_code_free(&job->codes[i]);
}

// The codes from one on. Several at once, since the prior's weights are then read once a step; the
// codes are the same alone and among others.
static bool draw(cli_diffae *d, struct job *job, uint32_t first)
{
    const uint32_t left = job->count - first, count = left < AT_ONCE ? left : AT_ONCE;
    const zenith_diffae_params params = cli_diffae_params(d, (uint32_t)d->own.prior_steps,
                                                          job->seed + first);
    zenith_code codes[AT_ONCE];
    free_codes(job);
    for (uint32_t i = 0; i < count; i++) {
        if (!cli_code_create(d, true, &job->codes[i])) return false;
        codes[i] = job->codes[i].code;
    }
    cli_step_line_phase(&d->line, "drawing codes");
    d->drawing = true;
    const zenith_status status = zenith_diffae_sample(d->session.context, d->model->model, codes,
                                                      count, &params);
    d->drawing = false;
    return cli_diffae_done(d, status, NULL);
}

static bool make(void *cookie, cli_diffae *d, uint32_t index, cli_code *out)
{
    struct job *job = cookie;
    if (index % AT_ONCE == 0 && !draw(d, job, index)) return false;
    return cli_code_copy(d, &job->codes[index % AT_ONCE], out);
}

static bool sample(cli_diffae *d, const cli_outputs *outputs, struct job *job)
{
    cli_frames frames = {.name = "sample",
                         .count = job->count,
                         .size = d->own.shared.source.size,
                         .make = make,
                         .cookie = job};
    if (!cli_diffae_seed(d, &job->seed)) return false;
    return cli_frames_write(d, outputs, &frames,
                            json_pack("{s:o}", "seed", cli_json_seed(job->seed)));
}

static int run(const cli_settings *settings)
{
    cli_diffae d;
    cli_frame_places places;
    struct job job = {.count = settings->sampling.count > 0 ? (uint32_t)settings->sampling.count
                                                            : USUAL_COUNT};
    int code = cli_show_options_agree(settings, false) ? CLI_DONE : CLI_USAGE;
    if (code == CLI_DONE) code = cli_frames_plan(settings, "sample.code", &places);
    if (code == CLI_DONE) code = cli_diffae_open(&d, settings, "sample", CLI_DECODER | CLI_PRIOR);
    if (code != CLI_DONE) return code;
    if (!sample(&d, &places.outputs, &job)) cli_diffae_failed(&d, "sample");
    free_codes(&job);
    return cli_diffae_close(&d);
}

static const cli_option_group group = CLI_GROUP(
    "Pictures",
    CLI_OPTION(CLI_NUMBER, cli_settings, sampling.count, "count", 'n', "N",
               "pictures to make; default: 16", .min = 1, .max = 100000),
    CLI_DIFFAE_STEPS,
    CLI_OPTION(CLI_NUMBER, cli_diffae_settings, prior_steps, "prior-steps", 0, "N",
               "how often the prior is asked for a code; default: 200, by known pictures 20",
               .min = 1, .max = 10000),
    CLI_DIFFAE_SEED,
    CLI_OPTION(CLI_DIMENSIONS, cli_settings, source.size, "size", 's', "WxH",
               "of each picture; default: the size that the model was trained with"),
    CLI_DIFFAE_PREVIEWS, CLI_PICTURE_FORMAT);
static const cli_example examples[] = {
    {"zenith diffae sample -n 16 --seed 1 -o faces.png", "sixteen faces, four by four"},
    {"zenith diffae sample -n 100 --steps 20 -o faces/", "a hundred files, quickly"},
    {NULL, NULL}};

const cli_command cli_diffae_sample = {
    .name = "diffae sample",
    .arguments = "-o PICTURE [OPTIONS]",
    .summary = "draw new pictures",
    .description = "Draws codes by the model's prior and makes pictures of them: one picture with "
                   "all of them, or in a folder a file for each.",
    .groups = CLI_GROUPS(&cli_diffae_group_output, &cli_diffae_group_model, &group,
                         &cli_group_picture, &cli_group_show, &cli_diffae_group_run,
                         &cli_group_report),
    .examples = examples,
    .takes = CLI_TAKES_WORDS,
    CLI_SETTINGS(cli_diffae_settings),
    .run = run,
};
