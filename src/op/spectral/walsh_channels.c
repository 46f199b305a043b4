// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y = W x over the channels of each pixel, a power of two of them.
#include "src/kernel/kernels.h"
#include "src/kernel/spectral/walsh.h"
#include "src/op/operator.h"
#include "src/op/spectral/walsh_checks.h"

#include <math.h>

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_walsh_check_map(node, 0, err));
    ZN_TRY(
        zn_walsh_check_length(node, node->inputs[0]->desc.shape.dim[3], "number of channels", err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    const size_t channels = (size_t)output->desc.shape.dim[3], count = zn_value_count(output);
    for (size_t pixel = 0; pixel < count; pixel += channels) {
        double values[ZN_WALSH_LONGEST];
        for (size_t c = 0; c < channels; c++)
            values[c] = (double)zn_value_get(&inputs[0], pixel + c);
        zn_walsh_double(values, channels);
        for (size_t c = 0; c < channels; c++)
            zn_value_set(output, pixel + c, (float)(values[c] / sqrt((double)channels)));
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct channels_lowering {
    zn_lowering base;
    const zn_walsh *kernel;
    zn_type from, to;
    size_t width, channels;
    float scale;
} channels_lowering;

static void run_row(const zn_lowering *base, const zn_call *call, size_t row, void *scratch)
{
    const channels_lowering *l = (const channels_lowering *)base;
    const size_t at = row * l->width * l->channels;
    l->kernel->vectors(l->from, l->to,
                       (const uint8_t *)call->inputs[0] + at * zn_type_size(l->from),
                       (uint8_t *)call->output + at * zn_type_size(l->to), l->channels, l->width,
                       l->scale, scratch);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_desc *x = &request->node->inputs[0]->desc;
    const size_t channels = (size_t)x->shape.dim[3];
    channels_lowering made = {
        .base = ZN_LOWERING_OF_PIECES(run_row, "walsh"),
        .kernel = request->kernels->walsh,
        .from = x->type,
        .to = request->node->desc.type,
        .width = (size_t)x->shape.dim[2],
        .channels = channels,
        .scale = (float)((double)x->scale / sqrt((double)channels)),
    };
    ZN_TRY(zn_lowering_part(&made.base, request, 0, zn_round_up(channels * sizeof(float), ZN_ALIGN),
                            err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static double flops(const zn_node *node)
{
    const int64_t *dim = node->desc.shape.dim;
    const double stages = (double)zn_walsh_log2((size_t)dim[3]);
    return (stages + 1) * (double)(dim[0] * dim[1]) * (double)(dim[2] * dim[3]);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)input;
    return zn_walsh_channels(graph, node->name, dy);
}

const zn_op zn_op_walsh_channels = {
    .name = "walsh_channels",
    .summary = "the Walsh-Hadamard transform of each pixel's channels",
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pair", NULL, 0, ZN_MAP(1, 1, 2)),
                          ZN_SAMPLE("few", NULL, 0, ZN_MAP(5, 7, 8)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(3, 5, 64)),
                          ZN_SAMPLE("many", NULL, 0, ZN_MAP(2, 3, 1024))),
};

zn_node *zn_walsh_channels(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_walsh_channels, name, &x, 1, NULL);
}
