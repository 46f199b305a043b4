// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// States: a causal network computed frame by frame, with what it needs of earlier frames in states,
// has the bits of the same network over the whole clip, in planes and in bands, in f32 and bf16,
// with a barrier between. Plans of one frame and of two share the states. Frames are written and
// read where they lie, and memory does not grow with the clip.
#include "tests/graph/small_graphs.h"

#include "src/graph/plan_parts.h"
#include "src/graph/states.h"

enum { FRAMES = 9, HEIGHT = 12, WIDTH = 5, IN = 4, INNER = 8, OUT = 4, BEFORE = 2 };
enum { LAYERS = 50, FIRST = 0, NORM = 10, SECOND = 20, POINT = 40, BIAS = 9 };
enum { X_VALUES = HEIGHT * WIDTH * IN, Y_VALUES = HEIGHT * WIDTH * OUT };

static zn_error err;
static bool without_barrier; // there is no norm
static float clip_x[FRAMES][X_VALUES], clip_y[FRAMES][Y_VALUES], y[Y_VALUES];

// --- the network --------------------------------------------------------------------------------

// Values of a sequence: two frames before the first that is computed, and those.
typedef struct sequence {
    zn_node *frames[BEFORE + FRAMES];
} sequence;

typedef struct causal_network {
    zn_graph *graph;
    int frames;
    bool whole; // the clip: before its first frame there is nothing, and nothing is kept
    sequence x, inner, soft;
} causal_network;

// The weights of a layer are the same in every graph, and outlive them all.
static zn_node *weights(zn_graph *graph, int layer, zn_shape shape)
{
    static float values[LAYERS][INNER * INNER * 9];
    zn_random random = {.seed = (uint64_t)layer};
    for (size_t i = 0; i < sizeof *values / sizeof **values; i++) {
        values[layer][i] = 0.3f * zn_random_normal(&random);
    }
    return zn_graph_parameter(
        graph, "w", (zn_tensor){.desc = zn_desc_make(ZN_F32, shape), .data = values[layer]});
}

// A convolution over time and space: one of each of three frames, and the sum.
static zn_node *causal(zn_graph *graph, int layer, zn_node *const *frames, int64_t in, int64_t out)
{
    zn_node *bias = weights(graph, layer + BIAS, ZN_SHAPE(out)), *sum = NULL;
    for (int i = 0; i <= BEFORE; i++) {
        zn_node *weight = weights(graph, layer + i, ZN_SHAPE(out, in, 3, 3));
        zn_node *part = zn_conv2d(graph, "part", frames[i], weight, sum ? NULL : bias, 1, 1);
        sum = sum ? zn_add(graph, "sum", sum, part) : part;
    }
    return sum;
}

static void begin_sequence(causal_network *n, sequence *s, const char *name, int64_t channels)
{
    const zn_desc desc = zn_desc_make(ZN_F32, ZN_SHAPE(1, HEIGHT, WIDTH, channels));
    zn_node *zero = n->whole ? zn_graph_input(n->graph, "zero", desc) : NULL;
    for (int i = 0; i < BEFORE; i++) {
        s->frames[i] = zero ? zero : zn_graph_state(n->graph, name, desc, BEFORE - i);
    }
}

static void add_frame(causal_network *n, int t)
{
    zn_graph *graph = n->graph;
    n->x.frames[BEFORE + t] = map_input(graph, HEIGHT, WIDTH, IN);
    zn_node *a = causal(graph, FIRST, n->x.frames + t, IN, INNER);
    // Above the barrier, and for later frames alone.
    n->soft.frames[BEFORE + t] = zn_soft_clip(graph, "soft", a, 2);
    zn_node *gamma = weights(graph, NORM, ZN_SHAPE(INNER)),
            *beta = weights(graph, NORM + 1, ZN_SHAPE(INNER));
    zn_node *norm = without_barrier ? a : zn_group_norm(graph, "norm", a, gamma, beta, 2, 1e-5f);
    n->inner.frames[BEFORE + t] = zn_relu(graph, "inner", norm);
    zn_node *b = causal(graph, SECOND, n->inner.frames + t, INNER, OUT);
    zn_node *point = weights(graph, POINT, ZN_SHAPE(OUT, INNER, 1, 1));
    zn_node *before = n->soft.frames[BEFORE + t - 1];
    zn_graph_output(graph, zn_add(graph, "y", b, zn_conv2d(graph, "p", before, point, NULL, 1, 0)));
}

static void push_frames(causal_network *n)
{
    for (int t = BEFORE; t < BEFORE + n->frames; t++) {
        zn_graph_push(n->graph, "x", n->x.frames[t]);
        zn_graph_push(n->graph, "inner", n->inner.frames[t]);
        zn_graph_push(n->graph, "soft", n->soft.frames[t]);
    }
}

static void build_causal(zn_graph *graph, int frames, bool whole, zn_type type)
{
    zn_graph plain, fused;
    causal_network n = {.graph = &plain, .frames = frames, .whole = whole};
    zn_graph_begin(&plain, &err);
    begin_sequence(&n, &n.x, "x", IN);
    begin_sequence(&n, &n.inner, "inner", INNER);
    begin_sequence(&n, &n.soft, "soft", INNER);
    for (int t = 0; t < frames; t++) add_frame(&n, t);
    if (!whole) push_frames(&n);
    zn_test_ok(zn_graph_finish(&plain), &err);
    const zn_type_policy policy = {.type = type, .convert = zn_convert_as};
    zn_test_ok(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &fused, &err), &err);
    zn_test_ok(zn_pass_types(&fused, &policy, graph, &err), &err);
    zn_graph_free(&plain);
    zn_graph_free(&fused);
}

// --- plans --------------------------------------------------------------------------------------

typedef struct way {
    zn_plan_mode mode;
    int64_t band;
    bool recomputed; // cut points are not stored
    bool late;       // frames are written over those that were read
} way;

static const way ways[] = {{ZN_PLAN_PLANES, 0, false, false},  {ZN_PLAN_ROLLING, 1, false, false},
                           {ZN_PLAN_ROLLING, 3, false, false}, {ZN_PLAN_ROLLING, 12, false, false},
                           {ZN_PLAN_ROLLING, 1, true, false},  {ZN_PLAN_ROLLING, 3, true, false}};
static const way late_ways[] = {
    {ZN_PLAN_PLANES, 0, false, true},   {ZN_PLAN_ROLLING, 1, false, true},
    {ZN_PLAN_ROLLING, 3, false, true},  {ZN_PLAN_ROLLING, 4, false, true},
    {ZN_PLAN_ROLLING, 12, false, true}, {ZN_PLAN_ROLLING, 3, true, true}};
enum { WAYS = sizeof ways / sizeof *ways, LATE_WAYS = sizeof late_ways / sizeof *late_ways };

static zn_plan *make_plan(const zn_graph *graph, const way *how, zn_packs *packs)
{
    zn_plan *plan = NULL;
    zn_plan_options options = plan_options(how->mode, how->band, packs);
    options.late_frames = how->late;
    zn_test_ok(zn_plan_create(graph, &options, &plan, &err), &err);
    if (how->recomputed) {
        options.max_bytes = zn_plan_bytes(plan) - 1;
        zn_plan_free(plan);
        zn_test_ok(zn_plan_create(graph, &options, &plan, &err), &err);
        assert_false(plan->keep == ZN_KEEP_WHOLE);
    }
    assert_int_equal(zn_plan_chosen_mode(plan), how->mode);
    if (!how->late) assert_false(zn_plan_spoils(plan));
    return plan;
}

static void make_clip(zn_type type, zn_packs *packs)
{
    static float zeros[HEIGHT * WIDTH * INNER];
    zn_graph graph;
    zn_random random = {.seed = 77};
    memory_run memory = {.graph = &graph};
    for (int i = 0; i < 3; i++) memory.inputs[i] = (uint8_t *)zeros;
    for (int t = 0; t < FRAMES; t++) {
        for (int i = 0; i < X_VALUES; i++) clip_x[t][i] = zn_random_normal(&random);
        memory.inputs[3 + t] = (uint8_t *)clip_x[t];
        memory.outputs[t] = (uint8_t *)clip_y[t];
    }
    build_causal(&graph, FRAMES, true, type);
    zn_plan *plan = make_plan(&graph, &ways[0], packs);
    run_plan(plan, &memory, NULL, NULL);
    zn_plan_free(plan);
    zn_graph_free(&graph);
}

// Runs the frames from `t` on that the plan computes, and compares them with the clip's.
static void check_frames(const zn_graph *graph, const zn_plan *plan, int t, zn_states *states)
{
    static float results[2][Y_VALUES];
    memory_run memory = {.graph = graph};
    for (size_t i = 0; i < graph->outputs_count; i++) {
        memory.inputs[i] = (uint8_t *)clip_x[t + (int)i];
        memory.outputs[i] = (uint8_t *)results[i];
    }
    run_plan(plan, &memory, NULL, states);
    for (size_t i = 0; i < graph->outputs_count; i++) {
        assert_memory_equal(results[i], clip_y[t + (int)i], sizeof results[i]);
    }
}

// --- the bits of the clip -----------------------------------------------------------------------

static void check_way(const zn_graph *graph, const way *how, zn_packs *packs)
{
    zn_plan *plan = make_plan(graph, how, packs);
    zn_states *states = NULL;
    size_t bytes = 0;
    const zn_plan *const plans[] = {plan};
    zn_test_ok(zn_states_measure(plans, 1, &bytes, &err), &err);
    zn_test_ok(zn_states_create(plans, 1, &states, &err), &err);
    assert_int_equal(zn_states_bytes(states), bytes);
    for (int clips = 0; clips < 2; clips++) {
        for (int t = 0; t < FRAMES; t++) check_frames(graph, plan, t, states);
        zn_states_reset(states);
    }
    zn_states_free(states);
    zn_plan_free(plan);
}

static void check_type(zn_type type)
{
    zn_graph graph;
    zn_packs *packs = NULL;
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    make_clip(type, packs);
    build_causal(&graph, 1, false, type);
    for (size_t i = 0; i < graph.count; i++) {
        const zn_node *node = graph.nodes[i];
        if (node->kind != ZN_NODE_STATE) continue;
        assert_int_equal(node->desc.type, strcmp(node->name, "x") == 0 ? ZN_F32 : type);
    }
    for (int w = 0; w < WAYS; w++) check_way(&graph, &ways[w], packs);
    for (int w = 0; w < LATE_WAYS; w++) check_way(&graph, &late_ways[w], packs);
    zn_graph_free(&graph);
    zn_packs_free(packs);
}

ZN_TEST(frames_have_the_bits_of_the_clip)
{
    check_type(ZN_F32);
    check_type(ZN_BF16);
}

// The first frame by itself in planes, then two at a time in bands: other graphs, other plans.
static void share_states(const way *next_way, size_t *bytes)
{
    zn_graph one, two;
    zn_packs *packs = NULL;
    zn_states *states = NULL;
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    for (int wide = 0; wide <= 1; wide++) {
        const zn_type type = wide ? ZN_F32 : ZN_BF16;
        make_clip(type, packs);
        build_causal(&one, 1, false, type);
        build_causal(&two, 2, false, type);
        zn_plan *first = make_plan(&one, &(way){.mode = ZN_PLAN_PLANES, .late = next_way->late},
                                   packs);
        zn_plan *next = make_plan(&two, next_way, packs);
        // Where there are barriers, frames of a state are made or read in several passes.
        const bool one_pass = without_barrier || next_way->mode == ZN_PLAN_PLANES;
        assert_int_equal(zn_plan_spoils(next), next_way->late && one_pass);
        const zn_plan *const plans[] = {first, next};
        zn_test_ok(zn_states_create(plans, 2, &states, &err), &err);
        check_frames(&one, first, 0, states);
        for (int t = 1; t < FRAMES; t += 2) check_frames(&two, next, t, states);
        *bytes = zn_states_bytes(states);
        zn_states_free(states);
        zn_plan_free(first);
        zn_plan_free(next);
        zn_graph_free(&one);
        zn_graph_free(&two);
    }
    zn_packs_free(packs);
}

ZN_TEST(plans_share_states)
{
    size_t bytes = 0, late_bytes = 0;
    share_states(&ways[2], &bytes);
    share_states(&late_ways[2], &late_bytes);
    share_states(&ways[0], &bytes);
    share_states(&late_ways[0], &late_bytes);
    // Two frames of each state instead of four, or of three.
    assert_true(late_bytes <= bytes * 2 / 3);
    without_barrier = true;
    share_states(&ways[1], &bytes);
    for (int w = 0; w < LATE_WAYS - 1; w++) { // without barriers no cut point is stored
        share_states(&late_ways[w], &late_bytes);
        if (w == 1) assert_true(late_bytes <= bytes * 2 / 3);
    }
    without_barrier = false;
}

ZN_TEST(states_are_of_their_plans)
{
    zn_graph narrow, wide;
    zn_states *states = NULL;
    zn_packs *packs = NULL;
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    build_causal(&narrow, 1, false, ZN_BF16);
    build_causal(&wide, 1, false, ZN_F32);
    zn_plan *a = make_plan(&narrow, &ways[0], packs), *b = make_plan(&wide, &ways[0], packs);
    zn_plan *c = make_plan(&narrow, &ways[2], packs);
    const zn_plan *const plans[] = {a, b};
    err.text[0] = '\0';
    assert_int_equal(zn_states_create(plans, 2, &states, &err), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "another shape or type"));
    zn_test_ok(zn_states_create(plans, 1, &states, &err), &err);
    const zn_plan *const others[] = {b, c};
    for (int i = 0; i < 2; i++) { // of another type; of more rows than there are
        void *arena = zn_alloc(zn_plan_bytes(others[i]));
        memory_run memory = {i ? &narrow : &wide, {(uint8_t *)clip_x[0]}, {(uint8_t *)y}};
        zn_run run = {.read = memory_read, .write = memory_write, .cookie = &memory};
        assert_int_equal(zn_plan_run(others[i], arena, NULL, &run, &err), ZENITH_INVALID_ARGUMENT);
        run.states = states;
        assert_int_equal(zn_plan_run(others[i], arena, NULL, &run, &err), ZENITH_INVALID_ARGUMENT);
        zn_free(arena);
    }
    zn_states_free(states);
    zn_plan_free(a);
    zn_plan_free(b);
    zn_plan_free(c);
    zn_graph_free(&narrow);
    zn_graph_free(&wide);
    zn_packs_free(packs);
}

// What a run that was stopped has pushed does not count, and leaves nothing behind.
static int stop_late(void *cookie, double fraction)
{
    (void)cookie;
    return fraction > 0.7;
}

ZN_TEST(a_stopped_run_changes_nothing)
{
    zn_graph graph;
    zn_packs *packs = NULL;
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    make_clip(ZN_F32, packs);
    build_causal(&graph, 1, false, ZN_F32);
    for (int w = 0; w < WAYS; w++) {
        zn_plan *plan = make_plan(&graph, &ways[w], packs);
        const zn_plan *const plans[] = {plan};
        zn_states *states = NULL;
        zn_test_ok(zn_states_create(plans, 1, &states, &err), &err);
        void *arena = zn_alloc(zn_plan_bytes(plan));
        for (int t = 0; t < FRAMES; t++) {
            memory_run memory = {&graph, {(uint8_t *)clip_x[8 - t]}, {(uint8_t *)y}};
            const zn_run run = {.read = memory_read,
                                .write = memory_write,
                                .cookie = &memory,
                                .states = states,
                                .progress = stop_late};
            assert_int_equal(zn_plan_run(plan, arena, NULL, &run, &err), ZENITH_CANCELLED);
            check_frames(&graph, plan, t, states);
        }
        zn_free(arena);
        zn_states_free(states);
        zn_plan_free(plan);
    }
    zn_graph_free(&graph);
    zn_packs_free(packs);
}

// --- no copies, no growth, no second time -------------------------------------------------------

typedef struct spy {
    const uint8_t *read, *written; // row 0 of the frames that the run reads and writes
    int calls;
} spy;
static spy watched;

// y = x + s, on the frames themselves.
static zenith_status spy_run(const zn_lowering *self, const zn_call *call, zn_error *error)
{
    (void)self, (void)error;
    const int64_t row = WIDTH * IN;
    const float *x = call->inputs[0], *s = call->inputs[1];
    float *sum = call->output;
    assert_ptr_equal(s, watched.read + call->row * row * (int64_t)sizeof(float));
    assert_ptr_equal(sum, watched.written + call->row * row * (int64_t)sizeof(float));
    for (int64_t i = 0; i < call->rows * row; i++) sum[i] = x[i] + s[i];
    watched.calls++;
    return ZENITH_OK;
}

static zenith_status spy_lower(const zn_lowering_request *request, zn_lowering **out,
                               zn_error *error)
{
    (void)request, (void)error;
    zn_lowering *made = zn_alloc_zero(sizeof *made);
    assert_non_null(made);
    *made = (zn_lowering){.run = spy_run, .free = zn_lowering_free, .id = "spy"};
    *out = made;
    return ZENITH_OK;
}

static void build_spied(zn_graph *graph, const zn_op *op)
{
    zn_graph_begin(graph, &err);
    zn_node *x = map_input(graph, HEIGHT, WIDTH, IN);
    zn_node *inputs[] = {x, zn_graph_state(graph, "s", x->desc, 1)};
    zn_node *sum = zn_graph_add(graph, op, "sum", inputs, 2, NULL);
    zn_graph_push(graph, "s", sum);
    zn_graph_output(graph, zn_relu(graph, "y", sum));
    zn_graph_output(graph, inputs[1]);
    zn_test_ok(zn_graph_finish(graph), &err);
}

static void check_spied(const zn_graph *graph, const way *how, int frames, size_t *bytes)
{
    static float x[X_VALUES], before[X_VALUES];
    const uint8_t *seen[2] = {NULL, NULL};
    zn_plan *plan = make_plan(graph, how, NULL);
    const zn_plan *const plans[] = {plan};
    zn_states *states = NULL;
    zn_test_ok(zn_states_create(plans, 1, &states, &err), &err);
    for (int i = 0; i < X_VALUES; i++) x[i] = (float)i;
    for (int t = 0; t < frames; t++) {
        memory_run memory = {graph, {(uint8_t *)x}, {(uint8_t *)y, (uint8_t *)before}};
        watched = (spy){zn_states_frame(states, "s", 1), zn_states_frame(states, "s", 0), 0};
        run_plan(plan, &memory, NULL, states);
        assert_true(watched.calls > 0);
        assert_ptr_equal(zn_states_frame(states, "s", 1), watched.written);
        if (t < 2) seen[t] = watched.written;
        assert_ptr_equal(watched.written, seen[t % 2]); // two frames, in turn, for ever
        for (int i = 0; i < X_VALUES; i++) {
            assert_true(y[i] == (float)(i * (t + 1)) && before[i] == (float)(i * t));
        }
    }
    assert_ptr_not_equal(seen[0], seen[1]);
    *bytes = zn_states_bytes(states) + zn_plan_bytes(plan);
    zn_states_free(states);
    zn_plan_free(plan);
}

ZN_TEST(frames_are_written_and_read_where_they_lie)
{
    zn_op op = zn_op_add;
    zn_graph graph;
    op.lower = spy_lower;
    op.rings = NULL;
    build_spied(&graph, &op);
    for (int w = 0; w < WAYS && !ways[w].recomputed; w++) {
        size_t few = 0, many = 0;
        check_spied(&graph, &ways[w], 9, &few);
        check_spied(&graph, &ways[w], 90, &many);
        assert_int_equal(few, many);
    }
    zn_graph_free(&graph);
}

static int count_works(const zn_plan *plan, const char *name)
{
    int count = 0;
    for (size_t i = 0; i < plan->works_count; i++) {
        count += strcmp(plan->works[i].node->name, name) == 0;
    }
    return count;
}

ZN_TEST(what_is_pushed_is_computed_once)
{
    zn_graph graph;
    zn_packs *packs = NULL;
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    build_causal(&graph, 1, false, ZN_F32);
    for (int w = 0; w < WAYS; w++) {
        zn_plan *plan = make_plan(&graph, &ways[w], packs);
        assert_int_equal(count_works(plan, "soft"), 1);
        assert_int_equal(count_works(plan, "inner"), 1);
        assert_int_equal(count_works(plan, "x"), 1);
        assert_false(zn_plan_rewinds(plan)); // the input is a frame, too
        // Two sums above the barrier, made for its statistics and held or made again for the norm,
        // and two below it.
        assert_int_equal(count_works(plan, "sum"), ways[w].recomputed ? 6 : 4);
        zn_plan_free(plan);
    }
    zn_graph_free(&graph);
    zn_packs_free(packs);
}
