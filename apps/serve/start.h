// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A server from its settings: contexts, keys, models, and what keeps jobs.
#ifndef ZN_SERVE_START_H
#define ZN_SERVE_START_H

#include "apps/serve/queue/server.h"

// Opens the models and measures each once. The exit code, after a message; 0: it is open.
int serve_server_open(serve_server *server, const serve_settings *settings);
void serve_server_close(serve_server *server);

#endif
