// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of linear with respect to its weight, in f32: dw[o][i] = sum over tokens of dy[t][o]
// * x[t][i]. It is a product of linear itself whose inputs are the tokens: the columns of dy are
// multiplied by those of x. For each call dy is turned; x is packed as it lies.
#include "src/kernel/kernels.h"
#include "src/op/operator.h"
#include "src/op/token/linear_lowering.h"
#include "src/op/token/token_checks.h"

enum { X, DY, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_tokens(node, X, err));
    ZN_TRY(zn_check_tokens(node, DY, err));
    const zn_node *x = node->inputs[X], *dy = node->inputs[DY];
    if (zn_token_count(x) != zn_token_count(dy))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%s needs as many tokens of both, not %lld and %lld", node->op->name,
                       (long long)zn_token_count(x), (long long)zn_token_count(dy));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(zn_token_channels(dy), zn_token_channels(x)));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t tokens = (size_t)zn_token_count(node->inputs[X]);
    const size_t in = (size_t)zn_token_channels(node->inputs[X]);
    const size_t out = (size_t)zn_token_channels(node->inputs[DY]);
    for (size_t i = 0; i < in * out; i++) {
        double sum = 0;
        for (size_t t = 0; t < tokens; t++)
            sum += (double)zn_value_get(&inputs[X], t * in + i % in) *
                   (double)zn_value_get(&inputs[DY], t * out + i / in);
        zn_value_set(output, i, (float)sum);
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct gradient_lowering {
    zn_lowering base;
    zn_linear_args args; // tokens: the outputs; inputs: the tokens
    zn_linear_team team;
    zn_linear_columns x, dy;     // their data is the call's
    size_t packed_at, turned_at; // in scratch, after the team's part
} gradient_lowering;

enum {
    TURNED = 16
}; // tokens, and channels, that are turned together: a line of the cache has as many

// rows[channel][token] of the tokens [first, first + count), whose maps are read from byte to byte:
// x was written long ago, and is not near.
static void turn(const zn_linear_columns *c, const char *src, int64_t tokens, int64_t first,
                 int64_t count, float *rows)
{
    float some[TURNED][TURNED];
    const size_t size = zn_type_size(c->type);
    for (int64_t at = 0; at < c->stride; at += TURNED) {
        const int64_t channels = c->stride - at < TURNED ? c->stride - at : TURNED;
        const char *begin = src + (size_t)(first * c->stride + at) * size;
        const float *wide = c->type == ZN_F32 ? (const float *)(const void *)begin : some[0];
        const int64_t step = c->type == ZN_F32 ? c->stride : TURNED;
        for (int64_t t = 0; c->type != ZN_F32 && t < count; t++)
            c->widen(begin + (size_t)(t * c->stride) * size, 1, some[t], 1, (size_t)channels);
        for (int64_t i = 0; i < channels; i++)
            for (int64_t t = 0; t < count; t++)
                rows[(at + i) * tokens + first + t] = wide[t * step + i];
    }
}

// Some tokens: dy turned, x packed.
static void lay_out(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    (void)scratch;
    const gradient_lowering *l = (const gradient_lowering *)base;
    const int64_t tokens = l->args.size.inputs, first = (int64_t)index * TURNED;
    const int64_t count = tokens - first < TURNED ? tokens - first : TURNED;
    zn_linear_columns x = l->x;
    x.data = call->inputs[X];
    turn(&l->dy, call->inputs[DY], tokens, first, count,
         (float *)(void *)((char *)call->scratch + l->turned_at));
    zn_linear_pack_columns(l->args.version, &l->args.size, first, first + count, &x,
                           (char *)call->scratch + l->packed_at);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const gradient_lowering *l = (const gradient_lowering *)base;
    zn_linear_args args = l->args;
    zn_lowering_run_pieces(base, call, (size_t)(args.size.inputs + TURNED - 1) / TURNED);
    args.packed = (char *)call->scratch + l->packed_at;
    args.src = (char *)call->scratch + l->turned_at;
    args.dst = call->output;
    zn_linear_team_run(&l->team, &args, call);
    return ZENITH_OK;
}

static zn_linear_columns columns_of(const zn_node *node, const zn_kernels *kernels)
{
    return (zn_linear_columns){.type = node->desc.type,
                               .widen = kernels->convert(node->desc.type, ZN_F32),
                               .stride = zn_token_channels(node)};
}

// The team's scratch, dy turned, and x packed.
static void place_scratch(gradient_lowering *l, int workers)
{
    const zn_linear_size *size = &l->args.size;
    const size_t turned = (size_t)(l->args.tokens * size->inputs) * sizeof(float);
    l->turned_at = zn_round_up(
        zn_linear_team_bytes(l->args.version, size, l->args.tokens, workers, &l->team), ZN_ALIGN);
    l->packed_at = l->turned_at + zn_round_up(turned, ZN_ALIGN);
    l->base.scratch_bytes = l->packed_at + zn_round_up(size->bytes, ZN_ALIGN);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *x = request->node->inputs[X], *dy = request->node->inputs[DY];
    const zn_kernels *kernels = request->kernels;
    const zn_linear_version *version = zn_linear_for(request->kernels, ZN_F32, ZN_F32);
    zn_linear_size size;
    if (!zn_linear_measure(version, zn_token_channels(x), zn_token_count(x), &size))
        return zn_fail_memory(err, SIZE_MAX);
    gradient_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    *l = (gradient_lowering){
        .base = {.run = run, .free = zn_lowering_free, .id = "linear", .piece = lay_out},
        .args = {.version = version,
                 .size = size,
                 .src_type = ZN_F32,
                 .src_scale = x->desc.scale * dy->desc.scale,
                 .widen = kernels->convert(ZN_F32, ZN_F32),
                 .dst_type = ZN_F32,
                 .dst_scale = 1,
                 .narrow = kernels->convert(ZN_F32, ZN_F32),
                 .tokens = zn_token_channels(dy)},
        .x = columns_of(x, kernels),
        .dy = columns_of(dy, kernels)};
    if (!l->x.widen || !l->dy.widen) {
        zn_free(l);
        return zn_fail(err, ZENITH_UNSUPPORTED, "%s takes no map of %s and %s",
                       request->node->op->name, zn_type_name(x->desc.type),
                       zn_type_name(dy->desc.type));
    }
    place_scratch(l, request->threads);
    *out = &l->base;
    return ZENITH_OK;
}

static double flops(const zn_node *node)
{
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return 2.0 * (double)zn_token_count(node->inputs[X]) * (double)elements;
}

const zn_op zn_op_linear_weight_gradient = {
    .name = "linear_weight_gradient",
    .summary = "the gradient of linear with respect to its weight",
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER | ZN_OP_STOPS,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .wants = zn_wants_stored,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("token", NULL, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 5)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 21), ZN_MAP(5, 7, 35)),
                          ZN_SAMPLE("sequence", NULL, 0, ZN_MAP(403, 1, 20), ZN_MAP(403, 1, 17)),
                          ZN_SAMPLE("vector", NULL, 0, ZN_VECTOR(33), ZN_VECTOR(50))),
};
