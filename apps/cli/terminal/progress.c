// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See progress.h. The time left is that of all files, taking the ones to come for as large as the
// ones that are done.
#include "apps/cli/terminal/progress.h"
#include "apps/cli/terminal/terminal.h"

#include <stdio.h>
#include <string.h>

enum { LINE = 1024, BAR_MAX = 40, BAR_MIN = 8, NAME_MAX_COLUMNS = 40 };

void cli_progress_start(cli_progress *progress, const char *verb, size_t count, bool bar)
{
    *progress = (cli_progress){.verb = verb, .unit = "MP", .count = count, .bar = bar, .share = 1};
    progress->started = cli_clock();
}

void cli_progress_file(cli_progress *progress, size_t index, const char *name)
{
    progress->index = index;
    progress->name = name;
    progress->megapixels = 0;
    progress->begun = 0;
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

void cli_progress_left(char *text, size_t size, double seconds)
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

// What stands right of the bar. The rate is what a narrow terminal goes without.
static void format_numbers(const cli_progress *progress, double fraction, bool narrow, char *text,
                           size_t size)
{
    char file[48] = "", rate[32] = "", left[32] = "";
    double now = cli_clock(), in_file = now - progress->file_started;
    double files = (double)progress->index + fraction;
    if (progress->count > 1)
        snprintf(file, sizeof file, "  file %zu/%zu", progress->index + 1, progress->count);
    if (in_file > 0.2 && fraction > progress->begun) {
        if (!narrow)
            snprintf(rate, sizeof rate, "  %.2f %s/s",
                     progress->megapixels * (fraction - progress->begun) / in_file, progress->unit);
        cli_progress_left(left, sizeof left,
                          (now - progress->started) / (files - progress->begun) *
                              ((double)progress->count - files));
    }
    snprintf(text, size, "%3d %%%s%s%s%s", (int)(fraction * 100), file, rate, *left ? "  " : "",
             left);
}

static int between(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void cli_progress_update(cli_progress *progress, double fraction)
{
    double now = cli_clock();
    if (!progress->bar || now - progress->drawn < 0.1) return;
    progress->drawn = now;
    fraction = progress->base + progress->share * fraction;
    // The last column would wrap on some terminals.
    int columns = between(cli_terminal_columns(stderr) - 1, 1, LINE / 4);
    bool narrow = columns < 70;
    char numbers[160], name[LINE], bar[BAR_MAX + 3], line[3 * LINE];
    format_numbers(progress, fraction, narrow, numbers, sizeof numbers);
    // Room for the longest numbers to be expected, so that the bar keeps its place as they come.
    int digits = between((int)strlen(numbers), (narrow ? 17 : 28) + (progress->count > 1 ? 11 : 0),
                         LINE);
    int room = columns - (int)strlen(progress->verb) - digits - 5; // blanks and brackets
    int names = between(cli_text_columns(progress->name), 1, NAME_MAX_COLUMNS);
    int bars = between(room - names, BAR_MIN, BAR_MAX); // the bar shrinks first, then the name
    copy_tail(name, sizeof name, progress->name, between(room - bars, 4, names));
    draw_bar(bar, bars, fraction);
    snprintf(line, sizeof line, "%s %s %s %s", progress->verb, name, bar, numbers);
    // A terminal too narrow even for that would wrap the line and could not erase it.
    if (cli_text_columns(line) <= columns) cli_status_show(line);
}
