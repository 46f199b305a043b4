// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/token/pixel_lowering.h"

#include "src/base/memory.h"
#include "src/op/conv/conv_weights.h"
#include "src/op/convert_parallel.h"
#include "src/op/row_lowering.h"

enum { PIECE = 4096 }; // elements of the widest map in a piece, unless one pixel has more

typedef struct pixel_input {
    bool map, widens;
    zn_conversion widen;
    size_t elements;       // of a pixel
    const float *constant; // of a parameter
    size_t at;             // offset of the widened pixels in a part of the scratch
} pixel_input;

typedef struct pixel_lowering {
    zn_lowering base;
    const zn_node *node;
    const zn_kernels *kernels;
    zn_pixels_fn *compute;
    pixel_input inputs[ZN_PIXEL_INPUTS];
    bool narrows;
    zn_conversion narrow;
    bool rows;              // a pixel is a row
    size_t width, elements; // pixels of a row, elements of a pixel
    size_t piece;           // pixels
    size_t result_at;       // offset of the f32 result in a part of the scratch
    size_t parts, part_bytes;
} pixel_lowering;

typedef struct job {
    const pixel_lowering *lowering;
    const zn_call *call;
    size_t pixels;
} job;

size_t zn_pixel_elements(const zn_node *node)
{
    return zn_node_is_map(node) ? (size_t)node->desc.shape.dim[3] : zn_row_elements(node);
}

static const float *take(const pixel_input *input, const void *data, size_t first, size_t count,
                         uint8_t *part)
{
    if (input->constant) return input->constant;
    if (!input->map) return data;
    const size_t size = zn_type_size(input->widen.from);
    const uint8_t *src = (const uint8_t *)data + first * input->elements * size;
    if (!input->widens) return (const float *)(const void *)src;
    float *wide = (float *)(void *)(part + input->at);
    input->widen.run(src, input->widen.from_scale, wide, 1, count * input->elements);
    return wide;
}

static void run_piece(const pixel_lowering *l, const zn_call *call, size_t first, size_t count,
                      uint8_t *part)
{
    zn_pixels pixels = {.node = l->node, .kernels = l->kernels, .count = count};
    for (int i = 0; i < l->node->inputs_count; i++)
        pixels.inputs[i] = take(&l->inputs[i], call->inputs[i], first, count, part);
    uint8_t *dst = (uint8_t *)call->output + first * l->elements * zn_type_size(l->narrow.to);
    pixels.dst = (float *)(void *)(l->narrows ? part + l->result_at : dst);
    l->compute(&pixels);
    if (l->narrows) l->narrow.run(pixels.dst, 1, dst, l->narrow.to_scale, count * l->elements);
}

static void run_parts(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const pixel_lowering *l = j->lowering;
    const size_t pieces = (j->pixels + l->piece - 1) / l->piece;
    for (size_t part = begin; part < end; part++) {
        uint8_t *scratch = (uint8_t *)j->call->scratch + part * l->part_bytes;
        const size_t last = (part + 1) * pieces / l->parts;
        for (size_t i = part * pieces / l->parts; i < last && !zn_call_stopped(j->call); i++) {
            const size_t first = i * l->piece, rest = j->pixels - first;
            run_piece(l, j->call, first, rest < l->piece ? rest : l->piece, scratch);
        }
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const pixel_lowering *l = (const pixel_lowering *)base;
    const size_t rows = zn_node_is_map(l->node) ? (size_t)call->rows : 1;
    job j = {l, call, rows * l->width};
    zn_parallel(call->team, l->parts, 1, run_parts, &j);
    return ZENITH_OK;
}

static size_t elements_of(const pixel_lowering *l, const zn_node *node)
{
    return l->rows && zn_node_is_map(node) ? zn_row_elements(node) : zn_pixel_elements(node);
}

static bool is_plain(const zn_desc *desc)
{
    return desc->type == ZN_F32 && desc->scale == 1.0f;
}

static zenith_status prepare_input(pixel_lowering *l, const zn_lowering_request *request, int i,
                                   zn_error *err)
{
    const zn_node *node = request->node->inputs[i];
    pixel_input *input = &l->inputs[i];
    if (node->kind == ZN_NODE_PARAMETER)
        return zn_pack_vector(request->packs, &node->constant, (const void **)&input->constant,
                              err);
    input->map = zn_node_is_map(node);
    if (!input->map) return ZENITH_OK;
    input->elements = elements_of(l, node);
    input->widens = !is_plain(&node->desc);
    return zn_conversion_make(request->kernels, node->desc.type, node->desc.scale, ZN_F32, 1,
                              &input->widen, err);
}

// The piece is as long as the widest map allows; then each array that is converted gets a place.
static void lay_out(pixel_lowering *l)
{
    size_t widest = l->elements;
    for (int i = 0; i < l->node->inputs_count; i++) {
        if (l->inputs[i].elements > widest) widest = l->inputs[i].elements;
    }
    l->piece = widest < PIECE ? PIECE / widest : 1;
    for (int i = 0; i < l->node->inputs_count; i++) {
        pixel_input *input = &l->inputs[i];
        if (!input->widens) continue;
        input->at = l->part_bytes;
        l->part_bytes += zn_round_up(l->piece * input->elements * sizeof(float), ZN_ALIGN);
    }
    l->result_at = l->part_bytes;
    if (l->narrows) l->part_bytes += zn_round_up(l->piece * l->elements * sizeof(float), ZN_ALIGN);
}

static zenith_status prepare(pixel_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_node *node = request->node;
    if (node->inputs_count > ZN_PIXEL_INPUTS)
        return zn_fail(err, ZENITH_INTERNAL, "%s has too many inputs", node->op->name);
    for (int i = 0; i < node->inputs_count; i++) ZN_TRY(prepare_input(l, request, i, err));
    l->narrows = !is_plain(&node->desc);
    ZN_TRY(zn_conversion_make(request->kernels, ZN_F32, 1, node->desc.type, node->desc.scale,
                              &l->narrow, err));
    l->width = zn_node_is_map(node) && !l->rows ? (size_t)node->desc.shape.dim[2] : 1;
    l->elements = elements_of(l, node);
    lay_out(l);
    if (!zn_mul_size(l->part_bytes, l->parts, &l->base.scratch_bytes))
        return zn_fail_memory(err, SIZE_MAX);
    return ZENITH_OK;
}

static zenith_status make(const zn_lowering_request *request, zn_pixels_fn *compute, bool rows,
                          zn_lowering **out, zn_error *err)
{
    pixel_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "pixels"},
                           .node = request->node,
                           .kernels = request->kernels,
                           .compute = compute,
                           .rows = rows,
                           .parts = (size_t)request->threads};
    ZN_TRY(prepare(&made, request, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

zenith_status zn_pixel_lower(const zn_lowering_request *request, zn_pixels_fn *compute,
                             zn_lowering **out, zn_error *err)
{
    return make(request, compute, false, out, err);
}

zenith_status zn_pixel_lower_rows(const zn_lowering_request *request, zn_pixels_fn *compute,
                                  zn_lowering **out, zn_error *err)
{
    return make(request, compute, true, out, err);
}
