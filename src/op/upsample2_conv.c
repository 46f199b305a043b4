// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Nearest neighbours, twice the height and width, and then a 3x3 convolution, without the larger
// map: of the nine pixels under the kernel four pairs of rows and columns are equal, so each of the
// four outputs that a pixel grows into is a 2x2 convolution of the small map with sums of weights:
//
//     rows    even output row 2y:    w0 on row y - 1, w1 + w2 on row y
//             odd output row 2y + 1: w0 + w1 on row y, w2 on row y + 1      columns alike
//
// That is 4/9 of the work. The sums of weights are rounded to the type of the convolution, so it is
// fused only when types are known: not for bf16x2, whose point is that its weights are exact, nor
// for f32, which has a faster way (docs/SPEED.md).
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/op/conv_lowering.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

enum { PHASES = 4, X = 0, WEIGHT = 1, BIAS = 2 };

typedef struct phases_lowering {
    zn_lowering base;
    zn_conv_dot phases[PHASES]; // 2 * (odd row) + (odd column)
    int threads;
    size_t src_row, dst_row; // bytes
    size_t scratch_per_thread;
    char id[32];
} phases_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 3, err));
    ZN_TRY(zn_conv_infer(node, 1, 1, err));
    const int64_t *x = node->inputs[X]->desc.shape.dim, *w = node->inputs[WEIGHT]->desc.shape.dim;
    if (w[2] != 3 || w[3] != 3)
        return zn_fail(err, ZENITH_INTERNAL, "upsample2_conv with a kernel that is not 3x3");
    if (x[1] > INT64_MAX / 2 || x[2] > INT64_MAX / 2)
        return zn_fail(err, ZENITH_LIMIT, "a map too large to double");
    if (node->inputs_count == 3) ZN_TRY(zn_check_vector(node, BIAS, w[0], err));
    node->desc.shape = ZN_SHAPE(x[0], 2 * x[1], 2 * x[2], w[0]);
    return ZENITH_OK;
}

static int64_t half(int64_t row)
{
    return (row - (row & 1)) / 2;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    (void)node;
    if (input != X) return out;
    return (zn_rows){half(out.begin - 1), half(out.end) + 1};
}

static double flops(const zn_node *node)
{
    return zn_conv_flops(node) * 4 / 9;
}

// --- lowering -----------------------------------------------------------------------------------

// A call in flight: rows y of the small map, each of which is two rows of the result.
typedef struct phases_call {
    const phases_lowering *l;
    const zn_call *call;
    int64_t first, per_thread; // first: the small row of the call's first row
} phases_call;

// The rows of one phase among the small rows [begin, end) that the call asks for.
static void run_phase(const phases_call *c, int phase, int64_t begin, int64_t end, void *scratch)
{
    const phases_lowering *l = c->l;
    const zn_call *call = c->call;
    const int odd = phase / 2;
    if (2 * begin + odd < call->row) begin++;
    if (2 * (end - 1) + odd >= call->row + call->rows) end--;
    if (begin >= end) return;
    zn_conv_dot_args args = l->phases[phase].args;
    // The window begins with the row that the call's first row asks for first.
    const int64_t skipped = begin - 1 + odd - half(call->row - 1);
    const bool wrapped = skipped >= call->wrap;
    args.src = (const uint8_t *)call->inputs[X] + (size_t)skipped * l->src_row -
               (wrapped ? call->ring_bytes : 0);
    args.src_wrap = wrapped ? INT64_MAX : call->wrap - skipped;
    args.src_ring = call->ring_bytes;
    const int64_t row = 2 * begin + odd - call->row;
    args.dst = (uint8_t *)call->output + (size_t)row * l->dst_row +
               (size_t)(phase % 2) * l->dst_row / (size_t)(2 * args.width_out);
    l->phases[phase].run(&args, 0, end - begin, scratch);
}

static void run_rows(void *arg, size_t begin, size_t end)
{
    const phases_call *c = arg;
    uint8_t *scratch = (uint8_t *)c->call->scratch +
                       begin / (size_t)c->per_thread * c->l->scratch_per_thread;
    for (int phase = 0; phase < PHASES; phase++) {
        run_phase(c, phase, c->first + (int64_t)begin, c->first + (int64_t)end, scratch);
    }
}

static int64_t rows_per_thread(const phases_lowering *l, int64_t rows)
{
    const int64_t each = (rows + l->threads - 1) / l->threads;
    return l->threads > 1 ? each + each % 2 : each;
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const phases_lowering *l = (const phases_lowering *)base;
    const int64_t first = half(call->row), last = half(call->row + call->rows - 1);
    phases_call c = {l, call, first, rows_per_thread(l, last - first + 1)};
    zn_parallel(call->team, (size_t)(last - first + 1), (size_t)c.per_thread, run_rows, &c);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    phases_lowering *l = (phases_lowering *)base;
    if (!l) return;
    for (int i = 0; i < PHASES; i++) zn_conv_dot_free(&l->phases[i]);
    zn_free(l);
}

// Which of the two rows (or columns) of a phase's kernel the row `at` of the 3x3 kernel falls on.
static int falls_on(int at, int odd)
{
    return odd ? at / 2 : (at + 1) / 2;
}

static void fold(const zn_tensor *weight, int phase, float *folded)
{
    const size_t planes = (size_t)(weight->desc.shape.dim[0] * weight->desc.shape.dim[1]);
    for (size_t i = 0; i < planes * 4; i++) folded[i] = 0;
    for (size_t i = 0; i < planes * 9; i++) {
        const int tap = (int)(i % 9);
        const int row = falls_on(tap / 3, phase / 2), column = falls_on(tap % 3, phase % 2);
        folded[i / 9 * 4 + (size_t)(row * 2 + column)] += zn_value_get(weight, i);
    }
}

static zn_conv_parts take_apart(const zn_node *node)
{
    return (zn_conv_parts){.node = node,
                           .bias = node->inputs_count == 3 ? node->inputs[BIAS] : NULL,
                           .stride = 1,
                           .pad = 1};
}

static zenith_status prepare_phase(phases_lowering *l, const zn_lowering_request *request,
                                   int phase, zn_error *err)
{
    const zn_conv_parts parts = take_apart(request->node);
    const zn_tensor *weight = &request->node->inputs[WEIGHT]->constant;
    const int64_t *w = weight->desc.shape.dim;
    zn_tensor folded = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(w[0], w[1], 2, 2))};
    const size_t bytes = zn_value_count(&folded) * sizeof(float);
    char variant[16];
    folded.data = zn_alloc(bytes);
    if (!folded.data) return zn_fail_memory(err, bytes);
    fold(weight, phase, folded.data);
    zn_text_format(variant, sizeof variant, "phase %d", phase);
    zenith_status status = zn_conv_dot_prepare(request, &parts, &folded, variant, &l->phases[phase],
                                               err);
    zn_free(folded.data);
    if (status != ZENITH_OK) return status;
    zn_conv_dot_args *args = &l->phases[phase].args;
    args->dst_row = 2 * args->width_out; // every other row of the result
    args->dst_step = 2;
    args->width_out = args->width_in;
    args->pad_left = 1 - phase % 2;
    return ZENITH_OK;
}

static bool folds(const zn_cpu *cpu, const zn_conv_parts *parts)
{
    return parts->node->inputs[X]->desc.type != ZN_BF16X2 && zn_conv_dot_fits(cpu, parts);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_conv_parts parts = take_apart(request->node);
    if (!folds(&request->cpu, &parts))
        return zn_fail(err, ZENITH_UNSUPPORTED, "upsample2_conv has no kernel for %s here",
                       zn_type_name(request->node->inputs[X]->desc.type));
    phases_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    const zn_desc *x = &request->node->inputs[X]->desc, *y = &request->node->desc;
    zenith_status status;
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = l->id};
    l->threads = request->threads;
    l->src_row = (size_t)(x->shape.dim[2] * x->shape.dim[3]) * zn_type_size(x->type);
    l->dst_row = (size_t)(y->shape.dim[2] * y->shape.dim[3]) * zn_type_size(y->type);
    zn_text_format(l->id, sizeof l->id, "dot:%s:phases", zn_isa_name(request->cpu.isa));
    for (int phase = 0; phase < PHASES; phase++) {
        ZN_GO(prepare_phase(l, request, phase, err));
    }
    const int64_t most_rows = rows_per_thread(l, request->rows / 2 + 1);
    const size_t bytes = zn_conv_dot_scratch(&l->phases[0].args, most_rows);
    l->scratch_per_thread = zn_round_up(bytes, ZN_ALIGN);
    l->base.scratch_bytes = l->scratch_per_thread * (size_t)l->threads;
    *out = &l->base;
    return ZENITH_OK;
fail:
    lowering_free(&l->base);
    return status;
}

static bool rings(const zn_lowering_request *request)
{
    (void)request;
    return true;
}

// --- fusion -------------------------------------------------------------------------------------

static const zn_pattern *const patterns[] = {
    (const zn_pattern[]){{"conv2d", {1, ZN_ANY, ZN_ANY, ZN_NONE}},
                         {"upsample2", {ZN_ANY, ZN_NONE}},
                         {NULL, {ZN_NONE}}},
    (const zn_pattern[]){
        {"conv2d", {1, ZN_ANY, ZN_NONE}}, {"upsample2", {ZN_ANY, ZN_NONE}}, {NULL, {ZN_NONE}}},
};

static bool accepts(const zn_match *match, const zn_cpu *cpu)
{
    const zn_node *conv = match->nodes[0];
    const zn_conv2d_attributes *a = conv->attributes;
    const int64_t *w = conv->inputs[WEIGHT]->desc.shape.dim;
    const zn_conv_parts parts = {.node = conv, .stride = a->stride, .pad = a->pad};
    return a->stride == 1 && a->pad == 1 && w[2] == 3 && w[3] == 3 && folds(cpu, &parts);
}

static zn_node *build(zn_graph *graph, const zn_match *match)
{
    const zn_node *root = match->nodes[0];
    zn_node *node = zn_graph_add(graph, &zn_op_upsample2_conv, root->name, match->any,
                                 match->any_count, NULL);
    if (node) node->desc = root->desc;
    return node;
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    zn_node *larger = zn_upsample2(graph, node->name, inputs[X]);
    return zn_conv2d(graph, node->name, larger, inputs[WEIGHT],
                     node->inputs_count == 3 ? inputs[BIAS] : NULL, 1, 1);
}

static const zn_op_sample samples[] = {
    {.name = "pixel",
     .inputs_count = 2,
     .inputs = {{4, {1, 1, 1, 64}}, {4, {64, 64, 3, 3}}},
     .parameters = 2},
    {.name = "bias",
     .inputs_count = 3,
     .inputs = {{4, {1, 5, 19, 64}}, {4, {20, 64, 3, 3}}, {1, {20}}},
     .parameters = 6},
    {.name = "wide",
     .inputs_count = 2,
     .inputs = {{4, {1, 6, 40, 64}}, {4, {64, 64, 3, 3}}},
     .parameters = 2},
};

const zn_op zn_op_upsample2_conv = {
    .name = "upsample2_conv",
    .summary = "nearest neighbours, twice the height and width, then a 3x3 convolution",
    .traits = ZN_OP_MATMUL,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .lower = lower,
    .rings = rings,
    .flops = flops,
    .patterns = patterns,
    .patterns_count = sizeof patterns / sizeof *patterns,
    .accepts = accepts,
    .build = build,
    .expand = expand,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
