// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A ZenithBlock in one: x + masks(conv1x1(relu(walsh_tile(x) + depthwise(x)))).
//
// It is computed rectangle by rectangle, those of the mask, or of some 32 x 32 pixels without one:
// the values between the steps stay in the cache, and a rectangle whose score is negative is
// copied. Nothing else of it is computed, so time falls with what is pruned; tiles over the edge
// between a rectangle that is pruned and one that is not are computed for the latter alone. A
// rectangle's bits do not depend on the others: pruned or not, what is left has the bits of the
// dense run. Where still parts of the map are left out too, the rectangles are divided into
// still_mask's cells, and those that are still are copied.
//
// A copy is a fifth of a block's time. Where some of it is pruned the result lies over x, if the
// plan can, and what is left out is not touched. Rectangles see some pixels of their neighbours, so
// the steps before the mixing are then done for all of them before the first is written.
//
// Fused when types are known, without gradients (they read the values in between).
#include "src/kernel/conv/depthwise.h"
#include "src/kernel/kernels.h"
#include "src/kernel/spectral/grouped_product.h"
#include "src/op/conv/depthwise_weights.h"
#include "src/op/operator.h"
#include "src/op/spectral/still_mask.h"
#include "src/op/spectral/walsh_tile_lowering.h"

#include <string.h>

enum { X, GATE, SIDE = 32, MOST_INPUTS = 7 };

// Inputs after the gate, by number; -1: not there.
typedef struct places {
    int threshold, eyes, weight, bias, score, count;
} places;

static places places_of(const zn_zenith_block_attributes *a)
{
    places p = {-1, 0, 0, 0, -1, GATE + 1};
    if (a->threshold) p.threshold = p.count++;
    p.eyes = p.count++;
    p.weight = p.count++;
    p.bias = p.count++;
    if (a->score) p.score = p.count++;
    return p;
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    const zn_zenith_block_attributes *a = node->attributes;
    const places p = places_of(a);
    const char *name = node->name;
    zn_node *x = inputs[X];
    zn_node *threshold = a->threshold ? inputs[p.threshold] : NULL;
    zn_node *y = zn_walsh_tile(graph, name, x, inputs[GATE], threshold, a->tile);
    y = zn_add(graph, name, y, zn_depthwise_conv(graph, name, x, inputs[p.eyes]));
    y = zn_relu(graph, name, y);
    y = zn_conv2d(graph, name, y, inputs[p.weight], inputs[p.bias], 1, 0);
    if (a->score) y = zn_tile_mask(graph, name, y, inputs[p.score]);
    if (a->still > 0) {
        const int64_t *grid = inputs[p.score]->desc.shape.dim;
        y = zn_still_mask(graph, name, y, x,
                          (zn_still_mask_attributes){grid[0], grid[1], a->still});
    }
    return zn_add(graph, name, y, x);
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const places p = places_of(node->attributes);
    ZN_TRY(zn_check_inputs(node, p.count, p.count, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_unscaled(node, X, err));
    const zn_zenith_block_attributes *a = node->attributes;
    if (a->still > 0 && !a->score)
        return zn_fail(err, ZENITH_INTERNAL, "zenith_block has no grid of cells");
    zn_infer_like_input(node);
    return ZENITH_OK;
}

// --- fusing -------------------------------------------------------------------------------------

// A convolution whose stride is 1, without relu; one that was fused adds a bias and a residual.
static bool is_plain(const zn_node *conv)
{
    if (conv->op == &zn_op_conv2d)
        return ((const zn_conv2d_attributes *)conv->attributes)->stride == 1;
    const zn_conv2d_fused_attributes *a = conv->attributes;
    return a->conv.stride == 1 && a->bias && a->residual && !a->relu;
}

// Still parts of x itself, on the grid of the scores.
static bool is_of_block(const zn_node *still, const zn_node *mask, const zn_node *x)
{
    const zn_still_mask_attributes *a = still->attributes;
    const int64_t *grid = mask->inputs[1]->desc.shape.dim;
    return still->inputs[1] == x && a->rows == grid[0] && a->columns == grid[1];
}

// The same x three times, everything in its type, a 1x1 convolution between equal channels.
static bool accepts(const zn_match *match, const zn_cpu *cpu)
{
    const zn_node *tile = zn_matched(match, &zn_op_walsh_tile);
    const zn_node *eyes = zn_matched(match, &zn_op_depthwise_conv);
    const zn_node *plain = zn_matched(match, &zn_op_conv2d);
    const zn_node *conv = plain ? plain : zn_matched(match, &zn_op_conv2d_fused);
    const zn_node *x = tile->inputs[X];
    const int64_t *weight = conv->inputs[1]->desc.shape.dim;
    (void)cpu;
    if (eyes->inputs[X] != x || match->any[match->any_count - 1] != x) return false;
    const zn_node *still = zn_matched(match, &zn_op_still_mask);
    if (still && !is_of_block(still, zn_matched(match, &zn_op_tile_mask), x)) return false;
    if (((const zn_depthwise_attributes *)eyes->attributes)->turned) return false;
    if (x->desc.shape.dim[0] != 1 || x->desc.scale != 1.0f || !is_plain(conv) || weight[2] != 1 ||
        weight[3] != 1 || weight[0] != weight[1] || x->desc.shape.dim[3] > ZN_GROUPED_INPUTS)
        return false;
    for (int i = 1; i < tile->inputs_count; i++)
        if (tile->inputs[i]->kind != ZN_NODE_PARAMETER) return false;
    for (int i = 0; i < ZN_PATTERN_MAX && match->nodes[i]; i++)
        if (match->nodes[i]->desc.type != x->desc.type) return false;
    return true;
}

static zn_node *build(zn_graph *graph, const zn_match *match)
{
    const zn_node *tile = zn_matched(match, &zn_op_walsh_tile);
    zn_zenith_block_attributes a = {.tile = *(const zn_walsh_tile_attributes *)tile->attributes,
                                    .threshold = tile->inputs_count == 3,
                                    .score = zn_matched(match, &zn_op_tile_mask) != NULL};
    const places p = places_of(&a);
    const zn_node *still = zn_matched(match, &zn_op_still_mask);
    if (still) a.still = ((const zn_still_mask_attributes *)still->attributes)->below;
    zn_node *inputs[MOST_INPUTS];
    // Nodes at ZN_ANY come depth first: x, gate, threshold, x, eyes, weight, bias, score, x.
    int next = 0;
    for (int i = 0; i < p.count; i++) {
        if (i == p.eyes) next++;
        inputs[i] = match->any[next++];
    }
    return zn_graph_add(graph, &zn_op_zenith_block, match->nodes[0]->name, inputs, p.count, &a);
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct block_lowering {
    zn_lowering base;
    const zn_node *node;
    const zn_walsh *walsh;
    zn_walsh_factors factors;
    zn_depthwise_fn *depthwise;
    zn_depthwise_args eyes;
    zn_grouped_product_fn *product;
    zn_grouped_product_args mix;
    const float *scores; // NULL: nothing is pruned
    zn_tile_grid grid;   // of the scores, or divided into cells
    zn_tile_grid of_scores;
    zn_stillness stillness;
    bool in_place;
    size_t seen_bytes, zero_bytes, tile_bytes, part_bytes, parts;
} block_lowering;

// One part's view of the call, at one rectangle. Scratch: of each part a row of zeros, what the
// tile and still_mask want, and the values before the mixing; in place, those of each rectangle are
// behind.
typedef struct work {
    const block_lowering *lowering;
    const uint8_t *x;
    uint8_t *y, *seen, *zeros;
    zn_walsh_tiling tiling;
    zn_tile_area at;
    float *range; // of still_mask
    size_t pixel; // bytes
} work;

// One pass over all rectangles.
typedef struct job {
    const block_lowering *lowering;
    const zn_call *call;
    void (*visit)(const struct job *j, work *w, size_t index);
} job;

// The pixels of a tile that lie in the rectangle, in the values before the mixing.
static void find_seen(const work *w, int64_t top, int64_t left, zn_walsh_pixels *out)
{
    const int size = w->lowering->factors.tile->size;
    const int64_t wide = w->at.right - w->at.left, channels = w->lowering->eyes.channels;
    out->type = w->lowering->eyes.src_type;
    for (int i = 0; i < size; i++) {
        const int64_t row = top + i, column = left + i;
        const bool in_row = row >= w->at.top && row < w->at.bottom;
        const bool in_column = column >= w->at.left && column < w->at.right;
        out->rows[i] = in_row ? w->seen + (size_t)((row - w->at.top) * wide) * w->pixel : NULL;
        out->columns[i] = in_column ? (column - w->at.left) * channels : -1;
    }
}

static void run_tiles(const work *w)
{
    const block_lowering *l = w->lowering;
    const zn_walsh_tile_attributes *a = l->factors.tile;
    const zn_walsh_map map = {.data = (void *)(uintptr_t)w->x,
                              .end = l->grid.height,
                              .height = l->grid.height,
                              .width = l->grid.width,
                              .channels = l->eyes.channels,
                              .type = l->eyes.src_type,
                              .mirrored = true};
    const int64_t first = (w->at.top + a->shift) / a->size * a->size - a->shift;
    const int64_t start = (w->at.left + a->shift) / a->size * a->size - a->shift;
    for (int64_t top = first; top < w->at.bottom; top += a->size) {
        for (int64_t left = start; left < w->at.right; left += a->size) {
            zn_walsh_pixels src, dst;
            zn_walsh_pixels_find(&map, a->size, top, left, 0, &src);
            find_seen(w, top, left, &dst);
            l->walsh->tile(&w->tiling, &src, &dst);
        }
    }
}

static void run_eyes(const work *w)
{
    const block_lowering *l = w->lowering;
    zn_depthwise_args args = l->eyes;
    const size_t line = (size_t)l->grid.width * w->pixel;
    args.width = w->at.right - w->at.left;
    args.inside[0] = w->at.left > 0;
    args.inside[1] = w->at.right < l->grid.width;
    for (int64_t row = w->at.top; row < w->at.bottom; row++) {
        for (int i = 0; i < 3; i++) {
            const int64_t from = row + i - 1;
            args.src[i] = from < 0 || from >= l->grid.height
                              ? w->zeros + w->pixel
                              : w->x + (size_t)from * line + (size_t)w->at.left * w->pixel;
        }
        args.dst = w->seen + (size_t)((row - w->at.top) * args.width) * w->pixel;
        args.added = args.dst;
        l->depthwise(&args);
    }
}

static void run_mixing(const work *w)
{
    const block_lowering *l = w->lowering;
    const int64_t wide = w->at.right - w->at.left;
    zn_grouped_product_args args = l->mix;
    for (int64_t row = w->at.top; row < w->at.bottom; row++) {
        const size_t at = (size_t)(row * l->grid.width + w->at.left) * w->pixel;
        args.src = w->seen + (size_t)((row - w->at.top) * wide) * w->pixel;
        args.added = w->x + at;
        args.dst = w->y + at;
        l->product(&args, 0, wide);
    }
}

static void copy_rectangle(const work *w)
{
    const size_t bytes = (size_t)(w->at.right - w->at.left) * w->pixel;
    for (int64_t row = w->at.top; row < w->at.bottom; row++) {
        const size_t at = (size_t)(row * w->lowering->grid.width + w->at.left) * w->pixel;
        memcpy(w->y + at, w->x + at, bytes);
    }
}

static bool is_left_out(const work *w)
{
    const block_lowering *l = w->lowering;
    const zn_tile_area *at = &w->at;
    const int64_t index = l->scores ? zn_tile_grid_at(&l->of_scores, at->top, at->left) : 0;
    if (l->scores && l->scores[index] < 0) return true;
    if (l->stillness.below == 0) return false;
    const size_t line = (size_t)l->grid.width * w->pixel;
    return zn_is_still(&l->stillness, w->x + (size_t)at->top * line + (size_t)at->left * w->pixel,
                       line, at->bottom - at->top, at->right - at->left, w->range);
}

static size_t rectangles(const block_lowering *l)
{
    return (size_t)(l->grid.rows * l->grid.columns);
}

static work begin_part(const job *j, size_t part)
{
    const block_lowering *l = j->lowering;
    uint8_t *scratch = (uint8_t *)j->call->scratch + part * l->part_bytes;
    work w = {.lowering = l,
              .x = j->call->inputs[X],
              .y = j->call->output,
              .zeros = scratch,
              .tiling = zn_walsh_factors_get(&l->factors, NULL),
              .pixel = (size_t)l->eyes.channels * zn_type_size(l->eyes.src_type)};
    w.tiling.scratch = (float *)(void *)(scratch + l->zero_bytes);
    w.range = (float *)(void *)((uint8_t *)w.tiling.scratch + l->tile_bytes);
    w.seen = scratch + l->part_bytes - l->seen_bytes;
    memset(w.zeros, 0, l->zero_bytes);
    return w;
}

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const size_t count = rectangles(j->lowering);
    for (size_t part = begin; part < end; part++) {
        work w = begin_part(j, part);
        for (size_t i = part; i < count && !zn_call_stopped(j->call); i += j->lowering->parts) {
            w.at = zn_tile_grid_area(&w.lowering->grid, (int64_t)i);
            if (w.at.top < w.at.bottom && w.at.left < w.at.right) j->visit(j, &w, i);
        }
    }
}

static void compute(const job *j, work *w, size_t index)
{
    (void)j, (void)index;
    if (is_left_out(w)) {
        copy_rectangle(w);
        return;
    }
    run_tiles(w);
    run_eyes(w);
    run_mixing(w);
}

// In place: what each rectangle has seen, and whether it has; that is decided before x changes.
static uint8_t *seen_of(const job *j, size_t index)
{
    const block_lowering *l = j->lowering;
    return (uint8_t *)j->call->scratch + l->parts * l->part_bytes + index * l->seen_bytes;
}

static uint8_t *has_seen(const job *j, size_t index)
{
    return seen_of(j, rectangles(j->lowering)) + index;
}

static void see(const job *j, work *w, size_t index)
{
    *has_seen(j, index) = !is_left_out(w);
    if (!*has_seen(j, index)) return;
    w->seen = seen_of(j, index);
    run_tiles(w);
    run_eyes(w);
}

static void mix(const job *j, work *w, size_t index)
{
    if (!*has_seen(j, index)) return;
    w->seen = seen_of(j, index);
    run_mixing(w);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const block_lowering *l = (const block_lowering *)base;
    job j = {l, call, l->in_place ? see : compute};
    zn_parallel(call->team, l->parts, 1, run_part, &j);
    // After a stop some rectangles have not seen: nothing is known of them.
    if (!l->in_place || zn_call_stopped(call)) return ZENITH_OK;
    j.visit = mix;
    zn_parallel(call->team, l->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    zn_walsh_factors_free(&((block_lowering *)base)->factors);
    zn_free(base);
}

// Room for the largest rectangle, a row of zeros as wide with a pixel on each side, a tile, and
// what tells still rectangles.
static void measure(block_lowering *l, size_t pixel, int tile)
{
    const int64_t high = l->grid.height / l->grid.rows + 1,
                  wide = l->grid.width / l->grid.columns + 1;
    l->seen_bytes = zn_round_up((size_t)(high * wide) * pixel, ZN_ALIGN);
    l->zero_bytes = zn_round_up((size_t)(wide + 2) * pixel, ZN_ALIGN);
    l->tile_bytes = zn_round_up(zn_walsh_tile_scratch(tile) * sizeof(float), ZN_ALIGN);
    l->part_bytes = l->seen_bytes + l->zero_bytes + l->tile_bytes;
    if (l->stillness.below > 0) l->part_bytes += zn_stillness_scratch(&l->stillness, wide);
    l->part_bytes = zn_round_up(l->part_bytes, ZN_ALIGN);
    l->base.scratch_bytes = l->part_bytes * l->parts;
    if (l->in_place) l->base.scratch_bytes += rectangles(l) * (l->seen_bytes + 1);
}

static zenith_status prepare(block_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_zenith_block_attributes *a = node->attributes;
    const places p = places_of(a);
    const zn_desc *x = &node->inputs[X]->desc;
    const int64_t *dim = x->shape.dim;
    const void *bias = NULL, *scores = NULL;
    const zn_shape whole = ZN_SHAPE((dim[1] + SIDE - 1) / SIDE, (dim[2] + SIDE - 1) / SIDE);
    const float size = (float)a->tile.size;
    if (node->desc.type != x->type)
        return zn_fail(err, ZENITH_UNSUPPORTED, "zenith_block keeps the type of its map");
    l->factors = (zn_walsh_factors){.tile = &a->tile,
                                    .gate = GATE,
                                    .threshold = p.threshold,
                                    .gate_factor = 1 / (size * size),
                                    .threshold_factor = 1 / size};
    l->eyes = (zn_depthwise_args){
        .src_type = x->type, .dst_type = x->type, .channels = dim[3], .relu = true};
    l->mix = (zn_grouped_product_args){.src_type = x->type,
                                       .added_type = x->type,
                                       .dst_type = node->desc.type,
                                       .groups = 1,
                                       .inputs = dim[3],
                                       .outputs = dim[3]};
    ZN_TRY(zn_walsh_factors_prepare(&l->factors, request, err));
    ZN_TRY(zn_depthwise_pack(request->packs, &node->inputs[p.eyes]->constant, false, 1,
                             &l->eyes.weights, err));
    ZN_TRY(zn_grouped_pack(request->packs, &node->inputs[p.weight]->constant, 1, false, 1,
                           &l->mix.weights, err));
    ZN_TRY(zn_pack_vector(request->packs, &node->inputs[p.bias]->constant, &bias, err));
    if (a->score)
        ZN_TRY(zn_pack_vector(request->packs, &node->inputs[p.score]->constant, &scores, err));
    l->mix.bias = bias;
    l->scores = scores;
    l->of_scores = zn_tile_grid_of(a->score ? &node->inputs[p.score]->desc.shape : &whole, dim);
    l->grid = a->still > 0 ? zn_still_cells(&l->of_scores) : l->of_scores;
    if (a->still > 0) ZN_TRY(zn_stillness_make(request->kernels, x, a->still, &l->stillness, err));
    l->parts = (size_t)request->threads;
    measure(l, (size_t)dim[3] * zn_type_size(x->type), a->tile.size);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    block_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = "zenith_block"};
    l->node = request->node;
    l->in_place = request->in_place;
    l->walsh = request->kernels->walsh;
    l->depthwise = request->kernels->depthwise;
    l->product = request->kernels->grouped_product;
    zenith_status status = prepare(l, request, err);
    if (status != ZENITH_OK)
        lowering_free(&l->base);
    else
        *out = &l->base;
    return status;
}

// Where something is pruned.
static bool in_place(const zn_node *node)
{
    const places p = places_of(node->attributes);
    const zn_tensor *scores = p.score < 0 ? NULL : &node->inputs[p.score]->constant;
    size_t count = 0;
    if (!scores || !scores->data || !zn_shape_elements(&scores->desc.shape, &count)) return false;
    for (size_t i = 0; i < count; i++)
        if (zn_type_load(scores->desc.type, scores->data, i) < 0) return true;
    return false;
}

static double flops(const zn_node *node)
{
    const zn_zenith_block_attributes *a = node->attributes;
    const int64_t *dim = node->desc.shape.dim;
    const double values = (double)(dim[1] * dim[2]) * (double)dim[3];
    return values *
           (zn_walsh_tile_flops(&a->tile) + 2 * ZN_DEPTHWISE_TAPS + 2 * (double)dim[3] + 3);
}

static const zn_zenith_block_attributes all = {{8, 4, 8, false}, true, true, 0},
                                        least = {{8, 0, 8, false}, false, false, 0},
                                        masked = {{4, 0, 4, false}, false, true, 0},
                                        quiet = {{8, 4, 4, false}, false, true, 5.8f};

// clang-format off
#define SEEN(i) {&zn_op_conv2d, {i + 1, ZN_ANY, ZN_ANY}}, {&zn_op_relu, {i + 2}},                 \
                {&zn_op_add, {i + 3, i + 4}}
#define TILE    {&zn_op_walsh_tile, {ZN_ANY, ZN_ANY, ZN_MAYBE}}
#define EYES    {&zn_op_depthwise_conv, {ZN_ANY, ZN_ANY}}
#define SUM     {&zn_op_add, {1, ZN_ANY}}
#define MASK(i) {&zn_op_tile_mask, {i + 1, ZN_ANY}}
#define STILL   {&zn_op_still_mask, {2, ZN_ANY}}
#define MIXED   {&zn_op_conv2d_fused, {1, ZN_ANY, ZN_ANY, ZN_ANY}}, {&zn_op_relu, {2}},            \
                {&zn_op_add, {3, 4}}
// clang-format on

const zn_op zn_op_zenith_block = {
    .name = "zenith_block",
    .summary = "a spectral block with parts left out",
    .attributes_size = sizeof(zn_zenith_block_attributes),
    .traits = ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .lower = lower,
    .in_place = in_place,
    .flops = flops,
    // Without a mask the sum was fused before.
    .patterns = ZN_PATTERNS({SUM, MASK(1), SEEN(2), TILE, EYES},
                            {SUM, STILL, MASK(2), SEEN(3), TILE, EYES}, {MIXED, TILE, EYES}),
    .accepts = accepts,
    .build = build,
    .expand = expand,
    .no_gradient = "it is only made after differentiation",
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("least", &least, 0x1e, ZN_MAP(3, 5, 3), {2, {64, 3}}, {4, {3, 1, 3, 3}},
                  {4, {3, 3, 1, 1}}, ZN_VECTOR(3)),
        ZN_SAMPLE("masked", &masked, 0x3e, ZN_MAP(9, 18, 20), {2, {16, 20}}, {4, {20, 1, 3, 3}},
                  {4, {20, 20, 1, 1}}, ZN_VECTOR(20), {2, {2, 3}}),
        ZN_SAMPLE("all", &all, 0x7e, ZN_MAP(40, 37, 32), {2, {64, 32}}, {2, {64, 32}},
                  {4, {32, 1, 3, 3}}, {4, {32, 32, 1, 1}}, ZN_VECTOR(32), {2, {4, 4}}),
        ZN_SAMPLE("quiet", &quiet, 0x3e, ZN_MAP(66, 37, 1), {2, {64, 1}}, {4, {1, 1, 3, 3}},
                  {4, {1, 1, 1, 1}}, ZN_VECTOR(1), {2, {2, 2}})),
};
