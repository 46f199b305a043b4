// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A diffusion autoencoder's encoder, modulation and denoiser in one graph, as training has them: every parameter
// has a gradient, and along a random direction of each network's parameters the loss changes as its gradients
// say.
#include "tests/model/diffae_golden.h"

#include "src/base/random.h"
#include "src/graph/gradient.h"
#include "src/model/diffae.h"

enum { NETWORKS = 3, MOST_PARAMETERS = 256, EDGE = 16, NUMBERS = EDGE * EDGE * PLANES };
static const char *const names[NETWORKS] = {"encoder", "modulation", "denoiser"};
static const zn_sizes sizes[NETWORKS] = {
    {.height = EDGE, .width = EDGE}, {.tokens = 1}, {.height = EDGE, .width = EDGE}};

typedef struct training {
    zn_model *model;
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

static void build(training *t)
{
    zn_error err = {0};
    zn_node *nodes[MOST_PARAMETERS], *gradients[MOST_PARAMETERS], **next = nodes;
    zn_graph_begin(&t->plain, &err);
    const zn_desc map = zn_desc_make(ZN_F32, ZN_SHAPE(1, EDGE, EDGE, PLANES));
    zn_node *picture = zn_graph_input(&t->plain, "picture", map);
    zn_node *noisy = zn_graph_input(&t->plain, "noisy", map);
    zn_node *target = zn_graph_input(&t->plain, "target", map);
    zn_node *time = zn_graph_input(&t->plain, "time", zn_desc_make(ZN_F32, ZN_SHAPE(1, 1, 1, 1)));
    zn_node *code = build_one(t, 0, &picture, next);
    next += t->networks[0].count;
    zn_node *rows = build_one(t, 1, (zn_node *[]){time, code}, next);
    next += t->networks[1].count;
    zn_node *modulation = zn_channel_sum(&t->plain, "step",
                                         rows); // of one row: the row as a vector
    zn_node *y = build_one(t, 2, (zn_node *[]){noisy, modulation}, next);
    zn_node *loss = zn_difference_loss(&t->plain, "loss", y, target,
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

static void open_training(training *t)
{
    zn_error err = {0};
    *t = (training){.model = golden_model("diffae_gradients")};
    for (int i = 0; i < NETWORKS; i++) {
        zn_network *n = &t->networks[i];
        zn_test_ok(zn_network_of_model(t->model, zn_model_part(t->model, names[i]), n, &err), &err);
        t->first[i] = t->elements;
        t->elements = zn_network_place(n, t->elements);
        for (size_t k = 0; k < n->count; k++) t->of[t->of_count++] = &n->parameters[k];
    }
    t->first[NETWORKS] = t->elements;
    t->weights = part_need(zn_alloc_zero(t->elements * sizeof(float)));
    t->gradient = part_need(zn_alloc_zero(t->elements * sizeof(float)));
    t->direction = part_need(zn_alloc_zero(t->elements * sizeof(float)));
    for (int i = 0; i < NETWORKS; i++) zn_network_move(&t->networks[i], t->weights);
    build(t);
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
    zn_model_unref(t->model);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    float *to = dst;
    const size_t width = EDGE * PLANES;
    (void)cookie, (void)err;
    if (input == 3) {
        *to = 400;
        return ZENITH_OK;
    }
    zn_random random = {.seed = 5 + (uint64_t)input};
    float all[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++) all[i] = 0.5f * zn_random_normal(&random);
    memcpy(to, all + (size_t)row * width, (size_t)count * width * sizeof *to);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_say_how_the_loss_changes)};
    zn_test_need(zn_test_path(zn_test_golden(), golden_io));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
