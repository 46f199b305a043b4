// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of attention with respect to its packed keys and values, in f32 and in the order that
// f32 has. A barrier: every query adds to every key that it sees, in the order of the queries.
// attention_rows.h has the formulas.
#include "src/base/memory.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"
#include "src/op/token/attention_rows.h"

typedef struct keys_lowering {
    zn_lowering base;
    zn_attention_rows rows; // and after them in the scratch: the totals of each head of each query
} keys_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_attention_gradient_check(node, err));
    node->desc = zn_desc_make(ZN_F32, node->inputs[ZN_ATTENTION_PACKED]->desc.shape);
    return ZENITH_OK;
}

// Both gradients of one key of one key head.
typedef struct key_sums {
    double k[ZN_ATTENTION_WIDTH], v[ZN_ATTENTION_WIDTH];
} key_sums;

static void store_sums(const zn_attention_shape *s, const key_sums *sums, int64_t key_head,
                       int64_t key, float *dst)
{
    for (int64_t c = 0; c < s->width; c++) {
        dst[zn_attention_index(s, ZN_F32, false, key_head, key, c)] = (float)(s->scale *
                                                                              sums->k[c]);
        dst[zn_attention_index(s, ZN_F32, true, key_head, key, c)] = (float)sums->v[c];
    }
}

static void refer(const zn_attention_shape *s, const zn_tensor *inputs, int64_t key_head,
                  int64_t key, key_sums *sums)
{
    const int64_t group = s->heads / s->key_heads;
    for (int64_t head = key_head * group; head < (key_head + 1) * group; head++) {
        for (int64_t query = 0; query < s->queries; query++) {
            if (key >= zn_attention_visible(s, query)) continue;
            const zn_attention_totals totals = zn_attention_totals_refer(s, inputs, query, head);
            const zn_attention_pair pair = zn_attention_pair_refer(s, inputs, query, head, key,
                                                                   totals);
            for (int64_t c = 0; c < s->width; c++) {
                const size_t at = (size_t)((query * s->heads + head) * s->width + c);
                sums->k[c] += pair.ds * (double)zn_value_get(&inputs[ZN_ATTENTION_Q], at);
                sums->v[c] += pair.p * (double)zn_value_get(&inputs[ZN_ATTENTION_DY], at);
            }
        }
    }
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_attention_shape s = zn_attention_shape_of(node, ZN_ATTENTION_Q);
    memset(output->data, 0, zn_value_count(output) * sizeof(float));
    for (int64_t head = 0; head < s.key_heads; head++) {
        for (int64_t key = 0; key < s.keys; key++) {
            key_sums sums = {0};
            refer(&s, inputs, head, key, &sums);
            store_sums(&s, &sums, head, key, output->data);
        }
    }
}

// --- lowering: first the totals of each query, then a key at a time ---------------------------------

typedef struct job {
    const zn_call *call;
    zn_attention_view view;
    zn_attention_totals *totals; // [queries][heads]
} job;

static void make_totals(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const size_t heads = (size_t)j->view.shape->heads;
    for (size_t i = begin; i < end && !zn_call_stopped(j->call); i++)
        j->totals[i] = zn_attention_totals_of(&j->view, (int64_t)(i / heads), (int64_t)(i % heads));
}

static void add_query(const job *j, int64_t query, int64_t head, int64_t key, key_sums *sums)
{
    const zn_attention_shape *s = j->view.shape;
    const zn_attention_pair pair = zn_attention_pair_of(&j->view, query, head, key,
                                                        j->totals[query * s->heads + head]);
    const float *q = zn_attention_query(&j->view, j->view.q, query, head);
    const float *dy = zn_attention_query(&j->view, j->view.dy, query, head);
    for (int64_t c = 0; c < s->width; c++) {
        sums->k[c] += pair.ds * (double)q[c];
        sums->v[c] += pair.p * (double)dy[c];
    }
}

static void make_keys(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const zn_attention_shape *s = j->view.shape;
    const int64_t group = s->heads / s->key_heads;
    for (size_t i = begin; i < end && !zn_call_stopped(j->call); i++) {
        const int64_t key_head = (int64_t)i / s->keys, key = (int64_t)i % s->keys;
        key_sums sums = {0};
        for (int64_t head = key_head * group; head < (key_head + 1) * group; head++)
            for (int64_t query = 0; query < s->queries; query++)
                if (key < zn_attention_visible(s, query)) add_query(j, query, head, key, &sums);
        store_sums(s, &sums, key_head, key, j->call->output);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const keys_lowering *l = (const keys_lowering *)base;
    const zn_attention_shape *s = &l->rows.shape;
    zn_call whole = *call; // a result that is no map has no rows, its inputs have
    whole.row = 0;
    whole.rows = 1;
    job j = {call, zn_attention_rows_load(&l->rows, &whole),
             (void *)((uint8_t *)call->scratch + l->rows.bytes)};
    memset(call->output, 0, 2 * (size_t)s->key_heads * zn_attention_head(s) * sizeof(float));
    zn_parallel(call->team, (size_t)(s->queries * s->heads), 1, make_totals, &j);
    zn_parallel(call->team, (size_t)(s->key_heads * s->keys), 1, make_keys, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const int64_t rows = request->node->inputs[ZN_ATTENTION_Q]->desc.shape.dim[1];
    keys_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){.run = run, .free = zn_lowering_free, .id = "double"};
    const zenith_status status = zn_attention_rows_make(request, rows, &l->rows, err);
    if (status != ZENITH_OK) {
        zn_free(l);
        return status;
    }
    const size_t totals = (size_t)(l->rows.shape.queries * l->rows.shape.heads);
    l->base.scratch_bytes = l->rows.bytes + totals * sizeof(zn_attention_totals);
    *out = &l->base;
    return ZENITH_OK;
}

const zn_op zn_op_attention_gradient_keys = {
    .name = "attention_gradient_keys",
    .summary = "the gradient of attention with respect to its packed keys and values",
    .attributes_size = sizeof(zn_attention_node_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_attention_gradient_flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = zn_attention_gradient_samples,
    .samples_count = 3,
};
