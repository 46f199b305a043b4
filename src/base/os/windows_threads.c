// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads, locks, conditions on Windows, which has no fork and no signals to block.
#include "src/base/os.h"

#include "src/base/memory.h"

#include <errno.h>
#include <process.h> // _beginthreadex: a thread that the C library knows
#include <windows.h>

struct zn_mutex {
    SRWLOCK lock;
};

struct zn_condition {
    CONDITION_VARIABLE variable;
};

struct zn_thread {
    HANDLE handle;
    void (*run)(void *arg);
    void *arg;
};

uint64_t zn_process_id(void)
{
    return GetCurrentProcessId();
}

uint64_t zn_thread_id(void)
{
    return GetCurrentThreadId();
}

zenith_status zn_mutex_create(zn_mutex **out, zn_error *err)
{
    zn_mutex *mutex = zn_alloc(sizeof *mutex);
    if (!mutex) return zn_fail_memory(err, sizeof *mutex);
    InitializeSRWLock(&mutex->lock);
    *out = mutex;
    return ZENITH_OK;
}

void zn_mutex_free(zn_mutex *mutex)
{
    zn_free(mutex);
}

void zn_mutex_lock(zn_mutex *mutex)
{
    AcquireSRWLockExclusive(&mutex->lock);
}

void zn_mutex_unlock(zn_mutex *mutex)
{
    ReleaseSRWLockExclusive(&mutex->lock);
}

zenith_status zn_condition_create(zn_condition **out, zn_error *err)
{
    zn_condition *condition = zn_alloc(sizeof *condition);
    if (!condition) return zn_fail_memory(err, sizeof *condition);
    InitializeConditionVariable(&condition->variable);
    *out = condition;
    return ZENITH_OK;
}

void zn_condition_free(zn_condition *condition)
{
    zn_free(condition);
}

void zn_condition_wait(zn_condition *condition, zn_mutex *mutex)
{
    SleepConditionVariableSRW(&condition->variable, &mutex->lock, INFINITE, 0);
}

void zn_condition_wake_all(zn_condition *condition)
{
    WakeAllConditionVariable(&condition->variable);
}

static unsigned __stdcall thread_main(void *arg)
{
    zn_thread *thread = arg;
    thread->run(thread->arg);
    return 0;
}

zenith_status zn_thread_start(void (*run)(void *arg), void *arg, zn_thread **out, zn_error *err)
{
    zn_thread *thread = zn_alloc(sizeof *thread);
    if (!thread) return zn_fail_memory(err, sizeof *thread);
    thread->run = run;
    thread->arg = arg;
    thread->handle = (HANDLE)_beginthreadex(NULL, 0, thread_main, thread, 0, NULL);
    if (!thread->handle) {
        int code = errno;
        zn_free(thread);
        return zn_fail(err, ZENITH_OUT_OF_MEMORY, "the system gave no thread: error %d", code);
    }
    *out = thread;
    return ZENITH_OK;
}

void zn_thread_join(zn_thread *thread)
{
    if (!thread) return;
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
    zn_free(thread);
}
