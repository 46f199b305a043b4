// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a person sees: messages on standard error, the terminal's width, one line that is redrawn
// (the progress bar), and text wrapped into columns. Names and messages can carry bytes of hostile
// files, so control characters never reach the terminal.
#ifndef ZN_CLI_TERMINAL_TERMINAL_H
#define ZN_CLI_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

// Columns of the terminal behind the stream; 0 if it is not one.
int cli_terminal_columns(FILE *stream);

// "zenith: ..." and a line end on standard error; erases the status line first.
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Writes text without its control characters.
void cli_print_clean(FILE *out, const char *text);

// The line at the bottom of the terminal that is drawn over itself (standard error).
void cli_status_show(const char *text);
void cli_status_clear(void);

// Paragraphs (separated by "\n") wrapped at `width`. The first line begins where the cursor is,
// `column` characters into its line; all others are indented by `indent`. Ends the last line.
void cli_print_wrapped(FILE *out, const char *text, int column, int indent, int width);

// How many characters the UTF-8 text shows.
int cli_text_columns(const char *text);

double cli_clock(void); // monotonic, seconds

#endif
