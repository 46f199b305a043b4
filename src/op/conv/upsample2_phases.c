// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// upsample2_conv in bf16 and 8 bits. Of the nine pixels under the kernel four pairs of rows and
// columns are equal, so each of the four outputs that a pixel grows into is a 2x2 convolution of
// the small map with sums of weights:
//
//     rows    even output row 2y:    w0 on row y - 1, w1 + w2 on row y
//             odd output row 2y + 1: w0 + w1 on row y, w2 on row y + 1      columns alike
//
// That is 4/9 of the work. The sums of weights are rounded to the type of the convolution.
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/kernel/kernels.h"
#include "src/op/conv/upsample2_lowerings.h"
#include "src/op/op_values.h"

enum { PHASES = 4, X = 0, WEIGHT = 1 };

typedef struct phases_lowering {
    zn_lowering base;
    zn_conv_dot phases[PHASES]; // 2 * (odd row) + (odd column)
    int threads;
    size_t src_row, dst_row; // bytes
    size_t scratch_per_thread;
    char id[32];
} phases_lowering;

// A call in flight: rows of the small map, each of which is two rows of the result.
typedef struct phases_call {
    const phases_lowering *l;
    const zn_call *call;
    int64_t first, end; // small rows of the call's first and last row
    zn_conv_dot_parts parts;
} phases_call;

// One phase of a part: the rows it has among those that the call asks for.
static void run_phase(const phases_call *c, int phase, size_t part, void *scratch)
{
    const phases_lowering *l = c->l;
    const zn_call *call = c->call;
    const int odd = phase / 2;
    int64_t begin = c->first, end = c->end;
    if (2 * begin + odd < call->row) begin++;
    if (2 * (end - 1) + odd >= call->row + call->rows) end--;
    if (begin >= end) return;
    zn_conv_dot_args args = l->phases[phase].args;
    // The window begins with the row that the call's first row asks for first.
    const int64_t skipped = begin - 1 + odd - zn_doubled_half(call->row - 1);
    const bool wrapped = skipped >= call->wrap;
    args.src = (const uint8_t *)call->inputs[X] + (size_t)skipped * l->src_row -
               (wrapped ? call->ring_bytes : 0);
    args.src_wrap = wrapped ? INT64_MAX : call->wrap - skipped;
    args.src_ring = call->ring_bytes;
    const int64_t row = 2 * begin + odd - call->row;
    args.dst = (uint8_t *)call->output + (size_t)row * l->dst_row +
               (size_t)(phase % 2) * l->dst_row / (size_t)(2 * args.width_out);
    if ((int64_t)part / c->parts.across * c->parts.rows >= end - begin) return;
    zn_conv_dot_run_part(&l->phases[phase], &args, &c->parts, part, end - begin, scratch);
}

static void phases_part(void *arg, size_t begin, size_t end)
{
    const phases_call *c = arg;
    (void)end; // one part at a time
    uint8_t *scratch = (uint8_t *)c->call->scratch + begin * c->l->scratch_per_thread;
    for (int phase = 0; phase < PHASES; phase++) run_phase(c, phase, begin, scratch);
}

static zenith_status run_phases(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const phases_lowering *l = (const phases_lowering *)base;
    phases_call c = {.l = l,
                     .call = call,
                     .first = zn_doubled_half(call->row),
                     .end = zn_doubled_half(call->row + call->rows - 1) + 1};
    c.parts = zn_conv_dot_share(l->phases[0].args.width_out, c.end - c.first, l->threads);
    zn_parallel(call->team, c.parts.count, 1, phases_part, &c);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    phases_lowering *l = (phases_lowering *)base;
    if (!l) return;
    for (int i = 0; i < PHASES; i++) zn_conv_dot_free(&l->phases[i]);
    zn_free(l);
}

// Which of the two rows (or columns) of a phase's kernel the row `at` of the 3x3 kernel falls on.
static int falls_on(int at, int odd)
{
    return odd ? at / 2 : (at + 1) / 2;
}

static void fold(const zn_tensor *weight, int phase, float *folded)
{
    const size_t planes = (size_t)(weight->desc.shape.dim[0] * weight->desc.shape.dim[1]);
    float plane[9];
    for (size_t i = 0; i < planes; i++, folded += 4) {
        zn_values_get(weight, i * 9, 9, plane);
        for (int k = 0; k < 4; k++) folded[k] = 0;
        for (int tap = 0; tap < 9; tap++) {
            const int row = falls_on(tap / 3, phase / 2);
            folded[row * 2 + falls_on(tap % 3, phase % 2)] += plane[tap];
        }
    }
}

static zenith_status prepare_phase(phases_lowering *l, const zn_lowering_request *request,
                                   int phase, zn_error *err)
{
    zn_conv_parts parts = zn_upsample2_parts(request->node);
    const zn_tensor *weight = &request->node->inputs[WEIGHT]->constant;
    const int64_t *w = weight->desc.shape.dim;
    zn_tensor folded = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(w[0], w[1], 2, 2))};
    const size_t bytes = zn_value_count(&folded) * sizeof(float);
    char variant[16];
    folded.data = zn_alloc(bytes);
    if (!folded.data) return zn_fail_memory(err, bytes);
    fold(weight, phase, folded.data);
    zn_text_format(variant, sizeof variant, "phase %d", phase);
    parts.weight.tensor = folded;
    parts.weight.variant = variant;
    zenith_status status = zn_conv_dot_prepare(request, &parts, &l->phases[phase], err);
    zn_free(folded.data);
    if (status != ZENITH_OK) return status;
    zn_conv_dot_args *args = &l->phases[phase].args;
    args->dst_row = 2 * args->width_out; // every other row of the result
    args->dst_step = 2;
    args->width_out = args->width_in;
    args->pad_left = 1 - phase % 2;
    return ZENITH_OK;
}

bool zn_upsample2_phases_fit(const zn_cpu *cpu, const zn_node *node)
{
    const zn_conv_parts parts = zn_upsample2_parts(node);
    return zn_conv_dot_fits(cpu, &parts);
}

zenith_status zn_upsample2_phases_lower(const zn_lowering_request *request, zn_lowering **out,
                                        zn_error *err)
{
    phases_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    const zn_desc *x = &request->node->inputs[X]->desc, *y = &request->node->desc;
    zenith_status status;
    l->base = (zn_lowering){.run = run_phases, .free = lowering_free, .id = l->id};
    l->threads = request->threads;
    l->src_row = (size_t)(x->shape.dim[2] * x->shape.dim[3]) * zn_type_size(x->type);
    l->dst_row = (size_t)(y->shape.dim[2] * y->shape.dim[3]) * zn_type_size(y->type);
    zn_text_format(l->id, sizeof l->id, "dot:%s:phases", request->kernels->conv_dot_name);
    for (int phase = 0; phase < PHASES; phase++) {
        ZN_GO(prepare_phase(l, request, phase, err));
    }
    const size_t bytes = zn_conv_dot_scratch(&l->phases[0].args, request->rows / 2 + 1);
    l->scratch_per_thread = zn_round_up(bytes, ZN_ALIGN);
    l->base.scratch_bytes = l->scratch_per_thread * (size_t)l->threads;
    *out = &l->base;
    return ZENITH_OK;
fail:
    lowering_free(&l->base);
    return status;
}
