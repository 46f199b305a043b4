// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/row_lowering.h"

#include "src/base/memory.h"
#include "src/op/conv/conv_weights.h"
#include "src/op/convert_parallel.h"

enum { INPUTS = 4 };

// An input as the rows function wants it.
typedef struct row_input {
    bool map, widens;
    zn_conversion widen;
    size_t count;          // elements that one row of the result takes
    const float *constant; // of a parameter
    size_t at;             // offset of the widened rows in a part of the scratch
} row_input;

typedef struct row_inputs {
    row_input inputs[INPUTS];
    size_t bytes; // of scratch
} row_inputs;

typedef struct row_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_row_fn *row;
    zn_placed_row_fn *placed; // NULL: `row` is set
    row_inputs from;
    bool narrows;
    zn_conversion narrow;
    size_t count;     // elements of a row of the result
    size_t result_at; // offset of the f32 row in a part of the scratch
    size_t parts, part_bytes;
} row_lowering;

typedef struct job {
    const row_lowering *lowering;
    const zn_call *call;
} job;

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

static const float *input_row(const row_input *input, const void *data, size_t row, uint8_t *part)
{
    if (input->constant) return input->constant;
    if (!input->map) return data;
    const size_t bytes = input->count * zn_type_size(input->widen.from);
    const uint8_t *src = (const uint8_t *)data + row * bytes;
    if (!input->widens) return (const float *)(const void *)src;
    float *wide = (float *)(void *)(part + input->at);
    input->widen.run(src, input->widen.from_scale, wide, 1, input->count);
    return wide;
}

static void take_row(const row_inputs *from, const zn_node *node, const zn_call *call, size_t row,
                     uint8_t *part, const float **inputs)
{
    for (int i = 0; i < node->inputs_count; i++)
        inputs[i] = input_row(&from->inputs[i], call->inputs[i], row, part);
}

static void compute_row(const row_lowering *l, const zn_call *call, size_t row, uint8_t *part)
{
    const float *inputs[INPUTS] = {0};
    take_row(&l->from, l->node, call, row, part, inputs);
    uint8_t *dst = (uint8_t *)call->output + row * l->count * zn_type_size(l->narrow.to);
    float *result = (float *)(void *)(l->narrows ? part + l->result_at : dst);
    if (l->placed)
        l->placed(l->node, inputs, call->row + (int64_t)row, result);
    else
        l->row(l->node, inputs, result);
    if (l->narrows) l->narrow.run(result, 1, dst, l->narrow.to_scale, l->count);
}

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const row_lowering *l = j->lowering;
    for (size_t part = begin; part < end; part++) {
        uint8_t *scratch = (uint8_t *)j->call->scratch + part * l->part_bytes;
        for (size_t row = part; row < (size_t)j->call->rows && !zn_call_stopped(j->call);
             row += l->parts)
            compute_row(l, j->call, row, scratch);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const row_lowering *l = (const row_lowering *)base;
    job j = {l, call};
    zn_parallel(call->team, l->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static bool is_plain(const zn_desc *desc)
{
    return desc->type == ZN_F32 && desc->scale == 1.0f;
}

static zenith_status prepare_input(row_inputs *from, const zn_lowering_request *request, int taken,
                                   int i, zn_error *err)
{
    const zn_node *node = request->node->inputs[i];
    row_input *input = &from->inputs[i];
    if (node->kind == ZN_NODE_PARAMETER)
        return zn_pack_vector(request->packs, &node->constant, (const void **)&input->constant,
                              err);
    input->map = zn_node_is_map(node);
    if (!input->map) return ZENITH_OK;
    input->count = zn_row_elements(node) * (size_t)taken;
    input->widens = !is_plain(&node->desc);
    input->at = from->bytes;
    if (input->widens) from->bytes += zn_round_up(input->count * sizeof(float), ZN_ALIGN);
    return zn_conversion_make(request->kernels, node->desc.type, node->desc.scale, ZN_F32, 1,
                              &input->widen, err);
}

static zenith_status prepare_inputs(row_inputs *from, const zn_lowering_request *request, int taken,
                                    zn_error *err)
{
    if (request->node->inputs_count > INPUTS)
        return zn_fail(err, ZENITH_INTERNAL, "%s has too many inputs", request->node->op->name);
    for (int i = 0; i < request->node->inputs_count; i++) {
        ZN_TRY(prepare_input(from, request, taken, i, err));
    }
    return ZENITH_OK;
}

static zenith_status prepare(row_lowering *l, const zn_lowering_request *request, int taken,
                             zn_error *err)
{
    const zn_desc *y = &request->node->desc;
    ZN_TRY(prepare_inputs(&l->from, request, taken, err));
    l->count = zn_row_elements(request->node);
    l->narrows = !is_plain(y);
    l->result_at = l->part_bytes = l->from.bytes;
    if (l->narrows) l->part_bytes += zn_round_up(l->count * sizeof(float), ZN_ALIGN);
    ZN_TRY(zn_conversion_make(request->kernels, ZN_F32, 1, y->type, y->scale, &l->narrow, err));
    l->parts = (size_t)request->threads;
    if (!zn_mul_size(l->part_bytes, l->parts, &l->base.scratch_bytes))
        return zn_fail_memory(err, SIZE_MAX);
    return ZENITH_OK;
}

static zenith_status lower_rows(const zn_lowering_request *request, int taken, zn_row_fn *row,
                                zn_placed_row_fn *placed, zn_lowering **out, zn_error *err)
{
    row_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){.run = run, .free = zn_lowering_free, .id = "rows"};
    l->node = request->node;
    l->row = row;
    l->placed = placed;
    zenith_status status = prepare(l, request, taken, err);
    if (status != ZENITH_OK)
        zn_free(l);
    else
        *out = &l->base;
    return status;
}

zenith_status zn_row_lower(const zn_lowering_request *request, int taken, zn_row_fn *row,
                           zn_lowering **out, zn_error *err)
{
    return lower_rows(request, taken, row, NULL, out, err);
}

zenith_status zn_placed_row_lower(const zn_lowering_request *request, zn_placed_row_fn *row,
                                  zn_lowering **out, zn_error *err)
{
    return lower_rows(request, 1, NULL, row, out, err);
}

// --- sums of all rows ---------------------------------------------------------------------------

typedef struct sum_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_sum_row_fn *row;
    zn_sum_finish_fn *finish;
    row_inputs from;
    size_t sums, parts;
} sum_lowering;

enum { SUM_ROWS = 64 }; // whose sums are in memory at a time

typedef struct sum_job {
    const sum_lowering *lowering;
    const zn_call *call;
    size_t first, rows;
    double *sums; // of each of the rows
} sum_job;

static void sum_part(void *arg, size_t begin, size_t end)
{
    const sum_job *j = arg;
    const sum_lowering *l = j->lowering;
    const float *inputs[INPUTS] = {0};
    for (size_t part = begin; part < end; part++) {
        uint8_t *scratch = (uint8_t *)j->call->scratch + part * l->from.bytes;
        for (size_t row = part; row < j->rows && !zn_call_stopped(j->call); row += l->parts) {
            double *sums = j->sums + row * l->sums;
            for (size_t i = 0; i < l->sums; i++) sums[i] = 0;
            take_row(&l->from, l->node, j->call, j->first + row, scratch, inputs);
            l->row(l->node, inputs, sums);
        }
    }
}

// In the scratch: widened rows of each thread, the sums, then those of some rows.
static zenith_status run_sum(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const sum_lowering *l = (const sum_lowering *)base;
    const size_t rows = (size_t)l->node->inputs[0]->desc.shape.dim[1];
    uint8_t *scratch = call->scratch;
    double *sums = (double *)(void *)(scratch + l->parts * l->from.bytes);
    sum_job j = {.lowering = l, .call = call, .sums = sums + l->sums};
    for (size_t i = 0; i < l->sums; i++) sums[i] = 0;
    for (; j.first < rows && !zn_call_stopped(call); j.first += SUM_ROWS) {
        j.rows = rows - j.first < SUM_ROWS ? rows - j.first : SUM_ROWS;
        zn_parallel(call->team, l->parts, 1, sum_part, &j);
        for (size_t row = 0; row < j.rows; row++)
            for (size_t i = 0; i < l->sums; i++) sums[i] += j.sums[row * l->sums + i];
    }
    if (zn_call_stopped(call)) return ZENITH_OK; // some rows have no sums
    float *dst = call->output;
    const float *inputs[INPUTS] = {0};
    take_row(&l->from, l->node, call, 0, scratch, inputs);
    if (l->finish)
        l->finish(l->node, inputs, sums, dst);
    else
        for (size_t i = 0; i < l->sums; i++) dst[i] = (float)sums[i];
    return ZENITH_OK;
}

zenith_status zn_sum_lower(const zn_lowering_request *request, size_t sums, zn_sum_row_fn *row,
                           zn_sum_finish_fn *finish, zn_lowering **out, zn_error *err)
{
    sum_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    *l = (sum_lowering){.base = {.run = run_sum, .free = zn_lowering_free, .id = "sums"},
                        .node = request->node,
                        .row = row,
                        .finish = finish,
                        .sums = sums,
                        .parts = (size_t)request->threads};
    zenith_status status = prepare_inputs(&l->from, request, 1, err);
    l->base.scratch_bytes = l->parts * l->from.bytes + (1 + SUM_ROWS) * sums * sizeof(double);
    if (status != ZENITH_OK)
        zn_free(l);
    else
        *out = &l->base;
    return status;
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
