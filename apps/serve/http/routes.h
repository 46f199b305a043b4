// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Which path is what. Paths are compared with a table, and with the names of open models: no part
// of a request reaches the file system.
#ifndef ZN_SERVE_HTTP_ROUTES_H
#define ZN_SERVE_HTTP_ROUTES_H

#include "apps/serve/diffae/diffae.h"
#include "apps/serve/metrics/metrics.h"

typedef enum serve_page { // what a GET shows
    SERVE_PAGE_NONE = 0,
    SERVE_PAGE_HEALTH,
    SERVE_PAGE_LIVE,
    SERVE_PAGE_READY,
    SERVE_PAGE_VERSION,
    SERVE_PAGE_MODELS,
    SERVE_PAGE_METRICS,
    SERVE_PAGE_OPENAPI,
    SERVE_PAGE_OIP_SERVER,
    SERVE_PAGE_OIP_MODEL,
    SERVE_PAGE_OIP_READY,
    SERVE_PAGE_SDAPI_OPTIONS,
    SERVE_PAGE_SDAPI_MODELS,
    SERVE_PAGE_SDAPI_SAMPLERS,
    SERVE_PAGE_SDAPI_PROGRESS,
    SERVE_PAGE_SITE // a file of the page for people: site.h
} serve_page;

// Work of pipelines.
typedef enum serve_images {
    SERVE_IMAGES_NONE = 0,
    SERVE_IMAGES_GENERATE, // OpenAI's
    SERVE_IMAGES_EDIT,
    SERVE_IMAGES_TXT2IMG, // AUTOMATIC1111's
    SERVE_IMAGES_IMG2IMG,
    SERVE_IMAGES_INTERRUPT,
    SERVE_IMAGES_OPTIONS
} serve_images;

// What is at an address of jobs.
typedef enum serve_jobs_page {
    SERVE_JOBS_NONE = 0,
    SERVE_JOBS_ALL, // GET: the list; POST: another
    SERVE_JOBS_ONE, // GET: its state; DELETE: cancels it, or forgets it
    SERVE_JOBS_EVENTS,
    SERVE_JOBS_RESULT
} serve_jobs_page;

typedef enum serve_protocol {
    SERVE_PROTOCOL_OWN = 0,
    SERVE_PROTOCOL_REMOTE, // diffusers' remote VAE
    // the Open Inference Protocol; its models are parts, NAME_encoder and NAME_decoder
    SERVE_PROTOCOL_OIP,
    SERVE_PROTOCOL_SDAPI // AUTOMATIC1111's, which --no-sdapi leaves out
} serve_protocol;

typedef struct serve_route {
    const char *path; // "*" stands for the name of a model, or the id of a job
    serve_page page;  // of a GET; NONE: a POST with work
    bool open;        // needs no key
    serve_protocol protocol;
    serve_images
        images; // of a POST: work that is none of an autoencoder; beside a page, both are there
    serve_operation
        operation;            // of work; that of the Open Inference Protocol is in the model's name
    serve_jobs_page jobs;     // instead of a page and of work
    serve_diffae_work diffae; // of a POST: work of a diffusion autoencoder
} serve_route;

// The last one stands for paths that are not known.
extern const serve_route serve_routes[];
size_t serve_route_unknown(void);
// The methods that it takes, as the header Allow has them.
const char *serve_route_methods(const serve_route *route);
bool serve_route_can_be_job(const serve_route *route);
// Whether the work is that of an autoencoder, which the path or a parameter names.
bool serve_route_has_model(const serve_route *route);

// The number of the route, and the model's name in the path, which is not looked up.
size_t serve_route_find(const char *path, const char **model, size_t *length);

#endif
