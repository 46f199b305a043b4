// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a server is told, by the options of `zenith serve`.
#ifndef ZN_SERVE_SETTINGS_H
#define ZN_SERVE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void serve_say_fn(const char *format, ...) __attribute__((format(printf, 1, 2)));

// How a picture was made from text.
typedef struct serve_picture_facts {
    const char *prompt, *negative; // negative may be NULL
    const char *model, *decoder;
    uint32_t width, height;
    uint64_t seed;
    uint32_t steps;
    double guidance, shift;
    double strength; // how much of another picture was made anew; 0: it was made from text alone
} serve_picture_facts;

typedef struct serve_settings {
    const char *const *models; // "NAME", "NAME=WEIGHTS", or the folder of a pipeline
    size_t model_count;
    bool bundled;        // those that come with the program: one that is not there is left out
    const char *weights; // of those without their own; NULL: the search path
    const char *host;    // NULL: 127.0.0.1
    int port;            // CLI port number; 0: any that is free
    const char *keys;    // a file with a key in each line (http/keys.h); NULL: everybody may ask
    int threads, streams, dtype;
    int batch;             // pictures that are worked together; 0: as many as pay
    int batch_delay;       // milliseconds that a batch waits for more
    uint64_t max_memory;   // of each run; 0: no bound
    int queue;             // requests that are under way; 0: 64
    int queue_seconds;     // of work that is under way; 0: 30
    uint64_t queue_memory; // of bodies and results; 0: 1 GiB
    uint64_t max_body;     // bytes; 0: 32 MiB
    uint64_t max_pixels;   // of a picture; 0: 2^24
    int jobs, job_seconds; // that are not over; and how long an answer is kept; 0: 64, 600
    uint64_t job_memory;   // of all answers that are kept; 0: 256 MiB
    bool quiet;            // no line for each request
    bool no_sdapi;         // without AUTOMATIC1111's addresses
    uint64_t room;         // for packed weights of pipelines; 0: no bound
    // The text that PNG files keep, to be freed; NULL: out of memory.
    char *(*describe)(const serve_picture_facts *facts);
    serve_say_fn *say;
} serve_settings;

#endif
