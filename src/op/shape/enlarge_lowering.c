// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/shape/enlarge_lowering.h"

#include "src/base/memory.h"

typedef struct enlarge_lowering {
    zn_lowering base;
    zn_enlarging how;
    zn_enlarge_fn *kernel;
    size_t source_row, result_row; // bytes
} enlarge_lowering;

// Rounds down also where the row lies above the map.
static int64_t source_of(int64_t row, int factor)
{
    return row / factor - (row % factor < 0);
}

zn_rows zn_enlarge_rows(int factor, zn_rows out)
{
    return (zn_rows){source_of(out.begin, factor), source_of(out.end - 1, factor) + 1};
}

typedef struct job {
    const enlarge_lowering *lowering;
    const zn_call *call;
} job;

static void run_rows(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const enlarge_lowering *l = j->lowering;
    const int factor = l->how.factor;
    int64_t first = j->call->row + (int64_t)begin;
    size_t skipped = (size_t)(source_of(first, factor) - source_of(j->call->row, factor));
    l->kernel(&l->how, (const uint8_t *)j->call->inputs[0] + skipped * l->source_row,
              (uint8_t *)j->call->output + begin * l->result_row, first, (int64_t)(end - begin));
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    enum { TILE = 2 }; // rows that stay together: where each row has a twin, that is a plain copy
    const enlarge_lowering *l = (const enlarge_lowering *)base;
    job j = {l, call};
    zn_parallel(call->team, (size_t)call->rows, TILE, run_rows, &j);
    return ZENITH_OK;
}

zn_enlarging zn_enlarging_of(const zn_desc *x, int factor)
{
    const int64_t *dim = x->shape.dim;
    return (zn_enlarging){.factor = factor,
                          .width = dim[2],
                          .channels = dim[3],
                          .element_bytes = zn_type_size(x->type)};
}

zenith_status zn_enlarge_lower(const zn_lowering_request *request, const zn_enlarging *how,
                               zn_enlarge_fn *kernel, zn_lowering **out, zn_error *err)
{
    const int64_t *to = request->node->desc.shape.dim;
    const enlarge_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "kernel"},
                                   .how = *how,
                                   .kernel = kernel,
                                   .source_row = (size_t)(how->width * how->channels) *
                                                 how->element_bytes,
                                   .result_row = (size_t)(to[2] * to[3]) * how->element_bytes};
    return zn_lowering_keep(&made, sizeof made, out, err);
}
