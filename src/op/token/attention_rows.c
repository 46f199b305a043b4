// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See attention_rows.h.
#include "src/op/token/attention_rows.h"

#include "src/base/memory.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { DY = ZN_ATTENTION_DY, Q = ZN_ATTENTION_Q, PACKED = ZN_ATTENTION_PACKED };

zenith_status zn_attention_gradient_check(const zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, ZN_ATTENTION_INPUTS, ZN_ATTENTION_INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_wide_floats(node, DY, err));
    ZN_TRY(zn_check_same_shape(node, DY, Q, err));
    return zn_attention_check(node, Q, PACKED, err);
}

// Five products of each query and key: two of them are made twice.
double zn_attention_gradient_flops(const zn_node *node)
{
    const zn_attention_shape s = zn_attention_shape_of(node, Q);
    return 14 * (double)s.queries * (double)s.keys * (double)(s.heads * s.width);
}

zenith_status zn_attention_rows_make(const zn_lowering_request *request, int64_t rows,
                                     zn_attention_rows *out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_attention_shape s = zn_attention_shape_of(node, Q);
    *out = (zn_attention_rows){.shape = s,
                               .keys_type = node->inputs[PACKED]->desc.type,
                               .keys_scale = node->inputs[PACKED]->desc.scale,
                               .queries = rows * node->inputs[Q]->desc.shape.dim[2]};
    for (int i = DY; i <= Q; i++) {
        const zn_desc *desc = &node->inputs[i]->desc;
        ZN_TRY(zn_conversion_make(request->cpu.isa, desc->type, desc->scale, ZN_F32, 1,
                                  &out->widen[i], err));
    }
    out->keys_at = 2 * (size_t)(out->queries * s.heads * s.width);
    const size_t keys = 2 * (size_t)(s.key_heads * s.keys * s.width);
    out->bytes = zn_round_up((out->keys_at + keys) * sizeof(float), ZN_ALIGN);
    return ZENITH_OK;
}

zn_attention_view zn_attention_rows_load(const zn_attention_rows *rows, const zn_call *call)
{
    const zn_attention_shape *s = &rows->shape;
    const size_t count = rows->keys_at / 2, keys = (size_t)(s->key_heads * s->keys * s->width);
    float *dy = call->scratch, *q = dy + count, *k = dy + rows->keys_at;
    zn_conversion_run(&rows->widen[DY], call->team, call->inputs[DY], dy, count);
    zn_conversion_run(&rows->widen[Q], call->team, call->inputs[Q], q, count);
    size_t next = 0;
    for (int value = 0; value < 2; value++)
        for (int64_t head = 0; head < s->key_heads; head++)
            for (int64_t key = 0; key < s->keys; key++)
                for (int64_t c = 0; c < s->width; c++)
                    k[next++] = zn_type_load(rows->keys_type, call->inputs[PACKED],
                                             zn_attention_index(s, rows->keys_type, value == 1,
                                                                head, key, c)) *
                                rows->keys_scale;
    return (zn_attention_view){s, dy, q, k, k + keys, call->row * (rows->queries / call->rows)};
}

static double product_of(const zn_attention_view *view, const float *map, const float *keys,
                         int64_t i, int64_t head, int64_t key)
{
    return zn_row_product(zn_attention_query(view, map, i, head),
                          zn_attention_key(view, keys, head, key), (size_t)view->shape->width);
}

// The totals without a second look at the keys: all three are scaled down where a score is larger.
zn_attention_totals zn_attention_totals_of(const zn_attention_view *view, int64_t i, int64_t head)
{
    const int64_t seen = zn_attention_visible(view->shape, view->token + i);
    double largest = -INFINITY, total = 0, sum = 0;
    for (int64_t key = 0; key < seen; key++) {
        const double score = product_of(view, view->q, view->k, i, head, key) * view->shape->scale;
        const double dp = product_of(view, view->dy, view->v, i, head, key);
        if (score > largest) {
            const double down = exp(largest - score);
            total *= down;
            sum *= down;
            largest = score;
        }
        const double p = exp(score - largest);
        total += p;
        sum += p * dp;
    }
    return (zn_attention_totals){largest + log(total), sum / total};
}

zn_attention_pair zn_attention_pair_of(const zn_attention_view *view, int64_t i, int64_t head,
                                       int64_t key, zn_attention_totals totals)
{
    const double score = product_of(view, view->q, view->k, i, head, key) * view->shape->scale;
    const double p = exp(score - totals.log_total);
    return (zn_attention_pair){
        p, p * (product_of(view, view->dy, view->v, i, head, key) - totals.mean)};
}

// --- references ---------------------------------------------------------------------------------

static double product_refer(const zn_attention_shape *s, const zn_tensor *inputs, int map,
                            int64_t query, int64_t head, int64_t key)
{
    const int64_t key_head = head / (s->heads / s->key_heads);
    double sum = 0;
    for (int64_t c = 0; c < s->width; c++) {
        const size_t at = zn_attention_index(s, inputs[PACKED].desc.type, map == DY, key_head, key,
                                             c);
        sum += (double)zn_value_get(&inputs[map],
                                    (size_t)((query * s->heads + head) * s->width + c)) *
               (double)zn_value_get(&inputs[PACKED], at);
    }
    return sum;
}

zn_attention_totals zn_attention_totals_refer(const zn_attention_shape *s, const zn_tensor *inputs,
                                              int64_t query, int64_t head)
{
    const int64_t seen = zn_attention_visible(s, query);
    double largest = -INFINITY, total = 0, sum = 0;
    for (int64_t key = 0; key < seen; key++)
        largest = fmax(largest, product_refer(s, inputs, Q, query, head, key) * s->scale);
    for (int64_t key = 0; key < seen; key++) {
        const double p = exp(product_refer(s, inputs, Q, query, head, key) * s->scale - largest);
        total += p;
        sum += p * product_refer(s, inputs, DY, query, head, key);
    }
    return (zn_attention_totals){largest + log(total), sum / total};
}

zn_attention_pair zn_attention_pair_refer(const zn_attention_shape *s, const zn_tensor *inputs,
                                          int64_t query, int64_t head, int64_t key,
                                          zn_attention_totals totals)
{
    const double score = product_refer(s, inputs, Q, query, head, key) * s->scale;
    const double p = exp(score - totals.log_total);
    return (zn_attention_pair){p,
                               p * (product_refer(s, inputs, DY, query, head, key) - totals.mean)};
}

static const zn_attention_node_attributes token = {{1, 1, false, 0}, 1},
                                          grouped = {{4, 2, false, 0}, 37},
                                          causal = {{1, 1, true, 0.25f}, 40};
const zn_op_sample zn_attention_gradient_samples[3] = {
    {.name = "token",
     .inputs_count = ZN_ATTENTION_INPUTS,
     .inputs = {{4, {1, 1, 1, 1}}, {4, {1, 1, 1, 1}}, {3, {2, 1, 1024}}},
     .attributes = &token},
    {.name = "grouped",
     .inputs_count = ZN_ATTENTION_INPUTS,
     .inputs = {{4, {1, 5, 3, 20}}, {4, {1, 5, 3, 20}}, {3, {2, 2, 2048}}},
     .attributes = &grouped},
    {.name = "causal",
     .inputs_count = ZN_ATTENTION_INPUTS,
     .inputs = {{4, {1, 23, 1, 33}}, {4, {1, 23, 1, 33}}, {3, {2, 1, 4096}}},
     .attributes = &causal},
};
