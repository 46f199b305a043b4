// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith calibrate IMAGE.. -o FILE --model NAME: finds how a model's values are spread on pictures,
// for int8. The pictures are small crops and are held in memory: the library reads them many times.
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/report.h"
#include "apps/cli/session/source_options.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/train.h"
#include "zenith/zenith.h"

#include <stdlib.h>

enum { SIDE = 256 };

static bool read_rows(cli_session *session, zenith_source *source, zenith_image *image,
                      cli_failure *failure)
{
    zenith_source_info info = {.size = sizeof info};
    zenith_source_get_info(source, &info);
    uint8_t *pixels = malloc((size_t)info.width * info.height * 3);
    if (pixels == NULL) return cli_fail_text(failure, ZENITH_OUT_OF_MEMORY, "no memory for it");
    zenith_status status = zenith_source_rows(source, 0, info.height, pixels);
    if (status != ZENITH_OK) {
        free(pixels);
        return cli_fail(session, failure, status, zenith_source_error(source));
    }
    *image = (zenith_image){
        .size = sizeof *image, .width = info.width, .height = info.height, .data = pixels};
    return true;
}

static bool read_picture(cli_session *session, const char *input, uint32_t factor,
                         zenith_image *image)
{
    cli_failure failure = {0};
    zenith_source *source = NULL;
    zenith_source_params params = cli_source_params(session->settings, factor);
    if (session->settings->source.fit == CLI_UNSET && params.width == 0 && params.height == 0) {
        params.fit = ZENITH_FIT_RESIZE;
        params.width = params.height = SIDE;
    }
    bool read = cli_source_open(session, input, &params, &source, &failure) == ZENITH_OK &&
                read_rows(session, source, image, &failure);
    if (!read) cli_session_failed(session, input, &failure);
    zenith_source_free(source);
    return read;
}

static void calibrate(cli_session *session, const cli_open_model *model, const zenith_image *images,
                      size_t count)
{
    const cli_settings *settings = session->settings;
    zenith_run_facts facts;
    cli_failure failure = {0};
    zenith_run_params params = cli_session_run_params(session, &facts, 0);
    double pixels = 0;
    for (size_t i = 0; i < count; i++) pixels += (double)images[i].width * images[i].height;
    cli_progress_file(&session->progress, 0, settings->output);
    cli_progress_call(&session->progress, pixels, 0, 1);
    zenith_status status = zenith_calibrate(session->context, model->model, images, count,
                                            settings->output, &params);
    cli_progress_file_end(&session->progress, status == ZENITH_OK);
    if (status == ZENITH_OK) {
        session->done = count;
        if (settings->json)
            cli_json_print(json_pack("{s:o, s:s, s:s, s:i}", "output",
                                     cli_json_text(settings->output), "model", model->info.name,
                                     "weights_sha256", zenith_model_weights_sha256(model->model),
                                     "pictures", (int)count));
        else if (!settings->quiet)
            cli_say("%zu pictures -> %s", count, settings->output);
        return;
    }
    cli_fail(session, &failure, status, NULL);
    cli_session_model_failed(session, &failure);
}

static int run(const cli_settings *settings)
{
    cli_session session;
    cli_failure failure = {0};
    const cli_open_model *model;
    if (!cli_model_options_agree(settings) || !cli_source_options_agree(settings)) return CLI_USAGE;
    if (settings->output == NULL) {
        cli_say("where should the calibration go? Give -o NAME.calib.json");
        return CLI_USAGE;
    }
    if (cli_output_check(settings->output) != CLI_DONE) return CLI_USAGE;
    int code = cli_session_open(&session, settings, "calibrate");
    if (code != CLI_DONE) return code;
    if (!cli_session_model(&session, settings->model, ZENITH_ENCODER | ZENITH_DECODER, &model,
                           &failure)) {
        cli_session_model_failed(&session, &failure);
        return cli_session_close(&session);
    }
    size_t count = 0;
    zenith_image *images = calloc(settings->input_count, sizeof *images);
    for (size_t i = 0; images != NULL && i < settings->input_count && !cli_interrupted(); i++)
        count += read_picture(&session, settings->inputs[i], model->info.factor, &images[count]);
    session.progress.count = 1; // from here on all pictures are one piece of work
    if (!cli_interrupted() && count > 0) calibrate(&session, model, images, count);
    for (size_t i = 0; i < count; i++) free(images[i].data);
    free(images);
    return cli_session_close(&session);
}

static const cli_option_group group = CLI_GROUP(
    "Output",
    CLI_OPTION(
        CLI_TEXT, cli_settings, output, "output", 'o', "FILE",
        "where the calibration goes; NAME.calib.json beside the weights is found by --dtype int8"));
static const cli_example examples[] = {
    {"zenith calibrate photos/*.jpg -o weights/taesd.calib.json --model taesd --weights weights",
     "from then on, --dtype int8 works with these weights"},
    {NULL, NULL}};

const cli_command cli_command_calibrate = {
    .name = "calibrate",
    .arguments = "IMAGE.. -o FILE --model NAME [OPTIONS]",
    .summary = "prepare a model for int8",
    .description =
        "Measures the values inside a model on your pictures, and chooses the layers that 8 bits "
        "are "
        "enough for. Give at least 8 pictures of the kind that the model will see. They are scaled "
        "and cropped to 256x256 unless --size or --fit says otherwise.",
    .groups = CLI_GROUPS(&cli_group_inputs, &group, &cli_group_model, &cli_group_source,
                         &cli_group_threads, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .endings = CLI_ENDINGS_PICTURE,
    .run = run,
};
