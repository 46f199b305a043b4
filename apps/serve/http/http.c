// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See http.h. The life of a request is told in request.h.
#include "apps/serve/http/http.h"

#include "apps/serve/http/events.h"
#include "apps/serve/http/pages.h"
#include "apps/serve/http/site.h"

#include <errno.h>
#include <jansson.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    CONNECTIONS = 1024,
    IDLE_SECONDS = 30,
    BODY_SECONDS = 120,      // for a whole body, however it trickles
    HEADER_BYTES = 64 << 10, // request line, headers and parameters
};

const char *serve_request_header(const serve_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

void serve_request_refuse(serve_request *request)
{
    serve_refuse(request->server, request->route, &request->answer, &request->failure);
}

// --- the end ------------------------------------------------------------------------------------

static void log_request(const serve_request *request, double seconds)
{
    char when[32];
    const time_t now = time(NULL);
    struct tm parts;
    if (request->server->settings.quiet || gmtime_r(&now, &parts) == NULL) return;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    json_t *line = json_pack("{s:s, s:s, s:s*, s:s, s:s, s:s*, s:i, s:f}", "time", when, "id",
                             request->id, "traceparent", request->trace[0] ? request->trace : NULL,
                             "method", request->method, "path", request->path, "model",
                             request->model != NULL ? request->model->info.name : NULL, "status",
                             request->answer.code, "ms", seconds * 1e3);
    char *text = line != NULL ? json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    if (text != NULL) fprintf(stderr, "%s\n", text);
    free(text);
    json_decref(line);
}

static int socket_of(const serve_request *request)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != NULL ? info->connect_fd : -1;
}

static void begin_reading(serve_request *request)
{
    serve_server *server = request->server;
    pthread_mutex_lock(&server->lock);
    request->reading = true;
    request->next = server->reading;
    if (request->next != NULL) request->next->previous = request;
    server->reading = request;
    server->present++;
    pthread_mutex_unlock(&server->lock);
}

// The body is whole, or never will be.
static void end_reading(serve_request *request)
{
    serve_server *server = request->server;
    pthread_mutex_lock(&server->lock);
    if (request->reading) {
        if (request->next != NULL) request->next->previous = request->previous;
        if (request->previous != NULL)
            request->previous->next = request->next;
        else
            server->reading = request->next;
    }
    request->reading = false;
    pthread_mutex_unlock(&server->lock);
}

static void ended(void *cls, struct MHD_Connection *connection, void **state,
                  enum MHD_RequestTerminationCode why)
{
    serve_request *request = *state;
    serve_server *server = cls;
    (void)connection, (void)why;
    if (request == NULL) return;
    *state = NULL;
    end_reading(request);
    const double seconds = serve_clock() - request->began;
    if (request->answer.code == 0) request->answer.code = 499; // it left before its body was here
    log_request(request, seconds);
    if (request->counted) serve_key_leave(&server->keys, request->key);
    serve_metrics_request(&server->metrics, request->route, request->answer.code, seconds);
    // A stream may end before its pictures are made: they are given up.
    if (request->task != NULL && serve_task_streams(request->task)) serve_task_leave(request->task);
    serve_task_unref(request->task);
    serve_events_close(request);
    serve_job_unref(request->job);
    serve_model_unref(request->model);
    serve_answer_free(&request->answer);
    free(request);
    pthread_mutex_lock(&server->lock);
    server->present--;
    pthread_mutex_unlock(&server->lock);
}

// --- the body -----------------------------------------------------------------------------------

// libmicrohttpd 0.9 sometimes does not see that a client has closed its end in the middle of a
// body, and waits IDLE_SECONDS for it, a drain with it. An end that is closed on this side too
// wakes it.
static void look_at_bodies(serve_server *server)
{
    pthread_mutex_lock(&server->lock);
    for (serve_request *each = server->reading; each != NULL; each = each->next) {
        const int socket = socket_of(each);
        char next;
        if (each->left || recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT) != 0) continue;
        each->left = true; // all that it sent is read
        shutdown(socket, SHUT_RDWR);
    }
    pthread_mutex_unlock(&server->lock);
}

// MHD_NO closes the connection: for those who never end.
static enum MHD_Result take_data(serve_request *request, const char *data, size_t size)
{
    if (serve_clock() - request->began > BODY_SECONDS) return MHD_NO;
    if (request->answer.code != 0) {
        request->discarded += size;
        return request->discarded <= 2 * request->server->settings.max_body ? MHD_YES : MHD_NO;
    }
    if (request->task == NULL)
        serve_fail_request(&request->failure, "there is no body here");
    else if (serve_task_append(request->task, data, size))
        return MHD_YES;
    else
        request->failure = request->task->failure;
    serve_request_refuse(request);
    return MHD_YES;
}

// --- work ---------------------------------------------------------------------------------------

static void take_answer(serve_request *request)
{
    request->answer = request->task->answer;
    request->task->answer = (serve_answer){0};
}

// The task is over. After the connection is resumed the request belongs to the polling thread
// again.
static void finish(void *cookie)
{
    serve_request *request = cookie;
    take_answer(request);
    MHD_resume_connection(request->connection);
}

// The same of a stream, which may have outlived the request.
static void finish_stream(void *cookie)
{
    serve_task_unref(cookie);
}

static void answer_json(serve_request *request, json_t *object)
{
    serve_answer_text(&request->answer, "application/json",
                      object != NULL ? json_dumps(object, 0) : NULL);
    json_decref(object);
}

static void add_job(serve_request *request)
{
    if (!serve_jobs_add(request->server->jobs, request->task, request->key, request->counted,
                        &request->job, &request->failure)) {
        serve_metrics_rejected(&request->server->metrics, SERVE_QUEUE_FULL);
        serve_request_refuse(request);
        return;
    }
    request->counted = false; // the job is, until it is over
    answer_json(request, serve_job_describe(request->job));
    if (request->answer.code == 200) request->answer.code = 202;
    snprintf(request->answer.location, sizeof request->answer.location, "/v1/jobs/%s",
             serve_job_id(request->job));
}

// True: work is under way; a stream is answered already. False: there is an answer to send.
static bool process_work(serve_request *request, enum MHD_Result *result)
{
    serve_task *task = request->task;
    const serve_task_headers headers = {
        .parameters = &request->parameters,
        .content_type = serve_request_header(request, MHD_HTTP_HEADER_CONTENT_TYPE),
        .accept = serve_request_header(request, MHD_HTTP_HEADER_ACCEPT),
        .inference_length = serve_request_header(request, "Inference-Header-Content-Length")};
    if (!serve_task_open(task, &headers)) {
        take_answer(request);
        return false;
    }
    if (task->job) {
        add_job(request);
        return false;
    }
    if (!serve_task_streams(task)) {
        MHD_suspend_connection(request->connection);
        serve_task_start(task, socket_of(request), finish, request);
        return true;
    }
    request->answer.code = 200;
    request->answer.content_type = "text/event-stream";
    request->read = serve_stream_read;
    *result = serve_respond(request);
    serve_task_ref(task); // until finish_stream
    serve_task_start(task, socket_of(request), finish_stream, task);
    return true;
}

static void process_job(serve_request *request)
{
    serve_jobs *jobs = request->server->jobs;
    bool good = true;
    switch (serve_routes[request->route].jobs) {
    case SERVE_JOBS_ALL:
        answer_json(request, json_pack("{s:s, s:o}", "object", "list", "data",
                                       serve_jobs_describe(jobs, request->key)));
        break;
    case SERVE_JOBS_EVENTS:
        good = serve_events_open(request, socket_of(request));
        request->answer.code = 200;
        request->answer.content_type = "text/event-stream";
        request->read = good ? serve_events_read : NULL;
        break;
    case SERVE_JOBS_RESULT:
        good = serve_job_result(request->job, &request->answer, &request->failure);
        break;
    default:
        if (strcmp(request->method, "DELETE") == 0) serve_job_delete(jobs, request->job);
        answer_json(request, serve_job_describe(request->job));
        break;
    }
    if (!good) serve_request_refuse(request);
}

// The whole request is here. True: work is under way, and may even be over already. False: there is
// an answer to send.
static bool process(serve_request *request, enum MHD_Result *result)
{
    const serve_route *route = &serve_routes[request->route];
    if (!request->page) return process_work(request, result);
    if (route->page == SERVE_PAGE_SITE) {
        const char *known = serve_request_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
        if (!serve_site_answer(request->path, known, &request->answer, &request->failure))
            serve_request_refuse(request);
    } else if (route->jobs != SERVE_JOBS_NONE) {
        process_job(request);
    } else {
        serve_page_write(request->server, route->page, request->model, request->operation,
                         &request->answer);
    }
    return false;
}

// --- requests -----------------------------------------------------------------------------------

static enum MHD_Result begin(serve_server *server, struct MHD_Connection *connection,
                             const char *path, const char *method, void **state)
{
    serve_request *request = calloc(1, sizeof *request);
    if (request == NULL) return MHD_NO;
    *state = request;
    request->server = server;
    request->connection = connection;
    request->began = serve_clock();
    begin_reading(request);
    if (serve_headers_read(request, path, method)) return MHD_YES;
    serve_request_refuse(request);
    // A body that is too large is not waited for.
    return request->answer.code == 413 ? serve_respond(request) : MHD_YES;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state)
{
    serve_request *request = *state;
    (void)version;
    if (request == NULL) return begin(cls, connection, path, method, state);
    if (*size > 0) {
        const enum MHD_Result result = take_data(request, data, *size);
        *size = 0;
        return result;
    }
    end_reading(request);
    // Where work is under way, this function is called again when it is over.
    enum MHD_Result result = MHD_YES;
    if (request->answer.code == 0 && process(request, &result)) return result;
    return serve_respond(request);
}

// --- the server ---------------------------------------------------------------------------------

void serve_http_look(serve_server *server, bool all)
{
    look_at_bodies(server);
    serve_tasks_look(server, all);
    serve_events_look(server);
    serve_jobs_look(server->jobs);
}

int serve_http_present(serve_server *server)
{
    pthread_mutex_lock(&server->lock);
    const int present = server->present;
    pthread_mutex_unlock(&server->lock);
    return present;
}

bool serve_http_address(const char *host, int number, serve_say_fn *say,
                        struct sockaddr_storage *out)
{
    char port[16];
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_PASSIVE | AI_NUMERICHOST};
    snprintf(port, sizeof port, "%d", number);
    const int code = getaddrinfo(host, port, &wanted, &found);
    if (code != 0) {
        say("'%s' is no address to listen on: %s", host, gai_strerror(code));
        return false;
    }
    memcpy(out, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

struct MHD_Daemon *serve_http_start(serve_server *server)
{
    struct sockaddr_storage address = {0};
    if (!serve_http_address(server->settings.host, server->settings.port, server->settings.say,
                            &address))
        return NULL;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (address.ss_family == AF_INET6) flags |= MHD_USE_IPv6;
    errno = 0;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR, &address,
        MHD_OPTION_NOTIFY_COMPLETED, ended, server, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES, MHD_OPTION_END);
    if (daemon == NULL)
        server->settings.say("cannot listen on %s, port %d: %s", server->settings.host,
                             server->settings.port, strerror(errno));
    return daemon;
}

int serve_http_port(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info != NULL ? info->port : 0;
}

void serve_http_stop(struct MHD_Daemon *daemon)
{
    MHD_stop_daemon(daemon);
}
