// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// SIGHUP: opens the files of all models again, on a thread and in a context of its own, so that
// nobody waits for it. What was accepted is answered by the model that it began with. A file that
// does not open leaves the old model in place.
#ifndef ZN_SERVE_MODELS_RELOAD_H
#define ZN_SERVE_MODELS_RELOAD_H

#include "apps/serve/queue/server.h"

typedef struct serve_reloads serve_reloads;

serve_reloads *serve_reloads_create(serve_server *server); // NULL: out of memory, or of threads
void serve_reloads_free(serve_reloads *reloads);           // waits for one under way; NULL is fine
// Returns at once. One that is asked for while another is under way follows it.
void serve_reloads_ask(serve_reloads *reloads);
void serve_reloads_write(serve_reloads *reloads, FILE *out); // for Prometheus

#endif
