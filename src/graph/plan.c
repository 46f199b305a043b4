// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiling a graph: try the ways to run it in order of preference, take the first that fits the
// budget. Schedules are cheap, lowerings are not (oneDNN generates code), so a schedule that is too
// large by its buffers alone is dropped before anything is lowered.
#include "src/graph/plan.h"

#include "src/graph/plan_parts.h"

#include <string.h>

// --- pointwise operators without a lowering of their own ----------------------------------------

typedef struct by_reference {
    zn_lowering base;
    const zn_node *node;
    int64_t rows;
} by_reference;

static zn_tensor rows_of(const zn_node *node, const void *data, int64_t rows)
{
    zn_tensor tensor = {.desc = node->desc};
    tensor.data = node->kind == ZN_NODE_PARAMETER ? node->constant.data : (void *)(uintptr_t)data;
    if (zn_node_is_map(node)) tensor.desc.shape.dim[1] = rows;
    return tensor;
}

static zenith_status reference_run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    const by_reference *self = (const by_reference *)base;
    zn_tensor inputs[ZN_MAX_INPUTS];
    for (int i = 0; i < self->node->inputs_count; i++) {
        inputs[i] = rows_of(self->node->inputs[i], call->inputs[i], self->rows);
    }
    zn_tensor output = rows_of(self->node, call->output, self->rows);
    return zn_node_reference(self->node, inputs, &output, err);
}

static zenith_status lower_by_reference(const zn_lowering_request *request, zn_lowering **out,
                                        zn_error *err)
{
    by_reference *self = zn_alloc_zero(sizeof *self);
    if (!self) return zn_fail_memory(err, sizeof *self);
    self->base = (zn_lowering){.run = reference_run, .free = zn_lowering_free, .id = "reference"};
    self->node = request->node;
    self->rows = request->rows;
    *out = &self->base;
    return ZENITH_OK;
}

// --- one attempt --------------------------------------------------------------------------------

void zn_plan_free(zn_plan *plan)
{
    if (!plan) return;
    for (size_t i = 0; i < plan->works_count; i++) {
        if (plan->works[i].lowering) plan->works[i].lowering->free(plan->works[i].lowering);
    }
    zn_free(plan->passes);
    zn_free(plan->works);
    zn_free(plan->buffers);
    zn_arena_free(&plan->arena);
    zn_free(plan);
}

static zenith_status make_lowering(const zn_plan *plan, const zn_work *work, zn_lowering **out,
                                   zn_error *err)
{
    const zn_op *op = work->node->op;
    const bool chosen = !(op->traits & (ZN_OP_FIXED | ZN_OP_FOLLOWS));
    if (chosen && op->result_types && !(op->result_types >> work->node->desc.type & 1))
        return zn_fail(err, ZENITH_UNSUPPORTED, "%s '%s' cannot be computed in %s", op->name,
                       work->node->name, zn_type_name(work->node->desc.type));
    const zn_lowering_request request = zn_plan_request(plan, work);
    return op->lower ? op->lower(&request, out, err) : lower_by_reference(&request, out, err);
}

static zenith_status lower_work(zn_plan *plan, zn_work *work, zn_error *err)
{
    const atomic_int *cancel = plan->options.cancel;
    if (!work->node->op) return ZENITH_OK;
    if (cancel && atomic_load_explicit(cancel, memory_order_relaxed) != 0) {
        return zn_fail(err, ZENITH_CANCELLED, "cancelled");
    }
    ZN_TRY(make_lowering(plan, work, &work->lowering, err));
    size_t scratch = work->lowering->scratch_bytes;
    if (scratch > plan->scratch_bytes) plan->scratch_bytes = scratch;
    return ZENITH_OK;
}

static bool reads_parameter(const zn_node *node)
{
    for (int i = 0; i < node->inputs_count; i++) {
        if (node->inputs[i]->kind == ZN_NODE_PARAMETER) return true;
    }
    return false;
}

// The new lowering is made before the old one goes: what they share (code made by oneDNN) stays.
zenith_status zn_plan_refresh(zn_plan *plan, zn_error *err)
{
    for (size_t i = 0; i < plan->works_count; i++) {
        zn_work *work = &plan->works[i];
        if (!work->lowering || !reads_parameter(work->node)) continue;
        zn_lowering *made = NULL;
        ZN_TRY(make_lowering(plan, work, &made, err));
        work->lowering->free(work->lowering);
        work->lowering = made;
    }
    return ZENITH_OK;
}

typedef struct attempt {
    zn_plan_mode mode;
    int64_t lowest, band;
    bool store, stretch;
} attempt;

static bool too_large(const zn_plan *plan)
{
    return plan->options.max_bytes && plan->bytes > plan->options.max_bytes;
}

// ZENITH_OK with *out NULL: it does not fit; *bytes says what it would have needed at least.
static zenith_status try_plan(const zn_graph *graph, const zn_plan_options *options, attempt a,
                              zn_plan **out, size_t *bytes, zn_error *err)
{
    zn_plan *plan = zn_alloc_zero(sizeof *plan);
    if (!plan) return zn_fail_memory(err, sizeof *plan);
    zenith_status status = ZENITH_OK;
    plan->graph = graph;
    plan->options = *options;
    plan->options.mode = a.mode;
    plan->options.band = a.band;
    plan->lowest = a.lowest;
    plan->store = a.store;
    plan->stretch = a.stretch;
    *out = NULL;
    ZN_GO(zn_plan_schedule(plan, err));
    ZN_GO(zn_plan_place(plan, err));
    for (size_t i = 0; !too_large(plan) && i < plan->works_count; i++) {
        ZN_GO(lower_work(plan, &plan->works[i], err));
        plan->bytes = plan->scratch_offset + zn_round_up(plan->scratch_bytes, ZN_ALIGN);
    }
    *bytes = plan->bytes;
    if (too_large(plan)) {
        zn_plan_free(plan);
    } else {
        *out = plan;
    }
    return ZENITH_OK;
fail:
    zn_plan_free(plan);
    return status;
}

// --- what a plan can hold to --------------------------------------------------------------------

// Do the rows that one row of the result needs of an input move on with that row? Windows and skews
// rest on it. A rule that asks for the whole map, or for all rows up to here, does not.
static bool rows_move(const zn_node *node, int input)
{
    enum { FAR = 1 << 16 };
    const zn_rows near = zn_node_rows(node, input, (zn_rows){0, 1});
    const zn_rows far = zn_node_rows(node, input, (zn_rows){FAR, FAR + 1});
    return near.begin < far.begin && near.end < far.end;
}

// What needs every row of a map is a barrier, and says so: no plan would wait for the rows otherwise.
static zenith_status check_rows(const zn_graph *graph, zn_error *err)
{
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        if (node->kind != ZN_NODE_OP || (node->op->traits & ZN_OP_BARRIER)) continue;
        for (int i = 0; i < node->inputs_count; i++) {
            if (!zn_node_is_map(node->inputs[i])) continue;
            if (zn_node_is_map(node) && rows_move(node, i)) continue;
            return zn_fail(err, ZENITH_INTERNAL,
                           "%s '%s' needs every row of its input %d and is no barrier "
                           "(ZN_OP_BARRIER)",
                           node->op->name, node->name, i);
        }
    }
    return ZENITH_OK;
}

// --- the choice ---------------------------------------------------------------------------------

// The height of the lowest map, of which every map's is a multiple: chunks then stay in step. 0:
// there is no such height, and so no bands.
static int64_t lowest_height(const zn_graph *graph)
{
    int64_t lowest = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t id = 0; id < graph->count; id++) {
            if (!zn_node_is_map(graph->nodes[id])) continue;
            int64_t height = graph->nodes[id]->desc.shape.dim[1];
            if (pass == 0 && (lowest == 0 || height < lowest)) lowest = height;
            if (pass == 1 && height % lowest != 0) return 0;
        }
    }
    return lowest;
}

// The largest band whose rows, of the largest map, are as large as a core's second-level cache. Steps
// within a round are shorter; a larger band saves work at the seams between resolutions. At least 1,
// and no more than pays.
static int64_t band_for_cache(const zn_graph *graph, int64_t lowest, int threads)
{
    enum { CACHE = 2 << 20, MOST = 8 };
    size_t largest = 1;
    for (size_t id = 0; id < graph->count; id++) {
        size_t bytes = 0;
        if (!zn_node_is_map(graph->nodes[id])) continue;
        if (zn_desc_bytes(&graph->nodes[id]->desc, &bytes) && bytes > largest) largest = bytes;
    }
    int64_t band = (int64_t)((double)CACHE * threads * (double)lowest / (double)largest);
    return band < 1 ? 1 : band > MOST ? MOST : band;
}

// Weights stream through once a round in bands, and once in planes. They are what counts where they
// outweigh the largest map, and are more than a last-level cache keeps from one round to the next.
static bool weights_outweigh_maps(const zn_graph *graph)
{
    enum { CACHED = 32 << 20 };
    size_t weights = 0, largest = 0;
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        size_t bytes = 0;
        if (!zn_desc_bytes(&node->desc, &bytes)) continue;
        if (node->kind == ZN_NODE_PARAMETER) weights += bytes;
        if (zn_node_is_map(node) && bytes > largest) largest = bytes;
    }
    return weights > CACHED && weights > largest;
}

static bool has_heavy_weights(const zn_graph *graph, int threads)
{
    for (size_t id = 0; id < graph->count; id++) {
        if (zn_rows_for_weights(graph->nodes[id], threads) > 1) return true;
    }
    return false;
}

static int list_attempts(const zn_graph *graph, const zn_plan_options *options, attempt *list)
{
    int count = 0;
    int64_t lowest = lowest_height(graph), band = options->band;
    if (options->mode == ZN_PLAN_PLANES || lowest == 0) {
        list[count++] = (attempt){ZN_PLAN_PLANES, 0, 0, true, false};
        return count;
    }
    if (options->mode == ZN_PLAN_AUTO && weights_outweigh_maps(graph)) {
        list[count++] = (attempt){ZN_PLAN_PLANES, 0, 0, true, false};
    }
    if (band == 0 && has_heavy_weights(graph, options->threads)) {
        band = band_for_cache(graph, lowest, options->threads);
        list[count++] = (attempt){ZN_PLAN_ROLLING, lowest, band, true, true};
        band = 0;
    }
    if (band == 0) {
        for (band = band_for_cache(graph, lowest, options->threads); band > 1; band /= 2) {
            list[count++] = (attempt){ZN_PLAN_ROLLING, lowest, band, true, false};
        }
    }
    list[count++] = (attempt){ZN_PLAN_ROLLING, lowest, band, true, false};
    list[count++] = (attempt){ZN_PLAN_ROLLING, lowest, band, false, false};
    return count;
}

zenith_status zn_plan_create(const zn_graph *graph, const zn_plan_options *options, zn_plan **out,
                             zn_error *err)
{
    ZN_TRY(check_rows(graph, err));
    attempt list[8];
    int count = list_attempts(graph, options, list);
    size_t least = SIZE_MAX;
    for (int i = 0; i < count; i++) {
        size_t bytes = 0;
        ZN_TRY(try_plan(graph, options, list[i], out, &bytes, err));
        if (*out) {
            (*out)->preferred = i == 0;
            return ZENITH_OK;
        }
        if (bytes < least) least = bytes;
    }
    return zn_fail(err, ZENITH_LIMIT,
                   "this size needs at least %zu bytes of working memory, and %zu are allowed",
                   least, options->max_bytes);
}

size_t zn_plan_bytes(const zn_plan *plan)
{
    return plan->bytes;
}

zn_plan_mode zn_plan_chosen_mode(const zn_plan *plan)
{
    return plan->options.mode;
}

int64_t zn_plan_band(const zn_plan *plan)
{
    return plan->options.mode == ZN_PLAN_ROLLING ? plan->options.band : 0;
}

bool zn_plan_rewinds(const zn_plan *plan)
{
    return plan->rewinds;
}

bool zn_plan_preferred(const zn_plan *plan)
{
    return plan->preferred;
}

size_t zn_plan_table_bytes(const zn_plan *plan)
{
    return sizeof *plan + plan->arena.used + plan->passes_capacity * sizeof *plan->passes +
           plan->works_capacity * sizeof *plan->works +
           plan->buffers_capacity * sizeof *plan->buffers;
}

size_t zn_plan_lowerings(const zn_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->works_count; i++) count += plan->works[i].lowering != NULL;
    return count;
}

double zn_plan_flops(const zn_plan *plan)
{
    return plan->flops;
}
