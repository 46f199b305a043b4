// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One call of the lowering, with the steps that a convolution needs:
//
//     x ----------(widened: f32 in scratch)---> conv ---> dst ---(narrowed, if f32)---> result
//     residual ---(copied or widened)-----------------> dst, where oneDNN's sum reads it
//
// Which steps, and whose convolution (find_convolution), depends on types, channels, kernel and ISA
// only. Where types are widened, a call is a few passes of equal rows, so that there are never more
// than a few rows in f32.
#include "src/op/conv/conv_lowering.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/dnn/dnn.h"
#include "src/kernel/kernels.h"
#include "src/op/conv/conv_weights.h"
#include "src/op/conv/conv_winograd.h"
#include "src/op/convert_parallel.h"
#include "src/op/op_checks.h"

enum { ID_SIZE = 128, INPUTS = 4, WIDE_ROWS = 16, FEWEST_WIDE_ROWS = 4 };

typedef struct conv_lowering {
    zn_lowering base;
    int64_t rows, passes;                     // rows of a pass
    size_t src_count, dst_count;              // elements of a pass
    size_t src_step, dst_step, residual_step; // bytes from a pass to the next
    zn_dnn_conv *conv;                        // NULL: a kernel of ours computes
    zn_conv_winograd winograd;                // its `run` NULL: the direct one
    zn_conv_f32_fn *kernel;
    zn_conv_f32_args kernel_args;
    const void *weights;
    const float *bias;
    bool widens, narrows;
    zn_conversion widen, narrow;
    int residual_input; // -1: none
    bool residual_raw;  // copied as it is, else converted to f32
    size_t residual_bytes;
    zn_conversion residual_widen;
    size_t dst_at, conv_at; // offsets in scratch; the widened x is at 0
    char id[ID_SIZE];
} conv_lowering;

// Types that the convolution itself works in. A bf16x2 map is a bf16 map with each channel twice,
// so that the convolution has each weight twice: for a weight that bf16 holds exactly it sums as
// from f32.
typedef struct compute_types {
    zn_type src, weights, dst;
    int levels; // of the grid of weights, 0: none
} compute_types;

zenith_status zn_conv_infer(zn_node *node, int stride, int pad, int after, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 4, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const zn_node *weight = node->inputs[1];
    const zn_shape *x = &node->inputs[0]->desc.shape;
    const zn_shape of_frame = zn_conv_weight_shape(&weight->desc.shape), *w = &of_frame;
    if (weight->kind != ZN_NODE_PARAMETER || w->rank != 4 || w->dim[1] != x->dim[3] ||
        w->dim[0] < 1 || w->dim[2] < 1 || w->dim[3] < 1) {
        char text[96];
        zn_shape_text(&weight->desc.shape, text, sizeof text);
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%s needs a weight [out, %lld, kh, kw]; '%s' has shape %s", node->op->name,
                       (long long)x->dim[3], weight->name, text);
    }
    if (stride < 1 || pad < 0 || after < 0)
        return zn_fail(err, ZENITH_INTERNAL, "%s with stride %d and padding %d", node->op->name,
                       stride, pad);
    int64_t room_h = x->dim[1] + 2 * (int64_t)pad + after - w->dim[2];
    int64_t room_w = x->dim[2] + 2 * (int64_t)pad + after - w->dim[3];
    if (room_h < 0 || room_w < 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s: a map of %lldx%lld is too small",
                       node->op->name, (long long)x->dim[2], (long long)x->dim[1]);
    zn_type type = node->inputs[0]->desc.type;
    node->desc = zn_desc_make(
        zn_is_quantised(type) ? ZN_F32 : type,
        ZN_SHAPE(x->dim[0], room_h / stride + 1, room_w / stride + 1, w->dim[0]));
    return ZENITH_OK;
}

zenith_status zn_conv_check_frame(const zn_node *node, int frame, zn_error *err)
{
    const zn_shape *w = &node->inputs[1]->desc.shape;
    const int64_t frames = w->rank == 5 ? w->dim[2] : 1;
    if (frame >= 0 && frame < frames) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s: '%s' has no frame %d", node->op->name,
                   node->inputs[1]->name, frame);
}

zn_rows zn_conv_rows(const zn_node *node, int stride, int pad, zn_rows out)
{
    int64_t kernel_h = zn_conv_weight_shape(&node->inputs[1]->desc.shape).dim[2];
    return (zn_rows){out.begin * stride - pad, (out.end - 1) * stride - pad + kernel_h};
}

double zn_conv_flops(const zn_node *node)
{
    const int64_t *y = node->desc.shape.dim;
    const zn_shape of_frame = zn_conv_weight_shape(&node->inputs[1]->desc.shape);
    const int64_t *w = of_frame.dim;
    return 2.0 * (double)y[0] * (double)y[1] * (double)y[2] * (double)y[3] * (double)w[1] *
           (double)w[2] * (double)w[3];
}

static void lowering_free(zn_lowering *base)
{
    conv_lowering *l = (conv_lowering *)base;
    if (!l) return;
    zn_dnn_conv_free(l->conv);
    zn_free(l);
}

static void kernel_rows(void *arg, size_t begin, size_t end)
{
    const conv_lowering *l = arg;
    l->kernel(&l->kernel_args, (int64_t)begin, (int64_t)end);
}

static void place_residual(const conv_lowering *l, const zn_call *call, void *dst)
{
    const void *src = call->inputs[l->residual_input];
    if (l->residual_raw)
        zn_copy_parallel(call->team, src, dst, l->residual_bytes);
    else
        zn_conversion_run(&l->residual_widen, call->team, src, dst, l->dst_count);
}

// Our kernels read a plain residual where it lies.
static void run_conv_f32(const conv_lowering *l, const zn_call *call, const float *src, float *dst)
{
    const float *residual = l->residual_input < 0 ? NULL
                            : l->residual_raw     ? call->inputs[l->residual_input]
                                                  : dst;
    if (l->winograd.run) {
        uint8_t *scratch = (uint8_t *)call->scratch + l->conv_at;
        zn_conv_winograd_run(&l->winograd, call->team, call->rows, src, residual, dst, scratch);
        return;
    }
    conv_lowering now = *l;
    now.kernel_args.src = src;
    now.kernel_args.dst = dst;
    now.kernel_args.residual = residual;
    zn_parallel(call->team, (size_t)l->rows, 1, kernel_rows, &now);
}

static zenith_status run_conv_pass(const conv_lowering *l, const zn_call *call, zn_error *err)
{
    uint8_t *scratch = call->scratch;
    const void *src = call->inputs[0];
    if (l->widens) {
        zn_conversion_run(&l->widen, call->team, src, scratch, l->src_count);
        src = scratch;
    }
    void *dst = l->narrows ? scratch + l->dst_at : call->output;
    if (l->residual_input >= 0 && (l->conv || !l->residual_raw)) place_residual(l, call, dst);
    if (l->conv) {
        ZN_TRY(zn_dnn_conv_run(l->conv, src, l->weights, l->bias, dst, scratch + l->conv_at, err));
    } else {
        run_conv_f32(l, call, src, dst);
    }
    if (l->narrows) zn_conversion_run(&l->narrow, call->team, dst, call->output, l->dst_count);
    return ZENITH_OK;
}

static const void *further(const void *data, size_t bytes)
{
    return (const uint8_t *)data + bytes;
}

static zenith_status run_conv(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    const conv_lowering *l = (const conv_lowering *)base;
    for (size_t i = 0; i < (size_t)l->passes; i++) {
        const void *inputs[INPUTS] = {further(call->inputs[0], i * l->src_step)};
        if (l->residual_input > 0)
            inputs[l->residual_input] = further(call->inputs[l->residual_input],
                                                i * l->residual_step);
        zn_call pass = *call;
        pass.inputs = inputs;
        pass.rows = l->passes > 1 ? l->rows : call->rows;
        pass.output = (uint8_t *)call->output + i * l->dst_step;
        ZN_TRY(run_conv_pass(l, &pass, err));
    }
    return ZENITH_OK;
}

static bool residual_fits_raw(const zn_conv_parts *parts, zn_type dst)
{
    zn_type type = parts->residual->desc.type;
    return type == dst || (zn_is_quantised(type) && zn_is_quantised(dst));
}

static int64_t rows_in(const zn_lowering_request *request, const zn_conv_parts *parts)
{
    return (request->rows - 1) * parts->stride + parts->weight.tensor.desc.shape.dim[2];
}

static int repeats(const compute_types *types)
{
    return types->src == ZN_BF16X2 ? 2 : 1;
}

// With a stride the last columns may have no window of their own: the padding is then that of the
// left, unless the last window reaches beyond it.
static int pad_right(const zn_conv_parts *parts)
{
    const int64_t from = parts->node->inputs[0]->desc.shape.dim[2];
    const int64_t last = (parts->node->desc.shape.dim[2] - 1) * parts->stride;
    const int reach = (int)(last + parts->weight.tensor.desc.shape.dim[3] - from - parts->pad);
    return parts->stride != 1 && reach < parts->pad ? parts->pad : reach;
}

static zn_dnn_conv_desc describe(const zn_lowering_request *request, const zn_conv_parts *parts,
                                 const compute_types *types)
{
    const zn_desc *x = &parts->node->inputs[0]->desc, *y = &parts->node->desc;
    const int64_t *w = parts->weight.tensor.desc.shape.dim;
    zn_dnn_conv_desc desc = {
        .rows_in = rows_in(request, parts),
        .width_in = x->shape.dim[2],
        .channels_in = x->shape.dim[3] * repeats(types),
        .rows_out = request->rows,
        .width_out = y->shape.dim[2],
        .channels_out = y->shape.dim[3],
        .kernel_h = (int)w[2],
        .kernel_w = (int)w[3],
        .stride = parts->stride,
        .pad_left = parts->pad,
        .pad_right = pad_right(parts),
        .src = types->src == ZN_BF16X2 ? ZN_BF16 : types->src,
        .weights = types->weights,
        .dst = types->dst,
        .bias = parts->bias,
        .relu = parts->relu,
        .residual = parts->residual,
        .src_scale = types->src == x->type ? x->scale : 1.0f,
        .dst_scale = zn_is_quantised(types->dst) ? y->scale : 1.0f,
    };
    if (parts->residual) {
        bool raw = residual_fits_raw(parts, types->dst);
        desc.residual_type = raw ? parts->residual->desc.type : types->dst;
        desc.residual_scale = raw ? parts->residual->desc.scale : 1.0f;
    }
    return desc;
}

static zenith_status try_dnn(conv_lowering *l, const zn_lowering_request *request,
                             const zn_conv_parts *parts, const compute_types *types, zn_error *err)
{
    zn_dnn_conv_desc desc = describe(request, parts, types);
    float *scales = NULL;
    zenith_status status = ZENITH_OK;
    if (types->weights == ZN_S8) {
        size_t bytes = (size_t)desc.channels_out * sizeof *scales;
        scales = zn_alloc(bytes);
        if (!scales) return zn_fail_memory(err, bytes);
        zn_conv_weight_scales(zn_conv_weight_whole(&parts->weight), types->levels, scales);
        desc.weight_scales = scales;
    }
    ZN_GO(zn_dnn_conv_create(request->dnn, &desc, &l->conv, err));
    ZN_GO(zn_conv_weights_for_dnn(request->packs, &parts->weight, types->weights, types->levels,
                                  repeats(types), l->conv, &l->weights, err));
fail:
    zn_free(scales);
    return status;
}

// Does oneDNN compute with inputs of this type on this CPU, without tricks that cost speed or bits?
// Its bf16 is half as fast as its f32 with AVX512_BF16 alone, and a sixth where that is emulated;
// and it halves 8-bit weights for a signed input where VNNI is missing.
static bool computes_natively(const zn_cpu *cpu, zn_type type)
{
    switch (type) {
    case ZN_F32:
        return true;
    case ZN_BF16:
    case ZN_BF16X2:
        return zn_cpu_has(cpu->flags, ZN_CPU_AMX);
    case ZN_U8:
        return true;
    case ZN_S8:
        return cpu->flags & ZN_CPU_AVX512_VNNI;
    default:
        return false;
    }
}

// Tries what oneDNN might do, the least converting first; ZENITH_UNSUPPORTED where it does none, or
// does in f32 what takes half the multiplications by winograd.
static zenith_status find_in_dnn(conv_lowering *l, const zn_lowering_request *request,
                                 const zn_conv_parts *parts, compute_types *chosen, zn_error *err)
{
    if (pad_right(parts) < 0) return ZENITH_UNSUPPORTED; // columns that nothing reads
    const zn_type x = parts->node->inputs[0]->desc.type, y = parts->node->desc.type;
    const int levels = zn_is_quantised(x) ? zn_conv_levels(&request->cpu) : 0;
    const zn_type weights = zn_is_quantised(x) ? ZN_S8 : x == ZN_BF16X2 ? ZN_BF16 : x;
    const compute_types tries[] = {
        {x, weights, y, levels},
        {x, weights, ZN_F32, levels},
        {ZN_F32, ZN_F32, ZN_F32, levels},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        if (tries[i].src == ZN_F32 && zn_conv_winograd_fits(request, parts)) break;
        if (!computes_natively(&request->cpu, tries[i].src)) continue;
        if (parts->residual && tries[i].dst != ZN_F32 && !residual_fits_raw(parts, tries[i].dst))
            continue;
        zn_error why = {0};
        zenith_status status = try_dnn(l, request, parts, &tries[i], &why);
        if (status == ZENITH_OK) {
            *chosen = tries[i];
            zn_text_format(l->id, ID_SIZE, "%s%s",
                           tries[i].src == x ? "" : "f32:", zn_dnn_conv_id(l->conv));
            return ZENITH_OK;
        }
        if (status != ZENITH_UNSUPPORTED) return zn_fail(err, status, "%s", why.text);
    }
    return ZENITH_UNSUPPORTED;
}

static zenith_status use_kernel(conv_lowering *l, const zn_lowering_request *request,
                                const zn_conv_parts *parts, compute_types *chosen, zn_error *err)
{
    const zn_desc *x = &parts->node->inputs[0]->desc, *y = &parts->node->desc;
    const int64_t *w = parts->weight.tensor.desc.shape.dim;
    const zn_kernels *kernels = request->kernels;
    const int levels = zn_is_quantised(x->type) ? zn_conv_levels(&request->cpu) : 0;
    *chosen = (compute_types){ZN_F32, ZN_F32, ZN_F32, levels};
    if (zn_conv_winograd_fits(request, parts)) {
        zn_text_format(l->id, ID_SIZE, "winograd:%s", kernels->name);
        return zn_conv_winograd_make(request, parts, levels, l->bias, &l->winograd, err);
    }
    ZN_TRY(zn_conv_weights_for_kernel(request->packs, &parts->weight, levels, &l->weights, err));
    l->kernel = kernels->conv_f32;
    l->kernel_args = (zn_conv_f32_args){
        .width_in = x->shape.dim[2],
        .channels_in = x->shape.dim[3],
        .packed = l->weights,
        .bias = l->bias,
        .width_out = y->shape.dim[2],
        .channels_out = y->shape.dim[3],
        .kernel_h = (int)w[2],
        .kernel_w = (int)w[3],
        .stride = parts->stride,
        .pad_left = parts->pad,
        .relu = parts->relu,
    };
    zn_text_format(l->id, ID_SIZE, "kernel:%s", kernels->name);
    return ZENITH_OK;
}

static zenith_status find_convolution(conv_lowering *l, const zn_lowering_request *request,
                                      const zn_conv_parts *parts, compute_types *chosen,
                                      zn_error *err)
{
    if (request->dnn) {
        zenith_status status = find_in_dnn(l, request, parts, chosen, err);
        if (status != ZENITH_UNSUPPORTED) return status;
    }
    return use_kernel(l, request, parts, chosen, err);
}

// Conversions around a convolution of the chosen types, and where their rows lie in scratch.
static zenith_status surround(conv_lowering *l, const zn_lowering_request *request,
                              const zn_conv_parts *parts, const compute_types *types, zn_error *err)
{
    const zn_desc *x = &parts->node->inputs[0]->desc, *y = &parts->node->desc;
    const zn_kernels *kernels = request->kernels;
    bool takes_scale = l->conv && types->src == x->type;
    l->widens = !takes_scale && (x->type != ZN_F32 || x->scale != 1.0f);
    if (l->widens)
        ZN_TRY(zn_conversion_make(kernels, x->type, x->scale, ZN_F32, 1, &l->widen, err));
    l->narrows = types->dst != y->type || (!zn_is_quantised(y->type) && y->scale != 1.0f);
    if (l->narrows)
        ZN_TRY(zn_conversion_make(kernels, types->dst, 1, y->type, y->scale, &l->narrow, err));
    if (parts->residual) {
        const zn_desc *r = &parts->residual->desc;
        bool plain = l->conv || r->scale == 1.0f; // our kernels add without a scale
        l->residual_raw = plain && residual_fits_raw(parts, types->dst);
        l->residual_bytes = l->dst_count * zn_type_size(r->type);
        if (!l->residual_raw)
            ZN_TRY(
                zn_conversion_make(kernels, r->type, r->scale, ZN_F32, 1, &l->residual_widen, err));
    }
    l->dst_at = l->widens ? zn_round_up(l->src_count * sizeof(float), ZN_ALIGN) : 0;
    l->conv_at = l->dst_at + (l->narrows ? zn_round_up(l->dst_count * sizeof(float), ZN_ALIGN) : 0);
    l->base.scratch_bytes = l->conv_at + (l->conv ? zn_dnn_conv_scratch(l->conv)
                                                  : zn_conv_winograd_scratch(&l->winograd));
    l->base.any_rows = l->winograd.run && l->passes == 1 && !l->widens && !l->narrows &&
                       (!parts->residual || l->residual_raw);
    return ZENITH_OK;
}

static zenith_status count_elements(conv_lowering *l, const zn_lowering_request *request,
                                    const zn_conv_parts *parts, zn_error *err)
{
    const int64_t *x = parts->node->inputs[0]->desc.shape.dim, *y = parts->node->desc.shape.dim;
    const zn_desc src = zn_desc_make(ZN_F32, ZN_SHAPE(rows_in(request, parts), x[2], x[3]));
    const zn_desc dst = zn_desc_make(ZN_F32, ZN_SHAPE(request->rows, y[2], y[3]));
    size_t src_bytes, dst_bytes;
    if (!zn_desc_bytes(&src, &src_bytes) || !zn_desc_bytes(&dst, &dst_bytes) ||
        src_bytes > SIZE_MAX / 4 || dst_bytes > SIZE_MAX / 4)
        return zn_fail_memory(err, SIZE_MAX);
    l->src_count = src_bytes / sizeof(float);
    l->dst_count = dst_bytes / sizeof(float);
    l->src_step = (size_t)(request->rows * parts->stride * x[2] * x[3]) *
                  zn_type_size(parts->node->inputs[0]->desc.type);
    l->dst_step = l->dst_count * zn_type_size(parts->node->desc.type);
    if (parts->residual) l->residual_step = l->dst_count * zn_type_size(parts->residual->desc.type);
    return ZENITH_OK;
}

// A pass has no row of another, since a residual may lie where the result goes.
static int64_t rows_of_pass(const zn_lowering_request *request, const zn_conv_parts *parts)
{
    const zn_cpu *cpu = &request->cpu;
    if (computes_natively(cpu, parts->node->inputs[0]->desc.type) &&
        computes_natively(cpu, parts->node->desc.type))
        return request->rows;
    for (int64_t rows = WIDE_ROWS; rows >= FEWEST_WIDE_ROWS; rows--)
        if (request->rows % rows == 0) return rows;
    return request->rows;
}

zenith_status zn_conv_lower(const zn_lowering_request *asked, const zn_conv_parts *parts,
                            zn_lowering **out, zn_error *err)
{
    zn_lowering_request of_pass = *asked;
    const zn_lowering_request *request = &of_pass;
    of_pass.rows = rows_of_pass(asked, parts);
    if (zn_conv_dot_fits(&asked->cpu, parts)) return zn_conv_dot_lower(asked, parts, out, err);
    conv_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    compute_types types = {0}; // GCC at -O1 does not see that find_convolution fills it
    zenith_status status;
    l->base = (zn_lowering){.run = run_conv, .free = lowering_free, .id = l->id};
    l->rows = request->rows;
    l->passes = asked->rows / request->rows;
    l->residual_input = parts->residual ? parts->residual_input : -1;
    ZN_GO(count_elements(l, request, parts, err));
    if (parts->bias)
        ZN_GO(zn_pack_vector(request->packs, &parts->bias->constant, (const void **)&l->bias, err));
    ZN_GO(find_convolution(l, request, parts, &types, err));
    ZN_GO(surround(l, request, parts, &types, err));
    *out = &l->base;
    return ZENITH_OK;
fail:
    lowering_free(&l->base);
    return status;
}
