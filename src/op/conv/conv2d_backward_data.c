// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a convolution with respect to its input: dy spread back over the pixels that each
// of its values was made from.
//
// With stride 1 that is a convolution of dy with the weights turned around, input and output
// channels exchanged. With stride s the pixels (s m + a, s k + b) for each a and b below s are one:
// every s-th tap falls on them, from the tap e = (a + pad) mod s on. With T taps and d = (a + pad -
// e) / s
//
//     dx[s m + a] = sum over t < T of dy[m + d - t] w[e + s t]
//
// which is a convolution with T - 1 - d padding on the left. Where that is negative, zeros are put
// before the taps. So both run on the code of convolutions (conv_lowering.h), in any of its types.
#include "src/base/text.h"
#include "src/op/conv/conv_lowering.h"
#include "src/op/operator.h"

#include <string.h>

enum { DY, WEIGHT, INPUTS, VARIANT_SIZE = 48 };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    const zn_node *weight = node->inputs[WEIGHT];
    const zn_shape *w = &weight->desc.shape;
    const int64_t *dy = node->inputs[DY]->desc.shape.dim;
    bool fits = weight->kind == ZN_NODE_PARAMETER && w->rank == 4 && w->dim[0] == dy[3] &&
                w->dim[1] >= 1 && w->dim[2] == a->kernel_h && w->dim[3] == a->kernel_w &&
                a->stride >= 1 && a->pad >= 0 && a->after >= 0;
    fits = fits &&
           (a->height + 2 * (int64_t)a->pad + a->after - w->dim[2]) / a->stride + 1 == dy[1] &&
           (a->width + 2 * (int64_t)a->pad + a->after - w->dim[3]) / a->stride + 1 == dy[2];
    if (!fits)
        return zn_fail(err, ZENITH_INTERNAL, "conv2d_backward_data: '%s' does not fit",
                       weight->name);
    if (zn_is_quantised(node->inputs[DY]->desc.type))
        return zn_fail(err, ZENITH_UNSUPPORTED, "gradients are kept in floating types");
    zn_infer_like_input(node);
    node->desc.shape = ZN_SHAPE(dy[0], a->height, a->width, w->dim[1]);
    return ZENITH_OK;
}

static int64_t floor_div(int64_t number, int64_t by)
{
    return number / by - (number % by < 0);
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    if (input != DY) return out;
    zn_rows need = {floor_div(out.begin + a->pad - a->kernel_h + a->stride, a->stride),
                    floor_div(out.end - 1 + a->pad, a->stride) + 1};
    if (a->stride == 1 && need.begin > out.begin) need.begin = out.begin; // under zero taps
    if (need.begin >= need.end) need.begin = need.end - 1; // some row, though it adds nothing
    return need;
}

// dx of one pixel and channel.
static double spread(const zn_node *node, const zn_tensor *inputs, int64_t n, int64_t row,
                     int64_t column, int64_t channel)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    const int64_t *yd = inputs[DY].desc.shape.dim, *wd = inputs[WEIGHT].desc.shape.dim;
    double sum = 0;
    for (int64_t i = 0; i < wd[2]; i++) {
        for (int64_t j = 0; j < wd[3]; j++) {
            const int64_t y = row + a->pad - i, x = column + a->pad - j;
            if (y < 0 || x < 0 || y % a->stride != 0 || x % a->stride != 0) continue;
            if (y / a->stride >= yd[1] || x / a->stride >= yd[2]) continue;
            const int64_t at = ((n * yd[1] + y / a->stride) * yd[2] + x / a->stride) * yd[3];
            for (int64_t o = 0; o < wd[0]; o++) {
                const int64_t weight_at = ((o * wd[1] + channel) * wd[2] + i) * wd[3] + j;
                sum += (double)zn_value_get(&inputs[DY], (size_t)(at + o)) *
                       (double)zn_value_get(&inputs[WEIGHT], (size_t)weight_at);
            }
        }
    }
    return sum;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = output->desc.shape.dim;
    size_t next = 0;
    for (int64_t n = 0; n < dim[0]; n++) {
        for (int64_t row = 0; row < dim[1]; row++) {
            for (int64_t column = 0; column < dim[2]; column++) {
                for (int64_t c = 0; c < dim[3]; c++)
                    zn_value_set(output, next++, (float)spread(node, inputs, n, row, column, c));
            }
        }
    }
}

// --- as convolutions ----------------------------------------------------------------------------

// Along one side: which taps fall on the pixels s m + a, and where their dy begins.
typedef struct axis {
    int64_t first;   // e: the first tap
    int64_t taps;    // of the kernel, with zeros
    int64_t zeros;   // taps that are zero, before the others
    int64_t padding; // zero pixels before dy
} axis;

static axis make_axis(int64_t kernel, int stride, int pad, int64_t phase)
{
    axis made = {.first = (phase + pad) % stride};
    const int64_t shift = (phase + pad - made.first) / stride; // d
    made.taps = made.first < kernel ? (kernel - made.first + stride - 1) / stride : 0;
    made.padding = made.taps - 1 - shift;
    if (made.padding < 0) {
        made.zeros = -made.padding;
        made.taps += made.zeros;
        made.padding = 0;
    }
    return made;
}

// The convolution for the pixels (s m + a, s k + b).
typedef struct phase {
    axis down, across;
    zn_node node; // what conv_lowering sees: dy, and a result of the phase's own shape
    char variant[VARIANT_SIZE];
} phase;

// One tap of the phase's weights [in, out, taps, taps]: [in, out] of them, from the kernel's tap
// `from` on, every `taps` elements at `to`.
static void turn_tap(const zn_tensor *weight, size_t from, size_t taps, float *to)
{
    const int64_t *w = weight->desc.shape.dim;
    const size_t out = (size_t)w[0], in = (size_t)w[1], all = (size_t)(w[2] * w[3]);
    for (size_t i = 0; i < in; i++) {
        for (size_t o = 0; o < out; o++, to += taps)
            *to = zn_value_get(weight, (o * in + i) * all + from);
    }
}

// The same of all taps of a kernel of stride 1, all of which a phase has: plain weights are turned
// after every step of training. Some input channels at a time, so that lines are read and written
// whole.
static void turn_plain(const zn_tensor *weight, float *turned)
{
    enum { SOME = 16 };
    const float *src = weight->data;
    const int64_t *w = weight->desc.shape.dim, out = w[0], in = w[1], taps = w[2] * w[3];
    for (int64_t first = 0; first < in; first += SOME) {
        const int64_t end = first + SOME < in ? first + SOME : in;
        for (int64_t o = 0; o < out; o++) {
            for (int64_t i = first; i < end; i++) {
                const float *from = src + (o * in + i) * taps;
                float *to = turned + (i * out + o) * taps;
                for (int64_t tap = 0; tap < taps; tap++) to[tap] = from[taps - 1 - tap];
            }
        }
    }
}

static bool is_plain(const phase *p)
{
    const zn_conv2d_backward_attributes *a = p->node.attributes;
    const zn_tensor *weight = &p->node.inputs[WEIGHT]->constant;
    return a->stride == 1 && p->down.zeros == 0 && p->across.zeros == 0 && !weight->rows &&
           weight->desc.type == ZN_F32 && weight->desc.scale == 1.0f &&
           (uintptr_t)weight->data % sizeof(float) == 0;
}

// weights [out, in, kh, kw] to those of the phase, [in, out, taps, taps], the last tap first.
static void turn(const void *arg, float *turned)
{
    const phase *p = arg;
    const zn_conv2d_backward_attributes *a = p->node.attributes;
    const zn_tensor *weight = &p->node.inputs[WEIGHT]->constant;
    const int64_t *w = weight->desc.shape.dim, high = p->down.taps, wide = p->across.taps;
    if (is_plain(p)) {
        turn_plain(weight, turned);
        return;
    }
    memset(turned, 0, (size_t)(w[0] * w[1] * high * wide) * sizeof *turned);
    for (int64_t row = p->down.zeros; row < high; row++) {
        const int64_t top = p->down.first + a->stride * (high - 1 - row);
        for (int64_t column = p->across.zeros; column < wide; column++) {
            const int64_t left = p->across.first + a->stride * (wide - 1 - column);
            turn_tap(weight, (size_t)(top * w[3] + left), (size_t)(high * wide),
                     turned + row * wide + column);
        }
    }
}

static void make_phase(const zn_node *node, int64_t y, int64_t x, phase *p)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    const int64_t *dim = node->desc.shape.dim;
    *p = (phase){.down = make_axis(a->kernel_h, a->stride, a->pad, y),
                 .across = make_axis(a->kernel_w, a->stride, a->pad, x)};
    zn_text_format(p->variant, VARIANT_SIZE, "turned %d %d %lld %lld", a->stride, a->pad,
                   (long long)y, (long long)x);
    p->node = *node;
    p->node.desc.shape = ZN_SHAPE(1, (dim[1] - y + a->stride - 1) / a->stride,
                                  (dim[2] - x + a->stride - 1) / a->stride, dim[3]);
}

static zn_conv_parts take_apart(const zn_node *node, const phase *p)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    const zn_tensor *parameter = &node->inputs[WEIGHT]->constant;
    const int64_t *w = parameter->desc.shape.dim;
    const zn_desc turned = zn_desc_make(ZN_F32, ZN_SHAPE(w[1], w[0], p->down.taps, p->across.taps));
    return (zn_conv_parts){.node = &p->node,
                           .weight = {.tensor = {.desc = turned},
                                      .source = parameter->data,
                                      .variant = p->variant,
                                      .make = turn,
                                      .arg = p},
                           .stride = 1,
                           .pad = (int)p->across.padding,
                           .direct = a->direct};
}

static zenith_status lower_phase(const zn_lowering_request *request, const phase *p, int64_t rows,
                                 zn_lowering **out, zn_error *err)
{
    const zn_conv_parts parts = take_apart(request->node, p);
    zn_lowering_request of_phase = *request;
    of_phase.node = &p->node;
    of_phase.rows = rows;
    return zn_conv_lower(&of_phase, &parts, out, err);
}

// --- with a stride: the phases, and their pixels put between each other --------------------------

typedef struct strided_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_lowering **phases;     // stride * stride; NULL: no pixel of the map is in it
    int64_t rows, margin;     // of a phase per call; rows of zeros around dy's
    size_t dy_row, pixel;     // bytes
    size_t result_at, own_at; // offsets in scratch: a phase's result, and what its lowering needs
} strided_lowering;

// A call in flight: dy's rows between margins of zeros, so that a phase may compute a row too many.
typedef struct strided_call {
    const strided_lowering *l;
    const zn_call *call;
    int64_t first; // dy's row at the beginning of the scratch
} strided_call;

static strided_call stage(const strided_lowering *l, const zn_call *call)
{
    const zn_rows need = rows(l->node, DY, (zn_rows){call->row, call->row + call->rows});
    const size_t margin = (size_t)l->margin * l->dy_row;
    const size_t bytes = (size_t)(need.end - need.begin) * l->dy_row;
    uint8_t *scratch = call->scratch;
    memset(scratch, 0, margin);
    memcpy(scratch + margin, call->inputs[DY], bytes);
    memset(scratch + margin + bytes, 0, l->result_at - margin - bytes);
    return (strided_call){l, call, need.begin - l->margin};
}

// Puts the rows of a phase's result, from its row m on, where they belong.
static void interleave(const strided_call *c, const phase *p, int64_t m, int64_t y, int64_t x)
{
    const zn_conv2d_backward_attributes *a = c->l->node->attributes;
    const size_t pixel = c->l->pixel, across = (size_t)p->node.desc.shape.dim[2];
    const uint8_t *src = (const uint8_t *)c->call->scratch + c->l->result_at;
    for (int64_t i = 0; i < c->l->rows; i++) {
        const int64_t row = (m + i) * a->stride + y - c->call->row;
        if (row >= c->call->rows) break;
        uint8_t *dst = (uint8_t *)c->call->output +
                       ((size_t)row * (size_t)a->width + (size_t)x) * pixel;
        for (size_t k = 0; k < across; k++, src += pixel, dst += (size_t)a->stride * pixel)
            memcpy(dst, src, pixel);
    }
}

static zenith_status run_phase(const strided_call *c, int64_t y, int64_t x, zn_error *err)
{
    const strided_lowering *l = c->l;
    const zn_conv2d_backward_attributes *a = l->node->attributes;
    const zn_lowering *lowering = l->phases[y * a->stride + x];
    if (!lowering) return ZENITH_OK;
    phase p;
    make_phase(l->node, y, x, &p);
    const int64_t m = floor_div(c->call->row - y + a->stride - 1, a->stride);
    uint8_t *scratch = c->call->scratch;
    const void *dy = scratch + (size_t)(m - p.down.padding - c->first) * l->dy_row;
    const zn_call call = {.inputs = &dy,
                          .output = scratch + l->result_at,
                          .row = m,
                          .rows = l->rows,
                          .wrap = INT64_MAX,
                          .scratch = scratch + l->own_at,
                          .team = c->call->team};
    ZN_TRY(lowering->run(lowering, &call, err));
    interleave(c, &p, m, y, x);
    return ZENITH_OK;
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    const strided_lowering *l = (const strided_lowering *)base;
    const int stride = ((const zn_conv2d_backward_attributes *)l->node->attributes)->stride;
    const strided_call c = stage(l, call);
    for (int i = 0; i < stride * stride; i++) ZN_TRY(run_phase(&c, i / stride, i % stride, err));
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    strided_lowering *l = (strided_lowering *)base;
    if (!l) return;
    const int stride = ((const zn_conv2d_backward_attributes *)l->node->attributes)->stride;
    for (int i = 0; l->phases && i < stride * stride; i++) {
        if (l->phases[i]) l->phases[i]->free(l->phases[i]);
    }
    zn_free(l->phases);
    zn_free(l);
}

static zenith_status prepare(strided_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_conv2d_backward_attributes *a = node->attributes;
    const zn_desc *dy = &node->inputs[DY]->desc;
    const size_t phases = (size_t)a->stride * (size_t)a->stride;
    l->phases = zn_alloc_zero(phases * sizeof *l->phases);
    if (!l->phases) return zn_fail_memory(err, phases * sizeof *l->phases);
    l->rows = (request->rows + a->stride - 1) / a->stride;
    l->margin = a->kernel_h + a->pad + 2;
    l->dy_row = (size_t)(dy->shape.dim[2] * dy->shape.dim[3]) * zn_type_size(dy->type);
    l->pixel = (size_t)node->desc.shape.dim[3] * zn_type_size(node->desc.type);
    const zn_rows need = rows(node, DY, (zn_rows){0, request->rows});
    const int64_t staged = need.end - need.begin + 1 + 2 * l->margin; // one more if it begins oddly
    const size_t across = (size_t)(a->width + a->stride - 1) / (size_t)a->stride;
    l->result_at = zn_round_up((size_t)staged * l->dy_row, ZN_ALIGN);
    l->own_at = l->result_at + zn_round_up((size_t)l->rows * across * l->pixel, ZN_ALIGN);
    size_t own = 0;
    for (size_t i = 0; i < phases; i++) {
        phase p;
        make_phase(node, (int64_t)i / a->stride, (int64_t)i % a->stride, &p);
        if (p.node.desc.shape.dim[1] == 0 || p.node.desc.shape.dim[2] == 0) continue;
        ZN_TRY(lower_phase(request, &p, l->rows, &l->phases[i], err));
        if (l->phases[i]->scratch_bytes > own) own = l->phases[i]->scratch_bytes;
    }
    l->base.scratch_bytes = l->own_at + own;
    return ZENITH_OK;
}

static zenith_status lower_strided(const zn_lowering_request *request, zn_lowering **out,
                                   zn_error *err)
{
    strided_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = "phases"};
    l->node = request->node;
    zenith_status status = prepare(l, request, err);
    if (status != ZENITH_OK)
        lowering_free(&l->base);
    else
        *out = &l->base;
    return status;
}

static int stride_of(const zn_node *node)
{
    return ((const zn_conv2d_backward_attributes *)node->attributes)->stride;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    if (stride_of(request->node) > 1) return lower_strided(request, out, err);
    phase whole;
    make_phase(request->node, 0, 0, &whole);
    return lower_phase(request, &whole, request->rows, out, err);
}

static bool rings(const zn_lowering_request *request)
{
    if (stride_of(request->node) > 1) return false;
    phase whole;
    make_phase(request->node, 0, 0, &whole);
    const zn_conv_parts parts = take_apart(request->node, &whole);
    return zn_conv_dot_fits(&request->cpu, &parts);
}

static double flops(const zn_node *node)
{
    const int64_t *dy = node->inputs[DY]->desc.shape.dim, *w = node->inputs[1]->desc.shape.dim;
    return 2.0 * (double)dy[0] * (double)dy[1] * (double)dy[2] * (double)dy[3] * (double)w[1] *
           (double)w[2] * (double)w[3];
}

static const zn_conv2d_backward_attributes same_1 = {1, 1, false, 1, 1, 3, 3, 0},
                                           same = {1, 1, false, 5, 7, 3, 3, 0},
                                           far = {1, 2, false, 5, 7, 2, 2, 0},
                                           point = {1, 0, false, 3, 9, 1, 1, 0},
                                           half = {2, 1, false, 9, 12, 3, 3, 0},
                                           halves = {2, 1, false, 8, 20, 3, 3, 0},
                                           skip = {2, 0, false, 6, 5, 1, 1, 0},
                                           walsh = {8, 0, false, 16, 24, 8, 8, 0},
                                           down = {2, 0, false, 6, 8, 3, 3, 1},
                                           wide = {1, 1, false, 4, 37, 3, 3, 0},
                                           exact = {1, 1, true, 4, 5, 3, 3, 0};

const zn_op zn_op_conv2d_backward_data = {
    .name = "conv2d_backward_data",
    .summary = "the gradient of a convolution with respect to its input",
    .attributes_size = sizeof(zn_conv2d_backward_attributes),
    .traits = ZN_OP_MATMUL,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .rings = rings,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &same_1, 2, ZN_MAP(1, 1, 4), {4, {4, 3, 3, 3}}),
                          ZN_SAMPLE("odd", &same, 2, ZN_MAP(5, 7, 3), {4, {3, 4, 3, 3}}),
                          ZN_SAMPLE("far", &far, 2, ZN_MAP(8, 10, 3), {4, {3, 4, 2, 2}}),
                          ZN_SAMPLE("point", &point, 2, ZN_MAP(3, 9, 4), {4, {4, 64, 1, 1}}),
                          ZN_SAMPLE("half", &half, 2, ZN_MAP(5, 6, 64), {4, {64, 3, 3, 3}}),
                          ZN_SAMPLE("halves", &halves, 2, ZN_MAP(4, 10, 64), {4, {64, 32, 3, 3}}),
                          ZN_SAMPLE("skip", &skip, 2, ZN_MAP(3, 3, 16), {4, {16, 12, 1, 1}}),
                          ZN_SAMPLE("walsh", &walsh, 2, ZN_MAP(2, 3, 64), {4, {64, 3, 8, 8}}),
                          ZN_SAMPLE("wide", &wide, 2, ZN_MAP(4, 37, 64), {4, {64, 64, 3, 3}}),
                          ZN_SAMPLE("exact", &exact, 2, ZN_MAP(4, 5, 32), {4, {32, 16, 3, 3}}),
                          ZN_SAMPLE("down", &down, 2, ZN_MAP(3, 4, 32), {4, {32, 16, 3, 3}})),
};
