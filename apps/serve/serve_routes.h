// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Which path is what. Paths are compared with a table, and with the names of open models: no part of a request
// reaches the file system.
#ifndef ZN_SERVE_ROUTES_H
#define ZN_SERVE_ROUTES_H

#include "apps/serve/serve_answer.h"
#include "apps/serve/serve_server.h"

typedef enum serve_page { // what a GET shows
    SERVE_PAGE_NONE = 0,
    SERVE_PAGE_HEALTH,
    SERVE_PAGE_LIVE,
    SERVE_PAGE_READY,
    SERVE_PAGE_VERSION,
    SERVE_PAGE_MODELS,
    SERVE_PAGE_METRICS,
    SERVE_PAGE_SITE // a file of the page for people: serve_site.h
} serve_page;

typedef struct serve_route {
    const char *path; // "*" stands for the name of a model
    serve_page page;  // NONE: a POST with work
    bool open;        // needs no key
    bool remote;      // diffusers' protocol
    serve_operation operation;
} serve_route;

// The last one stands for paths that are not known.
extern const serve_route serve_routes[];
extern const char *const serve_route_names[]; // for metrics; ends with NULL
size_t serve_route_unknown(void);

// The number of the route, and the model's name in the path, which is not looked up.
size_t serve_route_find(const char *path, const char **model, size_t *length);

void serve_page_write(serve_server *server, serve_page page, serve_answer *answer);

#endif
