// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs: failures that stick, fusion and its single-reader rule, conversions that are made once,
// scalars and states from run to run.
#include "tests/graph/small_graphs.h"

#include "src/graph/states.h"

static zn_error err;
static zn_random randoms = {.seed = 5};

// --- building -----------------------------------------------------------------------------------

ZN_TEST(the_first_failure_sticks)
{
    zn_graph graph;
    err.text[0] = '\0';
    zn_graph_begin(&graph, &err);
    zn_node *x = map_input(&graph, 4, 4, 3);
    zn_node *weight = random_parameter(&graph, ZN_SHAPE(8, 5, 3, 3), &randoms); // 5 is not 3
    zn_node *y = zn_conv2d(&graph, "first", x, weight, NULL, 1, 1);
    assert_null(y);
    size_t count = graph.count;
    y = zn_relu(&graph, "second", y);
    assert_null(y);
    assert_null(zn_add(&graph, "third", y, x));
    assert_null(zn_graph_scalar(&graph, "k"));
    zn_graph_push(&graph, "s", y);
    zn_graph_output(&graph, y);
    assert_int_equal(graph.count, count);
    assert_int_not_equal(zn_graph_finish(&graph), ZENITH_OK);
    assert_non_null(strstr(err.text, "first"));
    zn_graph_free(&graph);
}

static void check_missing(void (*build)(zn_graph *graph, zn_node *x), const char *part)
{
    zn_graph graph;
    err.text[0] = '\0';
    zn_graph_begin(&graph, &err);
    build(&graph, map_input(&graph, 4, 4, 3));
    assert_int_equal(zn_graph_finish(&graph), ZENITH_INTERNAL);
    if (!strstr(err.text, part)) fail_msg("\"%s\" is not in: %s", part, err.text);
    zn_graph_free(&graph);
}

static void no_input(zn_graph *graph, zn_node *x)
{
    assert_null(zn_add(graph, "sum", x, NULL));
}

static void no_output(zn_graph *graph, zn_node *x)
{
    zn_relu(graph, "y", x);
}

static void null_output(zn_graph *graph, zn_node *x)
{
    (void)x;
    zn_graph_output(graph, NULL);
}

static void null_push(zn_graph *graph, zn_node *x)
{
    zn_graph_state(graph, "s", x->desc, 1);
    zn_graph_push(graph, "s", NULL);
}

static void other_shape(zn_graph *graph, zn_node *x)
{
    zn_graph_state(graph, "s", zn_desc_make(ZN_F32, ZN_SHAPE(1, 4, 4, 2)), 1);
    zn_graph_push(graph, "s", x);
}

static void push_of_a_state(zn_graph *graph, zn_node *x)
{
    zn_graph_push(graph, "older", zn_graph_state(graph, "s", x->desc, 1));
}

static void two_pushes(zn_graph *graph, zn_node *x)
{
    zn_graph_push(graph, "s", x);
    zn_graph_push(graph, "t", x);
}

static void no_age(zn_graph *graph, zn_node *x)
{
    assert_null(zn_graph_state(graph, "s", x->desc, 0));
}

static void check_refused(zenith_status status, zn_graph *graph, const char *part)
{
    assert_int_equal(zn_graph_finish(graph), status);
    if (!strstr(err.text, part)) fail_msg("\"%s\" is not in: %s", part, err.text);
    zn_graph_free(graph);
    err.text[0] = '\0';
}

ZN_TEST(what_is_too_much_is_refused)
{
    zn_graph graph;
    err.text[0] = '\0';
    zn_graph_begin(&graph, &err);
    zn_node *many[ZN_MAX_INPUTS + 1];
    for (int i = 0; i <= ZN_MAX_INPUTS; i++) many[i] = map_input(&graph, 2, 2, 1);
    assert_null(zn_graph_add(&graph, &zn_op_concat, "all", many, ZN_MAX_INPUTS + 1, NULL));
    check_refused(ZENITH_INTERNAL, &graph, "concat 'all' has 9 inputs, 8 are the most");

    zn_graph_begin(&graph, &err);
    assert_null(zn_graph_input(&graph, "x", zn_desc_make(ZN_F32, ZN_SHAPE(2, 4, 4, 3))));
    check_refused(ZENITH_INVALID_ARGUMENT, &graph, "a map is one picture, [1, h, w, c], not 2");

    zn_graph_begin(&graph, &err);
    assert_null(zn_relu(&graph, "y", random_parameter(&graph, ZN_SHAPE(2, 4, 4, 3), &randoms)));
    check_refused(ZENITH_INVALID_ARGUMENT, &graph, "needs a map [1, h, w, c] as input 0");
}

ZN_TEST(what_is_missing_is_said)
{
    check_missing(no_input, "'sum': input 1 is missing");
    check_missing(no_output, "no output");
    check_missing(null_output, "output is missing");
    check_missing(null_push, "'s': a pushed value is missing");
    check_missing(other_shape, "another shape");
    check_missing(push_of_a_state, "only what is computed");
    check_missing(two_pushes, "'t': the value is pushed twice");
    check_missing(no_age, "age 1 and more");
}

// --- fusion -------------------------------------------------------------------------------------

static void fuse_all(const zn_graph *src, zn_graph *dst)
{
    zn_test_ok(zn_pass_fuse(src, zn_ops, zn_ops_count, NULL, dst, &err), &err);
}

ZN_TEST(convolutions_take_what_follows)
{
    for (int swapped = 0; swapped <= 1; swapped++) {
        zn_graph graph, fused;
        zn_graph_begin(&graph, &err);
        zn_node *x = map_input(&graph, 4, 4, 8);
        zn_node *c = random_conv(&graph, "c", x, 8, 3, 1, &randoms);
        zn_node *sum = swapped ? zn_add(&graph, "sum", x, c) : zn_add(&graph, "sum", c, x);
        zn_graph_output(&graph, zn_relu(&graph, "y", sum));
        zn_test_ok(zn_graph_finish(&graph), &err);
        fuse_all(&graph, &fused);
        assert_int_equal(count_op(&fused, "conv2d_fused"), 1);
        assert_int_equal(count_op(&fused, "conv2d") + count_op(&fused, "add"), 0);
        assert_int_equal(count_op(&fused, "relu"), 0);
        const zn_node *y = fused.outputs[0];
        const zn_conv2d_fused_attributes *a = y->attributes;
        assert_true(a->bias && a->residual && a->relu);
        assert_string_equal(y->name, "y");
        assert_string_equal(y->inputs[0]->name, "x");
        assert_string_equal(y->inputs[3]->name, "x");
        zn_graph_free(&graph);
        zn_graph_free(&fused);
    }
}

// A value that someone else reads too, be it the caller, stays a value of its own.
ZN_TEST(shared_values_are_not_absorbed)
{
    for (int by_caller = 0; by_caller <= 1; by_caller++) {
        zn_graph graph, fused;
        zn_graph_begin(&graph, &err);
        zn_node *x = map_input(&graph, 4, 4, 8);
        zn_node *c = random_conv(&graph, "c", x, 8, 3, 1, &randoms);
        zn_node *y = zn_relu(&graph, "y", c);
        zn_graph_output(&graph, y);
        zn_graph_output(&graph, by_caller ? c : zn_soft_clip(&graph, "clip", c, 3));
        zn_test_ok(zn_graph_finish(&graph), &err);
        fuse_all(&graph, &fused);
        assert_int_equal(count_op(&fused, "conv2d_fused"), 0);
        assert_int_equal(count_op(&fused, "conv2d"), 1);
        assert_int_equal(count_op(&fused, "relu"), 1);
        zn_graph_free(&graph);
        zn_graph_free(&fused);
    }
}

// --- types --------------------------------------------------------------------------------------

ZN_TEST(conversions_are_made_once)
{
    zn_graph graph, typed;
    const zn_type_policy policy = {.type = ZN_BF16, .convert = zn_convert_as};
    zn_graph_begin(&graph, &err);
    zn_node *x = map_input(&graph, 4, 4, 8);
    zn_node *a = random_conv(&graph, "a", x, 8, 3, 1, &randoms);
    zn_node *b = random_conv(&graph, "b", x, 8, 3, 1, &randoms);
    zn_node *c = random_conv(&graph, "c", a, 8, 3, 1, &randoms);
    zn_node *sum = zn_add(&graph, "sum", b, c);
    zn_graph_output(&graph, random_conv(&graph, "y", sum, 8, 1, 1, &randoms));
    zn_test_ok(zn_graph_finish(&graph), &err);
    zn_test_ok(zn_pass_types(&graph, &policy, &typed, &err), &err);
    assert_int_equal(count_op(&typed, "convert"), 1); // of x, for both its readers
    assert_int_equal(zn_graph_find(&typed, "a")->desc.type, ZN_BF16);
    assert_int_equal(zn_graph_find(&typed, "sum")->desc.type, ZN_BF16);
    assert_int_equal(typed.outputs[0]->desc.type, ZN_F32); // as the graph said
    zn_graph_free(&graph);
    zn_graph_free(&typed);
}

// --- scalars and states -------------------------------------------------------------------------

// y = k x + s; s becomes y. Beside it a value of rank 6 that is kept from one run to the next.
typedef struct kept {
    zn_graph graph;
    zn_packs *packs;
    zn_plan *plan;
    zn_states *states;
} kept;

enum { HEIGHT = 6, WIDTH = 3, CHANNELS = 2, COUNT = HEIGHT * WIDTH * CHANNELS, SIDE = 12 };

static void kept_open(kept *k, zn_plan_mode mode, int64_t band)
{
    const zn_desc side = zn_desc_make(ZN_F32, ZN_SHAPE(1, 2, 1, 3, 1, 2));
    zn_graph *graph = &k->graph;
    zn_graph_begin(graph, &err);
    zn_node *x = map_input(graph, HEIGHT, WIDTH, CHANNELS);
    zn_node *s = zn_graph_state(graph, "s", x->desc, 1);
    zn_node *factor = zn_graph_scalar(graph, "k");
    zn_node *y = zn_add(graph, "y", zn_scale(graph, "kx", x, factor), s);
    zn_node *far = zn_graph_input(graph, "far", side);
    zn_node *far_state = zn_graph_state(graph, "far_state", side, 1);
    zn_graph_push(graph, "s", y);
    zn_graph_push(graph, "far_state", far);
    zn_graph_output(graph, y);
    zn_graph_output(graph, far_state);
    zn_test_ok(zn_graph_finish(graph), &err);
    zn_test_ok(zn_packs_create(&k->packs, &err), &err);
    zn_plan_options options = plan_options(mode, band, k->packs);
    zn_test_ok(zn_plan_create(graph, &options, &k->plan, &err), &err);
    assert_int_equal(zn_plan_chosen_mode(k->plan), mode);
    const zn_plan *const plans[] = {k->plan};
    zn_test_ok(zn_states_create(plans, 1, &k->states, &err), &err);
}

static void kept_close(kept *k)
{
    zn_states_free(k->states);
    zn_plan_free(k->plan);
    zn_packs_free(k->packs);
    zn_graph_free(&k->graph);
}

static void check_kept(zn_plan_mode mode, int64_t band)
{
    kept k = {0};
    kept_open(&k, mode, band);
    float x[COUNT], y[COUNT], sum[COUNT] = {0}, far[SIDE], far_out[SIDE];
    for (int round = 0; round < 3; round++) {
        const float factor = (float)(round + 2);
        for (int i = 0; i < COUNT; i++) x[i] = (float)(i + round);
        for (int i = 0; i < SIDE; i++) far[i] = (float)(100 * round + i);
        memory_run memory = {
            &k.graph, {(uint8_t *)x, (uint8_t *)far}, {(uint8_t *)y, (uint8_t *)far_out}};
        run_plan(k.plan, &memory, &factor, k.states);
        for (int i = 0; i < COUNT; i++) sum[i] += factor * x[i];
        assert_memory_equal(y, sum, sizeof y);
        assert_memory_equal(zn_states_frame(k.states, "s", 1), sum, sizeof sum);
        for (int i = 0; i < SIDE; i++) {
            assert_true(far_out[i] == (round ? (float)(100 * (round - 1) + i) : 0.0f));
        }
        assert_memory_equal(zn_states_frame(k.states, "far_state", 1), far, sizeof far);
    }
    kept_close(&k);
}

ZN_TEST(states_last_from_run_to_run)
{
    check_kept(ZN_PLAN_PLANES, 0);
    for (int64_t band = 1; band <= 6; band++) check_kept(ZN_PLAN_ROLLING, band);
}
