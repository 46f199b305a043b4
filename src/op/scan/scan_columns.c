// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A scan along each column: the state is a row. Threads share the numbers of a row, in pieces that stay in the cache while
// all rows pass.
#include "src/base/memory.h"
#include "src/op/convert_parallel.h"
#include "src/op/op_checks.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"
#include "src/op/scan/scan_rules.h"

#include <string.h>

enum { ALONG = 1, PIECE = 1024, ARRAYS = 3 }; // decay, x and the state, in f32

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    zn_scan_reference(node, ALONG, inputs, output);
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct scan_lowering {
    zn_lowering base;
    zn_conversion widen[ZN_SCAN_INPUTS], narrow;
    bool back;
    size_t height, row; // numbers of a row
    size_t parts;
} scan_lowering;

typedef struct job {
    const scan_lowering *lowering;
    const zn_call *call;
} job;

// Numbers [begin, begin + count) of row y, in all rows one after the other.
static void scan_piece(const scan_lowering *l, const zn_call *call, size_t begin, size_t count,
                       float *scratch)
{
    float *wide[ZN_SCAN_INPUTS] = {scratch, scratch + PIECE}, *state = scratch + 2 * PIECE;
    memset(state, 0, count * sizeof *state);
    for (size_t k = 0; k < l->height && !zn_call_stopped(call); k++) {
        const size_t at = (l->back ? l->height - 1 - k : k) * l->row + begin;
        for (int i = 0; i < ZN_SCAN_INPUTS; i++)
            l->widen[i].run((const uint8_t *)call->inputs[i] + at * zn_type_size(l->widen[i].from),
                            l->widen[i].from_scale, wide[i], 1, count);
        for (size_t i = 0; i < count; i++)
            state[i] = wide[ZN_SCAN_DECAY][i] * state[i] + wide[ZN_SCAN_X][i];
        l->narrow.run(state, 1, (uint8_t *)call->output + at * zn_type_size(l->narrow.to),
                      l->narrow.to_scale, count);
    }
}

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const scan_lowering *l = j->lowering;
    for (size_t part = begin; part < end; part++) {
        float *scratch = (float *)j->call->scratch + part * ARRAYS * PIECE;
        for (size_t at = part * PIECE; at < l->row; at += l->parts * PIECE)
            scan_piece(l, j->call, at, l->row - at < PIECE ? l->row - at : PIECE, scratch);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    job j = {(const scan_lowering *)base, call};
    zn_parallel(call->team, j.lowering->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const int64_t *dim = node->desc.shape.dim;
    scan_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "kernel"},
                          .back = ((const zn_scan_attributes *)node->attributes)->back,
                          .height = (size_t)dim[1],
                          .row = (size_t)(dim[2] * dim[3]),
                          .parts = (size_t)request->threads};
    for (int i = 0; i < ZN_SCAN_INPUTS; i++)
        ZN_TRY(zn_conversion_make(request->kernels, node->inputs[i]->desc.type,
                                  node->inputs[i]->desc.scale, ZN_F32, 1, &made.widen[i], err));
    ZN_TRY(zn_conversion_make(request->kernels, ZN_F32, 1, node->desc.type, node->desc.scale,
                              &made.narrow, err));
    made.base.scratch_bytes = made.parts * ARRAYS * PIECE * sizeof(float);
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_scan_gradient(graph, node, ALONG, input, dy);
}

static const zn_scan_attributes forth = {false}, back = {true};
#define SAMPLE(label, attribute, h, w, c)                                                          \
    {                                                                                              \
        .name = label, .inputs_count = ZN_SCAN_INPUTS,                                             \
        .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, c}}}, .attributes = &(attribute)               \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", forth, 1, 1, 1),
    SAMPLE("forth", forth, 9, 3, 5),
    SAMPLE("back", back, 7, 5, 16),
    SAMPLE("several pieces", back, 3, 40, 70),
};

const zn_op zn_op_scan_columns = {
    .name = "scan_columns",
    .summary = "a state along each column: decay times itself, plus x",
    .attributes_size = sizeof(zn_scan_attributes),
    .traits = ZN_OP_BARRIER | ZN_OP_STOPS,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = zn_scan_infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_scan_flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_scan_columns(zn_graph *graph, const char *name, zn_node *decay, zn_node *x, bool back_)
{
    return zn_graph_add(graph, &zn_op_scan_columns, name, (zn_node *[]){decay, x}, ZN_SCAN_INPUTS,
                        &(zn_scan_attributes){back_});
}
