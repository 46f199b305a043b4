// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tiny autoencoders of Wan's latents by Ollin Boer Bohan (madebyollin/taehv): taew2_1 and
// taew2_2.
//
//     encoder:  conv 3->64, relu, 3 x [pool in time 2|2|1, conv stride 2, 3 blocks],
//               conv 64->latent
//     decoder:  3 tanh(x/3), conv latent->256, relu,
//               3 x [3 blocks, nearest x2, grow in time 1|2|2, conv], relu, conv 64->3
//     block:    relu(x + conv(relu(conv(relu(conv([x, past]))))), past: x of the frame before
//
// A step of the encoder takes four pictures, the first one too; a picture by itself is four equal
// ones. Each latent gives four pictures, of which the first three of a clip are dropped. What a
// block needs of the frame before is a state.
//
// Traps
//   - Layers are numbered in a flat sequence that counts those without weights.
//   - Pooling has the frames one after the other as channels, growing gives them so: the earlier
//     first. A pool or a growth of one frame is a 1x1 convolution all the same. Where a file has
//     growth for more frames than are made, the last ones count.
//   - Growing comes after the doubling; it is a 1x1 convolution, so it may as well come before, for
//     a quarter of the work.
//   - The convolutions that change the resolution have no bias.
//   - Pictures are 0 .. 1 inside. Latents are the diffusion model's. taew2_2 has squares of 2 x 2
//     pixels as channels, along the rows of a square (Wan's own go down the columns).
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

enum { FRAMES = 4, LEVELS = 3, BLOCKS = 3 };
enum { TAEW21, TAEW22, VARIANTS };
enum { ENCODER, DECODER, PARTS };

typedef struct numbers {
    int patch;
} numbers;
static const numbers pixels = {1}, squares = {2};

static const zn_variant variants[VARIANTS] = {
    [TAEW21] = {"taew2_1", "TAEW2.1: tiny video autoencoder of Wan 2.1", ZN_INT8_NONE,
                &zn_latents_taew21, &pixels},
    [TAEW22] = {"taew2_2", "TAEW2.2: tiny video autoencoder of Wan 2.2", ZN_INT8_NONE,
                &zn_latents_taew22, &squares},
};

static const int pools[LEVELS] = {2, 2, 1}, grows[LEVELS] = {1, 2, 2};
static const int64_t widths[LEVELS + 1] = {256, 128, 64, 64}; // of the decoder; the encoder has 64

// --- networks -----------------------------------------------------------------------------------

typedef struct builder {
    const zn_scope *scope;
    zn_step step;
    int layer; // number of the next one
} builder;

// The frames of one step at one place of the network.
typedef struct frames {
    zn_node *at[FRAMES];
    int count;
} frames;

static int64_t channels_of(const frames *x)
{
    return x->at[0] ? x->at[0]->desc.shape.dim[3] : 1;
}

// "7", or "7.conv"; and the value of frame t in the graph: "decoder.7.conv/2".
static const char *layer_name(int layer, const char *tail, char dst[ZN_NAME_SIZE])
{
    zn_text_format(dst, ZN_NAME_SIZE, "%d%s", layer, tail);
    return dst;
}

static const char *named(const builder *b, const char *name, int t, char dst[ZN_NAME_SIZE])
{
    char number[16] = "";
    if (t > 0) zn_text_format(number, sizeof number, "/%d", t);
    return zn_scope_name(b->scope, name, number, dst);
}

typedef struct kernel {
    zn_node *weight, *bias;
    zn_conv2d_attributes how;
} kernel;

static kernel find_kernel(const builder *b, const char *name, int64_t in,
                          const zn_nn_conv_shape *shape)
{
    kernel k = {
        .how = {.stride = shape->stride, .pad = shape->kernel / 2, .direct = b->scope->direct}};
    k.weight = zn_scope_parameter(b->scope, name, ".weight",
                                  ZN_SHAPE(shape->channels, in, shape->kernel, shape->kernel));
    const int64_t out = k.weight ? k.weight->desc.shape.dim[0] : 1;
    if (shape->bias) k.bias = zn_scope_parameter(b->scope, name, ".bias", ZN_SHAPE(out));
    return k;
}

// One convolution for all frames.
static frames conv(const builder *b, const char *name, frames x, zn_nn_conv_shape shape)
{
    char full[ZN_NAME_SIZE];
    const kernel k = find_kernel(b, name, channels_of(&x), &shape);
    for (int t = 0; t < x.count; t++)
        x.at[t] = zn_graph_add(b->scope->graph, &zn_op_conv2d, named(b, name, t, full),
                               (zn_node *[]){x.at[t], k.weight, k.bias}, k.bias ? 3 : 2, &k.how);
    return x;
}

static frames relu(const builder *b, const char *name, frames x)
{
    char full[ZN_NAME_SIZE];
    for (int t = 0; t < x.count; t++)
        x.at[t] = zn_relu(b->scope->graph, named(b, name, t, full), x.at[t]);
    return x;
}

// Each frame beside the one before it; before the first of a clip there are zeros.
static frames with_past(const builder *b, const char *name, const frames *x)
{
    zn_graph *graph = b->scope->graph;
    const int64_t c = channels_of(x);
    char full[ZN_NAME_SIZE], state[ZN_NAME_SIZE];
    frames y = {.count = x->count};
    zn_node *past = NULL;
    zn_scope_name(b->scope, name, "", state);
    if (b->step == ZN_STEP_NEXT && x->at[0]) past = zn_graph_state(graph, state, x->at[0]->desc, 1);
    for (int t = 0; t < x->count; t++) {
        named(b, name, t, full);
        y.at[t] = past ? zn_concat(graph, full, (zn_node *[]){x->at[t], past}, 2)
                       : zn_channel_pad(graph, full, x->at[t], 0, 2 * c);
        past = x->at[t];
    }
    if (b->step != ZN_STEP_ALONE) zn_graph_push(graph, state, x->at[x->count - 1]);
    return y;
}

static frames block(builder *b, frames x)
{
    const int64_t c = channels_of(&x);
    char name[ZN_NAME_SIZE], part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    layer_name(b->layer++, "", name);
    frames y = with_past(b, name, &x);
    for (int i = 0; i < 6; i += 2) {
        zn_text_format(part, sizeof part, "%s.conv.%d", name, i);
        y = conv(b, part, y, (zn_nn_conv_shape){i < 4 ? -c : c, 3, 1, true});
        zn_text_format(part, sizeof part, "%s.conv.%d", name, i + 1);
        if (i < 4) y = relu(b, part, y);
    }
    zn_text_format(part, sizeof part, "%s.skip", name);
    for (int t = 0; t < x.count; t++)
        y.at[t] = zn_add(b->scope->graph, named(b, part, t, full), y.at[t], x.at[t]);
    return relu(b, name, y);
}

static frames blocks(builder *b, frames x)
{
    for (int i = 0; i < BLOCKS; i++) x = block(b, x);
    return x;
}

static frames pool(builder *b, frames x, int stride)
{
    const int64_t c = channels_of(&x);
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    frames y = {.count = x.count / stride};
    layer_name(b->layer++, ".conv", name);
    for (int t = 0; t < y.count; t++)
        y.at[t] = stride == 1 ? x.at[t]
                              : zn_concat(b->scope->graph, named(b, name, t, full),
                                          &x.at[t * stride], stride);
    return conv(b, name, y, (zn_nn_conv_shape){c, 1, 1, false});
}

// Twice the size; `stride` frames of each, or the last of the last one only.
static frames grow(builder *b, frames x, int stride, bool last_only)
{
    zn_graph *graph = b->scope->graph;
    const int64_t c = channels_of(&x);
    const int doubling = b->layer++;
    char name[ZN_NAME_SIZE], up[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    layer_name(doubling, "", up);
    layer_name(b->layer++, ".conv", name);
    if (last_only) x = (frames){.at = {x.at[x.count - 1]}, .count = 1};
    const frames all = conv(b, name, x, (zn_nn_conv_shape){-stride * c, 1, 1, false});
    const int64_t made = channels_of(&all) / c;
    frames y = {.count = last_only ? 1 : x.count * stride};
    for (int t = 0; t < y.count; t++) {
        const int64_t frame = last_only ? made - 1 : made - stride + t % stride;
        y.at[t] = all.at[last_only ? 0 : t / stride];
        if (made > 1)
            y.at[t] = zn_channel_slice(graph, named(b, name, t, full), y.at[t], frame * c, c);
        y.at[t] = zn_upsample2(graph, named(b, up, t, full), y.at[t]);
    }
    return y;
}

static frames build_encoder(builder *b, frames x, int64_t latent)
{
    char name[ZN_NAME_SIZE];
    x = conv(b, layer_name(b->layer++, "", name), x, (zn_nn_conv_shape){-64, 3, 1, true});
    x = relu(b, layer_name(b->layer++, "", name), x);
    for (int level = 0; level < LEVELS; level++) {
        x = pool(b, x, pools[level]);
        x = conv(b, layer_name(b->layer++, "", name), x,
                 (zn_nn_conv_shape){channels_of(&x), 3, 2, false});
        x = blocks(b, x);
    }
    return conv(b, layer_name(b->layer++, "", name), x, (zn_nn_conv_shape){latent, 3, 1, true});
}

static frames build_decoder(builder *b, frames x, int64_t values)
{
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    layer_name(b->layer++, "", name);
    x.at[0] = zn_soft_clip(b->scope->graph, named(b, name, 0, full), x.at[0], 3);
    x = conv(b, layer_name(b->layer++, "", name), x, (zn_nn_conv_shape){-widths[0], 3, 1, true});
    x = relu(b, layer_name(b->layer++, "", name), x);
    for (int level = 0; level < LEVELS; level++) {
        const bool last_only = level == LEVELS - 1 && b->step != ZN_STEP_NEXT;
        x = grow(b, blocks(b, x), grows[level], last_only);
        x = conv(b, layer_name(b->layer++, "", name), x,
                 (zn_nn_conv_shape){-widths[level + 1], 3, 1, false});
    }
    x = relu(b, layer_name(b->layer++, "", name), x);
    return conv(b, layer_name(b->layer++, "", name), x, (zn_nn_conv_shape){values, 3, 1, true});
}

// --- parts --------------------------------------------------------------------------------------

static int patch_of(const zn_variant *variant)
{
    return ((const numbers *)variant->numbers)->patch;
}

static void encoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    const int patch = patch_of(variant);
    builder b = {.scope = scope, .step = sizes->step};
    char full[ZN_NAME_SIZE];
    frames x = {.count = FRAMES};
    for (int t = 0; t < FRAMES; t++) {
        x.at[t] = inputs[sizes->step == ZN_STEP_ALONE ? 0 : t];
        if (patch > 1)
            x.at[t] = zn_pixel_unshuffle(scope->graph, named(&b, "pixels", t, full), x.at[t],
                                         patch);
    }
    outputs[0] = build_encoder(&b, x, variant->autoencoder->latent_channels).at[0];
}

static void decoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    const int patch = patch_of(variant);
    builder b = {.scope = scope, .step = sizes->step};
    char full[ZN_NAME_SIZE];
    const frames y = build_decoder(&b, (frames){.at = {inputs[0]}, .count = 1}, 3 * patch * patch);
    for (int t = 0; t < y.count; t++)
        outputs[t] = patch == 1 ? y.at[t]
                                : zn_pixel_shuffle(scope->graph, named(&b, "pixels", t, full),
                                                   y.at[t], patch);
}

static const zn_file_tensor *find(const zn_weights *weights, const char *name)
{
    const zn_file_tensor *tensor = zn_weights_find(weights, name);
    return tensor && tensor->shape.rank == 4 ? tensor : NULL;
}

static unsigned probe(const zn_weights *weights, unsigned *found)
{
    const zn_file_tensor *values[PARTS] = {find(weights, "encoder.0.weight"),
                                           find(weights, "decoder.22.weight")};
    const zn_file_tensor *latents[PARTS] = {find(weights, "encoder.17.weight"),
                                            find(weights, "decoder.1.weight")};
    const zn_file_tensor *in_time[PARTS] = {find(weights, "encoder.2.conv.weight"),
                                            find(weights, "decoder.7.conv.weight")};
    unsigned fits = (1u << VARIANTS) - 1;
    *found = 0;
    for (int part = 0; part < PARTS; part++) {
        if (!values[part] || !latents[part] || !in_time[part]) continue;
        const int end = part == ENCODER ? 1 : 0; // the dimension of weights that pictures have
        *found |= 1u << part;
        for (int i = 0; i < VARIANTS; i++) {
            const int patch = patch_of(&variants[i]);
            if (values[part]->shape.dim[end] != 3 * patch * patch ||
                latents[part]->shape.dim[1 - end] != variants[i].autoencoder->latent_channels)
                fits &= ~(1u << i);
        }
    }
    return *found ? fits : 0;
}

static const zn_part parts[PARTS] = {
    [ENCODER] = ZN_VIDEO_ENCODER_PART(encoder), [DECODER] = ZN_VIDEO_DECODER_PART(decoder)};

const zn_family zn_family_taehv = {
    .name = "taehv",
    .variants = variants,
    .variants_count = VARIANTS,
    .parts = parts,
    .parts_count = PARTS,
    .probe = probe,
};
