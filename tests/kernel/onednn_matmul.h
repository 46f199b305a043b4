// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A product of tokens with a matrix, dst[t][o] = sum over k of src[t][k] * weights[o][k]: what
// kernel/linear.h is checked and timed beside. Its bits depend on the number of tokens, so that no
// operator is computed by it.
#ifndef ZN_TESTS_ONEDNN_MATMUL_H
#define ZN_TESTS_ONEDNN_MATMUL_H

#include "src/dnn/dnn.h"

typedef struct zn_dnn_matmul_desc {
    int64_t tokens, inputs, outputs;
    zn_type type; // of src and weights: f32, bf16 or s8
    zn_type dst;  // as type, or f32
} zn_dnn_matmul_desc;

typedef struct zn_dnn_matmul zn_dnn_matmul;

#ifdef ZENITH_DNN
// ZENITH_UNSUPPORTED where oneDNN has no such product on this ISA. weights: dense [outputs,
// inputs], not needed after the call.
zenith_status zn_dnn_matmul_create(zn_dnn *dnn, const zn_dnn_matmul_desc *desc, const void *weights,
                                   zn_dnn_matmul **out, zn_error *err);
void zn_dnn_matmul_free(zn_dnn_matmul *matmul);
zenith_status zn_dnn_matmul_run(const zn_dnn_matmul *matmul, const void *src, void *dst,
                                zn_error *err);
#else
#define zn_dnn_matmul_create(dnn, desc, weights, out, err) ((void)(desc), ZENITH_UNSUPPORTED)
#define zn_dnn_matmul_free(matmul)                         ((void)(matmul))
#define zn_dnn_matmul_run(matmul, src, dst, err)           ((void)(matmul), ZENITH_UNSUPPORTED)
#endif

#endif
