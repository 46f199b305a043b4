// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table by number: tokens become vectors. The table may have a hundred thousand rows, so it is
// read where it lies, a row at a time, and not packed. Numbers are rounded to whole ones; those outside
// the table give zeros.
#include "src/base/memory.h"
#include "src/op/convert_parallel.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/token/embed_rows.h"

#include <string.h>

enum { IDS, TABLE, INPUTS };

typedef struct embed_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_conversion convert; // of a row of the table
    size_t part_bytes, parts;
} embed_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_ids(node, IDS, err));
    const zn_shape *table = &node->inputs[TABLE]->desc.shape;
    if (table->rank != 2 || table->dim[0] < 1 || table->dim[1] < 1)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "embed needs a table [rows, channels]");
    const int64_t *ids = node->inputs[IDS]->desc.shape.dim;
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(ids[0], ids[1], ids[2], table->dim[1]));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t rows = node->inputs[TABLE]->desc.shape.dim[0];
    const size_t channels = (size_t)node->desc.shape.dim[3], count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const int64_t row = zn_embed_row(zn_value_get(&inputs[IDS], i / channels), rows);
        const size_t at = (size_t)row * channels + i % channels;
        zn_value_set(output, i, row < 0 ? 0 : zn_value_get(&inputs[TABLE], at));
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct job {
    const embed_lowering *lowering;
    const zn_call *call;
    const uint8_t *table;
    size_t tokens;
} job;

// A parameter may lie at any address: its row is copied to one that is aligned first.
static void embed_token(const job *j, size_t token, uint8_t *part)
{
    const embed_lowering *l = j->lowering;
    const zn_desc *ids = &l->node->inputs[IDS]->desc;
    const int64_t row = zn_embed_row(zn_embed_id(ids, j->call->inputs[IDS], token),
                                     l->node->inputs[TABLE]->desc.shape.dim[0]);
    const size_t channels = (size_t)l->node->desc.shape.dim[3];
    uint8_t *dst = (uint8_t *)j->call->output + token * channels * zn_type_size(l->convert.to);
    if (row < 0) {
        memset(dst, 0, channels * zn_type_size(l->convert.to));
        return;
    }
    const zn_row_source *rows = l->node->inputs[TABLE]->constant.rows;
    const size_t bytes = channels * zn_type_size(l->convert.from);
    if (rows)
        rows->read(rows, row, row + 1, (float *)(void *)part);
    else
        memcpy(part, j->table + (size_t)row * bytes, bytes);
    l->convert.run(part, l->convert.from_scale, dst, l->convert.to_scale, channels);
}

static void run_parts(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const embed_lowering *l = j->lowering;
    for (size_t part = begin; part < end; part++) {
        uint8_t *scratch = (uint8_t *)j->call->scratch + part * l->part_bytes;
        for (size_t i = part; i < j->tokens && !zn_call_stopped(j->call); i += l->parts)
            embed_token(j, i, scratch);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const embed_lowering *l = (const embed_lowering *)base;
    const zn_node *table = l->node->inputs[TABLE];
    const bool parameter = table->kind == ZN_NODE_PARAMETER;
    job j = {l, call, parameter ? table->constant.data : call->inputs[TABLE],
             (size_t)(call->rows * l->node->desc.shape.dim[2])};
    zn_parallel(call->team, l->parts, 1, run_parts, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *table = &node->inputs[TABLE]->desc, *y = &node->desc;
    const size_t row = (size_t)y->shape.dim[3] * zn_type_size(table->type);
    embed_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "rows"},
                           .node = node,
                           .part_bytes = zn_round_up(row, ZN_ALIGN),
                           .parts = (size_t)request->threads};
    made.base.scratch_bytes = made.parts * made.part_bytes;
    ZN_TRY(zn_conversion_make(request->kernels, table->type, table->scale, y->type, y->scale,
                              &made.convert, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_want wants(const zn_node *node, int input)
{
    (void)node, (void)input;
    return ZN_WANT_STORED; // a number that bf16 rounds is another row's
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == IDS) return NULL;
    return zn_graph_add(graph, &zn_op_embed_gradient, node->name,
                        (zn_node *[]){dy, node->inputs[IDS]}, 2,
                        &(zn_embed_gradient_attributes){node->inputs[TABLE]->desc.shape.dim[0]});
}

// clang-format off
#define SAMPLE(label, h, w, rows, channels, bits)                                                  \
    {.name = label, .inputs_count = INPUTS, .inputs = {{4, {1, h, w, 1}}, {2, {rows, channels}}},  \
     .parameters = bits}
// clang-format on
static const zn_op_sample samples[] = {
    SAMPLE("one", 1, 1, 1, 1, 2),
    SAMPLE("tokens", 19, 1, 3, 133, 2),
    SAMPLE("picture", 4, 5, 2, 17, 0),
};

const zn_op zn_op_embed = {
    .name = "embed",
    .summary = "rows of a table by number",
    .traits = ZN_OP_TAKES_ROWS,
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .wants = wants,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_embed(zn_graph *graph, const char *name, zn_node *ids, zn_node *table)
{
    return zn_graph_add(graph, &zn_op_embed, name, (zn_node *[]){ids, table}, INPUTS, NULL);
}
