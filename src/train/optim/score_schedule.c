// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/optim/score_schedule.h"

#include "src/base/memory.h"
#include "src/base/text.h"

#include <stdlib.h>

static const float barely_pruned = -1e-9f; // one of several scores that equal the threshold

static size_t list_scores(const zn_network *networks, size_t count, zn_ranked_score *dst)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t n = 0; n < networks[i].count; n++) {
            const zn_train_parameter *p = &networks[i].parameters[n];
            if (!zn_text_ends_with(p->name, ".score")) continue;
            for (size_t k = 0; k < p->elements; k++, found++)
                if (dst) dst[found].place = p->offset + k;
        }
    }
    return found;
}

zenith_status zn_score_schedule_create(const zn_train_prune *settings, const zn_network *networks,
                                       size_t count, zn_score_schedule *out, zn_error *err)
{
    zn_score_schedule s = {.settings = *settings};
    if (settings->target > 0) {
        s.count = list_scores(networks, count, NULL);
        if (s.count == 0)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "\"prune\" is for models whose blocks have scores, such as zenith_prune "
                           "and zenith_soft; %s has none",
                           networks[0].variant->name);
        s.scores = zn_alloc_zero(s.count * sizeof *s.scores);
        if (!s.scores) return zn_fail_memory(err, s.count * sizeof *s.scores);
        list_scores(networks, count, s.scores);
    }
    *out = s;
    return ZENITH_OK;
}

void zn_score_schedule_free(zn_score_schedule *schedule)
{
    zn_free(schedule->scores);
    *schedule = (zn_score_schedule){.count = 0};
}

size_t zn_score_schedule_pruned(const zn_train_prune *s, uint64_t steps, size_t count)
{
    const double begin = (double)s->begin, end = (double)s->end, now = (double)steps;
    if (now <= begin) return 0;
    const double left = now < end ? (end - now) / (end - begin) : 0;
    return (size_t)(s->target * (1 - left * left * left) * (double)count + 1e-6);
}

void zn_score_schedule_hold(const zn_score_schedule *schedule, zn_optimizer *o)
{
    if (o->step < (uint64_t)schedule->settings.end) return;
    for (size_t i = 0; i < schedule->count; i++) {
        const size_t place = schedule->scores[i].place;
        o->gradient[place] = o->m[place] = 0;
    }
}

static int lowest_first(const void *a, const void *b)
{
    const zn_ranked_score *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

// The first `pruned` of the ranked scores become negative, the others not; differences stay.
static void shift(const zn_score_schedule *s, size_t pruned, float *weights)
{
    const float threshold = s->scores[pruned].value;
    for (size_t i = 0; i < s->count; i++) {
        float *score = &weights[s->scores[i].place];
        *score = s->scores[i].value - threshold;
        if (i < pruned && !(*score < 0)) *score = barely_pruned;
    }
}

double zn_score_schedule_apply(const zn_score_schedule *s, zn_optimizer *o)
{
    const uint64_t end = (uint64_t)s->settings.end;
    if (s->count == 0) return 0;
    const size_t pruned = zn_score_schedule_pruned(&s->settings, o->step, s->count);
    if (o->step <= end) {
        for (size_t i = 0; i < s->count; i++) s->scores[i].value = o->weights[s->scores[i].place];
        qsort(s->scores, s->count, sizeof *s->scores, lowest_first);
        shift(s, pruned, o->weights);
    }
    for (size_t i = 0; i < s->count; i++) {
        const size_t place = s->scores[i].place;
        if (o->step == end) o->weights[place] = i < pruned ? -1 : 1;
        if (o->ema) o->ema[place] = o->weights[place];
    }
    return (double)pruned / (double)s->count;
}
