// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures of one size beside and below each other, as one picture, or as files of their own.
#ifndef ZN_CLI_COMMANDS_DIFFAE_PICTURE_GRID_H
#define ZN_CLI_COMMANDS_DIFFAE_PICTURE_GRID_H

#include "apps/cli/session/outputs.h"
#include "apps/cli/session/session.h"

typedef struct cli_grid {
    uint32_t count, columns, rows;
    uint32_t width, height; // of each
    uint8_t *pixels;        // of all, black at first
} cli_grid;

// columns 0: about as many as rows. False where memory ran out, or the grid is larger than pictures
// can be.
bool cli_grid_create(uint32_t count, uint32_t columns, uint32_t width, uint32_t height,
                     cli_grid *out, cli_failure *failure);
void cli_grid_free(cli_grid *grid);

// Where picture `index` goes.
zenith_image cli_grid_image(const cli_grid *grid, uint32_t index);

// Writes the grid to `path`, and draws it if --show asks for it; a picture alone was drawn step by
// step. False with *failure filled.
bool cli_grid_write(cli_session *session, const cli_grid *grid, const cli_format *format,
                    const char *path, cli_failure *failure);
// The same of a grid of one column as an animation, WebP: its pictures in turn, each for `delay`
// milliseconds; 0: the usual time.
bool cli_grid_write_animation(cli_session *session, const cli_grid *grid, int delay,
                              const char *path, cli_failure *failure);

#endif
