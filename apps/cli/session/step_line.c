// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See step_line.h.
#include "apps/cli/session/step_line.h"
#include "apps/cli/terminal/terminal.h"

static const double line_seconds = 0.1, plain_seconds = 60;

void cli_step_line_begin(cli_step_line *line, const cli_session *session, uint32_t number,
                         uint32_t all, double now)
{
    line->session = session;
    line->number = number;
    line->all = all;
    line->started = now;
    line->shown = session->progress.bar ? 0 : now;
}

double cli_step_line_seconds(const cli_step_line *line, uint32_t step)
{
    return step > 1 ? (line->last - line->first) / (step - 1) : line->first - line->started;
}

static bool is_silent(const cli_step_line *line)
{
    return line->silent || line->session->settings->quiet || line->session->settings->json;
}

// "picture 2/4  ", where there are several.
static void which_picture(const cli_step_line *line, char *dst, size_t size)
{
    dst[0] = 0;
    if (line->all > 1)
        snprintf(dst, size, "picture %u/%u  ", (unsigned)line->number + 1, (unsigned)line->all);
}

void cli_step_line_phase(const cli_step_line *line, const char *what)
{
    char text[160], which[40];
    if (is_silent(line) || !line->session->progress.bar) return;
    which_picture(line, which, sizeof which);
    snprintf(text, sizeof text, "%s%s", which, what);
    cli_status_show(text);
}

void cli_step_line_step(cli_step_line *line, uint32_t step, uint32_t steps, uint64_t later,
                        double now)
{
    const bool terminal = line->session->progress.bar;
    char text[160], which[40], left[32];
    line->last = now;
    if (step == 1) line->first = now;
    if (is_silent(line) || now - line->shown < (terminal ? line_seconds : plain_seconds)) return;
    line->shown = now;
    const double each = cli_step_line_seconds(line, step);
    cli_progress_left(left, sizeof left, each * ((double)(steps - step) + (double)later));
    which_picture(line, which, sizeof which);
    snprintf(text, sizeof text, "%sstep %u/%u  %.2f s/step  %s", which, (unsigned)step,
             (unsigned)steps, each, left);
    if (terminal)
        cli_status_show(text);
    else
        cli_say("%s", text);
}
