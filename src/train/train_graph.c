// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// In bf16, networks that are trained keep their maps in bf16, as PyTorch's autocast does; parameters,
// their gradients and losses are f32. A frozen encoder is as precise as in `zenith encode`: it makes
// what the decoder learns from. In f16 it is the same with maps in f16, and gradients are those of the
// loss times a number that each run sets (optimizer.h).
#include "src/train/train_graph.h"

#include "src/graph/gradient.h"
#include "src/graph/passes.h"
#include "src/model/autoencoder.h"
#include "src/op/ops.h"
#include "src/train/discriminator.h"
#include "src/train/losses.h"
#include "src/train/quantise.h"

#include <string.h>

static const char *const scalar_names[ZN_TRAIN_SCALARS] = {"loss_scale", "adversary", "noise"};

// More work for recomputation: in theory a third computes every map twice.
static const double recompute_share = 0.3;

typedef struct building {
    const zn_train_config *config;
    const zn_train_networks *networks;
    zn_graph *graph;
    bool gradients;
    zn_node *latent, *reconstruction;
    zn_node *loss_scale;  // NULL: there is none
    zn_node *scores;      // of the reconstruction; NULL: there is no discriminator
    zn_node *opponent;    // the discriminator's loss
    zn_node **parameters; // of the trained networks; the discriminator's behind them
    const zn_train_parameter **sources;
    size_t count; // of the trained networks
} building;

// --- the plain graph ----------------------------------------------------------------------------

static zn_node *build_network(building *b, const zn_network *network, bool frozen, zn_node *x)
{
    zn_node **nodes = frozen ? NULL : b->parameters + b->count;
    const zn_calibration *calibration = frozen ? NULL : b->networks->calibration;
    zn_node *y = calibration ? zn_quantise_apply(network, calibration, b->graph, x, nodes)
                             : zn_network_apply(network, b->graph, "", x, nodes);
    for (size_t i = 0; !frozen && i < network->count; i++)
        b->sources[b->count++] = &network->parameters[i];
    return y;
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

// The frozen model's features of the original (the encoder's own, where that is the frozen one), and
// its picture.
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
    zn_node **nodes = b->parameters + b->count;
    for (size_t i = 0; i < network->count; i++) b->sources[b->count + i] = &network->parameters[i];
    zn_node *wanted = zn_discriminator_build(network, b->graph,
                                             teacher ? in->teacher : in->original, nodes);
    b->scores = zn_discriminator_build(network, b->graph, in->reconstruction, nodes);
    b->opponent = zn_discriminator_loss(b->graph, wanted, b->scores);
    in->scores = b->scores;
}

// What the decoder gets of the encoder's result, which is a latent or, with a loss of the kind kl, the
// moments of one. The seed is none of those that the data take.
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
    if (!b->gradients) return in->latent;
    zn_node *number = zn_graph_scalar(g, scalar_names[ZN_TRAIN_NOISE]);
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
static zn_node *build_loss(building *b, const zn_loss_inputs *in, zn_node *values[ZN_TRAIN_LOSSES])
{
    const zn_train_config *config = b->config;
    zn_node *terms[ZN_TRAIN_LOSSES];
    for (size_t i = 0; i < config->losses_count; i++) {
        terms[i] = values[i] = zn_loss_build(b->graph, &config->losses[i], in);
        if (config->losses[i].kind != ZN_LOSS_ADVERSARIAL) continue;
        zn_node *share = zn_graph_scalar(b->graph, scalar_names[ZN_TRAIN_ADVERSARY]);
        terms[i] = zn_scale(b->graph, "adversarial.term", values[i], share);
    }
    return zn_loss_sum(b->graph, config->losses, terms, config->losses_count);
}

static zn_node *scaled(building *b, zn_node *loss)
{
    if (b->config->dtype != ZN_F16) return loss;
    if (!b->loss_scale)
        b->loss_scale = zn_graph_scalar(b->graph, scalar_names[ZN_TRAIN_LOSS_SCALE]);
    return zn_scale(b->graph, "scaled", loss, b->loss_scale);
}

// Of the trained networks by the loss, of the discriminator by its own; how many there are of both.
static size_t build_gradients(building *b, zn_node *loss, zn_node **results)
{
    const zn_network *network = b->networks->discriminator;
    zn_graph_gradients(b->graph, scaled(b, loss), b->parameters, b->count, zn_add, results);
    if (!network) return b->count;
    zn_graph_gradients(b->graph, scaled(b, b->opponent), b->parameters + b->count, network->count,
                       zn_add, results + b->count);
    return b->count + network->count;
}

static void build_outputs(building *b, const zn_loss_inputs *in, bool gradients, zn_node **results,
                          zn_train_graph *out)
{
    const size_t losses = b->config->losses_count;
    zn_node *values[ZN_TRAIN_LOSSES];
    zn_node *loss = build_loss(b, in, values);
    zn_node *error = zn_difference_loss(b->graph, "error", in->reconstruction, in->original,
                                        (zn_difference_attributes){.kind = ZN_DIFFERENCE_MSE});
    const size_t count = gradients ? build_gradients(b, loss, results) : 0;
    if (b->graph->status != ZENITH_OK) return;
    zn_graph_output(b->graph, loss);
    for (size_t i = 0; i < losses; i++) zn_graph_output(b->graph, values[i]);
    zn_graph_output(b->graph, error);
    if (b->opponent) zn_graph_output(b->graph, b->opponent);
    out->numbers = losses + (b->opponent ? 3 : 2);
    if (!gradients) zn_graph_output(b->graph, in->reconstruction);
    for (size_t i = 0; i < count; i++) {
        if (!results[i]) continue; // the loss does not depend on it
        out->gradients[out->gradients_count++] = b->sources[i];
        zn_graph_output(b->graph, results[i]);
    }
}

// --- types --------------------------------------------------------------------------------------

static bool is_value(const zn_node *node, const zn_node *value)
{
    return strcmp(node->name, value->name) == 0 &&
           zn_shape_equal(&node->desc.shape, &value->desc.shape);
}

static zn_precision precision(void *cookie, const zn_node *node)
{
    const building *b = cookie;
    const zn_network *encoder = b->networks->encoder;
    // What networks hand to each other, and to losses, is stored as it was computed. The gradient of
    // its producer's input has the same name, but not the shape.
    bool between = is_value(node, b->latent) || is_value(node, b->reconstruction);
    const zn_node *picture = b->reconstruction; // perhaps a copy of what the last layer computes
    if (picture->op->traits & ZN_OP_FOLLOWS) between |= is_value(node, picture->inputs[0]);
    if (b->scores) between |= is_value(node, b->scores);
    if (between) return ZN_PRECISION_STORED;
    bool frozen = b->networks->encoder_frozen &&
                  strncmp(node->name, encoder->part->prefix, strlen(encoder->part->prefix)) == 0;
    if (!frozen || !encoder->family->precision) return ZN_PRECISION_PLAIN;
    return encoder->family->precision(encoder->variant, node->name);
}

static zenith_status finish(const building *b, bool recomputes, const zn_cpu *cpu,
                            zn_train_graph *out, zn_error *err)
{
    const zn_type_policy policy = {.type = (zn_type)b->config->dtype,
                                   .precision = precision,
                                   .cookie = (void *)(uintptr_t)b,
                                   .convert = zn_convert_as};
    zn_graph fused = {0}, typed = {0}, whole = {0};
    zn_graph *last = recomputes ? &whole : &out->graph;
    zenith_status status;
    ZN_GO(zn_graph_finish(&out->plain));
    ZN_GO(zn_pass_fuse(&out->plain, zn_ops, zn_ops_count, NULL, &fused, err));
    ZN_GO(zn_pass_types(&fused, &policy, &typed, err));
    ZN_GO(zn_pass_fuse(&typed, zn_ops, zn_ops_count, cpu, last, err));
    if (recomputes) ZN_GO(zn_pass_recompute(&whole, recompute_share, &out->graph, err));
fail:
    zn_graph_free(&whole);
    zn_graph_free(&fused);
    zn_graph_free(&typed);
    return status;
}

static void find_scalars(zn_train_graph *out)
{
    for (size_t i = 0; i < out->graph.count; i++) {
        const zn_node *node = out->graph.nodes[i];
        for (int k = 0; node->kind == ZN_NODE_SCALAR && k < ZN_TRAIN_SCALARS; k++)
            if (strcmp(node->name, scalar_names[k]) == 0)
                out->scalars[out->scalars_count++] = (zn_train_scalar)k;
    }
}

zenith_status zn_train_graph_create(const zn_train_config *config,
                                    const zn_train_networks *networks, bool gradients,
                                    const zn_cpu *cpu, zn_train_graph *out, zn_error *err)
{
    *out = (zn_train_graph){0};
    zn_graph *graph = &out->plain;
    zn_graph_begin(graph, err);
    size_t most = networks->encoder->count + networks->decoder->count;
    if (networks->discriminator) most += networks->discriminator->count;
    building b = {.config = config,
                  .networks = networks,
                  .graph = graph,
                  .gradients = gradients,
                  .parameters = zn_arena_alloc(&graph->arena, most * sizeof *b.parameters),
                  .sources = zn_arena_alloc(&graph->arena, most * sizeof *b.sources)};
    zn_node **results = zn_arena_alloc(&graph->arena, most * sizeof(zn_node *));
    out->gradients = zn_arena_alloc(&graph->arena, most * sizeof *out->gradients);
    zenith_status status;
    if (b.parameters && b.sources && results && out->gradients) {
        const zn_loss_inputs in = build_pictures(&b);
        build_outputs(&b, &in, gradients, results, out);
        status = finish(&b, gradients && config->recompute, cpu, out, err);
        if (status == ZENITH_OK) find_scalars(out);
    } else {
        status = zn_fail_memory(err, most * sizeof(zn_node *));
    }
    if (status != ZENITH_OK) zn_train_graph_free(out);
    return status;
}

void zn_train_graph_free(zn_train_graph *graph)
{
    zn_graph_free(&graph->graph);
    zn_graph_free(&graph->plain);
    *graph = (zn_train_graph){0};
}
