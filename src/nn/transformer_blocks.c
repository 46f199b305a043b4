// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/nn/transformer_blocks.h"

#include "src/nn/layers.h"

#include <math.h>

zn_node *zn_nn_rms_norm(const zn_scope *scope, const char *name, zn_node *x, int groups,
                        float epsilon)
{
    char full[ZN_NAME_SIZE];
    zn_node *gain = zn_scope_parameter(scope, name, ".weight",
                                       ZN_SHAPE(zn_nn_channels(x) / groups));
    return zn_rms_norm(scope->graph, zn_scope_name(scope, name, "", full), x, gain,
                       (zn_token_norm_attributes){groups, epsilon});
}

zn_node *zn_nn_turned_heads(const zn_scope *scope, const zn_nn_heads *h, zn_node *x,
                            zn_node *angles)
{
    char full[ZN_NAME_SIZE];
    const zn_nn_units units = {h->heads / h->together, h->together * h->width};
    const zn_share_range has = zn_share_of(scope->share, units.count);
    const int own = (int)(has.end - has.begin) * h->together;
    x = zn_nn_linear_rows(scope, h->linear, x, units);
    x = zn_nn_rms_norm(scope, h->norm, x, own, h->epsilon);
    return zn_rope(scope->graph, zn_scope_name(scope, h->norm, ".turned", full), x, angles,
                   (zn_rope_attributes){.pairs = h->pairs, .heads = own});
}

zn_node *zn_nn_gated_forward(const zn_scope *scope, const zn_nn_gated_names *names, zn_node *x,
                             int64_t inner)
{
    char full[ZN_NAME_SIZE];
    const int64_t channels = zn_nn_channels(x);
    const zn_nn_units units = zn_nn_inner_units(scope, inner);
    zn_node *gate = zn_nn_linear_rows(scope, names->gate, x, units);
    zn_node *up = zn_nn_linear_rows(scope, names->up, x, units);
    x = zn_gated(scope->graph, zn_scope_name(scope, names->gate, ".gated", full), gate, up,
                 ZN_ACTIVATION_SILU);
    return zn_nn_linear_columns(scope, names->down, x, units, channels);
}

// Of many channels each: features that a quantised matrix has rotated together
// (format/tensor/convrot.h) stay together.
zn_nn_units zn_nn_inner_units(const zn_scope *scope, int64_t inner)
{
    const int64_t shares = scope->share ? scope->share->count : 1;
    int64_t width = 256;
    while (width > 1 && (inner % width != 0 || inner / width < shares)) width /= 2;
    return (zn_nn_units){inner / width, width};
}

bool zn_nn_can_share(const zn_scope *scope, int64_t key_heads, int64_t inner)
{
    zn_graph *graph = scope->graph;
    if (!scope->share || (scope->share->count <= key_heads && scope->share->count <= inner))
        return true;
    graph->status = zn_fail(graph->err, ZENITH_UNSUPPORTED,
                            "%d processes cannot share a network with %lld heads of keys and %lld "
                            "channels inside its layers: start no more than it has heads",
                            scope->share->count, (long long)key_heads, (long long)inner);
    return false;
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
