// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/nn/layers.h"

#include "src/base/text.h"
#include "src/op/ops.h"

#include <string.h>

int64_t zn_nn_channels(const zn_node *x)
{
    return x ? x->desc.shape.dim[3] : 1;
}

const char *zn_nn_inside(const char *name, const char *tail, char dst[ZN_NAME_SIZE])
{
    zn_text_format(dst, ZN_NAME_SIZE, "%s.%s", name, tail);
    return dst;
}

zn_node *zn_nn_conv(const zn_scope *scope, const char *name, zn_node *x, zn_nn_conv_shape shape)
{
    char full[ZN_NAME_SIZE];
    zn_node *weight = zn_scope_parameter(
        scope, name, ".weight",
        ZN_SHAPE(shape.channels, zn_nn_channels(x), shape.kernel, shape.kernel));
    zn_node *bias = NULL;
    const int64_t channels = weight ? weight->desc.shape.dim[0] : 1;
    if (shape.bias) bias = zn_scope_parameter(scope, name, ".bias", ZN_SHAPE(channels));
    return zn_graph_add(scope->graph, &zn_op_conv2d, zn_scope_name(scope, name, "", full),
                        (zn_node *[]){x, weight, bias}, bias ? 3 : 2,
                        &(zn_conv2d_attributes){.stride = shape.stride,
                                                .pad = shape.kernel / 2,
                                                .direct = scope->direct});
}

// The last dimension. A scalar has none, and linear refuses it.
static int64_t inputs_of(const zn_node *x)
{
    return x && x->desc.shape.rank > 0 ? x->desc.shape.dim[x->desc.shape.rank - 1] : 1;
}

zn_node *zn_nn_linear(const zn_scope *scope, const char *name, zn_node *x, int64_t channels,
                      bool bias)
{
    char full[ZN_NAME_SIZE];
    const int64_t inputs = inputs_of(x);
    zn_node *weight = zn_scope_parameter(scope, name, ".weight", ZN_SHAPE(channels, inputs));
    zn_node *add = bias ? zn_scope_parameter(scope, name, ".bias", ZN_SHAPE(channels)) : NULL;
    return zn_graph_add(scope->graph, &zn_op_linear, zn_scope_name(scope, name, "", full),
                        (zn_node *[]){x, weight, add}, bias ? 3 : 2,
                        &(zn_linear_attributes){.int8 = scope->int8});
}

static const char share_tail[] = ".share";

bool zn_nn_is_share(const char *name)
{
    const size_t length = strlen(name), tail = sizeof share_tail - 1;
    return length > tail && strcmp(name + length - tail, share_tail) == 0;
}

static zn_cut cut_of(const zn_scope *scope, int dimension, zn_nn_units units)
{
    const zn_share_range own = zn_share_of(scope->share, units.count);
    return (zn_cut){dimension, own.begin * units.width, own.end * units.width};
}

static zn_node *product(const zn_scope *scope, const char *name, const char *tail, zn_node *x,
                        zn_node *weight)
{
    char full[ZN_NAME_SIZE];
    return zn_graph_add(scope->graph, &zn_op_linear, zn_scope_name(scope, name, tail, full),
                        (zn_node *[]){x, weight}, 2, &(zn_linear_attributes){.int8 = scope->int8});
}

zn_node *zn_nn_linear_rows(const zn_scope *scope, const char *name, zn_node *x, zn_nn_units units)
{
    const zn_shape shape = ZN_SHAPE(units.count * units.width, inputs_of(x));
    return product(scope, name, "", x,
                   zn_scope_part(scope, name, ".weight", shape, cut_of(scope, 0, units)));
}

zn_node *zn_nn_linear_columns(const zn_scope *scope, const char *name, zn_node *x,
                              zn_nn_units units, int64_t channels)
{
    char full[ZN_NAME_SIZE];
    const zn_shape shape = ZN_SHAPE(channels, units.count * units.width);
    zn_node *weight = zn_scope_part(scope, name, ".weight", shape, cut_of(scope, 1, units));
    if (!scope->share) return product(scope, name, "", x, weight);
    x = product(scope, name, share_tail, x, weight);
    return zn_sum_shares(scope->graph, zn_scope_name(scope, name, "", full), x, scope->share);
}

static zn_node *relu(const zn_scope *scope, const char *name, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    return zn_relu(scope->graph, zn_scope_name(scope, name, "", full), x);
}

zn_node *zn_nn_residual(const zn_scope *scope, const char *name, zn_node *x)
{
    return zn_nn_residual_over(scope, name, x, x);
}

zn_node *zn_nn_residual_over(const zn_scope *scope, const char *name, zn_node *x, zn_node *skip)
{
    const int64_t channels = zn_nn_channels(x);
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_node *y = x;
    for (int i = 0; i < 6; i += 2) {
        zn_text_format(part, sizeof part, "%s.conv.%d", name, i);
        y = zn_nn_conv(scope, part, y,
                       (zn_nn_conv_shape){i < 4 ? -channels : channels, 3, 1, true});
        if (i == 4) break;
        zn_text_format(part, sizeof part, "%s.conv.%d", name, i + 1);
        y = relu(scope, part, y);
    }
    y = zn_add(scope->graph, zn_scope_name(scope, name, ".skip", full), y, skip);
    return relu(scope, name, y);
}

zn_node *zn_nn_pool(const zn_scope *scope, const char *name, zn_node *x, int64_t inner)
{
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_text_format(part, sizeof part, "%s.pool.0", name);
    zn_node *y = zn_nn_conv(scope, part, x, (zn_nn_conv_shape){inner, 1, 1, false});
    zn_text_format(part, sizeof part, "%s.pool.1", name);
    zn_node *gamma = zn_scope_parameter(scope, part, ".weight", ZN_SHAPE(inner));
    zn_node *beta = zn_scope_parameter(scope, part, ".bias", ZN_SHAPE(inner));
    y = zn_group_norm(scope->graph, zn_scope_name(scope, part, "", full), y, gamma, beta, 4, 1e-5f);
    zn_text_format(part, sizeof part, "%s.pool.2", name);
    y = relu(scope, part, y);
    zn_text_format(part, sizeof part, "%s.pool.3", name);
    y = zn_nn_conv(scope, part, y, (zn_nn_conv_shape){zn_nn_channels(x), 1, 1, false});
    return zn_add(scope->graph, zn_scope_name(scope, name, ".pool", full), y, x);
}
