// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tuner: which of a few plans is the fastest for a network at a size, on this CPU. All of them
// give the same bits (whole maps, or bands of one height or another; the lowerings are the same),
// so nothing is computed to measure: each of the first pictures is run by the next plan of the
// list, its result is as good as any, and its time is noted. After two times for each the fastest
// is taken, and kept in a file for other processes.
#ifndef ZN_TASK_ENGINE_TUNER_H
#define ZN_TASK_ENGINE_TUNER_H

#include "src/task/engine/compile.h"

typedef struct zn_tuner zn_tuner;

// path: of the file, which need not be there. cpu_name: any text that tells CPUs apart.
zenith_status zn_tuner_create(const char *path, const zn_cpu *cpu, int threads, zn_tuner **out,
                              zn_error *err);
void zn_tuner_free(zn_tuner *tuner); // NULL is fine

typedef struct zn_trial {
    int plan;           // of the list; -1: nothing is to be measured
    uint64_t max_bytes; // that the arena may take, twice what the usual plan takes; 0: no bound
} zn_trial;

// The plan for a key whose mode is free (ZN_PLAN_AUTO): sets its mode and band. tuner NULL: as it
// is.
zn_trial zn_tuner_choose(zn_tuner *tuner, zn_compile_key *key);

// What came of a trial: how long the picture took, by which plan; plan NULL: it does not fit. `key`
// as it was before it was chosen for.
void zn_tuner_note(zn_tuner *tuner, const zn_compile_key *key, const zn_trial *trial,
                   const zn_plan *plan, double seconds);

#endif
