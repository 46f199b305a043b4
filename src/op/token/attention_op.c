// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax(scale q k^T) v for each head: rows of queries against the packed keys and values of
// attention_keys.c, which are whole. kernel/attention/attention.h has the algorithm. Threads share
// blocks of queries of a head; keys are at fixed places, so the bits depend on neither rows of a
// call nor threads.
#include "src/base/text.h"
#include "src/kernel/kernels.h"
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"
#include "src/op/token/attention_shape.h"

#include <math.h>

enum { Q, KEYS, INPUTS };
enum { STRETCH = 8 * ZN_ATTENTION_KEYS }; // keys between two looks at the cancel flag

typedef struct attention_lowering {
    zn_lowering base;
    zn_attention_shape shape;
    zn_attention_fn *kernel;
    zn_type type; // of keys and values
    float scale;  // of scores
    zn_conversion widen, narrow;
    int64_t columns; // queries of a row
    int64_t block;   // queries of a block
} attention_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_attention_check(node, Q, KEYS, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static double score_of(const zn_attention_shape *s, const zn_tensor *inputs, int64_t query,
                       int64_t head, int64_t key)
{
    const int64_t key_head = head / (s->heads / s->key_heads);
    double sum = 0;
    for (int64_t c = 0; c < s->width; c++) {
        const size_t at = zn_attention_index(s, inputs[KEYS].desc.type, false, key_head, key, c);
        sum += (double)zn_value_get(&inputs[Q],
                                    (size_t)((query * s->heads + head) * s->width + c)) *
               (double)zn_value_get(&inputs[KEYS], at);
    }
    return sum * s->scale;
}

// One head of one query.
static void refer(const zn_attention_shape *s, const zn_tensor *inputs, int64_t query, int64_t head,
                  zn_tensor *output)
{
    const int64_t key_head = head / (s->heads / s->key_heads),
                  seen = zn_attention_visible(s, query);
    double sums[ZN_ATTENTION_WIDTH] = {0}, largest = -INFINITY, total = 0;
    for (int64_t key = 0; key < seen; key++)
        largest = fmax(largest, score_of(s, inputs, query, head, key));
    for (int64_t key = 0; key < seen; key++) {
        const double p = exp(score_of(s, inputs, query, head, key) - largest);
        total += p;
        for (int64_t c = 0; c < s->width; c++) {
            const size_t at = zn_attention_index(s, inputs[KEYS].desc.type, true, key_head, key, c);
            sums[c] += p * (double)zn_value_get(&inputs[KEYS], at);
        }
    }
    for (int64_t c = 0; c < s->width; c++)
        zn_value_set(output, (size_t)((query * s->heads + head) * s->width + c),
                     (float)(sums[c] / total));
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_attention_shape s = zn_attention_shape_of(node, Q);
    for (int64_t query = 0; query < s.queries; query++) {
        for (int64_t head = 0; head < s.heads; head++) refer(&s, inputs, query, head, output);
    }
}

// --- lowering -----------------------------------------------------------------------------------

// Where head `head` of query `query` of the call is, in elements of q and of the result.
static size_t place_of(const attention_lowering *l, int64_t query, int64_t head)
{
    return (size_t)((query * l->shape.heads + head) * l->shape.width);
}

static void load_queries(const attention_lowering *l, const zn_call *call, int64_t first,
                         int64_t head, const zn_attention_args *a, float *q)
{
    const size_t padded = (size_t)l->shape.padded_width, width = (size_t)l->shape.width;
    memset(q, 0, (size_t)a->queries * padded * sizeof *q);
    for (int64_t i = 0; i < a->queries; i++) {
        const size_t at = place_of(l, first + i, head) * zn_type_size(l->widen.from);
        l->widen.run((const uint8_t *)call->inputs[Q] + at, l->widen.from_scale,
                     q + (size_t)i * padded, 1, width);
    }
}

static void store_results(const attention_lowering *l, const zn_call *call, int64_t first,
                          int64_t head, const zn_attention_args *a)
{
    const size_t padded = (size_t)l->shape.padded_width, width = (size_t)l->shape.width;
    for (int64_t i = 0; i < a->queries; i++) {
        const size_t at = place_of(l, first + i, head) * zn_type_size(l->narrow.to);
        l->narrow.run(a->sums + (size_t)i * padded, l->narrow.from_scale,
                      (uint8_t *)call->output + at, l->narrow.to_scale, width);
    }
}

static int64_t blocks_of(const attention_lowering *l, const zn_call *call)
{
    return (call->rows * l->columns + l->block - 1) / l->block;
}

// One block of queries of one head, in a part of the scratch: q, sums, and the kernel's state.
static void run_block(const zn_lowering *base, const zn_call *call, size_t index, void *part)
{
    const attention_lowering *l = (const attention_lowering *)base;
    const zn_attention_shape *s = &l->shape;
    const int64_t blocks = blocks_of(l, call), head = (int64_t)index / blocks;
    const int64_t first = (int64_t)index % blocks * l->block;
    const int64_t left = call->rows * l->columns - first,
                  key_head = head / (s->heads / s->key_heads);
    const size_t bytes = zn_attention_head(s) * zn_type_size(l->type);
    const uint8_t *keys = (const uint8_t *)call->inputs[KEYS] + (size_t)key_head * bytes;
    float *q = part;
    float *sums = q + l->block * s->padded_width;
    const int64_t token = call->row * l->columns + first;
    const zn_attention_args a = {.type = l->type,
                                 .queries = left < l->block ? left : l->block,
                                 .width = s->width,
                                 .tokens = s->keys,
                                 .seen = token + s->keys - s->queries + 1,
                                 .causal = s->causal,
                                 .scale = l->scale,
                                 .q = q,
                                 .keys = keys,
                                 .values = keys + (size_t)s->key_heads * bytes,
                                 .sums = sums,
                                 .state = (void *)(sums + l->block * s->padded_width)};
    load_queries(l, call, first, head, &a, q);
    for (int64_t key = 0; key < s->keys && !zn_call_stopped(call); key += STRETCH)
        l->kernel(&a, key, key + STRETCH);
    store_results(l, call, first, head, &a);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const attention_lowering *l = (const attention_lowering *)base;
    zn_lowering_run_pieces(base, call, (size_t)(l->shape.heads * blocks_of(l, call)));
    return ZENITH_OK;
}

static zenith_status fill(attention_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *q = &node->inputs[Q]->desc, *keys = &node->inputs[KEYS]->desc, *y = &node->desc;
    l->shape = zn_attention_shape_of(node, Q);
    l->type = keys->type;
    l->kernel = q->type == ZN_BF16 && l->type == ZN_BF16 ? request->kernels->attention_bf16
                                                         : request->kernels->attention;
    l->scale = (float)(l->shape.scale * (double)keys->scale);
    l->columns = l->shape.queries / q->shape.dim[1];
    // q and sums of a block share the second-level cache with the keys that pass by.
    l->block = l->shape.padded_width > 512   ? ZN_ATTENTION_QUERIES / 4
               : l->shape.padded_width > 256 ? ZN_ATTENTION_QUERIES / 2
                                             : ZN_ATTENTION_QUERIES;
    ZN_TRY(zn_conversion_widen(request, Q, &l->widen, err));
    ZN_TRY(zn_conversion_make(request->kernels, ZN_F32, keys->scale, y->type, y->scale, &l->narrow,
                              err));
    const size_t block = (size_t)(l->block * l->shape.padded_width) * sizeof(float);
    return zn_lowering_part(&l->base, request, 0,
                            zn_round_up(2 * block + sizeof(zn_attention_state), ZN_ALIGN), err);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    attention_lowering made = {
        .base = {.run = run, .free = zn_lowering_free, .id = "kernel", .piece = run_block}};
    ZN_TRY(fill(&made, request, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

// Two products with every key (half of them where causal, about).
static double flops(const zn_node *node)
{
    const zn_attention_shape s = zn_attention_shape_of(node, Q);
    const double pairs = (double)s.queries * (double)s.keys;
    return 4 * pairs * (double)(s.heads * s.width);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    zn_node *inputs[] = {dy, node->inputs[Q], node->inputs[KEYS]};
    const zn_op *op = input == Q ? &zn_op_attention_gradient_queries
                                 : &zn_op_attention_gradient_keys;
    return zn_graph_add(graph, op, node->name, inputs, 3, node->attributes);
}

static const zn_attention_node_attributes token = {{1, 1, false, 0, false}, 1},
                                          grouped = {{4, 2, false, 0, false}, 37},
                                          causal = {{1, 1, true, 0.25f, false}, 150},
                                          wide = {{1, 1, false, 0, false}, 3},
                                          columns = {{2, 1, true, 0, true}, 40};

const zn_op zn_op_attention = {
    .name = "attention",
    .summary = "softmax of the products with all keys, times the values, for each head",
    .attributes_size = sizeof(zn_attention_node_attributes),
    .traits = ZN_OP_STOPS, // between stretches of keys
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .wants = zn_wants_product,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("token", &token, 0, ZN_MAP(1, 1, 1), {3, {2, 1, 1024}}),
                          ZN_SAMPLE("grouped", &grouped, 0, ZN_MAP(5, 3, 20), {3, {2, 2, 2048}}),
                          ZN_SAMPLE("causal", &causal, 0, ZN_MAP(23, 1, 33), {3, {2, 1, 10240}}),
                          ZN_SAMPLE("wide", &wide, 0, ZN_MAP(1, 2, 640), {3, {2, 1, 20480}}),
                          ZN_SAMPLE("columns", &columns, 0, ZN_MAP(9, 3, 20), {3, {2, 3, 2048}})),
};

zn_node *zn_attention(zn_graph *graph, const char *name, zn_node *q, zn_node *k, zn_node *v,
                      zn_attention_attributes attributes)
{
    char label[256];
    zn_text_format(label, sizeof label, "%s.keys", name ? name : "");
    const zn_attention_keys_attributes keys_attributes = {.key_heads = attributes.key_heads,
                                                          .apart = attributes.columns};
    zn_node *keys = zn_graph_pair(graph, &zn_op_attention_keys, label, k, v, &keys_attributes);
    if (!keys) return NULL; // k may be missing too: the graph keeps the reason
    const int64_t *dim = k->desc.shape.dim;
    const zn_attention_node_attributes all = {attributes,
                                              attributes.columns ? dim[1] : dim[1] * dim[2]};
    return zn_graph_pair(graph, &zn_op_attention, name, q, keys, &all);
}
