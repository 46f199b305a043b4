// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/scan/scan_rules.h"

#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

static bool is_back(const zn_node *node)
{
    return ((const zn_scan_attributes *)node->attributes)->back;
}

zenith_status zn_scan_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_two_maps(node, err));
    ZN_TRY(zn_check_wide_floats(node, ZN_SCAN_DECAY, err));
    return zn_check_wide_floats(node, ZN_SCAN_X, err);
}

double zn_scan_flops(const zn_node *node)
{
    return 2 * zn_flops_of_input(node);
}

void zn_scan_reference(const zn_node *node, int dimension, const zn_tensor *inputs,
                       zn_tensor *output)
{
    const int64_t *dim = output->desc.shape.dim;
    const size_t length = (size_t)dim[dimension], count = zn_value_count(output);
    const size_t step = (size_t)(dimension == 1 ? dim[2] * dim[3] : dim[3]);
    for (size_t i = 0; i < count; i++) {
        if (i / step % length != 0) continue; // not the beginning of a line
        double state = 0;
        for (size_t k = 0; k < length; k++) {
            const size_t at = i + (is_back(node) ? length - 1 - k : k) * step;
            state = (double)zn_value_get(&inputs[ZN_SCAN_DECAY], at) * state +
                    (double)zn_value_get(&inputs[ZN_SCAN_X], at);
            zn_value_set(output, at, (float)state);
        }
    }
}

// The map in which each pixel is the one that stands `by` pixels farther; zeros where there is none.
static zn_node *shifted(zn_graph *graph, const char *name, zn_node *x, int dimension, int64_t by)
{
    const int64_t *dim = x ? x->desc.shape.dim : NULL;
    if (!x) return NULL;
    return zn_window(graph, name, x,
                     (zn_window_attributes){.top = dimension == 1 ? by : 0,
                                            .left = dimension == 2 ? by : 0,
                                            .height = dim[1],
                                            .width = dim[2]});
}

zn_node *zn_scan_gradient(zn_graph *graph, const zn_node *node, int dimension, int input,
                          zn_node *dy)
{
    const bool back = is_back(node);
    const int64_t next = back ? -1 : 1;
    zn_node *decay = shifted(graph, node->name, node->inputs[ZN_SCAN_DECAY], dimension, next);
    zn_node *sums = (dimension == 1 ? zn_scan_columns : zn_scan_rows)(graph, node->name, decay, dy,
                                                                      !back);
    if (input == ZN_SCAN_X) return sums;
    zn_node *before = shifted(graph, node->name, graph->nodes[node->id], dimension, -next);
    return zn_gated(graph, node->name, before, sums, ZN_ACTIVATION_NONE);
}
