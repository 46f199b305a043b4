// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See line.h.
#include "apps/serve/queue/line.h"

#include "apps/serve/http/clock.h"

static void *work_in_turn(void *cookie)
{
    serve_line *line = cookie;
    pthread_mutex_lock(&line->lock);
    for (;;) {
        while (line->waiting == NULL && !line->ending)
            pthread_cond_wait(&line->stirred, &line->lock);
        serve_errand *errand = line->waiting;
        if (errand == NULL) break;
        line->waiting = errand->next;
        line->running = errand;
        errand->began = serve_clock();
        pthread_mutex_unlock(&line->lock);
        errand->run(errand);
        pthread_mutex_lock(&line->lock);
        line->running = NULL;
        if (errand->failure.code != 0) line->given_up++;
        pthread_mutex_unlock(&line->lock);
        errand->done(errand->cookie);
        pthread_mutex_lock(&line->lock);
    }
    pthread_mutex_unlock(&line->lock);
    return NULL;
}

bool serve_line_open(serve_line *line)
{
    pthread_mutex_init(&line->lock, NULL);
    pthread_cond_init(&line->stirred, NULL);
    line->threaded = pthread_create(&line->thread, NULL, work_in_turn, line) == 0;
    return line->threaded;
}

void serve_line_end(serve_line *line)
{
    pthread_mutex_lock(&line->lock);
    line->ending = true;
    if (line->running != NULL && line->running->cancel != NULL)
        zenith_cancel_request(line->running->cancel);
    pthread_cond_broadcast(&line->stirred);
    pthread_mutex_unlock(&line->lock);
    if (line->threaded) pthread_join(line->thread, NULL);
}

void serve_line_close(serve_line *line)
{
    pthread_cond_destroy(&line->stirred);
    pthread_mutex_destroy(&line->lock);
}

void serve_line_start(serve_line *line, serve_errand *errand, void (*done)(void *cookie),
                      void *cookie)
{
    errand->done = done;
    errand->cookie = cookie;
    pthread_mutex_lock(&line->lock);
    serve_errand **end = &line->waiting;
    while (*end != NULL) end = &(*end)->next;
    *end = errand;
    pthread_cond_broadcast(&line->stirred);
    pthread_mutex_unlock(&line->lock);
}

void serve_line_cancel(serve_line *line, serve_errand *errand)
{
    zenith_cancel_request(errand->cancel);
    pthread_mutex_lock(&line->lock);
    serve_errand **link = &line->waiting;
    while (*link != NULL && *link != errand) link = &(*link)->next;
    const bool waited = *link != NULL;
    if (waited) *link = errand->next;
    if (waited) line->given_up++;
    pthread_mutex_unlock(&line->lock);
    if (!waited) return;
    serve_fail_status(&errand->failure, ZENITH_CANCELLED, "");
    errand->done(errand->cookie);
}

void serve_line_place(const serve_line *line, const serve_errand *errand, serve_place *out)
{
    out->running = line->running == errand;
    out->before = 0;
    out->seconds = errand->left(errand);
    if (out->running) return;
    const bool busy = line->running != NULL;
    for (const serve_errand *each = busy ? line->running : line->waiting;
         each != NULL && each != errand;
         each = each == line->running ? line->waiting : each->next) {
        const double left = each->left(each);
        out->before++;
        out->seconds = out->seconds < 0 || left < 0 ? -1 : out->seconds + left;
    }
}
