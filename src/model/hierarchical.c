// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The autoencoders of "Benchmark Report: Zenith-Prune Architecture", for measurements and training from
// random weights. The report has no table of layers: this is a reading (docs/ZENITH.md).
//
//     encoder:  conv 3x3 3->32, 2 blocks, down 32->64, 2 blocks, down 64->128, 2 blocks, 1x1 128->32
//     decoder:  1x1 32->128, 2 blocks, up 128->64, 2 blocks, up 64->32, 2 blocks, conv 3x3 32->3
//
//                         block                                   down                 up
//     zenith_hierarchical spectral tiles + eyes, 1x1              unshuffle, 1x1       1x1, shuffle
//     zenith_prune        the same with a score per rectangle     the same             the same
//     zenith_soft         zenith_prune, coefficients thresholded  the same             the same
//     conv_baseline       relu(x + conv 3x3(relu(conv 3x3)))      conv 3x3 stride 2    nearest, conv 3x3
//
// The second block of a level has its grid of tiles moved by half a tile. Tiles go over a map of any size.
//
// Layouts of the first three: "4 of 8 frequencies" keeps the lowest 4 x 4 of each tile, in all blocks;
// without one, all 8 x 8. Gates have the shape of all of them either way.
#include "src/base/text.h"
#include "src/model/family.h"
#include "src/nn/layers.h"
#include "src/nn/zenith_blocks.h"
#include "src/op/ops.h"

#include <string.h>

typedef struct numbers {
    bool spectral, pruned, threshold;
} numbers;

enum { LEVELS = 3, BLOCKS = 2, LATENT = 32, FACTOR = 4, HIERARCHICAL = 0, PRUNE, SOFT, CONV };
static const int64_t widths[LEVELS] = {32, 64, 128};
static const numbers each[] = {
    {true, false, false}, {true, true, false}, {true, true, true}, {false, false, false}};

static const zn_variant variants[] = {
    {"zenith_hierarchical", "ZenithHierarchicalAE: spectral tiles and depthwise convolutions",
     LATENT, FACTOR, false, 1, 0, false, &each[HIERARCHICAL]},
    {"zenith_prune", "ZenithHierarchicalAE with parts of blocks that can be left out", LATENT,
     FACTOR, false, 1, 0, false, &each[PRUNE]},
    {"zenith_soft", "zenith_prune with soft thresholds between the transforms", LATENT, FACTOR,
     false, 1, 0, false, &each[SOFT]},
    {"conv_baseline", "ConvBaselineAE: ZenithHierarchicalAE's widths with 3x3 convolutions", LATENT,
     FACTOR, false, 1, 0, false, &each[CONV]},
};

static bool has(const zn_weights *weights, unsigned parts, const char *tail)
{
    char name[ZN_NAME_SIZE];
    zn_text_format(name, sizeof name, "%s%s", parts & ZN_ENCODER ? "encoder." : "decoder.", tail);
    return zn_weights_find(weights, name) != NULL;
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    *parts = (has(weights, ZN_ENCODER, "stem.weight") ? ZN_ENCODER : 0u) |
             (has(weights, ZN_DECODER, "head.weight") ? ZN_DECODER : 0u);
    if (!*parts || !has(weights, *parts, "latent.weight")) return 0;
    if (has(weights, *parts, "level1.0.conv.0.weight")) return 1u << CONV;
    if (has(weights, *parts, "level1.0.spectral.threshold")) return 1u << SOFT;
    if (has(weights, *parts, "level1.0.score")) return 1u << PRUNE;
    return has(weights, *parts, "level1.0.eyes.weight") ? 1u << HIERARCHICAL : 0;
}

// --- layouts ------------------------------------------------------------------------------------

static void write_layout(int kept, char dst[ZN_LAYOUT_SIZE])
{
    zn_text_format(dst, ZN_LAYOUT_SIZE, "%d of %d frequencies", kept, (int)ZN_NN_TILE);
}

// The frequencies that a layout keeps, a power of two; 0: it is none.
static int read_layout(const char *layout)
{
    char text[ZN_LAYOUT_SIZE];
    int kept = ZN_NN_TILE;
    for (; layout && kept > 0; kept /= 2) {
        write_layout(kept, text);
        if (strcmp(layout, text) == 0) break;
    }
    return kept;
}

static int frequencies(const zn_variant *variant, const char *layout, int kept,
                       char dst[ZN_LAYOUT_SIZE])
{
    const numbers *how = variant->numbers;
    if (kept > 0) write_layout(kept, dst);
    return how->spectral ? read_layout(layout) : 0;
}

// --- layers -------------------------------------------------------------------------------------

typedef struct builder {
    const zn_scope *scope;
    const numbers *how;
    int kept;
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
    return zn_relu(graph, zn_scope_name(b->scope, name, "", full), y);
}

static zn_node *level(const builder *b, int number, zn_node *x)
{
    for (int i = 0; i < BLOCKS; i++) {
        const zn_nn_zenith_shape shape = {i % 2 == 1, b->how->threshold, b->how->pruned, b->kept};
        char name[ZN_NAME_SIZE];
        zn_text_format(name, sizeof name, "level%d.%d", number, i);
        x = b->how->spectral ? zn_nn_zenith(b->scope, name, x, shape) : conv_block(b, name, x);
    }
    return x;
}

static zn_node *down(const builder *b, const char *name, zn_node *x, int64_t channels)
{
    char full[ZN_NAME_SIZE];
    if (!b->how->spectral) return conv(b, name, x, channels, 3, 2);
    x = zn_pixel_unshuffle(b->scope->graph, zn_scope_name(b->scope, name, ".pixels", full), x, 2);
    return conv(b, name, x, channels, 1, 1);
}

static zn_node *up(const builder *b, const char *name, zn_node *x, int64_t channels)
{
    char full[ZN_NAME_SIZE];
    zn_graph *graph = b->scope->graph;
    if (!b->how->spectral) {
        x = zn_upsample2(graph, zn_scope_name(b->scope, name, ".up", full), x);
        return conv(b, name, x, channels, 3, 1);
    }
    x = conv(b, name, x, 4 * channels, 1, 1);
    return zn_pixel_shuffle(graph, zn_scope_name(b->scope, name, ".pixels", full), x, 2);
}

static zn_node *refuse(zn_graph *graph, const char *layout)
{
    if (graph->status == ZENITH_OK)
        graph->status = zn_fail(
            graph->err, ZENITH_BAD_FILE,
            "'%.60s' is no layout: \"4 of 8 frequencies\" is one, and so are 1, 2 "
            "and 8 of them",
            layout);
    return NULL;
}

static zn_node *build(const zn_scope *scope, const zn_variant *variant, unsigned part, zn_node *x)
{
    const builder b = {scope, variant->numbers, read_layout(scope->layout)};
    char name[ZN_NAME_SIZE];
    if (b.kept == 0) return refuse(scope->graph, scope->layout);
    if (part == ZN_ENCODER) {
        x = conv(&b, "stem", x, widths[0], 3, 1);
        for (int i = 0; i < LEVELS; i++) {
            zn_text_format(name, sizeof name, "down%d", i);
            if (i > 0) x = down(&b, name, x, widths[i]);
            x = level(&b, i + 1, x);
        }
        return conv(&b, "latent", x, variant->latent_channels, 1, 1);
    }
    x = conv(&b, "latent", x, widths[LEVELS - 1], 1, 1);
    for (int i = LEVELS; i-- > 0;) {
        x = level(&b, i + 1, x);
        zn_text_format(name, sizeof name, "up%d", i);
        if (i > 0) x = up(&b, name, x, widths[i - 1]);
    }
    return conv(&b, "head", x, 3, 3, 1);
}

const zn_family zn_family_hierarchical = {
    .name = "hierarchical",
    .variants = variants,
    .variants_count = sizeof variants / sizeof *variants,
    .probe = probe,
    .build = build,
    .frequencies = frequencies,
};
