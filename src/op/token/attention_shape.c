// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See attention_shape.h.
#include "src/op/token/attention_shape.h"

#include "src/op/op_checks.h"

#include <math.h>

zn_attention_shape zn_attention_shape_of(const zn_node *node, int q)
{
    const zn_attention_node_attributes *a = node->attributes;
    const int64_t *dim = node->inputs[q]->desc.shape.dim;
    const int64_t apart = a->of.columns ? dim[2] : 1;
    zn_attention_shape s = {.queries = dim[1] * dim[2] / apart,
                            .keys = a->keys,
                            .heads = a->of.heads * apart,
                            .key_heads = a->of.key_heads * apart,
                            .width = dim[3] / a->of.heads,
                            .causal = a->of.causal,
                            .scale = (double)a->of.scale};
    s.padded_keys = zn_attention_padded(s.keys);
    s.padded_width = zn_attention_padded(s.width);
    if (s.scale == 0) s.scale = 1 / sqrt((double)s.width);
    return s;
}

static zenith_status check_attributes(const zn_node *node, int q, zn_error *err)
{
    const zn_attention_node_attributes *a = node->attributes;
    const int64_t *dim = node->inputs[q]->desc.shape.dim;
    const zn_attention_attributes *of = &a->of;
    const int64_t queries = of->columns ? dim[1] : dim[1] * dim[2];
    if (of->heads < 1 || of->key_heads < 1 || of->heads % of->key_heads != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%d heads cannot share those of %d keys",
                       of->heads, of->key_heads);
    if (dim[3] % of->heads != 0 || dim[3] / of->heads > ZN_ATTENTION_WIDTH)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%lld channels do not divide into %d heads of at most %d", (long long)dim[3],
                       of->heads, (int)ZN_ATTENTION_WIDTH);
    if (!(of->scale >= 0) || isinf(of->scale))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the scale of scores must be positive");
    if (a->keys < 1 || a->keys > ZN_ATTENTION_TOKENS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "attention needs keys");
    if (of->causal && a->keys < queries)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the first of %lld causal queries would see none of %lld keys",
                       (long long)queries, (long long)a->keys);
    return ZENITH_OK;
}

zenith_status zn_attention_check(const zn_node *node, int q, int keys, zn_error *err)
{
    ZN_TRY(zn_check_map(node, q, err));
    ZN_TRY(zn_check_wide_floats(node, q, err));
    ZN_TRY(zn_check_wide_floats(node, keys, err));
    if (node->inputs[q]->desc.shape.dim[0] != 1)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "attention takes one picture or sequence");
    ZN_TRY(check_attributes(node, q, err));
    const zn_attention_shape s = zn_attention_shape_of(node, q);
    const zn_shape want = ZN_SHAPE(2, s.key_heads, s.padded_keys * s.padded_width);
    if (!zn_shape_equal(&node->inputs[keys]->desc.shape, &want))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the queries are not of the keys' width");
    return ZENITH_OK;
}

size_t zn_attention_index(const zn_attention_shape *s, zn_type type, bool value, int64_t key_head,
                          int64_t key, int64_t channel)
{
    const size_t head = (size_t)((value ? s->key_heads : 0) + key_head) * zn_attention_head(s);
    return head + (value ? zn_attention_place(type, s->padded_keys, channel, key)
                         : zn_attention_place(type, s->padded_width, key, channel));
}

zn_attention_run zn_attention_run_at(const zn_attention_shape *s, bool value, int64_t key_head,
                                     int64_t key, int64_t channel)
{
    const int64_t left = s->width - channel;
    const int64_t panel = ZN_ATTENTION_PANEL - channel % ZN_ATTENTION_PANEL;
    return (zn_attention_run){.at = zn_attention_index(s, ZN_F32, value, key_head, key, channel),
                              .step = value ? 1
                                            : ZN_ATTENTION_PANEL, // columns are channels, or keys
                              .count = value && panel < left ? panel : left};
}
