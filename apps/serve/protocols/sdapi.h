// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of AUTOMATIC1111's API that programs use to make pictures: /sdapi/v1/txt2img, img2img,
// progress, interrupt, samplers, sd-models and options. --no-sdapi leaves it out.
#ifndef ZN_SERVE_PROTOCOLS_SDAPI_H
#define ZN_SERVE_PROTOCOLS_SDAPI_H

#include "apps/serve/generate/generate.h"
#include "apps/serve/http/answer.h"

enum { SERVE_KIND_SDAPI = 3 }; // of generations

// from: img2img. The wish is to be freed either way.
bool serve_sdapi_read(const void *body, size_t size, bool from, serve_wish *out,
                      serve_failure *failure);
// One that was interrupted has the pictures that were made until then.
bool serve_sdapi_answer(const serve_generation *generation, serve_answer *answer,
                        serve_failure *failure);
bool serve_sdapi_set_options(serve_generators *all, const void *body, size_t size,
                             serve_answer *answer, serve_failure *failure);

void serve_sdapi_write_options(serve_generators *all, serve_answer *answer);
void serve_sdapi_write_models(const serve_generators *all, serve_answer *answer);
void serve_sdapi_write_samplers(serve_answer *answer);
void serve_sdapi_write_progress(serve_generators *all, serve_answer *answer);
void serve_sdapi_interrupt(serve_generators *all, serve_answer *answer);

#endif
