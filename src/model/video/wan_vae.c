// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The video autoencoders of Wan 2.1 and 2.2 (Wan-Video; diffusers' AutoencoderKLWan). A clip of 1 +
// 4k pictures is 1 + k latents. One step makes one latent, or the pictures of one:
//
//     encoder:  conv, levels of residual blocks with a halving between (the last two also in time),
//               middle, norm, silu, conv -> 2 x latent, quant_conv; half of it is the mean
//     decoder:  post_quant_conv, conv, middle, levels of residual blocks with a doubling between
//               (the first two also in time), norm, silu, conv -> 3
//     middle:   block, attention over the pixels of each frame, block
//
// Every convolution over time is causal, over a frame and the two before it. A frame of the
// convolution's weights is a convolution of one map, and frames of earlier steps are states: memory
// does not grow with the clip. A picture by itself, and the first of a clip, has no past: there
// only the last frame of the weights is used, and nothing is halved or doubled in time. In later
// steps the maps of 1, 2 and 4 frames pass through the levels.
//
// Traps
//   - The first step leaves no past for the convolutions that double time: the second step's see
//     zeros.
//   - Halving in time keeps one frame (the convolution takes 3 frames at every second), the others
//     two.
//   - Doubling in time gives 2c channels: the first c are the earlier frame.
//   - Halving in space pads on the right and below only.
//   - The norm divides each pixel by its length: rms_norm without an epsilon that matters.
//   - 2.2 has squares of 2 x 2 pixels as channels, down the columns of a square, and shortcuts
//     around each level: means of 2 x 2 pixels (and of channels that are the frames in turn; the
//     first step has zeros for the frame before), and copies (of which the first step has the last
//     frame).
//   - Pictures are -1 .. 1 inside, and 0 .. 1 at the port. Latents are raw inside, and the
//     diffusion model's at the port: mean and deviation of each channel are in no weights file.
//   - diffusers clamps its pictures to -1 .. 1; here f32 pictures are the network's own.
//   - Two sets of names: diffusers', which `build` has, and the original ones.
//   - How many blocks a level has is told from the weights; a layout "l2" says two in the encoder,
//     three in the decoder.
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/model/video/wan_names.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

#include <string.h>

enum { LEVELS = 4, LAYERS = 2, MOST_LAYERS = ZN_WAN_MOST_LAYERS, FRAMES = 4, TAPS = 3, PATCH = 2 };
enum { WAN21, WAN22, VARIANTS };
enum { ENCODER, DECODER, PARTS };

typedef struct numbers {
    bool residual; // 2.2: squares of pixels as channels, and shortcuts around levels
} numbers;
static const numbers plain = {false}, residual = {true};

static const zn_variant variants[VARIANTS] = {
    [WAN21] = {"wan2.1-vae", "video autoencoder of Wan 2.1", ZN_INT8_NONE, &zn_latents_wan21,
               &plain},
    [WAN22] = {"wan2.2-vae", "video autoencoder of Wan 2.2", ZN_INT8_NONE, &zn_latents_wan22,
               &residual},
};

// Whether levels 0 .. 2 of the encoder end with a halving in time; the decoder's from the other
// end.
static const bool halves_time[LEVELS - 1] = {false, true, true};

// --- networks -----------------------------------------------------------------------------------

typedef struct builder {
    const zn_scope *scope;
    zn_step step;
    int layers; // blocks in a level of the encoder
    bool residual;
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

// The name of the value of frame t; those of a picture by itself have the layer's.
static const char *named(const builder *b, const char *name, int t, char dst[ZN_NAME_SIZE])
{
    char number[16] = "";
    if (t > 0) zn_text_format(number, sizeof number, "/%d", t);
    return zn_scope_name(b->scope, name, number, dst);
}

static void refuse(const builder *b, const char *name, int64_t in, int64_t out)
{
    zn_graph *graph = b->scope->graph;
    if (graph->status != ZENITH_OK) return;
    graph->status = zn_fail(graph->err, ZENITH_UNSUPPORTED,
                            "no shortcut is known around '%s', from %lld to %lld channels", name,
                            (long long)in, (long long)out);
}

typedef struct kernel {
    zn_node *weight, *bias;
    zn_conv2d_attributes how; // but for the frame
} kernel;

// A convolution over time [channels, in, 3, side, side], or [channels, in, 1, 1, 1] with side 1 and
// one tap.
static kernel find_kernel(const builder *b, const char *name, int64_t in, int64_t channels,
                          int taps, int side)
{
    kernel k = {.how = {.stride = 1, .pad = side / 2, .direct = b->scope->direct}};
    const zn_shape shape = taps > 1 ? ZN_SHAPE(channels, in, taps, side, side)
                                    : ZN_SHAPE(channels, in, side, side);
    k.weight = zn_scope_parameter(b->scope, name, ".weight", shape);
    const int64_t out = k.weight ? k.weight->desc.shape.dim[0] : 1;
    k.bias = zn_scope_parameter(b->scope, name, ".bias", ZN_SHAPE(out));
    return k;
}

// sum + the convolution of x with a frame of the weights; the bias comes with the first, which has
// no sum.
static zn_node *add_tap(const builder *b, const char *name, const kernel *k, int tap, zn_node *x,
                        bool bias, zn_node *sum)
{
    zn_graph *graph = b->scope->graph;
    zn_conv2d_attributes how = k->how;
    how.frame = tap;
    zn_node *y = zn_graph_add(graph, &zn_op_conv2d, name, (zn_node *[]){x, k->weight, k->bias},
                              bias ? 3 : 2, &how);
    return sum ? zn_add(graph, name, y, sum) : y;
}

static frames point(const builder *b, const char *name, frames x, int64_t channels)
{
    char full[ZN_NAME_SIZE];
    const kernel k = find_kernel(b, name, channels_of(&x), channels, 1, 1);
    for (int t = 0; t < x.count; t++)
        x.at[t] = add_tap(b, named(b, name, t, full), &k, 0, x.at[t], true, NULL);
    return x;
}

static void keep(const builder *b, const char *name, const frames *x, int most)
{
    char full[ZN_NAME_SIZE];
    if (b->step == ZN_STEP_ALONE) return;
    for (int t = x->count > most ? x->count - most : 0; t < x->count; t++)
        zn_graph_push(b->scope->graph, zn_scope_name(b->scope, name, "", full), x->at[t]);
}

// The frame of `age` before this step; NULL in the first, where all are zero.
static zn_node *kept(const builder *b, const char *name, const frames *x, int age)
{
    char full[ZN_NAME_SIZE];
    if (b->step != ZN_STEP_NEXT || !x->at[0]) return NULL;
    return zn_graph_state(b->scope->graph, zn_scope_name(b->scope, name, "", full), x->at[0]->desc,
                          age);
}

// A convolution of each frame and the two before it, plus `sum` if it is there.
static frames causal(const builder *b, const char *name, frames x, int64_t channels, int side,
                     const frames *sum)
{
    const kernel k = find_kernel(b, name, channels_of(&x), channels, TAPS, side);
    zn_node *line[TAPS - 1 + FRAMES];
    frames y = {.count = x.count};
    char full[ZN_NAME_SIZE];
    for (int age = 1; age < TAPS; age++) line[TAPS - 1 - age] = kept(b, name, &x, age);
    for (int t = 0; t < x.count; t++) line[TAPS - 1 + t] = x.at[t];
    for (int t = 0; t < x.count; t++) {
        bool first = true;
        y.at[t] = sum ? sum->at[t] : NULL;
        for (int tap = 0; tap < TAPS; tap++) {
            if (!line[t + tap] && tap < TAPS - 1) continue;
            y.at[t] = add_tap(b, named(b, name, t, full), &k, tap, line[t + tap], first, y.at[t]);
            first = false;
        }
    }
    keep(b, name, &x, TAPS - 1);
    return y;
}

static frames norm(const builder *b, const char *name, frames x, bool silu)
{
    static const float epsilon = 1e-24f; // lengths below 1e-12 count as that
    char full[ZN_NAME_SIZE], curve[ZN_NAME_SIZE];
    zn_node *gain = zn_scope_parameter(b->scope, name, ".gamma", ZN_SHAPE(channels_of(&x)));
    zn_nn_inside(name, "silu", curve);
    for (int t = 0; t < x.count; t++) {
        x.at[t] = zn_rms_norm(b->scope->graph, named(b, name, t, full), x.at[t], gain,
                              (zn_token_norm_attributes){1, epsilon});
        if (silu)
            x.at[t] = zn_activate(b->scope->graph, named(b, curve, t, full), x.at[t],
                                  ZN_ACTIVATION_SILU);
    }
    return x;
}

static frames residual_block(const builder *b, const char *name, frames x, int64_t channels)
{
    char part[ZN_NAME_SIZE];
    frames skip = x, y = norm(b, zn_nn_inside(name, "norm1", part), x, true);
    y = causal(b, zn_nn_inside(name, "conv1", part), y, channels, 3, NULL);
    const int64_t out = channels_of(&y);
    if (out != channels_of(&x)) skip = point(b, zn_nn_inside(name, "conv_shortcut", part), x, out);
    y = norm(b, zn_nn_inside(name, "norm2", part), y, true);
    return causal(b, zn_nn_inside(name, "conv2", part), y, out, 3, &skip);
}

static frames attention(const builder *b, const char *name, frames x)
{
    zn_graph *graph = b->scope->graph;
    const int64_t c = channels_of(&x);
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    const frames y = norm(b, zn_nn_inside(name, "norm", part), x, false);
    zn_node *qkv = zn_scope_parameter(b->scope, name, ".to_qkv.weight", ZN_SHAPE(3 * c, c));
    zn_node *qkv_bias = zn_scope_parameter(b->scope, name, ".to_qkv.bias", ZN_SHAPE(3 * c));
    zn_node *proj = zn_scope_parameter(b->scope, name, ".proj.weight", ZN_SHAPE(c, c));
    zn_node *proj_bias = zn_scope_parameter(b->scope, name, ".proj.bias", ZN_SHAPE(c));
    for (int t = 0; t < x.count; t++) {
        named(b, name, t, full);
        zn_node *all = zn_linear(graph, full, y.at[t], qkv, qkv_bias);
        zn_node *q = zn_channel_slice(graph, full, all, 0, c);
        zn_node *k = zn_channel_slice(graph, full, all, c, c);
        zn_node *v = zn_channel_slice(graph, full, all, 2 * c, c);
        zn_node *seen = zn_attention(graph, full, q, k, v,
                                     (zn_attention_attributes){.heads = 1, .key_heads = 1});
        x.at[t] = zn_add(graph, full, zn_linear(graph, full, seen, proj, proj_bias), x.at[t]);
    }
    return x;
}

static frames middle(const builder *b, frames x)
{
    x = residual_block(b, "mid_block.resnets.0", x, channels_of(&x));
    x = attention(b, "mid_block.attentions.0", x);
    return residual_block(b, "mid_block.resnets.1", x, channels_of(&x));
}

// --- decoder ------------------------------------------------------------------------------------

// Twice as many frames, but for the first step.
static frames grow(const builder *b, const char *name, frames x)
{
    zn_graph *graph = b->scope->graph;
    const int64_t c = channels_of(&x);
    char full[ZN_NAME_SIZE];
    if (b->step != ZN_STEP_NEXT) return x;
    const frames both = causal(b, name, x, 2 * c, 1, NULL);
    frames y = {.count = 2 * x.count};
    for (int t = 0; t < y.count; t++)
        y.at[t] = zn_channel_slice(graph, named(b, name, t, full), both.at[t / 2],
                                   t % 2 == 0 ? 0 : c, c);
    return y;
}

static frames doubled(const builder *b, const char *name, frames x, int64_t channels)
{
    zn_graph *graph = b->scope->graph;
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_nn_inside(name, "resample.1", part);
    const kernel k = find_kernel(b, part, channels_of(&x), channels, 1, 3);
    for (int t = 0; t < x.count; t++) {
        zn_node *large = zn_upsample2(graph, named(b, name, t, full), x.at[t]);
        x.at[t] = add_tap(b, named(b, part, t, full), &k, 0, large, true, NULL);
    }
    return x;
}

// Of 2.2: x + copies of what went into the level.
static frames add_copies(const builder *b, const char *name, frames x, const frames *from)
{
    zn_graph *graph = b->scope->graph;
    const int64_t in = channels_of(from), out = channels_of(&x);
    const int64_t repeats = in > 0 ? 4 * out / in : 0; // of a channel in a square of pixels
    const int each = x.count / from->count;
    char full[ZN_NAME_SIZE];
    zn_node *same[PATCH * PATCH];
    const bool divides = repeats >= 1 && repeats <= PATCH * PATCH && repeats * in == 4 * out;
    if (in != out && (each != 1 || !divides)) {
        refuse(b, name, in, out);
        return x;
    }
    for (int t = 0; t < x.count; t++) {
        zn_node *source = from->at[t / each], *copies = source;
        named(b, name, t, full);
        if (in == out) {
            copies = zn_upsample2(graph, full, source);
        } else {
            for (int64_t i = 0; i < repeats; i++) same[i] = source;
            copies = zn_interleave(graph, full, same, (int)repeats, 0);
            copies = zn_pixel_shuffle(graph, full, copies, PATCH);
        }
        x.at[t] = zn_add(graph, full, x.at[t], copies);
    }
    return x;
}

static frames up_level(const builder *b, int level, frames x)
{
    const frames from = x;
    const bool last = level == LEVELS - 1;
    char name[ZN_NAME_SIZE], up[ZN_NAME_SIZE], part[ZN_NAME_SIZE];
    for (int i = 0; i <= b->layers; i++) {
        zn_text_format(name, sizeof name, "up_blocks.%d.resnets.%d", level, i);
        x = residual_block(b, name, x, i == 0 ? -1 : channels_of(&x));
    }
    if (last) return x;
    zn_text_format(up, sizeof up, "up_blocks.%d.%s", level,
                   b->residual ? "upsampler" : "upsamplers.0");
    if (halves_time[LEVELS - 2 - level]) x = grow(b, zn_nn_inside(up, "time_conv", part), x);
    x = doubled(b, up, x, -1);
    zn_text_format(name, sizeof name, "up_blocks.%d.shortcut", level);
    return b->residual ? add_copies(b, name, x, &from) : x;
}

static frames build_decoder(const builder *b, frames x, int64_t latent)
{
    x = point(b, "post_quant_conv", x, latent);
    x = causal(b, "conv_in", x, -1, 3, NULL);
    x = middle(b, x);
    for (int level = 0; level < LEVELS; level++) x = up_level(b, level, x);
    x = norm(b, "norm_out", x, true);
    return causal(b, "conv_out", x, b->residual ? 3 * PATCH * PATCH : 3, 3, NULL);
}

// --- encoder ------------------------------------------------------------------------------------

// Half as many frames, but for the first step: of each frame before, between and after.
static frames shrink(const builder *b, const char *name, frames x)
{
    zn_node *line[1 + FRAMES];
    frames y = {.count = x.count / 2};
    char full[ZN_NAME_SIZE];
    if (b->step == ZN_STEP_NEXT) {
        const kernel k = find_kernel(b, name, channels_of(&x), channels_of(&x), TAPS, 1);
        line[0] = kept(b, name, &x, 1);
        for (int t = 0; t < x.count; t++) line[1 + t] = x.at[t];
        for (int t = 0; t < y.count; t++) {
            named(b, name, t, full);
            for (int tap = 0; tap < TAPS; tap++)
                y.at[t] = add_tap(b, full, &k, tap, line[2 * t + tap], tap == 0, y.at[t]);
        }
    }
    keep(b, name, &x, 1);
    return b->step == ZN_STEP_NEXT ? y : x;
}

static frames halved(const builder *b, const char *name, frames x)
{
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_nn_inside(name, "resample.1", part);
    kernel k = find_kernel(b, part, channels_of(&x), channels_of(&x), 1, 3);
    k.how.stride = 2;
    k.how.pad = 0;
    k.how.after = 1;
    for (int t = 0; t < x.count; t++)
        x.at[t] = add_tap(b, named(b, part, t, full), &k, 0, x.at[t], true, NULL);
    return x;
}

// Of 2.2: x + means of what went into the level.
static frames add_means(const builder *b, const char *name, frames x, const frames *from,
                        bool in_time)
{
    zn_graph *graph = b->scope->graph;
    const int64_t in = channels_of(from), out = channels_of(&x);
    const int each = from->count / x.count, zeros = in_time && each == 1;
    char full[ZN_NAME_SIZE];
    if (out != (in_time ? 2 : 1) * in) refuse(b, name, in, out);
    for (int t = 0; t < x.count; t++) {
        zn_node *means[FRAMES];
        named(b, name, t, full);
        for (int i = 0; i < each; i++) {
            means[i] = zn_sum2(graph, full, from->at[t * each + i]);
            means[i] = zn_affine(graph, full, means[i], 0.25f, 0);
        }
        zn_node *all = in_time ? zn_interleave(graph, full, means, each, zeros) : means[0];
        x.at[t] = zn_add(graph, full, x.at[t], all);
    }
    return x;
}

// 2.1 numbers blocks and halvings in one sequence, 2.2 by level.
static const char *down_name(const builder *b, int level, int block, char dst[ZN_NAME_SIZE])
{
    const bool halving = block == b->layers;
    if (!b->residual)
        zn_text_format(dst, ZN_NAME_SIZE, "down_blocks.%d", level * (b->layers + 1) + block);
    else if (halving)
        zn_text_format(dst, ZN_NAME_SIZE, "down_blocks.%d.downsampler", level);
    else
        zn_text_format(dst, ZN_NAME_SIZE, "down_blocks.%d.resnets.%d", level, block);
    return dst;
}

static frames down_level(const builder *b, int level, frames x)
{
    const frames from = x;
    const bool last = level == LEVELS - 1, in_time = !last && halves_time[level];
    char name[ZN_NAME_SIZE], part[ZN_NAME_SIZE];
    for (int i = 0; i < b->layers; i++)
        x = residual_block(b, down_name(b, level, i, name), x, i == 0 ? -1 : channels_of(&x));
    if (!last) {
        down_name(b, level, b->layers, name);
        x = halved(b, name, x);
        if (in_time) x = shrink(b, zn_nn_inside(name, "time_conv", part), x);
    }
    if (!b->residual) return x;
    zn_text_format(name, sizeof name, "down_blocks.%d.shortcut", level);
    if (!last) return add_means(b, name, x, &from, in_time);
    if (channels_of(&x) != channels_of(&from)) refuse(b, name, channels_of(&from), channels_of(&x));
    for (int t = 0; t < x.count; t++)
        x.at[t] = zn_add(b->scope->graph, named(b, name, t, part), x.at[t], from.at[t]);
    return x;
}

static frames build_encoder(const builder *b, frames x, int64_t latent)
{
    x = causal(b, "conv_in", x, -1, 3, NULL);
    for (int level = 0; level < LEVELS; level++) x = down_level(b, level, x);
    x = middle(b, x);
    x = norm(b, "norm_out", x, true);
    x = causal(b, "conv_out", x, 2 * latent, 3, NULL);
    return point(b, "quant_conv", x, 2 * latent);
}

// --- parts --------------------------------------------------------------------------------------

static bool begin(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                  builder *out)
{
    const char *text = scope->layout;
    int layers = LAYERS;
    *out = (builder){.scope = scope,
                     .step = sizes->step,
                     .residual = ((const numbers *)variant->numbers)->residual};
    if (text) {
        layers = 0;
        for (text++; *text >= '0' && *text <= '9' && layers <= MOST_LAYERS; text++)
            layers = 10 * layers + (*text - '0');
    }
    out->layers = layers;
    if (!text || (scope->layout[0] == 'l' && !*text && layers >= 1 && layers <= MOST_LAYERS))
        return true;
    if (scope->graph->status == ZENITH_OK)
        scope->graph->status = zn_fail(scope->graph->err, ZENITH_BAD_FILE,
                                       "'%.60s' is no layout of %s: \"l2\" is one (2 blocks in a "
                                       "level of the encoder)",
                                       scope->layout, variant->name);
    return false;
}

static zn_standardise_attributes space_of(const zn_variant *variant, bool back)
{
    const zn_autoencoder_facts *facts = variant->autoencoder;
    return (zn_standardise_attributes){facts->mean, facts->deviation, facts->latent_channels, back};
}

static zn_node *patched(const builder *b, const zn_op *op, const char *name, zn_node *x)
{
    if (!b->residual) return x;
    return zn_graph_add(b->scope->graph, op, name, &x, 1,
                        &(zn_pixel_shuffle_attributes){PATCH, .columns = true});
}

static void encoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    const int64_t latent = variant->autoencoder->latent_channels;
    builder b;
    char full[ZN_NAME_SIZE];
    if (!begin(scope, variant, sizes, &b)) return;
    frames x = {.count = zn_step_frames(variant->autoencoder, ZENITH_ENCODER, sizes->step)};
    for (int t = 0; t < x.count; t++) {
        named(&b, "pixels", t, full);
        zn_node *squares = patched(&b, &zn_op_pixel_unshuffle, full, inputs[t]);
        x.at[t] = zn_affine(scope->graph, full, squares, 2, -1);
    }
    x = build_encoder(&b, x, latent);
    zn_node *mean = zn_channel_slice(scope->graph, zn_scope_name(scope, "mean", "", full), x.at[0],
                                     0, latent);
    outputs[0] = zn_standardise(scope->graph, zn_scope_name(scope, "latent", "", full), mean,
                                space_of(variant, false));
}

static void decoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                    zn_node *const *inputs, zn_node **outputs)
{
    builder b;
    char full[ZN_NAME_SIZE];
    if (!begin(scope, variant, sizes, &b)) return;
    frames x = {.count = 1};
    x.at[0] = zn_standardise(scope->graph, zn_scope_name(scope, "latent", "", full), inputs[0],
                             space_of(variant, true));
    x = build_decoder(&b, x, variant->autoencoder->latent_channels);
    for (int t = 0; t < x.count; t++) {
        named(&b, "pixels", t, full);
        zn_node *pixels = zn_affine(scope->graph, full, x.at[t], 0.5f, 0.5f);
        outputs[t] = patched(&b, &zn_op_pixel_shuffle, full, pixels);
    }
}

// --- which one ----------------------------------------------------------------------------------

static const zn_file_tensor *find(const zn_weights *weights, const char *name)
{
    char stored[ZN_NAME_SIZE];
    const zn_file_tensor *tensor = zn_wan_find(weights, name, stored);
    return tensor && tensor->shape.rank == 5 ? tensor : NULL;
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    const zn_file_tensor *pixels[PARTS] = {find(weights, "encoder.conv_in.weight"),
                                           find(weights, "decoder.conv_out.weight")};
    const zn_file_tensor *latents[PARTS] = {find(weights, "encoder.conv_out.weight"),
                                            find(weights, "decoder.conv_in.weight")};
    unsigned fits = (1u << VARIANTS) - 1;
    *parts = 0;
    for (int part = 0; part < PARTS; part++) {
        if (!pixels[part] || !latents[part]) continue;
        const bool in = part == ENCODER;
        const int64_t values = pixels[part]->shape.dim[in ? 1 : 0];
        const int64_t channels = in ? latents[part]->shape.dim[0] / 2 : latents[part]->shape.dim[1];
        *parts |= 1u << part;
        for (int i = 0; i < VARIANTS; i++) {
            const bool squares = ((const numbers *)variants[i].numbers)->residual;
            if (values != (squares ? 3 * PATCH * PATCH : 3) ||
                channels != variants[i].autoencoder->latent_channels)
                fits &= ~(1u << i);
        }
    }
    return *parts ? fits : 0;
}

static void layout(const zn_weights *weights, const zn_part *part, char dst[ZN_LAYOUT_SIZE])
{
    const int layers = zn_wan_layers(weights, strcmp(part->name, "encoder") == 0);
    if (layers > 0) zn_text_format(dst, ZN_LAYOUT_SIZE, "l%d", layers);
}

static bool rename_parameter(const zn_weights *weights, const char *name, zn_stored_name *dst)
{
    return zn_wan_find(weights, name, dst->name) != NULL;
}

static const zn_part parts[PARTS] = {
    [ENCODER] = ZN_VIDEO_ENCODER_PART(encoder), [DECODER] = ZN_VIDEO_DECODER_PART(decoder)};

const zn_family zn_family_wan_vae = {
    .name = "wan_vae",
    .variants = variants,
    .variants_count = VARIANTS,
    .parts = parts,
    .parts_count = PARTS,
    .probe = probe,
    .rename = rename_parameter,
    .layout = layout,
};
