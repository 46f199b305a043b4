// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// linear and embed with constants that are read by rows: in f32 as with an array of the same
// numbers, to the bit; in 8 bits from panels as they lie, from bytes, from another's 4 bits, and
// rotated, near the reference; the same bits in planes and bands, on one thread and two. What needs
// arrays refuses them.
#include "src/graph/packs.h"
#include "src/graph/plan_parts.h"
#include "src/kernel/linear/rotation.h"
#include "src/op/ops.h"
#include "src/tensor/row_source.h"
#include "tests/tensor/made_panels.h"

#include <math.h>
#include <stdio.h>

// A row source of made panels.
typedef struct source {
    zn_row_source base;
    const zn_panels *made;
} source;

static void read_numbers(const zn_row_source *base, int64_t begin, int64_t end, float *dst)
{
    const zn_panels *made = ((const source *)base)->made;
    for (int64_t i = begin; i < end; i++) {
        float *row = dst + (i - begin) * made->inputs;
        zn_panels_read(made, i, row);
        if (made->rotated_by) zn_rotation_baseline(row, made->inputs, made->rotated_by);
    }
}

static void read_bytes(const zn_row_source *base, int64_t begin, int64_t end, int8_t *dst,
                       float *scales)
{
    const zn_panels *made = ((const source *)base)->made;
    for (int64_t i = begin; i < end; i++) {
        zn_panels_read_bytes(made, i, dst + (i - begin) * made->inputs);
        scales[i - begin] = made->scales[i];
    }
}

// Numbers of made panels as another's 4 bits: a factor for each 8 of k, which is the step.
static void read_four(const zn_row_source *base, int64_t row, const zn_four_row *dst)
{
    const zn_panels *made = ((const source *)base)->made;
    const int64_t padded = (made->inputs + 127) / 128 * 128;
    zn_panels ones = *made;
    uint8_t step[4096];
    memset(step, 1, sizeof step);
    ones.steps = step;
    assert_true((size_t)(padded / 64 * 32 * ((made->outputs + 31) / 32)) <= sizeof step);
    for (int64_t k = 0; k < made->inputs; k++) {
        const int64_t group = row / 32 * (padded / 64) + k / 64;
        dst->numbers[k] = (uint8_t)(zn_panels_byte(&ones, padded, row, k) + 8);
        dst->factors[k / 8] = made->scales[row] * made->steps[group * 32 + row % 32] / 16;
    }
}

static const int8_t centred[16] = {-128, -112, -96, -80, -64, -48, -32, -16,
                                   0,    16,   32,  48,  64,  80,  96,  112};

static source source_of(const zn_panels *made, bool bytes, bool lies)
{
    source s = {.base = {.bytes = sizeof s, .read = read_numbers, .address = made->numbers},
                .made = made};
    if (bytes) s.base.read_bytes = read_bytes;
    if (bytes) s.base.rotated_by = made->rotated_by;
    if (bytes && lies) s.base.panels = *made;
    if (!bytes && lies) s.base.fours = (zn_fours){read_four, centred, 8, false};
    return s;
}

// --- runs ---------------------------------------------------------------------------------------

typedef struct world {
    zn_desc x; // a map
    const void *values;
    uint8_t *result;
    size_t result_row;
} world;

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const world *w = cookie;
    const size_t bytes = (size_t)(w->x.shape.dim[2] * w->x.shape.dim[3]) * zn_type_size(w->x.type);
    (void)input, (void)err;
    memcpy(dst, (const uint8_t *)w->values + (size_t)row * bytes, (size_t)count * bytes);
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    const world *w = cookie;
    (void)output, (void)err;
    memcpy(w->result + (size_t)row * w->result_row, src, (size_t)count * w->result_row);
    return ZENITH_OK;
}

static void run_graph(const zn_graph *graph, world *w, zn_plan_mode mode, int threads,
                      const char *class, char id[64])
{
    zn_error err = {0};
    zn_plan *plan = NULL;
    zn_packs *packs = NULL;
    zn_team *team = NULL;
    zn_cpu cpu = zn_cpu_detect();
    unsigned allowed = 0;
    assert_true(zn_cpu_parse(class, &allowed));
    cpu.flags = zn_cpu_supported(cpu.flags & allowed);
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    zn_test_ok(zn_team_create(threads, &team, &err), &err);
    const zn_plan_options options = {
        .mode = mode, .band = 1, .cpu = cpu, .threads = threads, .packs = packs, .team = team};
    zn_test_ok(zn_plan_create(graph, &options, &plan, &err), &err);
    snprintf(id, 64, "%s", plan->works[plan->works_count - 1].lowering->id);
    void *arena = zn_alloc(zn_plan_bytes(plan));
    assert_non_null(arena);
    memset(arena, 0xff, zn_plan_bytes(plan));
    const zn_run run = {.read = read_rows, .write = write_rows, .cookie = w};
    zn_test_ok(zn_plan_run(plan, arena, team, &run, &err), &err);
    zn_free(arena);
    zn_plan_free(plan);
    zn_team_free(team);
    zn_packs_free(packs);
}

// One product: what is stored and how it is multiplied.
typedef struct subject {
    const char *name;
    int64_t height, width, inputs, outputs;
    int bits;
    int64_t rotated_by;
    zn_type type; // of tokens
    bool int8, bytes, lies;
    const char *id; // how the lowering's begins
} subject;

static const subject subjects[] = {
    {"4 bits", 5, 3, 200, 70, 4, 0, ZN_F32, true, true, true, "linear:q4:"},
    {"4 bits of bf16, rotated", 7, 1, 192, 300, 4, 64, ZN_BF16, false, true, true, "linear:q4:"},
    {"4 bits, deep", 3, 1, 1600, 33, 4, 0, ZN_BF16, false, true, true, "linear:q4:"},
    {"8 bits, rotated", 4, 5, 256, 65, 8, 256, ZN_F32, true, true, true, "linear:q8:"},
    {"8 bits", 1, 1, 77, 31, 8, 0, ZN_F16, false, true, true, "linear:q8:"},
    {"bytes, rotated", 6, 2, 64, 40, 8, 16, ZN_BF16, false, true, false, "linear:s8:"},
    {"bytes", 6, 2, 45, 40, 8, 0, ZN_F32, true, true, false, "linear:s8:"},
    {"another's 4 bits", 9, 3, 1600, 70, 4, 0, ZN_F32, true, false, true, "linear:q4:"},
    {"rounded rows", 6, 2, 45, 40, 4, 0, ZN_F32, true, false, false, "linear:s8:"},
    {"f32", 6, 2, 80, 40, 4, 16, ZN_F32, false, true, true, "linear:f32:"},
    {"bf16", 6, 2, 45, 40, 8, 0, ZN_BF16, false, false, false, "linear:bf16:"},
};

typedef struct built {
    made_panels made;
    zn_graph graph;
    zn_node *node;
    world w;
    void *values;
    size_t count;
    float *expected;
} built;

static void build(const subject *s, zn_random *random, built *b)
{
    zn_error err = {0};
    const zn_linear_attributes attributes = {.int8 = s->int8};
    const zn_desc matrix = zn_desc_make(ZN_F32, ZN_SHAPE(s->outputs, s->inputs));
    const size_t numbers = (size_t)(s->height * s->width * s->inputs);
    *b = (built){.made = panels_of_random(s->outputs, s->inputs, s->bits, random)};
    b->made.is.rotated_by = s->rotated_by;
    const source rows = source_of(&b->made.is, s->bytes, s->lies);
    b->w.x = zn_desc_make(s->type, ZN_SHAPE(1, s->height, s->width, s->inputs));
    b->values = zn_alloc(numbers * sizeof(float));
    b->count = (size_t)(s->height * s->width * s->outputs);
    b->w.values = b->values;
    b->w.result_row = (size_t)(s->width * s->outputs) * sizeof(float);
    b->w.result = zn_alloc(b->count * sizeof(float));
    b->expected = zn_alloc(b->count * sizeof(float));
    assert_true(b->values && b->w.result && b->expected);
    for (size_t i = 0; i < numbers; i++)
        zn_type_store(s->type, b->values, i, zn_random_normal(random));
    zn_graph_begin(&b->graph, &err);
    zn_node *inputs[] = {
        zn_graph_input(&b->graph, "x", b->w.x),
        zn_graph_parameter(&b->graph, "w", (zn_tensor){.desc = matrix, .rows = &rows.base})};
    b->node = zn_graph_add(&b->graph, &zn_op_linear, "y", inputs, 2, &attributes);
    assert_non_null(b->node);
    b->node->desc.type = ZN_F32;
    zn_graph_output(&b->graph, b->node);
    zn_test_ok(zn_graph_finish(&b->graph), &err);
    const zn_tensor given[] = {{.desc = b->w.x, .data = b->values}, inputs[1]->constant};
    zn_tensor result = {.desc = b->node->desc, .data = b->expected};
    zn_test_ok(zn_node_reference(b->node, given, &result, &err), &err);
}

static void free_built(built *b)
{
    zn_graph_free(&b->graph);
    panels_free(&b->made);
    zn_free(b->values);
    zn_free(b->w.result);
    zn_free(b->expected);
}

static void check(const subject *s, const built *b, const char *class)
{
    const float *got = (const float *)(const void *)b->w.result;
    double error = 0, size = 0;
    for (size_t i = 0; i < b->count; i++) {
        error += pow((double)got[i] - (double)b->expected[i], 2);
        size += pow((double)b->expected[i], 2);
    }
    // Weights are rounded to bf16 where that is multiplied.
    const double bound = strncmp(s->id, "linear:bf16", 11) == 0 ? 1e-2 : 1e-6;
    if (sqrt(error / size) > bound)
        fail_msg("%s on %s: relative error %g", s->name, class, sqrt(error / size));
}

ZN_TEST(products_are_the_reference_s)
{
    static const char *const classes[] = {"baseline", "avx2", "avx512", "amx", "neon"};
    zn_random random = {.seed = 3};
    for (size_t n = 0; n < sizeof subjects / sizeof *subjects; n++) {
        const subject *s = &subjects[n];
        built b;
        build(s, &random, &b);
        for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
            char id[64];
            uint8_t *first = zn_alloc(b.count * sizeof(float));
            assert_non_null(first);
            run_graph(&b.graph, &b.w, ZN_PLAN_PLANES, 1, classes[c], id);
            if (strncmp(id, s->id, strlen(s->id)) != 0) fail_msg("%s is %s", s->name, id);
            check(s, &b, classes[c]);
            memcpy(first, b.w.result, b.count * sizeof(float));
            run_graph(&b.graph, &b.w, ZN_PLAN_PLANES, 2, classes[c], id);
            assert_memory_equal(b.w.result, first, b.count * sizeof(float));
            run_graph(&b.graph, &b.w, ZN_PLAN_ROLLING, 2, classes[c], id);
            assert_memory_equal(b.w.result, first, b.count * sizeof(float));
            zn_free(first);
        }
        free_built(&b);
    }
}

// Rows of a table by number, as they are read.
ZN_TEST(embed_reads_rows)
{
    enum { ROWS = 9, CHANNELS = 64, TOKENS = 5 };
    static const float ids[TOKENS] = {3, 8, -1, 0, 9};
    float result[TOKENS * CHANNELS], row[CHANNELS];
    char id[64];
    zn_error err = {0};
    zn_graph graph;
    zn_random random = {.seed = 4};
    made_panels made = panels_of_random(ROWS, CHANNELS, 4, &random);
    made.is.rotated_by = 16;
    const source rows = source_of(&made.is, true, true);
    world w = {.x = zn_desc_make(ZN_F32, ZN_SHAPE(1, TOKENS, 1, 1)),
               .values = ids,
               .result = (uint8_t *)result,
               .result_row = sizeof row};
    zn_graph_begin(&graph, &err);
    zn_node *table = zn_graph_parameter(
        &graph, "table",
        (zn_tensor){.desc = zn_desc_make(ZN_F32, ZN_SHAPE(ROWS, CHANNELS)), .rows = &rows.base});
    zn_graph_output(&graph, zn_embed(&graph, "y", zn_graph_input(&graph, "ids", w.x), table));
    zn_test_ok(zn_graph_finish(&graph), &err);
    run_graph(&graph, &w, ZN_PLAN_PLANES, 2, "", id);
    for (int t = 0; t < TOKENS; t++) {
        memset(row, 0, sizeof row);
        if (ids[t] >= 0 && ids[t] < ROWS)
            read_numbers(&rows.base, (int64_t)ids[t], (int64_t)ids[t] + 1, row);
        assert_memory_equal(result + t * CHANNELS, row, sizeof row);
    }
    zn_graph_free(&graph);
    panels_free(&made);
}

ZN_TEST(what_needs_arrays_refuses)
{
    zn_error err = {0};
    zn_random random = {.seed = 5};
    made_panels made = panels_of_random(8, 8, 8, &random);
    const source rows = source_of(&made.is, true, true);
    const zn_tensor matrix = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(8, 8)), .rows = &rows.base};
    const zn_linear_attributes turned = {.turned = true};
    for (int i = 0; i < 2; i++) {
        zn_graph graph;
        zn_graph_begin(&graph, &err);
        zn_node *inputs[] = {
            zn_graph_input(&graph, "x", zn_desc_make(ZN_F32, ZN_SHAPE(1, 2, 1, 8))),
            zn_graph_parameter(&graph, "w", matrix)};
        assert_null(
            zn_graph_add(&graph, i ? &zn_op_linear : &zn_op_rms_norm, "y", inputs, 2,
                         i ? (const void *)&turned : &(zn_token_norm_attributes){1, 1e-6f}));
        assert_int_equal(graph.status, ZENITH_UNSUPPORTED);
        assert_non_null(strstr(err.text, "stored in few bits"));
        zn_graph_free(&graph);
    }
    panels_free(&made);
}
