// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of attention with respect to its queries: rows like those of the queries, from dy, q and
// the packed keys. attention_rows.h has the formulas.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/token/attention_rows.h"

typedef struct queries_lowering {
    zn_lowering base;
    zn_attention_rows rows;
    zn_conversion narrow;
} queries_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_attention_gradient_check(node, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void refer(const zn_attention_shape *s, const zn_tensor *inputs, int64_t query, int64_t head,
                  zn_tensor *output)
{
    const zn_tensor *packed = &inputs[ZN_ATTENTION_PACKED];
    const zn_attention_totals totals = zn_attention_totals_refer(s, inputs, query, head);
    double sums[ZN_ATTENTION_WIDTH] = {0};
    for (int64_t key = 0; key < zn_attention_visible(s, query); key++) {
        const double ds = zn_attention_pair_refer(s, inputs, query, head, key, totals).ds;
        for (int64_t c = 0; c < s->width; c++) {
            const size_t at = zn_attention_index(s, packed->desc.type, false,
                                                 head / (s->heads / s->key_heads), key, c);
            sums[c] += ds * (double)zn_value_get(packed, at);
        }
    }
    for (int64_t c = 0; c < s->width; c++)
        zn_value_set(output, (size_t)((query * s->heads + head) * s->width + c),
                     (float)(s->scale * sums[c]));
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_attention_shape s = zn_attention_shape_of(node, ZN_ATTENTION_Q);
    for (int64_t query = 0; query < s.queries; query++)
        for (int64_t head = 0; head < s.heads; head++) refer(&s, inputs, query, head, output);
}

// --- lowering: a query at a time -------------------------------------------------------------------

typedef struct job {
    const queries_lowering *lowering;
    const zn_call *call;
    zn_attention_view view;
} job;

static void compute_head(const zn_attention_view *view, int64_t i, int64_t head, float *dst)
{
    const zn_attention_shape *s = view->shape;
    const int64_t seen = zn_attention_visible(s, view->token + i);
    const zn_attention_totals totals = zn_attention_totals_of(view, i, head);
    double sums[ZN_ATTENTION_WIDTH] = {0};
    for (int64_t key = 0; key < seen; key++) {
        const double ds = zn_attention_pair_of(view, i, head, key, totals).ds;
        const float *k = zn_attention_key(view, view->k, head, key);
        for (int64_t c = 0; c < s->width; c++) sums[c] += ds * (double)k[c];
    }
    for (int64_t c = 0; c < s->width; c++) dst[c] = (float)(s->scale * sums[c]);
}

static void compute(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const zn_attention_shape *s = j->view.shape;
    const zn_conversion *narrow = &j->lowering->narrow;
    for (size_t i = begin; i < end && !zn_call_stopped(j->call); i++) {
        for (int64_t head = 0; head < s->heads; head++) {
            float row[ZN_ATTENTION_WIDTH];
            const size_t at = (i * (size_t)s->heads + (size_t)head) * (size_t)s->width;
            compute_head(&j->view, (int64_t)i, head, row);
            narrow->run(row, 1, (uint8_t *)j->call->output + at * zn_type_size(narrow->to),
                        narrow->to_scale, (size_t)s->width);
        }
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const queries_lowering *l = (const queries_lowering *)base;
    job j = {l, call, zn_attention_rows_load(&l->rows, call)};
    zn_parallel(call->team, (size_t)l->rows.queries, 1, compute, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_desc *dst = &request->node->desc;
    queries_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "double"}};
    ZN_TRY(zn_attention_rows_make(request, request->rows, &made.rows, err));
    ZN_TRY(
        zn_conversion_make(request->cpu.isa, ZN_F32, 1, dst->type, dst->scale, &made.narrow, err));
    made.base.scratch_bytes = made.rows.bytes;
    return zn_lowering_keep(&made, sizeof made, out, err);
}

const zn_op zn_op_attention_gradient_queries = {
    .name = "attention_gradient_queries",
    .summary = "the gradient of attention with respect to its queries",
    .attributes_size = sizeof(zn_attention_node_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = zn_attention_gradient_flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = zn_attention_gradient_samples,
    .samples_count = 3,
};
