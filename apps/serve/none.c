// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for the server in a program built without libmicrohttpd (ZENITH_SERVE=OFF).
#include "apps/serve/metrics/worker.h"
#include "apps/serve/serve.h"

const bool serve_is_built = false;

int serve_run(const serve_settings *settings)
{
    settings->say("this program was built without a server (ZENITH_SERVE=OFF)");
    return 1;
}

serve_worker *serve_worker_start(const char *host, int port, const char *model, serve_say_fn *say)
{
    (void)host, (void)port, (void)model;
    say("this program was built without a server (ZENITH_SERVE=OFF), and shows no metrics");
    return NULL;
}

void serve_worker_stop(serve_worker *worker)
{
    (void)worker;
}

void serve_worker_count(serve_worker *worker, const serve_shard_facts *shard)
{
    (void)worker, (void)shard;
}

void serve_worker_lost(serve_worker *worker)
{
    (void)worker;
}
