// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Twice the height and width, each pixel four times. A copy: type and scale stay.
#include "src/base/memory.h"
#include "src/kernel/upsample2.h"
#include "src/op/op_checks.h"
#include "src/op/ops.h"

#include <string.h>

typedef struct upsample_lowering {
    zn_lowering base;
    int64_t rows, width; // rows of the result, width of the source
    size_t pixel_bytes;
} upsample_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const zn_desc *x = &node->inputs[0]->desc;
    const int64_t *dim = x->shape.dim;
    if (dim[1] > INT64_MAX / 2 || dim[2] > INT64_MAX / 2)
        return zn_fail(err, ZENITH_LIMIT, "a map too large to double");
    node->desc = *x;
    node->desc.shape = ZN_SHAPE(dim[0], 2 * dim[1], 2 * dim[2], dim[3]);
    return ZENITH_OK;
}

static int64_t floor_half(int64_t row)
{
    return (row - (row & 1)) / 2;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    (void)node, (void)input;
    return (zn_rows){floor_half(out.begin), floor_half(out.end - 1) + 1};
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    const int64_t *dim = output->desc.shape.dim;
    size_t bytes = (size_t)dim[3] * zn_type_size(output->desc.type);
    const uint8_t *src = inputs[0].data;
    uint8_t *dst = output->data;
    for (int64_t row = 0; row < dim[0] * dim[1]; row++) { // heights are even: images do not mix
        for (int64_t column = 0; column < dim[2]; column++, dst += bytes) {
            memcpy(dst, src + (size_t)(row / 2 * (dim[2] / 2) + column / 2) * bytes, bytes);
        }
    }
}

typedef struct job {
    const upsample_lowering *lowering;
    const zn_call *call;
} job;

static void upsample_rows(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const upsample_lowering *l = j->lowering;
    size_t row_bytes = (size_t)l->width * l->pixel_bytes;
    int64_t first = j->call->row + (int64_t)begin;
    size_t skipped = (size_t)(floor_half(first) - floor_half(j->call->row));
    zn_upsample2_rows((const uint8_t *)j->call->inputs[0] + skipped * row_bytes, l->width,
                      l->pixel_bytes, (uint8_t *)j->call->output + begin * 2 * row_bytes, first,
                      (int64_t)(end - begin));
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const upsample_lowering *l = (const upsample_lowering *)base;
    job j = {l, call};
    zn_parallel(call->team, (size_t)l->rows, 2, upsample_rows, &j);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    zn_free(base);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    upsample_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    const zn_desc *x = &request->node->inputs[0]->desc;
    *l = (upsample_lowering){.base = {.run = run, .free = lowering_free, .id = "kernel"},
                             .rows = request->rows,
                             .width = x->shape.dim[2],
                             .pixel_bytes = (size_t)x->shape.dim[3] * zn_type_size(x->type)};
    *out = &l->base;
    return ZENITH_OK;
}

static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 3}}}},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 4}}}},
    {.name = "wide", .inputs_count = 1, .inputs = {{4, {1, 3, 17, 64}}}},
};

const zn_op zn_op_upsample2 = {
    .name = "upsample2",
    .summary = "nearest neighbours, twice the height and width",
    .traits = ZN_OP_FOLLOWS,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_upsample2(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_upsample2, name, &x, 1, NULL);
}
