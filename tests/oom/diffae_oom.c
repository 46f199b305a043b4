// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a diffusion autoencoder's session: open a folder, two steps to noise, two back, a
// code moved and one drawn.
#include "tests/model/diffae_golden.h"
#include "tests/oom/oom.h"

#include "src/task/diffae/task.h"

static char folder[256];

typedef struct result {
    float picture[VALUES], code[CODE], drawn[CODE];
} result;

static zenith_status run(zn_engine *engine, zn_model *model, result *r, zn_error *err)
{
    static float picture[VALUES];
    const zn_diffae_call call = {.model = model, .dtype = ZENITH_DTYPE_F32, .steps = 2, .eta = 1};
    for (size_t i = 0; i < VALUES; i++) picture[i] = (float)(i % 100) / 50 - 1;
    for (size_t i = 0; i < CODE; i++) r->drawn[i] = (float)(i % 10) / 5 - 1;
    ZN_TRY(zn_diffae_encode(engine, &call, picture, r->code, r->picture, err));
    ZN_TRY(zn_diffae_manipulate(model, 1, 0.3, r->code, err));
    ZN_TRY(zn_diffae_decode(engine, &call, r->code, r->picture, r->picture, err));
    return zn_diffae_sample(engine, &call, 1, r->drawn, err);
}

static zenith_status session(void *made)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_executor *executor = NULL;
    zn_engine *engine = NULL;
    zn_model *model = NULL;
    const zn_model_request request = {.weights = folder};
    zenith_status status = zn_executor_create(1, 1, &executor, &err);
    if (status == ZENITH_OK) status = zn_engine_create(executor, &cpu, 0, NULL, &engine, &err);
    if (status == ZENITH_OK) status = zn_model_open(&request, &model, &err);
    if (status == ZENITH_OK) status = run(engine, model, made, &err);
    zn_engine_free(engine);
    zn_executor_free(executor);
    zn_model_unref(model);
    return status;
}

static int make_folder(void **state)
{
    (void)state;
    golden_folder("diffae_oom", folder);
    return 0;
}

const oom_program program_diffae_oom = {
    .need = "diffae/io.safetensors",
    .open = make_folder,
    .sessions = {{"session", session, sizeof(result), 60, 151, 151}},
};
