// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each allocation of base fails in turn; results are left alone.
#include "src/base/directory.h"
#include "src/base/executor.h"
#include "src/base/memory.h"
#include "src/base/os.h"
#include "tests/oom/oom.h"

static zenith_status set_job(void *arg, zn_team *team, int stream)
{
    (void)stream;
    *(int *)arg = zn_team_threads(team);
    return ZENITH_OK;
}

static zenith_status use_executor(zn_error *err)
{
    zn_executor *executor = NULL;
    zenith_status status = zn_executor_create(2, 2, &executor, err);
    if (status != ZENITH_OK) {
        assert_null(executor);
        return status;
    }
    int threads = 0;
    status = zn_executor_run(executor, set_job, &threads, 1, err);
    assert_int_equal(threads, 2);
    zn_executor_free(executor);
    return status;
}

static zenith_status use_writer(zn_error *err)
{
    zn_writer *writer = NULL;
    zenith_status status = zn_writer_open("/dev/null", &writer, err);
    if (status != ZENITH_OK) {
        assert_null(writer);
        return status;
    }
    return zn_writer_commit(writer, err);
}

static zenith_status ignore_name(void *cookie, const char *name)
{
    (void)cookie;
    return name[0] ? ZENITH_OK : ZENITH_INTERNAL;
}

// Enough names for the list to grow.
static zenith_status use_directory(zn_error *err)
{
    return zn_directory_each(zn_test_path(zn_test_source(), "src/base"), ignore_name, NULL, err);
}

static zenith_status use_arena(zn_error *err)
{
    zn_arena arena = {0};
    zenith_status status = ZENITH_OK;
    for (int i = 0; i < 20 && status == ZENITH_OK; i++) {
        if (!zn_arena_alloc(&arena, 9000)) status = zn_fail_memory(err, 9000);
    }
    zn_arena_free(&arena);
    return status;
}

const oom_program program_base_oom = {
    .calls = {OOM_CALL(use_executor, ZENITH_OK,
                       8), // itself, lock, conditions, two threads, two teams
              OOM_CALL(use_writer, ZENITH_OK, 1), OOM_CALL(use_directory, ZENITH_OK, 3),
              OOM_CALL(use_arena, ZENITH_OK, 4)},
};
