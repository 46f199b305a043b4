// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The autoencoders that are served. A model may be replaced by the same one with other weights
// while the old one is at work: whoever uses one holds it, and the last one frees it.
#ifndef ZN_SERVE_MODELS_MODELS_H
#define ZN_SERVE_MODELS_MODELS_H

#include "apps/serve/queue/server.h"

struct serve_model {
    atomic_int references;
    size_t number; // among those that are served
    zenith_model *model;
    zenith_model_info info;
    serve_estimates estimates;
    double seconds[SERVE_OPERATIONS]; // for each pixel, as measured; of the server's lock
    serve_batch pays[SERVE_OPERATIONS][SERVE_CLASSES]; // of pictures of a size, as measured
};

// Opens a model of the command line, "NAME" or "NAME=WEIGHTS", and measures it. False after a
// message.
bool serve_models_open(serve_server *server, const char *word);
// Opens its file again by `context`, and replaces it where that went well. NULL: it did; else why
// not, a sentence of the calling thread.
const char *serve_models_reopen(serve_server *server, size_t number, zenith_context *context);
void serve_models_close(serve_server *server);

// Each is held for the caller; NULL: there is none.
serve_model *serve_models_get(serve_server *server, size_t number);
serve_model *serve_models_find(serve_server *server, const char *name, size_t length);
serve_model *serve_model_ref(serve_model *model);
void serve_model_unref(serve_model *model); // NULL is fine

#endif
