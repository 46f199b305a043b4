// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See serve_routes.h.
#include "apps/serve/serve_routes.h"

#include "apps/serve/serve_generate.h"
#include "apps/serve/serve_jobs.h"
#include "apps/serve/serve_models.h"
#include "apps/serve/serve_oip.h"
#include "apps/serve/serve_openapi.h"
#include "apps/serve/serve_reload.h"
#include "apps/serve/serve_sdapi.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const serve_route serve_routes[] = {
    {.path = "/", .page = SERVE_PAGE_SITE, .open = true},
    {.path = "/page/*", .page = SERVE_PAGE_SITE, .open = true},
    {.path = "/health", .page = SERVE_PAGE_HEALTH, .open = true},
    {.path = "/healthz", .page = SERVE_PAGE_HEALTH, .open = true},
    {.path = "/v2/health/live", .page = SERVE_PAGE_LIVE, .open = true},
    {.path = "/v2/health/ready", .page = SERVE_PAGE_READY, .open = true},
    {.path = "/version", .page = SERVE_PAGE_VERSION, .open = true},
    {.path = "/openapi.json", .page = SERVE_PAGE_OPENAPI, .open = true},
    {.path = "/v1/models", .page = SERVE_PAGE_MODELS},
    {.path = "/metrics", .page = SERVE_PAGE_METRICS},
    {.path = "/remote/*/decode", .protocol = SERVE_PROTOCOL_REMOTE, .operation = SERVE_DECODE},
    {.path = "/remote/*/encode", .protocol = SERVE_PROTOCOL_REMOTE, .operation = SERVE_ENCODE},
    {.path = "/v1/encode", .operation = SERVE_ENCODE},
    {.path = "/v1/decode", .operation = SERVE_DECODE},
    {.path = "/v1/reconstruct", .operation = SERVE_RECONSTRUCT},
    {.path = "/v2", .page = SERVE_PAGE_OIP_SERVER, .open = true, .protocol = SERVE_PROTOCOL_OIP},
    {.path = "/v2/models/*", .page = SERVE_PAGE_OIP_MODEL, .protocol = SERVE_PROTOCOL_OIP},
    {.path = "/v2/models/*/ready", .page = SERVE_PAGE_OIP_READY, .protocol = SERVE_PROTOCOL_OIP},
    {.path = "/v2/models/*/infer", .protocol = SERVE_PROTOCOL_OIP},
    {.path = "/v2/models/*/versions/1",
     .page = SERVE_PAGE_OIP_MODEL,
     .protocol = SERVE_PROTOCOL_OIP},
    {.path = "/v2/models/*/versions/1/ready",
     .page = SERVE_PAGE_OIP_READY,
     .protocol = SERVE_PROTOCOL_OIP},
    {.path = "/v2/models/*/versions/1/infer", .protocol = SERVE_PROTOCOL_OIP},
    {.path = "/v1/images/generations", .images = SERVE_IMAGES_GENERATE},
    {.path = "/v1/images/edits", .images = SERVE_IMAGES_EDIT},
    {.path = "/sdapi/v1/txt2img", .protocol = SERVE_PROTOCOL_SDAPI, .images = SERVE_IMAGES_TXT2IMG},
    {.path = "/sdapi/v1/img2img", .protocol = SERVE_PROTOCOL_SDAPI, .images = SERVE_IMAGES_IMG2IMG},
    {.path = "/sdapi/v1/interrupt",
     .protocol = SERVE_PROTOCOL_SDAPI,
     .images = SERVE_IMAGES_INTERRUPT},
    {.path = "/sdapi/v1/options",
     .page = SERVE_PAGE_SDAPI_OPTIONS,
     .protocol = SERVE_PROTOCOL_SDAPI,
     .images = SERVE_IMAGES_OPTIONS},
    {.path = "/sdapi/v1/sd-models",
     .page = SERVE_PAGE_SDAPI_MODELS,
     .protocol = SERVE_PROTOCOL_SDAPI},
    {.path = "/sdapi/v1/samplers",
     .page = SERVE_PAGE_SDAPI_SAMPLERS,
     .protocol = SERVE_PROTOCOL_SDAPI},
    {.path = "/sdapi/v1/progress",
     .page = SERVE_PAGE_SDAPI_PROGRESS,
     .protocol = SERVE_PROTOCOL_SDAPI},
    {.path = "/v1/diffae/encode", .diffae = SERVE_DIFFAE_ENCODE},
    {.path = "/v1/diffae/decode", .diffae = SERVE_DIFFAE_DECODE},
    {.path = "/v1/diffae/edit", .diffae = SERVE_DIFFAE_EDIT},
    {.path = "/v1/diffae/interpolate", .diffae = SERVE_DIFFAE_INTERPOLATE},
    {.path = "/v1/diffae/sample", .diffae = SERVE_DIFFAE_SAMPLE},
    {.path = "/v1/jobs", .jobs = SERVE_JOBS_ALL},
    {.path = "/v1/jobs/*", .jobs = SERVE_JOBS_ONE},
    {.path = "/v1/jobs/*/events", .jobs = SERVE_JOBS_EVENTS},
    {.path = "/v1/jobs/*/result", .jobs = SERVE_JOBS_RESULT},
    {.path = "other", .open = true}};
enum { ROUTES = sizeof serve_routes / sizeof *serve_routes };
_Static_assert((int)ROUTES <= (int)SERVE_ROUTES, "metrics have a place for each route");

size_t serve_route_unknown(void)
{
    return ROUTES - 1;
}

const char *serve_route_methods(const serve_route *route)
{
    if (route->jobs == SERVE_JOBS_ONE) return "GET, HEAD, DELETE";
    const bool get = route->page != SERVE_PAGE_NONE || route->jobs != SERVE_JOBS_NONE;
    const bool post = route->jobs == SERVE_JOBS_ALL || route->images != SERVE_IMAGES_NONE;
    return !get ? "POST" : post ? "GET, HEAD, POST" : "GET, HEAD";
}

bool serve_route_can_be_job(const serve_route *route)
{
    return route != &serve_routes[serve_route_unknown()] && route->page == SERVE_PAGE_NONE &&
           route->jobs == SERVE_JOBS_NONE && route->images != SERVE_IMAGES_INTERRUPT;
}

bool serve_route_has_model(const serve_route *route)
{
    return route->images == SERVE_IMAGES_NONE && route->diffae == SERVE_DIFFAE_NONE;
}

static bool matches(const char *pattern, const char *path, const char **model, size_t *length)
{
    const char *star = strchr(pattern, '*');
    if (star == NULL) return strcmp(pattern, path) == 0;
    const size_t before = (size_t)(star - pattern);
    if (strncmp(pattern, path, before) != 0) return false;
    *model = path + before;
    *length = strcspn(*model, "/");
    return strcmp(*model + *length, star + 1) == 0;
}

size_t serve_route_find(const char *path, const char **model, size_t *length)
{
    *model = NULL;
    *length = 0;
    for (size_t i = 0; i + 1 < ROUTES; i++)
        if (matches(serve_routes[i].path, path, model, length)) return i;
    *model = NULL;
    return serve_route_unknown();
}

// --- pages --------------------------------------------------------------------------------------

static void answer_json(serve_answer *answer, json_t *object)
{
    serve_answer_text(answer, "application/json", object != NULL ? json_dumps(object, 0) : NULL);
    json_decref(object);
}

static json_t *describe(serve_server *server, const serve_model *m)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:s, s:s, s:b, s:b, s:I, s:I, s:I}", "id", m->info.name, "object", "model",
        "created", (json_int_t)server->started, "owned_by", "zenith", "description",
        m->info.description, "encode", (m->info.parts & ZENITH_ENCODER) != 0, "decode",
        (m->info.parts & ZENITH_DECODER) != 0, "latent_channels",
        (json_int_t)m->info.latent_channels, "factor", (json_int_t)m->info.factor, "parameters",
        (json_int_t)m->info.parameters);
    if (object == NULL) return NULL;
    json_object_set_new(object, "types", serve_estimates_describe(&m->estimates));
    json_object_set_new(object, "seconds_per_megapixel", serve_server_describe_seconds(server, m));
    if (!m->info.has_raw) return object;
    json_object_set_new(object, "scaling_factor", json_real((double)m->info.scale));
    json_object_set_new(object, "shift_factor", json_real((double)m->info.shift));
    return object;
}

static void write_models(serve_server *server, serve_answer *answer)
{
    json_t *list = json_array();
    for (size_t i = 0; i < server->model_count; i++) {
        serve_model *model = serve_models_get(server, i);
        json_array_append_new(list, describe(server, model));
        serve_model_unref(model);
    }
    for (size_t i = 0; i < serve_generators_count(server->generators); i++)
        json_array_append_new(list,
                              serve_generators_describe(server->generators, i, server->started));
    for (size_t i = 0; i < serve_diffaes_count(server->diffaes); i++)
        json_array_append_new(list, serve_diffaes_describe(server->diffaes, i, server->started));
    answer_json(answer, json_pack("{s:s, s:o, s:{s:I, s:I}}", "object", "list", "data", list,
                                  "limits", "body", (json_int_t)server->settings.max_body, "pixels",
                                  (json_int_t)server->settings.max_pixels));
}

static void write_metrics(serve_server *server, serve_answer *answer)
{
    char *text = NULL;
    size_t size;
    const char *routes[ROUTES + 1] = {NULL};
    for (size_t i = 0; i < ROUTES; i++) routes[i] = serve_routes[i].path;
    const serve_metrics_names names = {.routes = routes,
                                       .models = server->model_names,
                                       .isa = server->machine.isa,
                                       .onednn = server->machine.onednn,
                                       .started = server->started};
    FILE *out = open_memstream(&text, &size);
    if (out != NULL) {
        serve_metrics_write(&server->metrics, &names, out);
        serve_generators_write(server->generators, out);
        serve_diffaes_write(server->diffaes, out);
        serve_jobs_write(server->jobs, out);
        serve_reloads_write(server->reloads, out);
        fclose(out);
    }
    serve_answer_text(answer, "text/plain; version=0.0.4", text);
}

void serve_page_write(serve_server *server, serve_page page, const serve_model *model,
                      serve_operation operation, serve_answer *answer)
{
    const bool draining = atomic_load(&server->draining);
    switch (page) {
    case SERVE_PAGE_HEALTH:
    case SERVE_PAGE_READY:
        answer_json(answer, json_pack("{s:s}", "status", draining ? "draining" : "ok"));
        if (draining) answer->code = 503;
        break;
    case SERVE_PAGE_VERSION:
        answer_json(answer, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "name", "zenith", "version",
                                      zenith_version(), "isa", server->machine.isa, "onednn",
                                      server->machine.onednn, "threads", server->machine.threads,
                                      "streams", server->machine.streams));
        break;
    case SERVE_PAGE_MODELS:
        write_models(server, answer);
        break;
    case SERVE_PAGE_METRICS:
        write_metrics(server, answer);
        break;
    case SERVE_PAGE_SDAPI_OPTIONS:
        serve_sdapi_write_options(server->generators, answer);
        break;
    case SERVE_PAGE_SDAPI_MODELS:
        serve_sdapi_write_models(server->generators, answer);
        break;
    case SERVE_PAGE_SDAPI_SAMPLERS:
        serve_sdapi_write_samplers(answer);
        break;
    case SERVE_PAGE_SDAPI_PROGRESS:
        serve_sdapi_write_progress(server->generators, answer);
        break;
    case SERVE_PAGE_OPENAPI:
        serve_answer_text(answer, "application/json",
                          strndup((const char *)serve_openapi, serve_openapi_size));
        break;
    case SERVE_PAGE_OIP_SERVER:
        serve_oip_write_server(answer);
        break;
    case SERVE_PAGE_OIP_MODEL:
        serve_oip_write_model(&model->info, operation, answer);
        break;
    case SERVE_PAGE_OIP_READY:
        serve_oip_write_ready(&model->info, operation, answer);
        if (draining) answer->code = 503;
        break;
    default:
        answer_json(answer, json_pack("{s:s}", "status", "ok"));
        break;
    }
}
