// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See images.h.
#include "apps/serve/protocols/images.h"

#include "apps/serve/protocols/openai.h"
#include "apps/serve/protocols/sdapi.h"

static bool open_openai(serve_server *server, serve_images what, bool job, const char *content_type,
                        const void *body, size_t size, serve_generation **out, serve_answer *answer,
                        serve_failure *failure)
{
    serve_wish wish;
    const bool edit = what == SERVE_IMAGES_EDIT;
    const serve_generation_params params = {.wish = &wish,
                                            .event = job ? serve_openai_keep : serve_openai_event,
                                            .kind = edit ? SERVE_KIND_EDIT : SERVE_KIND_GENERATION};
    bool good = edit ? serve_openai_read_edit(content_type, body, size, &wish, failure)
                     : serve_openai_read(body, size, &wish, failure);
    if (job) wish.stream = false;
    good = good &&
           serve_generation_open(server->generators, &params, out, &answer->retry_after, failure);
    serve_wish_free(&wish);
    return good;
}

static bool open_sdapi(serve_server *server, bool from, const void *body, size_t size,
                       serve_generation **out, serve_answer *answer, serve_failure *failure)
{
    serve_wish wish;
    const serve_generation_params params = {.wish = &wish, .kind = SERVE_KIND_SDAPI};
    const bool good = serve_sdapi_read(body, size, from, &wish, failure) &&
                      serve_generation_open(server->generators, &params, out, &answer->retry_after,
                                            failure);
    serve_wish_free(&wish);
    return good;
}

bool serve_images_open(serve_server *server, serve_images what, bool job, const char *content_type,
                       const void *body, size_t size, serve_generation **out, serve_answer *answer,
                       serve_failure *failure)
{
    switch (what) {
    case SERVE_IMAGES_TXT2IMG:
    case SERVE_IMAGES_IMG2IMG:
        return open_sdapi(server, what == SERVE_IMAGES_IMG2IMG, body, size, out, answer, failure);
    case SERVE_IMAGES_OPTIONS:
        return serve_sdapi_set_options(server->generators, body, size, answer, failure);
    case SERVE_IMAGES_INTERRUPT:
        serve_sdapi_interrupt(server->generators, answer);
        return true;
    default:
        return open_openai(server, what, job, content_type, body, size, out, answer, failure);
    }
}

bool serve_images_streams(const serve_generation *generation)
{
    return serve_generation_wish(generation)->stream;
}

void serve_images_end(serve_generation *generation, const serve_failure *failure)
{
    serve_openai_end(generation, failure);
}

bool serve_images_finish(const serve_generation *generation, serve_images what,
                         serve_answer *answer, serve_failure *failure)
{
    if (what == SERVE_IMAGES_TXT2IMG || what == SERVE_IMAGES_IMG2IMG)
        return serve_sdapi_answer(generation, answer, failure);
    return serve_generation_result(generation, failure) &&
           serve_openai_answer(generation, answer, failure);
}
