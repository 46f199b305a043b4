// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A call is cut into pieces, areas of a few rows and tiles; part i of the scratch takes every so
// many of them. Of few areas each is cut by output channels, so that a thread reads its share of
// the weights once: cut by rows, each thread would read them all, and maps of few pixels take
// longer to read weights than to multiply. Which piece a result lies in changes no bit, so pieces
// may follow the number of threads.
#include "src/op/conv/conv_winograd.h"

#include "src/base/memory.h"
#include "src/kernel/kernels.h"
#include "src/op/conv/conv_weights.h"

bool zn_conv_winograd_fits(const zn_lowering_request *request, const zn_conv_parts *parts)
{
    const int64_t *w = parts->weight.tensor.desc.shape.dim;
    const int64_t from = parts->node->inputs[0]->desc.shape.dim[2];
    if (from != parts->node->desc.shape.dim[2]) return false;
    if (parts->direct || (request->dnn && !(request->cpu.flags & ZN_CPU_AVX2))) return false;
    return w[2] == 3 && w[3] == 3 && parts->stride == 1 && parts->pad == 1 &&
           w[0] % ZN_WINOGRAD_BLOCK == 0 && w[1] % ZN_WINOGRAD_BLOCK == 0;
}

zenith_status zn_conv_winograd_make(const zn_lowering_request *request, const zn_conv_parts *parts,
                                    int levels, const float *bias, zn_conv_winograd *out,
                                    zn_error *err)
{
    const int64_t *x = parts->node->inputs[0]->desc.shape.dim;
    const int64_t tiles = (x[2] + ZN_WINOGRAD_TILE - 1) / ZN_WINOGRAD_TILE;
    zn_area most = zn_winograd_largest(x[3]);
    const void *packed;
    size_t part_bytes, all;
    if (most.rows > request->rows) most.rows = request->rows;
    if (most.columns > tiles) most.columns = tiles;
    if (!zn_winograd_scratch_bytes(x[3], &most, &part_bytes)) return zn_fail_memory(err, SIZE_MAX);
    part_bytes = zn_round_up(part_bytes, ZN_ALIGN);
    if (!zn_mul_size(part_bytes, (size_t)request->threads, &all))
        return zn_fail_memory(err, SIZE_MAX);
    ZN_TRY(zn_conv_weights_for_winograd(request->packs, &parts->weight, levels, &packed, err));
    *out = (zn_conv_winograd){
        .run = request->kernels->winograd,
        .args = {.width = x[2],
                 .channels_in = x[3],
                 .channels_out = parts->weight.tensor.desc.shape.dim[0],
                 .out_step = parts->weight.tensor.desc.shape.dim[0],
                 .packed = packed,
                 .bias = bias,
                 .relu = parts->relu},
        .most = most,
        .parts = (size_t)request->threads,
        .part_bytes = part_bytes,
    };
    return ZENITH_OK;
}

size_t zn_conv_winograd_scratch(const zn_conv_winograd *self)
{
    return self->parts * self->part_bytes;
}

typedef struct job {
    const zn_conv_winograd *self;
    zn_winograd_args args;
    zn_areas areas;
    int64_t slices; // of the output channels, of each area
    uint8_t *scratch;
} job;

static void run_piece(const job *j, int64_t piece, float *scratch)
{
    const int64_t slice = piece % j->slices, units = j->args.channels_out / ZN_WINOGRAD_BLOCK;
    const zn_area area = zn_areas_get(&j->areas, piece / j->slices);
    const zn_winograd_args args = zn_winograd_channels(
        j->args, units * slice / j->slices * ZN_WINOGRAD_BLOCK,
        units * (slice + 1) / j->slices * ZN_WINOGRAD_BLOCK);
    j->self->run(&args, &area, scratch);
}

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    for (size_t part = begin; part < end; part++) {
        float *scratch = (float *)(void *)(j->scratch + part * j->self->part_bytes);
        const int64_t count = zn_areas_count(&j->areas) * j->slices;
        for (int64_t i = (int64_t)part; i < count; i += (int64_t)j->self->parts)
            run_piece(j, i, scratch);
    }
}

// Slices that give every thread as many pieces; 1 where areas do already, or where slices would be
// too thin.
static int64_t choose_slices(int64_t areas, int64_t parts, int64_t channels)
{
    enum { THINNEST = 64 };
    int64_t slices = 1;
    if (areas >= parts) return 1;
    while (areas * slices % parts != 0) slices++;
    return slices * THINNEST <= channels ? slices : 1;
}

void zn_conv_winograd_run(const zn_conv_winograd *self, zn_team *team, int64_t rows,
                          const float *src, const float *residual, float *dst, void *scratch)
{
    const int64_t tiles = (self->args.width + ZN_WINOGRAD_TILE - 1) / ZN_WINOGRAD_TILE;
    job j = {.self = self, .args = self->args, .scratch = scratch};
    j.args.src = src;
    j.args.residual = residual;
    j.args.dst = dst;
    const int64_t parts = (int64_t)self->parts;
    j.areas = zn_areas_cut(rows, self->most.rows, tiles, self->most.columns, 1);
    j.slices = choose_slices(zn_areas_count(&j.areas), parts, j.args.channels_out);
    if (j.slices == 1)
        j.areas = zn_areas_cut(rows, self->most.rows, tiles, self->most.columns, parts);
    zn_parallel(team, self->parts, 1, run_part, &j);
}
