// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tiny autoencoders TAESD, TAESDXL, TAESD3, TAEF1 and TAEF2 by Ollin Boer Bohan
// (madebyollin/taesd).
//
//     encoder:  conv 3->64, block, 3 x [conv stride 2, 3 blocks], conv 64->latent
//     decoder:  3 tanh(x/3), conv latent->64, relu, 3 blocks,
//               3 x [nearest x2, conv, 3|3|1 blocks], conv 64->3
//
// Traps
//   - Layers are numbered in a flat sequence that counts the layers without weights (clamp, relu,
//     upsampling) too. diffusers' AutoencoderTiny leaves out the clamp: its decoder numbers are
//     one less.
//   - The convolutions that change the resolution have no bias.
//   - diffusers' own encode and decode map [-1, 1] to and from the [0, 1] of these networks.
//   - TAESD and TAESDXL have the same names and shapes, and so have TAESD3 and TAEF1.
//   - TAEF2's blocks at the latent's resolution begin with a pooling branch that has a group norm
//     over the whole picture; the number of its groups (4) is not in the file. diffusers does not
//     know this branch.
//   - The latents are the diffusion model's own (AutoencoderTiny says scaling_factor 1): scale and
//     shift below lead to them from the full VAE's.
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

#include <stdlib.h>
#include <string.h>

// In bf16, what layers first .. last need to stay within the published bounds: their results, and
// the values inside their blocks. docs/PRECISION.md has the measurements.
typedef struct precision_rule {
    int first, last;
    zn_precision result, inside;
} precision_rule;
enum { RULES = 4, PIXELS = -1 }; // the encoder's input counts as layer -1

typedef struct numbers {
    int64_t pool; // channels inside the pooling branch of blocks at latent resolution; 0: none
    precision_rule encoder[RULES], decoder[RULES];
    // In f32 the encoder's convolutions are direct ones: it multiplies small differences so much
    // that any other order of sums than PyTorch's leaves the published bound.
    bool direct_encoder;
} numbers;

#define PLAIN  ZN_PRECISION_PLAIN
#define STORED ZN_PRECISION_STORED
#define SPLIT  ZN_PRECISION_SPLIT
#define FULL   ZN_PRECISION_FULL

// Errors made at low resolution spread over many pixels, so the decoder is precise at its start,
// where it is cheap.
static const numbers plain = {
    .encoder = {{4, 13, STORED, PLAIN}},
    .decoder = {{0, 6, SPLIT, SPLIT}, {7, 9, STORED, PLAIN}, {10, 11, SPLIT, PLAIN}},
};
// TAESDXL's encoder multiplies small differences by far more than the others' does.
static const numbers xl = {
    .encoder = {{1, 1, SPLIT, SPLIT},
                {3, 3, SPLIT, SPLIT},
                {0, 8, SPLIT, PLAIN},
                {9, 13, STORED, PLAIN}},
    .decoder = {{0, 6, SPLIT, SPLIT}, {7, 9, STORED, PLAIN}, {10, 11, SPLIT, PLAIN}},
    .direct_encoder = true,
};
// TAEF2's weights are f16, which bf16 does not hold: a picture with large even areas shows it most.
static const numbers pooled = {
    .pool = 256,
    .encoder = {{PIXELS, 0, FULL, PLAIN},
                {1, 5, SPLIT, SPLIT},
                {6, 9, STORED, PLAIN},
                {10, 13, FULL, FULL}},
    .decoder = {{0, 6, SPLIT, SPLIT}, {7, 9, STORED, PLAIN}, {10, 11, SPLIT, PLAIN}},
    .direct_encoder = true,
};

static const zn_variant variants[] = {
    {"taesd", "TAESD: tiny autoencoder of Stable Diffusion 1.x and 2.x", ZN_INT8_CALIBRATED,
     &zn_latents_sd, &plain},
    {"taesdxl", "TAESDXL: tiny autoencoder of Stable Diffusion XL", ZN_INT8_CALIBRATED,
     &zn_latents_sdxl, &xl},
    {"taesd3", "TAESD3: tiny autoencoder of Stable Diffusion 3", ZN_INT8_CALIBRATED,
     &zn_latents_sd3, &plain},
    {"taef1", "TAEF1: tiny autoencoder of FLUX.1 and Z-Image", ZN_INT8_CALIBRATED, &zn_latents_f1,
     &plain},
    {"taef2", "TAEF2: tiny autoencoder of FLUX.2", ZN_INT8_NONE, &zn_latents_f2, &pooled},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };
enum { ENCODER, DECODER, PARTS };

static const int encoder_blocks[] = {1, 3, 3, 3}, decoder_blocks[] = {3, 3, 3, 1};

// --- names --------------------------------------------------------------------------------------

static bool is_diffusers(const zn_weights *weights)
{
    return zn_weights_find(weights, "encoder.layers.0.weight") ||
           zn_weights_find(weights, "decoder.layers.0.weight");
}

// "decoder.3.conv.0.weight" is "decoder.layers.2.conv.0.weight" in diffusers.
static bool rename_parameter(const zn_weights *weights, const char *name, zn_stored_name *dst)
{
    if (!is_diffusers(weights)) return false;
    bool decoder = strncmp(name, "decoder.", 8) == 0;
    char *rest;
    long index = strtol(name + 8, &rest, 10) - (decoder ? 1 : 0);
    zn_text_format(dst->name, ZN_NAME_SIZE, "%.8slayers.%ld%s", name, index, rest);
    return true;
}

static const zn_file_tensor *find(const zn_weights *weights, const char *name)
{
    zn_stored_name other;
    return zn_weights_find(weights, rename_parameter(weights, name, &other) ? other.name : name);
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    const zn_file_tensor *encoder = find(weights, "encoder.14.weight");
    const zn_file_tensor *decoder = find(weights, "decoder.1.weight");
    bool ours = (!encoder || (encoder->shape.rank == 4 && find(weights, "encoder.0.weight"))) &&
                (!decoder || (decoder->shape.rank == 4 && find(weights, "decoder.19.bias")));
    if (!ours || (!encoder && !decoder)) return 0;
    bool pool = find(weights, "encoder.11.pool.0.weight") ||
                find(weights, "decoder.3.pool.0.weight");
    unsigned fits = 0;
    for (int i = 0; i < VARIANTS; i++) {
        int64_t channels = variants[i].autoencoder->latent_channels;
        bool fit = (((const numbers *)variants[i].numbers)->pool != 0) == pool;
        fit &= !encoder || encoder->shape.dim[0] == channels;
        fit &= !decoder || decoder->shape.dim[1] == channels;
        if (fit) fits |= 1u << i;
    }
    *parts = (encoder ? 1u << ENCODER : 0u) | (decoder ? 1u << DECODER : 0u);
    return fits;
}

// --- networks -----------------------------------------------------------------------------------

typedef struct builder {
    const zn_scope *scope;
    int64_t pool;
    int layer; // number of the next one
    char name[ZN_NAME_SIZE];
} builder;

static const char *next_name(builder *b)
{
    zn_text_format(b->name, sizeof b->name, "%d", b->layer++);
    return b->name;
}

static zn_node *conv(builder *b, zn_node *x, int64_t channels, int stride, bool bias)
{
    return zn_nn_conv(b->scope, next_name(b), x, (zn_nn_conv_shape){channels, 3, stride, bias});
}

static zn_node *blocks(builder *b, zn_node *x, int count, bool pool)
{
    for (int i = 0; i < count; i++) {
        const char *name = next_name(b);
        if (pool) x = zn_nn_pool(b->scope, name, x, b->pool);
        x = zn_nn_residual(b->scope, name, x);
    }
    return x;
}

// Width of the network: that of its first convolution (64; diffusers allows others).
static int64_t width_of(const zn_scope *scope, const char *name, int64_t inputs)
{
    const zn_node *weight = zn_scope_parameter(scope, name, ".weight", ZN_SHAPE(-1, inputs, 3, 3));
    return weight ? weight->desc.shape.dim[0] : 1;
}

static zn_node *build_encoder(builder *b, zn_node *x, int64_t latent)
{
    int64_t width = width_of(b->scope, "0", 3);
    x = conv(b, x, width, 1, true);
    x = blocks(b, x, encoder_blocks[0], false);
    for (int stage = 1; stage < 4; stage++) {
        x = conv(b, x, width, 2, false);
        x = blocks(b, x, encoder_blocks[stage], stage == 3 && b->pool);
    }
    return conv(b, x, latent, 1, true);
}

static zn_node *build_decoder(builder *b, zn_node *x, int64_t latent)
{
    zn_graph *graph = b->scope->graph;
    char full[ZN_NAME_SIZE];
    x = zn_soft_clip(graph, zn_scope_name(b->scope, next_name(b), "", full), x, 3);
    x = conv(b, x, width_of(b->scope, "1", latent), 1, true);
    int64_t width = x ? x->desc.shape.dim[3] : 1;
    x = zn_relu(graph, zn_scope_name(b->scope, next_name(b), "", full), x);
    x = blocks(b, x, decoder_blocks[0], b->pool != 0);
    const zn_scope *scope = b->scope;
    zn_scope exact = *scope; // sums of the first upsampling's weights would cost 5 dB in bf16
    exact.direct = true;
    for (int stage = 1; stage < 4; stage++) {
        x = zn_upsample2(graph, zn_scope_name(scope, next_name(b), "", full), x);
        b->scope = stage == 1 ? &exact : scope;
        x = conv(b, x, width, 1, false);
        b->scope = scope;
        x = blocks(b, x, decoder_blocks[stage], false);
    }
    return conv(b, x, 3, 1, true);
}

static void encoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    const numbers *n = variant->numbers;
    zn_scope own = *scope;
    own.direct = n->direct_encoder;
    builder b = {.scope = &own, .pool = n->pool};
    (void)sizes;
    outputs[0] = build_encoder(&b, inputs[0], variant->autoencoder->latent_channels);
}

static void decoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    builder b = {.scope = scope, .pool = ((const numbers *)variant->numbers)->pool};
    (void)sizes;
    outputs[0] = build_decoder(&b, inputs[0], variant->autoencoder->latent_channels);
}

static const zn_part parts[PARTS] = {
    [ENCODER] = ZN_ENCODER_PART(encoder), [DECODER] = ZN_DECODER_PART(decoder)};

// --- precision ----------------------------------------------------------------------------------

// "decoder.3" is a layer's result; "decoder.3.conv.1" is inside.
static zn_precision precision(const zn_variant *variant, const char *name)
{
    const numbers *n = variant->numbers;
    bool pixels = strcmp(name, "image") == 0;
    bool encoder = pixels || strncmp(name, "encoder.", 8) == 0;
    if (!encoder && strncmp(name, "decoder.", 8) != 0) return PLAIN;
    char *rest = "";
    long layer = pixels ? PIXELS : strtol(name + 8, &rest, 10);
    const precision_rule *rules = encoder ? n->encoder : n->decoder;
    for (int i = 0; i < RULES; i++) {
        if (layer < rules[i].first || layer > rules[i].last) continue;
        return *rest ? rules[i].inside : rules[i].result;
    }
    return PLAIN;
}

const zn_family zn_family_taesd = {
    .name = "taesd",
    .variants = variants,
    .variants_count = VARIANTS,
    .parts = parts,
    .parts_count = PARTS,
    .probe = probe,
    .rename = rename_parameter,
    .precision = precision,
};
