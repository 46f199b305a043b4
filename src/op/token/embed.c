// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table by number: tokens become vectors. The table may have a hundred thousand rows, so
// it is read where it lies, a row at a time, and not packed. Numbers are rounded to whole ones;
// those outside the table give zeros.
//
// The gradient of embed with respect to the table: each row gets the sum of dy over the tokens that
// name it, [rows, channels]. Threads share the channels and each goes through all tokens in order,
// so the order of every sum is that of the tokens.
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"

#include <string.h>

enum { IDS, TABLE, INPUTS };

typedef struct embed_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_conversion convert; // of a row of the table
} embed_lowering;

// The number of a token, of a map of any type.
static float id_of(const zn_desc *ids, const void *data, size_t token)
{
    return zn_type_load(ids->type, data, token) * ids->scale;
}

// The row that a number names, -1: none of the table.
static int64_t row_of(float id, int64_t rows)
{
    if (!(id > -0.5f && id < 16777216.0f)) return -1; // f32 has no odd numbers above 2^24
    const int64_t row = (int64_t)(id + 0.5f);
    return row < rows ? row : -1;
}

// Input `input` is a map of one number for each token. It is read as it is stored: types smaller
// than f32 hold the numbers of small tables only, and nothing may round numbers to them.
static zenith_status check_ids(const zn_node *node, int input, zn_error *err)
{
    ZN_TRY(zn_check_map(node, input, err));
    const zn_desc *ids = &node->inputs[input]->desc;
    if (ids->shape.dim[3] == 1) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s needs one number for each token",
                   node->op->name);
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(check_ids(node, IDS, err));
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
        const int64_t row = row_of(zn_value_get(&inputs[IDS], i / channels), rows);
        const size_t at = (size_t)row * channels + i % channels;
        zn_value_set(output, i, row < 0 ? 0 : zn_value_get(&inputs[TABLE], at));
    }
}

// --- lowering -----------------------------------------------------------------------------------

// A parameter may lie at any address: its row is copied to one that is aligned first.
static void embed_token(const zn_lowering *base, const zn_call *call, size_t token, void *part)
{
    const embed_lowering *l = (const embed_lowering *)base;
    const zn_desc *ids = &l->node->inputs[IDS]->desc;
    const zn_node *table = l->node->inputs[TABLE];
    const int64_t row = row_of(id_of(ids, call->inputs[IDS], token), table->desc.shape.dim[0]);
    const size_t channels = (size_t)l->node->desc.shape.dim[3];
    uint8_t *dst = (uint8_t *)call->output + token * channels * zn_type_size(l->convert.to);
    if (row < 0) {
        memset(dst, 0, channels * zn_type_size(l->convert.to));
        return;
    }
    const bool parameter = table->kind == ZN_NODE_PARAMETER;
    const uint8_t *rows = parameter ? table->constant.data : call->inputs[TABLE];
    const size_t bytes = channels * zn_type_size(l->convert.from);
    if (table->constant.rows)
        table->constant.rows->read(table->constant.rows, row, row + 1, part);
    else
        memcpy(part, rows + (size_t)row * bytes, bytes);
    l->convert.run(part, l->convert.from_scale, dst, l->convert.to_scale, channels);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const embed_lowering *l = (const embed_lowering *)base;
    zn_lowering_run_pieces(base, call, (size_t)(call->rows * l->node->desc.shape.dim[2]));
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const size_t row = (size_t)node->desc.shape.dim[3] *
                       zn_type_size(node->inputs[TABLE]->desc.type);
    embed_lowering made = {
        .base = {.run = run, .free = zn_lowering_free, .id = "rows", .piece = embed_token},
        .node = node};
    ZN_TRY(zn_lowering_part(&made.base, request, 0, zn_round_up(row, ZN_ALIGN), err));
    ZN_TRY(zn_conversion_pass(request, TABLE, &made.convert, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == IDS) return NULL;
    return zn_graph_pair(graph, &zn_op_embed_gradient, node->name, dy, node->inputs[IDS],
                         &(zn_embed_gradient_attributes){node->inputs[TABLE]->desc.shape.dim[0]});
}

const zn_op zn_op_embed = {
    .name = "embed",
    .summary = "rows of a table by number",
    .traits = ZN_OP_TAKES_ROWS | ZN_OP_TABLE,
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .wants = zn_wants_stored, // a number that bf16 rounds is another row's
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("one", NULL, 2, ZN_MAP(1, 1, 1), {2, {1, 1}}),
                          ZN_SAMPLE("tokens", NULL, 2, ZN_MAP(19, 1, 1), {2, {3, 133}}),
                          ZN_SAMPLE("picture", NULL, 0, ZN_MAP(4, 5, 1), {2, {2, 17}})),
};

zn_node *zn_embed(zn_graph *graph, const char *name, zn_node *ids, zn_node *table)
{
    return zn_graph_pair(graph, &zn_op_embed, name, ids, table, NULL);
}

// --- gradient ------------------------------------------------------------------------------------

enum { DY, GRADIENT_IDS, GRADIENT_INPUTS };
enum { BLOCK = 64 }; // channels that a thread takes at a time

typedef struct scatter_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_conversion widen;
} scatter_lowering;

static int64_t rows_of(const zn_node *node)
{
    return ((const zn_embed_gradient_attributes *)node->attributes)->rows;
}

static zenith_status gradient_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, GRADIENT_INPUTS, GRADIENT_INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(check_ids(node, GRADIENT_IDS, err));
    const int64_t *dy = node->inputs[DY]->desc.shape.dim,
                  *ids = node->inputs[GRADIENT_IDS]->desc.shape.dim;
    if (dy[1] != ids[1] || dy[2] != ids[2] || rows_of(node) < 1)
        return zn_fail(err, ZENITH_INTERNAL, "embed_gradient: numbers of other tokens");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(rows_of(node), dy[3]));
    return ZENITH_OK;
}

static void gradient_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t channels = (size_t)output->desc.shape.dim[1], count = zn_value_count(output);
    const size_t tokens = zn_value_count(&inputs[GRADIENT_IDS]);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t token = 0; token < tokens; token++) {
            const int64_t row = row_of(zn_value_get(&inputs[GRADIENT_IDS], token), rows_of(node));
            if (row == (int64_t)(i / channels))
                sum += (double)zn_value_get(&inputs[DY], token * channels + i % channels);
        }
        zn_value_set(output, i, (float)sum);
    }
}

static void add_block(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    (void)scratch;
    const scatter_lowering *l = (const scatter_lowering *)base;
    const zn_desc *ids = &l->node->inputs[GRADIENT_IDS]->desc;
    const int64_t *dim = l->node->inputs[DY]->desc.shape.dim, rows = rows_of(l->node);
    const size_t tokens = (size_t)(dim[1] * dim[2]), channels = (size_t)dim[3];
    const size_t first = index * BLOCK, rest = channels - first;
    const size_t count = rest < BLOCK ? rest : BLOCK, size = zn_type_size(l->widen.from);
    float *table = (float *)call->output + first, wide[BLOCK];
    for (int64_t row = 0; row < rows; row++)
        memset(table + (size_t)row * channels, 0, count * sizeof *table);
    for (size_t token = 0; token < tokens; token++) {
        const int64_t row = row_of(id_of(ids, call->inputs[GRADIENT_IDS], token), rows);
        if (row < 0) continue;
        const uint8_t *dy = (const uint8_t *)call->inputs[DY] + (token * channels + first) * size;
        l->widen.run(dy, l->widen.from_scale, wide, 1, count);
        for (size_t i = 0; i < count; i++) table[(size_t)row * channels + i] += wide[i];
    }
}

static zenith_status gradient_lower(const zn_lowering_request *request, zn_lowering **out,
                                    zn_error *err)
{
    scatter_lowering made = {.base = ZN_LOWERING_OF_PIECES(add_block, "scatter"),
                             .node = request->node};
    const int64_t channels = request->node->desc.shape.dim[1];
    made.base.pieces = (size_t)(channels + BLOCK - 1) / BLOCK;
    ZN_TRY(zn_conversion_widen(request, DY, &made.widen, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static const zn_embed_gradient_attributes one = {1}, three = {3}, two = {2};

const zn_op zn_op_embed_gradient = {
    .name = "embed_gradient",
    .summary = "the gradient of embed with respect to the table",
    .attributes_size = sizeof(zn_embed_gradient_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = gradient_infer,
    .rows = zn_rows_whole,
    .reference = gradient_reference,
    .lower = gradient_lower,
    .flops = zn_flops_of_input,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("one", &one, 0, ZN_MAP(1, 1, 1), ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("tokens", &three, 0, ZN_MAP(19, 1, 133), ZN_MAP(19, 1, 1)),
                          ZN_SAMPLE("picture", &two, 0, ZN_MAP(4, 5, 17), ZN_MAP(4, 5, 1))),
};
