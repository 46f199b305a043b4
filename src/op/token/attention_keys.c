// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys and values, packed for attention: two maps [1, h, w, key heads * width] become one value
// that is no map, so that it is whole before any query is looked at. It has the type of the keys;
// attention_op.c reads it. A barrier.
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"
#include "src/op/token/attention_shape.h"

enum { K, V, INPUTS };

typedef struct keys_lowering {
    zn_lowering base;
    zn_attention_shape shape;
    zn_type type;
    zn_conversion widen[INPUTS], narrow; // to the type and scale of the result, through f32
} keys_lowering;

static zn_attention_shape shape_of(const zn_node *node)
{
    const zn_attention_keys_attributes *a = node->attributes;
    const int64_t *dim = node->inputs[K]->desc.shape.dim;
    const int64_t apart = a->apart ? dim[2] : 1;
    zn_attention_shape s = {.keys = dim[1] * dim[2] / apart,
                            .key_heads = a->key_heads * apart,
                            .width = dim[3] / a->key_heads};
    s.padded_keys = zn_attention_padded(s.keys);
    s.padded_width = zn_attention_padded(s.width);
    return s;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_attention_keys_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, K, err));
    ZN_TRY(zn_check_same_shape(node, K, V, err));
    ZN_TRY(zn_check_wide_floats(node, K, err));
    ZN_TRY(zn_check_wide_floats(node, V, err));
    const zn_desc *k = &node->inputs[K]->desc;
    const int64_t *dim = k->shape.dim;
    if (dim[0] != 1 || dim[1] * dim[2] > ZN_ATTENTION_TOKENS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "attention takes one picture or sequence");
    if (a->key_heads < 1 || dim[3] % a->key_heads != 0 ||
        dim[3] / a->key_heads > ZN_ATTENTION_WIDTH)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%lld channels do not divide into %d heads of at most %d", (long long)dim[3],
                       a->key_heads, (int)ZN_ATTENTION_WIDTH);
    const zn_attention_shape s = shape_of(node);
    node->desc = zn_desc_make(k->type, ZN_SHAPE(2, s.key_heads, s.padded_keys * s.padded_width));
    node->desc.scale = k->scale;
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_attention_shape s = shape_of(node);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) zn_value_set(output, i, 0);
    for (int which = K; which < INPUTS; which++) {
        size_t next = 0;
        for (int64_t key = 0; key < s.keys; key++) {
            for (int64_t c = 0; c < s.key_heads * s.width; c++) {
                const size_t at = zn_attention_index(&s, output->desc.type, which == V, c / s.width,
                                                     key, c % s.width);
                zn_value_set(output, at, zn_value_get(&inputs[which], next++));
            }
        }
    }
}

// --- lowering: a panel of keys at a time, for all channels of a head -----------------------------

// A key's head to its places.
static void place_floats(const zn_attention_shape *s, bool value, int64_t head, int64_t key,
                         const float *row, float *dst)
{
    zn_attention_shape whole = *s; // with the channels that fill it up
    zn_attention_run run;
    whole.width = s->padded_width;
    for (int64_t c = 0; c < whole.width; c += run.count) {
        run = zn_attention_run_at(&whole, value, head, key, c);
        for (int64_t i = 0; i < run.count; i++) dst[run.at + (size_t)i * run.step] = row[c + i];
    }
}

static void place_halves(const zn_attention_shape *s, zn_type type, bool value, int64_t head,
                         int64_t key, const uint16_t *row, uint16_t *dst)
{
    for (int64_t c = 0; c < s->padded_width; c++)
        dst[zn_attention_index(s, type, value, head, key, c)] = row[c];
}

// Elements of the result for one head of 32 keys, [PANEL][padded width], narrowed, in scratch; then
// each to its place.
static void pack_panel(const zn_lowering *base, const zn_call *call, size_t index, void *part)
{
    const keys_lowering *l = (const keys_lowering *)base;
    const zn_attention_shape *s = &l->shape;
    const int64_t panels = s->padded_keys / ZN_ATTENTION_PANEL;
    const int64_t panel = (int64_t)index % panels, head = (int64_t)index / panels % s->key_heads;
    const int which = (int)((int64_t)index / panels / s->key_heads);
    const size_t size = zn_type_size(l->type), width = (size_t)s->width;
    const size_t from = zn_type_size(l->widen[which].from);
    float *wide = part;
    for (int64_t key = panel * ZN_ATTENTION_PANEL; key < (panel + 1) * ZN_ATTENTION_PANEL; key++) {
        uint8_t *row = (uint8_t *)part + (size_t)s->padded_width * sizeof(float);
        memset(row, 0, (size_t)s->padded_width * size);
        if (key < s->keys) {
            const size_t at = (size_t)(key * s->key_heads + head) * width;
            l->widen[which].run((const uint8_t *)call->inputs[which] + at * from,
                                l->widen[which].from_scale, wide, 1, width);
            l->narrow.run(wide, 1, row, l->narrow.to_scale, width);
        }
        if (l->type == ZN_F32)
            place_floats(s, which == V, head, key, (const float *)(const void *)row, call->output);
        else
            place_halves(s, l->type, which == V, head, key, (const uint16_t *)(const void *)row,
                         call->output);
    }
}

static zenith_status fill(keys_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_node *node = request->node;
    if (node->desc.type != ZN_F32 && node->desc.type != ZN_BF16)
        return zn_fail(err, ZENITH_UNSUPPORTED, "attention has no keys in %s",
                       zn_type_name(node->desc.type));
    l->shape = shape_of(node);
    l->type = node->desc.type;
    for (int i = K; i < INPUTS; i++) {
        ZN_TRY(zn_conversion_widen(request, i, &l->widen[i], err));
    }
    ZN_TRY(zn_conversion_narrow(request, &l->narrow, err));
    l->base.pieces = (size_t)(2 * l->shape.key_heads * l->shape.padded_keys) / ZN_ATTENTION_PANEL;
    const size_t part_bytes = 2 * (size_t)l->shape.padded_width * sizeof(float);
    return zn_lowering_part(&l->base, request, 0, zn_round_up(part_bytes, ZN_ALIGN), err);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    keys_lowering made = {.base = ZN_LOWERING_OF_PIECES(pack_panel, "pack")};
    ZN_TRY(fill(&made, request, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const int64_t *dim = node->inputs[input]->desc.shape.dim;
    zn_attention_keys_attributes a = *(const zn_attention_keys_attributes *)node->attributes;
    a.values = input == V;
    a.rows = dim[1];
    a.columns = dim[2];
    a.width = dim[3] / a.key_heads;
    return zn_graph_add(graph, &zn_op_attention_keys_gradient, node->name, &dy, 1, &a);
}

static const zn_attention_keys_attributes one = {.key_heads = 1}, three = {.key_heads = 3},
                                          columns = {.key_heads = 3, .apart = true};

const zn_op zn_op_attention_keys = {
    .name = "attention_keys",
    .summary = "keys and values of attention, packed",
    .attributes_size = sizeof(zn_attention_keys_attributes),
    .traits = ZN_OP_FOLLOWS | ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .wants = zn_wants_product,
    .reference = reference,
    .lower = lower,
    .flops = zn_flops_of_input,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("token", &one, 0, ZN_MAP(1, 1, 1), ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("odd", &three, 0, ZN_MAP(5, 7, 15), ZN_MAP(5, 7, 15)),
                          ZN_SAMPLE("sequence", &one, 0, ZN_MAP(33, 1, 40), ZN_MAP(33, 1, 40)),
                          ZN_SAMPLE("columns", &columns, 0, ZN_MAP(7, 4, 15), ZN_MAP(7, 4, 15))),
};
