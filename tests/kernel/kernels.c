// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/kernels.h"

#include "src/base/cpu.h"
#include "src/base/memory.h"
#include "src/base/parallel.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define GROUP(NAME) extern kernel_group kernel_group_##NAME;
#include "kernel_groups.inc"
#undef GROUP
#define GROUP(NAME) &kernel_group_##NAME,
static const kernel_group *const groups[] = {
#include "kernel_groups.inc"
};
enum { GROUPS = sizeof groups / sizeof *groups, MAX_RESULTS = 4096, TEXT = 96 };

typedef struct result {
    const char *group, *version, *unit;
    char what[TEXT];
    double seconds, rate; // rate: in thousand millions a second
} result;

static result results[MAX_RESULTS];
static size_t results_count;
static const kernel_group *running;

// --- timing -------------------------------------------------------------------------------------

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A round has as many turns as take a millisecond; there are five rounds at least, and 40 ms of
// them. What takes a quarter of a second is timed once: only scalar code is so slow.
bool bench_again(bench_clock *clock)
{
    if (clock->left-- > 0) return true;
    const double took = clock->turns ? cpu_seconds() - clock->start : 0;
    if (clock->turns == 0) {
        clock->turns = 1;
    } else if (took < 1e-3) {
        clock->turns *= 2;
    } else {
        const double turn = took / (double)clock->turns;
        if (clock->rounds++ == 0 || turn < clock->best) clock->best = turn;
        clock->spent += took;
        if (took > 0.25 || (clock->rounds >= 5 && clock->spent > 0.04)) return false;
    }
    clock->left = clock->turns - 1;
    clock->start = cpu_seconds();
    return true;
}

void bench_result(const bench_clock *clock, const char *version, double amount, const char *unit,
                  const char *format, ...)
{
    assert_true(results_count < MAX_RESULTS && clock->best > 0);
    result *r = &results[results_count++];
    *r = (result){running->name, version, unit, "", clock->best, amount / clock->best * 1e-9};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->what, sizeof r->what, format, arguments);
    va_end(arguments);
}

static void time_conv(const zn_dnn_conv *conv, const zn_dnn_conv_desc *d, const char *what)
{
    const size_t weights = (size_t)(d->channels_out * d->channels_in * d->kernel_h * d->kernel_w);
    const size_t in = (size_t)(d->rows_in * d->width_in * d->channels_in);
    const size_t out = (size_t)(d->rows_out * d->width_out * d->channels_out);
    void *memory[] = {
        zn_alloc_zero(in * zn_type_size(d->src)),
        zn_alloc_zero(weights * zn_type_size(d->weights)),
        zn_alloc_zero(zn_dnn_conv_layout(conv)->bytes),
        zn_alloc_zero((size_t)d->channels_out * sizeof(float)),
        zn_alloc_zero(out * zn_type_size(d->dst)),
        zn_alloc_zero(zn_dnn_conv_scratch(conv) + 1),
    };
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) assert_non_null(memory[i]);
    zn_error err = {0};
    zn_test_ok(zn_dnn_conv_pack(conv, memory[1], memory[2], &err), &err);
    bench_clock clock = {0};
    while (bench_again(&clock))
        zn_test_ok(zn_dnn_conv_run(conv, memory[0], memory[2], d->bias ? memory[3] : NULL,
                                   memory[4], memory[5], &err),
                   &err);
    bench_result(&clock, "onednn", 2.0 * (double)out * (double)weights / (double)d->channels_out,
                 "GFLOP/s", "%s", what);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) zn_free(memory[i]);
}

void bench_onednn_conv(const zn_dnn_conv_desc *desc, const char *what)
{
    const zn_cpu cpu = zn_cpu_detect();
    zn_error err = {0};
    zn_team *team = NULL; // oneDNN takes the thread's number of threads
    zn_dnn *dnn = NULL;
    zn_dnn_conv *conv = NULL;
    zn_test_ok(zn_team_create(1, &team, &err), &err);
    if (zn_dnn_create(&cpu, &dnn, &err) == ZENITH_OK &&
        zn_dnn_conv_create(dnn, desc, &conv, &err) == ZENITH_OK)
        time_conv(conv, desc, what);
    zn_dnn_conv_free(conv);
    zn_dnn_free(dnn);
    zn_team_free(team);
}

// --- results ------------------------------------------------------------------------------------

// How many times as fast as `version` of the same case; 0 where there is none.
static double gain_over(const result *r, const char *version)
{
    for (size_t i = 0; i < results_count; i++) {
        const result *other = &results[i];
        if (strcmp(other->group, r->group) == 0 && strcmp(other->what, r->what) == 0 &&
            strcmp(other->version, version) == 0)
            return r->rate / other->rate;
    }
    return 0;
}

static void print_table(void)
{
    for (size_t i = 0; i < results_count; i++) {
        const result *r = &results[i];
        const double scalar = gain_over(r, "baseline"), onednn = gain_over(r, "onednn");
        printf("%-16s %-48s %-9s %9.3f ms %8.2f %s", r->group, r->what, r->version,
               r->seconds * 1e3, r->rate, r->unit);
        if (scalar > 0 && strcmp(r->version, "baseline") != 0) printf(", %.2f of scalar", scalar);
        if (onednn > 0 && strcmp(r->version, "onednn") != 0) printf(", %.2f of oneDNN", onednn);
        printf("\n");
    }
}

static int print_json(void)
{
    const zn_cpu cpu = zn_cpu_detect();
    json_t *lines = json_array();
    for (size_t i = 0; i < results_count; i++) {
        const result *r = &results[i];
        json_t *line = json_pack("{ss ss ss sf ss}", "group", r->group, "case", r->what, "version",
                                 r->version, "rate", r->rate, "unit", r->unit);
        const double scalar = gain_over(r, "baseline"), onednn = gain_over(r, "onednn");
        if (scalar > 0 && strcmp(r->version, "baseline") != 0)
            json_object_set_new(line, "of_scalar", json_real(scalar));
        if (onednn > 0 && strcmp(r->version, "onednn") != 0)
            json_object_set_new(line, "of_onednn", json_real(onednn));
        json_array_append_new(lines, line);
    }
    json_t *all = json_pack("{ss sb so}", "isa", zn_cpu_class(cpu.flags), "vnni",
                            cpu.flags & ZN_CPU_AVX512_VNNI ? 1 : 0, "results", lines);
    const int status = json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(4));
    json_decref(all);
    printf("\n");
    return status ? 1 : 0;
}

// --- the program --------------------------------------------------------------------------------

static bool is_option(const char *word)
{
    return strncmp(word, "--", 2) == 0;
}

static bool has(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], word) == 0) return true;
    }
    return false;
}

static bool any_named(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!is_option(argv[i])) return true;
    }
    return false;
}

// Whether every word is an option or a group, so that a misspelled one does not pass as a success.
static bool words_are_known(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool known = strcmp(argv[i], "--bench") == 0 || strcmp(argv[i], "--json") == 0;
        for (size_t g = 0; g < GROUPS && !is_option(argv[i]); g++)
            known = known || strcmp(argv[i], groups[g]->name) == 0;
        if (known) continue;
        fprintf(stderr, "kernels: '%s' is neither a group nor --bench or --json. Groups:", argv[i]);
        for (size_t g = 0; g < GROUPS; g++) fprintf(stderr, " %s", groups[g]->name);
        fprintf(stderr, "\n");
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (!words_are_known(argc, argv)) return 2;
    const bool bench = has(argc, argv, "--bench"), all = !any_named(argc, argv);
    int failures = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        running = groups[g];
        if (!all && !has(argc, argv, running->name)) continue;
        if (!bench)
            failures += _cmocka_run_group_tests(running->name, running->tests, running->tests_count,
                                                NULL, NULL);
        else if (running->bench)
            running->bench();
    }
    if (bench && has(argc, argv, "--json")) return print_json();
    if (bench) print_table();
    return failures != 0;
}
