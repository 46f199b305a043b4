// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The networks of words to a picture in one graph, as training has them: a tiny text encoder (qwen3) and a tiny
// diffusion transformer (zimage) that takes captions with a mask. Every parameter has a gradient, and along a random
// direction of each network's parameters the loss changes as its gradients say. What the mask hides
// changes nothing.
#include "tests/model/part_runs.h"

#include "src/base/random.h"
#include "src/graph/gradient.h"
#include "src/model/qwen3.h"
#include "src/model/zimage.h"

enum { TEXT, CONTEXT, MODULATION, DENOISER, NETWORKS };
enum { MOST_PARAMETERS = 256, TOKENS = 32, THERE = 7, HEIGHT = 6, ACROSS = 8, CHANNELS = 4 };
enum { VOCABULARY = 20, WIDTH = 12, TEXT_HEAD = 8, HEAD = 6, ALL_TOKENS = 2 * TOKENS };
enum { IDS, TEXT_ANGLES, CONTEXT_ANGLES, MASK, TIME, LATENT, ANGLES, TARGET, INPUTS };
static const char *const names[NETWORKS] = {"text", "context", "modulation", "denoiser"};
static const char text_layout[] =
    "vocabulary=20 width=10 inner=14 layers=3 heads=4 keys=2 head=8 theta=10000";
static const char image_layout[] =
    "width=12 layers=2 refiners=1 heads=2 caption=10 channels=4 axis=2 rows=2 columns=2";
static const zn_sizes sizes[NETWORKS] = {{.tokens = TOKENS},
                                         {.tokens = TOKENS, .masked = true},
                                         {.tokens = 1},
                                         {.height = HEIGHT, .width = ACROSS, .tokens = TOKENS}};

typedef struct training {
    float *inputs[INPUTS];
    size_t row[INPUTS];
    zn_network networks[NETWORKS];
    float *weights, *gradient, *direction;
    size_t elements, first[NETWORKS + 1]; // of each network in the block
    const zn_train_parameter *of[MOST_PARAMETERS];
    size_t of_count;
    zn_graph plain, graph;
    zn_packs *packs;
    zn_plan *plan;
    void *arena;
    float loss;
} training;

static zn_node *build_one(training *t, int which, zn_node *const *inputs, zn_node **nodes)
{
    zn_node *y = NULL;
    zn_network_build(&t->networks[which], &sizes[which], &t->plain, "", inputs, &y, nodes);
    return y;
}

static zn_node *leaf(training *t, int which, const char *name, zn_shape shape)
{
    size_t count = 0;
    assert_true(zn_shape_elements(&shape, &count));
    t->inputs[which] = part_need(zn_alloc_zero(count * sizeof(float)));
    t->row[which] = count / (size_t)shape.dim[1];
    return zn_graph_input(&t->plain, name, zn_desc_make(ZN_F32, shape));
}

static void build(training *t)
{
    zn_error err = {0};
    zn_node *nodes[MOST_PARAMETERS], *gradients[MOST_PARAMETERS], **next = nodes, *in[INPUTS];
    const zn_shape map = ZN_SHAPE(1, HEIGHT, ACROSS, CHANNELS);
    zn_graph_begin(&t->plain, &err);
    in[IDS] = leaf(t, IDS, "ids", ZN_SHAPE(1, TOKENS, 1, 1));
    in[TEXT_ANGLES] = leaf(t, TEXT_ANGLES, "text.angles", ZN_SHAPE(1, TOKENS, 1, TEXT_HEAD));
    in[CONTEXT_ANGLES] = leaf(t, CONTEXT_ANGLES, "context.angles", ZN_SHAPE(1, TOKENS, 1, HEAD));
    in[MASK] = leaf(t, MASK, "mask", ZN_SHAPE(1, TOKENS, 1, WIDTH));
    in[TIME] = leaf(t, TIME, "time", ZN_SHAPE(1, 1, 1, 1));
    in[LATENT] = leaf(t, LATENT, "latent", map);
    in[ANGLES] = leaf(t, ANGLES, "angles", ZN_SHAPE(1, ALL_TOKENS, 1, HEAD));
    in[TARGET] = leaf(t, TARGET, "target", map);
    zn_node *text = build_one(t, TEXT, (zn_node *[]){in[IDS], in[TEXT_ANGLES]}, next);
    next += t->networks[TEXT].count;
    zn_node *context = build_one(t, CONTEXT, (zn_node *[]){text, in[CONTEXT_ANGLES], in[MASK]},
                                 next);
    next += t->networks[CONTEXT].count;
    zn_node *rows = build_one(t, MODULATION, &in[TIME], next);
    next += t->networks[MODULATION].count;
    zn_node *modulation = zn_channel_sum(&t->plain, "step", rows); // of one row: it as a vector
    zn_node *y = build_one(t, DENOISER, (zn_node *[]){in[LATENT], context, modulation, in[ANGLES]},
                           next);
    zn_node *loss = zn_difference_loss(&t->plain, "loss", y, in[TARGET],
                                       (zn_difference_attributes){ZN_DIFFERENCE_MSE, 0});
    zn_test_ok(t->plain.status, &err);
    zn_graph_gradients(&t->plain, loss, nodes, t->of_count, zn_add, gradients);
    zn_test_ok(t->plain.status, &err);
    zn_graph_output(&t->plain, loss);
    for (size_t i = 0; i < t->of_count; i++) {
        if (!gradients[i]) fail_msg("'%s' has no gradient", t->of[i]->name);
        zn_graph_output(&t->plain, gradients[i]);
    }
    zn_test_ok(zn_graph_finish(&t->plain), &err);
}

static void compile(training *t)
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
        .mode = ZN_PLAN_PLANES, .cpu = cpu, .threads = 1, .packs = t->packs};
    zn_test_ok(zn_plan_create(&t->graph, &options, &t->plan, &err), &err);
    t->arena = part_need(zn_alloc(zn_plan_bytes(t->plan)));
}

// The rest of the caption is not there, and its numbers are of no word: 0 of the table.
static void fill(training *t)
{
    zn_random random = {.seed = 5};
    for (int i = 0; i < THERE; i++) t->inputs[IDS][i] = (float)((5 * i + 3) % VOCABULARY);
    for (int i = 0; i < THERE * WIDTH; i++) t->inputs[MASK][i] = 1;
    zn_qwen3_layout_angles(text_layout, TOKENS, t->inputs[TEXT_ANGLES]);
    zn_zimage_layout_caption_angles(image_layout, TOKENS, t->inputs[CONTEXT_ANGLES]);
    zn_zimage_layout_angles(image_layout, &sizes[DENOISER], t->inputs[ANGLES]);
    t->inputs[TIME][0] = 0.4f;
    for (int i = 0; i < HEIGHT * ACROSS * CHANNELS; i++) {
        t->inputs[LATENT][i] = zn_random_normal(&random);
        t->inputs[TARGET][i] = zn_random_normal(&random);
    }
}

static void open_network(training *t, int which)
{
    zn_error err = {0};
    zn_network *n = &t->networks[which];
    const zn_variant *variant = zn_variant_find(which == TEXT ? "qwen3" : "z-image");
    const zn_network_shape shape = {.layout = which == TEXT ? text_layout : image_layout};
    const zn_part *part = zn_family_part(zn_family_of(variant), names[which]);
    zn_test_ok(zn_network_of_variant(variant, part, &shape, n, &err), &err);
    t->first[which] = t->elements;
    t->elements = zn_network_place(n, t->elements);
    for (size_t k = 0; k < n->count; k++) t->of[t->of_count++] = &n->parameters[k];
}

static void open_training(training *t)
{
    *t = (training){.elements = 0};
    for (int i = 0; i < NETWORKS; i++) open_network(t, i);
    t->first[NETWORKS] = t->elements;
    t->weights = part_need(zn_alloc_zero(t->elements * sizeof(float)));
    t->gradient = part_need(zn_alloc_zero(t->elements * sizeof(float)));
    t->direction = part_need(zn_alloc_zero(t->elements * sizeof(float)));
    for (int i = 0; i < NETWORKS; i++)
        zn_network_randomise(&t->networks[i], t->weights, 3 + (uint64_t)i, 1, ZN_INIT_PYTORCH);
    build(t);
    fill(t);
    compile(t);
}

static void close_training(training *t)
{
    zn_plan_free(t->plan);
    zn_packs_free(t->packs);
    zn_free(t->arena);
    zn_graph_free(&t->graph);
    zn_graph_free(&t->plain);
    for (int i = 0; i < NETWORKS; i++) zn_network_free(&t->networks[i]);
    zn_free(t->weights);
    zn_free(t->gradient);
    zn_free(t->direction);
    for (int i = 0; i < INPUTS; i++) zn_free(t->inputs[i]);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const training *t = cookie;
    (void)err;
    memcpy(dst, t->inputs[input] + (size_t)row * t->row[input],
           (size_t)count * t->row[input] * sizeof(float));
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    training *t = cookie;
    (void)row, (void)count, (void)err;
    if (output == 0)
        memcpy(&t->loss, src, sizeof t->loss);
    else
        memcpy(t->gradient + t->of[output - 1]->offset, src,
               t->of[output - 1]->elements * sizeof(float));
    return ZENITH_OK;
}

static double loss_at(training *t)
{
    zn_error err = {0};
    const zn_run run = {.read = read_rows, .write = write_rows, .cookie = t};
    zn_packs_refresh(t->packs, t->weights, t->elements * sizeof(float));
    zn_test_ok(zn_plan_refresh(t->plan, &err), &err);
    memset(t->arena, 0xff, zn_plan_bytes(t->plan)); // NaN: what was not written must not be read
    zn_test_ok(zn_plan_run(t->plan, t->arena, NULL, &run, &err), &err);
    return (double)t->loss;
}

static void move_weights(training *t, int which, float by)
{
    for (size_t i = t->first[which]; i < t->first[which + 1]; i++)
        t->weights[i] += by * t->direction[i];
}

static void gradients_say_how_the_loss_changes(void **state)
{
    static const float step = 2e-3f;
    training t;
    (void)state;
    open_training(&t);
    print_message("%zu parameters have gradients, the loss is %g\n", t.of_count, loss_at(&t));
    float *gradient = part_need(zn_alloc(t.elements * sizeof *gradient));
    memcpy(gradient, t.gradient, t.elements * sizeof *gradient);
    for (int which = 0; which < NETWORKS; which++) {
        zn_random random = {.seed = 77 + (uint64_t)which};
        double expected = 0, length = 0;
        // Half along the gradient, so that the slope is far from zero, half at random.
        for (size_t i = t.first[which]; i < t.first[which + 1]; i++)
            length += (double)gradient[i] * (double)gradient[i];
        for (size_t i = t.first[which]; i < t.first[which + 1]; i++) {
            t.direction[i] = gradient[i] / (float)sqrt(length) +
                             0.01f * zn_random_normal(&random) * (gradient[i] != 0);
            expected += (double)t.direction[i] * (double)gradient[i];
        }
        move_weights(&t, which, step);
        const double above = loss_at(&t);
        move_weights(&t, which, -2 * step);
        const double below = loss_at(&t), slope = (above - below) / (2 * (double)step);
        move_weights(&t, which, step);
        print_message("%s: slope %g, by gradients %g\n", names[which], slope, expected);
        assert_true(length > 0 && fabs(slope - expected) <= 1e-3 * fabs(expected));
    }
    zn_free(gradient);
    close_training(&t);
}

// What is not there changes nothing, whatever its numbers are.
static void padding_is_not_seen(void **state)
{
    training t;
    (void)state;
    open_training(&t);
    const double before = loss_at(&t);
    for (int i = THERE; i < TOKENS; i++) t.inputs[IDS][i] = (float)(1 + i % 7);
    assert_true(loss_at(&t) == before);
    t.inputs[IDS][THERE - 1] += 1;
    assert_true(loss_at(&t) != before);
    close_training(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_say_how_the_loss_changes),
                                       cmocka_unit_test(padding_is_not_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
