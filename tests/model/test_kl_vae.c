// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// AutoencoderKL against diffusers: the small models of the larger goldens (SD's and FLUX's kind), every
// activation that they hold, mean, logvar, latent and picture; the same bits in planes and bands, on one
// thread and two, and from weights under every set of names.
#include "tests/testing.h"

#include "src/base/memory.h"
#include "src/dnn/dnn.h"
#include "src/format/safetensors.h"
#include "src/graph/packs.h"
#include "src/model/autoencoder.h"
#include "src/op/ops.h"
#include "src/task/compile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEIGHT = 64, WIDTH = 48, FACTOR = 8, NAME = 128 };
static const double BOUND = 1e-5, BOUND_BF16 = 2e-2;

static const char *const models[] = {"vae_sd", "vae_flux"};

// Where the value of a module of the reference is in our graph, before anything is fused.
static const struct {
    const char *golden, *node;
} activations[] = {
    {"encoder.conv_in", "encoder.conv_in"},
    {"encoder.down_blocks.0", "encoder.down_blocks.0.downsamplers.0.conv"},
    {"encoder.mid_block", "encoder.mid_block.resnets.1"},
    {"decoder.conv_in", "decoder.conv_in"},
    {"decoder.mid_block.attentions.0", "decoder.mid_block.attentions.0"},
    {"decoder.mid_block", "decoder.mid_block.resnets.1"},
    {"decoder.up_blocks.0", "decoder.up_blocks.0.upsamplers.0.conv"},
    {"decoder.conv_norm_out", "decoder.conv_norm_out"},
};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

typedef struct world {
    const char *name; // of the folder
    zn_safetensors *golden;
    zn_model *model;
    const zn_part *part;
    float *in, *out; // NHWC
    size_t in_row, out_row;
    int seen; // activations that were compared
} world;

static void *need(void *block)
{
    assert_non_null(block);
    return block;
}

// --- goldens ------------------------------------------------------------------------------------

// [1, C, h, w] as [h, w, C].
static float *golden_map(const world *w, const char *name, zn_shape *shape)
{
    zn_error err = {0};
    const zn_file_tensor *tensor = zn_safetensors_find(w->golden, name);
    if (!tensor) fail_msg("%s has no '%s'", w->name, name);
    const int64_t *dim = tensor->shape.dim, pixels = dim[2] * dim[3];
    float *planes = need(zn_alloc(tensor->bytes)), *map = need(zn_alloc(tensor->bytes));
    zn_test_ok(zn_safetensors_read_f32(tensor, planes, &err), &err);
    for (int64_t i = 0; i < dim[1] * pixels; i++) map[i % pixels * dim[1] + i / pixels] = planes[i];
    zn_free(planes);
    if (shape) *shape = ZN_SHAPE(1, dim[2], dim[3], dim[1]);
    return map;
}

static double relative_error(const float *got, const float *expected, size_t count)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        error += pow((double)got[i] - (double)expected[i], 2);
        size += pow((double)expected[i], 2);
    }
    return sqrt(error / size);
}

static void compare(const world *w, const char *name, const float *got, const float *expected,
                    size_t count, double bound)
{
    const double error = relative_error(got, expected, count);
    print_message("%s %s: %.2g\n", w->name, name, error);
    if (!(error <= bound)) fail_msg("%s %s: relative error %g > %g", w->name, name, error, bound);
}

static zn_model *open_weights(const char *path, const char *name)
{
    zn_error err = {0};
    zn_model *model = NULL;
    const zn_model_request request = {.name = name, .weights = path};
    zn_test_ok(zn_model_open(&request, &model, &err), &err);
    assert_int_equal(model->unexpected, 0);
    return model;
}

static void open_world(world *w, const char *name)
{
    char file[NAME];
    zn_error err = {0};
    *w = (world){.name = name};
    snprintf(file, sizeof file, "%s/io.safetensors", name);
    zn_test_ok(zn_safetensors_open(zn_test_path(zn_test_golden(), file), &w->golden, &err), &err);
    w->model = open_weights(zn_test_path(zn_test_golden(), name), NULL);
}

static void close_world(world *w)
{
    zn_free(w->in);
    zn_free(w->out);
    zn_model_unref(w->model);
    zn_safetensors_free(w->golden);
}

// The input of a part, and room for its output.
static void choose_part(world *w, const char *part)
{
    const bool decodes = strcmp(part, "decoder") == 0;
    zn_shape shape;
    zn_ports ports;
    w->part = need((void *)(uintptr_t)zn_model_part(w->model, part));
    zn_free(w->in);
    zn_free(w->out);
    w->in = golden_map(w, decodes ? "latent" : "image", &shape);
    const size_t count = (size_t)(shape.dim[1] * shape.dim[2] * shape.dim[3]);
    for (size_t i = 0; !decodes && i < count; i++) w->in[i] = (w->in[i] + 1) / 2;
    w->in_row = (size_t)(shape.dim[2] * shape.dim[3]);
    w->part->ports(w->model->variant, &(zn_sizes){HEIGHT / FACTOR, WIDTH / FACTOR, 0}, &ports);
    const int64_t *out = ports.outputs[0].desc.shape.dim;
    w->out_row = (size_t)(out[2] * out[3]);
    w->out = need(zn_alloc((size_t)out[1] * w->out_row * sizeof(float)));
}

// --- runs ---------------------------------------------------------------------------------------

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const world *w = cookie;
    (void)input, (void)err;
    memcpy(dst, w->in + (size_t)row * w->in_row, (size_t)count * w->in_row * sizeof(float));
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    world *w = cookie;
    (void)output, (void)err;
    memcpy(w->out + (size_t)row * w->out_row, src, (size_t)count * w->out_row * sizeof(float));
    return ZENITH_OK;
}

// Whole maps come row by row.
static void observe(void *cookie, const zn_node *node, int64_t row, int64_t count, const void *data)
{
    static float *whole;
    world *w = cookie;
    char name[NAME];
    int which = 0;
    while (which < ACTIVATIONS && strcmp(activations[which].node, node->name) != 0) which++;
    if (which == ACTIVATIONS || !zn_node_is_map(node)) return;
    const int64_t *dim = node->desc.shape.dim;
    const size_t width = (size_t)(dim[2] * dim[3]), all = (size_t)dim[1] * width;
    if (row == 0) whole = need(zn_alloc(all * sizeof *whole));
    memcpy(whole + (size_t)row * width, data, (size_t)count * width * sizeof *whole);
    if (row + count < dim[1]) return;
    snprintf(name, sizeof name, "f32.act.%s", activations[which].golden);
    zn_shape shape;
    float *expected = golden_map(w, name, &shape);
    assert_true(zn_shape_equal(&shape, &node->desc.shape));
    compare(w, name, whole, expected, all, BOUND);
    w->seen++;
    zn_free(expected);
    zn_free(whole);
}

static void run_plan(world *w, const zn_plan *plan, int threads, bool observed)
{
    zn_error err = {0};
    zn_team *team = NULL;
    zn_test_ok(zn_team_create(threads, &team, &err), &err);
    void *arena = need(zn_alloc(zn_plan_bytes(plan)));
    memset(arena, 0xff, zn_plan_bytes(plan));
    const zn_run run = {
        .read = read_rows, .write = write_rows, .cookie = w, .observe = observed ? observe : NULL};
    zn_test_ok(zn_plan_run(plan, arena, team, &run, &err), &err);
    zn_free(arena);
    zn_team_free(team);
}

static zn_node *convert(zn_graph *graph, zn_node *node, zn_type type, float scale)
{
    return zn_convert(graph, node->name, node, type, scale);
}

// The graph as the model describes it, with nothing fused, so that every module's value is there.
static void run_plain(world *w)
{
    zn_error err = {0};
    zn_graph plain, typed;
    zn_plan *plan = NULL;
    zn_packs *packs = NULL;
    const zn_sizes sizes = {HEIGHT / FACTOR, WIDTH / FACTOR, 0};
    const zn_type_policy policy = {.type = ZN_F32, .convert = convert};
    zn_test_ok(zn_model_graph(w->model, w->part, &sizes, NULL, &plain, &err), &err);
    zn_test_ok(zn_pass_types(&plain, &policy, &typed, &err), &err);
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    const zn_plan_options options = {
        .mode = ZN_PLAN_PLANES, .cpu = zn_cpu_detect(), .threads = 2, .packs = packs};
    zn_test_ok(zn_plan_create(&typed, &options, &plan, &err), &err);
    run_plan(w, plan, 2, true);
    zn_plan_free(plan);
    zn_packs_free(packs);
    zn_graph_free(&typed);
    zn_graph_free(&plain);
}

typedef struct how {
    zenith_dtype dtype;
    zn_plan_mode mode;
    int64_t band;
    int threads;
} how;

static void run_compiled(world *w, how h)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_dnn *dnn = NULL;
    zn_compiled *compiled = NULL;
    (void)!zn_dnn_create(&cpu, &dnn, NULL);
    const zn_compile_key key = {.model = w->model,
                                .part = w->part,
                                .sizes = {HEIGHT / FACTOR, WIDTH / FACTOR, 0},
                                .dtype = h.dtype,
                                .pixels = ZENITH_F32,
                                .mode = h.mode,
                                .band = h.band};
    const zn_machine machine = {cpu, h.threads, dnn, NULL};
    zn_test_ok(zn_compile(&key, 0, &machine, &compiled, &err), &err);
    run_plan(w, compiled->plan, h.threads, false);
    zn_compiled_free(compiled);
    zn_dnn_free(dnn);
}

// --- tests --------------------------------------------------------------------------------------

// The result of the part against the golden.
static void compare_result(world *w, double bound)
{
    zn_shape shape;
    const bool decodes = strcmp(w->part->name, "decoder") == 0;
    const char *name = decodes ? "decoded" : "latent";
    float *expected = golden_map(w, name, &shape);
    const size_t count = (size_t)(shape.dim[1] * shape.dim[2] * shape.dim[3]);
    for (size_t i = 0; decodes && i < count; i++) w->out[i] = 2 * w->out[i] - 1;
    compare(w, name, w->out, expected, count, bound);
    zn_free(expected);
}

static void activations_match(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        world w;
        open_world(&w, models[m]);
        choose_part(&w, "encoder");
        run_plain(&w);
        compare_result(&w, BOUND);
        choose_part(&w, "decoder");
        run_plain(&w);
        compare_result(&w, BOUND);
        assert_int_equal(w.seen, ACTIVATIONS);
        close_world(&w);
    }
}

// Bands and threads change nothing.
static void same_bits(world *w, zenith_dtype dtype, size_t bytes)
{
    static const how hows[] = {
        {.mode = ZN_PLAN_PLANES, .threads = 2},
        {.mode = ZN_PLAN_ROLLING, .band = 1, .threads = 1},
        {.mode = ZN_PLAN_ROLLING, .band = 3, .threads = 2},
        {.mode = ZN_PLAN_AUTO, .threads = 2},
    };
    void *first = need(zn_alloc(bytes));
    run_compiled(w, (how){dtype, ZN_PLAN_PLANES, 0, 1});
    memcpy(first, w->out, bytes);
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        how h = hows[i];
        h.dtype = dtype;
        memset(w->out, 0xff, bytes);
        run_compiled(w, h);
        assert_memory_equal(w->out, first, bytes);
    }
    zn_free(first);
}

static void compiled_match(void **state)
{
    (void)state;
    static const char *const parts[] = {"encoder", "decoder"};
    for (size_t i = 0; i < 2 * sizeof models / sizeof *models; i++) {
        world w;
        open_world(&w, models[i / 2]);
        choose_part(&w, parts[i % 2]);
        const size_t rows = i % 2 ? HEIGHT : HEIGHT / FACTOR,
                     bytes = rows * w.out_row * sizeof(float);
        same_bits(&w, ZENITH_DTYPE_F32, bytes);
        compare_result(&w, BOUND);
        same_bits(&w, ZENITH_DTYPE_BF16, bytes);
        compare_result(&w, BOUND_BF16);
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_match),
        cmocka_unit_test(compiled_match),
    };
    zn_test_need(zn_test_path(zn_test_golden(), "vae_sd/io.safetensors"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
