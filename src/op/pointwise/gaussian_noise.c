// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/pointwise/gaussian_noise.h"

#include "src/base/random.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <string.h>

void zn_gaussian_noise(uint64_t seed, float number, uint64_t begin, size_t count, float *dst)
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

zenith_status zn_gaussian_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, ZN_GAUSSIAN_INPUTS, ZN_GAUSSIAN_INPUTS, err));
    ZN_TRY(zn_check_map(node, ZN_GAUSSIAN_VALUE, err));
    ZN_TRY(zn_check_map(node, ZN_GAUSSIAN_LOGVAR, err));
    ZN_TRY(zn_check_same_shape(node, ZN_GAUSSIAN_VALUE, ZN_GAUSSIAN_LOGVAR, err));
    if (node->inputs[ZN_GAUSSIAN_NUMBER]->desc.shape.rank != 0)
        return zn_fail(err, ZENITH_INTERNAL, "%s: input 2 ('%s') is no scalar", node->op->name,
                       node->inputs[ZN_GAUSSIAN_NUMBER]->name);
    zn_infer_like_input(node);
    return ZENITH_OK;
}

// About what an exponential and a normal number take.
double zn_gaussian_flops(const zn_node *node)
{
    size_t elements = 0;
    return zn_shape_elements(&node->desc.shape, &elements) ? 60.0 * (double)elements : 0;
}

void zn_gaussian_reference(zn_gaussian_fn *fn, const zn_node *node, const zn_tensor *inputs,
                           zn_tensor *output)
{
    const zn_gaussian_attributes *a = node->attributes;
    const float number = zn_value_get(&inputs[ZN_GAUSSIAN_NUMBER], 0);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        float noise;
        zn_gaussian_noise(a->seed, number, i, 1, &noise);
        zn_value_set(output, i,
                     fn(zn_value_get(&inputs[ZN_GAUSSIAN_VALUE], i),
                        zn_value_get(&inputs[ZN_GAUSSIAN_LOGVAR], i), noise));
    }
}

void zn_gaussian_row(zn_gaussian_fn *fn, const zn_node *node, const float *const *inputs,
                     int64_t place, float *dst)
{
    enum { PIECE = 64 };
    const zn_gaussian_attributes *a = node->attributes;
    const size_t count = zn_row_elements(node);
    const float *value = inputs[ZN_GAUSSIAN_VALUE], *logvar = inputs[ZN_GAUSSIAN_LOGVAR];
    const float number = *inputs[ZN_GAUSSIAN_NUMBER];
    for (size_t begin = 0; begin < count; begin += PIECE) {
        const size_t length = count - begin < PIECE ? count - begin : PIECE;
        float noise[PIECE];
        zn_gaussian_noise(a->seed, number, (uint64_t)place * count + begin, length, noise);
        for (size_t i = 0; i < length; i++)
            dst[begin + i] = fn(value[begin + i], logvar[begin + i], noise[i]);
    }
}
