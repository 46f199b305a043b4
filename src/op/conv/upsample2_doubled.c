// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// upsample2_conv in f32: kernel/conv_doubled needs a quarter of the multiplications and never makes
// the doubled map.
#include "src/base/memory.h"
#include "src/kernel/kernels.h"
#include "src/op/conv/conv_weights.h"
#include "src/op/conv/upsample2_lowerings.h"
#include "src/op/convert_parallel.h"

typedef struct doubled_lowering {
    zn_lowering base;
    zn_doubled_fn *run;
    zn_doubled_args args;
    zn_area most;             // rows and columns of an area
    size_t parts, part_bytes; // scratch: the widened x, then one part a thread
    bool widens;              // for an x that is not plain f32
    zn_conversion widen;
    size_t widened_bytes;
} doubled_lowering;

typedef struct job {
    const doubled_lowering *lowering;
    zn_doubled_args args;
    zn_areas areas;
    uint8_t *scratch;
} job;

static void doubled_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const doubled_lowering *l = j->lowering;
    for (size_t part = begin; part < end; part++) {
        float *scratch = (float *)(void *)(j->scratch + part * l->part_bytes);
        for (int64_t i = (int64_t)part; i < zn_areas_count(&j->areas); i += (int64_t)l->parts) {
            const zn_area area = zn_areas_get(&j->areas, i);
            l->run(&j->args, &area, scratch);
        }
    }
}

static zenith_status run_doubled(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const doubled_lowering *l = (const doubled_lowering *)base;
    job j = {.lowering = l, .args = l->args, .scratch = call->scratch};
    j.args.src = call->inputs[0];
    j.args.dst = call->output;
    j.args.row = call->row;
    j.args.rows = call->rows;
    if (l->widens) {
        const int64_t first = zn_doubled_half(call->row - 1);
        const int64_t end = zn_doubled_half(call->row + call->rows) + 1;
        const int64_t pixels = (end - first) * l->args.width;
        zn_conversion_run(&l->widen, call->team, call->inputs[0], call->scratch,
                          (size_t)(pixels * l->args.channels_in));
        j.args.src = call->scratch;
        j.scratch += l->widened_bytes;
    }
    // Areas may follow the number of threads: which one a result lies in changes no bit.
    j.areas = zn_areas_cut(zn_doubled_rows(call->row, call->rows), l->most.rows, l->args.width,
                           l->most.columns, (int64_t)l->parts);
    zn_parallel(call->team, l->parts, 1, doubled_part, &j);
    return ZENITH_OK;
}

static zenith_status plan_scratch(doubled_lowering *l, const zn_lowering_request *request,
                                  zn_error *err)
{
    const zn_desc *x = &request->node->inputs[0]->desc;
    const zn_desc most = zn_desc_make(
        ZN_F32, ZN_SHAPE(request->rows / 2 + 2, l->args.width, l->args.channels_in));
    size_t parts_bytes;
    l->widens = x->type != ZN_F32 || x->scale != 1.0f;
    l->parts = (size_t)request->threads;
    if (l->widens) {
        if (!zn_desc_bytes(&most, &l->widened_bytes)) return zn_fail_memory(err, SIZE_MAX);
        l->widened_bytes = zn_round_up(l->widened_bytes, ZN_ALIGN);
        ZN_TRY(zn_conversion_widen(request, 0, &l->widen, err));
    }
    l->most = zn_doubled_largest(l->args.channels_in);
    if (l->most.rows > request->rows / 2 + 1) l->most.rows = request->rows / 2 + 1;
    if (l->most.columns > l->args.width) l->most.columns = l->args.width;
    if (!zn_doubled_scratch_bytes(l->args.channels_in, &l->most, &l->part_bytes))
        return zn_fail_memory(err, SIZE_MAX);
    l->part_bytes = zn_round_up(l->part_bytes, ZN_ALIGN);
    if (!zn_mul_size(l->part_bytes, l->parts, &parts_bytes) ||
        !zn_add_size(l->widened_bytes, parts_bytes, &l->base.scratch_bytes))
        return zn_fail_memory(err, SIZE_MAX);
    return ZENITH_OK;
}

bool zn_upsample2_doubled_fits(const zn_node *node)
{
    const int64_t *w = node->inputs[1]->desc.shape.dim;
    return w[0] % ZN_DOUBLED_BLOCK == 0 && w[1] % ZN_DOUBLED_BLOCK == 0 &&
           node->desc.type == ZN_F32 && node->desc.scale == 1;
}

zenith_status zn_upsample2_doubled_lower(const zn_lowering_request *request, zn_lowering **out,
                                         zn_error *err)
{
    const zn_node *node = request->node;
    const int64_t *x = node->inputs[0]->desc.shape.dim;
    doubled_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    zenith_status status;
    const void *packed, *bias = NULL;
    const zn_conv_weight weight = zn_conv_weight_of(&node->inputs[1]->constant, 0);
    l->base = (zn_lowering){
        .run = run_doubled, .free = zn_lowering_free, .any_rows = true, .id = "kernel:doubled"};
    l->run = request->kernels->doubled;
    ZN_GO(zn_conv_weights_for_doubled(request->packs, &weight, &packed, err));
    if (node->inputs_count == 3)
        ZN_GO(zn_pack_vector(request->packs, &node->inputs[2]->constant, &bias, err));
    l->args = (zn_doubled_args){.width = x[2],
                                .channels_in = x[3],
                                .channels_out = node->desc.shape.dim[3],
                                .packed = packed,
                                .bias = bias,
                                .rows = request->rows};
    ZN_GO(plan_scratch(l, request, err));
    *out = &l->base;
    return ZENITH_OK;
fail:
    zn_lowering_free(&l->base);
    return status;
}
