// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of tile_mask's scores is straight through: the sum of x * dy over each rectangle,
// whether the mask lets it pass or not.
#include "src/op/ops.h"
#include "tests/testing.h"

enum {
    HEIGHT = 4,
    WIDTH = 6,
    CHANNELS = 2,
    ROWS = 2,
    COLUMNS = 3,
    COUNT = HEIGHT * WIDTH * CHANNELS
};

ZN_TEST(scores_learn_through_the_mask)
{
    zn_error err = {0};
    zn_graph graph;
    static float x[COUNT], dy[COUNT], scores[ROWS * COLUMNS] = {1, -1, 0, -2, 3, -1};
    float sums[ROWS * COLUMNS], expected[ROWS * COLUMNS] = {0}, masked[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i % 7) - 3;
        dy[i] = (float)(i % 5) - 1;
        const int pixel = i / CHANNELS, row = pixel / WIDTH / 2, column = pixel % WIDTH / 2;
        expected[row * COLUMNS + column] += x[i] * dy[i];
    }
    const zn_desc map = zn_desc_make(ZN_F32, ZN_SHAPE(1, HEIGHT, WIDTH, CHANNELS));
    const zn_tensor grid = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(ROWS, COLUMNS)), .data = scores};
    zn_graph_begin(&graph, &err);
    zn_node *score = zn_graph_parameter(&graph, "scores", grid);
    zn_node *from = zn_graph_input(&graph, "x", map), *dloss = zn_graph_input(&graph, "dy", map);
    zn_node *y = zn_tile_mask(&graph, "y", from, score);
    zn_node *gradient = zn_op_tile_mask.gradient(&graph, y, 1, dloss);
    zn_test_ok(graph.status, &err);
    assert_true(zn_shape_equal(&gradient->desc.shape, &score->desc.shape));
    const zn_tensor maps[] = {{.desc = map, .data = x}, {.desc = map, .data = dy}},
                    inputs[] = {{.desc = map, .data = x}, grid};
    zn_tensor result = {.desc = gradient->desc, .data = sums}, seen = {.desc = map, .data = masked};
    zn_test_ok(zn_node_reference(gradient, maps, &result, &err), &err);
    zn_test_ok(zn_node_reference(y, inputs, &seen, &err), &err);
    for (int i = 0; i < ROWS * COLUMNS; i++) assert_float_equal(sums[i], expected[i], 1e-5);
    for (int i = 0; i < COUNT; i++) {
        const int pixel = i / CHANNELS, row = pixel / WIDTH / 2, column = pixel % WIDTH / 2;
        assert_float_equal(masked[i], scores[row * COLUMNS + column] < 0 ? 0 : x[i], 0);
    }
    zn_graph_free(&graph);
}
