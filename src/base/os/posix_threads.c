// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads, locks, conditions. Each remembers the process that made it: a forked child has their
// memory but not the threads, so there ending them only frees. (glibc's pthread_cond_destroy would
// wait for ever for waiters that the child does not have.)
#include "src/base/os.h"

#include "src/base/memory.h"
#include "src/base/os/posix.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

struct zn_mutex {
    uint64_t process;
    pthread_mutex_t mutex;
};

struct zn_condition {
    uint64_t process;
    pthread_cond_t condition;
};

struct zn_thread {
    uint64_t process;
    pthread_t thread;
    void (*run)(void *arg);
    void *arg;
};

uint64_t zn_process_id(void)
{
    return (uint64_t)getpid();
}

uint64_t zn_thread_id(void)
{
    return (uint64_t)(uintptr_t)pthread_self();
}

static zenith_status fail_start(zn_error *err, int code, const char *what)
{
    return zn_fail(err, ZENITH_OUT_OF_MEMORY, "the system gave no %s: %s", what,
                   zn_os_reason(code));
}

zenith_status zn_mutex_create(zn_mutex **out, zn_error *err)
{
    zn_mutex *mutex = zn_alloc(sizeof *mutex);
    if (!mutex) return zn_fail_memory(err, sizeof *mutex);
    mutex->process = zn_process_id();
    int code = pthread_mutex_init(&mutex->mutex, NULL);
    if (code != 0) {
        zn_free(mutex);
        return fail_start(err, code, "lock");
    }
    *out = mutex;
    return ZENITH_OK;
}

void zn_mutex_free(zn_mutex *mutex)
{
    if (!mutex) return;
    if (mutex->process == zn_process_id()) pthread_mutex_destroy(&mutex->mutex);
    zn_free(mutex);
}

void zn_mutex_lock(zn_mutex *mutex)
{
    pthread_mutex_lock(&mutex->mutex);
}

void zn_mutex_unlock(zn_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->mutex);
}

zenith_status zn_condition_create(zn_condition **out, zn_error *err)
{
    zn_condition *condition = zn_alloc(sizeof *condition);
    if (!condition) return zn_fail_memory(err, sizeof *condition);
    condition->process = zn_process_id();
    int code = pthread_cond_init(&condition->condition, NULL);
    if (code != 0) {
        zn_free(condition);
        return fail_start(err, code, "condition");
    }
    *out = condition;
    return ZENITH_OK;
}

void zn_condition_free(zn_condition *condition)
{
    if (!condition) return;
    if (condition->process == zn_process_id()) pthread_cond_destroy(&condition->condition);
    zn_free(condition);
}

void zn_condition_wait(zn_condition *condition, zn_mutex *mutex)
{
    pthread_cond_wait(&condition->condition, &mutex->mutex);
}

void zn_condition_wake_all(zn_condition *condition)
{
    pthread_cond_broadcast(&condition->condition);
}

static void *thread_main(void *arg)
{
    zn_thread *thread = arg;
    thread->run(thread->arg);
    return NULL;
}

zenith_status zn_thread_start(void (*run)(void *arg), void *arg, zn_thread **out, zn_error *err)
{
    zn_thread *thread = zn_alloc(sizeof *thread);
    if (!thread) return zn_fail_memory(err, sizeof *thread);
    thread->process = zn_process_id();
    thread->run = run;
    thread->arg = arg;
    sigset_t all, before; // a new thread starts with its maker's mask
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&thread->thread, NULL, thread_main, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) {
        zn_free(thread);
        return fail_start(err, code, "thread");
    }
    *out = thread;
    return ZENITH_OK;
}

void zn_thread_join(zn_thread *thread)
{
    if (!thread) return;
    if (thread->process == zn_process_id()) pthread_join(thread->thread, NULL);
    zn_free(thread);
}
