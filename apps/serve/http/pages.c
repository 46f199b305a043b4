// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See pages.h.
#include "apps/serve/http/pages.h"

#include "apps/serve/diffae/diffae.h"
#include "apps/serve/generate/generate.h"
#include "apps/serve/http/openapi.h"
#include "apps/serve/models/models.h"
#include "apps/serve/models/reload.h"
#include "apps/serve/protocols/oip.h"
#include "apps/serve/protocols/sdapi.h"
#include "apps/serve/queue/admission.h"
#include "apps/serve/queue/jobs.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

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
    const char *routes[SERVE_ROUTES + 1] = {NULL};
    for (size_t i = 0; i <= serve_route_unknown(); i++) routes[i] = serve_routes[i].path;
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

static void write_version(const serve_server *server, serve_answer *answer)
{
    const zenith_machine_info *machine = &server->machine;
    answer_json(answer, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "name", "zenith", "version",
                                  zenith_version(), "isa", machine->isa, "onednn", machine->onednn,
                                  "threads", machine->threads, "streams", machine->streams));
}

static void write_sdapi(serve_server *server, serve_page page, serve_answer *answer)
{
    if (page == SERVE_PAGE_SDAPI_OPTIONS) serve_sdapi_write_options(server->generators, answer);
    if (page == SERVE_PAGE_SDAPI_MODELS) serve_sdapi_write_models(server->generators, answer);
    if (page == SERVE_PAGE_SDAPI_SAMPLERS) serve_sdapi_write_samplers(answer);
    if (page == SERVE_PAGE_SDAPI_PROGRESS) serve_sdapi_write_progress(server->generators, answer);
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
        write_version(server, answer);
        break;
    case SERVE_PAGE_MODELS:
        write_models(server, answer);
        break;
    case SERVE_PAGE_METRICS:
        write_metrics(server, answer);
        break;
    case SERVE_PAGE_SDAPI_OPTIONS:
    case SERVE_PAGE_SDAPI_MODELS:
    case SERVE_PAGE_SDAPI_SAMPLERS:
    case SERVE_PAGE_SDAPI_PROGRESS:
        write_sdapi(server, page, answer);
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
