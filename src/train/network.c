// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Which parameters a network has is asked of the network itself: it is built for a small picture,
// and what it reads is written down.
#include "src/train/network.h"

#include "src/base/random.h"
#include "src/base/text.h"
#include "src/format/elements.h"
#include "src/op/ops.h"

#include <math.h>
#include <string.h>

static zn_train_parameter *find(const zn_network *network, const char *name)
{
    for (size_t i = 0; i < network->count; i++)
        if (strcmp(network->parameters[i].name, name) == 0) return &network->parameters[i];
    return NULL;
}

static zenith_status add(zn_network *network, const char *name, zn_tensor tensor, zn_error *err)
{
    if (find(network, name)) return ZENITH_OK; // read twice
    ZN_TRY(zn_array_reserve((void **)&network->parameters, &network->capacity, network->count + 1,
                            sizeof *network->parameters, err));
    zn_train_parameter *p = &network->parameters[network->count];
    zn_text_format(p->name, sizeof p->name, "%s", name);
    p->tensor = tensor;
    p->scale = 1;
    if (!zn_shape_elements(&tensor.desc.shape, &p->elements))
        return zn_fail(err, ZENITH_LIMIT, "the parameter '%s' is too large", name);
    network->count++;
    return ZENITH_OK;
}

zenith_status zn_network_of_model(const zn_model *model, unsigned part, zn_network *out,
                                  zn_error *err)
{
    zn_network network = {.family = model->family, .variant = model->variant, .part = part};
    const char *layout = zn_model_layout(model, part);
    zn_text_format(network.layout, sizeof network.layout, "%s", layout ? layout : "");
    zn_graph graph;
    ZN_TRY(zn_model_small_graph(model, part, &graph, err));
    zenith_status status = ZENITH_OK;
    for (size_t i = 0; i < graph.count && status == ZENITH_OK; i++) {
        const zn_node *node = graph.nodes[i];
        if (node->kind == ZN_NODE_PARAMETER)
            status = add(&network, node->name, node->constant, err);
    }
    zn_graph_free(&graph);
    if (status == ZENITH_OK)
        *out = network;
    else
        zn_network_free(&network);
    return status;
}

// --- a network without weights ------------------------------------------------------------------

static zn_node *fail(zn_graph *graph, zenith_status status)
{
    if (graph->status == ZENITH_OK) graph->status = status;
    return NULL;
}

// Writes down what is asked for. A size that the weights would decide is the usual one.
static zn_node *invent(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    zn_network *network = cookie;
    static const float nothing; // never read: the graph is only built
    zn_tensor tensor = {zn_desc_make(ZN_F32, *shape), NULL};
    for (int i = 0; i < shape->rank; i++) {
        const int64_t size = shape->dim[i];
        if (size < 0) tensor.desc.shape.dim[i] = size == -1 ? network->width : -size;
    }
    zenith_status status = add(network, name, tensor, graph->err);
    if (status != ZENITH_OK) return fail(graph, status);
    tensor.data = (void *)(uintptr_t)&nothing;
    return zn_graph_parameter(graph, name, tensor);
}

// The convolution that makes a value, maybe through others that only change its numbers.
static const zn_node *convolution_behind(const zn_node *node)
{
    while (node->kind == ZN_NODE_OP) {
        const zn_node *second = node->inputs_count > 1 ? node->inputs[1] : NULL;
        if (second && second->kind == ZN_NODE_PARAMETER && second->desc.shape.rank == 4)
            return node;
        if (node->op == &zn_op_add) break;
        node = node->inputs[0];
    }
    return NULL;
}

static void scale_weights(zn_network *network, const zn_node *value, float scale)
{
    const zn_node *convolution = convolution_behind(value);
    if (convolution) find(network, convolution->inputs[1]->name)->scale = scale;
}

// Of the two values that are added, the branch is the one with more convolutions before it.
static zenith_status find_scales(zn_network *network, zn_graph *graph, const zn_node *y)
{
    int *depth = zn_arena_alloc(&graph->arena, (graph->count + 1) * sizeof *depth);
    if (!depth) return zn_fail_memory(graph->err, graph->count * sizeof *depth);
    int branches = 0;
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        for (int i = 0; i < node->inputs_count; i++)
            if (depth[node->inputs[i]->id] > depth[id]) depth[id] = depth[node->inputs[i]->id];
        depth[id] += convolution_behind(node) == node;
        branches += node->op == &zn_op_add;
    }
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        if (node->op != &zn_op_add) continue;
        const bool second = depth[node->inputs[1]->id] > depth[node->inputs[0]->id];
        scale_weights(network, node->inputs[second], 1 / sqrtf((float)branches));
    }
    if (network->part == ZN_DECODER) scale_weights(network, y, 0.1f);
    return ZENITH_OK;
}

static const char *prefix_of(unsigned part)
{
    return part == ZN_ENCODER ? "encoder." : "decoder.";
}

zenith_status zn_network_of_variant(const zn_variant *variant, unsigned part,
                                    const zn_network_shape *shape, zn_network *out, zn_error *err)
{
    zn_network network = {
        .family = zn_family_of(variant), .variant = variant, .part = part, .width = shape->width};
    zn_text_format(network.layout, sizeof network.layout, "%s", shape->layout ? shape->layout : "");
    const int64_t smallest = network.family->side ? shape->picture : variant->factor;
    const int64_t side = part == ZN_ENCODER ? smallest : smallest / variant->factor;
    const int64_t channels = part == ZN_ENCODER ? 3 : variant->latent_channels;
    zn_graph graph;
    zn_graph_begin(&graph, err);
    const zn_scope scope = {.graph = &graph,
                            .parameter = invent,
                            .cookie = &network,
                            .prefix = prefix_of(part),
                            .layout = shape->layout};
    zn_node *x = zn_graph_input(&graph, "input",
                                zn_desc_make(ZN_F32, ZN_SHAPE(1, side, side, channels)));
    zn_node *y = network.family->build(&scope, variant, part, x);
    if (y) zn_graph_output(&graph, y);
    zenith_status status = zn_graph_finish(&graph);
    if (status == ZENITH_OK) status = find_scales(&network, &graph, y);
    zn_graph_free(&graph);
    if (status == ZENITH_OK)
        *out = network;
    else
        zn_network_free(&network);
    return status;
}

void zn_network_free(zn_network *network)
{
    zn_free(network->parameters);
    *network = (zn_network){0};
}

// --- the flat block -----------------------------------------------------------------------------

size_t zn_network_place(zn_network *network, size_t offset)
{
    const size_t line = ZN_ALIGN / sizeof(float); // each begins on a line, as vectors like it
    for (size_t i = 0; i < network->count; i++) {
        network->parameters[i].offset = offset;
        offset = zn_round_up(offset + network->parameters[i].elements, line);
    }
    return offset;
}

static void now_at(zn_train_parameter *p, float *block)
{
    p->tensor.desc = zn_desc_make(ZN_F32, p->tensor.desc.shape);
    p->tensor.data = block + p->offset;
}

void zn_network_move(zn_network *network, float *block)
{
    for (size_t i = 0; i < network->count; i++) {
        zn_train_parameter *p = &network->parameters[i];
        zn_elements_to_f32(p->tensor.desc.type, p->tensor.data, 0, p->elements, block + p->offset);
        now_at(p, block);
    }
}

void zn_network_randomise(zn_network *network, float *block, uint64_t seed)
{
    for (size_t i = 0; i < network->count; i++) {
        zn_train_parameter *p = &network->parameters[i];
        const zn_shape *shape = &p->tensor.desc.shape;
        float *values = block + p->offset;
        zn_random random = {.seed = seed, .position = (uint64_t)i << 40};
        const bool one = (shape->rank == 1 && zn_text_ends_with(p->name, ".weight")) ||
                         zn_text_ends_with(p->name, ".score");
        float spread = 0;
        if (shape->rank == 4)
            spread = p->scale * sqrtf(2.0f / (float)((int64_t)p->elements / shape->dim[0]));
        for (size_t j = 0; j < p->elements; j++)
            values[j] = shape->rank == 4 ? spread * zn_random_normal(&random) : one ? 1 : 0;
        now_at(p, block);
    }
}

size_t zn_network_take(zn_network *network, const zn_network *donor, float *block)
{
    size_t taken = 0;
    for (size_t i = 0; i < network->count; i++) {
        const zn_train_parameter *p = &network->parameters[i];
        const zn_train_parameter *from = find(donor, p->name);
        if (!from || !zn_shape_equal(&from->tensor.desc.shape, &p->tensor.desc.shape)) continue;
        zn_elements_to_f32(from->tensor.desc.type, from->tensor.data, 0, p->elements,
                           block + p->offset);
        taken++;
    }
    return taken;
}

// --- building -----------------------------------------------------------------------------------

typedef struct binding {
    const zn_network *network;
    size_t skip; // letters of the prefix that parameters have not
    zn_node **nodes;
} binding;

static zn_node *bind(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    const binding *b = cookie;
    const zn_train_parameter *p = find(b->network, name + b->skip);
    (void)shape; // the list was made by the same network
    if (!p)
        return fail(graph,
                    zn_fail(graph->err, ZENITH_INTERNAL, "there is no parameter '%s'", name));
    size_t index = (size_t)(p - b->network->parameters);
    if (b->nodes && b->nodes[index]) return b->nodes[index];
    zn_node *node = zn_graph_parameter(graph, name, p->tensor);
    if (b->nodes) b->nodes[index] = node;
    return node;
}

zn_node *zn_network_build(const zn_network *network, zn_graph *graph, const char *prefix,
                          zn_node *x, zn_node **nodes)
{
    binding b = {network, strlen(prefix), nodes};
    char full[ZN_NAME_SIZE];
    zn_text_format(full, sizeof full, "%s%s", prefix, prefix_of(network->part));
    if (nodes) memset(nodes, 0, network->count * sizeof *nodes);
    const zn_scope scope = {.graph = graph,
                            .parameter = bind,
                            .cookie = &b,
                            .prefix = full,
                            .layout = *network->layout ? network->layout : NULL};
    return network->family->build(&scope, network->variant, network->part, x);
}
