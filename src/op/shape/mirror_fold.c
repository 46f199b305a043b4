// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The transpose of continuing a map by mirroring it at its borders (by half samples): what stands
// outside is added to the pixels that it mirrored.
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"
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
} fold_lowering;

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

static void fold_row(const zn_lowering *base, const zn_call *call, size_t row, void *scratch)
{
    const fold_lowering *l = (const fold_lowering *)base;
    const size_t from = (size_t)(l->covered_width * l->channels);
    const size_t to = (size_t)(l->fold.width * l->channels);
    float *src = scratch, *sums = src + from;
    memset(sums, 0, to * sizeof *sums);
    for (int64_t y = 0; y < l->covered_height; y++) {
        if (zn_mirror(y - l->fold.before, l->fold.height) != (int64_t)row) continue;
        l->widen.run((const uint8_t *)call->inputs[0] +
                         (size_t)y * from * zn_type_size(l->widen.from),
                     l->widen.from_scale, src, 1, from);
        add_row(l, src, sums);
    }
    l->narrow.run(sums, 1, (uint8_t *)call->output + row * to * zn_type_size(l->narrow.to),
                  l->narrow.to_scale, to);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_desc *x = &request->node->inputs[0]->desc;
    fold_lowering made = {.base = ZN_LOWERING_OF_PIECES(fold_row, "kernel"),
                          .fold = *(const zn_mirror_fold_attributes *)request->node->attributes,
                          .covered_height = x->shape.dim[1],
                          .covered_width = x->shape.dim[2],
                          .channels = x->shape.dim[3]};
    ZN_TRY(zn_conversion_widen(request, 0, &made.widen, err));
    ZN_TRY(zn_conversion_narrow(request, &made.narrow, err));
    made.base.pieces = (size_t)made.fold.height;
    const int64_t row = (made.covered_width + made.fold.width) * made.channels;
    // A row of the source and one of the result, in f32.
    ZN_TRY(zn_lowering_part(&made.base, request, 0,
                            zn_round_up((size_t)row * sizeof(float), ZN_ALIGN), err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static const zn_mirror_fold_attributes nothing = {0, 3, 5}, below = {0, 5, 9}, around = {4, 11, 6},
                                       often = {8, 3, 2};

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
    .samples = ZN_SAMPLES(ZN_SAMPLE("nothing", &nothing, 0, ZN_MAP(3, 5, 3)),
                          ZN_SAMPLE("below", &below, 0, ZN_MAP(8, 12, 16)),
                          ZN_SAMPLE("around", &around, 0, ZN_MAP(16, 16, 5)),
                          ZN_SAMPLE("often", &often, 0, ZN_MAP(16, 16, 3))),
};
