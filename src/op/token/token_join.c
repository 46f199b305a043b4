// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tokens of several maps, one after the other, as one sequence: what attention over all of them
// looks at. A vector may fill it up to a round number of tokens. The places of tokens move by other
// amounts for each map, so it is a barrier.
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"

enum { MOST_MAPS = 4, MOST_TOKENS = 1 << 24 };

static int maps_of(const zn_node *node)
{
    return node->inputs_count - ((const zn_token_join_attributes *)node->attributes)->filled;
}

static int64_t tokens_of(const zn_node *map)
{
    return map->desc.shape.dim[1] * map->desc.shape.dim[2];
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_token_join_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1 + a->filled, MOST_MAPS + a->filled, err));
    const int64_t channels = node->inputs[0]->desc.shape.dim[3];
    int64_t tokens = 0;
    for (int i = 0; i < maps_of(node); i++) {
        ZN_TRY(zn_check_map(node, i, err));
        ZN_TRY(zn_check_wide_floats(node, i, err));
        const zn_node *map = node->inputs[i];
        const int64_t count = tokens_of(map);
        if (map->desc.shape.dim[3] != channels || count > MOST_TOKENS)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "token_join: %lld tokens of %lld channels beside ones of %lld",
                           (long long)count, (long long)map->desc.shape.dim[3],
                           (long long)channels);
        tokens += count;
    }
    if (a->filled) ZN_TRY(zn_check_vector(node, maps_of(node), channels, err));
    if (a->filled ? a->tokens < tokens || a->tokens > MOST_TOKENS : a->tokens != tokens)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "token_join: %lld tokens do not make a sequence of %lld", (long long)tokens,
                       (long long)a->tokens);
    zn_infer_like_input(node);
    node->desc.shape = ZN_SHAPE(1, a->tokens, 1, channels);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int maps = maps_of(node);
    const size_t channels = (size_t)node->desc.shape.dim[3], all = zn_value_count(output);
    size_t next = 0;
    for (int m = 0; m < maps; m++) {
        const size_t count = zn_value_count(&inputs[m]);
        for (size_t i = 0; i < count; i++)
            zn_value_set(output, next++, zn_value_get(&inputs[m], i));
    }
    for (; next < all; next++)
        zn_value_set(output, next, zn_value_get(&inputs[maps], next % channels));
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct piece {
    zn_conversion copy;
    size_t values;
} piece;

typedef struct join_lowering {
    zn_lowering base;
    int maps;
    piece pieces[MOST_MAPS];
    const float *constant;   // the filler, if it is a parameter
    zn_conversion narrow;    // of the filler
    size_t channels, filled; // tokens that it fills
} join_lowering;

typedef struct job {
    const join_lowering *lowering;
    const float *filler;
    uint8_t *dst;
} job;

static void fill_tokens(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const join_lowering *l = j->lowering;
    const size_t bytes = l->channels * zn_type_size(l->narrow.to);
    for (size_t i = begin; i < end; i++)
        l->narrow.run(j->filler, 1, j->dst + i * bytes, l->narrow.to_scale, l->channels);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const join_lowering *l = (const join_lowering *)base;
    uint8_t *dst = call->output;
    for (int i = 0; i < l->maps; i++) {
        const piece *p = &l->pieces[i];
        zn_conversion_run(&p->copy, call->team, call->inputs[i], dst, p->values);
        dst += p->values * zn_type_size(p->copy.to);
    }
    if (!l->filled) return ZENITH_OK;
    job j = {l, l->constant ? l->constant : call->inputs[l->maps], dst};
    zn_parallel(call->team, l->filled, 1, fill_tokens, &j);
    return ZENITH_OK;
}

static zenith_status prepare(join_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *y = &node->desc;
    l->maps = maps_of(node);
    l->channels = (size_t)y->shape.dim[3];
    l->filled = (size_t)y->shape.dim[1];
    for (int i = 0; i < l->maps; i++) {
        const size_t tokens = (size_t)tokens_of(node->inputs[i]);
        l->pieces[i].values = tokens * l->channels;
        l->filled -= tokens;
        ZN_TRY(zn_conversion_pass(request, i, &l->pieces[i].copy, err));
    }
    ZN_TRY(zn_conversion_narrow(request, &l->narrow, err));
    if (l->maps == node->inputs_count) return ZENITH_OK;
    const zn_node *filler = node->inputs[l->maps];
    if (filler->kind != ZN_NODE_PARAMETER) return ZENITH_OK;
    return zn_pack_vector(request->packs, &filler->constant, (const void **)&l->constant, err);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    join_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "kernel"}};
    ZN_TRY(prepare(&made, request, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

// A map gets its own tokens; the filler the sum of those that it fills.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    int64_t first = 0;
    for (int i = 0; i < input; i++) first += tokens_of(node->inputs[i]);
    if (input < maps_of(node)) {
        const int64_t *dim = node->inputs[input]->desc.shape.dim;
        return zn_token_slice(graph, node->name, dy,
                              (zn_token_slice_attributes){first, dim[1], dim[2]});
    }
    const int64_t filled = node->desc.shape.dim[1] - first;
    if (filled ==
        0) // it is nowhere, and a network that has it for other sizes is trained all the same
        return zn_channel_sum(graph, node->name, zn_affine(graph, node->name, dy, 0, 0));
    zn_node *its = zn_token_slice(graph, node->name, dy,
                                  (zn_token_slice_attributes){first, filled, 1});
    return zn_channel_sum(graph, node->name, its);
}

static const zn_token_join_attributes one = {1, false}, two = {27, false}, filled = {32, true},
                                      full = {20, true};

const zn_op zn_op_token_join = {
    .name = "token_join",
    .summary = "the tokens of maps one after the other, filled up by a vector",
    .attributes_size = sizeof(zn_token_join_attributes),
    .traits = ZN_OP_BARRIER | ZN_OP_TABLE,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .wants = zn_wants_float,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("token", &one, 0, ZN_MAP(1, 1, 3)),
        ZN_SAMPLE("maps", &two, 0, ZN_MAP(4, 5, 33), ZN_MAP(7, 1, 33)),
        ZN_SAMPLE("filled", &filled, 4, ZN_MAP(4, 5, 16), ZN_MAP(3, 1, 16), ZN_VECTOR(16)),
        ZN_SAMPLE("filled by a value", &filled, 0, ZN_MAP(5, 1, 7), ZN_VECTOR(7)),
        ZN_SAMPLE("full", &full, 2, ZN_MAP(4, 5, 6), ZN_VECTOR(6))),
};

zn_node *zn_token_join(zn_graph *graph, const char *name, zn_node *const *maps, int count,
                       zn_node *filler, int64_t tokens)
{
    zn_node *inputs[MOST_MAPS + 1];
    const zn_token_join_attributes attributes = {tokens, filler != NULL};
    if (count > MOST_MAPS) {
        if (graph->status == ZENITH_OK)
            graph->status = zn_fail(graph->err, ZENITH_INTERNAL,
                                    "token_join '%s' of %d maps: %d are the most", name, count,
                                    MOST_MAPS);
        return NULL;
    }
    for (int i = 0; i < count; i++) inputs[i] = maps[i];
    if (filler) inputs[count] = filler;
    return zn_graph_add(graph, &zn_op_token_join, name, inputs, count + (filler != NULL),
                        &attributes);
}
