// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions by the kernel conv_dot: bf16 and 8-bit maps, residual and result in any map type,
// one pass. The plan runs them depth first over rolling rows, so a chain of them is the fused
// block: its rows never leave the second-level cache.
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/kernel/kernels.h"
#include "src/op/conv/conv_lowering.h"
#include "src/op/conv/conv_weights.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"

typedef struct dot_lowering {
    zn_lowering base;
    zn_conv_dot dot;
    int residual_input, mask_input; // -1: none
    int threads;
    size_t scratch_per_thread;
    char id[32];
} dot_lowering;

// A call in flight.
typedef struct dot_call {
    const dot_lowering *l;
    zn_conv_dot_args args;
    zn_conv_dot_parts parts;
    int64_t rows;
    uint8_t *scratch;
} dot_call;

zn_conv_dot_parts zn_conv_dot_share(int64_t width, int64_t rows, int threads)
{
    enum { TILE = 16 }; // pixels that the widest kernel takes together
    const int64_t tiles = (width + TILE - 1) / TILE;
    zn_conv_dot_parts parts = {.columns = width, .rows = rows};
    if (tiles >= threads) {
        parts.columns = (tiles + threads - 1) / threads * TILE;
    } else {
        const int64_t each = (rows + threads - 1) / threads;
        parts.rows = each + (threads > 1 ? each % 2 : 0);
    }
    parts.across = (width + parts.columns - 1) / parts.columns;
    parts.count = (size_t)(parts.across * ((rows + parts.rows - 1) / parts.rows));
    return parts;
}

static int64_t at_most(int64_t number, int64_t limit)
{
    return number < limit ? number : limit;
}

void zn_conv_dot_run_part(const zn_conv_dot *dot, zn_conv_dot_args *args,
                          const zn_conv_dot_parts *parts, size_t part, int64_t rows, void *scratch)
{
    const int64_t row = (int64_t)part / parts->across * parts->rows;
    args->x_begin = (int64_t)part % parts->across * parts->columns;
    args->x_end = at_most(args->x_begin + parts->columns, args->width_out);
    dot->run(args, row, at_most(row + parts->rows, rows), scratch);
}

static void conv_dot_part(void *arg, size_t begin, size_t end)
{
    const dot_call *c = arg;
    (void)end; // one part at a time
    zn_conv_dot_args args = c->args;
    zn_conv_dot_run_part(&c->l->dot, &args, &c->parts, begin, c->rows,
                         c->scratch + begin * c->l->scratch_per_thread);
}

static zenith_status run_conv_dot(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const dot_lowering *l = (const dot_lowering *)base;
    dot_call c = {.l = l,
                  .args = l->dot.args,
                  .parts = zn_conv_dot_share(l->dot.args.width_out, call->rows, l->threads),
                  .rows = call->rows,
                  .scratch = call->scratch};
    c.args.src = call->inputs[0];
    c.args.src_wrap = call->wrap;
    c.args.src_ring = call->ring_bytes;
    c.args.residual = l->residual_input >= 0 ? call->inputs[l->residual_input] : NULL;
    c.args.mask = l->mask_input >= 0 ? call->inputs[l->mask_input] : NULL;
    c.args.dst = call->output;
    zn_parallel(call->team, c.parts.count, 1, conv_dot_part, &c);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    dot_lowering *l = (dot_lowering *)base;
    if (!l) return;
    zn_conv_dot_free(&l->dot);
    zn_free(l);
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

// A mask is of the type of the result, which is a floating one, as is the source.
static bool mask_fits(const zn_conv_parts *parts)
{
    const zn_type type = parts->node->desc.type;
    return kernel_type(parts) == ZN_BF16 && (type == ZN_F32 || type == ZN_BF16) &&
           parts->mask->desc.type == type;
}

bool zn_conv_dot_fits(const zn_cpu *cpu, const zn_conv_parts *parts)
{
    const zn_type type = kernel_type(parts);
    const int64_t channels = parts->node->inputs[0]->desc.shape.dim[3] * repeats(parts);
    const int64_t kernel_w = parts->weight.tensor.desc.shape.dim[3];
    zn_kernels kernels;
    zn_kernels_init(&kernels, cpu->flags);
    if (!zn_conv_dot_for(&kernels, type)) return false;
    if (channels * (int64_t)zn_type_size(type) % ZN_CONV_DOT_BYTES != 0) return false;
    if (kernel_w > ZN_CONV_DOT_REACH || parts->pad > ZN_CONV_DOT_REACH) return false;
    if (parts->residual && !is_map_type(parts->residual->desc.type)) return false;
    if (parts->mask && !mask_fits(parts)) return false;
    return is_map_type(parts->node->desc.type);
}

// scale: what the sum of products stands for; in 8 bits each output channel's weights have their
// own.
static zenith_status fill_vectors(zn_conv_dot *dot, const zn_conv_parts *parts, int levels,
                                  zn_error *err)
{
    const zn_tensor *weight = &parts->weight.tensor;
    const size_t channels = (size_t)weight->desc.shape.dim[0];
    const size_t padded = zn_round_up(channels, ZN_CONV_DOT_BLOCK);
    const size_t bytes = 2 * padded * sizeof(float);
    dot->vectors = zn_alloc(bytes);
    if (!dot->vectors) return zn_fail_memory(err, bytes);
    float *scale = dot->vectors, *bias = scale + padded;
    for (size_t o = 0; o < padded; o++) scale[o] = 1;
    if (levels) zn_conv_weight_scales(zn_conv_weight_whole(&parts->weight), levels, scale);
    const float unit = parts->node->desc.scale;
    for (size_t o = 0; o < padded; o++) {
        scale[o] *= parts->node->inputs[0]->desc.scale / unit;
        bias[o] = parts->bias && o < channels ? zn_value_get(&parts->bias->constant, o) / unit : 0;
    }
    dot->args.scale = scale;
    dot->args.bias = bias;
    return ZENITH_OK;
}

static zn_conv_dot_args make_args(const zn_conv_parts *parts)
{
    const zn_tensor *weight = &parts->weight.tensor;
    const zn_desc *x = &parts->node->inputs[0]->desc, *y = &parts->node->desc;
    const zn_desc *residual = parts->residual ? &parts->residual->desc : NULL;
    return (zn_conv_dot_args){
        .src_type = kernel_type(parts),
        .width_in = x->shape.dim[2],
        .channels_in = x->shape.dim[3] * repeats(parts),
        .residual_type = residual ? residual->type : ZN_F32,
        .residual_scale = residual ? residual->scale / y->scale : 1,
        .dst_row = y->shape.dim[2],
        .dst_step = 1,
        .dst_type = y->type,
        .width_out = y->shape.dim[2],
        .channels_out = y->shape.dim[3],
        .kernel_h = (int)weight->desc.shape.dim[2],
        .kernel_w = (int)weight->desc.shape.dim[3],
        .stride = parts->stride,
        .pad_left = parts->pad,
        .relu = parts->relu,
    };
}

void zn_conv_dot_free(zn_conv_dot *dot)
{
    zn_free(dot->vectors);
}

zenith_status zn_conv_dot_prepare(const zn_lowering_request *request, const zn_conv_parts *parts,
                                  zn_conv_dot *out, zn_error *err)
{
    const zn_type type = kernel_type(parts);
    const int levels = zn_is_quantised(type) ? zn_conv_levels(&request->cpu) : 0;
    zn_conv_dot dot = {.run = zn_conv_dot_for(request->kernels, type), .args = make_args(parts)};
    zenith_status status;
    ZN_GO(fill_vectors(&dot, parts, levels, err));
    ZN_GO(zn_conv_weights_for_dot(request->packs, &parts->weight, levels ? ZN_S8 : ZN_BF16, levels,
                                  repeats(parts), &dot.args.packed, err));
    *out = dot;
    return ZENITH_OK;
fail:
    zn_conv_dot_free(&dot);
    return status;
}

zenith_status zn_conv_dot_lower(const zn_lowering_request *request, const zn_conv_parts *parts,
                                zn_lowering **out, zn_error *err)
{
    dot_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    zenith_status status;
    l->base = (zn_lowering){
        .run = run_conv_dot, .free = lowering_free, .any_rows = true, .id = l->id};
    l->threads = request->threads;
    l->residual_input = parts->residual ? parts->residual_input : -1;
    l->mask_input = parts->mask ? parts->mask_input : -1;
    zn_text_format(l->id, sizeof l->id, "dot:%s", request->kernels->conv_dot_name);
    ZN_GO(zn_conv_dot_prepare(request, parts, &l->dot, err));
    const size_t scratch = zn_conv_dot_scratch(&l->dot.args, request->rows);
    l->scratch_per_thread = zn_round_up(scratch, ZN_ALIGN);
    l->base.scratch_bytes = l->scratch_per_thread * (size_t)l->threads;
    *out = &l->base;
    return ZENITH_OK;
fail:
    lowering_free(&l->base);
    return status;
}
