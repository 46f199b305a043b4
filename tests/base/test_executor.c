// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Jobs of many hosts, their order, and what a forked child gets.
#include "tests/testing.h"

#include "src/base/executor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOSTS = 8, JOBS = 60, RANGE = 1000 };

typedef struct host {
    zn_executor *executor;
    pthread_t thread;
    int sum_errors, status_errors;
    atomic_int *running, *most; // of all hosts
} host;

struct sum {
    host *host;
    atomic_long total;
    int id;
};

static void add_range(void *arg, size_t begin, size_t end)
{
    struct sum *sum = arg;
    long part = 0;
    for (size_t i = begin; i < end; i++) part += (long)i;
    atomic_fetch_add(&sum->total, part);
}

static zenith_status set_job(void *arg, zn_team *team, int stream)
{
    (void)team;
    (void)stream;
    *(int *)arg = 1;
    return ZENITH_OK;
}

// What the child finds, as its exit code: 0 when all is as it should be.
static int child_main(zn_executor *executor)
{
    zn_error err = {0};
    int ran = 0;
    if (zn_executor_run(executor, set_job, &ran, 1, &err) != ZENITH_FORKED) return 1;
    if (!strstr(err.text, "fork") || ran) return 2;
    zn_executor_free(executor); // must not wait for threads that are not there
    zn_executor *own = NULL;
    if (zn_executor_create(1, 2, &own, &err) != ZENITH_OK) return 3;
    if (zn_executor_run(own, set_job, &ran, 1, &err) != ZENITH_OK || !ran) return 4;
    zn_executor_free(own);
    return 0;
}

// Both streams have run a loop on all their threads, so no thread is started after this.
struct meeting {
    atomic_int arrived;
    struct sum sum;
};

static zenith_status meet_job(void *arg, zn_team *team, int stream)
{
    (void)stream;
    struct meeting *meeting = arg;
    zn_parallel(team, RANGE, 10, add_range, &meeting->sum);
    atomic_fetch_add(&meeting->arrived, 1);
    while (atomic_load(&meeting->arrived) < 2) usleep(500);
    return ZENITH_OK;
}

struct busy {
    zn_executor *executor;
    atomic_int started; // threads whose first job has run
    atomic_bool stop;
};

static void *busy_main(void *arg)
{
    struct busy *busy = arg;
    bool first = true;
    while (!atomic_load(&busy->stop)) {
        struct meeting alone = {.arrived = 1}; // a run of one job allocates nothing
        if (zn_executor_run(busy->executor, meet_job, &alone, 1, NULL) != ZENITH_OK)
            return "failed";
        if (first) atomic_fetch_add(&busy->started, 1);
        first = false;
    }
    return NULL;
}

static void check_children(zn_executor *executor)
{
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(20); // a child that hangs dies by this
            _exit(child_main(executor));
        }
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFEXITED(result));
        assert_int_equal(WEXITSTATUS(result), 0);
    }
}

// The children are forked while both streams work and their lock is now and then held. No thread
// may start or end meanwhile, and none may allocate: a sanitizer holds locks of its own then, which
// a child would wait for. So this test is the first, before others whose threads may still be
// ending.
ZN_TEST(forked_child_gets_a_status)
{
#ifdef __SANITIZE_THREAD__
    skip(); // the thread sanitizer does not start threads in the child of a threaded process
#endif
    zn_error err = {0};
    struct busy busy = {0};
    zn_test_ok(zn_executor_create(2, 2, &busy.executor, &err), &err);
    struct meeting first = {0};
    zn_test_ok(zn_executor_run(busy.executor, meet_job, &first, 2, &err), &err);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, busy_main, &busy), 0);
    }
    while (atomic_load(&busy.started) < 2) usleep(500);
    check_children(busy.executor);
    atomic_store(&busy.stop, true);
    for (int i = 0; i < 2; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    int ran = 0; // and the parent's is as before
    zn_test_ok(zn_executor_run(busy.executor, set_job, &ran, 1, &err), &err);
    assert_int_equal(ran, 1);
    zn_executor_free(busy.executor);
}

static zenith_status sum_job(void *arg, zn_team *team, int stream)
{
    struct sum *sum = arg;
    int now = atomic_fetch_add(sum->host->running, 1) + 1;
    int most = atomic_load(sum->host->most);
    while (now > most && !atomic_compare_exchange_weak(sum->host->most, &most, now)) continue;
    zn_parallel(team, RANGE, 10, add_range, sum);
    atomic_fetch_sub(sum->host->running, 1);
    bool fits = stream >= 0 && stream < zn_executor_streams(sum->host->executor) &&
                zn_team_threads(team) == zn_executor_threads(sum->host->executor);
    if (!fits) return ZENITH_INTERNAL;
    return sum->id % 7 == 0 ? ZENITH_CANCELLED : ZENITH_OK;
}

static void *host_main(void *arg)
{
    host *self = arg;
    for (int i = 0; i < JOBS; i++) {
        struct sum sum = {.host = self, .id = i};
        zenith_status status = zn_executor_run(self->executor, sum_job, &sum, 1, NULL);
        self->status_errors += status != (i % 7 == 0 ? ZENITH_CANCELLED : ZENITH_OK);
        self->sum_errors += sum.total != (long)RANGE * (RANGE - 1) / 2;
    }
    return NULL;
}

static void check_hosts(int streams, int threads)
{
    zn_error err = {0};
    zn_executor *executor = NULL;
    zn_test_ok(zn_executor_create(streams, threads, &executor, &err), &err);
    atomic_int running = 0, most = 0;
    host hosts[HOSTS];
    for (int i = 0; i < HOSTS; i++) {
        hosts[i] = (host){.executor = executor, .running = &running, .most = &most};
        assert_int_equal(pthread_create(&hosts[i].thread, NULL, host_main, &hosts[i]), 0);
    }
    for (int i = 0; i < HOSTS; i++) {
        pthread_join(hosts[i].thread, NULL);
        assert_int_equal(hosts[i].status_errors, 0);
        assert_int_equal(hosts[i].sum_errors, 0);
    }
    assert_true(most >= 1 && most <= streams);
    zn_executor_free(executor);
}

ZN_TEST(many_hosts)
{
    for (int streams = 1; streams <= 2; streams++) {
        for (int threads = 1; threads <= 2; threads++) check_hosts(streams, threads);
    }
}

// Jobs handed over one after the other while the stream is busy start in that order.
struct queue {
    zn_executor *executor;
    atomic_bool open;
    atomic_int started;
    int order[HOSTS];
};

struct entry {
    struct queue *queue;
    int id;
};

static zenith_status gate_job(void *arg, zn_team *team, int stream)
{
    (void)team;
    (void)stream;
    struct queue *queue = arg;
    atomic_fetch_add(&queue->started, 1);
    while (!atomic_load(&queue->open)) usleep(500);
    return ZENITH_OK;
}

static zenith_status order_job(void *arg, zn_team *team, int stream)
{
    (void)team;
    (void)stream;
    struct entry *entry = arg;
    entry->queue->order[atomic_fetch_add(&entry->queue->started, 1) - 1] = entry->id;
    return ZENITH_OK;
}

static void *gate_main(void *arg)
{
    struct queue *queue = arg;
    return zn_executor_run(queue->executor, gate_job, queue, 1, NULL) == ZENITH_OK ? NULL : arg;
}

static void *entry_main(void *arg)
{
    struct entry *entry = arg;
    return zn_executor_run(entry->queue->executor, order_job, entry, 1, NULL) == ZENITH_OK ? NULL
                                                                                           : arg;
}

ZN_TEST(first_come_first_served)
{
    zn_error err = {0};
    struct queue queue = {0};
    zn_test_ok(zn_executor_create(1, 1, &queue.executor, &err), &err);
    pthread_t gate, threads[HOSTS];
    struct entry entries[HOSTS];
    assert_int_equal(pthread_create(&gate, NULL, gate_main, &queue), 0);
    while (atomic_load(&queue.started) == 0) usleep(500);
    for (int i = 0; i < HOSTS; i++) {
        entries[i] = (struct entry){.queue = &queue, .id = i};
        assert_int_equal(pthread_create(&threads[i], NULL, entry_main, &entries[i]), 0);
        while (zn_executor_waiting(queue.executor) <= i) usleep(500);
    }
    atomic_store(&queue.open, true);
    void *failed;
    pthread_join(gate, &failed);
    assert_null(failed);
    for (int i = 0; i < HOSTS; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
        assert_int_equal(queue.order[i], i);
    }
    zn_executor_free(queue.executor);
}

// A caller whose job waits when the executor ends, and what it was told.
struct waiter {
    zn_executor *executor;
    int ran, dropped;
    zenith_status status;
};

static zenith_status count_job(void *arg, zn_team *team, int stream)
{
    (void)team, (void)stream;
    ((struct waiter *)arg)->ran++;
    return ZENITH_OK;
}

static void count_drop(void *arg)
{
    ((struct waiter *)arg)->dropped++;
}

static void *waiter_main(void *arg)
{
    struct waiter *self = arg;
    self->status = zn_executor_run(self->executor, count_job, self, 2, NULL);
    return NULL;
}

ZN_TEST(ending_tells_who_waits)
{
    zn_error err = {0};
    pthread_t thread;
    struct waiter waits = {.status = ZENITH_INTERNAL}, hands_over = {0};
    zn_executor *executor = NULL;
    zn_test_ok(zn_executor_create(1, 1, &executor, &err), &err);
    zn_task task = {.run = count_job, .drop = count_drop, .arg = &hands_over};
    waits.executor = executor;
    zn_executor_hold(executor);
    zn_test_ok(zn_executor_submit(executor, &task, &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, waiter_main, &waits), 0);
    while (zn_executor_waiting(executor) < 3) usleep(500);
    zn_executor_end(executor);
    pthread_join(thread, NULL);
    assert_int_equal(waits.status, ZENITH_CANCELLED);
    assert_int_equal(waits.ran, 0);
    assert_int_equal(hands_over.ran, 0);
    assert_int_equal(hands_over.dropped, 1);
    zn_executor_free(executor);
}

ZN_TEST(refuses_nothing)
{
    zn_error err = {0};
    zn_executor *executor = NULL;
    assert_int_equal(zn_executor_create(0, 1, &executor, &err), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_executor_create(1, 0, &executor, &err), ZENITH_INVALID_ARGUMENT);
    assert_null(executor);
    zn_executor_free(NULL);
}
