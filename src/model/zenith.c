// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Zenith's own autoencoders of Stable Diffusion and FLUX latents: TAESD's blocks where they are
// cheap, and none at the picture's full resolution, whose pixels come out of channels.
//
//     decoder:  3 tanh(x/3), conv latent->w0, relu, blocks,
//               [nearest x2, conv, blocks] for each further stage, conv -> 3 f f, pixel shuffle f
//     encoder:  pixel unshuffle f, conv -> w, blocks,
//               [conv stride 2, blocks] for each further stage, conv -> latent
//
// Which stages there are is the layout: "64x3 64x3 32x1" is three blocks of 64 channels at the
// latent's resolution, three of 64 at twice and one of 32 at four times that; f makes up the rest
// of the factor 8. "64x3w8" has Walsh skips: instead of its input x a block adds S(x) = W soft((1 +
// g) W x, t) on tiles of 8x8 (or 16x16) pixels, every other block's half a tile further; with g = t
// = 0, as they begin, that is x. Weights carry it in their metadata (zenith.encoder,
// zenith.decoder); without it a variant has its usual one. Blocks that were pruned are narrower
// inside than outside: only their weights say so.
//
// Traps
//   - Layers are numbered as TAESD's are, so that a layer which both have has one name (its weights
//     are what training begins with); numbers of layers that are not there are left out.
//   - The convolutions that change the resolution have no bias; those at either end have.
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/model/pruning.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

#include <stdlib.h>
#include <string.h>

enum { STAGES = 3, BLOCKS = 3, FACTOR = 8, WIDEST = 1024 };

typedef struct layout {
    int stages; // the first has the latent's resolution
    struct {
        int64_t width;
        int blocks;
        int tile; // side of the skips' tiles; 0: they are plain
    } stage[STAGES];
    int shuffle; // pixels along each side of what the head's channels become
} layout;

static const zn_variant variants[] = {
    {"zenith-sd-fast", "fast autoencoder of Stable Diffusion 1.x and 2.x latents",
     ZN_INT8_CALIBRATED, &zn_latents_sd, "64x3 64x3 64x1"},
    {"zenith-sd-small", "smallest autoencoder of Stable Diffusion 1.x and 2.x latents",
     ZN_INT8_CALIBRATED, &zn_latents_sd, "64x3 64x3 32x1"},
    {"zenith-f1-fast", "fast autoencoder of FLUX.1 and Z-Image latents", ZN_INT8_CALIBRATED,
     &zn_latents_f1, "64x3 64x3 64x1"},
    {"zenith-f1-small", "smallest autoencoder of FLUX.1 and Z-Image latents", ZN_INT8_CALIBRATED,
     &zn_latents_f1, "64x3 64x3 32x1"},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };
enum { ENCODER, DECODER, PARTS };

// --- layouts ------------------------------------------------------------------------------------

// "w8", "w16" or nothing.
static int parse_tile(const char **text)
{
    static const int sides[] = {8, 16};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        char suffix[8];
        const size_t length = zn_text_format(suffix, sizeof suffix, "w%d", sides[i]);
        if (strncmp(*text, suffix, length) != 0) continue;
        *text += length;
        return sides[i];
    }
    return 0;
}

// "64x3 64x3 32x1"; false where it is not one.
static bool parse_layout(const char *text, layout *out)
{
    layout l = {.stages = 0, .shuffle = FACTOR};
    while (*text) {
        char *end;
        if (l.stages == STAGES || *text < '1' || *text > '9') return false;
        long width = strtol(text, &end, 10);
        if (width > WIDEST || *end++ != 'x' || *end < '0' || *end > '0' + BLOCKS) return false;
        text = end + 1;
        l.stage[l.stages].width = width;
        l.stage[l.stages].blocks = *end - '0';
        l.stage[l.stages].tile = parse_tile(&text);
        if (l.stages++ > 0) l.shuffle /= 2;
        if (*text != ' ' && *text != 0) return false;
        text += *text == ' ';
    }
    *out = l;
    return l.stages > 0;
}

static void refuse(zn_graph *graph, const char *text)
{
    if (graph->status == ZENITH_OK)
        graph->status = zn_fail(graph->err, ZENITH_BAD_FILE,
                                "'%.60s' is no layout: one to %d stages as in \"64x3 64x3 32x1\", "
                                "channels (up to %d) and blocks (up to %d) of each",
                                text, STAGES, WIDEST, BLOCKS);
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    const zn_file_tensor *decoder = zn_weights_find(weights, "decoder.head.weight");
    const zn_file_tensor *encoder = zn_weights_find(weights, "encoder.stem.weight");
    const zn_file_tensor *in = zn_weights_find(weights, "decoder.1.weight");
    const zn_file_tensor *out = zn_weights_find(weights, "encoder.14.weight");
    const char *name = zn_weights_metadata(weights, "zenith.model");
    if ((decoder && !(in && in->shape.rank == 4)) || (encoder && !(out && out->shape.rank == 4)))
        return 0;
    unsigned fits = 0;
    for (int i = 0; (decoder || encoder) && i < VARIANTS; i++) {
        int64_t channels = variants[i].autoencoder->latent_channels;
        bool fit = !name || strcmp(name, variants[i].name) == 0;
        fit &= !decoder || in->shape.dim[1] == channels;
        fit &= !encoder || out->shape.dim[0] == channels;
        if (fit) fits |= 1u << i;
    }
    *parts = (encoder ? 1u << ENCODER : 0u) | (decoder ? 1u << DECODER : 0u);
    return fits;
}

// --- networks -----------------------------------------------------------------------------------

static zn_node *conv(const zn_scope *scope, int number, zn_node *x, zn_nn_conv_shape shape)
{
    char name[ZN_NAME_SIZE];
    zn_text_format(name, sizeof name, "%d", number);
    return zn_nn_conv(scope, name, x, shape);
}

// The number of a stage's first block.
static int first_block(int part, int stage)
{
    return part == DECODER ? 3 + 5 * stage : 11 - 4 * stage;
}

// S(x), see above.
static zn_node *walsh_skip(const zn_scope *scope, const char *name, int tile, bool shifted,
                           zn_node *x)
{
    const zn_shape shape = ZN_SHAPE((int64_t)tile * tile, x ? x->desc.shape.dim[3] : 0);
    char full[ZN_NAME_SIZE];
    zn_node *gate = zn_scope_parameter(scope, name, ".walsh.weight", shape);
    zn_node *threshold = zn_scope_parameter(scope, name, ".walsh.threshold", shape);
    return zn_walsh_tile(
        scope->graph, zn_scope_name(scope, name, ".walsh", full), x, gate, threshold,
        (zn_walsh_tile_attributes){.size = tile, .shift = shifted ? tile / 2 : 0, .kept = tile});
}

static zn_node *blocks(const zn_scope *scope, int part, const layout *l, int stage, zn_node *x)
{
    char name[ZN_NAME_SIZE];
    const int first = first_block(part, stage), tile = l->stage[stage].tile;
    for (int i = 0; i < l->stage[stage].blocks; i++) {
        zn_text_format(name, sizeof name, "%d", first + i);
        zn_node *skip = tile ? walsh_skip(scope, name, tile, i % 2 > 0, x) : x;
        x = zn_nn_residual_over(scope, name, x, skip);
    }
    return x;
}

static zn_node *build_decoder(const zn_scope *scope, const layout *l, zn_node *x)
{
    zn_graph *graph = scope->graph;
    char full[ZN_NAME_SIZE];
    x = zn_soft_clip(graph, zn_scope_name(scope, "0", "", full), x, 3);
    x = conv(scope, 1, x, (zn_nn_conv_shape){l->stage[0].width, 3, 1, true});
    x = zn_relu(graph, zn_scope_name(scope, "2", "", full), x);
    for (int s = 0; s < l->stages; s++) {
        if (s > 0) {
            zn_text_format(full, sizeof full, "%s%d", scope->prefix, 1 + 5 * s);
            x = zn_upsample2(graph, full, x);
            x = conv(scope, 2 + 5 * s, x, (zn_nn_conv_shape){l->stage[s].width, 3, 1, false});
        }
        x = blocks(scope, DECODER, l, s, x);
    }
    const int64_t channels = 3 * l->shuffle * l->shuffle;
    x = zn_nn_conv(scope, "head", x, (zn_nn_conv_shape){channels, 3, 1, true});
    return zn_pixel_shuffle(graph, zn_scope_name(scope, "pixels", "", full), x, l->shuffle);
}

static zn_node *build_encoder(const zn_scope *scope, const layout *l, int64_t latent, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    const int64_t width = l->stage[l->stages - 1].width;
    x = zn_pixel_unshuffle(scope->graph, zn_scope_name(scope, "pixels", "", full), x, l->shuffle);
    x = zn_nn_conv(scope, "stem", x, (zn_nn_conv_shape){width, 3, 1, true});
    for (int s = l->stages - 1; s >= 0; s--) {
        if (s < l->stages - 1)
            x = conv(scope, 10 - 4 * s, x, (zn_nn_conv_shape){l->stage[s].width, 3, 2, false});
        x = blocks(scope, ENCODER, l, s, x);
    }
    return conv(scope, 14, x, (zn_nn_conv_shape){latent, 3, 1, true});
}

static bool layout_of(const zn_scope *scope, const zn_variant *variant, layout *out)
{
    const char *text = scope->layout ? scope->layout : variant->numbers;
    if (parse_layout(text, out)) return true;
    refuse(scope->graph, text);
    return false;
}

static void encoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    layout l;
    (void)sizes;
    if (!layout_of(scope, variant, &l)) return;
    outputs[0] = build_encoder(scope, &l, variant->autoencoder->latent_channels, inputs[0]);
}

static void decoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    layout l;
    (void)sizes;
    if (layout_of(scope, variant, &l)) outputs[0] = build_decoder(scope, &l, inputs[0]);
}

static const zn_part parts[PARTS] = {
    [ENCODER] = ZN_ENCODER_PART(encoder), [DECODER] = ZN_DECODER_PART(decoder)};

const zn_family zn_family_zenith = {
    .name = "zenith",
    .variants = variants,
    .variants_count = VARIANTS,
    .parts = parts,
    .parts_count = PARTS,
    .probe = probe,
};

// --- pruning ------------------------------------------------------------------------------------

static bool without_block(const zn_variant *variant, const zn_part *part, const char *text,
                          int block, char dst[ZN_LAYOUT_SIZE], int *last)
{
    layout l;
    bool found = false;
    size_t length = 0;
    if (!parse_layout(text ? text : variant->numbers, &l)) return false;
    for (int s = 0; s < l.stages; s++) {
        const int first = first_block((int)(part - parts), s), count = l.stage[s].blocks;
        const bool here = block >= first && block < first + count;
        if (here) *last = first + count - 1;
        found |= here;
        length += zn_text_format(dst + length, ZN_LAYOUT_SIZE - length, "%s%lldx%d", s ? " " : "",
                                 (long long)l.stage[s].width, count - here);
        if (l.stage[s].tile)
            length += zn_text_format(dst + length, ZN_LAYOUT_SIZE - length, "w%d", l.stage[s].tile);
    }
    return found;
}

const zn_pruning zn_pruning_zenith = {.family = &zn_family_zenith, .without_block = without_block};
