// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See events.h. A reader is told what has changed since it was told last, not all that happened: so
// nothing is stored for readers, and one that comes late or reads slowly sees the job as it is. The
// main thread looks for changes.
#include "apps/serve/http/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double QUIET_SECONDS = 15; // then a comment tells proxies that the connection is alive

struct serve_listener {
    serve_request *request;
    int socket;
    bool told; // anything yet
    serve_job_state state;
    serve_place place;
    unsigned preview;
    char *text; // what is being sent
    size_t size, sent;
    bool last;
    double spoke;
    bool sleeping, gone; // this and what follows is of the lock
    serve_listener *next;
};

// --- what there is to say -----------------------------------------------------------------------

static bool is_over(serve_job_state state)
{
    return state != SERVE_JOB_QUEUED && state != SERVE_JOB_RUNNING;
}

static bool has_moved(const serve_listener *listener, serve_job_state state,
                      const serve_place *place)
{
    return !listener->told || state != listener->state || place->before != listener->place.before ||
           place->step != listener->place.step;
}

static char *write_event(const char *name, serve_job *job)
{
    char *text = NULL;
    json_t *object = serve_job_describe(job);
    char *data = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (data != NULL && asprintf(&text, "event: %s\ndata: %s\n\n", name, data) < 0) text = NULL;
    free(data);
    return text;
}

// The next thing to say; NULL: there is nothing new. Previews come before the step that they belong
// to is told.
static char *next_text(serve_listener *listener, double now)
{
    serve_place place;
    serve_job *job = listener->request->job;
    char *preview = serve_job_preview(job, &listener->preview);
    if (preview != NULL) return preview;
    const serve_job_state state = serve_job_look(job, &place);
    if (has_moved(listener, state, &place)) {
        listener->told = true;
        listener->state = state;
        listener->place = place;
        listener->last = is_over(state);
        return write_event(listener->last ? "end" : "progress", job);
    }
    return now - listener->spoke > QUIET_SECONDS ? strdup(": still here\n\n") : NULL;
}

// --- the connection -----------------------------------------------------------------------------

bool serve_events_open(serve_request *request, int socket)
{
    serve_server *server = request->server;
    serve_listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) return serve_fail_memory(&request->failure);
    listener->request = request;
    listener->socket = socket;
    listener->spoke = serve_clock();
    request->listener = listener;
    pthread_mutex_lock(&server->listening);
    listener->next = server->listeners;
    server->listeners = listener;
    pthread_mutex_unlock(&server->listening);
    return true;
}

void serve_events_close(serve_request *request)
{
    serve_server *server = request->server;
    serve_listener *listener = request->listener;
    if (listener == NULL) return;
    pthread_mutex_lock(&server->listening);
    serve_listener **link = &server->listeners;
    while (*link != NULL && *link != listener) link = &(*link)->next;
    if (*link != NULL) *link = listener->next;
    pthread_mutex_unlock(&server->listening);
    free(listener->text);
    free(listener);
}

static ssize_t send_text(serve_listener *listener, char *dst, size_t most)
{
    const size_t left = listener->size - listener->sent, size = left < most ? left : most;
    memcpy(dst, listener->text + listener->sent, size);
    listener->sent += size;
    return (ssize_t)size;
}

ssize_t serve_events_read(void *cls, uint64_t place, char *dst, size_t most)
{
    const serve_request *request = cls;
    serve_listener *listener = request->listener;
    (void)place;
    if (listener->sent < listener->size) return send_text(listener, dst, most);
    if (listener->last) return MHD_CONTENT_READER_END_OF_STREAM;
    pthread_mutex_lock(&request->server->listening);
    const bool gone = listener->gone;
    pthread_mutex_unlock(&request->server->listening);
    if (gone) return MHD_CONTENT_READER_END_WITH_ERROR;
    const double now = serve_clock();
    free(listener->text);
    listener->text = next_text(listener, now);
    listener->sent = 0;
    listener->size = listener->text != NULL ? strlen(listener->text) : 0;
    if (listener->size > 0) {
        listener->spoke = now;
        return send_text(listener, dst, most);
    }
    if (listener->last) return MHD_CONTENT_READER_END_WITH_ERROR; // out of memory
    pthread_mutex_lock(&request->server->listening);
    listener->sleeping = true;
    MHD_suspend_connection(request->connection);
    pthread_mutex_unlock(&request->server->listening);
    return 0;
}

static bool has_news(const serve_listener *listener, double now)
{
    serve_place place;
    unsigned seen = listener->preview;
    serve_job *job = listener->request->job;
    const serve_job_state state = serve_job_look(job, &place);
    if (has_moved(listener, state, &place) || now - listener->spoke > QUIET_SECONDS) return true;
    char *preview = serve_job_preview(job, &seen);
    free(preview);
    return preview != NULL;
}

// A listener that sleeps is not touched by the polling thread, and cannot end.
void serve_events_look(serve_server *server)
{
    const double now = serve_clock();
    pthread_mutex_lock(&server->listening);
    for (serve_listener *each = server->listeners; each != NULL; each = each->next) {
        if (!each->sleeping) continue;
        each->gone = serve_has_left(each->socket);
        if (!each->gone && !has_news(each, now)) continue;
        each->sleeping = false;
        MHD_resume_connection(each->request->connection);
    }
    pthread_mutex_unlock(&server->listening);
}
