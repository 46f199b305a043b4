// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Diffusion autoencoders (Preechakul et al., CVPR 2022): a semantic encoder from a picture to a
// code, a U-Net that takes noise away for that code, a diffusion prior of codes, and a linear
// classifier of attributes.
//
//     levels:   a convolution; then in each level residual blocks, with attention where the map has
//               the right height, and a halving block between levels
//     encoder:  levels; block, attention, block; norm, silu, mean over all pixels, 1x1 convolution
//     U-Net:    levels; block, attention, block; levels back, where each block takes [x, what the
//               way down made there]; norm, silu, convolution
//     block:    h = conv(silu(norm(x)));  h = norm(h) * (1 + s_t) + b_t;  h = h * (1 + s_z);
//               x' + conv(silu(h)), x' = x, or a 1x1 convolution of it where the channels change
//     linear:   the encoder may be a matrix instead ("linear_code"), code = f (W x) + o. Then the
//               U-Net sees W^t (d code) + m, what the code alone gives back, beside the noisy map
//     recall:   what draws linear codes: known pictures (model/diffae/recall.h)
//     prior:    layers of silu(layer_norm(linear([h, z]) * (1 + s_t))), the last a plain linear
//
// Traps
//   - The encoder's blocks have no condition, and then no second half: one convolution only.
//   - The code gives a scale and no shift, after the timestep's scale and shift.
//   - Up and down blocks resample the branch after its norm and silu, before its convolution, and
//     the skip too; down is a mean of 2x2 pixels.
//   - Each level has one block more on the way up. What the way up takes last, the way down made
//     first.
//   - Attention depends on the height of a map of a picture of the trained size; of another size
//     the same levels have it.
//   - The prior's first layer sees the code once, all others beside the layer before.
//   - Checkpoints have the prior's scales twice: cond_layers.1 and linear_emb are one matrix.
//
// The second norm of a block and all that scales it is one norm whose gain and offset depend on the
// timestep and the code: g (1 + s_t) (1 + s_z) and (b (1 + s_t) + b_t) (1 + s_z). The part
// "modulation" makes those for all timesteps at once, so a step reads each map no more often than a
// network without conditions.
#include "src/model/diffae/diffae.h"

#include "src/base/random.h"
#include "src/base/text.h"
#include "src/format/tensor/stored_weight.h"
#include "src/model/autoencoder.h"
#include "src/model/diffae/recall.h"
#include "src/model/translate.h"
#include "src/nn/diffae_blocks.h"
#include "src/nn/layers.h"
#include "src/op/ops.h"

#include <string.h>

enum {
    ENCODER,
    MODULATION,
    DENOISER,
    PRIOR_MODULATION,
    PRIOR,
    STATISTICS,
    CLASSIFIER,
    DRAFT,
    VIEWS,
    TELLS,
    NORMS,
    RECALL,
    RECOLLECT,
    PARTS
};
enum { SMALLEST = ZN_DIFFAE_MOST_PATCH << (ZN_DIFFAE_MOST_LEVELS - 1), PRIOR_FEATURES = 64 };
static const float TIME_PERIOD = 10000, LAYER_EPSILON = 1e-5f;

static const zn_variant variants[] = {
    {.name = "diffae", .description = "diffusion autoencoder", .int8 = ZN_INT8_DYNAMIC}};

// --- names --------------------------------------------------------------------------------------

static const zn_translation same[] = {{NULL, NULL}};
static const zn_translation other[] = {
    {"cond_layers.1.", "linear_emb."}, {"classifier.", "ema_classifier."}, {NULL, NULL}};
static const zn_name_set name_sets[] = {
    {"", same, NULL}, {"", other, NULL}, {"ema_model.", same, NULL}, {"ema_model.", other, NULL}};
enum { NAME_SETS = sizeof name_sets / sizeof *name_sets };

static bool rename_parameter(const zn_weights *weights, const char *name, zn_stored_name *dst)
{
    return zn_translate_find(weights, name_sets, NAME_SETS, name, dst);
}

static const zn_file_tensor *find(const zn_weights *weights, const char *name)
{
    zn_stored_name stored;
    return rename_parameter(weights, name, &stored) ? zn_weights_find(weights, stored.name) : NULL;
}

static unsigned probe(const zn_weights *weights, unsigned *parts)
{
    static const char *const telling[PARTS] = {
        [ENCODER] = "encoder.input_blocks.0.0.weight",
        [MODULATION] = "middle_block.0.cond_emb_layers.1.weight",
        [DENOISER] = "middle_block.0.in_layers.2.weight",
        [PRIOR_MODULATION] = "latent_net.layers.0.cond_layers.1.weight",
        [PRIOR] = "latent_net.layers.0.linear.weight",
        [STATISTICS] = "conds_mean",
        [CLASSIFIER] = "classifier.weight",
        [DRAFT] = "encoder.components.weight",
        [VIEWS] = "recall.codes.weight",
        [TELLS] = "recall.codes.weight",
        [NORMS] = "recall.codes.weight",
        [RECALL] = "recall.codes.weight",
        [RECOLLECT] = "recall.codes.weight",
    };
    *parts = 0;
    for (int i = 0; i < PARTS; i++)
        if (find(weights, telling[i])) *parts |= 1u << i;
    if (*parts & 1u << DRAFT) *parts |= 1u << ENCODER;
    const unsigned networks = 1u << ENCODER | 1u << MODULATION | 1u << PRIOR_MODULATION;
    const unsigned alone = 1u << STATISTICS | 1u << CLASSIFIER; // as training leaves it
    return (*parts & networks) != 0 || (*parts & alone) == alone;
}

static void layout(const zn_weights *weights, const zn_part *part, char dst[ZN_LAYOUT_SIZE])
{
    const zn_file_tensor *classifier = find(weights, "classifier.weight");
    (void)part;
    zn_diffae_layout(zn_weights_config(weights), classifier ? classifier->shape.dim[0] : 40, dst);
}

static zenith_status companion(const zn_weights *weights, zn_companion *out, zn_error *err)
{
    zn_diffae_space space;
    ZN_TRY(zn_diffae_space_read(zn_weights_config(weights), &space, err));
    zn_text_format(out->name, sizeof out->name, "%s", space.autoencoder);
    zn_text_format(out->sha256, sizeof out->sha256, "%s", space.sha256);
    return ZENITH_OK;
}

// --- layers -------------------------------------------------------------------------------------

typedef enum layer_kind { FIRST, RESIDUAL, ATTENTION, SCAN } layer_kind;

// One module of the encoder or the U-Net, in the order of evaluation.
typedef struct layer {
    layer_kind kind;
    char name[32];
    int64_t channels; // of its result
    zn_nn_resample resample;
    bool takes, gives; // something from the way down before it; its result to the way up
    int64_t at;        // where its gain begins in the modulation; its offset is after that
} layer;

enum {
    DOWN_LAYERS = 1 + ZN_DIFFAE_MOST_LEVELS * (2 * ZN_DIFFAE_MOST_BLOCKS + 1),
    UP_LAYERS = ZN_DIFFAE_MOST_LEVELS * (2 * (ZN_DIFFAE_MOST_BLOCKS + 1) + 1),
    MOST_LAYERS = DOWN_LAYERS + 3 + UP_LAYERS
};

typedef struct network {
    layer layers[MOST_LAYERS];
    int count;
    int64_t modulation; // numbers of all residual blocks
} network;

static layer *push(network *n, layer_kind kind, const char *block, int number, int place,
                   int64_t channels)
{
    layer *l = &n->layers[n->count++];
    *l = (layer){.kind = kind, .channels = channels, .at = n->modulation};
    if (kind == RESIDUAL) n->modulation += 2 * channels;
    if (number < 0)
        zn_text_format(l->name, sizeof l->name, "%s.%d", block, place);
    else
        zn_text_format(l->name, sizeof l->name, "%s.%d.%d", block, number, place);
    return l;
}

static void list_down(const zn_diffae_shape *is, const int *multiples, int levels, network *n)
{
    int block = 0;
    push(n, FIRST, "input_blocks", block++, 0, is->channels * multiples[0])->gives = true;
    for (int level = 0; level < levels; level++) {
        const int64_t channels = is->channels * multiples[level];
        for (int i = 0; i < (int)is->blocks; i++, block++) {
            layer *last = push(n, RESIDUAL, "input_blocks", block, 0, channels);
            if (is->attention[level]) last = push(n, ATTENTION, "input_blocks", block, 1, channels);
            last->gives = true;
        }
        if (level == levels - 1) break;
        layer *half = push(n, RESIDUAL, "input_blocks", block++, 0, channels);
        half->resample = ZN_NN_HALF;
        half->gives = true;
    }
    const int64_t channels = is->channels * multiples[levels - 1];
    push(n, RESIDUAL, "middle_block", -1, 0, channels);
    push(n, ATTENTION, "middle_block", -1, 1, channels);
    push(n, RESIDUAL, "middle_block", -1, 2, channels);
}

static void list_up(const zn_diffae_shape *is, network *n)
{
    int block = 0;
    for (int level = is->levels; level-- > 0;) {
        const int64_t channels = is->channels * is->multiples[level];
        for (int i = 0; i <= (int)is->blocks; i++, block++) {
            int place = 0;
            push(n, RESIDUAL, "output_blocks", block, place++, channels)->takes = true;
            if (is->attention[level]) push(n, ATTENTION, "output_blocks", block, place++, channels);
            if (level > 0 && i == (int)is->blocks)
                push(n, RESIDUAL, "output_blocks", block, place, channels)->resample = ZN_NN_DOUBLE;
        }
    }
}

static void list_unet(const zn_diffae_shape *is, network *n)
{
    *n = (network){.count = 0};
    list_down(is, is->multiples, is->levels, n);
    list_up(is, n);
}

static void list_encoder(const zn_diffae_shape *is, network *n)
{
    *n = (network){.count = 0};
    list_down(is, is->encoder_multiples, is->encoder_levels, n);
    for (int i = 0; is->scans && i < n->count; i++) {
        layer *l = &n->layers[i];
        if (l->kind != FIRST && l->resample == ZN_NN_SAME) l->kind = SCAN;
    }
}

static int64_t modulation_of(const zn_diffae_shape *is)
{
    network n;
    list_unet(is, &n);
    return n.modulation;
}

static int64_t prior_modulation_of(const zn_diffae_shape *is)
{
    return (is->prior_layers - 1) * is->prior_width;
}

// --- ports --------------------------------------------------------------------------------------

static zn_diffae_shape shape_of(const char *said)
{
    zn_diffae_shape is;
    (void)!zn_diffae_shape_read(said, &is);
    return is;
}

static zn_ports two_to_one(zn_port first, zn_port second, zn_port output)
{
    return (zn_ports){
        .inputs = {first, second}, .outputs = {output}, .inputs_count = 2, .outputs_count = 1};
}

// Sizes: the picture's, which is in -1 .. 1.
static void encoder_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                          zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    (void)variant;
    *out = is.linear ? zn_ports_one_to_one(zn_port_map("picture", is.linear, is.linear, is.inputs),
                                           zn_port_sequence("code", 1, is.code))
                     : zn_ports_one_to_one(zn_port_map("picture", sizes->height, sizes->width,
                                                       zn_diffae_seen_channels(&is)),
                                           zn_port_vector("code", is.code));
}

// No sizes: linear codes are of maps of one size.
static void draft_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                        zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    const int64_t side = is.linear ? is.linear : 1;
    (void)variant, (void)sizes;
    *out = zn_ports_one_to_one(zn_port_sequence("code", 1, is.code),
                               zn_port_map("draft", side, side, is.inputs));
}

// Sizes: how many timesteps, as tokens.
static void modulation_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                             zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    (void)variant;
    *out = two_to_one(zn_port_sequence("times", sizes->tokens, 1), zn_port_vector("code", is.code),
                      zn_port_sequence("modulation", sizes->tokens, modulation_of(&is)));
}

// Sizes: the picture's. The modulation is that of one timestep.
static void denoiser_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                           zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    (void)variant;
    *out = two_to_one(zn_port_map("noisy", sizes->height, sizes->width, is.inputs),
                      zn_port_vector("modulation", modulation_of(&is)),
                      zn_port_map("prediction", sizes->height, sizes->width, is.inputs));
    if (is.linear)
        out->inputs[out->inputs_count++] = zn_port_map("draft", sizes->height, sizes->width,
                                                       is.inputs);
}

// Sizes: how many timesteps, as tokens.
static void prior_modulation_ports(const zn_variant *variant, const char *said,
                                   const zn_sizes *sizes, zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    (void)variant;
    *out = zn_ports_one_to_one(
        zn_port_sequence("times", sizes->tokens, 1),
        zn_port_sequence("modulation", sizes->tokens, prior_modulation_of(&is)));
}

// Sizes: how many codes, as tokens. The modulation is that of one timestep, or of one for each
// code.
static void prior_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                        zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    const int64_t modulation = prior_modulation_of(&is);
    (void)variant;
    *out = two_to_one(zn_port_sequence("codes", sizes->tokens, is.code),
                      sizes->own_times ? zn_port_sequence("modulation", sizes->tokens, modulation)
                                       : zn_port_vector("modulation", modulation),
                      zn_port_sequence("prediction", sizes->tokens, is.code));
}

// Sizes of the next two: how many codes, as tokens.
static void statistics_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                             zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    (void)variant;
    *out = zn_ports_one_to_one(zn_port_sequence("normalised", sizes->tokens, is.code),
                               zn_port_sequence("codes", sizes->tokens, is.code));
}

static void classifier_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                             zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    (void)variant;
    *out = zn_ports_one_to_one(zn_port_sequence("normalised", sizes->tokens, is.code),
                               zn_port_sequence("attributes", sizes->tokens, is.attributes));
}

// --- encoder and U-Net --------------------------------------------------------------------------

static const char *node_name(const zn_scope *scope, const char *name, const char *tail,
                             char dst[ZN_NAME_SIZE])
{
    return zn_scope_name(scope, name, tail, dst);
}

static zn_node *build_layer(const zn_scope *scope, const layer *l, zn_node *x, zn_node *modulation)
{
    zn_nn_diffae_residual is = {.channels = l->channels, .resample = l->resample};
    char full[ZN_NAME_SIZE];
    if (l->kind == FIRST)
        return zn_nn_conv(scope, l->name, x, (zn_nn_conv_shape){l->channels, 3, 1, true});
    if (l->kind == ATTENTION) return zn_nn_diffae_attention(scope, l->name, x);
    if (l->kind == SCAN) return zn_nn_diffae_scan(scope, l->name, x, l->channels);
    if (modulation) {
        is.gain = zn_channel_slice(scope->graph, node_name(scope, l->name, ".gain", full),
                                   modulation, l->at, l->channels);
        is.offset = zn_channel_slice(scope->graph, node_name(scope, l->name, ".offset", full),
                                     modulation, l->at + l->channels, l->channels);
        if (!is.gain) return NULL; // after a failure, which must not look like no condition
    }
    return zn_nn_diffae_residual_block(scope, l->name, x, &is);
}

// All layers. modulation NULL: of the encoder.
static zn_node *build_layers(const zn_scope *scope, const network *n, zn_node *x,
                             zn_node *modulation)
{
    zn_node *given[DOWN_LAYERS];
    int count = 0;
    for (int i = 0; i < n->count; i++) {
        const layer *l = &n->layers[i];
        char full[ZN_NAME_SIZE];
        if (l->takes) {
            zn_node *both[] = {x, given[--count]};
            x = zn_concat(scope->graph, node_name(scope, l->name, ".joined", full), both, 2);
        }
        x = build_layer(scope, l, x, modulation);
        if (l->gives) given[count++] = x;
    }
    return x;
}

// Squares of pixels as pixels of more channels, and back.
static zn_node *patches_of(const zn_scope *scope, const zn_diffae_shape *is, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    if (is->patch == 1) return x;
    return zn_pixel_unshuffle(scope->graph, node_name(scope, "patches", "", full), x, is->patch);
}

static zn_node *pixels_of(const zn_scope *scope, const zn_diffae_shape *is, zn_node *x)
{
    char full[ZN_NAME_SIZE];
    if (is->patch == 1) return x;
    return zn_pixel_shuffle(scope->graph, node_name(scope, "pixels", "", full), x, is->patch);
}

// x * factor + offset, for each token; offset may be NULL.
static zn_node *times_vector(const zn_scope *scope, const char *name, const char *tail, zn_node *x,
                             zn_node *factor, zn_node *offset)
{
    char full[ZN_NAME_SIZE];
    return zn_times_vector(scope->graph, node_name(scope, name, tail, full), x, factor, offset);
}

// The rows of a linear code's matrix: what each of its numbers adds to a map.
static zn_node *components(const zn_scope *scope, const zn_diffae_shape *is)
{
    return zn_scope_parameter(scope, "components", ".weight",
                              ZN_SHAPE(is->code, zn_diffae_linear_values(is)));
}

// How a map becomes one row of numbers and back: pieces first, whose places are channels then, and
// the rest after.
static void split(const zn_diffae_shape *is, zn_pixel_shuffle_attributes *inner,
                  zn_pixel_shuffle_attributes *outer)
{
    const int side = (int)is->linear, piece = side > ZN_DIFFAE_PIECE ? ZN_DIFFAE_PIECE : side;
    *inner = (zn_pixel_shuffle_attributes){.factor = side / piece, .whole = true};
    *outer = (zn_pixel_shuffle_attributes){.factor = piece, .whole = true};
}

static zn_node *linear_code(const zn_scope *scope, const zn_diffae_shape *is, zn_node *x)
{
    zn_graph *graph = scope->graph;
    char full[ZN_NAME_SIZE];
    zn_pixel_shuffle_attributes inner, outer;
    split(is, &inner, &outer);
    x = zn_graph_add(graph, &zn_op_pixel_unshuffle, node_name(scope, "pieces", "", full), &x, 1,
                     &inner);
    x = zn_graph_add(graph, &zn_op_pixel_unshuffle, node_name(scope, "row", "", full), &x, 1,
                     &outer);
    x = zn_linear(graph, node_name(scope, "components", "", full), x, components(scope, is), NULL);
    zn_node *factor = zn_scope_parameter(scope, "components", ".factor", ZN_SHAPE(is->code));
    zn_node *offset = zn_scope_parameter(scope, "components", ".offset", ZN_SHAPE(is->code));
    return times_vector(scope, "code", "", x, factor, offset);
}

static void build_draft(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                        zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    zn_graph *graph = scope->graph;
    char full[ZN_NAME_SIZE];
    (void)variant, (void)sizes;
    if (!zn_diffae_shape_of(scope, &is)) return;
    if (!is.linear) {
        graph->status = zn_fail(graph->err, ZENITH_BAD_FILE,
                                "config.json: these weights have components, which need "
                                "\"linear_code\": 1");
        return;
    }
    zn_pixel_shuffle_attributes inner, outer;
    split(&is, &inner, &outer);
    zn_node *matrix = components(scope, &is);
    zn_node *mean = zn_scope_parameter(scope, "components", ".mean",
                                       ZN_SHAPE(zn_diffae_linear_values(&is)));
    zn_node *deviation = zn_scope_parameter(scope, "components", ".deviation", ZN_SHAPE(is.code));
    zn_node *x = times_vector(scope, "draft.code", "", inputs[0], deviation, NULL);
    x = zn_linear_turned(graph, node_name(scope, "draft.row", "", full), x, matrix, mean);
    x = zn_graph_add(graph, &zn_op_pixel_shuffle, node_name(scope, "draft.pieces", "", full), &x, 1,
                     &outer);
    outputs[0] = zn_graph_add(graph, &zn_op_pixel_shuffle, node_name(scope, "draft", "", full), &x,
                              1, &inner);
}

static void build_encoder(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                          zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    network n;
    char full[ZN_NAME_SIZE];
    (void)variant, (void)sizes;
    if (!zn_diffae_shape_of(scope, &is)) return;
    if (is.linear) {
        outputs[0] = linear_code(scope, &is, inputs[0]);
        return;
    }
    list_encoder(&is, &n);
    zn_node *x = build_layers(scope, &n, patches_of(scope, &is, inputs[0]), NULL);
    x = zn_nn_diffae_silu(scope, "out.0", zn_nn_diffae_norm(scope, "out.0", x));
    if (!x) return;
    const float pixels = (float)(x->desc.shape.dim[1] * x->desc.shape.dim[2]);
    x = zn_affine(scope->graph, node_name(scope, "out.2.shares", "", full), x, 1 / pixels, 0);
    x = zn_channel_sum(scope->graph, node_name(scope, "out.2", "", full), x);
    outputs[0] = zn_nn_linear(scope, "out.3", x, is.code, true);
}

static void build_denoiser(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                           zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    network n;
    (void)variant, (void)sizes;
    if (!inputs[1] || !zn_diffae_shape_of(scope, &is)) return;
    list_unet(&is, &n);
    zn_node *seen = inputs[0];
    if (is.linear) {
        zn_node *both[] = {inputs[0], inputs[2]};
        char full[ZN_NAME_SIZE];
        seen = zn_concat(scope->graph, node_name(scope, "drafted", "", full), both, 2);
    }
    zn_node *x = build_layers(scope, &n, patches_of(scope, &is, seen), inputs[1]);
    x = zn_nn_diffae_silu(scope, "out.0", zn_nn_diffae_norm(scope, "out.0", x));
    x = zn_nn_conv(scope, "out.2", x,
                   (zn_nn_conv_shape){is.inputs * is.patch * is.patch, 3, 1, true});
    outputs[0] = pixels_of(scope, &is, x);
}

// --- modulation ---------------------------------------------------------------------------------

// silu(linear(silu(linear(features)))): what every layer's scales are made of. NAME.0 and NAME.2.
static zn_node *time_condition(const zn_scope *scope, const char *name, zn_node *times,
                               int64_t features, int64_t width)
{
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_node *t = zn_time_features(scope->graph, node_name(scope, name, ".features", full), times,
                                  (zn_time_features_attributes){features, TIME_PERIOD});
    zn_text_format(part, sizeof part, "%s.0", name);
    t = zn_nn_linear(scope, part, t, width, true);
    t = zn_nn_diffae_silu(scope, part, t);
    zn_text_format(part, sizeof part, "%s.2", name);
    return zn_nn_diffae_silu(scope, part, zn_nn_linear(scope, part, t, width, true));
}

// Gain and offset of a block's second norm. time: a sequence; code: a vector, or a vector's silu.
static zn_node *block_modulation(const zn_scope *scope, const layer *l, zn_node *time,
                                 zn_node *code)
{
    zn_graph *graph = scope->graph;
    const int64_t channels = l->channels;
    char part[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_text_format(part, sizeof part, "%s.emb_layers.1", l->name);
    time = zn_nn_linear(scope, part, time, 2 * channels, true);
    zn_node *scale = zn_channel_slice(graph, node_name(scope, part, ".scale", full), time, 0,
                                      channels);
    zn_node *shift = zn_channel_slice(graph, node_name(scope, part, ".shift", full), time, channels,
                                      channels);
    scale = zn_affine(graph, node_name(scope, part, ".factor", full), scale, 1, 1);
    zn_text_format(part, sizeof part, "%s.out_layers.0", l->name);
    zn_node *gain = zn_scope_parameter(scope, part, ".weight", ZN_SHAPE(channels));
    zn_node *offset = zn_scope_parameter(scope, part, ".bias", ZN_SHAPE(channels));
    gain = times_vector(scope, l->name, ".modulation.gain", scale, gain, NULL);
    offset = times_vector(scope, l->name, ".modulation.scaled", scale, offset, NULL);
    offset = zn_add(graph, node_name(scope, l->name, ".modulation.offset", full), offset, shift);
    zn_text_format(part, sizeof part, "%s.cond_emb_layers.1", l->name);
    code = zn_nn_linear(scope, part, code, channels, true);
    zn_node *both[] = {zn_modulate(graph, node_name(scope, l->name, ".modulation.code.gain", full),
                                   gain, code, NULL),
                       zn_modulate(graph,
                                   node_name(scope, l->name, ".modulation.code.offset", full),
                                   offset, code, NULL)};
    return zn_concat(graph, node_name(scope, l->name, ".modulation", full), both, 2);
}

// Sequences one beside the other. concat takes four, so they are joined as a tree.
static zn_node *join(const zn_scope *scope, zn_node **pieces, int count)
{
    enum { AT_ONCE = 4 };
    for (int round = 0; count > 1; round++) {
        int made = 0;
        for (int i = 0; i < count; i += AT_ONCE) {
            char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
            const int n = count - i < AT_ONCE ? count - i : AT_ONCE;
            zn_text_format(name, sizeof name, "modulation.%d.%d", round, made);
            pieces[made++] = n == 1 ? pieces[i]
                                    : zn_concat(scope->graph, node_name(scope, name, "", full),
                                                pieces + i, n);
        }
        count = made;
    }
    return pieces[0];
}

static void build_modulation(const zn_scope *scope, const zn_variant *variant,
                             const zn_sizes *sizes, zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    network n;
    zn_node *pieces[MOST_LAYERS];
    int count = 0;
    (void)variant, (void)sizes;
    if (!zn_diffae_shape_of(scope, &is)) return;
    list_unet(&is, &n);
    zn_node *time = time_condition(scope, "time_embed.time_embed", inputs[0], is.channels, is.code);
    zn_node *code = zn_nn_diffae_silu(scope, "code", inputs[1]);
    for (int i = 0; i < n.count; i++)
        if (n.layers[i].kind == RESIDUAL)
            pieces[count++] = block_modulation(scope, &n.layers[i], time, code);
    outputs[0] = join(scope, pieces, count);
}

// --- codes --------------------------------------------------------------------------------------

static void build_prior_modulation(const zn_scope *scope, const zn_variant *variant,
                                   const zn_sizes *sizes, zn_node *const *inputs, zn_node **outputs)
{
    enum { MOST_PIECES = 64 };
    zn_diffae_shape is;
    zn_node *pieces[MOST_PIECES];
    (void)variant, (void)sizes;
    if (!zn_diffae_shape_of(scope, &is)) return;
    zn_node *time = time_condition(scope, "time_embed", inputs[0], PRIOR_FEATURES, is.code);
    const int count = (int)is.prior_layers - 1;
    for (int i = 0; i < count; i++) {
        char name[ZN_NAME_SIZE];
        zn_text_format(name, sizeof name, "layers.%d.cond_layers.1", i);
        pieces[i] = zn_nn_linear(scope, name, time, is.prior_width, true);
    }
    outputs[0] = join(scope, pieces, count);
}

// x * (1 + scale): by a vector, or each token by its own.
static zn_node *prior_scaled(const zn_scope *scope, const char *name, zn_node *x, zn_node *scale)
{
    zn_graph *graph = scope->graph;
    char full[ZN_NAME_SIZE];
    if (!scale || scale->desc.shape.rank == 1)
        return zn_modulate(graph, node_name(scope, name, ".scaled", full), x, scale, NULL);
    scale = zn_affine(graph, node_name(scope, name, ".factor", full), scale, 1, 1);
    return zn_gated(graph, node_name(scope, name, ".scaled", full), scale, x, ZN_ACTIVATION_NONE);
}

static zn_node *prior_layer(const zn_scope *scope, int number, zn_node *x, zn_node *modulation,
                            int64_t width)
{
    zn_graph *graph = scope->graph;
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    zn_text_format(name, sizeof name, "layers.%d.linear", number);
    x = zn_nn_linear(scope, name, x, width, true);
    zn_node *scale = zn_channel_slice(graph, node_name(scope, name, ".scale", full), modulation,
                                      number * width, width);
    x = prior_scaled(scope, name, x, scale);
    zn_text_format(name, sizeof name, "layers.%d.norm", number);
    zn_node *gain = zn_scope_parameter(scope, name, ".weight", ZN_SHAPE(width));
    zn_node *bias = zn_scope_parameter(scope, name, ".bias", ZN_SHAPE(width));
    x = zn_layer_norm(graph, node_name(scope, name, "", full), x, gain, bias,
                      (zn_token_norm_attributes){1, LAYER_EPSILON});
    return zn_nn_diffae_silu(scope, name, x);
}

static void build_prior(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                        zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    zn_node *x = inputs[0];
    char name[ZN_NAME_SIZE], full[ZN_NAME_SIZE];
    (void)variant, (void)sizes;
    if (!zn_diffae_shape_of(scope, &is)) return;
    const int last = (int)is.prior_layers - 1;
    for (int i = 0; i < last; i++) {
        x = prior_layer(scope, i, x, inputs[1], is.prior_width);
        zn_node *both[] = {x, inputs[0]};
        zn_text_format(name, sizeof name, "layers.%d.joined", i);
        x = zn_concat(scope->graph, node_name(scope, name, "", full), both, 2);
    }
    zn_text_format(name, sizeof name, "layers.%d.linear", last);
    outputs[0] = zn_nn_linear(scope, name, x, is.code, true);
}

static void build_statistics(const zn_scope *scope, const zn_variant *variant,
                             const zn_sizes *sizes, zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    (void)variant, (void)sizes;
    if (!zn_diffae_shape_of(scope, &is)) return;
    zn_node *mean = zn_scope_parameter(scope, "conds_mean", "", ZN_SHAPE(is.code));
    zn_node *deviation = zn_scope_parameter(scope, "conds_std", "", ZN_SHAPE(is.code));
    if (mean) outputs[0] = times_vector(scope, "codes", "", inputs[0], deviation, mean);
}

static void build_classifier(const zn_scope *scope, const zn_variant *variant,
                             const zn_sizes *sizes, zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    (void)variant, (void)sizes;
    if (!zn_diffae_shape_of(scope, &is)) return;
    outputs[0] = zn_nn_linear(scope, "classifier", inputs[0], is.attributes, true);
}

// Sums of blocks, codes and modulation are kept in f32; what is multiplied inside a block is not.
static zn_precision precision(const zn_variant *variant, const char *name)
{
    (void)variant;
    const bool scales = strstr(name, "emb_layers") || strstr(name, "modulation") ||
                        strstr(name, "latent_net");
    const bool inside = strstr(name, "in_layers") || strstr(name, "out_layers") ||
                        strstr(name, ".qkv") || strstr(name, ".attention") ||
                        strstr(name, ".1.norm");
    return inside && !scales ? ZN_PRECISION_PLAIN : ZN_PRECISION_STORED;
}

// --- the family ---------------------------------------------------------------------------------

static const zn_part parts[PARTS] = {
    [ENCODER] = {.name = "encoder",
                 .prefix = "encoder.",
                 .smallest = {.height = SMALLEST, .width = SMALLEST},
                 .ports = encoder_ports,
                 .build = build_encoder},
    [MODULATION] = {.name = "modulation",
                    .prefix = "",
                    .smallest = {.tokens = 1},
                    .ports = modulation_ports,
                    .build = build_modulation},
    [DENOISER] = {.name = "denoiser",
                  .prefix = "",
                  .smallest = {.height = SMALLEST, .width = SMALLEST},
                  .ports = denoiser_ports,
                  .build = build_denoiser},
    [PRIOR_MODULATION] = {.name = "prior_modulation",
                          .prefix = "latent_net.",
                          .smallest = {.tokens = 1},
                          .ports = prior_modulation_ports,
                          .build = build_prior_modulation},
    [PRIOR] = {.name = "prior",
               .prefix = "latent_net.",
               .smallest = {.tokens = 1},
               .ports = prior_ports,
               .build = build_prior},
    [STATISTICS] = {.name = "statistics",
                    .prefix = "",
                    .smallest = {.tokens = 1},
                    .ports = statistics_ports,
                    .build = build_statistics},
    [CLASSIFIER] = {.name = "classifier",
                    .prefix = "",
                    .smallest = {.tokens = 1},
                    .ports = classifier_ports,
                    .build = build_classifier},
    [DRAFT] = {.name = "draft",
               .prefix = "encoder.",
               .smallest = {.tokens = 1},
               .ports = draft_ports,
               .build = build_draft},
    [VIEWS] = {.name = "views",
               .prefix = "",
               .smallest = {.tokens = 1},
               .ports = zn_diffae_views_ports,
               .build = zn_diffae_views_build},
    [TELLS] = {.name = "tells",
               .prefix = "",
               .smallest = {.tokens = 1},
               .ports = zn_diffae_tells_ports,
               .build = zn_diffae_tells_build},
    [NORMS] = {.name = "norms",
               .prefix = "",
               .smallest = {.tokens = 1},
               .ports = zn_diffae_norms_ports,
               .build = zn_diffae_norms_build},
    [RECALL] = {.name = "recall",
                .prefix = "",
                .smallest = {.tokens = 1},
                .ports = zn_diffae_recall_ports,
                .build = zn_diffae_recall_build},
    [RECOLLECT] = {.name = "recollect",
                   .prefix = "",
                   .smallest = {.tokens = 1},
                   .ports = zn_diffae_recollect_ports,
                   .build = zn_diffae_recollect_build},
};

const zn_family zn_family_diffae = {
    .name = "diffae",
    .variants = variants,
    .variants_count = 1,
    .parts = parts,
    .parts_count = PARTS,
    .probe = probe,
    .rename = rename_parameter,
    .layout = layout,
    .precision = precision,
    .companion = companion,
};

// --- for callers --------------------------------------------------------------------------------

zn_diffae_facts zn_diffae_facts_of(const zn_model *model)
{
    zn_diffae_facts facts = {.multiple = 1};
    const zn_part *first = parts;
    while (first < parts + PARTS - 1 && !zn_model_has(model, first)) first++;
    facts.shape = shape_of(zn_model_layout(model, first));
    facts.modulation = modulation_of(&facts.shape);
    facts.prior_modulation = prior_modulation_of(&facts.shape);
    const int levels = facts.shape.levels > facts.shape.encoder_levels ? facts.shape.levels
                                                                       : facts.shape.encoder_levels;
    facts.multiple = (facts.multiple * facts.shape.patch) << (levels - 1);
    facts.factor = model->companion ? model->companion->variant->autoencoder->factor : 1;
    return facts;
}

void zn_diffae_see_some(float *map, size_t pixels, size_t channels, float share, uint64_t seed)
{
    for (size_t i = pixels;
         i-- > 0;) { // from the last on: a pixel's new place is at or behind its old one
        zn_random random = {.seed = seed, .position = i};
        const bool seen = zn_random_unit(&random) < share;
        float *dst = map + i * (channels + 1);
        memmove(dst, map + i * channels, channels * sizeof *dst);
        for (size_t c = 0; !seen && c < channels; c++) dst[c] = 0;
        dst[channels] = seen;
    }
}

// Rows of a tensor that opening the model has found well shaped.
static zenith_status read_rows(const zn_model *model, const char *name, size_t begin, size_t end,
                               float *dst, zn_error *err)
{
    zn_stored_weight weight;
    ZN_TRY(zn_stored_weight_of(model->weights, find(model->weights, name), NULL, &weight, err));
    zn_stored_weight_read(&weight, begin, end, dst);
    return ZENITH_OK;
}

zenith_status zn_diffae_statistics(const zn_model *model, float *mean, float *deviation,
                                   zn_error *err)
{
    if (!zn_model_has(model, &parts[STATISTICS]))
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "these weights have no conds_mean and conds_std: without the statistics of "
                       "codes they cannot be moved or sampled; convert the checkpoint together "
                       "with its latent.pkl");
    ZN_TRY(read_rows(model, "conds_mean", 0, 1, mean, err));
    return read_rows(model, "conds_std", 0, 1, deviation, err);
}

static zenith_status read_offset(const zn_model *model, int attribute, int64_t count, double *out,
                                 zn_error *err)
{
    float *offsets = zn_alloc((size_t)count * sizeof *offsets);
    if (!offsets) return zn_fail_memory(err, (size_t)count * sizeof *offsets);
    zenith_status status = read_rows(model, "classifier.bias", 0, 1, offsets, err);
    *out = (double)offsets[attribute];
    zn_free(offsets);
    return status;
}

zenith_status zn_diffae_direction(const zn_model *model, int attribute, float *dst, double *offset,
                                  zn_error *err)
{
    const int64_t count = zn_diffae_facts_of(model).shape.attributes;
    if (!zn_model_has(model, &parts[CLASSIFIER]))
        return zn_fail(err, ZENITH_NOT_FOUND, "these weights have no classifier of attributes");
    if (attribute < 0 || attribute >= count)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "there is no attribute %d: the classifier knows %lld, counted from 0",
                       attribute, (long long)count);
    if (offset) ZN_TRY(read_offset(model, attribute, count, offset, err));
    return read_rows(model, "classifier.weight", (size_t)attribute, (size_t)attribute + 1, dst,
                     err);
}

zenith_status zn_diffae_spread(const zn_model *model, float *dst, zn_error *err)
{
    if (!zn_model_has(model, &parts[DRAFT]))
        return zn_fail(err, ZENITH_NOT_FOUND, "the codes of this model are not linear");
    return read_rows(model, "encoder.components.deviation", 0, 1, dst, err);
}

bool zn_diffae_recalls(const zn_model *model)
{
    return model->family == &zn_family_diffae && zn_model_has(model, &parts[RECALL]);
}

zenith_status zn_diffae_tells(const zn_model *model, float *dst, zn_error *err)
{
    return read_rows(model, "recall.tells.weight", 0, ZN_DIFFAE_VIEWS, dst, err);
}

zenith_status zn_diffae_norms(const zn_model *model, float *dst, zn_error *err)
{
    return read_rows(model, "recall.norms", 0, 1, dst, err);
}

zenith_status zn_diffae_known(const zn_model *model, size_t number, float *dst, zn_error *err)
{
    return read_rows(model, "recall.codes.weight", number, number + 1, dst, err);
}

zenith_status zn_diffae_component(const zn_model *model, size_t number, float *dst, zn_error *err)
{
    return read_rows(model, "encoder.components.weight", number, number + 1, dst, err);
}

const char *zn_diffae_attribute(const zn_model *model, size_t attribute)
{
    const char *name = NULL;
    const zn_json *names = zn_json_find(zn_weights_config(model->weights), "attributes");
    if (!zn_model_has(model, &parts[CLASSIFIER]) || !zn_json_is_array(names) ||
        attribute >= (size_t)zn_diffae_facts_of(model).shape.attributes)
        return NULL;
    return zn_json_as_text(zn_json_at(names, attribute), &name) && *name ? name : NULL;
}
