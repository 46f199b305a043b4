// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the two gradients of attention share: their inputs in f32, laid out as
// kernel/attention/attention_gradient.h multiplies them, and their references. With s = scale q .
// k, p = softmax(s) and y = sum of p v:
//
//     dp = dy . v     D = sum of p dp     ds = p (dp - D)
//     dq = scale sum over keys of ds k    dk = scale sum over queries of ds q    dv = sum of p dy
#ifndef ZN_OP_ATTENTION_ROWS_H
#define ZN_OP_ATTENTION_ROWS_H

#include "src/kernel/attention/attention_gradient.h"
#include "src/op/convert_parallel.h"
#include "src/op/token/attention_shape.h"

enum { ZN_ATTENTION_DY, ZN_ATTENTION_Q, ZN_ATTENTION_PACKED, ZN_ATTENTION_INPUTS };

// The four matrices of each head, in up to three forms: rows [padded tokens][padded width], and
// both kinds of panels.
enum { ZN_ATTENTION_K = ZN_ATTENTION_PACKED, ZN_ATTENTION_V, ZN_ATTENTION_MATRICES };
typedef enum zn_attention_form {
    ZN_ATTENTION_ROWS,
    ZN_ATTENTION_TOKENS_PANELS,
    ZN_ATTENTION_CHANNELS_PANELS,
    ZN_ATTENTION_FORMS
} zn_attention_form;

// The inputs of a call as they lie in its scratch.
typedef struct zn_attention_rows {
    zn_attention_shape shape;
    const zn_attention_gradient *kernel;
    zn_conversion widen[2]; // dy, q
    zn_type keys_type;
    float keys_scale;
    int64_t queries; // of a call
    size_t at[ZN_ATTENTION_MATRICES]
             [ZN_ATTENTION_FORMS]; // floats; 0, but for the first: it is not there
    size_t bytes; // with the parts: of each worker a state of the kernel and two blocks of sums
} zn_attention_rows;

// Sets the parts of `base` too. forms: a bit for each form that is wanted of a matrix besides rows.
// rows: of a call.
zenith_status zn_attention_rows_make(const zn_lowering_request *request, int64_t rows,
                                     const unsigned forms[ZN_ATTENTION_MATRICES], zn_lowering *base,
                                     zn_attention_rows *out, zn_error *err);
void zn_attention_rows_load(const zn_attention_rows *rows, const zn_call *call);

// A form of a head's matrix (of a key head's, for K and V).
float *zn_attention_form_of(const zn_attention_rows *rows, const zn_call *call, int matrix,
                            zn_attention_form form, int64_t head);

// What a worker has for itself.
typedef struct zn_attention_part {
    zn_attention_gradient_state *state;
    float *sums[2]; // [ZN_ATTENTION_GRADIENT_ROWS][padded width]
} zn_attention_part;
zn_attention_part zn_attention_part_of(const zn_attention_rows *rows, void *scratch);

// Of one head of one query, for references: log of the sum of e^s, and D.
typedef struct zn_attention_totals {
    double log_total, mean;
} zn_attention_totals;

// p and ds of one key.
typedef struct zn_attention_pair {
    double p, ds;
} zn_attention_pair;

// Of whole tensors: plain loops on real values.
zn_attention_totals zn_attention_totals_refer(const zn_attention_shape *s, const zn_tensor *inputs,
                                              int64_t query, int64_t head);
zn_attention_pair zn_attention_pair_refer(const zn_attention_shape *s, const zn_tensor *inputs,
                                          int64_t query, int64_t head, int64_t key,
                                          zn_attention_totals totals);
zenith_status zn_attention_gradient_check(const zn_node *node, zn_error *err);
double zn_attention_gradient_flops(const zn_node *node);

// The samples of both gradients.
enum { ZN_ATTENTION_SAMPLES = 4 };
extern const zn_op_sample zn_attention_gradient_samples[ZN_ATTENTION_SAMPLES];

#endif
