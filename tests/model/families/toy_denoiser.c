// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A small conditional denoiser, of the kind that large ones are: a map, a sequence, a vector and a
// scalar go in, a map comes out. tools/goldens/make_family_goldens.py has the same network in
// PyTorch.
//
//     condition = silu(time.0(features(time))) * style(style)                     a vector
//     x         = in(latent), 3x3
//     x         = x + said(attention(query(norm0(x)), key(text), value(text)))    over the text
//     x         = x + gate(condition) * down(gelu(up(h))),
//                 h = norm(x) * (1 + scale(condition)) + shift(condition)
//     noise     = out(x), 3x3
#include "src/model/family.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

enum { LATENT = 4, TEXT = 12, STYLE = 8, FEATURES = 16, WIDTH = 16, HEADS = 2 };

static const zn_variant variants[] = {
    {.name = "toy-denoiser", .description = "a denoiser for tests", .int8 = ZN_INT8_DYNAMIC}};

// Sizes: the latent's, and the tokens of the text.
static void ports(const zn_variant *variant, const char *layout, const zn_sizes *sizes,
                  zn_ports *out)
{
    (void)variant, (void)layout;
    *out = (zn_ports){.inputs = {zn_port_map("latent", sizes->height, sizes->width, LATENT),
                                 zn_port_sequence("text", sizes->tokens, TEXT),
                                 zn_port_vector("style", STYLE), zn_port_scalar("time")},
                      .outputs = {zn_port_map("noise", sizes->height, sizes->width, LATENT)},
                      .inputs_count = 4,
                      .outputs_count = 1};
}

static const char *named(const zn_scope *scope, const char *name, char dst[ZN_NAME_SIZE])
{
    return zn_scope_name(scope, name, "", dst);
}

// One vector for all pixels: when it is, and in which style.
static zn_node *condition(const zn_scope *scope, zn_node *style, zn_node *time)
{
    char name[ZN_NAME_SIZE];
    zn_node *t = zn_time_features(scope->graph, named(scope, "time", name), time,
                                  (zn_time_features_attributes){FEATURES, 10000});
    t = zn_nn_linear(scope, "time.0", t, WIDTH, true);
    style = zn_nn_linear(scope, "style", style, WIDTH, true);
    return zn_gated(scope->graph, named(scope, "condition", name), t, style, ZN_ACTIVATION_SILU);
}

static zn_node *norm(const zn_scope *scope, const char *name, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    return zn_layer_norm(scope->graph, named(scope, name, full), x, NULL, NULL,
                         (zn_token_norm_attributes){1, 1e-6f});
}

static zn_node *read_text(const zn_scope *scope, zn_node *x, zn_node *text)
{
    char name[ZN_NAME_SIZE];
    zn_node *q = zn_nn_linear(scope, "query", norm(scope, "norm0", x), WIDTH, true);
    zn_node *k = zn_nn_linear(scope, "key", text, WIDTH, true);
    zn_node *v = zn_nn_linear(scope, "value", text, WIDTH, true);
    zn_node *y = zn_attention(scope->graph, named(scope, "attention", name), q, k, v,
                              (zn_attention_attributes){.heads = HEADS, .key_heads = HEADS});
    y = zn_nn_linear(scope, "said", y, WIDTH, true);
    return zn_add(scope->graph, named(scope, "read", name), x, y);
}

static zn_node *block(const zn_scope *scope, zn_node *x, zn_node *c)
{
    zn_graph *graph = scope->graph;
    char name[ZN_NAME_SIZE];
    zn_node *shift = zn_nn_linear(scope, "shift", c, WIDTH, true);
    zn_node *scale = zn_nn_linear(scope, "scale", c, WIDTH, true);
    zn_node *gate = zn_nn_linear(scope, "gate", c, WIDTH, true);
    zn_node *y = zn_modulate(graph, named(scope, "modulate", name), norm(scope, "norm", x), scale,
                             shift);
    y = zn_nn_linear(scope, "up", y, 2 * WIDTH, true);
    y = zn_activate(graph, named(scope, "gelu", name), y, ZN_ACTIVATION_GELU_TANH);
    y = zn_nn_linear(scope, "down", y, WIDTH, true);
    return zn_gated_add(graph, named(scope, "block", name), x, y, gate);
}

static void build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                  zn_node *const *inputs, zn_node **outputs)
{
    (void)variant, (void)sizes;
    zn_node *c = condition(scope, inputs[2], inputs[3]);
    zn_node *x = zn_nn_conv(scope, "in", inputs[0], (zn_nn_conv_shape){WIDTH, 3, 1, true});
    x = block(scope, read_text(scope, x, inputs[1]), c);
    outputs[0] = zn_nn_conv(scope, "out", x, (zn_nn_conv_shape){LATENT, 3, 1, true});
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    *parts = 1;
    return zn_weights_find(weights, "denoiser.time.0.weight") &&
           zn_weights_find(weights, "denoiser.style.weight");
}

static const zn_part parts[] = {{.name = "denoiser",
                                 .prefix = "denoiser.",
                                 .smallest = {.height = 1, .width = 1, .tokens = 1},
                                 .ports = ports,
                                 .build = build}};

const zn_family zn_family_toy_denoiser = {
    .name = "toy_denoiser",
    .variants = variants,
    .variants_count = 1,
    .parts = parts,
    .parts_count = 1,
    .probe = probe,
};
