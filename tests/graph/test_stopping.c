// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Long calls: an operator that looks at the cancel flag itself gets all its rows in one call, and a
// run stops soon inside of it, as inside of a barrier. Networks whose weights outweigh their maps
// run in planes, and so does what has no common height.
#include "tests/graph/small_graphs.h"

#include "src/base/os.h"

#include <pthread.h>
#include <time.h>

enum { HEIGHT = 64, WIDTH = 8, CHANNELS = 4, VALUES = HEIGHT * WIDTH * CHANNELS };
static const double soon = 0.25 * ZN_TEST_SLOWER; // seconds

static zn_error err;
static atomic_int cancel, calls, inside;
static bool waits; // for the flag, as a very long call would

// --- an operator that takes its time ------------------------------------------------------------

static zenith_status slow_run(const zn_lowering *self, const zn_call *call, zn_error *error)
{
    (void)self, (void)error;
    atomic_fetch_add(&calls, 1);
    atomic_store(&inside, 1);
    const double begin = zn_clock_seconds();
    while (waits && !zn_call_stopped(call) && zn_clock_seconds() - begin < 20) {
    }
    if (zn_call_stopped(call)) return ZENITH_OK;
    memcpy(call->output, call->inputs[0], (size_t)call->rows * WIDTH * CHANNELS * sizeof(float));
    return ZENITH_OK;
}

static zenith_status slow_lower(const zn_lowering_request *request, zn_lowering **out,
                                zn_error *error)
{
    (void)request, (void)error;
    zn_lowering *made = zn_alloc_zero(sizeof *made);
    assert_non_null(made);
    *made = (zn_lowering){.run = slow_run, .free = zn_lowering_free, .id = "slow"};
    *out = made;
    return ZENITH_OK;
}

static zenith_status slow_infer(zn_node *node, zn_error *error)
{
    (void)error;
    node->desc = node->inputs[0]->desc;
    return ZENITH_OK;
}

static double slow_flops(const zn_node *node)
{
    (void)node;
    return 1e14;
}

static zn_op slow_op(unsigned traits)
{
    return (zn_op){.name = "slow",
                   .traits = traits,
                   .infer = slow_infer,
                   .lower = slow_lower,
                   .flops = slow_flops};
}

// --- runs ---------------------------------------------------------------------------------------

typedef struct slow_network {
    zn_op op;
    zn_graph graph;
    zn_plan *plan;
    void *arena;
    float x[VALUES], y[VALUES];
} slow_network;

static void network_open(slow_network *n, unsigned traits, zn_plan_mode mode)
{
    *n = (slow_network){.op = slow_op(traits)};
    zn_graph_begin(&n->graph, &err);
    zn_node *x = map_input(&n->graph, HEIGHT, WIDTH, CHANNELS);
    zn_graph_output(&n->graph, zn_graph_add(&n->graph, &n->op, "slow", &x, 1, NULL));
    zn_test_ok(zn_graph_finish(&n->graph), &err);
    const zn_plan_options options = plan_options(mode, mode == ZN_PLAN_ROLLING ? 4 : 0, NULL);
    zn_test_ok(zn_plan_create(&n->graph, &options, &n->plan, &err), &err);
    n->arena = zn_alloc(zn_plan_bytes(n->plan));
    for (int i = 0; i < VALUES; i++) n->x[i] = (float)(i + 1);
    atomic_store(&calls, 0);
    atomic_store(&cancel, 0);
    atomic_store(&inside, 0);
}

static zenith_status network_run(slow_network *n)
{
    memory_run memory = {&n->graph, {(uint8_t *)n->x}, {(uint8_t *)n->y}};
    const zn_run run = {
        .read = memory_read, .write = memory_write, .cookie = &memory, .cancel = &cancel};
    return zn_plan_run(n->plan, n->arena, NULL, &run, &err);
}

static void network_close(slow_network *n)
{
    zn_plan_free(n->plan);
    zn_free(n->arena);
    zn_graph_free(&n->graph);
}

static void *request_inside(void *arg)
{
    double *at = arg;
    const struct timespec moment = {.tv_nsec = 500000};
    while (!atomic_load(&inside)) nanosleep(&moment, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    *at = zn_clock_seconds();
    atomic_store(&cancel, 1);
    return NULL;
}

static void check_stops(unsigned traits, zn_plan_mode mode)
{
    static slow_network n;
    pthread_t thread;
    double at = 0;
    network_open(&n, traits, mode);
    waits = true;
    assert_int_equal(pthread_create(&thread, NULL, request_inside, &at), 0);
    zenith_status status = network_run(&n);
    const double end = zn_clock_seconds();
    pthread_join(thread, NULL);
    assert_int_equal(status, ZENITH_CANCELLED);
    assert_true(end - at < soon);
    for (int i = 0; i < VALUES; i++) assert_true(n.y[i] == 0); // what was not finished is not shown
    // Nothing of it is left: the next run is whole.
    waits = false;
    atomic_store(&cancel, 0);
    zn_test_ok(network_run(&n), &err);
    assert_memory_equal(n.x, n.y, sizeof n.x);
    network_close(&n);
}

ZN_TEST(a_run_stops_inside_of_a_call)
{
    for (zn_plan_mode mode = ZN_PLAN_PLANES; mode <= ZN_PLAN_ROLLING; mode++) {
        check_stops(ZN_OP_STOPS, mode);
        check_stops(ZN_OP_BARRIER, mode);
    }
}

ZN_TEST(who_looks_at_the_flag_gets_all_rows_at_once)
{
    static slow_network n;
    waits = false;
    for (int stops = 0; stops <= 1; stops++) {
        network_open(&n, stops ? ZN_OP_STOPS : 0, ZN_PLAN_PLANES);
        zn_test_ok(network_run(&n), &err);
        assert_int_equal(atomic_load(&calls), stops ? 1 : HEIGHT);
        assert_memory_equal(n.x, n.y, sizeof n.x);
        network_close(&n);
    }
}

// --- planes where they are better ---------------------------------------------------------------

static zn_plan_mode chosen(const zn_graph *graph, zn_plan_mode asked, size_t most)
{
    zn_plan *plan = NULL;
    zn_plan_options options = plan_options(asked, 0, NULL);
    options.max_bytes = most;
    zn_test_ok(zn_plan_create(graph, &options, &plan, &err), &err);
    const zn_plan_mode mode = zn_plan_chosen_mode(plan);
    zn_plan_free(plan);
    return mode;
}

ZN_TEST(weights_that_outweigh_maps_make_planes)
{
    static float weight; // the first of many that nobody reads
    for (int64_t megabytes = 16; megabytes <= 64; megabytes += 48) {
        zn_op op = slow_op(0);
        zn_graph graph;
        zn_graph_begin(&graph, &err);
        const zn_desc desc = zn_desc_make(ZN_F32, ZN_SHAPE(megabytes << 18));
        zn_node *inputs[] = {
            map_input(&graph, HEIGHT, WIDTH, CHANNELS),
            zn_graph_parameter(&graph, "w", (zn_tensor){.desc = desc, .data = &weight})};
        zn_graph_output(&graph, zn_graph_add(&graph, &op, "y", inputs, 2, NULL));
        zn_test_ok(zn_graph_finish(&graph), &err);
        const zn_plan_mode best = megabytes > 32 ? ZN_PLAN_PLANES : ZN_PLAN_ROLLING;
        assert_int_equal(chosen(&graph, ZN_PLAN_AUTO, 0), best);
        assert_int_equal(chosen(&graph, ZN_PLAN_ROLLING, 0), ZN_PLAN_ROLLING);
        // What is better has to fit.
        assert_int_equal(chosen(&graph, ZN_PLAN_AUTO, VALUES * sizeof(float)), ZN_PLAN_ROLLING);
        zn_graph_free(&graph);
    }
}

// A vector alone, and a sequence beside a picture: no height of which all are multiples.
ZN_TEST(what_has_no_common_height_runs_in_planes)
{
    enum { TOKENS = 77, VECTOR = 5 };
    static float x[VALUES], y[VALUES], text[TOKENS * CHANNELS], result[TOKENS * CHANNELS];
    float v[VECTOR] = {1, 2, 3, 4, 5}, twice[VECTOR];
    const float scale = 2;
    zn_graph graph;
    zn_plan *plan = NULL;
    zn_graph_begin(&graph, &err);
    zn_node *picture = map_input(&graph, HEIGHT, WIDTH, CHANNELS);
    zn_node *tokens = map_input(&graph, TOKENS, 1, CHANNELS);
    zn_node *vector = zn_graph_input(&graph, "v", zn_desc_make(ZN_F32, ZN_SHAPE(VECTOR)));
    zn_node *factor = zn_graph_scalar(&graph, "k");
    zn_graph_output(&graph, zn_relu(&graph, "y", picture));
    zn_graph_output(&graph, zn_scale(&graph, "t", tokens, factor));
    zn_graph_output(&graph, vector);
    zn_test_ok(zn_graph_finish(&graph), &err);
    const zn_plan_options options = plan_options(ZN_PLAN_AUTO, 0, NULL);
    zn_test_ok(zn_plan_create(&graph, &options, &plan, &err), &err);
    assert_int_equal(zn_plan_chosen_mode(plan), ZN_PLAN_PLANES);
    for (int i = 0; i < VALUES; i++) x[i] = (float)(i % 7 - 3);
    for (int i = 0; i < TOKENS * CHANNELS; i++) text[i] = (float)i;
    memory_run memory = {&graph,
                         {(uint8_t *)x, (uint8_t *)text, (uint8_t *)v},
                         {(uint8_t *)y, (uint8_t *)result, (uint8_t *)twice}};
    run_plan(plan, &memory, &scale, NULL);
    for (int i = 0; i < VALUES; i++) assert_true(y[i] == (x[i] > 0 ? x[i] : 0));
    for (int i = 0; i < TOKENS * CHANNELS; i++) assert_true(result[i] == 2 * text[i]);
    assert_memory_equal(v, twice, sizeof v);
    zn_plan_free(plan);
    zn_graph_free(&graph);
}
