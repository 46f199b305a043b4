// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans are kept per stream in the order of their last use, and share one arena as large as the
// largest so far.
//
// A plan is found by what it computes, and serves every call whose budget it fits, with one
// exception: bands that were made narrow for a small budget would be slow in a call that allows
// more than twice as much, which gets a plan of its own; and so does a call that allows an eighth
// more than a plan which computes things again or spills them.
#include "src/task/engine/engine.h"

#include "src/base/os.h"
#include "src/dnn/dnn.h"

// What a lowering is counted with: most hold code that oneDNN made, which it does not tell the size
// of. An assumption, not a measurement.
enum { LOWERING_BYTES = 32 << 10 };
static const uint64_t default_plan_memory = 64u << 20;

typedef struct kept_plan {
    struct kept_plan *next; // used before this one
    zn_compiled *compiled;
    size_t budget; // it was compiled for; 0: none
    bool spilling; // it was compiled for runs with a spill file
    size_t bytes;  // it is counted with
} kept_plan;

typedef struct stream {
    zn_dnn *dnn; // made by the stream's first job
    bool dnn_tried;
    kept_plan *plans; // most recently used first
    uint64_t compiles;
    void *arena;
    size_t arena_bytes;
} stream;

struct zn_engine {
    zn_executor *executor;
    zn_cpu cpu;
    uint64_t plan_memory; // for the plans of one stream
    zn_tuner *tuner;
    stream streams[];
};

zenith_status zn_engine_create(zn_executor *executor, const zn_cpu *cpu, uint64_t plan_memory,
                               const char *tuned_plans, zn_engine **out, zn_error *err)
{
    const size_t streams = (size_t)zn_executor_streams(executor);
    const size_t bytes = sizeof(zn_engine) + sizeof(stream) * streams;
    zn_engine *engine = zn_alloc_zero(bytes);
    if (!engine) return zn_fail_memory(err, bytes);
    engine->executor = executor;
    engine->cpu = *cpu;
    engine->plan_memory = (plan_memory ? plan_memory : default_plan_memory) / streams;
    zenith_status status = ZENITH_OK;
    if (tuned_plans)
        status = zn_tuner_create(tuned_plans, cpu, zn_executor_threads(executor), &engine->tuner,
                                 err);
    if (status == ZENITH_OK)
        *out = engine;
    else
        zn_free(engine);
    return status;
}

static void drop_arena(stream *s)
{
    zn_free(s->arena);
    s->arena = NULL;
    s->arena_bytes = 0;
}

static void drop_plan(kept_plan **link)
{
    kept_plan *dropped = *link;
    *link = dropped->next;
    zn_compiled_free(dropped->compiled);
    zn_free(dropped);
}

// The one that `link` points to and those used before it.
static void drop_plans(kept_plan **link)
{
    while (*link) drop_plan(link);
}

// Those of `model`, and those of models that are closed, which nobody can ask for again.
static void drop_plans_of(kept_plan **link, const zn_model *model)
{
    while (*link) {
        const zn_model *its = (*link)->compiled->key.model;
        if (its == model || atomic_load(&its->closed))
            drop_plan(link);
        else
            link = &(*link)->next;
    }
}

static void trim(zn_engine *engine)
{
    for (int i = 0; i < zn_executor_streams(engine->executor); i++) {
        stream *s = &engine->streams[i];
        drop_plans(&s->plans);
        drop_arena(s);
    }
}

void zn_engine_trim(zn_engine *engine)
{
    zn_executor_hold(engine->executor);
    trim(engine);
    zn_executor_release(engine->executor);
}

void zn_engine_forget(zn_engine *engine, const zn_model *model)
{
    zn_executor_hold(engine->executor);
    for (int i = 0; i < zn_executor_streams(engine->executor); i++) {
        stream *s = &engine->streams[i];
        drop_plans_of(&s->plans, model);
        drop_arena(s);
    }
    zn_executor_release(engine->executor);
}

void zn_engine_free(zn_engine *engine)
{
    if (!engine) return;
    trim(engine);
    for (int i = 0; i < zn_executor_streams(engine->executor); i++) {
        zn_dnn_free(engine->streams[i].dnn);
    }
    zn_tuner_free(engine->tuner);
    zn_free(engine);
}

zn_executor *zn_engine_executor(zn_engine *engine)
{
    return engine->executor;
}

const zn_cpu *zn_engine_cpu(const zn_engine *engine)
{
    return &engine->cpu;
}

zn_tuner *zn_engine_tuner(const zn_engine *engine)
{
    return engine->tuner;
}

const char *zn_engine_onednn(void)
{
    return zn_dnn_version();
}

// --- plans --------------------------------------------------------------------------------------

static bool serves(const kept_plan *plan, const zn_compile_key *key, const zn_allowance *allowed)
{
    const size_t budget = allowed->max_bytes;
    if (!zn_compile_key_equal(&plan->compiled->key, key)) return false;
    if (budget && zn_plan_bytes(plan->compiled->plan) > budget) return false;
    if (zn_plan_preferred(plan->compiled->plan)) return true;
    if (!zn_plan_compromises(plan->compiled->plan)) return budget && plan->budget >= budget / 2;
    return plan->spilling == (allowed->spill != NULL) && budget &&
           plan->budget >= budget - budget / 8;
}

// Of the plans that serve, the one with the most memory: it has the widest bands.
static zn_compiled *find_plan(stream *s, const zn_compile_key *key, const zn_allowance *allowed)
{
    kept_plan **best = NULL;
    for (kept_plan **link = &s->plans; *link; link = &(*link)->next) {
        if (!serves(*link, key, allowed)) continue;
        if (best &&
            zn_plan_bytes((*link)->compiled->plan) <= zn_plan_bytes((*best)->compiled->plan))
            continue;
        best = link;
    }
    if (!best) return NULL;
    kept_plan *found = *best;
    *best = found->next;
    found->next = s->plans;
    s->plans = found;
    found->compiled->max_bytes = allowed->max_bytes;
    found->compiled->spill = allowed->spill;
    return found->compiled;
}

// What is held for a plan until it is dropped, as far as it can be counted.
static size_t bytes_of(const zn_compiled *compiled)
{
    return sizeof *compiled + compiled->graph.arena.used + zn_plan_table_bytes(compiled->plan) +
           zn_plan_lowerings(compiled->plan) * LOWERING_BYTES;
}

// Takes the plan over on success. The new one stays, whatever its size; older ones go from where
// the sum passes the bound.
static zenith_status keep_plan(stream *s, zn_compiled *compiled, uint64_t bound, zn_error *err)
{
    kept_plan *kept = zn_alloc_zero(sizeof *kept);
    if (!kept) return zn_fail_memory(err, sizeof *kept);
    *kept = (kept_plan){.compiled = compiled,
                        .budget = compiled->max_bytes,
                        .spilling = compiled->spill != NULL,
                        .bytes = bytes_of(compiled)};
    drop_plans_of(&s->plans, NULL);
    kept->next = s->plans;
    s->plans = kept;
    uint64_t sum = kept->bytes;
    kept_plan **link = &kept->next;
    while (*link && sum + (*link)->bytes <= bound) {
        sum += (*link)->bytes;
        link = &(*link)->next;
    }
    drop_plans(link);
    return ZENITH_OK;
}

uint64_t zn_engine_compiles(const zn_engine *engine)
{
    uint64_t sum = 0;
    for (int i = 0; i < zn_executor_streams(engine->executor); i++)
        sum += engine->streams[i].compiles;
    return sum;
}

// The stream's machine; oneDNN is made by the stream's first job.
zenith_status zn_engine_machine(zn_engine *engine, int stream_number, zn_machine *out,
                                zn_error *err)
{
    stream *s = &engine->streams[stream_number];
    if (!s->dnn && !s->dnn_tried) {
        zenith_status status = zn_dnn_create(&engine->cpu, &s->dnn, NULL);
        if (status == ZENITH_OUT_OF_MEMORY) return zn_fail_memory(err, sizeof *s);
        s->dnn_tried = true; // for want of memory it is tried again: other code has other bits
    }
    *out = (zn_machine){.cpu = engine->cpu,
                        .threads = zn_executor_threads(engine->executor),
                        .dnn = s->dnn,
                        .team = zn_executor_team(engine->executor, stream_number)};
    return ZENITH_OK;
}

static zenith_status get_plan(zn_engine *engine, int stream_number, const zn_compile_key *key,
                              const zn_allowance *allowed, const atomic_int *cancel,
                              zn_compiled **out, zn_error *err)
{
    stream *s = &engine->streams[stream_number];
    *out = find_plan(s, key, allowed);
    if (*out) return ZENITH_OK;
    zn_machine machine;
    ZN_TRY(zn_engine_machine(engine, stream_number, &machine, err));
    machine.cancel = cancel;
    s->compiles++;
    zenith_status made = zn_compile(key, allowed, &machine, out, err);
    zn_weights_forget(key->model->weights); // they are packed, and what is not is mapped again
    ZN_TRY(made);
    zenith_status status = keep_plan(s, *out, engine->plan_memory, err);
    if (status != ZENITH_OK) zn_compiled_free(*out);
    return status;
}

static zenith_status too_small(const zn_bound *bound, uint64_t fixed, const zn_plan_needs *needs,
                               zn_error *err)
{
    const unsigned long long limit = bound->max_memory, bytes = fixed + needs->bytes;
    const unsigned long long spilled = fixed + needs->spilled_bytes, file = needs->spill_bytes;
    if (file && bound->spill)
        return zn_fail(
            err, ZENITH_LIMIT,
            "this size needs at least %llu bytes of memory and a spill file of %llu bytes, "
            "and the limit is %llu bytes",
            spilled, file, limit);
    if (file)
        return zn_fail(
            err, ZENITH_LIMIT,
            "this size needs at least %llu bytes of memory, or %llu with a spill file of "
            "%llu bytes, and the limit is %llu bytes",
            bytes, spilled, file, limit);
    return zn_fail(err, ZENITH_LIMIT,
                   "this size needs at least %llu bytes of memory, and the limit is %llu bytes",
                   bytes, limit);
}

zenith_status zn_engine_plan(zn_engine *engine, int stream_number, const zn_compile_key *key,
                             const zn_bound *bound, const atomic_int *cancel,
                             const zn_compiled **out, zn_error *err)
{
    const uint64_t most = bound->max_memory;
    zn_plan_needs needs = {0};
    // Weights are packed while compiling, so what they take is known only after a first attempt.
    for (int attempt = 0; attempt < 3; attempt++) {
        zn_error reason = {0};
        zn_compiled *found = NULL;
        const uint64_t fixed = bound->buffers + zn_packs_bytes(key->model->packs);
        const zn_allowance allowed = {.max_bytes = most == 0      ? 0
                                                   : most > fixed ? (size_t)(most - fixed)
                                                                  : 1,
                                      .spill = bound->spill,
                                      .needs = &needs,
                                      .max_packed = bound->large_weights ? (size_t)most : 0};
        zenith_status status = get_plan(engine, stream_number, key, &allowed, cancel, &found,
                                        &reason);
        const uint64_t now = bound->buffers + zn_packs_bytes(key->model->packs);
        if (status == ZENITH_LIMIT && needs.bytes) return too_small(bound, now, &needs, err);
        if (status != ZENITH_OK) return zn_fail(err, status, "%s", reason.text);
        if (!most || zn_plan_bytes(found->plan) + now <= most) {
            *out = found;
            return ZENITH_OK;
        }
    }
    return zn_fail(err, ZENITH_INTERNAL, "packed weights grow with every plan");
}

// A run that spills has its file for itself, and only while it runs.
static zenith_status run_spilling(const zn_compiled *compiled, void *arena, zn_team *team,
                                  const zn_run *run, zn_error *err)
{
    zn_run with = *run;
    zn_spill *spill = NULL;
    if (!compiled->spill) return zn_fail(err, ZENITH_INTERNAL, "no spill file is allowed");
    ZN_TRY(zn_spill_open(compiled->spill, zn_plan_spill_bytes(compiled->plan), &spill, err));
    with.spill = spill;
    zenith_status status = zn_plan_run(compiled->plan, arena, team, &with, err);
    zn_spill_close(spill);
    return status;
}

zenith_status zn_engine_run(zn_engine *engine, int stream_number, zn_team *team,
                            const zn_compiled *compiled, const zn_run *run, zn_error *err)
{
    stream *s = &engine->streams[stream_number];
    size_t bytes = zn_plan_bytes(compiled->plan), most = compiled->max_bytes;
    // A larger arena of an earlier run serves too, but a bound is on what is held.
    if (s->arena_bytes < bytes || (most && s->arena_bytes > most)) {
        drop_arena(s);
        s->arena = zn_alloc(bytes);
        if (!s->arena) return zn_fail_memory(err, bytes);
        s->arena_bytes = bytes;
        zn_os_prefer_large_pages(s->arena, bytes);
    }
    if (zn_plan_spill_bytes(compiled->plan))
        return run_spilling(compiled, s->arena, team, run, err);
    return zn_plan_run(compiled->plan, s->arena, team, run, err);
}
