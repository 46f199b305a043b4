// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A scan along each column: the state is a row. Threads share the numbers of a row, in pieces that stay in the cache while
// all rows pass.
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"
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
} scan_lowering;

// Some numbers of a row, in all rows one after the other.
static void scan_piece(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const scan_lowering *l = (const scan_lowering *)base;
    float *wide[ZN_SCAN_INPUTS] = {scratch, (float *)scratch + PIECE};
    float *state = (float *)scratch + ZN_SCAN_INPUTS * PIECE;
    const size_t begin = index * PIECE, rest = l->row - begin, count = rest < PIECE ? rest : PIECE;
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

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const int64_t *dim = node->desc.shape.dim;
    scan_lowering made = {.base = ZN_LOWERING_OF_PIECES(scan_piece, "kernel"),
                          .back = ((const zn_scan_attributes *)node->attributes)->back,
                          .height = (size_t)dim[1],
                          .row = (size_t)(dim[2] * dim[3])};
    for (int i = 0; i < ZN_SCAN_INPUTS; i++)
        ZN_TRY(zn_conversion_widen(request, i, &made.widen[i], err));
    ZN_TRY(zn_conversion_narrow(request, &made.narrow, err));
    made.base.pieces = (made.row + PIECE - 1) / PIECE;
    ZN_TRY(zn_lowering_part(&made.base, request, 0, ARRAYS * PIECE * sizeof(float), err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_scan_gradient(graph, node, ALONG, input, dy);
}

static const zn_scan_attributes forth = {false}, back = {true};

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
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", &forth, 0, ZN_MAP(1, 1, 1), ZN_MAP(1, 1, 1)),
        ZN_SAMPLE("forth", &forth, 0, ZN_MAP(9, 3, 5), ZN_MAP(9, 3, 5)),
        ZN_SAMPLE("back", &back, 0, ZN_MAP(7, 5, 16), ZN_MAP(7, 5, 16)),
        ZN_SAMPLE("several pieces", &back, 0, ZN_MAP(3, 40, 70), ZN_MAP(3, 40, 70))),
};

zn_node *zn_scan_columns(zn_graph *graph, const char *name, zn_node *decay, zn_node *x, bool back_)
{
    return zn_graph_add(graph, &zn_op_scan_columns, name, (zn_node *[]){decay, x}, ZN_SCAN_INPUTS,
                        &(zn_scan_attributes){back_});
}
