// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See frames.h.
#include "apps/cli/commands/diffae/frames.h"
#include "apps/cli/commands/diffae/picture_grid.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>

int cli_frames_plan(const cli_settings *settings, const char *name, cli_frame_places *out)
{
    *out = (cli_frame_places){.naming = *settings, .name = {name}};
    out->naming.inputs = out->name;
    out->naming.input_count = 1;
    return cli_outputs_plan(&out->naming, cli_formats_picture, &out->outputs);
}

// Into the grid, or by itself where each is a file.
static bool make_frame(cli_diffae *d, const cli_outputs *outputs, const cli_frames *frames,
                       const cli_grid *grid, uint32_t index)
{
    cli_code code = {.file = NULL};
    char *path = outputs->folder ? cli_outputs_path(outputs, 0, (int64_t)index) : NULL;
    if (outputs->folder && path == NULL) return cli_fail_memory(&d->failure);
    const char *output = path != NULL ? path : outputs->place;
    const zenith_image image = cli_grid_image(grid, outputs->folder ? 0 : index);
    d->line.number = index;
    d->line.all = frames->count;
    d->later = (uint64_t)cli_diffae_steps(d) * (frames->count - index - 1);
    bool done = frames->make(frames->cookie, d, index, &code) &&
                cli_code_decode(d, &code, frames->seed, &image, output);
    if (done && path != NULL)
        done = cli_grid_write(&d->session, grid, outputs->format, path, &d->failure);
    cli_code_free(&code);
    free(path);
    return done;
}

static void report(cli_diffae *d, const cli_outputs *outputs, const cli_frames *frames,
                   const cli_grid *grid, double started, json_t *more)
{
    const zenith_run_facts facts = {.dtype = d->facts.dtype, .seconds = cli_clock() - started};
    const uint32_t across = frames->animated ? 1 : grid->columns, down = grid->rows;
    json_object_set_new(more, "pictures", json_integer(frames->count));
    json_object_set_new(more, "steps", json_integer(cli_diffae_steps(d)));
    cli_session_report(&d->session,
                       &(cli_result){.input = frames->name,
                                     .output = outputs->place,
                                     .width = across * grid->width,
                                     .height = (frames->animated ? 1 : down) * grid->height,
                                     .model = d->name,
                                     .facts = &facts,
                                     .started = started,
                                     .more = json_incref(more)});
}

bool cli_frames_write(cli_diffae *d, const cli_outputs *outputs, const cli_frames *frames,
                      json_t *more)
{
    cli_grid grid;
    const double started = cli_clock();
    const uint32_t columns = frames->animated ? 1 : frames->columns;
    bool done = cli_grid_create(outputs->folder ? 1 : frames->count, columns, frames->size.width,
                                frames->size.height, &grid, &d->failure);
    for (uint32_t i = 0; done && i < frames->count; i++)
        done = make_frame(d, outputs, frames, &grid, i);
    if (done && !outputs->folder)
        done = frames->animated ? cli_grid_write_animation(&d->session, &grid, d->own.delay,
                                                           outputs->place, &d->failure)
                                : cli_grid_write(&d->session, &grid, outputs->format,
                                                 outputs->place, &d->failure);
    if (done) report(d, outputs, frames, &grid, started, more);
    if (done) cli_session_done(&d->session);
    cli_grid_free(&grid);
    json_decref(more);
    return done;
}
