// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum of one value over all shares of a network (base/share.h), in f32. It is a barrier, so
// that everyone asks for whole values, whatever the plans of the others are like; and it lies where
// its input lay, if it can.
#include "src/base/share.h"
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"
#include "src/op/token/token_checks.h"

#include <math.h>

static const zn_share *share_of(const zn_node *node)
{
    return ((const zn_sum_shares_attributes *)node->attributes)->share;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_tokens(node, 0, err));
    ZN_TRY(zn_check_wide_floats(node, 0, err));
    if (!share_of(node))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "sum_shares needs a share of a network");
    node->desc = zn_desc_make(ZN_F32, node->inputs[0]->desc.shape);
    return ZENITH_OK;
}

// What the others have is no part of a specification: the sum is asked for.
static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t count = zn_value_count(output);
    zn_error err = {0};
    for (size_t i = 0; i < count; i++) zn_value_set(output, i, zn_value_get(&inputs[0], i));
    if (share_of(node)->sum(share_of(node)->cookie, output->data, count, &err) == ZENITH_OK) return;
    for (size_t i = 0; i < count; i++) zn_value_set(output, i, NAN);
}

typedef struct sum_lowering {
    zn_lowering base;
    const zn_share *share;
    zn_conversion widen;
    size_t count;
} sum_lowering;

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    const sum_lowering *l = (const sum_lowering *)base;
    if (l->widen.from == ZN_F32 && l->widen.from_scale == 1.0f)
        zn_copy_parallel(call->team, call->inputs[0], call->output, l->count * sizeof(float));
    else
        zn_conversion_run(&l->widen, call->team, call->inputs[0], call->output, l->count);
    return l->share->sum(l->share->cookie, call->output, l->count, err);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_desc *x = &request->node->inputs[0]->desc;
    sum_lowering l = {.base = {.run = run, .free = zn_lowering_free, .id = "shares"},
                      .share = share_of(request->node)};
    if (!zn_shape_elements(&x->shape, &l.count)) return zn_fail_memory(err, SIZE_MAX);
    ZN_TRY(zn_conversion_widen(request, 0, &l.widen, err));
    return zn_lowering_keep(&l, sizeof l, out, err);
}

static bool in_place(const zn_node *node)
{
    (void)node;
    return true;
}

// For samples: everyone has the same.
static zenith_status sum_alike(void *cookie, float *values, size_t count, zn_error *err)
{
    (void)err;
    const zn_share *share = cookie;
    for (size_t i = 0; i < count; i++) values[i] *= (float)share->count;
    return ZENITH_OK;
}

static const zn_share two = {0, 2, sum_alike, (void *)(uintptr_t)&two};
static const zn_share three = {2, 3, sum_alike, (void *)(uintptr_t)&three};
static const zn_sum_shares_attributes by_two = {&two}, by_three = {&three};

const zn_op zn_op_sum_shares = {
    .name = "sum_shares",
    .summary = "the sum of a value over all that share a network",
    .attributes_size = sizeof(zn_sum_shares_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .in_place = in_place,
    .no_gradient = "networks that several processes share are not trained",
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &by_two, 0, ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("tokens", &by_three, 0, ZN_MAP(37, 1, 20)),
                          ZN_SAMPLE("map", &by_two, 0, ZN_MAP(5, 7, 33)),
                          ZN_SAMPLE("vector", &by_two, 0, ZN_VECTOR(33))),
};

zn_node *zn_sum_shares(zn_graph *graph, const char *name, zn_node *x, const zn_share *share)
{
    return zn_graph_add(graph, &zn_op_sum_shares, name, &x, 1, &(zn_sum_shares_attributes){share});
}
