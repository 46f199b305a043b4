// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See routes.h.
#include "apps/serve/http/routes.h"

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
