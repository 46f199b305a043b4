// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// OpenAI's images: POST /v1/images/generations (JSON) and /v1/images/edits (a form with a picture),
// with steps, seed and what else a pipeline takes as further members. Answers are JSON, or with
// "stream" events of text/event-stream.
#ifndef ZN_SERVE_PROTOCOLS_OPENAI_H
#define ZN_SERVE_PROTOCOLS_OPENAI_H

#include "apps/serve/generate/generate.h"
#include "apps/serve/http/answer.h"

enum { SERVE_KIND_GENERATION = 1, SERVE_KIND_EDIT = 2 }; // of generations

// Each: the wish is to be freed either way; its picture may lie in the body.
bool serve_openai_read(const void *body, size_t size, serve_wish *out, serve_failure *failure);
bool serve_openai_read_edit(const char *content_type, const void *body, size_t size,
                            serve_wish *out, serve_failure *failure);

void serve_openai_event(serve_generation *generation, const serve_event *event);
// Of a job: keeps previews for those who read its events.
void serve_openai_keep(serve_generation *generation, const serve_event *event);
// The last event of a stream; failure: NULL where all went well.
void serve_openai_end(serve_generation *generation, const serve_failure *failure);
bool serve_openai_answer(const serve_generation *generation, serve_answer *answer,
                         serve_failure *failure);

#endif
