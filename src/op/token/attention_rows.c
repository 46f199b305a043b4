// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See attention_rows.h.
#include "src/op/token/attention_rows.h"

#include "src/base/memory.h"
#include "src/kernel/kernels.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"

#include <math.h>

enum { DY = ZN_ATTENTION_DY, Q = ZN_ATTENTION_Q, PACKED = ZN_ATTENTION_PACKED };

zenith_status zn_attention_gradient_check(const zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, ZN_ATTENTION_INPUTS, ZN_ATTENTION_INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_wide_floats(node, DY, err));
    ZN_TRY(zn_check_same_shape(node, DY, Q, err));
    return zn_attention_check(node, Q, PACKED, err);
}

// Six products of each query and key at most.
double zn_attention_gradient_flops(const zn_node *node)
{
    const zn_attention_shape s = zn_attention_shape_of(node, Q);
    return 12 * (double)s.queries * (double)s.keys * (double)(s.heads * s.width);
}

// --- inputs in the scratch -----------------------------------------------------------------------

static int64_t heads_of(const zn_attention_shape *s, int matrix)
{
    return matrix <= Q ? s->heads : s->key_heads;
}

// Tokens of a matrix in whole panels.
static int64_t tokens_of(const zn_attention_rows *rows, int matrix)
{
    return matrix <= Q ? zn_attention_padded(rows->queries) : rows->shape.padded_keys;
}

static size_t place_forms(zn_attention_rows *rows, const unsigned forms[ZN_ATTENTION_MATRICES])
{
    const zn_attention_shape *s = &rows->shape;
    size_t next = 0;
    for (int m = 0; m < ZN_ATTENTION_MATRICES; m++) {
        for (unsigned form = 0; form < ZN_ATTENTION_FORMS; form++) {
            if (form != ZN_ATTENTION_ROWS && !(forms[m] >> form & 1)) continue;
            rows->at[m][form] = next;
            next += (size_t)(heads_of(s, m) * tokens_of(rows, m) * s->padded_width);
        }
    }
    return zn_round_up(next * sizeof(float), ZN_ALIGN);
}

zenith_status zn_attention_rows_make(const zn_lowering_request *request, int64_t rows,
                                     const unsigned forms[ZN_ATTENTION_MATRICES], zn_lowering *base,
                                     zn_attention_rows *out, zn_error *err)
{
    const zn_node *node = request->node;
    *out = (zn_attention_rows){.shape = zn_attention_shape_of(node, Q),
                               .kernel = request->kernels->attention_gradient,
                               .keys_type = node->inputs[PACKED]->desc.type,
                               .keys_scale = node->inputs[PACKED]->desc.scale};
    out->queries = rows * out->shape.queries / node->inputs[Q]->desc.shape.dim[1];
    for (int i = DY; i <= Q; i++) {
        ZN_TRY(zn_conversion_widen(request, i, &out->widen[i], err));
    }
    const int64_t width = out->shape.padded_width;
    const size_t sums = 2 * (size_t)(ZN_ATTENTION_GRADIENT_ROWS * width) * sizeof(float);
    ZN_TRY(zn_lowering_part(base, request, place_forms(out, forms),
                            zn_round_up(sizeof(zn_attention_gradient_state) + sums, ZN_ALIGN),
                            err));
    base->id = out->kernel->id;
    out->bytes = base->scratch_bytes;
    return ZENITH_OK;
}

float *zn_attention_form_of(const zn_attention_rows *rows, const zn_call *call, int matrix,
                            zn_attention_form form, int64_t head)
{
    const size_t of_head = (size_t)(tokens_of(rows, matrix) * rows->shape.padded_width);
    return (float *)call->scratch + rows->at[matrix][form] + (size_t)head * of_head;
}

zn_attention_part zn_attention_part_of(const zn_attention_rows *rows, void *scratch)
{
    const size_t sums = (size_t)(ZN_ATTENTION_GRADIENT_ROWS * rows->shape.padded_width);
    float *first = (float *)(void *)((char *)scratch + sizeof(zn_attention_gradient_state));
    return (zn_attention_part){scratch, {first, first + sums}};
}

// Where the tokens of one panel, from `token` on, come from and go to.
typedef struct panel_job {
    const zn_attention_rows *rows;
    const zn_call *call;
    int matrix;
    int64_t head, token;
} panel_job;

// Rows of dy or q; what is beyond the last token or channel is zero already.
static void load_map(const panel_job *p, float *dst)
{
    const zn_attention_shape *s = &p->rows->shape;
    const zn_conversion *widen = &p->rows->widen[p->matrix];
    const int64_t left = p->rows->queries - p->token;
    for (int64_t i = 0; i < ZN_ATTENTION_PANEL && i < left; i++) {
        const size_t at = (size_t)(((p->token + i) * s->heads + p->head) * s->width);
        widen->run((const char *)p->call->inputs[p->matrix] + at * zn_type_size(widen->from),
                   widen->from_scale, dst + i * s->padded_width, 1, (size_t)s->width);
    }
}

static float load_packed(const zn_attention_rows *rows, const void *src, size_t at)
{
    const float value = rows->keys_type == ZN_BF16 ? zn_bf16_to_f32(((const uint16_t *)src)[at])
                                                   : zn_type_load(rows->keys_type, src, at);
    return value * rows->keys_scale;
}

static void load_floats(const panel_job *p, int64_t key, float *dst)
{
    const zn_attention_shape *s = &p->rows->shape;
    const float *src = p->call->inputs[PACKED];
    zn_attention_run run;
    for (int64_t c = 0; c < s->width; c += run.count) {
        run = zn_attention_run_at(s, p->matrix == ZN_ATTENTION_V, p->head, key, c);
        for (int64_t i = 0; i < run.count; i++)
            dst[c + i] = src[run.at + (size_t)i * run.step] * p->rows->keys_scale;
    }
}

static void load_keys(const panel_job *p, float *dst)
{
    const zn_attention_shape *s = &p->rows->shape;
    const bool value = p->matrix == ZN_ATTENTION_V;
    const zn_type type = p->rows->keys_type;
    const size_t head = (size_t)(p->head + (value ? s->key_heads : 0)) * zn_attention_head(s);
    const char *src = (const char *)p->call->inputs[PACKED] + head * zn_type_size(type);
    const int64_t left = s->keys - p->token;
    for (int64_t i = 0; i < ZN_ATTENTION_PANEL && i < left; i++) {
        const int64_t key = p->token + i;
        if (type == ZN_F32) load_floats(p, key, dst + i * s->padded_width);
        for (int64_t c = 0; type != ZN_F32 && c < s->width; c++) {
            const size_t at = value ? zn_attention_place(type, s->padded_keys, c, key)
                                    : zn_attention_place(type, s->padded_width, key, c);
            dst[i * s->padded_width + c] = load_packed(p->rows, src, at);
        }
    }
}

// The other forms that are wanted, from the rows.
static void turn_panel(const panel_job *p, const float *src)
{
    const zn_attention_rows *rows = p->rows;
    const int64_t width = rows->shape.padded_width, tokens = tokens_of(rows, p->matrix);
    const size_t *at = rows->at[p->matrix];
    if (at[ZN_ATTENTION_TOKENS_PANELS]) {
        float *dst = zn_attention_form_of(rows, p->call, p->matrix, ZN_ATTENTION_TOKENS_PANELS,
                                          p->head) +
                     p->token * width;
        for (int64_t c = 0; c < width; c++)
            for (int64_t i = 0; i < ZN_ATTENTION_PANEL; i++)
                dst[c * ZN_ATTENTION_PANEL + i] = src[i * width + c];
    }
    if (at[ZN_ATTENTION_CHANNELS_PANELS]) {
        float *dst = zn_attention_form_of(rows, p->call, p->matrix, ZN_ATTENTION_CHANNELS_PANELS,
                                          p->head);
        for (int64_t c = 0; c < width; c += ZN_ATTENTION_PANEL)
            for (int64_t i = 0; i < ZN_ATTENTION_PANEL; i++)
                memcpy(dst + c * tokens + (p->token + i) * ZN_ATTENTION_PANEL, src + i * width + c,
                       ZN_ATTENTION_PANEL * sizeof *dst);
    }
}

static void load_panel(const panel_job *p)
{
    const int64_t width = p->rows->shape.padded_width;
    float *dst = zn_attention_form_of(p->rows, p->call, p->matrix, ZN_ATTENTION_ROWS, p->head) +
                 p->token * width;
    memset(dst, 0, (size_t)(ZN_ATTENTION_PANEL * width) * sizeof *dst);
    if (p->matrix <= Q)
        load_map(p, dst);
    else
        load_keys(p, dst);
    turn_panel(p, dst);
}

typedef struct load_job {
    const zn_attention_rows *rows;
    const zn_call *call;
} load_job;

static int64_t panels_of(const zn_attention_rows *rows, int matrix)
{
    return heads_of(&rows->shape, matrix) * (tokens_of(rows, matrix) / ZN_ATTENTION_PANEL);
}

// Panels of all heads of all matrices, one after the other.
static void load_range(void *arg, size_t begin, size_t end)
{
    const load_job *j = arg;
    for (size_t i = begin; i < end && !zn_call_stopped(j->call); i++) {
        int64_t at = (int64_t)i;
        int matrix = 0;
        while (at >= panels_of(j->rows, matrix)) at -= panels_of(j->rows, matrix++);
        const int64_t of_head = tokens_of(j->rows, matrix) / ZN_ATTENTION_PANEL;
        load_panel(&(panel_job){j->rows, j->call, matrix, at / of_head,
                                at % of_head * ZN_ATTENTION_PANEL});
    }
}

void zn_attention_rows_load(const zn_attention_rows *rows, const zn_call *call)
{
    int64_t panels = 0;
    for (int m = 0; m < ZN_ATTENTION_MATRICES; m++) panels += panels_of(rows, m);
    zn_parallel(call->team, (size_t)panels, 1, load_range, &(load_job){rows, call});
}

// --- references ---------------------------------------------------------------------------------

static double product_refer(const zn_attention_shape *s, const zn_tensor *inputs, int map,
                            int64_t query, int64_t head, int64_t key)
{
    const int64_t key_head = head / (s->heads / s->key_heads);
    double sum = 0;
    for (int64_t c = 0; c < s->width; c++) {
        const size_t at = zn_attention_index(s, inputs[PACKED].desc.type, map == DY, key_head, key,
                                             c);
        sum += (double)zn_value_get(&inputs[map],
                                    (size_t)((query * s->heads + head) * s->width + c)) *
               (double)zn_value_get(&inputs[PACKED], at);
    }
    return sum;
}

zn_attention_totals zn_attention_totals_refer(const zn_attention_shape *s, const zn_tensor *inputs,
                                              int64_t query, int64_t head)
{
    const int64_t seen = zn_attention_visible(s, query);
    double largest = -INFINITY, total = 0, sum = 0;
    for (int64_t key = 0; key < seen; key++)
        largest = fmax(largest, product_refer(s, inputs, Q, query, head, key) * s->scale);
    for (int64_t key = 0; key < seen; key++) {
        const double p = exp(product_refer(s, inputs, Q, query, head, key) * s->scale - largest);
        total += p;
        sum += p * product_refer(s, inputs, DY, query, head, key);
    }
    return (zn_attention_totals){largest + log(total), sum / total};
}

zn_attention_pair zn_attention_pair_refer(const zn_attention_shape *s, const zn_tensor *inputs,
                                          int64_t query, int64_t head, int64_t key,
                                          zn_attention_totals totals)
{
    const double score = product_refer(s, inputs, Q, query, head, key) * s->scale;
    const double p = exp(score - totals.log_total);
    return (zn_attention_pair){p,
                               p * (product_refer(s, inputs, DY, query, head, key) - totals.mean)};
}

static const zn_attention_node_attributes token = {{1, 1, false, 0, false}, 1},
                                          grouped = {{4, 2, false, 0, false}, 37},
                                          causal = {{1, 1, true, 0.25f, false}, 40},
                                          columns = {{2, 1, true, 0, true}, 40};
const zn_op_sample zn_attention_gradient_samples[ZN_ATTENTION_SAMPLES] = {
    {.name = "token",
     .inputs_count = ZN_ATTENTION_INPUTS,
     .inputs = {{4, {1, 1, 1, 1}}, {4, {1, 1, 1, 1}}, {3, {2, 1, 1024}}},
     .attributes = &token},
    {.name = "grouped",
     .inputs_count = ZN_ATTENTION_INPUTS,
     .inputs = {{4, {1, 5, 3, 20}}, {4, {1, 5, 3, 20}}, {3, {2, 2, 2048}}},
     .attributes = &grouped},
    {.name = "causal",
     .inputs_count = ZN_ATTENTION_INPUTS,
     .inputs = {{4, {1, 23, 1, 33}}, {4, {1, 23, 1, 33}}, {3, {2, 1, 4096}}},
     .attributes = &causal},
    {.name = "columns",
     .inputs_count = ZN_ATTENTION_INPUTS,
     .inputs = {{4, {1, 9, 3, 20}}, {4, {1, 9, 3, 20}}, {3, {2, 3, 2048}}},
     .attributes = &columns},
};
