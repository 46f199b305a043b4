// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/nn/kl_blocks.h"

#include "src/base/text.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

static const float EPSILON = 1e-6f;

zn_node *zn_nn_kl_norm(const zn_scope *scope, const char *name, zn_node *x, int groups)
{
    char full[ZN_NAME_SIZE];
    zn_node *gamma = zn_scope_parameter(scope, name, ".weight", ZN_SHAPE(zn_nn_channels(x)));
    zn_node *beta = zn_scope_parameter(scope, name, ".bias", ZN_SHAPE(zn_nn_channels(x)));
    return zn_group_norm(scope->graph, zn_scope_name(scope, name, "", full), x, gamma, beta, groups,
                         EPSILON);
}

zn_node *zn_nn_kl_norm_silu(const zn_scope *scope, const char *name, zn_node *x, int groups)
{
    char full[ZN_NAME_SIZE];
    x = zn_nn_kl_norm(scope, name, x, groups);
    return zn_activate(scope->graph, zn_scope_name(scope, name, ".silu", full), x,
                       ZN_ACTIVATION_SILU);
}

zn_node *zn_nn_kl_residual(const zn_scope *scope, const char *name, zn_node *x, int64_t channels,
                           int groups)
{
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_node *skip = x;
    zn_node *y = zn_nn_kl_norm_silu(scope, zn_nn_inside(name, "norm1", part), x, groups);
    y = zn_nn_conv(scope, zn_nn_inside(name, "conv1", part), y,
                   (zn_nn_conv_shape){channels, 3, 1, true});
    const int64_t out = zn_nn_channels(y);
    y = zn_nn_kl_norm_silu(scope, zn_nn_inside(name, "norm2", part), y, groups);
    y = zn_nn_conv(scope, zn_nn_inside(name, "conv2", part), y,
                   (zn_nn_conv_shape){out, 3, 1, true});
    if (out != zn_nn_channels(x))
        skip = zn_nn_conv(scope, zn_nn_inside(name, "conv_shortcut", part), x,
                          (zn_nn_conv_shape){out, 1, 1, true});
    return zn_add(scope->graph, zn_scope_name(scope, name, "", full), y, skip);
}

zn_node *zn_nn_kl_attention(const zn_scope *scope, const char *name, zn_node *x, int groups)
{
    const int64_t channels = zn_nn_channels(x);
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_node *y = zn_nn_kl_norm(scope, zn_nn_inside(name, "group_norm", part), x, groups);
    zn_node *q = zn_nn_linear(scope, zn_nn_inside(name, "to_q", part), y, channels, true);
    zn_node *k = zn_nn_linear(scope, zn_nn_inside(name, "to_k", part), y, channels, true);
    zn_node *v = zn_nn_linear(scope, zn_nn_inside(name, "to_v", part), y, channels, true);
    y = zn_attention(scope->graph, zn_scope_name(scope, name, ".attention", full), q, k, v,
                     (zn_attention_attributes){.heads = 1, .key_heads = 1});
    y = zn_nn_linear(scope, zn_nn_inside(name, "to_out.0", part), y, channels, true);
    return zn_add(scope->graph, zn_scope_name(scope, name, "", full), y, x);
}

zn_node *zn_nn_kl_down(const zn_scope *scope, const char *name, zn_node *x)
{
    const int64_t channels = zn_nn_channels(x);
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_nn_inside(name, "conv", part);
    zn_node *weight = zn_scope_parameter(scope, part, ".weight",
                                         ZN_SHAPE(channels, channels, 3, 3));
    zn_node *bias = zn_scope_parameter(scope, part, ".bias", ZN_SHAPE(channels));
    return zn_graph_add(
        scope->graph, &zn_op_conv2d, zn_scope_name(scope, part, "", full),
        (zn_node *[]){x, weight, bias}, 3,
        &(zn_conv2d_attributes){.stride = 2, .pad = 0, .direct = scope->direct, .after = 1});
}

zn_node *zn_nn_kl_up(const zn_scope *scope, const char *name, zn_node *x)
{
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    x = zn_upsample2(scope->graph, zn_scope_name(scope, name, ".up", full), x);
    return zn_nn_conv(scope, zn_nn_inside(name, "conv", part), x,
                      (zn_nn_conv_shape){zn_nn_channels(x), 3, 1, true});
}
