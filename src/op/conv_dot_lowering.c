// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions by the kernel conv_dot: bf16 and 8-bit maps, residual and result in any map type, one
// pass. The plan runs them depth first over rolling rows, so a chain of them is the fused block:
// its rows never leave the second-level cache.
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/kernel/conv_dot.h"
#include "src/op/conv_lowering.h"
#include "src/op/conv_weights.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"

typedef struct dot_lowering {
    zn_lowering base;
    zn_conv_dot_fn *kernel;
    zn_conv_dot_args args;
    int residual_input; // -1: none
    int threads;
    size_t scratch_per_thread;
    char id[32];
    float vectors[]; // scale and bias, padded to whole blocks
} dot_lowering;

// A call in flight.
typedef struct dot_call {
    const dot_lowering *l;
    zn_conv_dot_args args;
    int64_t rows_per_thread;
    uint8_t *scratch;
} dot_call;

// Pairs of rows go together in the kernel, so each thread gets an even number of them.
static int64_t rows_per_thread(const dot_lowering *l, int64_t rows)
{
    const int64_t each = (rows + l->threads - 1) / l->threads;
    return l->threads > 1 ? each + each % 2 : each;
}

static void run_rows(void *arg, size_t begin, size_t end)
{
    const dot_call *c = arg;
    const size_t slice = begin / (size_t)c->rows_per_thread;
    c->l->kernel(&c->args, (int64_t)begin, (int64_t)end,
                 c->scratch + slice * c->l->scratch_per_thread);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const dot_lowering *l = (const dot_lowering *)base;
    dot_call c = {.l = l,
                  .args = l->args,
                  .rows_per_thread = rows_per_thread(l, call->rows),
                  .scratch = call->scratch};
    c.args.src = call->inputs[0];
    c.args.src_wrap = call->wrap;
    c.args.src_ring = call->ring_bytes;
    c.args.residual = l->residual_input >= 0 ? call->inputs[l->residual_input] : NULL;
    c.args.dst = call->output;
    zn_parallel(call->team, (size_t)call->rows, (size_t)c.rows_per_thread, run_rows, &c);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    zn_free(base);
}

static bool is_map_type(zn_type type)
{
    return type == ZN_F32 || type == ZN_BF16 || type == ZN_U8 || type == ZN_S8;
}

// What the kernel multiplies: a bf16x2 map is a bf16 map with each channel twice.
static zn_type kernel_type(const zn_conv_parts *parts)
{
    zn_type type = parts->node->inputs[0]->desc.type;
    return type == ZN_BF16X2 ? ZN_BF16 : type;
}

static int repeats(const zn_conv_parts *parts)
{
    return parts->node->inputs[0]->desc.type == ZN_BF16X2 ? 2 : 1;
}

bool zn_conv_dot_fits(const zn_lowering_request *request, const zn_conv_parts *parts)
{
    const zn_type type = kernel_type(parts);
    const int64_t channels = parts->node->inputs[0]->desc.shape.dim[3] * repeats(parts);
    const int64_t kernel_w = parts->node->inputs[1]->desc.shape.dim[3];
    if (!zn_conv_dot_pick(&request->cpu, type)) return false;
    if (channels * (int64_t)zn_type_size(type) % ZN_CONV_DOT_BYTES != 0) return false;
    if (kernel_w > ZN_CONV_DOT_REACH || parts->pad > ZN_CONV_DOT_REACH) return false;
    if (parts->residual && !is_map_type(parts->residual->desc.type)) return false;
    return is_map_type(parts->node->desc.type);
}

// scale: what the sum of products stands for; in 8 bits each output channel's weights have their own.
static void fill_vectors(dot_lowering *l, const zn_conv_parts *parts, int levels, size_t padded)
{
    const zn_desc *x = &parts->node->inputs[0]->desc;
    const size_t channels = (size_t)parts->node->desc.shape.dim[3];
    float *scale = l->vectors, *bias = l->vectors + padded;
    for (size_t o = 0; o < padded; o++) scale[o] = 1;
    if (levels) zn_conv_weight_scales(&parts->node->inputs[1]->constant, levels, scale);
    for (size_t o = 0; o < padded; o++) {
        scale[o] *= x->scale;
        bias[o] = parts->bias && o < channels ? zn_value_get(&parts->bias->constant, o) : 0;
    }
    l->args.scale = scale;
    l->args.bias = bias;
}

static void fill_args(dot_lowering *l, const zn_conv_parts *parts)
{
    const zn_desc *x = &parts->node->inputs[0]->desc, *y = &parts->node->desc;
    const int64_t *w = parts->node->inputs[1]->desc.shape.dim;
    l->args = (zn_conv_dot_args){
        .src_type = kernel_type(parts),
        .width_in = x->shape.dim[2],
        .channels_in = x->shape.dim[3] * repeats(parts),
        .dst_type = y->type,
        .dst_scale = y->scale,
        .width_out = y->shape.dim[2],
        .channels_out = y->shape.dim[3],
        .kernel_h = (int)w[2],
        .kernel_w = (int)w[3],
        .stride = parts->stride,
        .pad_left = parts->pad,
        .relu = parts->relu,
    };
    if (!parts->residual) return;
    l->args.residual_type = parts->residual->desc.type;
    l->args.residual_scale = parts->residual->desc.scale;
}

zenith_status zn_conv_dot_lower(const zn_lowering_request *request, const zn_conv_parts *parts,
                                zn_lowering **out, zn_error *err)
{
    const zn_tensor *weight = &parts->node->inputs[1]->constant;
    const zn_type type = kernel_type(parts);
    const int levels = zn_is_quantised(type) ? zn_conv_levels(&request->cpu) : 0;
    const size_t padded = zn_round_up((size_t)parts->node->desc.shape.dim[3], ZN_CONV_DOT_BLOCK);
    const size_t bytes = sizeof(dot_lowering) + 2 * padded * sizeof(float);
    dot_lowering *l = zn_alloc_zero(bytes);
    if (!l) return zn_fail_memory(err, bytes);
    zenith_status status;
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = l->id};
    l->kernel = zn_conv_dot_pick(&request->cpu, type);
    l->threads = request->threads;
    l->residual_input = parts->residual ? parts->residual_input : -1;
    zn_text_format(l->id, sizeof l->id, "dot:%s", zn_isa_name(request->cpu.isa));
    fill_args(l, parts);
    fill_vectors(l, parts, levels, padded);
    const int64_t most_rows = rows_per_thread(l, request->rows);
    l->scratch_per_thread = zn_round_up(zn_conv_dot_scratch(&l->args, most_rows), ZN_ALIGN);
    l->base.scratch_bytes = l->scratch_per_thread * (size_t)l->threads;
    ZN_GO(zn_conv_weights_for_dot(request->packs, weight, levels ? ZN_S8 : ZN_BF16, levels,
                                  repeats(parts), &l->args.packed, err));
    *out = &l->base;
    return ZENITH_OK;
fail:
    lowering_free(&l->base);
    return status;
}
