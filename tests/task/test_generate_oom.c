// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a whole generation (open a pipeline's folder, two prompts, one step) fail in turn: the first 60 of
// them, then every 97th. It must say ZENITH_OUT_OF_MEMORY, leak nothing (the sanitizers look), and give the
// same latent once memory is back.
#include "src/task/generator.h"
#include "tests/fail_in_turn.h"

enum { VALUES = 16 * 4 * 4 };

static zenith_status run(zn_engine *engine, const zn_generator *generator, float *latent,
                         zn_error *err)
{
    zn_generator_tokens tokens;
    const zn_generator_call call = {
        .prompt = "a",
        .negative = "b",
        .seed = 1,
        .how = {.dtype = ZENITH_DTYPE_F32, .height = 4, .width = 4, .steps = 1, .guidance = 1}};
    return zn_generator_run(engine, generator, &call, latent, &tokens, err);
}

static zenith_status session(void *latent)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_executor *executor = NULL;
    zn_engine *engine = NULL;
    zn_generator *generator = NULL;
    zenith_status status = zn_executor_create(1, 1, &executor, &err);
    if (status == ZENITH_OK) status = zn_engine_create(executor, &cpu, 0, NULL, &engine, &err);
    if (status == ZENITH_OK)
        status = zn_generator_open(zn_test_path(zn_test_golden(), "pipeline"), &generator, &err);
    if (status == ZENITH_OK) status = run(engine, generator, latent, &err);
    zn_engine_free(engine);
    zn_executor_free(executor);
    zn_generator_free(generator);
    return status;
}

static void allocations_fail(void **state)
{
    static float expected[VALUES], latent[VALUES];
    (void)state;
    assert_int_equal(session(expected), ZENITH_OK);
    fail_some(&(fail_session){.run = session,
                              .expected = expected,
                              .made = latent,
                              .bytes = sizeof latent,
                              .each = 60,
                              .step = 97});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
    zn_test_need(zn_test_path(zn_test_golden(), "pipeline/io_turbo.safetensors"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
