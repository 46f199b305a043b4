// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What each step towards today's plan of a large autoencoder gains: its decoder, one step after another.
//
//     bench_vae_steps FOLDER [SIZE [ROUNDS [THREADS]]]
//
// FOLDER holds a KL autoencoder as diffusers keeps it. The steps take turns. Prints for each step the median time
// (CPU time of one thread, wall time of more), the share of the multipliers' rate, the bytes of its maps, and the gain
// over the step before.
#include "bench/burst.h"
#include "src/base/memory.h"
#include "src/base/random.h"
#include "src/dnn/dnn.h"
#include "src/model/autoencoder.h"
#include "src/op/ops.h"
#include "src/task/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 100, FACTOR = 8 };

typedef struct step {
    const char *name;
    zenith_dtype dtype;
    bool fused;
    zn_plan_mode mode;
} step;

static const step steps[] = {
    {"f32, channels last, layer by layer", ZENITH_DTYPE_F32, false, ZN_PLAN_PLANES},
    {"+ norms, SiLU, sums, doubling inside convolutions", ZENITH_DTYPE_F32, true, ZN_PLAN_PLANES},
    {"+ rows that stay in the cache (rolling)", ZENITH_DTYPE_F32, true, ZN_PLAN_ROLLING},
    {"the plan that is chosen", ZENITH_DTYPE_F32, true, ZN_PLAN_AUTO},
    {"the plan that is chosen, bf16", ZENITH_DTYPE_BF16, true, ZN_PLAN_AUTO},
};
enum { STEPS = sizeof steps / sizeof *steps };

typedef struct contender {
    zn_graph plain, graph;
    zn_compiled *compiled;
    zn_plan *plan;
    double seconds[MOST_ROUNDS];
} contender;

static zn_error err;
static clockid_t which_clock = CLOCK_THREAD_CPUTIME_ID;

static void need(zenith_status status)
{
    if (status == ZENITH_OK) return;
    fprintf(stderr, "bench_vae_steps: %s\n", err.text);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(which_clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compile(contender *c, const step *s, const zn_compile_key *key,
                    const zn_machine *machine)
{
    zn_compile_key own = *key;
    own.dtype = s->dtype;
    own.mode = s->mode;
    if (s->fused) {
        need(zn_compile(&own, 0, machine, &c->compiled, &err));
        c->plan = c->compiled->plan;
        return;
    }
    const zn_type_policy policy = {.type = ZN_F32, .convert = zn_convert_as};
    const zn_plan_options options = {.mode = s->mode,
                                     .cpu = machine->cpu,
                                     .threads = machine->threads,
                                     .dnn = machine->dnn,
                                     .packs = key->model->packs};
    need(zn_build_part(&own, &c->plain, &err));
    need(zn_pass_types(&c->plain, &policy, &c->graph, &err));
    need(zn_plan_create(&c->graph, &options, &c->plan, &err));
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *error)
{
    (void)input, (void)error;
    const zn_desc *desc = cookie;
    const int64_t values = desc->shape.dim[2] * desc->shape.dim[3];
    float *values_at = dst;
    for (int64_t i = 0; i < count; i++) {
        zn_random random = {.seed = (uint64_t)(row + i)};
        for (int64_t k = 0; k < values; k++) *values_at++ = zn_random_normal(&random);
    }
    return ZENITH_OK;
}

static zenith_status drop_rows(void *cookie, int output, int64_t row, int64_t count,
                               const void *src, zn_error *error)
{
    (void)cookie, (void)output, (void)row, (void)count, (void)src, (void)error;
    return ZENITH_OK;
}

// The arena is made for one run: maps of the steps together would not fit a small machine.
static double run_once(const contender *c, zn_team *team, zn_desc *input)
{
    void *arena = zn_alloc(zn_plan_bytes(c->plan));
    if (!arena) need(zn_fail_memory(&err, zn_plan_bytes(c->plan)));
    const zn_run run = {.read = read_rows, .write = drop_rows, .cookie = input};
    const double begin = now();
    need(zn_plan_run(c->plan, arena, team, &run, &err));
    const double end = now();
    zn_free(arena);
    return end - begin;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(contender *contenders, int rounds, double probe)
{
    double before = 0;
    const double flops = zn_plan_flops(contenders[0].plan);
    printf("| step | s | share of %.0f GFLOP/s | maps MB | gain |\n|---|---|---|---|---|\n", probe);
    for (int i = 0; i < STEPS; i++) {
        contender *c = &contenders[i];
        qsort(c->seconds, (size_t)rounds, sizeof *c->seconds, by_size);
        const double seconds = c->seconds[rounds / 2];
        printf("| %s | %.2f | %.2f | %.0f | ", steps[i].name, seconds,
               flops / seconds * 1e-9 / probe, (double)zn_plan_bytes(c->plan) * 1e-6);
        printf(before > 0 ? "%.2f |\n" : "|\n", before / seconds);
        before = seconds;
    }
}

static void measure(const zn_compile_key *key, const zn_machine *machine, int rounds)
{
    static contender contenders[STEPS];
    zn_team *team = NULL;
    zn_ports ports = {.inputs_count = 0};
    double probe = 0;
    need(zn_team_create(machine->threads, &team, &err));
    key->part->ports(key->model->variant, zn_model_layout(key->model, key->part), &key->sizes,
                     &ports);
    for (int i = 0; i < STEPS; i++) compile(&contenders[i], &steps[i], key, machine);
    for (int i = 0; i < STEPS; i++) run_once(&contenders[i], team, &ports.inputs[0].desc);
    for (int r = 0; r < rounds; r++) {
        const double rate = burst_rate("fma", machine->threads);
        if (rate > probe) probe = rate;
        for (int i = 0; i < STEPS; i++)
            contenders[i].seconds[r] = run_once(&contenders[i], team, &ports.inputs[0].desc);
    }
    report(contenders, rounds, probe);
    for (int i = 0; i < STEPS; i++) {
        contender *c = &contenders[i];
        if (!c->compiled) zn_plan_free(c->plan);
        zn_compiled_free(c->compiled);
        zn_graph_free(&c->graph);
        zn_graph_free(&c->plain);
    }
    zn_team_free(team);
}

int main(int argc, char **argv)
{
    const int size = argc > 2 ? atoi(argv[2]) : 512, rounds = argc > 3 ? atoi(argv[3]) : 3;
    const int threads = argc > 4 ? atoi(argv[4]) : 1;
    if (argc < 2 || size < 16 || size % FACTOR || rounds < 1 || rounds > MOST_ROUNDS ||
        threads < 1 || threads > BURST_MOST_THREADS) {
        fprintf(stderr, "usage: bench_vae_steps FOLDER [SIZE [ROUNDS [THREADS]]]\n");
        return 2;
    }
    zn_machine machine = {.cpu = zn_cpu_detect(), .threads = threads};
    zn_model *model = NULL;
    const zn_model_request request = {.weights = argv[1],
                                      .parts = zn_autoencoder_names(ZENITH_DECODER)};
    if (threads > 1) which_clock = CLOCK_MONOTONIC;
    if (zn_dnn_create(&machine.cpu, &machine.dnn, &err) != ZENITH_OK) machine.dnn = NULL;
    need(zn_model_open(&request, &model, &err));
    const zn_compile_key key = {.model = model,
                                .part = zn_autoencoder_part(model->family, ZENITH_DECODER),
                                .sizes = {.height = size / FACTOR, .width = size / FACTOR},
                                .pixels = ZENITH_F32};
    measure(&key, &machine, rounds);
    zn_model_unref(model);
    zn_dnn_free(machine.dnn);
    return 0;
}
