// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/nn/zenith_blocks.h"

#include "src/base/text.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

enum { GROUPS = 4, SCORES = 4 };

static int64_t side_of(const zn_node *x, int dimension)
{
    return x ? x->desc.shape.dim[dimension] : 1;
}

static const char *part(char dst[ZN_NAME_SIZE], const char *name, const char *tail)
{
    zn_text_format(dst, ZN_NAME_SIZE, "%s%s", name, tail);
    return dst;
}

// --- ZenithLite ---------------------------------------------------------------------------------

zn_node *zn_nn_spectral_linear(const zn_scope *scope, const char *name, zn_node *x,
                               int64_t channels)
{
    const int64_t from = side_of(x, 3);
    int64_t size = 1;
    char full[ZN_NAME_SIZE];
    while (size < from || size < channels) size *= 2;
    zn_node *scale = zn_scope_parameter(scope, name, ".weight", ZN_SHAPE(size));
    x = zn_permute_scale(scope->graph, zn_scope_name(scope, name, ".order", full), x, scale, size);
    x = zn_walsh_channels(scope->graph, zn_scope_name(scope, name, "", full), x);
    if (channels == size) return x;
    return zn_channel_slice(scope->graph, zn_scope_name(scope, name, ".slice", full), x, 0,
                            channels);
}

static zn_node *mix_channels(const zn_scope *scope, const char *name, zn_node *x, zn_nn_mix mix)
{
    const int64_t channels = side_of(x, 3);
    char full[ZN_NAME_SIZE];
    if (mix == ZN_NN_MIX_SPECTRAL) return zn_nn_spectral_linear(scope, name, x, channels);
    zn_node *weight = zn_scope_parameter(scope, name, ".weight",
                                         ZN_SHAPE(channels, channels / GROUPS, 1, 1));
    zn_node *bias = zn_scope_parameter(scope, name, ".bias", ZN_SHAPE(channels));
    return zn_grouped_conv(scope->graph, zn_scope_name(scope, name, "", full), x, weight, bias,
                           GROUPS);
}

static zn_node *gate(const zn_scope *scope, const char *name, zn_node *x, zn_walsh_axis axis)
{
    const int64_t length = side_of(x, axis == ZN_WALSH_ROW ? 2 : 1);
    zn_graph *graph = scope->graph;
    char full[ZN_NAME_SIZE];
    if (graph->status == ZENITH_OK && (length & (length - 1)) != 0) {
        graph->status = zn_fail(graph->err, ZENITH_INVALID_ARGUMENT,
                                "'%s' transforms %lld pixels at once, which is no power of two: "
                                "take pictures whose sides are",
                                zn_scope_name(scope, name, "", full), (long long)length);
        return NULL;
    }
    zn_node *weight = zn_scope_parameter(scope, name, ".weight", ZN_SHAPE(length, side_of(x, 3)));
    return zn_walsh_gate(graph, zn_scope_name(scope, name, "", full), x, weight, axis);
}

zn_node *zn_nn_zenith_lite(const zn_scope *scope, const char *name, zn_node *x, zn_nn_mix mix)
{
    char inner[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_node *y = mix_channels(scope, part(inner, name, ".compress"), x, mix);
    y = gate(scope, part(inner, name, ".row"), y, ZN_WALSH_ROW);
    y = gate(scope, part(inner, name, ".column"), y, ZN_WALSH_COLUMN);
    y = mix_channels(scope, part(inner, name, ".expand"), y, mix);
    y = zn_add(scope->graph, zn_scope_name(scope, name, ".skip", full), y, x);
    return zn_relu(scope->graph, zn_scope_name(scope, name, "", full), y);
}

// --- ZenithBlock --------------------------------------------------------------------------------

static zn_node *spectral(const zn_scope *scope, const char *name, zn_node *x,
                         zn_nn_zenith_shape shape)
{
    const zn_shape gates = ZN_SHAPE(ZN_NN_TILE * ZN_NN_TILE, side_of(x, 3));
    const zn_walsh_tile_attributes tile = {.size = ZN_NN_TILE,
                                           .shift = shape.shifted ? ZN_NN_TILE / 2 : 0,
                                           .kept = shape.kept ? shape.kept : ZN_NN_TILE};
    char full[ZN_NAME_SIZE];
    zn_node *weight = zn_scope_parameter(scope, name, ".weight", gates), *threshold = NULL;
    if (shape.threshold) threshold = zn_scope_parameter(scope, name, ".threshold", gates);
    return zn_walsh_tile(scope->graph, zn_scope_name(scope, name, "", full), x, weight, threshold,
                         tile);
}

zn_node *zn_nn_zenith(const zn_scope *scope, const char *name, zn_node *x, zn_nn_zenith_shape shape)
{
    const int64_t channels = side_of(x, 3);
    zn_graph *graph = scope->graph;
    char inner[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_node *y = spectral(scope, part(inner, name, ".spectral"), x, shape);
    zn_node *eyes = zn_scope_parameter(scope, part(inner, name, ".eyes"), ".weight",
                                       ZN_SHAPE(channels, 1, 3, 3));
    eyes = zn_depthwise_conv(graph, zn_scope_name(scope, inner, "", full), x, eyes);
    y = zn_add(graph, zn_scope_name(scope, name, ".seen", full), y, eyes);
    y = zn_relu(graph, zn_scope_name(scope, name, ".seen.relu", full), y);
    y = zn_nn_conv(scope, part(inner, name, ".mix"), y, (zn_nn_conv_shape){channels, 1, 1, true});
    if (shape.pruned) {
        zn_node *score = zn_scope_parameter(scope, name, ".score", ZN_SHAPE(SCORES, SCORES));
        y = zn_tile_mask(graph, zn_scope_name(scope, name, ".mask", full), y, score);
    }
    if (shape.pruned && shape.still > 0)
        y = zn_still_mask(graph, zn_scope_name(scope, name, ".still", full), y, x,
                          (zn_still_mask_attributes){SCORES, SCORES, shape.still});
    return zn_add(graph, zn_scope_name(scope, name, "", full), y, x);
}
