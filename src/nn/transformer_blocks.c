// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/nn/transformer_blocks.h"

#include "src/nn/layers.h"

#include <math.h>

static int64_t channels_of(const zn_node *x)
{
    return x ? x->desc.shape.dim[3] : 1;
}

zn_node *zn_nn_rms_norm(const zn_scope *scope, const char *name, zn_node *x, int groups,
                        float epsilon)
{
    char full[ZN_NAME_SIZE];
    zn_node *gain = zn_scope_parameter(scope, name, ".weight", ZN_SHAPE(channels_of(x) / groups));
    return zn_rms_norm(scope->graph, zn_scope_name(scope, name, "", full), x, gain,
                       (zn_token_norm_attributes){groups, epsilon});
}

zn_node *zn_nn_turned_heads(const zn_scope *scope, const zn_nn_heads *h, zn_node *x,
                            zn_node *angles)
{
    char full[ZN_NAME_SIZE];
    x = zn_nn_linear(scope, h->linear, x, h->heads * h->width, false);
    x = zn_nn_rms_norm(scope, h->norm, x, h->heads, h->epsilon);
    return zn_rope(scope->graph, zn_scope_name(scope, h->norm, ".turned", full), x, angles,
                   (zn_rope_attributes){.pairs = h->pairs, .heads = h->heads});
}

zn_node *zn_nn_gated_forward(const zn_scope *scope, const zn_nn_gated_names *names, zn_node *x,
                             int64_t inner)
{
    char full[ZN_NAME_SIZE];
    const int64_t channels = channels_of(x);
    zn_node *gate = zn_nn_linear(scope, names->gate, x, inner, false);
    zn_node *up = zn_nn_linear(scope, names->up, x, inner, false);
    x = zn_gated(scope->graph, zn_scope_name(scope, names->gate, ".gated", full), gate, up,
                 ZN_ACTIVATION_SILU);
    return zn_nn_linear(scope, names->down, x, channels, false);
}

void zn_rope_row(const zn_rope_axis *axes, int count, double theta, bool rounded, float *row)
{
    int pairs = 0, pair = 0;
    for (int a = 0; a < count; a++) pairs += axes[a].width / 2;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < axes[a].width / 2; i++, pair++) {
            double frequency = pow(theta, -2.0 * i / axes[a].width);
            if (rounded) frequency = (double)(float)frequency;
            const double angle = (double)(float)(axes[a].position * frequency);
            row[pair] = (float)cos(angle);
            row[pairs + pair] = (float)sin(angle);
        }
    }
}
