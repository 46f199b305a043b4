// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Which parameters a network has is asked of the network itself: it is built for the smallest
// sizes, and what it reads is written down.
#include "src/train/network/network.h"

#include "src/base/random.h"
#include "src/base/text.h"
#include "src/format/tensor/elements.h"
#include "src/graph/op.h"

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
    if (tensor.rows)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "'%s' is stored in few bits, which are not trained: convert the weights to "
                       "bf16 first",
                       name);
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

zenith_status zn_network_of_model(const zn_model *model, const zn_part *part, zn_network *out,
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
    zn_tensor tensor = {.desc = zn_desc_make(ZN_F32, *shape), .data = NULL};
    for (int i = 0; i < shape->rank; i++) {
        const int64_t size = shape->dim[i];
        if (size < 0) tensor.desc.shape.dim[i] = size == -1 ? network->width : -size;
    }
    zenith_status status = add(network, name, tensor, graph->err);
    if (status != ZENITH_OK) return fail(graph, status);
    tensor.data = (void *)(uintptr_t)&nothing;
    return zn_graph_parameter(graph, name, tensor);
}

static bool adds_branch(const zn_node *node)
{
    return node->kind == ZN_NODE_OP && (node->op->traits & ZN_OP_BRANCHES);
}

// The layer that makes a value, maybe through others that only change its numbers.
static const zn_node *layer_behind(const zn_node *node)
{
    while (node->kind == ZN_NODE_OP) {
        if (zn_node_is_layer(node)) return node;
        if (adds_branch(node) || node->inputs_count == 0) break;
        node = node->inputs[0];
    }
    return NULL;
}

static void scale_weights(zn_network *network, const zn_node *value, float scale)
{
    const zn_node *layer = layer_behind(value);
    if (!layer) return;
    find(network, layer->inputs[1]->name)->scale = scale;
    if (layer->inputs_count > 2 && layer->inputs[2]->kind == ZN_NODE_PARAMETER)
        find(network, layer->inputs[2]->name)->scale = scale;
}

// The parameter whose rows a node takes as they are, or puts where there are none; NULL: there is
// none.
static const zn_node *table_of(const zn_node *node)
{
    if (node->kind != ZN_NODE_OP || !(node->op->traits & ZN_OP_TABLE)) return NULL;
    const zn_node *last = node->inputs[node->inputs_count - 1];
    return last->kind == ZN_NODE_PARAMETER && last->desc.shape.rank <= 2 ? last : NULL;
}

// Weights have all dimensions but the first, their outputs, for inputs. What rank 4 has is weights,
// whichever operator reads it; of rank 2 are also the gates of transforms.
static void find_inputs(zn_network *network, const zn_graph *graph)
{
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        // Variance one: a row is not summed with others. From zero, a norm's gradient would be as
        // steep as its epsilon is small.
        if (table_of(node)) find(network, table_of(node)->name)->inputs = 2;
        const bool weights = node->kind == ZN_NODE_PARAMETER && node->desc.shape.rank == 4;
        if (!weights && !zn_node_is_layer(node)) continue;
        zn_train_parameter *p = find(network, weights ? node->name : node->inputs[1]->name);
        p->inputs = (int64_t)p->elements / p->tensor.desc.shape.dim[0];
        if (zn_node_is_layer(node) && node->inputs_count > 2 &&
            node->inputs[2]->kind == ZN_NODE_PARAMETER)
            find(network, node->inputs[2]->name)->bias_inputs = p->inputs;
    }
}

// Of the two values that are added, the branch is the one with more layers before it.
static zenith_status find_scales(zn_network *network, zn_graph *graph)
{
    int *depth = zn_arena_alloc(&graph->arena, (graph->count + 1) * sizeof *depth);
    if (!depth) return zn_fail_memory(graph->err, graph->count * sizeof *depth);
    int branches = 0;
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        for (int i = 0; i < node->inputs_count; i++)
            if (depth[node->inputs[i]->id] > depth[id]) depth[id] = depth[node->inputs[i]->id];
        depth[id] += zn_node_is_layer(node);
        branches += adds_branch(node);
    }
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        if (!adds_branch(node)) continue;
        const bool second = depth[node->inputs[1]->id] > depth[node->inputs[0]->id];
        scale_weights(network, node->inputs[second], 1 / sqrtf((float)branches));
    }
    return ZENITH_OK;
}

// What the parts of the network are told apart by: the graph is built for nothing else.
static zenith_status describe(zn_network *network, const zn_network_shape *shape, zn_graph *graph)
{
    const zn_part *part = network->part;
    const zn_sizes sizes = network->family->sizes ? shape->sizes : part->smallest;
    const zn_scope scope = {.graph = graph,
                            .parameter = invent,
                            .cookie = network,
                            .prefix = "",
                            .layout = shape->layout};
    zn_ports ports = {.inputs_count = 0};
    zn_node *inputs[ZN_MOST_PORTS], *outputs[ZN_MOST_PORTS];
    part->ports(network->variant, shape->layout, &sizes, &ports);
    for (int i = 0; i < ports.inputs_count; i++)
        inputs[i] = zn_port_leaf(graph, &ports.inputs[i], NULL);
    zn_part_build(part, &scope, network->variant, &sizes, inputs, outputs);
    for (int i = 0; i < ports.outputs_count; i++)
        if (outputs[i]) zn_graph_output(graph, outputs[i]);
    ZN_TRY(zn_graph_finish(graph));
    find_inputs(network, graph);
    ZN_TRY(find_scales(network, graph));
    for (int i = 0; i < ports.outputs_count; i++)
        if (ports.outputs[i].pixels) scale_weights(network, outputs[i], shape->residual ? 0 : 0.1f);
    return ZENITH_OK;
}

zenith_status zn_network_of_variant(const zn_variant *variant, const zn_part *part,
                                    const zn_network_shape *shape, zn_network *out, zn_error *err)
{
    zn_network network = {
        .family = zn_family_of(variant), .variant = variant, .part = part, .width = shape->width};
    zn_text_format(network.layout, sizeof network.layout, "%s", shape->layout ? shape->layout : "");
    zn_graph graph;
    zn_graph_begin(&graph, err);
    zenith_status status = describe(&network, shape, &graph);
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

static void read_values(const zn_tensor *from, size_t count, float *dst)
{
    zn_elements_to_f32(from->desc.type, from->data, 0, count, dst);
    for (size_t i = 0; from->desc.scale != 1.0f && i < count; i++) dst[i] *= from->desc.scale;
}

void zn_network_move(zn_network *network, float *block)
{
    for (size_t i = 0; i < network->count; i++) {
        zn_train_parameter *p = &network->parameters[i];
        read_values(&p->tensor, p->elements, block + p->offset);
        now_at(p, block);
    }
}

// What has no random values.
static float first_value(const zn_train_parameter *p, float score)
{
    if (zn_text_ends_with(p->name, ".score")) return score;
    const bool gain = p->tensor.desc.shape.rank == 1 && zn_text_ends_with(p->name, ".weight");
    return gain ? 1 : 0;
}

static void draw_he(const zn_train_parameter *p, zn_random *random, float *values)
{
    const float spread = p->scale * sqrtf(2.0f / (float)p->inputs);
    for (size_t j = 0; j < p->elements; j++) values[j] = spread * zn_random_normal(random);
}

// What begins with nothing (`residual`) does so here too.
static void draw_uniform(const zn_train_parameter *p, zn_random *random, float *values)
{
    const int64_t inputs = p->inputs ? p->inputs : p->bias_inputs;
    const float bound = p->scale > 0 ? 1 / sqrtf((float)inputs) : 0;
    for (size_t j = 0; j < p->elements; j++) values[j] = bound * (2 * zn_random_unit(random) - 1);
}

void zn_network_randomise(zn_network *network, float *block, uint64_t seed, float score,
                          zn_init_rule rule)
{
    for (size_t i = 0; i < network->count; i++) {
        zn_train_parameter *p = &network->parameters[i];
        float *values = block + p->offset;
        zn_random random = {.seed = seed, .position = (uint64_t)i << 40};
        if (rule == ZN_INIT_PYTORCH && (p->inputs || p->bias_inputs))
            draw_uniform(p, &random, values);
        else if (rule == ZN_INIT_HE && p->inputs)
            draw_he(p, &random, values);
        else
            for (size_t j = 0; j < p->elements; j++) values[j] = first_value(p, score);
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
        read_values(&from->tensor, p->elements, block + p->offset);
        taken++;
    }
    return taken;
}

// --- building -----------------------------------------------------------------------------------

typedef struct binding {
    const zn_network *network;
    size_t skip; // length of the prefix that the graph's names have and the parameters' names lack
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

void zn_network_build(const zn_network *network, const zn_sizes *sizes, zn_graph *graph,
                      const char *prefix, zn_node *const *inputs, zn_node **outputs,
                      zn_node **nodes)
{
    binding b = {network, strlen(prefix), nodes};
    if (nodes) memset(nodes, 0, network->count * sizeof *nodes);
    const zn_scope scope = {.graph = graph,
                            .parameter = bind,
                            .cookie = &b,
                            .prefix = prefix,
                            .layout = zn_network_layout(network)};
    zn_part_build(network->part, &scope, network->variant, sizes, inputs, outputs);
}

zn_node *zn_network_apply(const zn_network *network, zn_graph *graph, const char *prefix,
                          zn_node *x, zn_node **nodes)
{
    const zn_part *part = network->part;
    const zn_sizes *least = &part->smallest;
    zn_ports ports = {.inputs_count = 0};
    zn_node *y = NULL;
    if (!x) return NULL;
    part->ports(network->variant, zn_network_layout(network), least, &ports);
    const int64_t *small = ports.inputs[0].desc.shape.dim, *now = x->desc.shape.dim;
    const zn_sizes sizes = {.height = now[1] / small[1] * least->height,
                            .width = now[2] / small[2] * least->width};
    zn_network_build(network, &sizes, graph, prefix, &x, &y, nodes);
    return y;
}
