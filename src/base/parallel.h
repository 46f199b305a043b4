// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over threads. zn_parallel(team, count, tile, fn, arg) is the serial loop
//
//     for (size_t i = 0; i < count; i += tile) fn(arg, i, min(i + tile, count));
//
// with its iterations spread over the team. An iteration may not depend on another, so the result
// has the same bits for every number of threads. parallel.c has the library's only OpenMP pragma:
// its pool is the one that oneDNN uses, so the two never fight for cores. Built without OpenMP, own
// threads do the same (for the thread sanitizer and for Windows).
#ifndef ZN_BASE_PARALLEL_H
#define ZN_BASE_PARALLEL_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct zn_team zn_team; // belongs to one executor thread

typedef void zn_parallel_fn(void *arg, size_t begin, size_t end);

// Must be called on the thread that will use the team. threads >= 1.
zenith_status zn_team_create(int threads, zn_team **out, zn_error *err);
void zn_team_free(zn_team *team);         // on the same thread; NULL is fine
int zn_team_threads(const zn_team *team); // 1 for NULL

// Whether the team's threads, the calling one among them, take denormals for zero
// (base/denormals.h), until the next call. Loops of zn_parallel have the setting of their caller on
// every thread; this is for what else uses the threads, as oneDNN does.
void zn_team_flush_denormals(zn_team *team, bool on);

// team NULL: serial, same bits. fn must not call zn_parallel on the same team. tile 0 counts as 1.
void zn_parallel(zn_team *team, size_t count, size_t tile, zn_parallel_fn *fn, void *arg);

#endif
