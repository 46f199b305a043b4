// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See training.h: samples to look at while a model is trained.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/diffusion/flow_match.h"
#include "src/model/autoencoder.h"
#include "src/train/run/sample_grid.h"
#include "src/train/tasks/diffae/training.h"
#include "src/train/tasks/text_to_image/training.h"

#include <string.h>

// Pictures of held captions on their way from noise, all in step.
typedef struct looking {
    zn_trainer *trainer;
    size_t runs, values;
    float sigmas[ZN_FLOW_MOST_STEPS + 1];
    float *results; // of all runs, as the graph has them
    const float *x; // what the network sees now
    int step;
    bool negative;
} looking;

static void fill_look(const void *cookie, zn_sample *sample)
{
    const looking *l = cookie;
    const zn_trainer *t = l->trainer;
    const zn_words_training *own = zn_words_own(t);
    float *noisy = zn_sample_input(sample, "noisy"), *target = zn_sample_input(sample, "target");
    for (size_t r = 0; r < t->rows; r++) {
        const zn_words_item of = zn_words_item_of(t, sample->number, r);
        const float *x = l->x + (sample->index * t->rows + r) * l->values;
        for (size_t i = 0; i < l->values; i++) noisy[zn_words_place(t, r, i)] = x[i];
        zn_sample_input(sample, "time")[r] = zn_flow_time(l->sigmas[l->step]);
        zn_words_put_caption(t, r,
                             l->negative ? zn_caption_ids_empty(&own->data.captions)
                                         : zn_caption_ids_get(&of.data->captions, of.index, 0),
                             sample);
    }
    memset(target, 0, t->rows * l->values * sizeof *target); // losses are not used
    zn_words_put_angles(own, sample);
}

static zenith_status predict(void *cookie, int step, bool negative, const float *x, float *answer,
                             zn_error *err)
{
    looking *l = cookie;
    const zn_trainer *t = l->trainer;
    const zn_batch batch = {l->runs, zn_words_fetch_held, fill_look, l};
    const size_t run = t->rows * l->values;
    l->x = x;
    l->step = step;
    l->negative = negative;
    ZN_TRY(zn_batch_losses(t->runner, &batch, l->results, err));
    for (size_t i = 0; i < l->runs * run; i++) {
        const size_t column = i % run / l->values;
        answer[i] = l->results[i / run * run + zn_words_place(t, column, i % l->values)];
    }
    return ZENITH_OK;
}

// Latents of all runs, [h, w, C] each, into x, with the averaged weights where there are some.
static zenith_status walk(looking *l, float *x, zn_error *err)
{
    zn_trainer *t = l->trainer;
    const size_t pictures = l->runs * t->rows;
    const bool averaged = t->optimizer.ema, empty = zn_words_own(t)->data.captions.empty_count > 0;
    const zn_flow_run run = {.steps = (int)t->config.eval_steps,
                             .shift = t->config.timesteps.shift,
                             .guidance = empty ? (float)t->config.guidance : 0,
                             .predict = predict,
                             .cookie = l};
    ZN_TRY(zn_flow_sigmas(run.steps, run.shift, l->sigmas, err));
    for (size_t i = 0; i < pictures; i++)
        zn_diffae_noise((uint64_t)t->config.data.seed, UINT64_MAX - i, x + i * l->values,
                        l->values);
    if (averaged) zn_trainer_exchange(t, t->optimizer.ema);
    zenith_status status = zn_flow_sample(&run, x, pictures * l->values, err);
    if (averaged) zn_trainer_exchange(t, t->optimizer.ema);
    return status;
}

// What samples are decoded by; opened where the first are drawn.
typedef struct decoder {
    zn_model *model;
    zn_network network;
    zn_train_graph graph;
    zn_batch_runner *runner;
} decoder;

static void close_decoder(decoder *d)
{
    zn_batch_runner_free(d->runner);
    zn_train_graph_free(&d->graph);
    zn_network_free(&d->network);
    zn_model_unref(d->model);
}

static zenith_status open_decoder(const zn_trainer *t, size_t most, decoder *d, zn_error *err)
{
    static const char *const parts[] = {"decoder", NULL};
    const int64_t *dim = zn_words_own(t)->held.shape.dim;
    const bool folder = zn_path_is_directory(t->config.autoencoder);
    const zn_model_request request = {.name = folder ? NULL : t->config.autoencoder,
                                      .weights = folder ? t->config.autoencoder : NULL,
                                      .parts = parts};
    ZN_TRY(zn_model_open(&request, &d->model, err));
    const zn_part *part = zn_model_part(d->model, parts[0]);
    const zn_autoencoder_facts *facts = d->model->variant->autoencoder;
    if (!part || !facts || facts->latent_channels != dim[1] || dim[2] != dim[3])
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "samples need a decoder of square latents with %lld channels, and %s is none",
            (long long)dim[1], t->config.autoencoder);
    ZN_TRY(zn_network_of_model(d->model, part, &d->network, err));
    return zn_frozen_open(t, &d->network, ZN_SHAPE(1, dim[2], dim[3], dim[1]), 0, most, &d->graph,
                          &d->runner, err);
}

// Held pictures as the autoencoder has them on the left, what was made of their captions on the
// right.
static zenith_status write_look(zn_trainer *t, size_t count, float *x, const char *path,
                                zn_error *err)
{
    const zn_words_training *own = zn_words_own(t);
    const size_t values = zn_words_values(&own->held),
                 row = (size_t)own->held.shape.dim[3] * (size_t)own->held.shape.dim[1];
    decoder d = {.model = NULL};
    uint8_t *originals = NULL;
    float *pictures = NULL;
    zenith_status status = ZENITH_OK;
    ZN_GO(open_decoder(t, count, &d, err));
    const size_t side = (size_t)(own->held.shape.dim[2] * d.model->variant->autoencoder->factor);
    const size_t all = count * side * side * 3;
    pictures = zn_alloc(all * sizeof *pictures);
    originals = zn_alloc(all);
    if (!pictures || !originals) ZN_GO(zn_fail_memory(err, all * sizeof *pictures));
    float *made = x, *held = x + count * values;
    for (size_t i = 0; i < count; i++)
        for (int64_t y = 0; y < own->held.shape.dim[2]; y++)
            zn_words_data_row(&own->held, i, y, held + i * values + (size_t)y * row);
    ZN_GO(zn_frozen_decode(d.runner, count, held, values, pictures, err));
    for (size_t i = 0; i < all; i++) zn_type_store(ZN_U8, originals, i, pictures[i] * 255);
    ZN_GO(zn_frozen_decode(d.runner, count, made, values, pictures, err));
    const float *columns[] = {pictures};
    ZN_GO(zn_sample_grid_write(path, originals, columns, 1, count, (uint32_t)side, err));
fail:
    close_decoder(&d);
    zn_free(pictures);
    zn_free(originals);
    return status;
}

zenith_status zn_words_draw(zn_trainer *t, size_t asked, const char *path, zn_error *err)
{
    const size_t there = zn_words_data_count(&zn_words_own(t)->held),
                 values = zn_words_values(&zn_words_own(t)->held);
    size_t count = t->held_count * t->rows;
    if (count > there) count = there;
    if (count > asked) count = asked;
    looking l = {.trainer = t, .values = values, .runs = (count + t->rows - 1) / t->rows};
    const size_t bytes = l.runs * t->rows * values * sizeof(float);
    float *x = zn_alloc(2 * bytes); // what is made, and what is held
    l.results = zn_alloc(bytes);
    zenith_status status = x && l.results ? walk(&l, x, err) : zn_fail_memory(err, 3 * bytes);
    if (status == ZENITH_OK) status = write_look(t, count, x, path, err);
    zn_free(l.results);
    zn_free(x);
    return status;
}
