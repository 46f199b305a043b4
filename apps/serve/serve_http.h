// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// All contact with libmicrohttpd: connections, the life of a request, and its end.
#ifndef ZN_SERVE_HTTP_H
#define ZN_SERVE_HTTP_H

#include "apps/serve/serve_server.h"

struct MHD_Daemon;

// Listens and serves on a thread of its own. NULL after a message.
struct MHD_Daemon *serve_http_start(serve_server *server);
int serve_http_port(struct MHD_Daemon *daemon);
// Gives up the work of clients that left and of deadlines that passed; with `all`, all of it. Looks after jobs.
void serve_http_look(serve_server *server, bool all);
// Requests whose answers are not out yet.
int serve_http_present(serve_server *server);
// When none is.
void serve_http_stop(struct MHD_Daemon *daemon);

#endif
