// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/jobs/ID/events: server-sent events of a job. `progress` whenever its state, place or step
// changes, `preview` where its route has them, `end` once it is over; progress and end have the job
// as GET /v1/jobs/ID shows it.
#ifndef ZN_SERVE_HTTP_EVENTS_H
#define ZN_SERVE_HTTP_EVENTS_H

#include "apps/serve/http/request.h"

// Of a request that has a job. False: out of memory.
bool serve_events_open(serve_request *request, int socket);
void serve_events_close(serve_request *request);
// For libmicrohttpd; cls: the request.
ssize_t serve_events_read(void *cls, uint64_t place, char *dst, size_t most);
// Of the main thread, every few milliseconds: wakes those that have something to read, and those
// who left.
void serve_events_look(serve_server *server);

#endif
