// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each allocation behind the calls of diffusion autoencoders fails in turn: the call says so, leaves no file behind,
// leaks nothing (the sanitizers look), and a session after it has the same bits. Plans are compiled before, and again by
// tests/task/test_diffae_oom.c.
#include "tests/fail_in_turn.h"
#include "tests/model/diffae_golden.h"

#include "zenith/experimental.h"

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

static void allocations_fail(void **state)
{
    static result expected, got;
    (void)state;
    assert_int_equal(session(&expected), ZENITH_OK);
    fail_some(&(fail_session){.run = session,
                              .expected = &expected,
                              .made = &got,
                              .bytes = sizeof got,
                              .each = 20,
                              .step = 1 + zn_test_quick() * 4});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
    const zenith_context_params machine = {.size = sizeof machine, .threads = 1};
    char folder[256];
    zn_test_need(zn_test_path(zn_test_golden(), golden_io));
    golden_folder("diffae_calls_oom", folder);
    snprintf(path, sizeof path, "%s/code.npy", folder);
    const zenith_model_params which = {.size = sizeof which, .weights = folder};
    if (zenith_context_create(&machine, &context) != ZENITH_OK ||
        zenith_model_open(context, &which, &model) != ZENITH_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    zenith_model_free(model);
    zenith_context_free(context);
    return failed;
}
