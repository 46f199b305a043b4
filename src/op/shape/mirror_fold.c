// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The transpose of continuing a map by mirroring it at its borders (by half samples): what stands
// outside is added to the pixels that it mirrored.
#include "src/base/memory.h"
#include "src/op/convert_parallel.h"
#include "src/op/row_lowering.h"
#include "src/op/spectral/walsh_checks.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_mirror_fold_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_walsh_check_map(node, 0, err));
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    if (a->before < 0 || a->height < 1 || a->width < 1 || a->before + a->height > dim[1] ||
        a->before + a->width > dim[2])
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "mirror_fold: a map of %lld x %lld pixels is not inside one of %lld x %lld",
                       (long long)a->width, (long long)a->height, (long long)dim[2],
                       (long long)dim[1]);
    zn_infer_like_input(node);
    node->desc.shape = ZN_SHAPE(dim[0], a->height, a->width, dim[3]);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_mirror_fold_attributes *a = node->attributes;
    const int64_t *from = inputs[0].desc.shape.dim, *to = output->desc.shape.dim;
    for (int64_t i = 0; i < (int64_t)zn_value_count(output); i++) {
        const int64_t c = i % to[3], x = i / to[3] % to[2], row = i / to[3] / to[2];
        const int64_t y = row % to[1], image = row / to[1];
        double sum = 0;
        for (int64_t p = 0; p < from[1] * from[2]; p++) {
            if (zn_mirror(p / from[2] - a->before, to[1]) != y) continue;
            if (zn_mirror(p % from[2] - a->before, to[2]) != x) continue;
            sum += (double)zn_value_get(&inputs[0],
                                        (size_t)((image * from[1] * from[2] + p) * from[3] + c));
        }
        zn_value_set(output, (size_t)i, (float)sum);
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct fold_lowering {
    zn_lowering base;
    zn_mirror_fold_attributes fold;
    zn_conversion widen, narrow;
    int64_t covered_height, covered_width, channels;
    size_t parts, part_bytes; // a row of the source and one of the result, in f32
} fold_lowering;

typedef struct job {
    const fold_lowering *lowering;
    const zn_call *call;
} job;

static void add_values(float *dst, const float *src, size_t count)
{
    for (size_t i = 0; i < count; i++) dst[i] += src[i];
}

static void add_row(const fold_lowering *l, const float *src, float *dst)
{
    const size_t c = (size_t)l->channels;
    add_values(dst, src + (size_t)l->fold.before * c, (size_t)l->fold.width * c);
    for (int64_t i = 0; i < l->covered_width; i++) {
        if (i == l->fold.before) i += l->fold.width;
        if (i >= l->covered_width) break;
        const size_t to = (size_t)zn_mirror(i - l->fold.before, l->fold.width);
        add_values(dst + to * c, src + (size_t)i * c, c);
    }
}

static void fold_row(const fold_lowering *l, const zn_call *call, int64_t row, float *src)
{
    const size_t from = (size_t)(l->covered_width * l->channels);
    const size_t to = (size_t)(l->fold.width * l->channels);
    float *sums = src + from;
    memset(sums, 0, to * sizeof *sums);
    for (int64_t y = 0; y < l->covered_height; y++) {
        if (zn_mirror(y - l->fold.before, l->fold.height) != row) continue;
        l->widen.run((const uint8_t *)call->inputs[0] +
                         (size_t)y * from * zn_type_size(l->widen.from),
                     l->widen.from_scale, src, 1, from);
        add_row(l, src, sums);
    }
    l->narrow.run(sums, 1, (uint8_t *)call->output + (size_t)row * to * zn_type_size(l->narrow.to),
                  l->narrow.to_scale, to);
}

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const fold_lowering *l = j->lowering;
    for (size_t part = begin; part < end; part++) {
        uint8_t *scratch = (uint8_t *)j->call->scratch + part * l->part_bytes;
        for (int64_t row = (int64_t)part; row < l->fold.height; row += (int64_t)l->parts)
            fold_row(l, j->call, row, (float *)(void *)scratch);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    job j = {(const fold_lowering *)base, call};
    zn_parallel(call->team, j.lowering->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_desc *x = &request->node->inputs[0]->desc, *y = &request->node->desc;
    fold_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "kernel"},
                          .fold = *(const zn_mirror_fold_attributes *)request->node->attributes,
                          .covered_height = x->shape.dim[1],
                          .covered_width = x->shape.dim[2],
                          .channels = x->shape.dim[3],
                          .parts = (size_t)request->threads};
    ZN_TRY(zn_conversion_make(request->kernels, x->type, x->scale, ZN_F32, 1, &made.widen, err));
    ZN_TRY(zn_conversion_make(request->kernels, ZN_F32, 1, y->type, y->scale, &made.narrow, err));
    const int64_t row = (made.covered_width + made.fold.width) * made.channels;
    made.part_bytes = zn_round_up((size_t)row * sizeof(float), ZN_ALIGN);
    made.base.scratch_bytes = made.parts * made.part_bytes;
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static const zn_mirror_fold_attributes nothing = {0, 3, 5}, below = {0, 5, 9}, around = {4, 11, 6},
                                       often = {8, 3, 2};
#define SAMPLE(label, attribute, h, w, c)                                                          \
    {                                                                                              \
        .name = label, .inputs_count = 1, .inputs = {{4, {1, h, w, c}}},                           \
        .attributes = &(attribute)                                                                 \
    }
static const zn_op_sample samples[] = {
    SAMPLE("nothing", nothing, 3, 5, 3),
    SAMPLE("below", below, 8, 12, 16),
    SAMPLE("around", around, 16, 16, 5),
    SAMPLE("often", often, 16, 16, 3),
};

const zn_op zn_op_mirror_fold = {
    .name = "mirror_fold",
    .summary = "mirrored borders added to the pixels that they mirror",
    .attributes_size = sizeof(zn_mirror_fold_attributes),
    .traits = ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_flops_of_input,
    .no_gradient = "it is a gradient itself",
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_mirror_fold(zn_graph *graph, const char *name, zn_node *x,
                        zn_mirror_fold_attributes attributes)
{
    return zn_graph_add(graph, &zn_op_mirror_fold, name, &x, 1, &attributes);
}
