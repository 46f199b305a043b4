// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Every operator that has a gradient, because it is in the table: for each sample and each input,
// the gradient of the loss sum(r * y), with r random, against central differences of the reference.
// Of each tensor some elements are moved by themselves, and all together in some random directions;
// the difference must be within 1e-3 of the gradient's largest element, or of its length.
#include "src/base/random.h"
#include "src/op/ops.h"
#include "tests/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_INPUTS = 8, MAX_NODES = 32, ELEMENTS = 12, DIRECTIONS = 3, SEED = 20260202 };
static const double tolerance = 1e-3;

typedef struct subject {
    const zn_op *op;
    const zn_op_sample *sample;
    zn_graph graph;
    zn_node *inputs[MAX_INPUTS], *node, *dy;
    zn_tensor values[MAX_NODES]; // by id
    double *weights;             // r, of each element of the result
} subject;

static size_t count_of(const zn_node *node)
{
    size_t count = 0;
    assert_true(zn_shape_elements(&node->desc.shape, &count));
    return count;
}

static zn_tensor allocate(const zn_node *node)
{
    size_t bytes = 0;
    assert_true(zn_desc_bytes(&node->desc, &bytes));
    zn_tensor tensor = {.desc = node->desc, .data = zn_alloc_zero(bytes + 1)};
    assert_non_null(tensor.data);
    return tensor;
}

static double get(const zn_tensor *tensor, size_t i)
{
    return tensor->desc.type == ZN_F64 ? ((double *)tensor->data)[i]
                                       : (double)((float *)tensor->data)[i];
}

static void set(zn_tensor *tensor, size_t i, double value)
{
    if (tensor->desc.type == ZN_F64)
        ((double *)tensor->data)[i] = value;
    else
        ((float *)tensor->data)[i] = (float)value;
}

// Values that no step carries over the kink of relu or of |a - b|: first inputs are at least 1/4
// away from zero, second maps below 1/10 (but for kl_loss, which has no kink, and no slope there).
// Moments have squares that leave a variance; deviations are positive. The values of a window of
// max_pool are a quarter apart. Tiles of walsh_tile have one pixel that is not zero (and copies of
// it at borders): all frequencies are then a multiple of 1, gates make 3/2 or 1/50 of it, and
// thresholds of 1/2 are far from both.
static double fill_tile(const subject *s, int input, size_t i)
{
    const zn_walsh_tile_attributes *a = s->sample->attributes;
    const int64_t *dim = s->inputs[0]->desc.shape.dim, pixel = (int64_t)i / dim[3];
    const bool first = pixel / dim[2] % a->size == 0 && pixel % dim[2] % a->size == 0;
    if (input == 0) return first ? a->size : 0;
    if (input == 1) return (i % 2 ? 1.5 : 0.02) - (a->plain ? 0 : 1);
    return i % 3 ? 0.5 : -0.5;
}

static void fill(const subject *s, int input, zn_random *random, zn_tensor *tensor)
{
    const bool moments = strcmp(s->op->name, "group_stats") == 0;
    const bool stats = tensor->desc.shape.rank == 3;
    const bool second = input == 1 && tensor->desc.shape.rank == 4 &&
                        !(s->sample->parameters >> 1 & 1) && s->op != &zn_op_kl_loss;
    const size_t count = count_of(s->inputs[input]);
    for (size_t i = 0; i < count; i++) {
        double value = (double)zn_random_normal(random);
        value += value < 0 ? -0.25 : 0.25;
        if (strcmp(s->op->name, "max_pool") == 0) value = 0.25 * (double)(i * 37 % 101);
        if (second) value = 0.1 * tanh(value);
        if (moments && i % 2 == 1) value = 60 + fabs(value);
        if (stats && i % 2 == 1) value = fabs(value);
        if (strcmp(s->op->name, "walsh_tile") == 0) value = fill_tile(s, input, i);
        set(tensor, i, value);
    }
}

// A rounded result has no slope, nor has a product of rounded numbers.
static bool is_smooth(const subject *s)
{
    const zn_linear_attributes *linear = s->sample->attributes;
    if (s->op == &zn_op_linear && linear->int8) return false;
    return s->node->desc.type == ZN_F32 || s->node->desc.type == ZN_F64;
}

static void build(subject *s, zn_random *random, zn_error *err)
{
    const zn_op_sample *sample = s->sample;
    const bool moments = strcmp(s->op->name, "group_stats") == 0;
    zn_graph_begin(&s->graph, err);
    for (int i = 0; i < sample->inputs_count; i++) {
        const zn_desc desc = zn_desc_make(moments ? ZN_F64 : ZN_F32, sample->inputs[i]);
        const bool parameter = sample->parameters >> i & 1;
        s->inputs[i] = parameter ? zn_graph_parameter(&s->graph, "p",
                                                      (zn_tensor){.desc = desc, .data = NULL})
                                 : zn_graph_input(&s->graph, "x", desc);
        assert_non_null(s->inputs[i]);
        s->values[i] = allocate(s->inputs[i]);
        s->inputs[i]->constant = s->values[i];
        fill(s, i, random, &s->values[i]);
    }
    s->node = zn_graph_add(&s->graph, s->op, "y", s->inputs, sample->inputs_count,
                           sample->attributes);
    zn_test_ok(s->graph.status, err);
    if (!is_smooth(s)) return;
    s->values[s->node->id] = allocate(s->node);
    s->dy = zn_graph_input(&s->graph, "dy", s->node->desc);
    s->values[s->dy->id] = allocate(s->dy);
    s->weights = zn_alloc(count_of(s->node) * sizeof *s->weights);
    assert_non_null(s->weights);
    for (size_t i = 0; i < count_of(s->node); i++) {
        set(&s->values[s->dy->id], i, (double)zn_random_normal(random));
        s->weights[i] = get(&s->values[s->dy->id], i);
    }
}

static void evaluate(subject *s, const zn_node *node)
{
    zn_error err = {0};
    zn_tensor inputs[MAX_INPUTS];
    for (int i = 0; i < node->inputs_count; i++) inputs[i] = s->values[node->inputs[i]->id];
    zn_test_ok(zn_node_reference(node, inputs, &s->values[node->id], &err), &err);
}

static double loss(subject *s)
{
    double sum = 0;
    evaluate(s, s->node);
    for (size_t i = 0; i < count_of(s->node); i++)
        sum += s->weights[i] * get(&s->values[s->node->id], i);
    return sum;
}

// The loss, with the values moved by `by` along `direction`.
static double moved(subject *s, zn_tensor *at, const double *direction, size_t count, double by)
{
    for (size_t i = 0; i < count; i++) set(at, i, get(at, i) + by * direction[i]);
    const double result = loss(s);
    for (size_t i = 0; i < count; i++) set(at, i, get(at, i) - by * direction[i]);
    return result;
}

// The slope of the loss along `direction`, by central differences over one step and two: their
// combination has an error of the fourth order, so that the step may be large against rounding.
static double slope(subject *s, zn_tensor *at, const double *direction, size_t count)
{
    // Moments are sums of many values: a small step would vanish in the rounding of their mean.
    const double step = at->desc.type == ZN_F64 ? 1.0 / 4 : 1.0 / 64;
    const double one = moved(s, at, direction, count, step) - moved(s, at, direction, count, -step);
    const double two = moved(s, at, direction, count, 2 * step) -
                       moved(s, at, direction, count, -2 * step);
    return (8 * one - two) / (12 * step);
}

static void compare(const subject *s, int input, double got, double want, double scale)
{
    if (fabs(got - want) <= tolerance * scale) return;
    fail_msg("%s, sample '%s', input %d: the gradient says %.9g, differences say %.9g (scale %.3g)",
             s->op->name, s->sample->name, input, got, want, scale);
}

static void check_directions(subject *s, int input, const zn_tensor *gradient, zn_random *random)
{
    const size_t count = count_of(s->inputs[input]);
    double *direction = zn_alloc_zero(count * sizeof *direction), largest = 0, squares = 0;
    assert_non_null(direction);
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(get(gradient, i)));
        squares += get(gradient, i) * get(gradient, i);
    }
    for (int k = 0; k < (zn_test_quick() ? 3 : ELEMENTS); k++) {
        const size_t i = zn_random_below(random, (uint32_t)count);
        direction[i] = 1;
        compare(s, input, get(gradient, i), slope(s, &s->values[input], direction, count), largest);
        direction[i] = 0;
    }
    for (int k = 0; k < (zn_test_quick() ? 1 : DIRECTIONS); k++) {
        double along = 0;
        for (size_t i = 0; i < count; i++) {
            direction[i] = fmin(fmax((double)zn_random_normal(random), -3), 3);
            along += direction[i] * get(gradient, i);
        }
        compare(s, input, along, slope(s, &s->values[input], direction, count), sqrt(squares));
    }
    zn_free(direction);
}

// The scores of a hard mask, and what is rounded: their gradient is not the slope, which is zero.
// test_tile_mask.c and test_fake_quant.c have them.
static bool is_straight_through(const subject *s, int input)
{
    return (input == 1 && strcmp(s->op->name, "tile_mask") == 0) || s->op == &zn_op_fake_quant;
}

// False: this input has none.
static bool check_input(subject *s, int input, zn_random *random)
{
    zn_error err = {0};
    const size_t before = s->graph.count;
    s->graph.err = &err;
    zn_node *result = s->op->gradient(&s->graph, s->node, input, s->dy);
    zn_test_ok(s->graph.status, &err);
    if (!result) return false;
    assert_int_equal(count_of(result), count_of(s->inputs[input]));
    assert_true(s->graph.count < MAX_NODES);
    loss(s); // the result itself may be read
    for (size_t id = before; id < s->graph.count; id++) {
        s->values[id] = allocate(s->graph.nodes[id]);
        evaluate(s, s->graph.nodes[id]);
    }
    check_directions(s, input, &s->values[result->id], random);
    return true;
}

static void check_refused(subject *s)
{
    zn_error err = {0};
    s->graph.err = &err;
    for (int i = 0; i < s->sample->inputs_count; i++) {
        assert_null(s->op->gradient(&s->graph, s->node, i, s->dy));
        assert_int_equal(s->graph.status, ZENITH_UNSUPPORTED);
        assert_true(err.text[0] != 0);
        s->graph.status = ZENITH_OK;
    }
    s->graph.err = NULL;
}

static void check_sample(const zn_op *op, const zn_op_sample *sample, zn_random *random, int *cases)
{
    zn_error err = {0};
    subject s = {.op = op, .sample = sample};
    build(&s, random, &err);
    int checked = 0;
    const bool slopes = is_smooth(&s) && !sample->no_gradient;
    if (sample->no_gradient) check_refused(&s);
    for (int i = 0; slopes && i < sample->inputs_count; i++)
        checked += !is_straight_through(&s, i) && check_input(&s, i, random);
    if (slopes && s.op != &zn_op_fake_quant) assert_true(checked > 0);
    *cases += checked;
    for (size_t id = 0; id < s.graph.count; id++) zn_free(s.values[id].data);
    zn_free(s.weights);
    zn_graph_free(&s.graph);
}

ZN_TEST(every_gradient_is_the_slope)
{
    zn_random random = {.seed = SEED + zn_test_offset()};
    int cases = 0;
    for (int i = 0; i < zn_ops_count; i++) {
        const zn_op *op = zn_ops[i];
        for (int k = 0; op->gradient && k < op->samples.count; k++)
            check_sample(op, &op->samples.list[k], &random, &cases);
    }
    print_message("%d gradients\n", cases);
}
