// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a diffusion autoencoder's session (open a folder, two steps to noise, two back, a code moved and
// one drawn) fail in turn: the first 60 of them, then every 151st. It must say ZENITH_OUT_OF_MEMORY, leak nothing
// (the sanitizers look), and give the same picture once memory is back. The library allocates by aligned_alloc
// alone, so defining that here is enough.
#include "tests/model/diffae_golden.h"

#include "src/task/diffae_task.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { EACH = 60, STRIDE = 151, MOST = 100000 };

static atomic_long left = -1; // allocations until one fails; negative: none does

void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = NULL;
    if (atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0) return NULL;
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

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

static zenith_status session(const char *folder, result *r)
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
    if (status == ZENITH_OK) status = run(engine, model, r, &err);
    zn_engine_free(engine);
    zn_executor_free(executor);
    zn_model_unref(model);
    return status;
}

static void allocations_fail(void **state)
{
    static result expected, got;
    char folder[256];
    long refused = 0;
    (void)state;
    golden_folder("diffae_oom", folder);
    assert_int_equal(session(folder, &expected), ZENITH_OK);
    const long stride = STRIDE * (zn_test_quick() + 1);
    for (long allowed = 0; allowed < MOST; allowed += allowed < EACH ? 1 : stride) {
        atomic_store(&left, allowed);
        const zenith_status status = session(folder, &got);
        const bool failed = atomic_exchange(&left, -1) < 0;
        if (status == ZENITH_OK) assert_memory_equal(&got, &expected, sizeof got);
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
    zn_test_need(zn_test_path(zn_test_golden(), golden_io));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
