// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Every operator of the table, because it is there: each sample, in each type, compiled as a graph
// of one node and run in planes and in bands, on one thread and two. The result must have the same
// bits each time and lie within a bound of the reference:
//
//     |error| <= (4 * sqrt(K) + 8) * 2^-24 * M + half a step of the result's type
//
// Both K and M are found without asking the operator's code for speed or cost. K is how many values
// of an input the row rule lets a result see, so at least the terms of its sum. M is how far the
// reference moves, per relative step, when every input value moves up or down by a small part of
// itself: the terms of the sum, added as their roundings add up. A sum of K terms of either sign
// has partial sums of about M * sqrt(k / K), and errors that grow as sqrt(K) * M.
//
// What an operator claims, it must do: each type of its result_types is computed and compared at
// least once, from an input of that type too if it is a floating one; f32 is taken with every
// sample, or else pairs in f64. Operators that are fused when types are known may round sums of
// weights; a run for which such a one has no kernel on this CPU is counted as such, and not as a
// case.
#include "src/base/random.h"
#include "src/dnn/dnn.h"
#include "src/graph/packs.h"
#include "src/graph/plan.h"
#include "src/op/conv/conv_weights.h"
#include "src/op/ops.h"
#include "tests/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_INPUTS = ZN_MAX_INPUTS, SEED = 20260101, TRIALS = 3 };

static const float STEP = 0x1p-10f; // by how much of itself a value is moved

// How input 0 is stored. Integers up to 255 in bf16 are what an image is before the first
// convolution.
typedef struct storage {
    const char *name;
    zn_type type;
    float scale;
    bool integers;
} storage;

static const storage storages[] = {
    {"f32", ZN_F32, 1, false},
    {"bf16", ZN_BF16, 1, false},
    {"f16", ZN_F16, 1, false},
    {"bf16 integers", ZN_BF16, 1.0f / 255, true},
    {"f32 integers", ZN_F32, 1.0f / 255, true},
    {"u8", ZN_U8, 0.02f, true},
    {"s8", ZN_S8, 0.03f, true},
};

// What follows on sums over rows takes them as they are: pairs of a sum and a sum of squares.
static const storage pairs = {"f64 pairs", ZN_F64, 1, false};

// One case: an operator's sample with types.
typedef struct subject {
    const zn_op *op;
    const zn_op_sample *sample;
    const storage *first;
    zn_type other; // of a second map
    zn_tensor inputs[MAX_INPUTS];
    uint8_t *memory[MAX_INPUTS]; // what inputs point into
    float *exact;                // the reference in f32, real values
    float *magnitude;            // how far each of those moves with the inputs: M
    float largest;               // of their absolute values
    size_t count;                // elements of the result
    zn_shape shape;              // of the result
    zn_type out;
    float out_scale;
} subject;

// What became of the cases of one operator.
typedef struct tally {
    int taken[ZN_TYPE_COUNT];     // with an input 0 of this type
    int made[ZN_TYPE_COUNT];      // with a result of this type, compared
    int no_kernel[ZN_TYPE_COUNT]; // with a result of this type, not run
    int refused;                  // by the shape and type rule
} tally;

// What computes: kernels of our own alone, or oneDNN too. Both are held to one reference, which
// takes longer than they.
typedef struct engine {
    const char *name;
    zn_dnn *dnn;
    tally now; // of the operator in hand
    int cases, no_kernel, refused;
} engine;

typedef struct fixture {
    zn_cpu cpu;
    zn_random random;
    size_t combinations; // of operator, sample and types, looked at or left out
    engine engines[2];
    int engines_count;
} fixture;

static const char *label(const subject *s)
{
    static char text[256];
    snprintf(text, sizeof text, "%s, sample '%s', %s (second map %s) -> %s", s->op->name,
             s->sample->name, s->first->name, zn_type_name(s->other), zn_type_name(s->out));
    return text;
}

static size_t elements(const zn_shape *shape)
{
    size_t count = 0;
    assert_true(zn_shape_elements(shape, &count));
    return count;
}

static void *need(void *block)
{
    assert_non_null(block);
    return block;
}

// --- inputs -------------------------------------------------------------------------------------

static bool is_integer(zn_type type)
{
    return type == ZN_U8 || type == ZN_S8;
}

static void fill_map(zn_random *random, zn_tensor *tensor, bool integers)
{
    size_t count = elements(&tensor->desc.shape);
    for (size_t i = 0; i < count; i++) {
        float value = tensor->desc.type == ZN_S8 ? (float)zn_random_below(random, 255) - 127
                      : integers                 ? (float)zn_random_below(random, 256)
                                                 : zn_random_normal(random);
        zn_type_store(tensor->desc.type, tensor->data, i, value);
    }
}

// Weights that the grid of 8-bit weights holds exactly: multiples of a step, with the largest in
// each channel.
static void fill_grid(fixture *f, zn_tensor *tensor)
{
    uint32_t levels = (uint32_t)zn_conv_levels(&f->cpu);
    size_t channels = (size_t)tensor->desc.shape.dim[0];
    size_t length = elements(&tensor->desc.shape) / channels;
    for (size_t o = 0; o < channels; o++) {
        float step = 0.001f * (float)(1 + o % 5);
        for (size_t k = 0; k < length; k++) {
            float number = (float)zn_random_below(&f->random, 2 * levels + 1) - (float)levels;
            if (k == 0) number = (float)levels;
            zn_type_store(tensor->desc.type, tensor->data, o * length + k, number * step);
        }
    }
}

static void fill_moments(zn_random *random, zn_tensor *tensor)
{
    double *values = tensor->data;
    for (size_t i = 0; i < elements(&tensor->desc.shape); i += 2) {
        values[i] = (double)zn_random_normal(random);
        values[i + 1] = 10 + (double)zn_random_unit(random);
    }
}

// The type of input i, and its values. Parameters lie off any alignment, as they may in a file.
static void make_input(fixture *f, subject *s, int i)
{
    bool parameter = s->sample->parameters >> i & 1, map = s->sample->inputs[i].rank == 4;
    bool moments = s->first == &pairs;
    zn_type type = ZN_F32;
    if (parameter) {
        type = is_integer(s->first->type) ? ZN_F32 : s->first->type == ZN_BF16 ? ZN_BF16 : ZN_F16;
    } else if (map) {
        type = moments ? ZN_F64 : i == 0 ? s->first->type : s->other;
    }
    zn_tensor *tensor = &s->inputs[i];
    tensor->desc = zn_desc_make(type, s->sample->inputs[i]);
    if (map && !parameter && i == 0 && !moments) tensor->desc.scale = s->first->scale;
    // No product of it and a byte is that of another byte and input 0's: a difference has a sign.
    if (map && !parameter && i > 0 && is_integer(type)) tensor->desc.scale = 0.02503f;
    size_t count = elements(&tensor->desc.shape);
    s->memory[i] = need(zn_alloc(count * zn_type_size(type) + 1));
    tensor->data = s->memory[i] + (parameter ? 1 : 0);
    if (moments) {
        fill_moments(&f->random, tensor);
    } else if (parameter && s->sample->inputs[i].rank >= 4 && is_integer(s->first->type)) {
        fill_grid(f, tensor);
    } else {
        fill_map(&f->random, tensor,
                 map && !parameter && (i == 0 ? s->first->integers : is_integer(type)));
    }
}

// --- the graph of one node ----------------------------------------------------------------------

// NULL: the operator does not take these types.
static zn_node *try_build(const subject *s, zn_graph *graph, zn_error *err)
{
    zn_node *inputs[MAX_INPUTS];
    zn_graph_begin(graph, err);
    for (int i = 0; i < s->sample->inputs_count; i++) {
        const zn_tensor *tensor = &s->inputs[i];
        inputs[i] = s->sample->parameters >> i & 1 ? zn_graph_parameter(graph, "parameter", *tensor)
                    : tensor->desc.shape.rank == 0 ? zn_graph_scalar(graph, "scalar")
                                                   : zn_graph_input(graph, "input", tensor->desc);
    }
    zn_node *node = zn_graph_add(graph, s->op, "node", inputs, s->sample->inputs_count,
                                 s->sample->attributes);
    if (node) zn_graph_output(graph, node);
    if (graph->status == ZENITH_UNSUPPORTED) return NULL;
    zn_test_ok(zn_graph_finish(graph), err);
    return node;
}

static zn_node *build(const subject *s, zn_graph *graph, zn_error *err)
{
    return need(try_build(s, graph, err));
}

static bool type_is_free(const zn_op *op)
{
    return !(op->traits & (ZN_OP_FIXED | ZN_OP_FOLLOWS));
}

// The reference as real values.
static float *evaluate(const subject *s, const zn_tensor *inputs)
{
    zn_error err = {0};
    zn_graph graph;
    zn_node *node = build(s, &graph, &err);
    bool wide = node->desc.type == ZN_F64;
    if (!wide) node->desc.type = ZN_F32;
    if (!wide) node->desc.scale = 1;
    if (s->op->traits & ZN_OP_FOLLOWS)
        node->desc = (zn_desc){inputs[0].desc.type, node->desc.shape, inputs[0].desc.scale, NULL};
    size_t count = elements(&node->desc.shape);
    zn_tensor output = {.desc = node->desc, .data = need(zn_alloc(count * sizeof(double)))};
    float *values = need(zn_alloc(count * sizeof *values));
    zn_test_ok(zn_node_reference(node, inputs, &output, &err), &err);
    for (size_t i = 0; i < count; i++) {
        values[i] = zn_type_load(output.desc.type, output.data, i) * output.desc.scale;
    }
    zn_free(output.data);
    zn_graph_free(&graph);
    return values;
}

static float largest(const float *values, size_t count)
{
    float most = 1e-6f;
    for (size_t i = 0; i < count; i++) most = fmaxf(most, fabsf(values[i]));
    return most;
}

// Input i as f32 of scale 1 (f64 stays), each value moved up or down by STEP of itself.
static zn_tensor moved_input(const zn_tensor *from, zn_random *random)
{
    size_t count = elements(&from->desc.shape);
    zn_type type = from->desc.type == ZN_F64 ? ZN_F64 : ZN_F32;
    zn_tensor to = {.desc = zn_desc_make(type, from->desc.shape),
                    .data = need(zn_alloc(count * zn_type_size(type)))};
    for (size_t i = 0; i < count; i++) {
        double by = zn_random_below(random, 2) ? 1 + (double)STEP : 1 - (double)STEP;
        if (type == ZN_F64) {
            ((double *)to.data)[i] = ((const double *)from->data)[i] * by;
        } else {
            double value = (double)zn_type_load(from->desc.type, from->data, i);
            ((float *)to.data)[i] = (float)(value * (double)from->desc.scale * by);
        }
    }
    return to;
}

static float *evaluate_moved(const subject *s, zn_random *random)
{
    subject moved = *s;
    for (int i = 0; i < s->sample->inputs_count; i++)
        moved.inputs[i] = moved_input(&s->inputs[i], random);
    float *values = evaluate(&moved, moved.inputs);
    for (int i = 0; i < s->sample->inputs_count; i++) zn_free(moved.inputs[i].data);
    return values;
}

// M of the bound, from the operator's reference alone.
static float *evaluate_magnitude(const fixture *f, const subject *s)
{
    zn_random random = {.seed = SEED + f->combinations};
    float *magnitude = need(zn_alloc_zero(s->count * sizeof *magnitude));
    double all = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        float *moved = evaluate_moved(s, &random);
        for (size_t i = 0; i < s->count; i++) {
            float by = (moved[i] - s->exact[i]) / STEP;
            magnitude[i] += by * by / TRIALS;
            all += (double)by * (double)by / TRIALS;
        }
        zn_free(moved);
    }
    const float least = (float)(sqrt(all / (double)s->count) / 2);
    for (size_t i = 0; i < s->count; i++) {
        magnitude[i] = fmaxf(fmaxf(sqrtf(magnitude[i]), least), fabsf(s->exact[i]));
    }
    return magnitude;
}

// K of the bound: how many values of one input the row rule lets a result see.
static double terms_of(const zn_node *node)
{
    double most = 1;
    for (int i = 0; i < node->inputs_count; i++) {
        const zn_shape *shape = &node->inputs[i]->desc.shape;
        if (node->inputs[i]->kind == ZN_NODE_PARAMETER) continue;
        double seen = (double)elements(shape);
        if (shape->rank == 4 && node->desc.shape.rank == 4 && !(node->op->traits & ZN_OP_BARRIER)) {
            zn_rows rows = zn_node_rows(node, i, (zn_rows){0, 1});
            seen *= fmin(1, (double)(rows.end - rows.begin) / (double)shape->dim[1]);
        }
        most = fmax(most, seen);
    }
    return most;
}

// --- running ------------------------------------------------------------------------------------

typedef struct world {
    const subject *subject;
    uint8_t *result;
    size_t row_bytes; // of the result
} world;

static const zn_tensor *graph_input(const subject *s, int number)
{
    for (int i = 0; i < s->sample->inputs_count; i++) {
        bool input = !(s->sample->parameters >> i & 1) && s->sample->inputs[i].rank > 0;
        if (input && number-- == 0) return &s->inputs[i];
    }
    return NULL;
}

static size_t row_bytes(const zn_desc *desc)
{
    int64_t rows = desc->shape.rank == 4 ? desc->shape.dim[1] : 1;
    return elements(&desc->shape) / (size_t)rows * zn_type_size(desc->type);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    (void)err;
    const zn_tensor *tensor = graph_input(((world *)cookie)->subject, input);
    size_t bytes = row_bytes(&tensor->desc);
    memcpy(dst, (const uint8_t *)tensor->data + (size_t)row * bytes, (size_t)count * bytes);
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    (void)err, (void)output;
    world *w = cookie;
    memcpy(w->result + (size_t)row * w->row_bytes, src, (size_t)count * w->row_bytes);
    return ZENITH_OK;
}

typedef struct way {
    zn_plan_mode mode;
    int64_t band;
    int threads;
} way;

static const way ways[] = {{ZN_PLAN_PLANES, 0, 1},
                           {ZN_PLAN_PLANES, 0, 2},
                           {ZN_PLAN_ROLLING, 1, 1},
                           {ZN_PLAN_ROLLING, 3, 2}};

// False: there is no kernel for these types on this CPU, and the operator need not have one.
static bool run_plan(const fixture *f, const subject *s, const zn_graph *graph, zn_dnn *dnn,
                     zn_packs *packs, const way *how, uint8_t *result)
{
    zn_error err = {0};
    zn_plan *plan = NULL;
    zn_team *team = NULL;
    const zn_node *node = graph->outputs[0];
    zn_test_ok(zn_team_create(how->threads, &team, &err), &err);
    zn_plan_options options = {.mode = how->mode,
                               .band = how->band,
                               .cpu = f->cpu,
                               .threads = how->threads,
                               .dnn = dnn,
                               .packs = packs};
    zenith_status status = zn_plan_create(graph, &options, &plan, &err);
    if (status == ZENITH_UNSUPPORTED && s->op->accepts) {
        zn_team_free(team);
        return false;
    }
    zn_test_ok(status, &err);
    float scalar = 0;
    for (int i = 0; i < s->sample->inputs_count; i++) {
        if (s->sample->inputs[i].rank == 0) scalar = *(const float *)s->inputs[i].data;
    }
    world w = {s, result, row_bytes(&node->desc)};
    zn_run run = {.read = read_rows, .write = write_rows, .cookie = &w, .scalars = &scalar};
    void *arena = need(zn_alloc(zn_plan_bytes(plan)));
    memset(arena, 0xa5, zn_plan_bytes(plan)); // what was not written must not be read
    zn_test_ok(zn_plan_run(plan, arena, team, &run, &err), &err);
    zn_free(arena);
    zn_plan_free(plan);
    zn_team_free(team);
    return true;
}

static double half_step(const subject *s, double value)
{
    if (is_integer(s->out)) return (double)s->out_scale / 2;
    if (s->out == ZN_F16) return fmax(ldexp(fabs(value), -11), ldexp(1, -25)); // or of a denormal
    return s->out == ZN_BF16 ? ldexp(fabs(value), -8) : 0;
}

// What operators that are fused when types are known may round besides. Weights that are added
// first: four 8-bit weights (fill_grid) have a step of four at most, so that the roundings of a sum
// amount to about M / 127, and in none of a thousand thousand to eight times that. In bf16 the sums
// of weights, and what is between two parts of a block: each about as large as results are, with 8
// bits.
static double folding_error(const subject *s, double magnitude)
{
    if (!s->op->accepts) return 0;
    if (is_integer(s->first->type)) return magnitude * 8 / 127;
    return ldexp(fmax(magnitude, (double)s->largest), -8);
}

static double clamp_to(const subject *s, double value)
{
    double scale = (double)s->out_scale;
    if (s->out == ZN_U8) return fmin(fmax(value, 0), 255 * scale);
    return s->out == ZN_S8 ? fmin(fmax(value, -128 * scale), 127 * scale) : value;
}

static void check_values(const engine *e, const subject *s, const zn_node *node,
                         const uint8_t *result)
{
    double rounding = ldexp(4 * sqrt(terms_of(node)) + 8, -24);
    for (size_t i = 0; i < s->count; i++) {
        double got = (double)zn_type_load(s->out, result, i) * (double)s->out_scale;
        double want = clamp_to(s, (double)s->exact[i]);
        double bound = rounding * (double)s->magnitude[i] + half_step(s, want) +
                       folding_error(s, (double)s->magnitude[i]);
        if (fabs(got - want) <= bound) continue;
        fail_msg("%s: %s, element %zu is %.9g, not %.9g (bound %.3g)", label(s), e->name, i, got,
                 want, bound);
    }
}

static void check_type(const fixture *f, engine *e, subject *s)
{
    zn_error err = {0};
    zn_graph graph;
    zn_packs *packs = NULL;
    zn_node *node = build(s, &graph, &err);
    if (type_is_free(s->op)) {
        node->desc.type = s->out;
        node->desc.scale = s->out_scale;
    } else {
        s->out = node->desc.type;
        s->out_scale = node->desc.scale;
    }
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    size_t bytes = s->count * zn_type_size(s->out);
    uint8_t *first = need(zn_alloc_zero(bytes)), *again = need(zn_alloc_zero(bytes));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!run_plan(f, s, &graph, e->dnn, packs, &ways[i], i == 0 ? first : again)) {
            assert_int_equal(i, 0); // a kernel that is there is there for every way
            e->now.no_kernel[s->out]++;
            break;
        }
        if (i == 0) e->now.made[s->out]++;
        if (i == 0) check_values(e, s, node, first);
        if (i > 0 && memcmp(first, again, bytes) != 0) {
            fail_msg("%s: %s, mode %d band %d on %d threads gives other bits", label(s), e->name,
                     (int)ways[i].mode, (int)ways[i].band, ways[i].threads);
        }
    }
    zn_free(first);
    zn_free(again);
    zn_packs_free(packs);
    zn_graph_free(&graph);
}

// All result types of one sample with one kind of input. A quantised result saturates a little.
// False: the operator takes no such input.
static bool check_storage(fixture *f, subject *s)
{
    zn_error err = {0};
    zn_graph graph;
    for (int i = 0; i < s->sample->inputs_count; i++) make_input(f, s, i);
    const zn_node *node = try_build(s, &graph, &err);
    if (!node) {
        for (int i = 0; i < f->engines_count; i++) f->engines[i].now.refused++;
        zn_graph_free(&graph);
        for (int i = 0; i < s->sample->inputs_count; i++) zn_free(s->memory[i]);
        return false;
    }
    for (int i = 0; i < f->engines_count; i++) f->engines[i].now.taken[s->first->type]++;
    s->shape = node->desc.shape;
    zn_graph_free(&graph);
    s->count = elements(&s->shape);
    s->exact = evaluate(s, s->inputs);
    s->magnitude = evaluate_magnitude(f, s);
    s->largest = largest(s->exact, s->count);
    const float most = 0.8f * s->largest;
    for (int type = 0; type < ZN_TYPE_COUNT; type++) {
        if (type_is_free(s->op) && !(s->op->result_types >> type & 1)) continue;
        s->out = (zn_type)type;
        s->out_scale = type == ZN_U8 ? most / 255 : type == ZN_S8 ? most / 127 : 1;
        for (int i = 0; i < f->engines_count; i++) check_type(f, &f->engines[i], s);
        if (!type_is_free(s->op)) break;
    }
    for (int i = 0; i < s->sample->inputs_count; i++) zn_free(s->memory[i]);
    zn_free(s->exact);
    zn_free(s->magnitude);
    return true;
}

static bool has_second_map(const zn_op_sample *sample)
{
    for (int i = 1; i < sample->inputs_count; i++) {
        if (sample->inputs[i].rank == 4 && !(sample->parameters >> i & 1)) return true;
    }
    return false;
}

// The claims of a descriptor, against what was seen. Where cases are left out, one will do.
static void check_claims(const fixture *f, engine *e, const zn_op *op)
{
    const tally *n = &e->now;
    int made = 0, missing = 0;
    for (int type = 0; type < ZN_TYPE_COUNT; type++) {
        const char *name = zn_type_name((zn_type)type);
        made += n->made[type];
        missing += n->no_kernel[type];
        if (!(op->result_types >> type & 1) || zn_test_quick()) continue;
        if (!n->made[type] && !n->no_kernel[type])
            fail_msg("%s has no result in %s, as its result_types say", op->name, name);
        if (!n->taken[type] && !is_integer((zn_type)type) && !(op->traits & ZN_OP_FIXED))
            fail_msg("%s has results in %s and takes no such input", op->name, name);
    }
    // A kernel may be for the best CPUs alone, but not for none.
    if (!made && (!missing || zn_cpu_has(f->cpu.flags, ZN_CPU_AMX)))
        fail_msg("%s: nothing was computed", op->name);
    e->cases += made;
    e->no_kernel += missing;
    e->refused += n->refused;
}

// What no operator may refuse: its sample in f32, or else in pairs.
static void check_least(fixture *f, const zn_op *op, const zn_op_sample *sample)
{
    subject s = {.op = op, .sample = sample, .first = storages, .other = ZN_F32};
    if (check_storage(f, &s)) return;
    s.first = &pairs;
    if (!check_storage(f, &s)) fail_msg("%s takes neither f32 nor pairs", label(&s));
}

static void check_op(fixture *f, const zn_op *op)
{
    static const zn_type others[] = {ZN_F32, ZN_BF16, ZN_F16, ZN_U8, ZN_S8};
    const uint64_t every = 9 * (uint64_t)zn_test_quick();
    for (int i = 0; i < op->samples.count; i++) {
        // A quick suite takes the first sample of each operator, and others by their number.
        if (i == 0 || zn_test_takes_one_in(9, (uint64_t)i))
            check_least(f, op, &op->samples.list[i]);
        for (size_t j = 0; j < sizeof storages / sizeof *storages; j++) {
            size_t count = has_second_map(&op->samples.list[i]) ? sizeof others / sizeof *others
                                                                : 1;
            for (size_t k = j == 0 ? 1 : 0; k < count; k++) { // f32 and f32 were first
                if (!zn_test_takes_one_in(every, f->combinations++)) continue;
                subject s = {.op = op,
                             .sample = &op->samples.list[i],
                             .first = &storages[j],
                             .other = others[k]};
                check_storage(f, &s);
            }
        }
    }
}

ZN_TEST(every_operator_is_its_reference)
{
    zn_error err = {0};
    fixture f = {.cpu = zn_cpu_detect(),
                 .random = {.seed = SEED},
                 .engines = {{.name = "own kernels"}, {.name = "oneDNN"}},
                 .engines_count = 1};
    zenith_status status = zn_dnn_create(&f.cpu, &f.engines[1].dnn, &err);
    if (status == ZENITH_OK)
        f.engines_count = 2;
    else
        assert_int_equal(status, ZENITH_UNSUPPORTED); // a build without it
    for (int i = 0; i < zn_ops_count; i++) {
        for (int e = 0; e < f.engines_count; e++) f.engines[e].now = (tally){0};
        check_op(&f, zn_ops[i]);
        for (int e = 0; e < f.engines_count; e++) check_claims(&f, &f.engines[e], zn_ops[i]);
    }
    for (int e = 0; e < f.engines_count; e++) {
        const engine *is = &f.engines[e];
        print_message("%s on %s: %d cases, %d without a kernel, %d kinds of input refused\n",
                      is->name, zn_cpu_class(f.cpu.flags), is->cases, is->no_kernel, is->refused);
    }
    zn_dnn_free(f.engines[1].dnn);
}

ZN_TEST(every_operator_has_samples)
{
    assert_true(zn_ops_count > 0);
    for (int i = 0; i < zn_ops_count; i++) {
        const zn_op *op = zn_ops[i];
        if (op->samples.count < 1 || !op->summary) fail_msg("%s has no samples", op->name);
        assert_ptr_equal(zn_op_find(op->name), op);
        assert_true(op->expand || op->reference || op->row || op->placed_row || op->add_row);
        if (!op->gradient == !op->no_gradient) fail_msg("%s: a gradient or a reason", op->name);
    }
    assert_null(zn_op_find("no such operator"));
}
