// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See conv_weights.h. A packed form is found again by a key that names everything it depends on.
#include "src/op/conv/conv_weights.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/kernel/conv/conv_dot.h"
#include "src/kernel/conv/conv_doubled.h"
#include "src/kernel/conv/conv_f32.h"
#include "src/kernel/conv/winograd.h"
#include "src/op/op_values.h"

#include <math.h>
#include <string.h>

enum { KEY_SIZE = 640 };

typedef enum packed_for { FOR_DNN, FOR_CONV_F32, FOR_CONV_DOT, FOR_TRANSFORM } packed_for;

// [out, in, 3, 3] into the form of a kernel that transforms its weights.
typedef void transform_fn(const float *dense, int64_t channels_out, int64_t channels_in,
                          float *packed);

// What a packing function needs.
typedef struct packing {
    packed_for layout;
    const zn_conv_weight *weight;
    zn_type type;
    int levels;
    int repeats;             // how often each input channel stands in the packed weights
    const zn_dnn_conv *conv; // FOR_DNN
    transform_fn *transform; // FOR_TRANSFORM
} packing;

zn_shape zn_conv_weight_shape(const zn_shape *parameter)
{
    const int64_t *dim = parameter->dim;
    if (parameter->rank != 5) return *parameter;
    return ZN_SHAPE(dim[0], dim[1], dim[3], dim[4]);
}

zn_conv_weight zn_conv_weight_of(const zn_tensor *parameter, int frame)
{
    zn_conv_weight weight = {.tensor = *parameter, .variant = ""};
    const int64_t *dim = parameter->desc.shape.dim;
    if (parameter->desc.shape.rank == 5) {
        const size_t kernel = (size_t)(dim[3] * dim[4]);
        const size_t skipped = (size_t)frame * kernel * zn_type_size(parameter->desc.type);
        weight.step = (size_t)dim[2] * kernel;
        weight.tensor.desc.shape = zn_conv_weight_shape(&parameter->desc.shape);
        weight.tensor.data = (uint8_t *)parameter->data + skipped;
        weight.variant = "frame";
        weight.whole = *parameter;
    }
    weight.source = weight.tensor.data;
    return weight;
}

int zn_conv_levels(const zn_cpu *cpu)
{
    return cpu->flags & ZN_CPU_AVX512_VNNI ? 127 : 63;
}

static float channel_scale(const zn_tensor *weight, size_t channel, size_t length, int levels)
{
    float largest = 0;
    for (size_t k = 0; k < length; k++) {
        largest = fmaxf(largest, fabsf(zn_value_get(weight, channel * length + k)));
    }
    float scale = largest / (float)levels;
    return isnormal(scale) ? scale : 1.0f; // all zero, or no finite number
}

static size_t channel_length(const zn_tensor *weight)
{
    return zn_value_count(weight) / (size_t)weight->desc.shape.dim[0];
}

void zn_conv_weight_scales(const zn_tensor *weight, int levels, float *scales)
{
    size_t length = channel_length(weight);
    for (size_t o = 0; o < (size_t)weight->desc.shape.dim[0]; o++) {
        scales[o] = channel_scale(weight, o, length, levels);
    }
}

// Rounded to the grid of levels, and with each input channel as often as asked.
static void fill_rounded(const packing *p, const zn_tensor *weight, void *dense)
{
    const int64_t *dim = weight->desc.shape.dim;
    const size_t length = channel_length(weight), taps = (size_t)(dim[2] * dim[3]);
    const zn_tensor *whole = p->weight->step ? &p->weight->whole : weight;
    const size_t range = channel_length(whole);
    for (size_t o = 0; o < (size_t)dim[0]; o++) {
        float scale = p->levels ? channel_scale(whole, o, range, p->levels) : 1.0f;
        for (size_t i = o * length; i < (o + 1) * length; i++) {
            float value = zn_value_get(weight, i);
            if (p->levels) {
                value = rintf(value / scale);
                if (p->type != ZN_S8) value *= scale;
            }
            for (int r = 0; r < p->repeats; r++) {
                size_t channel = i / taps * (size_t)p->repeats + (size_t)r;
                zn_type_store(p->type, dense, channel * taps + i % taps, value);
            }
        }
    }
}

// The usual ones have a quick way: weights in training are packed after every step.
static void fill_dense(const packing *p, const zn_tensor *weight, void *dense)
{
    const size_t count = zn_value_count(weight);
    const bool plain = !p->levels && p->repeats == 1 && weight->desc.type == ZN_F32 &&
                       weight->desc.scale == 1.0f && (uintptr_t)weight->data % sizeof(float) == 0;
    if (plain && p->type == ZN_F32) {
        memcpy(dense, weight->data, count * sizeof(float));
    } else if (plain && p->type == ZN_BF16) {
        const float *src = weight->data;
        uint16_t *dst = dense;
        for (size_t i = 0; i < count; i++) dst[i] = zn_f32_to_bf16(src[i]);
    } else {
        fill_rounded(p, weight, dense);
    }
}

static zenith_status pack_dense(const packing *p, const void *dense, void *dst, zn_error *err)
{
    const int64_t *dim = p->weight->tensor.desc.shape.dim;
    switch (p->layout) {
    case FOR_DNN:
        return zn_dnn_conv_pack(p->conv, dense, dst, err);
    case FOR_CONV_F32:
        zn_conv_f32_pack(dense, dim[0], dim[1], (int)dim[2], (int)dim[3], dst);
        break;
    case FOR_TRANSFORM:
        p->transform(dense, dim[0], dim[1], dst);
        break;
    case FOR_CONV_DOT:
        zn_conv_dot_pack(p->type, dense, dim[0], dim[1] * p->repeats, (int)dim[2], (int)dim[3],
                         dst);
        break;
    }
    return ZENITH_OK;
}

// The kernels of one frame, one after the other.
static void gather_frame(const zn_conv_weight *weight, uint8_t *dst)
{
    const int64_t *dim = weight->tensor.desc.shape.dim;
    const size_t type = zn_type_size(weight->tensor.desc.type);
    const size_t bytes = (size_t)(dim[2] * dim[3]) * type;
    const uint8_t *src = weight->tensor.data;
    for (int64_t i = 0; i < dim[0] * dim[1]; i++, src += weight->step * type, dst += bytes)
        memcpy(dst, src, bytes);
}

static zenith_status pack(void *arg, void *dst, zn_error *err)
{
    const packing *p = arg;
    zn_tensor weight = p->weight->tensor;
    const bool copied = p->weight->make || p->weight->step;
    const size_t made = copied ? zn_value_count(&weight) * sizeof(float) : 0;
    const size_t bytes = zn_value_count(&weight) * (size_t)p->repeats * zn_type_size(p->type);
    uint8_t *memory = zn_alloc(zn_round_up(made, ZN_ALIGN) + bytes);
    if (!memory) return zn_fail_memory(err, made + bytes);
    void *dense = memory + zn_round_up(made, ZN_ALIGN);
    if (copied) weight.data = memory;
    if (p->weight->make) p->weight->make(p->weight->arg, weight.data);
    if (p->weight->step) gather_frame(p->weight, weight.data);
    fill_dense(p, &weight, dense);
    zenith_status status = pack_dense(p, dense, dst, err);
    zn_free(memory);
    return status;
}

zenith_status zn_conv_weights_for_dnn(zn_packs *packs, const zn_conv_weight *weight, zn_type type,
                                      int levels, int repeats, const zn_dnn_conv *conv,
                                      const void **out, zn_error *err)
{
    const zn_layout *layout = zn_dnn_conv_layout(conv);
    packing p = {FOR_DNN, weight, type, levels, repeats, conv, NULL};
    char key[KEY_SIZE];
    size_t used = zn_text_format(key, sizeof key, "conv %s levels %d repeats %d %s ",
                                 zn_type_name(type), levels, repeats, weight->variant);
    if (layout->key_size > sizeof key - used)
        return zn_fail(err, ZENITH_INTERNAL, "the name of a weight layout is too long");
    memcpy(key + used, layout->key, layout->key_size);
    return zn_packs_get(packs, weight->source, key, used + layout->key_size, layout->bytes, pack,
                        &p, out, err);
}

zenith_status zn_conv_weights_for_kernel(zn_packs *packs, const zn_conv_weight *weight, int levels,
                                         const void **out, zn_error *err)
{
    const int64_t *dim = weight->tensor.desc.shape.dim;
    packing p = {FOR_CONV_F32, weight, ZN_F32, levels, 1, NULL, NULL};
    size_t bytes;
    if (!zn_conv_f32_packed_bytes(dim[0], dim[1], (int)dim[2], (int)dim[3], &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    char key[KEY_SIZE];
    size_t used = zn_text_format(key, sizeof key, "conv_f32 levels %d %s", levels, weight->variant);
    return zn_packs_get(packs, weight->source, key, used, bytes, pack, &p, out, err);
}

zenith_status zn_conv_weights_for_dot(zn_packs *packs, const zn_conv_weight *weight, zn_type type,
                                      int levels, int repeats, const void **out, zn_error *err)
{
    const int64_t *dim = weight->tensor.desc.shape.dim;
    packing p = {FOR_CONV_DOT, weight, type, levels, repeats, NULL, NULL};
    size_t bytes;
    if (!zn_conv_dot_packed_bytes(type, dim[0], dim[1] * repeats, (int)dim[2], (int)dim[3], &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    char key[KEY_SIZE];
    size_t used = zn_text_format(key, sizeof key, "conv_dot %s levels %d repeats %d %s",
                                 zn_type_name(type), levels, repeats, weight->variant);
    return zn_packs_get(packs, weight->source, key, used, bytes, pack, &p, out, err);
}

zenith_status zn_conv_weights_for_winograd(zn_packs *packs, const zn_conv_weight *weight,
                                           int levels, const void **out, zn_error *err)
{
    const int64_t *dim = weight->tensor.desc.shape.dim;
    packing p = {FOR_TRANSFORM, weight, ZN_F32, levels, 1, NULL, zn_winograd_pack};
    size_t bytes;
    if (!zn_winograd_packed_bytes(dim[0], dim[1], &bytes)) return zn_fail_memory(err, SIZE_MAX);
    char key[KEY_SIZE];
    size_t used = zn_text_format(key, sizeof key, "winograd levels %d %s", levels, weight->variant);
    return zn_packs_get(packs, weight->source, key, used, bytes, pack, &p, out, err);
}

zenith_status zn_conv_weights_for_doubled(zn_packs *packs, const zn_conv_weight *weight,
                                          const void **out, zn_error *err)
{
    static const char key[] = "doubled";
    const int64_t *dim = weight->tensor.desc.shape.dim;
    packing p = {FOR_TRANSFORM, weight, ZN_F32, 0, 1, NULL, zn_doubled_pack};
    size_t bytes;
    if (!zn_doubled_packed_bytes(dim[0], dim[1], &bytes)) return zn_fail_memory(err, SIZE_MAX);
    return zn_packs_get(packs, weight->source, key, sizeof key, bytes, pack, &p, out, err);
}
