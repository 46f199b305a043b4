// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_dot in AMX tiles. docs/SPEED.md has the measurements behind each choice.
//
// A tile of 16 pixels times a tile of 16 output channels takes 64 bytes of each pixel per step. Two
// tiles of pixels and two of channels are worked on together, so that each tile loaded is used
// twice:
//
//                 channels 0..15   channels 16..31        weights: tiles 6, 7
//     pixels a        tile 0           tile 1             src:     tiles 4, 5
//     pixels b        tile 2           tile 3
//
// Order. Weights of 32 output channels (36 KB for 3x3x64 bf16) stay in the first-level cache while
// the rows of the call pass by, 512 columns of them: those are read again for the next 32 channels,
// and should still be in the second-level cache then. Pixels a and b lie above each other, so that
// three of the four rows they read are common to both. The sums of a block go through memory; what
// follows the sum (bias, residual, relu, rounding) is done in portions between the steps of the
// next block, where the vector units idle.
//
// With many channels the weights of 32 outputs are more than the first-level cache holds (295 KB
// for 3x3x512). Their sums are then made in parts of 18 steps, in the same order: 36 KB of weights
// stay there while 64 columns of the rows pass by, and the sums of those wait in the second-level
// cache. Without that, weights and pixels come from there both, at 64 bytes for every cycle that
// tiles multiply.
//
// At the ends of a row, where a tile would read beyond it, the pixels are copied beside zeros
// first: once, before the first channels.
//
// Nothing is copied as a struct between blocks: a wide load after narrow stores waits until they
// have left the pipeline, and with them every tile product before (that cost 8 % of a decode).
#if !defined(__AVX512BF16__) || !(defined(__AMX_TILE__) || defined(__AMXTILE__))
#error "this file needs -mamx-tile -mamx-bf16 -mamx-int8 -mavx512bf16 and AVX-512"
#endif

#include "src/kernel/x86/conv_dot_tiles.h"

enum {
    BLOCK = ZN_CONV_DOT_BLOCK,
    STEP = ZN_CONV_DOT_BYTES,
    PIXELS = 16,                             // of a tile
    SUMS = PIXELS * BLOCK,                   // of a tile
    COLUMNS = 512,                           // of a call that pass by together
    PART_COLUMNS = ZN_CONV_DOT_PART_COLUMNS, // the same where sums are made in parts
    PORTION = 8,                             // pixels finished between two steps
    PORTIONS = 2 * PIXELS / PORTION
};

// What the sums become; ZN_TYPE_COUNT: there is no residual.
typedef struct finish_types {
    zn_type dst, residual;
    bool integer; // sums are s32, not f32
    bool masked;
} finish_types;

struct job;
typedef void finish_fn(const struct job *job, int portion);

// What a call does. One block is summed while the one before waits to be finished.
typedef struct job {
    const zn_conv_dot_args *a;
    placing placing;
    finish_fn *finish;
    float floor, residual_scale; // floor: 0 with relu, and for what has no sign
    tile tiles[2][2];            // of the block summed, [current], and of the one waiting
    int current;
    float *all_sums;     // of the blocks that pass by together; of one block without parts
    int64_t parts;       // of a sum
    int64_t first, last; // steps of this part, of all kernel rows
    float *sums,
        *waiting; // [2 tiles of pixels][2 of channels][SUMS] of the block, and of the one waiting
    int waiting_channel, waiting_tiles; // first output channel, tiles of channels
    bool whole;                         // both tiles of channels are there, and full
    int portion;                        // next to finish; PORTIONS: nothing waits
} job;

// --- after the sum ------------------------------------------------------------------------------

static inline void store_pair(zn_type type, __m512 v0, __m512 v1, uint8_t *dst)
{
    if (type == ZN_BF16) {
        _mm512_storeu_si512(dst, (__m512i)_mm512_cvtne2ps_pbh(v1, v0));
        return;
    }
    store(type, v0, dst);
    store(type, v1, dst + BLOCK * type_size(type));
}

// Sixteen channels of one pixel, before they are stored.
static inline __attribute__((always_inline)) __m512
finish_vector(const job *j, const float *sums, __m512 scale, __m512 bias, const void *residual,
              const void *mask, const finish_types *types)
{
    __m512 v = _mm512_load_ps(sums);
    if (types->integer) v = _mm512_cvtepi32_ps(_mm512_castps_si512(v));
    v = _mm512_fmadd_ps(v, scale, bias);
    if (types->residual != ZN_TYPE_COUNT)
        v = _mm512_fmadd_ps(load_residual(types->residual, residual),
                            _mm512_set1_ps(j->residual_scale), v);
    v = _mm512_max_ps(_mm512_set1_ps(j->floor), v);
    return types->masked ? vec_where_positive(load_residual(types->dst, mask), v) : v;
}

// The same where there are fewer channels.
static inline __attribute__((always_inline)) void
finish_some(const job *j, const float *sums, int64_t channel, const uint8_t *residual,
            const uint8_t *mask, uint8_t *dst, const finish_types *types)
{
    const zn_conv_dot_args *a = j->a;
    const int64_t left = a->channels_out - channel;
    const size_t room = (size_t)(left < BLOCK ? left : BLOCK);
    uint8_t from[BLOCK * sizeof(float)] = {0}, keep[BLOCK * sizeof(float)] = {0};
    if (types->residual != ZN_TYPE_COUNT) memcpy(from, residual, room * type_size(types->residual));
    if (types->masked) memcpy(keep, mask, room * type_size(types->dst));
    const __m512 v = finish_vector(j, sums, _mm512_loadu_ps(a->scale + channel),
                                   _mm512_loadu_ps(a->bias + channel), from, keep, types);
    store_some(types->dst, v, dst, room);
}

// A whole portion of pixels with 32 channels, which is nearly all of them.
static inline __attribute__((always_inline)) void finish_whole(const job *j, const float *sums,
                                                               const uint8_t *residual,
                                                               const uint8_t *mask, uint8_t *dst,
                                                               const finish_types *types)
{
    const float *scale = j->a->scale + j->waiting_channel, *bias = j->a->bias + j->waiting_channel;
    const size_t dst_size = type_size(types->dst), residual_size = type_size(types->residual);
    const size_t pixel = (size_t)(j->a->channels_out * j->a->dst_step);
    const size_t dst_pixel = pixel * dst_size, residual_pixel = pixel * residual_size;
    const __m512 scale0 = _mm512_loadu_ps(scale), scale1 = _mm512_loadu_ps(scale + BLOCK);
    const __m512 bias0 = _mm512_loadu_ps(bias), bias1 = _mm512_loadu_ps(bias + BLOCK);
    for (int i = 0; i < PORTION; i++, sums += BLOCK) {
        const __m512 v0 = finish_vector(j, sums, scale0, bias0, residual, mask, types);
        const __m512 v1 = finish_vector(j, sums + SUMS, scale1, bias1,
                                        residual + BLOCK * residual_size, mask + BLOCK * dst_size,
                                        types);
        store_pair(types->dst, v0, v1, dst);
        dst += dst_pixel;
        if (types->masked) mask += dst_pixel;
        residual += residual_pixel;
    }
}

// One portion of the waiting block; the types are constants where this is inlined.
static inline __attribute__((always_inline)) void finish(const job *j, int portion,
                                                         finish_types types)
{
    const zn_conv_dot_args *a = j->a;
    const int which = portion / (PIXELS / PORTION);
    const tile *t = &j->tiles[1 - j->current][which];
    const int64_t first = portion % (PIXELS / PORTION) * PORTION;
    const size_t dst_size = type_size(types.dst), residual_size = type_size(types.residual);
    const float *sums = j->waiting + which * 2 * SUMS + first * BLOCK;
    const size_t pixel = (size_t)(a->channels_out * a->dst_step);
    const size_t at = (size_t)(t->out * a->channels_out + j->waiting_channel) +
                      (size_t)first * pixel;
    uint8_t *dst = (uint8_t *)a->dst + at * dst_size;
    const uint8_t *residual = (const uint8_t *)a->residual + at * residual_size;
    const uint8_t *mask = types.masked ? (const uint8_t *)a->mask + at * dst_size : dst;
    if (j->whole && t->count == PIXELS) {
        finish_whole(j, sums, residual, mask, dst, &types);
        return;
    }
    for (int64_t i = first; i < first + PORTION && i < t->count; i++, sums += BLOCK) {
        for (int n = 0; n < j->waiting_tiles; n++) {
            const int64_t channel = j->waiting_channel + n * BLOCK;
            finish_some(j, sums + n * SUMS, channel, residual + (size_t)(n * BLOCK) * residual_size,
                        mask + (size_t)(n * BLOCK) * dst_size, dst + (size_t)(n * BLOCK) * dst_size,
                        &types);
        }
        dst += pixel * dst_size;
        mask += pixel * dst_size;
        residual += pixel * residual_size;
    }
}

#define FINISH(name, dst, residual, integer)                                                       \
    static void name(const job *j, int portion)                                                    \
    {                                                                                              \
        finish(j, portion, (finish_types){dst, residual, integer, false});                         \
    }
#define FINISH_ALL(kind, integer)                                                                  \
    FINISH(kind##_f32, ZN_F32, ZN_TYPE_COUNT, integer)                                             \
    FINISH(kind##_f32_f32, ZN_F32, ZN_F32, integer)                                                \
    FINISH(kind##_f32_bf16, ZN_F32, ZN_BF16, integer)                                              \
    FINISH(kind##_f32_u8, ZN_F32, ZN_U8, integer)                                                  \
    FINISH(kind##_f32_s8, ZN_F32, ZN_S8, integer)                                                  \
    FINISH(kind##_bf16, ZN_BF16, ZN_TYPE_COUNT, integer)                                           \
    FINISH(kind##_bf16_f32, ZN_BF16, ZN_F32, integer)                                              \
    FINISH(kind##_bf16_bf16, ZN_BF16, ZN_BF16, integer)                                            \
    FINISH(kind##_bf16_u8, ZN_BF16, ZN_U8, integer)                                                \
    FINISH(kind##_bf16_s8, ZN_BF16, ZN_S8, integer)                                                \
    FINISH(kind##_u8, ZN_U8, ZN_TYPE_COUNT, integer)                                               \
    FINISH(kind##_u8_f32, ZN_U8, ZN_F32, integer)                                                  \
    FINISH(kind##_u8_bf16, ZN_U8, ZN_BF16, integer)                                                \
    FINISH(kind##_u8_u8, ZN_U8, ZN_U8, integer)                                                    \
    FINISH(kind##_u8_s8, ZN_U8, ZN_S8, integer)                                                    \
    FINISH(kind##_s8, ZN_S8, ZN_TYPE_COUNT, integer)                                               \
    FINISH(kind##_s8_f32, ZN_S8, ZN_F32, integer)                                                  \
    FINISH(kind##_s8_bf16, ZN_S8, ZN_BF16, integer)                                                \
    FINISH(kind##_s8_u8, ZN_S8, ZN_U8, integer)                                                    \
    FINISH(kind##_s8_s8, ZN_S8, ZN_S8, integer)
#define FINISH_MASKED(name, dst, residual)                                                         \
    static void name(const job *j, int portion)                                                    \
    {                                                                                              \
        finish(j, portion, (finish_types){dst, residual, false, true});                            \
    }
FINISH_ALL(from_f32, false)
FINISH_ALL(from_s32, true)

// Rows: f32, bf16, u8, s8 of the result. Columns: no residual, then the same four.
#define TABLE(kind)                                                                                \
    {                                                                                              \
        {kind##_f32, kind##_f32_f32, kind##_f32_bf16, kind##_f32_u8, kind##_f32_s8},               \
            {kind##_bf16, kind##_bf16_f32, kind##_bf16_bf16, kind##_bf16_u8, kind##_bf16_s8},      \
            {kind##_u8, kind##_u8_f32, kind##_u8_bf16, kind##_u8_u8, kind##_u8_s8},                \
        {                                                                                          \
            kind##_s8, kind##_s8_f32, kind##_s8_bf16, kind##_s8_u8, kind##_s8_s8                   \
        }                                                                                          \
    }
static finish_fn *const finishers[2][4][5] = {TABLE(from_f32), TABLE(from_s32)};

FINISH_MASKED(masked_f32, ZN_F32, ZN_TYPE_COUNT)
FINISH_MASKED(masked_f32_f32, ZN_F32, ZN_F32)
FINISH_MASKED(masked_f32_bf16, ZN_F32, ZN_BF16)
FINISH_MASKED(masked_bf16, ZN_BF16, ZN_TYPE_COUNT)
FINISH_MASKED(masked_bf16_f32, ZN_BF16, ZN_F32)
FINISH_MASKED(masked_bf16_bf16, ZN_BF16, ZN_BF16)
static finish_fn *const masked_finishers[2][3] = {{masked_f32, masked_f32_f32, masked_f32_bf16},
                                                  {masked_bf16, masked_bf16_f32, masked_bf16_bf16}};

static int column_of(zn_type type)
{
    return type == ZN_F32 ? 0 : type == ZN_BF16 ? 1 : type == ZN_U8 ? 2 : 3;
}

static finish_fn *pick_finish(const zn_conv_dot_args *a)
{
    const int residual = a->residual ? 1 + column_of(a->residual_type) : 0;
    if (a->mask) return masked_finishers[column_of(a->dst_type)][residual];
    return finishers[a->src_type != ZN_BF16][column_of(a->dst_type)][residual];
}

static void finish_rest(job *j)
{
    while (j->portion < PORTIONS) j->finish(j, j->portion++);
}

// --- the sums -----------------------------------------------------------------------------------

#define MULTIPLY(kind, sum, pixels, weights)                                                       \
    do {                                                                                           \
        if ((kind) == ZN_BF16) _tile_dpbf16ps(sum, pixels, weights);                               \
        if ((kind) == ZN_U8) _tile_dpbusd(sum, pixels, weights);                                   \
        if ((kind) == ZN_S8) _tile_dpbssd(sum, pixels, weights);                                   \
    } while (0)

// Zeros, or the sums of the parts before.
static inline __attribute__((always_inline)) void begin_sums(const job *j, int count)
{
    const float *sums = j->sums;
    if (j->first > 0) {
        _tile_loadd(0, sums, STEP);
        _tile_loadd(2, sums + 2 * SUMS, STEP);
        if (count == 2) _tile_loadd(1, sums + SUMS, STEP);
        if (count == 2) _tile_loadd(3, sums + 3 * SUMS, STEP);
        return;
    }
    _tile_zero(0);
    _tile_zero(2);
    if (count == 2) _tile_zero(1);
    if (count == 2) _tile_zero(3);
}

// Sums of two tiles of pixels with `count` tiles of channels; kind and count are constants where
// this is inlined. Between the steps the waiting block is finished.
static inline __attribute__((always_inline)) void sum_block(job *j, const uint8_t *weights,
                                                            zn_type kind, int count)
{
    const zn_conv_dot_args *a = j->a;
    const tile *t = j->tiles[j->current];
    float *sums = j->sums;
    const int64_t steps = a->kernel_w * j->placing.pixel_bytes / STEP;
    const int64_t next = a->kernel_h * steps * SUMS * 4; // bytes to the next channels' weights
    const size_t pixel = (size_t)(a->stride * j->placing.pixel_bytes);
    __asm__ volatile("" ::: "memory"); // compilers do not know that loading a tile reads memory
    begin_sums(j, count);
    weights += j->first * SUMS * 4;
    for (int64_t done = j->first; done < j->last;) {
        const int64_t ky = done / steps, at = (done - ky * steps) * STEP;
        const int64_t end = (ky + 1) * steps < j->last ? (ky + 1) * steps : j->last;
        const uint8_t *src0 = t[0].src + ky * t[0].src_row - (ky >= t[0].wrap ? a->src_ring : 0);
        const uint8_t *src1 = t[1].src + ky * t[1].src_row - (ky >= t[1].wrap ? a->src_ring : 0);
        src0 += at;
        src1 += at;
        for (; done < end; done++, src0 += STEP, src1 += STEP, weights += SUMS * 4) {
            _tile_loadd(6, weights, STEP);
            _tile_loadd(4, src0, pixel);
            if (count == 2) _tile_loadd(7, weights + next, STEP);
            _tile_loadd(5, src1, pixel);
            MULTIPLY(kind, 0, 4, 6);
            MULTIPLY(kind, 2, 5, 6);
            if (count == 2) MULTIPLY(kind, 1, 4, 7);
            if (count == 2) MULTIPLY(kind, 3, 5, 7);
            if (j->portion < PORTIONS) j->finish(j, j->portion++);
        }
    }
    finish_rest(j);
    _tile_stored(0, sums, STEP);
    _tile_stored(2, sums + 2 * SUMS, STEP);
    if (count == 2) {
        _tile_stored(1, sums + SUMS, STEP);
        _tile_stored(3, sums + 3 * SUMS, STEP);
    }
}

typedef void sum_fn(job *j, const uint8_t *weights);
#define SUM(name, kind, count)                                                                     \
    static void name(job *j, const uint8_t *weights)                                               \
    {                                                                                              \
        sum_block(j, weights, kind, count);                                                        \
    }
SUM(sum_bf16_1, ZN_BF16, 1)
SUM(sum_bf16_2, ZN_BF16, 2)
SUM(sum_u8_1, ZN_U8, 1)
SUM(sum_u8_2, ZN_U8, 2)
SUM(sum_s8_1, ZN_S8, 1)
SUM(sum_s8_2, ZN_S8, 2)

static sum_fn *pick_sum(zn_type type, int count)
{
    static sum_fn *const table[3][2] = {
        {sum_bf16_1, sum_bf16_2}, {sum_u8_1, sum_u8_2}, {sum_s8_1, sum_s8_2}};
    return table[type == ZN_BF16 ? 0 : type == ZN_U8 ? 1 : 2][count - 1];
}

// --- pixels -------------------------------------------------------------------------------------

// Two rows, or the last single one, whose tiles are then paired among themselves.
static void run_rows(job *j, int64_t row, int count, int channel, int tiles)
{
    const zn_conv_dot_args *a = j->a;
    const int64_t length = (int64_t)a->kernel_h * a->kernel_w * j->placing.pixel_bytes;
    const uint8_t *weights = (const uint8_t *)a->packed + channel * length;
    const bool last = j->last == a->kernel_h * a->kernel_w * j->placing.pixel_bytes / STEP;
    sum_fn *sum = pick_sum(a->src_type, tiles);
    for (int64_t x = a->x_begin; x < a->x_end; x += count == 2 ? PIXELS : 2 * PIXELS) {
        tile *t = j->tiles[j->current];
        place_tiles(&j->placing, t, row, x, count);
        if (count == 1) {
            const bool pair = x + PIXELS < a->x_end;
            if (pair)
                place_tiles(&j->placing, t + 1, row, x + PIXELS, 1);
            else
                t[1] = (tile){.src = t->src, .src_row = t->src_row, .wrap = t->wrap};
        }
        sum(j, weights);
        float *made = j->sums;
        if (j->parts > 1) j->sums += 4 * SUMS;
        if (!last) continue;
        j->waiting = made;
        j->waiting_channel = channel;
        j->waiting_tiles = tiles;
        j->whole = a->channels_out - channel >= 2 * BLOCK;
        j->portion = 0;
        j->current = 1 - j->current;
    }
}

// Eight tiles of 16 rows of 64 bytes. A constant: compilers do not know that the instruction reads
// all of it, and might leave out what is written to a local one.
static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config = {.palette = 1,
                 .row_bytes = {STEP, STEP, STEP, STEP, STEP, STEP, STEP, STEP},
                 .rows = {PIXELS, PIXELS, PIXELS, PIXELS, PIXELS, PIXELS, PIXELS, PIXELS}};

// One part of the sums of a few rows. What waits is of the part before, or of other sums.
static void run_part(job *j, int64_t begin, int64_t end, int64_t channel, int64_t part)
{
    const int64_t channels = j->a->channels_out;
    const int64_t steps = j->a->kernel_h * j->a->kernel_w * j->placing.pixel_bytes / STEP;
    j->placing.next_stage = j->placing.stage;
    j->first = steps * part / j->parts;
    j->last = steps * (part + 1) / j->parts;
    j->sums = j->all_sums;
    for (int64_t row = begin; row < end; row += 2) {
        const int count = end - row > 1 ? 2 : 1;
        run_rows(j, row, count, (int)channel, channels - channel > BLOCK ? 2 : 1);
    }
    j->placing.staged = true;
}

// All channels of a few rows.
static void run_group(job *j, int64_t begin, int64_t end)
{
    j->placing.staged = false;
    for (int64_t channel = 0; channel < j->a->channels_out; channel += 2 * BLOCK) {
        for (int64_t part = 0; part < j->parts; part++) run_part(j, begin, end, channel, part);
    }
}

void zn_conv_dot_amx(const zn_conv_dot_args *args, int64_t begin, int64_t end, void *scratch)
{
    zn_conv_dot_args part = *args;
    job j = {.a = &part,
             .finish = pick_finish(args),
             .floor = lowest_result(args),
             .residual_scale = args->residual_scale,
             .portion = PORTIONS};
    j.parts = zn_conv_dot_sum_parts(args);
    j.all_sums = scratch;
    j.placing = placing_make(&part, PIXELS,
                             (uint8_t *)(j.all_sums + zn_conv_dot_blocks(args) * 4 * SUMS));
    const int64_t columns = j.parts > 1 ? PART_COLUMNS : COLUMNS;
    _tile_loadconfig(&tile_config);
    for (int64_t x = args->x_begin; x < args->x_end; x += columns) {
        part.x_begin = x;
        part.x_end = x + columns < args->x_end ? x + columns : args->x_end;
        for (int64_t row = begin; row < end; row += ZN_CONV_DOT_ROWS) {
            run_group(&j, row, row + ZN_CONV_DOT_ROWS < end ? row + ZN_CONV_DOT_ROWS : end);
        }
    }
    finish_rest(&j);
    _tile_release();
}
