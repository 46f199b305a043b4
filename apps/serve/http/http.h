// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact with libmicrohttpd: connections, the life of a request, and its end. (metrics/worker.c
// has a page of its own.)
#ifndef ZN_SERVE_HTTP_HTTP_H
#define ZN_SERVE_HTTP_HTTP_H

#include "apps/serve/queue/server.h"

struct MHD_Daemon;
struct sockaddr_storage;

// Listens and serves on a thread of its own. NULL after a message.
struct MHD_Daemon *serve_http_start(serve_server *server);
int serve_http_port(struct MHD_Daemon *daemon);
// Where to listen. False after a message.
bool serve_http_address(const char *host, int number, serve_say_fn *say,
                        struct sockaddr_storage *out);
// Gives up the work of clients that left and of deadlines that passed; with `all`, all of it. Looks
// after jobs.
void serve_http_look(serve_server *server, bool all);
// Requests whose answers are not out yet.
int serve_http_present(serve_server *server);
// When none is.
void serve_http_stop(struct MHD_Daemon *daemon);

#endif
