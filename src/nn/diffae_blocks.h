// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The blocks of diffusion autoencoders. Names are those of the published checkpoints. The value of
// a block is the node with the block's name.
#ifndef ZN_NN_DIFFAE_BLOCKS_H
#define ZN_NN_DIFFAE_BLOCKS_H

#include "src/nn/scope.h"

typedef enum zn_nn_resample {
    ZN_NN_SAME = 0,
    ZN_NN_HALF,  // means of 2x2 pixels
    ZN_NN_DOUBLE // nearest neighbours
} zn_nn_resample;

// NAME.weight and NAME.bias, 32 groups (as many as channels, where those are fewer), epsilon 1e-5.
zn_node *zn_nn_diffae_norm(const zn_scope *scope, const char *name, zn_node *x);
// The same with gain and offset of the run, which are vectors.
zn_node *zn_nn_diffae_given_norm(const zn_scope *scope, const char *name, zn_node *x, zn_node *gain,
                                 zn_node *offset);
zn_node *zn_nn_diffae_silu(const zn_scope *scope, const char *name, zn_node *x);

typedef struct zn_nn_diffae_residual {
    int64_t channels; // of the result
    zn_nn_resample resample;
    // Of the norm before the second convolution. NULL: there is no second half.
    zn_node *gain, *offset;
} zn_nn_diffae_residual;

// s + out_layers.3(silu(norm(r))), r = in_layers.2(resample(silu(in_layers.0(x)))), or s + r
// without the second half; s is resample(x), by skip_connection where the channels change.
zn_node *zn_nn_diffae_residual_block(const zn_scope *scope, const char *name, zn_node *x,
                                     const zn_nn_diffae_residual *is);

// x + proj_out(attention(q, k, v)): one head, every pixel a token; q, k and v are thirds of
// qkv(norm(x)).
zn_node *zn_nn_diffae_attention(const zn_scope *scope, const char *name, zn_node *x);

// s + proj_out(silu(gate) * state): state is the sum of four scans of maps, along rows and along
// columns, forth and back, in each of which a pixel takes logistic(t) of the value and keeps 1 -
// logistic(t) of the state; value, gate and both t are quarters of in_proj(norm(x)). s is x, by
// skip_connection where the channels change. Its time grows with the pixels.
zn_node *zn_nn_diffae_scan(const zn_scope *scope, const char *name, zn_node *x, int64_t channels);

#endif
