// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of attention with respect to its queries: rows like those of the queries, from dy, q
// and the packed keys. attention_rows.h has the formulas.
#include "src/op/operator.h"
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

// --- lowering: blocks of queries of a head -------------------------------------------------------

static void store(const queries_lowering *l, const zn_call *call, int64_t head, int64_t first,
                  int64_t count, const float *dq)
{
    const zn_attention_shape *s = &l->rows.shape;
    const zn_conversion *narrow = &l->narrow;
    for (int64_t i = 0; i < count; i++) {
        const size_t at = (size_t)(((first + i) * s->heads + head) * s->width);
        narrow->run(dq + i * s->padded_width, 1,
                    (char *)call->output + at * zn_type_size(narrow->to), narrow->to_scale,
                    (size_t)s->width);
    }
}

enum { MOST = ZN_ATTENTION_GRADIENT_ROWS };

static int64_t blocks_of(const queries_lowering *l)
{
    return (l->rows.queries + MOST - 1) / MOST;
}

static void compute_block(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const queries_lowering *l = (const queries_lowering *)base;
    const zn_attention_rows *rows = &l->rows;
    const zn_attention_part part = zn_attention_part_of(rows, scratch);
    const int64_t head = (int64_t)index / blocks_of(l), columns = rows->queries / call->rows;
    const int64_t first = (int64_t)index % blocks_of(l) * MOST;
    const zn_attention_shape *s = &rows->shape;
    const int64_t key_head = head / (s->heads / s->key_heads), left = rows->queries - first;
    const int64_t at = first * s->padded_width, token = call->row * columns + first;
    float totals[3][MOST];
    const zn_attention_gradient_queries_args a = {
        .rows = left < MOST ? left : MOST,
        .width = s->width,
        .tokens = s->keys,
        .seen = token + s->keys - s->queries + 1,
        .causal = s->causal,
        .scale = (float)s->scale,
        .q = zn_attention_form_of(rows, call, ZN_ATTENTION_Q, ZN_ATTENTION_ROWS, head) + at,
        .dy = zn_attention_form_of(rows, call, ZN_ATTENTION_DY, ZN_ATTENTION_ROWS, head) + at,
        .keys = zn_attention_form_of(rows, call, ZN_ATTENTION_K, ZN_ATTENTION_TOKENS_PANELS,
                                     key_head),
        .values = zn_attention_form_of(rows, call, ZN_ATTENTION_V, ZN_ATTENTION_TOKENS_PANELS,
                                       key_head),
        .keys_across = zn_attention_form_of(rows, call, ZN_ATTENTION_K,
                                            ZN_ATTENTION_CHANNELS_PANELS, key_head),
        .totals = {totals[0], totals[1], totals[2]},
        .dq = part.sums[0],
        .state = part.state};
    rows->kernel->queries(&a);
    store(l, call, head, first, a.rows, a.dq);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const queries_lowering *l = (const queries_lowering *)base;
    zn_attention_rows_load(&l->rows, call);
    zn_lowering_run_pieces(base, call, (size_t)(l->rows.shape.heads * blocks_of(l)));
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    static const unsigned forms[ZN_ATTENTION_MATRICES] = {
        [ZN_ATTENTION_K] = 1 << ZN_ATTENTION_TOKENS_PANELS | 1 << ZN_ATTENTION_CHANNELS_PANELS,
        [ZN_ATTENTION_V] = 1 << ZN_ATTENTION_TOKENS_PANELS};
    queries_lowering made = {
        .base = {.run = run, .free = zn_lowering_free, .piece = compute_block}};
    ZN_TRY(zn_attention_rows_make(request, request->rows, forms, &made.base, &made.rows, err));
    ZN_TRY(zn_conversion_narrow(request, &made.narrow, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

const zn_op zn_op_attention_gradient_queries = {
    .name = "attention_gradient_queries",
    .summary = "the gradient of attention with respect to its queries",
    .attributes_size = sizeof(zn_attention_node_attributes),
    .traits = ZN_OP_STOPS, // between blocks of queries
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = zn_attention_gradient_flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = {zn_attention_gradient_samples, ZN_ATTENTION_SAMPLES},
};
