// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the programs that compare.py times have in common: options, the input, and the protocol.
// A contender stays alive for a whole comparison, so that every round finds it warm. It reads
// commands, one a line, and answers each with one line of JSON; it ends with its input.
//
//     (at start)  {"ready": true, "note": "..."}          the network is built
//     run K       {"cpu_ms": [...], "wall_ms": [...]}     K iterations, time of each; cpu is the
//                                                         whole process, all threads
//     rss         {"rss_mb": N}                           peak of resident memory until now
//     dump PATH   {"dumped": N}                           the last output: N raw f32, CHW
//
// Failures end the program with a sentence on standard error.
#ifndef ZN_BENCH_CONTENDER_H
#define ZN_BENCH_CONTENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct contender_options {
    const char *op;      // --op encode|decode, and what else a contender has
    bool encode;         // that op is encode
    uint32_t size;       // --size: side of the picture
    int threads;         // --threads
    const char *dtype;   // --dtype f32|bf16|int8
    const char *model;   // --model
    const char *weights; // --weights: the folder
    const char *input;   // --input: raw f32, CHW
    const char *bands;   // --bands: planes, or a number of rows
} contender_options;

typedef struct contender {
    void (*run)(void *cookie);
    void *cookie;
    const float *output;
    size_t channels, pixels;
    bool channels_last; // how output is ordered
    const char *note;
} contender;

// Ends the program: "NAME: what: why".
_Noreturn void contender_fail(const char *what, const char *why);

void *contender_alloc(size_t bytes); // zeroed, aligned; lives as long as the program
contender_options contender_parse(int argc, char **argv);
// The picture or latent that the options name, CHW, `count` values.
float *contender_read_input(const contender_options *options, size_t count);
int contender_serve(const contender *contender);

#endif
