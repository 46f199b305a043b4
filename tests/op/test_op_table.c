// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Every operator of the table, because it is there: each sample, in each type, compiled as a graph
// of one node and run in planes and in bands, on one thread and two. The result must have the same
// bits each time and lie within a bound of the reference:
//
//     |error| <= (K + 8) * 2^-24 * M + half a step of the result's type
//
// K is the number of products in a sum, M the reference on absolute values: what the rounding of
// each partial sum of K terms can amount to at most, in any order. Operators that are fused when
// types are known may round sums of weights, and are left out where they have no kernel.
#include "src/base/random.h"
#include "src/dnn/dnn.h"
#include "src/graph/packs.h"
#include "src/graph/plan.h"
#include "src/op/conv_weights.h"
#include "src/op/ops.h"
#include "tests/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_INPUTS = 8, SEED = 20260101 };

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

// One case: an operator's sample with types.
typedef struct subject {
    const zn_op *op;
    const zn_op_sample *sample;
    const storage *first;
    zn_type other; // of a second map
    zn_tensor inputs[MAX_INPUTS];
    uint8_t *memory[MAX_INPUTS]; // what inputs point into
    float *exact;                // the reference in f32, real values
    float *magnitude;            // the reference on absolute values
    size_t count;                // elements of the result
    zn_shape shape;              // of the result
    zn_type out;
    float out_scale;
} subject;

typedef struct fixture {
    zn_cpu cpu;
    zn_random random;
    size_t combinations; // of operator, sample and types, looked at or left out
    int cases;
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
    double *pairs = tensor->data;
    for (size_t i = 0; i < elements(&tensor->desc.shape); i += 2) {
        pairs[i] = (double)zn_random_normal(random);
        pairs[i + 1] = 10 + (double)zn_random_unit(random);
    }
}

// The type of input i, and its values. Parameters lie off any alignment, as they may in a file.
static void make_input(fixture *f, subject *s, int i)
{
    bool parameter = s->sample->parameters >> i & 1, map = s->sample->inputs[i].rank == 4;
    bool moments = strcmp(s->op->name, "group_stats") == 0;
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
    } else if (parameter && map && is_integer(s->first->type)) {
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
    zn_tensor output = {node->desc, need(zn_alloc(count * sizeof(double)))};
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

// Values that the operator subtracts: means of statistics (mean, rstd), and what a difference takes.
static bool is_subtracted(const subject *s, int input, size_t element)
{
    static const struct {
        const char *name;
        int input;
        bool stats;
    } subtracted[] = {
        {"group_norm", 1, true},
        {"group_norm_stats_gradient", 2, true},
        {"group_norm_scale_gradient", 2, true},
        {"difference_loss", 1, false},
        {"difference_loss_gradient", 1, false},
    };
    for (size_t i = 0; i < sizeof subtracted / sizeof *subtracted; i++) {
        if (strcmp(s->op->name, subtracted[i].name) != 0 || input != subtracted[i].input) continue;
        return !subtracted[i].stats || element % 2 == 0;
    }
    return false;
}

static float *evaluate_absolute(const subject *s)
{
    zn_tensor inputs[MAX_INPUTS];
    for (int i = 0; i < s->sample->inputs_count; i++) {
        const zn_tensor *from = &s->inputs[i];
        size_t count = elements(&from->desc.shape);
        inputs[i] = (zn_tensor){from->desc, need(zn_alloc(count * zn_type_size(from->desc.type)))};
        for (size_t k = 0; k < count; k++) {
            float value = fabsf(zn_type_load(from->desc.type, from->data, k));
            bool negative = from->desc.type != ZN_U8 && is_subtracted(s, i, k);
            zn_type_store(from->desc.type, inputs[i].data, k, negative ? -value : value);
        }
        if (from->desc.type == ZN_U8 && is_subtracted(s, i, 0)) inputs[i].desc.scale *= -1;
    }
    float *values = evaluate(s, inputs);
    for (int i = 0; i < s->sample->inputs_count; i++) zn_free(inputs[i].data);
    // A gradient may have a minus; where signs make a value smaller, it is the result that is rounded.
    for (size_t i = 0; i < s->count; i++) values[i] = fmaxf(fabsf(values[i]), fabsf(s->exact[i]));
    // Differences of sums that no signs turn into one: the largest result stands for all.
    const bool differs = strcmp(s->op->name, "unit_norm_gradient") == 0 ||
                         strncmp(s->op->name, "walsh", 5) == 0 ||
                         strncmp(s->op->name, "zenith", 6) == 0;
    const float most = largest(s->exact, s->count);
    for (size_t i = 0; i < s->count && differs; i++) values[i] = most;
    return values;
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
    if (is_integer(s->out)) return (double)s->out_scale;
    if (s->out == ZN_F16) return fmax(ldexp(fabs(value), -11), ldexp(1, -25)); // or of a denormal
    return s->out == ZN_BF16 ? ldexp(fabs(value), -8) : 0;
}

// Four 8-bit weights added have a step of four at most: half of it, where the mean weight is half
// of the largest (fill_grid), is 4/127 of M. bf16 rounds each to 8 bits.
static double folding_error(const subject *s, double magnitude)
{
    if (!s->op->accepts) return 0;
    return is_integer(s->first->type) ? magnitude * 5 / 127 : ldexp(magnitude, -8);
}

static double clamp_to(const subject *s, double value)
{
    double scale = (double)s->out_scale;
    if (s->out == ZN_U8) return fmin(fmax(value, 0), 255 * scale);
    return s->out == ZN_S8 ? fmin(fmax(value, -128 * scale), 127 * scale) : value;
}

static void check_values(const subject *s, const zn_node *node, const uint8_t *result)
{
    double terms = zn_node_flops(node) / (double)s->count;
    for (size_t i = 0; i < s->count; i++) {
        double got = (double)zn_type_load(s->out, result, i) * (double)s->out_scale;
        double want = clamp_to(s, (double)s->exact[i]);
        double bound = (terms + 8) * ldexp((double)s->magnitude[i], -24) + half_step(s, want) +
                       folding_error(s, (double)s->magnitude[i]);
        if (fabs(got - want) <= bound) continue;
        fail_msg("%s: element %zu is %.9g, not %.9g (bound %.3g)", label(s), i, got, want, bound);
    }
}

static void check_type(fixture *f, subject *s, zn_dnn *dnn)
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
        if (!run_plan(f, s, &graph, dnn, packs, &ways[i], i == 0 ? first : again)) break;
        if (i == 0) check_values(s, node, first);
        if (i > 0 && memcmp(first, again, bytes) != 0) {
            fail_msg("%s: mode %d band %d on %d threads gives other bits", label(s),
                     (int)ways[i].mode, (int)ways[i].band, ways[i].threads);
        }
    }
    f->cases++;
    zn_free(first);
    zn_free(again);
    zn_packs_free(packs);
    zn_graph_free(&graph);
}

// All result types of one sample with one kind of input. A quantised result saturates a little.
static void check_storage(fixture *f, subject *s, zn_dnn *dnn)
{
    zn_error err = {0};
    zn_graph graph;
    for (int i = 0; i < s->sample->inputs_count; i++) make_input(f, s, i);
    const zn_node *node = try_build(s, &graph, &err);
    if (!node) {
        zn_graph_free(&graph);
        for (int i = 0; i < s->sample->inputs_count; i++) zn_free(s->memory[i]);
        return;
    }
    s->shape = node->desc.shape;
    zn_graph_free(&graph);
    s->count = elements(&s->shape);
    s->exact = evaluate(s, s->inputs);
    s->magnitude = evaluate_absolute(s);
    float most = 0.8f * largest(s->exact, s->count);
    for (int type = 0; type < ZN_TYPE_COUNT; type++) {
        if (type_is_free(s->op) && !(s->op->result_types >> type & 1)) continue;
        s->out = (zn_type)type;
        s->out_scale = type == ZN_U8 ? most / 255 : type == ZN_S8 ? most / 127 : 1;
        check_type(f, s, dnn);
        if (!type_is_free(s->op)) break;
    }
    for (int i = 0; i < s->sample->inputs_count; i++) zn_free(s->memory[i]);
    zn_free(s->exact);
    zn_free(s->magnitude);
}

static bool has_second_map(const zn_op_sample *sample)
{
    for (int i = 1; i < sample->inputs_count; i++) {
        if (sample->inputs[i].rank == 4 && !(sample->parameters >> i & 1)) return true;
    }
    return false;
}

static void check_op(fixture *f, const zn_op *op, zn_dnn *dnn)
{
    static const zn_type others[] = {ZN_F32, ZN_BF16, ZN_F16, ZN_U8, ZN_S8};
    size_t every = zn_test_quick() ? 9 : 1;
    for (int i = 0; i < op->samples_count; i++) {
        for (size_t j = 0; j < sizeof storages / sizeof *storages; j++) {
            size_t count = has_second_map(&op->samples[i]) ? sizeof others / sizeof *others : 1;
            for (size_t k = 0; k < count; k++) {
                if (f->combinations++ % every != 0) continue;
                subject s = {
                    .op = op, .sample = &op->samples[i], .first = &storages[j], .other = others[k]};
                check_storage(f, &s, dnn);
            }
        }
    }
}

static void every_operator_is_its_reference(zn_dnn *dnn, zn_cpu cpu)
{
    fixture f = {.cpu = cpu, .random = {.seed = SEED}};
    for (int i = 0; i < zn_ops_count; i++) check_op(&f, zn_ops[i], dnn);
    print_message("%d cases on %s\n", f.cases, zn_isa_name(cpu.isa));
}

static void with_own_kernels(void **state)
{
    (void)state;
    every_operator_is_its_reference(NULL, zn_cpu_detect());
}

static void with_onednn(void **state)
{
    (void)state;
    zn_error err = {0};
    zn_dnn *dnn = NULL;
    zn_cpu cpu = zn_cpu_detect();
    zenith_status status = zn_dnn_create(&cpu, &dnn, &err);
    if (status == ZENITH_UNSUPPORTED) skip();
    zn_test_ok(status, &err);
    every_operator_is_its_reference(dnn, cpu);
    zn_dnn_free(dnn);
}

static void every_operator_has_samples(void **state)
{
    (void)state;
    assert_true(zn_ops_count > 0);
    for (int i = 0; i < zn_ops_count; i++) {
        const zn_op *op = zn_ops[i];
        if (op->samples_count < 1 || !op->summary) fail_msg("%s has no samples", op->name);
        assert_ptr_equal(zn_op_find(op->name), op);
        assert_true(op->expand || op->reference);
        if (!op->gradient == !op->no_gradient) fail_msg("%s: a gradient or a reason", op->name);
    }
    assert_null(zn_op_find("no such operator"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_has_samples),
        cmocka_unit_test(with_own_kernels),
        cmocka_unit_test(with_onednn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
