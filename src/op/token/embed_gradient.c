// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of embed with respect to the table: each row gets the sum of dy over the tokens that name
// it, [rows, channels]. Threads share the channels and each goes through all tokens in order, so the
// order of every sum is that of the tokens.
#include "src/op/convert_parallel.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"
#include "src/op/token/embed_rows.h"

#include <string.h>

enum { DY, IDS, INPUTS, BLOCK = 64 }; // BLOCK: channels that a thread takes at a time

typedef struct scatter_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_conversion widen;
} scatter_lowering;

typedef struct job {
    const scatter_lowering *lowering;
    const zn_call *call;
    size_t tokens, channels;
} job;

static int64_t rows_of(const zn_node *node)
{
    return ((const zn_embed_gradient_attributes *)node->attributes)->rows;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_ids(node, IDS, err));
    const int64_t *dy = node->inputs[DY]->desc.shape.dim, *ids = node->inputs[IDS]->desc.shape.dim;
    if (dy[1] != ids[1] || dy[2] != ids[2] || rows_of(node) < 1)
        return zn_fail(err, ZENITH_INTERNAL, "embed_gradient: numbers of other tokens");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(rows_of(node), dy[3]));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t channels = (size_t)output->desc.shape.dim[1], count = zn_value_count(output);
    const size_t tokens = zn_value_count(&inputs[IDS]);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t token = 0; token < tokens; token++) {
            const int64_t row = zn_embed_row(zn_value_get(&inputs[IDS], token), rows_of(node));
            if (row == (int64_t)(i / channels))
                sum += (double)zn_value_get(&inputs[DY], token * channels + i % channels);
        }
        zn_value_set(output, i, (float)sum);
    }
}

static void add_block(const job *j, size_t first, size_t count)
{
    const scatter_lowering *l = j->lowering;
    const zn_desc *ids = &l->node->inputs[IDS]->desc;
    const int64_t rows = rows_of(l->node);
    const size_t size = zn_type_size(l->widen.from);
    float *table = (float *)j->call->output + first, wide[BLOCK];
    for (int64_t row = 0; row < rows; row++)
        memset(table + (size_t)row * j->channels, 0, count * sizeof *table);
    for (size_t token = 0; token < j->tokens; token++) {
        const int64_t row = zn_embed_row(zn_embed_id(ids, j->call->inputs[IDS], token), rows);
        if (row < 0) continue;
        const uint8_t *dy = (const uint8_t *)j->call->inputs[DY] +
                            (token * j->channels + first) * size;
        l->widen.run(dy, l->widen.from_scale, wide, 1, count);
        for (size_t i = 0; i < count; i++) table[(size_t)row * j->channels + i] += wide[i];
    }
}

static void run_blocks(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    for (size_t block = begin; block < end && !zn_call_stopped(j->call); block++) {
        const size_t first = block * BLOCK, rest = j->channels - first;
        add_block(j, first, rest < BLOCK ? rest : BLOCK);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const scatter_lowering *l = (const scatter_lowering *)base;
    const int64_t *dim = l->node->inputs[DY]->desc.shape.dim;
    job j = {l, call, (size_t)(dim[1] * dim[2]), (size_t)dim[3]};
    zn_parallel(call->team, (j.channels + BLOCK - 1) / BLOCK, 1, run_blocks, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_desc *dy = &request->node->inputs[DY]->desc;
    scatter_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "scatter"},
                             .node = request->node};
    ZN_TRY(zn_conversion_make(request->kernels, dy->type, dy->scale, ZN_F32, 1, &made.widen, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static const zn_embed_gradient_attributes one = {1}, three = {3}, two = {2};
// clang-format off
#define SAMPLE(label, h, w, c, attribute)                                                          \
    {.name = label, .inputs_count = INPUTS, .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, 1}}},      \
     .attributes = &(attribute)}
// clang-format on
static const zn_op_sample samples[] = {
    SAMPLE("one", 1, 1, 1, one),
    SAMPLE("tokens", 19, 1, 133, three),
    SAMPLE("picture", 4, 5, 17, two),
};

const zn_op zn_op_embed_gradient = {
    .name = "embed_gradient",
    .summary = "the gradient of embed with respect to the table",
    .attributes_size = sizeof(zn_embed_gradient_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_flops_of_input,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
