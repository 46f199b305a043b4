// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses of pixels, by pictures whose distance is known: grey, a chequered one, and that moved by a
// pixel.
#include "src/train/loss/losses.h"
#include "tests/graph/small_graphs.h"

#include <math.h>

enum {
    SIDE = 34,
    CHANNELS = 3,
    COUNT = SIDE * SIDE * CHANNELS
}; // what is over does not fill a block

// Fields of 0.25 and 0.75, `size` pixels wide; moved by `by` pixels to the left.
static void chequer(float *picture, int size, int by)
{
    for (int i = 0; i < COUNT; i++) {
        const int x = i / CHANNELS % SIDE + by, y = i / CHANNELS / SIDE;
        picture[i] = (x / size + y / size) % 2 ? 0.75f : 0.25f;
    }
}

static double loss_of(zn_loss_kind kind, const float *reconstruction, const float *original)
{
    zn_error err = {0};
    zn_graph graph;
    float loss = NAN;
    zn_graph_begin(&graph, &err);
    const zn_loss_inputs in = {.reconstruction = map_input(&graph, SIDE, SIDE, CHANNELS),
                               .original = map_input(&graph, SIDE, SIDE, CHANNELS)};
    const zn_train_loss wanted = {.kind = (int)kind, .weight = 1};
    zn_graph_output(&graph, zn_loss_build(&graph, &wanted, &in));
    zn_test_ok(zn_graph_finish(&graph), &err);
    run_graph(&graph, ZN_PLAN_PLANES, 0, 1,
              (memory_run){
                  .inputs = {(uint8_t *)(uintptr_t)reconstruction, (uint8_t *)(uintptr_t)original},
                  .outputs = {(uint8_t *)&loss}});
    zn_graph_free(&graph);
    return (double)loss;
}

static void expect(zn_loss_kind kind, const float *a, const float *b, double wanted)
{
    const double loss = loss_of(kind, a, b);
    if (!(fabs(loss - wanted) <= 1e-6))
        fail_msg("%s: %.9g, not %.9g", zn_loss_name(kind), loss, wanted);
}

// A pixel of fields of one is 0.5 from all four neighbours.
ZN_TEST(texture_is_an_amount)
{
    static float grey[COUNT], fine[COUNT], moved[COUNT];
    for (int i = 0; i < COUNT; i++) grey[i] = 0.5f;
    chequer(fine, 1, 0);
    chequer(moved, 1, 1);
    expect(ZN_LOSS_TEXTURE, grey, grey, 0);
    expect(ZN_LOSS_TEXTURE, fine, grey, 0.5);
    expect(ZN_LOSS_TEXTURE, grey, fine, 0.5);
    expect(ZN_LOSS_TEXTURE, moved, fine, 0); // as much, elsewhere
    expect(ZN_LOSS_L1, moved, fine, 0.5);
    expect(ZN_LOSS_L1, grey, fine, 0.25);
}

// Fields of one or two pixels are a mesh of four; those of four are half of the time each of two
// values.
ZN_TEST(a_lattice_is_what_places_have_in_common)
{
    static float grey[COUNT], one[COUNT], two[COUNT], four[COUNT];
    for (int i = 0; i < COUNT; i++) grey[i] = 0.5f;
    chequer(one, 1, 0);
    chequer(two, 2, 0);
    chequer(four, 4, 0);
    expect(ZN_LOSS_LATTICE, one, grey, 0.25);
    expect(ZN_LOSS_LATTICE, two, grey, 0.25);
    expect(ZN_LOSS_LATTICE, four, grey, 0);
}

ZN_TEST(gradients_are_steps_to_neighbours)
{
    static float grey[COUNT], fine[COUNT];
    for (int i = 0; i < COUNT; i++) grey[i] = 0.5f;
    chequer(fine, 1, 0);
    expect(ZN_LOSS_GRADIENT, fine, grey, 0.5);
    expect(ZN_LOSS_WALSH, grey, grey, 0);
    expect(ZN_LOSS_WALSH, fine, grey, 0.25 * 8 / 64); // one of 64 numbers, 8 times the amplitude
}
