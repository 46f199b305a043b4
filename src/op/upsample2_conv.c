// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// upsample2 and the 3x3 convolution after it as one, in f32: kernel/conv_doubled needs a quarter of
// the multiplications and never makes the doubled map. Other types have units for direct
// convolutions that are faster still, so it is fused where types are known.
#include "src/base/memory.h"
#include "src/kernel/conv_doubled.h"
#include "src/op/conv_lowering.h"
#include "src/op/conv_weights.h"
#include "src/op/convert_parallel.h"
#include "src/op/op_checks.h"
#include "src/op/ops.h"

typedef struct doubled_lowering {
    zn_lowering base;
    zn_doubled_fn *run;
    zn_doubled_args args;
    size_t parts, part_bytes; // scratch: the widened x, then one part a thread
    bool widens;              // for an x that is not plain f32
    zn_conversion widen;
    size_t widened_bytes;
} doubled_lowering;

static bool weight_fits(const zn_node *weight)
{
    const int64_t *w = weight->desc.shape.dim;
    return weight->kind == ZN_NODE_PARAMETER && weight->desc.shape.rank == 4 && w[2] == 3 &&
           w[3] == 3 && w[0] % ZN_DOUBLED_BLOCK == 0 && w[1] % ZN_DOUBLED_BLOCK == 0;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 3, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const int64_t *x = node->inputs[0]->desc.shape.dim, *w = node->inputs[1]->desc.shape.dim;
    if (!weight_fits(node->inputs[1]) || w[1] != x[3])
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "upsample2_conv needs a weight [out, %lld, 3, 3], channels in multiples of "
                       "%d; '%s' is another",
                       (long long)x[3], ZN_DOUBLED_BLOCK, node->inputs[1]->name);
    if (node->inputs_count == 3) ZN_TRY(zn_check_vector(node, 2, w[0], err));
    if (x[1] > INT64_MAX / 2 || x[2] > INT64_MAX / 2)
        return zn_fail(err, ZENITH_LIMIT, "a map too large to double");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(x[0], 2 * x[1], 2 * x[2], w[0]));
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    (void)node, (void)input; // x is the only map
    return (zn_rows){zn_doubled_half(out.begin - 1), zn_doubled_half(out.end) + 1};
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    zn_node *doubled = zn_upsample2(graph, node->name, inputs[0]);
    return zn_conv2d(graph, node->name, doubled, inputs[1],
                     node->inputs_count == 3 ? inputs[2] : NULL, 1, 1);
}

// --- code ---------------------------------------------------------------------------------------

typedef struct job {
    const doubled_lowering *lowering;
    zn_doubled_args args;
    zn_areas areas;
    uint8_t *scratch;
} job;

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const doubled_lowering *l = j->lowering;
    for (size_t part = begin; part < end; part++) {
        float *scratch = (float *)(void *)(j->scratch + part * l->part_bytes);
        for (int64_t i = (int64_t)part; i < zn_areas_count(&j->areas); i += (int64_t)l->parts) {
            const zn_area area = zn_areas_get(&j->areas, i);
            l->run(&j->args, &area, scratch);
        }
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const doubled_lowering *l = (const doubled_lowering *)base;
    job j = {.lowering = l, .args = l->args, .scratch = call->scratch};
    j.args.src = call->inputs[0];
    j.args.dst = call->output;
    j.args.row = call->row;
    if (l->widens) {
        const zn_rows needed = rows(NULL, 0, (zn_rows){call->row, call->row + l->args.rows});
        const int64_t pixels = (needed.end - needed.begin) * l->args.width;
        zn_conversion_run(&l->widen, call->team, call->inputs[0], call->scratch,
                          (size_t)(pixels * l->args.channels_in));
        j.args.src = call->scratch;
        j.scratch += l->widened_bytes;
    }
    // Areas may follow the number of threads: which one a result lies in changes no bit.
    j.areas = zn_areas_cut(zn_doubled_rows(call->row, l->args.rows), ZN_DOUBLED_BAND, l->args.width,
                           ZN_DOUBLED_STRIP, (int64_t)l->parts);
    zn_parallel(call->team, l->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    zn_free(base);
}

static zenith_status plan_scratch(doubled_lowering *l, const zn_lowering_request *request,
                                  zn_error *err)
{
    const zn_desc *x = &request->node->inputs[0]->desc;
    const zn_desc most = zn_desc_make(
        ZN_F32, ZN_SHAPE(request->rows / 2 + 2, l->args.width, l->args.channels_in));
    size_t parts_bytes;
    l->widens = x->type != ZN_F32 || x->scale != 1.0f;
    l->parts = (size_t)request->threads;
    if (l->widens) {
        if (!zn_desc_bytes(&most, &l->widened_bytes)) return zn_fail_memory(err, SIZE_MAX);
        l->widened_bytes = zn_round_up(l->widened_bytes, ZN_ALIGN);
        ZN_TRY(zn_conversion_make(request->cpu.isa, x->type, x->scale, ZN_F32, 1, &l->widen, err));
    }
    if (!zn_doubled_scratch_bytes(l->args.channels_in, &l->part_bytes))
        return zn_fail_memory(err, SIZE_MAX);
    l->part_bytes = zn_round_up(l->part_bytes, ZN_ALIGN);
    if (!zn_mul_size(l->part_bytes, l->parts, &parts_bytes) ||
        !zn_add_size(l->widened_bytes, parts_bytes, &l->base.scratch_bytes))
        return zn_fail_memory(err, SIZE_MAX);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const int64_t *x = node->inputs[0]->desc.shape.dim;
    doubled_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    zenith_status status;
    const void *packed, *bias = NULL;
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = "kernel:doubled"};
    l->run = zn_doubled_pick(request->cpu.isa);
    ZN_GO(zn_conv_weights_for_doubled(request->packs, &node->inputs[1]->constant, &packed, err));
    if (node->inputs_count == 3)
        ZN_GO(zn_pack_vector(request->packs, &node->inputs[2]->constant, &bias, err));
    l->args = (zn_doubled_args){.width = x[2],
                                .channels_in = x[3],
                                .channels_out = node->desc.shape.dim[3],
                                .packed = packed,
                                .bias = bias,
                                .rows = request->rows};
    ZN_GO(plan_scratch(l, request, err));
    *out = &l->base;
    return ZENITH_OK;
fail:
    lowering_free(&l->base);
    return status;
}

// --- fusion -------------------------------------------------------------------------------------

static const zn_pattern *const patterns[] = {
    (const zn_pattern[]){
        {"conv2d", {1, ZN_ANY, ZN_NONE}}, {"upsample2", {ZN_ANY, ZN_NONE}}, {NULL, {ZN_NONE}}},
    (const zn_pattern[]){{"conv2d", {1, ZN_ANY, ZN_ANY, ZN_NONE}},
                         {"upsample2", {ZN_ANY, ZN_NONE}},
                         {NULL, {ZN_NONE}}},
};

static bool is_plain_f32(const zn_node *node)
{
    return node->desc.type == ZN_F32 && node->desc.scale == 1.0f;
}

static bool accepts(const zn_match *match)
{
    const zn_node *conv = match->nodes[0];
    const zn_conv2d_attributes *a = conv->attributes;
    return a->stride == 1 && a->pad == 1 && !a->direct && weight_fits(conv->inputs[1]) &&
           is_plain_f32(conv) && is_plain_f32(match->nodes[1]->inputs[0]);
}

static zn_node *build(zn_graph *graph, const zn_match *match)
{
    return zn_graph_add(graph, &zn_op_upsample2_conv, match->nodes[0]->name, match->any,
                        match->any_count, NULL);
}

#define SAMPLE(label, count, h, w, ci, co)                                                         \
    {                                                                                              \
        .name = label, .inputs_count = count,                                                      \
        .inputs = {{4, {1, h, w, ci}}, {4, {co, ci, 3, 3}}, {1, {co}}}, .parameters = 6            \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", 2, 1, 1, 16, 16),
    SAMPLE("odd", 3, 5, 7, 32, 16),
    SAMPLE("wide", 2, 4, 37, 64, 64),
    SAMPLE("tall", 3, 11, 3, 16, 48),
};

const zn_op zn_op_upsample2_conv = {
    .name = "upsample2_conv",
    .summary = "nearest neighbours, twice the height and width, then a 3x3 convolution; in f32",
    .traits = ZN_OP_MATMUL | ZN_OP_TYPED,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = rows,
    .lower = lower,
    .flops = zn_conv_flops,
    .patterns = patterns,
    .patterns_count = sizeof patterns / sizeof *patterns,
    .accepts = accepts,
    .build = build,
    .expand = expand,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
