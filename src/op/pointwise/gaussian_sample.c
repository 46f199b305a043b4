// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A sample of independent normal distributions: mean + exp(logvar / 2) * noise. The noise is
// normal, made from a seed, a number that each run sets (of which all bits count) and the element's
// place: neither threads nor bands change it. Gradients go to the mean and the variance, past the
// noise: by the logarithm of the variance dy * noise * exp(logvar / 2) / 2. Drawing the noise twice
// is cheaper than keeping a map of it.
#include "src/base/random.h"
#include "src/op/operator.h"

#include <math.h>
#include <string.h>

enum { VALUE, LOGVAR, NUMBER, INPUTS }; // value: the mean, or dy

// Normal numbers of the elements [begin, begin + count) of a map, one after the other in memory.
// Each is a pure function of the seed, the bits of `number` and the element's place.
static void make_noise(uint64_t seed, float number, uint64_t begin, size_t count, float *dst)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t bits, drawn[4];
    float normals[4] = {0};
    memcpy(&bits, &number, sizeof bits);
    for (size_t i = 0; i < count; i++) {
        const uint64_t place = begin + i, block = place / 4;
        if (i == 0 || place % 4 == 0) {
            const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), bits, 0};
            zn_philox4x32(counter, key, drawn);
            zn_philox_normals(drawn, normals);
        }
        dst[i] = normals[place % 4];
    }
}

static float draw(float mean, float logvar, float noise)
{
    return mean + expf(0.5f * logvar) * noise;
}

static float slope(float dy, float logvar, float noise)
{
    return dy * noise * 0.5f * expf(0.5f * logvar);
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, VALUE, err));
    ZN_TRY(zn_check_map(node, LOGVAR, err));
    ZN_TRY(zn_check_same_shape(node, VALUE, LOGVAR, err));
    if (node->inputs[NUMBER]->desc.shape.rank != 0)
        return zn_fail(err, ZENITH_INTERNAL, "%s: input 2 ('%s') is no scalar", node->op->name,
                       node->inputs[NUMBER]->name);
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void compute(float (*fn)(float value, float logvar, float noise), const zn_node *node,
                    const float *const *inputs, int64_t place, float *dst)
{
    enum { PIECE = 64 };
    const zn_gaussian_attributes *a = node->attributes;
    const size_t count = zn_row_elements(node);
    for (size_t begin = 0; begin < count; begin += PIECE) {
        const size_t length = count - begin < PIECE ? count - begin : PIECE;
        float noise[PIECE];
        make_noise(a->seed, *inputs[NUMBER], (uint64_t)place * count + begin, length, noise);
        for (size_t i = 0; i < length; i++)
            dst[begin + i] = fn(inputs[VALUE][begin + i], inputs[LOGVAR][begin + i], noise[i]);
    }
}

static void row(const zn_node *node, const float *const *inputs, int64_t place, float *dst)
{
    compute(draw, node, inputs, place, dst);
}

static void gradient_row(const zn_node *node, const float *const *inputs, int64_t place, float *dst)
{
    compute(slope, node, inputs, place, dst);
}

// The number is the caller's: it gets no gradient.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == VALUE) return dy;
    if (input == NUMBER) return NULL;
    return zn_graph_add(graph, &zn_op_gaussian_sample_gradient, node->name,
                        (zn_node *[]){dy, node->inputs[LOGVAR], node->inputs[NUMBER]}, INPUTS,
                        node->attributes);
}

static const zn_gaussian_attributes first = {7}, second = {UINT64_C(0xfedcba9876543210)};
#define SAMPLES                                                                                    \
    ZN_SAMPLES(ZN_SAMPLE("pixel", &first, 0, ZN_MAP(1, 1, 4), ZN_MAP(1, 1, 4), {0, {0}}),          \
               ZN_SAMPLE("odd", &second, 0, ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3), {0, {0}}),           \
               ZN_SAMPLE("wide", &first, 0, ZN_MAP(6, 19, 16), ZN_MAP(6, 19, 16), {0, {0}}))

const zn_op zn_op_gaussian_sample = {
    .name = "gaussian_sample",
    .summary = "mean + exp(logvar / 2) * normal noise, by seed and place",
    .attributes_size = sizeof(zn_gaussian_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .placed_row = row,
    .lower = zn_row_lower,
    .work = 60, // about what an exponential and a normal number take
    .gradient = gradient,
    .samples = SAMPLES,
};

const zn_op zn_op_gaussian_sample_gradient = {
    .name = "gaussian_sample_gradient",
    .summary = "the gradient times the noise times exp(logvar / 2) / 2",
    .attributes_size = sizeof(zn_gaussian_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .placed_row = gradient_row,
    .lower = zn_row_lower,
    .work = 60,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = SAMPLES,
};

zn_node *zn_gaussian_sample(zn_graph *graph, const char *name, zn_node *mean, zn_node *logvar,
                            zn_node *number, uint64_t seed)
{
    return zn_graph_add(graph, &zn_op_gaussian_sample, name, (zn_node *[]){mean, logvar, number},
                        INPUTS, &(zn_gaussian_attributes){seed});
}
