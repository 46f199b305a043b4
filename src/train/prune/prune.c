// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/prune/prune.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/model/autoencoder.h"
#include "src/model/pruning.h"
#include "src/train/prune/pruned_network.h"
#include "src/train/prune/trial.h"
#include "src/train/run/checkpoint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 64 }; // numbers of layers are below

typedef struct pruning {
    const zn_prune_options *options;
    unsigned parts;
    zn_network networks[2]; // encoder, decoder; zeroed where the model has it not
    float *block;           // their values
    size_t elements;
    zn_trial *trial; // NULL: without a config
    zn_inner_layers layers[2];
    float *gradient;
} pruning;

static unsigned part_at(int i)
{
    return i == 0 ? ZENITH_ENCODER : ZENITH_DECODER;
}

static bool pruned(const pruning *p, int i)
{
    return (p->parts & part_at(i)) != 0;
}

static zenith_status check_cancel(const pruning *p, zn_error *err)
{
    const atomic_int *cancel = p->options->cancel;
    if (!cancel || atomic_load(cancel) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_CANCELLED, "stopped before anything was written");
}

// --- opening ------------------------------------------------------------------------------------

static zenith_status open_networks(pruning *p, zn_error *err)
{
    const zn_model *model = p->options->model;
    for (int i = 0; i < 2; i++) {
        const zn_part *part = zn_model_part(model, zn_autoencoder_name(part_at(i)));
        if (!part) continue;
        ZN_TRY(zn_network_of_model(model, part, &p->networks[i], err));
        p->elements = zn_network_place(&p->networks[i], p->elements);
    }
    p->block = zn_alloc_zero(p->elements * sizeof *p->block);
    if (!p->block) return zn_fail_memory(err, p->elements * sizeof *p->block);
    for (int i = 0; i < 2; i++) zn_network_move(&p->networks[i], p->block);
    return ZENITH_OK;
}

static zenith_status open_trial(pruning *p, zn_error *err)
{
    const zn_prune_options *o = p->options;
    const zn_train_options options = {.config = o->config,
                                      .threads = o->threads,
                                      .start = o->model,
                                      .cpu = o->cpu,
                                      .log = o->log};
    return o->config ? zn_trial_open(&options, &p->trial, err) : ZENITH_OK;
}

static zenith_status choose_parts(pruning *p, zn_error *err)
{
    const zn_prune_options *o = p->options;
    const unsigned there = zn_autoencoder_flags(o->model);
    const unsigned seen = p->trial ? zn_trial_parts(p->trial) : there;
    p->parts = o->parts ? o->parts : seen;
    if (p->parts & ~there)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "these weights have no %s",
                       zn_autoencoder_name(p->parts & ~there));
    if (p->parts & ~seen)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the config does not train the %s, so its losses do not say what matters "
                       "there: set its \"part\"",
                       zn_autoencoder_name(p->parts & ~seen));
    return ZENITH_OK;
}

// --- blocks -------------------------------------------------------------------------------------

// The loss without a block, and the operations that it saves.
static zenith_status loss_without(pruning *p, int i, int block, double *loss, double *saved,
                                  zn_error *err)
{
    zn_network networks[2] = {p->networks[0], p->networks[1]};
    double before = 0, after = 0;
    ZN_TRY(check_cancel(p, err));
    ZN_TRY(zn_network_without_block(&p->networks[i], block, &networks[i], err));
    zenith_status status;
    ZN_GO(zn_trial_loss(p->trial, networks, loss, err));
    ZN_GO(zn_network_operations(&p->networks[i], &before, err));
    ZN_GO(zn_network_operations(&networks[i], &after, err));
    *saved = before - after;
fail:
    zn_network_free(&networks[i]);
    return status;
}

static zenith_status drop_block(pruning *p, zn_error *err)
{
    int part = -1, worst = 0;
    double least = INFINITY, whole;
    ZN_TRY(zn_trial_loss(p->trial, p->networks, &whole, err));
    for (int i = 0; i < 2; i++) {
        for (int block = 0; pruned(p, i) && block < MOST_BLOCKS; block++) {
            double loss, saved = 0;
            if (!zn_network_has_block(&p->networks[i], block)) continue;
            ZN_TRY(loss_without(p, i, block, &loss, &saved, err));
            const double worth = (loss - whole) / saved;
            zn_log_write(p->options->log, ZN_LOG_INFO,
                         "without block %d of the %s: loss %f, not %f, for %.2f GFLOP less", block,
                         zn_autoencoder_name(part_at(i)), loss, whole, saved / 1e9);
            if (part >= 0 && !(worth < least)) continue;
            part = i, worst = block, least = worth;
        }
    }
    if (part < 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%s has too few blocks: leave out fewer of them",
                       p->options->model->variant->name);
    zn_network smaller;
    ZN_TRY(zn_network_without_block(&p->networks[part], worst, &smaller, err));
    zn_network_free(&p->networks[part]);
    p->networks[part] = smaller;
    return ZENITH_OK;
}

// --- tiles --------------------------------------------------------------------------------------

static bool tiles_of(const zn_network *network, const zn_tile_layout *wanted, zn_tile_layout *now,
                     char dst[ZN_LAYOUT_SIZE])
{
    const char *layout = zn_network_layout(network);
    const zn_pruning *how = zn_pruning_of(network->family);
    return how && how->tiles && how->tiles(network->variant, layout, wanted, now, dst);
}

static zenith_status prune_tiles(zn_network *network, const zn_prune_options *o, zn_error *err)
{
    char layout[ZN_LAYOUT_SIZE];
    zn_tile_layout now, wanted;
    if (!tiles_of(network, NULL, &now, layout))
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s has no blocks that gate the frequencies of tiles "
                       "(zenith_prune_params.frequencies, zenith_prune_params.still)",
                       network->variant->name);
    if (o->frequencies && now.frequencies <= o->frequencies)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the %s keeps %d frequencies already",
                       network->part->name, now.frequencies);
    wanted = now;
    if (o->frequencies) wanted.frequencies = o->frequencies;
    if (o->still > 0) wanted.still = (int)lround(o->still * ZN_STILL_PARTS);
    if (!tiles_of(network, &wanted, &now, layout))
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s has no scores, and still parts are left out by their grid "
                       "(zenith_prune_params.still)",
                       network->variant->name);
    memcpy(network->layout, layout, sizeof network->layout);
    return ZENITH_OK;
}

// --- scores of channels -------------------------------------------------------------------------

static double absolute(const float *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs((double)values[i]);
    return sum;
}

// Over the outgoing weights of a channel: the sum of |w|, or with a gradient of w dL/dw.
static double sum_outgoing(const zn_inner_layer *l, int64_t c, const float *gradient)
{
    const int64_t *shape = l->outgoing->tensor.desc.shape.dim; // [out, width, kh, kw]
    const size_t kernel = (size_t)(shape[2] * shape[3]), step = (size_t)l->width * kernel;
    const float *w = l->outgoing->tensor.data;
    double sum = 0;
    for (size_t at = (size_t)c * kernel; at < l->outgoing->elements; at += step) {
        if (!gradient) sum += absolute(w + at, kernel);
        for (size_t k = at; gradient && k < at + kernel; k++)
            sum += (double)w[k] * (double)gradient[k];
    }
    return sum;
}

static void score_by_weights(zn_inner_layer *l)
{
    const float *in = l->weight->tensor.data, *bias = l->bias->tensor.data;
    const size_t row = l->weight->elements / (size_t)l->width;
    double sum = 0;
    for (int64_t c = 0; c < l->width; c++) {
        const double incoming = absolute(in + (size_t)c * row, row) + fabs((double)bias[c]);
        l->scores[c] = incoming * sum_outgoing(l, c, NULL);
        sum += l->scores[c];
    }
    for (int64_t c = 0; sum > 0 && c < l->width; c++) l->scores[c] /= sum;
}

// Adds what one batch says.
static void score_by_gradient(void *cookie)
{
    pruning *p = cookie;
    for (int i = 0; i < 2; i++) {
        for (size_t n = 0; n < p->layers[i].count; n++) {
            zn_inner_layer *l = &p->layers[i].layers[n];
            for (int64_t c = 0; c < l->width; c++) {
                double slope = sum_outgoing(l, c, p->gradient + l->outgoing->offset);
                l->scores[c] += slope * slope;
            }
        }
    }
}

static zenith_status score(pruning *p, zn_error *err)
{
    for (int i = 0; !p->trial && i < 2; i++)
        for (size_t n = 0; n < p->layers[i].count; n++) score_by_weights(&p->layers[i].layers[n]);
    if (!p->trial) return ZENITH_OK;
    ZN_TRY(check_cancel(p, err));
    p->gradient = zn_alloc_zero(p->elements * sizeof *p->gradient);
    if (!p->gradient) return zn_fail_memory(err, p->elements * sizeof *p->gradient);
    return zn_trial_gradients(p->trial, p->networks, p->options->batches, p->gradient,
                              score_by_gradient, p, err);
}

// --- the choice ---------------------------------------------------------------------------------

typedef struct channel {
    double score;
    int64_t index;
} channel;

// Channels that stay or go together.
typedef struct group {
    zn_inner_layer *layer;
    const channel *channels;
    int64_t count;
    double worth; // a channel's mean score over its operations
} group;

static int worthier_first(const void *a, const void *b)
{
    const channel *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static int least_worth_first(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->worth != y->worth) return x->worth < y->worth ? -1 : 1;
    return x->channels > y->channels ? -1 : 1; // the later group of a layer
}

// All groups of a layer but its best.
static void add_groups(zn_inner_layer *l, int64_t multiple, channel *channels, group *groups,
                       size_t *count)
{
    for (int64_t c = 0; c < l->width; c++) channels[c] = (channel){l->scores[c], c};
    qsort(channels, (size_t)l->width, sizeof *channels, worthier_first);
    for (int64_t begin = multiple; begin < l->width; begin += multiple) {
        const int64_t left = l->width - begin;
        group g = {.layer = l, .channels = channels + begin};
        g.count = left < multiple ? left : multiple;
        for (int64_t c = 0; c < g.count; c++) g.worth += g.channels[c].score;
        g.worth /= (double)g.count * l->cost;
        groups[(*count)++] = g;
    }
}

static int64_t all_channels(const pruning *p)
{
    int64_t all = 0;
    for (int i = 0; i < 2; i++)
        for (size_t n = 0; n < p->layers[i].count; n++) all += p->layers[i].layers[n].width;
    return all;
}

static zenith_status leave_out(const pruning *p, const group *groups, size_t count, zn_error *err)
{
    const int64_t all = all_channels(p);
    if (all == 0)
        return zn_fail(
            err, ZENITH_UNSUPPORTED,
            "%s has no residual blocks of three convolutions, whose channels could be left "
            "out",
            p->options->model->variant->name);
    const double wanted = p->options->channels * (double)all - 1e-6;
    int64_t left = all;
    for (size_t i = 0; i < count && (double)(left - groups[i].count) >= wanted; i++) {
        const group *g = &groups[i];
        for (int64_t c = 0; c < g->count; c++) g->layer->keep[g->channels[c].index] = false;
        left -= g->count;
    }
    if (left < all) return ZENITH_OK;
    return zn_fail(
        err, ZENITH_INVALID_ARGUMENT,
        "no channels can be left out: they go in groups of %lld, each layer keeps one, and "
        "%lld of %lld channels are to stay; take a smaller share (zenith_prune_params.channels) "
        "or multiple (zenith_prune_params.multiple)",
        (long long)p->options->multiple, (long long)ceil(wanted), (long long)all);
}

static zenith_status choose_channels(pruning *p, zn_error *err)
{
    const size_t all = (size_t)all_channels(p);
    size_t count = 0, at = 0;
    ZN_TRY(score(p, err));
    channel *channels = zn_alloc((all + 1) * sizeof *channels);
    group *groups = zn_alloc((all + 1) * sizeof *groups);
    zenith_status status = ZENITH_OK;
    if (!channels || !groups) status = zn_fail_memory(err, all * sizeof *groups);
    for (int i = 0; status == ZENITH_OK && i < 2; i++) {
        for (size_t n = 0; n < p->layers[i].count; n++) {
            zn_inner_layer *l = &p->layers[i].layers[n];
            add_groups(l, p->options->multiple, channels + at, groups, &count);
            at += (size_t)l->width;
        }
    }
    if (status == ZENITH_OK) {
        qsort(groups, count, sizeof *groups, least_worth_first);
        status = leave_out(p, groups, count, err);
    }
    zn_free(groups);
    zn_free(channels);
    return status;
}

// --- the whole ----------------------------------------------------------------------------------

static zenith_status count_network(const zn_network *network, zn_prune_count *out, zn_error *err)
{
    zn_inner_layers layers;
    double operations;
    ZN_TRY(zn_inner_layers_find(network, &layers, err));
    out->blocks += (uint32_t)layers.count / 2; // each has two
    for (size_t n = 0; n < layers.count; n++) out->channels += (uint64_t)layers.layers[n].width;
    zn_inner_layers_free(&layers);
    for (size_t i = 0; i < network->count; i++) out->parameters += network->parameters[i].elements;
    ZN_TRY(zn_network_operations(network, &operations, err));
    out->operations += operations;
    zn_tile_layout tiles;
    if (tiles_of(network, NULL, &tiles, NULL)) out->frequencies = (uint32_t)tiles.frequencies;
    return ZENITH_OK;
}

static zenith_status write_part(const pruning *p, int i, zn_prune_count *count, zn_error *err)
{
    zn_network narrow;
    float *block;
    ZN_TRY(zn_network_narrow(&p->networks[i], &p->layers[i], &narrow, &block, err));
    zenith_status status = zn_weights_write(p->options->output, &narrow, block, err);
    if (status == ZENITH_OK && pruned(p, i)) status = count_network(&narrow, count, err);
    zn_network_free(&narrow);
    zn_free(block);
    return status;
}

static zenith_status prune(pruning *p, zn_prune_report *report, zn_error *err)
{
    const zn_prune_options *o = p->options;
    ZN_TRY(open_networks(p, err));
    ZN_TRY(open_trial(p, err));
    ZN_TRY(choose_parts(p, err));
    report->parts = p->parts;
    for (int i = 0; i < 2; i++)
        if (pruned(p, i)) ZN_TRY(count_network(&p->networks[i], &report->before, err));
    for (int n = 0; n < o->blocks; n++) ZN_TRY(drop_block(p, err));
    for (int i = 0; i < 2; i++)
        if (pruned(p, i) && (o->frequencies || o->still > 0))
            ZN_TRY(prune_tiles(&p->networks[i], o, err));
    for (int i = 0; i < 2; i++)
        if (pruned(p, i)) ZN_TRY(zn_inner_layers_find(&p->networks[i], &p->layers[i], err));
    if (o->channels > 0) ZN_TRY(choose_channels(p, err));
    ZN_TRY(check_cancel(p, err));
    ZN_TRY(zn_directory_make(o->output, err));
    for (int i = 0; i < 2; i++)
        if (p->networks[i].count > 0) ZN_TRY(write_part(p, i, &report->after, err));
    return ZENITH_OK;
}

static zenith_status check(const zn_prune_options *o, zn_error *err)
{
    if (!(o->channels >= 0 && o->channels < 1) || o->blocks < 0 || o->multiple < 1 || !o->batches)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the share of channels must be below 1, and the multiple and the batches at "
                       "least 1");
    if (o->channels == 0 && o->blocks == 0 && o->frequencies == 0 && o->still == 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "nothing is to be left out: say which share of the channels inside blocks "
                       "stays (zenith_prune_params.channels), how many blocks go "
                       "(zenith_prune_params.blocks), which frequencies of tiles stay "
                       "(zenith_prune_params.frequencies), or what is still "
                       "(zenith_prune_params.still)");
    if (o->still != 0 && !(o->still >= 0.001 && o->still <= 0.999))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the change below which parts are still must be from 0.001 to 0.999");
    if (o->frequencies != 0 && o->frequencies != 1 && o->frequencies != 2 && o->frequencies != 4)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "1, 2 or 4 frequencies can stay along each side of a tile, not %d: the "
                       "smaller transforms have a power of two",
                       o->frequencies);
    ZN_TRY(zn_autoencoder_check(o->model->variant, err));
    const zn_pruning *how = zn_pruning_of(o->model->family);
    if (o->blocks > 0 && !(how && how->without_block))
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s has a fixed number of blocks: only its channels can be pruned "
                       "(zenith_prune_params.channels)",
                       o->model->variant->name);
    if (o->blocks > 0 && !o->config)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "which blocks matter least is measured on pictures: give a training config "
                       "(zenith_prune_params.config), whose pictures and losses are taken");
    return ZENITH_OK;
}

zenith_status zn_prune(const zn_prune_options *options, zn_prune_report *out, zn_error *err)
{
    pruning p = {.options = options};
    zn_prune_report report = {0};
    ZN_TRY(check(options, err));
    zenith_status status = prune(&p, &report, err);
    zn_trial_free(p.trial);
    for (int i = 0; i < 2; i++) {
        zn_inner_layers_free(&p.layers[i]);
        zn_network_free(&p.networks[i]);
    }
    zn_free(p.gradient);
    zn_free(p.block);
    if (status == ZENITH_OK) *out = report;
    return status;
}
