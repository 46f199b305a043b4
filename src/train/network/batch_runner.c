// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/network/batch_runner.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/dnn/dnn.h"
#include "src/graph/plan.h"

#include <string.h>

enum { WITH_GRADIENTS = 0, LOSSES_ALONE = 1, GRAPHS = 2 };

// What a stream keeps; made and used on its thread alone.
typedef struct worker {
    zn_dnn *dnn;
    bool dnn_tried;
    zn_plan *plans[GRAPHS];
    uint64_t seen[GRAPHS]; // the state of the parameters that the plan was made for
    void *arena;
    size_t arena_bytes;
    uint8_t *pixels;
    float *inputs[GRAPHS][ZN_TRAIN_INPUTS];
} worker;

struct zn_batch_runner {
    zn_executor *executor;
    zn_cpu cpu;
    const zn_train_graph *graphs[GRAPHS];
    zn_packs *packs;
    size_t sample_bytes;
    size_t most;
    uint64_t state; // counts changes of the parameters
    float scalars[ZN_TRAIN_SCALARS];
    float *numbers; // of each picture of a batch
    worker *workers;
    // The batch in work
    int graph;
    const zn_batch *batch;
    float *gradient, *results;
    // Under `lock`
    zn_mutex *lock;
    zn_condition *turned;
    size_t next;   // picture that no one has taken
    size_t *turns; // by gradient: the picture that adds its own next
    zenith_status status;
    zn_error error;
    zn_mutex *source; // one picture is fetched at a time
};

// One picture in work.
typedef struct picture {
    zn_batch_runner *runner;
    worker *worker;
    zn_team *team;
    size_t index;
    zn_sample sample;
} picture;

zenith_status zn_batch_runner_create(zn_executor *executor, const zn_cpu *cpu,
                                     const zn_train_graph *graphs[2], size_t sample_bytes,
                                     size_t most, zn_batch_runner **out, zn_error *err)
{
    zn_batch_runner *r = zn_alloc_zero(sizeof *r);
    if (!r) return zn_fail_memory(err, sizeof *r);
    zenith_status status;
    const size_t streams = (size_t)zn_executor_streams(executor);
    *r = (zn_batch_runner){
        .executor = executor, .cpu = *cpu, .sample_bytes = sample_bytes, .most = most};
    for (int i = 0; i < ZN_TRAIN_SCALARS; i++) r->scalars[i] = 1;
    for (int g = 0; g < GRAPHS; g++) r->graphs[g] = graphs[g];
    r->numbers = zn_alloc(most * graphs[0]->numbers * sizeof *r->numbers);
    r->turns = zn_alloc((graphs[0]->gradients_count + 1) * sizeof *r->turns);
    r->workers = zn_alloc_zero(streams * sizeof *r->workers);
    if (!r->numbers || !r->turns || !r->workers) {
        status = zn_fail_memory(err, most * sizeof *r->numbers);
        goto fail;
    }
    ZN_GO(zn_packs_create(&r->packs, err));
    ZN_GO(zn_mutex_create(&r->lock, err));
    ZN_GO(zn_mutex_create(&r->source, err));
    ZN_GO(zn_condition_create(&r->turned, err));
    *out = r;
    return ZENITH_OK;
fail:
    zn_batch_runner_free(r);
    return status;
}

static void release(worker *w)
{
    for (int g = 0; g < GRAPHS; g++) {
        zn_plan_free(w->plans[g]);
        for (int i = 0; i < ZN_TRAIN_INPUTS; i++) zn_free(w->inputs[g][i]);
    }
    zn_free(w->arena);
    zn_free(w->pixels);
    zn_dnn_free(w->dnn);
}

void zn_batch_runner_free(zn_batch_runner *r)
{
    if (!r) return;
    for (int i = 0; r->workers && i < zn_executor_streams(r->executor); i++)
        release(&r->workers[i]);
    zn_free(r->workers);
    zn_packs_free(r->packs);
    zn_condition_free(r->turned);
    zn_mutex_free(r->source);
    zn_mutex_free(r->lock);
    zn_free(r->turns);
    zn_free(r->numbers);
    zn_free(r);
}

void zn_batch_runner_changed(zn_batch_runner *r, const void *begin, size_t bytes)
{
    zn_packs_refresh(r->packs, begin, bytes);
    r->state++;
}

void zn_batch_runner_set(zn_batch_runner *r, zn_train_scalar which, float value)
{
    r->scalars[which] = value;
}

const float *zn_batch_numbers(const zn_batch_runner *r, size_t index)
{
    return r->numbers + index * r->graphs[0]->numbers;
}

// --- a stream's plan ----------------------------------------------------------------------------

static zenith_status make_plan(zn_batch_runner *r, worker *w, zn_error *err)
{
    if (!w->dnn && !w->dnn_tried) {
        zenith_status status = zn_dnn_create(&r->cpu, &w->dnn, NULL);
        if (status == ZENITH_OUT_OF_MEMORY) return zn_fail_memory(err, sizeof *w);
        w->dnn_tried = true;
    }
    const zn_plan_options options = {.mode = ZN_PLAN_PLANES,
                                     .cpu = r->cpu,
                                     .threads = zn_executor_threads(r->executor),
                                     .dnn = w->dnn,
                                     .packs = r->packs};
    return zn_plan_create(&r->graphs[r->graph]->graph, &options, &w->plans[r->graph], err);
}

static zenith_status prepare_inputs(const zn_batch_runner *r, worker *w, zn_error *err)
{
    const zn_train_graph *graph = r->graphs[r->graph];
    if (!w->pixels && r->sample_bytes) w->pixels = zn_alloc(r->sample_bytes);
    if (!w->pixels && r->sample_bytes) return zn_fail_memory(err, r->sample_bytes);
    for (int i = 0; i < graph->inputs_count; i++) {
        float **input = &w->inputs[r->graph][i];
        size_t elements = 0;
        (void)!zn_shape_elements(&graph->inputs[i]->desc.shape, &elements); // the node was made
        if (!*input) *input = zn_alloc(elements * sizeof **input);
        if (!*input) return zn_fail_memory(err, elements * sizeof **input);
    }
    return ZENITH_OK;
}

static zenith_status prepare(zn_batch_runner *r, worker *w, zn_error *err)
{
    const int g = r->graph;
    ZN_TRY(prepare_inputs(r, w, err));
    if (!w->plans[g])
        ZN_TRY(make_plan(r, w, err));
    else if (w->seen[g] != r->state)
        ZN_TRY(zn_plan_refresh(w->plans[g], err));
    w->seen[g] = r->state;
    size_t wanted = zn_plan_bytes(w->plans[g]);
    if (w->arena_bytes >= wanted) return ZENITH_OK;
    zn_free(w->arena);
    w->arena_bytes = 0;
    w->arena = zn_alloc(wanted);
    if (!w->arena) return zn_fail_memory(err, wanted);
    w->arena_bytes = wanted;
    zn_os_prefer_large_pages(w->arena, wanted);
    return ZENITH_OK;
}

// --- one picture --------------------------------------------------------------------------------

float *zn_sample_input(const zn_sample *sample, const char *name)
{
    for (int i = 0; i < sample->graph->inputs_count; i++)
        if (strcmp(sample->graph->inputs[i]->name, name) == 0) return sample->inputs[i];
    return NULL;
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const picture *p = cookie;
    const zn_shape *shape = &p->sample.graph->inputs[input]->desc.shape;
    const float *src = p->sample.inputs[input];
    size_t width = 1;
    (void)err;
    for (int i = shape->rank == 4 ? 2 : 0; i < shape->rank; i++) width *= (size_t)shape->dim[i];
    memcpy(dst, src + (size_t)row * width, (size_t)count * width * sizeof *src);
    return ZENITH_OK;
}

static zenith_status wait_for_turn(zn_batch_runner *r, size_t gradient, size_t index)
{
    zn_mutex_lock(r->lock);
    while (r->turns[gradient] != index && r->status == ZENITH_OK)
        zn_condition_wait(r->turned, r->lock);
    zenith_status status = r->status;
    zn_mutex_unlock(r->lock);
    return status;
}

typedef struct addition {
    const float *src;
    float *dst;
    bool first;
} addition;

static void add_range(void *arg, size_t begin, size_t end)
{
    const addition *a = arg;
    const float *restrict src = a->src;
    float *restrict dst = a->dst;
    if (a->first)
        memcpy(dst + begin, src + begin, (end - begin) * sizeof *dst);
    else
        for (size_t i = begin; i < end; i++) dst[i] += src[i];
}

static zenith_status add_gradient(const picture *p, size_t gradient, const float *src)
{
    enum { TILE = 16 * 1024 };
    zn_batch_runner *r = p->runner;
    const zn_train_parameter *parameter = r->graphs[WITH_GRADIENTS]->gradients[gradient];
    addition a = {src, r->gradient + parameter->offset, p->index == 0};
    ZN_TRY(wait_for_turn(r, gradient, p->index));
    zn_parallel(p->team, parameter->elements, TILE, add_range, &a);
    zn_mutex_lock(r->lock);
    r->turns[gradient] = p->index + 1;
    zn_condition_wake_all(r->turned);
    zn_mutex_unlock(r->lock);
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    const picture *p = cookie;
    zn_batch_runner *r = p->runner;
    const zn_train_graph *graph = p->sample.graph;
    const size_t numbers = graph->numbers, width = graph->result_row;
    (void)err;
    if ((size_t)output < numbers) {
        memcpy(r->numbers + p->index * numbers + (size_t)output, src, sizeof(float));
        return ZENITH_OK;
    }
    if (r->graph == WITH_GRADIENTS) return add_gradient(p, (size_t)output - numbers, src);
    if (r->results)
        memcpy(r->results + p->index * graph->result_elements + (size_t)row * width, src,
               (size_t)count * width * sizeof(float));
    return ZENITH_OK;
}

// --- the batch ----------------------------------------------------------------------------------

// The next picture and its pixels; false where there is none left, or someone has failed.
static bool take(picture *p, zenith_status *status, zn_error *err)
{
    zn_batch_runner *r = p->runner;
    zn_mutex_lock(r->source);
    zn_mutex_lock(r->lock);
    bool taken = r->next < r->batch->count && r->status == ZENITH_OK;
    if (taken) p->index = r->next++;
    zn_mutex_unlock(r->lock);
    const zn_batch *batch = r->batch;
    zn_sample *sample = &p->sample;
    if (taken)
        *status = batch->fetch(batch->cookie, p->index, p->worker->pixels, &sample->number, err);
    zn_mutex_unlock(r->source);
    if (!taken || *status != ZENITH_OK) return taken;
    sample->index = p->index;
    sample->pixels = p->worker->pixels;
    sample->inputs = p->worker->inputs[r->graph];
    memcpy(sample->scalars, r->scalars, sizeof sample->scalars);
    batch->fill(batch->cookie, sample);
    return taken;
}

static void fail(zn_batch_runner *r, zenith_status status, const zn_error *err)
{
    zn_mutex_lock(r->lock);
    if (r->status == ZENITH_OK) {
        r->status = status;
        r->error = *err;
    }
    zn_condition_wake_all(r->turned);
    zn_mutex_unlock(r->lock);
}

// Those that the graph has, in its order.
static void set_scalars(const zn_sample *sample, float *scalars)
{
    for (int i = 0; i < sample->graph->scalars_count; i++)
        scalars[i] = sample->scalars[sample->graph->scalars[i]];
}

// Gradients of what a network is sure of vanish. With denormals a network of words took twice the
// time after 1,000 steps.
static zenith_status run_pictures(void *arg, zn_team *team, int stream)
{
    zn_batch_runner *r = arg;
    picture p = {.runner = r,
                 .worker = &r->workers[stream],
                 .team = team,
                 .sample = {.graph = r->graphs[r->graph]}};
    float scalars[ZN_TRAIN_SCALARS];
    const zn_run run = {.read = read_rows, .write = write_rows, .cookie = &p, .scalars = scalars};
    zn_error err = {0};
    zenith_status status = prepare(r, p.worker, &err);
    zn_team_flush_denormals(team, true);
    while (status == ZENITH_OK && take(&p, &status, &err)) {
        set_scalars(&p.sample, scalars);
        if (status == ZENITH_OK)
            status = zn_plan_run(p.worker->plans[r->graph], p.worker->arena, team, &run, &err);
    }
    zn_team_flush_denormals(team, false);
    if (status != ZENITH_OK) fail(r, status, &err);
    return status;
}

static zenith_status run_batch(zn_batch_runner *r, int graph, const zn_batch *batch, zn_error *err)
{
    if (batch->count > r->most)
        return zn_fail(err, ZENITH_INTERNAL, "a batch of %zu is too large", batch->count);
    r->graph = graph;
    r->batch = batch;
    r->next = 0;
    r->status = ZENITH_OK;
    r->error = (zn_error){0};
    for (size_t i = 0; i < r->graphs[0]->gradients_count; i++) r->turns[i] = 0;
    zenith_status status = zn_executor_run(r->executor, run_pictures, r,
                                           zn_executor_streams(r->executor), err);
    if (r->status == ZENITH_OK) return status;
    return zn_fail(err, r->status, "%s", r->error.text);
}

zenith_status zn_batch_gradients(zn_batch_runner *runner, const zn_batch *batch, float *gradient,
                                 zn_error *err)
{
    runner->gradient = gradient;
    return run_batch(runner, WITH_GRADIENTS, batch, err);
}

zenith_status zn_batch_losses(zn_batch_runner *runner, const zn_batch *batch, float *results,
                              zn_error *err)
{
    runner->results = results;
    return run_batch(runner, LOSSES_ALONE, batch, err);
}
