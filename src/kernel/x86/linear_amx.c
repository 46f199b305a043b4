// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// linear in AMX tiles. Two tiles of 16 tokens times two of 16 outputs, as in conv_dot_amx.c, so
// that each tile loaded is used twice:
//
//                 outputs 0..15    outputs 16..31         weights: tiles 6, 7
//     tokens a        tile 0           tile 1             tokens:  tiles 4, 5
//     tokens b        tile 2           tile 3
//
// A step is 64 bytes of k. A run is 12 of them, so that 32 tokens (24 KB) and a panel (24 KB) fit
// the first-level cache of 48 KB together: tokens are then read from it for every panel, and only
// weights come from the second-level cache, 2 KB in the 64 cycles of four products.
#if !(defined(__AMX_TILE__) || defined(__AMXTILE__))
#error "this file needs -mamx-tile -mamx-bf16 -mamx-int8"
#endif

#include "src/kernel/linear/linear.h"

#include <immintrin.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    STEP = 64, // bytes of k
    SIDE = 16, // tokens and outputs of a tile
    TOKENS = 2 * SIDE,
    PANEL = 2 * SIDE,
    GROUP = 4,                            // bytes of k of one output that lie together
    ROW_BYTES = PANEL * GROUP,            // from a group to the next, of weights and of sums
    STEP_BYTES = STEP / GROUP * ROW_BYTES // of a panel's weights
};

// Eight tiles of 16 rows of 64 bytes. A constant: compilers do not know that the instruction reads
// all of it, and might leave out what is written to a local one.
static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config = {.palette = 1,
                 .row_bytes = {STEP, STEP, STEP, STEP, STEP, STEP, STEP, STEP},
                 .rows = {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE}};

#define MULTIPLY(integer, sum, tokens, weights)                                                    \
    do {                                                                                           \
        if (integer)                                                                               \
            _tile_dpbssd(sum, tokens, weights);                                                    \
        else                                                                                       \
            _tile_dpbf16ps(sum, tokens, weights);                                                  \
    } while (0)

ALWAYS_INLINE void begin_sums(const char *sums, bool first, const bool two)
{
    if (first) {
        _tile_zero(0);
        _tile_zero(1);
        if (two) _tile_zero(2);
        if (two) _tile_zero(3);
        return;
    }
    _tile_loadd(0, sums, ROW_BYTES);
    _tile_loadd(1, sums + STEP, ROW_BYTES);
    if (two) _tile_loadd(2, sums + SIDE * ROW_BYTES, ROW_BYTES);
    if (two) _tile_loadd(3, sums + SIDE * ROW_BYTES + STEP, ROW_BYTES);
}

ALWAYS_INLINE void end_sums(char *sums, const bool two)
{
    _tile_stored(0, sums, ROW_BYTES);
    _tile_stored(1, sums + STEP, ROW_BYTES);
    if (two) _tile_stored(2, sums + SIDE * ROW_BYTES, ROW_BYTES);
    if (two) _tile_stored(3, sums + SIDE * ROW_BYTES + STEP, ROW_BYTES);
}

// `two` tiles of tokens, or one; both constants where this is inlined.
ALWAYS_INLINE void panel(const zn_linear_tile *t, int64_t steps, const char *weights, char *sums,
                         const char *ahead, size_t lines, const bool two, const bool integer)
{
    const char *tokens = t->placed;
    __asm__ volatile("" ::: "memory"); // compilers do not know that loading a tile reads memory
    begin_sums(sums, t->first, two);
    for (int64_t s = 0; s < steps; s++, tokens += STEP, weights += STEP_BYTES) {
        _tile_loadd(6, weights, ROW_BYTES);
        _tile_loadd(4, tokens, t->stride);
        _tile_loadd(7, weights + STEP, ROW_BYTES);
        if (two) _tile_loadd(5, tokens + SIDE * t->stride, t->stride);
        MULTIPLY(integer, 0, 4, 6);
        if (two) MULTIPLY(integer, 2, 5, 6);
        MULTIPLY(integer, 1, 4, 7);
        if (two) MULTIPLY(integer, 3, 5, 7);
        for (size_t i = 0; i < lines; i++) __builtin_prefetch(ahead + i * 64, 0, 2);
        ahead += lines * 64;
    }
    end_sums(sums, two);
}

ALWAYS_INLINE void multiply(const zn_linear_tile *t, size_t element, const bool two,
                            const bool integer)
{
    const int64_t steps = t->k * (int64_t)element / STEP, turns = t->panels * steps;
    const size_t lines = (t->ahead_bytes / 64 + (size_t)turns - 1) / (size_t)turns;
    _tile_loadconfig(&tile_config);
    for (int p = 0; p < t->panels; p++)
        panel(t, steps, (const char *)t->weights + p * steps * STEP_BYTES,
              (char *)t->sums + p * TOKENS * ROW_BYTES,
              t->ahead + (size_t)p * (t->ahead_bytes / (size_t)t->panels), lines, two, integer);
    _tile_release();
}

static void bf16_tile(const zn_linear_tile *tile)
{
    if (tile->tokens <= SIDE)
        multiply(tile, sizeof(uint16_t), false, false);
    else
        multiply(tile, sizeof(uint16_t), true, false);
}

static void s8_tile(const zn_linear_tile *tile)
{
    if (tile->tokens <= SIDE)
        multiply(tile, sizeof(int8_t), false, true);
    else
        multiply(tile, sizeof(int8_t), true, true);
}

#define TILES                                                                                      \
    .name = "amx", .tokens = TOKENS, .panel = PANEL, .end = zn_linear_end_avx512,                  \
    .round = zn_linear_round_avx512, .unpack = zn_linear_unpack_avx512
const zn_linear_version zn_linear_bf16_amx = {
    TILES,      .weights = ZN_BF16, .placed = ZN_BF16, .group = 2, .step = STEP / 2,
    .run = 384, .tile = bf16_tile};
const zn_linear_version zn_linear_s8_amx = {TILES,          .weights = ZN_S8, .placed = ZN_S8,
                                            .group = 4,     .step = STEP,     .run = 768,
                                            .tile = s8_tile};
