// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith decode LATENT.. -o OUT: latent files to pictures. Rows of the latent come from the mapped
// file and rows of the picture go straight into the encoder of its format. Only npy, the network's
// own floats, is held whole.
#include "apps/cli/commands/images/packed_latent.h"
#include "apps/cli/commands/images/video.h"
#include "apps/cli/session/file_kind.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/zenith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct job {
    cli_session *session;
    const cli_outputs *outputs; // NULL: only show
    size_t index;               // of the input
    const char *input;
    zenith_latent_file *file;
    zenith_latent_info stored;
    const cli_open_model *model;
    cli_failure failure;
};

// One latent of the file and the picture it becomes.
struct picture {
    zenith_latent latent;
    zenith_image image;
    uint32_t width, height; // of what is kept of the image
    cli_sink sink;
    float *floats;
    float *unpacked; // the latent's numbers, where the file has them in tokens
    char *output;
    zenith_run_facts facts;
};

enum { FRAME_DIGITS = 5 };

static bool choose_model(struct job *job)
{
    const cli_settings *settings = job->session->settings;
    const char *made_by = job->stored.model, *asked = settings->model;
    bool says = made_by[0] != 0;
    if (asked != NULL && says && !zenith_models_share_latents(asked, made_by) &&
        !cli_decode_of(settings)->force) {
        job->failure.model = true;
        return cli_fail_text(&job->failure, ZENITH_INVALID_ARGUMENT,
                             "made by %s, whose latents are not %s's: leave --model out, or add "
                             "--force to decode it all the same",
                             made_by, asked);
    }
    if (asked == NULL && !says && settings->weights == NULL) {
        job->failure.model = true;
        return cli_fail_text(&job->failure, ZENITH_AMBIGUOUS,
                             "the file does not say which model made it: give --model NAME");
    }
    const char *name = asked != NULL ? asked : says ? made_by : NULL;
    return cli_session_model(job->session, name, ZENITH_DECODER, &job->model, &job->failure);
}

static bool open_latents(struct job *job)
{
    zenith_status status = zenith_latent_file_open(job->session->context, job->input, &job->file);
    if (status != ZENITH_OK) {
        cli_fail(job->session, &job->failure, status, NULL);
        return cli_fail_not_latent(job->input, &job->failure);
    }
    job->stored = (zenith_latent_info){.size = sizeof job->stored};
    zenith_latent_file_get_info(job->file, &job->stored);
    if (cli_outputs_y4m(job->outputs) && !cli_decode_of(job->session->settings)->video)
        return cli_fail_text(&job->failure, ZENITH_INVALID_ARGUMENT,
                             "Y4M holds the frames of a clip: add --video");
    if (job->stored.count > 1 && job->outputs != NULL && job->outputs->stream &&
        !cli_decode_of(job->session->settings)->video)
        return cli_fail_text(&job->failure, ZENITH_INVALID_ARGUMENT,
                             "holds %u latents, and standard output takes one picture: name a file "
                             "or a folder",
                             (unsigned)job->stored.count);
    return choose_model(job);
}

static bool is_npy(const struct job *job)
{
    return job->outputs != NULL && strcmp(job->outputs->format->word, "npy") == 0;
}

static bool open_floats(struct job *job, struct picture *picture)
{
    zenith_image *image = &picture->image;
    picture->floats = malloc((size_t)image->width * image->height * 3 * sizeof(float));
    if (picture->floats == NULL)
        return cli_fail_text(&job->failure, ZENITH_OUT_OF_MEMORY,
                             "no memory for %ux%u floats: png and the other formats need none",
                             (unsigned)image->width, (unsigned)image->height);
    image->number = ZENITH_F32;
    image->data = picture->floats;
    return true;
}

static bool open_target(struct job *job, struct picture *picture)
{
    zenith_image *image = &picture->image;
    image->rows = cli_sink_rows;
    image->cookie = &picture->sink;
    image->restarts = true;
    if (job->outputs == NULL) return true;
    return cli_session_target(job->session, job->outputs, picture->output, picture->width,
                              picture->height, &picture->sink.target, &job->failure);
}

static bool choose_output(struct job *job, uint32_t index, struct picture *picture)
{
    int64_t number = job->stored.count > 1 ? (int64_t)index : CLI_UNSET;
    if (job->outputs == NULL) return true;
    picture->output = cli_outputs_path(job->outputs, job->index, number);
    if (picture->output != NULL) return true;
    return cli_fail_memory(&job->failure);
}

static bool open_output(struct job *job, struct picture *picture)
{
    cli_show how = cli_show_choose(job->session->settings);
    if (how != CLI_SHOW_NOT)
        picture->sink.preview = cli_preview_open(how, picture->width, picture->height);
    if (how != CLI_SHOW_NOT && picture->sink.preview == NULL) return cli_fail_memory(&job->failure);
    return is_npy(job) ? open_floats(job, picture) : open_target(job, picture);
}

// --- the numbers of a latent --------------------------------------------------------------------

static bool is_finite(const float *values, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) all = all && isfinite(values[i]);
    return all;
}

// The library refuses NaN and infinity when it comes to them. This check is earlier: before the
// output is begun and anything is computed.
static bool check_finite(struct job *job, const struct picture *picture)
{
    enum { ROWS = 16 };
    const zenith_latent *latent = &picture->latent;
    const size_t row = (size_t)latent->width * latent->channels;
    zenith_status status = ZENITH_OK;
    bool finite = true;
    if (latent->data != NULL) finite = is_finite(latent->data, row * latent->height);
    float *values = latent->data == NULL ? malloc(row * ROWS * sizeof *values) : NULL;
    if (latent->data == NULL && values == NULL) status = ZENITH_OUT_OF_MEMORY;
    for (uint32_t y = 0; values != NULL && finite && y < latent->height; y += ROWS) {
        uint32_t count = latent->height - y < ROWS ? latent->height - y : ROWS;
        status = latent->rows(latent->cookie, y, count, values);
        if (status != ZENITH_OK) break;
        finite = is_finite(values, row * count);
    }
    free(values);
    if (status != ZENITH_OK) return cli_fail(job->session, &job->failure, status, NULL);
    if (finite) return true;
    return cli_fail_text(
        &job->failure, ZENITH_BAD_FILE,
        "the latent has values that are NaN or infinite: no picture can be made of it");
}

// --- pictures -----------------------------------------------------------------------------------

// --unpad: at the right and at the bottom, what --fit pad added to the picture.
static void cut_padding(const struct job *job, struct picture *picture)
{
    const zenith_latent_info *stored = &job->stored;
    const uint32_t factor = job->model->info.factor;
    const zenith_image *image = &picture->image;
    bool whole = stored->crop_width != 0 && stored->crop_width == stored->source_width &&
                 stored->crop_height == stored->source_height;
    picture->width = image->width;
    picture->height = image->height;
    if (!cli_decode_of(job->session->settings)->unpad || !whole ||
        stored->crop_width > image->width || stored->crop_height > image->height ||
        image->width - stored->crop_width >= factor ||
        image->height - stored->crop_height >= factor)
        return;
    picture->width = stored->crop_width;
    picture->height = stored->crop_height;
    picture->sink.stride = image->width;
    picture->sink.height = picture->height;
}

static bool open_latent(struct job *job, uint32_t index, struct picture *picture)
{
    const cli_settings *settings = job->session->settings;
    const cli_decode_settings *own = cli_decode_of(settings);
    picture->latent = (zenith_latent){.size = sizeof picture->latent};
    zenith_status status = zenith_latent_file_get(job->file, index, &picture->latent);
    if (status != ZENITH_OK) return cli_fail(job->session, &job->failure, status, NULL);
    if (own->space != CLI_UNSET) picture->latent.space = (zenith_space)own->space;
    if (cli_latent_is_packed(&job->stored, &job->model->info) &&
        !cli_latent_unpack(job->session, &job->model->info, &picture->latent, &picture->unpacked,
                           &job->failure))
        return false;
    return check_finite(job, picture);
}

static bool open_picture(struct job *job, uint32_t index, struct picture *picture)
{
    uint32_t factor = job->model->info.factor;
    if (!open_latent(job, index, picture)) return false;
    if (picture->latent.width > UINT32_MAX / factor || picture->latent.height > UINT32_MAX / factor)
        return cli_fail_text(&job->failure, ZENITH_LIMIT, "the picture would be too large");
    picture->image = (zenith_image){.size = sizeof picture->image,
                                    .width = picture->latent.width * factor,
                                    .height = picture->latent.height * factor};
    cut_padding(job, picture);
    return open_output(job, picture);
}

static void cut_floats(struct picture *picture)
{
    const size_t from = (size_t)picture->image.width * 3, to = (size_t)picture->width * 3;
    for (uint32_t y = 0; to < from && y < picture->height; y++)
        memmove(picture->floats + y * to, picture->floats + y * from, to * sizeof(float));
    picture->image.width = picture->width;
    picture->image.height = picture->height;
}

static bool decode(struct job *job, uint32_t index, struct picture *picture)
{
    cli_session *session = job->session;
    zenith_run_params params = cli_session_run_params(session, &picture->facts, 0);
    double share = 1.0 / job->stored.count;
    double pixels = (double)picture->image.width * picture->image.height * job->stored.count;
    cli_progress_call(&session->progress, pixels, index * share, share);
    zenith_status status = zenith_decode(session->context, job->model->model, &picture->latent,
                                         &picture->image, 1, &params);
    if (status != ZENITH_OK)
        return cli_fail(session, &job->failure, status, cli_sink_error(&picture->sink));
    if (picture->floats != NULL) cut_floats(picture);
    if (picture->floats != NULL)
        status = zenith_image_save_npy(session->context, picture->output, &picture->image);
    else if (picture->sink.target != NULL)
        status = zenith_target_finish(picture->sink.target);
    return status == ZENITH_OK ||
           cli_fail(session, &job->failure, status, cli_sink_error(&picture->sink));
}

// Floats come whole, so they are shown from where they are, rounded as an 8-bit picture would be.
static bool show_floats(struct job *job, const struct picture *picture)
{
    size_t count = (size_t)picture->image.width * 3;
    uint8_t *row = malloc(count);
    if (row == NULL) return cli_fail_memory(&job->failure);
    for (uint32_t y = 0; y < picture->image.height; y++) {
        const float *src = picture->floats + y * count;
        for (size_t i = 0; i < count; i++)
            row[i] = (uint8_t)(src[i] > 0 ? src[i] < 1 ? src[i] * 255 + 0.5f : 255 : 0);
        cli_preview_rows(picture->sink.preview, y, 1, row);
    }
    free(row);
    return true;
}

static bool show(struct job *job, const struct picture *picture)
{
    if (picture->sink.preview == NULL) return true;
    if (picture->floats != NULL && !show_floats(job, picture)) return false;
    cli_preview_print(picture->sink.preview, job->input);
    return true;
}

static bool decode_picture(struct job *job, uint32_t index)
{
    struct picture picture = {0};
    double started = cli_clock();
    bool done = choose_output(job, index, &picture);
    bool stays = done && picture.output != NULL &&
                 cli_output_stays(job->session->settings, picture.output);
    if (stays) job->session->kept++;
    if (!stays)
        done = done && open_picture(job, index, &picture) && decode(job, index, &picture) &&
               show(job, &picture);
    if (done && !stays) {
        json_t *more = json_pack("{s:s?, s:i}", "format",
                                 job->outputs != NULL ? job->outputs->format->word : NULL, "index",
                                 (int)index);
        cli_session_report(job->session, &(cli_result){.input = job->input,
                                                       .output = picture.output,
                                                       .width = picture.width,
                                                       .height = picture.height,
                                                       .model = job->model->info.name,
                                                       .facts = &picture.facts,
                                                       .started = started,
                                                       .more = more});
    }
    zenith_target_free(picture.sink.target);
    cli_preview_free(picture.sink.preview);
    free(picture.floats);
    free(picture.unpacked);
    free(picture.output);
    return done;
}

static void decode_one(cli_session *session, const cli_outputs *outputs, size_t index)
{
    struct job job = {.session = session,
                      .outputs = outputs,
                      .index = index,
                      .input = session->settings->inputs[index]};
    cli_progress_file(&session->progress, index, job.input);
    bool done = open_latents(&job);
    if (done && cli_decode_of(session->settings)->video)
        done = cli_decode_video(session, job.model, outputs, index, job.file, &job.failure);
    else
        for (uint32_t i = 0; done && i < job.stored.count; i++) done = decode_picture(&job, i);
    if (done)
        cli_session_done(session);
    else
        cli_session_failed(session, job.input, &job.failure);
    zenith_latent_file_free(job.file);
}

static int run(const cli_settings *settings)
{
    cli_outputs outputs;
    cli_session session;
    bool shown = settings->output == NULL && settings->picture.show != CLI_SHOW_NOT; // and not kept
    int code = cli_show_options_agree(settings, shown) ? CLI_DONE : CLI_USAGE;
    if (code == CLI_DONE && !shown)
        code = cli_outputs_plan(settings, cli_formats_decoded, &outputs);
    if (code == CLI_DONE) code = cli_session_open(&session, settings, "decode");
    if (code != CLI_DONE) return code;
    if (cli_decode_of(settings)->video) outputs.digits = FRAME_DIGITS; // names in the order of time
    for (size_t i = 0; i < settings->input_count && !cli_interrupted(); i++)
        decode_one(&session, shown ? NULL : &outputs, i);
    return cli_session_close(&session);
}

static const cli_choice formats[] = {{"png", 0}, {"jpeg", 0}, {"webp", 0}, {"ppm", 0},
                                     {"npy", 0}, {"y4m", 0},  {NULL, 0}};
static const cli_option_group group = CLI_GROUP(
    "Latents",
    CLI_OPTION(
        CLI_WORD, cli_settings, picture.format, "format", 'f', "png|jpeg|webp|ppm|npy|y4m",
        "of the picture; npy is the network's own output, [1,3,H,W] in f32, not rounded; y4m "
        "is the frames of --video in one stream. Default: by the ending of -o, else png",
        .choices = formats),
    CLI_OPTION(CLI_CHOICE, cli_decode_settings, space, "space", 0, "model|raw",
               "which space the latent is in, whatever the file says; default: what the file says, "
               "else model",
               .choices = cli_choices_space),
    CLI_OPTION(
        CLI_DIMENSIONS, cli_settings, source.size, "size", 's', "WxH",
        "size of the picture of a packed latent ([1, tokens, 64], as pipelines of FLUX.1 keep "
        "it); default: a square"),
    CLI_FLAG_OPTION(cli_decode_settings, unpad, "unpad", 0,
                    "cut off what --fit pad added when the latent was made"),
    CLI_FLAG_OPTION(
        cli_decode_settings, video, "video", 0,
        "the latents of a file are one clip: pictures are numbered in the order of time, or "
        "a Y4M stream"),
    CLI_FLAG_OPTION(cli_decode_settings, force, "force", 0,
                    "decode with --model although the file names another model"));
static const cli_example examples[] = {
    {"zenith decode photo.safetensors -o photo.png", "the file says which model made it"},
    {"zenith decode latents/*.safetensors -o pictures/ --format jpeg --quality 90",
     "many latents into a folder"},
    {"zenith decode from_diffusers.npy -o picture.png --model taesdxl",
     "a bare array [N,4,h,w] in the model's space; add --space raw if the VAE's scale is not "
     "applied"},
    {"zenith decode big.latent -o big.png --model taesd --max-memory 300M",
     "ComfyUI's file, in bounded memory"},
    {"zenith decode clip.safetensors --video -o - -f y4m | ffmpeg -i - clip.mp4",
     "a clip of a video model, through ffmpeg"},
    {"zenith decode photo.safetensors --show", "look at it on the terminal, and keep nothing"},
    {NULL, NULL}};

const cli_command cli_command_decode = {
    .name = "decode",
    .arguments = "LATENT.. -o OUT [OPTIONS]",
    .summary = "turn latents into pictures",
    .description =
        "Turns latents (Zenith's safetensors, any safetensors with one tensor, ComfyUI's .latent, "
        "npy) into pictures. The file names the model; give --model where it names none. A file "
        "with several latents gives NAME-0.png, NAME-1.png and so on.",
    .groups = CLI_GROUPS(&cli_group_inputs, &cli_group_output, &cli_group_model, &group,
                         &cli_group_picture, &cli_group_show, &cli_group_run, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_LATENT,
    CLI_SETTINGS_WITH(cli_decode_settings, .space = CLI_UNSET),
    .run = run,
};
