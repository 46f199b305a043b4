// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Generators of processes that work together, here on threads, with functions of src/ranks of this test's own that let
// threads meet: one picture, with the first one's seed; either stops both; one that ends leaves none waiting; and only a
// run that went well is ended in a regular way.
#include "tests/model/part_runs.h"

#include "src/ranks/ranks.h"
#include "src/task/generator.h"

#include <pthread.h>

enum {
    CHANNELS = 16,
    HEIGHT = 8,
    WIDTH = 12,
    VALUES = CHANNELS * HEIGHT * WIDTH,
    STEPS = 8,
    COUNT = 2
};
static const char prompt[] = "a photo of a cat sitting on a red chair";

// --- ranks --------------------------------------------------------------------------------------

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *data[COUNT]; // what each has brought
    int here, well, badly;
    unsigned round;
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Thread_local int next_rank; // of what this thread opens

zenith_status zn_ranks_open(zn_ranks *out, zn_error *err)
{
    (void)err;
    *out = (zn_ranks){.rank = next_rank, .count = COUNT, .started = true};
    return ZENITH_OK;
}

void zn_ranks_close(zn_ranks *ranks, bool well)
{
    (void)ranks;
    pthread_mutex_lock(&meeting.lock);
    *(well ? &meeting.well : &meeting.badly) += 1;
    pthread_mutex_unlock(&meeting.lock);
}

// The last to come does what is to be done with all they have brought.
static void meet(int rank, void *data, void (*make)(size_t count), size_t count)
{
    pthread_mutex_lock(&meeting.lock);
    const unsigned round = meeting.round;
    meeting.data[rank] = data;
    if (++meeting.here == COUNT) {
        make(count);
        meeting.here = 0;
        meeting.round++;
        pthread_cond_broadcast(&meeting.changed);
    }
    while (meeting.round == round) pthread_cond_wait(&meeting.changed, &meeting.lock);
    pthread_mutex_unlock(&meeting.lock);
}

static void make_sum(size_t count)
{
    float *first = meeting.data[0], *second = meeting.data[1];
    for (size_t i = 0; i < count; i++) first[i] = second[i] = first[i] + second[i];
}

static void make_same(size_t bytes)
{
    memcpy(meeting.data[1], meeting.data[0], bytes);
}

static void make_most(size_t count)
{
    int *first = meeting.data[0], *second = meeting.data[1];
    (void)count;
    *first = *second = *first > *second ? *first : *second;
}

zenith_status zn_ranks_sum(zn_ranks *ranks, float *values, size_t count, zn_error *err)
{
    (void)err;
    meet(ranks->rank, values, make_sum, count);
    return ZENITH_OK;
}

zenith_status zn_ranks_spread(zn_ranks *ranks, void *data, size_t bytes, zn_error *err)
{
    (void)err;
    meet(ranks->rank, data, make_same, bytes);
    return ZENITH_OK;
}

zenith_status zn_ranks_agree(zn_ranks *ranks, int *stop, zn_error *err)
{
    (void)err;
    meet(ranks->rank, stop, make_most, 1);
    return ZENITH_OK;
}

// --- processes ----------------------------------------------------------------------------------

typedef struct process {
    int rank;
    int pictures; // that it makes
    uint64_t seed;
    int stop_after, cancel_after; // steps of the first picture; 0: never
    uint32_t height;              // of its latents; 7 is no multiple of the patch
    // What became of it.
    int steps; // of the last picture
    atomic_int cancel;
    float latent[VALUES];
    zenith_status status;
    zn_error err;
} process;

static int stepped(void *cookie, int step, const float *latent, const float *predicted)
{
    process *p = cookie;
    (void)predicted;
    (void)latent;
    p->steps = step + 1;
    if (p->cancel_after == step + 1) atomic_store(&p->cancel, 1);
    return p->stop_after == step + 1;
}

static void make_picture(process *p, zn_engine *engine, zn_generator *generator)
{
    zn_generator_tokens tokens;
    const zn_generator_call call = {.prompt = prompt,
                                    .seed = p->seed,
                                    .noise = ZN_NOISE_TORCH,
                                    .how = {.dtype = ZENITH_DTYPE_F32,
                                            .height = p->height,
                                            .width = WIDTH,
                                            .steps = STEPS,
                                            .cancel = &p->cancel,
                                            .stepped = stepped,
                                            .cookie = p}};
    p->status = zn_generator_run(engine, generator, &call, p->latent, &tokens, &p->err);
}

static void *work(void *arg)
{
    process *p = arg;
    zn_executor *executor = NULL;
    zn_engine *engine = NULL;
    zn_generator *generator = NULL;
    const char *folder = zn_test_path(zn_test_golden(), "pipeline");
    const zn_cpu cpu = zn_cpu_detect();
    next_rank = p->rank;
    p->status = zn_executor_create(1, 1, &executor, &p->err);
    if (p->status == ZENITH_OK)
        p->status = zn_engine_create(executor, &cpu, 0, NULL, &engine, &p->err);
    if (p->status == ZENITH_OK)
        p->status = zn_generator_open(&(zn_generator_files){.folder = folder}, &generator, &p->err);
    for (int i = 0; i < p->pictures && p->status == ZENITH_OK; i++)
        make_picture(p, engine, generator);
    zn_engine_free(engine);
    zn_executor_free(executor);
    zn_generator_free(generator);
    return NULL;
}

static void run(process all[COUNT])
{
    pthread_t threads[COUNT];
    meeting.well = meeting.badly = 0;
    for (int i = 0; i < COUNT; i++) {
        all[i].rank = i;
        if (all[i].height == 0) all[i].height = HEIGHT;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &all[i]), 0);
    }
    for (int i = 0; i < COUNT; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(meeting.here, 0);
}

// --- tests --------------------------------------------------------------------------------------

static void the_first_ones_seed(void **state)
{
    (void)state;
    static process all[COUNT];
    all[0] = (process){.pictures = 2, .seed = 42};
    all[1] = (process){.pictures = 2, .seed = 7};
    run(all);
    zn_safetensors *golden = part_golden("pipeline/io_turbo.safetensors");
    float *expected = part_tensor(golden, "latents.8", NULL);
    for (int i = 0; i < COUNT; i++) {
        zn_test_ok(all[i].status, &all[i].err);
        part_compare("latents.8", all[i].latent, expected, VALUES, 1e-4);
        assert_memory_equal(all[i].latent, all[0].latent, sizeof all[0].latent);
    }
    assert_int_equal(meeting.well, COUNT);
    zn_free(expected);
    zn_safetensors_free(golden);
}

static void either_stops_both(void **state)
{
    (void)state;
    static process all[COUNT];
    for (int i = 0; i < 2 * COUNT; i++) {
        all[0] = all[1] = (process){.pictures = 3};
        if (i < COUNT)
            all[i % COUNT].stop_after = 3; // the callback says so
        else
            all[i % COUNT].cancel_after = 3; // the flag is seen at the next sum
        run(all);
        for (int k = 0; k < COUNT; k++) {
            assert_int_equal(all[k].status, ZENITH_CANCELLED);
            assert_int_equal(all[k].steps, 3);
        }
        assert_int_equal(meeting.well, COUNT);
    }
}

static void one_that_ends_leaves_none_waiting(void **state)
{
    (void)state;
    static process all[COUNT];
    for (int i = 0; i < COUNT; i++) {
        all[0] = all[1] = (process){.pictures = 3};
        all[i].pictures = 1;
        run(all);
        zn_test_ok(all[i].status, &all[i].err);
        assert_int_equal(all[!i].status, ZENITH_CANCELLED);
        assert_non_null(strstr(all[!i].err.text, "another process has ended"));
        assert_int_equal(meeting.well, COUNT);
    }
}

// A process that fails does not wait: its launcher ends the others.
static void failures_end_nothing_well(void **state)
{
    (void)state;
    static process all[COUNT];
    all[0] = all[1] = (process){.pictures = 1, .height = HEIGHT - 1};
    run(all);
    for (int i = 0; i < COUNT; i++) assert_int_equal(all[i].status, ZENITH_INVALID_ARGUMENT);
    assert_int_equal(meeting.badly, COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_ones_seed),
        cmocka_unit_test(either_stops_both),
        cmocka_unit_test(one_that_ends_leaves_none_waiting),
        cmocka_unit_test(failures_end_nothing_well),
    };
    zn_test_need(zn_test_path(zn_test_golden(), "pipeline/io_turbo.safetensors"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
