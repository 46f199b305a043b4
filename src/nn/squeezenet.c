// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
//     BGR, 0 .. 255, minus the mean of ImageNet
//     conv 7x7 stride 2 -> 96, relu                       feature 0
//     pool, fire2, fire3, fire4                           features 1, 2: fire3, fire4
//     pool, fire5, fire6, fire7, fire8                    features 3 .. 6
//     pool, fire9                                         feature 7
//
//     fire(s, e): conv 1x1 -> s, relu, then conv 1x1 -> e and conv 3x3 -> e side by side, relu
//     pool: largest of 3x3 at every second pixel
//
// Traps
//   - The first convolution has no padding: so the mean may be subtracted before it, or folded into
//     it.
//   - Caffe rounds the sizes of pooled maps up.
//   - The order of colours is Caffe's, blue first; the exchange is the convolution "pixels" here.
#include "src/nn/squeezenet.h"

#include "src/base/text.h"
#include "src/op/ops.h"

// Colours exchanged and scaled, [3, 3, 1, 1], and the negative mean.
static const float pixel_weight[9] = {0, 0, 255, 0, 255, 0, 255, 0, 0};
static const float pixel_bias[3] = {-104, -117, -123};

static zn_node *constant(zn_graph *graph, const char *name, const float *values, zn_shape shape)
{
    const zn_tensor tensor = {.desc = zn_desc_make(ZN_F32, shape),
                              .data = (void *)(uintptr_t)values};
    return zn_graph_parameter(graph, name, tensor);
}

static zn_node *to_pixels(const zn_scope *scope, zn_node *x)
{
    char name[ZN_NAME_SIZE];
    zn_node *weight = constant(scope->graph, zn_scope_name(scope, "pixels", ".weight", name),
                               pixel_weight, ZN_SHAPE(3, 3, 1, 1));
    zn_node *bias = constant(scope->graph, zn_scope_name(scope, "pixels", ".bias", name),
                             pixel_bias, ZN_SHAPE(3));
    return zn_conv2d(scope->graph, zn_scope_name(scope, "pixels", "", name), x, weight, bias, 1, 0);
}

typedef struct conv_shape {
    int64_t channels; // of the result
    int kernel, stride, pad;
} conv_shape;

static zn_node *conv_relu(const zn_scope *scope, const char *layer, zn_node *x, conv_shape shape)
{
    char name[ZN_NAME_SIZE];
    const int64_t from = x ? x->desc.shape.dim[3] : 1;
    zn_node *weight = zn_scope_parameter(
        scope, layer, ".weight", ZN_SHAPE(shape.channels, from, shape.kernel, shape.kernel));
    zn_node *bias = zn_scope_parameter(scope, layer, ".bias", ZN_SHAPE(shape.channels));
    x = zn_conv2d(scope->graph, zn_scope_name(scope, layer, "", name), x, weight, bias,
                  shape.stride, shape.pad);
    return zn_relu(scope->graph, zn_scope_name(scope, layer, ".relu", name), x);
}

static zn_node *fire(const zn_scope *scope, int number, zn_node *x)
{
    static const int squeezed[] = {16, 16, 32, 32, 48, 48, 64, 64}; // of fire2 .. fire9
    const int64_t narrow = squeezed[number - 2], wide = 4 * narrow;
    char layer[ZN_NAME_SIZE], name[ZN_NAME_SIZE];
    zn_text_format(layer, sizeof layer, "fire%d/conv1x1_1", number);
    x = conv_relu(scope, layer, x, (conv_shape){narrow, 1, 1, 0});
    zn_text_format(layer, sizeof layer, "fire%d/conv1x1_2", number);
    zn_node *points = conv_relu(scope, layer, x, (conv_shape){wide, 1, 1, 0});
    zn_text_format(layer, sizeof layer, "fire%d/conv3x3_2", number);
    zn_node *squares = conv_relu(scope, layer, x, (conv_shape){wide, 3, 1, 1});
    zn_text_format(layer, sizeof layer, "fire%d", number);
    return zn_concat(scope->graph, zn_scope_name(scope, layer, "", name),
                     (zn_node *[]){points, squares}, 2);
}

zn_node *zn_nn_squeezenet(const zn_scope *scope, zn_node *x,
                          zn_node *features[ZN_SQUEEZENET_FEATURES])
{
    char layer[ZN_NAME_SIZE], name[ZN_NAME_SIZE];
    x = conv_relu(scope, "conv1", to_pixels(scope, x), (conv_shape){96, 7, 2, 0});
    features[0] = x;
    for (int number = 2; number <= 9; number++) {
        if (number == 2 || number == 5 || number == 9) {
            zn_text_format(layer, sizeof layer, "pool%d", number - 1);
            x = zn_max_pool(scope->graph, zn_scope_name(scope, layer, "", name), x, 3, 2);
        }
        x = fire(scope, number, x);
        if (number > 2) features[number - 2] = x;
    }
    return x;
}
