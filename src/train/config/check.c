// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See parts.h: what keys ask of each other.
#include "src/train/config/parts.h"
#include "zenith/zenith.h"

#include <math.h>
#include <string.h>

// The scale of the loss, which only f16 has.
static zenith_status check_scale(zn_train_config *c, zn_error *err)
{
    zn_train_optimizer *o = &c->optimizer;
    int exponent;
    if (c->dtype != ZN_F16 && (o->loss_scale > 0 || o->scale_window > 0))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"optimizer.loss_scale\" and \"optimizer.scale_window\" are for "
                       "\"dtype\": \"f16\"");
    if (c->dtype != ZN_F16) return ZENITH_OK;
    if (o->loss_scale == 0) o->loss_scale = 65536;
    if (o->scale_window == 0) o->scale_window = 2000;
    if (frexp(o->loss_scale, &exponent) == 0.5) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "\"optimizer.loss_scale\" must be a power of two");
}

static zenith_status check_discriminator(const zn_train_config *c, zn_error *err)
{
    size_t losses = 0;
    for (size_t i = 0; i < c->losses_count; i++) losses += c->losses[i].kind == ZN_LOSS_ADVERSARIAL;
    if (losses > 1)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "there is one discriminator: \"losses\" must not have two of the kind "
                       "adversarial");
    if (losses == 0 && zn_json_has(c->document, "discriminator"))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"discriminator\" is for a loss of the kind adversarial");
    if (c->discriminator.start >= c->steps)
        return zn_fail(err, ZENITH_BAD_FILE, "\"discriminator.start\" must be below \"steps\"");
    return ZENITH_OK;
}

// The amount that the kind has where none is said.
static double usual_amount(int corruption)
{
    return corruption == ZN_CORRUPT_SHOT ? 0.05 : corruption == ZN_CORRUPT_BLUR ? 0 : 0.3;
}

static zenith_status check_corruption(zn_train_config *c, zn_error *err)
{
    zn_corruption *how = &c->data.corrupt;
    const bool said = how->amount >= 0;
    if (c->residual && how->kind == ZN_CORRUPT_NOTHING)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"residual\" is for \"data.corrupt\": a picture that is not spoiled is the "
                       "result already");
    if (how->kind == ZN_CORRUPT_BLUR && said)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"data.corrupt.amount\" is not for blur, which is always of 3x3 pixels");
    if (how->kind == ZN_CORRUPT_SHOT && how->amount > 1)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"data.corrupt.amount\" of shot is a share of the pixels, from 0 to 1");
    if (how->kind == ZN_CORRUPT_HAAR && c->data.crop % 2 != 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"data.crop\" must be even for \"data.corrupt\" of the kind haar");
    if (!said) how->amount = usual_amount(how->kind);
    how->seed = (uint64_t)c->data.seed;
    return ZENITH_OK;
}

static zenith_status check_prune(const zn_train_config *c, zn_error *err)
{
    if (!zn_json_has(c->document, "prune")) return ZENITH_OK;
    if (c->prune.target == 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"prune.target\" must say which share is left out, such as 0.5");
    if (c->prune.begin < c->prune.end && c->prune.end <= c->steps) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "\"prune.begin\" must be below \"prune.end\", and that not above \"steps\"");
}

static zenith_status check_kl(const zn_train_config *c, zn_error *err)
{
    if (!zn_train_find_loss(c, ZN_LOSS_KL) || c->part & ZENITH_ENCODER) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "a loss of the kind kl is about the encoder: \"part\" must be encoder or both");
}

static bool of_codes(const zn_train_config *c)
{
    return c->task == ZN_TRAIN_DIFFAE_PRIOR || c->task == ZN_TRAIN_DIFFAE_CLASSIFIER;
}

static zenith_status missing(const char *key, zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE, "the key \"%s\" is missing", key);
}

static zenith_status not_for(const zn_train_config *c, const char *key, zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE, "\"%s\" is not for \"task\": \"%s\"", key,
                   zn_train_task_name(c->task));
}

static zenith_status check_codes(const zn_train_config *c, zn_error *err)
{
    const bool labelled = c->task == ZN_TRAIN_DIFFAE_CLASSIFIER;
    if (!c->data.codes) return missing("data.codes", err);
    if (labelled && !c->data.labels) return missing("data.labels", err);
    if (!labelled && (c->data.labels || c->validation.labels)) return not_for(c, "labels", err);
    if (c->data.sources_count || c->validation.sources_count) return not_for(c, "sources", err);
    if (c->data.crop || c->data.flip) return not_for(c, c->data.crop ? "crop" : "flip", err);
    if (c->sample_every) return not_for(c, "sample_every", err);
    return ZENITH_OK;
}

static zenith_status check_pictures(const zn_train_config *c, zn_error *err)
{
    const zn_train_validation *v = &c->validation;
    if (c->data.sources_count == 0) return missing("data.sources", err);
    if (c->data.crop == 0) return missing("data.crop", err);
    if (c->data.codes || v->codes) return not_for(c, "codes", err);
    if (c->data.labels || v->labels) return not_for(c, "labels", err);
    if (c->autoencoder) return not_for(c, "autoencoder", err);
    if (v->sources_count == 0 && zn_json_has(c->document, "validation"))
        return missing("validation.sources", err);
    return ZENITH_OK;
}

static zenith_status check_words(const zn_train_config *c, zn_error *err)
{
    const zn_train_validation *v = &c->validation;
    if (!c->data.latents) return missing("data.latents", err);
    if (!c->data.captions) return missing("data.captions", err);
    if (v->latents && !v->captions) return missing("validation.captions", err);
    if (v->captions && !v->latents) return missing("validation.latents", err);
    if (c->data.sources_count || v->sources_count) return not_for(c, "sources", err);
    if (c->data.codes || v->codes) return not_for(c, "codes", err);
    if (c->data.labels || v->labels) return not_for(c, "labels", err);
    if (c->data.crop || c->data.flip) return not_for(c, c->data.crop ? "crop" : "flip", err);
    if (c->donor) return not_for(c, "init.model", err);
    if (c->sample_every > 0 && !c->autoencoder) return missing("autoencoder", err);
    if (c->sample_every > 0 && !v->latents) return missing("validation.latents", err);
    if (c->network && !c->text_network && !c->weights) return missing("text", err);
    if (c->validate_every > 0 && !v->latents) return missing("validation.latents", err);
    if (c->batch % c->stack != 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"batch\" is %lld, which is no multiple of \"stack\", %lld",
                       (long long)c->batch, (long long)c->stack);
    return ZENITH_OK;
}

// Its samples are made as it is taught.
static zenith_status check_distil(zn_train_config *c, zn_error *err)
{
    static const char *const decided[] = {"eval_steps", "guidance"};
    if (c->distil.steps == 0) return ZENITH_OK;
    if (!c->weights)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"distil\" needs \"init.weights\", which is the teacher");
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++)
        if (zn_json_has(c->document, decided[i]))
            return zn_fail(err, ZENITH_BAD_FILE, "\"%s\" is decided by \"distil\": leave it out",
                           decided[i]);
    c->eval_steps = c->distil.steps;
    c->guidance = 0;
    return ZENITH_OK;
}

// What only they know.
static zenith_status check_not_words(const zn_train_config *c, zn_error *err)
{
    const zn_train_validation *v = &c->validation;
    if (c->task == ZN_TRAIN_WORDS) return ZENITH_OK;
    if (c->text_network) return not_for(c, "text", err);
    if (c->draft && c->task != ZN_TRAIN_DIFFAE) return not_for(c, "draft", err);
    if (c->tokenizer) return not_for(c, "tokenizer", err);
    if (zn_json_has(c->document, "distil")) return not_for(c, "distil", err);
    if (zn_json_has(c->document, "timesteps")) return not_for(c, "timesteps", err);
    if (zn_json_has(c->document, "stack")) return not_for(c, "stack", err);
    if (zn_json_has(c->document, "guidance")) return not_for(c, "guidance", err);
    if (c->data.latents || v->latents) return not_for(c, "latents", err);
    if (c->data.captions || v->captions) return not_for(c, "captions", err);
    return c->data.drop > 0 ? not_for(c, "drop", err) : ZENITH_OK;
}

static zenith_status check_losses(const zn_train_config *c, zn_error *err)
{
    const char *task = zn_train_task_name(c->task);
    if (c->losses_count == 1 && !c->losses[0].teacher &&
        (c->task == ZN_TRAIN_DIFFAE_CLASSIFIER ? c->losses[0].kind == ZN_LOSS_LOGISTIC
                                               : c->losses[0].kind <= ZN_LOSS_MSE))
        return ZENITH_OK;
    if (c->task == ZN_TRAIN_DIFFAE_CLASSIFIER)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"losses\" of \"task\": \"%s\" is one of the kind logistic, or is left out",
                       task);
    return zn_fail(err, ZENITH_BAD_FILE,
                   "\"losses\" of \"task\": \"%s\" is one of the kinds l1 and mse, or is left out",
                   task);
}

static zenith_status check_autoencoder(const zn_train_config *c, zn_error *err)
{
    ZN_TRY(check_pictures(c, err));
    if (c->network) return zn_fail(err, ZENITH_BAD_FILE, "\"network\" is for \"task\": \"diffae\"");
    if (c->losses_count == 0) return missing("losses", err);
    return zn_train_find_loss(c, ZN_LOSS_LOGISTIC) ? not_for(c, "logistic", err) : ZENITH_OK;
}

// What the task needs, and what it knows nothing of.
static zenith_status check_task(const zn_train_config *c, zn_error *err)
{
    static const char *const others[] = {"part",  "frozen",   "squeezenet",    "discriminator",
                                         "prune", "residual", "feature_window"};
    ZN_TRY(check_not_words(c, err));
    if (c->task == ZN_TRAIN_AUTOENCODER) return check_autoencoder(c, err);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (zn_json_has(c->document, others[i])) return not_for(c, others[i], err);
    if (c->quantise != ZN_F32 && c->task != ZN_TRAIN_DIFFAE) return not_for(c, "quantise", err);
    if (c->quantise == ZN_S8)
        return zn_fail(
            err, ZENITH_BAD_FILE,
            "\"quantise\" to int8 is not for \"task\": \"diffae\", which is trained with "
            "the rounding of f8_e4m3 or f8_e5m2");
    if (c->data.corrupt.kind != ZN_CORRUPT_NOTHING)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"data.corrupt\" is not for \"task\": \"%s\", which adds noise by itself",
                       zn_train_task_name(c->task));
    ZN_TRY(c->task == ZN_TRAIN_WORDS ? check_words(c, err)
           : of_codes(c)             ? check_codes(c, err)
                                     : check_pictures(c, err));
    ZN_TRY(check_losses(c, err));
    if (c->network || c->weights || (of_codes(c) && c->autoencoder)) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "\"network\" must say what is trained, as config.json of the model does, or "
                   "\"init.weights\" where it is%s",
                   of_codes(c) ? ", or \"autoencoder\" in which folder the model's is" : "");
}

// What no single key can say.
static zenith_status check(const zn_train_config *c, zn_error *err)
{
    if (c->optimizer.min_lr > c->optimizer.lr)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"optimizer.min_lr\" must not be above \"optimizer.lr\"");
    if (c->optimizer.warmup > c->steps)
        return zn_fail(err, ZENITH_BAD_FILE, "\"optimizer.warmup\" must not be above \"steps\"");
    if (c->quantise == ZN_S8 && (!c->weights || c->donor))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"quantise\" to int8 needs \"init.weights\" of the same model, with their "
                       "calibration beside them (zenith calibrate)");
    if (c->donor && !c->weights)
        return zn_fail(err, ZENITH_BAD_FILE, "\"init.model\" needs \"init.weights\"");
    if (c->layout && c->weights && !c->donor)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"init.layout\" is for new networks: weights have theirs already");
    if (c->feature_window > c->data.crop)
        return zn_fail(err, ZENITH_BAD_FILE, "\"feature_window\" must not be above \"data.crop\"");
    if (c->validate_every > 0 && c->validation.sources_count == 0 && !c->validation.codes &&
        !c->validation.latents)
        return zn_fail(err, ZENITH_BAD_FILE, "\"validate_every\" needs \"validation\" with its %s",
                       of_codes(c) ? "codes" : "sources");
    return ZENITH_OK;
}

zenith_status zn_train_config_check(zn_train_config *c, zn_error *err)
{
    ZN_TRY(check_task(c, err));
    ZN_TRY(check_distil(c, err));
    ZN_TRY(check(c, err));
    ZN_TRY(check_corruption(c, err));
    ZN_TRY(check_scale(c, err));
    ZN_TRY(check_discriminator(c, err));
    ZN_TRY(check_prune(c, err));
    return check_kl(c, err);
}
