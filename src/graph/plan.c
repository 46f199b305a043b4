// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiling a graph: schedule it in the ways there are to run it, take the cheapest that fits the
// budget. Schedules are cheap, lowerings are not (oneDNN generates code), so ways are compared by
// their schedules, and the chosen one alone is lowered. Where its scratch is then too much, the
// search begins again with a budget that is smaller by that.
#include "src/graph/plan.h"

#include "src/graph/cuts.h"
#include "src/graph/packs.h"

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
    tensor.rows = node->constant.rows;
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
    zn_free(plan->spills);
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

// Asked for after each lowering, so that weights which have no room are not packed to the last.
static zenith_status check_packed(const zn_plan_options *options, zn_error *err)
{
    const size_t most = options->max_packed;
    if (!most || zn_packs_bytes(options->packs) <= most) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT,
                   "the weights take more than %zu bytes of memory in the form that is computed "
                   "with, and the limit leaves them %zu bytes",
                   zn_packs_bytes(options->packs), most);
}

static zenith_status lower_work(zn_plan *plan, zn_work *work, zn_error *err)
{
    const atomic_int *cancel = plan->options.cancel;
    if (!work->node->op || work->loads) return ZENITH_OK;
    if (cancel && atomic_load_explicit(cancel, memory_order_relaxed) != 0) {
        return zn_fail(err, ZENITH_CANCELLED, "cancelled");
    }
    ZN_TRY(make_lowering(plan, work, &work->lowering, err));
    ZN_TRY(check_packed(&plan->options, err));
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

// One way to run a graph.
typedef struct way {
    zn_plan_mode mode;
    int64_t lowest, band;
    bool stretch;
    zn_keep keep;
    size_t limit; // of ZN_KEEP_CHEAPEST
} way;

// *out NULL: there is no such schedule.
static zenith_status schedule_way(const zn_graph *graph, const zn_plan_options *options, way w,
                                  zn_plan **out, zn_error *err)
{
    zn_plan *plan = zn_alloc_zero(sizeof *plan);
    if (!plan) return zn_fail_memory(err, sizeof *plan);
    zenith_status status = ZENITH_OK;
    bool found = true;
    plan->graph = graph;
    plan->options = *options;
    zn_kernels_init(&plan->kernels, options->cpu.flags);
    plan->options.mode = w.mode;
    plan->options.band = w.band;
    plan->lowest = w.lowest;
    plan->stretch = w.stretch;
    plan->keep = w.keep;
    plan->limit = w.limit;
    *out = NULL;
    ZN_GO(zn_plan_schedule(plan, &found, err));
    if (found) ZN_GO(zn_plan_place(plan, err));
    if (found) *out = plan;
    if (!found) zn_plan_free(plan);
    return ZENITH_OK;
fail:
    zn_plan_free(plan);
    return status;
}

static zenith_status lower_works(zn_plan *plan, zn_error *err)
{
    for (size_t i = 0; i < plan->works_count; i++) ZN_TRY(lower_work(plan, &plan->works[i], err));
    plan->bytes = plan->scratch_offset + zn_round_up(plan->scratch_bytes, ZN_ALIGN);
    return ZENITH_OK;
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

// What needs every row of a map is a barrier, and says so: no plan would wait for the rows
// otherwise.
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

// The largest band whose rows, of the largest map, are as large as a core's second-level cache.
// Steps within a round are shorter; a larger band saves work at the seams between resolutions. At
// least 1, and no more than pays.
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

enum { MOST_WAYS = 8 };

// In order of preference, all without recomputing.
static int list_ways(const zn_graph *graph, const zn_plan_options *options, way *list)
{
    int count = 0;
    const int64_t lowest = lowest_height(graph);
    int64_t band = options->band;
    const way planes = {.mode = ZN_PLAN_PLANES};
    if (options->mode == ZN_PLAN_PLANES || lowest == 0) {
        list[count++] = planes;
        return count;
    }
    if (options->mode == ZN_PLAN_AUTO && weights_outweigh_maps(graph)) list[count++] = planes;
    way rolling = {.mode = ZN_PLAN_ROLLING, .lowest = lowest, .band = band, .keep = ZN_KEEP_WHOLE};
    if (band) {
        list[count++] = rolling;
        return count;
    }
    rolling.band = band_for_cache(graph, lowest, options->threads);
    rolling.stretch = has_heavy_weights(graph, options->threads);
    if (rolling.stretch) list[count++] = rolling;
    rolling.stretch = false;
    for (; rolling.band > 1; rolling.band /= 2) list[count++] = rolling;
    list[count++] = rolling;
    return count;
}

typedef struct choice {
    const zn_graph *graph;
    const zn_plan_options *options;
    size_t budget; // for buffers; 0: none
    zn_plan *best;
} choice;

static bool fits(const choice *c, const zn_plan *plan)
{
    return plan && (c->budget == 0 || plan->bytes <= c->budget);
}

// Keeps the plan if it fits and is the cheapest so far; takes it over either way.
static void consider(choice *c, zn_plan *plan)
{
    if (fits(c, plan) && (!c->best || plan->seconds < c->best->seconds)) {
        zn_plan_free(c->best);
        c->best = plan;
    } else {
        zn_plan_free(plan);
    }
}

// The search knows bytes before buffers have places, about: what is too much afterwards is taken
// off its limit.
static zenith_status consider_cheapest(choice *c, way w, zn_error *err)
{
    enum { TRIES = 8 };
    w.keep = ZN_KEEP_CHEAPEST;
    w.limit = c->budget;
    for (int i = 0; i < TRIES; i++) {
        zn_plan *plan = NULL;
        ZN_TRY(schedule_way(c->graph, c->options, w, &plan, err));
        if (!plan) return ZENITH_OK;
        const size_t over = plan->bytes > c->budget ? plan->bytes - c->budget : 0;
        consider(c, plan);
        const size_t less = over << i; // what it guessed wrong, it may guess wrong again
        if (over == 0 || less >= w.limit) return ZENITH_OK;
        w.limit -= less;
    }
    return ZENITH_OK;
}

// The smallest ways: one row of the lowest map at a time, and nothing held that could be computed
// again or lie in a file.
static way smallest_way(const zn_graph *graph, const zn_plan_options *options, zn_keep keep)
{
    const int64_t lowest = lowest_height(graph);
    if (options->mode == ZN_PLAN_PLANES || lowest == 0) return (way){.mode = ZN_PLAN_PLANES};
    return (way){.mode = ZN_PLAN_ROLLING,
                 .lowest = lowest,
                 .band = options->band ? options->band : 1,
                 .keep = keep};
}

static zenith_status choose(choice *c, bool *preferred, zn_error *err)
{
    way list[MOST_WAYS];
    const int count = list_ways(c->graph, c->options, list);
    for (int i = 0; i < count; i++) {
        zn_plan *plan = NULL;
        ZN_TRY(schedule_way(c->graph, c->options, list[i], &plan, err));
        const bool whole = fits(c, plan);
        if (whole && !c->best) { // later ways cost more
            c->best = plan;
            *preferred = i == 0;
            return ZENITH_OK;
        }
        const bool cut = list[i].mode == ZN_PLAN_ROLLING && plan->cuts->count > 0;
        consider(c, plan);
        if (whole || !cut) continue;
        ZN_TRY(consider_cheapest(c, list[i], err));
    }
    for (int keep = ZN_KEEP_NOT; !c->best && keep <= ZN_KEEP_SPILLED; keep++) {
        zn_plan *plan = NULL;
        if (keep == ZN_KEEP_SPILLED && !c->options->spill) continue;
        const way w = smallest_way(c->graph, c->options, (zn_keep)keep);
        ZN_TRY(schedule_way(c->graph, c->options, w, &plan, err));
        consider(c, plan);
    }
    return ZENITH_OK;
}

// Chooses and lowers. *out NULL: nothing fits, or (*scratch not 0) what was chosen does not with
// its scratch.
static zenith_status choose_and_lower(choice *c, zn_plan **out, size_t *scratch, zn_error *err)
{
    bool preferred = false;
    zenith_status status;
    *scratch = 0;
    c->best = NULL;
    ZN_GO(choose(c, &preferred, err));
    if (!c->best) return ZENITH_OK;
    ZN_GO(lower_works(c->best, err));
    const size_t most = c->options->max_bytes;
    if (most == 0 || c->best->bytes <= most) {
        c->best->preferred = preferred && c->budget == most;
        *out = c->best;
        return ZENITH_OK;
    }
    *scratch = c->best->bytes - c->best->scratch_offset;
fail:
    zn_plan_free(c->best);
    return status;
}

// The smallest plan of a kind, lowered.
static zenith_status create_smallest(const zn_graph *graph, const zn_plan_options *options,
                                     zn_keep keep, zn_plan **out, zn_error *err)
{
    ZN_TRY(schedule_way(graph, options, smallest_way(graph, options, keep), out, err));
    const zenith_status status = lower_works(*out, err);
    if (status == ZENITH_OK) return ZENITH_OK;
    zn_plan_free(*out);
    *out = NULL;
    return status;
}

// *out NULL: nothing fits.
static zenith_status create_within(const zn_graph *graph, const zn_plan_options *options,
                                   zn_plan **out, zn_error *err)
{
    enum { TRIES = 6 }; // lowerings of shorter calls may have another scratch
    choice c = {graph, options, options->max_bytes, NULL};
    *out = NULL;
    for (int i = 0; i < TRIES; i++) {
        size_t scratch = 0;
        ZN_TRY(choose_and_lower(&c, out, &scratch, err));
        if (*out || options->max_bytes == 0) return ZENITH_OK;
        if (scratch == 0 || scratch >= options->max_bytes) break;
        const size_t left = options->max_bytes - scratch;
        c.budget = left < c.budget ? left : c.budget - 1;
    }
    // The scratch was that of larger plans.
    for (int keep = ZN_KEEP_NOT; keep <= (options->spill ? ZN_KEEP_SPILLED : ZN_KEEP_WHOLE);
         keep++) {
        ZN_TRY(create_smallest(graph, options, (zn_keep)keep, out, err));
        if ((*out)->bytes <= options->max_bytes) return ZENITH_OK;
        zn_plan_free(*out);
        *out = NULL;
    }
    return ZENITH_OK;
}

// --- what does not fit --------------------------------------------------------------------------

typedef struct least {
    size_t bytes, spill_bytes;
} least;

// The bytes of the smallest plan of a kind, to the byte: it is lowered for that.
static zenith_status measure_smallest(const zn_graph *graph, const zn_plan_options *options,
                                      zn_keep keep, least *out, zn_error *err)
{
    zn_plan *plan = NULL;
    ZN_TRY(create_smallest(graph, options, keep, &plan, err));
    if (out->bytes == 0 || plan->bytes < out->bytes) *out = (least){plan->bytes, plan->spill_bytes};
    zn_plan_free(plan);
    return ZENITH_OK;
}

// Does a plan come of this budget? If so *out is what it takes.
static zenith_status try_budget(const zn_graph *graph, zn_plan_options options, size_t budget,
                                bool *fits_in, least *out, zn_error *err)
{
    zn_plan *plan = NULL;
    options.max_bytes = budget;
    ZN_TRY(create_within(graph, &options, &plan, err));
    *fits_in = plan != NULL;
    if (plan) *out = (least){plan->bytes, plan->spill_bytes};
    zn_plan_free(plan);
    return ZENITH_OK;
}

// The least budget that a plan comes of: from what surely does, down until none comes.
static zenith_status find_least(const zn_graph *graph, const zn_plan_options *options, least *at,
                                zn_error *err)
{
    enum { STEPS = 64 };
    for (int i = 0; i < STEPS && at->bytes > 1; i++) {
        bool fits_in = false;
        least found = {0}, again = {0};
        ZN_TRY(try_budget(graph, *options, at->bytes - 1, &fits_in, &found, err));
        if (!fits_in) return ZENITH_OK;
        ZN_TRY(try_budget(graph, *options, found.bytes, &fits_in, &again, err));
        if (fits_in) {
            *at = (least){found.bytes, again.spill_bytes};
        } else {
            at->bytes--;
            at->spill_bytes = found.spill_bytes;
        }
    }
    return ZENITH_OK;
}

static zenith_status find_needs(const zn_graph *graph, const zn_plan_options *options,
                                zn_plan_needs *out, zn_error *err)
{
    least held = {0}, spilled = {0};
    zn_plan_options with = *options;
    with.spill = false;
    const bool rolls = smallest_way(graph, options, ZN_KEEP_NOT).mode == ZN_PLAN_ROLLING;
    ZN_TRY(measure_smallest(graph, &with, ZN_KEEP_NOT, &held, err));
    if (rolls) ZN_TRY(measure_smallest(graph, &with, ZN_KEEP_WHOLE, &held, err));
    ZN_TRY(find_least(graph, &with, &held, err));
    *out = (zn_plan_needs){.bytes = held.bytes};
    if (!rolls) return ZENITH_OK;
    with.spill = true;
    ZN_TRY(measure_smallest(graph, &with, ZN_KEEP_SPILLED, &spilled, err));
    if (held.bytes < spilled.bytes) spilled = held;
    ZN_TRY(find_least(graph, &with, &spilled, err));
    if (spilled.spill_bytes && spilled.bytes < held.bytes) {
        out->spilled_bytes = spilled.bytes;
        out->spill_bytes = spilled.spill_bytes;
    }
    return ZENITH_OK;
}

static zenith_status refuse(const zn_plan_needs *needs, const zn_plan_options *options,
                            zn_error *err)
{
    if (needs->spill_bytes)
        return zn_fail(err, ZENITH_LIMIT,
                       "this size needs at least %zu bytes of working memory (%zu with a spill "
                       "file of %zu bytes), and %zu are allowed",
                       needs->bytes, needs->spilled_bytes, needs->spill_bytes, options->max_bytes);
    return zn_fail(err, ZENITH_LIMIT,
                   "this size needs at least %zu bytes of working memory, and %zu are allowed",
                   needs->bytes, options->max_bytes);
}

zenith_status zn_plan_create(const zn_graph *graph, const zn_plan_options *options, zn_plan **out,
                             zn_error *err)
{
    zn_plan_needs needs = {0};
    ZN_TRY(check_rows(graph, err));
    ZN_TRY(create_within(graph, options, out, err));
    if (*out) return ZENITH_OK;
    ZN_TRY(find_needs(graph, options, &needs, err));
    if (options->needs) *options->needs = needs;
    const bool spills = options->spill && needs.spill_bytes;
    zn_plan_options fewer = *options;
    fewer.max_bytes = spills ? needs.spilled_bytes : needs.bytes;
    // A search can miss with a larger budget what it finds with a smaller one.
    if (fewer.max_bytes <= options->max_bytes) ZN_TRY(create_within(graph, &fewer, out, err));
    return *out ? ZENITH_OK : refuse(&needs, options, err);
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

bool zn_plan_spoils(const zn_plan *plan)
{
    for (size_t i = 0; i < plan->frames_count; i++) {
        if (plan->frames[i].late) return true;
    }
    return false;
}

bool zn_plan_preferred(const zn_plan *plan)
{
    return plan->preferred;
}

size_t zn_plan_table_bytes(const zn_plan *plan)
{
    return sizeof *plan + plan->arena.used + plan->passes_capacity * sizeof *plan->passes +
           plan->works_capacity * sizeof *plan->works +
           plan->buffers_capacity * sizeof *plan->buffers +
           plan->spills_capacity * sizeof *plan->spills;
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

size_t zn_plan_spill_bytes(const zn_plan *plan)
{
    return plan->spill_bytes;
}

bool zn_plan_compromises(const zn_plan *plan)
{
    return plan->options.mode == ZN_PLAN_ROLLING && plan->cuts->count > 0 &&
           plan->keep != ZN_KEEP_WHOLE;
}
