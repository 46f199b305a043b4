// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A call consists of units: rows, or the pixels of all rows. A piece is one row, or as many pixels
// as stay in the first cache; each thread has room for the pieces that are converted.
#include "src/op/row_lowering.h"

#include "src/base/memory.h"
#include "src/op/convert_parallel.h"

enum { PIECE = 4096 }; // elements of the widest map in a piece of pixels, unless one has more

// An input as the function wants it.
typedef struct source {
    bool map, widens;
    zn_conversion widen;
    size_t elements, step; // that one unit of the result takes; from those of a unit to the next
    const float *constant; // of a parameter
    size_t at;             // offset of the widened units in a part of the scratch
} source;

typedef struct row_lowering {
    zn_lowering base;
    const zn_node *node;
    const zn_kernels *kernels;
    bool rows; // a unit is a row
    source inputs[ZN_ROW_INPUTS];
    bool narrows;
    zn_conversion narrow;
    size_t width, elements; // units of a row, elements of a unit
    size_t most;            // units of a piece
    size_t result_at;       // offset of the f32 result in a part of the scratch
    size_t part_bytes;
    size_t sums; // of a sum: how many
} row_lowering;

double zn_row_product(const float *a, const float *b, size_t count)
{
    enum { LANES = 8 };
    double sums[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++) sums[k] += (double)a[i + k] * (double)b[i + k];
    for (; i < count; i++) sum += (double)a[i] * (double)b[i];
    for (size_t k = 0; k < LANES; k++) sum += sums[k];
    return sum;
}

size_t zn_row_elements(const zn_node *node)
{
    const int64_t *dim = node->desc.shape.dim;
    size_t count = 0;
    if (zn_node_is_map(node)) return (size_t)(dim[2] * dim[3]);
    return zn_shape_elements(&node->desc.shape, &count) ? count : 0;
}

size_t zn_pixel_elements(const zn_node *node)
{
    return zn_node_is_map(node) ? (size_t)node->desc.shape.dim[3] : zn_row_elements(node);
}

static const float *take(const source *input, const void *data, size_t first, size_t count,
                         uint8_t *part)
{
    if (input->constant) return input->constant;
    if (!input->map) return data;
    const size_t size = zn_type_size(input->widen.from);
    const uint8_t *src = (const uint8_t *)data + first * input->step * size;
    if (!input->widens) return (const float *)(const void *)src;
    float *wide = (float *)(void *)(part + input->at);
    input->widen.run(src, input->widen.from_scale, wide, 1, count * input->elements);
    return wide;
}

static size_t units_of(const row_lowering *l, const zn_call *call)
{
    return zn_node_is_map(l->node) ? (size_t)call->rows * l->width : l->width;
}

static void run_piece(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const row_lowering *l = (const row_lowering *)base;
    const zn_op *op = l->node->op;
    const size_t first = index * l->most, rest = units_of(l, call) - first;
    zn_pixels pixels = {
        .node = l->node, .kernels = l->kernels, .count = rest < l->most ? rest : l->most};
    for (int i = 0; i < l->node->inputs_count; i++)
        pixels.inputs[i] = take(&l->inputs[i], call->inputs[i], first, pixels.count, scratch);
    uint8_t *dst = (uint8_t *)call->output + first * l->elements * zn_type_size(l->narrow.to);
    pixels.dst = (float *)(void *)(l->narrows ? (uint8_t *)scratch + l->result_at : dst);
    if (op->pixels)
        op->pixels(&pixels);
    else if (op->row)
        op->row(l->node, pixels.inputs, pixels.dst);
    else
        op->placed_row(l->node, pixels.inputs, call->row + (int64_t)index, pixels.dst);
    if (l->narrows)
        l->narrow.run(pixels.dst, 1, dst, l->narrow.to_scale, pixels.count * l->elements);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const row_lowering *l = (const row_lowering *)base;
    zn_lowering_run_pieces(base, call, (units_of(l, call) + l->most - 1) / l->most);
    return ZENITH_OK;
}

static bool is_plain(const zn_desc *desc)
{
    return desc->type == ZN_F32 && desc->scale == 1.0f;
}

static zenith_status prepare_input(row_lowering *l, const zn_lowering_request *request, int i,
                                   zn_error *err)
{
    const zn_node *node = request->node->inputs[i];
    const zn_rows taken = zn_node_rows(l->node, i, (zn_rows){0, 1});
    const zn_rows next = zn_node_rows(l->node, i, (zn_rows){1, 2});
    source *input = &l->inputs[i];
    if (node->kind == ZN_NODE_PARAMETER)
        return zn_pack_vector(request->packs, &node->constant, (const void **)&input->constant,
                              err);
    input->map = zn_node_is_map(node);
    if (!input->map) return ZENITH_OK;
    input->elements = input->step = l->rows ? zn_row_elements(node) : zn_pixel_elements(node);
    if (l->rows && !l->sums) {
        input->elements *= (size_t)(taken.end - taken.begin);
        input->step *= (size_t)(next.begin - taken.begin);
    }
    input->widens = !is_plain(&node->desc);
    return zn_conversion_widen(request, i, &input->widen, err);
}

// A piece of pixels is as long as the widest map allows; then each array that is converted gets a
// place.
static void lay_out(row_lowering *l)
{
    size_t widest = l->elements;
    for (int i = 0; i < l->node->inputs_count; i++) {
        if (l->inputs[i].elements > widest) widest = l->inputs[i].elements;
    }
    l->most = l->node->op->pixels && widest < PIECE ? PIECE / widest : 1;
    for (int i = 0; i < l->node->inputs_count; i++) {
        source *input = &l->inputs[i];
        if (!input->widens) continue;
        input->at = l->part_bytes;
        l->part_bytes += zn_round_up(l->most * input->elements * sizeof(float), ZN_ALIGN);
    }
    l->result_at = l->part_bytes;
    if (l->narrows) l->part_bytes += zn_round_up(l->most * l->elements * sizeof(float), ZN_ALIGN);
}

static zenith_status prepare(row_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_desc *y = &l->node->desc;
    if (l->node->inputs_count > ZN_ROW_INPUTS)
        return zn_fail(err, ZENITH_INTERNAL, "%s has too many inputs", l->node->op->name);
    for (int i = 0; i < l->node->inputs_count; i++) ZN_TRY(prepare_input(l, request, i, err));
    l->narrows = !is_plain(y) && !l->sums;
    if (!l->sums) ZN_TRY(zn_conversion_narrow(request, &l->narrow, err));
    l->width = zn_node_is_map(l->node) && !l->rows ? (size_t)y->shape.dim[2] : 1;
    l->elements = l->rows ? zn_row_elements(l->node) : zn_pixel_elements(l->node);
    lay_out(l);
    return zn_lowering_part(&l->base, request, 0, l->part_bytes, err);
}

static zenith_status lower(const zn_lowering_request *request, bool rows, zn_lowering **out,
                           zn_error *err)
{
    row_lowering made = {.base = {.run = run,
                                  .free = zn_lowering_free,
                                  .id = request->node->op->pixels ? "pixels" : "rows",
                                  .piece = run_piece,
                                  .runs = true},
                         .node = request->node,
                         .kernels = request->kernels,
                         .rows = rows};
    ZN_TRY(prepare(&made, request, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

zenith_status zn_row_lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return lower(request, true, out, err);
}

zenith_status zn_pixel_lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return lower(request, false, out, err);
}

// --- sums of all rows ---------------------------------------------------------------------------

enum { SUM_ROWS = 64 }; // whose sums are in memory at a time

// In the scratch: widened rows of each thread, the sums, then those of some rows.
static double *sums_of(const row_lowering *l, const zn_call *call)
{
    return (double *)(void *)((uint8_t *)call->scratch + l->base.parts * l->part_bytes);
}

static void sum_piece(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const row_lowering *l = (const row_lowering *)base;
    const float *inputs[ZN_ROW_INPUTS] = {0};
    double *sums = sums_of(l, call) + (1 + index) * l->sums;
    const size_t row = (size_t)call->row + index;
    for (size_t i = 0; i < l->sums; i++) sums[i] = 0;
    for (int i = 0; i < l->node->inputs_count; i++)
        inputs[i] = take(&l->inputs[i], call->inputs[i], row, 1, scratch);
    l->node->op->add_row(l->node, inputs, sums);
}

static zenith_status run_sum(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const row_lowering *l = (const row_lowering *)base;
    const zn_op *op = l->node->op;
    const int64_t rows = l->node->inputs[0]->desc.shape.dim[1];
    double *sums = sums_of(l, call);
    zn_call some = *call;
    for (size_t i = 0; i < l->sums; i++) sums[i] = 0;
    for (some.row = 0; some.row < rows && !zn_call_stopped(call); some.row += SUM_ROWS) {
        some.rows = rows - some.row < SUM_ROWS ? rows - some.row : SUM_ROWS;
        zn_lowering_run_pieces(base, &some, (size_t)some.rows);
        for (size_t i = 0; i < (size_t)some.rows * l->sums; i++)
            sums[i % l->sums] += sums[l->sums + i];
    }
    if (zn_call_stopped(call)) return ZENITH_OK; // some rows have no sums
    float *dst = call->output;
    const float *inputs[ZN_ROW_INPUTS] = {0};
    for (int i = 0; i < l->node->inputs_count; i++)
        inputs[i] = take(&l->inputs[i], call->inputs[i], 0, 1, call->scratch);
    if (op->finish) op->finish(l->node, inputs, sums, dst);
    for (size_t i = 0; i < l->sums && !op->finish; i++) dst[i] = (float)sums[i];
    return ZENITH_OK;
}

zenith_status zn_sum_lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    row_lowering made = {
        .base = {.run = run_sum, .free = zn_lowering_free, .id = "sums", .piece = sum_piece},
        .node = request->node,
        .rows = true,
        .sums = zn_node_sums(request->node)};
    ZN_TRY(prepare(&made, request, err));
    made.base.scratch_bytes += (1 + SUM_ROWS) * made.sums * sizeof(double);
    return zn_lowering_keep(&made, sizeof made, out, err);
}

zn_rows zn_rows_whole(const zn_node *node, int input, zn_rows out)
{
    const zn_node *from = node->inputs[input];
    return zn_node_is_map(from) ? (zn_rows){0, from->desc.shape.dim[1]} : out;
}

double zn_flops_of_input(const zn_node *node)
{
    size_t elements = 0;
    return zn_shape_elements(&node->inputs[0]->desc.shape, &elements) ? (double)elements : 0;
}
