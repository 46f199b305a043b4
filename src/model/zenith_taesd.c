// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The autoencoders of "Zenith-TAESD: Architecture & Performance Analysis", layer by layer as it
// tables them, for measurements and training from random weights. docs/ZENITH.md has the tables,
// what was read into them where they are silent, and what came of it.
//
//                        vanilla          taesd            lite               spectral
//     stem      3->64    3x3              3x3              1x1                linear
//     block 1 (64)       two 3x3          ZenithLite       ZenithLite         ZenithLite, linear
//     down 1    64->128  3x3 stride 2     3x3 stride 2     unshuffle, 1x1     unshuffle, linear
//     block 2, down 2    128->256, the same again; block 3 (256)
//     out       256->4   3x3 stride 2     3x3 stride 2     unshuffle, 1x1     unshuffle, linear
//
//     in        4->256   1x1              1x1              1x1                linear
//     block 1 (256), up 1 256->128, block 2, up 2 128->64, block 3 (64):
//     up                 nearest, 3x3     nearest, 3x3     1x1, shuffle       linear, shuffle
//     out       64->3    nearest, 3x3     nearest, 3x3     up 64->64, 1x1     up 64->64, linear
//
// Traps: all but vanilla have gates over whole rows and columns, so weights are for one size of
// picture, square and a power of two; they tell which. The names of layers are this file's.
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/nn/layers.h"
#include "src/nn/zenith_blocks.h"
#include "src/op/ops.h"

typedef enum style { VANILLA, TAESD, LITE, SPECTRAL } style;
enum { STAGES = 3, FACTOR = 8, MOST_SIDE = 1 << 14 };
static const style styles[] = {VANILLA, TAESD, LITE, SPECTRAL};
static const int64_t widths[STAGES] = {64, 128, 256};

// Latents of no one else's.
static const zn_autoencoder_facts latents = {4, FACTOR, .scale = 1};

static const zn_variant variants[] = {
    {"zenith_vanilla", "the convolutional baseline of the Zenith-TAESD document", ZN_INT8_NONE,
     &latents, &styles[0]},
    {"zenith_taesd", "Zenith-TAESD: spectral blocks between 3x3 convolutions, one picture size",
     ZN_INT8_NONE, &latents, &styles[1]},
    {"zenith_taesd_lite",
     "Zenith-TAESD-Lite: spectral blocks and 1x1 convolutions, one picture size", ZN_INT8_NONE,
     &latents, &styles[2]},
    {"zenith_spectral", "Zenith-Spectral: transforms mix channels too, one picture size",
     ZN_INT8_NONE, &latents, &styles[3]},
};
enum { ENCODER, DECODER, PARTS };

static style style_of(const zn_variant *variant)
{
    return *(const style *)variant->numbers;
}

static bool is_square(style s)
{
    return s == VANILLA || s == TAESD; // its convolutions between blocks are 3x3
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    const zn_file_tensor *stem = zn_weights_find(weights, "encoder.stem.weight");
    const zn_file_tensor *out = zn_weights_find(weights, "decoder.out.weight");
    const bool encoder = stem && zn_weights_find(weights, "encoder.out.weight");
    const bool decoder = out && zn_weights_find(weights, "decoder.up2.weight");
    *parts = (encoder ? 1u << ENCODER : 0u) | (decoder ? 1u << DECODER : 0u);
    if (!*parts) return 0;
    const zn_shape *shape = encoder ? &stem->shape : &out->shape;
    const char *block = encoder ? "encoder.block1.conv.0.weight" : "decoder.block1.conv.0.weight";
    if (zn_weights_find(weights, block)) return 1u << VANILLA;
    if (shape->rank == 1) return 1u << SPECTRAL;
    return shape->rank == 4 && shape->dim[2] == 3 ? 1u << TAESD : 1u << LITE;
}

// The first dimension of a tensor; 0: it is not there, or no map is so large.
static int64_t first_of(const zn_weights *weights, const char *name)
{
    const zn_file_tensor *tensor = zn_weights_find(weights, name);
    const bool fits = tensor && tensor->shape.rank > 0 && tensor->shape.dim[0] <= MOST_SIDE;
    return fits ? tensor->shape.dim[0] : 0;
}

// The side of latents, from the gates of the largest map of each part. Where a gate has an
// impossible size it is the smallest, for which `build` refuses the gate.
static zn_sizes sizes_of(const zn_weights *weights)
{
    int64_t side = first_of(weights, "encoder.block1.row.weight");
    if (!side) side = 2 * first_of(weights, "decoder.block3.row.weight");
    if (side < FACTOR) side = FACTOR;
    return (zn_sizes){.height = side / FACTOR, .width = side / FACTOR};
}

// --- layers -------------------------------------------------------------------------------------

typedef struct builder {
    const zn_scope *scope;
    style style;
} builder;

static zn_node *named(zn_node *(*op)(zn_graph *, const char *, zn_node *), const builder *b,
                      const char *name, const char *tail, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    return op(b->scope->graph, zn_scope_name(b->scope, name, tail, full), x);
}

// What changes the number of channels: a convolution, or a spectral layer.
static zn_node *change(const builder *b, const char *name, zn_node *x, int64_t channels, int kernel,
                       int stride)
{
    if (b->style == SPECTRAL) return zn_nn_spectral_linear(b->scope, name, x, channels);
    return zn_nn_conv(b->scope, name, x, (zn_nn_conv_shape){channels, kernel, stride, true});
}

// relu(x + conv(relu(conv(x)))).
static zn_node *plain_block(const builder *b, const char *name, zn_node *x)
{
    const zn_nn_conv_shape shape = {x ? x->desc.shape.dim[3] : 1, 3, 1, true};
    char inner[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_text_format(inner, sizeof inner, "%s.conv.0", name);
    zn_node *y = zn_nn_conv(b->scope, inner, x, shape);
    y = named(zn_relu, b, name, ".conv.1", y);
    zn_text_format(inner, sizeof inner, "%s.conv.2", name);
    y = zn_nn_conv(b->scope, inner, y, shape);
    y = zn_add(b->scope->graph, zn_scope_name(b->scope, name, ".skip", full), y, x);
    return named(zn_relu, b, name, "", y);
}

static zn_node *block(const builder *b, int number, zn_node *x)
{
    char name[ZN_NAME_SIZE];
    zn_text_format(name, sizeof name, "block%d", number);
    if (b->style == VANILLA) return plain_block(b, name, x);
    return zn_nn_zenith_lite(b->scope, name, x,
                             b->style == SPECTRAL ? ZN_NN_MIX_SPECTRAL : ZN_NN_MIX_GROUPS);
}

static zn_node *down(const builder *b, const char *name, zn_node *x, int64_t channels)
{
    char full[ZN_NAME_SIZE];
    if (is_square(b->style)) return change(b, name, x, channels, 3, 2);
    x = zn_pixel_unshuffle(b->scope->graph, zn_scope_name(b->scope, name, ".pixels", full), x, 2);
    return change(b, name, x, channels, 1, 1);
}

static zn_node *up(const builder *b, const char *name, zn_node *x, int64_t channels)
{
    char full[ZN_NAME_SIZE];
    if (is_square(b->style))
        return change(b, name, named(zn_upsample2, b, name, ".up", x), channels, 3, 1);
    x = change(b, name, x, 4 * channels, 1, 1);
    return zn_pixel_shuffle(b->scope->graph, zn_scope_name(b->scope, name, ".pixels", full), x, 2);
}

static zn_node *build_encoder(const builder *b, zn_node *x, int64_t latent)
{
    x = change(b, "stem", x, widths[0], is_square(b->style) ? 3 : 1, 1);
    for (int i = 0; i < STAGES; i++) {
        char name[ZN_NAME_SIZE];
        zn_text_format(name, sizeof name, "down%d", i + 1);
        x = block(b, i + 1, x);
        if (i + 1 < STAGES) x = down(b, name, x, widths[i + 1]);
    }
    return down(b, "out", x, latent);
}

static zn_node *build_decoder(const builder *b, zn_node *x)
{
    x = change(b, "in", x, widths[STAGES - 1], 1, 1);
    for (int i = STAGES; i-- > 0;) {
        char name[ZN_NAME_SIZE];
        zn_text_format(name, sizeof name, "up%d", STAGES - i);
        x = block(b, STAGES - i, x);
        if (i > 0) x = up(b, name, x, widths[i - 1]);
    }
    if (is_square(b->style)) return up(b, "out", x, 3);
    x = up(b, "up3", x, widths[0]);
    return change(b, "out", x, 3, 1, 1);
}

static void encoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    const builder b = {scope, style_of(variant)};
    (void)sizes;
    outputs[0] = build_encoder(&b, inputs[0], variant->autoencoder->latent_channels);
}

static void decoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    const builder b = {scope, style_of(variant)};
    (void)sizes;
    outputs[0] = build_decoder(&b, inputs[0]);
}

static const zn_part parts[PARTS] = {
    [ENCODER] = ZN_ENCODER_PART(encoder), [DECODER] = ZN_DECODER_PART(decoder)};

const zn_family zn_family_zenith_taesd = {
    .name = "zenith_taesd",
    .variants = variants,
    .variants_count = sizeof variants / sizeof *variants,
    .parts = parts,
    .parts_count = PARTS,
    .probe = probe,
    .sizes = sizes_of,
};
