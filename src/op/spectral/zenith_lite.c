// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A ZenithLite block in one: relu(x + expand(columns(rows(compress(x))))), where compress and
// expand are grouped 1x1 convolutions and rows and columns gates between Walsh transforms.
//
// It goes over memory twice, which is the least there is: a column needs every row.
//
//     rows     compress a row into the cache, transform, gate and transform it there, and store it
//              in strips of 16 or 8 pixels, each strip all rows one below the other:
//              [strips, h, 16, c]
//     strips   transform, gate and transform the columns of a strip into the cache, expand it row
//              by row, add x, relu
//
// A strip in the cache is h * 16 * c floats: 1 MB for 256 rows of 64 channels. Fused when types are
// known, without gradients.
#include "src/kernel/kernels.h"
#include "src/kernel/spectral/grouped_product.h"
#include "src/kernel/spectral/walsh.h"
#include "src/op/conv/depthwise_weights.h"
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"
#include "src/op/spectral/walsh_checks.h"

#include <string.h>

enum {
    X,
    COMPRESS,
    COMPRESS_BIAS,
    ROWS,
    COLUMNS,
    EXPAND,
    EXPAND_BIAS,
    INPUTS,
    STRIP = 16,
    NARROW = 8
};

static int groups_of(const zn_node *node)
{
    return ((const zn_grouped_conv_attributes *)node->attributes)->groups;
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    const char *name = node->name;
    zn_node *y = zn_grouped_conv(graph, name, inputs[X], inputs[COMPRESS], inputs[COMPRESS_BIAS],
                                 groups_of(node));
    y = zn_walsh_gate(graph, name, y, inputs[ROWS], ZN_WALSH_ROW);
    y = zn_walsh_gate(graph, name, y, inputs[COLUMNS], ZN_WALSH_COLUMN);
    y = zn_grouped_conv(graph, name, y, inputs[EXPAND], inputs[EXPAND_BIAS], groups_of(node));
    return zn_relu(graph, name, zn_add(graph, name, y, inputs[X]));
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_unscaled(node, X, err));
    const int64_t *dim = node->inputs[X]->desc.shape.dim;
    ZN_TRY(zn_walsh_check_gate(node, ROWS, dim[2], err));
    ZN_TRY(zn_walsh_check_gate(node, COLUMNS, dim[1], err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

// --- fusing -------------------------------------------------------------------------------------

enum { P_SUM = 1, P_EXPAND, P_COLUMNS, P_ROWS, P_COMPRESS, P_COUNT };

static bool keeps_channels(const zn_node *conv)
{
    return !((const zn_grouped_conv_attributes *)conv->attributes)->turned &&
           conv->inputs[0]->desc.shape.dim[3] == conv->desc.shape.dim[3];
}

static bool accepts(const zn_match *match, const zn_cpu *cpu)
{
    const zn_node *compress = match->nodes[P_COMPRESS], *last = match->nodes[P_EXPAND];
    const zn_node *x = compress->inputs[0];
    (void)cpu;
    if (match->nodes[P_SUM]->inputs[1] != x || x->desc.shape.dim[0] != 1 || x->desc.scale != 1.0f ||
        x->desc.shape.dim[2] % NARROW != 0)
        return false;
    if (!keeps_channels(compress) || !keeps_channels(last) ||
        groups_of(compress) != groups_of(last))
        return false;
    for (int i = P_COLUMNS; i <= P_ROWS; i++)
        if (match->nodes[i]->inputs[1]->kind != ZN_NODE_PARAMETER) return false;
    for (int i = 0; i < P_COUNT; i++)
        if (match->nodes[i]->desc.type != x->desc.type) return false;
    return true;
}

static zn_node *build(zn_graph *graph, const zn_match *match)
{
    // Nodes at ZN_ANY come depth first: x, compress, its bias, rows, columns, expand, its bias, x.
    return zn_graph_add(graph, &zn_op_zenith_lite, match->nodes[0]->name, match->any, INPUTS,
                        match->nodes[P_COMPRESS]->attributes);
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct lite_lowering {
    zn_lowering base;
    const zn_walsh *walsh;
    zn_walsh_lines along, down;    // of a row in f32; of one pixel's channels in a strip
    float *row_gate, *column_gate; // in blocks of lines, times the transforms' factors
    zn_grouped_product_fn *product;
    zn_grouped_product_args compress, expand;
    zn_conversion store; // f32 to the map's type
    int64_t height, width, channels, strip;
    zn_type type;
} lite_lowering;

static uint8_t *strip_at(const lite_lowering *l, const zn_call *call, int64_t strip, int64_t row)
{
    const size_t line = (size_t)(l->strip * l->channels) * zn_type_size(l->type);
    return (uint8_t *)call->scratch + (size_t)(strip * l->height + row) * line;
}

// The lines of one pixel's channels, as many at once as the kernel's scratch is meant for.
static void run_lines(const lite_lowering *l, const zn_walsh_lines *all, const uint8_t *src,
                      float *dst, const float *gate, float *scratch)
{
    zn_walsh_lines lines = *all;
    const size_t most = zn_walsh_group(lines.length) / ZN_WALSH_BLOCK * ZN_WALSH_BLOCK;
    const size_t size = zn_type_size(lines.src_type);
    for (size_t c = 0; c < all->count; c += most) {
        lines.count = all->count - c < most ? all->count - c : most;
        lines.next = src + (c + most) * size;
        l->walsh->gate(&lines, src + c * size, dst + c, gate + c * lines.length, scratch);
    }
}

// After the scratch of the transforms.
static float *values_of(const lite_lowering *l, void *scratch)
{
    return (float *)scratch +
           zn_walsh_scratch((size_t)(l->height > l->width ? l->height : l->width));
}

static void run_row(const zn_lowering *base, const zn_call *call, size_t row, void *scratch)
{
    const lite_lowering *l = (const lite_lowering *)base;
    float *values = values_of(l, scratch);
    const size_t elements = (size_t)(l->width * l->channels);
    zn_grouped_product_args args = l->compress;
    args.src = (const uint8_t *)call->inputs[X] + row * elements * zn_type_size(l->type);
    args.dst = values;
    l->product(&args, 0, l->width);
    run_lines(l, &l->along, (const uint8_t *)values, values, l->row_gate, scratch);
    const size_t piece = (size_t)(l->strip * l->channels);
    for (int64_t strip = 0; strip * l->strip < l->width; strip++) {
        void *dst = strip_at(l, call, strip, (int64_t)row);
        const float *src = values + (size_t)strip * piece;
        if (l->type == ZN_F32)
            memcpy(dst, src, piece * sizeof *src);
        else
            l->store.run(src, 1, dst, 1, piece);
    }
}

static void run_strip(const zn_lowering *base, const zn_call *call, size_t index, void *scratch)
{
    const lite_lowering *l = (const lite_lowering *)base;
    const int64_t strip = (int64_t)index;
    float *values = values_of(l, scratch);
    const size_t size = zn_type_size(l->type), piece = (size_t)(l->strip * l->channels);
    const uint8_t *src = strip_at(l, call, strip, 0);
    for (size_t pixel = 0; pixel < (size_t)l->strip; pixel++) {
        const size_t at = pixel * (size_t)l->channels;
        run_lines(l, &l->down, src + at * size, values + at, l->column_gate, scratch);
    }
    zn_grouped_product_args args = l->expand;
    for (int64_t row = 0; row < l->height; row++) {
        const size_t at = (size_t)((row * l->width + strip * l->strip) * l->channels) * size;
        args.src = values + (size_t)row * piece;
        args.added = (const uint8_t *)call->inputs[X] + at;
        args.dst = (uint8_t *)call->output + at;
        l->product(&args, 0, l->strip);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const lite_lowering *l = (const lite_lowering *)base;
    lite_lowering rows = *l;
    rows.base.piece = run_row;
    zn_lowering_run_pieces(&rows.base, call, (size_t)l->height);
    zn_lowering_run_pieces(base, call, (size_t)(l->width / l->strip));
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    lite_lowering *l = (lite_lowering *)base;
    zn_free(l->row_gate);
    zn_free(l->column_gate);
    zn_free(l);
}

// The gate as kernels read it, times 1 / N, which two transforms of length N want.
static zenith_status take_gate(const zn_node *gate, float **out, zn_error *err)
{
    const size_t length = (size_t)gate->desc.shape.dim[0], lines = (size_t)gate->desc.shape.dim[1];
    const size_t bytes = zn_walsh_gate_floats(length, lines) * sizeof(float);
    float *values = zn_alloc_zero(bytes);
    if (!values) return zn_fail_memory(err, bytes);
    for (size_t i = 0; i < length * lines; i++)
        values[zn_walsh_gate_at(length, i / lines, i % lines)] = zn_value_get(&gate->constant, i) /
                                                                 (float)length;
    *out = values;
    return ZENITH_OK;
}

static zenith_status take_product(const zn_lowering_request *request, int weight, int bias,
                                  zn_grouped_product_args *args, zn_error *err)
{
    const zn_node *node = request->node;
    const int64_t groups = groups_of(node), channels = node->desc.shape.dim[3] / groups;
    const void *vector = NULL;
    args->groups = groups;
    args->inputs = args->outputs = channels;
    ZN_TRY(zn_grouped_pack(request->packs, &node->inputs[weight]->constant, groups, false, 1,
                           &args->weights, err));
    ZN_TRY(zn_pack_vector(request->packs, &node->inputs[bias]->constant, &vector, err));
    args->bias = vector;
    return ZENITH_OK;
}

static zenith_status measure(lite_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const size_t high = (size_t)l->height, wide = (size_t)l->width, c = (size_t)l->channels;
    const size_t row = wide * c, strip = high * (size_t)l->strip * c;
    l->along = (zn_walsh_lines){
        .src_type = ZN_F32, .dst_type = ZN_F32, .length = wide, .step = c, .count = c};
    l->down = (zn_walsh_lines){.src_type = l->type,
                               .dst_type = ZN_F32,
                               .length = high,
                               .step = (size_t)l->strip * c,
                               .count = c};
    const size_t values = row > strip ? row : strip;
    const size_t part = (zn_walsh_scratch(high > wide ? high : wide) + values) * sizeof(float);
    return zn_lowering_part(&l->base, request,
                            zn_round_up(high * row * zn_type_size(l->type), ZN_ALIGN),
                            zn_round_up(part, ZN_ALIGN), err);
}

static zenith_status prepare(lite_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[X]->desc;
    if (node->desc.type != x->type || x->shape.dim[2] % NARROW != 0 || x->shape.dim[0] != 1)
        return zn_fail(err, ZENITH_UNSUPPORTED, "zenith_lite keeps the type of its map");
    l->height = x->shape.dim[1];
    l->width = x->shape.dim[2];
    l->channels = x->shape.dim[3];
    l->strip = l->width % STRIP == 0 ? STRIP : NARROW;
    l->type = x->type;
    ZN_TRY(measure(l, request, err));
    ZN_TRY(zn_conversion_make(request->kernels, ZN_F32, 1, x->type, 1, &l->store, err));
    ZN_TRY(take_gate(node->inputs[ROWS], &l->row_gate, err));
    ZN_TRY(take_gate(node->inputs[COLUMNS], &l->column_gate, err));
    l->compress = (zn_grouped_product_args){.src_type = x->type, .dst_type = ZN_F32};
    l->expand = (zn_grouped_product_args){
        .src_type = ZN_F32, .added_type = x->type, .dst_type = x->type, .relu = true};
    ZN_TRY(take_product(request, COMPRESS, COMPRESS_BIAS, &l->compress, err));
    return take_product(request, EXPAND, EXPAND_BIAS, &l->expand, err);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    lite_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){
        .run = run, .free = lowering_free, .id = "zenith_lite", .piece = run_strip};
    l->walsh = request->kernels->walsh;
    l->product = request->kernels->grouped_product;
    zenith_status status = prepare(l, request, err);
    if (status != ZENITH_OK)
        lowering_free(&l->base);
    else
        *out = &l->base;
    return status;
}

static double flops(const zn_node *node)
{
    const int64_t *dim = node->desc.shape.dim;
    const double values = (double)(dim[1] * dim[2]) * (double)dim[3];
    const double stages = zn_walsh_log2((size_t)dim[1]) + zn_walsh_log2((size_t)dim[2]);
    return values * (4 * (double)(dim[3] / groups_of(node)) + 2 * stages + 4);
}

static const zn_grouped_conv_attributes two = {2, false}, four = {4, false};

const zn_op zn_op_zenith_lite = {
    .name = "zenith_lite",
    .summary = "a spectral block over whole rows and columns",
    .attributes_size = sizeof(zn_grouped_conv_attributes),
    .traits = ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .lower = lower,
    .flops = flops,
    .patterns = ZN_PATTERNS({{&zn_op_relu, {P_SUM}},
                             {&zn_op_add, {P_EXPAND, ZN_ANY}},
                             {&zn_op_grouped_conv, {P_COLUMNS, ZN_ANY, ZN_ANY}},
                             {&zn_op_walsh_columns, {P_ROWS, ZN_ANY}},
                             {&zn_op_walsh_rows, {P_COMPRESS, ZN_ANY}},
                             {&zn_op_grouped_conv, {ZN_ANY, ZN_ANY, ZN_ANY}}}),
    .accepts = accepts,
    .build = build,
    .expand = expand,
    .no_gradient = "it is only made after differentiation",
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("small", &two, 0x7e, ZN_MAP(2, 8, 6), {4, {6, 3, 1, 1}}, ZN_VECTOR(6),
                  {2, {8, 6}}, {2, {2, 6}}, {4, {6, 3, 1, 1}}, ZN_VECTOR(6)),
        ZN_SAMPLE("tall", &four, 0x7e, ZN_MAP(32, 16, 64), {4, {64, 16, 1, 1}}, ZN_VECTOR(64),
                  {2, {16, 64}}, {2, {32, 64}}, {4, {64, 16, 1, 1}}, ZN_VECTOR(64))),
};
