// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The queue is a window on the sequence: slot 0 is the sample asked for last, the others those that
// the caller will want next. Workers take the first slot that nobody works on.
//
//     asked for 7:   [7 ready][8 ready][9 working][10 wanted]    ring of slots, front = that of 7
//     7 delivered:            [8 ready][9 working][10 wanted][11 wanted]
//     asked for 50:  [50 wanted][51 wanted][52 wanted][53 wanted]
//
// A slot that gets another sample while a worker is at its old one gets another ticket too: the
// worker sees that, and what it made is dropped. Workers fill memory of their own and swap it with
// the slot's, so a dropped one writes nowhere.
#include "src/train/data/data.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/train/data/sampler.h"

#include <string.h>

enum { MAX_CROP = 65535, MAX_WORKERS = 1024, QUEUE_PER_WORKER = 4 };

typedef enum slot_state {
    SLOT_WANTED,
    SLOT_WORKING,
    SLOT_READY, // with a sample or a failure
    SLOT_TOLD   // a failure that was handed out: made again when it is asked for again
} slot_state;

typedef struct slot {
    slot_state state;
    uint64_t index, ticket;
    uint8_t *pixels;
    uint64_t skipped;
    zenith_status status;
    zn_error error;
} slot;

typedef struct worker {
    zn_data *data;
    zn_thread *thread;
    uint8_t *pixels;
} worker;

struct zn_data {
    uint64_t process; // whose threads these are
    zn_sources *sources;
    zn_sampler *sampler;
    size_t bytes; // of a sample
    uint64_t run, stride;
    // Of the caller's thread alone.
    zn_skip_fn *skip;
    void *cookie;
    size_t skipped;
    uint8_t *told; // by picture
    // Guarded by the lock.
    zn_mutex *lock;
    zn_condition *wanted; // for workers: a slot is wanted, or it is time to end
    zn_condition *ready;  // for the caller
    bool ending, started; // started: the slots have samples
    uint64_t tickets;
    size_t front, queue;
    slot *slots;
    int workers_count;
    worker *workers;
};

// --- the window, under the lock

static slot *slot_at(zn_data *data, size_t place)
{
    return &data->slots[(data->front + place) % data->queue];
}

static void assign(zn_data *data, slot *to, uint64_t index)
{
    to->index = index;
    to->ticket = ++data->tickets;
    to->state = SLOT_WANTED;
}

static uint64_t next_index(const zn_data *data, uint64_t index)
{
    if (data->run == 0 || (index + 1) % data->run != 0) return index + 1;
    return index + 1 - data->run + data->stride;
}

static void drop_front(zn_data *data)
{
    slot *front = slot_at(data, 0);
    assign(data, front, next_index(data, slot_at(data, data->queue - 1)->index));
    data->front = (data->front + 1) % data->queue;
}

// Moves the window so that `index` is at its front.
static void seek(zn_data *data, uint64_t index)
{
    size_t place = 0;
    while (data->started && place < data->queue && slot_at(data, place)->index != index) place++;
    if (data->started && place < data->queue) {
        for (; place > 0; place--) drop_front(data);
        return;
    }
    for (place = 0; place < data->queue; place++, index = next_index(data, index))
        assign(data, slot_at(data, place), index);
    data->started = true;
}

static slot *first_wanted(zn_data *data)
{
    for (size_t place = 0; data->started && place < data->queue; place++) {
        slot *each = slot_at(data, place);
        if (each->state == SLOT_WANTED) return each;
    }
    return NULL;
}

// --- workers

// Makes the slot's sample; the lock is given back meanwhile.
static void work_on(worker *self, slot *taken)
{
    zn_data *data = self->data;
    const uint64_t index = taken->index, ticket = taken->ticket;
    uint64_t skipped = 0;
    zn_error error = {0};
    taken->state = SLOT_WORKING;
    zn_mutex_unlock(data->lock);
    zenith_status status = zn_sampler_make(data->sampler, index, self->pixels, &skipped, &error);
    zn_mutex_lock(data->lock);
    if (taken->ticket != ticket) return;
    uint8_t *made = self->pixels;
    self->pixels = taken->pixels;
    taken->pixels = made;
    taken->skipped = skipped;
    taken->status = status;
    taken->error = error;
    taken->state = SLOT_READY;
    zn_condition_wake_all(data->ready);
}

static void worker_main(void *arg)
{
    worker *self = arg;
    zn_data *data = self->data;
    zn_mutex_lock(data->lock);
    while (!data->ending) {
        slot *taken = first_wanted(data);
        if (taken)
            work_on(self, taken);
        else
            zn_condition_wait(data->wanted, data->lock);
    }
    zn_mutex_unlock(data->lock);
}

static zenith_status start_workers(zn_data *data, int workers, zn_error *err)
{
    ZN_TRY(zn_mutex_create(&data->lock, err));
    ZN_TRY(zn_condition_create(&data->wanted, err));
    ZN_TRY(zn_condition_create(&data->ready, err));
    size_t slots_bytes;
    if (!zn_mul_size(data->queue, sizeof *data->slots, &slots_bytes))
        return zn_fail_memory(err, SIZE_MAX);
    data->slots = zn_alloc_zero(slots_bytes);
    if (!data->slots) return zn_fail_memory(err, slots_bytes);
    for (size_t i = 0; i < data->queue; i++)
        if (!(data->slots[i].pixels = zn_alloc(data->bytes)))
            return zn_fail_memory(err, data->bytes);
    data->workers = zn_alloc_zero((size_t)workers * sizeof *data->workers);
    if (!data->workers) return zn_fail_memory(err, (size_t)workers * sizeof *data->workers);
    while (data->workers_count < workers) {
        worker *each = &data->workers[data->workers_count++];
        each->data = data;
        each->pixels = zn_alloc(data->bytes);
        if (!each->pixels) return zn_fail_memory(err, data->bytes);
        ZN_TRY(zn_thread_start(worker_main, each, &each->thread, err));
    }
    return ZENITH_OK;
}

static bool forked(const zn_data *data)
{
    return data->process != zn_process_id();
}

static void end_workers(zn_data *data)
{
    if (data->lock && !forked(data)) { // a child has the lock as it was: perhaps held for ever
        zn_mutex_lock(data->lock);
        data->ending = true;
        if (data->wanted) zn_condition_wake_all(data->wanted);
        zn_mutex_unlock(data->lock);
    }
    for (int i = 0; i < data->workers_count; i++) {
        zn_thread_join(data->workers[i].thread);
        zn_free(data->workers[i].pixels);
    }
    for (size_t i = 0; data->slots && i < data->queue; i++) zn_free(data->slots[i].pixels);
    zn_free(data->workers);
    zn_free(data->slots);
    zn_condition_free(data->ready);
    zn_condition_free(data->wanted);
    zn_mutex_free(data->lock);
}

// --- opening

static zenith_status check_options(const zn_data_options *options, zn_error *err)
{
    if (options->crop < 1 || options->crop > MAX_CROP)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "a crop has 1 to %d pixels, not %lld",
                       MAX_CROP, (long long)options->crop);
    if (!(options->min_scale >= 0 && options->min_scale <= 1))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "min_scale is %g, not between 0 and 1",
                       options->min_scale);
    if (options->workers < 0 || options->workers > MAX_WORKERS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "there can be 0 to %d data workers, not %d",
                       MAX_WORKERS, options->workers);
    return ZENITH_OK;
}

static void tell(void *cookie, const char *name, const char *reason)
{
    zn_data *data = cookie;
    data->skipped++;
    if (data->skip) data->skip(data->cookie, name, reason);
}

static zenith_status open_data(zn_data *data, const zn_data_options *options, zn_error *err)
{
    ZN_TRY(
        zn_sources_open(options->sources, options->sources_count, tell, data, &data->sources, err));
    size_t count = zn_sources_count(data->sources);
    data->told = zn_alloc_zero(count);
    if (!data->told) return zn_fail_memory(err, count);
    ZN_TRY(zn_sampler_create(options, data->sources, &data->sampler, err));
    return options->workers > 0 ? start_workers(data, options->workers, err) : ZENITH_OK;
}

zenith_status zn_data_open(const zn_data_options *options, zn_data **out, zn_error *err)
{
    ZN_TRY(check_options(options, err));
    zn_data *data = zn_alloc_zero(sizeof *data);
    if (!data) return zn_fail_memory(err, sizeof *data);
    data->process = zn_process_id();
    data->bytes = 3 * (size_t)options->crop * (size_t)options->crop;
    data->run = options->run;
    data->stride = options->stride;
    data->queue = options->queue ? options->queue : QUEUE_PER_WORKER * (size_t)options->workers;
    data->skip = options->skip;
    data->cookie = options->cookie;
    zenith_status status;
    ZN_GO(open_data(data, options, err));
    *out = data;
    return ZENITH_OK;
fail:
    zn_data_free(data);
    return status;
}

void zn_data_free(zn_data *data)
{
    if (!data) return;
    end_workers(data);
    zn_sampler_free(data->sampler);
    zn_sources_free(data->sources);
    zn_free(data->told);
    zn_free(data);
}

// --- samples

static zenith_status get_from_queue(zn_data *data, uint64_t index, uint8_t *pixels,
                                    uint64_t *skipped, zn_error *err)
{
    if (forked(data))
        return zn_fail(err, ZENITH_FORKED,
                       "the threads that read training data are in the process "
                       "that opened it, not in this forked child");
    zn_mutex_lock(data->lock);
    seek(data, index);
    slot *front = slot_at(data, 0);
    if (front->state == SLOT_TOLD) assign(data, front, index);
    zn_condition_wake_all(data->wanted);
    while (front->state != SLOT_READY) zn_condition_wait(data->ready, data->lock);
    zenith_status status = front->status;
    *skipped = front->skipped;
    if (status == ZENITH_OK) {
        memcpy(pixels, front->pixels, data->bytes);
        drop_front(data);
        zn_condition_wake_all(data->wanted);
    } else {
        front->state = SLOT_TOLD;
        zn_fail(err, status, "%s", front->error.text);
    }
    zn_mutex_unlock(data->lock);
    return status;
}

static void tell_skipped(zn_data *data, uint64_t index, uint64_t skipped)
{
    for (uint64_t i = 0; i < skipped; i++) {
        size_t number = zn_sampler_picture(data->sampler, index, i);
        if (data->told[number]) continue;
        data->told[number] = 1;
        tell(data, zn_sources_name(data->sources, number),
             zn_sampler_reason(data->sampler, number));
    }
}

zenith_status zn_data_get(zn_data *data, uint64_t index, uint8_t *pixels, zn_error *err)
{
    uint64_t skipped = 0;
    zenith_status status = data->workers_count > 0
                               ? get_from_queue(data, index, pixels, &skipped, err)
                               : zn_sampler_make(data->sampler, index, pixels, &skipped, err);
    tell_skipped(data, index, skipped);
    return status;
}

uint64_t zn_data_count(const zn_data *data)
{
    return zn_sources_count(data->sources);
}

size_t zn_data_skipped(const zn_data *data)
{
    return data->skipped;
}

const char *zn_data_checksum(const zn_data *data)
{
    return zn_sources_checksum(data->sources);
}

size_t zn_data_cached(const zn_data *data)
{
    return zn_sampler_cached(data->sampler);
}
