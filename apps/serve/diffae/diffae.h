// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Diffusion autoencoders: pictures to codes and back, edited, between two, and drawn. A thread of
// its own does one request after the other, in a context of its own. Results have the bytes that
// `zenith diffae` writes.
//
//   open      polling thread: reads parameters and body, checks them, and takes a place in the
//             queue
//   start     waits for its turn; `done` is called, once, from any thread
//   answer    when it is over
#ifndef ZN_SERVE_DIFFAE_DIFFAE_H
#define ZN_SERVE_DIFFAE_DIFFAE_H

#include "apps/serve/http/answer.h"
#include "apps/serve/parse/parameters.h"
#include "apps/serve/queue/place.h"
#include "apps/serve/settings.h"

#include <jansson.h>
#include <stdio.h>

typedef struct serve_diffaes serve_diffaes;
typedef struct serve_diffae serve_diffae;

typedef enum serve_diffae_work {
    SERVE_DIFFAE_NONE = 0,
    SERVE_DIFFAE_ENCODE,
    SERVE_DIFFAE_DECODE,
    SERVE_DIFFAE_EDIT,
    SERVE_DIFFAE_INTERPOLATE,
    SERVE_DIFFAE_SAMPLE
} serve_diffae_work;

// --- models -------------------------------------------------------------------------------------

enum { SERVE_DIFFAES = 8 }; // at most

// Opens a word of the command line, "NAME" or "NAME=FILE", where it is a diffusion autoencoder;
// *all is made for the first. *is: whether it is one. False after a message. `context` reads
// pictures, and opens models.
bool serve_diffaes_add(serve_diffaes **all, const serve_settings *settings, zenith_context *context,
                       const char *word, bool *is);
void serve_diffaes_free(serve_diffaes *all); // NULL is fine
// Of NULL there are none.
size_t serve_diffaes_count(const serve_diffaes *all);
const char *serve_diffaes_name(const serve_diffaes *all, size_t index);
json_t *serve_diffaes_describe(serve_diffaes *all, size_t index, double created);
// Opens the file again, as serve_generators_reopen does. What it says is the context's.
const char *serve_diffaes_reopen(serve_diffaes *all, size_t index, zenith_context *context);
void serve_diffaes_write(serve_diffaes *all, FILE *out); // for Prometheus

// --- requests -----------------------------------------------------------------------------------

typedef struct serve_diffae_params {
    serve_diffae_work what;
    const serve_parameters *parameters;
    const char *content_type; // may be NULL
    const void *body;         // lives as long as the request
    size_t size;
} serve_diffae_params;

bool serve_diffae_open(serve_diffaes *all, const serve_diffae_params *params, serve_diffae **out,
                       serve_failure *failure);
uint64_t serve_diffae_bytes(const serve_diffae *request); // that it will hold
void serve_diffae_start(serve_diffae *request, void (*done)(void *cookie), void *cookie);
void serve_diffae_cancel(serve_diffae *request);
void serve_diffae_place(serve_diffae *request, serve_place *out);
bool serve_diffae_answer(serve_diffae *request, serve_answer *answer, serve_failure *failure);
void serve_diffae_free(serve_diffae *request); // NULL is fine

#endif
