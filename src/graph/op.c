// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds for every operator: default row rule and cost, and the reference of fused ones, which
// is their expansion evaluated node by node.
#include "src/graph/op.h"

#include "src/base/memory.h"

#include <string.h>

void zn_lowering_free(zn_lowering *self)
{
    zn_free(self);
}

zenith_status zn_lowering_keep(const void *made, size_t bytes, zn_lowering **out, zn_error *err)
{
    zn_lowering *kept = zn_alloc(bytes);
    if (!kept) return zn_fail_memory(err, bytes);
    memcpy(kept, made, bytes);
    *out = kept;
    return ZENITH_OK;
}

zn_rows zn_node_rows(const zn_node *node, int input, zn_rows out)
{
    return node->op->rows ? node->op->rows(node, input, out) : out;
}

bool zn_node_is_barrier(const zn_node *node)
{
    return node->kind == ZN_NODE_OP && (node->op->traits & ZN_OP_BARRIER);
}

double zn_node_flops(const zn_node *node)
{
    if (!node->op) return 0;
    if (node->op->flops) return node->op->flops(node);
    size_t elements = 0;
    return zn_shape_elements(&node->desc.shape, &elements) ? (double)elements : 0;
}

zn_want zn_node_wants(const zn_node *node, int input)
{
    const zn_op *op = node->op;
    if (!zn_node_is_map(node->inputs[input])) return ZN_WANT_STORED;
    if (op->wants) return op->wants(node, input);
    // Input 0 is what the operator works on. Others are taken as they are: a residual is added as it
    // is stored, whatever the result's type.
    if (input > 0 || (op->traits & ZN_OP_FIXED)) return ZN_WANT_STORED;
    if (op->traits & ZN_OP_FOLLOWS) return ZN_WANT_COPY;
    return op->traits & ZN_OP_MATMUL ? ZN_WANT_MATMUL : ZN_WANT_FLOAT;
}

zn_want zn_wants_two_factors(const zn_node *node, int input)
{
    (void)node;
    return input < 2 ? ZN_WANT_PRODUCT : ZN_WANT_STORED;
}

// The value of each node of an expansion: leaves are the caller's tensors, the rest is owned here.
static zenith_status evaluate(const zn_graph *graph, const zn_tensor *inputs, zn_tensor *values,
                              zn_tensor *output, zn_error *err)
{
    int next_input = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        if (node->kind != ZN_NODE_OP) {
            values[i] = inputs[next_input++];
            continue;
        }
        zn_tensor arguments[ZN_MAX_INPUTS];
        for (int j = 0; j < node->inputs_count; j++) arguments[j] = values[node->inputs[j]->id];
        if (node == graph->outputs[0]) {
            node->op->reference(node, arguments, output);
            return ZENITH_OK;
        }
        size_t bytes = 0;
        if (!zn_desc_bytes(&node->desc, &bytes)) return zn_fail_memory(err, SIZE_MAX);
        values[i] = (zn_tensor){.desc = node->desc, .data = zn_alloc(bytes)};
        if (!values[i].data) return zn_fail_memory(err, bytes);
        node->op->reference(node, arguments, &values[i]);
    }
    return zn_fail(err, ZENITH_INTERNAL, "the expansion has no output");
}

// Inner values of an expansion are f32 whatever the result's type, unless they are copies: a fused
// operator rounds once.
static zenith_status reference_by_expansion(const zn_node *node, const zn_tensor *inputs,
                                            zn_tensor *output, zn_error *err)
{
    zn_graph graph;
    zn_graph_begin(&graph, err);
    zn_node *leaves[ZN_MAX_INPUTS] = {0};
    for (int i = 0; i < node->inputs_count; i++) {
        const zn_node *input = node->inputs[i];
        leaves[i] = input->kind == ZN_NODE_PARAMETER
                        ? zn_graph_parameter(&graph, input->name, input->constant)
                        : zn_graph_input(&graph, input->name, inputs[i].desc);
    }
    zn_node *root = node->op->expand(&graph, node, leaves);
    if (root) zn_graph_output(&graph, root);
    zn_tensor *values = NULL;
    zenith_status status = ZENITH_OK;
    ZN_GO(zn_graph_finish(&graph));
    for (size_t i = 0; i < graph.count; i++) {
        zn_node *inner = graph.nodes[i];
        if (inner->kind != ZN_NODE_OP) continue;
        const bool copies = inner->op->traits & ZN_OP_FOLLOWS;
        const zn_desc *as = inner == root ? &node->desc : copies ? &inner->inputs[0]->desc : NULL;
        inner->desc.type = as ? as->type : ZN_F32;
        inner->desc.scale = as ? as->scale : 1;
    }
    values = zn_alloc_zero(sizeof *values * graph.count);
    if (!values) {
        status = zn_fail_memory(err, sizeof *values * graph.count);
        goto fail;
    }
    ZN_GO(evaluate(&graph, inputs, values, output, err));
fail:
    for (size_t i = 0; values && i < graph.count; i++) {
        if (graph.nodes[i]->kind == ZN_NODE_OP) zn_free(values[i].data);
    }
    zn_free(values);
    zn_graph_free(&graph);
    return status;
}

zenith_status zn_node_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output,
                                zn_error *err)
{
    if (node->op->expand) return reference_by_expansion(node, inputs, output, err);
    node->op->reference(node, inputs, output);
    return ZENITH_OK;
}
