// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The pictures of a run: those it is trained on, and crops that are held back for validation and
// samples.
#include "src/base/memory.h"
#include "src/train/run/task.h"

#include <string.h>

void zn_trainer_skip(void *cookie, const char *name, const char *reason)
{
    zn_trainer *t = cookie;
    const zn_train_options *o = t->options;
    if (o->skip) o->skip(o->cookie, name, reason);
    zn_log_write(t->options->log, ZN_LOG_WARNING, "%s is skipped: %s", name, reason);
    if (t->log.journal) {
        zenith_status status = zn_training_log_skip(&t->log, t->optimizer.step + 1, name, reason,
                                                    NULL);
        if (t->log_status == ZENITH_OK) t->log_status = status;
        return;
    }
    zn_skip *noted = zn_arena_alloc(&t->skips, sizeof *noted);
    if (!noted) return; // it stays in the count
    *noted = (zn_skip){zn_arena_text(&t->skips, name), zn_arena_text(&t->skips, reason),
                       t->first_skip};
    if (noted->name && noted->reason) t->first_skip = noted;
}

static zn_data_options data_options(const zn_trainer *t)
{
    const zn_train_data *d = &t->config.data;
    const uint64_t run = zn_trainer_images(t);
    return (zn_data_options){.sources = d->sources,
                             .sources_count = d->sources_count,
                             .crop = d->crop,
                             .flip = d->flip,
                             .min_scale = d->min_scale,
                             .whole = d->whole,
                             .seed = (uint64_t)d->seed,
                             .workers = (int)d->workers,
                             .cache_bytes = (size_t)d->cache_mb << 20,
                             .run = run,
                             .stride = run * (uint64_t)t->ranks.count};
}

// Samples of the run never have these numbers: noise that was trained on is not judged by.
static uint64_t held_number(size_t index)
{
    return UINT64_MAX - index;
}

static zenith_status spoil_crops(zn_trainer *t, zn_error *err)
{
    const zn_train_data *d = &t->config.data;
    const size_t values = (size_t)(d->crop * d->crop * 3), all = t->held_count * values;
    if (d->corrupt.kind == ZN_CORRUPT_NOTHING) return ZENITH_OK;
    t->held_spoiled = zn_alloc(all * sizeof *t->held_spoiled);
    if (!t->held_spoiled) return zn_fail_memory(err, all * sizeof *t->held_spoiled);
    for (size_t i = 0; i < t->held_count; i++)
        zn_corrupt(&d->corrupt, held_number(i), d->crop, t->held + i * values,
                   t->held_spoiled + i * values);
    return ZENITH_OK;
}

// Crops that stay the same all through the run: of the validation pictures, else the first samples.
static zenith_status hold_crops(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    const bool validation = c->validation.sources_count > 0;
    const size_t bytes = (size_t)(c->data.crop * c->data.crop * 3);
    size_t count = validation ? (size_t)c->validation.count : 0;
    if (c->sample_every > 0 && (size_t)c->samples > count) count = (size_t)c->samples;
    if (count == 0) return ZENITH_OK;
    zn_data_options options = data_options(t);
    options.workers = 0;
    options.cache_bytes = 0;
    if (validation) {
        options.sources = c->validation.sources;
        options.sources_count = c->validation.sources_count;
    }
    t->held = zn_alloc(count * bytes);
    t->reconstructions = zn_alloc(count * bytes * sizeof(float));
    if (!t->held || !t->reconstructions) return zn_fail_memory(err, count * bytes);
    zn_data *data;
    ZN_TRY(zn_data_open(&options, &data, err));
    zenith_status status = ZENITH_OK;
    for (size_t i = 0; i < count && status == ZENITH_OK; i++)
        status = zn_data_get(data, i, t->held + i * bytes, err);
    zn_data_free(data);
    t->held_count = count;
    return status == ZENITH_OK ? spoil_crops(t, err) : status;
}

zenith_status zn_trainer_open_data(zn_trainer *t, zn_error *err)
{
    if (t->task->open_data) return t->task->open_data(t, err);
    zn_data_options options = data_options(t);
    options.skip = zn_trainer_skip;
    options.cookie = t;
    ZN_TRY(zn_data_open(&options, &t->data, err));
    return hold_crops(t, err);
}

zenith_status zn_trainer_held_pixels(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                     zn_error *err)
{
    const zn_trainer *t = cookie;
    const size_t bytes = (size_t)(t->config.data.crop * t->config.data.crop * 3);
    (void)err;
    *number = held_number(index);
    memcpy(pixels, t->held + index * bytes, bytes);
    return ZENITH_OK;
}
