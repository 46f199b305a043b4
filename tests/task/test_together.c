// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Generators of processes that work together, here on threads, with functions of src/ranks of this
// test's own that let threads meet: one picture, with the first one's seed and in each network's
// own type; either stops both; one that ends leaves none waiting; and only a run that went well is
// ended in a regular way.
#include "tests/model/part_runs.h"

#include "src/base/os.h"
#include "src/ranks/ranks.h"
#include "src/task/convert/few_bits_files.h"
#include "src/task/generate/generator.h"
#include "src/text/chat.h"

#include <pthread.h>

ZN_TEST_NEEDS(zn_test_path(zn_test_golden(), "pipeline/io_turbo.safetensors"))

enum { CHANNELS = 16, HEIGHT = 8, WIDTH = 12, VALUES = CHANNELS * HEIGHT * WIDTH };
enum { STEPS = 8, COUNT = 2 };
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
    const char *folder; // of the pipeline
    int pictures;       // that it makes
    uint64_t seed;
    int stop_after, cancel_after; // steps of the first picture; 0: never
    uint32_t height;              // of its latents; 7 is no multiple of the patch
    const char *transformer;      // instead of the pipeline's, in f32
    zenith_dtype dtype;
    const char *cpu; // the most that its CPU has, as in ZENITH_CPU; NULL: all
    // What became of it.
    int steps; // of the last picture
    atomic_int cancel;
    float latent[VALUES];
    bool kept_f32; // the text model's states were computed in f32
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
                                    .how = {.dtype = p->dtype,
                                            .height = p->height,
                                            .width = WIDTH,
                                            .steps = STEPS,
                                            .cancel = &p->cancel,
                                            .stepped = stepped,
                                            .cookie = p}};
    p->status = zn_generator_run(engine, generator, &call, p->latent, &tokens, &p->err);
}

// Whether the states of the prompt are there, in f32.
static bool keeps_f32(zn_generator *generator, const zn_cpu *cpu)
{
    zn_error err = {0};
    size_t read = 0, whole = 0;
    int32_t *ids = NULL;
    float *hidden = NULL;
    if (zn_chat_encode(generator->tokenizer, prompt, strlen(prompt), ZN_CHAT_TOKENS_MOST, &ids,
                       &read, &whole, &err) == ZENITH_OK) {
        const zn_caption key = {
            .ids = ids, .count = read, .dtype = ZENITH_DTYPE_F32, .cpu = cpu->flags};
        (void)!zn_generator_memory_recall(&generator->memory, &key, &hidden, NULL);
    }
    zn_free(ids);
    zn_free(hidden);
    return hidden != NULL;
}

static void *work(void *arg)
{
    process *p = arg;
    zn_executor *executor = NULL;
    zn_engine *engine = NULL;
    zn_generator *generator = NULL;
    zn_cpu cpu = zn_cpu_detect();
    unsigned allowed = 0;
    if (zn_cpu_parse(p->cpu, &allowed)) cpu.flags = zn_cpu_supported(cpu.flags & allowed);
    next_rank = p->rank;
    p->status = zn_executor_create(1, 1, &executor, &p->err);
    if (p->status == ZENITH_OK)
        p->status = zn_engine_create(executor, &cpu, 0, NULL, &engine, &p->err);
    if (p->status == ZENITH_OK)
        p->status = zn_generator_open(
            &(zn_generator_files){.folder = p->folder, .transformer = p->transformer}, &generator,
            &p->err);
    for (int i = 0; i < p->pictures && p->status == ZENITH_OK; i++)
        make_picture(p, engine, generator);
    if (generator) p->kept_f32 = keeps_f32(generator, &cpu);
    zn_engine_free(engine);
    zn_executor_free(executor);
    zn_generator_free(generator);
    return NULL;
}

static void run(process all[COUNT])
{
    pthread_t threads[COUNT];
    const char *folder = zn_test_path(zn_test_golden(),
                                      "pipeline"); // not from threads: its memory is shared
    meeting.well = meeting.badly = 0;
    for (int i = 0; i < COUNT; i++) {
        all[i].rank = i;
        all[i].folder = folder;
        if (all[i].height == 0) all[i].height = HEIGHT;
        if (all[i].dtype == ZENITH_DTYPE_DEFAULT && !all[i].transformer)
            all[i].dtype = ZENITH_DTYPE_F32;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &all[i]), 0);
    }
    for (int i = 0; i < COUNT; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(meeting.here, 0);
}

// --- tests --------------------------------------------------------------------------------------

ZN_TEST(the_first_ones_seed)
{
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

static const char *write_few_bits(void)
{
    static char path[512];
    char from[512];
    zn_error err = {0};
    zn_executor *executor = NULL;
    char *answer = NULL;
    snprintf(from, sizeof from, "%s", zn_test_path(zn_test_golden(), "pipeline/transformer"));
    snprintf(path, sizeof path, "%s", zn_test_path(zn_test_build(), "together_few_bits"));
    const zn_few_bits call = {.source = from, .output = path, .rotate = true};
    zn_test_ok(zn_executor_create(1, 1, &executor, &err), &err);
    zn_test_ok(zn_write_few_bits(executor, &call, &answer, &err), &err);
    zn_free(answer);
    zn_executor_free(executor);
    return path;
}

// A transformer in few bits beside a text model in f32, without a type: products of bytes for the
// one and f32 for the other, as one process alone has it.
ZN_TEST(each_network_in_its_own_type)
{
    static process usual[COUNT], asked[COUNT];
    static const zenith_dtype types[] = {ZENITH_DTYPE_F32, ZENITH_DTYPE_INT8};
    const char *transformer = write_few_bits();
    for (int i = 0; i < COUNT; i++)
        usual[i] = (process){.pictures = 1, .transformer = transformer, .cpu = "avx512"};
    run(usual);
    for (int i = 0; i < COUNT; i++) {
        zn_test_ok(usual[i].status, &usual[i].err);
        assert_true(usual[i].kept_f32);
    }
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < COUNT; i++) {
            asked[i] = usual[i];
            asked[i].dtype = types[t];
        }
        run(asked);
        zn_test_ok(asked[0].status, &asked[0].err);
        assert_int_equal(asked[0].kept_f32, types[t] == ZENITH_DTYPE_F32);
        assert_memory_not_equal(usual[0].latent, asked[0].latent, sizeof usual[0].latent);
    }
}

ZN_TEST(either_stops_both)
{
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

ZN_TEST(one_that_ends_leaves_none_waiting)
{
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
ZN_TEST(failures_end_nothing_well)
{
    static process all[COUNT];
    all[0] = all[1] = (process){.pictures = 1, .height = HEIGHT - 1};
    run(all);
    for (int i = 0; i < COUNT; i++) assert_int_equal(all[i].status, ZENITH_INVALID_ARGUMENT);
    assert_int_equal(meeting.badly, COUNT);
}
