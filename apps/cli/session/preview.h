// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// --show: a picture on the terminal, small enough to be seen whole. Rows are averaged into it as
// they come, so the picture itself is never held.
#ifndef ZN_CLI_SESSION_PREVIEW_H
#define ZN_CLI_SESSION_PREVIEW_H

#include "apps/cli/command.h"
#include "zenith/zenith.h"

typedef struct cli_preview cli_preview;

// How --show draws here; CLI_SHOW_NOT where it was not asked for, or was left to the program and
// standard output is no terminal.
cli_show cli_show_choose(const cli_settings *settings);

// False after a message: --show cannot go together with what else goes to standard output, or there
// is nothing to show it on and no other output (`only`).
bool cli_show_options_agree(const cli_settings *settings, bool only);

// Of a picture of this size. NULL when memory ran out.
cli_preview *cli_preview_open(cli_show how, uint32_t width, uint32_t height);
// 8-bit RGB rows, in order, each once.
void cli_preview_rows(cli_preview *preview, uint32_t y, uint32_t count, const uint8_t *rows);
// Draws it on standard output, with a line below it unless `caption` is NULL.
void cli_preview_print(const cli_preview *preview, const char *caption);
// After cli_preview_print without a caption: what is printed next goes over it, on a terminal.
void cli_preview_go_back(const cli_preview *preview);
void cli_preview_free(cli_preview *preview); // NULL is fine

// Where rows of a picture go: into a file, onto the terminal, or both. Either may be NULL.
typedef struct cli_sink {
    zenith_target *target;
    cli_preview *preview;
    uint32_t stride, height; // pixels of a row as it comes, rows that are wanted; 0: all is wanted
} cli_sink;
zenith_status cli_sink_rows(void *sink, uint32_t y, uint32_t count, void *rows); // zenith_rows_fn
// The file's own sentence, or "".
const char *cli_sink_error(const cli_sink *sink);

#endif
