// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a part of a model takes on a made-up picture in memory.
#ifndef ZN_CLI_COMMANDS_PROGRAM_MEASURE_H
#define ZN_CLI_COMMANDS_PROGRAM_MEASURE_H

#include "apps/cli/session/session.h"

enum { CLI_MOST_REPEATS = 10000 };

typedef struct cli_measure {
    unsigned part; // ZENITH_ENCODER or ZENITH_DECODER
    uint32_t width, height;
    int repeats;    // at most CLI_MOST_REPEATS
    double seconds; // no new run is begun after that long; 0: no bound
    bool
        // by the fastest of the plans, which are measured first; each run beside an untuned one
        tuned;
} cli_measure;

typedef struct cli_timing {
    int repeats;                    // that were counted
    double median, lowest, highest; // seconds
    double spread;                  // of the middle half of the runs, as a part of the median
    double untuned;                 // median of the untuned runs; 0: there were none
    zenith_run_facts facts;
    uint64_t planned_bytes; // working memory, packed weights, buffers
    double flops;
} cli_timing;

// Runs once to pack weights and compile, then counts. False with *failure filled.
bool cli_measure_run(cli_session *session, const cli_open_model *model, const cli_measure *measure,
                     cli_timing *out, cli_failure *failure);

uint64_t cli_peak_resident(void); // bytes, of the process so far

#endif
