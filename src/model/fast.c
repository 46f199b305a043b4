// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Fast decoders for Stable Diffusion 1.x latents: TAESD's blocks at low resolution only, and a head whose
// channels become pixels. Prototypes: trained briefly from TAESD's weights.
//
//     3 tanh(x/3), conv 4->64, relu, 3 blocks, nearest x2, conv, 3 blocks, then
//     sd_v1:   nearest x2, conv, block, conv 64->12, pixel shuffle 2
//     sd_v1b:  conv 64->48, pixel shuffle 4
//
// Traps: layers are numbered as in the file, where an upsampling and the convolution after it are one
// layer (N.c); that convolution has no bias, the head has.
#include "src/base/text.h"
#include "src/model/family.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

typedef struct numbers {
    int stages;  // blocks at latent, double and quadruple resolution
    int shuffle; // of the head
} numbers;

static const numbers v1 = {3, 2}, v1b = {2, 4};
static const int blocks_of_stage[] = {3, 3, 1};

static const zn_variant variants[] = {
    {"sd_v1", "fast decoder (prototype) of Stable Diffusion 1.x latents", 4, 8, true, 0.18215f, 0,
     false, &v1},
    {"sd_v1b", "faster, softer decoder (prototype) of Stable Diffusion 1.x latents", 4, 8, true,
     0.18215f, 0, false, &v1b},
};

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    *parts = ZN_DECODER;
    if (!zn_weights_find(weights, "decoder.6.c.weight")) return 0;
    if (zn_weights_find(weights, "decoder.12.c.weight")) return 1u << 0;
    return zn_weights_find(weights, "decoder.10.c.weight") ? 1u << 1 : 0;
}

static zn_node *build(const zn_scope *scope, const zn_variant *variant, unsigned part, zn_node *x)
{
    const numbers *n = variant->numbers;
    zn_graph *graph = scope->graph;
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    int layer = 3;
    (void)part; // there are only decoders
    x = zn_soft_clip(graph, zn_scope_name(scope, "0", "", full), x, 3);
    x = zn_nn_conv(scope, "1", x, (zn_nn_conv_shape){64, 3, 1, true});
    x = zn_relu(graph, zn_scope_name(scope, "2", "", full), x);
    for (int stage = 0; stage < n->stages; stage++) {
        if (stage > 0) {
            zn_text_format(name, sizeof name, "%d.c", layer++);
            x = zn_upsample2(graph, zn_scope_name(scope, name, ".up", full), x);
            x = zn_nn_conv(scope, name, x, (zn_nn_conv_shape){64, 3, 1, false});
        }
        for (int i = 0; i < blocks_of_stage[stage]; i++) {
            zn_text_format(name, sizeof name, "%d", layer++);
            x = zn_nn_residual(scope, name, x);
        }
    }
    zn_text_format(name, sizeof name, "%d.c", layer);
    int64_t channels = 3 * n->shuffle * n->shuffle;
    x = zn_nn_conv(scope, name, x, (zn_nn_conv_shape){channels, 3, 1, true});
    return zn_pixel_shuffle(graph, zn_scope_name(scope, "pixels", "", full), x, n->shuffle);
}

const zn_family zn_family_fast = {
    .name = "fast",
    .variants = variants,
    .variants_count = sizeof variants / sizeof *variants,
    .probe = probe,
    .build = build,
};
