// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Z-Image's diffusion transformer (diffusers' ZImageTransformer2DModel, Tongyi-MAI/Z-Image).
//
//     context:     RMS norm and linear of the caption's features, padded, then refiners without
//                  modulation
//     modulation:  c = linear(silu(linear(features(1000 t)))); for each layer linear(c) = scale,
//                  gate, scale, gate, the gates through tanh; for the last one linear(silu(c)), a
//                  scale
//     denoiser:    squares of pixels, linear, padded, refiners; then the context's tokens behind
//                  the image's, layers; norm, scale, linear, squares back to pixels
//     layer:       x = x + gate1 * norm2(attention(norm1(x) * (1 + scale1)))
//                  x = x + gate2 * norm4(w2(silu(w1(h)) * w3(h))), h = norm3(x) * (1 + scale2)
//
// Traps
//   - The timestep is 1 - sigma: 0 is noise, 1 is the picture. Its features are cosines and then
//     sines.
//   - No silu before a layer's modulation, one before the last norm's; no shifts anywhere.
//   - A square's channels are whole pixels: (row, column, channel), the channel fastest.
//   - Both sequences are padded to multiples of 32 by learned tokens, which take part in attention.
//     Padding of the image is at position (0, 0, 0); that of the caption continues its positions.
//   - Positions: the caption's token i is at (1 + i, 0, 0), a pixel's at (1 + padded caption, row,
//     column). Each axis has its own channels of a head, and frequencies by their number. Pairs are
//     neighbours.
//   - Heads are normed with 1e-5, whatever norm_eps is; the last norm is with 1e-6 and has no gain.
//   - Of the last layer only the image's tokens are used, and what others need for themselves is
//     not computed: their queries, their sums, their forward layer.
//   - Items of a batch do not see each other. When pictures are made each is a run of its own;
//     training has several beside each other (zn_sizes.items).
#include "src/model/text_to_image/zimage.h"

#include "src/base/text.h"
#include "src/model/settings.h"
#include "src/model/translate.h"
#include "src/nn/layers.h"
#include "src/nn/transformer_blocks.h"
#include "src/op/ops.h"

#include <math.h>
#include <string.h>

enum { MULTIPLE = 32, FEATURES = 256, TIME_INNER = 1024, MOST_CONDITION = 256, BY_LAYER = 4 };
enum { CONTEXT, MODULATION, DENOISER, DRAFT, PARTS };
enum { SCALE1, GATE1, SCALE2, GATE2 };
enum {
    WIDTH,
    LAYERS,
    REFINERS,
    HEADS,
    CAPTION,
    CHANNELS,
    PATCH,
    AXIS0,
    AXIS1,
    AXIS2,
    THETA,
    TIME_SCALE,
    EPSILON,
    POOLED,
    DRAFT_INNER,
    DRAFT_WIDTH,
    PLACES,
    WORDS,
    SETTINGS
};
static const float HEAD_EPSILON = 1e-5f, LAST_EPSILON = 1e-6f, TIME_PERIOD = 10000;

_Static_assert((int)SETTINGS <= (int)ZN_MOST_SETTINGS,
               "who writes config.json has no room for more");

static const zn_setting settings[SETTINGS] = {
    [WIDTH] = {"width", "dim", NULL, 3840, 1, 1 << 16, false},
    [LAYERS] = {"layers", "n_layers", NULL, 30, 1, 512, false},
    [REFINERS] = {"refiners", "n_refiner_layers", NULL, 2, 0, 64, false},
    [HEADS] = {"heads", "n_heads", NULL, 30, 1, 1024, false},
    [CAPTION] = {"caption", "cap_feat_dim", NULL, 2560, 1, 1 << 16, false},
    [CHANNELS] = {"channels", "in_channels", NULL, 16, 1, 1024, false},
    [PATCH] = {"patch", "all_patch_size/0", NULL, 2, 1, 16, false},
    [AXIS0] = {"axis", "axes_dims/0", NULL, 32, 2, 1024, false},
    [AXIS1] = {"rows", "axes_dims/1", NULL, 48, 2, 1024, false},
    [AXIS2] = {"columns", "axes_dims/2", NULL, 48, 2, 1024, false},
    [THETA] = {"theta", "rope_theta", NULL, 256, 1, 1e12, true},
    [TIME_SCALE] = {"time", "t_scale", NULL, 1000, 1e-6, 1e9, true},
    [EPSILON] = {"epsilon", "norm_eps", NULL, 1e-5, 1e-12, 1, true},
    [POOLED] = {"pooled", "cap_pool", NULL, 0, 0, 1, false},
    [DRAFT_INNER] = {"draft", "draft_dim", NULL, 0, 0, 1 << 16, false},
    [DRAFT_WIDTH] = {"sum", "draft_width", NULL, 192, 2, 1 << 16, false},
    [PLACES] = {"places", "draft_places", NULL, 64, 1, 4096, false},
    [WORDS] = {"words", "draft_words", NULL, 4096, 1, 1 << 24, false},
};

static const zn_variant variants[] = {
    {.name = "z-image", .description = "Z-Image's diffusion transformer", .int8 = ZN_INT8_DYNAMIC}};

// --- names --------------------------------------------------------------------------------------

static const zn_translation diffusers[] = {{NULL, NULL}};
// Of single files (ComfyUI) and GGUF.
static const zn_translation fused[] = {
    {"attention.to_q.", "attention.qkv."},
    {"attention.to_k.", "attention.qkv."},
    {"attention.to_v.", "attention.qkv."},
    {"attention.to_out.0.", "attention.out."},
    {"attention.norm_q.", "attention.q_norm."},
    {"attention.norm_k.", "attention.k_norm."},
    {"all_x_embedder.2-1.", "x_embedder."},
    {"all_final_layer.2-1.", "final_layer."},
    {NULL, NULL},
};
static const zn_name_piece thirds[] = {
    {".to_q.", 0, 3}, {".to_k.", 1, 3}, {".to_v.", 2, 3}, {NULL, 0, 0}};
static const zn_name_set name_sets[] = {
    {"", diffusers, NULL},
    {"", fused, thirds},
    {"model.diffusion_model.", diffusers, NULL},
    {"model.diffusion_model.", fused, thirds},
};
enum { NAME_SETS = sizeof name_sets / sizeof *name_sets };

static bool rename_parameter(const zn_weights *weights, const char *name, zn_stored_name *dst)
{
    return zn_translate_find(weights, name_sets, NAME_SETS, name, dst);
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    static const char *const telling[PARTS] = {
        [CONTEXT] = "cap_embedder.1.weight",
        [MODULATION] = "t_embedder.mlp.0.weight",
        [DENOISER] = "layers.0.attention_norm1.weight",
        [DRAFT] = "draft.w2.weight",
    };
    zn_stored_name stored;
    *parts = 0;
    for (int i = 0; i < PARTS; i++)
        if (zn_translate_find(weights, name_sets, NAME_SETS, telling[i], &stored))
            *parts |= 1u << i;
    const bool pads = zn_translate_find(weights, name_sets, NAME_SETS, "x_pad_token", &stored) ||
                      zn_translate_find(weights, name_sets, NAME_SETS, "cap_pad_token", &stored);
    return *parts && (pads || *parts == 1u << DRAFT);
}

static void layout(const zn_weights *weights, const zn_part *part, char dst[ZN_LAYOUT_SIZE])
{
    (void)part;
    zn_settings_write(zn_weights_config(weights), settings, SETTINGS, dst);
}

// --- sizes --------------------------------------------------------------------------------------

static int64_t round_up(int64_t tokens)
{
    return (tokens + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
}

static int64_t head_of(const double *is)
{
    return (int64_t)(is[WIDTH] / is[HEADS]);
}

// Channels inside a layer's gated product.
static int64_t inner_of(const double *is)
{
    return (int64_t)(is[WIDTH] / 3 * 8);
}

// The numbers of all layers and the last norm's, for one timestep.
static int64_t modulation_of(const double *is)
{
    return (int64_t)(((is[REFINERS] + is[LAYERS]) * BY_LAYER + 1) * is[WIDTH]);
}

// Numbers of an image's token.
static int64_t patch_of(const double *is)
{
    return (int64_t)(is[PATCH] * is[PATCH] * is[CHANNELS]);
}

static int64_t image_tokens(const double *is, int64_t height, int64_t width)
{
    const int64_t patch = (int64_t)is[PATCH];
    return round_up((height / patch) * (width / patch));
}

// Sizes: tokens of the caption, without padding; or, masked, with it. The mask is 1 in all channels
// of a token that is there and 0 in those of padding, whose caption may be anything.
static void context_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                          zn_ports *out)
{
    double is[SETTINGS];
    const int64_t tokens = sizes->tokens, padded = round_up(tokens), items = zn_sizes_items(sizes);
    (void)variant;
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    const int64_t width = (int64_t)is[WIDTH];
    *out = (zn_ports){.inputs = {zn_port_sequences("caption", tokens, items, (int64_t)is[CAPTION]),
                                 zn_port_sequences("angles", padded, items, head_of(is)),
                                 zn_port_sequences("mask", tokens, items, width)},
                      .outputs = {zn_port_sequences("context", padded, items, width)},
                      .inputs_count = sizes->masked ? 3 : 2,
                      .outputs_count = 1};
}

// Sizes: tokens of the caption. Numbers outside the vocabulary are padding.
static void draft_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                        zn_ports *out)
{
    double is[SETTINGS];
    const int64_t tokens = sizes->tokens, items = zn_sizes_items(sizes);
    (void)variant;
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    *out = (zn_ports){
        .inputs = {zn_port_sequences("ids", tokens, items, 1),
                   zn_port_sequences("angles", tokens, items, head_of(is))},
        .outputs = {zn_port_sequences("draft", (int64_t)is[PLACES], items, patch_of(is))},
        .inputs_count = 2,
        .outputs_count = 1};
}

// Sizes: how many timesteps, as tokens.
static void modulation_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                             zn_ports *out)
{
    double is[SETTINGS];
    (void)variant;
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    *out = zn_ports_one_to_one(zn_port_sequence("times", sizes->tokens, 1),
                               zn_port_sequence("modulation", sizes->tokens, modulation_of(is)));
}

// Sizes: those of the latent, and tokens of the context, which has padding. Of several items the
// latents are one map, patch by patch in turn: the first patches of all of them, then the second
// ones. Each has a row of modulation.
static void denoiser_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                           zn_ports *out)
{
    double is[SETTINGS];
    (void)variant;
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    const int64_t channels = (int64_t)is[CHANNELS];
    const int64_t tokens = sizes->tokens, items = zn_sizes_items(sizes);
    const int64_t all = image_tokens(is, sizes->height, sizes->width) + tokens;
    const int64_t width = sizes->width * items, patch = (int64_t)is[PATCH];
    const int64_t places = sizes->height / patch * (sizes->width / patch);
    *out = (zn_ports){.inputs = {zn_port_map("latent", sizes->height, width, channels),
                                 zn_port_sequences("context", tokens, items, (int64_t)is[WIDTH]),
                                 items > 1
                                     ? zn_port_sequence("modulation", items, modulation_of(is))
                                     : zn_port_vector("modulation", modulation_of(is)),
                                 zn_port_sequences("angles", all, items, head_of(is)),
                                 zn_port_sequences("draft", places, items, patch_of(is))},
                      .outputs = {zn_port_map("velocity", sizes->height, width, channels)},
                      .inputs_count = is[DRAFT_INNER] > 0 ? 5 : 4,
                      .outputs_count = 1};
}

// --- blocks -------------------------------------------------------------------------------------

typedef struct builder {
    const zn_scope *scope;
    double is[SETTINGS];
    zn_node *modulation; // NULL: of a context
    int64_t items;
} builder;

// One layer: its name, its number in the modulation, and what its tokens are.
typedef struct block {
    char name[ZN_NAME_SIZE];
    int number;
    zn_node *angles; // of all tokens
    // Of the last layer: rows and columns of the image, whose tokens alone go on; 0: all do.
    int64_t height, width;
} block;

static int64_t whole(const builder *b, int setting)
{
    return (int64_t)b->is[setting];
}

static bool begin(builder *b)
{
    zn_graph *graph = b->scope->graph;
    if (!zn_settings_of(b->scope, settings, SETTINGS, b->is)) return false;
    const int64_t axes = whole(b, AXIS0) + whole(b, AXIS1) + whole(b, AXIS2);
    const bool even = whole(b, AXIS0) % 2 + whole(b, AXIS1) % 2 + whole(b, AXIS2) % 2 == 0;
    if (whole(b, WIDTH) % whole(b, HEADS) == 0 && axes == head_of(b->is) && even)
        return zn_nn_can_share(b->scope, whole(b, HEADS), inner_of(b->is));
    graph->status = zn_fail(graph->err, ZENITH_BAD_FILE,
                            "config.json: %lld channels do not divide into %lld heads whose "
                            "channels are the sum of axes_dims, each even",
                            (long long)whole(b, WIDTH), (long long)whole(b, HEADS));
    return false;
}

// "NAME.TAIL" with the scope's prefix, for nodes.
static const char *node_name(const builder *b, const char *name, const char *tail,
                             char dst[ZN_NAME_SIZE])
{
    char joined[ZN_NAME_SIZE];
    zn_text_format(joined, sizeof joined, "%s%s%s", name, *tail ? "." : "", tail);
    return zn_scope_name(b->scope, joined, "", dst);
}

static const char *in_block(const block *at, const char *tail, char dst[ZN_NAME_SIZE])
{
    zn_text_format(dst, ZN_NAME_SIZE, "%s.%s", at->name, tail);
    return dst;
}

// A scale or a gate of a layer; of the number after the last layer's, the last norm's scale. Of
// several items those of all, one after the other.
static zn_node *modulator(const builder *b, int number, int which)
{
    zn_graph *graph = b->scope->graph;
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_text_format(name, sizeof name, "modulation.%d.%d", number, which);
    node_name(b, name, "", full);
    zn_node *x = zn_channel_slice(graph, full, b->modulation,
                                  (number * BY_LAYER + which) * whole(b, WIDTH), whole(b, WIDTH));
    if (b->items == 1) return x;
    x = zn_token_slice(graph, full, x, (zn_token_slice_attributes){0, 1, b->items});
    return zn_column_sum(graph, full, x); // one row, as a vector
}

// Tokens of all items, where there are several, as rows of a map that has a column for each.
static zn_node *in_columns(const builder *b, const char *name, zn_node *x, int64_t tokens)
{
    char full[ZN_NAME_SIZE];
    if (b->items == 1) return x;
    return zn_token_slice(b->scope->graph, node_name(b, name, "columns", full), x,
                          (zn_token_slice_attributes){0, tokens, b->items});
}

static zn_node *norm(const builder *b, const block *at, const char *tail, zn_node *x)
{
    char name[ZN_NAME_SIZE];
    return zn_nn_rms_norm(b->scope, in_block(at, tail, name), x, 1, (float)b->is[EPSILON]);
}

static zn_node *scaled(const builder *b, const block *at, const char *tail, zn_node *x, int which)
{
    char full[ZN_NAME_SIZE], name[ZN_NAME_SIZE];
    x = norm(b, at, tail, x);
    if (!b->modulation) return x;
    return zn_modulate(b->scope->graph, node_name(b, in_block(at, tail, name), "scaled", full), x,
                       modulator(b, at->number, which), NULL);
}

// tail "": the layer's own name.
static zn_node *add_gated(const builder *b, const block *at, const char *tail, zn_node *x,
                          zn_node *y, int which)
{
    zn_graph *graph = b->scope->graph;
    char full[ZN_NAME_SIZE];
    node_name(b, at->name, tail, full);
    if (!b->modulation) return zn_add(graph, full, y, x);
    return zn_gated_add(graph, full, x, y, modulator(b, at->number, which));
}

// The image's tokens among all, as a map; all where the layer is not the last.
static zn_node *own(const builder *b, const block *at, const char *tail, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    if (!at->height) return x;
    const bool one = b->items == 1;
    return zn_token_slice(b->scope->graph, node_name(b, at->name, tail, full), x,
                          (zn_token_slice_attributes){0, one ? at->height : at->height * at->width,
                                                      one ? at->width : b->items});
}

static zn_node *heads(const builder *b, const block *at, const char *linear, const char *norm_name,
                      zn_node *x, zn_node *angles)
{
    char first[ZN_NAME_SIZE], second[ZN_NAME_SIZE];
    const zn_nn_heads how = {.linear = in_block(at, linear, first),
                             .norm = in_block(at, norm_name, second),
                             .heads = (int)whole(b, HEADS),
                             .together = 1,
                             .width = head_of(b->is),
                             .epsilon = HEAD_EPSILON,
                             .pairs = ZN_ROPE_INTERLEAVED};
    return zn_nn_turned_heads(b->scope, &how, x, angles);
}

static zn_node *attention(const builder *b, const block *at, zn_node *x)
{
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    const zn_nn_units units = {whole(b, HEADS), head_of(b->is)};
    const zn_share_range own_heads = zn_share_of(b->scope->share, units.count);
    const int count = (int)(own_heads.end - own_heads.begin);
    zn_node *asking = own(b, at, "attention_norm1.own", x);
    zn_node *angles = own(b, at, "angles", at->angles);
    zn_node *q = heads(b, at, "attention.to_q", "attention.norm_q", asking, angles);
    zn_node *k = heads(b, at, "attention.to_k", "attention.norm_k", x, at->angles);
    zn_node *v = zn_nn_linear_rows(b->scope, in_block(at, "attention.to_v", name), x, units);
    zn_node *y = zn_attention(
        b->scope->graph, node_name(b, at->name, "attention", full), q, k, v,
        (zn_attention_attributes){.heads = count, .key_heads = count, .columns = b->items > 1});
    return zn_nn_linear_columns(b->scope, in_block(at, "attention.to_out.0", name), y, units,
                                whole(b, WIDTH));
}

static zn_node *forward(const builder *b, const block *at, zn_node *x)
{
    char gate[ZN_NAME_SIZE], up[ZN_NAME_SIZE], down[ZN_NAME_SIZE];
    const zn_nn_gated_names names = {in_block(at, "feed_forward.w1", gate),
                                     in_block(at, "feed_forward.w3", up),
                                     in_block(at, "feed_forward.w2", down)};
    return zn_nn_gated_forward(b->scope, &names, x, inner_of(b->is));
}

static zn_node *layer(const builder *b, const block *at, zn_node *x)
{
    zn_node *y = attention(b, at, scaled(b, at, "attention_norm1", x, SCALE1));
    x = own(b, at, "own", x);
    x = add_gated(b, at, "attended", x, norm(b, at, "attention_norm2", y), GATE1);
    y = forward(b, at, scaled(b, at, "ffn_norm1", x, SCALE2));
    return add_gated(b, at, "", x, norm(b, at, "ffn_norm2", y), GATE2);
}

static zn_node *refine(const builder *b, const char *name, zn_node *x, zn_node *angles)
{
    for (int i = 0; i < (int)whole(b, REFINERS); i++) {
        block at = {.number = i, .angles = angles};
        zn_text_format(at.name, sizeof at.name, "%s.%d", name, i);
        x = layer(b, &at, x);
    }
    return x;
}

static zn_node *padded(const builder *b, const char *name, const char *token, zn_node *x,
                       int64_t tokens)
{
    char full[ZN_NAME_SIZE];
    zn_node *filler = zn_scope_parameter(b->scope, token, "", ZN_SHAPE(whole(b, WIDTH)));
    if (!filler) return NULL;
    x = zn_token_join(b->scope->graph, node_name(b, name, "", full), &x, 1, filler,
                      tokens * b->items);
    return in_columns(b, name, x, tokens);
}

// The same in place of tokens that the mask says are not there. A graph has fixed sizes, and so
// takes captions of all lengths up to one.
static zn_node *replaced(const builder *b, const char *name, const char *token, zn_node *x,
                         zn_node *mask)
{
    zn_graph *graph = b->scope->graph;
    char full[ZN_NAME_SIZE];
    zn_node *filler = zn_scope_parameter(b->scope, token, "", ZN_SHAPE(whole(b, WIDTH)));
    zn_node *there = zn_gated(graph, node_name(b, name, "there", full), mask, x,
                              ZN_ACTIVATION_NONE);
    zn_node *absent = zn_affine(graph, node_name(b, name, "absent", full), mask, -1, 1);
    if (!filler || !absent) return NULL;
    absent = zn_times_vector(graph, node_name(b, name, "filled", full), absent, filler, NULL);
    return zn_add(graph, node_name(b, name, "", full), there, absent);
}

// --- parts --------------------------------------------------------------------------------------

static void build_context(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                          zn_node *const *inputs, zn_node **outputs)
{
    builder b = {.scope = scope, .items = zn_sizes_items(sizes)};
    (void)variant;
    if (!begin(&b)) return;
    zn_node *x = zn_nn_rms_norm(scope, "cap_embedder.0", inputs[0], 1, (float)b.is[EPSILON]);
    x = zn_nn_linear(scope, "cap_embedder.1", x, whole(&b, WIDTH), true);
    x = sizes->masked ? replaced(&b, "caption.padded", "cap_pad_token", x, inputs[2])
                      : padded(&b, "caption.padded", "cap_pad_token", x, round_up(sizes->tokens));
    outputs[0] = refine(&b, "context_refiner", x, inputs[1]);
}

// The sum of a caption's words, each turned by its place, as the one token of its item.
static zn_node *summed(const builder *b, zn_node *ids, zn_node *angles)
{
    zn_graph *graph = b->scope->graph;
    char full[ZN_NAME_SIZE];
    zn_node *table = zn_scope_parameter(b->scope, "draft.words", ".weight",
                                        ZN_SHAPE(whole(b, WORDS), whole(b, DRAFT_WIDTH)));
    zn_node *x = zn_embed(graph, node_name(b, "draft.words", "", full), ids, table);
    x = zn_rope(graph, node_name(b, "draft.turned", "", full), x, angles,
                (zn_rope_attributes){.pairs = ZN_ROPE_INTERLEAVED,
                                     .heads = (int)(whole(b, DRAFT_WIDTH) / head_of(b->is))});
    zn_node *sum = zn_column_sum(graph, node_name(b, "draft.sum", "", full), x);
    zn_node *one = zn_token_slice(graph, node_name(b, "draft.first", "", full), x,
                                  (zn_token_slice_attributes){0, 1, b->items});
    one = zn_affine(graph, node_name(b, "draft.one", "", full), one, 0, 1);
    if (!one || !sum) return NULL;
    return zn_times_vector(graph, node_name(b, "draft.caption", "", full), one, sum, NULL);
}

// Where config.json has "draft_dim", which no published network has, a network of two layers draws
// the mean picture of a caption's words, and the denoiser sees it. Which word means which shape can
// be solved for in seconds (tools/models/words_draft.py); gradients take hours for the same.
static void build_draft(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                        zn_node *const *inputs, zn_node **outputs)
{
    builder b = {.scope = scope, .items = zn_sizes_items(sizes)};
    zn_graph *graph = scope->graph;
    char full[ZN_NAME_SIZE];
    (void)variant;
    if (!begin(&b)) return;
    if (whole(&b, DRAFT_WIDTH) % head_of(b.is) != 0) {
        graph->status = zn_fail(
            graph->err, ZENITH_BAD_FILE,
            "config.json: \"draft_width\" is %lld, no multiple of a head's %lld "
            "channels",
            (long long)whole(&b, DRAFT_WIDTH), (long long)head_of(b.is));
        return;
    }
    zn_node *x = summed(&b, inputs[0], inputs[1]);
    x = zn_nn_rms_norm(scope, "draft.norm", x, 1, (float)b.is[EPSILON]);
    zn_node *gate = zn_nn_linear(scope, "draft.w1", x, whole(&b, DRAFT_INNER), false);
    zn_node *up = zn_nn_linear(scope, "draft.w3", x, whole(&b, DRAFT_INNER), false);
    x = zn_gated(graph, node_name(&b, "draft.gated", "", full), gate, up, ZN_ACTIVATION_SILU);
    x = zn_nn_linear(scope, "draft.w2", x, whole(&b, PLACES) * patch_of(b.is), true);
    outputs[0] = zn_graph_add(
        graph, &zn_op_pixel_shuffle, node_name(&b, "draft", "", full), &x, 1,
        &(zn_pixel_shuffle_attributes){.factor = (int)whole(&b, PLACES), .tall = true});
}

// The condition of all layers: a token for each timestep.
static zn_node *condition(const builder *b, zn_node *times)
{
    zn_graph *graph = b->scope->graph;
    char full[ZN_NAME_SIZE];
    zn_node *t = zn_affine(graph, node_name(b, "time", "", full), times, (float)b->is[TIME_SCALE],
                           0);
    t = zn_time_features(graph, node_name(b, "time.features", "", full), t,
                         (zn_time_features_attributes){FEATURES, TIME_PERIOD});
    t = zn_nn_linear(b->scope, "t_embedder.mlp.0", t, TIME_INNER, true);
    t = zn_activate(graph, node_name(b, "t_embedder.mlp.1", "", full), t, ZN_ACTIVATION_SILU);
    const int64_t most = MOST_CONDITION, width = whole(b, WIDTH);
    return zn_nn_linear(b->scope, "t_embedder.mlp.2", t, width < most ? width : most, true);
}

// Scale, gate, scale, gate of one layer, the gates ready to multiply.
static zn_node *layer_modulation(const builder *b, const char *name, int number, zn_node *c)
{
    zn_graph *graph = b->scope->graph;
    char linear[ZN_NAME_SIZE], full[ZN_NAME_SIZE], tail[32];
    zn_node *four[BY_LAYER];
    zn_text_format(linear, sizeof linear, "%s.%d.adaLN_modulation.0", name, number);
    c = zn_nn_linear(b->scope, linear, c, BY_LAYER * whole(b, WIDTH), true);
    for (int i = 0; i < BY_LAYER; i++) {
        zn_text_format(tail, sizeof tail, "%d", i);
        four[i] = zn_channel_slice(graph, node_name(b, linear, tail, full), c, i * whole(b, WIDTH),
                                   whole(b, WIDTH));
        if (i != GATE1 && i != GATE2) continue;
        zn_text_format(tail, sizeof tail, "%d.tanh", i);
        four[i] = zn_activate(graph, node_name(b, linear, tail, full), four[i], ZN_ACTIVATION_TANH);
    }
    return zn_concat(graph, node_name(b, linear, "all", full), four, BY_LAYER);
}

// concat takes four maps: the sum so far grows by three a time.
static zn_node *join_modulations(const builder *b, zn_node *const *pieces, int count)
{
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_node *all = pieces[0];
    for (int i = 1; i < count;) {
        zn_node *next[4] = {all};
        int n = 1;
        while (n < 4 && i < count) next[n++] = pieces[i++];
        zn_text_format(name, sizeof name, "modulation.%d", i);
        all = zn_concat(b->scope->graph, node_name(b, name, "", full), next, n);
    }
    return all;
}

static void build_modulation(const zn_scope *scope, const zn_variant *variant,
                             const zn_sizes *sizes, zn_node *const *inputs, zn_node **outputs)
{
    enum { MOST_PIECES = 64 + 512 + 1 };
    builder b = {.scope = scope, .items = 1};
    zn_node *pieces[MOST_PIECES];
    char linear[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    int count = 0;
    (void)variant, (void)sizes;
    if (!begin(&b)) return;
    zn_node *c = condition(&b, inputs[0]);
    for (int i = 0; i < (int)whole(&b, REFINERS); i++)
        pieces[count++] = layer_modulation(&b, "noise_refiner", i, c);
    for (int i = 0; i < (int)whole(&b, LAYERS); i++)
        pieces[count++] = layer_modulation(&b, "layers", i, c);
    zn_text_format(linear, sizeof linear, "all_final_layer.%d-1.adaLN_modulation.1",
                   (int)whole(&b, PATCH));
    c = zn_activate(scope->graph, node_name(&b, "t_embedder.silu", "", full), c,
                    ZN_ACTIVATION_SILU);
    pieces[count++] = zn_nn_linear(scope, linear, c, whole(&b, WIDTH), true);
    outputs[0] = join_modulations(&b, pieces, count);
}

static zn_node *final_layer(const builder *b, const zn_sizes *sizes, zn_node *x)
{
    zn_graph *graph = b->scope->graph;
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    const int patch = (int)whole(b, PATCH);
    const int last = (int)(whole(b, REFINERS) + whole(b, LAYERS));
    x = zn_layer_norm(graph, node_name(b, "norm_final", "", full), x, NULL, NULL,
                      (zn_token_norm_attributes){1, LAST_EPSILON});
    x = zn_modulate(graph, node_name(b, "norm_final.scaled", "", full), x,
                    modulator(b, last, SCALE1), NULL);
    zn_text_format(name, sizeof name, "all_final_layer.%d-1.linear", patch);
    x = zn_nn_linear(b->scope, name, x, patch * patch * whole(b, CHANNELS), true);
    if (b->items > 1)
        x = zn_token_slice(
            graph, node_name(b, name, "patches", full), x,
            (zn_token_slice_attributes){0, sizes->height / patch, sizes->width / patch * b->items});
    return zn_graph_add(graph, &zn_op_pixel_shuffle, node_name(b, "velocity", "", full), &x, 1,
                        &(zn_pixel_shuffle_attributes){.factor = patch, .whole = true});
}

// The sum of a linear layer over the caption's tokens, of each item: a vector for all tokens of its
// image.
static zn_node *pooled(const builder *b, const char *linear, zn_node *context, int64_t tokens)
{
    zn_graph *graph = b->scope->graph;
    char full[ZN_NAME_SIZE];
    zn_node *x = zn_nn_linear(b->scope, linear, context, whole(b, WIDTH), true);
    x = zn_affine(graph, node_name(b, linear, "share", full), x, 1 / sqrtf((float)tokens), 0);
    return zn_column_sum(graph, node_name(b, linear, "sum", full), x);
}

// Where config.json has "cap_pool": 1, which no published network has, the caption as a whole
// scales and shifts the image's tokens. A small network that learns its words from nothing finds
// them by attention alone only late.
static zn_node *told(const builder *b, zn_node *x, zn_node *context, int64_t tokens)
{
    char full[ZN_NAME_SIZE];
    if (!whole(b, POOLED)) return x;
    context = zn_nn_rms_norm(b->scope, "cap_pool.norm", context, 1, (float)b->is[EPSILON]);
    zn_node *scale = pooled(b, "cap_pool.scale", context, tokens);
    zn_node *shift = pooled(b, "cap_pool.shift", context, tokens);
    return zn_modulate(b->scope->graph, node_name(b, "cap_pool", "", full), x, scale, shift);
}

static zn_node *drafted(const builder *b, const zn_sizes *sizes, zn_node *x, zn_node *const *inputs)
{
    zn_graph *graph = b->scope->graph;
    char full[ZN_NAME_SIZE];
    const int64_t patch = whole(b, PATCH);
    if (!whole(b, DRAFT_INNER)) return x;
    zn_node *y = zn_nn_linear(b->scope, "draft_embedder", inputs[4], whole(b, WIDTH), true);
    y = zn_token_slice(
        graph, node_name(b, "draft_embedder", "map", full), y,
        (zn_token_slice_attributes){0, sizes->height / patch, sizes->width / patch * b->items});
    return zn_add(graph, node_name(b, "image.drafted", "", full), x, y);
}

// The image's tokens, refined.
static zn_node *image(const builder *b, const zn_sizes *sizes, zn_node *const *inputs)
{
    zn_node *latent = inputs[0], *context = inputs[1], *angles = inputs[3];
    zn_graph *graph = b->scope->graph;
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    const int patch = (int)whole(b, PATCH);
    const int64_t tokens = image_tokens(b->is, sizes->height, sizes->width);
    zn_node *x = zn_graph_add(graph, &zn_op_pixel_unshuffle, node_name(b, "patches", "", full),
                              &latent, 1,
                              &(zn_pixel_shuffle_attributes){.factor = patch, .whole = true});
    zn_text_format(name, sizeof name, "all_x_embedder.%d-1", patch);
    x = zn_nn_linear(b->scope, name, x, whole(b, WIDTH), true);
    x = drafted(b, sizes, x, inputs);
    x = padded(b, "image.padded", "x_pad_token", x, tokens);
    x = told(b, x, context, sizes->tokens);
    angles = zn_token_slice(graph, node_name(b, "image.angles", "", full), angles,
                            (zn_token_slice_attributes){0, tokens, b->items});
    return refine(b, "noise_refiner", x, angles);
}

static void build_denoiser(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                           zn_node *const *inputs, zn_node **outputs)
{
    builder b = {.scope = scope, .modulation = inputs[2], .items = zn_sizes_items(sizes)};
    char full[ZN_NAME_SIZE];
    (void)variant;
    if (!begin(&b)) return;
    const int64_t all = image_tokens(b.is, sizes->height, sizes->width) + sizes->tokens;
    zn_node *both[] = {image(&b, sizes, inputs), inputs[1]};
    zn_node *x = zn_token_join(scope->graph, node_name(&b, "tokens", "", full), both, 2, NULL,
                               all * b.items);
    x = in_columns(&b, "tokens", x, all);
    const int layers = (int)whole(&b, LAYERS), refiners = (int)whole(&b, REFINERS);
    for (int i = 0; i < layers; i++) {
        block at = {.number = refiners + i, .angles = inputs[3]};
        zn_text_format(at.name, sizeof at.name, "layers.%d", i);
        if (i == layers - 1) at.height = sizes->height / whole(&b, PATCH);
        if (i == layers - 1) at.width = sizes->width / whole(&b, PATCH);
        x = layer(&b, &at, x);
    }
    outputs[0] = final_layer(&b, sizes, x);
}

// Sums of layers, angles and modulation are kept in f32; what is multiplied inside a layer is not.
static zn_precision precision(const zn_variant *variant, const char *name)
{
    (void)variant;
    const bool inside = strstr(name, ".attention") || strstr(name, ".feed_forward") ||
                        strstr(name, "norm");
    return inside && !zn_nn_is_share(name) ? ZN_PRECISION_PLAIN : ZN_PRECISION_STORED;
}

// --- in few bits --------------------------------------------------------------------------------

// Refiners and modulation are few, and all layers read what they make.
static zn_weight_class classify(const char *layout, const char *name)
{
    (void)layout;
    const bool refiner = strncmp(name, "noise_refiner.", 14) == 0 ||
                         strncmp(name, "context_refiner.", 16) == 0;
    const bool layer = strncmp(name, "layers.", 7) == 0;
    const bool attention = strstr(name, ".attention.to_"), forward = strstr(name, ".feed_forward.");
    const bool modulation = strstr(name, ".adaLN_modulation.");
    const char *tail = strrchr(name, '.');
    if (strncmp(name, "draft.w", 7) == 0 && tail && strcmp(tail, ".weight") == 0)
        return (zn_weight_class){ZN_CARE_MORE, "draft"};
    if ((!refiner && !layer) || (!attention && !forward && !modulation) || !tail ||
        strcmp(tail, ".weight") != 0)
        return (zn_weight_class){ZN_CARE_WHOLE, "embedders, norms and others"};
    if (modulation) return (zn_weight_class){ZN_CARE_MORE, "modulation"};
    if (refiner) return (zn_weight_class){ZN_CARE_MORE, "refiners"};
    if (attention) return (zn_weight_class){ZN_CARE_LESS, "attention"};
    if (strstr(name, ".w2.")) return (zn_weight_class){ZN_CARE_MORE, "feed forward, down"};
    return (zn_weight_class){ZN_CARE_LESS, "feed forward, up"};
}

static const zn_writing writing = {
    .file = "diffusion_pytorch_model",
    .config = "{\"_class_name\": \"ZImageTransformer2DModel\", \"all_f_patch_size\": [1]}",
    .numbers = settings,
    .numbers_count = SETTINGS,
    .classify = classify,
};

static const zn_part parts[PARTS] = {
    [CONTEXT] = {.name = "context",
                 .prefix = "",
                 .smallest = {.tokens = 1},
                 .ports = context_ports,
                 .build = build_context},
    [MODULATION] = {.name = "modulation",
                    .prefix = "",
                    .smallest = {.tokens = 1},
                    .ports = modulation_ports,
                    .build = build_modulation},
    [DENOISER] = {.name = "denoiser",
                  .prefix = "",
                  .smallest = {.height = 16, .width = 16, .tokens = MULTIPLE},
                  .ports = denoiser_ports,
                  .build = build_denoiser},
    [DRAFT] = {.name = "draft",
               .prefix = "",
               .smallest = {.tokens = 1},
               .ports = draft_ports,
               .build = build_draft},
};

const zn_family zn_family_zimage = {
    .name = "zimage",
    .variants = variants,
    .variants_count = 1,
    .parts = parts,
    .parts_count = PARTS,
    .probe = probe,
    .rename = rename_parameter,
    .layout = layout,
    .precision = precision,
    .writing = &writing,
};

// --- for callers --------------------------------------------------------------------------------

static void numbers_of(const zn_model *model, double *is)
{
    (void)!zn_settings_read(zn_model_layout(model, &parts[DENOISER]), settings, SETTINGS, is);
}

zn_zimage_facts zn_zimage_facts_of(const zn_model *model)
{
    double is[SETTINGS];
    numbers_of(model, is);
    return (zn_zimage_facts){.caption = (int64_t)is[CAPTION],
                             .width = (int64_t)is[WIDTH],
                             .head = head_of(is),
                             .modulation = modulation_of(is),
                             .channels = (int64_t)is[CHANNELS],
                             .patch = (int64_t)is[PATCH],
                             .draft = is[DRAFT_INNER] > 0 ? (int64_t)is[PLACES] : 0};
}

int64_t zn_zimage_caption_tokens(int64_t tokens)
{
    return round_up(tokens);
}

int64_t zn_zimage_image_tokens(const zn_model *model, int64_t height, int64_t width)
{
    double is[SETTINGS];
    numbers_of(model, is);
    return image_tokens(is, height, width);
}

static void turn(const double *is, int64_t axis, int64_t row, int64_t column, float *dst)
{
    const zn_rope_axis axes[] = {{(int)is[AXIS0], (double)axis},
                                 {(int)is[AXIS1], (double)row},
                                 {(int)is[AXIS2], (double)column}};
    zn_rope_row(axes, 3, is[THETA], false, dst);
}

void zn_zimage_layout(const zn_json *config, char dst[ZN_LAYOUT_SIZE])
{
    zn_settings_write(config, settings, SETTINGS, dst);
}

void zn_zimage_caption_angles(const zn_model *model, int64_t tokens, float *dst)
{
    zn_zimage_layout_caption_angles(zn_model_layout(model, &parts[DENOISER]), tokens, dst);
}

void zn_zimage_layout_caption_angles(const char *said, int64_t tokens, float *dst)
{
    double is[SETTINGS];
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    for (int64_t i = 0; i < tokens; i++) turn(is, 1 + i, 0, 0, dst + i * head_of(is));
}

void zn_zimage_angles(const zn_model *model, const zn_sizes *sizes, float *dst)
{
    zn_zimage_layout_angles(zn_model_layout(model, &parts[DENOISER]), sizes, dst);
}

void zn_zimage_layout_angles(const char *said, const zn_sizes *sizes, float *dst)
{
    double is[SETTINGS];
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    const int64_t width = sizes->width / (int64_t)is[PATCH], head = head_of(is);
    const int64_t there = sizes->height / (int64_t)is[PATCH] * width;
    const int64_t tokens = image_tokens(is, sizes->height, sizes->width);
    for (int64_t i = 0; i < there; i++)
        turn(is, 1 + sizes->tokens, i / width, i % width, dst + i * head);
    for (int64_t i = there; i < tokens; i++) turn(is, 0, 0, 0, dst + i * head);
    zn_zimage_layout_caption_angles(said, sizes->tokens, dst + tokens * head);
}

int64_t zn_zimage_layout_patch(const char *said)
{
    double is[SETTINGS];
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    return (int64_t)is[PATCH];
}

bool zn_zimage_layout_drafts(const char *said)
{
    double is[SETTINGS];
    (void)!zn_settings_read(said, settings, SETTINGS, is);
    return is[DRAFT_INNER] > 0;
}
