// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks are recognised by the names of their parameters, which all families share: after the
// part's prefix, "3.conv.0.weight", where 3 is the block's number and 0 that of a layer in it.
#include "src/train/prune/pruned_network.h"

#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/model/pruning.h"
#include "src/op/ops.h"

#include <string.h>

enum { SIDE = 512, MOST_DIGITS = 4, COST_OF_WEIGHT = 2 };

static const zn_train_parameter *find(const zn_network *network, const char *name)
{
    for (size_t i = 0; i < network->count; i++)
        if (strcmp(network->parameters[i].name, name) == 0) return &network->parameters[i];
    return NULL;
}

// The number of the block that a parameter belongs to, and what comes after it in the name; -1:
// none.
static int block_of(const zn_network *network, const char *name, const char **rest)
{
    int number = 0, digits = 0;
    for (name += strlen(network->part->prefix);
         *name >= '0' && *name <= '9' && digits < MOST_DIGITS; name++, digits++)
        number = 10 * number + (*name - '0');
    *rest = name;
    return digits > 0 && strncmp(name, ".conv.", 6) == 0 ? number : -1;
}

// --- a graph to ask -----------------------------------------------------------------------------

static zenith_status build(const zn_network *network, zn_graph *graph, zn_error *err)
{
    const int64_t side = SIDE / network->variant->autoencoder->factor;
    const zn_sizes sizes = {.height = side, .width = side};
    zn_ports ports = {.inputs_count = 0};
    zn_node *y = NULL;
    zn_graph_begin(graph, err);
    network->part->ports(network->variant, zn_network_layout(network), &sizes, &ports);
    zn_node *x = zn_port_leaf(graph, &ports.inputs[0], NULL);
    zn_network_build(network, &sizes, graph, "", &x, &y, NULL);
    if (y) zn_graph_output(graph, y);
    zenith_status status = zn_graph_finish(graph);
    if (status != ZENITH_OK) zn_graph_free(graph);
    return status;
}

zenith_status zn_network_operations(const zn_network *network, double *out, zn_error *err)
{
    zn_graph graph;
    double sum = 0;
    ZN_TRY(build(network, &graph, err));
    for (size_t i = 0; i < graph.count; i++)
        if (graph.nodes[i]->kind == ZN_NODE_OP) sum += zn_node_flops(graph.nodes[i]);
    zn_graph_free(&graph);
    *out = sum;
    return ZENITH_OK;
}

// --- inner layers -------------------------------------------------------------------------------

// A parameter of one of the three layers of a block: "decoder.3.conv.0" and its tail.
static const zn_train_parameter *find_in_block(const zn_network *network, int block, int layer,
                                               const char *tail, char name[ZN_NAME_SIZE])
{
    char full[ZN_NAME_SIZE];
    zn_text_format(name, ZN_NAME_SIZE, "%s%d.conv.%d", network->part->prefix, block, layer);
    zn_text_format(full, sizeof full, "%s%s", name, tail);
    return find(network, full);
}

// The layer whose weights these are; false where its channels are seen by others than the next
// layer.
static bool describe(const zn_network *network, const zn_train_parameter *weight,
                     zn_inner_layer *out)
{
    const char *rest;
    const int block = block_of(network, weight->name, &rest);
    const bool first = block >= 0 && strcmp(rest, ".conv.0.weight") == 0;
    const bool second = block >= 0 && strcmp(rest, ".conv.2.weight") == 0;
    if (!first && !second) return false;
    zn_inner_layer l = {.weight = weight, .width = weight->tensor.desc.shape.dim[0]};
    l.bias = find_in_block(network, block, first ? 0 : 2, ".bias", l.name);
    l.outgoing = find_in_block(network, block, first ? 2 : 4, ".weight", l.next);
    *out = l;
    return l.bias && l.outgoing;
}

// Both convolutions that a channel is in have the same pixels.
static double cost_of(const zn_graph *graph, const zn_inner_layer *layer)
{
    const zn_node *node = zn_graph_find(graph, layer->name);
    const zn_train_parameter *w = layer->weight, *next = layer->outgoing;
    if (!node) return 1;
    const double pixels = (double)(node->desc.shape.dim[1] * node->desc.shape.dim[2]);
    const double weights = (double)(w->elements / (size_t)layer->width) +
                           (double)(next->elements / (size_t)layer->width);
    return COST_OF_WEIGHT * pixels * weights;
}

zenith_status zn_inner_layers_find(const zn_network *network, zn_inner_layers *out, zn_error *err)
{
    zn_inner_layers found = {.count = 0};
    zn_graph graph;
    ZN_TRY(build(network, &graph, err));
    const size_t bytes = network->count * sizeof *found.layers;
    found.layers = zn_arena_alloc(&found.arena, bytes);
    bool room = found.layers != NULL;
    for (size_t i = 0; room && i < network->count; i++) {
        zn_inner_layer *l = &found.layers[found.count];
        if (!describe(network, &network->parameters[i], l)) continue;
        l->cost = cost_of(&graph, l);
        l->scores = zn_arena_alloc(&found.arena, (size_t)l->width * sizeof *l->scores);
        l->keep = zn_arena_alloc(&found.arena, (size_t)l->width * sizeof *l->keep);
        room = l->scores && l->keep;
        for (int64_t c = 0; room && c < l->width; c++) l->keep[c] = true;
        found.count++;
    }
    zn_graph_free(&graph);
    if (!room) {
        zn_arena_free(&found.arena);
        return zn_fail_memory(err, bytes);
    }
    *out = found;
    return ZENITH_OK;
}

void zn_inner_layers_free(zn_inner_layers *layers)
{
    zn_arena_free(&layers->arena);
    *layers = (zn_inner_layers){.count = 0};
}

// --- blocks -------------------------------------------------------------------------------------

static bool new_layout(const zn_network *network, int block, char layout[ZN_LAYOUT_SIZE], int *last)
{
    const zn_pruning *pruning = zn_pruning_of(network->family);
    return pruning && pruning->without_block &&
           pruning->without_block(network->variant, network->part,
                                  *network->layout ? network->layout : NULL, block, layout, last);
}

bool zn_network_has_block(const zn_network *network, int block)
{
    char layout[ZN_LAYOUT_SIZE];
    int last;
    return new_layout(network, block, layout, &last);
}

zenith_status zn_network_without_block(const zn_network *network, int block, zn_network *out,
                                       zn_error *err)
{
    zn_network n = *network;
    int last = 0;
    n.parameters = NULL;
    n.count = n.capacity = 0;
    if (!new_layout(network, block, n.layout, &last))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s has no block %d to leave out",
                       network->variant->name, block);
    ZN_TRY(zn_array_reserve((void **)&n.parameters, &n.capacity, network->count,
                            sizeof *n.parameters, err));
    for (size_t i = 0; i < network->count; i++) {
        const char *rest, *name = network->parameters[i].name;
        const int number = block_of(network, name, &rest);
        if (number == block) continue;
        zn_train_parameter *p = &n.parameters[n.count++];
        *p = network->parameters[i];
        if (number > block && number <= last)
            zn_text_format(p->name, sizeof p->name, "%s%d%s", network->part->prefix, number - 1,
                           rest);
    }
    *out = n;
    return ZENITH_OK;
}

// --- channels -----------------------------------------------------------------------------------

static int64_t kept_of(const zn_inner_layer *layer)
{
    int64_t kept = 0;
    for (int64_t c = 0; c < layer->width; c++) kept += layer->keep[c];
    return kept;
}

// What is left out of a parameter: rows by the layer it belongs to, columns by the one before.
typedef struct cut {
    const zn_inner_layer *rows, *columns; // NULL: nothing
} cut;

static cut cut_of(const zn_inner_layers *layers, const zn_train_parameter *p)
{
    cut c = {NULL, NULL};
    for (size_t i = 0; i < layers->count; i++) {
        const zn_inner_layer *l = &layers->layers[i];
        if (strcmp(p->name, l->weight->name) == 0 || strcmp(p->name, l->bias->name) == 0)
            c.rows = l;
        if (strcmp(p->name, l->outgoing->name) == 0) c.columns = l;
    }
    return c;
}

static void gather(const zn_train_parameter *from, cut c, float *dst)
{
    const zn_shape *shape = &from->tensor.desc.shape; // [out, in, kh, kw] or [out]
    const int64_t rows = shape->rank > 0 ? shape->dim[0] : 1;
    const int64_t columns = shape->rank == 4 ? shape->dim[1] : 1;
    const size_t piece = from->elements / (size_t)(rows * columns);
    const float *src = from->tensor.data;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++, src += piece) {
            if (c.rows && !c.rows->keep[row]) continue;
            if (c.columns && !c.columns->keep[column]) continue;
            memcpy(dst, src, piece * sizeof *dst);
            dst += piece;
        }
}

zenith_status zn_network_narrow(const zn_network *network, const zn_inner_layers *layers,
                                zn_network *out, float **block, zn_error *err)
{
    zn_network n = *network;
    n.parameters = NULL;
    n.capacity = 0;
    ZN_TRY(
        zn_array_reserve((void **)&n.parameters, &n.capacity, n.count, sizeof *n.parameters, err));
    for (size_t i = 0; i < n.count; i++) {
        zn_train_parameter *p = &n.parameters[i];
        *p = network->parameters[i];
        const cut c = cut_of(layers, p);
        zn_shape *shape = &p->tensor.desc.shape;
        if (c.rows) shape->dim[0] = kept_of(c.rows);
        if (c.columns) shape->dim[1] = kept_of(c.columns);
        zn_shape_elements(shape, &p->elements); // no more than it had
    }
    const size_t elements = zn_network_place(&n, 0);
    float *values = zn_alloc_zero(elements * sizeof *values);
    if (!values) {
        zn_network_free(&n);
        return zn_fail_memory(err, elements * sizeof *values);
    }
    for (size_t i = 0; i < n.count; i++) {
        zn_train_parameter *p = &n.parameters[i];
        gather(&network->parameters[i], cut_of(layers, p), values + p->offset);
        p->tensor.data = values + p->offset;
    }
    *out = n;
    *block = values;
    return ZENITH_OK;
}
