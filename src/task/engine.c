// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans are kept per stream in the order of their last use, and share one arena as large as the
// largest so far.
#include "src/task/engine.h"

#include "src/base/os.h"
#include "src/dnn/dnn.h"

enum { PLANS = 8 }; // per stream; the least recently used one makes room

typedef struct stream {
    zn_dnn *dnn; // made by the stream's first job
    bool dnn_tried;
    zn_compiled *plans[PLANS]; // most recently used first
    void *arena;
    size_t arena_bytes;
} stream;

struct zn_engine {
    zn_executor *executor;
    zn_cpu cpu;
    stream streams[];
};

zenith_status zn_engine_create(zn_executor *executor, const zn_cpu *cpu, zn_engine **out,
                               zn_error *err)
{
    size_t bytes = sizeof(zn_engine) + sizeof(stream) * (size_t)zn_executor_streams(executor);
    zn_engine *engine = zn_alloc_zero(bytes);
    if (!engine) return zn_fail_memory(err, bytes);
    engine->executor = executor;
    engine->cpu = *cpu;
    *out = engine;
    return ZENITH_OK;
}

static void drop_arena(stream *s)
{
    zn_free(s->arena);
    s->arena = NULL;
    s->arena_bytes = 0;
}

void zn_engine_trim(zn_engine *engine)
{
    for (int i = 0; i < zn_executor_streams(engine->executor); i++) {
        stream *s = &engine->streams[i];
        for (int p = 0; p < PLANS; p++) {
            zn_compiled_free(s->plans[p]);
            s->plans[p] = NULL;
        }
        drop_arena(s);
    }
}

void zn_engine_free(zn_engine *engine)
{
    if (!engine) return;
    zn_engine_trim(engine);
    for (int i = 0; i < zn_executor_streams(engine->executor); i++) {
        zn_dnn_free(engine->streams[i].dnn);
    }
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

const char *zn_engine_onednn(void)
{
    return zn_dnn_version();
}

// --- plans --------------------------------------------------------------------------------------

static void move_to_front(stream *s, int index)
{
    zn_compiled *used = s->plans[index];
    for (int i = index; i > 0; i--) s->plans[i] = s->plans[i - 1];
    s->plans[0] = used;
}

static zn_compiled *find_plan(stream *s, const zn_compile_key *key)
{
    for (int i = 0; i < PLANS && s->plans[i]; i++) {
        if (!zn_compile_key_equal(&s->plans[i]->key, key)) continue;
        move_to_front(s, i);
        return s->plans[0];
    }
    return NULL;
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
    *out = (zn_machine){engine->cpu, zn_executor_threads(engine->executor), s->dnn, NULL};
    return ZENITH_OK;
}

static zenith_status get_plan(zn_engine *engine, int stream_number, const zn_compile_key *key,
                              const atomic_int *cancel, zn_compiled **out, zn_error *err)
{
    stream *s = &engine->streams[stream_number];
    *out = find_plan(s, key);
    if (*out) return ZENITH_OK;
    zn_machine machine;
    ZN_TRY(zn_engine_machine(engine, stream_number, &machine, err));
    machine.cancel = cancel;
    ZN_TRY(zn_compile(key, &machine, out, err));
    zn_compiled_free(s->plans[PLANS - 1]);
    s->plans[PLANS - 1] = *out;
    move_to_front(s, PLANS - 1);
    return ZENITH_OK;
}

static zenith_status too_small(uint64_t max_memory, uint64_t needed, zn_error *err)
{
    return zn_fail(err, ZENITH_LIMIT, "this size needs at least %llu MB, and the limit is %llu MB",
                   (unsigned long long)((needed + (1u << 20) - 1) >> 20),
                   (unsigned long long)(max_memory >> 20));
}

zenith_status zn_engine_plan(zn_engine *engine, int stream_number, const zn_compile_key *key,
                             uint64_t max_memory, uint64_t buffers, const atomic_int *cancel,
                             const zn_compiled **out, zn_error *err)
{
    zn_compile_key bounded = *key;
    zn_compiled *found = NULL;
    // Weights are packed while compiling, so what they take is known only after a first attempt.
    for (int attempt = 0; attempt < 3; attempt++) {
        uint64_t fixed = buffers + zn_packs_bytes(key->model->packs);
        if (max_memory && fixed >= max_memory) return too_small(max_memory, fixed, err);
        bounded.max_bytes = max_memory ? (size_t)(max_memory - fixed) : 0;
        ZN_TRY(get_plan(engine, stream_number, &bounded, cancel, &found, err));
        uint64_t now = zn_plan_bytes(found->plan) + buffers + zn_packs_bytes(key->model->packs);
        if (!max_memory || now <= max_memory) {
            *out = found;
            return ZENITH_OK;
        }
    }
    return too_small(max_memory, zn_plan_bytes(found->plan) + buffers, err);
}

zenith_status zn_engine_run(zn_engine *engine, int stream_number, zn_team *team,
                            const zn_compiled *compiled, const zn_run *run, zn_error *err)
{
    stream *s = &engine->streams[stream_number];
    size_t bytes = zn_plan_bytes(compiled->plan), most = compiled->key.max_bytes;
    // A larger arena of an earlier run serves too, but a bound is on what is held.
    if (s->arena_bytes < bytes || (most && s->arena_bytes > most)) {
        drop_arena(s);
        s->arena = zn_alloc(bytes);
        if (!s->arena) return zn_fail_memory(err, bytes);
        s->arena_bytes = bytes;
        zn_os_prefer_large_pages(s->arena, bytes);
    }
    return zn_plan_run(compiled->plan, s->arena, team, run, err);
}
