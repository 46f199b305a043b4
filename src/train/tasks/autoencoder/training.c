// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The task of training an autoencoder: the networks that are trained and those that are frozen,
// crops as they are or spoiled, and reconstructions of crops that were held back.
#include "src/model/autoencoder.h"
#include "src/train/loss/squeezenet_loss.h"
#include "src/train/network/discriminator.h"
#include "src/train/network/quantise.h"
#include "src/train/run/sample_grid.h"
#include "src/train/run/task.h"

#include <math.h>
#include <string.h>

// --- networks -----------------------------------------------------------------------------------

// Parts of the frozen model that are needed: the one that is not trained, and what losses compare
// with.
static unsigned frozen_parts(const zn_train_config *c)
{
    unsigned parts = (ZENITH_ENCODER | ZENITH_DECODER) & ~(unsigned)c->part;
    if (zn_train_find_loss(c, ZN_LOSS_FEATURE) || zn_train_find_loss(c, ZN_LOSS_STAGES) ||
        zn_train_find_loss(c, ZN_LOSS_LATENT))
        parts |= ZENITH_ENCODER;
    if (zn_train_has_teacher(c)) parts = ZENITH_ENCODER | ZENITH_DECODER;
    return parts;
}

// The part that is trained. With a loss of the kind kl, the encoder is the one that gives
// distributions.
static zenith_status find_part(const zn_train_config *c, const zn_variant *variant, unsigned flag,
                               const zn_part **out, zn_error *err)
{
    const zn_family *family = zn_family_of(variant);
    *out = zn_autoencoder_part(family, flag);
    if (flag != ZENITH_ENCODER || !zn_train_find_loss(c, ZN_LOSS_KL)) return ZENITH_OK;
    if (!family->moments || variant->autoencoder->mean)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a loss of the kind kl needs an encoder that gives a mean and a variance, "
                       "such as that of sd-vae; that of %s does not",
                       variant->name);
    *out = family->moments;
    return ZENITH_OK;
}

static zenith_status open_trained(zn_trainer *t, const zn_variant *variant, zn_error *err)
{
    const zn_train_config *c = &t->config;
    if (t->options->start) {
        t->start = zn_model_ref(t->options->start);
    } else if (c->weights) {
        const zn_model_request request = {.name = c->donor ? c->donor : c->model,
                                          .weights = c->weights,
                                          .parts = zn_autoencoder_names((unsigned)c->part)};
        ZN_TRY(zn_model_open(&request, &t->start, err));
    }
    const int64_t low = c->data.crop / variant->autoencoder->factor;
    const zn_network_shape shape = {
        c->width, c->layout, {.height = low, .width = low}, c->residual};
    for (unsigned flag = ZENITH_ENCODER; flag <= ZENITH_DECODER; flag <<= 1) {
        if (!((unsigned)c->part & flag)) continue;
        const zn_part *part = NULL;
        ZN_TRY(find_part(c, variant, flag, &part, err));
        zn_network *network = &t->trained[t->trained_count];
        if (t->start && !c->donor)
            ZN_TRY(zn_network_of_model(t->start, part, network, err));
        else
            ZN_TRY(zn_network_of_variant(variant, part, &shape, network, err));
        t->trained_count++;
        if (flag == ZENITH_ENCODER) t->networks.encoder = network;
        if (flag == ZENITH_DECODER) t->networks.decoder = network;
    }
    return ZENITH_OK;
}

// The ranges that int8 would run the first weights with: training keeps them.
static zenith_status open_calibration(zn_trainer *t, zn_error *err)
{
    if (t->config.quantise != ZN_S8) return ZENITH_OK;
    if (!t->start->calibration)
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "\"quantise\" to int8 needs the calibration of \"init.weights\": write "
                       "%s.calib.json beside them (zenith calibrate)",
                       t->config.model);
    t->ranges = zn_model_ref(t->start);
    t->calibration = t->networks.calibration = t->ranges->calibration;
    return ZENITH_OK;
}

static zenith_status open_frozen(zn_trainer *t, const zn_variant *variant, zn_error *err)
{
    const zn_train_config *c = &t->config;
    const unsigned parts = frozen_parts(c);
    if (!parts) return ZENITH_OK;
    zn_model_request request = {.name = c->frozen ? c->frozen : c->model,
                                .weights = c->frozen_from,
                                .parts = zn_autoencoder_names(parts)};
    if (!c->frozen && !c->frozen_from) request.weights = c->weights;
    ZN_TRY(zn_model_open(&request, &t->frozen, err));
    const zn_variant *other = t->frozen->variant;
    ZN_TRY(zn_autoencoder_check(other, err));
    const zn_autoencoder_facts *a = other->autoencoder, *b = variant->autoencoder;
    if (a->latent_channels != b->latent_channels || a->factor != b->factor)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "the latents of %s and %s have different shapes: \"frozen.model\" must be one "
            "with %lld channels",
            other->name, variant->name, (long long)b->latent_channels);
    const zn_part *encoder = zn_model_part(t->frozen, "encoder");
    const zn_part *decoder = zn_model_part(t->frozen, "decoder");
    if (parts & ZENITH_ENCODER)
        ZN_TRY(zn_network_of_model(t->frozen, encoder, &t->frozen_encoder, err));
    if (parts & ZENITH_DECODER)
        ZN_TRY(zn_network_of_model(t->frozen, decoder, &t->frozen_decoder, err));
    zn_train_networks *n = &t->networks;
    n->encoder_frozen = !n->encoder;
    n->decoder_frozen = !n->decoder;
    if (n->encoder_frozen) n->encoder = &t->frozen_encoder;
    if (n->decoder_frozen) n->decoder = &t->frozen_decoder;
    if (parts & ZENITH_ENCODER) n->frozen_encoder = &t->frozen_encoder;
    if (parts & ZENITH_DECODER) n->frozen_decoder = &t->frozen_decoder;
    return ZENITH_OK;
}

static zenith_status open_squeezenet(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    if (!zn_train_find_loss(c, ZN_LOSS_SQUEEZENET)) return ZENITH_OK;
    const char *models = c->frozen_from ? c->frozen_from : c->weights;
    ZN_TRY(zn_squeezenet_loss_open(c->squeezenet, models, &t->squeezenet, err));
    t->networks.squeezenet = t->squeezenet;
    return ZENITH_OK;
}

static zenith_status open_discriminator(zn_trainer *t, zn_error *err)
{
    t->kept_count = t->trained_count;
    if (!zn_train_find_loss(&t->config, ZN_LOSS_ADVERSARIAL)) return ZENITH_OK;
    zn_network *network = &t->trained[t->kept_count];
    ZN_TRY(zn_discriminator_create(t->config.discriminator.width, network, err));
    t->kept_count++;
    t->networks.discriminator = network;
    return ZENITH_OK;
}

static zenith_status open_networks(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    const zn_variant *variant = zn_variant_find(c->model);
    if (!variant)
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "there is no model '%s'; zenith_model_name lists them", c->model);
    ZN_TRY(zn_autoencoder_check(variant, err));
    const int factor = variant->autoencoder->factor;
    if (c->data.crop % factor != 0 || c->feature_window % factor != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "\"data.crop\" and \"feature_window\" must be multiples of %d for %s",
                       factor, variant->name);
    ZN_TRY(open_trained(t, variant, err));
    ZN_TRY(open_calibration(t, err));
    ZN_TRY(open_frozen(t, variant, err));
    ZN_TRY(open_discriminator(t, err));
    return open_squeezenet(t, err);
}

static zn_train_builder builder(const zn_trainer *t)
{
    const zn_train_networks *n = &t->networks;
    size_t most = n->encoder->count + n->decoder->count;
    if (n->discriminator) most += n->discriminator->count;
    return (zn_train_builder){zn_autoencoder_graph, zn_autoencoder_precision, n, most};
}

// --- samples ------------------------------------------------------------------------------------

// A float of its own for each of 2^29 samples: the noise is made by its bits.
static float noise_number(uint64_t number)
{
    return ldexpf((float)(0x800000 + (number & 0x7fffff)), (int)(number >> 23 & 63));
}

static void fill(const void *cookie, zn_sample *sample)
{
    const zn_trainer *t = cookie;
    const zn_train_data *d = &t->config.data;
    float *image = zn_sample_input(sample, "image");
    float *corrupted = zn_sample_input(sample, "corrupted");
    const size_t values = (size_t)(d->crop * d->crop * 3);
    for (size_t i = 0; i < values; i++) image[i] = (float)sample->pixels[i] / 255.0f;
    if (corrupted) zn_corrupt(&d->corrupt, sample->number, d->crop, sample->pixels, corrupted);
    sample->scalars[ZN_TRAIN_NOISE] = noise_number(sample->number);
}

static double decibels(double square)
{
    return -10 * log10(fmax(square, 1e-12));
}

static void add(const zn_trainer *t, size_t count, double n, zn_step_facts *facts)
{
    const size_t losses = t->config.losses_count;
    for (size_t i = 0; i < count; i++) {
        const float *numbers = zn_batch_numbers(t->runner, i);
        facts->loss += (double)numbers[0] / n;
        for (size_t k = 0; k < losses; k++) facts->losses[k] += (double)numbers[1 + k] / n;
        facts->psnr += decibels((double)numbers[1 + losses]) / n;
        facts->mse += (double)numbers[1 + losses] / n;
        if (t->networks.discriminator) facts->discriminator += (double)numbers[2 + losses] / n;
    }
}

// --- what is shown ------------------------------------------------------------------------------

static zenith_status validate(zn_trainer *t, size_t count, zn_step_facts *facts, zn_error *err)
{
    const zn_batch batch = {count, zn_trainer_held_pixels, fill, t};
    ZN_TRY(zn_batch_losses(t->runner, &batch, NULL, err));
    add(t, count, (double)count, facts);
    return ZENITH_OK;
}

static zenith_status draw(zn_trainer *t, size_t count, const char *path, zn_error *err)
{
    const zn_batch batch = {count, zn_trainer_held_pixels, fill, t};
    ZN_TRY(zn_batch_losses(t->runner, &batch, t->reconstructions, err));
    const float *columns[] = {t->held_spoiled ? t->held_spoiled : t->reconstructions,
                              t->reconstructions};
    return zn_sample_grid_write(path, t->held, columns, t->held_spoiled ? 2 : 1, count,
                                (uint32_t)t->config.data.crop, err);
}

static zenith_status write(const zn_trainer *t, const char *folder, const float *block,
                           zn_error *err)
{
    for (size_t i = 0; i < t->trained_count; i++)
        ZN_TRY(zn_weights_write(folder, &t->trained[i], block, err));
    return zn_quantise_write_calibration(t->calibration, t->config.model, folder, err);
}

const zn_train_task zn_train_autoencoder = {
    .open = open_networks,
    .builder = builder,
    .fill = fill,
    .add = add,
    .validate = validate,
    .draw = draw,
    .write = write,
};
