// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A diffusion autoencoder's encoder, modulation and denoiser in one graph, as training has them:
// every parameter has a gradient, and along a random direction of each network's parameters the
// loss changes as its gradients say.
#include "tests/model/diffae_golden.h"
#include "tests/model/joined_training.h"

#include "src/model/diffae/diffae.h"

enum { NETWORKS = 3, EDGE = 16, NUMBERS = EDGE * EDGE * PLANES };
static const char *const names[NETWORKS] = {"encoder", "modulation", "denoiser"};
static const zn_sizes sizes[NETWORKS] = {
    {.height = EDGE, .width = EDGE}, {.tokens = 1}, {.height = EDGE, .width = EDGE}};

static void build(joined *t)
{
    zn_graph *graph = &t->plain;
    zn_graph_begin(graph, &t->err);
    const zn_desc map = zn_desc_make(ZN_F32, ZN_SHAPE(1, EDGE, EDGE, PLANES));
    zn_node *picture = zn_graph_input(graph, "picture", map);
    zn_node *noisy = zn_graph_input(graph, "noisy", map);
    zn_node *target = zn_graph_input(graph, "target", map);
    zn_node *time = zn_graph_input(graph, "time", zn_desc_make(ZN_F32, ZN_SHAPE(1, 1, 1, 1)));
    zn_node *code = joined_build(t, 0, &picture);
    zn_node *rows = joined_build(t, 1, (zn_node *[]){time, code});
    zn_node *modulation = zn_channel_sum(graph, "step", rows); // of one row: the row as a vector
    joined_finish(t, joined_build(t, 2, (zn_node *[]){noisy, modulation}), target);
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

ZN_TEST(gradients_say_how_the_loss_changes)
{
    joined t = {.read = read_rows, .names = names, .sizes = sizes};
    zn_test_need(zn_test_path(zn_test_golden(), golden_io));
    zn_model *model = golden_model("diffae_gradients");
    for (int i = 0; i < NETWORKS; i++) {
        zn_test_ok(
            zn_network_of_model(model, zn_model_part(model, names[i]), &t.networks[i], &t.err),
            &t.err);
        joined_add(&t);
    }
    joined_make_weights(&t);
    for (int i = 0; i < NETWORKS; i++) zn_network_move(&t.networks[i], t.weights);
    build(&t);
    joined_check_slopes(&t);
    joined_close(&t);
    zn_model_unref(model);
}
