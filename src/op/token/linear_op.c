// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y = x weight^T + bias: a map's pixels, or a vector, by a matrix. Turned, by the matrix the other
// way around, it is its own gradient. In 8 bits, its gradient is that of the product before
// rounding.
#include "src/op/operator.h"
#include "src/op/token/linear_lowering.h"
#include "src/op/token/token_checks.h"
#include "src/tensor/four_panels.h"

#include <float.h>
#include <math.h>

static const zn_linear_attributes *attributes_of(const zn_node *node)
{
    return node->attributes;
}

static zenith_status check_weight(const zn_node *node, int64_t channels, zn_error *err)
{
    const zn_node *weight = node->inputs[1];
    const zn_shape *shape = &weight->desc.shape;
    const bool turned = attributes_of(node)->turned;
    const bool fits = weight->kind == ZN_NODE_PARAMETER && shape->rank == 2 && shape->dim[0] >= 1 &&
                      shape->dim[1] >= 1 && shape->dim[turned ? 0 : 1] == channels;
    if (fits && turned && weight->constant.rows)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "linear: '%s' is stored in few bits, and gradients go through plain weights "
                       "only: convert the weights to bf16 first",
                       weight->name);
    if (fits) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "linear: '%s' is no parameter [out, in] for %lld channels", weight->name,
                   (long long)channels);
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 3, err));
    ZN_TRY(zn_check_tokens(node, 0, err));
    const int64_t channels = zn_token_channels(node->inputs[0]);
    ZN_TRY(check_weight(node, channels, err));
    if (attributes_of(node)->int8 && channels > ZN_LINEAR_MOST_INPUTS)
        return zn_fail(err, ZENITH_UNSUPPORTED, "linear in 8 bits has at most %d inputs",
                       ZN_LINEAR_MOST_INPUTS);
    const zn_desc *x = &node->inputs[0]->desc;
    const bool plain = x->type == ZN_F32 || x->type == ZN_BF16 || x->type == ZN_F16;
    node->desc = zn_desc_make(plain ? x->type : ZN_F32, x->shape);
    const int64_t outputs = node->inputs[1]->desc.shape.dim[attributes_of(node)->turned ? 1 : 0];
    node->desc.shape.dim[node->desc.shape.rank - 1] = outputs;
    if (node->inputs_count == 3) ZN_TRY(zn_check_vector(node, 2, outputs, err));
    return ZENITH_OK;
}

static zn_want wants(const zn_node *node, int input)
{
    (void)node;
    return input == 0 ? ZN_WANT_PRODUCT : ZN_WANT_STORED;
}

// --- the specification --------------------------------------------------------------------------

// The numbers of a sum, `count` of them `step` apart.
typedef struct line {
    const zn_tensor *tensor;
    size_t first, step, count;
} line;

static float number_of(const line *l, size_t k)
{
    const size_t at = l->first + k * l->step;
    if (l->tensor->rows) return zn_value_get(l->tensor, at);
    return zn_type_load(l->tensor->desc.type, l->tensor->data, at);
}

// Of a line that is rounded to 127 levels: what one of them stands for (0: all are zero), in f32.
static float level_of(const line *l)
{
    float largest = 0;
    for (size_t k = 0; k < l->count; k++) largest = fmaxf(largest, fabsf(number_of(l, k)));
    return largest;
}

static double sum_of(const line *x, const line *w)
{
    double sum = 0;
    for (size_t k = 0; k < x->count; k++) sum += (double)number_of(x, k) * (double)number_of(w, k);
    return sum;
}

// A token by 127 / largest, a row of weights over largest / 127: as linear.h says it, to the bit.
static double rounded_sum_of(const line *x, const line *w)
{
    const float token = level_of(x), row = level_of(w) * w->tensor->desc.scale;
    const float up = token >= 128 * FLT_MIN ? ZN_LINEAR_LEVELS / token : 0;
    const float level = isnormal(row / ZN_LINEAR_LEVELS) ? row / ZN_LINEAR_LEVELS : 1;
    double sum = 0;
    for (size_t k = 0; k < x->count; k++)
        sum += (double)rintf(number_of(x, k) * up) *
               (double)rintf(number_of(w, k) * w->tensor->desc.scale / level);
    return up > 0 ? sum * (double)(token / ZN_LINEAR_LEVELS) * (double)level : 0;
}

static bool has_bytes(const zn_row_source *rows)
{
    return rows && (rows->read_bytes || rows->fours.read);
}

// The same with a row of a source that has bytes, or 4 bits of which bytes are made: those as they
// are, and the token rotated as they were. NaN when there is no memory.
static double byte_sum_of(const line *x, const zn_row_source *rows, size_t row)
{
    const int64_t at = (int64_t)row, inputs = (int64_t)x->count;
    const size_t scratch = rows->read_bytes ? 0 : zn_four_panels_scratch(&rows->fours, inputs);
    float *token = zn_alloc(x->count * (sizeof *token + 1) + scratch), scale, largest = 0;
    if (!token) return (double)NAN;
    int8_t *weights = (int8_t *)(token + x->count) + scratch;
    double sum = 0;
    if (rows->read_bytes)
        rows->read_bytes(rows, at, at + 1, weights, &scale);
    else
        zn_four_panels_row(rows, at, inputs, token + x->count, weights, &scale);
    for (size_t k = 0; k < x->count; k++) token[k] = number_of(x, k);
    if (rows->rotated_by) zn_rotation_baseline(token, (int64_t)x->count, rows->rotated_by);
    for (size_t k = 0; k < x->count; k++) largest = fmaxf(largest, fabsf(token[k]));
    const float up = largest >= 128 * FLT_MIN ? ZN_LINEAR_LEVELS / largest : 0;
    for (size_t k = 0; k < x->count; k++) sum += (double)rintf(token[k] * up) * (double)weights[k];
    zn_free(token);
    return up > 0 ? sum * (double)(largest / ZN_LINEAR_LEVELS) * (double)scale : 0;
}

static double product_of(const zn_node *node, const line *x, const line *w, size_t row)
{
    const zn_row_source *rows = w->tensor->rows;
    if (!zn_linear_in_bytes(node)) return sum_of(x, w) * (double)w->tensor->desc.scale;
    return has_bytes(rows) ? byte_sum_of(x, rows, row) : rounded_sum_of(x, w);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_linear_attributes *a = node->attributes;
    const size_t in = (size_t)zn_token_channels(node->inputs[0]);
    const size_t out = (size_t)zn_token_channels(node);
    for (size_t i = 0; i < zn_value_count(output); i++) {
        const line x = {&inputs[0], i / out * in, 1, in};
        const line w = {&inputs[1], a->turned ? i % out : i % out * in, a->turned ? out : 1, in};
        double sum = product_of(node, &x, &w, i % out) * (double)inputs[0].desc.scale;
        if (node->inputs_count == 3) sum += (double)zn_value_get(&inputs[2], i % out);
        zn_value_set(output, i, (float)sum);
    }
}

// --- the rest -----------------------------------------------------------------------------------

static double flops(const zn_node *node)
{
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return 2.0 * (double)zn_token_channels(node->inputs[0]) * (double)elements;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_linear_attributes *a = node->attributes;
    if (input == 2) return zn_node_is_map(node) ? zn_channel_sum(graph, node->name, dy) : dy;
    zn_node *x = node->inputs[0];
    if (input == 1)
        return zn_graph_pair(graph, &zn_op_linear_weight_gradient, node->name, a->turned ? dy : x,
                             a->turned ? x : dy, NULL);
    const zn_linear_attributes turned = {.int8 = false, .turned = !a->turned};
    return zn_graph_pair(graph, &zn_op_linear, node->name, dy, node->inputs[1], &turned);
}

static const zn_linear_attributes plain = {.int8 = false}, back = {.turned = true},
                                  bytes = {.int8 = true},
                                  bytes_back = {.int8 = true, .turned = true};

const zn_op zn_op_linear = {
    .name = "linear",
    .summary = "tokens, or a vector, by a matrix",
    .attributes_size = sizeof(zn_linear_attributes),
    // Not ZN_OP_MATMUL: calibration would make 8 bits of it, with its scales.
    .traits = ZN_OP_STOPS | ZN_OP_TAKES_ROWS | ZN_OP_LAYER,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .wants = wants,
    .reference = reference,
    .lower = zn_linear_lower,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("token", &plain, 6, ZN_MAP(1, 1, 3), {2, {5, 3}}, ZN_VECTOR(5)),
        ZN_SAMPLE("odd", &plain, 6, ZN_MAP(5, 7, 21), {2, {35, 21}}, ZN_VECTOR(35)),
        ZN_SAMPLE("sequence", &plain, 2, ZN_MAP(37, 1, 64), {2, {96, 64}}),
        ZN_SAMPLE("deep", &plain, 6, ZN_MAP(14, 1, 801), {2, {290, 801}}, ZN_VECTOR(290)),
        ZN_SAMPLE("turned", &back, 2, ZN_MAP(13, 1, 45), {2, {45, 70}}),
        ZN_SAMPLE("8 bits", &bytes, 6, ZN_MAP(5, 3, 45), {2, {70, 45}}, ZN_VECTOR(70)),
        ZN_SAMPLE("8 bits, deep", &bytes, 2, ZN_MAP(3, 1, 1600), {2, {33, 1600}}),
        ZN_SAMPLE("8 bits, turned", &bytes_back, 2, ZN_MAP(4, 1, 70), {2, {70, 45}}),
        ZN_SAMPLE("vector", &plain, 6, ZN_VECTOR(33), {2, {50, 33}}, ZN_VECTOR(50)),
        ZN_SAMPLE("vector turned", &back, 2, ZN_VECTOR(50), {2, {50, 33}}),
        ZN_SAMPLE("vector in 8 bits", &bytes, 6, ZN_VECTOR(64), {2, {20, 64}}, ZN_VECTOR(20))),
};

zn_node *zn_linear(zn_graph *graph, const char *name, zn_node *x, zn_node *weight, zn_node *bias)
{
    const zn_linear_attributes a = {.int8 = false};
    return zn_graph_add(graph, &zn_op_linear, name, (zn_node *[]){x, weight, bias}, bias ? 3 : 2,
                        &a);
}

zn_node *zn_linear_turned(zn_graph *graph, const char *name, zn_node *x, zn_node *weight,
                          zn_node *bias)
{
    const zn_linear_attributes a = {.turned = true};
    return zn_graph_add(graph, &zn_op_linear, name, (zn_node *[]){x, weight, bias}, bias ? 3 : 2,
                        &a);
}
