// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Qwen3 (transformers' Qwen3Model), as the text encoder of diffusion models: numbers of tokens go
// in, the hidden state after the last layer but one comes out.
//
//     x      = embed_tokens(ids)
//     x      = x + o_proj(attention(q, k, v)), of input_layernorm(x); q and k are normed by head,
//              then rotated
//     x      = x + down_proj(silu(gate_proj(h)) * up_proj(h)), h = post_attention_layernorm(x)
//
// Traps
//   - Z-Image takes hidden_states[-2]: the last layer, the final norm and the head are never
//     computed (skip=1, the usual). With skip=0 all layers and the final norm are.
//   - Queries are wider than the hidden state: heads * head_dim is 4096 beside 2560.
//   - Several heads of queries share one of keys and values.
//   - Pairs of rope are the halves of a head, (i, i + width / 2), and its frequencies are f32.
//   - Prompts are not padded: what follows a token does not change it, so rows are those of a
//     padded run.
//   - Three outer names: none (Qwen3Model alone), "model." (published files), and that of whole
//     checkpoints; and GGUF's names, whose queries and keys are in the same order as here.
#include "src/model/text_to_image/qwen3.h"

#include "src/base/text.h"
#include "src/model/settings.h"
#include "src/model/translate.h"
#include "src/nn/layers.h"
#include "src/nn/transformer_blocks.h"
#include "src/op/ops.h"

#include <string.h>

enum { VOCABULARY, WIDTH, INNER, LAYERS, SKIP, HEADS, KEY_HEADS, HEAD, THETA, EPSILON, SETTINGS };

_Static_assert((int)SETTINGS <= (int)ZN_MOST_SETTINGS,
               "who writes config.json has no room for more");

static const zn_setting settings[SETTINGS] = {
    [VOCABULARY] = {"vocabulary", "vocab_size", NULL, 151936, 1, (1 << 24) - 1, false},
    [WIDTH] = {"width", "hidden_size", NULL, 2560, 1, 1 << 16, false},
    [INNER] = {"inner", "intermediate_size", NULL, 9728, 1, 1 << 18, false},
    [LAYERS] = {"layers", "num_hidden_layers", NULL, 36, 1, 512, false},
    [SKIP] = {"skip", NULL, NULL, 1, 0, 512, false},
    [HEADS] = {"heads", "num_attention_heads", NULL, 32, 1, 1024, false},
    [KEY_HEADS] = {"keys", "num_key_value_heads", NULL, 8, 1, 1024, false},
    [HEAD] = {"head", "head_dim", NULL, 128, 2, 1024, false},
    [THETA] = {"theta", "rope_parameters/rope_theta", "rope_theta", 1e6, 1, 1e12, true},
    [EPSILON] = {"epsilon", "rms_norm_eps", NULL, 1e-6, 1e-12, 1, true},
};

static const zn_variant variants[] = {
    {.name = "qwen3", .description = "Qwen3 as a text encoder", .int8 = ZN_INT8_DYNAMIC}};

// --- names --------------------------------------------------------------------------------------

static const zn_translation transformers[] = {{NULL, NULL}};
static const zn_translation gguf[] = {
    {"embed_tokens.", "token_embd."},
    {"layers.", "blk."},
    {"self_attn.q_proj.", "attn_q."},
    {"self_attn.k_proj.", "attn_k."},
    {"self_attn.v_proj.", "attn_v."},
    {"self_attn.o_proj.", "attn_output."},
    {"self_attn.q_norm.", "attn_q_norm."},
    {"self_attn.k_norm.", "attn_k_norm."},
    {"input_layernorm.", "attn_norm."},
    {"post_attention_layernorm.", "ffn_norm."},
    {"mlp.gate_proj.", "ffn_gate."},
    {"mlp.up_proj.", "ffn_up."},
    {"mlp.down_proj.", "ffn_down."},
    {"norm.", "output_norm."},
    {NULL, NULL},
};
static const zn_name_set name_sets[] = {
    {"", transformers, NULL},
    {"model.", transformers, NULL},
    {"text_encoders.qwen3_4b.transformer.model.", transformers, NULL},
    {"", gguf, NULL},
};
enum { NAME_SETS = sizeof name_sets / sizeof *name_sets };

static bool rename_parameter(const zn_weights *weights, const char *name, zn_stored_name *dst)
{
    return zn_translate_find(weights, name_sets, NAME_SETS, name, dst);
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    static const char *const telling[] = {"embed_tokens.weight", "layers.0.self_attn.q_norm.weight",
                                          "layers.0.mlp.gate_proj.weight"};
    zn_stored_name stored;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (!zn_translate_find(weights, name_sets, NAME_SETS, telling[i], &stored)) return 0;
    *parts = 1;
    return 1;
}

static void layout(const zn_weights *weights, const zn_part *part, char dst[ZN_LAYOUT_SIZE])
{
    (void)part;
    zn_settings_write(zn_weights_config(weights), settings, SETTINGS, dst);
}

// --- the network --------------------------------------------------------------------------------

typedef struct builder {
    const zn_scope *scope;
    double is[SETTINGS];
    zn_node *angles;
    bool apart; // several prompts, each by itself
    int layer;
} builder;

static int whole(const builder *b, int setting)
{
    return (int)b->is[setting];
}

// Sizes: the tokens of the prompt, or of each of several.
static void ports(const zn_variant *variant, const char *said, const zn_sizes *sizes, zn_ports *out)
{
    double is[SETTINGS];
    const int64_t tokens = sizes->tokens, items = zn_sizes_items(sizes);
    (void)variant;
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    *out = (zn_ports){.inputs = {zn_port_sequences("ids", tokens, items, 1),
                                 zn_port_sequences("angles", tokens, items, (int64_t)is[HEAD])},
                      .outputs = {zn_port_sequences("hidden", tokens, items, (int64_t)is[WIDTH])},
                      .inputs_count = 2,
                      .outputs_count = 1};
}

// "layers.3.NAME"; without a name "layers.3".
static const char *in_layer(const builder *b, const char *name, char dst[ZN_NAME_SIZE])
{
    zn_text_format(dst, ZN_NAME_SIZE, "layers.%d%s%s", b->layer, *name ? "." : "", name);
    return dst;
}

static zn_node *norm(const builder *b, const char *name, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    return zn_nn_rms_norm(b->scope, in_layer(b, name, full), x, 1, (float)b->is[EPSILON]);
}

static zn_node *heads(const builder *b, const char *linear, const char *norm_name, int count,
                      zn_node *x)
{
    char first[ZN_NAME_SIZE], second[ZN_NAME_SIZE];
    const zn_nn_heads how = {.linear = in_layer(b, linear, first),
                             .norm = in_layer(b, norm_name, second),
                             .heads = count,
                             .together = count / whole(b, KEY_HEADS),
                             .width = whole(b, HEAD),
                             .epsilon = (float)b->is[EPSILON],
                             .pairs = ZN_ROPE_HALVES};
    return zn_nn_turned_heads(b->scope, &how, x, b->angles);
}

static zn_node *attention(const builder *b, zn_node *x)
{
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    const int queries = whole(b, HEADS), keys = whole(b, KEY_HEADS), together = queries / keys;
    const zn_share_range own = zn_share_of(b->scope->share, keys);
    const int own_keys = (int)(own.end - own.begin);
    zn_node *q = heads(b, "self_attn.q_proj", "self_attn.q_norm", queries, x);
    zn_node *k = heads(b, "self_attn.k_proj", "self_attn.k_norm", keys, x);
    zn_node *v = zn_nn_linear_rows(b->scope, in_layer(b, "self_attn.v_proj", name), x,
                                   (zn_nn_units){keys, whole(b, HEAD)});
    x = zn_attention(b->scope->graph,
                     zn_scope_name(b->scope, in_layer(b, "self_attn", name), "", full), q, k, v,
                     (zn_attention_attributes){.heads = own_keys * together,
                                               .key_heads = own_keys,
                                               .causal = true,
                                               .columns = b->apart});
    return zn_nn_linear_columns(b->scope, in_layer(b, "self_attn.o_proj", name), x,
                                (zn_nn_units){keys, together * whole(b, HEAD)}, whole(b, WIDTH));
}

static zn_node *forward(const builder *b, zn_node *x)
{
    char gate[ZN_NAME_SIZE], up[ZN_NAME_SIZE], down[ZN_NAME_SIZE];
    const zn_nn_gated_names names = {in_layer(b, "mlp.gate_proj", gate),
                                     in_layer(b, "mlp.up_proj", up),
                                     in_layer(b, "mlp.down_proj", down)};
    return zn_nn_gated_forward(b->scope, &names, x, whole(b, INNER));
}

static zn_node *layer(const builder *b, zn_node *x)
{
    zn_graph *graph = b->scope->graph;
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_node *y = attention(b, norm(b, "input_layernorm", x));
    x = zn_add(graph, zn_scope_name(b->scope, in_layer(b, "attended", name), "", full), y, x);
    y = forward(b, norm(b, "post_attention_layernorm", x));
    return zn_add(graph, zn_scope_name(b->scope, in_layer(b, "", name), "", full), y, x);
}

static bool check(const builder *b)
{
    zn_graph *graph = b->scope->graph;
    const int queries = whole(b, HEADS), keys = whole(b, KEY_HEADS);
    if (queries % keys == 0 && whole(b, HEAD) % 2 == 0 && whole(b, SKIP) < whole(b, LAYERS))
        return zn_nn_can_share(b->scope, keys, whole(b, INNER));
    graph->status = zn_fail(graph->err, ZENITH_BAD_FILE,
                            "config.json: %d heads do not share %d of keys, a head of %d channels "
                            "has no pairs, or %d layers are too few",
                            queries, keys, whole(b, HEAD), whole(b, LAYERS));
    return false;
}

static void build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                  zn_node *const *inputs, zn_node **outputs)
{
    builder b = {.scope = scope, .angles = inputs[1], .apart = zn_sizes_items(sizes) > 1};
    char name[ZN_NAME_SIZE];
    (void)variant;
    if (!zn_settings_of(scope, settings, SETTINGS, b.is) || !check(&b)) return;
    zn_node *table = zn_scope_parameter(scope, "embed_tokens", ".weight",
                                        ZN_SHAPE(whole(&b, VOCABULARY), whole(&b, WIDTH)));
    zn_node *x = zn_embed(scope->graph, zn_scope_name(scope, "embed_tokens", "", name), inputs[0],
                          table);
    for (; b.layer < whole(&b, LAYERS) - whole(&b, SKIP); b.layer++) x = layer(&b, x);
    if (whole(&b, SKIP) == 0) x = zn_nn_rms_norm(scope, "norm", x, 1, (float)b.is[EPSILON]);
    outputs[0] = x;
}

// The sums of all layers are kept in f32: each would round again. So would a share of a product.
static zn_precision precision(const zn_variant *variant, const char *name)
{
    (void)variant;
    const bool of_layer = strncmp(name, "layers.", 7) == 0;
    const char *rest = of_layer ? strchr(name + 7, '.') : NULL;
    const bool sum = of_layer ? !rest || strcmp(rest, ".attended") == 0
                              : strcmp(name, "embed_tokens") == 0;
    return sum || zn_nn_is_share(name) ? ZN_PRECISION_STORED : ZN_PRECISION_PLAIN;
}

// --- in few bits --------------------------------------------------------------------------------

// The last layers, whose errors nothing after them evens out, and what a layer's sums go through.
static zn_weight_class classify(const char *layout, const char *name)
{
    enum { LAST = 8 };
    double is[SETTINGS];
    int layer = 0;
    (void)!zn_settings_read(layout, settings, SETTINGS, is);
    if (strncmp(name, "layers.", 7) != 0 || !strstr(name, "_proj.weight"))
        return (zn_weight_class){ZN_CARE_WHOLE, "embedders, norms and others"};
    for (const char *at = name + 7; *at >= '0' && *at <= '9'; at++)
        layer = 10 * layer + (*at - '0');
    if (layer >= (int)is[LAYERS] - (int)is[SKIP] - LAST)
        return (zn_weight_class){ZN_CARE_MORE, "last layers"};
    if (strstr(name, ".down_proj.")) return (zn_weight_class){ZN_CARE_MORE, "feed forward, down"};
    if (strstr(name, ".mlp.")) return (zn_weight_class){ZN_CARE_LESS, "feed forward, up"};
    return (zn_weight_class){ZN_CARE_LESS, "attention"};
}

static const zn_writing writing = {
    .file = "model",
    .config = "{\"architectures\": [\"Qwen3ForCausalLM\"], \"model_type\": \"qwen3\"}",
    .numbers = settings,
    .numbers_count = SETTINGS,
    .classify = classify,
};

static const zn_part parts[] = {
    {.name = "text", .prefix = "", .smallest = {.tokens = 1}, .ports = ports, .build = build}};

const zn_family zn_family_qwen3 = {
    .name = "qwen3",
    .variants = variants,
    .variants_count = 1,
    .parts = parts,
    .parts_count = 1,
    .probe = probe,
    .rename = rename_parameter,
    .layout = layout,
    .precision = precision,
    .writing = &writing,
};

// --- for callers --------------------------------------------------------------------------------

static double number_of(const zn_model *model, int setting)
{
    double is[SETTINGS];
    (void)!zn_settings_read(zn_model_layout(model, &parts[0]), settings, SETTINGS, is);
    return is[setting];
}

int64_t zn_qwen3_head(const zn_model *model)
{
    return (int64_t)number_of(model, HEAD);
}

int64_t zn_qwen3_width(const zn_model *model)
{
    return (int64_t)number_of(model, WIDTH);
}

int64_t zn_qwen3_vocabulary(const zn_model *model)
{
    return (int64_t)number_of(model, VOCABULARY);
}

void zn_qwen3_angles(const zn_model *model, int64_t tokens, float *dst)
{
    zn_qwen3_layout_angles(zn_model_layout(model, &parts[0]), tokens, dst);
}

void zn_qwen3_layout(const zn_json *config, char dst[ZN_LAYOUT_SIZE])
{
    zn_settings_write(config, settings, SETTINGS, dst);
}

void zn_qwen3_layout_angles(const char *said, int64_t tokens, float *dst)
{
    double is[SETTINGS];
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    const int64_t head = (int64_t)is[HEAD];
    for (int64_t i = 0; i < tokens; i++) {
        const zn_rope_axis axis = {(int)head, (double)i};
        zn_rope_row(&axis, 1, is[THETA], true, dst + i * head);
    }
}
