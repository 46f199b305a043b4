// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Families of other kinds than autoencoders (tests/model/families): opened, trained ten steps
// beside PyTorch, written, opened again, compiled in each type.
// tools/goldens/make_family_goldens.py makes weights, samples and losses.
#include "tests/model/weight_files.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/dnn/dnn.h"
#include "src/graph/gradient.h"
#include "src/graph/packs.h"
#include "src/model/autoencoder.h"
#include "src/op/ops.h"
#include "src/task/engine/compile.h"
#include "src/train/network/network.h"
#include "src/train/optim/optimizer.h"
#include "src/train/prune/prune.h"
#include "src/train/run/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 10, MOST = 64, MOST_VALUES = 4096 };

typedef struct kind {
    const char *name, *part;
    zn_sizes sizes;
} kind;
static const kind denoiser = {"toy-denoiser", "denoiser", {.height = 6, .width = 8, .tokens = 5}};
static const kind sequence = {"toy-sequence", "text", {.tokens = 10}};

typedef struct training {
    const kind *kind;
    zn_safetensors *golden; // samples and losses
    zn_model *model;
    zn_network network;
    zn_optimizer optimizer;
    zn_graph plain, graph;
    zn_ports ports;
    zn_node *nodes[MOST];
    const zn_train_parameter *of[MOST]; // of the outputs after the loss
    size_t of_count;
    zn_packs *packs;
    zn_plan *plan;
    void *arena;
    int step;
    float loss;
} training;

static void *need(void *block)
{
    assert_non_null(block);
    return block;
}

static zn_safetensors *open_golden(const char *name, const char *tail)
{
    char file[128];
    snprintf(file, sizeof file, "tests/golden/%s%s", name, tail);
    return tensors_at(zn_test_path(zn_test_source(), file));
}

static zn_model *open_model(const kind *k)
{
    char file[128];
    snprintf(file, sizeof file, "tests/golden/%s.safetensors", k->name);
    zn_model *model = model_at(zn_test_path(zn_test_source(), file), NULL);
    assert_string_equal(model->variant->name, k->name);
    assert_int_equal(model->unexpected, 0);
    return model;
}

// The numbers of one step that a port, or "target", is given.
static const float *sample(const zn_safetensors *golden, const char *name, int step, size_t *count)
{
    const zn_file_tensor *tensor = zn_safetensors_find(golden, name);
    if (!tensor) fail_msg("the golden has no '%s'", name);
    *count = tensor->bytes / sizeof(float) / STEPS;
    return (const float *)(const void *)tensor->data + (size_t)step * *count;
}

// --- building -----------------------------------------------------------------------------------

static void build(training *t)
{
    zn_error err = {0};
    zn_node *inputs[ZN_MOST_PORTS], *y = NULL, *gradients[MOST];
    const zn_network *n = &t->network;
    zn_graph_begin(&t->plain, &err);
    n->part->ports(n->variant, NULL, &t->kind->sizes, &t->ports);
    for (int i = 0; i < t->ports.inputs_count; i++)
        inputs[i] = zn_port_leaf(&t->plain, &t->ports.inputs[i], NULL);
    zn_network_build(n, &t->kind->sizes, &t->plain, "", inputs, &y, t->nodes);
    zn_node *target = zn_graph_input(&t->plain, "target", t->ports.outputs[0].desc);
    zn_node *loss = zn_difference_loss(&t->plain, "loss", y, target,
                                       (zn_difference_attributes){ZN_DIFFERENCE_MSE, 0});
    zn_graph_gradients(&t->plain, loss, t->nodes, n->count, zn_add, gradients);
    zn_test_ok(t->plain.status, &err);
    zn_graph_output(&t->plain, loss);
    for (size_t i = 0; i < n->count; i++) {
        if (!gradients[i]) fail_msg("'%s' has no gradient", n->parameters[i].name);
        zn_graph_output(&t->plain, gradients[i]);
        t->of[t->of_count++] = &n->parameters[i];
    }
    zn_test_ok(zn_graph_finish(&t->plain), &err);
}

static void compile(training *t, zn_dnn *dnn)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_graph fused = {0}, typed = {0};
    const zn_type_policy policy = {.type = ZN_F32, .convert = zn_convert_as};
    zn_test_ok(zn_pass_fuse(&t->plain, zn_ops, zn_ops_count, NULL, &fused, &err), &err);
    zn_test_ok(zn_pass_types(&fused, &policy, &typed, &err), &err);
    zn_test_ok(zn_pass_fuse(&typed, zn_ops, zn_ops_count, &cpu, &t->graph, &err), &err);
    zn_graph_free(&fused);
    zn_graph_free(&typed);
    zn_test_ok(zn_packs_create(&t->packs, &err), &err);
    const zn_plan_options options = {
        .mode = ZN_PLAN_PLANES, .cpu = cpu, .threads = 1, .dnn = dnn, .packs = t->packs};
    zn_test_ok(zn_plan_create(&t->graph, &options, &t->plan, &err), &err);
    t->arena = need(zn_alloc(zn_plan_bytes(t->plan)));
}

// --- running ------------------------------------------------------------------------------------

// The input of this number.
static const zn_node *input_at(const zn_graph *graph, int input)
{
    for (size_t id = 0; id < graph->count; id++)
        if (graph->nodes[id]->kind == ZN_NODE_INPUT && input-- == 0) return graph->nodes[id];
    return NULL;
}

static void copy_rows(const zn_safetensors *golden, const zn_node *node, int step, int64_t row,
                      int64_t count, float *dst)
{
    size_t all;
    const float *from = sample(golden, node->name, step, &all);
    const bool map = node->desc.shape.rank == 4;
    const size_t width = map ? all / (size_t)node->desc.shape.dim[1] : all;
    memcpy(dst, from + (map ? (size_t)row * width : 0),
           (map ? (size_t)count : 1) * width * sizeof(float));
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const training *t = cookie;
    (void)err;
    copy_rows(t->golden, input_at(&t->graph, input), t->step, row, count, dst);
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    training *t = cookie;
    (void)row, (void)count, (void)err;
    if (output == 0) {
        memcpy(&t->loss, src, sizeof t->loss);
        return ZENITH_OK;
    }
    const zn_train_parameter *p = t->of[output - 1];
    memcpy(t->optimizer.gradient + p->offset, src, p->elements * sizeof(float));
    return ZENITH_OK;
}

static float scalar_of(const training *t)
{
    size_t count;
    if (!zn_safetensors_find(t->golden, "time")) return 0;
    return *sample(t->golden, "time", t->step, &count);
}

static void make_step(training *t)
{
    zn_error err = {0};
    const float time = scalar_of(t);
    const zn_run run = {.read = read_rows, .write = write_rows, .cookie = t, .scalars = &time};
    memset(t->arena, 0xff, zn_plan_bytes(t->plan)); // NaN: what was not written must not be read
    zn_test_ok(zn_plan_run(t->plan, t->arena, NULL, &run, &err), &err);
    zn_test_ok(zn_optimizer_step(&t->optimizer, 1, &err), &err);
    zn_packs_refresh(t->packs, t->optimizer.weights, t->optimizer.count * sizeof(float));
    zn_test_ok(zn_plan_refresh(t->plan, &err), &err);
}

// --- ten steps ----------------------------------------------------------------------------------

static void open_training(training *t, const kind *k)
{
    zn_error err = {0};
    // A rate that stays: half a cosine from 1e-2 to the same.
    const zn_train_optimizer settings = {
        .lr = 1e-2, .min_lr = 1e-2, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.01};
    *t = (training){.kind = k};
    t->golden = open_golden(k->name, ".io.safetensors");
    t->model = open_model(k);
    zn_test_ok(zn_network_of_model(t->model, zn_model_part(t->model, k->part), &t->network, &err),
               &err);
    const size_t elements = zn_network_place(&t->network, 0);
    zn_test_ok(zn_optimizer_create(&settings, elements, STEPS, NULL, &t->optimizer, &err), &err);
    zn_network_move(&t->network, t->optimizer.weights);
    build(t);
}

static void close_training(training *t)
{
    zn_plan_free(t->plan);
    zn_packs_free(t->packs);
    zn_free(t->arena);
    zn_graph_free(&t->graph);
    zn_graph_free(&t->plain);
    zn_optimizer_free(&t->optimizer);
    zn_network_free(&t->network);
    zn_model_unref(t->model);
    zn_safetensors_free(t->golden);
}

// The trained network, from its file, has the weights that the optimizer has.
static void write_and_open(const training *t)
{
    zn_error err = {0};
    zn_network again = {0};
    char folder[1024];
    snprintf(folder, sizeof folder, "%s", zn_test_path(zn_test_build(), "families"));
    zn_test_ok(zn_directory_make(folder, &err), &err);
    zn_test_ok(zn_weights_write(folder, &t->network, t->optimizer.weights, &err), &err);
    zn_model *model = model_at(folder, t->kind->name);
    zn_test_ok(zn_network_of_model(model, zn_model_part(model, t->kind->part), &again, &err), &err);
    assert_int_equal(again.count, t->network.count);
    for (size_t i = 0; i < again.count; i++) {
        const zn_train_parameter *p = &again.parameters[i], *q = &t->network.parameters[i];
        assert_string_equal(p->name, q->name);
        assert_memory_equal(p->tensor.data, t->optimizer.weights + q->offset,
                            p->elements * sizeof(float));
    }
    zn_network_free(&again);
    zn_model_unref(model);
}

static void ten_steps(const kind *k, zn_dnn *dnn)
{
    training t;
    size_t count;
    double worst = 0;
    open_training(&t, k);
    compile(&t, dnn);
    for (t.step = 0; t.step < STEPS; t.step++) {
        make_step(&t);
        const double expected = (double)*sample(t.golden, "losses", t.step, &count);
        const double error = fabs((double)t.loss - expected) / expected;
        worst = fmax(worst, error);
        if (!(error <= 1e-5))
            fail_msg("%s, step %d: the loss is %.8g, PyTorch's %.8g", k->name, t.step,
                     (double)t.loss, expected);
    }
    print_message("%s%s: losses within %.2g of PyTorch's\n", k->name, dnn ? ", oneDNN" : "", worst);
    write_and_open(&t);
    close_training(&t);
}

ZN_TEST(losses_are_pytorchs)
{
    zn_dnn *dnn = NULL;
    const zn_cpu cpu = zn_cpu_detect();
    ten_steps(&denoiser, NULL);
    ten_steps(&sequence, NULL);
    if (zn_dnn_create(&cpu, &dnn, NULL) != ZENITH_OK) return;
    ten_steps(&denoiser, dnn);
    ten_steps(&sequence, dnn);
    zn_dnn_free(dnn);
}

// --- compiled -----------------------------------------------------------------------------------

typedef struct one_run {
    const zn_safetensors *golden;
    const zn_graph *graph;
    float values[MOST_VALUES];
    size_t count;
} one_run;

static zenith_status read_first(void *cookie, int input, int64_t row, int64_t count, void *dst,
                                zn_error *err)
{
    const one_run *r = cookie;
    (void)err;
    copy_rows(r->golden, input_at(r->graph, input), 0, row, count, dst);
    return ZENITH_OK;
}

static zenith_status write_first(void *cookie, int output, int64_t row, int64_t count,
                                 const void *src, zn_error *err)
{
    one_run *r = cookie;
    const int64_t *dim = r->graph->outputs[output]->desc.shape.dim;
    const size_t width = (size_t)(dim[2] * dim[3]);
    (void)err;
    assert_true((size_t)(row + count) * width <= MOST_VALUES);
    memcpy(r->values + (size_t)row * width, src, (size_t)count * width * sizeof(float));
    r->count += (size_t)count * width;
    return ZENITH_OK;
}

static void run_compiled(const kind *k, zenith_dtype dtype, zn_plan_mode mode, one_run *r)
{
    zn_error err = {0};
    zn_compiled *compiled = NULL;
    size_t count;
    zn_model *model = open_model(k);
    const zn_machine machine = {.cpu = zn_cpu_detect(), .threads = 1};
    const zn_compile_key key = {.model = model,
                                .part = zn_model_part(model, k->part),
                                .sizes = k->sizes,
                                .dtype = dtype,
                                .pixels = ZENITH_F32,
                                .mode = mode,
                                .band = mode == ZN_PLAN_ROLLING ? 1 : 0};
    *r = (one_run){.golden = open_golden(k->name, ".io.safetensors")};
    zn_test_ok(zn_compile(&key, NULL, &machine, &compiled, &err), &err);
    r->graph = &compiled->graph;
    void *arena = need(zn_alloc(zn_plan_bytes(compiled->plan)));
    const bool timed = zn_safetensors_find(r->golden, "time") != NULL;
    const float time = timed ? *sample(r->golden, "time", 0, &count) : 0;
    const zn_run run = {.read = read_first, .write = write_first, .cookie = r, .scalars = &time};
    zn_test_ok(zn_plan_run(compiled->plan, arena, NULL, &run, &err), &err);
    zn_free(arena);
    zn_compiled_free(compiled);
    zn_model_unref(model);
    zn_safetensors_free((zn_safetensors *)(uintptr_t)r->golden);
}

// |b - a| / |a|
static double distance(const one_run *a, const one_run *b)
{
    double difference = 0, energy = 0;
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const double d = (double)b->values[i] - (double)a->values[i];
        difference += d * d;
        energy += (double)a->values[i] * (double)a->values[i];
    }
    return sqrt(difference / energy);
}

ZN_TEST(compiled_in_each_type)
{
    static one_run plain, other;
    const kind *const kinds[] = {&denoiser, &sequence};
    for (size_t i = 0; i < 2; i++) {
        run_compiled(kinds[i], ZENITH_DTYPE_F32, ZN_PLAN_PLANES, &plain);
        run_compiled(kinds[i], ZENITH_DTYPE_F32, ZN_PLAN_ROLLING, &other);
        assert_int_equal(plain.count, other.count);
        assert_memory_equal(plain.values, other.values, plain.count * sizeof(float));
        run_compiled(kinds[i], ZENITH_DTYPE_BF16, ZN_PLAN_AUTO, &other);
        const double error = distance(&plain, &other);
        print_message("%s in bf16: %.2g\n", kinds[i]->name, error);
        assert_true(error > 0 && error < 0.02);
    }
    run_compiled(&denoiser, ZENITH_DTYPE_F32, ZN_PLAN_PLANES, &plain);
    run_compiled(&denoiser, ZENITH_DTYPE_INT8, ZN_PLAN_AUTO, &other); // needs no calibration
    const double error = distance(&plain, &other);
    print_message("%s in int8: %.2g\n", denoiser.name, error);
    assert_true(error > 0 && error < 0.03);
}

// --- what else descriptors decide ---------------------------------------------------------------

// Layers of both ranks begin with He's spread, tables with one, gates of transforms with zero.
static double spread_of(const zn_network *n, const float *block, const char *name)
{
    for (size_t i = 0; i < n->count; i++) {
        const zn_train_parameter *p = &n->parameters[i];
        double sum = 0;
        if (strcmp(p->name, name) != 0) continue;
        for (size_t k = 0; k < p->elements; k++)
            sum += (double)block[p->offset + k] * (double)block[p->offset + k];
        return sqrt(sum / (double)p->elements);
    }
    fail_msg("there is no '%s'", name);
    return 0;
}

static void check_start(const char *variant_name, const char *part, const char *layout,
                        const char *parameter, double expected)
{
    zn_error err = {0};
    zn_network n = {0};
    const zn_variant *variant = need((void *)(uintptr_t)zn_variant_find(variant_name));
    const zn_part *which = zn_family_part(zn_family_of(variant), part);
    const zn_network_shape shape = {.width = 64, .layout = layout};
    zn_test_ok(zn_network_of_variant(variant, which, &shape, &n, &err), &err);
    float *block = need(zn_alloc_zero(zn_network_place(&n, 0) * sizeof *block));
    zn_network_randomise(&n, block, 5, 1, ZN_INIT_HE);
    const double found = spread_of(&n, block, parameter);
    if (!(fabs(found - expected) <= 0.2 * expected))
        fail_msg("%s begins with a spread of %g, not %g", parameter, found, expected);
    zn_network_free(&n);
    zn_free(block);
}

ZN_TEST(random_start)
{
    check_start("toy-denoiser", "denoiser", NULL, "denoiser.up.weight", sqrt(2.0 / 16));
    check_start("toy-denoiser", "denoiser", NULL, "denoiser.down.weight",
                sqrt(2.0 / 32) / sqrt(2)); // of 2 branches
    check_start("toy-denoiser", "denoiser", NULL, "denoiser.in.weight", sqrt(2.0 / 36));
    check_start("toy-denoiser", "denoiser", NULL, "denoiser.up.bias", 0);
    check_start("toy-sequence", "text", NULL, "text.embed.weight", 1);
    check_start("toy-sequence", "text", NULL, "text.down.weight", sqrt(2.0 / 24) / sqrt(2)); // of 2
    check_start("toy-sequence", "text", NULL, "text.norm1.weight", 1);
    check_start("zenith-sd-fast", "decoder", "64x1w8", "decoder.3.walsh.weight", 0);
}

// What is about pictures and latents refuses models without them, by a sentence.
ZN_TEST(autoencoders_only)
{
    zn_error err = {0};
    zn_prune_report report;
    zn_model *model = open_model(&denoiser);
    assert_int_equal(zn_autoencoder_check(model->variant, &err), ZENITH_UNSUPPORTED);
    assert_int_equal(zn_autoencoder_flags(model), 0);
    err = (zn_error){0};
    const zn_prune_options options = {
        .model = model, .output = "none", .channels = 0.5, .multiple = 1, .batches = 1};
    assert_int_equal(zn_prune(&options, &report, &err), ZENITH_UNSUPPORTED);
    assert_non_null(strstr(err.text, "toy-denoiser is not an autoencoder"));
    const char *const wanted[] = {"denoiser", "encoder", NULL};
    zn_model *none = NULL;
    char path[1024];
    snprintf(path, sizeof path, "%s",
             zn_weights_file(model->weights, zn_weights_get(model->weights, 0)));
    const zn_model_request request = {.weights = path, .parts = wanted};
    assert_int_equal(zn_model_open(&request, &none, &err), ZENITH_NOT_FOUND);
    zn_model_unref(model);
}

// A port of another shape is refused, with both shapes.
ZN_TEST(shapes_of_ports)
{
    zn_error err = {0};
    zn_graph graph;
    zn_ports ports;
    zn_node *inputs[ZN_MOST_PORTS], *y = NULL;
    zn_model *model = open_model(&denoiser);
    const zn_part *part = zn_model_part(model, "denoiser");
    part->ports(model->variant, NULL, &denoiser.sizes, &ports);
    assert_int_equal(zn_port_find(ports.inputs, ports.inputs_count, "style"), 2);
    assert_int_equal(zn_port_find(ports.inputs, ports.inputs_count, "image"), -1);
    ports.inputs[1] = zn_port_sequence("text", 7, 12);
    zn_graph_begin(&graph, &err);
    for (int i = 0; i < ports.inputs_count; i++)
        inputs[i] = zn_port_leaf(&graph, &ports.inputs[i], NULL);
    zn_model_build(model, part, &denoiser.sizes, false, &graph, inputs, &y);
    assert_null(y);
    assert_int_equal(zn_graph_finish(&graph), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "the port 'text' of the denoiser"));
    zn_graph_free(&graph);
    zn_model_unref(model);
}

// Raw latents with a mean and a deviation for each channel.
ZN_TEST(channels_of_latents)
{
    static const float mean[] = {0.5f, -1}, deviation[] = {2, 0.25f};
    const zn_autoencoder_facts each = {2, 8, .has_raw = true, .mean = mean, .deviation = deviation};
    const zn_autoencoder_facts same = {2, 8, .has_raw = true, .scale = 1};
    assert_true(zn_latent_from_raw(&each, 0, 4.5f) == 2);
    assert_true(zn_latent_from_raw(&each, 1, 0) == 4);
    assert_true(zn_latent_to_raw(&each, 0, 2) == 4.5f);
    assert_true(zn_latent_to_raw(&each, 1, 4) == 0);
    assert_true(zn_latents_equal(&each, &each));
    assert_false(zn_latents_equal(&each, &same));
}
