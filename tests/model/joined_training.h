// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Several networks in one graph, as training joins them, with the gradients of all their
// parameters: do these say how the loss changes along a direction?
#ifndef ZN_TESTS_MODEL_JOINED_TRAINING_H
#define ZN_TESTS_MODEL_JOINED_TRAINING_H

#include "tests/model/part_runs.h"

#include "src/base/random.h"
#include "src/graph/gradient.h"

enum { JOINED_NETWORKS = 4, JOINED_PARAMETERS = 256 };

typedef struct joined {
    zenith_status (*read)(void *cookie, int input, int64_t row, int64_t count, void *dst,
                          zn_error *err); // of the graph's inputs; cookie: the struct's owner
    void *cookie;
    const char *const *names; // of the networks
    const zn_sizes *sizes;
    int networks_count;
    zn_network networks[JOINED_NETWORKS];
    float *weights, *gradient;
    size_t elements, first[JOINED_NETWORKS + 1]; // of each network in the block
    const zn_train_parameter *of[JOINED_PARAMETERS];
    zn_node *nodes[JOINED_PARAMETERS];
    size_t of_count, nodes_count;
    zn_graph plain, graph;
    zn_packs *packs;
    zn_plan *plan;
    void *arena;
    float loss;
    zn_error err;
} joined;

// Takes the next of the networks, whose parameters are known, into the block of weights.
static inline void joined_add(joined *t)
{
    zn_network *n = &t->networks[t->networks_count++];
    t->elements = zn_network_place(n, t->elements);
    t->first[t->networks_count] = t->elements;
    for (size_t k = 0; k < n->count; k++) t->of[t->of_count++] = &n->parameters[k];
}

static inline void joined_make_weights(joined *t)
{
    t->weights = part_need(zn_alloc_zero(t->elements * sizeof(float)));
    t->gradient = part_need(zn_alloc_zero(t->elements * sizeof(float)));
}

// Networks are built in their order.
static inline zn_node *joined_build(joined *t, int which, zn_node *const *inputs)
{
    zn_node *y = NULL;
    zn_network_build(&t->networks[which], &t->sizes[which], &t->plain, "", inputs, &y,
                     t->nodes + t->nodes_count);
    t->nodes_count += t->networks[which].count;
    return y;
}

static inline void joined_compile(joined *t)
{
    zn_error *err = &t->err;
    const zn_cpu cpu = zn_cpu_detect();
    zn_graph fused = {0}, typed = {0};
    const zn_type_policy policy = {.type = ZN_F32, .convert = zn_convert_as};
    zn_test_ok(zn_pass_fuse(&t->plain, zn_ops, zn_ops_count, NULL, &fused, err), err);
    zn_test_ok(zn_pass_types(&fused, &policy, &typed, err), err);
    zn_test_ok(zn_pass_fuse(&typed, zn_ops, zn_ops_count, &cpu, &t->graph, err), err);
    zn_graph_free(&fused);
    zn_graph_free(&typed);
    zn_test_ok(zn_packs_create(&t->packs, err), err);
    const zn_plan_options options = {
        .mode = ZN_PLAN_PLANES, .cpu = cpu, .threads = 1, .packs = t->packs};
    zn_test_ok(zn_plan_create(&t->graph, &options, &t->plan, err), err);
    t->arena = part_need(zn_alloc(zn_plan_bytes(t->plan)));
}

// The loss is the squared distance of y from the target.
static inline void joined_finish(joined *t, zn_node *y, zn_node *target)
{
    zn_node *gradients[JOINED_PARAMETERS];
    zn_node *loss = zn_difference_loss(&t->plain, "loss", y, target,
                                       (zn_difference_attributes){ZN_DIFFERENCE_MSE, 0});
    zn_test_ok(t->plain.status, &t->err);
    zn_graph_gradients(&t->plain, loss, t->nodes, t->of_count, zn_add, gradients);
    zn_test_ok(t->plain.status, &t->err);
    zn_graph_output(&t->plain, loss);
    for (size_t i = 0; i < t->of_count; i++) {
        if (!gradients[i]) fail_msg("'%s' has no gradient", t->of[i]->name);
        zn_graph_output(&t->plain, gradients[i]);
    }
    zn_test_ok(zn_graph_finish(&t->plain), &t->err);
    joined_compile(t);
}

static inline zenith_status joined_read(void *cookie, int input, int64_t row, int64_t count,
                                        void *dst, zn_error *err)
{
    const joined *t = cookie;
    return t->read(t->cookie, input, row, count, dst, err);
}

static inline zenith_status joined_write(void *cookie, int output, int64_t row, int64_t count,
                                         const void *src, zn_error *err)
{
    joined *t = cookie;
    (void)row, (void)count, (void)err;
    if (output == 0)
        memcpy(&t->loss, src, sizeof t->loss);
    else
        memcpy(t->gradient + t->of[output - 1]->offset, src,
               t->of[output - 1]->elements * sizeof(float));
    return ZENITH_OK;
}

static inline double joined_loss(joined *t)
{
    const zn_run run = {.read = joined_read, .write = joined_write, .cookie = t};
    zn_packs_refresh(t->packs, t->weights, t->elements * sizeof(float));
    zn_test_ok(zn_plan_refresh(t->plan, &t->err), &t->err);
    memset(t->arena, 0xff, zn_plan_bytes(t->plan)); // NaN: what was not written must not be read
    zn_test_ok(zn_plan_run(t->plan, t->arena, NULL, &run, &t->err), &t->err);
    return (double)t->loss;
}

static inline double joined_loss_at(joined *t, int which, const float *direction, float by)
{
    const size_t begin = t->first[which], end = t->first[which + 1];
    float *kept = part_need(zn_alloc(t->elements * sizeof *kept));
    memcpy(kept, t->weights, t->elements * sizeof *kept);
    for (size_t i = begin; i < end; i++) t->weights[i] += by * direction[i];
    const double loss = joined_loss(t);
    memcpy(t->weights, kept, t->elements * sizeof *kept);
    zn_free(kept);
    return loss;
}

// Along a direction of one network's parameters.
static inline void joined_check_slope(joined *t, int which, const float *gradient, float *direction)
{
    static const float step = 2e-3f;
    zn_random random = {.seed = 77 + (uint64_t)which};
    double expected = 0, length = 0;
    // Half along the gradient, so that the slope is far from zero, half at random.
    for (size_t i = t->first[which]; i < t->first[which + 1]; i++)
        length += (double)gradient[i] * (double)gradient[i];
    for (size_t i = t->first[which]; i < t->first[which + 1]; i++) {
        direction[i] = gradient[i] / (float)sqrt(length) +
                       0.01f * zn_random_normal(&random) * (gradient[i] != 0);
        expected += (double)direction[i] * (double)gradient[i];
    }
    const double above = joined_loss_at(t, which, direction, step);
    const double below = joined_loss_at(t, which, direction, -step);
    const double slope = (above - below) / (2 * (double)step);
    print_message("%s: slope %g, by gradients %g\n", t->names[which], slope, expected);
    assert_true(length > 0 && fabs(slope - expected) <= 1e-3 * fabs(expected));
}

static inline void joined_check_slopes(joined *t)
{
    print_message("%zu parameters have gradients, the loss is %g\n", t->of_count, joined_loss(t));
    float *gradient = part_need(zn_alloc(t->elements * sizeof *gradient));
    float *direction = part_need(zn_alloc(t->elements * sizeof *direction));
    memcpy(gradient, t->gradient, t->elements * sizeof *gradient);
    for (int i = 0; i < t->networks_count; i++) joined_check_slope(t, i, gradient, direction);
    zn_free(gradient);
    zn_free(direction);
}

static inline void joined_close(joined *t)
{
    zn_plan_free(t->plan);
    zn_packs_free(t->packs);
    zn_free(t->arena);
    zn_graph_free(&t->graph);
    zn_graph_free(&t->plain);
    for (int i = 0; i < t->networks_count; i++) zn_network_free(&t->networks[i]);
    zn_free(t->weights);
    zn_free(t->gradient);
}

#endif
