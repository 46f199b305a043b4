// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/pointwise/masked_sum_lowering.h"

#include "src/base/memory.h"
#include "src/kernel/kernels.h"
#include "src/op/row_lowering.h"

typedef struct masked_lowering {
    zn_lowering base;
    zn_masked_sum_fn *sum;
    zn_type type;
    int b, y;
    size_t row; // elements
} masked_lowering;

typedef struct job {
    const masked_lowering *lowering;
    const zn_call *call;
} job;

static const void *input_at(const job *j, int input, size_t at)
{
    return input < 0 ? NULL : (const uint8_t *)j->call->inputs[input] + at;
}

static void run_rows(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const masked_lowering *l = j->lowering;
    const size_t at = begin * l->row * zn_type_size(l->type);
    l->sum(l->type, input_at(j, 0, at), input_at(j, l->b, at), input_at(j, l->y, at),
           (uint8_t *)j->call->output + at, (end - begin) * l->row);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const masked_lowering *l = (const masked_lowering *)base;
    job j = {l, call};
    zn_parallel(call->team, (size_t)call->rows, 1, run_rows, &j);
    return ZENITH_OK;
}

bool zn_masked_sum_fits(const zn_node *node)
{
    const zn_type type = node->desc.type;
    if ((type != ZN_F32 && type != ZN_BF16) || node->desc.scale != 1.0f) return false;
    for (int i = 0; i < node->inputs_count; i++) {
        const zn_node *input = node->inputs[i];
        if (input->kind == ZN_NODE_PARAMETER) return false; // may lie off its alignment
        if (input->desc.type != type || input->desc.scale != 1.0f) return false;
    }
    return true;
}

zenith_status zn_masked_sum_lower(const zn_lowering_request *request, int b, int y,
                                  zn_lowering **out, zn_error *err)
{
    masked_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    *l = (masked_lowering){.base = {.run = run, .free = zn_lowering_free, .id = "masked_sum"},
                           .sum = request->kernels->masked_sum,
                           .type = request->node->desc.type,
                           .b = b,
                           .y = y,
                           .row = zn_row_elements(request->node)};
    *out = &l->base;
    return ZENITH_OK;
}
