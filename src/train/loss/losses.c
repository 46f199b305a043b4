// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient, the Walsh, the lattice and the texture loss are fixed convolutions and a
// difference:
//
//   gradient  of each channel, the pixel to the right and the pixel below, less the pixel
//   walsh     of each channel, the 64 products of 8x8 blocks with w(u, y) w(v, x) / 8, where
//             w(u, y) = 1 or -1 by the parity of the bits of u AND y: all signs of change up to one
//             per pixel, by additions alone
//   lattice   of each channel, the means of the 16 pixels of a 16x16 block that have the same place
//             modulo 4: a mesh of four (or two) pixels stands out of them, textures cancel
//   texture   of each channel, the mean over 8x8 pixels of how far a pixel is from the mean of its
//             four neighbours, as a positive number: how much detail there is, wherever it is.
//             Losses of pixels are least for no detail where it cannot be told; this one is not
#include "src/train/loss/losses.h"

#include "src/nn/squeezenet.h"
#include "src/op/ops.h"
#include "src/train/loss/squeezenet_loss.h"

enum { CHANNELS = 3, WALSH = 8, MESH = 4, LATTICE = 16, TEXTURE = 8 };
static const float charbonnier_epsilon = 1e-3f;

static zn_node *difference(zn_graph *graph, zn_loss_kind kind, zn_node *a, zn_node *b,
                           zn_difference how)
{
    const zn_difference_attributes attributes = {.kind = how, .epsilon = charbonnier_epsilon};
    return zn_difference_loss(graph, zn_loss_name(kind), a, b, attributes);
}

// A parameter of fixed values, zero for now; they live with the graph.
static zn_node *fixed(zn_graph *graph, const char *name, zn_shape shape, float **values)
{
    size_t elements = 0;
    if (graph->status != ZENITH_OK || !zn_shape_elements(&shape, &elements)) return NULL;
    *values = zn_arena_alloc(&graph->arena, elements * sizeof **values);
    if (!*values) {
        graph->status = zn_fail_memory(graph->err, elements * sizeof **values);
        return NULL;
    }
    return zn_graph_parameter(graph, name,
                              (zn_tensor){.desc = zn_desc_make(ZN_F32, shape), .data = *values});
}

static zn_node *gradient_filter(zn_graph *graph)
{
    float *values = NULL; // [2 * CHANNELS][CHANNELS][3][3]
    zn_node *filter = fixed(graph, "gradient.filter", ZN_SHAPE(2 * CHANNELS, CHANNELS, 3, 3),
                            &values);
    for (int o = 0; filter && o < 2 * CHANNELS; o++) {
        float *taps = values + (o * CHANNELS + o / 2) * 9;
        taps[4] = -1;
        taps[o % 2 ? 7 : 5] = 1;
    }
    return filter;
}

static int parity(int bits)
{
    int odd = 0;
    for (; bits; bits &= bits - 1) odd ^= 1;
    return odd;
}

static zn_node *walsh_filter(zn_graph *graph)
{
    enum { ALL = WALSH * WALSH };
    float *values = NULL; // [CHANNELS * 64][CHANNELS][8][8]
    zn_node *filter = fixed(graph, "walsh.filter", ZN_SHAPE(CHANNELS * ALL, CHANNELS, WALSH, WALSH),
                            &values);
    for (int o = 0; filter && o < CHANNELS * ALL; o++) {
        float *taps = values + (o * CHANNELS + o / ALL) * ALL;
        int u = o % ALL / WALSH, v = o % WALSH;
        for (int i = 0; i < ALL; i++)
            taps[i] = parity(u & (i / WALSH)) ^ parity(v & (i % WALSH)) ? -0.125f : 0.125f;
    }
    return filter;
}

static zn_node *lattice_filter(zn_graph *graph)
{
    enum { PLACES = MESH * MESH, ALL = LATTICE * LATTICE };
    float *values = NULL; // [CHANNELS * 16][CHANNELS][16][16]
    zn_node *filter = fixed(graph, "lattice.filter",
                            ZN_SHAPE(CHANNELS * PLACES, CHANNELS, LATTICE, LATTICE), &values);
    for (int o = 0; filter && o < CHANNELS * PLACES; o++) {
        float *taps = values + (o * CHANNELS + o / PLACES) * ALL;
        for (int i = 0; i < ALL; i++) {
            const int place = i / LATTICE % MESH * MESH + i % MESH;
            if (place == o % PLACES) taps[i] = (float)PLACES / ALL;
        }
    }
    return filter;
}

// Of each channel a pixel less the mean of its neighbours, and the same with the other sign.
static zn_node *detail_filter(zn_graph *graph)
{
    static const float cross[9] = {0, -0.25f, 0, -0.25f, 1, -0.25f, 0, -0.25f, 0};
    float *values = NULL; // [2 * CHANNELS][CHANNELS][3][3]
    zn_node *filter = fixed(graph, "detail.filter", ZN_SHAPE(2 * CHANNELS, CHANNELS, 3, 3),
                            &values);
    for (int o = 0; filter && o < 2 * CHANNELS; o++) {
        float *taps = values + (o * CHANNELS + o / 2) * 9;
        for (int i = 0; i < 9; i++) taps[i] = o % 2 ? -cross[i] : cross[i];
    }
    return filter;
}

// The mean over a block of both signs of each channel.
static zn_node *block_filter(zn_graph *graph)
{
    enum { ALL = TEXTURE * TEXTURE };
    float *values = NULL; // [CHANNELS][2 * CHANNELS][8][8]
    zn_node *filter = fixed(graph, "block.filter",
                            ZN_SHAPE(CHANNELS, 2 * CHANNELS, TEXTURE, TEXTURE), &values);
    for (int i = 0; filter && i < CHANNELS * 2 * ALL; i++)
        values[i / (2 * ALL) * 2 * (CHANNELS + 1) * ALL + i % (2 * ALL)] = 1.0f / ALL;
    return filter;
}

static zn_node *texture(zn_graph *graph, zn_node *a, zn_node *b)
{
    zn_node *detail = detail_filter(graph), *blocks = block_filter(graph), *maps[] = {a, b};
    for (int i = 0; i < 2; i++) {
        zn_node *x = zn_conv2d(graph, "texture.detail", maps[i], detail, NULL, 1, 0);
        x = zn_relu(graph, "texture.positive", x);
        maps[i] = zn_conv2d(graph, "texture.blocks", x, blocks, NULL, TEXTURE, 0);
    }
    return difference(graph, ZN_LOSS_TEXTURE, maps[0], maps[1], ZN_DIFFERENCE_L1);
}

static zn_node *filtered(zn_graph *graph, zn_loss_kind kind, zn_node *a, zn_node *b,
                         zn_node *filter, int stride)
{
    a = zn_conv2d(graph, "reconstruction.filtered", a, filter, NULL, stride, 0);
    b = zn_conv2d(graph, "original.filtered", b, filter, NULL, stride, 0);
    return difference(graph, kind, a, b, ZN_DIFFERENCE_L1);
}

// As the SqueezeNet distance: squares of differences of normalised channels, summed over channels,
// averaged over pixels. Unlike SqueezeNet, the first stage sees every pixel.
static zn_node *stages(zn_graph *graph, const zn_features *a, const zn_features *b)
{
    const zn_difference_attributes squares = {.kind = ZN_DIFFERENCE_MSE};
    zn_node *distances[ZN_FEATURE_STAGES] = {NULL};
    float channels[ZN_FEATURE_STAGES] = {0};
    _Static_assert((int)ZN_FEATURE_STAGES <= (int)ZN_SCALAR_SUM_INPUTS, "one sum");
    if (graph->status != ZENITH_OK) return NULL;
    for (int i = 0; i < a->count; i++) {
        zn_node *x = zn_unit_norm(graph, "stages.unit", a->stage[i], ZN_FEATURE_EPSILON);
        zn_node *y = zn_unit_norm(graph, "stages.unit", b->stage[i], ZN_FEATURE_EPSILON);
        distances[i] = zn_difference_loss(graph, "stages.distance", x, y, squares);
        channels[i] = (float)a->stage[i]->desc.shape.dim[3];
    }
    return zn_scalar_sum(graph, "stages", distances, channels, a->count);
}

zn_node *zn_loss_build(zn_graph *graph, const zn_train_loss *loss, const zn_loss_inputs *in)
{
    const zn_loss_kind kind = (zn_loss_kind)loss->kind;
    const zn_features *own = &in->reconstruction_features;
    const zn_features *other = loss->teacher ? &in->teacher_features : &in->original_features;
    zn_node *a = in->reconstruction, *b = loss->teacher ? in->teacher : in->original;
    switch (kind) {
    case ZN_LOSS_L1:
        return difference(graph, kind, a, b, ZN_DIFFERENCE_L1);
    case ZN_LOSS_MSE:
        return difference(graph, kind, a, b, ZN_DIFFERENCE_MSE);
    case ZN_LOSS_CHARBONNIER:
        return difference(graph, kind, a, b, ZN_DIFFERENCE_CHARBONNIER);
    case ZN_LOSS_FEATURE:
        return difference(graph, kind, own->latent, other->latent, ZN_DIFFERENCE_MSE);
    case ZN_LOSS_STAGES:
        return stages(graph, own, other);
    case ZN_LOSS_LATENT:
        return difference(graph, kind, in->latent, in->original_latent, ZN_DIFFERENCE_L1);
    case ZN_LOSS_GRADIENT:
        return filtered(graph, kind, a, b, gradient_filter(graph), 1);
    case ZN_LOSS_WALSH:
        return filtered(graph, kind, a, b, walsh_filter(graph), WALSH);
    case ZN_LOSS_LATTICE:
        return filtered(graph, kind, a, b, lattice_filter(graph), LATTICE);
    case ZN_LOSS_TEXTURE:
        return texture(graph, a, b);
    case ZN_LOSS_SQUEEZENET:
        return zn_squeezenet_loss(graph, in->squeezenet, in->seen.reconstruction,
                                  loss->teacher ? in->seen.teacher : in->seen.original);
    case ZN_LOSS_ADVERSARIAL:
        return zn_hinge_loss(graph, "adversarial", in->scores,
                             (zn_hinge_attributes){.kind = ZN_HINGE_NONE});
    case ZN_LOSS_KL:
        return zn_kl_loss(graph, zn_loss_name(kind), in->mean, in->logvar);
    case ZN_LOSS_LOGISTIC:
        return zn_logistic_loss(graph, zn_loss_name(kind), a, b);
    case ZN_LOSS_KINDS:
        break;
    }
    return NULL;
}

// Sums have at most ZN_SCALAR_SUM_INPUTS numbers: longer ones go on with what is there so far.
zn_node *zn_loss_sum(zn_graph *graph, const zn_train_loss *losses, zn_node *const *values,
                     size_t count)
{
    zn_node *sum = NULL;
    for (size_t done = 0; done < count;) {
        zn_node *numbers[ZN_SCALAR_SUM_INPUTS];
        float weights[ZN_SCALAR_SUM_INPUTS];
        int n = 0;
        if (sum) {
            numbers[n] = sum;
            weights[n++] = 1;
        }
        for (; done < count && n < ZN_SCALAR_SUM_INPUTS; done++, n++) {
            numbers[n] = values[done];
            weights[n] = (float)losses[done].weight;
        }
        sum = zn_scalar_sum(graph, "loss", numbers, weights, n);
    }
    return sum;
}
