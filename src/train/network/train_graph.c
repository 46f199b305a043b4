// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/network/train_graph.h"

#include "src/graph/gradient.h"
#include "src/op/ops.h"

#include <string.h>

static const char *const scalar_names[ZN_TRAIN_SCALARS] = {"loss_scale", "adversary", "noise"};

// More work for recomputation: in theory a third computes every map twice.
static const double recompute_share = 0.3;

typedef struct creating {
    zn_train_building building;
    const zn_train_builder *builder;
} creating;

const char *zn_train_scalar_name(zn_train_scalar which)
{
    return scalar_names[which];
}

// --- what tasks call ----------------------------------------------------------------------------

static zn_node **room(zn_train_building *b, const zn_network *network, size_t *count)
{
    const size_t begin = b->count + b->opponents;
    for (size_t i = 0; i < network->count; i++) b->sources[begin + i] = &network->parameters[i];
    *count += network->count;
    return b->parameters + begin;
}

zn_node **zn_train_parameters(zn_train_building *b, const zn_network *network)
{
    return room(b, network, &b->count);
}

zn_node **zn_train_opponents(zn_train_building *b, const zn_network *network)
{
    return room(b, network, &b->opponents);
}

void zn_train_keep(zn_train_building *b, const zn_node *value)
{
    if (value && b->kept_count < ZN_TRAIN_KEPT) b->kept[b->kept_count++] = value;
}

// --- gradients and outputs ----------------------------------------------------------------------

static zn_node *scaled(zn_train_building *b, zn_node *loss)
{
    if (b->config->dtype != ZN_F16) return loss;
    if (!b->loss_scale)
        b->loss_scale = zn_graph_scalar(b->graph, scalar_names[ZN_TRAIN_LOSS_SCALE]);
    return zn_scale(b->graph, "scaled", loss, b->loss_scale);
}

// Of the trained networks by the loss, of the opponent by its own; how many there are of both.
static size_t build_gradients(zn_train_building *b, zn_node **results)
{
    zn_graph_gradients(b->graph, scaled(b, b->loss), b->parameters, b->count, zn_add, results);
    if (!b->opponent) return b->count;
    zn_graph_gradients(b->graph, scaled(b, b->opponent), b->parameters + b->count, b->opponents,
                       zn_add, results + b->count);
    return b->count + b->opponents;
}

static void put_number(zn_train_building *b, zn_node *number, zn_train_graph *out)
{
    if (!number) return;
    zn_graph_output(b->graph, number);
    out->numbers++;
}

static void build_outputs(zn_train_building *b, zn_node **results, zn_train_graph *out)
{
    const size_t count = b->gradients ? build_gradients(b, results) : 0;
    if (b->graph->status != ZENITH_OK) return;
    put_number(b, b->loss, out);
    for (size_t i = 0; i < b->config->losses_count; i++) put_number(b, b->losses[i], out);
    put_number(b, b->error, out);
    put_number(b, b->opponent, out);
    const zn_shape *shape = &b->result->desc.shape;
    (void)!zn_shape_elements(shape, &out->result_elements); // the node has been made
    out->result_row = shape->rank == 4 ? out->result_elements / (size_t)shape->dim[1]
                                       : out->result_elements;
    if (!b->gradients) zn_graph_output(b->graph, b->result);
    for (size_t i = 0; i < count; i++) {
        if (!results[i]) continue; // the loss does not depend on it
        out->gradients[out->gradients_count++] = b->sources[i];
        zn_graph_output(b->graph, results[i]);
    }
}

// --- types --------------------------------------------------------------------------------------

// The gradient of its producer's input has the same name, but not the shape.
static bool is_value(const zn_node *node, const zn_node *value)
{
    return strcmp(node->name, value->name) == 0 &&
           zn_shape_equal(&node->desc.shape, &value->desc.shape);
}

static zn_precision precision(void *cookie, const zn_node *node)
{
    const creating *c = cookie;
    const zn_train_building *b = &c->building;
    for (int i = 0; i < b->kept_count; i++)
        if (is_value(node, b->kept[i])) return ZN_PRECISION_STORED;
    return c->builder->precision(b, node);
}

static zenith_status finish(const creating *c, bool recomputes, const zn_cpu *cpu,
                            zn_train_graph *out, zn_error *err)
{
    const zn_type_policy policy = {.type = (zn_type)c->building.config->dtype,
                                   .precision = precision,
                                   .cookie = (void *)(uintptr_t)c,
                                   .convert = zn_convert_as};
    zn_graph fused = {0}, typed = {0}, whole = {0};
    zn_graph *last = recomputes ? &whole : &out->graph;
    zenith_status status;
    ZN_GO(zn_graph_finish(&out->plain));
    ZN_GO(zn_pass_fuse(&out->plain, zn_ops, zn_ops_count, NULL, &fused, err));
    ZN_GO(zn_pass_types(&fused, &policy, &typed, err));
    ZN_GO(zn_pass_fuse(&typed, zn_ops, zn_ops_count, cpu, last, err));
    if (recomputes) ZN_GO(zn_pass_recompute(&whole, recompute_share, &out->graph, err));
fail:
    zn_graph_free(&whole);
    zn_graph_free(&fused);
    zn_graph_free(&typed);
    return status;
}

static void find_leaves(zn_train_graph *out)
{
    for (size_t i = 0; i < out->graph.count; i++) {
        const zn_node *node = out->graph.nodes[i];
        if (node->kind == ZN_NODE_INPUT && out->inputs_count < ZN_TRAIN_INPUTS)
            out->inputs[out->inputs_count++] = node;
        for (int k = 0; node->kind == ZN_NODE_SCALAR && k < ZN_TRAIN_SCALARS; k++)
            if (strcmp(node->name, scalar_names[k]) == 0)
                out->scalars[out->scalars_count++] = (zn_train_scalar)k;
    }
}

zenith_status zn_train_graph_create(const zn_train_config *config, const zn_train_builder *builder,
                                    bool gradients, const zn_cpu *cpu, zn_train_graph *out,
                                    zn_error *err)
{
    *out = (zn_train_graph){0};
    zn_graph *graph = &out->plain;
    zn_graph_begin(graph, err);
    const size_t most = builder->parameters;
    creating c = {.builder = builder};
    zn_train_building *b = &c.building;
    *b = (zn_train_building){.config = config,
                             .networks = builder->networks,
                             .graph = graph,
                             .gradients = gradients,
                             .parameters = zn_arena_alloc(&graph->arena, most * sizeof(zn_node *)),
                             .sources = zn_arena_alloc(&graph->arena, most * sizeof *b->sources)};
    zn_node **results = zn_arena_alloc(&graph->arena, most * sizeof(zn_node *));
    out->gradients = zn_arena_alloc(&graph->arena, most * sizeof *out->gradients);
    zenith_status status;
    if (b->parameters && b->sources && results && out->gradients) {
        builder->build(b);
        build_outputs(b, results, out);
        status = finish(&c, gradients && config->recompute, cpu, out, err);
        if (status == ZENITH_OK) find_leaves(out);
    } else {
        status = zn_fail_memory(err, most * sizeof(zn_node *));
    }
    if (status != ZENITH_OK) zn_train_graph_free(out);
    return status;
}

void zn_train_graph_free(zn_train_graph *graph)
{
    zn_graph_free(&graph->graph);
    zn_graph_free(&graph->plain);
    *graph = (zn_train_graph){0};
}
