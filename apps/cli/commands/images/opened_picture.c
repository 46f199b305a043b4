// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See opened_picture.h.
#include "apps/cli/commands/images/opened_picture.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/session/source_options.h"

#include <stdlib.h>

static void note_crop(cli_session *session, const zenith_source_params *params,
                      const zenith_source_info *info)
{
    bool less = info->crop_width < info->turned_width || info->crop_height < info->turned_height;
    if (params->fit != ZENITH_FIT_CROP || !less) return;
    session->cropped++;
    session->crop = *info;
    session->crop_multiple = params->multiple;
}

// Of a source that is open.
static bool make_latent(cli_session *session, const zenith_model_info *model,
                        const zenith_source_params *source, cli_picture *out, cli_failure *failure)
{
    out->info = (zenith_source_info){.size = sizeof out->info};
    zenith_source_get_info(out->source, &out->info);
    note_crop(session, source, &out->info);
    out->image = (zenith_image){.size = sizeof out->image,
                                .width = out->info.width,
                                .height = out->info.height,
                                .rows = zenith_source_rows,
                                .cookie = out->source};
    out->latent = (zenith_latent){.size = sizeof out->latent,
                                  .width = out->info.width / model->factor,
                                  .height = out->info.height / model->factor,
                                  .channels = model->latent_channels * (out->moments ? 2 : 1)};
    out->latent.data = calloc((size_t)out->latent.width * out->latent.height,
                              sizeof(float) * out->latent.channels);
    if (out->latent.data == NULL)
        return cli_fail_text(failure, ZENITH_OUT_OF_MEMORY, "no memory for its latent");
    return true;
}

bool cli_picture_open(cli_session *session, const zenith_model_info *model, const char *input,
                      cli_picture *out, cli_failure *failure)
{
    zenith_source_params params = cli_source_params(session->settings, model->factor);
    zenith_status status = cli_source_open(session, input, &params, &out->source, failure);
    return status == ZENITH_OK && make_latent(session, model, &params, out, failure);
}

bool cli_picture_open_memory(cli_session *session, const zenith_model_info *model, const void *data,
                             size_t size, cli_picture *out, cli_failure *failure)
{
    zenith_source_params params = cli_source_params(session->settings, model->factor);
    zenith_status status = zenith_source_open_memory(session->context, data, size, &params,
                                                     &out->source);
    if (status != ZENITH_OK) return cli_fail(session, failure, status, NULL);
    return make_latent(session, model, &params, out, failure);
}

void cli_picture_close(cli_picture *picture)
{
    zenith_source_free(picture->source);
    free(picture->latent.data);
}

static zenith_status read_rows(const cli_picture *picture, cli_preview *preview, uint8_t *rows,
                               uint32_t most)
{
    zenith_status status = ZENITH_OK;
    uint32_t height = picture->info.height;
    for (uint32_t y = 0; y < height && status == ZENITH_OK; y += most) {
        uint32_t count = height - y < most ? height - y : most;
        status = zenith_source_rows(picture->source, y, count, rows);
        if (status == ZENITH_OK) cli_preview_rows(preview, y, count, rows);
    }
    return status;
}

bool cli_picture_show(cli_session *session, const cli_picture *picture, const char *input,
                      cli_failure *failure)
{
    enum { ROWS = 16 };
    cli_show how = cli_show_choose(session->settings);
    if (how == CLI_SHOW_NOT) return true;
    cli_preview *preview = cli_preview_open(how, picture->info.width, picture->info.height);
    uint8_t *rows = malloc((size_t)picture->info.width * 3 * ROWS);
    zenith_status status = preview != NULL && rows != NULL ? read_rows(picture, preview, rows, ROWS)
                                                           : ZENITH_OUT_OF_MEMORY;
    if (status == ZENITH_OK) cli_preview_print(preview, input);
    cli_preview_free(preview);
    free(rows);
    return status == ZENITH_OK ||
           cli_fail(session, failure, status, zenith_source_error(picture->source));
}
