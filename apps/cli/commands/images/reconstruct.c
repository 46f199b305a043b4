// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith reconstruct IMAGE.. [-o OUT]: encodes and decodes, and measures what was lost. The picture
// is read twice, row by row: once for the encoder, and once beside the decoder's rows to compare
// them. Squared errors are summed in integers, so the PSNR is exact for any order of rows.
#include "apps/cli/commands/images/opened_picture.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/session/report.h"
#include "apps/cli/session/source_options.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/zenith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct job {
    cli_session *session;
    const cli_open_model *model;
    const cli_outputs *outputs; // NULL: only measure
    size_t index;               // of the input
    const char *input;
    char *output;
    cli_picture picture;
    cli_sink sink;
    uint8_t *rows; // of the source, beside the ones to compare
    size_t rows_size;
    uint64_t squares;
    zenith_run_facts encoder, decoder;
    cli_failure failure;
};

// A zenith_rows_fn between decoder and file: compares with the source, then hands on.
static zenith_status compare_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    struct job *job = cookie;
    size_t size = (size_t)job->picture.info.width * 3 * count;
    if (size > job->rows_size) {
        uint8_t *larger = realloc(job->rows, size);
        if (larger == NULL) return ZENITH_OUT_OF_MEMORY;
        job->rows = larger;
        job->rows_size = size;
    }
    if (y == 0) job->squares = 0; // the first rows, or those of a picture that is computed again
    zenith_status status = zenith_source_rows(job->picture.source, y, count, job->rows);
    if (status != ZENITH_OK) return status;
    const uint8_t *decoded = rows;
    for (size_t i = 0; i < size; i++) {
        int difference = (int)decoded[i] - (int)job->rows[i];
        job->squares += (uint64_t)(difference * difference);
    }
    return cli_sink_rows(&job->sink, y, count, rows);
}

static bool open_preview(struct job *job)
{
    const zenith_source_info *info = &job->picture.info;
    cli_show how = cli_show_choose(job->session->settings);
    if (how != CLI_SHOW_NOT) job->sink.preview = cli_preview_open(how, info->width, info->height);
    if (how == CLI_SHOW_NOT || job->sink.preview != NULL) return true;
    return cli_fail_text(&job->failure, ZENITH_OUT_OF_MEMORY, "no memory to show it");
}

static bool choose_output(struct job *job)
{
    if (job->outputs == NULL) return true;
    job->output = cli_outputs_path(job->outputs, job->index, CLI_UNSET);
    if (job->output != NULL) return true;
    return cli_fail_memory(&job->failure);
}

static bool open_target(struct job *job)
{
    if (job->outputs == NULL) return true;
    return cli_session_target(job->session, job->outputs, job->output, job->picture.info.width,
                              job->picture.info.height, &job->sink.target, &job->failure);
}

static bool compute(struct job *job)
{
    cli_session *session = job->session;
    cli_picture *picture = &job->picture;
    double pixels = (double)picture->info.width * picture->info.height;
    uint64_t held = cli_source_held(&picture->info);
    zenith_run_params params = cli_session_run_params(session, &job->encoder, held);
    cli_progress_call(&session->progress, pixels, 0, 0.5);
    zenith_status status = zenith_encode(session->context, job->model->model, &picture->image,
                                         &picture->latent, 1, &params);
    if (status == ZENITH_OK) {
        zenith_image decoded = picture->image;
        decoded.rows = compare_rows;
        decoded.cookie = job;
        decoded.restarts = true;
        params = cli_session_run_params(session, &job->decoder, held);
        cli_progress_call(&session->progress, pixels, 0.5, 0.5);
        status = zenith_decode(session->context, job->model->model, &picture->latent, &decoded, 1,
                               &params);
    }
    if (status == ZENITH_OK && job->sink.target != NULL)
        status = zenith_target_finish(job->sink.target);
    if (status == ZENITH_OK) return true;
    const char *text = zenith_source_error(picture->source);
    return cli_fail(session, &job->failure, status, *text != 0 ? text : cli_sink_error(&job->sink));
}

static void report(const struct job *job, double started)
{
    double samples = 3.0 * job->picture.info.width * job->picture.info.height;
    double psnr = 10 * log10(255.0 * 255.0 * samples / (double)job->squares);
    zenith_run_facts both = job->decoder;
    both.seconds += job->encoder.seconds;
    if (job->encoder.again > 0) both.overflowed = job->encoder.overflowed;
    both.again += job->encoder.again;
    if (job->encoder.arena_bytes > both.arena_bytes) both.arena_bytes = job->encoder.arena_bytes;
    json_t *more = json_object();
    json_object_set_new(more, "psnr", job->squares == 0 ? json_null() : json_real(psnr));
    json_object_set_new(more, "encode_ms", json_real(job->encoder.seconds * 1e3));
    json_object_set_new(more, "decode_ms", json_real(job->decoder.seconds * 1e3));
    cli_session_report(job->session, &(cli_result){.input = job->input,
                                                   .output = job->output,
                                                   .width = job->picture.info.width,
                                                   .height = job->picture.info.height,
                                                   .model = job->model->info.name,
                                                   .facts = &both,
                                                   .started = started,
                                                   .more = more});
    if (job->session->settings->json) return;
    // The figure is the command's result; a picture on standard output leaves it only standard
    // error.
    FILE *out = job->outputs != NULL && job->outputs->stream ? stderr : stdout;
    cli_status_clear();
    cli_print_clean(out, job->input);
    fprintf(out, ": PSNR %.2f dB\n", psnr);
    fflush(out);
}

static void reconstruct_one(cli_session *session, const cli_open_model *model,
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
    if (there && job.output != NULL && cli_output_stays(session->settings, job.output)) {
        cli_session_kept(session);
    } else if (there &&
               cli_picture_open(session, &model->info, job.input, &job.picture, &job.failure) &&
               open_preview(&job) && open_target(&job) && compute(&job)) {
        if (job.sink.preview != NULL) cli_preview_print(job.sink.preview, NULL);
        report(&job, started);
        cli_session_done(session);
    } else {
        cli_session_failed(session, job.input, &job.failure);
    }
    zenith_target_free(job.sink.target);
    cli_preview_free(job.sink.preview);
    cli_picture_close(&job.picture);
    free(job.rows);
    free(job.output);
}

static int run(const cli_settings *settings)
{
    cli_outputs outputs;
    cli_session session;
    cli_failure failure = {0};
    const cli_open_model *model;
    bool agree = cli_model_options_agree(settings) && cli_source_options_agree(settings) &&
                 cli_show_options_agree(settings, false);
    int code = agree ? CLI_DONE : CLI_USAGE;
    if (code == CLI_DONE && settings->output != NULL)
        code = cli_outputs_plan(settings, cli_formats_picture, &outputs);
    if (code == CLI_DONE) code = cli_session_open(&session, settings, "reconstruct");
    if (code != CLI_DONE) return code;
    if (!cli_session_model(&session, settings->model, ZENITH_ENCODER | ZENITH_DECODER, &model,
                           &failure)) {
        cli_session_model_failed(&session, &failure);
        return cli_session_close(&session);
    }
    for (size_t i = 0; i < settings->input_count && !cli_interrupted(); i++)
        reconstruct_one(&session, model, settings->output != NULL ? &outputs : NULL, i);
    return cli_session_close(&session);
}

static const cli_option_group group = CLI_GROUP("Format", CLI_PICTURE_FORMAT);
static const cli_example examples[] = {
    {"zenith reconstruct photo.jpg -o photo.taesd.png --model taesd",
     "what the model makes of a picture"},
    {"zenith reconstruct photos/ --model taef1 --dtype int8", "only the PSNR of each"},
    {"zenith reconstruct photo.jpg --model taesd --show", "look at it on the terminal"},
    {NULL, NULL}};

const cli_command cli_command_reconstruct = {
    .name = "reconstruct",
    .arguments = "IMAGE.. --model NAME [-o OUT] [OPTIONS]",
    .summary = "encode and decode pictures, and measure what was lost",
    .description = "Encodes and decodes pictures, without rounding the latents in between. Writes "
                   "the results, and prints the PSNR of each: against the input as the encoder saw "
                   "it (after --fit), over all 8-bit samples. Without -o it only measures.",
    .groups = CLI_GROUPS(&cli_group_inputs, &cli_group_output, &cli_group_model, &cli_group_source,
                         &group, &cli_group_picture, &cli_group_show, &cli_group_run,
                         &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_PICTURE,
    .run = run,
};
