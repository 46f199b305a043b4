// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// (x - mean) * rstd * gamma + beta, with mean and rstd of the pixel's image and group: the last of
// the three nodes that the builder makes (row_moments, group_stats, group_norm). Computed in f32 as
// x * scale + shift, with scale and shift per channel made once per call.
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/kernel/elementwise.h"
#include "src/op/conv_weights.h"
#include "src/op/convert_parallel.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

enum { X, STATS, GAMMA, BETA, INPUTS };

typedef struct norm_lowering {
    zn_lowering base;
    int64_t rows, width, channels, groups;
    size_t row_count; // elements of a row
    const float *gamma, *beta;
    bool widens, narrows;
    zn_conversion widen, narrow;
    size_t rows_at; // offset in scratch of f32 rows; scale and shift are before them
} norm_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_stats(node, STATS, err));
    const int64_t channels = node->inputs[X]->desc.shape.dim[3];
    ZN_TRY(zn_check_vector(node, GAMMA, channels, err));
    ZN_TRY(zn_check_vector(node, BETA, channels, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    const int64_t *x = inputs[X].desc.shape.dim;
    const int64_t groups = inputs[STATS].desc.shape.dim[1], pixels = x[1] * x[2];
    size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        int64_t channel = (int64_t)i % x[3], image = (int64_t)i / x[3] / pixels;
        size_t group = (size_t)(image * groups + channel / (x[3] / groups));
        double mean = (double)zn_value_get(&inputs[STATS], 2 * group);
        double rstd = (double)zn_value_get(&inputs[STATS], 2 * group + 1);
        double gamma = (double)zn_value_get(&inputs[GAMMA], (size_t)channel);
        double beta = (double)zn_value_get(&inputs[BETA], (size_t)channel);
        double value = (double)zn_value_get(&inputs[X], i);
        zn_value_set(output, i, (float)((value - mean) * rstd * gamma + beta));
    }
}

typedef struct job {
    const norm_lowering *lowering;
    const zn_call *call;
    const float *scale, *shift;
    float *rows; // NULL: x and the result are f32
} job;

static void norm_rows(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const norm_lowering *l = j->lowering;
    const size_t count = l->row_count;
    for (size_t row = begin; row < end; row++) {
        const uint8_t *x = (const uint8_t *)j->call->inputs[X] +
                           row * count * zn_type_size(l->widen.from);
        uint8_t *y = (uint8_t *)j->call->output + row * count * zn_type_size(l->narrow.to);
        const float *src = (const float *)x;
        float *dst = (float *)y;
        if (l->narrows) dst = j->rows + row * count;
        if (l->widens) {
            src = j->rows + row * count;
            l->widen.run(x, l->widen.from_scale, j->rows + row * count, 1, count);
        }
        zn_group_norm_rows(src, l->width, l->channels, j->scale, j->shift, false, dst);
        if (l->narrows) l->narrow.run(dst, 1, y, l->narrow.to_scale, count);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const norm_lowering *l = (const norm_lowering *)base;
    const float *stats = call->inputs[STATS]; // [groups, 2]
    float *scale = call->scratch, *shift = scale + l->channels;
    for (int64_t c = 0; c < l->channels; c++) {
        const float *pair = stats + 2 * (c / (l->channels / l->groups));
        scale[c] = l->gamma[c] * pair[1];
        shift[c] = l->beta[c] - pair[0] * scale[c];
    }
    job j = {l, call, scale, shift, (float *)((uint8_t *)call->scratch + l->rows_at)};
    zn_parallel(call->team, (size_t)l->rows, 1, norm_rows, &j);
    return ZENITH_OK;
}

static zenith_status fill(norm_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[X]->desc, *y = &node->desc;
    const zn_isa isa = request->cpu.isa;
    l->rows = request->rows;
    l->width = x->shape.dim[2];
    l->channels = x->shape.dim[3];
    l->groups = node->inputs[STATS]->desc.shape.dim[1];
    l->row_count = (size_t)l->width * (size_t)l->channels;
    l->widens = x->type != ZN_F32 || x->scale != 1.0f;
    l->narrows = y->type != ZN_F32 || y->scale != 1.0f;
    ZN_TRY(zn_conversion_make(isa, x->type, x->scale, ZN_F32, 1, &l->widen, err));
    ZN_TRY(zn_conversion_make(isa, ZN_F32, 1, y->type, y->scale, &l->narrow, err));
    ZN_TRY(zn_pack_vector(request->packs, &node->inputs[GAMMA]->constant, (const void **)&l->gamma,
                          err));
    ZN_TRY(zn_pack_vector(request->packs, &node->inputs[BETA]->constant, (const void **)&l->beta,
                          err));
    const zn_desc rows = zn_desc_make(ZN_F32, ZN_SHAPE(l->rows, l->width, l->channels));
    size_t bytes = 0;
    if ((l->widens || l->narrows) && !zn_desc_bytes(&rows, &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    l->rows_at = zn_round_up(2 * (size_t)l->channels * sizeof(float), ZN_ALIGN);
    if (!zn_add_size(l->rows_at, bytes, &l->base.scratch_bytes))
        return zn_fail_memory(err, SIZE_MAX);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    norm_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){.run = run, .free = zn_lowering_free, .id = "kernel"};
    zenith_status status = fill(l, request, err);
    if (status != ZENITH_OK)
        zn_free(l);
    else
        *out = &l->base;
    return status;
}

static double flops(const zn_node *node)
{
    size_t elements = 0;
    return zn_shape_elements(&node->desc.shape, &elements) ? 2.0 * (double)elements : 0;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    zn_node *x = node->inputs[X], *stats = node->inputs[STATS], *gamma = node->inputs[GAMMA];
    const char *name = node->name;
    switch (input) {
    case X:
        return zn_graph_add(graph, &zn_op_group_norm_gradient, name,
                            (zn_node *[]){dy, stats, gamma}, 3, NULL);
    case STATS:
        return zn_graph_add(graph, &zn_op_group_norm_stats_gradient, name,
                            (zn_node *[]){dy, x, stats, gamma}, 4, NULL);
    case GAMMA:
        return zn_graph_add(graph, &zn_op_group_norm_scale_gradient, name,
                            (zn_node *[]){dy, x, stats}, 3, NULL);
    default:
        return zn_channel_sum(graph, name, dy);
    }
}

#define SAMPLE(label, h, w, c, groups)                                                             \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS,                                                     \
        .inputs = {{4, {1, h, w, c}}, {3, {1, groups, 2}}, {1, {c}}, {1, {c}}}, .parameters = 12   \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", 1, 1, 3, 1),
    SAMPLE("odd", 5, 7, 12, 4),
    SAMPLE("wide", 4, 37, 64, 32),
};

const zn_op zn_op_group_norm = {
    .name = "group_norm",
    .summary = "normalised by the statistics of each group, times gamma, plus beta",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_group_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gamma, zn_node *beta,
                       int groups, float epsilon)
{
    char label[256];
    zn_text_format(label, sizeof label, "%s.moments", name ? name : "");
    zn_node *moments = zn_graph_add(graph, &zn_op_row_moments, label, &x, 1,
                                    &(zn_row_moments_attributes){groups});
    if (!moments) return NULL; // x may be missing too: the graph keeps the reason
    const int64_t *dim = x->desc.shape.dim;
    zn_text_format(label, sizeof label, "%s.stats", name ? name : "");
    zn_node *stats = zn_graph_add(graph, &zn_op_group_stats, label, &moments, 1,
                                  &(zn_group_stats_attributes){epsilon, dim[2] * dim[3] / groups});
    return zn_graph_add(graph, &zn_op_group_norm, name, (zn_node *[]){x, stats, gamma, beta},
                        INPUTS, NULL);
}
