// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a gate over lines: the sum over lines of (W x) . (W dy), f32 [N, c].
#include "src/kernel/kernels.h"
#include "src/kernel/spectral/walsh.h"
#include "src/op/operator.h"
#include "src/op/spectral/walsh_checks.h"

enum { DY, X, INPUTS };

static int dimension_of(const zn_node *node)
{
    const zn_walsh_gate_gradient_attributes *a = node->attributes;
    return a->axis == ZN_WALSH_ROW ? 2 : 1;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_walsh_check_map(node, DY, err));
    ZN_TRY(zn_walsh_check_map(node, X, err));
    ZN_TRY(zn_check_same_shape(node, DY, X, err));
    const int64_t *dim = node->inputs[X]->desc.shape.dim, length = dim[dimension_of(node)];
    ZN_TRY(zn_walsh_check_length(node, length, dimension_of(node) == 2 ? "width" : "height", err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(length, dim[3]));
    return ZENITH_OK;
}

static double inner(const zn_tensor *map, size_t first, size_t step, size_t length, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < length; i++) {
        const double value = (double)zn_value_get(map, first + i * step);
        size_t shared = k & i, odd = 0;
        for (; shared; shared &= shared - 1) odd ^= 1;
        sum += odd ? -value : value;
    }
    return sum;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = inputs[X].desc.shape.dim;
    const size_t length = (size_t)dim[dimension_of(node)], channels = (size_t)dim[3];
    const size_t step = dimension_of(node) == 2 ? channels : (size_t)dim[2] * channels;
    const size_t count = zn_value_count(&inputs[X]);
    for (size_t i = 0; i < length * channels; i++) {
        double sum = 0;
        for (size_t first = i % channels; first < count; first += channels) {
            if (first / step % length != 0) continue; // not the first of a line
            sum += inner(&inputs[X], first, step, length, i / channels) *
                   inner(&inputs[DY], first, step, length, i / channels);
        }
        zn_value_set(output, i, (float)(sum / (double)length));
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct gradient_lowering {
    zn_lowering base;
    const zn_walsh *kernel;
    zn_walsh_lines lines; // count: of a piece
    size_t channels;
    size_t lines_count, next; // lines of a channel, and elements from one to the next
    float factor;
} gradient_lowering;

// A piece of the channels, over all lines in their order.
static void run_piece(const zn_lowering *base, const zn_call *call, size_t piece, void *scratch)
{
    const gradient_lowering *l = (const gradient_lowering *)base;
    const size_t first = piece * l->lines.count;
    zn_walsh_lines lines = l->lines;
    if (lines.count > l->channels - first) lines.count = l->channels - first;
    float *sums = (float *)call->output + first;
    for (size_t k = 0; k < lines.length; k++)
        memset(sums + k * l->channels, 0, lines.count * sizeof *sums);
    for (size_t i = 0; i < l->lines_count; i++) {
        const size_t at = i * l->next + first;
        l->kernel->products(&lines,
                            (const uint8_t *)call->inputs[X] + at * zn_type_size(lines.src_type),
                            (const uint8_t *)call->inputs[DY] + at * zn_type_size(lines.dst_type),
                            sums, l->channels, scratch);
    }
    for (size_t k = 0; k < lines.length; k++) {
        for (size_t c = 0; c < lines.count; c++) sums[k * l->channels + c] *= l->factor;
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    enum { PIECE = 16 }; // lines that a thread takes: a cache line of f32
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[X]->desc, *dy = &node->inputs[DY]->desc;
    const int64_t *dim = x->shape.dim;
    const bool down = dimension_of(node) == 1;
    const size_t channels = (size_t)dim[3], row = (size_t)dim[2] * channels;
    const size_t length = (size_t)dim[dimension_of(node)];
    gradient_lowering made = {.base = ZN_LOWERING_OF_PIECES(run_piece, "walsh"),
                              .kernel = request->kernels->walsh,
                              .lines = {.src_type = x->type,
                                        .dst_type = dy->type,
                                        .length = length,
                                        .step = down ? row : channels,
                                        .count = channels < PIECE ? channels : PIECE},
                              .channels = channels,
                              .lines_count = (size_t)dim[down ? 2 : 1],
                              .next = down ? channels : row,
                              .factor = x->scale * dy->scale / (float)length};
    made.base.pieces = (channels + made.lines.count - 1) / made.lines.count;
    ZN_TRY(zn_lowering_part(&made.base, request, 0, 2 * zn_walsh_scratch(length) * sizeof(float),
                            err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static double flops(const zn_node *node)
{
    return 2 * zn_walsh_gate_flops(node, dimension_of(node));
}

static const zn_walsh_gate_gradient_attributes along = {ZN_WALSH_ROW}, down = {ZN_WALSH_COLUMN};

const zn_op zn_op_walsh_gate_gradient = {
    .name = "walsh_gate_gradient",
    .summary = "the gradient of a gate over Walsh frequencies",
    .attributes_size = sizeof(zn_walsh_gate_gradient_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pair", &along, 0, ZN_MAP(3, 2, 1), ZN_MAP(3, 2, 1)),
                          ZN_SAMPLE("row", &along, 0, ZN_MAP(5, 32, 20), ZN_MAP(5, 32, 20)),
                          ZN_SAMPLE("column", &down, 0, ZN_MAP(16, 7, 35), ZN_MAP(16, 7, 35))),
};
