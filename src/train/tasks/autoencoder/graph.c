// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/tasks/autoencoder/graph.h"

#include "src/model/autoencoder.h"
#include "src/op/ops.h"
#include "src/train/loss/losses.h"
#include "src/train/network/discriminator.h"
#include "src/train/network/quantise.h"

#include <string.h>

typedef struct building {
    zn_train_building *inner;
    const zn_train_config *config;
    const zn_train_networks *networks;
    zn_graph *graph;
    zn_node *latent, *reconstruction;
    zn_node *scores;   // of the reconstruction; NULL: there is no discriminator
    zn_node *opponent; // the discriminator's loss
} building;

static zn_node *build_network(building *b, const zn_network *network, bool frozen, zn_node *x)
{
    zn_node **nodes = frozen ? NULL : zn_train_parameters(b->inner, network);
    const zn_calibration *calibration = frozen ? NULL : b->networks->calibration;
    return calibration ? zn_quantise_apply(network, calibration, b->graph, x, nodes)
                       : zn_network_apply(network, b->graph, "", x, nodes);
}

// Whether a loss looks at features of the original, or of the teacher's picture.
static bool needs_features(const zn_train_config *config, bool teacher)
{
    for (size_t i = 0; i < config->losses_count; i++) {
        const zn_train_loss *loss = &config->losses[i];
        bool looks = loss->kind == ZN_LOSS_FEATURE || loss->kind == ZN_LOSS_STAGES;
        if (looks && loss->teacher == teacher) return true;
    }
    return false;
}

// Of the nodes from `begin` on: the last map of each resolution, and the result.
static void find_features(const zn_graph *graph, size_t begin, zn_node *result, zn_features *out)
{
    *out = (zn_features){.latent = result};
    for (size_t i = begin; result && i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        zn_node *x = node->inputs_count > 0 ? node->inputs[0] : NULL;
        if (!x || x->kind != ZN_NODE_OP || out->count == ZN_FEATURE_STAGES) continue;
        bool smaller = node->desc.shape.rank == 4 && x->desc.shape.rank == 4 &&
                       node->desc.shape.dim[1] < x->desc.shape.dim[1];
        if (smaller || node == result) out->stage[out->count++] = x;
    }
}

static zn_features build_features(building *b, const char *prefix, zn_node *picture)
{
    zn_features features;
    const size_t begin = b->graph->count;
    zn_node *latent = zn_network_apply(b->networks->frozen_encoder, b->graph, prefix, picture,
                                       NULL);
    find_features(b->graph, begin, latent, &features);
    return features;
}

static bool corrupts(const building *b)
{
    return b->config->data.corrupt.kind != ZN_CORRUPT_NOTHING;
}

// The frozen model's features of the original (the encoder's own, where that is the frozen one),
// and its picture.
static void build_teacher(building *b, const zn_features *encoder, zn_loss_inputs *in)
{
    const zn_train_networks *n = b->networks;
    if (!n->frozen_encoder) return;
    in->original_features = *encoder;
    if (!n->encoder_frozen || corrupts(b))
        in->original_features = build_features(b, "original.", in->original);
    in->original_latent = in->original_features.latent;
    if (!zn_train_has_teacher(b->config)) return;
    in->teacher = zn_network_apply(n->frozen_decoder, b->graph, "teacher.", in->original_latent,
                                   NULL);
}

// The middle of a picture, or all of it.
static zn_node *seen_of(building *b, zn_node *picture)
{
    const int64_t side = b->config->feature_window, before = (b->config->data.crop - side) / 2;
    if (side == 0 || !picture) return picture;
    return zn_window(b->graph, "seen", picture, (zn_window_attributes){before, before, side, side});
}

// What losses see through networks: features of the middle, where the config says so.
static void build_seen(building *b, zn_loss_inputs *in)
{
    const bool original = needs_features(b->config, false);
    const bool teacher = needs_features(b->config, true);
    in->seen.original = seen_of(b, in->original);
    in->seen.reconstruction = seen_of(b, in->reconstruction);
    in->seen.teacher = seen_of(b, in->teacher);
    if (original && in->seen.original != in->original)
        in->original_features = build_features(b, "seen.original.", in->seen.original);
    if (teacher) in->teacher_features = build_features(b, "teacher.", in->seen.teacher);
    if (original || teacher)
        in->reconstruction_features = build_features(b, "feature.", in->seen.reconstruction);
}

// Judges the reconstruction, and what it should look like.
static void build_discriminator(building *b, zn_loss_inputs *in)
{
    const zn_network *network = b->networks->discriminator;
    if (!network) return;
    const bool teacher = zn_train_find_loss(b->config, ZN_LOSS_ADVERSARIAL)->teacher;
    zn_node **nodes = zn_train_opponents(b->inner, network);
    zn_node *wanted = zn_discriminator_build(network, b->graph,
                                             teacher ? in->teacher : in->original, nodes);
    b->scores = zn_discriminator_build(network, b->graph, in->reconstruction, nodes);
    b->opponent = zn_discriminator_loss(b->graph, wanted, b->scores);
    in->scores = b->scores;
}

// What the decoder gets of the encoder's result, which is a latent or, with a loss of the kind kl,
// the moments of one. The seed is none of those that the data take.
static zn_node *build_latent(building *b, zn_node *coded, zn_loss_inputs *in)
{
    const zn_autoencoder_facts *facts = b->networks->encoder->variant->autoencoder;
    const int64_t channels = facts->latent_channels;
    zn_graph *g = b->graph;
    in->latent = coded;
    if (!zn_train_find_loss(b->config, ZN_LOSS_KL)) return coded;
    in->latent = zn_channel_slice(g, "mean", coded, 0, channels);
    zn_node *logvar = zn_channel_slice(g, "logvar", coded, channels, channels);
    in->mean = zn_affine(g, "raw.mean", in->latent, 1 / facts->scale, facts->shift);
    in->logvar = zn_affine(g, "raw.logvar", logvar, 1, -zn_latent_logvar_step(facts, 0));
    if (!b->inner->gradients) return in->latent;
    zn_node *number = zn_graph_scalar(g, zn_train_scalar_name(ZN_TRAIN_NOISE));
    return zn_gaussian_sample(g, "sample", in->latent, logvar, number,
                              ~(uint64_t)b->config->data.seed);
}

static zn_loss_inputs build_pictures(building *b)
{
    const zn_train_networks *n = b->networks;
    const zn_desc picture = zn_desc_make(
        ZN_F32, ZN_SHAPE(1, b->config->data.crop, b->config->data.crop, 3));
    zn_features encoder;
    zn_loss_inputs in = {.squeezenet = n->squeezenet};
    in.original = zn_graph_input(b->graph, "image", picture);
    zn_node *input = in.original;
    if (corrupts(b)) input = zn_graph_input(b->graph, "corrupted", picture);
    const size_t begin = b->graph->count;
    zn_node *coded = build_network(b, n->encoder, n->encoder_frozen, input);
    find_features(b->graph, begin, coded, &encoder);
    b->latent = build_latent(b, coded, &in);
    b->reconstruction = build_network(b, n->decoder, n->decoder_frozen, b->latent);
    if (b->config->residual)
        b->reconstruction = zn_add(b->graph, "restored", b->reconstruction, input);
    in.reconstruction = b->reconstruction;
    build_teacher(b, &encoder, &in);
    build_seen(b, &in);
    build_discriminator(b, &in);
    return in;
}

// The losses by themselves, and their sum.
static zn_node *build_loss(building *b, const zn_loss_inputs *in, zn_node **values)
{
    const zn_train_config *config = b->config;
    zn_node *terms[ZN_TRAIN_LOSSES];
    for (size_t i = 0; i < config->losses_count; i++) {
        terms[i] = values[i] = zn_loss_build(b->graph, &config->losses[i], in);
        if (config->losses[i].kind != ZN_LOSS_ADVERSARIAL) continue;
        zn_node *share = zn_graph_scalar(b->graph, zn_train_scalar_name(ZN_TRAIN_ADVERSARY));
        terms[i] = zn_scale(b->graph, "adversarial.term", values[i], share);
    }
    return zn_loss_sum(b->graph, config->losses, terms, config->losses_count);
}

// What networks hand to each other, and to losses, is stored as it was computed.
static void keep_values(const building *b)
{
    zn_train_building *inner = b->inner;
    const zn_node *picture = b->reconstruction; // perhaps a copy of what the last layer computes
    if (b->graph->status != ZENITH_OK) return;
    zn_train_keep(inner, b->latent);
    zn_train_keep(inner, picture);
    if (picture->op->traits & ZN_OP_FOLLOWS) zn_train_keep(inner, picture->inputs[0]);
    if (b->scores) zn_train_keep(inner, b->scores);
}

void zn_autoencoder_graph(zn_train_building *inner)
{
    building b = {.inner = inner,
                  .config = inner->config,
                  .networks = inner->networks,
                  .graph = inner->graph};
    const zn_loss_inputs in = build_pictures(&b);
    inner->loss = build_loss(&b, &in, inner->losses);
    inner->error = zn_difference_loss(b.graph, "error", in.reconstruction, in.original,
                                      (zn_difference_attributes){.kind = ZN_DIFFERENCE_MSE});
    inner->opponent = b.opponent;
    inner->result = in.reconstruction;
    keep_values(&b);
}

// A frozen encoder's is the family's.
zn_precision zn_autoencoder_precision(const zn_train_building *b, const zn_node *node)
{
    const zn_train_networks *networks = b->networks;
    const zn_network *encoder = networks->encoder;
    const char *prefix = encoder->part->prefix;
    const bool frozen = networks->encoder_frozen &&
                        strncmp(node->name, prefix, strlen(prefix)) == 0;
    if (!frozen || !encoder->family->precision) return ZN_PRECISION_PLAIN;
    return encoder->family->precision(encoder->variant, node->name);
}
