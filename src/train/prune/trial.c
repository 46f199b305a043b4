// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/prune/trial.h"

#include "src/base/memory.h"
#include "src/model/autoencoder.h"
#include "src/train/run/task.h"

#include <string.h>

struct zn_trial {
    zn_trainer inner; // first: what tasks are given is a trainer
    zn_train_options options;
    uint64_t first; // sample of the batch in work
};

static zenith_status open_trial(zn_trainer *t, zn_error *err)
{
    const zn_train_options *o = t->options;
    ZN_TRY(zn_train_config_open(o->config, &t->config, err));
    if (t->config.task != ZN_TRAIN_AUTOENCODER)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' trains no autoencoder: give one that does", o->config);
    if (strcmp(t->config.model, o->start->variant->name) != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' trains %s, and these weights are %s's: give a config with \"model\": "
                       "\"%s\"",
                       o->config, t->config.model, o->start->variant->name,
                       o->start->variant->name);
    const unsigned there = zn_autoencoder_flags(o->start);
    if ((unsigned)t->config.part & ~there)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "'%s' trains the %s, which these weights lack: \"part\" says what is trained",
            o->config, there & ZENITH_DECODER ? "encoder" : "decoder");
    if (zn_train_find_loss(&t->config, ZN_LOSS_ADVERSARIAL))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' has an adversarial loss, and a discriminator that has learned nothing "
                       "says nothing of these weights: give a config without it",
                       o->config);
    t->config.donor = NULL;
    t->config.quantise = ZN_F32; // what is left out is chosen without rounding
    ZN_TRY(zn_ranks_open(&t->ranks, err));
    ZN_TRY(zn_trainer_open_networks(t, err));
    ZN_TRY(zn_trainer_open_executor(t, err));
    return zn_trainer_open_data(t, err);
}

zenith_status zn_trial_open(const zn_train_options *options, zn_trial **out, zn_error *err)
{
    zn_trial *trial = zn_alloc_zero(sizeof *trial);
    if (!trial) return zn_fail_memory(err, sizeof *trial);
    trial->options = *options;
    trial->inner.options = &trial->options;
    zenith_status status = open_trial(&trial->inner, err);
    if (status == ZENITH_OK)
        *out = trial;
    else
        zn_trial_free(trial);
    return status;
}

void zn_trial_free(zn_trial *trial)
{
    if (!trial) return;
    zn_trainer_release(&trial->inner, true);
    zn_free(trial);
}

unsigned zn_trial_parts(const zn_trial *trial)
{
    return (unsigned)trial->inner.config.part;
}

// Puts other networks in the place of the trained ones.
static zenith_status prepare_trial(zn_trainer *t, const zn_network networks[2], zn_error *err)
{
    zn_batch_runner_free(t->runner);
    t->runner = NULL;
    for (int i = 0; i < 2; i++) zn_train_graph_free(&t->graphs[i]);
    if (!t->networks.encoder_frozen) t->networks.encoder = &networks[0];
    if (!t->networks.decoder_frozen) t->networks.decoder = &networks[1];
    return zn_trainer_open_runner(t, err);
}

static zenith_status trial_pixels(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                  zn_error *err)
{
    zn_trial *trial = cookie;
    *number = trial->first + index;
    return zn_data_get(trial->inner.data, *number, pixels, err);
}

zenith_status zn_trial_loss(zn_trial *trial, const zn_network networks[2], double *loss,
                            zn_error *err)
{
    zn_trainer *t = &trial->inner;
    zn_step_facts facts = {0};
    const bool held = t->config.validation.sources_count > 0;
    const size_t count = (size_t)(held ? t->config.validation.count : t->config.batch);
    const zn_batch batch = {count, trial_pixels, t->task->fill, trial};
    ZN_TRY(prepare_trial(t, networks, err));
    trial->first = 0;
    if (held)
        ZN_TRY(t->task->validate(t, count, &facts, err));
    else
        ZN_TRY(zn_batch_losses(t->runner, &batch, NULL, err));
    if (!held) t->task->add(t, count, (double)count, &facts);
    *loss = facts.loss;
    return ZENITH_OK;
}

zenith_status zn_trial_gradients(zn_trial *trial, const zn_network networks[2], size_t batches,
                                 float *gradient, void (*each)(void *cookie), void *cookie,
                                 zn_error *err)
{
    zn_trainer *t = &trial->inner;
    const zn_batch batch = {zn_trainer_batch(t), trial_pixels, t->task->fill, trial};
    ZN_TRY(prepare_trial(t, networks, err));
    for (size_t b = 0; b < batches; b++) {
        trial->first = b * batch.count;
        ZN_TRY(zn_batch_gradients(t->runner, &batch, gradient, err));
        each(cookie);
    }
    return ZENITH_OK;
}
