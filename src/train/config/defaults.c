// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See parts.h.
#include "src/train/config/parts.h"
#include "zenith/zenith.h"

void zn_train_config_defaults(zn_train_config *c)
{
    c->part = ZENITH_DECODER;
    c->width = 64;
    c->score = ZN_TRAIN_USUAL_SCORE;
    c->data.min_scale = 1;
    c->data.workers = 1;
    c->data.cache_mb = 256;
    c->data.corrupt.amount = -1; // that of its kind
    c->validation.count = 16;
    c->batch = 16;
    c->accumulate = 1;
    c->stack = 1;
    c->optimizer = (zn_train_optimizer){.lr = 1e-4,
                                        .beta1 = 0.9,
                                        .beta2 = 0.999,
                                        .eps = 1e-8,
                                        .weight_decay = 0.01,
                                        .clip = 1,
                                        .ema = 0.999};
    c->discriminator = (zn_train_discriminator){.lr = 2e-4, .width = 32};
    c->dtype = ZN_F32;
    c->quantise = ZN_F32;
    c->log_every = 1;
    c->checkpoint_every = 1000;
    c->samples = 4;
    c->eval_steps = 20;
}

// As diffusion autoencoders were published: Adam without decay, and the mean square error of the
// noise.
static void set_diffae_defaults(zn_train_config *c)
{
    c->rule = ZN_INIT_PYTORCH;
    c->optimizer.weight_decay = 0;
    c->optimizer.ema = 0.9999;
    c->losses[0] = (zn_train_loss){.kind = ZN_LOSS_MSE, .weight = 1};
    c->losses_count = 1;
}

// As its prior and its classifier were. The prior's layers begin as He has it.
static void set_code_defaults(zn_train_config *c, bool prior)
{
    set_diffae_defaults(c);
    c->losses[0].kind = prior ? ZN_LOSS_L1 : ZN_LOSS_LOGISTIC;
    c->validation.count = 0;
    c->batch = prior ? 256 : 32;
    if (prior) {
        c->rule = ZN_INIT_HE;
        c->optimizer.weight_decay = 0.01;
    } else {
        c->optimizer.lr = 1e-3;
        c->optimizer.ema = 0.999;
    }
}

// As diffusion transformers are trained, with the average that short runs are fit for.
static void set_words_defaults(zn_train_config *c)
{
    set_diffae_defaults(c);
    c->optimizer.weight_decay = 0.01;
    c->optimizer.ema = 0.999;
    c->data.drop = 0.1;
    c->timesteps.deviation = 1;
    c->timesteps.shift = 1;
    c->guidance = 3;
    c->distil.inner = 4;
    c->distil.guidance = 3;
}

void zn_train_config_task_defaults(zn_train_config *c, int task)
{
    if (task == ZN_TRAIN_DIFFAE) set_diffae_defaults(c);
    if (task == ZN_TRAIN_DIFFAE_PRIOR) set_code_defaults(c, true);
    if (task == ZN_TRAIN_DIFFAE_CLASSIFIER) set_code_defaults(c, false);
    if (task == ZN_TRAIN_WORDS) set_words_defaults(c);
}
