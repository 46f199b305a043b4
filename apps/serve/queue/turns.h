// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Whose turn it is: pictures that wait for the streams, and which of them are worked together.
//
//   due       A picture is due at its deadline, less the work of its request, and at the latest so
//             many times that work after it came. So a small one passes large ones that came before
//             it, and a large one is passed until it is due itself: nobody starves.
//   batch     The picture that is due first leads. Those that wait with the same key go with it,
//             the ones that are due first before others, as many as pay.
//   slot      There are as many as streams: a slot takes a batch when all pictures of its last one
//             are over.
//   late      A picture whose deadline cannot be met, were it worked in half the time, is never
//             begun; unless there is nothing else to do, since the estimate may be wrong.
//
// Any thread may call; functions of a turn are called on the thread that found the slot, without a
// lock.
#ifndef ZN_SERVE_QUEUE_TURNS_H
#define ZN_SERVE_QUEUE_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERVE_BATCH_MOST = 64 };

// Pictures with equal keys run by the same plan.
typedef struct serve_turn_key {
    size_t model;
    int operation, image_number, latent_number;
    uint32_t width, height;
} serve_turn_key;

// Batches that pay: of fewer than `least` pictures none does. {0, 0}: none does at all.
typedef struct serve_batch {
    size_t least, most;
} serve_batch;

typedef struct serve_turn serve_turn;
struct serve_turn {
    serve_turn_key key;
    serve_batch pays;
    double arrived;  // by serve_clock
    double deadline; // likewise; 0: there is none, and the usual time stands for it
    double seconds;  // of its work, as estimated
    double all;      // of the work of its request
    // One of them is called, once, unless the turn is withdrawn. After begin the owner calls
    // serve_turns_over, perhaps before begin returns.
    void (*begin)(serve_turn *turn);
    void (*late)(serve_turn *turn);
    // Set before begin: how many are worked together, and when that began.
    size_t batch;
    double began;
    // The turns' own.
    double due;
    size_t slot;
    serve_turn *next;
};

typedef struct serve_turns {
    double (*clock)(void);
    double usual; // seconds in which a request without a deadline should be done
    double delay; // that a batch waits for more; 0: it does not
    void (*note)(void *cookie, const serve_turn *lead, size_t count); // of each batch; may be NULL
    void *cookie;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t changed;
    pthread_t timer; // only with a delay
    bool has_timer, ending;
    double wake;       // when a batch has waited long enough; 0: none waits
    serve_turn *first; // by due
    size_t *left;      // in each slot, pictures that are not over
    size_t slots;
    bool busy, again; // a thread hands out turns; and is to look once more
} serve_turns;

// The fields above `lock` are set. False: out of memory, or of threads.
bool serve_turns_open(serve_turns *turns, size_t slots);
void serve_turns_close(serve_turns *turns); // when no turn is left

// Adds a turn, which waits until serve_turns_look: for those that come together.
void serve_turns_add(serve_turns *turns, serve_turn *turn);
// Begins what can begin.
void serve_turns_look(serve_turns *turns);
// Takes a turn back that has not begun; false: it is too late for that.
bool serve_turns_withdraw(serve_turns *turns, serve_turn *turn);
// What is worked before a turn that waits: how many turns, and the seconds of their work. False: it
// does not wait.
bool serve_turns_before(serve_turns *turns, const serve_turn *turn, uint32_t *count,
                        double *seconds);
// A turn that had begun is over.
void serve_turns_over(serve_turns *turns, const serve_turn *turn);

#endif
