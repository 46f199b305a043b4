// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith encode IMAGE.. -o OUT: pictures to latent files. The picture is read row by row while the
// network runs; the latent is the only buffer.
#include "apps/cli/commands/images/opened_picture.h"
#include "apps/cli/commands/images/video.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/session/report.h"
#include "apps/cli/session/source_options.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/zenith.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct job {
    cli_session *session;
    const cli_open_model *model;
    const cli_outputs *outputs;
    size_t index; // of the input
    const char *input;
    char *output;
    cli_picture picture;
    zenith_run_facts facts;
    cli_failure failure;
};

static zenith_space space_of(const struct job *job)
{
    int space = cli_encode_of(job->session->settings)->space;
    if (space != CLI_UNSET) return (zenith_space)space;
    // ComfyUI keeps raw latents in its files and has no way to say otherwise.
    bool comfy = strcmp(job->outputs->format->word, "latent") == 0;
    return comfy && job->model->info.has_raw ? ZENITH_SPACE_RAW : ZENITH_SPACE_MODEL;
}

static bool choose_output(struct job *job)
{
    job->output = cli_outputs_path(job->outputs, job->index, CLI_UNSET);
    if (job->output != NULL) return true;
    return cli_fail_memory(&job->failure);
}

// Each picture of a call has noise of its own.
static void choose_kind(struct job *job)
{
    const cli_settings *settings = job->session->settings;
    const cli_encode_settings *own = cli_encode_of(settings);
    zenith_latent *latent = &job->picture.latent;
    if (own->moments) latent->kind = ZENITH_LATENT_MOMENTS;
    if (own->sample == CLI_UNSET) return;
    latent->kind = ZENITH_LATENT_SAMPLE;
    latent->seed = (uint64_t)own->sample + job->index;
}

static bool open_picture(struct job *job)
{
    job->picture.moments = cli_encode_of(job->session->settings)->moments;
    if (!cli_picture_open(job->session, &job->model->info, job->input, &job->picture,
                          &job->failure))
        return false;
    job->picture.latent.space = space_of(job);
    choose_kind(job);
    return cli_picture_show(job->session, &job->picture, job->input, &job->failure);
}

static bool encode(struct job *job)
{
    cli_session *session = job->session;
    cli_picture *picture = &job->picture;
    zenith_run_params params = cli_session_run_params(session, &job->facts,
                                                      cli_source_held(&picture->info));
    cli_progress_call(&session->progress, (double)picture->info.width * picture->info.height, 0, 1);
    zenith_status status = zenith_encode(session->context, job->model->model, &picture->image,
                                         &picture->latent, 1, &params);
    if (status == ZENITH_OK) return true;
    return cli_fail(session, &job->failure, status, zenith_source_error(picture->source));
}

static bool save(struct job *job)
{
    cli_session *session = job->session;
    int store = cli_encode_of(session->settings)->store;
    zenith_latent_save_params params = {.size = sizeof params,
                                        .format = job->outputs->format->word,
                                        .number = store == CLI_UNSET ? ZENITH_F32
                                                                     : (zenith_number)store,
                                        .model = job->model->info.name,
                                        .source = &job->picture.info};
    cli_outputs_make_folders(job->outputs, job->output);
    zenith_status status = zenith_latent_save(session->context, job->output, &job->picture.latent,
                                              1, &params);
    return status == ZENITH_OK || cli_fail(session, &job->failure, status, NULL);
}

static void report(const struct job *job, double started)
{
    const zenith_latent *latent = &job->picture.latent;
    json_t *more = json_pack("{s:s, s:[i,i,i,i], s:s}", "format", job->outputs->format->word,
                             "shape", 1, (int)latent->channels, (int)latent->height,
                             (int)latent->width, "space",
                             latent->space == ZENITH_SPACE_RAW ? "raw" : "model");
    cli_session_report(job->session, &(cli_result){.input = job->input,
                                                   .output = job->output,
                                                   .width = job->picture.info.width,
                                                   .height = job->picture.info.height,
                                                   .model = job->model->info.name,
                                                   .facts = &job->facts,
                                                   .started = started,
                                                   .more = more});
}

static void encode_one(cli_session *session, const cli_open_model *model,
                       const cli_outputs *outputs, size_t index)
{
    struct job job = {.session = session,
                      .model = model,
                      .outputs = outputs,
                      .index = index,
                      .input = session->settings->inputs[index]};
    double started = cli_clock();
    cli_progress_file(&session->progress, index, job.input);
    bool there = choose_output(&job);
    if (there && cli_output_stays(session->settings, job.output)) {
        cli_session_kept(session);
    } else if (there && open_picture(&job) && encode(&job) && save(&job)) {
        report(&job, started);
        cli_session_done(session);
    } else {
        cli_session_failed(session, job.input, &job.failure);
    }
    cli_picture_close(&job.picture);
    free(job.output);
}

static int check_options(const cli_settings *settings, cli_outputs *outputs)
{
    const cli_encode_settings *own = cli_encode_of(settings);
    if (!cli_model_options_agree(settings) || !cli_source_options_agree(settings)) return CLI_USAGE;
    if (!cli_show_options_agree(settings, false)) return CLI_USAGE;
    int code = cli_outputs_plan(settings, cli_formats_latent, outputs);
    if (code != CLI_DONE) return code;
    bool narrow = own->store == ZENITH_F16 || own->store == ZENITH_BF16;
    const bool safetensors = strcmp(outputs->format->word, "safetensors") == 0;
    if (own->moments && own->sample != CLI_UNSET) {
        cli_say("--moments keeps mean and variance, --sample SEED one sample of them: take one");
        return CLI_USAGE;
    }
    if (own->moments && !safetensors) {
        cli_say("--moments needs --format safetensors: %s holds one tensor", outputs->format->word);
        return CLI_USAGE;
    }
    if (narrow && !safetensors) {
        cli_say("--store f16 and bf16 need --format safetensors: %s holds f32",
                outputs->format->word);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

// Some models have no raw space; both ways to ask for it are refused before anything is computed.
// Models of video have one by a mean and a deviation for each channel, which has_raw does not speak
// of.
static bool check_raw(const zenith_model_info *info, const cli_settings *settings,
                      const cli_outputs *outputs, cli_failure *failure)
{
    bool comfy = strcmp(outputs->format->word, "latent") == 0;
    const bool by_channel = info->frames > 0 && !comfy;
    if (info->has_raw || by_channel ||
        (!comfy && cli_encode_of(settings)->space != ZENITH_SPACE_RAW))
        return true;
    failure->model = true;
    return cli_fail_text(failure, ZENITH_UNSUPPORTED,
                         "%s has no raw latents%s: use --format safetensors or npy%s", info->name,
                         comfy ? ", which ComfyUI's .latent files hold" : "",
                         comfy ? "" : ", and leave --space out");
}

// Only some encoders have a variance.
static bool check_moments(const zenith_model_info *info, const cli_settings *settings,
                          cli_failure *failure)
{
    const cli_encode_settings *own = cli_encode_of(settings);
    if (info->has_moments || (!own->moments && own->sample == CLI_UNSET)) return true;
    failure->model = true;
    return cli_fail_text(failure, ZENITH_UNSUPPORTED,
                         "%s gives one latent for a picture: leave --moments and --sample out",
                         info->name);
}

static int run(const cli_settings *settings)
{
    const cli_encode_settings *own = cli_encode_of(settings);
    cli_outputs outputs;
    cli_session session;
    cli_failure failure = {0};
    const cli_open_model *model;
    cli_encode_settings one = *own; // the frames of a clip have one output
    if (own->video) {
        one.shared.input_count = 1;
        one.shared.from_folder = false;
    }
    int code = check_options(&one.shared, &outputs);
    if (code == CLI_DONE) code = cli_session_open(&session, settings, "encode");
    if (code != CLI_DONE) return code;
    if (!cli_session_model(&session, settings->model, ZENITH_ENCODER, &model, &failure)) {
        cli_session_model_failed(&session, &failure);
        return cli_session_close(&session);
    }
    if (!check_raw(&model->info, settings, &outputs, &failure) ||
        !check_moments(&model->info, settings, &failure)) {
        cli_session_model_failed(&session, &failure);
        return cli_session_close(&session);
    }
    if (own->video) cli_encode_video(&session, model, &outputs);
    for (size_t i = 0; !own->video && i < settings->input_count && !cli_interrupted(); i++)
        encode_one(&session, model, &outputs, i);
    return cli_session_close(&session);
}

static const cli_choice formats[] = {{"safetensors", 0}, {"latent", 0}, {"npy", 0}, {NULL, 0}};
static const cli_option_group group = CLI_GROUP(
    "Latents",
    CLI_OPTION(CLI_WORD, cli_settings, picture.format, "format", 'f', "safetensors|latent|npy",
               "of the latent; latent is ComfyUI's. Default: by the ending of -o, else safetensors",
               .choices = formats),
    CLI_OPTION(CLI_CHOICE, cli_encode_settings, store, "store", 0, "f32|f16|bf16",
               "type of the numbers in the file; default: f32", .choices = cli_choices_store),
    CLI_OPTION(
        CLI_CHOICE, cli_encode_settings, space, "space", 0, "model|raw",
        "as the diffusion model sees it, or as the full VAE gives it, before scale and shift; "
        "default: raw for --format latent, as ComfyUI expects, else model",
        .choices = cli_choices_space),
    CLI_FLAG_OPTION(
        cli_encode_settings, video, "video", 0,
        "the pictures are the frames of one clip, in the order of their names, and one file "
        "gets its latents; also a .y4m file, or Y4M on standard input. For models of video"),
    CLI_FLAG_OPTION(cli_encode_settings, moments, "moments", 0,
                    "of the KL autoencoders (sd-vae, flux-vae ..): keep the mean (latent) and the "
                    "logarithm of "
                    "the variance (logvar). Default: the mean alone, the same every time"),
    CLI_OPTION(
        CLI_NUMBER, cli_encode_settings, sample, "sample", 0, "SEED",
        "of the same: mean + deviation * noise. The first picture's noise is that of SEED, the "
        "second's that of SEED + 1 ..; the same for any number of threads and any memory",
        .min = 0, .max = INT_MAX));
static const cli_example examples[] = {
    {"zenith encode photo.jpg -o photo.safetensors --model taesd --weights weights",
     "one picture, with weights from a folder"},
    {"zenith encode *.png -o latents/ --model taesdxl --size 1024x1024",
     "many pictures, scaled and cropped to one size"},
    {"zenith encode huge.png -o huge.npy --model taef1 --max-memory 512M",
     "a picture of any size in bounded memory, with the same bits"},
    {"ffmpeg -i clip.mp4 -f yuv4mpegpipe - | zenith encode - --video -m wan2.1-vae -o "
     "clip.safetensors",
     "a clip, through ffmpeg"},
    {"magick photo.heic ppm:- | zenith encode - -o - -m taesd > photo.safetensors",
     "from standard input to standard output"},
    {NULL, NULL}};

const cli_command cli_command_encode = {
    .name = "encode",
    .arguments = "IMAGE.. -o OUT --model NAME [OPTIONS]",
    .summary = "turn pictures into latents",
    .description =
        "Turns pictures (JPEG, PNG, WebP, PNM) into latents. EXIF orientation is applied, colour "
        "profiles are converted to sRGB, transparent pixels lie on a background. The latent file "
        "says which model made it, in which space, and from which part of the picture.",
    .groups = CLI_GROUPS(&cli_group_inputs, &cli_group_output, &cli_group_model, &cli_group_source,
                         &group, &cli_group_show, &cli_group_run, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_PICTURE,
    CLI_SETTINGS_WITH(cli_encode_settings, .store = CLI_UNSET, .space = CLI_UNSET,
                      .sample = CLI_UNSET),
    .run = run,
};
