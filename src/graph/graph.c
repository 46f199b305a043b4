// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Building graphs. The first failure sticks: later builders return NULL without looking, so that a
// model can be written as straight code.
#include "src/graph/graph.h"

#include "src/graph/op.h"
#include "src/tensor/row_source.h"

#include <string.h>

void zn_graph_begin(zn_graph *graph, zn_error *err)
{
    *graph = (zn_graph){.err = err};
}

zenith_status zn_graph_finish(zn_graph *graph)
{
    if (graph->status == ZENITH_OK && graph->outputs_count == 0) {
        graph->status = zn_fail(graph->err, ZENITH_INTERNAL, "the graph has no output");
    }
    graph->err = NULL;
    return graph->status;
}

void zn_graph_free(zn_graph *graph)
{
    zn_free(graph->nodes);
    zn_free(graph->outputs);
    zn_free(graph->pushes);
    zn_arena_free(&graph->arena);
    *graph = (zn_graph){0};
}

static void *fail(zn_graph *graph, zenith_status status)
{
    if (graph->status == ZENITH_OK) graph->status = status;
    return NULL;
}

static zn_node *out_of_memory(zn_graph *graph)
{
    return fail(graph, zn_fail_memory(graph->err, sizeof(zn_node)));
}

static zn_node *append(zn_graph *graph, const zn_node *made, const char *name)
{
    zenith_status status = zn_array_reserve((void **)&graph->nodes, &graph->capacity,
                                            graph->count + 1, sizeof(zn_node *), graph->err);
    if (status != ZENITH_OK) return fail(graph, status);
    zn_node *node = zn_arena_alloc(&graph->arena, sizeof *node);
    char *kept = zn_arena_text(&graph->arena, name ? name : "");
    if (!node || !kept) return out_of_memory(graph);
    *node = *made;
    node->name = kept;
    node->id = (int)graph->count;
    graph->nodes[graph->count++] = node;
    return node;
}

static zn_node *leaf(zn_graph *graph, zn_node_kind kind, const char *name, zn_desc desc)
{
    if (graph->status != ZENITH_OK) return NULL;
    zn_node made = {.kind = kind, .desc = desc};
    if (zn_node_is_map(&made) && desc.shape.dim[0] != 1) {
        return fail(graph, zn_fail(graph->err, ZENITH_INVALID_ARGUMENT,
                                   "'%s': a map is one picture, [1, h, w, c], not %lld of them",
                                   name ? name : "", (long long)desc.shape.dim[0]));
    }
    return append(graph, &made, name);
}

zn_node *zn_graph_input(zn_graph *graph, const char *name, zn_desc desc)
{
    return leaf(graph, ZN_NODE_INPUT, name, desc);
}

zn_node *zn_graph_state(zn_graph *graph, const char *name, zn_desc desc, int age)
{
    zn_node *node = leaf(graph, ZN_NODE_STATE, name, desc);
    if (!node) return NULL;
    node->age = age;
    if (age >= 1 && node->name[0]) return node;
    return fail(graph, zn_fail(graph->err, ZENITH_INTERNAL,
                               "state '%s': a state has a name, and frames of age 1 and more",
                               node->name));
}

zn_node *zn_graph_scalar(zn_graph *graph, const char *name)
{
    return leaf(graph, ZN_NODE_SCALAR, name, zn_desc_make(ZN_F32, zn_shape_make(0, NULL)));
}

// A copy of a row source in the arena; false when there is no memory.
static bool keep_rows(zn_graph *graph, zn_tensor *constant)
{
    if (!constant->rows) return true;
    zn_row_source *copy = zn_arena_alloc(&graph->arena, constant->rows->bytes);
    if (copy) memcpy(copy, constant->rows, constant->rows->bytes);
    constant->rows = copy;
    return copy != NULL;
}

zn_node *zn_graph_parameter(zn_graph *graph, const char *name, zn_tensor constant)
{
    zn_node *node = leaf(graph, ZN_NODE_PARAMETER, name, constant.desc);
    if (!node) return NULL;
    if (!keep_rows(graph, &constant)) return out_of_memory(graph);
    node->constant = constant;
    return node;
}

// Why a value cannot be pushed, or NULL.
static const char *push_problem(const zn_graph *graph, const char *state, const zn_node *value)
{
    if (!value) return "a pushed value is missing";
    if (value->kind != ZN_NODE_OP && value->kind != ZN_NODE_INPUT)
        return "only what is computed, or an input, can be pushed";
    for (size_t i = 0; i < graph->pushes_count; i++) {
        if (graph->pushes[i].node == value) return "the value is pushed twice: share the state";
    }
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        if (node->kind != ZN_NODE_STATE || strcmp(node->name, state) != 0) continue;
        if (!zn_shape_equal(&node->desc.shape, &value->desc.shape))
            return "a value of another shape is pushed";
    }
    return NULL;
}

void zn_graph_push(zn_graph *graph, const char *state, zn_node *value)
{
    if (graph->status != ZENITH_OK) return;
    const char *problem = push_problem(graph, state, value);
    if (problem) {
        fail(graph, zn_fail(graph->err, ZENITH_INTERNAL, "state '%s': %s", state, problem));
        return;
    }
    zenith_status status = zn_array_reserve((void **)&graph->pushes, &graph->pushes_capacity,
                                            graph->pushes_count + 1, sizeof(zn_push), graph->err);
    const char *kept = zn_arena_text(&graph->arena, state);
    if (status != ZENITH_OK || !kept) {
        fail(graph, status != ZENITH_OK ? status : zn_fail_memory(graph->err, strlen(state)));
        return;
    }
    graph->pushes[graph->pushes_count++] = (zn_push){kept, value};
}

// Copies inputs and attributes into the arena; false when there is no memory.
static bool keep_arguments(zn_graph *graph, zn_node *node, zn_node *const *inputs, int inputs_count,
                           const void *attributes)
{
    zn_node **kept = zn_arena_alloc(&graph->arena, sizeof(zn_node *) * (size_t)(inputs_count + 1));
    if (!kept) return false;
    for (int i = 0; i < inputs_count; i++) kept[i] = inputs[i];
    node->inputs = kept;
    node->inputs_count = inputs_count;
    if (node->op->attributes_size == 0) return true;
    void *copy = zn_arena_alloc(&graph->arena, node->op->attributes_size);
    if (!copy) return false;
    memcpy(copy, attributes, node->op->attributes_size);
    node->attributes = copy;
    return true;
}

// The type of input 0; f32 where that is 8-bit, since a result is quantised only by a pass.
static zn_type default_type(zn_node *const *inputs, int inputs_count)
{
    zn_type type = inputs_count > 0 ? inputs[0]->desc.type : ZN_F32;
    return type == ZN_U8 || type == ZN_S8 ? ZN_F32 : type;
}

zn_node *zn_graph_add(zn_graph *graph, const zn_op *op, const char *name, zn_node *const *inputs,
                      int inputs_count, const void *attributes)
{
    if (graph->status != ZENITH_OK) return NULL;
    zn_node made = {.kind = ZN_NODE_OP, .op = op};
    if (inputs_count > ZN_MAX_INPUTS) {
        return fail(graph,
                    zn_fail(graph->err, ZENITH_INTERNAL, "%s '%s' has %d inputs, %d are the most",
                            op->name, name ? name : "", inputs_count, ZN_MAX_INPUTS));
    }
    for (int i = 0; i < inputs_count; i++) {
        if (inputs[i]) continue;
        return fail(graph, zn_fail(graph->err, ZENITH_INTERNAL, "%s '%s': input %d is missing",
                                   op->name, name ? name : "", i));
    }
    for (int i = 0; i < inputs_count; i++) {
        if (!inputs[i]->constant.rows || (op->traits & ZN_OP_TAKES_ROWS)) continue;
        return fail(graph, zn_fail(graph->err, ZENITH_UNSUPPORTED,
                                   "'%s' is stored in few bits, which %s does not compute with: "
                                   "convert the weights to bf16 first",
                                   inputs[i]->name, op->name));
    }
    if (!keep_arguments(graph, &made, inputs, inputs_count, attributes))
        return out_of_memory(graph);
    made.name = name ? name : "";
    made.desc = zn_desc_make(default_type(inputs, inputs_count), (zn_shape){0});
    zenith_status status = op->infer(&made, graph->err);
    if (status != ZENITH_OK) {
        if (graph->err) zn_error_prefix(graph->err, made.name);
        return fail(graph, status);
    }
    return append(graph, &made, name);
}

void zn_graph_take_back(zn_graph *graph, const zn_node *node)
{
    if (graph->count > 0 && graph->nodes[graph->count - 1] == node) graph->count--;
}

zn_node *zn_graph_copy(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    if (graph->status != ZENITH_OK) return NULL;
    zn_node made = *node;
    if (node->kind == ZN_NODE_OP &&
        !keep_arguments(graph, &made, inputs, node->inputs_count, node->attributes)) {
        return out_of_memory(graph);
    }
    if (!keep_rows(graph, &made.constant)) return out_of_memory(graph);
    return append(graph, &made, node->name);
}

void zn_graph_output(zn_graph *graph, zn_node *node)
{
    if (graph->status != ZENITH_OK) return;
    if (!node) {
        fail(graph, zn_fail(graph->err, ZENITH_INTERNAL, "an output is missing"));
        return;
    }
    zenith_status status = zn_array_reserve((void **)&graph->outputs, &graph->outputs_capacity,
                                            graph->outputs_count + 1, sizeof(zn_node *),
                                            graph->err);
    if (status != ZENITH_OK) {
        fail(graph, status);
        return;
    }
    graph->outputs[graph->outputs_count++] = node;
}

zn_node *zn_graph_find(const zn_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->count; i++) {
        if (strcmp(graph->nodes[i]->name, name) == 0) return graph->nodes[i];
    }
    return NULL;
}

int *zn_graph_count_uses(const zn_graph *graph, zn_arena *arena)
{
    int *uses = zn_arena_alloc(arena, sizeof(int) * (graph->count + 1));
    if (!uses) return NULL;
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        for (int j = 0; j < node->inputs_count; j++) uses[node->inputs[j]->id]++;
    }
    for (size_t i = 0; i < graph->outputs_count; i++) uses[graph->outputs[i]->id]++;
    for (size_t i = 0; i < graph->pushes_count; i++) uses[graph->pushes[i].node->id]++;
    return uses;
}
