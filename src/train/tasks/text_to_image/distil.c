// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See training.h: what a teacher of many guided steps makes of a batch, for a student of few steps
// without guidance.
#include "src/base/memory.h"
#include "src/train/tasks/text_to_image/training.h"

#include <string.h>

static size_t run_values(const zn_trainer *t)
{
    return t->rows * zn_words_values(&zn_words_own(t)->data);
}

// Sigma at which the teacher is asked, so many of its steps after the segment's begin.
static float sigma_at(const zn_trainer *t, size_t segment, int step)
{
    const zn_words_distil *d = &zn_words_own(t)->distil;
    const float share = (float)step / (float)t->config.distil.inner;
    return d->sigmas[segment] + share * (d->sigmas[segment + 1] - d->sigmas[segment]);
}

zenith_status zn_words_open_distil(zn_trainer *t, zn_error *err)
{
    const zn_optimizer *o = &t->optimizer;
    zn_words_distil *d = &zn_words_own(t)->distil;
    const size_t values = zn_trainer_batch(t) * run_values(t) * sizeof(float),
                 weights = o->count * sizeof(float);
    if (t->config.distil.steps == 0) return ZENITH_OK;
    if (t->config.distil.guidance > 0 && zn_words_own(t)->data.captions.empty_count == 0)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "\"distil.guidance\" needs the caption that says nothing: a line {\"empty\": "
            "[NUMBERS]} in '%s'",
            t->config.data.captions);
    float **const blocks[] = {&d->begin, &d->now, &d->answers[0], &d->answers[1]};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (!(*blocks[i] = zn_alloc_zero(values))) return zn_fail_memory(err, values);
    d->teacher = zn_alloc(weights);
    if (!d->teacher) return zn_fail_memory(err, weights);
    memcpy(d->teacher, o->weights, weights); // what the student begins with, whenever it is resumed
    return zn_flow_sigmas((int)t->config.distil.steps, t->config.timesteps.shift, d->sigmas, err);
}

void zn_words_close_distil(zn_words_distil *d)
{
    float *const blocks[] = {d->begin, d->now, d->answers[0], d->answers[1], d->teacher};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) zn_free(blocks[i]);
}

// A sample as it is drawn, on its way: where the teacher is, and with the caption that it is asked
// for.
static void fill(const void *cookie, zn_sample *sample)
{
    const zn_trainer *t = cookie;
    const zn_words_training *own = zn_words_own(t);
    const zn_words_distil *d = &own->distil;
    const size_t count = run_values(t);
    float *noisy = zn_sample_input(sample, "noisy"), *now = d->now + sample->index * count;
    zn_words_fill(t, sample);
    if (d->step == 0 && !d->negative) {
        memcpy(d->begin + sample->index * count, noisy, count * sizeof *noisy);
        memcpy(now, noisy, count * sizeof *noisy);
    }
    memcpy(noisy, now, count * sizeof *noisy);
    for (size_t r = 0; r < t->rows; r++) {
        const zn_words_item of = zn_words_item_of(t, sample->number, r);
        const float sigma = sigma_at(t, zn_words_segment(t, &of), d->step);
        zn_sample_input(sample, "time")[r] = zn_flow_time(sigma);
        if (d->negative)
            zn_words_put_caption(t, r, zn_caption_ids_empty(&own->data.captions), sample);
    }
}

// One step of Euler's method, of all samples of the batch.
static void advance(const zn_trainer *t)
{
    const zn_words_distil *d = &zn_words_own(t)->distil;
    const size_t values = run_values(t) / t->rows;
    const float guidance = (float)t->config.distil.guidance;
    for (size_t i = 0; i < zn_trainer_batch(t); i++)
        for (size_t r = 0; r < t->rows; r++) {
            const zn_words_item of = zn_words_item_of(t, zn_trainer_number(t, i), r);
            const size_t segment = zn_words_segment(t, &of);
            const float length = sigma_at(t, segment, d->step) - sigma_at(t, segment, d->step + 1);
            for (size_t v = 0; v < values; v++) {
                const size_t at = i * run_values(t) + zn_words_place(t, r, v);
                const float asked = d->answers[0][at], empty = d->answers[1][at];
                d->now[at] += length * (asked + guidance * (asked - empty));
            }
        }
}

static zenith_status walk(zn_trainer *t, zn_error *err)
{
    const zn_batch batch = {zn_trainer_batch(t), zn_trainer_next, fill, t};
    zn_words_distil *d = &zn_words_own(t)->distil;
    for (d->step = 0; d->step < (int)t->config.distil.inner; d->step++) {
        for (int i = 0; i < (t->config.distil.guidance > 0 ? 2 : 1); i++) {
            d->negative = i;
            ZN_TRY(zn_batch_losses(t->runner, &batch, d->answers[i], err));
        }
        advance(t);
    }
    return ZENITH_OK;
}

zenith_status zn_words_ask_teacher(zn_trainer *t, zn_error *err)
{
    zn_words_distil *d = &zn_words_own(t)->distil;
    if (!d->teacher) return ZENITH_OK;
    zn_trainer_exchange(t, d->teacher);
    zenith_status status = walk(t, err);
    zn_trainer_exchange(t, d->teacher);
    return status;
}

void zn_words_put_lesson(const zn_trainer *t, zn_sample *sample)
{
    const zn_words_distil *d = &zn_words_own(t)->distil;
    const size_t values = run_values(t) / t->rows, first = sample->index * run_values(t);
    float *target = zn_sample_input(sample, "target");
    for (size_t r = 0; r < t->rows; r++) {
        const zn_words_item of = zn_words_item_of(t, sample->number, r);
        const size_t segment = zn_words_segment(t, &of);
        const float length = d->sigmas[segment] - d->sigmas[segment + 1];
        for (size_t v = 0; v < values; v++) {
            const size_t at = zn_words_place(t, r, v);
            target[at] = (d->now[first + at] - d->begin[first + at]) / length;
        }
    }
}
