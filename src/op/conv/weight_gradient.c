// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/conv/weight_gradient.h"
#include "src/kernel/kernels.h"

#include "src/op/row_lowering.h"

enum { WIDE_ROWS = 16 }; // of dy, widened together

// Rows of src that `rows` rows of dy are made from.
static int64_t rows_under(const zn_conv_weight_gradient_args *args, int64_t rows)
{
    return (rows - 1) * args->stride + args->kernel_h;
}

// One call of the kernel for each thread.
typedef struct job {
    const zn_weight_gradient *gradient;
    zn_conv_weight_gradient_args args;
    uint8_t *scratch;
} job;

static void run_parts(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    for (size_t part = begin; part < end; part++) {
        zn_conv_weight_gradient_args args = j->args;
        args.part = (int)part;
        j->gradient->kernel(&args, j->scratch + part * j->gradient->part_bytes);
    }
}

static const void *take_rows(const zn_weight_gradient *g, const void *map,
                             const zn_conversion *widen, size_t row_count, int64_t row,
                             int64_t count, uint8_t *wide, zn_team *team)
{
    const uint8_t *src = (const uint8_t *)map + (size_t)row * row_count * zn_type_size(widen->from);
    if (!g->widens) return src;
    zn_conversion_run(widen, team, src, wide, (size_t)count * row_count);
    return wide;
}

void zn_weight_gradient_run(const zn_weight_gradient *g, const zn_call *call, float *dw,
                            uint8_t *scratch)
{
    job j = {.gradient = g, .args = g->args, .scratch = scratch};
    zn_conv_weight_gradient_args *args = &j.args;
    args->dw = dw;
    for (int64_t row = 0; row < g->rows; row += g->step) {
        args->rows = g->rows - row < g->step ? g->rows - row : g->step;
        args->src = take_rows(g, call->inputs[g->src], &g->widen_src, g->src_row,
                              row * args->stride, rows_under(args, args->rows), scratch + g->src_at,
                              call->team);
        args->dy = take_rows(g, call->inputs[g->dy], &g->widen_dy, g->dy_row, row, args->rows,
                             scratch + g->dy_at, call->team);
        args->add = row > 0;
        zn_parallel(call->team, (size_t)args->parts, 1, run_parts, &j);
    }
}

static bool is_taken(const zn_desc *desc)
{
    return (desc->type == ZN_F32 || desc->type == ZN_BF16) && desc->scale == 1.0f;
}

static zenith_status prepare_widening(zn_weight_gradient *g, const zn_lowering_request *request,
                                      zn_error *err)
{
    ZN_TRY(zn_conversion_widen(request, g->src, &g->widen_src, err));
    ZN_TRY(zn_conversion_widen(request, g->dy, &g->widen_dy, err));
    if (!g->widens) return ZENITH_OK;
    const size_t rows = (size_t)rows_under(&g->args, g->step);
    g->src_at = g->scratch_bytes;
    g->dy_at = g->src_at + zn_round_up(rows * g->src_row * sizeof(float), ZN_ALIGN);
    g->scratch_bytes = g->dy_at +
                       zn_round_up((size_t)g->step * g->dy_row * sizeof(float), ZN_ALIGN);
    return ZENITH_OK;
}

zenith_status zn_weight_gradient_prepare(const zn_lowering_request *request, int src, int dy,
                                         const zn_conv_weight_gradient_args *shape,
                                         zn_weight_gradient *out, zn_error *err)
{
    const zn_node *from = request->node->inputs[src], *to = request->node->inputs[dy];
    zn_weight_gradient g = {.args = *shape, .src = src, .dy = dy, .rows = to->desc.shape.dim[1]};
    g.widens = from->desc.type != to->desc.type || !is_taken(&from->desc) || !is_taken(&to->desc);
    g.step = g.widens && g.rows > WIDE_ROWS ? WIDE_ROWS : g.rows;
    g.src_row = zn_row_elements(from);
    g.dy_row = zn_row_elements(to);
    g.args.type = g.widens ? ZN_F32 : from->desc.type;
    g.args.rows = g.step;
    g.args.width_in = from->desc.shape.dim[2];
    g.args.channels_in = from->desc.shape.dim[3];
    g.args.width_out = to->desc.shape.dim[2];
    g.args.channels_out = to->desc.shape.dim[3];
    g.args.parts = request->threads;
    g.kernel = g.args.type == ZN_BF16 ? request->kernels->conv_weight_gradient_bf16
                                      : request->kernels->conv_weight_gradient;
    g.part_bytes = zn_round_up(zn_conv_weight_gradient_scratch(&g.args), ZN_ALIGN);
    g.scratch_bytes = g.part_bytes * (size_t)request->threads;
    ZN_TRY(prepare_widening(&g, request, err));
    *out = g;
    return ZENITH_OK;
}
