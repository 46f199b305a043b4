// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Values between passes: chains of residual blocks with group norms give the same bits for every
// budget, with and without a spill file; what a plan says it needs is what it needs; a spill file
// that fails, and a run that is stopped while it spills, end with a status.
#include "tests/graph/small_graphs.h"

#include "src/base/os.h"
#include "src/graph/plan_parts.h"

#include <signal.h>
#include <sys/resource.h>

enum { NETWORKS = 12, LIMITS = 6, BLOCKS = 3, ROWS = 12, COLUMNS = 10 };

static zn_error err;

static zn_node *normed(zn_graph *graph, zn_node *x, zn_random *random)
{
    const int64_t c = x->desc.shape.dim[3];
    zn_node *gamma = random_parameter(graph, ZN_SHAPE(c), random);
    zn_node *beta = random_parameter(graph, ZN_SHAPE(c), random);
    return zn_relu(graph, "relu", zn_group_norm(graph, "norm", x, gamma, beta, 2, 1e-5f));
}

// norm, conv, norm, conv, and the input (or a 1x1 convolution of it) added: two barriers.
static zn_node *block(zn_graph *graph, zn_node *x, int64_t channels, zn_random *random)
{
    zn_node *y = random_conv(graph, "one", normed(graph, x, random), channels, 3, 1, random);
    y = random_conv(graph, "two", normed(graph, y, random), channels, 3, 1, random);
    if (x->desc.shape.dim[3] != channels) x = random_conv(graph, "skip", x, channels, 1, 1, random);
    return zn_add(graph, "sum", y, x);
}

static void build(zn_graph *graph, uint64_t seed)
{
    zn_random random = {.seed = seed};
    zn_graph_begin(graph, &err);
    zn_node *x = random_conv(graph, "in", map_input(graph, ROWS, COLUMNS, 4), 8, 3, 1, &random);
    for (int i = 0; i < BLOCKS; i++) {
        x = block(graph, x, 4 + 4 * zn_random_below(&random, 2), &random);
        if (zn_random_below(&random, 2)) x = zn_upsample2(graph, "up", x);
    }
    zn_graph_output(graph, random_conv(graph, "out", normed(graph, x, &random), 3, 3, 1, &random));
    zn_test_ok(zn_graph_finish(graph), &err);
}

typedef struct network {
    zn_graph graph;
    zn_packs *packs;
    float x[ROWS * COLUMNS * 4];
    uint8_t *expected, *y;
    size_t bytes; // of y
    double flops;
    zn_plan_needs needs;
} network;

static zenith_status make_plan(network *n, size_t most, bool spill, zn_plan **plan)
{
    zn_plan_options options = plan_options(ZN_PLAN_ROLLING, 0, n->packs);
    options.max_bytes = most;
    options.spill = spill;
    options.needs = &n->needs;
    err.text[0] = '\0'; // the first message stays
    return zn_plan_create(&n->graph, &options, plan, &err);
}

static zenith_status run(network *n, const zn_plan *plan, zn_spill *spill, const atomic_int *cancel)
{
    memory_run memory = {&n->graph, {(uint8_t *)n->x}, {n->y}};
    void *arena = zn_alloc(zn_plan_bytes(plan));
    assert_non_null(arena);
    memset(arena, 0xff, zn_plan_bytes(plan)); // NaN: what was not written must not be read
    memset(n->y, 0xee, n->bytes);
    const zn_run how = {.read = memory_read,
                        .write = memory_write,
                        .cookie = &memory,
                        .spill = spill,
                        .cancel = cancel};
    err.text[0] = '\0';
    zenith_status status = zn_plan_run(plan, arena, NULL, &how, &err);
    zn_free(arena);
    return status;
}

static zn_spill *open_spill(const zn_plan *plan)
{
    zn_spill *spill = NULL;
    if (zn_plan_spill_bytes(plan))
        zn_test_ok(zn_spill_open("/tmp", zn_plan_spill_bytes(plan), &spill, &err), &err);
    return spill;
}

static void begin(network *n, uint64_t seed)
{
    zn_plan *plan = NULL;
    zn_random random = {.seed = seed + 1};
    build(&n->graph, seed);
    zn_test_ok(zn_packs_create(&n->packs, &err), &err);
    for (size_t i = 0; i < sizeof n->x / sizeof *n->x; i++) n->x[i] = zn_random_normal(&random);
    n->bytes = bytes_of(n->graph.outputs[0]);
    n->expected = malloc(n->bytes);
    n->y = malloc(n->bytes);
    zn_plan_options options = plan_options(ZN_PLAN_PLANES, 0, n->packs);
    zn_test_ok(zn_plan_create(&n->graph, &options, &plan, &err), &err);
    zn_test_ok(run(n, plan, NULL, NULL), &err);
    memcpy(n->expected, n->y, n->bytes);
    n->flops = zn_plan_flops(plan);
    zn_plan_free(plan);
    assert_int_equal(make_plan(n, 1, false, &plan), ZENITH_LIMIT);
}

static void end(network *n)
{
    free(n->expected);
    free(n->y);
    zn_packs_free(n->packs);
    zn_graph_free(&n->graph);
}

typedef struct counts {
    int recomputed, spilled, both;
    int slides; // values that take the place of others, row by row
} counts;

static void check_budget(network *n, size_t most, bool spill, counts *seen)
{
    zn_plan *plan = NULL;
    zn_test_ok(make_plan(n, most, spill, &plan), &err);
    assert_true(most == 0 || zn_plan_bytes(plan) <= most);
    const bool again = zn_plan_flops(plan) > n->flops * 1.0001;
    const bool spills = zn_plan_spill_bytes(plan) > 0;
    assert_true(spill || !spills);
    assert_true(most > 0 || (!again && !spills)); // without a bound nothing is computed twice
    for (size_t i = 0; i < plan->buffers_count; i++) seen->slides += plan->buffers[i].over > 0;
    zn_spill *file = open_spill(plan);
    zn_test_ok(run(n, plan, file, NULL), &err);
    assert_memory_equal(n->y, n->expected, n->bytes);
    seen->recomputed += again && !spills;
    seen->spilled += spills && !again;
    seen->both += spills && again;
    zn_spill_close(file);
    zn_plan_free(plan);
}

ZN_TEST(every_budget_has_the_same_bits)
{
    counts seen = {0};
    for (uint64_t seed = 0; seed < NETWORKS; seed++) {
        network n = {0};
        zn_plan *plan = NULL;
        begin(&n, seed);
        check_budget(&n, 0, false, &seen);
        zn_test_ok(make_plan(&n, 0, false, &plan), &err);
        const size_t whole = zn_plan_bytes(plan);
        zn_plan_free(plan);
        for (int spill = 0; spill < 2; spill++) {
            const size_t least = spill && n.needs.spill_bytes ? n.needs.spilled_bytes
                                                              : n.needs.bytes;
            for (size_t i = 0; i < LIMITS; i++)
                check_budget(&n, least + (whole - least) * i / LIMITS, spill, &seen);
        }
        end(&n);
    }
    print_message("%d budgets by recomputing, %d by spilling, %d by both; %d values slid\n",
                  seen.recomputed, seen.spilled, seen.both, seen.slides);
    assert_true(seen.recomputed > NETWORKS && seen.spilled > NETWORKS && seen.slides > NETWORKS);
}

// What is said to be needed is enough, and a byte less is not.
ZN_TEST(needs_are_exact)
{
    for (uint64_t seed = 0; seed < NETWORKS; seed++) {
        network n = {0};
        zn_plan *plan = NULL;
        begin(&n, seed);
        const zn_plan_needs needs = n.needs;
        zn_test_ok(make_plan(&n, needs.bytes, false, &plan), &err);
        assert_int_equal(zn_plan_bytes(plan), needs.bytes);
        zn_plan_free(plan);
        assert_int_equal(make_plan(&n, needs.bytes - 1, false, &plan), ZENITH_LIMIT);
        char number[32];
        snprintf(number, sizeof number, "at least %zu bytes", needs.bytes);
        assert_non_null(strstr(err.text, number));
        if (needs.spill_bytes) {
            zn_test_ok(make_plan(&n, needs.spilled_bytes, true, &plan), &err);
            assert_int_equal(zn_plan_bytes(plan), needs.spilled_bytes);
            zn_plan_free(plan);
            assert_int_equal(make_plan(&n, needs.spilled_bytes - 1, true, &plan), ZENITH_LIMIT);
        }
        end(&n);
    }
}

// --- a spill file that fails --------------------------------------------------------------------

static zn_plan *spilling_plan(network *n)
{
    zn_plan *plan = NULL;
    begin(n, 3);
    zn_test_ok(make_plan(n, n->needs.spilled_bytes, true, &plan), &err);
    assert_true(zn_plan_spill_bytes(plan) > 0);
    return plan;
}

ZN_TEST(a_spill_file_that_cannot_be_made_is_a_status)
{
    zn_spill *spill = NULL;
    err.text[0] = '\0';
    assert_int_equal(zn_spill_open("/no/such/folder", 1, &spill, &err), ZENITH_NOT_FOUND);
    assert_non_null(strstr(err.text, "/no/such/folder"));
    assert_int_not_equal(zn_spill_open("/proc", 1, &spill, NULL), ZENITH_OK);
    err.text[0] = '\0';
    assert_int_equal(zn_spill_open("/tmp", (uint64_t)1 << 60, &spill, &err), ZENITH_IO);
    assert_non_null(strstr(err.text, "1152921504606846976 bytes"));
    assert_null(spill);
}

// A file that cannot grow stands for a disk that is full.
ZN_TEST(a_write_that_fails_is_a_status)
{
    network n = {0};
    struct rlimit before, low;
    zn_spill *spill = NULL;
    zn_plan *plan = spilling_plan(&n);
    zn_test_ok(zn_spill_open("/tmp", 1, &spill, &err), &err);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    low = before;
    low.rlim_cur = 16;
    setrlimit(RLIMIT_FSIZE, &low);
    zenith_status status = run(&n, plan, spill, NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, ZENITH_IO);
    assert_non_null(strstr(err.text, "spill file"));
    zn_spill_close(spill);
    assert_int_equal(run(&n, plan, NULL, NULL), ZENITH_INTERNAL); // without a file
    spill = open_spill(plan);
    zn_test_ok(run(&n, plan, spill, NULL), &err); // nothing of it is left
    assert_memory_equal(n.y, n.expected, n.bytes);
    zn_spill_close(spill);
    zn_plan_free(plan);
    end(&n);
}

ZN_TEST(a_file_that_ends_early_is_a_status)
{
    zn_spill *spill = NULL;
    uint8_t bytes[64];
    zn_test_ok(zn_spill_open("/tmp", 16, &spill, &err), &err);
    err.text[0] = '\0';
    assert_int_equal(zn_spill_read(spill, 0, bytes, sizeof bytes, &err), ZENITH_IO);
    assert_non_null(strstr(err.text, "ends too early"));
    zn_spill_close(spill);
}

// --- stopping -----------------------------------------------------------------------------------

static atomic_int flag;
static int reads_left;

static zenith_status read_then_stop(void *cookie, int input, int64_t row, int64_t count, void *dst,
                                    zn_error *error)
{
    if (--reads_left == 0) atomic_store(&flag, 1);
    return memory_read(cookie, input, row, count, dst, error);
}

ZN_TEST(a_run_stops_while_it_spills)
{
    network n = {0};
    zn_plan *plan = spilling_plan(&n);
    zn_spill *spill = open_spill(plan);
    memory_run memory = {&n.graph, {(uint8_t *)n.x}, {n.y}};
    void *arena = zn_alloc(zn_plan_bytes(plan));
    const zn_run how = {.read = read_then_stop,
                        .write = memory_write,
                        .cookie = &memory,
                        .spill = spill,
                        .cancel = &flag};
    reads_left = 3;
    assert_int_equal(zn_plan_run(plan, arena, NULL, &how, &err), ZENITH_CANCELLED);
    atomic_store(&flag, 0);
    zn_test_ok(run(&n, plan, spill, &flag), &err);
    assert_memory_equal(n.y, n.expected, n.bytes);
    zn_free(arena);
    zn_spill_close(spill);
    zn_plan_free(plan);
    end(&n);
}
