// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See step_preview.h.
#include "apps/cli/session/step_preview.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/terminal/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct cli_step_previews {
    cli_session *session;
    zenith_context *context;
    zenith_model *own; // NULL: the session's
    zenith_model *model;
    uint32_t factor;
    cli_show how;
    const char *place; // of --previews; NULL: no files
    bool folder;
    const char *output; // of the picture in work
    int64_t number;
    bool drawn; // one of this picture is on the terminal
    double seconds;
};

// --- where --------------------------------------------------------------------------------------

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int stem_of(const char *path)
{
    const char *dot = strrchr(name_of(path), '.');
    return (int)(dot != NULL && dot != name_of(path) ? dot - path : (long)strlen(path));
}

// A place without the ending of a picture is a folder.
static bool is_folder(const char *place)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".webp", ".ppm"};
    const size_t length = strlen(place);
    if (place[length - 1] == '/' || cli_is_folder(place)) return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(place + stem_of(place), endings[i]) == 0) return false;
    return true;
}

int cli_step_previews_check(const cli_settings *settings)
{
    const char *place = settings->sampling.previews;
    if (place == NULL) return CLI_DONE;
    if (!is_folder(place)) return cli_output_check(place);
    int code = cli_output_check_folder(place);
    if (code != CLI_DONE || mkdir(place, 0777) == 0 || errno == EEXIST) return code;
    cli_say("cannot make the folder '%s': %s", place, strerror(errno));
    return CLI_USAGE;
}

// FOLDER/NAME-STEP.png, or STEM-STEP.ENDING, with the picture's number before if there are several.
static char *path_of(const cli_step_previews *previews, uint32_t step)
{
    const char *place = previews->place, *name = name_of(previews->output);
    char *path = NULL, number[24] = "";
    const size_t length = strlen(place);
    if (previews->number != CLI_UNSET)
        snprintf(number, sizeof number, "-%lld", (long long)previews->number);
    int made = previews->folder
                   ? asprintf(&path, "%s%s%.*s-%u.png", place, place[length - 1] == '/' ? "" : "/",
                              strcmp(name, "-") == 0 ? 1 : stem_of(name), name, (unsigned)step)
                   : asprintf(&path, "%.*s%s-%u%s", stem_of(place), place, number, (unsigned)step,
                              place + stem_of(place));
    return made < 0 ? NULL : path;
}

// --- the decoder --------------------------------------------------------------------------------

// The smallest first; where none is found, the picture's own decoder will do.
static void open_decoder(cli_step_previews *previews, const char *latents,
                         const cli_open_model *usual)
{
    static const char *const names[] = {"zenith-f1-small", "zenith-f1-fast", "taef1"};
    for (size_t i = 0; i < sizeof names / sizeof *names && previews->own == NULL; i++) {
        const zenith_model_params params = {
            .size = sizeof params, .name = names[i], .parts = ZENITH_DECODER};
        if (!zenith_models_share_latents(names[i], latents)) continue;
        if (zenith_model_open(previews->context, &params, &previews->own) != ZENITH_OK)
            previews->own = NULL;
    }
    zenith_model_info info = {.size = sizeof info};
    previews->model = previews->own != NULL ? previews->own : usual->model;
    zenith_model_get_info(previews->model, &info);
    previews->factor = info.factor;
}

bool cli_step_previews_open(cli_session *session, const char *latents, const cli_open_model *usual,
                            cli_step_previews **out, cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    const zenith_context_params machine = {.size = sizeof machine,
                                           .threads = settings->run.threads};
    const cli_show how = cli_show_choose(settings);
    *out = NULL;
    if (how == CLI_SHOW_NOT && settings->sampling.previews == NULL) return true;
    cli_step_previews *previews = calloc(1, sizeof *previews);
    if (previews == NULL || zenith_context_create(&machine, &previews->context) != ZENITH_OK) {
        free(previews);
        return cli_fail_text(failure, ZENITH_OUT_OF_MEMORY, "no memory for previews");
    }
    previews->session = session;
    previews->how = how;
    previews->place = settings->sampling.previews;
    previews->folder = previews->place != NULL && is_folder(previews->place);
    if (latents != NULL) open_decoder(previews, latents, usual);
    *out = previews;
    return true;
}

void cli_step_previews_free(cli_step_previews *previews)
{
    if (previews == NULL) return;
    zenith_model_free(previews->own);
    zenith_context_free(previews->context);
    free(previews);
}

double cli_step_previews_seconds(const cli_step_previews *previews)
{
    return previews != NULL ? previews->seconds : 0;
}

// --- one ----------------------------------------------------------------------------------------

void cli_step_previews_begin(cli_step_previews *previews, const char *output, int64_t number)
{
    if (previews == NULL) return;
    previews->output = output;
    previews->number = number;
    previews->drawn = false;
}

static zenith_status open_sink(const cli_step_previews *previews, uint32_t step, uint32_t width,
                               uint32_t height, cli_sink *sink)
{
    const zenith_target_params params = {.size = sizeof params};
    if (previews->how != CLI_SHOW_NOT) {
        sink->preview = cli_preview_open(previews->how, width, height);
        if (sink->preview == NULL) return ZENITH_OUT_OF_MEMORY;
    }
    if (previews->place == NULL) return ZENITH_OK;
    char *path = path_of(previews, step);
    if (path == NULL) return ZENITH_OUT_OF_MEMORY;
    zenith_status status = zenith_target_open(previews->context, path, width, height, &params,
                                              &sink->target);
    free(path);
    return status;
}

static zenith_status decode(cli_step_previews *previews, const zenith_latent *latent,
                            cli_sink *sink)
{
    zenith_latent from = *latent;
    const zenith_image image = {.size = sizeof image,
                                .width = latent->width * previews->factor,
                                .height = latent->height * previews->factor,
                                .rows = cli_sink_rows,
                                .cookie = sink,
                                .restarts = true};
    const zenith_run_params params = {.size = sizeof params,
                                      .cancel = previews->session->cancel,
                                      .max_memory = previews->session->settings->run.max_memory};
    zenith_status status = zenith_decode(previews->context, previews->model, &from, &image, 1,
                                         &params);
    if (status == ZENITH_OK && sink->target != NULL) status = zenith_target_finish(sink->target);
    return status;
}

// Over the one of the step before.
static void draw(cli_step_previews *previews, const cli_sink *sink)
{
    if (sink->preview == NULL) return;
    if (previews->drawn) cli_preview_go_back(sink->preview);
    cli_preview_print(sink->preview, NULL);
    previews->drawn = true;
}

static bool end_preview(cli_step_previews *previews, cli_sink *sink, zenith_status status,
                        double begun, cli_failure *failure)
{
    if (status == ZENITH_OK) draw(previews, sink);
    const char *text = cli_sink_error(sink);
    if (*text == 0) text = zenith_context_error(previews->context);
    if (status != ZENITH_OK)
        cli_fail_text(failure, status, "the preview failed: %s",
                      *text != 0 ? text : zenith_status_text(status));
    zenith_target_free(sink->target);
    cli_preview_free(sink->preview);
    previews->seconds += cli_clock() - begun;
    return status == ZENITH_OK;
}

bool cli_step_preview(cli_step_previews *previews, uint32_t step, const zenith_latent *latent,
                      cli_failure *failure)
{
    cli_sink sink = {.target = NULL};
    const double begun = cli_clock();
    zenith_status status = open_sink(previews, step, latent->width * previews->factor,
                                     latent->height * previews->factor, &sink);
    if (status == ZENITH_OK) status = decode(previews, latent, &sink);
    return end_preview(previews, &sink, status, begun, failure);
}

static zenith_status write_rows(const zenith_image *image, cli_sink *sink)
{
    const float *planes = image->data;
    const size_t width = image->width, plane = width * image->height;
    uint8_t *row = malloc(3 * width);
    if (row == NULL) return ZENITH_OUT_OF_MEMORY;
    zenith_status status = ZENITH_OK;
    for (uint32_t y = 0; y < image->height && status == ZENITH_OK; y++) {
        for (size_t i = 0; i < 3 * width; i++) {
            const float value = planes[i % 3 * plane + y * width + i / 3];
            row[i] = (uint8_t)((value < 0 ? 0 : value > 1 ? 1 : value) * 255 + 0.5f);
        }
        status = cli_sink_rows(sink, y, 1, row);
    }
    free(row);
    if (status == ZENITH_OK && sink->target != NULL) status = zenith_target_finish(sink->target);
    return status;
}

bool cli_step_preview_picture(cli_step_previews *previews, uint32_t step, const zenith_image *image,
                              cli_failure *failure)
{
    cli_sink sink = {.target = NULL};
    const double begun = cli_clock();
    zenith_status status = open_sink(previews, step, image->width, image->height, &sink);
    if (status == ZENITH_OK) status = write_rows(image, &sink);
    return end_preview(previews, &sink, status, begun, failure);
}
