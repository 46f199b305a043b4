// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What gets into the queue, which is bounded by requests, by estimated seconds of work, and by
// bytes of bodies and results. turns.h decides what is worked next; the library's own queue holds
// no more than that.
#ifndef ZN_SERVE_QUEUE_ADMISSION_H
#define ZN_SERVE_QUEUE_ADMISSION_H

#include "apps/serve/models/models.h"

// Takes or gives back bytes; false: there is no room.
bool serve_queue_hold(serve_server *server, uint64_t bytes, serve_failure *failure);
void serve_queue_let_go(serve_server *server, uint64_t bytes);
// Admits a request with so many pixels of work; *seconds is what that will take, for _leave. false:
// the queue is full, and *retry_after says when to ask again.
bool serve_queue_enter(serve_server *server, const serve_model *model, serve_operation operation,
                       uint64_t pixels, double *seconds, int *retry_after, serve_failure *failure);
void serve_queue_leave(serve_server *server, double seconds);
// What work has taken.
void serve_queue_learn(serve_server *server, serve_model *model, serve_operation operation,
                       uint64_t pixels, double seconds);
int serve_queue_retry_after(serve_server *server);
// {"encode": seconds, "decode": seconds} of a million pixels, as known by now.
json_t *serve_server_describe_seconds(serve_server *server, const serve_model *model);

// How many pictures of a batch share the threads of a stream: the work of each takes so much less
// of it.
double serve_server_beside(const serve_server *server, size_t batch);

#endif
