// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See picture_grid.h.
#include "apps/cli/commands/diffae/picture_grid.h"
#include "apps/cli/session/preview.h"

#include <stdlib.h>

enum { CHANNELS = 3, MOST_SIDE = 65535 };

bool cli_grid_create(uint32_t count, uint32_t columns, uint32_t width, uint32_t height,
                     cli_grid *out, cli_failure *failure)
{
    *out = (cli_grid){.count = count, .columns = columns, .width = width, .height = height};
    while (columns == 0 && (uint64_t)out->columns * out->columns < count) out->columns++;
    if (out->columns > count) out->columns = count;
    out->rows = (count + out->columns - 1) / out->columns;
    const uint64_t wide = (uint64_t)out->columns * width, high = (uint64_t)out->rows * height;
    if (wide > MOST_SIDE || (high > MOST_SIDE && out->columns > 1))
        return cli_fail_text(failure, ZENITH_LIMIT,
                             "%u pictures of %ux%u are too many for one picture: name a folder, "
                             "which gets each by itself",
                             (unsigned)count, (unsigned)width, (unsigned)height);
    out->pixels = calloc((size_t)(wide * high), CHANNELS);
    return out->pixels != NULL || cli_fail_text(failure, ZENITH_OUT_OF_MEMORY,
                                                "no memory for %u pictures", (unsigned)count);
}

void cli_grid_free(cli_grid *grid)
{
    free(grid->pixels);
    grid->pixels = NULL;
}

static size_t row_bytes(const cli_grid *grid)
{
    return (size_t)CHANNELS * grid->columns * grid->width;
}

zenith_image cli_grid_image(const cli_grid *grid, uint32_t index)
{
    const size_t row = index / grid->columns, column = index % grid->columns;
    return (zenith_image){.size = sizeof(zenith_image),
                          .width = grid->width,
                          .height = grid->height,
                          .data = grid->pixels + row * grid->height * row_bytes(grid) +
                                  column * grid->width * CHANNELS,
                          .row_bytes = row_bytes(grid)};
}

static bool write_rows(cli_session *session, const zenith_image *image, const cli_format *format,
                       const char *path, cli_preview *preview, cli_failure *failure)
{
    const zenith_target_params params = cli_target_params(session->settings, format);
    cli_sink sink = {.preview = preview};
    zenith_status status = zenith_target_open(session->context, path, image->width, image->height,
                                              &params, &sink.target);
    for (uint32_t y = 0; y < image->height && status == ZENITH_OK; y++)
        status = cli_sink_rows(&sink, y, 1, (uint8_t *)image->data + y * image->row_bytes);
    if (status == ZENITH_OK) status = zenith_target_finish(sink.target);
    if (status != ZENITH_OK) cli_fail(session, failure, status, cli_sink_error(&sink));
    zenith_target_free(sink.target);
    return status == ZENITH_OK;
}

// drawn: --show has drawn it already.
static bool write_image(cli_session *session, const zenith_image *image, bool drawn,
                        const cli_format *format, const char *path, cli_failure *failure)
{
    const cli_show how = drawn ? CLI_SHOW_NOT : cli_show_choose(session->settings);
    cli_preview *preview = how != CLI_SHOW_NOT ? cli_preview_open(how, image->width, image->height)
                                               : NULL;
    if (how != CLI_SHOW_NOT && preview == NULL) return cli_fail_memory(failure);
    const bool done = write_rows(session, image, format, path, preview, failure);
    if (done && preview != NULL) cli_preview_print(preview, NULL);
    cli_preview_free(preview);
    return done;
}

bool cli_grid_write(cli_session *session, const cli_grid *grid, const cli_format *format,
                    const char *path, cli_failure *failure)
{
    const zenith_image image = {.size = sizeof image,
                                .width = grid->columns * grid->width,
                                .height = grid->rows * grid->height,
                                .data = grid->pixels,
                                .row_bytes = row_bytes(grid)};
    return write_image(session, &image, grid->count == 1, format, path, failure);
}

bool cli_grid_write_animation(cli_session *session, const cli_grid *grid, int delay,
                              const char *path, cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    const uint32_t rows = grid->rows * grid->height;
    const zenith_target_params params = {.size = sizeof params,
                                         .format = "webp",
                                         .quality = settings->picture.quality,
                                         .lossless = settings->picture.lossless,
                                         .frames = grid->count,
                                         .delay = (uint32_t)delay};
    zenith_target *target = NULL;
    zenith_status status = zenith_target_open(session->context, path, grid->width, rows, &params,
                                              &target);
    if (status == ZENITH_OK) status = zenith_target_rows(target, 0, rows, grid->pixels);
    if (status == ZENITH_OK) status = zenith_target_finish(target);
    if (status != ZENITH_OK) cli_fail(session, failure, status, zenith_target_error(target));
    zenith_target_free(target);
    return status == ZENITH_OK;
}
