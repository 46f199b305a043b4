// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The largest value of each square window of a channel, without padding. Sizes are rounded up, as in
// Caffe and in PyTorch's ceil_mode: a last window may reach beyond the map, and only what lies in it
// counts. A NaN in a window wins. A copy of one of the values, so type and scale stay.
#include "src/base/memory.h"
#include "src/op/op_checks.h"
#include "src/op/ops.h"

#include <math.h>
#include <string.h>

int64_t zn_max_pool_length(int64_t length, const zn_max_pool_attributes *a)
{
    if (length <= a->kernel) return 1;
    return (length - a->kernel + a->stride - 1) / a->stride + 1;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_max_pool_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    if (a->stride < 1 || a->kernel < a->stride || a->kernel > 64) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "max_pool cannot have windows of %d pixels at every %d", a->kernel,
                       a->stride);
    }
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    node->desc = node->inputs[0]->desc;
    node->desc.shape = ZN_SHAPE(dim[0], zn_max_pool_length(dim[1], a),
                                zn_max_pool_length(dim[2], a), dim[3]);
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const zn_max_pool_attributes *a = node->attributes;
    (void)input;
    return (zn_rows){out.begin * a->stride, (out.end - 1) * a->stride + a->kernel};
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_max_pool_attributes *a = node->attributes;
    const int64_t *x = inputs[0].desc.shape.dim, *y = output->desc.shape.dim;
    const zn_type type = output->desc.type;
    size_t next = 0;
    for (int64_t row = 0; row < y[0] * y[1]; row++) {
        const int64_t n = row / y[1], top = row % y[1] * a->stride;
        for (int64_t i = 0; i < y[2] * y[3]; i++) {
            const int64_t left = i / y[3] * a->stride, c = i % y[3];
            float best = -1.0f / 0.0f;
            for (int64_t w = 0; w < a->kernel * a->kernel; w++) {
                const int64_t h = top + w / a->kernel, v = left + w % a->kernel;
                if (h >= x[1] || v >= x[2]) continue;
                float value = zn_type_load(type, inputs[0].data,
                                           (size_t)(((n * x[1] + h) * x[2] + v) * x[3] + c));
                if (value > best || value != value) best = value;
            }
            zn_type_store(type, output->data, next++, best);
        }
    }
}

// --- lowering -----------------------------------------------------------------------------------

// dst[i] = max(dst[i], src[i]), a NaN wins.
typedef void larger_fn(void *dst, const void *src, int64_t count);

#define LARGER(name, type, value)                                                                  \
    static void name(void *dst, const void *src, int64_t count)                                    \
    {                                                                                              \
        type *to = dst;                                                                            \
        const type *from = src;                                                                    \
        for (int64_t i = 0; i < count; i++) {                                                      \
            to[i] = value(from[i]) <= value(to[i]) || value(to[i]) != value(to[i]) ? to[i]         \
                                                                                   : from[i];      \
        }                                                                                          \
    }
#define ITSELF(x) (x)

// A number in the order of the f16: the bits are those of an integer with its sign apart.
static inline float f16_order(uint16_t bits)
{
    const int magnitude = bits & 0x7fff;
    if (magnitude > 0x7c00) return NAN;
    return (float)(bits & 0x8000 ? -magnitude : magnitude);
}

LARGER(larger_f32, float, ITSELF)
LARGER(larger_bf16, uint16_t, zn_bf16_to_f32)
LARGER(larger_f16, uint16_t, f16_order)
LARGER(larger_u8, uint8_t, ITSELF)
LARGER(larger_s8, int8_t, ITSELF)

typedef struct pool_lowering {
    zn_lowering base;
    zn_max_pool_attributes window;
    int64_t height, width, channels, result_width; // height, width: of the source
    size_t pixel_bytes;
    larger_fn *larger;
} pool_lowering;

typedef struct job {
    const pool_lowering *lowering;
    const zn_call *call;
} job;

// One row of the result from the `count` source rows, one or more, that its windows see.
static void pool_row(const pool_lowering *l, const uint8_t *src, int64_t count, uint8_t *dst)
{
    const size_t pixel = l->pixel_bytes, src_row = (size_t)l->width * pixel;
    for (int64_t x = 0; x < l->result_width; x++, dst += pixel) {
        const int64_t left = x * l->window.stride;
        const int64_t right = left + l->window.kernel < l->width ? left + l->window.kernel
                                                                 : l->width;
        memcpy(dst, src + (size_t)left * pixel, pixel);
        for (int64_t h = 0; h < count; h++) {
            for (int64_t w = left; w < right; w++) {
                l->larger(dst, src + (size_t)h * src_row + (size_t)w * pixel, l->channels);
            }
        }
    }
}

static void run_rows(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const pool_lowering *l = j->lowering;
    const size_t src_row = (size_t)l->width * l->pixel_bytes;
    const size_t dst_row = (size_t)l->result_width * l->pixel_bytes;
    for (size_t i = begin; i < end; i++) {
        const int64_t top = (j->call->row + (int64_t)i) * l->window.stride;
        uint8_t *dst = (uint8_t *)j->call->output + i * dst_row;
        int64_t count = l->height - top < l->window.kernel ? l->height - top : l->window.kernel;
        if (top < 0 || count < 1) {
            memset(dst, 0, dst_row); // outside the map: it will be dropped
            continue;
        }
        pool_row(l, (const uint8_t *)j->call->inputs[0] + i * (size_t)l->window.stride * src_row,
                 count, dst);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    job j = {(const pool_lowering *)base, call};
    zn_parallel(call->team, (size_t)call->rows, 1, run_rows, &j);
    return ZENITH_OK;
}

static larger_fn *larger_for(zn_type type)
{
    switch (type) {
    case ZN_BF16:
        return larger_bf16;
    case ZN_F16:
        return larger_f16;
    case ZN_U8:
        return larger_u8;
    case ZN_S8:
        return larger_s8;
    default:
        return larger_f32;
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_desc *x = &request->node->inputs[0]->desc;
    const int64_t *from = x->shape.dim;
    pool_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    *l = (pool_lowering){.base = {.run = run, .free = zn_lowering_free, .id = "kernel"},
                         .window = *(const zn_max_pool_attributes *)request->node->attributes,
                         .height = from[1],
                         .width = from[2],
                         .channels = from[3],
                         .result_width = request->node->desc.shape.dim[2],
                         .pixel_bytes = (size_t)from[3] * zn_type_size(x->type),
                         .larger = larger_for(x->type)};
    *out = &l->base;
    return ZENITH_OK;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_max_pool_attributes *a = node->attributes;
    return zn_max_pool_gradient(graph, node->name, dy, node->inputs[input], a->kernel, a->stride);
}

static double flops(const zn_node *node)
{
    const zn_max_pool_attributes *a = node->attributes;
    const int64_t *dim = node->desc.shape.dim;
    return (double)(dim[0] * dim[1] * dim[2] * dim[3]) * a->kernel * a->kernel;
}

static const zn_max_pool_attributes three = {3, 2}, two = {2, 2};
static const zn_op_sample samples[] = {
    {.name = "corner", .inputs_count = 1, .inputs = {{4, {1, 2, 2, 4}}}, .attributes = &three},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 7, 9, 3}}}, .attributes = &three},
    {.name = "beyond", .inputs_count = 1, .inputs = {{4, {1, 8, 10, 16}}}, .attributes = &three},
    {.name = "tiles", .inputs_count = 1, .inputs = {{4, {1, 6, 18, 64}}}, .attributes = &two},
};

const zn_op zn_op_max_pool = {
    .name = "max_pool",
    .summary = "the largest value of each window",
    .attributes_size = sizeof(zn_max_pool_attributes),
    .traits = ZN_OP_FOLLOWS,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_max_pool(zn_graph *graph, const char *name, zn_node *x, int kernel, int stride)
{
    const zn_max_pool_attributes attributes = {kernel, stride};
    return zn_graph_add(graph, &zn_op_max_pool, name, &x, 1, &attributes);
}
