// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The blocks of the autoencoders of Stable Diffusion and FLUX. Names are those of diffusers. The
// value of a block is the node with the block's name.
#ifndef ZN_NN_KL_BLOCKS_H
#define ZN_NN_KL_BLOCKS_H

#include "src/nn/scope.h"

// NAME.weight and NAME.bias, epsilon 1e-6. The statistics see the whole map.
zn_node *zn_nn_kl_norm(const zn_scope *scope, const char *name, zn_node *x, int groups);
// The same, then silu.
zn_node *zn_nn_kl_norm_silu(const zn_scope *scope, const char *name, zn_node *x, int groups);

// s + conv2(silu(norm2(conv1(silu(norm1(x)))))), where s is x, or conv_shortcut(x) where the
// channels change. channels: of the result, as in zn_nn_conv_shape.
zn_node *zn_nn_kl_residual(const zn_scope *scope, const char *name, zn_node *x, int64_t channels,
                           int groups);

// x + to_out.0(attention(to_q(n), to_k(n), to_v(n))), n = group_norm(x): one head, every pixel a
// token.
zn_node *zn_nn_kl_attention(const zn_scope *scope, const char *name, zn_node *x, int groups);

// NAME.conv, 3x3: to half the size, with zeros on the right and below only; or of the doubled map.
zn_node *zn_nn_kl_down(const zn_scope *scope, const char *name, zn_node *x);
zn_node *zn_nn_kl_up(const zn_scope *scope, const char *name, zn_node *x);

#endif
