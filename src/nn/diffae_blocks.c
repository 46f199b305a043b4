// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/nn/diffae_blocks.h"

#include "src/base/text.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

enum { GROUPS = 32 };
static const float EPSILON = 1e-5f;

// 0, and a sentence, where the channels do not divide.
static int groups_of(const zn_scope *scope, const zn_node *x)
{
    const int64_t channels = zn_nn_channels(x);
    if (channels <= GROUPS) return (int)channels;
    if (channels % GROUPS == 0) return GROUPS;
    if (scope->graph->status == ZENITH_OK)
        scope->graph->status = zn_fail(
            scope->graph->err, ZENITH_BAD_FILE,
            "config.json: a map of %lld channels does not divide into the %d groups of a norm; "
            "channels times each multiple must be a multiple of %d",
            (long long)channels, GROUPS, GROUPS);
    return 0;
}

zn_node *zn_nn_diffae_given_norm(const zn_scope *scope, const char *name, zn_node *x, zn_node *gain,
                                 zn_node *offset)
{
    char full[ZN_NAME_SIZE];
    const int groups = groups_of(scope, x);
    if (!groups) return NULL;
    return zn_group_norm(scope->graph, zn_scope_name(scope, name, "", full), x, gain, offset,
                         groups, EPSILON);
}

zn_node *zn_nn_diffae_norm(const zn_scope *scope, const char *name, zn_node *x)
{
    zn_node *gain = zn_scope_parameter(scope, name, ".weight", ZN_SHAPE(zn_nn_channels(x)));
    zn_node *offset = zn_scope_parameter(scope, name, ".bias", ZN_SHAPE(zn_nn_channels(x)));
    return zn_nn_diffae_given_norm(scope, name, x, gain, offset);
}

zn_node *zn_nn_diffae_silu(const zn_scope *scope, const char *name, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    return zn_activate(scope->graph, zn_scope_name(scope, name, ".silu", full), x,
                       ZN_ACTIVATION_SILU);
}

static zn_node *resampled(const zn_scope *scope, const char *name, zn_node *x, zn_nn_resample how)
{
    char sums[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_scope_name(scope, name, ".resampled", full);
    if (how == ZN_NN_SAME) return x;
    if (how == ZN_NN_DOUBLE) return zn_upsample2(scope->graph, full, x);
    x = zn_sum2(scope->graph, zn_scope_name(scope, name, ".sums", sums), x);
    return zn_affine(scope->graph, full, x, 0.25f, 0);
}

zn_node *zn_nn_diffae_residual_block(const zn_scope *scope, const char *name, zn_node *x,
                                     const zn_nn_diffae_residual *is)
{
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    const zn_nn_conv_shape shape = {is->channels, 3, 1, true};
    zn_node *y = zn_nn_diffae_norm(scope, zn_nn_inside(name, "in_layers.0", part), x);
    y = zn_nn_diffae_silu(scope, part, y);
    y = resampled(scope, part, y, is->resample);
    y = zn_nn_conv(scope, zn_nn_inside(name, "in_layers.2", part), y, shape);
    if (is->gain) {
        y = zn_nn_diffae_given_norm(scope, zn_nn_inside(name, "out_layers.0", part), y, is->gain,
                                    is->offset);
        y = zn_nn_diffae_silu(scope, part, y);
        y = zn_nn_conv(scope, zn_nn_inside(name, "out_layers.3", part), y, shape);
    }
    zn_nn_inside(name, "skip_connection", part);
    x = resampled(scope, part, x, is->resample);
    if (zn_nn_channels(x) != is->channels)
        x = zn_nn_conv(scope, part, x, (zn_nn_conv_shape){is->channels, 1, 1, true});
    return zn_add(scope->graph, zn_scope_name(scope, name, "", full), y, x);
}

static zn_node *third(const zn_scope *scope, const char *name, zn_node *x, int which)
{
    char full[ZN_NAME_SIZE], tail[16];
    const int64_t channels = zn_nn_channels(x) / 3;
    zn_text_format(tail, sizeof tail, ".%d", which);
    return zn_channel_slice(scope->graph, zn_scope_name(scope, name, tail, full), x,
                            which * channels, channels);
}

zn_node *zn_nn_diffae_attention(const zn_scope *scope, const char *name, zn_node *x)
{
    const int64_t channels = zn_nn_channels(x);
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_node *y = zn_nn_diffae_norm(scope, zn_nn_inside(name, "norm", part), x);
    y = zn_nn_linear(scope, zn_nn_inside(name, "qkv", part), y, 3 * channels, true);
    zn_node *q = third(scope, part, y, 0), *k = third(scope, part, y, 1);
    zn_node *v = third(scope, part, y, 2);
    y = zn_attention(scope->graph, zn_scope_name(scope, name, ".attention", full), q, k, v,
                     (zn_attention_attributes){.heads = 1, .key_heads = 1});
    y = zn_nn_linear(scope, zn_nn_inside(name, "proj_out", part), y, channels, true);
    return zn_add(scope->graph, zn_scope_name(scope, name, "", full), y, x);
}

typedef zn_node *scan_fn(zn_graph *graph, const char *name, zn_node *decay, zn_node *x, bool back);

// Both ways along rows or columns: `take` is what a pixel takes of the value, before its curve.
static zn_node *scanned(const zn_scope *scope, const char *name, const char *along, scan_fn *scan,
                        zn_node *take, zn_node *value)
{
    char base[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_graph *graph = scope->graph;
    zn_text_format(base, sizeof base, "%s.%s", name, along);
    zn_node *taken = zn_activate(graph, zn_scope_name(scope, base, ".take", full), take,
                                 ZN_ACTIVATION_LOGISTIC);
    zn_node *decay = zn_affine(graph, zn_scope_name(scope, base, ".decay", full), taken, -1, 1);
    zn_node *x = zn_gated(graph, zn_scope_name(scope, base, ".x", full), taken, value,
                          ZN_ACTIVATION_NONE);
    zn_node *forth = scan(graph, zn_scope_name(scope, base, ".forth", full), decay, x, false);
    zn_node *back = scan(graph, zn_scope_name(scope, base, ".back", full), decay, x, true);
    return zn_add(graph, zn_scope_name(scope, base, "", full), forth, back);
}

zn_node *zn_nn_diffae_scan(const zn_scope *scope, const char *name, zn_node *x, int64_t channels)
{
    enum { VALUE, GATE, ROWS, COLUMNS, QUARTERS };
    zn_node *quarters[QUARTERS];
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE], tail[16];
    zn_node *y = zn_nn_diffae_norm(scope, zn_nn_inside(name, "norm", part), x);
    y = zn_nn_linear(scope, zn_nn_inside(name, "in_proj", part), y, QUARTERS * channels, true);
    for (int i = 0; i < QUARTERS; i++) {
        zn_text_format(tail, sizeof tail, ".%d", i);
        quarters[i] = zn_channel_slice(scope->graph, zn_scope_name(scope, part, tail, full), y,
                                       i * channels, channels);
    }
    y = zn_add(
        scope->graph, zn_scope_name(scope, name, ".state", full),
        scanned(scope, name, "rows", zn_scan_rows, quarters[ROWS], quarters[VALUE]),
        scanned(scope, name, "columns", zn_scan_columns, quarters[COLUMNS], quarters[VALUE]));
    y = zn_gated(scope->graph, zn_scope_name(scope, name, ".gated", full), quarters[GATE], y,
                 ZN_ACTIVATION_SILU);
    y = zn_nn_linear(scope, zn_nn_inside(name, "proj_out", part), y, channels, true);
    if (zn_nn_channels(x) != channels)
        x = zn_nn_conv(scope, zn_nn_inside(name, "skip_connection", part), x,
                       (zn_nn_conv_shape){channels, 1, 1, true});
    return zn_add(scope->graph, zn_scope_name(scope, name, "", full), y, x);
}
