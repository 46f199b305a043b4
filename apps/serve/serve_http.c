// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See serve_http.h. The life of a request:
//
//   headers    begin(): route, method, key, limits. What is wrong becomes the answer at once, and the body is
//              read and thrown away, so that the client can read the answer.
//   body       grows in memory that the queue counts
//   whole      ask, work, admission; the connection is suspended, the jobs are submitted
//   jobs over  finish(), on whatever thread: the answer is made and the connection resumed
//   sent       ended(): the request is counted and freed
//
// Invariants
//   1. A request is in the list `working` exactly while its work is under way; finish() takes it out. Its connection is
//      suspended, unless its answer is a stream: that is resumed for each event.
//   2. Three may hold a request: the connection, serve_http_look while it cancels, and the work of a stream, which may
//      outlive the connection. The last one frees it.
#include "apps/serve/serve_http.h"

#include "apps/serve/serve_images.h"
#include "apps/serve/serve_oip.h"
#include "apps/serve/serve_probe.h"
#include "apps/serve/serve_routes.h"
#include "apps/serve/serve_site.h"
#include "apps/serve/serve_work.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS = 1024,
    IDLE_SECONDS = 30,
    BODY_SECONDS = 120,       // for a whole body, however it trickles
    HEADER_BYTES = 64 << 10,  // request line, headers and parameters
    FIRST_ROOM = 64 << 10,    // of a body
    STREAM_BYTES = 32 << 10,  // that are read at once
    LONGEST_TIMEOUT = 3600000 // milliseconds
};

typedef struct serve_request {
    serve_server *server;
    struct MHD_Connection *connection;
    atomic_int references;
    size_t route;
    bool page; // a GET of the route's page; else work
    char id[72];
    char method[12], path[96]; // for the log
    char trace[56];            // the client's traceparent, echoed; "": it sent none
    double began;
    serve_parameters parameters;
    const serve_model *model;
    size_t model_number;
    serve_key *key; // NULL: none is wanted
    bool counted;   // with the key
    uint8_t *body;
    size_t size, room;
    uint64_t discarded;
    uint64_t held;   // bytes that the queue counts
    double deadline; // 0: none
    serve_operation operation;
    serve_ask ask;
    serve_oip oip; // of SERVE_PROTOCOL_OIP
    serve_work *work;
    serve_generation *generation; // instead of work
    double seconds;               // of work, as estimated
    bool entered;                 // the queue
    serve_answer answer;
    serve_failure failure;
    atomic_bool submitted;  // all jobs are
    atomic_bool left, late; // why the work was given up
    int socket;
    struct serve_request *next; // of `working`
} serve_request;

// --- ends ---------------------------------------------------------------------------------------

static void refuse(serve_request *request)
{
    if (request->failure.code == 429 && request->answer.retry_after == 0)
        request->answer.retry_after = serve_queue_retry_after(request->server);
    serve_answer_failure(&request->answer, &request->failure,
                         serve_routes[request->route].protocol == SERVE_PROTOCOL_OIP);
}

static void unref(serve_request *request)
{
    if (atomic_fetch_sub(&request->references, 1) > 1) return;
    serve_work_free(request->work);
    serve_generation_free(request->generation);
    serve_answer_free(&request->answer);
    serve_oip_free(&request->oip);
    free(request->body);
    serve_queue_let_go(request->server, request->held);
    free(request);
}

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

// A stream may end before its pictures are made: they are given up, and its socket is not looked at any more.
static void leave_stream(serve_request *request)
{
    if (request->generation == NULL || !serve_images_streams(request->generation)) return;
    pthread_mutex_lock(&request->server->lock);
    atomic_store(&request->left, true);
    request->socket = -1;
    pthread_mutex_unlock(&request->server->lock);
    if (atomic_load(&request->submitted)) serve_generation_cancel(request->generation);
}

static void ended(void *cls, struct MHD_Connection *connection, void **state,
                  enum MHD_RequestTerminationCode why)
{
    serve_request *request = *state;
    serve_server *server = cls;
    (void)connection, (void)why;
    if (request == NULL) return;
    *state = NULL;
    const double seconds = serve_clock() - request->began;
    if (request->answer.code == 0) request->answer.code = 499; // it left before its body was here
    log_request(request, seconds);
    if (request->counted) serve_key_leave(&server->keys, request->key);
    serve_metrics_request(&server->metrics, request->route, request->answer.code, seconds);
    leave_stream(request);
    unref(request);
    pthread_mutex_lock(&server->lock);
    server->present--;
    pthread_mutex_unlock(&server->lock);
}

// --- headers ------------------------------------------------------------------------------------

static const char *header(const serve_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

// The client's id where it is a plain word; else one of ours.
static void set_id(serve_request *request)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const char *given = header(request, "X-Request-Id");
    const size_t length = given != NULL ? strlen(given) : 0;
    if (length > 0 && length <= 64 && strspn(given, letters) == length)
        memcpy(request->id, given, length + 1);
    else
        snprintf(request->id, sizeof request->id, "%x-%llx", (unsigned)request->server->started,
                 (unsigned long long)atomic_fetch_add(&request->server->ids, 1));
}

// As the W3C writes it: "00-", 32 digits of the trace, 16 of the caller's span, 2 of flags. Anything else is left out.
static void set_trace(serve_request *request)
{
    static const char shape[] = "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
    const char *given = header(request, "traceparent");
    if (given == NULL || strlen(given) != sizeof shape - 1) return;
    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == 'x' ? strchr("0123456789abcdef", given[i]) == NULL : given[i] != shape[i])
            return;
    memcpy(request->trace, given, sizeof shape);
}

static void copy_clean(char *dst, size_t size, const char *src)
{
    size_t n = 0;
    for (; *src && n + 1 < size; src++)
        dst[n++] = (unsigned char)*src >= ' ' && (unsigned char)*src < 127 ? *src : '?';
    dst[n] = 0;
}

static enum MHD_Result add_parameter(void *cls, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    (void)kind;
    serve_parameters_add(cls, name, value);
    return MHD_YES;
}

// Bearer, or Basic with the key as the password: diffusers and others send http://any:KEY@host so.
static bool check_key(serve_request *request)
{
    static const char bearer[] = "Bearer ";
    const char *authorization = header(request, MHD_HTTP_HEADER_AUTHORIZATION);
    char *user = NULL, *password = NULL;
    if (request->server->keys.count == 0 || serve_routes[request->route].open) return true;
    if (authorization != NULL && strncasecmp(authorization, bearer, sizeof bearer - 1) == 0) {
        request->key = serve_keys_find(&request->server->keys, authorization + sizeof bearer - 1);
    } else if (authorization != NULL) {
        user = MHD_basic_auth_get_username_password(request->connection, &password);
        request->key = serve_keys_find(&request->server->keys, password);
        MHD_free(user);
        MHD_free(password);
    }
    return request->key != NULL || serve_fail(&request->failure, 401, "unauthorized",
                                              "this server wants a key: Authorization: Bearer KEY");
}

static bool check_key_limits(serve_request *request)
{
    if (request->key == NULL) return true;
    request->counted = serve_key_enter(&request->server->keys, request->key, request->began,
                                       &request->answer.retry_after, &request->failure);
    if (!request->counted) serve_metrics_rejected(&request->server->metrics, SERVE_KEY_LIMIT);
    return request->counted;
}

static bool check_method(serve_request *request, const char *method)
{
    const serve_route *route = &serve_routes[request->route];
    const bool get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    const bool left_out = request->server->settings.no_sdapi &&
                          route->protocol == SERVE_PROTOCOL_SDAPI;
    const bool post = route->page == SERVE_PAGE_NONE || route->images != SERVE_IMAGES_NONE;
    request->page = route->page != SERVE_PAGE_NONE;
    if (request->route == serve_route_unknown() || left_out)
        return serve_fail(&request->failure, 404, "not_found", "there is nothing at this address");
    if (request->page && get) return true;
    if (post && strcmp(method, "POST") == 0) {
        request->page = false;
        return true;
    }
    return serve_fail(&request->failure, 405, "method_not_allowed", "use %s here",
                      route->page != SERVE_PAGE_NONE ? "GET" : "POST");
}

static bool has_part(const serve_request *request)
{
    const unsigned part = request->operation == SERVE_ENCODE ? ZENITH_ENCODER : ZENITH_DECODER;
    return (request->model->info.parts & part) != 0;
}

static bool find_model(serve_request *request, const char *name, size_t length)
{
    const serve_server *server = request->server;
    const char *given = serve_parameter_get(&request->parameters, "model");
    const size_t whole = length;
    if (name == NULL && given != NULL) {
        name = given;
        length = strlen(given);
    }
    if (name == NULL && server->model_count == 1) {
        request->model = &server->models[0];
        return true;
    }
    if (name == NULL)
        return serve_fail(&request->failure, 400, "invalid_request",
                          "which model? Add ?model=NAME; /v1/models lists them");
    const bool part = serve_routes[request->route].protocol == SERVE_PROTOCOL_OIP;
    if (!part || serve_oip_split(name, &length, &request->operation))
        request->model = serve_server_model(server, name, length);
    if (request->model != NULL) request->model_number = (size_t)(request->model - server->models);
    return (request->model != NULL && (!part || has_part(request))) ||
           serve_fail(&request->failure, 404, "model_not_found", "there is no model '%.*s' here",
                      whole < 60 ? (int)whole : 60, name);
}

static bool check_length(serve_request *request)
{
    const char *value = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const unsigned long long length = value != NULL ? strtoull(value, NULL, 10) : 0;
    const unsigned long long most = request->server->settings.max_body;
    if (length <= most) return true;
    serve_metrics_rejected(&request->server->metrics, SERVE_TOO_LARGE);
    return serve_fail(&request->failure, 413, "too_large", "a body has at most %llu bytes", most);
}

static bool check_timeout(serve_request *request)
{
    const char *value = header(request, "X-Request-Timeout-Ms");
    uint32_t milliseconds = 0;
    serve_parameters one = {0};
    if (value == NULL) return true;
    serve_parameters_add(&one, "X-Request-Timeout-Ms", value);
    if (!serve_parameter_number(&one, "X-Request-Timeout-Ms", 1, LONGEST_TIMEOUT, &milliseconds,
                                &request->failure))
        return false;
    request->deadline = request->began + milliseconds * 1e-3;
    return true;
}

static bool check_draining(serve_request *request)
{
    if (!atomic_load(&request->server->draining)) return true;
    serve_metrics_rejected(&request->server->metrics, SERVE_DRAINING);
    request->answer.retry_after = 1;
    return serve_fail(&request->failure, 503, "draining", "the server ends: ask another");
}

// True: go on and read the body.
static bool check_headers(serve_request *request, const char *method, const char *model,
                          size_t length)
{
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, add_parameter,
                              &request->parameters);
    if (!check_method(request, method) || !check_key(request)) return false;
    if (serve_routes[request->route].page == SERVE_PAGE_SITE) return true; // the name is a file's
    if (request->page) return model == NULL || find_model(request, model, length);
    const bool pipeline = serve_routes[request->route].images != SERVE_IMAGES_NONE;
    return check_draining(request) && check_key_limits(request) && check_length(request) &&
           check_timeout(request) && (pipeline || find_model(request, model, length));
}

// --- the body -----------------------------------------------------------------------------------

static bool grow(serve_request *request, size_t least)
{
    const uint64_t most = request->server->settings.max_body;
    size_t room = request->room ? request->room * 2 : FIRST_ROOM;
    while (room < least) room *= 2; // the limit is far below SIZE_MAX / 2
    if (room > most) room = (size_t)most;
    if (!serve_queue_hold(request->server, room - request->room, &request->failure)) return false;
    request->held += room - request->room;
    uint8_t *body = realloc(request->body, room);
    if (body == NULL) return serve_fail(&request->failure, 503, "out_of_memory", "out of memory");
    request->body = body;
    request->room = room;
    return true;
}

static bool append(serve_request *request, const char *data, size_t size)
{
    const uint64_t most = request->server->settings.max_body;
    if (request->page)
        return serve_fail(&request->failure, 400, "invalid_request", "there is no body here");
    if (size > most - request->size) {
        serve_metrics_rejected(&request->server->metrics, SERVE_TOO_LARGE);
        return serve_fail(&request->failure, 413, "too_large", "a body has at most %llu bytes",
                          (unsigned long long)most);
    }
    if (request->size + size > request->room && !grow(request, request->size + size)) return false;
    memcpy(request->body + request->size, data, size);
    request->size += size;
    return true;
}

// Gives the memory of a body back that is not wanted any more.
static void drop_body(serve_request *request)
{
    free(request->body);
    request->body = NULL;
    serve_queue_let_go(request->server, request->held);
    request->held = 0;
    request->size = request->room = 0;
}

// MHD_NO closes the connection: for those who never end.
static enum MHD_Result take_data(serve_request *request, const char *data, size_t size)
{
    if (serve_clock() - request->began > BODY_SECONDS) return MHD_NO;
    if (request->answer.code != 0) {
        request->discarded += size;
        return request->discarded <= 2 * request->server->settings.max_body ? MHD_YES : MHD_NO;
    }
    if (append(request, data, size)) return MHD_YES;
    refuse(request);
    drop_body(request);
    return MHD_YES;
}

// --- work ---------------------------------------------------------------------------------------

static void note_times(serve_request *request)
{
    serve_server *server = request->server;
    const size_t count = serve_work_count(request->work);
    const uint64_t pixels = serve_work_pixels(request->work) / count;
    for (size_t i = 0; i < count; i++) {
        serve_work_facts facts;
        if (!serve_work_times(request->work, i, &facts)) continue;
        serve_metrics_item(&server->metrics, request->model_number, request->ask.operation, pixels,
                           facts.waited, facts.ran);
        request->answer.waited += facts.waited;
        request->answer.ran += facts.ran;
        if (request->ask.compute == ZENITH_DTYPE_DEFAULT) // what is known is of the server's type
            serve_queue_learn(server, request->model_number, request->ask.operation, pixels,
                              facts.ran / serve_server_beside(server, facts.batch));
    }
}

static void leave_queue(serve_request *request)
{
    serve_server *server = request->server;
    if (!request->entered) return;
    request->entered = false;
    serve_queue_leave(server, request->seconds);
    serve_metrics_depth(&server->metrics, request->model_number, request->ask.operation, -1,
                        serve_work_pixels(request->work));
}

static void take_out(serve_request *request)
{
    serve_server *server = request->server;
    pthread_mutex_lock(&server->lock);
    serve_request **link = &server->working;
    while (*link != NULL && *link != request) link = &(*link)->next;
    if (*link != NULL) *link = request->next;
    pthread_mutex_unlock(&server->lock);
}

// Why work that was given up was.
static void explain(serve_request *request)
{
    const bool late = request->work != NULL && serve_work_late(request->work);
    if (late || atomic_load(&request->late)) {
        serve_metrics_rejected(&request->server->metrics, SERVE_LATE);
        serve_fail(&request->failure, 504, "deadline_exceeded",
                   "the deadline of X-Request-Timeout-Ms has passed");
    } else if (atomic_load(&request->left)) {
        serve_fail(&request->failure, 499, "client_closed", "the client left");
    }
}

// All jobs are over. After the connection is resumed the request belongs to the polling thread again.
static void finish(void *cookie)
{
    serve_request *request = cookie;
    bool good = serve_work_finish(request->work, &request->answer, &request->failure);
    if (good) note_times(request);
    if (good && serve_routes[request->route].protocol == SERVE_PROTOCOL_OIP)
        good = serve_oip_answer(&request->oip, &request->model->info, request->operation,
                                &request->answer, &request->failure);
    if (!good) explain(request);
    if (!good) refuse(request);
    leave_queue(request);
    take_out(request);
    MHD_resume_connection(request->connection);
}

static bool read_ask(serve_request *request, const serve_envelope *envelope)
{
    serve_failure *failure = &request->failure;
    switch (serve_routes[request->route].protocol) {
    case SERVE_PROTOCOL_REMOTE:
        return serve_ask_remote(envelope, request->operation, &request->ask, failure);
    case SERVE_PROTOCOL_OIP:
        return serve_oip_ask(envelope, request->body, request->size,
                             header(request, "Inference-Header-Content-Length"), request->operation,
                             &request->oip, &request->ask, failure);
    default:
        return serve_ask_native(envelope, request->operation, &request->ask, failure);
    }
}

static bool open_work(serve_request *request)
{
    serve_server *server = request->server;
    const serve_settings *settings = &server->settings;
    const serve_envelope envelope = {.parameters = &request->parameters,
                                     .content_type = header(request, MHD_HTTP_HEADER_CONTENT_TYPE),
                                     .accept = header(request, MHD_HTTP_HEADER_ACCEPT),
                                     .body = request->size,
                                     .model = &request->model->info,
                                     .types = serve_estimates_types(&request->model->estimates),
                                     .max_pixels = settings->max_pixels,
                                     .max_memory = settings->queue_memory};
    const bool asked = read_ask(request, &envelope);
    const bool oip = request->oip.numbers != NULL; // a part of the body, or made of it
    const serve_work_params params = {.context = server->context,
                                      .apart = server->apart,
                                      .turns = &server->turns,
                                      .model = request->model->model,
                                      .number = request->model_number,
                                      .info = &request->model->info,
                                      .ask = &request->ask,
                                      .body = oip ? request->oip.numbers : request->body,
                                      .size = oip ? request->oip.size : request->size,
                                      .max_pixels = settings->max_pixels,
                                      .run = {.size = sizeof(zenith_run_params),
                                              .dtype = request->ask.compute
                                                           ? request->ask.compute
                                                           : (zenith_dtype)settings->dtype,
                                              .max_memory = settings->max_memory}};
    return asked && serve_work_open(&params, &request->work, &request->failure);
}

static bool enter_queue(serve_request *request)
{
    serve_server *server = request->server;
    const uint64_t bytes = serve_work_bytes(request->work) + request->oip.bytes;
    if (!serve_queue_hold(server, bytes, &request->failure)) return false;
    request->held += bytes;
    if (!serve_queue_enter(server, request->model, request->ask.operation,
                           serve_work_pixels(request->work), &request->seconds,
                           &request->answer.retry_after, &request->failure))
        return false;
    request->answer.retry_after = 0;
    request->entered = true;
    serve_metrics_depth(&server->metrics, request->model_number, request->ask.operation, 1,
                        serve_work_pixels(request->work));
    return true;
}

// From here on the request is looked after by serve_http_look, until finish() takes it out.
static void put_in(serve_request *request)
{
    serve_server *server = request->server;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    request->socket = info != NULL ? info->connect_fd : -1;
    atomic_fetch_add(&request->references, 1); // until all are submitted
    pthread_mutex_lock(&server->lock);
    request->next = server->working;
    server->working = request;
    pthread_mutex_unlock(&server->lock);
}

static void start_work(serve_request *request)
{
    serve_server *server = request->server;
    MHD_suspend_connection(request->connection);
    put_in(request);
    const uint64_t pixels = serve_work_pixels(request->work) / serve_work_count(request->work);
    const serve_work_timing timing = {
        .arrived = serve_clock(),
        .deadline = request->deadline,
        .seconds = request->seconds,
        .pays = serve_probe_pays(server, request->model, request->ask.operation, pixels)};
    serve_work_start(request->work, &timing, finish, request);
    atomic_store(&request->submitted, true); // from here on they can be cancelled
    unref(request);
}

// --- pictures from text -------------------------------------------------------------------------

// The end of a generation whose answer waits for it.
static void finish_images(void *cookie)
{
    serve_request *request = cookie;
    if (!serve_images_finish(request->generation, serve_routes[request->route].images,
                             &request->answer, &request->failure)) {
        explain(request);
        refuse(request);
    }
    take_out(request);
    MHD_resume_connection(request->connection);
}

// The end of one whose answer is a stream: the client reads what is left of it. The generation's hold of the request
// ends here.
static void finish_stream(void *cookie)
{
    serve_request *request = cookie;
    const bool good = serve_generation_result(request->generation, &request->failure);
    if (!good) explain(request);
    take_out(request);
    serve_images_end(request->generation, good ? NULL : &request->failure);
    unref(request);
}

static void pause_stream(void *cookie)
{
    const serve_request *request = cookie;
    MHD_suspend_connection(request->connection);
}

static void resume_stream(void *cookie)
{
    const serve_request *request = cookie;
    MHD_resume_connection(request->connection);
}

static ssize_t read_stream(void *cls, uint64_t place, char *dst, size_t most)
{
    serve_request *request = cls;
    (void)place;
    const ssize_t size = serve_generation_read(request->generation, dst, most, pause_stream,
                                               resume_stream, request);
    return size < 0 ? MHD_CONTENT_READER_END_OF_STREAM : size;
}

static enum MHD_Result send_answer(serve_request *request);

static bool hold_images(serve_request *request)
{
    const uint64_t bytes = serve_generation_bytes(request->generation);
    if (!serve_queue_hold(request->server, bytes, &request->failure)) return false;
    request->held += bytes;
    return true;
}

// True: the pictures are under way; a stream is answered already. False: there is an answer to send.
static bool process_images(serve_request *request, enum MHD_Result *result)
{
    const bool opened = serve_images_open(request->server, serve_routes[request->route].images,
                                          header(request, MHD_HTTP_HEADER_CONTENT_TYPE),
                                          request->body, request->size, &request->generation,
                                          &request->answer, &request->failure);
    if (opened && request->generation == NULL) return false;
    if (!opened || !hold_images(request)) {
        refuse(request);
        return false;
    }
    const bool stream = serve_images_streams(request->generation);
    if (!stream) MHD_suspend_connection(request->connection);
    put_in(request);
    if (stream) {
        request->answer.code = 200;
        request->answer.content_type = "text/event-stream";
        atomic_fetch_add(&request->references, 1); // until finish_stream
        *result = send_answer(request);
    }
    serve_generation_start(request->generation, stream ? finish_stream : finish_images, request);
    atomic_store(&request->submitted, true);
    unref(request);
    return true;
}

// The whole request is here. True: work is under way, and the request belongs to it. It may even be over already.
static bool process(serve_request *request, enum MHD_Result *result)
{
    const serve_route *route = &serve_routes[request->route];
    if (request->page && route->page == SERVE_PAGE_SITE) {
        const char *known = header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
        if (!serve_site_answer(request->path, known, &request->answer, &request->failure))
            refuse(request);
        return false;
    }
    if (request->page) {
        serve_page_write(request->server, route->page, request->model, request->operation,
                         &request->answer);
        return false;
    }
    if (route->images != SERVE_IMAGES_NONE) return process_images(request, result);
    const bool admitted = open_work(request) && enter_queue(request);
    if (admitted)
        start_work(request);
    else
        refuse(request);
    return admitted;
}

// --- answers ------------------------------------------------------------------------------------

// A browser may keep what has a tag, if it asks each time whether that is still the same.
static void add_site_headers(const serve_answer *answer, struct MHD_Response *response)
{
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                            answer->etag != NULL ? "no-cache" : "no-store");
    if (answer->etag == NULL) return;
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, answer->etag);
    for (const serve_site_header *each = serve_site_headers; each->name != NULL; each++)
        MHD_add_response_header(response, each->name, each->value);
}

// What browsers' tools show, in milliseconds: how long the work waited and took, without the way here and back.
static void add_timing(const serve_answer *answer, struct MHD_Response *response)
{
    char text[96];
    if (answer->waited <= 0 && answer->ran <= 0) return;
    snprintf(text, sizeof text, "wait;dur=%.2f, run;dur=%.2f", answer->waited * 1e3,
             answer->ran * 1e3);
    MHD_add_response_header(response, "Server-Timing", text);
}

static void add_headers(const serve_request *request, struct MHD_Response *response)
{
    const serve_answer *answer = &request->answer;
    char seconds[16], length[24];
    if (answer->content_type != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
    if (answer->shape[0]) MHD_add_response_header(response, "shape", answer->shape);
    if (answer->dtype != NULL) MHD_add_response_header(response, "dtype", answer->dtype);
    if (answer->inference_header > 0) {
        snprintf(length, sizeof length, "%zu", answer->inference_header);
        MHD_add_response_header(response, "Inference-Header-Content-Length", length);
    }
    snprintf(seconds, sizeof seconds, "%d", answer->retry_after);
    if (answer->retry_after > 0 && answer->code >= 400)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    if (answer->code == 401)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                "Bearer realm=\"zenith\"");
    if (answer->code == 405)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
                                serve_routes[request->route].page != SERVE_PAGE_NONE ? "GET, HEAD"
                                                                                     : "POST");
    MHD_add_response_header(response, "X-Request-Id", request->id);
    if (request->trace[0]) MHD_add_response_header(response, "traceparent", request->trace);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    add_site_headers(answer, response);
    add_timing(answer, response);
    if (atomic_load(&request->server->draining))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static enum MHD_Result send_answer(serve_request *request)
{
    size_t size;
    const void *body = serve_answer_body(&request->answer, &size);
    const bool stream = request->generation != NULL && serve_images_streams(request->generation) &&
                        request->answer.code == 200;
    // The body lives in the request, which ends after it is sent.
    struct MHD_Response *response = stream
                                        ? MHD_create_response_from_callback(
                                              MHD_SIZE_UNKNOWN, STREAM_BYTES, read_stream, request,
                                              NULL)
                                        : MHD_create_response_from_buffer(size,
                                                                          (void *)(uintptr_t)body,
                                                                          MHD_RESPMEM_PERSISTENT);
    if (response == NULL) return MHD_NO;
    add_headers(request, response);
    const enum MHD_Result result = MHD_queue_response(request->connection,
                                                      (unsigned)request->answer.code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result begin(serve_server *server, struct MHD_Connection *connection,
                             const char *path, const char *method, void **state)
{
    const char *model;
    size_t length;
    serve_request *request = calloc(1, sizeof *request);
    if (request == NULL) return MHD_NO;
    *state = request;
    request->server = server;
    request->connection = connection;
    atomic_init(&request->references, 1);
    request->began = serve_clock();
    request->route = serve_route_find(path, &model, &length);
    request->operation = serve_routes[request->route].operation;
    copy_clean(request->method, sizeof request->method, method);
    copy_clean(request->path, sizeof request->path, path);
    set_id(request);
    set_trace(request);
    pthread_mutex_lock(&server->lock);
    server->present++;
    pthread_mutex_unlock(&server->lock);
    if (check_headers(request, method, model, length)) return MHD_YES;
    refuse(request);
    // A body that is too large is not waited for.
    return request->answer.code == 413 ? send_answer(request) : MHD_YES;
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
    // Where work is under way, this function is called again when it is over.
    enum MHD_Result result = MHD_YES;
    if (request->answer.code == 0 && process(request, &result)) return result;
    return send_answer(request);
}

// --- the server ---------------------------------------------------------------------------------

// A client that has closed its side is gone. libmicrohttpd does not look at suspended connections.
static bool has_left(const serve_request *request)
{
    struct pollfd socket = {.fd = request->socket, .events = POLLRDHUP};
    return request->socket >= 0 && poll(&socket, 1, 0) > 0 &&
           (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

// A request whose work is to be given up, held for the caller; NULL: there is none.
static serve_request *find_lost(serve_server *server, bool all)
{
    const double now = serve_clock();
    pthread_mutex_lock(&server->lock);
    serve_request *found = server->working;
    for (; found != NULL; found = found->next) {
        if (!atomic_load(&found->submitted)) continue;
        if (atomic_load(&found->left) || atomic_load(&found->late)) continue; // told already
        const bool late = found->deadline > 0 && now > found->deadline;
        if (late) atomic_store(&found->late, true);
        if (!late && (all || has_left(found))) atomic_store(&found->left, true);
        if (late || atomic_load(&found->left)) break;
    }
    if (found != NULL) atomic_fetch_add(&found->references, 1);
    pthread_mutex_unlock(&server->lock);
    return found;
}

void serve_http_look(serve_server *server, bool all)
{
    for (serve_request *lost; (lost = find_lost(server, all)) != NULL;) {
        if (lost->generation != NULL)
            serve_generation_cancel(lost->generation);
        else
            serve_work_cancel(lost->work);
        unref(lost);
    }
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
