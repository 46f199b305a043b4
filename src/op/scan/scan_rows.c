// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A scan along each row. Rows know nothing of each other, so they stream like those of a convolution.
#include "src/op/operator.h"
#include "src/op/scan/scan_rules.h"

#include <string.h>

enum { ALONG = 2 };

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    zn_scan_reference(node, ALONG, inputs, output);
}

static void scan_row(const zn_node *node, const float *const *inputs, float *dst)
{
    const bool back = ((const zn_scan_attributes *)node->attributes)->back;
    const size_t width = (size_t)node->desc.shape.dim[2],
                 channels = (size_t)node->desc.shape.dim[3];
    const float *before = NULL;
    for (size_t k = 0; k < width; k++) {
        const size_t at = (back ? width - 1 - k : k) * channels;
        const float *decay = inputs[ZN_SCAN_DECAY] + at, *x = inputs[ZN_SCAN_X] + at;
        float *state = dst + at;
        if (before)
            for (size_t c = 0; c < channels; c++) state[c] = decay[c] * before[c] + x[c];
        else
            memcpy(state, x, channels * sizeof *x);
        before = state;
    }
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_scan_gradient(graph, node, ALONG, input, dy);
}

static const zn_scan_attributes forth = {false}, back = {true};

const zn_op zn_op_scan_rows = {
    .name = "scan_rows",
    .summary = "a state along each row: decay times itself, plus x",
    .attributes_size = sizeof(zn_scan_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = zn_scan_infer,
    .reference = reference,
    .row = scan_row,
    .lower = zn_row_lower,
    .flops = zn_scan_flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &forth, 0, ZN_MAP(1, 1, 1), ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("forth", &forth, 0, ZN_MAP(3, 9, 5), ZN_MAP(3, 9, 5)),
                          ZN_SAMPLE("back", &back, 0, ZN_MAP(5, 7, 16), ZN_MAP(5, 7, 16)),
                          ZN_SAMPLE("column", &forth, 0, ZN_MAP(6, 1, 3), ZN_MAP(6, 1, 3))),
};

zn_node *zn_scan_rows(zn_graph *graph, const char *name, zn_node *decay, zn_node *x, bool back_)
{
    return zn_graph_add(graph, &zn_op_scan_rows, name, (zn_node *[]){decay, x}, ZN_SCAN_INPUTS,
                        &(zn_scan_attributes){back_});
}
