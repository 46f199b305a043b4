// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y = W (gate . (W x)) along each row of a map, each channel by itself: x [n, h, w, c], gate [w,
// c]; or along each column, with gate [h, c], where each value needs every row: a barrier.
//
// Lines lie side by side: the channels of a pixel, and down the map also those of its neighbours. A
// piece is as many of them as a kernel's scratch is meant for; threads share rows (or, down the
// map, nothing) and pieces. Nothing is added across pieces, so bits do not depend on how they are
// handed out.
//
// A gate that is a parameter is looked at once: frequencies whose gates are zero in all channels
// are not computed where a half, a quarter .. is left, nor are pieces without any gate.
#include "src/kernel/kernels.h"
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"
#include "src/op/spectral/walsh_checks.h"

enum { X, GATE, INPUTS };

static int dimension_of(const zn_node *node)
{
    return node->op == &zn_op_walsh_rows ? 2 : 1;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    return zn_walsh_infer_gate(node, dimension_of(node), err);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    zn_walsh_gate_reference(inputs, dimension_of(node), output);
}

static double flops(const zn_node *node)
{
    return zn_walsh_gate_flops(node, dimension_of(node));
}

// W gate W is symmetric.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_walsh_axis axis = dimension_of(node) == 2 ? ZN_WALSH_ROW : ZN_WALSH_COLUMN;
    if (input == GATE)
        return zn_graph_pair(graph, &zn_op_walsh_gate_gradient, node->name, dy, node->inputs[X],
                             &(zn_walsh_gate_gradient_attributes){axis});
    return zn_walsh_gate(graph, node->name, dy, node->inputs[GATE], axis);
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct gate_lowering {
    zn_lowering base;
    const zn_walsh *kernel;
    zn_walsh_lines lines;  // count: of a piece
    size_t across;         // lines side by side in one row of the map
    size_t rows_step;      // elements from one row of lines to the next
    size_t channels, span; // span: lines of the gate, which repeats
    float factor;          // of each gate
    float
        *gate; // of a parameter, in the kernels' blocks, times factor; NULL: it comes with the call
    bool *silent; // by piece of the span: no gate in it
} gate_lowering;

static void spread_gate(const gate_lowering *l, const float *src, float *dst)
{
    for (size_t k = 0; k < l->lines.length; k++) {
        for (size_t i = 0; i < l->span; i++)
            dst[zn_walsh_gate_at(l->lines.length, k, i)] = src[k * l->channels + i % l->channels] *
                                                           l->factor;
    }
}

// Pieces of a row: those of each span, of which the last is smaller.
static size_t pieces_of(const gate_lowering *l, size_t lines)
{
    const size_t in_span = (l->span + l->lines.count - 1) / l->lines.count;
    return lines / l->span * in_span + (lines % l->span + l->lines.count - 1) / l->lines.count;
}

// The i-th piece: the element of the map where it begins, and its first line there.
static size_t piece_at(const gate_lowering *l, size_t i, size_t *line)
{
    const size_t in_span = pieces_of(l, l->span), pieces = pieces_of(l, l->across);
    const size_t piece = i % pieces;
    *line = piece / in_span * l->span + piece % in_span * l->lines.count;
    return i / pieces * l->rows_step + *line;
}

static size_t pieces_in(const gate_lowering *l, const zn_call *call)
{
    return (l->rows_step ? (size_t)call->rows : 1) * pieces_of(l, l->across);
}

static void run_piece(const zn_lowering *base, const zn_call *call, size_t i, void *scratch)
{
    const gate_lowering *l = (const gate_lowering *)base;
    const size_t next = i + base->parts < pieces_in(l, call) ? i + base->parts : 0;
    const float *gate = l->gate ? l->gate : call->scratch;
    zn_walsh_lines lines = l->lines;
    const size_t from_size = zn_type_size(lines.src_type), size = zn_type_size(lines.dst_type);
    const uint8_t *src = call->inputs[X];
    size_t first = 0, unused = 0;
    const size_t at = piece_at(l, i, &first), line = first % l->span;
    uint8_t *dst = (uint8_t *)call->output + at * size;
    if (lines.count > l->span - line) lines.count = l->span - line;
    if (lines.count > l->across - first) lines.count = l->across - first;
    if (next) lines.next = src + piece_at(l, next, &unused) * from_size;
    if (!l->silent || !l->silent[line / l->lines.count]) {
        l->kernel->gate(&lines, src + at * from_size, dst,
                        gate + zn_walsh_gate_at(lines.length, 0, line), scratch);
        return;
    }
    for (size_t k = 0; k < lines.length; k++)
        memset(dst + k * lines.step * size, 0, lines.count * size);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const gate_lowering *l = (const gate_lowering *)base;
    if (!l->gate) spread_gate(l, call->inputs[GATE], call->scratch);
    zn_lowering_run_pieces(base, call, pieces_in(l, call));
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    gate_lowering *l = (gate_lowering *)base;
    zn_free(l->gate);
    zn_free(l->silent);
    zn_free(l);
}

// --- what a gate leaves out ----------------------------------------------------------------------

static bool is_zero(const gate_lowering *l, size_t frequency, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        if (l->gate[zn_walsh_gate_at(l->lines.length, frequency, i)] != 0) return false;
    }
    return true;
}

// Frequencies with a bit below `bits`.
static bool is_pruned(const gate_lowering *l, unsigned bits)
{
    for (size_t k = 0; k < l->lines.length; k++) {
        if (k & (((size_t)1 << bits) - 1) && !is_zero(l, k, 0, l->channels)) return false;
    }
    return true;
}

static bool is_silent(const gate_lowering *l, size_t piece)
{
    const size_t first = piece * l->lines.count;
    const size_t count = l->span - first < l->lines.count ? l->span - first : l->lines.count;
    for (size_t k = 0; k < l->lines.length; k++) {
        if (!is_zero(l, k, first, count)) return false;
    }
    return true;
}

static zenith_status look_at_gate(gate_lowering *l, const zn_lowering_request *request,
                                  zn_error *err)
{
    const void *values = NULL;
    const size_t pieces = pieces_of(l, l->span);
    ZN_TRY(zn_pack_vector(request->packs, &request->node->inputs[GATE]->constant, &values, err));
    const size_t bytes = zn_walsh_gate_floats(l->lines.length, l->span) * sizeof(float);
    l->gate = zn_alloc_zero(bytes);
    l->silent = zn_alloc(pieces * sizeof *l->silent);
    if (!l->gate || !l->silent) return zn_fail_memory(err, bytes);
    spread_gate(l, values, l->gate);
    while (l->lines.pruned < zn_walsh_log2(l->lines.length) && is_pruned(l, l->lines.pruned + 1))
        l->lines.pruned++;
    for (size_t i = 0; i < pieces; i++) l->silent[i] = is_silent(l, i);
    return ZENITH_OK;
}

static zenith_status prepare(gate_lowering *l, const zn_lowering_request *request, int dimension,
                             zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[X]->desc;
    const int64_t *dim = x->shape.dim;
    const size_t length = (size_t)dim[dimension], row = (size_t)(dim[2] * dim[3]);
    l->kernel = request->kernels->walsh;
    l->channels = (size_t)dim[3];
    const size_t group = zn_walsh_group(length);
    const bool down = dimension == 1;
    l->across = down ? row : l->channels;
    l->rows_step = down ? 0 : row;
    l->span = down && l->channels < group ? group / l->channels * l->channels : l->channels;
    l->lines = (zn_walsh_lines){.src_type = x->type,
                                .dst_type = node->desc.type,
                                .length = length,
                                .step = down ? row : l->channels,
                                .count = group < l->span ? group : l->span};
    l->factor = x->scale / (float)length;
    const bool given = node->inputs[GATE]->kind == ZN_NODE_PARAMETER;
    const size_t gate = zn_walsh_gate_floats(length, l->span) * sizeof(float);
    if (given) ZN_TRY(look_at_gate(l, request, err));
    return zn_lowering_part(&l->base, request, given ? 0 : zn_round_up(gate, ZN_ALIGN),
                            zn_walsh_scratch(length) * sizeof(float), err);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    gate_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = "walsh", .piece = run_piece};
    zenith_status status = prepare(l, request, dimension_of(request->node), err);
    if (status != ZENITH_OK)
        lowering_free(&l->base);
    else
        *out = &l->base;
    return status;
}

const zn_op zn_op_walsh_rows = {
    .name = "walsh_rows",
    .summary = "a gate over the Walsh frequencies of each row",
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pair", NULL, 2, ZN_MAP(1, 2, 1), {2, {2, 1}}),
                          ZN_SAMPLE("odd", NULL, 2, ZN_MAP(5, 8, 3), {2, {8, 3}}),
                          ZN_SAMPLE("wide", NULL, 2, ZN_MAP(3, 128, 70), {2, {128, 70}}),
                          ZN_SAMPLE("computed", NULL, 0, ZN_MAP(4, 32, 16), {2, {32, 16}}),
                          ZN_SAMPLE("pieces", NULL, 2, ZN_MAP(2, 64, 130), {2, {64, 130}})),
};

const zn_op zn_op_walsh_columns = {
    .name = "walsh_columns",
    .summary = "a gate over the Walsh frequencies of each column",
    .traits = ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pair", NULL, 2, ZN_MAP(2, 1, 1), {2, {2, 1}}),
                          ZN_SAMPLE("odd", NULL, 2, ZN_MAP(8, 7, 3), {2, {8, 3}}),
                          ZN_SAMPLE("wide", NULL, 2, ZN_MAP(64, 37, 12), {2, {64, 12}}),
                          ZN_SAMPLE("computed", NULL, 0, ZN_MAP(32, 5, 16), {2, {32, 16}}),
                          ZN_SAMPLE("pieces", NULL, 2, ZN_MAP(16, 3, 70), {2, {16, 70}})),
};

zn_node *zn_walsh_gate(zn_graph *graph, const char *name, zn_node *x, zn_node *gate,
                       zn_walsh_axis axis)
{
    return zn_graph_add(graph, axis == ZN_WALSH_ROW ? &zn_op_walsh_rows : &zn_op_walsh_columns,
                        name, (zn_node *[]){x, gate}, INPUTS, NULL);
}
