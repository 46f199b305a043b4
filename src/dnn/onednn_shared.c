// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See onednn_shared.h. A list: a plan has a few distinct convolutions.
#include "src/dnn/onednn_shared.h"

#include "src/base/memory.h"

#include <string.h>

static bool is_integer(zn_type type)
{
    return type == ZN_U8 || type == ZN_S8;
}

static bool same(const zn_dnn_conv_desc *a, const zn_dnn_conv_desc *b)
{
    return a->rows_in == b->rows_in && a->width_in == b->width_in &&
           a->channels_in == b->channels_in && a->rows_out == b->rows_out &&
           a->width_out == b->width_out && a->channels_out == b->channels_out &&
           a->kernel_h == b->kernel_h && a->kernel_w == b->kernel_w && a->stride == b->stride &&
           a->pad_left == b->pad_left && a->pad_right == b->pad_right && a->src == b->src &&
           a->weights == b->weights && a->dst == b->dst && a->bias == b->bias &&
           a->relu == b->relu && a->residual == b->residual &&
           a->residual_type == b->residual_type && a->src_scale == b->src_scale &&
           a->dst_scale == b->dst_scale && a->residual_scale == b->residual_scale;
}

// Scales of integers are arguments of a run; the others are part of the code.
static zn_dnn_conv_desc key_of(const zn_dnn_conv_desc *desc)
{
    zn_dnn_conv_desc key = *desc;
    key.weight_scales = NULL;
    if (is_integer(key.src)) key.src_scale = 1;
    if (is_integer(key.dst)) key.dst_scale = 1;
    return key;
}

zn_dnn_shared *zn_dnn_shared_find(zn_dnn *dnn, const zn_dnn_conv_desc *desc)
{
    const zn_dnn_conv_desc key = key_of(desc);
    for (zn_dnn_shared *s = dnn->shared; s; s = s->next) {
        if (!same(&s->key, &key)) continue;
        s->references++;
        return s;
    }
    return NULL;
}

zenith_status zn_dnn_shared_add(zn_dnn *dnn, const zn_dnn_conv_desc *desc,
                                dnnl_primitive_desc_t primitive_desc, zn_dnn_shared **out,
                                zn_error *err)
{
    zn_dnn_shared *s = zn_alloc_zero(sizeof *s);
    if (!s) return zn_fail_memory(err, sizeof *s);
    zenith_status status = zn_dnn_check(dnnl_primitive_create(&s->primitive, primitive_desc),
                                        "convolution", err);
    if (status != ZENITH_OK) {
        zn_free(s);
        return status;
    }
    s->key = key_of(desc);
    s->desc = primitive_desc;
    s->references = 1;
    s->next = dnn->shared;
    dnn->shared = s;
    *out = s;
    return ZENITH_OK;
}

void zn_dnn_shared_release(zn_dnn *dnn, zn_dnn_shared *shared)
{
    if (!shared || --shared->references > 0) return;
    zn_dnn_shared **link = &dnn->shared;
    while (*link != shared) link = &(*link)->next;
    *link = shared->next;
    dnnl_primitive_destroy(shared->primitive);
    dnnl_primitive_desc_destroy(shared->desc);
    zn_free(shared);
}
