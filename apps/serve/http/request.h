// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A request on its connection, and what the files that look after it share. Its life:
//
//   headers    headers.c: route, method, key, limits. What is wrong becomes the answer at once, and
//              the body is read and thrown away, so that the client can read the answer.
//   body       goes to the task (queue/task.h)
//   whole      pages are answered; work is begun, and the connection is suspended until it is over
//   sent       respond.c; then the request is counted and freed
//
// The request belongs to the polling thread, but for the moment in which its task resumes the
// connection.
#ifndef ZN_SERVE_HTTP_REQUEST_H
#define ZN_SERVE_HTTP_REQUEST_H

#include "apps/serve/queue/jobs.h"

#include <microhttpd.h>

typedef struct serve_listener serve_listener;

typedef struct serve_request {
    serve_server *server;
    struct MHD_Connection *connection;
    size_t route;
    size_t work; // the route of the work; of a job another than `route`
    bool page;   // nothing but the headers is read; else work
    char id[72];
    char method[12], path[96]; // for the log
    char trace[56];            // the client's traceparent, echoed; "": it sent none
    double began;
    serve_parameters parameters;
    serve_model *model; // held; NULL: none is named
    serve_operation operation;
    serve_key *key;  // NULL: none is wanted
    bool counted;    // with the key
    double deadline; // 0: none
    uint64_t discarded;
    // Of the server's list of those whose bodies are not whole, and its lock.
    bool reading, left;
    struct serve_request *next, *previous;
    serve_task *task;               // NULL: there is no work
    serve_job *job;                 // that is shown or was made
    serve_listener *listener;       // of its events
    MHD_ContentReaderCallback read; // of an answer that is a stream; NULL: it is no stream
    serve_answer answer;
    serve_failure failure;
} serve_request;

const char *serve_request_header(const serve_request *request, const char *name);
// The failure is the answer.
void serve_request_refuse(serve_request *request);

// Fills in all that the headers say. True: go on and read the body. False: `failure` says why not.
bool serve_headers_read(serve_request *request, const char *path, const char *method);

// Reads the events of a stream that the task is; cls: the request.
ssize_t serve_stream_read(void *cls, uint64_t place, char *dst, size_t most);
// Sends the answer, or begins the stream that it is.
enum MHD_Result serve_respond(serve_request *request);

#endif
