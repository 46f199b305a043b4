// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests for pictures from text, of whichever protocol: from a body to a generation, and from
// that to an answer.
#ifndef ZN_SERVE_PROTOCOLS_IMAGES_H
#define ZN_SERVE_PROTOCOLS_IMAGES_H

#include "apps/serve/generate/generate.h"
#include "apps/serve/http/answer.h"
#include "apps/serve/http/routes.h"
#include "apps/serve/queue/server.h"

// True with a generation, or without one and the answer filled. `body` must outlive the generation.
// job: the answer is kept and not streamed, and previews are kept for its events.
bool serve_images_open(serve_server *server, serve_images what, bool job, const char *content_type,
                       const void *body, size_t size, serve_generation **out, serve_answer *answer,
                       serve_failure *failure);
bool serve_images_streams(const serve_generation *generation); // its answer is a stream of events
// When it is over. Of a stream the last event, else the answer. failure: filled before where the
// work was given up.
void serve_images_end(serve_generation *generation, const serve_failure *failure);
bool serve_images_finish(const serve_generation *generation, serve_images what,
                         serve_answer *answer, serve_failure *failure);

#endif
