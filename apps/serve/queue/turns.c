// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See turns.h. The list is short (the queue is bounded) and sorted by due, so a scan from its
// beginning meets the pictures of a batch in the order in which they are due.
#include "apps/serve/queue/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// A picture without work to speak of is due after LEAST seconds: time enough for neighbours to
// come.
static const double STRETCH = 8, LEAST = 0.02;

// --- order --------------------------------------------------------------------------------------

static double due_of(const serve_turns *turns, const serve_turn *turn)
{
    const double deadline = turn->deadline > 0 ? turn->deadline : turn->arrived + turns->usual;
    const double own = turn->arrived + fmax(LEAST, STRETCH * turn->all);
    return fmin(deadline - turn->all, own);
}

// An estimate may be wrong, and only work corrects it: so a stream that has nothing else to do
// tries.
static bool is_lost(const serve_turn *turn, double now, bool can_try)
{
    if (turn->deadline <= 0) return false;
    return now + (can_try ? 0 : turn->seconds / 2) >= turn->deadline;
}

static bool is_same(const serve_turn_key *a, const serve_turn_key *b)
{
    return a->model == b->model && a->operation == b->operation &&
           a->image_number == b->image_number && a->latent_number == b->latent_number &&
           a->width == b->width && a->height == b->height;
}

void serve_turns_add(serve_turns *turns, serve_turn *turn)
{
    turn->due = due_of(turns, turn);
    pthread_mutex_lock(&turns->lock);
    serve_turn **link = &turns->first;
    while (*link != NULL && (*link)->due <= turn->due) link = &(*link)->next;
    turn->next = *link;
    *link = turn;
    pthread_mutex_unlock(&turns->lock);
}

bool serve_turns_withdraw(serve_turns *turns, serve_turn *turn)
{
    pthread_mutex_lock(&turns->lock);
    serve_turn **link = &turns->first;
    while (*link != NULL && *link != turn) link = &(*link)->next;
    const bool found = *link != NULL;
    if (found) *link = turn->next;
    pthread_mutex_unlock(&turns->lock);
    return found;
}

bool serve_turns_before(serve_turns *turns, const serve_turn *turn, uint32_t *count,
                        double *seconds)
{
    *count = 0;
    *seconds = 0;
    pthread_mutex_lock(&turns->lock);
    const serve_turn *each = turns->first;
    for (; each != NULL && each != turn; each = each->next) {
        ++*count;
        *seconds += each->seconds;
    }
    pthread_mutex_unlock(&turns->lock);
    return each != NULL;
}

// --- batches; the lock is held ------------------------------------------------------------------

// How many of the lead's key wait, up to what pays; 1 where fewer than pay do.
static size_t batch_of(const serve_turn *lead)
{
    size_t count = 0;
    for (const serve_turn *each = lead; each != NULL && count < lead->pays.most; each = each->next)
        count += is_same(&each->key, &lead->key);
    return count >= lead->pays.least && count > 1 ? count : 1;
}

// A batch that may still grow, and has not waited for that long enough.
static bool should_wait(serve_turns *turns, const serve_turn *lead, size_t count, double now)
{
    const double until = lead->arrived + turns->delay;
    if (turns->delay <= 0 || count >= lead->pays.most || now >= until) return false;
    if (turns->wake == 0 || until < turns->wake) {
        turns->wake = until;
        pthread_cond_signal(&turns->changed);
    }
    return true;
}

static serve_turn *find_lead(serve_turns *turns, double now, size_t *count)
{
    serve_turn *lead = turns->first;
    for (; lead != NULL; lead = lead->next) {
        *count = batch_of(lead);
        if (!should_wait(turns, lead, *count, now)) break;
    }
    return lead;
}

// Unlinks the lead and those that go with it: a list of them.
static serve_turn *take(serve_turns *turns, const serve_turn *lead, size_t count, size_t slot,
                        double now)
{
    const serve_turn_key key = lead->key;
    serve_turn *taken = NULL, **end = &taken, **link = &turns->first;
    while (*link != lead) link = &(*link)->next;
    for (size_t n = 0; n < count && *link != NULL;) {
        serve_turn *each = *link;
        if (!is_same(&each->key, &key)) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        each->next = NULL;
        each->slot = slot;
        each->batch = count;
        each->began = now;
        *end = each;
        end = &each->next;
        n++;
    }
    turns->left[slot] = count;
    return taken;
}

static bool find_slot(const serve_turns *turns, size_t *slot)
{
    for (*slot = 0; *slot < turns->slots; ++*slot)
        if (turns->left[*slot] == 0) return true;
    return false;
}

static serve_turn *take_lost(serve_turns *turns, double now)
{
    size_t slot;
    serve_turn **link = &turns->first;
    const bool is_one = *link != NULL && (*link)->next == NULL;
    const bool can_try = is_one && find_slot(turns, &slot);
    while (*link != NULL && !is_lost(*link, now, can_try)) link = &(*link)->next;
    serve_turn *lost = *link;
    if (lost != NULL) *link = lost->next;
    return lost;
}

// --- handing out --------------------------------------------------------------------------------

// Does one thing, with the lock free meanwhile; false: there is nothing to do.
static bool hand_out(serve_turns *turns)
{
    size_t slot, count;
    const double now = turns->clock();
    serve_turn *lost = take_lost(turns, now);
    if (lost != NULL) {
        pthread_mutex_unlock(&turns->lock);
        lost->late(lost);
        pthread_mutex_lock(&turns->lock);
        return true;
    }
    if (!find_slot(turns, &slot)) return false;
    const serve_turn *lead = find_lead(turns, now, &count);
    if (lead == NULL) return false;
    serve_turn *taken = take(turns, lead, count, slot, now);
    pthread_mutex_unlock(&turns->lock);
    if (turns->note != NULL) turns->note(turns->cookie, taken, count);
    for (serve_turn *next; taken != NULL; taken = next) {
        next = taken->next; // once it has begun, its owner may free it
        taken->begin(taken);
    }
    pthread_mutex_lock(&turns->lock);
    return true;
}

// One thread at a time: what a turn's functions set free is seen by the thread that called them,
// without recursion.
void serve_turns_look(serve_turns *turns)
{
    pthread_mutex_lock(&turns->lock);
    turns->again = true;
    while (turns->again && !turns->busy) {
        turns->again = false;
        turns->busy = true;
        turns->wake = 0;
        while (hand_out(turns)) {
        }
        turns->busy = false;
    }
    pthread_mutex_unlock(&turns->lock);
}

void serve_turns_over(serve_turns *turns, const serve_turn *turn)
{
    pthread_mutex_lock(&turns->lock);
    const bool is_free = --turns->left[turn->slot] == 0;
    pthread_mutex_unlock(&turns->lock);
    if (is_free) serve_turns_look(turns);
}

// --- the timer ----------------------------------------------------------------------------------

static struct timespec as_timespec(double seconds)
{
    const double whole = floor(seconds);
    return (struct timespec){.tv_sec = (time_t)whole, .tv_nsec = (long)((seconds - whole) * 1e9)};
}

static void *time_batches(void *arg)
{
    serve_turns *turns = arg;
    pthread_mutex_lock(&turns->lock);
    while (!turns->ending) {
        const struct timespec until = as_timespec(turns->wake);
        if (turns->wake == 0)
            pthread_cond_wait(&turns->changed, &turns->lock);
        else if (turns->clock() < turns->wake)
            pthread_cond_timedwait(&turns->changed, &turns->lock, &until);
        if (turns->wake == 0 || turns->clock() < turns->wake) continue;
        turns->wake = 0;
        pthread_mutex_unlock(&turns->lock);
        serve_turns_look(turns);
        pthread_mutex_lock(&turns->lock);
    }
    pthread_mutex_unlock(&turns->lock);
    return NULL;
}

bool serve_turns_open(serve_turns *turns, size_t slots)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&turns->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&turns->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    turns->slots = slots;
    turns->left = calloc(slots, sizeof *turns->left);
    if (turns->left == NULL) return false;
    if (turns->delay > 0)
        turns->has_timer = pthread_create(&turns->timer, NULL, time_batches, turns) == 0;
    return turns->delay <= 0 || turns->has_timer;
}

void serve_turns_close(serve_turns *turns)
{
    if (turns->slots == 0) return; // it was never opened
    pthread_mutex_lock(&turns->lock);
    turns->ending = true;
    pthread_cond_signal(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
    if (turns->has_timer) pthread_join(turns->timer, NULL);
    free(turns->left);
    pthread_cond_destroy(&turns->changed);
    pthread_mutex_destroy(&turns->lock);
}
