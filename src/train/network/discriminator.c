// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/network/discriminator.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/op/ops.h"

enum { LAYERS = 4, KERNEL = 3, PARAMETERS = 2 * LAYERS };

// Channels in widths; 0: as pictures have them, or one score.
static const struct {
    int in, out, stride;
} layers[LAYERS] = {{0, 1, 1}, {1, 2, 2}, {2, 2, 2}, {2, 0, 1}};

// Scores begin near zero, inside the margin, where both sides have a slope.
static const float last_scale = 0.1f;

static void set(zn_train_parameter *p, int layer, const char *what, zn_shape shape)
{
    zn_text_format(p->name, sizeof p->name, "discriminator.%d.%s", layer, what);
    p->tensor.desc = zn_desc_make(ZN_F32, shape);
    p->scale = layer == LAYERS - 1 ? last_scale : 1;
    (void)!zn_shape_elements(&shape, &p->elements); // the width is bounded by the config
    if (shape.rank == 4) p->inputs = (int64_t)p->elements / shape.dim[0];
}

zenith_status zn_discriminator_create(int64_t width, zn_network *out, zn_error *err)
{
    zn_network network = {.parameters = zn_alloc_zero(PARAMETERS * sizeof *network.parameters),
                          .count = PARAMETERS,
                          .capacity = PARAMETERS,
                          .width = width};
    if (!network.parameters) return zn_fail_memory(err, PARAMETERS * sizeof *network.parameters);
    for (int i = 0; i < LAYERS; i++) {
        const int64_t in = layers[i].in ? layers[i].in * width : 3;
        const int64_t out_channels = layers[i].out ? layers[i].out * width : 1;
        zn_train_parameter *pair = &network.parameters[2 * i];
        set(&pair[0], i, "weight", ZN_SHAPE(out_channels, in, KERNEL, KERNEL));
        set(&pair[1], i, "bias", ZN_SHAPE(out_channels));
    }
    *out = network;
    return ZENITH_OK;
}

zn_train_optimizer zn_discriminator_optimizer(const zn_train_discriminator *settings,
                                              const zn_train_optimizer *model)
{
    return (zn_train_optimizer){.lr = settings->lr,
                                .min_lr = settings->lr,
                                .beta1 = 0.5,
                                .beta2 = 0.99,
                                .eps = 1e-8,
                                .clip = model->clip};
}

zn_node *zn_discriminator_build(const zn_network *network, zn_graph *graph, zn_node *picture,
                                zn_node **nodes)
{
    zn_node *x = picture;
    for (size_t i = 0; i < network->count; i++) {
        const zn_train_parameter *p = &network->parameters[i];
        if (!nodes[i]) nodes[i] = zn_graph_parameter(graph, p->name, p->tensor);
    }
    for (int i = 0; i < LAYERS; i++) {
        char name[32];
        zn_text_format(name, sizeof name, "discriminator.%d", i);
        x = zn_conv2d(graph, name, x, nodes[2 * i], nodes[2 * i + 1], layers[i].stride, 1);
        if (i < LAYERS - 1) x = zn_relu(graph, name, x);
    }
    return x;
}

zn_node *zn_discriminator_loss(zn_graph *graph, zn_node *photograph, zn_node *reconstruction)
{
    const zn_hinge_attributes high = {ZN_HINGE_HIGH, 1}, low = {ZN_HINGE_LOW, 1};
    zn_node *const numbers[] = {zn_hinge_loss(graph, "discriminator.real", photograph, high),
                                zn_hinge_loss(graph, "discriminator.fake", reconstruction, low)};
    return zn_scalar_sum(graph, "discriminator", numbers, (const float[]){1, 1}, 2);
}
