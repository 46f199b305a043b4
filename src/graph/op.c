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

static void run_part(const zn_lowering *self, const zn_call *call, size_t pieces, size_t part)
{
    uint8_t *scratch = (uint8_t *)call->scratch + self->parts_at + part * self->part_bytes;
    const size_t step = self->runs ? 1 : self->parts;
    const size_t end = self->runs ? (part + 1) * pieces / self->parts : pieces;
    for (size_t i = self->runs ? part * pieces / self->parts : part; i < end; i += step) {
        if (zn_call_stopped(call)) return;
        self->piece(self, call, i, scratch);
    }
}

typedef struct job {
    const zn_lowering *lowering;
    const zn_call *call;
    size_t pieces;
} job;

static void run_one(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    (void)end; // tiles are of one
    if (j->lowering->parts)
        run_part(j->lowering, j->call, j->pieces, begin);
    else if (!zn_call_stopped(j->call))
        j->lowering->piece(j->lowering, j->call, begin, NULL);
}

void zn_lowering_run_pieces(const zn_lowering *self, const zn_call *call, size_t pieces)
{
    job j = {self, call, pieces};
    zn_parallel(call->team, self->parts ? self->parts : pieces, 1, run_one, &j);
}

zenith_status zn_lowering_run_all(const zn_lowering *self, const zn_call *call, zn_error *err)
{
    (void)err;
    zn_lowering_run_pieces(self, call, self->pieces ? self->pieces : (size_t)call->rows);
    return ZENITH_OK;
}

zenith_status zn_lowering_part(zn_lowering *self, const zn_lowering_request *request, size_t at,
                               size_t part_bytes, zn_error *err)
{
    self->parts = (size_t)request->threads;
    self->parts_at = at;
    self->part_bytes = part_bytes;
    if (!zn_mul_size(part_bytes, self->parts, &self->scratch_bytes) ||
        !zn_add_size(self->scratch_bytes, at, &self->scratch_bytes))
        return zn_fail_memory(err, SIZE_MAX);
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

bool zn_node_is_layer(const zn_node *node)
{
    if (node->kind != ZN_NODE_OP || node->inputs_count < 2) return false;
    const zn_node *weights = node->inputs[1];
    if (weights->kind != ZN_NODE_PARAMETER) return false;
    return weights->desc.shape.rank >= 4 || (node->op->traits & ZN_OP_LAYER);
}

size_t zn_node_sums(const zn_node *node)
{
    size_t elements = 0;
    if (node->op->sums) return node->op->sums(node);
    return zn_shape_elements(&node->desc.shape, &elements) ? elements : 0;
}

double zn_node_flops(const zn_node *node)
{
    if (!node->op) return 0;
    if (node->op->flops) return node->op->flops(node);
    size_t elements = 0;
    const double work = node->op->work > 1 ? node->op->work : 1;
    const zn_node *of = node->op->add_row ? node->inputs[0] : node;
    return zn_shape_elements(&of->desc.shape, &elements) ? work * (double)elements : 0;
}

zn_want zn_node_wants(const zn_node *node, int input)
{
    const zn_op *op = node->op;
    if (!zn_node_is_map(node->inputs[input])) return ZN_WANT_STORED;
    if (op->wants) return op->wants(node, input);
    // Input 0 is what the operator works on. Others are taken as they are: a residual is added as
    // it is stored, whatever the result's type.
    if (input > 0 || (op->traits & ZN_OP_FIXED)) return ZN_WANT_STORED;
    if (op->traits & ZN_OP_FOLLOWS) return ZN_WANT_COPY;
    return op->traits & ZN_OP_MATMUL ? ZN_WANT_MATMUL : ZN_WANT_FLOAT;
}

zn_want zn_wants_stored(const zn_node *node, int input)
{
    (void)node, (void)input;
    return ZN_WANT_STORED;
}

zn_want zn_wants_float(const zn_node *node, int input)
{
    (void)node, (void)input;
    return ZN_WANT_FLOAT;
}

zn_want zn_wants_product(const zn_node *node, int input)
{
    (void)node, (void)input;
    return ZN_WANT_PRODUCT;
}

zn_want zn_wants_two_factors(const zn_node *node, int input)
{
    (void)node;
    return input < 2 ? ZN_WANT_PRODUCT : ZN_WANT_STORED;
}

// --- references by rows -------------------------------------------------------------------------

static size_t elements_of(const zn_tensor *tensor)
{
    size_t count = 0;
    return zn_shape_elements(&tensor->desc.shape, &count) ? count : 0;
}

static int64_t rows_of(const zn_node *node)
{
    return zn_node_is_map(node) ? node->desc.shape.dim[0] * node->desc.shape.dim[1] : 1;
}

static float *widened(const zn_tensor *tensor)
{
    const size_t count = elements_of(tensor);
    float *values = zn_alloc(count * sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = zn_type_load(tensor->desc.type, tensor->data, i) * tensor->desc.scale;
    return values;
}

// What one row of the result, or one of the rows that are added, takes of its inputs.
static void take_row(const zn_node *node, float *const *whole, int64_t row, const float **inputs)
{
    for (int i = 0; i < node->inputs_count; i++) {
        const zn_node *from = node->inputs[i];
        const int64_t *dim = from->desc.shape.dim;
        const int64_t first = node->op->add_row
                                  ? row
                                  : zn_node_rows(node, i, (zn_rows){row, row + 1}).begin;
        inputs[i] = whole[i] + (zn_node_is_map(from) ? (size_t)(first * dim[2] * dim[3]) : 0);
    }
}

static void compute_rows(const zn_node *node, float *const *whole, double *sums, float *dst)
{
    const zn_op *op = node->op;
    const float *inputs[ZN_MAX_INPUTS] = {0};
    const int64_t rows = rows_of(op->add_row ? node->inputs[0] : node);
    const size_t count = elements_of(&(zn_tensor){.desc = node->desc});
    for (int64_t row = 0; row < rows; row++) {
        float *to = dst + (size_t)row * (count / (size_t)rows);
        take_row(node, whole, row, inputs);
        if (op->add_row)
            op->add_row(node, inputs, sums);
        else if (op->row)
            op->row(node, inputs, to);
        else
            op->placed_row(node, inputs, row, to);
    }
    if (!op->add_row) return;
    if (op->finish) op->finish(node, inputs, sums, dst);
    for (size_t i = 0; i < count && !op->finish; i++) dst[i] = (float)sums[i];
}

static zenith_status reference_by_rows(const zn_node *node, const zn_tensor *inputs,
                                       zn_tensor *output, zn_error *err)
{
    const size_t count = elements_of(output), sums_count = zn_node_sums(node);
    float *whole[ZN_MAX_INPUTS] = {0}, *dst = zn_alloc_zero(count * sizeof *dst);
    double *sums = zn_alloc_zero(sums_count * sizeof *sums);
    bool there = dst && sums;
    for (int i = 0; i < node->inputs_count; i++) {
        whole[i] = widened(&inputs[i]);
        there = there && whole[i];
    }
    if (there) compute_rows(node, whole, sums, dst);
    for (size_t i = 0; there && i < count; i++)
        zn_type_store(output->desc.type, output->data, i, dst[i] / output->desc.scale);
    for (int i = 0; i < node->inputs_count; i++) zn_free(whole[i]);
    zn_free(sums);
    zn_free(dst);
    return there ? ZENITH_OK : zn_fail_memory(err, count * sizeof *dst);
}

// --- references by expansion --------------------------------------------------------------------

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
        if (node == graph->outputs[0]) return zn_node_reference(node, arguments, output, err);
        size_t bytes = 0;
        if (!zn_desc_bytes(&node->desc, &bytes)) return zn_fail_memory(err, SIZE_MAX);
        values[i] = (zn_tensor){.desc = node->desc, .data = zn_alloc(bytes)};
        if (!values[i].data) return zn_fail_memory(err, bytes);
        ZN_TRY(zn_node_reference(node, arguments, &values[i], err));
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
    if (!node->op->reference) return reference_by_rows(node, inputs, output, err);
    node->op->reference(node, inputs, output);
    return ZENITH_OK;
}
