// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The program `kernels`: every tests/kernel/test_NAME.c is one of its groups, with tests (each
// version that the CPU has against the specification) and timings of each version. A file ends with
//
//     KERNEL_GROUP(NAME, bench)
//
// where `bench` is a function that times, or NULL. CMake finds the file and adds the group to the
// program's list and to CTest (kernel.NAME).
//
//     kernels                          all tests
//     kernels NAME..                   those of these groups
//     kernels [NAME..] --bench         timings, with each version's gain over the scalar one
//     kernels [NAME..] --bench --json  the same for bench/kernels.py
#ifndef ZN_TESTS_KERNEL_KERNELS_H
#define ZN_TESTS_KERNEL_KERNELS_H

#include "src/dnn/dnn.h"
#include "tests/testing.h"

typedef struct kernel_group {
    const char *name;
    const struct CMUnitTest *tests;
    size_t tests_count;
    void (*bench)(void); // NULL: there is nothing to time
} kernel_group;

#define KERNEL_GROUP(NAME, BENCH) KERNEL_GROUP_NAMED(NAME, BENCH)
// A second step, so that a file that includes another one can give its group another name
// (test_*_emulated.c).
#define KERNEL_GROUP_NAMED(NAME, BENCH)                                                            \
    kernel_group kernel_group_##NAME = {.name = #NAME, .bench = BENCH};                            \
    __attribute__((constructor)) static void add_group_##NAME(void)                                \
    {                                                                                              \
        kernel_group_##NAME.tests_count = zn_test_take(&kernel_group_##NAME.tests);                \
    }

// Times a piece of code by the CPU time of this thread: the best of several rounds, each long
// enough for the clock.
//
//     bench_clock clock = {0};
//     while (bench_again(&clock)) run();
//     bench_result(&clock, version, amount, unit, "what, %d wide", width);
typedef struct bench_clock {
    double best; // seconds of one turn
    double start, spent;
    int rounds;
    long turns, left; // of a round
} bench_clock;

bool bench_again(bench_clock *clock);

// One line of the results: `amount` operations, bytes or elements took clock->best. Versions of one
// case (the group's name and the formatted text) are compared with the version "baseline", which is
// the scalar code, and with "onednn".
void bench_result(const bench_clock *clock, const char *version, double amount, const char *unit,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

// oneDNN's convolution of that description, on one thread, as the version "onednn" of the case; and
// nothing where oneDNN or the convolution is not there.
void bench_onednn_conv(const zn_dnn_conv_desc *desc, const char *what);

#endif
