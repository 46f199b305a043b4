// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The work of a request, apart from its connection: from a body to an answer.
//
//   create    when the headers are good
//   append    the body grows, in memory that the queue counts
//   open      the whole body is here: what is asked, and a place in the queue
//   start     work is under way, in the list `working` of the server
//   done      called once, from any thread, when the task is out of that list and has its answer
//
// Several may hold a task: who made it, its work, and serve_tasks_look while it cancels. The last
// one frees it.
#ifndef ZN_SERVE_QUEUE_TASK_H
#define ZN_SERVE_QUEUE_TASK_H

#include "apps/serve/diffae/diffae.h"
#include "apps/serve/generate/generate.h"
#include "apps/serve/models/models.h"
#include "apps/serve/protocols/oip.h"
#include "apps/serve/queue/work.h"

typedef struct serve_task serve_task;
struct serve_task {
    serve_server *server;
    atomic_int references;
    size_t route;
    bool job;           // nobody waits for the answer: it is kept
    serve_model *model; // held; NULL: the work of a pipeline, which the body names
    serve_operation operation;
    double deadline; // 0: none
    uint8_t *body;
    size_t size, room;
    uint64_t held; // bytes that the queue counts
    serve_ask ask;
    serve_oip oip; // of SERVE_PROTOCOL_OIP
    serve_work *work;
    serve_generation *generation; // instead of work
    serve_diffae *diffae;         // likewise
    double seconds;               // of work, as estimated
    bool entered;                 // the queue
    serve_answer answer;
    serve_failure failure;
    atomic_bool submitted;  // it can be cancelled
    atomic_bool left, late; // why the work was given up
    int socket;             // of the client that waits; -1: none does
    void (*done)(void *cookie);
    void *cookie;
    serve_task *next; // of `working`
};

// NULL: out of memory.
serve_task *serve_task_create(serve_server *server, size_t route);
void serve_task_ref(serve_task *task);
void serve_task_unref(serve_task *task); // NULL is fine

// False: `failure` says why, and the body is given back.
bool serve_task_append(serve_task *task, const void *data, size_t size);

// What the headers say of the body; each may be NULL but the parameters.
typedef struct serve_task_headers {
    const serve_parameters *parameters;
    const char *content_type, *accept, *inference_length;
} serve_task_headers;
// False: there is nothing to start, and the answer is there: it failed, or was no work.
bool serve_task_open(serve_task *task, const serve_task_headers *headers);
bool serve_task_streams(const serve_task *task); // its answer is a stream of events
void serve_task_start(serve_task *task, int socket, void (*done)(void *cookie), void *cookie);
void serve_task_cancel(serve_task *task);
void serve_task_place(serve_task *task, serve_place *out); // of one that was started
// The client of a stream left before its end.
void serve_task_leave(serve_task *task);

// A client that has closed its side is gone. libmicrohttpd does not look at suspended connections.
// -1: none is there.
bool serve_has_left(int socket);
// Gives up the work of clients that left and of deadlines that passed; with `all`, all of it.
void serve_tasks_look(serve_server *server, bool all);

// The failure as the answer, in the form of the route's protocol.
void serve_refuse(serve_server *server, size_t route, serve_answer *answer,
                  const serve_failure *failure);

#endif
