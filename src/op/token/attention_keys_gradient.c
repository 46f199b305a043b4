// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of attention_keys: the elements of one of its inputs, from the packed f32 gradient
// back into a map [1, rows, columns, key heads * width].
#include "src/op/operator.h"
#include "src/op/token/attention_shape.h"

typedef struct unpack_lowering {
    zn_lowering base;
    const zn_node *node;
} unpack_lowering;

static zn_attention_shape shape_of(const zn_node *node)
{
    const zn_attention_keys_attributes *a = node->attributes;
    const int64_t apart = a->apart ? a->columns : 1;
    zn_attention_shape s = {
        .keys = a->rows * a->columns / apart, .key_heads = a->key_heads * apart, .width = a->width};
    s.padded_keys = zn_attention_padded(s.keys);
    s.padded_width = zn_attention_padded(s.width);
    return s;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_attention_keys_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    const zn_attention_shape s = shape_of(node);
    const zn_shape want = ZN_SHAPE(2, s.key_heads, s.padded_keys * s.padded_width);
    const zn_desc *packed = &node->inputs[0]->desc;
    if (packed->type != ZN_F32 || !zn_shape_equal(&packed->shape, &want))
        return zn_fail(err, ZENITH_INTERNAL, "attention_keys_gradient needs packed keys");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(1, a->rows, a->columns, a->key_heads * a->width));
    return ZENITH_OK;
}

// A head of one key.
static void unpack_head(const zn_attention_shape *s, bool values, const float *packed, int64_t head,
                        int64_t key, float *row)
{
    zn_attention_run run;
    for (int64_t c = 0; c < s->width; c += run.count) {
        run = zn_attention_run_at(s, values, head, key, c);
        for (int64_t i = 0; i < run.count; i++) row[c + i] = packed[run.at + (size_t)i * run.step];
    }
}

// The keys from the first row of the result on, as many as it has.
static void unpack(const zn_node *node, const float *packed, int64_t first, zn_tensor *output)
{
    const zn_attention_keys_attributes *a = node->attributes;
    const zn_attention_shape s = shape_of(node);
    const int64_t count = (int64_t)zn_value_count(output) / (s.key_heads * s.width);
    size_t next = 0;
    for (int64_t key = first; key < first + count; key++) {
        for (int64_t head = 0; head < s.key_heads; head++) {
            float row[ZN_ATTENTION_WIDTH] = {0};
            if (key >= 0 && key < s.keys) unpack_head(&s, a->values, packed, head, key, row);
            zn_values_set(output, next, (size_t)s.width, row);
            next += (size_t)s.width;
        }
    }
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    unpack(node, inputs[0].data, 0, output);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const zn_node *node = ((const unpack_lowering *)base)->node;
    zn_tensor output = {.desc = node->desc, .data = call->output};
    output.desc.shape.dim[1] = call->rows;
    unpack(node, call->inputs[0], call->row * shape_of(node).keys / node->desc.shape.dim[1],
           &output);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    unpack_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){.run = run, .free = zn_lowering_free, .id = "unpack"};
    l->node = request->node;
    *out = &l->base;
    return ZENITH_OK;
}

static const zn_attention_keys_attributes one = {1, false, 1, 1, 1, false},
                                          odd = {3, true, 5, 7, 5, false},
                                          columns = {1, true, 9, 3, 5, true};

const zn_op zn_op_attention_keys_gradient = {
    .name = "attention_keys_gradient",
    .summary = "the gradient of packed keys and values with respect to keys or values",
    .attributes_size = sizeof(zn_attention_keys_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("token", &one, 0, {3, {2, 1, 1024}}),
                          ZN_SAMPLE("odd", &odd, 0, {3, {2, 3, 2048}}),
                          ZN_SAMPLE("columns", &columns, 0, {3, {2, 3, 1024}})),
};
