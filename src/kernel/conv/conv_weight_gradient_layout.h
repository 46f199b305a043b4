// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the versions of conv_weight_gradient keep what in scratch. Here, because its size is asked
// for without knowing the version.
#ifndef ZN_KERNEL_CONV_WEIGHT_GRADIENT_LAYOUT_H
#define ZN_KERNEL_CONV_WEIGHT_GRADIENT_LAYOUT_H

#include "src/kernel/conv/conv_weight_gradient.h"

static inline int64_t round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

// Units of work begin .. end-1 of a part, of `count` in all.
typedef struct unit_range {
    int64_t begin, end;
} unit_range;

static inline unit_range units_of_part(const zn_conv_weight_gradient_args *a, int64_t count)
{
    if (a->parts <= 1) return (unit_range){0, count};
    return (unit_range){count * a->part / a->parts, count * (a->part + 1) / a->parts};
}

static inline bool has_bias(const zn_conv_weight_gradient_args *a)
{
    return a->db && a->part == 0;
}

enum {
    BAND_BYTES = 512 * 1024
}; // rows that are prepared together: they stay in the second-level cache

// Of the vector versions: sums, then the rows of src and of dy of a band, all f32.
typedef struct vector_layout {
    int64_t run;     // floats that a pixel reads of a row of src: (kernel column, input channel)
    int64_t runs;    // run, rounded up to whole blocks of any version
    int64_t panels;  // of VECTOR_PANEL output channels
    int64_t columns; // of a row of src, with its zeros
    int64_t src_row; // floats of it, and what the last block reads beyond
    int64_t band;    // rows of dy
    int64_t src_at, dy_at;
    size_t floats;
} vector_layout;

enum { VECTOR_PANEL = 32 };

static inline vector_layout vector_layout_make(const zn_conv_weight_gradient_args *a)
{
    enum { RUN_BLOCK = 12, LINE = 16 };
    vector_layout l = {.run = a->kernel_w * a->channels_in,
                       .panels = (a->channels_out + VECTOR_PANEL - 1) / VECTOR_PANEL,
                       .columns = (a->width_out - 1) * a->stride + a->kernel_w};
    l.runs = round_up(l.run, RUN_BLOCK);
    l.src_row = round_up(l.columns * a->channels_in + l.runs - l.run, LINE);
    const int64_t dy_row = a->width_out * l.panels * VECTOR_PANEL;
    const int64_t fit = BAND_BYTES / (int64_t)sizeof(float) / (a->stride * l.src_row + dy_row);
    const int64_t bands = fit < 1 ? a->rows : (a->rows + fit - 1) / fit;
    l.band = (a->rows + bands - 1) / bands;
    l.src_at = round_up(a->kernel_h * l.runs * l.panels * VECTOR_PANEL, LINE);
    l.dy_at = l.src_at + ((l.band - 1) * a->stride + a->kernel_h) * l.src_row;
    l.floats = (size_t)(l.dy_at + l.band * dy_row);
    return l;
}

enum {
    TILE_CHANNELS = 16,
    TILE_PIXELS = 32,  // that a product of tiles adds up
    TILE_BYTES = 1024, // of sums, src and dy alike
    TILE_ROW = 64,     // bytes
    STRIP_CHUNKS = 2,  // of TILE_PIXELS: columns that all taps go through together
    STRIP_AREA = 12    // chunks of some rows likewise: they stay in the first-level cache
};

// Of the AMX version; see there. Columns of the kernel are folded into the input channels, or into
// the output channels, where that fills tiles better.
typedef struct tile_layout {
    bool fold_in, fold_out;
    int columns;       // of the kernel, that are not folded
    int phases;        // columns of src are kept apart modulo this
    int parities;      // of shifts of dy: 2, or 1 if nothing is shifted
    int64_t chunks;    // of TILE_PIXELS, in a row
    int64_t ins, outs; // channels, with the columns folded into them
    int64_t in_tiles, out_tiles;
    int64_t before, pairs;              // pairs of pixels of dy: before the first one, and all
    int64_t in_tile, out_tile;          // bytes from one to the next
    int64_t src_row, dy_row;            // bytes
    int64_t stage_before, stage_pixels; // of a row of dy beside zeros
    int64_t band;                       // rows of dy that are prepared together
    size_t bias_at, src_at, dy_at, stage_at, bytes; // in scratch; sums are at 0
} tile_layout;

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline bool folding_pays(int64_t channels, int columns)
{
    return round_up(channels * columns, TILE_CHANNELS) <
           columns * round_up(channels, TILE_CHANNELS);
}

static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

// By how much dy is shifted for a column of the kernel; its phase is what is left.
static inline int64_t shift_of(const tile_layout *l, const zn_conv_weight_gradient_args *a,
                               int64_t column)
{
    return l->fold_in || l->fold_out ? 0 : floor_div(column - a->pad_left, l->phases);
}

// Sizes in memory are odd numbers of tiles or pairs, where that keeps rows and channels out of each
// other's sets of the cache.
static inline void place_pixels(tile_layout *l, const zn_conv_weight_gradient_args *a)
{
    const int64_t least_shift = least(shift_of(l, a, 0), 0);
    const int64_t most_shift = -least(-shift_of(l, a, l->columns - 1), 0);
    const int64_t after = -floor_div(least_shift, 2);
    l->parities = least_shift < most_shift ? 2 : 1;
    l->before = most_shift / 2;
    l->pairs = (l->before + l->chunks * TILE_PIXELS / 2 + after) | 1;
    l->stage_before = 2 * l->before + 2;
    l->stage_pixels = l->stage_before + 2 * l->pairs;
    l->in_tile = (l->chunks | 1) * TILE_BYTES;
    l->out_tile = l->pairs * TILE_ROW;
    l->src_row = l->phases * l->in_tiles * l->in_tile | TILE_BYTES;
    l->dy_row = l->parities * l->out_tiles * l->out_tile;
}

static inline void place_parts(tile_layout *l, const zn_conv_weight_gradient_args *a)
{
    const int64_t strip = STRIP_AREA / least(l->chunks, STRIP_CHUNKS);
    const int64_t band = BAND_BYTES / (l->src_row * a->stride + l->dy_row);
    l->band = least(band < strip ? strip : band / strip * strip, a->rows);
    const int64_t src_rows = (l->band - 1) * a->stride + a->kernel_h;
    const int64_t weights = a->kernel_h * l->columns * l->in_tiles * l->out_tiles;
    const int64_t src_stage = l->in_tiles * TILE_PIXELS, dy_stage = l->out_tiles * l->stage_pixels;
    l->bias_at = (size_t)(weights * TILE_BYTES);
    l->src_at = l->bias_at + (size_t)(round_up(l->outs, TILE_CHANNELS) * TILE_ROW);
    l->dy_at = l->src_at + (size_t)(src_rows * l->src_row);
    l->stage_at = l->dy_at + (size_t)(l->band * l->dy_row);
    l->bytes = l->stage_at + (size_t)((src_stage + dy_stage) * TILE_CHANNELS * 2);
}

static inline tile_layout tile_layout_make(const zn_conv_weight_gradient_args *a)
{
    tile_layout l = {.fold_in = folding_pays(a->channels_in, a->kernel_w)};
    l.fold_out = !l.fold_in && a->stride == 1 && folding_pays(a->channels_out, a->kernel_w);
    l.columns = l.fold_in || l.fold_out ? 1 : a->kernel_w;
    l.phases = l.fold_in ? 1 : a->stride;
    l.ins = a->channels_in * (l.fold_in ? a->kernel_w : 1);
    l.outs = a->channels_out * (l.fold_out ? a->kernel_w : 1);
    l.in_tiles = (l.ins + TILE_CHANNELS - 1) / TILE_CHANNELS;
    l.out_tiles = (l.outs + TILE_CHANNELS - 1) / TILE_CHANNELS;
    const int64_t columns = l.fold_in ? a->width_out : (a->width_in + l.phases - 1) / l.phases;
    const int64_t width = l.fold_out || columns > a->width_out ? columns : a->width_out;
    l.chunks = (width + TILE_PIXELS - 1) / TILE_PIXELS;
    place_pixels(&l, a);
    place_parts(&l, a);
    return l;
}

#endif
