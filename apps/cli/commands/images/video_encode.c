// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith encode --video: a clip's frames to latents, a step at a time. Frames come from picture
// files, read row by row as the network runs, or from a Y4M stream; there each is a PPM in memory,
// so that --fit and --size work as for files. The latents are the only buffer that grows. Where the
// last step has too few frames, the last one is repeated; the file says how many there were.
#include "apps/cli/commands/images/opened_picture.h"
#include "apps/cli/commands/images/video.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 8, HEADER = 64 };

typedef struct clip_job {
    cli_session *session;
    const cli_open_model *model;
    const cli_outputs *outputs;
    zenith_video_source *stream; // NULL: the inputs are files
    zenith_video_info video;
    uint8_t *ppm[MOST_FRAMES]; // of a stream: the frames of a step
    size_t ppm_bytes;
    size_t frames, repeated; // taken so far; of them the last one again
    bool over;
    cli_picture pictures[MOST_FRAMES];
    zenith_source_info first; // of the first frame
    zenith_clip *clip;
    float *latents;
    size_t count, room, each; // latents; numbers of one
    zenith_latent latent;     // the last one's shape
    zenith_run_facts facts;
    cli_failure failure;
} clip_job;

// --- frames -------------------------------------------------------------------------------------

static bool open_stream(clip_job *job)
{
    const cli_settings *settings = job->session->settings;
    const char *input = settings->inputs[0];
    const size_t length = strlen(input);
    const bool y4m = strcmp(input, "-") == 0 ||
                     (length > 4 && strcmp(input + length - 4, ".y4m") == 0);
    if (settings->input_count != 1 || !y4m) return true;
    zenith_status status = zenith_video_source_open(job->session->context, input, &job->stream);
    if (status != ZENITH_OK) return cli_fail(job->session, &job->failure, status, NULL);
    job->video = (zenith_video_info){.size = sizeof job->video};
    zenith_video_source_get_info(job->stream, &job->video);
    return true;
}

// The frame of place t as a PPM; *there is false after the last.
static bool read_ppm(clip_job *job, uint32_t t, bool *there)
{
    char header[HEADER];
    const size_t pixels = (size_t)job->video.width * job->video.height * 3;
    const int length = snprintf(header, sizeof header, "P6\n%u %u\n255\n",
                                (unsigned)job->video.width, (unsigned)job->video.height);
    job->ppm_bytes = (size_t)length + pixels;
    if (job->ppm[t] == NULL) job->ppm[t] = malloc(job->ppm_bytes);
    if (job->ppm[t] == NULL) return cli_fail_memory(&job->failure);
    memcpy(job->ppm[t], header, (size_t)length);
    zenith_status status = zenith_video_source_next(job->stream, job->ppm[t] + length, there);
    return status == ZENITH_OK || cli_fail(job->session, &job->failure, status, NULL);
}

static bool open_frame(clip_job *job, uint32_t t)
{
    const cli_settings *settings = job->session->settings;
    cli_picture *picture = &job->pictures[t];
    const zenith_model_info *info = &job->model->info;
    bool there = job->stream == NULL && job->frames < settings->input_count;
    if (job->stream != NULL && !job->over && !read_ppm(job, t, &there)) return false;
    if (!there) job->over = true;
    if (!there && t == 0) return true; // the clip ends with whole steps
    picture->moments = cli_encode_of(settings)->moments;
    const uint8_t *ppm = job->stream == NULL ? NULL : job->ppm[there ? t : t - 1];
    if (!there && job->stream != NULL) { // the next repetition finds it in its own place
        if (job->ppm[t] == NULL) job->ppm[t] = malloc(job->ppm_bytes);
        if (job->ppm[t] == NULL) return cli_fail_memory(&job->failure);
        memcpy(job->ppm[t], ppm, job->ppm_bytes);
        ppm = job->ppm[t];
    }
    const size_t number = there ? job->frames : settings->input_count - 1;
    job->frames++;
    job->repeated += !there;
    if (job->stream != NULL)
        return cli_picture_open_memory(job->session, info, ppm, job->ppm_bytes, picture,
                                       &job->failure);
    return cli_picture_open(job->session, info, settings->inputs[number], picture, &job->failure);
}

static void close_frames(clip_job *job)
{
    for (int t = 0; t < MOST_FRAMES; t++) {
        cli_picture_close(&job->pictures[t]);
        job->pictures[t] = (cli_picture){.source = NULL};
    }
}

// --- steps --------------------------------------------------------------------------------------

static bool open_clip(clip_job *job)
{
    const zenith_run_params run = cli_session_run_params(job->session, &job->facts, 0);
    const cli_picture *picture = &job->pictures[0];
    const zenith_clip_params params = {.size = sizeof params,
                                       .part = ZENITH_ENCODER,
                                       .width = picture->info.width,
                                       .height = picture->info.height,
                                       .run = &run};
    job->first = picture->info;
    job->latent = picture->latent;
    job->latent.data = NULL;
    if (cli_encode_of(job->session->settings)->space != CLI_UNSET)
        job->latent.space = (zenith_space)cli_encode_of(job->session->settings)->space;
    job->each = (size_t)job->latent.width * job->latent.height * job->latent.channels;
    zenith_status status = zenith_clip_open(job->session->context, job->model->model, &params,
                                            &job->clip);
    return status == ZENITH_OK || cli_fail(job->session, &job->failure, status, NULL);
}

static bool make_room(clip_job *job)
{
    if (job->count < job->room) return true;
    const size_t room = job->room ? 2 * job->room : 16;
    float *more = realloc(job->latents, room * job->each * sizeof *more);
    if (more == NULL) return cli_fail_memory(&job->failure);
    job->latents = more;
    job->room = room;
    return true;
}

static bool run_step(clip_job *job, uint32_t frames)
{
    zenith_image images[MOST_FRAMES];
    if (job->clip == NULL && !open_clip(job)) return false;
    if (!make_room(job)) return false;
    for (uint32_t t = 0; t < frames; t++) images[t] = job->pictures[t].image;
    zenith_latent latent = job->latent;
    latent.data = job->latents + job->count * job->each;
    const double all = job->stream != NULL ? 0 : (double)job->session->settings->input_count;
    cli_progress_call(
        &job->session->progress, (double)job->first.width * job->first.height * (double)job->frames,
        all > 0 ? (double)(job->frames - frames) / all : 0, all > 0 ? frames / all : 0);
    zenith_status status = zenith_clip_step(job->clip, images, frames, &latent);
    if (status != ZENITH_OK) return cli_fail(job->session, &job->failure, status, NULL);
    job->count++;
    return true;
}

static bool run_steps(clip_job *job)
{
    const zenith_model_info *info = &job->model->info;
    if (info->frames == 0 || info->frames > MOST_FRAMES || info->first_frames > MOST_FRAMES)
        return cli_fail_text(&job->failure, ZENITH_UNSUPPORTED,
                             "%s knows pictures only: leave --video out, or take a model of video",
                             info->name);
    while (!job->over && !cli_interrupted()) {
        const uint32_t frames = job->count == 0 ? info->first_frames : info->frames;
        bool opened = true;
        for (uint32_t t = 0; opened && t < frames && !(t == 0 && job->over); t++)
            opened = open_frame(job, t);
        const bool none = job->over && job->pictures[0].source == NULL;
        const bool done = opened && (none || run_step(job, frames));
        close_frames(job);
        if (!done) return false;
        if (none) break;
        if (job->stream == NULL && job->frames >= job->session->settings->input_count)
            job->over = true;
    }
    if (cli_interrupted()) return cli_fail_text(&job->failure, ZENITH_CANCELLED, "cancelled");
    return job->count > 0 ||
           cli_fail_text(&job->failure, ZENITH_BAD_FILE, "there are no frames in it");
}

// --- the file -----------------------------------------------------------------------------------

static bool save(clip_job *job, const char *path)
{
    const int store = cli_encode_of(job->session->settings)->store;
    const zenith_latent_save_params params = {.size = sizeof params,
                                              .format = job->outputs->format->word,
                                              .number = store == CLI_UNSET ? ZENITH_F32
                                                                           : (zenith_number)store,
                                              .model = job->model->info.name,
                                              .source = &job->first,
                                              .frames = (uint32_t)(job->frames - job->repeated)};
    zenith_latent *all = calloc(job->count, sizeof *all);
    if (all == NULL) return cli_fail_memory(&job->failure);
    for (size_t i = 0; i < job->count; i++) {
        all[i] = job->latent;
        all[i].data = job->latents + i * job->each;
    }
    cli_outputs_make_folders(job->outputs, path);
    zenith_status status = zenith_latent_save(job->session->context, path, all, job->count,
                                              &params);
    free(all);
    return status == ZENITH_OK || cli_fail(job->session, &job->failure, status, NULL);
}

static void report(const clip_job *job, const char *path, double started)
{
    const zenith_latent *latent = &job->latent;
    json_t *more = json_pack("{s:s, s:[i,i,i,i], s:i}", "format", job->outputs->format->word,
                             "shape", (int)job->count, (int)latent->channels, (int)latent->height,
                             (int)latent->width, "frames", (int)(job->frames - job->repeated));
    if (job->repeated > 0 && !job->session->settings->quiet)
        cli_say("the last frame was repeated %zu times, to fill the last step%s", job->repeated,
                strcmp(job->outputs->format->word, "safetensors") == 0
                    ? ": a decode leaves these out"
                    : "");
    cli_session_report(job->session, &(cli_result){.input = job->session->settings->inputs[0],
                                                   .output = path,
                                                   .width = job->first.width,
                                                   .height = job->first.height,
                                                   .model = job->model->info.name,
                                                   .facts = &job->facts,
                                                   .started = started,
                                                   .more = more});
}

void cli_encode_video(cli_session *session, const cli_open_model *model, const cli_outputs *outputs)
{
    clip_job job = {.session = session, .model = model, .outputs = outputs};
    const char *input = session->settings->inputs[0];
    const double started = cli_clock();
    char *path = cli_outputs_path(outputs, 0, CLI_UNSET);
    cli_progress_file(&session->progress, 0, input);
    bool done = path != NULL || cli_fail_memory(&job.failure);
    done = done && open_stream(&job) && run_steps(&job) && save(&job, path);
    job.facts.seconds = cli_clock() - started;
    if (done) {
        report(&job, path, started);
        cli_session_done(session);
    } else {
        cli_session_failed(session, input, &job.failure);
    }
    zenith_clip_free(job.clip);
    zenith_video_source_free(job.stream);
    for (int t = 0; t < MOST_FRAMES; t++) free(job.ppm[t]);
    free(job.latents);
    free(path);
}
