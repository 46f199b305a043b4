// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The Open Inference Protocol, version 2, with the extension for binary tensors: what KServe,
// Triton and their clients speak. Each part of an autoencoder is a model, NAME_encoder or
// NAME_decoder, with one input and one output, `image` [n, 3, h, w] in -1 .. 1 and `latent` [n, c,
// h, w]. A request is turned into one of the server's own protocol, so both have the same checks.
//
//   body      JSON, then the numbers of the input where it says "binary_data_size"; the header
//             Inference-Header-Content-Length tells how long the JSON is
//   answer    likewise; numbers are in the type that the input has
#ifndef ZN_SERVE_PROTOCOLS_OIP_H
#define ZN_SERVE_PROTOCOLS_OIP_H

#include "apps/serve/http/answer.h"
#include "apps/serve/protocols/ask.h"

typedef struct serve_oip {
    const void *numbers; // of the input, in the body or in `own`
    size_t size;
    void *own;      // NULL: they are in the body
    bool binary;    // the output's numbers come behind the JSON
    char id[128];   // of the request, to be echoed; "": none
    uint64_t bytes; // that the answer takes beyond the numbers
} serve_oip;

// Cuts _encoder or _decoder off the name; false: it ends with neither.
bool serve_oip_split(const char *name, size_t *length, serve_operation *operation);

// envelope->body is not looked at, `size` bytes of `body` are; header_length: the header's value,
// NULL: there is none. The numbers move to the beginning of the body, over the JSON. To be freed
// either way.
bool serve_oip_ask(const serve_envelope *envelope, void *body, size_t size,
                   const char *header_length, serve_operation operation, serve_oip *out,
                   serve_ask *ask, serve_failure *failure);
// Turns the numbers of an answer into the protocol's.
bool serve_oip_answer(const serve_oip *oip, const zenith_model_info *model,
                      serve_operation operation, serve_answer *answer, serve_failure *failure);
void serve_oip_free(serve_oip *oip);

// GET /v2, and of a model its metadata and whether it is ready.
void serve_oip_write_server(serve_answer *answer);
void serve_oip_write_model(const zenith_model_info *model, serve_operation operation,
                           serve_answer *answer);
void serve_oip_write_ready(const zenith_model_info *model, serve_operation operation,
                           serve_answer *answer);

#endif
