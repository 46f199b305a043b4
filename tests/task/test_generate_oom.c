// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a whole generation (open a pipeline's folder, two prompts, one step) fail in turn: the first 60 of
// them, then every 97th. It must say ZENITH_OUT_OF_MEMORY, leak nothing (the sanitizers look), and give the
// same latent once memory is back. The library allocates by aligned_alloc alone, so defining that here is
// enough.
#include "tests/testing.h"

#include "src/task/generator.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 16 * 4 * 4, EACH = 60, STEP = 97, MOST = 100000 };

static atomic_long left = -1; // allocations until one fails; negative: none does

void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = NULL;
    if (atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0) return NULL;
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

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

static zenith_status session(float *latent)
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
    long refused = 0;
    (void)state;
    assert_int_equal(session(expected), ZENITH_OK);
    for (long allowed = 0; allowed < MOST; allowed += allowed < EACH ? 1 : STEP) {
        atomic_store(&left, allowed);
        const zenith_status status = session(latent);
        const bool failed = atomic_exchange(&left, -1) < 0;
        if (status == ZENITH_OK) assert_memory_equal(latent, expected, sizeof latent);
        if (!failed) {
            print_message("%ld of about %ld allocations were refused\n", refused, allowed);
            assert_true(refused > EACH);
            return;
        }
        refused++;
        if (status != ZENITH_OK) assert_int_equal(status, ZENITH_OUT_OF_MEMORY);
    }
    fail_msg("the session never ended without a failure");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
    zn_test_need(zn_test_path(zn_test_golden(), "pipeline/io_turbo.safetensors"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
