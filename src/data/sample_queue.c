// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/data/sample_queue.h"

#include "src/base/os.h"

static const uint64_t default_bytes = (uint64_t)256 << 20;
enum { MOST_HELD = 4096 };

struct zn_sample_queue {
    zn_samples *samples; // the thread's, until it has ended
    zn_thread *thread;
    uint64_t max_bytes;
    zn_mutex *lock; // of what follows
    zn_condition *changed;
    zn_sample *first, *last;
    uint64_t bytes; // held, in the queue and by whoever took them
    size_t held;
    double seconds;
    bool stop, ended;
    zenith_status status;
    zn_error error;
};

static bool is_full(const zn_sample_queue *queue)
{
    return queue->held > 0 && (queue->bytes >= queue->max_bytes || queue->held >= MOST_HELD);
}

// Under the lock.
static void append(zn_sample_queue *queue, zn_sample *sample)
{
    if (queue->last)
        queue->last->next = sample;
    else
        queue->first = sample;
    queue->last = sample;
    queue->bytes += sample->arena.used + sizeof *sample;
    queue->held++;
}

static void read_all(void *arg)
{
    zn_sample_queue *queue = arg;
    bool going = true;
    while (going) {
        zn_mutex_lock(queue->lock);
        while (is_full(queue) && !queue->stop) zn_condition_wait(queue->changed, queue->lock);
        going = !queue->stop;
        zn_mutex_unlock(queue->lock);
        zn_sample *sample = NULL;
        zn_error error = {0};
        const double begin = zn_clock_seconds();
        zenith_status status = going ? zn_samples_next(queue->samples, &sample, &error) : ZENITH_OK;
        zn_mutex_lock(queue->lock);
        queue->seconds += zn_clock_seconds() - begin;
        if (sample) append(queue, sample);
        going = sample != NULL;
        queue->ended = !going;
        queue->status = status;
        queue->error = error;
        zn_condition_wake_all(queue->changed);
        zn_mutex_unlock(queue->lock);
    }
}

zenith_status zn_sample_queue_open(const zn_shard *shard, const zn_sample_limits *limits,
                                   uint64_t max_bytes, zn_sample_queue **out, zn_error *err)
{
    zn_sample_queue *queue = zn_alloc_zero(sizeof *queue);
    if (!queue) return zn_fail_memory(err, sizeof *queue);
    zenith_status status;
    queue->max_bytes = max_bytes ? max_bytes : default_bytes;
    ZN_GO(zn_mutex_create(&queue->lock, err));
    ZN_GO(zn_condition_create(&queue->changed, err));
    ZN_GO(zn_samples_open(shard, limits, &queue->samples, err));
    ZN_GO(zn_thread_start(read_all, queue, &queue->thread, err));
    *out = queue;
    return ZENITH_OK;
fail:
    zn_sample_queue_free(queue);
    return status;
}

void zn_sample_queue_free(zn_sample_queue *queue)
{
    if (!queue) return;
    if (queue->thread) {
        zn_mutex_lock(queue->lock);
        queue->stop = true;
        zn_condition_wake_all(queue->changed);
        zn_mutex_unlock(queue->lock);
        zn_thread_join(queue->thread);
    }
    while (queue->first) {
        zn_sample *next = queue->first->next;
        zn_sample_free(queue->first);
        queue->first = next;
    }
    zn_samples_free(queue->samples);
    zn_condition_free(queue->changed);
    zn_mutex_free(queue->lock);
    zn_free(queue);
}

zenith_status zn_sample_queue_take(zn_sample_queue *queue, zn_sample **out, zn_error *err)
{
    zenith_status status = ZENITH_OK;
    zn_mutex_lock(queue->lock);
    while (!queue->first && !queue->ended) zn_condition_wait(queue->changed, queue->lock);
    *out = queue->first;
    if (queue->first) {
        queue->first = queue->first->next;
        if (!queue->first) queue->last = NULL;
        (*out)->next = NULL;
    } else if (queue->status != ZENITH_OK) {
        status = zn_fail(err, queue->status, "%s", queue->error.text);
    }
    zn_mutex_unlock(queue->lock);
    return status;
}

bool zn_sample_queue_is_dry(zn_sample_queue *queue)
{
    zn_mutex_lock(queue->lock);
    const bool dry = !queue->first && !queue->ended && is_full(queue);
    zn_mutex_unlock(queue->lock);
    return dry;
}

void zn_sample_queue_give_back(zn_sample_queue *queue, zn_sample *sample)
{
    if (!sample) return;
    zn_mutex_lock(queue->lock);
    queue->bytes -= sample->arena.used + sizeof *sample;
    queue->held--;
    zn_condition_wake_all(queue->changed);
    zn_mutex_unlock(queue->lock);
    zn_sample_free(sample);
}

zenith_status zn_sample_queue_checksum(zn_sample_queue *queue, char hex[65], zn_error *err)
{
    zn_thread_join(queue->thread);
    queue->thread = NULL;
    return zn_samples_checksum(queue->samples, hex, err);
}
