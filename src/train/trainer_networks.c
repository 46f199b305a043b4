// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run computes with: the networks that are trained, those that are frozen, the flat blocks of the
// optimizer, and the graphs of a step and a validation.
#include "src/base/memory.h"
#include "src/model/autoencoder.h"
#include "src/train/discriminator.h"
#include "src/train/quantise.h"
#include "src/train/squeezenet_loss.h"
#include "src/train/trainer_parts.h"

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

// The part that is trained. With a loss of the kind kl, the encoder is the one that gives distributions.
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

zenith_status zn_trainer_open_networks(zn_trainer *t, zn_error *err)
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

// --- the optimizer's blocks ---------------------------------------------------------------------

// What the network has in common with the one of another model.
static zenith_status take_weights(zn_trainer *t, zn_network *network, zn_error *err)
{
    zn_network donor;
    const zn_part *part = zn_model_part(t->start, network->part->name);
    ZN_TRY(zn_network_of_model(t->start, part, &donor, err)); // it was asked for when it was opened
    size_t taken = zn_network_take(network, &donor, t->optimizer.weights);
    zn_network_free(&donor);
    zn_log_write(t->options->log, ZN_LOG_INFO, "%zu of %zu tensors begin as those of %s", taken,
                 network->count, t->config.donor);
    return ZENITH_OK;
}

// The flat blocks: the model's elements, then the discriminator's, on a piece of their own.
static zenith_status create_blocks(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    const bool adversarial = t->networks.discriminator;
    size_t elements = 0, begin = 0;
    for (size_t i = 0; i < t->trained_count; i++)
        elements = zn_network_place(&t->trained[i], elements);
    if (adversarial) {
        begin = zn_round_up(elements, ZN_OPTIMIZER_PIECE);
        elements = zn_network_place(&t->trained[t->trained_count], begin);
    }
    ZN_TRY(zn_optimizer_create(&c->optimizer, elements, (uint64_t)c->steps, t->executor,
                               &t->optimizer, err));
    if (!adversarial) return ZENITH_OK;
    const zn_train_optimizer settings = zn_discriminator_optimizer(&c->discriminator,
                                                                   &c->optimizer);
    zn_optimizer_divide(&t->optimizer, begin, &settings);
    zn_network_randomise(&t->trained[t->trained_count], t->optimizer.weights,
                         (uint64_t)c->init_seed + 2, 0,
                         ZN_INIT_HE); // the model's parts have the two before
    return ZENITH_OK;
}

// The block that networks see instead, where they are trained with rounding.
static zenith_status open_rounding(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    if (c->quantise == ZN_F32) return ZENITH_OK;
    t->shown = zn_alloc_zero(t->optimizer.count * sizeof *t->shown);
    if (!t->shown) return zn_fail_memory(err, t->optimizer.count * sizeof *t->shown);
    for (size_t i = 0; i < t->trained_count; i++) {
        ZN_TRY(zn_quantise_choose(&t->trained[i], (zn_type)c->quantise, t->calibration, err));
        zn_quantise_show(&t->trained[i], t->shown);
    }
    zn_trainer_show(t);
    return ZENITH_OK;
}

void zn_trainer_show(zn_trainer *t)
{
    zn_optimizer *o = &t->optimizer;
    const size_t bytes = o->count * sizeof *o->weights;
    for (size_t i = 0; t->shown && i < t->trained_count; i++)
        zn_quantise_round(&t->trained[i], o->weights, t->shown);
    if (!t->runner) return;
    zn_batch_runner_changed(t->runner, o->weights, bytes);
    if (t->shown) zn_batch_runner_changed(t->runner, t->shown, bytes);
}

// The flat block, filled with what the run begins with.
zenith_status zn_trainer_open_optimizer(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    ZN_TRY(create_blocks(t, err));
    const size_t elements = t->optimizer.count;
    float *weights = t->optimizer.weights;
    for (size_t i = 0; i < t->trained_count; i++) {
        if (t->start && !c->donor) {
            zn_network_move(&t->trained[i], weights);
            continue;
        }
        zn_network_randomise(&t->trained[i], weights, (uint64_t)c->init_seed + i, (float)c->score,
                             (zn_init_rule)c->rule);
        if (c->donor) ZN_TRY(take_weights(t, &t->trained[i], err));
    }
    ZN_TRY(open_rounding(t, err));
    zn_model_unref(t->start); // its weights are copied
    t->start = NULL;
    if (t->optimizer.ema)
        memcpy(t->optimizer.ema, weights, t->optimizer.parts[0].end * sizeof *weights);
    if (c->accumulate == 1) return ZENITH_OK;
    t->group = zn_alloc_zero(elements * sizeof *weights);
    return t->group ? ZENITH_OK : zn_fail_memory(err, elements * sizeof *weights);
}

// --- computing -----------------------------------------------------------------------------------

// A picture for each thread is faster; one for all of them takes the memory of one.
zenith_status zn_trainer_open_executor(zn_trainer *t, zn_error *err)
{
    const bool together = t->config.recompute;
    const int asked = t->config.threads > 0 ? (int)t->config.threads : t->options->threads;
    const int threads = asked > 0 ? asked : 1;
    return zn_executor_create(together ? 1 : threads, together ? threads : 1, &t->executor, err);
}

zenith_status zn_trainer_open_runner(zn_trainer *t, zn_error *err)
{
    const zn_cpu *cpu = &t->options->cpu;
    const zn_train_graph *graphs[2] = {&t->graphs[0], &t->graphs[1]};
    size_t most = (size_t)t->config.batch;
    if (t->held_count > most) most = t->held_count;
    for (int i = 0; i < 2; i++)
        ZN_TRY(zn_train_graph_create(&t->config, &t->networks, i == 0, cpu, &t->graphs[i], err));
    return zn_batch_runner_create(t->executor, cpu, graphs, &t->config.data.corrupt,
                                  t->config.data.crop, most, &t->runner, err);
}

static double decibels(double square)
{
    return -10 * log10(fmax(square, 1e-12));
}

// Adds the pictures of the last batch, in their order, to means over n pictures.
void zn_trainer_add(const zn_trainer *t, size_t count, double n, zn_step_facts *facts)
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

void zn_trainer_release(zn_trainer *t, bool well)
{
    zn_training_log_close(&t->log);
    zn_batch_runner_free(t->runner);
    for (int i = 0; i < 2; i++) zn_train_graph_free(&t->graphs[i]);
    zn_data_free(t->data);
    zn_score_schedule_free(&t->scores);
    zn_optimizer_free(&t->optimizer);
    zn_executor_free(t->executor);
    for (int i = 0; i < 3; i++) zn_network_free(&t->trained[i]);
    zn_network_free(&t->frozen_encoder);
    zn_network_free(&t->frozen_decoder);
    zn_weights_free(t->squeezenet);
    zn_model_unref(t->ranges);
    zn_free(t->shown);
    zn_model_unref(t->frozen);
    zn_model_unref(t->start);
    zn_ranks_close(&t->ranks, well);
    zn_arena_free(&t->skips);
    zn_free(t->held);
    zn_free(t->held_spoiled);
    zn_free(t->group);
    zn_free(t->reconstructions);
    zn_free(t->identity);
    zn_train_config_close(&t->config);
}
