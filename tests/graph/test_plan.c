// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans: random networks give the same bits with whole maps and in bands of every height, also
// where barriers force several passes and where cut points are recomputed; no two values that live
// at the same time share memory; and a result lies over its input only where nobody misses that.
#include "tests/graph/small_graphs.h"

#include "src/graph/plan_parts.h"

enum { NETWORKS = 40, NODES = 9, BANDS = 5 };

static zn_error err;

// --- random networks ----------------------------------------------------------------------------

// Earlier maps of the same shape, for residual sums.
static zn_node *find_equal(zn_node *const *made, int count, const zn_node *x, zn_random *random)
{
    for (int tries = 0; tries < 4; tries++) {
        zn_node *other = made[zn_random_below(random, (uint32_t)count)];
        if (zn_shape_equal(&other->desc.shape, &x->desc.shape)) return other;
    }
    return NULL;
}

static zn_node *normed(zn_graph *graph, zn_node *x, zn_random *random)
{
    const int64_t c = x->desc.shape.dim[3];
    zn_node *gamma = random_parameter(graph, ZN_SHAPE(c), random);
    zn_node *beta = random_parameter(graph, ZN_SHAPE(c), random);
    return zn_group_norm(graph, "norm", x, gamma, beta, 2, 1e-5f);
}

static zn_node *random_node(zn_graph *graph, zn_node *const *made, int count, int64_t lowest,
                            int *barriers, zn_random *random)
{
    zn_node *x = made[count - 1], *other = find_equal(made, count, x, random);
    const int64_t height = x->desc.shape.dim[1], channels = 4 + 4 * zn_random_below(random, 3);
    switch (zn_random_below(random, 9)) {
    case 0:
        if (height < 8 * lowest) return zn_upsample2(graph, "up", x);
        break;
    case 1:
        if (height > lowest) return random_conv(graph, "half", x, channels, 3, 2, random);
        break;
    case 2:
    case 3:
        if (other) return zn_add(graph, "sum", x, other);
        break;
    case 4:
        return zn_relu(graph, "relu", x);
    case 5:
        if (*barriers < 2) {
            ++*barriers;
            return normed(graph, x, random);
        }
        break;
    case 6:
        return random_conv(graph, "point", x, channels, 1, 1, random);
    default:
        break;
    }
    return random_conv(graph, "conv", x, channels, 3, 1, random);
}

// Heights are `lowest` times a power of two, so that the network can be computed in bands.
static void build(zn_graph *graph, uint64_t seed, int64_t lowest)
{
    zn_random random = {.seed = seed};
    zn_node *made[NODES + 1];
    int barriers = 0;
    zn_graph_begin(graph, &err);
    made[0] = map_input(graph, lowest * 2, 6, 4);
    for (int i = 1; i <= NODES; i++) {
        made[i] = random_node(graph, made, i, lowest, &barriers, &random);
        if (!made[i]) break;
    }
    zn_graph_output(graph, made[NODES]);
    zn_test_ok(zn_graph_finish(graph), &err);
}

// --- what a plan promises -----------------------------------------------------------------------

static bool lives_at(const zn_buffer *buffer, int tick)
{
    return buffer->born <= tick && tick <= buffer->dies;
}

// Every value is alive when it is made and whenever it is read.
static void check_lives(const zn_plan *plan)
{
    for (size_t p = 0; p < plan->passes_count; p++) {
        const zn_pass *pass = &plan->passes[p];
        for (int i = 0; i < pass->works_count; i++) {
            const zn_work *work = &plan->works[pass->first_work + i];
            const int tick = pass->rolling ? pass->tick : pass->tick + i;
            assert_true(lives_at(&plan->buffers[work->buffer], tick));
            for (int in = 0; !work->loads && in < work->node->inputs_count; in++) {
                if (work->inputs[in] < 0) {
                    assert_int_equal(work->node->inputs[in]->kind, ZN_NODE_PARAMETER);
                } else {
                    assert_true(lives_at(&plan->buffers[work->inputs[in]], tick));
                }
            }
        }
    }
}

static void check_places(const zn_plan *plan)
{
    for (size_t i = 0; i < plan->buffers_count; i++) {
        const zn_buffer *a = &plan->buffers[i];
        if (a->frame) continue;
        assert_true(a->offset + a->bytes <= plan->scratch_offset);
        assert_int_equal(a->offset % ZN_ALIGN, 0);
        for (size_t j = 0; j < i; j++) {
            const zn_buffer *b = &plan->buffers[j];
            bool together = a->born <= b->dies && b->born <= a->dies;
            if (a->over == (int)j + 1 || b->over == (int)i + 1)
                continue; // one slides over the other
            bool apart = a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset;
            assert_true(apart || !together);
        }
    }
    assert_true(plan->scratch_offset + plan->scratch_bytes <= plan->bytes);
}

static void run_checked(const zn_graph *graph, const zn_plan *plan, const float *x, uint8_t *y)
{
    check_lives(plan);
    check_places(plan);
    memory_run memory = {graph, {(uint8_t *)(uintptr_t)x}, {y}};
    run_plan(plan, &memory, NULL, NULL);
}

// --- bands --------------------------------------------------------------------------------------

typedef struct network {
    zn_graph graph;
    zn_packs *packs;
    float *x;
    uint8_t *expected, *y;
    size_t bytes; // of y
} network;

// False: it did not fit into `most`, which is fine.
static bool check_same(network *n, zn_plan_mode mode, int64_t band, size_t most, size_t *used)
{
    zn_plan *plan = NULL;
    zn_plan_options options = plan_options(mode, band, n->packs);
    options.max_bytes = most;
    zenith_status status = zn_plan_create(&n->graph, &options, &plan, &err);
    if (most && status == ZENITH_LIMIT) return false;
    zn_test_ok(status, &err);
    *used = zn_plan_bytes(plan);
    assert_true(!most || *used <= most);
    memset(n->y, 0xee, n->bytes);
    run_checked(&n->graph, plan, n->x, n->y);
    zn_plan_free(plan);
    return true;
}

static void check_network(uint64_t seed, int64_t lowest, bool fused, int *recomputed)
{
    network n = {0};
    zn_graph plain;
    build(&plain, seed, lowest);
    if (fused) {
        zn_test_ok(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &n.graph, &err), &err);
    } else {
        n.graph = plain;
    }
    zn_test_ok(zn_packs_create(&n.packs, &err), &err);
    n.bytes = bytes_of(n.graph.outputs[0]);
    n.expected = malloc(n.bytes);
    n.y = malloc(n.bytes);
    n.x = malloc(bytes_of(n.graph.nodes[0]));
    zn_random random = {.seed = seed + 1};
    for (size_t i = 0; i < bytes_of(n.graph.nodes[0]) / sizeof(float); i++) {
        n.x[i] = zn_random_normal(&random);
    }
    size_t used = 0;
    check_same(&n, ZN_PLAN_PLANES, 0, 0, &used);
    memcpy(n.expected, n.y, n.bytes);
    for (int64_t band = 1; band <= BANDS; band++) {
        check_same(&n, ZN_PLAN_ROLLING, band, 0, &used);
        if (memcmp(n.y, n.expected, n.bytes) != 0) {
            fail_msg("network %d, lowest map %d rows: a band of %d rows has other bits", (int)seed,
                     (int)lowest, (int)band);
        }
        // A byte less: cut points are recomputed rather than stored, if that is less memory.
        if (!check_same(&n, ZN_PLAN_ROLLING, band, used - 1, &used)) continue;
        ++*recomputed;
        if (memcmp(n.y, n.expected, n.bytes) != 0) {
            fail_msg("network %d, lowest map %d rows: a band of %d rows, recomputed, has other "
                     "bits",
                     (int)seed, (int)lowest, (int)band);
        }
    }
    free(n.x);
    free(n.y);
    free(n.expected);
    zn_packs_free(n.packs);
    if (fused) zn_graph_free(&n.graph);
    zn_graph_free(&plain);
}

ZN_TEST(bands_have_the_bits_of_whole_maps)
{
    int recomputed = 0;
    for (uint64_t seed = 0; seed < NETWORKS; seed++) {
        check_network(seed, 1 + (int64_t)seed % 7, seed & 1, &recomputed);
    }
    assert_true(recomputed > 0);
}

// --- in place -----------------------------------------------------------------------------------

enum { SIDE = 24, CHANNELS = 4, TILE = 8, PICTURE = SIDE * SIDE * CHANNELS };
typedef enum reader { NOBODY, A_NODE, THE_CALLER } reader;

// conv -> a block of which a rectangle is pruned -> conv. Who else wants what the block reads?
static void build_block(zn_graph *graph, reader also)
{
    static float scores[] = {1, -1, 1, 1};
    static const zn_zenith_block_attributes attributes = {.tile = {TILE, TILE / 2, TILE, false},
                                                          .score = true};
    zn_random random = {.seed = 5};
    zn_graph_begin(graph, &err);
    zn_node *x = random_conv(graph, "in", map_input(graph, SIDE, SIDE, CHANNELS), CHANNELS, 3, 1,
                             &random);
    zn_node *inputs[] = {
        x,
        random_parameter(graph, ZN_SHAPE(TILE * TILE, CHANNELS), &random),
        random_parameter(graph, ZN_SHAPE(CHANNELS, 1, 3, 3), &random),
        random_parameter(graph, ZN_SHAPE(CHANNELS, CHANNELS, 1, 1), &random),
        random_parameter(graph, ZN_SHAPE(CHANNELS), &random),
        zn_graph_parameter(
            graph, "scores",
            (zn_tensor){.desc = zn_desc_make(ZN_F32, ZN_SHAPE(2, 2)), .data = scores}),
    };
    zn_node *y = zn_graph_add(graph, &zn_op_zenith_block, "block", inputs,
                              sizeof inputs / sizeof *inputs, &attributes);
    y = random_conv(graph, "out", y, CHANNELS, 3, 1, &random);
    zn_graph_output(graph, also == A_NODE ? zn_add(graph, "sum", x, y) : y);
    if (also == THE_CALLER) zn_graph_output(graph, x);
    zn_test_ok(zn_graph_finish(graph), &err);
}

// How many results lie over their input.
static int run_block(const zn_graph *graph, const zn_plan_options *options, float *x, uint8_t *y)
{
    zn_plan *plan = NULL;
    static uint8_t second[PICTURE * sizeof(float)];
    zn_test_ok(zn_plan_create(graph, options, &plan, &err), &err);
    check_lives(plan);
    check_places(plan);
    memory_run memory = {graph, {(uint8_t *)x}, {y, second}};
    run_plan(plan, &memory, NULL, NULL);
    int over = 0;
    for (size_t i = 0; i < plan->works_count; i++) {
        over += plan->works[i].in_place;
        assert_int_equal(plan->works[i].in_place,
                         plan->works[i].node->op &&
                             plan->works[i].buffer == plan->works[i].inputs[0]);
    }
    zn_plan_free(plan);
    return over;
}

// --- heavy weights ------------------------------------------------------------------------------

static void build_heavy(zn_graph *graph)
{
    enum { HEAVY = 128 }; // 3x3: 590 KB of weights
    zn_random random = {.seed = 3};
    zn_graph_begin(graph, &err);
    zn_node *x = map_input(graph, 32, 16, HEAVY);
    zn_node *y = zn_relu(graph, "relu", normed(graph, x, &random));
    y = zn_add(graph, "sum", random_conv(graph, "conv", y, HEAVY, 3, 1, &random), x);
    y = zn_upsample2(graph, "up", normed(graph, y, &random));
    zn_graph_output(graph, random_conv(graph, "last", y, HEAVY, 3, 1, &random));
    zn_test_ok(zn_graph_finish(graph), &err);
}

static int64_t longest_call(const zn_plan *plan, const char *name)
{
    int64_t rows = 0;
    for (size_t i = 0; i < plan->works_count; i++) {
        const zn_work *work = &plan->works[i];
        if (strcmp(work->node->name, name) == 0 && work->call_rows > rows) rows = work->call_rows;
    }
    return rows;
}

// Weights that no cache keeps are read for 512 pixels at a time, by rounds that are longer than the
// band; the bits are those of whole maps and of single rows.
ZN_TEST(heavy_weights_have_long_rounds)
{
    network n = {0};
    build_heavy(&n.graph);
    zn_test_ok(zn_packs_create(&n.packs, &err), &err);
    n.bytes = bytes_of(n.graph.outputs[0]);
    n.expected = malloc(n.bytes);
    n.y = malloc(n.bytes);
    n.x = malloc(bytes_of(n.graph.nodes[0]));
    zn_random random = {.seed = 4};
    for (size_t i = 0; i < bytes_of(n.graph.nodes[0]) / sizeof(float); i++)
        n.x[i] = zn_random_normal(&random);
    size_t whole = 0, used = 0;
    check_same(&n, ZN_PLAN_PLANES, 0, 0, &whole);
    memcpy(n.expected, n.y, n.bytes);
    for (int64_t band = 0; band <= 2; band++) {
        check_same(&n, ZN_PLAN_ROLLING, band, 0, &used);
        assert_memory_equal(n.y, n.expected, n.bytes);
    }
    zn_plan *plan = NULL;
    zn_plan_options options = plan_options(ZN_PLAN_ROLLING, 0, n.packs);
    zn_test_ok(zn_plan_create(&n.graph, &options, &plan, &err), &err);
    assert_true(longest_call(plan, "conv") > 8); // the largest band
    assert_int_equal(longest_call(plan, "last") * 32 >= 512, 1);
    zn_plan_free(plan);
    zn_plan_needs needs = {0}; // the least: the smallest band, without long rounds
    options.needs = &needs;
    options.max_bytes = 64;
    assert_int_equal(zn_plan_create(&n.graph, &options, &plan, NULL), ZENITH_LIMIT);
    options.max_bytes = needs.bytes;
    zn_test_ok(zn_plan_create(&n.graph, &options, &plan, &err), &err);
    assert_true(longest_call(plan, "conv") <= 8);
    zn_plan_free(plan);
    free(n.x);
    free(n.y);
    free(n.expected);
    zn_packs_free(n.packs);
    zn_graph_free(&n.graph);
}

ZN_TEST(a_result_lies_over_an_input_that_nobody_misses)
{
    static float x[PICTURE], apart[PICTURE], y[PICTURE];
    zn_random random = {.seed = 6};
    for (int i = 0; i < PICTURE; i++) x[i] = zn_random_normal(&random);
    for (reader also = NOBODY; also <= THE_CALLER; also++) {
        zn_graph graph;
        zn_packs *packs = NULL;
        build_block(&graph, also);
        zn_test_ok(zn_packs_create(&packs, &err), &err);
        zn_plan_options options = plan_options(ZN_PLAN_PLANES, 0, packs);
        options.keep_everything = true;
        assert_int_equal(run_block(&graph, &options, x, (uint8_t *)apart), 0);
        options.keep_everything = false;
        for (int64_t band = 0; band <= BANDS; band++) {
            options.mode = band ? ZN_PLAN_ROLLING : ZN_PLAN_PLANES;
            options.band = band;
            assert_int_equal(run_block(&graph, &options, x, (uint8_t *)y), also == NOBODY);
            assert_memory_equal(y, apart, sizeof y);
        }
        zn_packs_free(packs);
        zn_graph_free(&graph);
    }
}

// --- limits -------------------------------------------------------------------------------------

ZN_TEST(a_plan_that_cannot_fit_says_so)
{
    zn_graph graph;
    zn_packs *packs = NULL;
    zn_plan *plan = NULL;
    build(&graph, 3, 4);
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    zn_plan_options options = plan_options(ZN_PLAN_AUTO, 0, packs);
    options.max_bytes = 64;
    err.text[0] = '\0'; // the first message stays
    assert_int_equal(zn_plan_create(&graph, &options, &plan, &err), ZENITH_LIMIT);
    assert_null(plan);
    unsigned long long least = 0;
    const char *number = strstr(err.text, "at least ");
    assert_non_null(number);
    assert_int_equal(sscanf(number, "at least %llu bytes", &least), 1);
    // What it said is needed at least (without scratch, which is known only later).
    options.max_bytes = (size_t)least - 1;
    assert_int_equal(zn_plan_create(&graph, &options, &plan, &err), ZENITH_LIMIT);
    zn_packs_free(packs);
    zn_graph_free(&graph);
}

// --- rows ---------------------------------------------------------------------------------------

static zn_rows whole_map(const zn_node *node, int input, zn_rows out)
{
    (void)out;
    return (zn_rows){0, node->inputs[input]->desc.shape.dim[1]};
}

static zn_rows all_before(const zn_node *node, int input, zn_rows out)
{
    (void)node, (void)input;
    return (zn_rows){0, out.end};
}

static zenith_status infer_vector(zn_node *node, zn_error *error)
{
    (void)error;
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(node->inputs[0]->desc.shape.dim[3]));
    return ZENITH_OK;
}

static void check_refused(const zn_op *op, zn_plan_mode mode)
{
    zn_graph graph;
    zn_plan *plan = NULL;
    zn_graph_begin(&graph, &err);
    zn_node *x = map_input(&graph, 6, 4, 4);
    zn_graph_output(&graph, zn_graph_add(&graph, op, "greedy", &x, 1, NULL));
    zn_test_ok(zn_graph_finish(&graph), &err);
    const zn_plan_options options = plan_options(mode, mode == ZN_PLAN_ROLLING, NULL);
    err.text[0] = '\0';
    assert_int_equal(zn_plan_create(&graph, &options, &plan, &err), ZENITH_INTERNAL);
    assert_non_null(strstr(err.text, "'greedy' needs every row of its input 0 and is no barrier"));
    assert_null(plan);
    zn_graph_free(&graph);
}

// Windows hold the rows that move on with the result's: who wants all of them must say so.
ZN_TEST(what_needs_every_row_must_be_a_barrier)
{
    zn_op whole = zn_op_relu, before = zn_op_relu, vector = zn_op_relu;
    whole.rows = whole_map;
    before.rows = all_before;
    vector.infer = infer_vector;
    for (zn_plan_mode mode = ZN_PLAN_AUTO; mode <= ZN_PLAN_ROLLING; mode++) {
        check_refused(&whole, mode);
        check_refused(&before, mode);
        check_refused(&vector, mode);
    }
}

// What a barrier reads is held whole and made once. It may be an output, too.
ZN_TEST(what_is_held_for_a_barrier_can_be_an_output)
{
    enum { VALUES = 12 * 5 * 4 };
    static float x[VALUES], inner[2][VALUES], y[2][VALUES];
    zn_graph graph;
    zn_packs *packs = NULL;
    zn_random random = {.seed = 8};
    for (int i = 0; i < VALUES; i++) x[i] = zn_random_normal(&random);
    zn_graph_begin(&graph, &err);
    zn_node *conv = random_conv(&graph, "conv", map_input(&graph, 12, 5, 4), 4, 3, 1, &random);
    zn_graph_output(&graph, conv);
    zn_graph_output(&graph, normed(&graph, zn_relu(&graph, "relu", conv), &random));
    zn_graph_output(&graph, zn_graph_find(&graph, "relu"));
    zn_test_ok(zn_graph_finish(&graph), &err);
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    for (int64_t band = 0; band <= BANDS; band++) {
        static float relu[VALUES];
        const int kept = band > 0;
        zn_plan *plan = NULL;
        zn_plan_options options = plan_options(kept ? ZN_PLAN_ROLLING : ZN_PLAN_PLANES, band,
                                               packs);
        zn_test_ok(zn_plan_create(&graph, &options, &plan, &err), &err);
        memset(inner[kept], 0xff, sizeof inner[kept]);
        memset(relu, 0xff, sizeof relu);
        memory_run memory = {
            &graph, {(uint8_t *)x}, {(uint8_t *)inner[kept], (uint8_t *)y[kept], (uint8_t *)relu}};
        run_plan(plan, &memory, NULL, NULL);
        for (int i = 0; i < VALUES; i++) {
            assert_true(relu[i] == (inner[kept][i] > 0 ? inner[kept][i] : 0));
        }
        assert_memory_equal(inner[kept], inner[0], sizeof inner[0]);
        assert_memory_equal(y[kept], y[0], sizeof y[0]);
        zn_plan_free(plan);
    }
    zn_packs_free(packs);
    zn_graph_free(&graph);
}

static zenith_status make_nothing(void *arg, void *dst, zn_error *why)
{
    (void)arg, (void)dst, (void)why;
    return ZENITH_OK;
}

static void count_call(void *arg)
{
    ++*(int *)arg;
}

ZN_TEST(packs_tell_when_much_was_read)
{
    zn_packs *packs = NULL;
    int calls = 0;
    const void *data = NULL;
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    zn_packs_watch(packs, count_call, &calls);
    for (int key = 0; key < 4; key++) {
        const size_t bytes = ZN_PACKS_SPENT / 2;
        zn_test_ok(
            zn_packs_get(packs, packs, &key, sizeof key, bytes, make_nothing, NULL, &data, &err),
            &err);
        assert_int_equal(calls, (key + 1) / 2);
        const int again = 0; // is there already: nothing is read
        zn_test_ok(zn_packs_get(packs, packs, &again, sizeof again, bytes, make_nothing, NULL,
                                &data, &err),
                   &err);
        assert_int_equal(calls, (key + 1) / 2);
    }
    zn_packs_free(packs);
}
