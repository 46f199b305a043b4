// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The engine: what each stream of an executor keeps between calls (oneDNN, compiled plans, one
// arena). A stream's things are used only by jobs on its thread, and freed there or while the
// executor is held and no job runs: so they need no locks of their own.
#ifndef ZN_TASK_ENGINE_ENGINE_H
#define ZN_TASK_ENGINE_ENGINE_H

#include "src/base/executor.h"
#include "src/task/engine/tuner.h"

typedef struct zn_engine zn_engine;

// plan_memory: what plans that are kept may take in all streams together; 0: the default.
// tuned_plans: a file for the tuner; NULL: there is none.
zenith_status zn_engine_create(zn_executor *executor, const zn_cpu *cpu, uint64_t plan_memory,
                               const char *tuned_plans, zn_engine **out, zn_error *err);
// No job may be running or come.
void zn_engine_free(zn_engine *engine);
// Waits for the jobs that run, and frees plans and arenas. Not from a job.
void zn_engine_trim(zn_engine *engine);
// Likewise, of one model only.
void zn_engine_forget(zn_engine *engine, const zn_model *model);
zn_executor *zn_engine_executor(zn_engine *engine);
const zn_cpu *zn_engine_cpu(const zn_engine *engine);
zn_tuner *zn_engine_tuner(const zn_engine *engine); // NULL: there is none
const char *zn_engine_onednn(void);                 // its version, or "none"
// Plans that were compiled so far because none that was kept would do. While no job runs.
uint64_t zn_engine_compiles(const zn_engine *engine);

// In a job on `stream`: what to compile for, outside the cache.
zenith_status zn_engine_machine(zn_engine *engine, int stream, zn_machine *out, zn_error *err);

// What a call allows and holds. max_memory bounds the arena, the model's packed weights and
// `buffers`, bytes that the caller holds; 0: no bound. spill: a folder for what has no room in
// memory, until the run is over; NULL: none. large_weights: packing stops where the weights alone
// pass the bound. Where it is false they are packed whole, and the message says the bytes that
// would do.
typedef struct zn_bound {
    uint64_t max_memory, buffers;
    const char *spill;
    bool large_weights;
} zn_bound;

// In a job on `stream`: the plan for a key, compiled or from the cache. The plan is valid until the
// next call on this stream. ZENITH_LIMIT says the bytes that would do.
zenith_status zn_engine_plan(zn_engine *engine, int stream, const zn_compile_key *key,
                             const zn_bound *bound, const atomic_int *cancel,
                             const zn_compiled **out, zn_error *err);

// In a job on `stream`: runs a plan in the stream's arena.
zenith_status zn_engine_run(zn_engine *engine, int stream, zn_team *team,
                            const zn_compiled *compiled, const zn_run *run, zn_error *err);

#endif
