// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Z-Image's two networks, one run at a time, for zimage.py:
//
//     bench_zimage FOLDER f32|bf16|int8 THREADS SIDE INPUTS
//
// FOLDER is a pipeline; SIDE is the picture's. INPUTS is a folder of raw arrays: noise.f32 [16,
// SIDE / 8, SIDE / 8], caption.f32 [tokens, width of the text model] and ids.i32 [tokens]. A
// network is opened and packed when it is first needed. Commands come on standard input, one a
// line, each answered by a line of JSON:
//
//     text          {"seconds": ..., "cpu": ...}    the text model on ids
//     step I        {"seconds": ..., "cpu": ...}    the denoiser on the noise, at step I of 8
//     sample N      {"seconds": ..., "cpu": ...}    N steps from the noise
//     once          {"angles": ..., "context": ..., "modulation": ...}   seconds to prepare 8 steps
//     dump PATH     {"dumped": count}               the last result: rows of text, or planes of a
//                                                   latent, f32
//     probe         {"fma": ..., "vnni": ..., "amx": ...}   GFLOP/s of all threads on registers
//                                                   (burst.h)
//     read          {"gb_per_s": ...}               memory beyond the caches, read by all threads
//     rss           {"rss_mb": ...}                 peak of resident memory
//
// What depends on the prompt and the schedule alone is prepared before a step or a sample is timed.
// Answers with seconds have "allocations" too: how often the library asked for memory in that time.
#include "bench/burst.h"
#include "src/base/memory.h"
#include "src/diffusion/flow_match.h"
#include "src/model/text_to_image/qwen3.h"
#include "src/model/text_to_image/zimage.h"
#include "src/task/engine/part_call.h"
#include "src/task/generate/generate.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { STEPS = 8, FACTOR = 8 };
static const double SHIFT = 3;
static const size_t READ_BYTES = (size_t)512 << 20;

typedef struct bench {
    const char *folder, *inputs;
    zenith_dtype dtype;
    int threads, steps; // steps: those that the modulation is of; 0: nothing is prepared
    zn_executor *executor;
    zn_engine *engine;
    zn_model *text, *transformer;
    zn_zimage_facts facts;
    int64_t side, tokens, padded; // of the latent; of the caption, and with padding
    float *noise, *caption, *context, *angles, *modulation, *map, *answer;
    int32_t *ids;
    float *result;
    size_t values; // of the result
    double seconds, cpu;
    unsigned long long allocations;
    double angles_seconds, context_seconds, modulation_seconds;
    zn_part_place place; // in a job
    zn_error err;
} bench;

static atomic_ullong allocations;

// The linker leads zn_alloc's calls through here (--wrap): it is the library's only caller.
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __real_aligned_alloc(alignment, bytes);
}

static _Noreturn void stop(const char *what, const char *why)
{
    fprintf(stderr, "bench_zimage: %s: %s\n", what, why);
    exit(1);
}

static void *need(size_t bytes)
{
    void *block = zn_alloc_zero(bytes);
    if (!block) stop("memory", "there is not enough");
    return block;
}

static float *floats(int64_t rows, int64_t width)
{
    return need((size_t)(rows * width) * sizeof(float));
}

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void begin_time(bench *b)
{
    b->seconds = now(CLOCK_MONOTONIC);
    b->cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    b->allocations = atomic_load(&allocations);
}

static void end_time(bench *b)
{
    b->seconds = now(CLOCK_MONOTONIC) - b->seconds;
    b->cpu = now(CLOCK_PROCESS_CPUTIME_ID) - b->cpu;
    b->allocations = atomic_load(&allocations) - b->allocations;
}

// The whole of INPUTS/NAME, whose numbers have four bytes.
static void *read_array(const bench *b, const char *name, size_t *count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", b->inputs, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) stop(path, "cannot be read");
    *count = (size_t)ftell(file) / 4;
    rewind(file);
    void *numbers = need(*count * 4 + 4);
    if (fread(numbers, 4, *count, file) != *count) stop(path, "cannot be read");
    fclose(file);
    return numbers;
}

static zn_model *open_network(bench *b, const char *name)
{
    char path[4096];
    zn_model *model = NULL;
    snprintf(path, sizeof path, "%s/%s", b->folder, name);
    const zn_model_request request = {.weights = path};
    if (zn_model_open(&request, &model, &b->err) != ZENITH_OK) stop(path, b->err.text);
    return model;
}

// --- the text model

static zenith_status run_text(bench *b)
{
    size_t count;
    if (!b->text) {
        b->text = open_network(b, "text_encoder");
        b->ids = read_array(b, "ids.i32", &count);
        b->tokens = (int64_t)count;
    }
    zn_free(b->result);
    b->values = (size_t)(b->tokens * zn_qwen3_width(b->text));
    b->result = need(b->values * sizeof(float));
    const zn_prompt prompt = {b->ids, (size_t)b->tokens};
    begin_time(b);
    zenith_status status = zn_encode_prompt(b->engine, b->text, b->dtype, &prompt, 0, NULL,
                                            b->result, &b->err);
    end_time(b);
    return status;
}

// --- the transformer

static zenith_status run_part(bench *b, const zn_part_call *of)
{
    zn_part_call call = *of;
    call.model = b->transformer;
    call.dtype = b->dtype;
    return zn_part_call_run(&b->place, &call, &b->err);
}

static void open_transformer(bench *b)
{
    size_t count;
    b->transformer = open_network(b, "transformer");
    b->facts = zn_zimage_facts_of(b->transformer);
    b->noise = read_array(b, "noise.f32", &count);
    if (count != (size_t)(b->side * b->side * b->facts.channels)) stop("noise.f32", "another size");
    b->caption = read_array(b, "caption.f32", &count);
    b->tokens = (int64_t)count / b->facts.caption;
    b->padded = zn_zimage_caption_tokens(b->tokens);
    const int64_t all = zn_zimage_image_tokens(b->transformer, b->side, b->side) + b->padded;
    b->context = floats(b->padded, b->facts.width);
    b->angles = floats(all, b->facts.head);
    b->map = floats(b->side * b->side, b->facts.channels);
    b->answer = floats(b->side * b->side, b->facts.channels);
}

static zenith_status prepare_modulation(bench *b, int steps)
{
    float *sigmas = floats(steps + 1, 1), *times = floats(steps, 1);
    zenith_status status = zn_flow_sigmas(steps, SHIFT, sigmas, &b->err);
    for (int i = 0; i < steps; i++) times[i] = zn_flow_time(sigmas[i]);
    zn_free(b->modulation);
    b->modulation = floats(steps, b->facts.modulation);
    if (status == ZENITH_OK)
        status = run_part(b, &(zn_part_call){.part = "modulation",
                                             .sizes = {.tokens = steps},
                                             .inputs = {times},
                                             .outputs = {b->modulation}});
    zn_free(sigmas);
    zn_free(times);
    return status;
}

static zenith_status prepare_context(bench *b)
{
    return run_part(b, &(zn_part_call){.part = "context",
                                       .sizes = {.tokens = b->tokens},
                                       .inputs = {b->caption, b->angles},
                                       .outputs = {b->context}});
}

static zenith_status prepare(bench *b, int steps)
{
    const zn_sizes sizes = {.height = b->side, .width = b->side, .tokens = b->padded};
    if (b->steps == steps) return ZENITH_OK;
    const double begin = now(CLOCK_MONOTONIC);
    ZN_TRY(prepare_modulation(b, steps));
    const double modulated = now(CLOCK_MONOTONIC);
    zn_zimage_caption_angles(b->transformer, b->padded, b->angles);
    const double turned = now(CLOCK_MONOTONIC);
    ZN_TRY(prepare_context(b));
    const double prepared = now(CLOCK_MONOTONIC);
    zn_zimage_angles(b->transformer, &sizes, b->angles);
    b->modulation_seconds = modulated - begin;
    b->context_seconds = prepared - turned;
    b->angles_seconds = now(CLOCK_MONOTONIC) - prepared + (turned - modulated);
    b->steps = steps;
    return ZENITH_OK;
}

// Twice: the first time compiles plans and packs weights.
static zenith_status run_once(bench *b)
{
    for (int i = 0; i < 2; i++) {
        b->steps = 0;
        ZN_TRY(prepare(b, STEPS));
    }
    return ZENITH_OK;
}

static zenith_status predict(void *cookie, int step, bool negative, const float *latent,
                             float *answer, zn_error *err)
{
    bench *b = cookie;
    (void)negative, (void)err;
    return run_part(
        b,
        &(zn_part_call){.part = "denoiser",
                        .sizes = {.height = b->side, .width = b->side, .tokens = b->padded},
                        .inputs = {latent, b->context,
                                   b->modulation + (int64_t)step * b->facts.modulation, b->angles},
                        .outputs = {answer}});
}

// Planes to pixels, or back.
static void turn(const bench *b, bool to_map, const float *src, float *dst)
{
    const size_t channels = (size_t)b->facts.channels, pixels = (size_t)(b->side * b->side);
    for (size_t c = 0; c < channels; c++)
        for (size_t p = 0; p < pixels; p++) {
            const size_t plane = c * pixels + p, map = p * channels + c;
            dst[to_map ? map : plane] = src[to_map ? plane : map];
        }
}

static zenith_status run_step(bench *b, int step)
{
    ZN_TRY(prepare(b, STEPS));
    turn(b, true, b->noise, b->map);
    begin_time(b);
    zenith_status status = predict(b, step, false, b->map, b->answer, &b->err);
    end_time(b);
    turn(b, false, b->answer, b->result);
    return status;
}

static zenith_status run_sample(bench *b, int steps)
{
    const zn_flow_run run = {.steps = steps, .shift = SHIFT, .predict = predict, .cookie = b};
    ZN_TRY(prepare(b, steps));
    turn(b, true, b->noise, b->map);
    begin_time(b);
    zenith_status status = zn_flow_sample(&run, b->map, b->values, &b->err);
    end_time(b);
    turn(b, false, b->map, b->result);
    return status;
}

// --- memory

static atomic_ullong sink; // keeps the sums alive

static void read_words(void *arg, size_t begin, size_t end)
{
    enum { LANES = 16 };
    const uint64_t *words = arg;
    uint64_t sums[LANES] = {0};
    for (size_t i = begin; i + LANES <= end; i += LANES)
        for (size_t k = 0; k < LANES; k++) sums[k] += words[i + k];
    for (int k = 0; k < LANES; k++) atomic_fetch_add(&sink, sums[k]);
}

static zenith_status run_read(bench *b)
{
    const size_t count = READ_BYTES / sizeof(uint64_t);
    uint64_t *words = need(READ_BYTES);
    for (size_t i = 0; i < count; i++) words[i] = i; // else all pages are one
    begin_time(b);
    zn_parallel(b->place.team, count, count / (size_t)b->threads, read_words, words);
    end_time(b);
    zn_free(words);
    return ZENITH_OK;
}

// --- commands

typedef struct command {
    bench *b;
    char word[32];
    int number;
} command;

static zenith_status run_on_stream(void *arg, zn_team *team, int stream)
{
    const command *c = arg;
    bench *b = c->b;
    b->place = (zn_part_place){.engine = b->engine, .stream = stream, .team = team};
    if (strcmp(c->word, "read") == 0) return run_read(b);
    if (!b->transformer) open_transformer(b);
    zn_free(b->result);
    b->values = (size_t)(b->side * b->side * b->facts.channels);
    b->result = need(b->values * sizeof(float));
    if (strcmp(c->word, "once") == 0) return run_once(b);
    return strcmp(c->word, "step") == 0 ? run_step(b, c->number) : run_sample(b, c->number);
}

static void run(command *c)
{
    bench *b = c->b;
    if ((strcmp(c->word, "step") == 0 && (c->number < 0 || c->number >= STEPS)) ||
        (strcmp(c->word, "sample") == 0 && (c->number < 1 || c->number > ZN_FLOW_MOST_STEPS)))
        stop(c->word, "no such number of steps");
    zenith_status status = strcmp(c->word, "text") == 0
                               ? run_text(b)
                               : zn_executor_run(b->executor, run_on_stream, c, 1, &b->err);
    if (status != ZENITH_OK) stop(c->word, b->err.text);
    if (strcmp(c->word, "read") == 0)
        printf("{\"gb_per_s\": %.3f}\n", (double)READ_BYTES / b->seconds / 1e9);
    else if (strcmp(c->word, "once") == 0)
        printf("{\"angles\": %.6f, \"context\": %.6f, \"modulation\": %.6f}\n", b->angles_seconds,
               b->context_seconds, b->modulation_seconds);
    else
        printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"allocations\": %llu}\n", b->seconds, b->cpu,
               b->allocations);
}

static void dump(const bench *b, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(b->result, sizeof(float), b->values, file) != b->values ||
        fclose(file) != 0)
        stop(path, "cannot be written");
    printf("{\"dumped\": %zu}\n", b->values);
}

static bool is_run(const char *word)
{
    static const char *const words[] = {"text", "step", "sample", "once", "read"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) return true;
    return false;
}

static void answer(bench *b, char *line)
{
    command c = {.b = b};
    struct rusage usage;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%31s %d", c.word, &c.number) < 1) return;
    if (strcmp(c.word, "dump") == 0) {
        dump(b, line + strlen("dump "));
    } else if (strcmp(c.word, "probe") == 0) {
        printf("{\"fma\": %.1f, \"vnni\": %.1f, \"amx\": %.1f}\n", burst_rate("fma", b->threads),
               burst_rate("vnni", b->threads), burst_rate("amx", b->threads));
    } else if (strcmp(c.word, "rss") == 0) {
        getrusage(RUSAGE_SELF, &usage);
        printf("{\"rss_mb\": %.1f}\n", (double)usage.ru_maxrss / 1024);
    } else if (is_run(c.word)) {
        run(&c);
    } else {
        stop(c.word, "no such command");
    }
    fflush(stdout);
}

static zenith_dtype dtype_of(const char *name)
{
    if (strcmp(name, "f32") == 0) return ZENITH_DTYPE_F32;
    if (strcmp(name, "bf16") == 0) return ZENITH_DTYPE_BF16;
    if (strcmp(name, "int8") == 0) return ZENITH_DTYPE_INT8;
    stop(name, "types are f32, bf16 and int8");
}

int main(int argc, char **argv)
{
    char line[4200];
    const zn_cpu cpu = zn_cpu_detect();
    if (argc != 6) stop("usage", "bench_zimage FOLDER f32|bf16|int8 THREADS SIDE INPUTS");
    bench b = {.folder = argv[1],
               .dtype = dtype_of(argv[2]),
               .threads = atoi(argv[3]),
               .side = atoi(argv[4]) / FACTOR,
               .inputs = argv[5]};
    if (b.threads < 1 || b.threads > BURST_MOST_THREADS || b.side < 2 || b.side % 2 != 0)
        stop("usage", "threads from 1, a side that is a multiple of 16");
    if (zn_executor_create(1, b.threads, &b.executor, &b.err) != ZENITH_OK ||
        zn_engine_create(b.executor, &cpu, 0, NULL, &b.engine, &b.err) != ZENITH_OK)
        stop("engine", b.err.text);
    while (fgets(line, sizeof line, stdin)) answer(&b, line);
    return 0; // the system takes the memory back
}
