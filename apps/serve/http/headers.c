// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See request.h: what the headers of a request say, and whether its body is wanted.
#include "apps/serve/http/request.h"
#include "apps/serve/http/routes.h"
#include "apps/serve/protocols/oip.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_TIMEOUT = 3600000 }; // milliseconds

// The client's id where it is a plain word; else one of ours.
static void set_id(serve_request *request)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const char *given = serve_request_header(request, "X-Request-Id");
    const size_t length = given != NULL ? strlen(given) : 0;
    if (length > 0 && length <= 64 && strspn(given, letters) == length)
        memcpy(request->id, given, length + 1);
    else
        snprintf(request->id, sizeof request->id, "%x-%llx", (unsigned)request->server->started,
                 (unsigned long long)atomic_fetch_add(&request->server->ids, 1));
}

// As the W3C writes it: "00-", 32 digits of the trace, 16 of the caller's span, 2 of flags.
// Anything else is left out.
static void set_trace(serve_request *request)
{
    static const char shape[] = "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
    const char *given = serve_request_header(request, "traceparent");
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
    const char *authorization = serve_request_header(request, MHD_HTTP_HEADER_AUTHORIZATION);
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

static bool not_found(serve_request *request)
{
    return serve_fail(&request->failure, 404, "not_found", "there is nothing at this address");
}

static bool is_left_out(const serve_request *request, const serve_route *route)
{
    return route == &serve_routes[serve_route_unknown()] ||
           (request->server->settings.no_sdapi && route->protocol == SERVE_PROTOCOL_SDAPI);
}

static bool check_method(serve_request *request, const char *method)
{
    const serve_route *route = &serve_routes[request->route];
    const bool is_work = strcmp(method, "POST") == 0;
    const char *known = serve_route_methods(route), *place = strstr(known, method);
    if (is_left_out(request, route)) return not_found(request);
    request->page = !is_work;
    const bool whole = place != NULL && (place == known || place[-1] == ' ');
    if (whole && strchr(",", place[strlen(method)]) != NULL) return true; // a comma, or the end
    return serve_fail(&request->failure, 405, "method_not_allowed", "use %s here", known);
}

static bool has_part(const serve_request *request)
{
    const unsigned part = request->operation == SERVE_ENCODE ? ZENITH_ENCODER : ZENITH_DECODER;
    return (request->model->info.parts & part) != 0;
}

static bool find_model(serve_request *request, const char *name, size_t length)
{
    serve_server *server = request->server;
    const char *given = serve_parameter_get(&request->parameters, "model");
    if (name == NULL && given != NULL) {
        name = given;
        length = strlen(given);
    }
    const size_t whole = length;
    if (name == NULL && server->model_count == 1) {
        request->model = serve_models_get(server, 0);
        return true;
    }
    if (name == NULL)
        return serve_fail_request(&request->failure,
                                  "which model? Add ?model=NAME; /v1/models lists them");
    const bool part = serve_routes[request->work].protocol == SERVE_PROTOCOL_OIP;
    if (!part || serve_oip_split(name, &length, &request->operation))
        request->model = serve_models_find(server, name, length);
    return (request->model != NULL && (!part || has_part(request))) ||
           serve_fail(&request->failure, 404, "model_not_found", "there is no model '%.*s' here",
                      whole < 60 ? (int)whole : 60, name);
}

static bool check_length(serve_request *request)
{
    const char *value = serve_request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const unsigned long long length = value != NULL ? strtoull(value, NULL, 10) : 0;
    const unsigned long long most = request->server->settings.max_body;
    if (length <= most) return true;
    serve_metrics_rejected(&request->server->metrics, SERVE_TOO_LARGE);
    return serve_fail_size(&request->failure, "a body has at most %llu bytes", most);
}

static bool check_timeout(serve_request *request)
{
    const char *value = serve_request_header(request, "X-Request-Timeout-Ms");
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

// Of a job: the route of its work is a parameter, and what that names in its path.
static bool find_work(serve_request *request, const char **model, size_t *length)
{
    if (serve_routes[request->route].jobs != SERVE_JOBS_ALL) return true;
    const char *path = serve_parameter_take(&request->parameters, "route");
    request->work = path != NULL ? serve_route_find(path, model, length) : serve_route_unknown();
    const serve_route *route = &serve_routes[request->work];
    request->operation = route->operation;
    return (serve_route_can_be_job(route) && !is_left_out(request, route)) ||
           serve_fail_request(&request->failure,
                              "'route' names the work of the job, such as ?route=/v1/decode");
}

static bool find_job(serve_request *request, const char *id, size_t length)
{
    request->job = serve_jobs_find(request->server->jobs, id, length, request->key);
    return request->job != NULL ||
           serve_fail(&request->failure, 404, "not_found", "there is no such job");
}

// The name in the path is that of a model, a job or a file.
static bool check_page(serve_request *request, const char *name, size_t length)
{
    const serve_route *route = &serve_routes[request->route];
    if (name == NULL || route->page == SERVE_PAGE_SITE) return true;
    return route->jobs != SERVE_JOBS_NONE ? find_job(request, name, length)
                                          : find_model(request, name, length);
}

static bool check(serve_request *request, const char *method, const char *name, size_t length)
{
    if (!check_method(request, method) || !check_key(request)) return false;
    if (request->page) return check_page(request, name, length);
    if (!find_work(request, &name, &length)) return false;
    const bool named = serve_route_has_model(&serve_routes[request->work]);
    return check_draining(request) && check_key_limits(request) && check_length(request) &&
           check_timeout(request) && (!named || find_model(request, name, length));
}

static bool make_task(serve_request *request)
{
    serve_task *task = serve_task_create(request->server, request->work);
    if (task == NULL) return serve_fail_memory(&request->failure);
    task->job = request->work != request->route;
    task->model = request->model != NULL ? serve_model_ref(request->model) : NULL;
    task->operation = request->operation;
    task->deadline = request->deadline;
    request->task = task;
    return true;
}

bool serve_headers_read(serve_request *request, const char *path, const char *method)
{
    const char *name;
    size_t length;
    request->route = request->work = serve_route_find(path, &name, &length);
    request->operation = serve_routes[request->route].operation;
    copy_clean(request->method, sizeof request->method, method);
    copy_clean(request->path, sizeof request->path, path);
    set_id(request);
    set_trace(request);
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, add_parameter,
                              &request->parameters);
    return check(request, method, name, length) && (request->page || make_task(request));
}
