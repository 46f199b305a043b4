// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y = W x over the channels of each pixel, a power of two of them.
#include "src/base/memory.h"
#include "src/kernel/kernels.h"
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
    size_t width, channels, parts, part_bytes;
    float scale;
} channels_lowering;

typedef struct job {
    const channels_lowering *lowering;
    const zn_call *call;
} job;

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const channels_lowering *l = j->lowering;
    for (size_t part = begin; part < end; part++) {
        uint8_t *scratch = (uint8_t *)j->call->scratch + part * l->part_bytes;
        for (size_t row = part; row < (size_t)j->call->rows; row += l->parts) {
            const size_t at = row * l->width * l->channels;
            l->kernel->vectors(l->from, l->to,
                               (const uint8_t *)j->call->inputs[0] + at * zn_type_size(l->from),
                               (uint8_t *)j->call->output + at * zn_type_size(l->to), l->channels,
                               l->width, l->scale, (float *)(void *)scratch);
        }
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const channels_lowering *l = (const channels_lowering *)base;
    job j = {l, call};
    zn_parallel(call->team, l->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    channels_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    const zn_desc *x = &request->node->inputs[0]->desc;
    const size_t channels = (size_t)x->shape.dim[3];
    *l = (channels_lowering){
        .base = {.run = run, .free = zn_lowering_free, .id = "walsh"},
        .kernel = request->kernels->walsh,
        .from = x->type,
        .to = request->node->desc.type,
        .width = (size_t)x->shape.dim[2],
        .channels = channels,
        .parts = (size_t)request->threads,
        .part_bytes = zn_round_up(channels * sizeof(float), ZN_ALIGN),
        .scale = (float)((double)x->scale / sqrt((double)channels)),
    };
    l->base.scratch_bytes = l->parts * l->part_bytes;
    *out = &l->base;
    return ZENITH_OK;
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

static const zn_op_sample samples[] = {
    {.name = "pair", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 2}}}},
    {.name = "few", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 8}}}},
    {.name = "wide", .inputs_count = 1, .inputs = {{4, {1, 3, 5, 64}}}},
    {.name = "many", .inputs_count = 1, .inputs = {{4, {1, 2, 3, 1024}}}},
};

const zn_op zn_op_walsh_channels = {
    .name = "walsh_channels",
    .summary = "the Walsh-Hadamard transform of each pixel's channels",
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_walsh_channels(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_walsh_channels, name, &x, 1, NULL);
}
