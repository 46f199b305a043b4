// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/trainer.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/locate.h"
#include "src/train/batch_runner.h"
#include "src/train/checkpoint.h"
#include "src/train/data.h"
#include "src/train/discriminator.h"
#include "src/train/plot.h"
#include "src/train/ranks.h"
#include "src/train/sample_grid.h"
#include "src/train/score_schedule.h"
#include "src/train/squeezenet_loss.h"
#include "src/train/training_log.h"

#include <math.h>
#include <string.h>

static const double plot_seconds = 10; // between two drawings of the plot

typedef struct trainer {
    const zn_train_options *options;
    zn_train_config config;
    zn_ranks ranks;
    zn_model *start, *frozen;
    zn_network trained[3]; // parts of the model; behind them the discriminator, if there is one
    size_t trained_count;  // parts of the model
    size_t kept_count;     // of all of them
    zn_network frozen_encoder, frozen_decoder;
    zn_weights *squeezenet;
    zn_train_networks networks;
    zn_executor *executor;
    zn_optimizer optimizer;
    zn_score_schedule scores;
    zn_train_graph graphs[2];
    zn_batch_runner *runner;
    zn_data *data;
    char *identity;
    uint8_t *held; // crops of validation and samples
    size_t held_count;
    float *held_spoiled;    // what the network sees of them; NULL: the crops themselves
    float *reconstructions; // of the samples
    float *group;           // the gradient of one batch of several that a step accumulates
    size_t batches;         // of this step that are done
    zn_training_log log;
    zenith_status log_status; // of lines that the data wrote
    zn_arena skips;           // what was skipped before there was a log
    struct skip *first_skip;
    double begun, plotted; // zn_clock_seconds
    double step_seconds;   // running mean
    double cpu_seconds;    // of all steps
} trainer;

typedef struct skip {
    const char *name, *reason;
    struct skip *next;
} skip;

static bool leads(const trainer *t)
{
    return t->ranks.rank == 0;
}

static zenith_status output_path(const trainer *t, const char *name, char path[ZN_PATH_SIZE],
                                 zn_error *err)
{
    size_t length = zn_text_format(path, ZN_PATH_SIZE, "%s/%s", t->config.output, name);
    if (length + 1 < ZN_PATH_SIZE) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "\"output\" is too long a path: '%s'", t->config.output);
}

// --- networks -----------------------------------------------------------------------------------

// Parts of the frozen model that are needed: the one that is not trained, and what losses compare
// with.
static unsigned frozen_parts(const zn_train_config *c)
{
    unsigned parts = (ZN_ENCODER | ZN_DECODER) & ~(unsigned)c->part;
    if (zn_train_find_loss(c, ZN_LOSS_FEATURE) || zn_train_find_loss(c, ZN_LOSS_STAGES) ||
        zn_train_find_loss(c, ZN_LOSS_LATENT))
        parts |= ZN_ENCODER;
    if (zn_train_has_teacher(c)) parts = ZN_ENCODER | ZN_DECODER;
    return parts;
}

static zenith_status open_trained(trainer *t, const zn_variant *variant, zn_error *err)
{
    const zn_train_config *c = &t->config;
    if (t->options->start) {
        t->start = zn_model_ref(t->options->start);
    } else if (c->weights) {
        const zn_model_request request = {c->donor ? c->donor : c->model, c->weights,
                                          (unsigned)c->part};
        ZN_TRY(zn_model_open(&request, &t->start, err));
    }
    const zn_network_shape shape = {c->width, c->layout, c->data.crop, c->residual};
    for (unsigned part = ZN_ENCODER; part <= ZN_DECODER; part <<= 1) {
        if (!((unsigned)c->part & part)) continue;
        zn_network *network = &t->trained[t->trained_count];
        if (t->start && !c->donor)
            ZN_TRY(zn_network_of_model(t->start, part, network, err));
        else
            ZN_TRY(zn_network_of_variant(variant, part, &shape, network, err));
        t->trained_count++;
        if (part == ZN_ENCODER) t->networks.encoder = network;
        if (part == ZN_DECODER) t->networks.decoder = network;
    }
    return ZENITH_OK;
}

static zenith_status open_frozen(trainer *t, const zn_variant *variant, zn_error *err)
{
    const zn_train_config *c = &t->config;
    const unsigned parts = frozen_parts(c);
    if (!parts) return ZENITH_OK;
    zn_model_request request = {c->frozen ? c->frozen : c->model, c->frozen_from, parts};
    if (!c->frozen && !c->frozen_from) request.weights = c->weights;
    ZN_TRY(zn_model_open(&request, &t->frozen, err));
    const zn_variant *other = t->frozen->variant;
    if (other->latent_channels != variant->latent_channels || other->factor != variant->factor)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "the latents of %s and %s have different shapes: \"frozen.model\" must be one "
            "with %lld channels",
            other->name, variant->name, (long long)variant->latent_channels);
    if (parts & ZN_ENCODER)
        ZN_TRY(zn_network_of_model(t->frozen, ZN_ENCODER, &t->frozen_encoder, err));
    if (parts & ZN_DECODER)
        ZN_TRY(zn_network_of_model(t->frozen, ZN_DECODER, &t->frozen_decoder, err));
    zn_train_networks *n = &t->networks;
    n->encoder_frozen = !n->encoder;
    n->decoder_frozen = !n->decoder;
    if (n->encoder_frozen) n->encoder = &t->frozen_encoder;
    if (n->decoder_frozen) n->decoder = &t->frozen_decoder;
    if (parts & ZN_ENCODER) n->frozen_encoder = &t->frozen_encoder;
    if (parts & ZN_DECODER) n->frozen_decoder = &t->frozen_decoder;
    return ZENITH_OK;
}

static zenith_status open_squeezenet(trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    if (!zn_train_find_loss(c, ZN_LOSS_SQUEEZENET)) return ZENITH_OK;
    const char *models = c->frozen_from ? c->frozen_from : c->weights;
    ZN_TRY(zn_squeezenet_loss_open(c->squeezenet, models, &t->squeezenet, err));
    t->networks.squeezenet = t->squeezenet;
    return ZENITH_OK;
}

static zenith_status open_discriminator(trainer *t, zn_error *err)
{
    t->kept_count = t->trained_count;
    if (!zn_train_find_loss(&t->config, ZN_LOSS_ADVERSARIAL)) return ZENITH_OK;
    zn_network *network = &t->trained[t->kept_count];
    ZN_TRY(zn_discriminator_create(t->config.discriminator.width, network, err));
    t->kept_count++;
    t->networks.discriminator = network;
    return ZENITH_OK;
}

static zenith_status open_networks(trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    const zn_variant *variant = zn_variant_find(c->model);
    if (!variant)
        return zn_fail(err, ZENITH_NOT_FOUND, "there is no model '%s'; `zenith models` lists them",
                       c->model);
    if (c->data.crop % variant->factor != 0 || c->feature_window % variant->factor != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "\"data.crop\" and \"feature_window\" must be multiples of %d for %s",
                       variant->factor, variant->name);
    ZN_TRY(open_trained(t, variant, err));
    ZN_TRY(open_frozen(t, variant, err));
    ZN_TRY(open_discriminator(t, err));
    return open_squeezenet(t, err);
}

// What the run is, with the weights that it reads and does not train.
static zenith_status open_identity(trainer *t, zn_error *err)
{
    char squeezenet[65];
    if (t->squeezenet) zn_weights_sha256(t->squeezenet, squeezenet);
    return zn_train_config_identity(&t->config, t->frozen ? t->frozen->sha256 : NULL,
                                    t->squeezenet ? squeezenet : NULL, &t->identity, err);
}

// What the network has in common with the one of another model.
static zenith_status take_weights(trainer *t, zn_network *network, zn_error *err)
{
    zn_network donor;
    ZN_TRY(zn_network_of_model(t->start, network->part, &donor, err));
    size_t taken = zn_network_take(network, &donor, t->optimizer.weights);
    zn_network_free(&donor);
    zn_log_write(t->options->log, ZN_LOG_INFO, "%zu of %zu tensors begin as those of %s", taken,
                 network->count, t->config.donor);
    return ZENITH_OK;
}

// The flat blocks: the model's elements, then the discriminator's, on a piece of their own.
static zenith_status create_blocks(trainer *t, zn_error *err)
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
                         (uint64_t)c->init_seed + 2, 0); // the model's parts have the two before
    return ZENITH_OK;
}

// The flat block, filled with what the run begins with.
static zenith_status open_optimizer(trainer *t, zn_error *err)
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
        zn_network_randomise(&t->trained[i], weights, (uint64_t)c->init_seed + i, (float)c->score);
        if (c->donor) ZN_TRY(take_weights(t, &t->trained[i], err));
    }
    zn_model_unref(t->start); // its weights are copied
    t->start = NULL;
    if (t->optimizer.ema)
        memcpy(t->optimizer.ema, weights, t->optimizer.parts[0].end * sizeof *weights);
    if (c->accumulate == 1) return ZENITH_OK;
    t->group = zn_alloc_zero(elements * sizeof *weights);
    return t->group ? ZENITH_OK : zn_fail_memory(err, elements * sizeof *weights);
}

static size_t images_per_step(const trainer *t)
{
    return (size_t)(t->config.batch * t->config.accumulate);
}

static zenith_status open_runner(trainer *t, zn_error *err)
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

// --- data ---------------------------------------------------------------------------------------

static void on_skip(void *cookie, const char *name, const char *reason)
{
    trainer *t = cookie;
    zn_log_write(t->options->log, ZN_LOG_WARNING, "%s is skipped: %s", name, reason);
    if (t->log.journal) {
        zenith_status status = zn_training_log_skip(&t->log, t->optimizer.step + 1, name, reason,
                                                    NULL);
        if (t->log_status == ZENITH_OK) t->log_status = status;
        return;
    }
    skip *noted = zn_arena_alloc(&t->skips, sizeof *noted);
    if (!noted) return; // it stays in the count
    *noted = (skip){zn_arena_text(&t->skips, name), zn_arena_text(&t->skips, reason),
                    t->first_skip};
    if (noted->name && noted->reason) t->first_skip = noted;
}

static zn_data_options data_options(const trainer *t)
{
    const zn_train_data *d = &t->config.data;
    const uint64_t run = images_per_step(t);
    return (zn_data_options){.sources = d->sources,
                             .sources_count = d->sources_count,
                             .crop = d->crop,
                             .flip = d->flip,
                             .min_scale = d->min_scale,
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

static zenith_status spoil_crops(trainer *t, zn_error *err)
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
static zenith_status hold_crops(trainer *t, zn_error *err)
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

static zenith_status open_data(trainer *t, zn_error *err)
{
    zn_data_options options = data_options(t);
    options.skip = on_skip;
    options.cookie = t;
    ZN_TRY(zn_data_open(&options, &t->data, err));
    return hold_crops(t, err);
}

// --- the output folder --------------------------------------------------------------------------

static zenith_status make_folders(const trainer *t, zn_error *err)
{
    static const char *const inner[] = {"samples", "weights", "ema"};
    char path[ZN_PATH_SIZE];
    ZN_TRY(zn_directory_make(t->config.output, err));
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        if (strcmp(inner[i], "samples") == 0 && t->config.sample_every == 0) continue;
        if (strcmp(inner[i], "ema") == 0 && !t->optimizer.ema) continue;
        ZN_TRY(output_path(t, inner[i], path, err));
        ZN_TRY(zn_directory_make(path, err));
    }
    return ZENITH_OK;
}

static zenith_status copy_config(const trainer *t, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    zn_writer *file;
    ZN_TRY(output_path(t, "config.json", path, err));
    ZN_TRY(zn_writer_open(path, &file, err));
    zenith_status status = zn_writer_write(file, t->config.text, t->config.text_size, err);
    if (status == ZENITH_OK) return zn_writer_commit(file, err);
    zn_writer_discard(file);
    return status;
}

static zn_run_identity identity_of(const trainer *t)
{
    return (zn_run_identity){t->identity, zn_data_checksum(t->data)};
}

// Goes on from the newest checkpoint, or begins.
static zenith_status restore(trainer *t, zn_error *err)
{
    const zn_run_identity identity = identity_of(t);
    bool found = false;
    uint64_t step = 0;
    if (zn_path_is_directory(t->config.output))
        ZN_TRY(zn_checkpoint_find(t->config.output, &found, &step, err));
    if (!found) return ZENITH_OK;
    if (!t->options->resume)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' has checkpoints of a run already: go on with --resume, or choose "
                       "another \"output\"",
                       t->config.output);
    return zn_checkpoint_read(t->config.output, t->trained, t->kept_count, &t->optimizer, &identity,
                              err);
}

static zenith_status open_output(trainer *t, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    ZN_TRY(restore(t, err));
    if (!leads(t)) return ZENITH_OK;
    ZN_TRY(make_folders(t, err));
    ZN_TRY(zn_checkpoint_clean(t->config.output, err));
    ZN_TRY(copy_config(t, err));
    ZN_TRY(output_path(t, "train.jsonl", path, err));
    ZN_TRY(zn_training_log_open(path, t->optimizer.step, &t->log, err));
    t->cpu_seconds = t->log.cpu_seconds;
    for (const skip *s = t->first_skip; s; s = s->next)
        ZN_TRY(zn_training_log_skip(&t->log, t->optimizer.step, s->name, s->reason, err));
    return ZENITH_OK;
}

// --- a step -------------------------------------------------------------------------------------

static zenith_status next_pixels(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                 zn_error *err)
{
    trainer *t = cookie;
    const uint64_t count = images_per_step(t), ranks = (uint64_t)t->ranks.count;
    uint64_t first = (t->optimizer.step * ranks + (uint64_t)t->ranks.rank) * count;
    first += t->batches * (uint64_t)t->config.batch;
    *number = first + index;
    return zn_data_get(t->data, *number, pixels, err);
}

static zenith_status held_pixels(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                 zn_error *err)
{
    const trainer *t = cookie;
    const size_t bytes = (size_t)(t->config.data.crop * t->config.data.crop * 3);
    (void)err;
    *number = held_number(index);
    memcpy(pixels, t->held + index * bytes, bytes);
    return ZENITH_OK;
}

static double decibels(double square)
{
    return -10 * log10(fmax(square, 1e-12));
}

// Adds the pictures of the last batch, in their order, to means over n pictures.
static void add_to_means(const trainer *t, size_t count, double n, zn_step_facts *facts)
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

static zenith_status sum_ranks(trainer *t, zn_step_facts *facts, zn_error *err)
{
    enum { OTHERS = 3 };
    float numbers[ZN_TRAIN_LOSSES + OTHERS] = {(float)facts->loss, (float)facts->psnr,
                                               (float)facts->discriminator};
    const size_t losses = t->config.losses_count;
    const double ranks = t->ranks.count;
    if (t->ranks.count == 1) return ZENITH_OK;
    for (size_t k = 0; k < losses; k++) numbers[OTHERS + k] = (float)facts->losses[k];
    ZN_TRY(zn_ranks_sum(&t->ranks, t->optimizer.gradient, t->optimizer.count, err));
    ZN_TRY(zn_ranks_sum(&t->ranks, numbers, losses + OTHERS, err));
    facts->loss = (double)numbers[0] / ranks;
    facts->psnr = (double)numbers[1] / ranks;
    facts->discriminator = (double)numbers[2] / ranks;
    for (size_t k = 0; k < losses; k++) facts->losses[k] = (double)numbers[OTHERS + k] / ranks;
    return ZENITH_OK;
}

// The sum over the batches of a step. Each is summed by itself first: with as many processes instead,
// the bits are the same.
static zenith_status accumulate(trainer *t, zn_step_facts *facts, zn_error *err)
{
    const size_t batch = (size_t)t->config.batch, batches = (size_t)t->config.accumulate;
    float *restrict sum = t->optimizer.gradient, *restrict group = t->group;
    for (t->batches = 0; t->batches < batches; t->batches++) {
        bool first = t->batches == 0;
        ZN_TRY(zn_batch_gradients(t->runner, batch, next_pixels, t, first ? sum : group, err));
        for (size_t i = 0; !first && i < t->optimizer.count; i++) sum[i] += group[i];
        add_to_means(t, batch, (double)(batch * batches), facts);
    }
    return ZENITH_OK;
}

// A smaller scale helps gradients, not the maps that the loss comes from.
static zenith_status check_loss(const trainer *t, const zn_step_facts *facts, zn_error *err)
{
    if (!t->optimizer.scale.used || isfinite(facts->loss)) return ZENITH_OK;
    return zn_fail(
        err, ZENITH_INVALID_ARGUMENT,
        "the loss of step %llu is not finite: a map may have grown beyond what f16 holds "
        "(65504), and \"dtype\": \"bf16\" helps; or a lower \"optimizer.lr\"",
        (unsigned long long)facts->step);
}

// What the next step's graph is run with. The discriminator learns from the first step on, so that it
// knows something when the model begins to listen to it.
static void set_scalars(trainer *t)
{
    const bool listens = t->optimizer.step >= (uint64_t)t->config.discriminator.start;
    zn_batch_runner_set(t->runner, ZN_TRAIN_LOSS_SCALE, zn_optimizer_scale(&t->optimizer));
    zn_batch_runner_set(t->runner, ZN_TRAIN_ADVERSARY, listens ? 1 : 0);
}

static zenith_status train_step(trainer *t, zn_step_facts *facts, zn_error *err)
{
    zn_optimizer *o = &t->optimizer;
    const size_t all = images_per_step(t) * (size_t)t->ranks.count;
    double begin = zn_clock_seconds(), cpu_begin = zn_process_cpu_seconds();
    *facts = (zn_step_facts){.step = o->step + 1};
    set_scalars(t);
    ZN_TRY(accumulate(t, facts, err));
    ZN_TRY(sum_ranks(t, facts, err));
    ZN_TRY(check_loss(t, facts, err));
    zn_score_schedule_hold(&t->scores, o);
    ZN_TRY(zn_optimizer_step(o, 1.0f / (float)all, err));
    if (!o->overflowed) facts->pruned = zn_score_schedule_apply(&t->scores, o);
    zn_batch_runner_changed(t->runner, o->weights, o->count * sizeof *o->weights);
    double seconds = zn_clock_seconds() - begin;
    t->step_seconds = t->step_seconds > 0 ? 0.9 * t->step_seconds + 0.1 * seconds : seconds;
    t->cpu_seconds += zn_process_cpu_seconds() - cpu_begin;
    facts->cpu_seconds = t->cpu_seconds;
    facts->norm = o->parts[0].norm;
    facts->lr = o->parts[0].lr;
    facts->discriminator_norm = o->parts[1].norm;
    facts->loss_scale = o->scale.used ? (double)zn_optimizer_scale(o) : 0;
    facts->overflows = o->scale.overflows;
    facts->seconds = zn_clock_seconds() - t->begun;
    facts->images_per_second = (double)all / t->step_seconds;
    return t->log_status;
}

// --- what is shown and kept ---------------------------------------------------------------------

static zenith_status write_checkpoint(trainer *t, zn_error *err)
{
    const zn_run_identity identity = identity_of(t);
    if (!leads(t)) return ZENITH_OK;
    return zn_checkpoint_write(t->config.output, t->trained, t->kept_count, &t->optimizer,
                               &identity, err);
}

static zenith_status draw_plot(trainer *t, bool always, zn_error *err)
{
    char path[ZN_PATH_SIZE], title[256];
    double now = zn_clock_seconds();
    if (!leads(t) || (!always && now - t->plotted < plot_seconds)) return ZENITH_OK;
    t->plotted = now;
    zn_text_format(title, sizeof title, "%s: %s, step %llu of %llu", t->config.output,
                   t->config.model, (unsigned long long)t->optimizer.step,
                   (unsigned long long)t->config.steps);
    ZN_TRY(output_path(t, "plot.svg", path, err));
    return zn_plot_write(path, title, &t->log, err);
}

static zenith_status validate(trainer *t, zn_error *err)
{
    zn_step_facts facts = {.step = t->optimizer.step};
    const size_t count = (size_t)t->config.validation.count;
    if (!leads(t)) return ZENITH_OK;
    ZN_TRY(zn_batch_losses(t->runner, count, held_pixels, t, NULL, err));
    add_to_means(t, count, (double)count, &facts);
    return zn_training_log_validation(&t->log, &facts, err);
}

static zenith_status draw_samples(trainer *t, zn_error *err)
{
    char name[64], path[ZN_PATH_SIZE];
    const size_t count = (size_t)t->config.samples;
    if (!leads(t)) return ZENITH_OK;
    ZN_TRY(zn_batch_losses(t->runner, count, held_pixels, t, t->reconstructions, err));
    zn_text_format(name, sizeof name, "samples/%08llu.png", (unsigned long long)t->optimizer.step);
    ZN_TRY(output_path(t, name, path, err));
    return zn_sample_grid_write(path, t->held, t->held_spoiled, t->reconstructions, count,
                                (uint32_t)t->config.data.crop, err);
}

static bool due(int64_t every, uint64_t step, uint64_t last)
{
    return every > 0 && (step % (uint64_t)every == 0 || step == last);
}

// After a step: log, validation, samples, plot. The checkpoint is last, so that what it stands for
// is in the log already.
static zenith_status after_step(trainer *t, const zn_step_facts *facts, uint64_t last,
                                zn_error *err)
{
    const zn_train_config *c = &t->config;
    const uint64_t step = t->optimizer.step;
    if (leads(t) && due(c->log_every, step, last))
        ZN_TRY(zn_training_log_step(&t->log, c, facts, err));
    if (due(c->validate_every, step, last)) ZN_TRY(validate(t, err));
    if (due(c->sample_every, step, last)) ZN_TRY(draw_samples(t, err));
    ZN_TRY(draw_plot(t, step == last, err));
    if (due(c->checkpoint_every, step, last)) return write_checkpoint(t, err);
    return ZENITH_OK;
}

// The next turn takes the same step again: same pictures, smaller scale.
static zenith_status note_overflow(trainer *t, const zn_step_facts *facts, zn_error *err)
{
    return leads(t) ? zn_training_log_overflow(&t->log, facts, err) : ZENITH_OK;
}

static bool stop_asked(const trainer *t, const zn_step_facts *facts)
{
    const zn_train_options *o = t->options;
    const uint64_t steps = (uint64_t)t->config.steps;
    const zn_train_report report = {.step = t->optimizer.step,
                                    .steps = steps,
                                    .loss = facts->loss,
                                    .psnr = facts->psnr,
                                    .images_per_second = facts->images_per_second,
                                    .seconds_left = (double)(steps - t->optimizer.step) *
                                                    t->step_seconds};
    bool asked = leads(t) && o->report && o->report(o->cookie, &report) != 0;
    return asked || (o->cancel && atomic_load(o->cancel) != 0);
}

static zenith_status stop_early(trainer *t, zn_error *err)
{
    const uint64_t step = t->optimizer.step;
    if (step == 0 || !due(t->config.checkpoint_every, step, 0)) ZN_TRY(write_checkpoint(t, err));
    ZN_TRY(draw_plot(t, true, err));
    return zn_fail(
        err, ZENITH_CANCELLED,
        "stopped after step %llu of %llu; its checkpoint is in '%s', and --resume goes on "
        "from there",
        (unsigned long long)t->optimizer.step, (unsigned long long)t->config.steps,
        t->config.output);
}

static zenith_status write_results(const trainer *t, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    if (!leads(t)) return ZENITH_OK;
    for (size_t i = 0; i < t->trained_count; i++) {
        ZN_TRY(output_path(t, "weights", path, err));
        ZN_TRY(zn_weights_write(path, &t->trained[i], t->optimizer.weights, err));
        if (!t->optimizer.ema) continue;
        ZN_TRY(output_path(t, "ema", path, err));
        ZN_TRY(zn_weights_write(path, &t->trained[i], t->optimizer.ema, err));
    }
    return ZENITH_OK;
}

static zenith_status run(trainer *t, zn_error *err)
{
    const uint64_t steps = (uint64_t)t->config.steps, wanted = t->options->stop_at;
    const uint64_t last = wanted > 0 && wanted < steps ? wanted : steps;
    t->begun = t->plotted = zn_clock_seconds();
    while (t->optimizer.step < last) {
        zn_step_facts facts;
        ZN_TRY(train_step(t, &facts, err));
        if (t->optimizer.overflowed)
            ZN_TRY(note_overflow(t, &facts, err));
        else
            ZN_TRY(after_step(t, &facts, last, err));
        int stop = stop_asked(t, &facts);
        ZN_TRY(zn_ranks_agree(&t->ranks, &stop, err));
        if (stop && t->optimizer.step < last) return stop_early(t, err);
    }
    return last == steps ? write_results(t, err) : ZENITH_OK;
}

// --- the whole ----------------------------------------------------------------------------------

// A picture for each thread is faster; one for all of them takes the memory of one.
static zenith_status open_executor(trainer *t, int threads, zn_error *err)
{
    const bool together = t->config.recompute;
    return zn_executor_create(together ? 1 : threads, together ? threads : 1, &t->executor, err);
}

static zenith_status open(trainer *t, zn_error *err)
{
    const zn_train_options *o = t->options;
    ZN_TRY(zn_train_config_open(o->config, &t->config, err));
    int threads = t->config.threads > 0 ? (int)t->config.threads : o->threads;
    ZN_TRY(zn_ranks_open(&t->ranks, err));
    ZN_TRY(open_networks(t, err));
    ZN_TRY(open_identity(t, err));
    ZN_TRY(open_executor(t, threads > 0 ? threads : 1, err));
    ZN_TRY(open_optimizer(t, err));
    ZN_TRY(
        zn_score_schedule_create(&t->config.prune, t->trained, t->trained_count, &t->scores, err));
    ZN_TRY(open_data(t, err));
    ZN_TRY(open_runner(t, err));
    return open_output(t, err);
}

static void release(trainer *t, bool well)
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

zenith_status zn_train(const zn_train_options *options, zn_error *err)
{
    trainer *t = zn_alloc_zero(sizeof *t);
    if (!t) return zn_fail_memory(err, sizeof *t);
    t->options = options;
    zenith_status status = open(t, err);
    if (status == ZENITH_OK) status = run(t, err);
    release(t, status == ZENITH_OK || status == ZENITH_CANCELLED);
    zn_free(t);
    return status;
}

// --- trials -------------------------------------------------------------------------------------

struct zn_trial {
    trainer inner;
    zn_train_options options;
    uint64_t first; // sample of the batch in work
};

static zenith_status open_trial(trainer *t, zn_error *err)
{
    const zn_train_options *o = t->options;
    ZN_TRY(zn_train_config_open(o->config, &t->config, err));
    if (strcmp(t->config.model, o->start->variant->name) != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' trains %s, and these weights are %s's: give a config with \"model\": "
                       "\"%s\"",
                       o->config, t->config.model, o->start->variant->name,
                       o->start->variant->name);
    if ((unsigned)t->config.part & ~o->start->parts)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "'%s' trains the %s, which these weights lack: \"part\" says what is trained",
            o->config, o->start->parts & ZN_DECODER ? "encoder" : "decoder");
    if (zn_train_find_loss(&t->config, ZN_LOSS_ADVERSARIAL))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' has an adversarial loss, and a discriminator that has learned nothing "
                       "says nothing of these weights: give a config without it",
                       o->config);
    t->config.donor = NULL;
    ZN_TRY(zn_ranks_open(&t->ranks, err));
    ZN_TRY(open_networks(t, err));
    ZN_TRY(open_executor(t, t->config.threads > 0 ? (int)t->config.threads : o->threads, err));
    return open_data(t, err);
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
    release(&trial->inner, true);
    zn_free(trial);
}

unsigned zn_trial_parts(const zn_trial *trial)
{
    return (unsigned)trial->inner.config.part;
}

// Puts other networks in the place of the trained ones.
static zenith_status prepare_trial(trainer *t, const zn_network networks[2], zn_error *err)
{
    zn_batch_runner_free(t->runner);
    t->runner = NULL;
    for (int i = 0; i < 2; i++) zn_train_graph_free(&t->graphs[i]);
    if (!t->networks.encoder_frozen) t->networks.encoder = &networks[0];
    if (!t->networks.decoder_frozen) t->networks.decoder = &networks[1];
    return open_runner(t, err);
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
    trainer *t = &trial->inner;
    zn_step_facts facts = {0};
    const bool held = t->config.validation.sources_count > 0;
    const size_t count = (size_t)(held ? t->config.validation.count : t->config.batch);
    ZN_TRY(prepare_trial(t, networks, err));
    trial->first = 0;
    if (held)
        ZN_TRY(zn_batch_losses(t->runner, count, held_pixels, t, NULL, err));
    else
        ZN_TRY(zn_batch_losses(t->runner, count, trial_pixels, trial, NULL, err));
    add_to_means(t, count, (double)count, &facts);
    *loss = facts.loss;
    return ZENITH_OK;
}

zenith_status zn_trial_gradients(zn_trial *trial, const zn_network networks[2], size_t batches,
                                 float *gradient, void (*each)(void *cookie), void *cookie,
                                 zn_error *err)
{
    trainer *t = &trial->inner;
    const size_t batch = (size_t)t->config.batch;
    ZN_TRY(prepare_trial(t, networks, err));
    for (size_t b = 0; b < batches; b++) {
        trial->first = b * batch;
        ZN_TRY(zn_batch_gradients(t->runner, batch, trial_pixels, trial, gradient, err));
        each(cookie);
    }
    return ZENITH_OK;
}
