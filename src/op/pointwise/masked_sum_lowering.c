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

static const void *input_at(const zn_call *call, int input, size_t at)
{
    return input < 0 ? NULL : (const uint8_t *)call->inputs[input] + at;
}

static void run_row(const zn_lowering *base, const zn_call *call, size_t row, void *scratch)
{
    (void)scratch;
    const masked_lowering *l = (const masked_lowering *)base;
    const size_t at = row * l->row * zn_type_size(l->type);
    l->sum(l->type, input_at(call, 0, at), input_at(call, l->b, at), input_at(call, l->y, at),
           (uint8_t *)call->output + at, l->row);
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
    const masked_lowering made = {.base = ZN_LOWERING_OF_PIECES(run_row, "masked_sum"),
                                  .sum = request->kernels->masked_sum,
                                  .type = request->node->desc.type,
                                  .b = b,
                                  .y = y,
                                  .row = zn_row_elements(request->node)};
    return zn_lowering_keep(&made, sizeof made, out, err);
}
