// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/network/quantise.h"

#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/weight_scale.h"
#include "src/model/locate.h"
#include "src/model/type_choice.h"
#include "src/op/op_checks.h"
#include "src/op/ops.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 127 }; // of weights in 8 bits, where the CPU has VNNI

// --- what int8 is -------------------------------------------------------------------------------

static void build_plain(const zn_network *network, zn_graph *graph)
{
    const zn_desc pixels = {.type = ZN_U8, .scale = 1.0f / 255.0f};
    const zn_part *part = network->part;
    zn_ports ports = {.inputs_count = 0};
    zn_node *inputs[ZN_MOST_PORTS], *outputs[ZN_MOST_PORTS] = {0};
    part->ports(network->variant, zn_network_layout(network), &part->smallest, &ports);
    for (int i = 0; i < ports.inputs_count; i++)
        inputs[i] = zn_port_leaf(graph, &ports.inputs[i], &pixels);
    zn_network_build(network, &part->smallest, graph, "", inputs, outputs, NULL);
    for (int i = 0; i < ports.outputs_count; i++)
        if (outputs[i]) zn_graph_output(graph, outputs[i]);
}

// The network as int8 runs it, but for what is fused when types are known; of the smallest size, on
// which no type depends. calibration NULL: as f32 runs it.
static zenith_status make_typed(const zn_network *network, const zn_calibration *calibration,
                                zn_graph *typed, zn_error *err)
{
    const zn_type_choice choice = {.calibration = calibration};
    const zn_type_policy policy = zn_type_choice_policy(&choice, ZN_F32);
    zn_graph plain = {0}, fused = {0};
    zenith_status status;
    zn_graph_begin(&plain, err);
    build_plain(network, &plain);
    ZN_GO(zn_graph_finish(&plain));
    ZN_GO(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &fused, err));
    ZN_GO(zn_pass_types(&fused, &policy, typed, err));
fail:
    zn_graph_free(&plain);
    zn_graph_free(&fused);
    return status;
}

// The layer of the typed graph that has these weights.
static const zn_node *layer_of(const zn_graph *typed, const char *weights)
{
    for (size_t i = 0; i < typed->count; i++) {
        const zn_node *node = typed->nodes[i];
        if (zn_node_is_layer(node) && strcmp(node->inputs[1]->name, weights) == 0) return node;
    }
    return NULL;
}

static bool is_convert(const zn_node *node)
{
    return node->kind == ZN_NODE_OP && (node->op->traits & ZN_OP_CONVERTS);
}

// How the typed graph stores the value of that name; NULL: not in 8 bits, or as a copy of what is.
static const zn_desc *stored_as(const zn_graph *typed, const char *name)
{
    for (size_t i = 0; i < typed->count; i++) {
        const zn_node *node = typed->nodes[i];
        if (node->kind != ZN_NODE_OP || is_convert(node) || strcmp(node->name, name) != 0) continue;
        const bool copies = node->op->traits & ZN_OP_FOLLOWS;
        return zn_is_quantised(node->desc.type) && !copies ? &node->desc : NULL;
    }
    return NULL;
}

// In what the layer's input is converted before it is multiplied; NULL: it is taken as it is
// stored.
static const zn_desc *taken_as(const zn_graph *typed, const zn_node *plain)
{
    const zn_node *layer = zn_node_is_layer(plain) ? layer_of(typed, plain->inputs[1]->name) : NULL;
    if (!layer || !is_convert(layer->inputs[0])) return NULL;
    const zn_desc *desc = &layer->inputs[0]->desc;
    return zn_is_quantised(desc->type) ? desc : NULL;
}

// --- maps ---------------------------------------------------------------------------------------

typedef struct copying {
    const zn_graph *typed, *plain;
    zn_graph *graph;
    zn_node **stored; // by id of plain: the copy, rounded if that is how it is stored
    zn_node **taken;  // by id: rounded for layers alone, once one asked
} copying;

static zn_node *rounded(zn_graph *graph, zn_node *x, const zn_desc *as)
{
    char name[ZN_NAME_SIZE];
    if (!x) return NULL;
    zn_text_format(name, sizeof name, "%s.%s", x->name, zn_type_name(as->type));
    return zn_fake_quant(graph, name, x, as->type, as->scale);
}

static zn_node *copy_op(copying *c, const zn_node *node)
{
    zn_node *inputs[ZN_MAX_INPUTS];
    for (int i = 0; i < node->inputs_count; i++) inputs[i] = c->stored[node->inputs[i]->id];
    const zn_desc *as = taken_as(c->typed, node);
    if (as) {
        zn_node **taken = &c->taken[node->inputs[0]->id];
        if (!*taken) *taken = rounded(c->graph, inputs[0], as);
        inputs[0] = *taken;
    }
    zn_node *copy = zn_graph_add(c->graph, node->op, node->name, inputs, node->inputs_count,
                                 node->attributes);
    const zn_desc *stored = stored_as(c->typed, node->name);
    return stored ? rounded(c->graph, copy, stored) : copy;
}

static zn_node *copy_all(copying *c, zn_node *x, const zn_node *result)
{
    for (size_t id = 0; id < c->plain->count && c->graph->status == ZENITH_OK; id++) {
        const zn_node *node = c->plain->nodes[id];
        if (node->kind == ZN_NODE_INPUT)
            c->stored[id] = x;
        else if (node->kind == ZN_NODE_PARAMETER)
            c->stored[id] = zn_graph_parameter(c->graph, node->name, node->constant);
        else
            c->stored[id] = copy_op(c, node);
    }
    return c->graph->status == ZENITH_OK ? c->stored[result->id] : NULL;
}

static zn_node *copy_network(const zn_network *network, const zn_graph *typed, zn_graph *plain,
                             zn_graph *graph, zn_node *x, zn_node **nodes)
{
    zn_node *input = zn_graph_input(plain, x->name, x->desc);
    const zn_node *y = zn_network_apply(network, plain, "", input, nodes);
    const size_t bytes = (plain->count + 1) * sizeof(zn_node *);
    copying c = {.typed = typed,
                 .plain = plain,
                 .graph = graph,
                 .stored = zn_arena_alloc(&plain->arena, bytes),
                 .taken = zn_arena_alloc(&plain->arena, bytes)};
    if (plain->status != ZENITH_OK) graph->status = plain->status;
    if (plain->status == ZENITH_OK && (!c.stored || !c.taken))
        graph->status = zn_fail_memory(graph->err, bytes);
    if (graph->status != ZENITH_OK) return NULL;
    zn_node *result = copy_all(&c, x, y);
    for (size_t i = 0; nodes && i < network->count; i++)
        if (nodes[i]) nodes[i] = c.stored[nodes[i]->id];
    return result;
}

zn_node *zn_quantise_apply(const zn_network *network, const zn_calibration *calibration,
                           zn_graph *graph, zn_node *x, zn_node **nodes)
{
    zn_graph typed = {0}, plain = {0};
    if (!x || graph->status != ZENITH_OK) return NULL;
    zn_node *result = NULL;
    graph->status = make_typed(network, calibration, &typed, graph->err);
    zn_graph_begin(&plain, graph->err);
    if (graph->status == ZENITH_OK) result = copy_network(network, &typed, &plain, graph, x, nodes);
    zn_graph_free(&plain);
    zn_graph_free(&typed);
    return result;
}

// --- weights ------------------------------------------------------------------------------------

zenith_status zn_quantise_choose(zn_network *network, zn_type type,
                                 const zn_calibration *calibration, zn_error *err)
{
    zn_graph typed = {0};
    ZN_TRY(make_typed(network, calibration, &typed, err));
    for (size_t i = 0; i < network->count; i++) {
        zn_train_parameter *p = &network->parameters[i];
        const zn_node *layer = layer_of(&typed, p->name);
        const bool chosen = layer &&
                            (type != ZN_S8 || zn_is_quantised(layer->inputs[0]->desc.type));
        p->rounded = chosen ? type : ZN_F32;
    }
    zn_graph_free(&typed);
    return ZENITH_OK;
}

void zn_quantise_show(zn_network *network, float *shown)
{
    for (size_t i = 0; i < network->count; i++)
        network->parameters[i].tensor.data = shown + network->parameters[i].offset;
}

static float largest_of(const float *values, size_t count)
{
    float largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmaxf(largest, fabsf(values[i]));
    return largest;
}

// As conv_weights.c rounds them.
static void round_channels(const float *src, size_t channels, size_t length, float *dst)
{
    for (size_t o = 0; o < channels; o++, src += length, dst += length) {
        float scale = largest_of(src, length) / LEVELS;
        if (!isnormal(scale)) scale = 1;
        for (size_t i = 0; i < length; i++) dst[i] = rintf(src[i] / scale) * scale;
    }
}

// As model_write.c rounds them.
static void round_f8(const float *src, size_t count, zn_type type, float *dst)
{
    const float scale = zn_weight_scale_for(type, largest_of(src, count));
    for (size_t i = 0; i < count; i++) {
        uint8_t bits;
        zn_type_store(type, &bits, 0, src[i] / scale);
        dst[i] = zn_type_load(type, &bits, 0) * scale;
    }
}

void zn_quantise_round(const zn_network *network, const float *weights, float *shown)
{
    for (size_t i = 0; i < network->count; i++) {
        const zn_train_parameter *p = &network->parameters[i];
        const float *src = weights + p->offset;
        float *dst = shown + p->offset;
        const size_t channels = (size_t)p->tensor.desc.shape.dim[0];
        if (p->rounded == ZN_S8)
            round_channels(src, channels, p->elements / channels, dst);
        else if (p->rounded != ZN_F32)
            round_f8(src, p->elements, p->rounded, dst);
        else
            memcpy(dst, src, p->elements * sizeof *dst);
    }
}

// --- identity -----------------------------------------------------------------------------------

void zn_quantise_digest(const zn_calibration *calibration, char hex[65])
{
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    for (size_t i = 0; i < calibration->count; i++) {
        const zn_calibrated *value = &calibration->values[i];
        const uint8_t flags[] = {value->positive, value->int8, value->floating};
        zn_sha256_add(&hash, value->name, strlen(value->name) + 1);
        zn_sha256_add(&hash, &value->largest, sizeof value->largest);
        zn_sha256_add(&hash, flags, sizeof flags);
    }
    zn_sha256_end(&hash, hex);
}

zenith_status zn_quantise_write_calibration(const zn_calibration *ranges, const char *model,
                                            const char *folder, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    const zn_model_request request = {.name = model, .weights = folder};
    zn_model *written = NULL;
    if (!ranges) return ZENITH_OK;
    size_t length = zn_text_format(path, sizeof path, "%s/%s.calib.json", folder, model);
    if (length + 1 >= sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
    ZN_TRY(zn_model_open(&request, &written, err));
    zn_calibration calibration = *ranges;
    memcpy(calibration.weights, zn_model_sha256(written), sizeof calibration.weights);
    zn_model_unref(written);
    return zn_calibration_write(&calibration, path, err);
}
