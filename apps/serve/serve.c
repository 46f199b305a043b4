// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See serve.h: from start to the last answer.
#include "apps/serve/serve.h"

#include "apps/serve/http/http.h"
#include "apps/serve/models/reload.h"
#include "apps/serve/queue/jobs.h"
#include "apps/serve/start.h"

#include <arpa/inet.h>
#include <errno.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_MILLISECONDS = 20, DRAIN_SECONDS = 30 };

// Waits for a signal that ends the server, or a moment; true: it came. SIGHUP has the models opened
// again.
static bool wait_signal(serve_server *server, const sigset_t *signals)
{
    const struct timespec moment = {.tv_nsec = LOOK_MILLISECONDS * 1000000};
    const int signal = sigtimedwait(signals, NULL, &moment);
    if (signal == SIGHUP) serve_reloads_ask(server->reloads);
    return signal > 0 && signal != SIGHUP;
}

// What was accepted is answered; what takes too long is given up.
static void drain(serve_server *server, const sigset_t *signals)
{
    const double end = serve_clock() + DRAIN_SECONDS;
    atomic_store(&server->draining, true);
    serve_jobs_cancel(server->jobs); // nobody could ask for them
    while (serve_http_present(server) > 0 || serve_jobs_pending(server->jobs) > 0) {
        const bool give_up = serve_clock() > end;
        if (wait_signal(server, signals) || give_up) serve_http_look(server, true);
        serve_http_look(server, false);
        if (serve_clock() > end + 5) break; // clients that do not read their answers
    }
}

static bool is_of_this_machine(const struct sockaddr_storage *address)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    return address->ss_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&six->sin6_addr)
                                          : ntohl(four->sin_addr.s_addr) >> 24 == 127;
}

static void warn_if_open(const serve_server *server)
{
    struct sockaddr_storage address = {0};
    const serve_settings *settings = &server->settings;
    if (server->keys.count == 0 &&
        serve_http_address(settings->host, settings->port, settings->say, &address) &&
        !is_of_this_machine(&address))
        settings->say("everybody who reaches %s may use it: --keys FILE lets in those with a key",
                      settings->host);
}

// Signals come to this thread alone: others are started with them blocked.
static int serve(serve_server *server, const sigset_t *signals)
{
    const serve_settings *settings = &server->settings;
    struct MHD_Daemon *daemon = serve_http_start(server);
    if (daemon == NULL) return 1;
    settings->say("listening on http://%s%s%s:%d", strchr(settings->host, ':') ? "[" : "",
                  settings->host, strchr(settings->host, ':') ? "]" : "", serve_http_port(daemon));
    warn_if_open(server);
    while (!wait_signal(server, signals)) serve_http_look(server, false);
    settings->say("answers what it has accepted, then ends");
    drain(server, signals);
    serve_http_stop(daemon);
    return 0;
}

// Pictures come in many sizes, for days. glibc would keep the memory of the most that were ever
// there at once, in an arena for each thread, and raise by itself from which size on memory goes
// back.
static void return_memory(void)
{
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_ARENA_MAX, 2);
#endif
}

const bool serve_is_built = true;

int serve_run(const serve_settings *settings)
{
    sigset_t signals, before;
    return_memory();
    serve_server *server = malloc(sizeof *server);
    if (server == NULL) {
        settings->say("out of memory");
        return 1;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    int code = serve_server_open(server, settings);
    if (code == 0) code = serve(server, &signals);
    serve_server_close(server);
    free(server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
