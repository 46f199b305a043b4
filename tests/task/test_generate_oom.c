// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a whole generation (open a pipeline's folder, two prompts, one step) fail in turn: the first 60 of
// them, then every 97th. It must say ZENITH_OUT_OF_MEMORY, leak nothing (the sanitizers look), and give the
// same latent once memory is back. In f32, and in int8 with the weights in few bits.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/task/few_bits_files.h"
#include "src/task/generator.h"
#include "tests/fail_in_turn.h"

#include <stdio.h>

enum { VALUES = 16 * 4 * 4 };

static char folder[1024]; // of the pipeline
static zenith_dtype dtype;

static zenith_status run(zn_engine *engine, zn_generator *generator, float *latent, zn_error *err)
{
    zn_generator_tokens tokens;
    const zn_generator_call call = {
        .prompt = "a",
        .negative = "b",
        .seed = 1,
        .how = {.dtype = dtype, .height = 4, .width = 4, .steps = 1, .guidance = 1}};
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
    const zn_generator_files files = {.folder = folder};
    if (status == ZENITH_OK) status = zn_generator_open(&files, &generator, &err);
    if (status == ZENITH_OK) status = run(engine, generator, latent, &err);
    zn_engine_free(engine);
    zn_executor_free(executor);
    zn_generator_free(generator);
    return status;
}

static void fail_all(void)
{
    static float expected[VALUES], latent[VALUES];
    assert_int_equal(session(expected), ZENITH_OK);
    fail_some(&(fail_session){.run = session,
                              .expected = expected,
                              .made = latent,
                              .bytes = sizeof latent,
                              .each = 60,
                              .step = 97});
}

static void allocations_fail(void **state)
{
    (void)state;
    dtype = ZENITH_DTYPE_F32;
    snprintf(folder, sizeof folder, "%s", zn_test_path(zn_test_golden(), "pipeline"));
    fail_all();
}

static void allocations_fail_in_few_bits(void **state)
{
    (void)state;
    zn_error err = {0};
    zn_executor *executor = NULL;
    char *answer = NULL;
    const char *source = zn_test_path(zn_test_golden(), "pipeline");
    dtype = ZENITH_DTYPE_INT8;
    snprintf(folder, sizeof folder, "%s", zn_test_path(zn_test_build(), "oom_pipeline"));
    (void)!zn_file_remove(zn_test_path(folder, "model_index.json"), NULL);
    const zn_few_bits call = {.source = source, .output = folder, .rotate = true};
    zn_test_ok(zn_executor_create(1, 1, &executor, &err), &err);
    zn_test_ok(zn_write_few_bits(executor, &call, &answer, &err), &err);
    zn_executor_free(executor);
    zn_free(answer);
    fail_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail),
                                       cmocka_unit_test(allocations_fail_in_few_bits)};
    zn_test_need(zn_test_path(zn_test_golden(), "pipeline/io_turbo.safetensors"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
