// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Scans. Rows know nothing of each other, so a scan along each row streams like a convolution.
// Along each column the state is a row: threads share the numbers of a row, in pieces that stay in
// the cache while all rows pass.
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"

#include <string.h>

enum { DECAY, X, INPUTS };

// Of maps: 2 along rows, 1 along columns.
static int dimension_of(const zn_node *node)
{
    return node->op == &zn_op_scan_rows ? 2 : 1;
}

static bool is_back(const zn_node *node)
{
    return ((const zn_scan_attributes *)node->attributes)->back;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_two_maps(node, err));
    ZN_TRY(zn_check_wide_floats(node, DECAY, err));
    return zn_check_wide_floats(node, X, err);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int dimension = dimension_of(node);
    const int64_t *dim = output->desc.shape.dim;
    const size_t length = (size_t)dim[dimension], count = zn_value_count(output);
    const size_t step = (size_t)(dimension == 1 ? dim[2] * dim[3] : dim[3]);
    for (size_t i = 0; i < count; i++) {
        if (i / step % length != 0) continue; // not the beginning of a line
        double state = 0;
        for (size_t k = 0; k < length; k++) {
            const size_t at = i + (is_back(node) ? length - 1 - k : k) * step;
            state = (double)zn_value_get(&inputs[DECAY], at) * state +
                    (double)zn_value_get(&inputs[X], at);
            zn_value_set(output, at, (float)state);
        }
    }
}

// The map in which each pixel is the one that stands `by` pixels farther; zeros where there is
// none.
static zn_node *shifted(zn_graph *graph, const char *name, zn_node *x, int dimension, int64_t by)
{
    const int64_t *dim = x ? x->desc.shape.dim : NULL;
    if (!x) return NULL;
    return zn_window(graph, name, x,
                     (zn_window_attributes){.top = dimension == 1 ? by : 0,
                                            .left = dimension == 2 ? by : 0,
                                            .height = dim[1],
                                            .width = dim[2]});
}

// The gradient of a scan is a scan the other way, by the decay of the pixel that comes next.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const int dimension = dimension_of(node);
    const bool back = is_back(node);
    const int64_t next = back ? -1 : 1;
    zn_node *decay = shifted(graph, node->name, node->inputs[DECAY], dimension, next);
    zn_node *sums = (dimension == 1 ? zn_scan_columns : zn_scan_rows)(graph, node->name, decay, dy,
                                                                      !back);
    if (input == X) return sums;
    zn_node *before = shifted(graph, node->name, graph->nodes[node->id], dimension, -next);
    return zn_gated(graph, node->name, before, sums, ZN_ACTIVATION_NONE);
}

static void scan_row(const zn_node *node, const float *const *inputs, float *dst)
{
    const bool back = ((const zn_scan_attributes *)node->attributes)->back;
    const size_t width = (size_t)node->desc.shape.dim[2],
                 channels = (size_t)node->desc.shape.dim[3];
    const float *before = NULL;
    for (size_t k = 0; k < width; k++) {
        const size_t at = (back ? width - 1 - k : k) * channels;
        const float *decay = inputs[DECAY] + at, *x = inputs[X] + at;
        float *state = dst + at;
        if (before)
            for (size_t c = 0; c < channels; c++) state[c] = decay[c] * before[c] + x[c];
        else
            memcpy(state, x, channels * sizeof *x);
        before = state;
    }
}

static const zn_scan_attributes forth = {false}, back = {true};

const zn_op zn_op_scan_rows = {
    .name = "scan_rows",
    .summary = "a state along each row: decay times itself, plus x",
    .attributes_size = sizeof(zn_scan_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .row = scan_row,
    .lower = zn_row_lower,
    .work = 2,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &forth, 0, ZN_MAP(1, 1, 1), ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("forth", &forth, 0, ZN_MAP(3, 9, 5), ZN_MAP(3, 9, 5)),
                          ZN_SAMPLE("back", &back, 0, ZN_MAP(5, 7, 16), ZN_MAP(5, 7, 16)),
                          ZN_SAMPLE("column", &forth, 0, ZN_MAP(6, 1, 3), ZN_MAP(6, 1, 3))),
};

zn_node *zn_scan_rows(zn_graph *graph, const char *name, zn_node *decay, zn_node *x, bool back_)
{
    return zn_graph_add(graph, &zn_op_scan_rows, name, (zn_node *[]){decay, x}, INPUTS,
                        &(zn_scan_attributes){back_});
}

// --- along columns ------------------------------------------------------------------------------

enum { PIECE = 1024, ARRAYS = 3 }; // decay, x and the state, in f32

typedef struct scan_lowering {
    zn_lowering base;
    zn_conversion widen[INPUTS], narrow;
    bool back;
    size_t height, row; // numbers of a row
} scan_lowering;

// Some numbers of a row, in all rows one after the other.
static void scan_piece(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const scan_lowering *l = (const scan_lowering *)base;
    float *wide[INPUTS] = {scratch, (float *)scratch + PIECE};
    float *state = (float *)scratch + INPUTS * PIECE;
    const size_t begin = index * PIECE, rest = l->row - begin, count = rest < PIECE ? rest : PIECE;
    memset(state, 0, count * sizeof *state);
    for (size_t k = 0; k < l->height && !zn_call_stopped(call); k++) {
        const size_t at = (l->back ? l->height - 1 - k : k) * l->row + begin;
        for (int i = 0; i < INPUTS; i++)
            l->widen[i].run((const uint8_t *)call->inputs[i] + at * zn_type_size(l->widen[i].from),
                            l->widen[i].from_scale, wide[i], 1, count);
        for (size_t i = 0; i < count; i++) state[i] = wide[DECAY][i] * state[i] + wide[X][i];
        l->narrow.run(state, 1, (uint8_t *)call->output + at * zn_type_size(l->narrow.to),
                      l->narrow.to_scale, count);
    }
}

static zenith_status lower_columns(const zn_lowering_request *request, zn_lowering **out,
                                   zn_error *err)
{
    const zn_node *node = request->node;
    const int64_t *dim = node->desc.shape.dim;
    scan_lowering made = {.base = ZN_LOWERING_OF_PIECES(scan_piece, "kernel"),
                          .back = ((const zn_scan_attributes *)node->attributes)->back,
                          .height = (size_t)dim[1],
                          .row = (size_t)(dim[2] * dim[3])};
    for (int i = 0; i < INPUTS; i++) ZN_TRY(zn_conversion_widen(request, i, &made.widen[i], err));
    ZN_TRY(zn_conversion_narrow(request, &made.narrow, err));
    made.base.pieces = (made.row + PIECE - 1) / PIECE;
    ZN_TRY(zn_lowering_part(&made.base, request, 0, ARRAYS * PIECE * sizeof(float), err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

const zn_op zn_op_scan_columns = {
    .name = "scan_columns",
    .summary = "a state along each column: decay times itself, plus x",
    .attributes_size = sizeof(zn_scan_attributes),
    .traits = ZN_OP_BARRIER | ZN_OP_STOPS,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower_columns,
    .work = 2,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", &forth, 0, ZN_MAP(1, 1, 1), ZN_MAP(1, 1, 1)),
        ZN_SAMPLE("forth", &forth, 0, ZN_MAP(9, 3, 5), ZN_MAP(9, 3, 5)),
        ZN_SAMPLE("back", &back, 0, ZN_MAP(7, 5, 16), ZN_MAP(7, 5, 16)),
        ZN_SAMPLE("several pieces", &back, 0, ZN_MAP(3, 40, 70), ZN_MAP(3, 40, 70))),
};

zn_node *zn_scan_columns(zn_graph *graph, const char *name, zn_node *decay, zn_node *x, bool back_)
{
    return zn_graph_add(graph, &zn_op_scan_columns, name, (zn_node *[]){decay, x}, INPUTS,
                        &(zn_scan_attributes){back_});
}
