// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A diffusion autoencoder as a contender (contender.h), for diffae.py. An iteration is by --op
//
//     encode    a picture to its code
//     step      one answer of the denoiser, with the modulation of its timestep
//     decode    STEPS steps from noise to a picture
//
// The input has the numbers of a picture, and after them those of a code.
#include "bench/contender.h"
#include "src/model/diffae/diffae.h"
#include "src/task/diffae/task.h"
#include "src/task/engine/part_call.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 20, TIMESTEP = 500 };

typedef struct bench {
    zn_executor *executor;
    zn_engine *engine;
    zn_diffae_call call;
    zn_diffae_facts facts;
    const float *input, *code;
    float *map, *modulation, *output;
    size_t side, channels;
    zn_error err;
} bench;

static void need(const bench *b, zenith_status status, const char *what)
{
    if (status != ZENITH_OK) contender_fail(what, b->err.text);
}

// --- iterations

static void encode(void *cookie)
{
    bench *b = cookie;
    need(b, zn_diffae_encode(b->engine, &b->call, b->input, b->output, NULL, &b->err), "encode");
}

static void decode(void *cookie)
{
    bench *b = cookie;
    memcpy(b->output, b->input, b->side * b->side * b->channels * sizeof(float));
    need(b, zn_diffae_decode(b->engine, &b->call, b->code, b->output, b->output, &b->err),
         "decode");
}

static zenith_status step_on_stream(void *arg, zn_team *team, int stream)
{
    static const float time = TIMESTEP;
    bench *b = arg;
    const zn_part_place place = {.engine = b->engine, .stream = stream, .team = team};
    const zn_part_call modulation = {.model = b->call.model,
                                     .part = "modulation",
                                     .sizes = {.tokens = 1},
                                     .dtype = b->call.dtype,
                                     .inputs = {&time, b->code},
                                     .outputs = {b->modulation}};
    const zn_part_call denoiser = {.model = b->call.model,
                                   .part = "denoiser",
                                   .sizes = {.height = (int64_t)b->side, .width = (int64_t)b->side},
                                   .dtype = b->call.dtype,
                                   .inputs = {b->map, b->modulation},
                                   .outputs = {b->output}};
    ZN_TRY(zn_part_call_run(&place, &modulation, &b->err));
    return zn_part_call_run(&place, &denoiser, &b->err);
}

static void step(void *cookie)
{
    bench *b = cookie;
    need(b, zn_executor_run(b->executor, step_on_stream, b, 1, &b->err), "step");
}

// --- start

static void open_model(bench *b, const contender_options *o)
{
    const zn_cpu cpu = zn_cpu_detect();
    const zn_model_request request = {.weights = o->weights};
    need(b, zn_executor_create(1, o->threads, &b->executor, &b->err), "threads");
    need(b, zn_engine_create(b->executor, &cpu, 0, NULL, &b->engine, &b->err), "engine");
    need(b, zn_model_open(&request, &b->call.model, &b->err), o->weights);
    b->facts = zn_diffae_facts_of(b->call.model);
}

static void read_input(bench *b, const contender_options *o)
{
    b->side = o->size;
    b->channels = (size_t)b->facts.shape.inputs;
    const size_t pixels = b->side * b->side, values = pixels * b->channels;
    const size_t code = (size_t)b->facts.shape.code;
    b->input = contender_read_input(o, values + code);
    b->code = b->input + values;
    b->map = contender_alloc(values * sizeof(float));
    for (size_t i = 0; i < values; i++) b->map[i % pixels * b->channels + i / pixels] = b->input[i];
    b->modulation = contender_alloc((size_t)b->facts.modulation * sizeof(float));
    b->output = contender_alloc((values > code ? values : code) * sizeof(float));
}

int main(int argc, char **argv)
{
    const contender_options o = contender_parse(argc, argv);
    const bool bf16 = strcmp(o.dtype, "bf16") == 0;
    bench b = {.call = {.dtype = bf16 ? ZENITH_DTYPE_BF16 : ZENITH_DTYPE_F32,
                        .height = o.size,
                        .width = o.size,
                        .steps = STEPS}};
    const bool steps = strcmp(o.op, "step") == 0;
    open_model(&b, &o);
    read_input(&b, &o);
    const contender c = {.run = steps      ? step
                                : o.encode ? encode
                                           : decode,
                         .cookie = &b,
                         .output = b.output,
                         .channels = o.encode ? (size_t)b.facts.shape.code : b.channels,
                         .pixels = o.encode ? 1 : b.side * b.side,
                         .channels_last = steps,
                         .note = "zenith"};
    return contender_serve(&c); // the system takes the memory back
}
