// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The autoencoders of "Benchmark Report: Zenith-Prune Architecture", for measurements and training
// from random weights. The report has no table of layers: this is a reading (docs/ZENITH.md).
//
//     encoder:  conv 3x3 3->32, 2 blocks, down 32->64, 2 blocks, down 64->128, 2 blocks,
//               1x1 128->32
//     decoder:  1x1 32->128, 2 blocks, up 128->64, 2 blocks, up 64->32, 2 blocks, conv 3x3 32->3
//
//                         block                                down               up
//     zenith_hierarchical spectral tiles + eyes, 1x1           unshuffle, 1x1     1x1, shuffle
//     zenith_prune        the same with a score per rectangle  the same           the same
//     zenith_soft         zenith_prune with thresholds         the same           the same
//     conv_baseline       relu(x + conv 3x3(relu(conv 3x3)))   conv 3x3 stride 2  nearest, conv 3x3
//     conv_linear         x + conv 3x3(relu(conv 3x3))         unshuffle, 1x1     1x1, shuffle
//
// zenith_wide and conv_wide are zenith_prune and conv_baseline with a latent of 128 channels, more
// numbers than the picture has: for restoration, where what is to be taken away may be as rich as
// the picture. conv_linear has it too: zenith_wide with convolutions in its blocks, and all else
// the same.
//
// The second block of a level has its grid of tiles moved by half a tile. Tiles go over a map of
// any size.
//
// Layouts of the first three: "f4" keeps the lowest 4 x 4 frequencies of each tile, in all blocks;
// without one, all 8 x 8. Gates have the shape of all of them either way. Those with scores can
// have "f8s50": cells of a map that change by less than 50 thousandths are left out.
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/model/pruning.h"
#include "src/model/settings.h"
#include "src/nn/layers.h"
#include "src/nn/zenith_blocks.h"
#include "src/op/ops.h"

#include <stdlib.h>
#include <string.h>

typedef struct numbers {
    bool spectral, pruned, threshold;
    bool linear; // there is a way through the network without a relu: x + f(x), and shuffled pixels
} numbers;

enum { LEVELS = 3, BLOCKS = 2, LATENT = 32, WIDE = 128, FACTOR = 4 };
enum { HIERARCHICAL = 0, PRUNE, SOFT, CONV, ZENITH_WIDE, CONV_WIDE, CONV_LINEAR };
static const int64_t widths[LEVELS] = {32, 64, 128};
static const numbers each[] = {
    [HIERARCHICAL] = {.spectral = true, .linear = true},
    [PRUNE] = {.spectral = true, .linear = true, .pruned = true},
    [SOFT] = {.spectral = true, .linear = true, .pruned = true, .threshold = true},
    [CONV] = {0},
    [ZENITH_WIDE] = {.spectral = true, .linear = true, .pruned = true},
    [CONV_WIDE] = {0},
    [CONV_LINEAR] = {.linear = true},
};

// Latents of no one else's.
static const zn_autoencoder_facts narrow = {LATENT, FACTOR, .scale = 1};
static const zn_autoencoder_facts rich = {WIDE, FACTOR, .scale = 1};

static const zn_variant variants[] = {
    {"zenith_hierarchical", "ZenithHierarchicalAE: spectral tiles and depthwise convolutions",
     ZN_INT8_NONE, &narrow, &each[HIERARCHICAL]},
    {"zenith_prune", "ZenithHierarchicalAE with parts of blocks that can be left out", ZN_INT8_NONE,
     &narrow, &each[PRUNE]},
    {"zenith_soft", "zenith_prune with soft thresholds between the transforms", ZN_INT8_NONE,
     &narrow, &each[SOFT]},
    {"conv_baseline", "ConvBaselineAE: ZenithHierarchicalAE's widths with 3x3 convolutions",
     ZN_INT8_NONE, &narrow, &each[CONV]},
    {"zenith_wide", "zenith_prune with a latent of 128 channels, for restoration", ZN_INT8_NONE,
     &rich, &each[ZENITH_WIDE]},
    {"conv_wide", "conv_baseline with a latent of 128 channels, for restoration", ZN_INT8_NONE,
     &rich, &each[CONV_WIDE]},
    {"conv_linear", "zenith_wide with 3x3 convolutions in its blocks, for restoration",
     ZN_INT8_NONE, &rich, &each[CONV_LINEAR]},
};
enum { ENCODER, DECODER, PARTS };

// Of one of the parts that are there.
static const char *prefix_of(unsigned parts)
{
    return parts >> ENCODER & 1 ? "encoder." : "decoder.";
}

static bool has(const zn_weights *weights, unsigned parts, const char *tail)
{
    char name[ZN_NAME_SIZE];
    zn_text_format(name, sizeof name, "%s%s", prefix_of(parts), tail);
    return zn_weights_find(weights, name) != NULL;
}

// Whether the latent is that of the wide ones.
static bool is_wide(const zn_weights *weights, unsigned parts)
{
    const bool encoder = parts >> ENCODER & 1;
    const zn_file_tensor *latent = zn_weights_find(weights, encoder ? "encoder.latent.weight"
                                                                    : "decoder.latent.weight");
    const zn_shape *shape = &latent->shape;
    return shape->rank == 4 && shape->dim[encoder ? 0 : 1] == WIDE;
}

// Between levels of linear ones is a convolution of 1x1.
static bool is_linear(const zn_weights *weights, unsigned parts)
{
    const zn_file_tensor *between = zn_weights_find(
        weights, parts >> ENCODER & 1 ? "encoder.down1.weight" : "decoder.up1.weight");
    return between && between->shape.rank == 4 && between->shape.dim[2] == 1;
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    *parts = (has(weights, 1u << ENCODER, "stem.weight") ? 1u << ENCODER : 0u) |
             (has(weights, 1u << DECODER, "head.weight") ? 1u << DECODER : 0u);
    if (!*parts || !has(weights, *parts, "latent.weight")) return 0;
    const bool wide = is_wide(weights, *parts);
    if (has(weights, *parts, "level1.0.conv.0.weight"))
        return 1u << (is_linear(weights, *parts) ? CONV_LINEAR : wide ? CONV_WIDE : CONV);
    if (has(weights, *parts, "level1.0.spectral.threshold")) return 1u << SOFT;
    if (has(weights, *parts, "level1.0.score")) return 1u << (wide ? ZENITH_WIDE : PRUNE);
    return has(weights, *parts, "level1.0.eyes.weight") ? 1u << HIERARCHICAL : 0;
}

// --- layouts ------------------------------------------------------------------------------------

static void write_layout(const zn_tile_layout *tiles, char dst[ZN_LAYOUT_SIZE])
{
    size_t length = zn_text_format(dst, ZN_LAYOUT_SIZE, "f%d", tiles->frequencies);
    if (tiles->still > 0)
        zn_text_format(dst + length, ZN_LAYOUT_SIZE - length, "s%d", tiles->still);
}

// NULL is all frequencies.
static bool read_layout(const numbers *how, const char *layout, zn_tile_layout *out)
{
    zn_tile_layout tiles = {.frequencies = ZN_NN_TILE};
    if (!how->spectral) return !layout;
    if (layout) {
        if (!zn_layout_number(&layout, 'f', ZN_NN_TILE, &tiles.frequencies)) return false;
        if (*layout && !zn_layout_number(&layout, 's', ZN_STILL_PARTS - 1, &tiles.still))
            return false;
        if (*layout) return false;
    }
    *out = tiles;
    const int kept = tiles.frequencies;
    return (kept == 1 || kept == 2 || kept == 4 || kept == ZN_NN_TILE) &&
           (tiles.still == 0 || how->pruned);
}

static bool tiles(const zn_variant *variant, const char *layout, const zn_tile_layout *wanted,
                  zn_tile_layout *now, char dst[ZN_LAYOUT_SIZE])
{
    const numbers *how = variant->numbers;
    if (!how->spectral || !read_layout(how, layout, now)) return false;
    if (wanted) write_layout(wanted, dst);
    return !wanted || wanted->still == 0 || how->pruned;
}

// --- layers -------------------------------------------------------------------------------------

typedef struct builder {
    const zn_scope *scope;
    const numbers *how;
    zn_tile_layout tiles;
} builder;

static zn_node *conv(const builder *b, const char *name, zn_node *x, int64_t channels, int kernel,
                     int stride)
{
    return zn_nn_conv(b->scope, name, x, (zn_nn_conv_shape){channels, kernel, stride, true});
}

static zn_node *conv_block(const builder *b, const char *name, zn_node *x)
{
    const int64_t channels = x ? x->desc.shape.dim[3] : 1;
    zn_graph *graph = b->scope->graph;
    char inner[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_text_format(inner, sizeof inner, "%s.conv.0", name);
    zn_node *y = conv(b, inner, x, channels, 3, 1);
    y = zn_relu(graph, zn_scope_name(b->scope, name, ".conv.1", full), y);
    zn_text_format(inner, sizeof inner, "%s.conv.2", name);
    y = conv(b, inner, y, channels, 3, 1);
    y = zn_add(graph, zn_scope_name(b->scope, name, ".skip", full), y, x);
    if (b->how->linear) return y;
    return zn_relu(graph, zn_scope_name(b->scope, name, "", full), y);
}

static zn_node *level(const builder *b, int number, zn_node *x)
{
    for (int i = 0; i < BLOCKS; i++) {
        const zn_nn_zenith_shape shape = {.shifted = i % 2 == 1,
                                          .threshold = b->how->threshold,
                                          .pruned = b->how->pruned,
                                          .kept = b->tiles.frequencies,
                                          .still = (float)b->tiles.still / ZN_STILL_PARTS};
        char name[ZN_NAME_SIZE];
        zn_text_format(name, sizeof name, "level%d.%d", number, i);
        x = b->how->spectral ? zn_nn_zenith(b->scope, name, x, shape) : conv_block(b, name, x);
    }
    return x;
}

static zn_node *down(const builder *b, const char *name, zn_node *x, int64_t channels)
{
    char full[ZN_NAME_SIZE];
    if (!b->how->linear) return conv(b, name, x, channels, 3, 2);
    x = zn_pixel_unshuffle(b->scope->graph, zn_scope_name(b->scope, name, ".pixels", full), x, 2);
    return conv(b, name, x, channels, 1, 1);
}

static zn_node *up(const builder *b, const char *name, zn_node *x, int64_t channels)
{
    char full[ZN_NAME_SIZE];
    zn_graph *graph = b->scope->graph;
    if (!b->how->linear) {
        x = zn_upsample2(graph, zn_scope_name(b->scope, name, ".up", full), x);
        return conv(b, name, x, channels, 3, 1);
    }
    x = conv(b, name, x, 4 * channels, 1, 1);
    return zn_pixel_shuffle(graph, zn_scope_name(b->scope, name, ".pixels", full), x, 2);
}

static void refuse(zn_graph *graph, const char *layout)
{
    if (graph->status == ZENITH_OK)
        graph->status = zn_fail(graph->err, ZENITH_BAD_FILE,
                                "'%.60s' is no layout of this model: \"f4\" is one of those with "
                                "tiles (4 frequencies along each side; 1, 2, 4 or 8), and "
                                "\"f4s50\" of those with scores (what changes by less than 0.050 "
                                "is left out)",
                                layout);
}

static bool begin(builder *b, const zn_scope *scope, const zn_variant *variant)
{
    *b = (builder){.scope = scope, .how = variant->numbers};
    if (read_layout(b->how, scope->layout, &b->tiles)) return true;
    refuse(scope->graph, scope->layout);
    return false;
}

static void encoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    builder b;
    char name[ZN_NAME_SIZE];
    (void)sizes;
    if (!begin(&b, scope, variant)) return;
    zn_node *x = conv(&b, "stem", inputs[0], widths[0], 3, 1);
    for (int i = 0; i < LEVELS; i++) {
        zn_text_format(name, sizeof name, "down%d", i);
        if (i > 0) x = down(&b, name, x, widths[i]);
        x = level(&b, i + 1, x);
    }
    outputs[0] = conv(&b, "latent", x, variant->autoencoder->latent_channels, 1, 1);
}

static void decoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    builder b;
    char name[ZN_NAME_SIZE];
    (void)sizes;
    if (!begin(&b, scope, variant)) return;
    zn_node *x = conv(&b, "latent", inputs[0], widths[LEVELS - 1], 1, 1);
    for (int i = LEVELS; i-- > 0;) {
        x = level(&b, i + 1, x);
        zn_text_format(name, sizeof name, "up%d", i);
        if (i > 0) x = up(&b, name, x, widths[i - 1]);
    }
    outputs[0] = conv(&b, "head", x, 3, 3, 1);
}

static const zn_part parts[PARTS] = {
    [ENCODER] = ZN_ENCODER_PART(encoder), [DECODER] = ZN_DECODER_PART(decoder)};

const zn_family zn_family_hierarchical = {
    .name = "hierarchical",
    .variants = variants,
    .variants_count = sizeof variants / sizeof *variants,
    .parts = parts,
    .parts_count = PARTS,
    .probe = probe,
};

const zn_pruning zn_pruning_hierarchical = {.family = &zn_family_hierarchical, .tiles = tiles};
