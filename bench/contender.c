// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See contender.h.
#include "bench/contender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_ITERATIONS = 10000, LINE_SIZE = 4096, ALIGNMENT = 64 };

static const char *program = "contender";

_Noreturn void contender_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program, what, why);
    exit(1);
}

void *contender_alloc(size_t bytes)
{
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *block = aligned_alloc(ALIGNMENT, rounded);
    if (!block) contender_fail("memory", "there is not enough");
    return memset(block, 0, rounded);
}

static int parse_number(const char *option, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > 1 << 16)
        contender_fail(option, "needs a number from 1 to 65536");
    return (int)value;
}

static void check_options(const contender_options *o)
{
    if (o->size % 8) contender_fail("--size", "must be a multiple of 8");
    if (strcmp(o->dtype, "f32") != 0 && strcmp(o->dtype, "bf16") != 0 &&
        strcmp(o->dtype, "int8") != 0)
        contender_fail("--dtype", "must be f32, bf16 or int8");
    if (!o->weights) contender_fail("--weights", "is needed: the folder of the weights");
    if (!o->input) contender_fail("--input", "is needed: the picture or latent, raw f32 in CHW");
}

contender_options contender_parse(int argc, char **argv)
{
    contender_options o = {.op = "decode",
                           .size = 512,
                           .threads = 1,
                           .dtype = "f32",
                           .model = "taesd",
                           .bands = "planes"};
    const char *slash = strrchr(argv[0], '/');
    program = slash ? slash + 1 : argv[0];
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--op") == 0)
            o.op = value;
        else if (strcmp(name, "--size") == 0)
            o.size = (uint32_t)parse_number(name, value);
        else if (strcmp(name, "--threads") == 0)
            o.threads = parse_number(name, value);
        else if (strcmp(name, "--dtype") == 0)
            o.dtype = value;
        else if (strcmp(name, "--model") == 0)
            o.model = value;
        else if (strcmp(name, "--weights") == 0)
            o.weights = value;
        else if (strcmp(name, "--input") == 0)
            o.input = value;
        else if (strcmp(name, "--bands") == 0)
            o.bands = value;
        else
            contender_fail(name, "is no option: see contender.h");
    }
    check_options(&o);
    o.encode = strcmp(o.op, "encode") == 0;
    return o;
}

float *contender_read_input(const contender_options *options, size_t count)
{
    float *values = contender_alloc(count * sizeof *values);
    FILE *file = fopen(options->input, "rb");
    if (!file || fread(values, sizeof *values, count, file) != count)
        contender_fail(options->input, "does not hold the input of this size, raw f32");
    fclose(file);
    return values;
}

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void print_list(const char *name, const double *values, int count)
{
    printf("\"%s\": [", name);
    for (int i = 0; i < count; i++) printf("%s%.4f", i ? ", " : "", values[i]);
    printf("]");
}

static void answer_run(const contender *c, int count)
{
    static double cpu[MOST_ITERATIONS], wall[MOST_ITERATIONS];
    if (count < 1 || count > MOST_ITERATIONS) contender_fail("run", "needs a number of iterations");
    for (int i = 0; i < count; i++) {
        double wall_start = seconds_of(CLOCK_MONOTONIC);
        double cpu_start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        c->run(c->cookie);
        cpu[i] = 1e3 * (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_start);
        wall[i] = 1e3 * (seconds_of(CLOCK_MONOTONIC) - wall_start);
    }
    printf("{");
    print_list("cpu_ms", cpu, count);
    printf(", ");
    print_list("wall_ms", wall, count);
    printf("}\n");
}

static void answer_rss(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"rss_mb\": %.1f}\n", (double)usage.ru_maxrss / 1024);
}

static void answer_dump(const contender *c, const char *path)
{
    size_t pixel_step = c->channels_last ? c->channels : 1;
    size_t channel_step = c->channels_last ? 1 : c->pixels;
    FILE *file = fopen(path, "wb");
    if (!file) contender_fail(path, "cannot be written");
    for (size_t channel = 0; channel < c->channels; channel++) {
        const float *first = c->output + channel * channel_step;
        for (size_t i = 0; i < c->pixels; i++)
            fwrite(first + i * pixel_step, sizeof(float), 1, file);
    }
    if (fclose(file) != 0) contender_fail(path, "cannot be written");
    printf("{\"dumped\": %zu}\n", c->channels * c->pixels);
}

int contender_serve(const contender *c)
{
    char line[LINE_SIZE];
    printf("{\"ready\": true, \"note\": \"%s\"}\n", c->note);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "run ", 4) == 0)
            answer_run(c, atoi(line + 4));
        else if (strcmp(line, "rss") == 0)
            answer_rss();
        else if (strncmp(line, "dump ", 5) == 0)
            answer_dump(c, line + 5);
        else
            contender_fail(line, "is no command: see contender.h");
        fflush(stdout);
    }
    return 0;
}
