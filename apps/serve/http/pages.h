// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GET shows, but for jobs and the files of the page for people.
#ifndef ZN_SERVE_HTTP_PAGES_H
#define ZN_SERVE_HTTP_PAGES_H

#include "apps/serve/http/routes.h"
#include "apps/serve/queue/server.h"

// model and operation: of pages whose path names a model.
void serve_page_write(serve_server *server, serve_page page, const serve_model *model,
                      serve_operation operation, serve_answer *answer);

#endif
