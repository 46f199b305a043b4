// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A line of errands: long work that a thread of its own does one after the other, in the order in
// which it came.
//
// Invariant: an errand is in the list `waiting` from start to its turn; `running` is the one whose
// turn it is. Whoever takes it out of either calls `done`, so that is called once.
#ifndef ZN_SERVE_QUEUE_LINE_H
#define ZN_SERVE_QUEUE_LINE_H

#include "apps/serve/http/failure.h"
#include "apps/serve/queue/place.h"
#include "zenith/zenith.h"

#include <pthread.h>

// The first member of what is done.
typedef struct serve_errand serve_errand;
struct serve_errand {
    void (*run)(serve_errand *errand);
    // Seconds that are left of it, as estimated; below 0: nothing is known. The line's lock is
    // held.
    double (*left)(const serve_errand *errand);
    zenith_cancel *cancel; // NULL: it is short
    serve_failure failure; // code 0: it went well
    // The line's own.
    void (*done)(void *cookie);
    void *cookie;
    double began; // of the lock, as what follows
    serve_errand *next;
};

typedef struct serve_line {
    pthread_t thread;
    bool threaded;
    pthread_mutex_t lock; // of what follows, and of what the errands' owners say
    pthread_cond_t stirred;
    bool ending;
    serve_errand *waiting, *running;
    uint64_t given_up; // that failed or were cancelled
} serve_line;

bool serve_line_open(serve_line *line);  // false: out of threads; close it either way
void serve_line_end(serve_line *line);   // gives up what runs, and waits for it
void serve_line_close(serve_line *line); // when it has ended

void serve_line_start(serve_line *line, serve_errand *errand, void (*done)(void *cookie),
                      void *cookie);
// Where it has not begun, `done` is called at once.
void serve_line_cancel(serve_line *line, serve_errand *errand);
// The lock is held. How many are before it, and the seconds to its end; whether it runs.
void serve_line_place(const serve_line *line, const serve_errand *errand, serve_place *out);

#endif
