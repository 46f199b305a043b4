// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a worker of 'zenith dataset encode --queue' has done, at /metrics.
#ifndef ZN_SERVE_METRICS_WORKER_H
#define ZN_SERVE_METRICS_WORKER_H

#include "apps/serve/settings.h"

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
