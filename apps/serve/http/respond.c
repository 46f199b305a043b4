// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See request.h: answers on their way out.
#include "apps/serve/http/request.h"
#include "apps/serve/http/routes.h"
#include "apps/serve/http/site.h"

#include <stdio.h>

enum { STREAM_BYTES = 32 << 10 }; // that are read at once

// A browser may keep what has a tag, if it asks each time whether that is still the same.
static void add_site_headers(const serve_answer *answer, struct MHD_Response *response)
{
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                            answer->etag != NULL ? "no-cache" : "no-store");
    if (answer->etag == NULL) return;
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, answer->etag);
    for (const serve_site_header *each = serve_site_headers; each->name != NULL; each++)
        MHD_add_response_header(response, each->name, each->value);
}

// What browsers' tools show, in milliseconds: how long the work waited and took, without the way
// here and back.
static void add_timing(const serve_answer *answer, struct MHD_Response *response)
{
    char text[96];
    if (answer->waited <= 0 && answer->ran <= 0) return;
    snprintf(text, sizeof text, "wait;dur=%.2f, run;dur=%.2f", answer->waited * 1e3,
             answer->ran * 1e3);
    MHD_add_response_header(response, "Server-Timing", text);
}

static void add_headers(const serve_request *request, struct MHD_Response *response)
{
    const serve_answer *answer = &request->answer;
    char seconds[16], length[24];
    if (answer->content_type != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
    if (answer->shape[0]) MHD_add_response_header(response, "shape", answer->shape);
    if (answer->dtype != NULL) MHD_add_response_header(response, "dtype", answer->dtype);
    if (answer->inference_header > 0) {
        snprintf(length, sizeof length, "%zu", answer->inference_header);
        MHD_add_response_header(response, "Inference-Header-Content-Length", length);
    }
    snprintf(seconds, sizeof seconds, "%d", answer->retry_after);
    if (answer->retry_after > 0 && answer->code >= 400)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    if (answer->code == 401)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                "Bearer realm=\"zenith\"");
    if (answer->code == 405)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
                                serve_route_methods(&serve_routes[request->route]));
    if (answer->location[0])
        MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, answer->location);
    MHD_add_response_header(response, "X-Request-Id", request->id);
    if (request->trace[0]) MHD_add_response_header(response, "traceparent", request->trace);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    add_site_headers(answer, response);
    add_timing(answer, response);
    if (atomic_load(&request->server->draining))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

// --- streams ------------------------------------------------------------------------------------

static void pause_stream(void *cookie)
{
    const serve_request *request = cookie;
    MHD_suspend_connection(request->connection);
}

static void resume_stream(void *cookie)
{
    const serve_request *request = cookie;
    MHD_resume_connection(request->connection);
}

ssize_t serve_stream_read(void *cls, uint64_t place, char *dst, size_t most)
{
    serve_request *request = cls;
    (void)place;
    const ssize_t size = serve_generation_read(request->task->generation, dst, most, pause_stream,
                                               resume_stream, request);
    return size < 0 ? MHD_CONTENT_READER_END_OF_STREAM : size;
}

enum MHD_Result serve_respond(serve_request *request)
{
    size_t size;
    const void *body = serve_answer_body(&request->answer, &size);
    // The body lives in the request, which ends after it is sent.
    struct MHD_Response *response = request->read != NULL
                                        ? MHD_create_response_from_callback(
                                              MHD_SIZE_UNKNOWN, STREAM_BYTES, request->read,
                                              request, NULL)
                                        : MHD_create_response_from_buffer(size,
                                                                          (void *)(uintptr_t)body,
                                                                          MHD_RESPMEM_PERSISTENT);
    if (response == NULL) return MHD_NO;
    add_headers(request, response);
    const enum MHD_Result result = MHD_queue_response(request->connection,
                                                      (unsigned)request->answer.code, response);
    MHD_destroy_response(response);
    return result;
}
