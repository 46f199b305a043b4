// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith serve: opened models behind HTTP. docs/SERVER.md is the manual; this is all that the program sees. A page of metrics
// for workers is at the end.
//
//   polling thread   reads requests, checks them, submits jobs, writes answers (libmicrohttpd, epoll). It never
//                    waits: a connection whose jobs are under way is suspended.
//   streams          of the context run the jobs, and the last job of a request makes its answer
//   main thread      waits for signals; every few milliseconds it looks for clients that left and deadlines
#ifndef ZN_SERVE_SERVE_H
#define ZN_SERVE_SERVE_H

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
    const char *keys;    // a file with a key in each line (serve_keys.h); NULL: everybody may ask
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

// Serves until SIGINT or SIGTERM, then answers what was accepted. SIGHUP opens the files of models again. The exit code: 0, 1 after a message about the
// server, 3 after one about a model.
extern const bool serve_is_built; // false: what follows says that it is not
int serve_run(const serve_settings *settings);

// --- what a worker of 'zenith dataset encode --queue' has done, at /metrics ----------------------

typedef struct serve_worker serve_worker;

typedef enum serve_shard_result {
    SERVE_SHARD_OK = 0,
    SERVE_SHARD_DUPLICATE = 1, // another's record was there first
    SERVE_SHARD_POISON = 2,    // given up
    SERVE_SHARD_RETRY = 3
} serve_shard_result;

typedef struct serve_shard_facts {
    serve_shard_result result;
    double seconds;
    uint64_t pictures, bad, bytes_in, bytes_out; // of SERVE_SHARD_OK
} serve_shard_facts;

// Listens on a thread of its own. NULL after a message.
serve_worker *serve_worker_start(const char *host, int port, const char *model, serve_say_fn *say);
void serve_worker_stop(serve_worker *worker); // NULL is fine, as below
void serve_worker_count(serve_worker *worker, const serve_shard_facts *shard);
void serve_worker_lost(serve_worker *worker); // a lease

#endif
