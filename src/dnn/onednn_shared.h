// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Primitives shared by the convolutions of one zn_dnn. Generating code for a wide row takes up to
// 60 ms, and a residual network has the same convolution over and over: the weights, the scales of
// integers and all memory are arguments of a run, so one primitive serves them all.
#ifndef ZN_DNN_ONEDNN_SHARED_H
#define ZN_DNN_ONEDNN_SHARED_H

#include "src/dnn/onednn.h"

typedef struct zn_dnn_shared {
    zn_dnn_conv_desc key; // without what is given at run time
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    int references;
    struct zn_dnn_shared *next;
} zn_dnn_shared;

// The primitive for such a convolution with its reference counted, or NULL: there is none yet.
zn_dnn_shared *zn_dnn_shared_find(zn_dnn *dnn, const zn_dnn_conv_desc *desc);
// Makes one from `primitive_desc`, which it takes over on success.
zenith_status zn_dnn_shared_add(zn_dnn *dnn, const zn_dnn_conv_desc *desc,
                                dnnl_primitive_desc_t primitive_desc, zn_dnn_shared **out,
                                zn_error *err);
void zn_dnn_shared_release(zn_dnn *dnn, zn_dnn_shared *shared); // NULL is fine

#endif
