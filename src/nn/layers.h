// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks made of operators. Each reads its parameters from the scope under the block's name, as
// PyTorch modules have them: NAME.weight, NAME.bias, NAME.conv.0.weight ...
#ifndef ZN_NN_LAYERS_H
#define ZN_NN_LAYERS_H

#include "src/nn/scope.h"

// Channels of a map; 1 of none, where an earlier step of a graph has failed.
int64_t zn_nn_channels(const zn_node *x);
// NAME.TAIL in dst, which it returns.
const char *zn_nn_inside(const char *name, const char *tail, char dst[ZN_NAME_SIZE]);

// A square convolution with "same" padding.
typedef struct zn_nn_conv_shape {
    int64_t channels; // of the result; -n: as many as the weights have, usually n
    int kernel, stride;
    bool bias;
} zn_nn_conv_shape;
zn_node *zn_nn_conv(const zn_scope *scope, const char *name, zn_node *x, zn_nn_conv_shape shape);

// A product with NAME.weight [channels, those of x], and NAME.bias where there is one: x is a map,
// a sequence or a vector.
zn_node *zn_nn_linear(const zn_scope *scope, const char *name, zn_node *x, int64_t channels,
                      bool bias);

// Channels that shares of a network divide: so many units, each so wide.
typedef struct zn_nn_units {
    int64_t count, width;
} zn_nn_units;
// Products without bias that the scope's share has a part of. By rows: the result has its units of
// the channels. By columns: x has its units of the channels that go in, and the products are summed
// over all shares; what one alone has made is called NAME.share, and is worth keeping in f32.
zn_node *zn_nn_linear_rows(const zn_scope *scope, const char *name, zn_node *x, zn_nn_units units);
zn_node *zn_nn_linear_columns(const zn_scope *scope, const char *name, zn_node *x,
                              zn_nn_units units, int64_t channels);
// Whether the name is that of such a product before it is summed.
bool zn_nn_is_share(const char *name);

// relu(x + conv(relu(conv(relu(conv(x)))))), three 3x3 convolutions NAME.conv.0, .2, .4. The result
// has the channels of x; the maps between have as many as the weights say, the same as x unless
// they were pruned.
zn_node *zn_nn_residual(const zn_scope *scope, const char *name, zn_node *x);

// The same with `skip` in place of the x that is added.
zn_node *zn_nn_residual_over(const zn_scope *scope, const char *name, zn_node *x, zn_node *skip);

// x + conv(relu(group_norm(conv(x)))): 1x1 convolutions NAME.pool.0 and NAME.pool.3 without bias
// through `inner` channels, NAME.pool.1 the norm with 4 groups. Its statistics see the whole
// picture.
zn_node *zn_nn_pool(const zn_scope *scope, const char *name, zn_node *x, int64_t inner);

#endif
