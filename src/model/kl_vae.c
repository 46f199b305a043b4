// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The autoencoders of Stable Diffusion and FLUX: diffusers' AutoencoderKL, the first stage of
// latent diffusion (CompVis/latent-diffusion, black-forest-labs/flux).
//
//     encoder:  conv 3->128, levels 128 256 512 512 of 2 residual blocks with a halving between,
//               middle, norm, silu, conv -> 2 x latent, [1x1 quant_conv]; half of it is the mean,
//               half the logarithm of the variance
//     decoder:  [1x1 post_quant_conv], conv latent -> 512, middle, levels 512 512 256 128 of 3
//               residual blocks with a doubling between, norm, silu, conv -> 3
//     middle:   block, attention over all pixels, block
//
// Traps
//   - Pictures are -1 .. 1 inside, and 0 .. 1 at the port.
//   - Latents are raw inside (docs/LATENTS.md), and the diffusion model's at the port, as of every
//     family.
//   - Halving pads on the right and below only.
//   - The decoder has one block more in each level than the encoder.
//   - Three sets of names: diffusers' (which `build` has); diffusers' before 2023, whose attention
//     has query, key, value, proj_attn; the original ones, which count the decoder's levels from
//     the picture and have the attention's matrices as 1x1 convolutions [c, c, 1, 1]. In whole
//     checkpoints all begin with "first_stage_model." or "vae.".
//   - How many groups the norms have is not in the tensors: config.json says it, and all published
//     ones have 32. A layout "g8l1q" says: 8 groups, 1 block in an encoder's level, with quant
//     convolutions. "g8l1qw16-32-64-64" also says the channels of the four levels, for a network
//     that has no weights yet.
//   - SD and SDXL have the same names and shapes, and so have SD3 and FLUX: config.json tells them
//     by the latents' scale.
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/model/settings.h"
#include "src/model/translate.h"
#include "src/nn/kl_blocks.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

#include <math.h>
#include <string.h>

enum { LOGVAR_LOW = -30, LOGVAR_HIGH = 20 };
enum { LEVELS = 4, GROUPS = 32, LAYERS = 2 };
enum { MOST_GROUPS = 1024, MOST_LAYERS = 16, MOST_WIDTH = 8192 };
enum { SD, SDXL, SD3, FLUX, VARIANTS };
enum { ENCODER, DECODER, PARTS };

// Where nothing says otherwise.
static const int64_t widths[LEVELS] = {128, 256, 512, 512};

typedef struct numbers {
    bool quant; // 1x1 convolutions beside the latent
} numbers;
static const numbers with_quant = {true}, without_quant = {false};

static const zn_variant variants[VARIANTS] = {
    [SD] = {"sd-vae", "AutoencoderKL of Stable Diffusion 1.x and 2.x", ZN_INT8_NONE, &zn_latents_sd,
            &with_quant},
    [SDXL] = {"sdxl-vae", "AutoencoderKL of Stable Diffusion XL", ZN_INT8_NONE, &zn_latents_sdxl,
              &with_quant},
    [SD3] = {"sd3-vae", "AutoencoderKL of Stable Diffusion 3", ZN_INT8_NONE, &zn_latents_sd3,
             &without_quant},
    [FLUX] = {"flux-vae", "AutoencoderKL of FLUX.1 and Z-Image", ZN_INT8_NONE, &zn_latents_f1,
              &without_quant},
};

// --- names --------------------------------------------------------------------------------------

static const zn_translation no_change[] = {{NULL, NULL}};
static const zn_translation without_part[] = {
    {"encoder.quant_conv.", "quant_conv."},
    {"decoder.post_quant_conv.", "post_quant_conv."},
    {NULL, NULL},
};
static const zn_translation old_diffusers[] = {
    {"to_q.", "query."},         {"to_k.", "key."}, {"to_v.", "value."},
    {"to_out.0.", "proj_attn."}, {NULL, NULL},
};
static const zn_translation original[] = {
    {"down_blocks.", "down."},
    {"downsamplers.0.", "downsample."},
    {"up_blocks.0.", "up.3."},
    {"up_blocks.1.", "up.2."},
    {"up_blocks.2.", "up.1."},
    {"up_blocks.3.", "up.0."},
    {"upsamplers.0.", "upsample."},
    {"mid_block.resnets.0.", "mid.block_1."},
    {"mid_block.resnets.1.", "mid.block_2."},
    {"mid_block.attentions.0.", "mid.attn_1."},
    {"resnets.", "block."},
    {"conv_shortcut.", "nin_shortcut."},
    {"conv_norm_out.", "norm_out."},
    {"group_norm.", "norm."},
    {"to_q.", "q."},
    {"to_k.", "k."},
    {"to_v.", "v."},
    {"to_out.0.", "proj_out."},
    {NULL, NULL},
};
static const zn_translation *const name_sets[] = {no_change, without_part, old_diffusers, original};
static const char *const outer[] = {"", "first_stage_model.", "vae."};
enum {
    NAME_SETS = sizeof name_sets / sizeof *name_sets,
    OUTER = sizeof outer / sizeof *outer,
};

static size_t translate_next(const zn_translation *set, const char *name, char dst[ZN_NAME_SIZE])
{
    const size_t taken = zn_translate_known(set, name, dst);
    return taken ? taken : zn_translate_segment(name, dst);
}

static const zn_file_tensor *find(const zn_weights *weights, const char *name,
                                  char dst[ZN_NAME_SIZE])
{
    for (int i = 0; i < OUTER * NAME_SETS; i++) {
        zn_text_format(dst, ZN_NAME_SIZE, "%s", outer[i / NAME_SETS]);
        for (const char *at = name; *at;) at += translate_next(name_sets[i % NAME_SETS], at, dst);
        const zn_file_tensor *tensor = zn_weights_find(weights, dst);
        if (tensor) return tensor;
    }
    return NULL;
}

static bool rename_parameter(const zn_weights *weights, const char *name, zn_stored_name *dst)
{
    return find(weights, name, dst->name) != NULL;
}

static bool has(const zn_weights *weights, const char *name)
{
    char stored[ZN_NAME_SIZE];
    return find(weights, name, stored) != NULL;
}

// --- which one ----------------------------------------------------------------------------------

static bool is_convolution(const zn_file_tensor *tensor, int64_t kernel)
{
    return tensor && tensor->shape.rank == 4 && tensor->shape.dim[2] == kernel;
}

// Channels of the latent by a part's own convolution; 0: the weights have not this part.
static int64_t latent_of(const zn_weights *weights, int part)
{
    char stored[ZN_NAME_SIZE];
    const bool encoder = part == ENCODER;
    const zn_file_tensor *end = find(
        weights, encoder ? "encoder.conv_out.weight" : "decoder.conv_in.weight", stored);
    const bool middle = has(weights, encoder ? "encoder.mid_block.attentions.0.to_q.weight"
                                             : "decoder.mid_block.attentions.0.to_q.weight");
    if (!is_convolution(end, 3) || !middle) return 0;
    return encoder ? end->shape.dim[0] / 2 : end->shape.dim[1];
}

// False where the configuration says another scale of latents.
static bool scale_fits(const zn_weights *weights, const zn_autoencoder_facts *facts)
{
    const zn_json *config = zn_weights_config(weights);
    double scale = 0;
    if (!config || !zn_json_has(config, "scaling_factor") ||
        zn_json_get_number(config, "scaling_factor", &scale, NULL) != ZENITH_OK)
        return true;
    return fabs(scale - (double)facts->scale) <= 1e-6 * (double)facts->scale;
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    const int64_t encoder = latent_of(weights, ENCODER), decoder = latent_of(weights, DECODER);
    const int64_t channels = encoder ? encoder : decoder;
    unsigned shaped = 0, scaled = 0;
    if (!channels || (encoder && decoder && encoder != decoder)) return 0;
    for (int i = 0; i < VARIANTS; i++) {
        if (variants[i].autoencoder->latent_channels != channels) continue;
        shaped |= 1u << i;
        if (scale_fits(weights, variants[i].autoencoder)) scaled |= 1u << i;
    }
    *parts = (encoder ? 1u << ENCODER : 0u) | (decoder ? 1u << DECODER : 0u);
    return scaled ? scaled : shaped; // a scale that nobody knows tells nothing
}

// --- layouts ------------------------------------------------------------------------------------

typedef struct arrangement {
    int groups, layers; // layers: blocks in a level of the encoder
    bool quant;
    int64_t widths[LEVELS]; // where there are no weights to ask
} arrangement;

// Groups by the configuration, the rest by the tensors.
static void layout(const zn_weights *weights, const zn_part *part, char dst[ZN_LAYOUT_SIZE])
{
    const bool encoder = strcmp(part->name, "encoder") == 0;
    const zn_json *config = zn_weights_config(weights);
    int64_t groups = GROUPS;
    int blocks = 0;
    char name[ZN_NAME_SIZE];
    if (config && zn_json_has(config, "norm_num_groups"))
        (void)zn_json_get_integer(config, "norm_num_groups", 1, MOST_GROUPS, &groups, NULL);
    for (; blocks <= MOST_LAYERS; blocks++) {
        zn_text_format(name, sizeof name, "%s.%s.0.resnets.%d.conv1.weight", part->name,
                       encoder ? "down_blocks" : "up_blocks", blocks);
        if (!has(weights, name)) break;
    }
    const bool quant = has(weights, encoder ? "encoder.quant_conv.weight"
                                            : "decoder.post_quant_conv.weight");
    const int layers = encoder ? blocks : blocks - 1;
    zn_text_format(dst, ZN_LAYOUT_SIZE, "g%dl%d%s", (int)groups, layers > 1 ? layers : 1,
                   quant ? "q" : ""); // where blocks are missing, `build` names the first
}

// Nothing, or the channels of each level: "w16-32-64-64".
static bool read_widths(const char **text, int64_t dst[LEVELS])
{
    if (**text != 'w') return true;
    for (int i = 0; i < LEVELS; i++) {
        int number;
        if (!zn_layout_number(text, i ? '-' : 'w', MOST_WIDTH, &number)) return false;
        dst[i] = number;
    }
    return true;
}

static bool read_layout(const zn_scope *scope, const zn_variant *variant, arrangement *out)
{
    const char *text = scope->layout;
    *out = (arrangement){GROUPS, LAYERS, ((const numbers *)variant->numbers)->quant, {0}};
    memcpy(out->widths, widths, sizeof widths);
    if (!text) return true;
    bool fits = zn_layout_number(&text, 'g', MOST_GROUPS, &out->groups) &&
                zn_layout_number(&text, 'l', MOST_LAYERS, &out->layers);
    out->quant = fits && *text == 'q';
    if (out->quant) text++;
    if (fits && read_widths(&text, out->widths) && *text == 0) return true;
    if (scope->graph->status == ZENITH_OK)
        scope->graph->status = zn_fail(
            scope->graph->err, ZENITH_BAD_FILE,
            "'%.60s' is no layout of %s: \"g32l2\" is one (32 groups in each norm, 2 "
            "blocks in a level of the encoder), \"g32l2q\" with quant convolutions, and "
            "\"g32l2qw128-256-512-512\" with the channels of the four levels",
            scope->layout, variant->name);
    return false;
}

// --- networks -----------------------------------------------------------------------------------

typedef struct builder {
    const zn_scope *scope;
    arrangement is;
} builder;

static zn_node *conv(const builder *b, const char *name, zn_node *x, int64_t channels, int kernel)
{
    return zn_nn_conv(b->scope, name, x, (zn_nn_conv_shape){channels, kernel, 1, true});
}

// Fails with a sentence where a map's channels do not divide into the groups.
static zn_node *check_groups(const builder *b, zn_node *x)
{
    zn_graph *graph = b->scope->graph;
    if (!x || x->desc.shape.dim[3] % b->is.groups == 0) return x;
    graph->status = zn_fail(graph->err, ZENITH_BAD_FILE,
                            "%lld channels do not divide into the %d groups of a norm: put the "
                            "config.json of these weights beside them, in a folder",
                            (long long)x->desc.shape.dim[3], b->is.groups);
    return NULL;
}

static zn_node *level(const builder *b, const char *name, zn_node *x, int64_t channels, int blocks)
{
    char part[ZN_NAME_SIZE];
    for (int i = 0; i < blocks; i++) {
        zn_text_format(part, sizeof part, "%s.resnets.%d", name, i);
        x = zn_nn_kl_residual(b->scope, part, check_groups(b, x), channels, b->is.groups);
        if (x) channels = x->desc.shape.dim[3];
    }
    return x;
}

static zn_node *middle(const builder *b, zn_node *x)
{
    const int64_t channels = x ? x->desc.shape.dim[3] : 1;
    const int groups = b->is.groups;
    x = check_groups(b, x);
    x = zn_nn_kl_residual(b->scope, "mid_block.resnets.0", x, channels, groups);
    x = zn_nn_kl_attention(b->scope, "mid_block.attentions.0", x, groups);
    return zn_nn_kl_residual(b->scope, "mid_block.resnets.1", x, channels, groups);
}

static zn_node *build_encoder(const builder *b, zn_node *x, int64_t latent)
{
    char name[ZN_NAME_SIZE];
    x = conv(b, "conv_in", x, -b->is.widths[0], 3);
    for (int i = 0; i < LEVELS; i++) {
        zn_text_format(name, sizeof name, "down_blocks.%d", i);
        x = level(b, name, x, -b->is.widths[i], b->is.layers);
        zn_text_format(name, sizeof name, "down_blocks.%d.downsamplers.0", i);
        if (i < LEVELS - 1) x = zn_nn_kl_down(b->scope, name, x);
    }
    x = middle(b, x);
    x = zn_nn_kl_norm_silu(b->scope, "conv_norm_out", x, b->is.groups);
    x = conv(b, "conv_out", x, 2 * latent, 3);
    return b->is.quant ? conv(b, "quant_conv", x, 2 * latent, 1) : x;
}

static zn_node *build_decoder(const builder *b, zn_node *x, int64_t latent)
{
    char name[ZN_NAME_SIZE];
    if (b->is.quant) x = conv(b, "post_quant_conv", x, latent, 1);
    x = conv(b, "conv_in", x, -b->is.widths[LEVELS - 1], 3);
    x = middle(b, x);
    for (int i = 0; i < LEVELS; i++) {
        zn_text_format(name, sizeof name, "up_blocks.%d", i);
        x = level(b, name, x, -b->is.widths[LEVELS - 1 - i], b->is.layers + 1);
        zn_text_format(name, sizeof name, "up_blocks.%d.upsamplers.0", i);
        if (i < LEVELS - 1) x = zn_nn_kl_up(b->scope, name, x);
    }
    x = zn_nn_kl_norm_silu(b->scope, "conv_norm_out", check_groups(b, x), b->is.groups);
    return conv(b, "conv_out", x, 3, 3);
}

static zn_node *named_affine(const zn_scope *scope, const char *name, zn_node *x, float factor,
                             float offset)
{
    char full[ZN_NAME_SIZE];
    return zn_affine(scope->graph, zn_scope_name(scope, name, "", full), x, factor, offset);
}

// The raw mean and logarithm of the variance, one after the other.
static zn_node *raw_moments(const zn_scope *scope, const zn_variant *variant, zn_node *image)
{
    builder b = {.scope = scope};
    if (!read_layout(scope, variant, &b.is)) return NULL;
    zn_node *x = named_affine(scope, "pixels", image, 2, -1);
    return build_encoder(&b, x, variant->autoencoder->latent_channels);
}

static zn_node *mean_of(const zn_scope *scope, const zn_variant *variant, zn_node *raw)
{
    const zn_autoencoder_facts *facts = variant->autoencoder;
    char full[ZN_NAME_SIZE];
    zn_node *mean = zn_channel_slice(scope->graph, zn_scope_name(scope, "mean", "", full), raw, 0,
                                     facts->latent_channels);
    return named_affine(scope, "latent", mean, facts->scale, -facts->shift * facts->scale);
}

static zn_node *logvar_of(const zn_scope *scope, const zn_variant *variant, zn_node *raw)
{
    const zn_autoencoder_facts *facts = variant->autoencoder;
    zn_graph *graph = scope->graph;
    char full[ZN_NAME_SIZE];
    zn_node *x = zn_channel_slice(graph, zn_scope_name(scope, "logvar.all", "", full), raw,
                                  facts->latent_channels, facts->latent_channels);
    x = zn_clamp(graph, zn_scope_name(scope, "logvar", "", full), x, LOGVAR_LOW, LOGVAR_HIGH);
    return named_affine(scope, "logvar.model", x, 1, zn_latent_logvar_step(facts, 0));
}

static void encoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    (void)sizes;
    outputs[0] = mean_of(scope, variant, raw_moments(scope, variant, inputs[0]));
}

static void moments(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    zn_node *raw = raw_moments(scope, variant, inputs[0]);
    zn_node *both[] = {mean_of(scope, variant, raw), logvar_of(scope, variant, raw)};
    char full[ZN_NAME_SIZE];
    (void)sizes;
    outputs[0] = zn_concat(scope->graph, zn_scope_name(scope, "moments", "", full), both, 2);
}

static void decoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    const zn_autoencoder_facts *facts = variant->autoencoder;
    builder b = {.scope = scope};
    (void)sizes;
    if (!read_layout(scope, variant, &b.is)) return;
    zn_node *x = named_affine(scope, "latent", inputs[0], 1 / facts->scale, facts->shift);
    x = build_decoder(&b, x, facts->latent_channels);
    outputs[0] = named_affine(scope, "pixels", x, 0.5f, 0.5f);
}

static const zn_part parts[PARTS] = {
    [ENCODER] = ZN_ENCODER_PART(encoder), [DECODER] = ZN_DECODER_PART(decoder)};

static const zn_part moments_part = ZN_MOMENTS_PART(moments);

const zn_family zn_family_kl_vae = {
    .name = "kl_vae",
    .variants = variants,
    .variants_count = VARIANTS,
    .parts = parts,
    .parts_count = PARTS,
    .moments = &moments_part,
    .probe = probe,
    .rename = rename_parameter,
    .layout = layout,
};
