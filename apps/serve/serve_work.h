// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The work of one request: a job of the library for each picture, with their buffers, from a body to an answer.
#ifndef ZN_SERVE_WORK_H
#define ZN_SERVE_WORK_H

#include "apps/serve/serve_answer.h"
#include "apps/serve/serve_ask.h"

typedef struct serve_work serve_work;

typedef struct serve_work_params {
    zenith_context *context;
    zenith_model *model;
    const zenith_model_info *info;
    const serve_ask *ask;
    const void *body; // lives as long as the work
    size_t size;
    uint64_t max_pixels;
    zenith_run_params run;
} serve_work_params;

// Looks at the body's header; nothing large is allocated yet.
bool serve_work_open(const serve_work_params *params, serve_work **out, serve_failure *failure);
uint64_t serve_work_pixels(const serve_work *work); // of all its pictures
uint64_t serve_work_bytes(const serve_work *work);  // that it will hold besides the body

// Submits the jobs. done: called once, when all are over, from any thread, perhaps before this returns.
void serve_work_start(serve_work *work, void (*done)(void *cookie), void *cookie);
void serve_work_cancel(serve_work *work);
// When all are over: fills the answer.
bool serve_work_finish(serve_work *work, serve_answer *answer, serve_failure *failure);
// Seconds that a picture waited and ran; false: it was not done.
bool serve_work_times(const serve_work *work, size_t index, double *waited, double *ran);
size_t serve_work_count(const serve_work *work);
void serve_work_free(serve_work *work); // waits for its jobs; NULL is fine

#endif
