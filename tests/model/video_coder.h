// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of video models share: clips in memory, and a part of a model that takes them step
// by step.
#ifndef ZN_TESTS_MODEL_VIDEO_CODER_H
#define ZN_TESTS_MODEL_VIDEO_CODER_H

#include "src/base/memory.h"
#include "src/dnn/dnn.h"
#include "src/format/tensor/safetensors.h"
#include "src/graph/packs.h"
#include "src/graph/states.h"
#include "src/model/autoencoder.h"
#include "src/task/engine/compile.h"
#include "tests/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 3 };

// One way to run: everything that must not change the bits.
typedef struct way {
    zenith_dtype dtype;
    zn_plan_mode mode;
    int64_t band;
    int threads;
} way;
// The frames of a clip or its latents, each [h, w, c].
typedef struct clip {
    float *data;
    size_t frame, row; // elements
    int count;
} clip;

static inline void *need(void *block)
{
    assert_non_null(block);
    return block;
}

static inline clip empty_like(const clip *like, int count)
{
    clip made = *like;
    made.count = count;
    made.data = need(zn_alloc_zero((size_t)count * like->frame * sizeof(float)));
    return made;
}

// --- runs ---------------------------------------------------------------------------------------

typedef struct coder {
    zn_model *model;
    zn_team *team;
    zn_compiled *steps[STEPS]; // by zn_step
    zn_states *states;
    void *arena;
    const clip *in;
    clip *out;
    int in_at, out_at; // frames so far
} coder;

static inline zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count,
                                      void *dst, zn_error *err)
{
    const coder *c = cookie;
    const float *frame = c->in->data + (size_t)(c->in_at + input) * c->in->frame;
    (void)err;
    memcpy(dst, frame + (size_t)row * c->in->row, (size_t)count * c->in->row * sizeof(float));
    return ZENITH_OK;
}

static inline zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                       const void *src, zn_error *err)
{
    const coder *c = cookie;
    float *frame = c->out->data + (size_t)(c->out_at + output) * c->out->frame;
    (void)err;
    memcpy(frame + (size_t)row * c->out->row, src, (size_t)count * c->out->row * sizeof(float));
    return ZENITH_OK;
}

static inline void open_coder(coder *c, zn_model *model, zn_dnn *dnn, const char *part,
                              int64_t height, int64_t width, const way *how)
{
    zn_error err = {0};
    size_t arena = 0;
    *c = (coder){.model = model};
    zn_test_ok(zn_team_create(how->threads, &c->team, &err), &err);
    const zn_machine machine = {.cpu = zn_cpu_detect(), .threads = how->threads, .dnn = dnn};
    for (int step = 0; step < STEPS; step++) {
        const zn_compile_key key = {
            .model = model,
            .part = zn_family_part(model->family, part),
            .sizes = {.height = height, .width = width, .step = (zn_step)step},
            .dtype = how->dtype,
            .pixels = ZENITH_F32,
            .mode = how->mode,
            .band = how->band};
        zn_test_ok(zn_compile(&key, NULL, &machine, &c->steps[step], &err), &err);
        const size_t bytes = zn_plan_bytes(c->steps[step]->plan);
        if (bytes > arena) arena = bytes;
    }
    const zn_plan *const plans[] = {c->steps[ZN_STEP_FIRST]->plan, c->steps[ZN_STEP_NEXT]->plan};
    zn_test_ok(zn_states_create(plans, 2, &c->states, &err), &err);
    c->arena = need(zn_alloc(arena));
    memset(c->arena, 0xff, arena);
}

static inline void close_coder(coder *c)
{
    for (int step = 0; step < STEPS; step++) zn_compiled_free(c->steps[step]);
    zn_states_free(c->states);
    zn_team_free(c->team);
    zn_free(c->arena);
}

static inline void run_step(coder *c, zn_step step)
{
    zn_error err = {0};
    const zn_compiled *compiled = c->steps[step];
    const zn_run run = {.read = read_rows,
                        .write = write_rows,
                        .cookie = c,
                        .states = step == ZN_STEP_ALONE ? NULL : c->states};
    zn_test_ok(zn_plan_run(compiled->plan, c->arena, c->team, &run, &err), &err);
    zn_ports ports;
    compiled->key.part->ports(c->model->variant, NULL, &compiled->key.sizes, &ports);
    c->in_at += ports.inputs_count;
    c->out_at += ports.outputs_count;
}

// All of `in`, from a first frame on.
static inline void run_clip(coder *c, const clip *in, clip *out)
{
    c->in = in;
    c->out = out;
    c->in_at = c->out_at = 0;
    zn_states_reset(c->states);
    run_step(c, ZN_STEP_FIRST);
    while (c->in_at < in->count) run_step(c, ZN_STEP_NEXT);
    assert_int_equal(c->out_at, out->count);
}

static inline void run_alone(coder *c, const clip *in, clip *out)
{
    c->in = in;
    c->out = out;
    c->in_at = c->out_at = 0;
    run_step(c, ZN_STEP_ALONE);
}

#endif
