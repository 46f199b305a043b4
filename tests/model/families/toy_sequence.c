// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A small model of sequences: the numbers of tokens go in, a score for each token of the vocabulary
// comes out. tools/goldens/make_family_goldens.py has the same network in PyTorch.
//
//     x      = embed(ids)
//     x      = x + mix(attention(rope(query(h)), rope(key(h)), value(h))), h = norm1(x)
//     x      = x + down(silu(gate(h)) * up(h)), h = norm2(x)
//     scores = head(norm3(x))
#include "src/model/family.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

enum { VOCABULARY = 11, WIDTH = 16, HEADS = 2, INNER = 24 };

static const zn_variant variants[] = {
    {.name = "toy-sequence", .description = "a model of sequences for tests"}};

static void ports(const zn_variant *variant, const char *layout, const zn_sizes *sizes,
                  zn_ports *out)
{
    (void)variant, (void)layout;
    *out = (zn_ports){.inputs = {zn_port_sequence("ids", sizes->tokens, 1),
                                 zn_port_sequence("angles", sizes->tokens, WIDTH / HEADS)},
                      .outputs = {zn_port_sequence("scores", sizes->tokens, VOCABULARY)},
                      .inputs_count = 2,
                      .outputs_count = 1};
}

static zn_node *norm(const zn_scope *scope, const char *name, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    zn_node *gain = zn_scope_parameter(scope, name, ".weight", ZN_SHAPE(WIDTH));
    return zn_rms_norm(scope->graph, zn_scope_name(scope, name, "", full), x, gain,
                       (zn_token_norm_attributes){1, 1e-6f});
}

static zn_node *turned(const zn_scope *scope, const char *name, zn_node *x, int heads,
                       zn_node *angles)
{
    char full[ZN_NAME_SIZE];
    x = zn_nn_linear(scope, name, x, heads * WIDTH / HEADS, false);
    return zn_rope(scope->graph, zn_scope_name(scope, name, ".rope", full), x, angles,
                   (zn_rope_attributes){.pairs = ZN_ROPE_HALVES, .heads = heads});
}

// Each token looks at those before it; two heads share one of keys and values.
static zn_node *look_back(const zn_scope *scope, zn_node *x, zn_node *angles)
{
    char full[ZN_NAME_SIZE];
    zn_node *q = turned(scope, "query", x, HEADS, angles), *k = turned(scope, "key", x, 1, angles);
    zn_node *v = zn_nn_linear(scope, "value", x, WIDTH / HEADS, false);
    zn_node *y = zn_attention(
        scope->graph, zn_scope_name(scope, "attention", "", full), q, k, v,
        (zn_attention_attributes){.heads = HEADS, .key_heads = 1, .causal = true});
    return zn_nn_linear(scope, "mix", y, WIDTH, true);
}

static void build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                  zn_node *const *inputs, zn_node **outputs)
{
    zn_graph *graph = scope->graph;
    char name[ZN_NAME_SIZE];
    (void)variant, (void)sizes;
    zn_node *table = zn_scope_parameter(scope, "embed", ".weight", ZN_SHAPE(VOCABULARY, WIDTH));
    zn_node *x = zn_embed(graph, zn_scope_name(scope, "embed", "", name), inputs[0], table);
    zn_node *y = look_back(scope, norm(scope, "norm1", x), inputs[1]);
    x = zn_add(graph, zn_scope_name(scope, "mixed", "", name), y, x);
    y = norm(scope, "norm2", x);
    y = zn_gated(graph, zn_scope_name(scope, "gated", "", name),
                 zn_nn_linear(scope, "gate", y, INNER, false),
                 zn_nn_linear(scope, "up", y, INNER, false), ZN_ACTIVATION_SILU);
    y = zn_nn_linear(scope, "down", y, WIDTH, false);
    x = zn_add(graph, zn_scope_name(scope, "block", "", name), y, x);
    outputs[0] = zn_nn_linear(scope, "head", norm(scope, "norm3", x), VOCABULARY, true);
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    *parts = 1;
    return zn_weights_find(weights, "text.embed.weight") &&
           zn_weights_find(weights, "text.head.weight");
}

static const zn_part parts[] = {
    {.name = "text", .prefix = "text.", .smallest = {.tokens = 1}, .ports = ports, .build = build}};

const zn_family zn_family_toy_sequence = {
    .name = "toy_sequence",
    .variants = variants,
    .variants_count = 1,
    .parts = parts,
    .parts_count = 1,
    .probe = probe,
};
