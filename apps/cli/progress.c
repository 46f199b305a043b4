// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See progress.h. The time left is that of all files, taking the ones to come for as large as the
// ones that are done.
#include "apps/cli/progress.h"
#include "apps/cli/terminal.h"

#include <stdio.h>
#include <string.h>

enum { LINE = 1024, BAR_MAX = 40, BAR_MIN = 8, NAME_MAX_COLUMNS = 40 };

void cli_progress_start(cli_progress *progress, const char *verb, size_t count, bool bar)
{
    *progress = (cli_progress){.verb = verb, .count = count, .bar = bar, .share = 1};
    progress->started = cli_clock();
}

void cli_progress_file(cli_progress *progress, size_t index, const char *name)
{
    progress->index = index;
    progress->name = name;
    progress->megapixels = 0;
    progress->base = 0;
    progress->share = 1;
    progress->file_started = cli_clock();
    progress->drawn = 0;
    cli_progress_update(progress, 0);
}

void cli_progress_call(cli_progress *progress, double pixels, double base, double share)
{
    progress->megapixels = pixels * 1e-6;
    progress->base = base;
    progress->share = share;
}

void cli_progress_file_end(cli_progress *progress, bool done)
{
    if (done) progress->total_megapixels += progress->megapixels;
    cli_status_clear();
}

static void format_time(char *text, size_t size, double seconds)
{
    unsigned long all = seconds < 0     ? 0
                        : seconds > 1e7 ? 10000000ul
                                        : (unsigned long)(seconds + 0.5);
    if (all >= 3600)
        snprintf(text, size, "%lu:%02lu:%02lu left", all / 3600, all / 60 % 60, all % 60);
    else
        snprintf(text, size, "%lu:%02lu left", all / 60, all % 60);
}

// Copies the last `columns` characters of the UTF-8 name, with an ellipsis where it was cut: the
// end tells files of one folder apart.
static void copy_tail(char *dst, size_t size, const char *name, int columns)
{
    int skip = cli_text_columns(name) - columns;
    if (skip <= 0) {
        snprintf(dst, size, "%s", name);
        return;
    }
    for (skip += 1; skip > 0 && *name != 0; skip--) do
            name++;
        while (((unsigned char)*name & 0xc0) == 0x80);
    snprintf(dst, size, "…%s", name);
}

static void draw_bar(char *text, int columns, double fraction)
{
    int full = (int)(fraction * columns);
    text[0] = '[';
    for (int i = 0; i < columns; i++) text[1 + i] = i < full ? '=' : i == full ? '>' : ' ';
    text[1 + columns] = ']';
    text[2 + columns] = 0;
}

// What stands right of the bar; fields have a fixed width so that the bar does not jump.
static void format_numbers(const cli_progress *progress, double fraction, char *text, size_t size)
{
    char file[48] = "", rate[32] = "", left[32] = "";
    double now = cli_clock(), in_file = now - progress->file_started;
    double files = (double)progress->index + fraction;
    if (progress->count > 1)
        snprintf(file, sizeof file, "  file %zu/%zu", progress->index + 1, progress->count);
    if (in_file > 0.2 && fraction > 0) {
        snprintf(rate, sizeof rate, "%6.1f MP/s", progress->megapixels * fraction / in_file);
        format_time(left, sizeof left,
                    (now - progress->started) / files * ((double)progress->count - files));
    }
    snprintf(text, size, "%3d %%%s %s  %s", (int)(fraction * 100), file, rate, left);
}

void cli_progress_update(cli_progress *progress, double fraction)
{
    double now = cli_clock();
    if (!progress->bar || now - progress->drawn < 0.1) return;
    progress->drawn = now;
    fraction = progress->base + progress->share * fraction;
    int columns = cli_terminal_columns(stderr) - 1; // the last column would wrap some terminals
    if (columns <= 0 || columns > LINE / 4) columns = LINE / 4;
    char numbers[160], name[LINE], bar[BAR_MAX + 3], line[3 * LINE];
    format_numbers(progress, fraction, numbers, sizeof numbers);
    // The bar shrinks first, then the name.
    int used = (int)strlen(progress->verb) + 52; // spaces, brackets and the longest numbers
    int names = cli_text_columns(progress->name);
    if (names > NAME_MAX_COLUMNS) names = NAME_MAX_COLUMNS;
    int room = columns - used - names;
    int bars = room > BAR_MAX ? BAR_MAX : room < BAR_MIN ? BAR_MIN : room;
    int name_room = columns - used - bars;
    copy_tail(name, sizeof name, progress->name,
              name_room < 8       ? 8
              : name_room > names ? names
                                  : name_room);
    draw_bar(bar, bars, fraction);
    int length = snprintf(line, sizeof line, "%s %s %s %s", progress->verb, name, bar, numbers);
    // A terminal too narrow for all of it loses the end.
    if (length > 0 && cli_text_columns(line) > columns) line[columns] = 0;
    cli_status_show(line);
}
