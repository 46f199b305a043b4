// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification, one line and one channel at a time, and the table of the version in vectors.
// See walsh.h.
#include "src/kernel/spectral/walsh.h"

#include <math.h>

#ifdef ZN_BASELINE // the specification

// --- one line -----------------------------------------------------------------------------------

// Sums and differences of neighbours at `bit`, along `length` values at every `step`-th.
static void stage(float *values, size_t length, size_t step, unsigned bit)
{
    const size_t apart = (size_t)1 << bit;
    for (size_t i = 0; i < length; i++) {
        if (i & apart) continue;
        const float a = values[i * step], b = values[(i + apart) * step];
        values[i * step] = a + b;
        values[(i + apart) * step] = a - b;
    }
}

static void upwards(float *values, size_t length, size_t step)
{
    for (unsigned bit = 0; (size_t)1 << bit < length; bit++) stage(values, length, step, bit);
}

static void downwards(float *values, size_t length, size_t step)
{
    for (unsigned bit = zn_walsh_log2(length); bit-- > 0;) stage(values, length, step, bit);
}

static bool is_pruned(size_t frequency, unsigned pruned)
{
    return frequency & (((size_t)1 << pruned) - 1);
}

static void take_line(zn_type type, const void *src, size_t length, size_t step, size_t line,
                      float *dst)
{
    for (size_t i = 0; i < length; i++) dst[i] = zn_type_load(type, src, i * step + line);
    upwards(dst, length, 1);
}

static void gate_scalar(const zn_walsh_lines *l, const void *src, void *dst, const float *gate,
                        float *scratch)
{
    for (size_t line = 0; line < l->count; line++) {
        take_line(l->src_type, src, l->length, l->step, line, scratch);
        for (size_t k = 0; k < l->length; k++)
            scratch[k] = is_pruned(k, l->pruned)
                             ? 0
                             : scratch[k] * gate[zn_walsh_gate_at(l->length, k, line)];
        downwards(scratch, l->length, 1);
        for (size_t i = 0; i < l->length; i++)
            zn_type_store(l->dst_type, dst, i * l->step + line, scratch[i]);
    }
}

static void lines_scalar(const zn_walsh_lines *l, const void *src, void *dst, float scale,
                         float *scratch)
{
    for (size_t line = 0; line < l->count; line++) {
        take_line(l->src_type, src, l->length, l->step, line, scratch);
        for (size_t i = 0; i < l->length; i++)
            zn_type_store(l->dst_type, dst, i * l->step + line, scratch[i] * scale);
    }
}

static void products_scalar(const zn_walsh_lines *l, const void *src, const void *other,
                            float *sums, size_t sums_step, float *scratch)
{
    float *second = scratch + l->length;
    for (size_t line = 0; line < l->count; line++) {
        take_line(l->src_type, src, l->length, l->step, line, scratch);
        take_line(l->dst_type, other, l->length, l->step, line, second);
        for (size_t k = 0; k < l->length; k++) sums[k * sums_step + line] += scratch[k] * second[k];
    }
}

static void vectors_scalar(zn_type src_type, zn_type dst_type, const void *src, void *dst,
                           size_t length, size_t count, float scale, float *scratch)
{
    for (size_t v = 0; v < count; v++) {
        for (size_t i = 0; i < length; i++)
            scratch[i] = zn_type_load(src_type, src, v * length + i);
        upwards(scratch, length, 1);
        for (size_t i = 0; i < length; i++)
            zn_type_store(dst_type, dst, v * length + i, scratch[i] * scale);
    }
}

// --- one channel of a tile ----------------------------------------------------------------------

enum { MOST = ZN_WALSH_TILE_MOST * ZN_WALSH_TILE_MOST };

static void take_tile(const zn_walsh_tiling *t, const zn_walsh_pixels *p, size_t channel, float *v)
{
    const size_t size = (size_t)t->size;
    for (size_t i = 0; i < size * size; i++) {
        const void *row = p->rows[i / size];
        const int64_t column = p->columns[i % size];
        v[i] = row && column >= 0 ? zn_type_load(p->type, row, (size_t)column + channel) : 0;
    }
    for (size_t y = 0; y < size; y++) upwards(v + y * size, size, 1);
    for (size_t x = 0; x < size; x++) upwards(v + x, size, size);
}

static void give_tile(const zn_walsh_tiling *t, const zn_walsh_pixels *p, size_t channel, float *v)
{
    const size_t size = (size_t)t->size;
    for (size_t x = 0; x < size; x++) downwards(v + x, size, size);
    for (size_t y = 0; y < size; y++) downwards(v + y * size, size, 1);
    for (size_t i = 0; i < size * size; i++) {
        void *row = p->rows[i / size];
        const int64_t column = p->columns[i % size];
        if (row && column >= 0) zn_type_store(p->type, row, (size_t)column + channel, v[i]);
    }
}

static bool is_pruned_in_tile(const zn_walsh_tiling *t, size_t k)
{
    return is_pruned(k / (size_t)t->size, t->pruned) || is_pruned(k % (size_t)t->size, t->pruned);
}

static void tile_scalar(const zn_walsh_tiling *t, const zn_walsh_pixels *src,
                        const zn_walsh_pixels *dst)
{
    const size_t count = (size_t)(t->size * t->size);
    for (size_t c = 0; c < t->channels; c++) {
        float v[MOST];
        take_tile(t, src, c, v);
        for (size_t k = 0; k < count; k++) {
            v[k] = is_pruned_in_tile(t, k) ? 0 : v[k] * t->gate[k * t->step + c];
            if (!t->threshold) continue;
            const float above = fabsf(v[k]) - t->threshold[k * t->step + c];
            v[k] = above > 0 ? copysignf(above, v[k]) : 0;
        }
        give_tile(t, dst, c, v);
    }
}

static void tile_gradient_scalar(const zn_walsh_tiling *t, const zn_walsh_pixels *dy,
                                 const zn_walsh_pixels *x, const zn_walsh_pixels *dst)
{
    const size_t count = (size_t)(t->size * t->size);
    for (size_t c = 0; c < t->channels; c++) {
        float u[MOST], v[MOST];
        take_tile(t, x, c, u);
        take_tile(t, dy, c, v);
        for (size_t k = 0; k < count; k++) {
            const float gate = t->gate[k * t->step + c];
            const bool passes = fabsf(u[k] * gate) > t->threshold[k * t->step + c];
            v[k] = passes && !is_pruned_in_tile(t, k) ? v[k] * gate : 0;
        }
        give_tile(t, dst, c, v);
    }
}

static void tile_sums_scalar(const zn_walsh_tiling *t, const zn_walsh_pixels *dy,
                             const zn_walsh_pixels *x, float *of_gate, float *of_threshold)
{
    const size_t count = (size_t)(t->size * t->size);
    for (size_t c = 0; c < t->channels; c++) {
        float u[MOST], v[MOST];
        take_tile(t, x, c, u);
        take_tile(t, dy, c, v);
        for (size_t k = 0; k < count; k++) {
            const size_t at = k * t->step + c;
            const float value = u[k] * t->gate[at];
            if (is_pruned_in_tile(t, k)) continue;
            if (t->threshold && !(fabsf(value) > t->threshold[at])) continue;
            if (of_gate) of_gate[at] += u[k] * v[k];
            if (of_threshold) of_threshold[at] -= copysignf(1, value) * v[k];
        }
    }
}

const zn_walsh zn_walsh_reference = {
    .gate = gate_scalar,
    .lines = lines_scalar,
    .products = products_scalar,
    .vectors = vectors_scalar,
    .tile = tile_scalar,
    .tile_gradient = tile_gradient_scalar,
    .tile_sums = tile_sums_scalar,
};

#else // in vectors

#include "src/kernel/spectral/walsh_lines.h"
#include "src/kernel/spectral/walsh_tiles.h"

const zn_walsh VERSION(zn_walsh) = {
    .gate = gate_lines,
    .lines = scale_lines,
    .products = multiply_lines,
    .vectors = transform_vectors,
    .tile = gate_tile,
    .tile_gradient = gradient_of_tile,
    .tile_sums = sums_of_tile,
};

#endif
