// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith decode --video: the latents of a file are one clip. Rows of its frames go straight into
// picture files, or whole frames into a Y4M stream.
#include "apps/cli/commands/images/video.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 8 };

typedef struct clip_job {
    cli_session *session;
    const cli_open_model *model;
    const cli_outputs *outputs;
    size_t index; // of the input
    zenith_clip *clip;
    uint32_t width, height;
    zenith_video_target *stream;         // of Y4M
    uint8_t *pixels[MOST_FRAMES];        // of its frames
    zenith_target *targets[MOST_FRAMES]; // of pictures
    char *first_path, *paths[MOST_FRAMES];
    size_t frames; // so far
    size_t most;   // of the clip; those after these are repetitions, and are left out
    zenith_run_facts facts;
    cli_failure *failure;
} clip_job;

bool cli_outputs_y4m(const cli_outputs *outputs)
{
    return outputs != NULL && strcmp(outputs->format->word, "y4m") == 0;
}

static bool check(clip_job *job)
{
    const zenith_model_info *info = &job->model->info;
    if (info->frames == 0 || info->frames > MOST_FRAMES)
        return cli_fail_text(job->failure, ZENITH_UNSUPPORTED,
                             "%s knows pictures only: leave --video out, or take a model of video",
                             info->name);
    if (job->outputs == NULL || strcmp(job->outputs->format->word, "npy") == 0)
        return cli_fail_text(job->failure, ZENITH_INVALID_ARGUMENT,
                             "--video needs pictures or Y4M to go to: give -o and no npy");
    if (job->outputs->stream && !cli_outputs_y4m(job->outputs))
        return cli_fail_text(job->failure, ZENITH_INVALID_ARGUMENT,
                             "standard output takes the frames of a clip as Y4M: add --format y4m");
    return true;
}

static bool open_clip(clip_job *job, const zenith_latent *latent)
{
    const zenith_run_params run = cli_session_run_params(job->session, &job->facts, 0);
    const uint32_t factor = job->model->info.factor;
    if (latent->width > UINT32_MAX / factor || latent->height > UINT32_MAX / factor)
        return cli_fail_text(job->failure, ZENITH_LIMIT, "the frames would be too large");
    job->width = latent->width * factor;
    job->height = latent->height * factor;
    const zenith_clip_params params = {.size = sizeof params,
                                       .part = ZENITH_DECODER,
                                       .width = job->width,
                                       .height = job->height,
                                       .run = &run};
    zenith_status status = zenith_clip_open(job->session->context, job->model->model, &params,
                                            &job->clip);
    return status == ZENITH_OK || cli_fail(job->session, job->failure, status, NULL);
}

// --- where frames go ----------------------------------------------------------------------------

static bool open_stream(clip_job *job)
{
    const zenith_video_info info = {
        .size = sizeof info, .width = job->width, .height = job->height};
    if (job->stream != NULL) return true;
    job->first_path = cli_outputs_path(job->outputs, job->index, CLI_UNSET);
    if (job->first_path == NULL) return cli_fail_memory(job->failure);
    zenith_status status = zenith_video_target_open(job->session->context, job->first_path, &info,
                                                    &job->stream);
    return status == ZENITH_OK || cli_fail(job->session, job->failure, status, NULL);
}

static bool open_picture(clip_job *job, uint32_t t, zenith_image *image)
{
    job->paths[t] = cli_outputs_path(job->outputs, job->index, (int64_t)(job->frames + t));
    if (job->paths[t] == NULL) return cli_fail_memory(job->failure);
    const bool opened = cli_session_target(job->session, job->outputs, job->paths[t], job->width,
                                           job->height, &job->targets[t], job->failure);
    image->rows = zenith_target_rows;
    image->cookie = job->targets[t];
    return opened;
}

static bool is_left_out(const clip_job *job, uint32_t t)
{
    return job->frames + t >= job->most;
}

static bool open_frame(clip_job *job, uint32_t t, zenith_image *image)
{
    *image = (zenith_image){.size = sizeof *image, .width = job->width, .height = job->height};
    if (!cli_outputs_y4m(job->outputs) && !is_left_out(job, t)) return open_picture(job, t, image);
    if (job->pixels[t] == NULL) job->pixels[t] = malloc((size_t)job->width * job->height * 3);
    image->data = job->pixels[t];
    if (image->data == NULL) return cli_fail_memory(job->failure);
    return is_left_out(job, t) || open_stream(job);
}

static bool finish_frame(clip_job *job, uint32_t t)
{
    zenith_status status = job->stream != NULL
                               ? zenith_video_target_write(job->stream, job->pixels[t])
                               : zenith_target_finish(job->targets[t]);
    return status == ZENITH_OK || cli_fail(job->session, job->failure, status, NULL);
}

static void close_frames(clip_job *job)
{
    for (int t = 0; t < MOST_FRAMES; t++) {
        zenith_target_free(job->targets[t]);
        job->targets[t] = NULL;
        if (job->first_path == NULL)
            job->first_path = job->paths[t];
        else
            free(job->paths[t]);
        job->paths[t] = NULL;
    }
}

// --- steps --------------------------------------------------------------------------------------

static bool run_step(clip_job *job, const zenith_latent *latent, uint32_t index, uint32_t count)
{
    zenith_image images[MOST_FRAMES];
    const uint32_t frames = zenith_clip_frames(job->clip);
    bool done = true;
    for (uint32_t t = 0; done && t < frames; t++) done = open_frame(job, t, &images[t]);
    cli_progress_call(&job->session->progress, (double)job->width * job->height * count,
                      (double)index / count, 1.0 / count);
    if (done) {
        zenith_status status = zenith_clip_step(job->clip, images, frames, latent);
        done = status == ZENITH_OK || cli_fail(job->session, job->failure, status, NULL);
    }
    uint32_t kept = 0;
    for (; done && kept < frames && !is_left_out(job, kept); kept++) done = finish_frame(job, kept);
    if (done) job->frames += kept;
    close_frames(job);
    return done;
}

static bool run_steps(clip_job *job, zenith_latent_file *file, uint32_t count)
{
    const int space = cli_decode_of(job->session->settings)->space;
    for (uint32_t i = 0; i < count && !cli_interrupted(); i++) {
        zenith_latent latent = {.size = sizeof latent};
        zenith_status status = zenith_latent_file_get(file, i, &latent);
        if (status != ZENITH_OK) return cli_fail(job->session, job->failure, status, NULL);
        if (space != CLI_UNSET) latent.space = (zenith_space)space;
        if (job->clip == NULL && !open_clip(job, &latent)) return false;
        if (!run_step(job, &latent, i, count)) return false;
    }
    if (cli_interrupted()) return cli_fail_text(job->failure, ZENITH_CANCELLED, "cancelled");
    zenith_status status = job->stream != NULL ? zenith_video_target_finish(job->stream)
                                               : ZENITH_OK;
    return status == ZENITH_OK || cli_fail(job->session, job->failure, status, NULL);
}

bool cli_decode_video(cli_session *session, const cli_open_model *model, const cli_outputs *outputs,
                      size_t index, zenith_latent_file *file, cli_failure *failure)
{
    clip_job job = {
        .session = session, .model = model, .outputs = outputs, .index = index, .failure = failure};
    zenith_latent_info stored = {.size = sizeof stored};
    const double started = cli_clock();
    zenith_latent_file_get_info(file, &stored);
    job.most = stored.frames ? stored.frames : SIZE_MAX;
    const bool done = check(&job) && run_steps(&job, file, stored.count);
    if (done) {
        job.facts.seconds = cli_clock() - started;
        json_t *more = json_pack("{s:s, s:i}", "format", outputs->format->word, "frames",
                                 (int)job.frames);
        cli_session_report(session, &(cli_result){.input = session->settings->inputs[index],
                                                  .output = job.first_path,
                                                  .width = job.width,
                                                  .height = job.height,
                                                  .model = model->info.name,
                                                  .facts = &job.facts,
                                                  .started = started,
                                                  .more = more});
    }
    zenith_clip_free(job.clip);
    zenith_video_target_free(job.stream);
    for (int t = 0; t < MOST_FRAMES; t++) free(job.pixels[t]);
    free(job.first_path);
    return done;
}
