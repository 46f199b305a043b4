// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a picture is that is made in steps: on a terminal one line, elsewhere a line a minute.
#ifndef ZN_CLI_SESSION_STEP_LINE_H
#define ZN_CLI_SESSION_STEP_LINE_H

#include "apps/cli/session/session.h"

typedef struct cli_step_line {
    const cli_session *session;
    bool silent;          // another process speaks
    uint32_t number, all; // which picture, from 0, of how many
    // The caller's clock: cli_clock, without what is no part of a step.
    double started, first, last, shown;
} cli_step_line;

// A picture begins.
void cli_step_line_begin(cli_step_line *line, const cli_session *session, uint32_t number,
                         uint32_t all, double now);
// What is done before and after the steps, on a terminal.
void cli_step_line_phase(const cli_step_line *line, const char *what);
// After a step, counted from 1; later: steps that follow those of this call.
void cli_step_line_step(cli_step_line *line, uint32_t step, uint32_t steps, uint64_t later,
                        double now);
// After so many steps. The first one also prepares the others, so it counts only while there is no
// other.
double cli_step_line_seconds(const cli_step_line *line, uint32_t step);

#endif
