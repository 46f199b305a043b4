// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The work of one request: a job of the library for each picture, with their buffers, from a body
// to an answer.
#ifndef ZN_SERVE_QUEUE_WORK_H
#define ZN_SERVE_QUEUE_WORK_H

#include "apps/serve/http/answer.h"
#include "apps/serve/protocols/ask.h"
#include "apps/serve/queue/place.h"
#include "apps/serve/queue/turns.h"

typedef struct serve_work serve_work;

typedef struct serve_work_params {
    zenith_context *context;
    zenith_context *apart; // for pictures of a batch: each on a thread of its own; may be NULL
    serve_turns *turns;
    zenith_model *model;
    size_t number; // of the model
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

// When the work is wanted, and what is known of it.
typedef struct serve_work_timing {
    double arrived, deadline, seconds; // as in serve_turn; seconds: of all pictures
    serve_batch pays;
} serve_work_timing;

// Lets the pictures wait for their turns. done: called once, when all are over, from any thread,
// perhaps before this returns.
void serve_work_start(serve_work *work, const serve_work_timing *timing, void (*done)(void *cookie),
                      void *cookie);
void serve_work_cancel(serve_work *work);
void serve_work_place(serve_work *work, serve_place *out); // of one that was started
// Whether a picture was not begun because its deadline could not be met.
bool serve_work_late(const serve_work *work);
// When all are over: fills the answer.
bool serve_work_finish(serve_work *work, serve_answer *answer, serve_failure *failure);
// Seconds that a picture waited and ran, and how many were worked together with it; false: it was
// not done.
typedef struct serve_work_facts {
    double waited, ran;
    size_t batch;
} serve_work_facts;
bool serve_work_times(const serve_work *work, size_t index, serve_work_facts *out);
size_t serve_work_count(const serve_work *work);
void serve_work_free(serve_work *work); // waits for its jobs; NULL is fine

#endif
