// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of attention with respect to its packed keys and values, in f32 and in the order
// that f32 has. A barrier: every query adds to every key that it sees. attention_rows.h has the
// formulas.
#include "src/op/operator.h"
#include "src/op/token/attention_rows.h"

typedef struct keys_lowering {
    zn_lowering base;
    zn_attention_rows rows; // and after them in the scratch: the totals of the queries of each head
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

// --- lowering: first the totals of each query, then blocks of keys of a key head -----------------

enum { MOST = ZN_ATTENTION_GRADIENT_ROWS };

static const float *form_of(const keys_lowering *l, const zn_call *call, int matrix,
                            zn_attention_form form, int64_t head)
{
    return zn_attention_form_of(&l->rows, call, matrix, form, head);
}

// Of the queries of a head, from `first` on.
static zn_attention_gradient_totals totals_of(const keys_lowering *l, const zn_call *call,
                                              int64_t head, int64_t first)
{
    const zn_attention_shape *s = &l->rows.shape;
    const size_t queries = (size_t)zn_attention_padded(s->queries);
    float *all = (float *)(void *)((char *)call->scratch + l->rows.bytes);
    float *largest = all + 3 * queries * (size_t)head + first;
    return (zn_attention_gradient_totals){largest, largest + queries, largest + 2 * queries};
}

static void make_totals(const keys_lowering *l, const zn_call *call, int64_t head, int64_t first,
                        const zn_attention_part *part)
{
    const zn_attention_rows *rows = &l->rows;
    const zn_attention_shape *s = &rows->shape;
    const int64_t key_head = head / (s->heads / s->key_heads), left = s->queries - first;
    const int64_t at = first * s->padded_width;
    rows->kernel->queries(&(zn_attention_gradient_queries_args){
        .rows = left < MOST ? left : MOST,
        .width = s->width,
        .tokens = s->keys,
        .seen = first + s->keys - s->queries + 1,
        .causal = s->causal,
        .scale = (float)s->scale,
        .q = form_of(l, call, ZN_ATTENTION_Q, ZN_ATTENTION_ROWS, head) + at,
        .dy = form_of(l, call, ZN_ATTENTION_DY, ZN_ATTENTION_ROWS, head) + at,
        .keys = form_of(l, call, ZN_ATTENTION_K, ZN_ATTENTION_TOKENS_PANELS, key_head),
        .values = form_of(l, call, ZN_ATTENTION_V, ZN_ATTENTION_TOKENS_PANELS, key_head),
        .totals = totals_of(l, call, head, first),
        .state = part->state});
}

static void store(const keys_lowering *l, const zn_call *call, int64_t key_head, int64_t first,
                  int64_t count, const zn_attention_part *part)
{
    const zn_attention_shape *s = &l->rows.shape;
    float *k = (float *)call->output + (size_t)key_head * zn_attention_head(s);
    float *v = k + (size_t)s->key_heads * zn_attention_head(s);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t c = 0; c < s->width; c++) {
            const int64_t at = i * s->padded_width + c;
            k[zn_attention_place(ZN_F32, s->padded_width, first + i, c)] = part->sums[0][at];
            v[zn_attention_place(ZN_F32, s->padded_keys, c, first + i)] = part->sums[1][at];
        }
    }
}

// Every head that shares the keys adds to their gradients, in order.
static void make_keys(const keys_lowering *l, const zn_call *call, int64_t key_head, int64_t first,
                      const zn_attention_part *part)
{
    const zn_attention_rows *rows = &l->rows;
    const zn_attention_shape *s = &rows->shape;
    const int64_t left = s->keys - first, group = s->heads / s->key_heads;
    const int64_t at = first * s->padded_width;
    zn_attention_gradient_keys_args a = {
        .rows = left < MOST ? left : MOST,
        .width = s->width,
        .tokens = s->queries,
        .first = first - (s->keys - s->queries),
        .causal = s->causal,
        .scale = (float)s->scale,
        .k = form_of(l, call, ZN_ATTENTION_K, ZN_ATTENTION_ROWS, key_head) + at,
        .v = form_of(l, call, ZN_ATTENTION_V, ZN_ATTENTION_ROWS, key_head) + at,
        .dk = part->sums[0],
        .dv = part->sums[1],
        .state = part->state};
    for (int i = 0; i < 2; i++)
        memset(part->sums[i], 0, (size_t)(MOST * s->padded_width) * sizeof(float));
    for (int64_t head = key_head * group; head < (key_head + 1) * group; head++) {
        a.queries = form_of(l, call, ZN_ATTENTION_Q, ZN_ATTENTION_TOKENS_PANELS, head);
        a.dys = form_of(l, call, ZN_ATTENTION_DY, ZN_ATTENTION_TOKENS_PANELS, head);
        a.queries_across = form_of(l, call, ZN_ATTENTION_Q, ZN_ATTENTION_CHANNELS_PANELS, head);
        a.dys_across = form_of(l, call, ZN_ATTENTION_DY, ZN_ATTENTION_CHANNELS_PANELS, head);
        a.totals = totals_of(l, call, head, 0);
        rows->kernel->keys(&a);
    }
    store(l, call, key_head, first, a.rows, part);
}

static int64_t blocks_of(int64_t tokens)
{
    return (tokens + MOST - 1) / MOST;
}

// A block of queries of a head; one of keys of a key head.
static void totals_piece(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const keys_lowering *l = (const keys_lowering *)base;
    const int64_t blocks = blocks_of(l->rows.shape.queries), i = (int64_t)index;
    const zn_attention_part part = zn_attention_part_of(&l->rows, scratch);
    make_totals(l, call, i / blocks, i % blocks * MOST, &part);
}

static void keys_piece(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const keys_lowering *l = (const keys_lowering *)base;
    const int64_t blocks = blocks_of(l->rows.shape.keys), i = (int64_t)index;
    const zn_attention_part part = zn_attention_part_of(&l->rows, scratch);
    make_keys(l, call, i / blocks, i % blocks * MOST, &part);
}

static size_t totals_bytes(const zn_attention_shape *s)
{
    return 3 * (size_t)(s->heads * zn_attention_padded(s->queries)) * sizeof(float);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const keys_lowering *l = (const keys_lowering *)base;
    const zn_attention_shape *s = &l->rows.shape;
    keys_lowering first = *l;
    first.base.piece = totals_piece;
    memset(call->output, 0, 2 * (size_t)s->key_heads * zn_attention_head(s) * sizeof(float));
    memset((char *)call->scratch + l->rows.bytes, 0, totals_bytes(s));
    zn_attention_rows_load(&l->rows, call);
    zn_lowering_run_pieces(&first.base, call, (size_t)(s->heads * blocks_of(s->queries)));
    zn_lowering_run_pieces(base, call, (size_t)(s->key_heads * blocks_of(s->keys)));
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    enum { TOKENS = 1 << ZN_ATTENTION_TOKENS_PANELS, CHANNELS = 1 << ZN_ATTENTION_CHANNELS_PANELS };
    static const unsigned forms[ZN_ATTENTION_MATRICES] = {[ZN_ATTENTION_DY] = TOKENS | CHANNELS,
                                                          [ZN_ATTENTION_Q] = TOKENS | CHANNELS,
                                                          [ZN_ATTENTION_K] = TOKENS,
                                                          [ZN_ATTENTION_V] = TOKENS};
    const int64_t rows = request->node->inputs[ZN_ATTENTION_Q]->desc.shape.dim[1];
    keys_lowering made = {.base = {.run = run, .free = zn_lowering_free, .piece = keys_piece}};
    ZN_TRY(zn_attention_rows_make(request, rows, forms, &made.base, &made.rows, err));
    made.base.scratch_bytes += totals_bytes(&made.rows.shape);
    return zn_lowering_keep(&made, sizeof made, out, err);
}

const zn_op zn_op_attention_gradient_keys = {
    .name = "attention_gradient_keys",
    .summary = "the gradient of attention with respect to its packed keys and values",
    .attributes_size = sizeof(zn_attention_node_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER | ZN_OP_STOPS,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_attention_gradient_flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = {zn_attention_gradient_samples, ZN_ATTENTION_SAMPLES},
};
