// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith serve: opened models behind HTTP. docs/SERVER.md is the manual; this is all that the
// program sees.
//
//   polling thread   reads requests, checks them, submits jobs, writes answers (libmicrohttpd,
//                    epoll). It never waits: a connection whose jobs are under way is suspended.
//   streams          of the context run the jobs, and the last job of a request makes its answer
//   main thread      waits for signals; every few milliseconds it looks for clients that left and
//                    deadlines
#ifndef ZN_SERVE_SERVE_H
#define ZN_SERVE_SERVE_H

#include "apps/serve/settings.h"

// Serves until SIGINT or SIGTERM, then answers what was accepted. SIGHUP opens the files of models
// again. The exit code: 0, 1 after a message about the server, 3 after one about a model.
extern const bool serve_is_built; // false: what follows says that it is not
int serve_run(const serve_settings *settings);

#endif
