// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each allocation behind the calls of diffusion autoencoders fails in turn; no file is left behind.
// Plans are compiled before, and again in task.diffae_oom.
#include "tests/model/diffae_golden.h"
#include "tests/oom/oom.h"

#include "zenith/diffae.h"

#include <unistd.h>

static zenith_context *context;
static zenith_model *model;
static char path[300];

typedef struct result {
    float picture[VALUES], noise[VALUES], code[CODE], drawn[CODE], drawn_noise[VALUES];
    float probabilities[ATTRIBUTES];
} result;

static int look(void *cookie, const zenith_diffae_report *report)
{
    (void)cookie;
    return report->steps != 1;
}

// A code is saved, opened again and moved.
static zenith_status through_file(const zenith_code *code)
{
    zenith_code_file *file = NULL;
    zenith_code opened = {.size = sizeof opened};
    zenith_status status = zenith_code_save(context, path, model, code);
    if (status == ZENITH_OK) status = zenith_code_file_open(context, path, &file);
    if (status == ZENITH_OK) {
        zenith_code_file_get(file, &opened);
        status = zenith_diffae_edit(context, model, &opened, 1, 0.3);
    }
    if (status == ZENITH_OK) memcpy(code->code, opened.code, CODE * sizeof *code->code);
    if (status == ZENITH_OK) status = zenith_codes_save(context, path, model, code, 1);
    zenith_code_file_free(file);
    unlink(path);
    return status;
}

static zenith_status session(void *made)
{
    result *r = made;
    const zenith_diffae_params params = {
        .size = sizeof params, .steps = 1, .dtype = ZENITH_DTYPE_F32, .report = look};
    const zenith_code code = {.size = sizeof code,
                              .width = SIDE,
                              .height = SIDE,
                              .code = r->code,
                              .noise = r->noise,
                              .steps = 1};
    zenith_code drawn = code;
    const zenith_image image = {.size = sizeof image,
                                .width = SIDE,
                                .height = SIDE,
                                .number = ZENITH_F32,
                                .data = r->picture};
    drawn.code = r->drawn;
    drawn.noise = r->drawn_noise;
    for (int i = 0; i < VALUES; i++) r->picture[i] = (float)(i % 100) / 100;
    ZN_TRY(zenith_diffae_encode(context, model, &image, &code, &params));
    ZN_TRY(through_file(&code));
    ZN_TRY(zenith_diffae_decode(context, model, &code, &image, &params));
    ZN_TRY(zenith_diffae_sample(context, model, &drawn, 1, &params));
    ZN_TRY(zenith_diffae_mix(context, model, &code, &drawn, 0.5, &drawn));
    return zenith_diffae_classify(context, model, &drawn, 1, r->probabilities, &params);
}

static int open_model(void **state)
{
    const zenith_context_params machine = {.size = sizeof machine, .threads = 1};
    char folder[256];
    (void)state;
    golden_folder("diffae_calls_oom", folder);
    snprintf(path, sizeof path, "%s/code.npy", folder);
    const zenith_model_params which = {.size = sizeof which, .weights = folder};
    return zenith_context_create(&machine, &context) != ZENITH_OK ||
           zenith_model_open(context, &which, &model) != ZENITH_OK;
}

static int free_model(void **state)
{
    (void)state;
    zenith_model_free(model);
    zenith_context_free(context);
    return 0;
}

const oom_program program_diffae_calls_oom = {
    .need = "diffae/io.safetensors",
    .open = open_model,
    .close = free_model,
    .sessions = {{"session", session, sizeof(result), 20, 1, 4}},
};
