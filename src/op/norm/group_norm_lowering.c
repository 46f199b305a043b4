// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// x * scale + shift, with scale and shift per channel made once per call. Maps of f32 and bf16 go
// through the kernel at once, also with SiLU; other types and curves in pieces of PIECE elements,
// which stay in the first cache: memory is read and written once either way. Gamma and beta are
// parameters, or vectors that a condition decides for each run.
#include "src/op/norm/group_norm_lowering.h"
#include "src/kernel/kernels.h"

#include "src/base/memory.h"
#include "src/kernel/norm/group_norm_apply.h"
#include "src/kernel/pointwise/activation.h"
#include "src/op/convert_parallel.h"
#include "src/op/op_checks.h"

enum { X = ZN_GROUP_NORM_X, STATS, GAMMA, BETA, PIECE = 4096 };

typedef struct norm_lowering {
    zn_lowering base;
    size_t width, channels, groups;
    size_t piece;              // pixels
    const float *gamma, *beta; // of parameters; NULL: a value of the run
    zn_group_norm_fn *norm;    // of x's type and the result's; or of f32, between the conversions
    zn_activation_fn *finish;  // NULL: none, or part of the norm
    bool converts;
    zn_conversion widen, narrow;
} norm_lowering;

zenith_status zn_group_norm_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, ZN_GROUP_NORM_INPUTS, ZN_GROUP_NORM_INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_stats(node, STATS, err));
    const int64_t channels = node->inputs[X]->desc.shape.dim[3];
    ZN_TRY(zn_check_vector(node, GAMMA, channels, err));
    return zn_check_vector(node, BETA, channels, err);
}

// In the scratch: scale and shift, then room for each thread.
static void run_piece(const zn_lowering *base, const zn_call *call, size_t index, void *wide)
{
    const norm_lowering *l = (const norm_lowering *)base;
    const size_t first = index * l->piece, rest = (size_t)call->rows * l->width - first;
    const size_t pixels = rest < l->piece ? rest : l->piece;
    const size_t at = first * l->channels, count = pixels * l->channels;
    const float *scale = call->scratch, *shift = scale + l->channels;
    const uint8_t *src = (const uint8_t *)call->inputs[X] + at * zn_type_size(l->widen.from);
    uint8_t *dst = (uint8_t *)call->output + at * zn_type_size(l->narrow.to);
    if (!l->converts) {
        l->norm(src, pixels, l->channels, scale, shift, dst);
        return;
    }
    l->widen.run(src, l->widen.from_scale, wide, 1, count);
    l->norm(wide, pixels, l->channels, scale, shift, wide);
    if (l->finish) l->finish(wide, NULL, wide, count);
    l->narrow.run(wide, 1, dst, l->narrow.to_scale, count);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const norm_lowering *l = (const norm_lowering *)base;
    const float *stats = call->inputs[STATS]; // [groups, 2]
    const float *gamma = l->gamma ? l->gamma : call->inputs[GAMMA];
    const float *beta = l->beta ? l->beta : call->inputs[BETA];
    float *scale = call->scratch, *shift = scale + l->channels;
    for (size_t c = 0; c < l->channels; c++) {
        const float *pair = stats + 2 * (c / (l->channels / l->groups));
        scale[c] = gamma[c] * pair[1];
        shift[c] = beta[c] - pair[0] * scale[c];
    }
    zn_lowering_run_pieces(base, call, ((size_t)call->rows * l->width + l->piece - 1) / l->piece);
    return ZENITH_OK;
}

// The kernel, and what is around it where types or the curve are not the kernel's own.
static zenith_status choose(norm_lowering *l, const zn_lowering_request *request, int curve,
                            zn_error *err)
{
    const zn_desc *x = &request->node->inputs[X]->desc, *y = &request->node->desc;
    const zn_kernels *kernels = request->kernels;
    const bool own = curve == ZN_NO_CURVE || curve == ZN_CURVE_SILU;
    if (own && x->scale == 1.0f && y->scale == 1.0f)
        l->norm = kernels->group_norm(x->type, y->type, curve == ZN_CURVE_SILU);
    l->converts = !l->norm;
    if (l->converts) l->norm = kernels->group_norm(ZN_F32, ZN_F32, false);
    if (l->converts && curve != ZN_NO_CURVE)
        l->finish = kernels->activation((zn_curve)curve, false);
    ZN_TRY(zn_conversion_widen(request, X, &l->widen, err));
    return zn_conversion_narrow(request, &l->narrow, err);
}

static zenith_status take_vector(const zn_lowering_request *request, int input, const float **out,
                                 zn_error *err)
{
    const zn_node *vector = request->node->inputs[input];
    if (vector->kind != ZN_NODE_PARAMETER) return ZENITH_OK;
    return zn_pack_vector(request->packs, &vector->constant, (const void **)out, err);
}

static zenith_status fill(norm_lowering *l, const zn_lowering_request *request, int curve,
                          zn_error *err)
{
    const zn_node *node = request->node;
    const int64_t *dim = node->desc.shape.dim;
    l->width = (size_t)dim[2];
    l->channels = (size_t)dim[3];
    l->groups = (size_t)node->inputs[STATS]->desc.shape.dim[1];
    l->piece = l->channels < PIECE ? PIECE / l->channels : 1;
    ZN_TRY(choose(l, request, curve, err));
    ZN_TRY(take_vector(request, GAMMA, &l->gamma, err));
    ZN_TRY(take_vector(request, BETA, &l->beta, err));
    const size_t scales = zn_round_up(2 * l->channels * sizeof(float), ZN_ALIGN);
    const size_t wide = zn_round_up(l->piece * l->channels * sizeof(float), ZN_ALIGN);
    return zn_lowering_part(&l->base, request, scales, l->converts ? wide : 0, err);
}

zenith_status zn_group_norm_lower(const zn_lowering_request *request, int curve, zn_lowering **out,
                                  zn_error *err)
{
    norm_lowering made = {.base = {.run = run,
                                   .free = zn_lowering_free,
                                   .any_rows = true,
                                   .id = "kernel",
                                   .piece = run_piece,
                                   .runs = true}};
    ZN_TRY(fill(&made, request, curve, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}
