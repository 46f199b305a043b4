// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How far the work is: on a terminal one line that is redrawn at most ten times a second and
// erased at the end; elsewhere one plain line per finished file.
#ifndef ZN_CLI_TERMINAL_PROGRESS_H
#define ZN_CLI_TERMINAL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_progress {
    const char *verb; // "encode"
    const char *unit; // of a million of what is counted: "MP", pixels
    bool bar;         // standard error is a terminal
    size_t count;     // of files
    size_t index;     // of the one in work
    const char *name; // of the one in work
    double megapixels, total_megapixels;
    double started, file_started, drawn; // cli_clock
    double begun;                        // the part of the file that an earlier run has done
    double base, share; // the part of the file's work that the running call is: 0, 1 = all of it
} cli_progress;

void cli_progress_start(cli_progress *progress, const char *verb, size_t count, bool bar);
void cli_progress_file(cli_progress *progress, size_t index, const char *name);
// The file's size, once it is known, and which part of its work the next call is.
void cli_progress_call(cli_progress *progress, double pixels, double base, double share);
// fraction: of the running call.
void cli_progress_update(cli_progress *progress, double fraction);
// The file is done or has failed.
void cli_progress_file_end(cli_progress *progress, bool done);

// "0:21 left".
void cli_progress_left(char *text, size_t size, double seconds);

#endif
