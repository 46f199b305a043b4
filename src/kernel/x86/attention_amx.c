// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/attention/attention.h in AMX tiles, for bf16. Both products are of 32 rows with a panel of
// 32 columns, as in linear_amx.c, so that each tile loaded is used twice:
//
//                  columns 0..15    columns 16..31         panel: tiles 6, 7
//     rows a          tile 0            tile 1             rows:  tiles 4, 5
//     rows b          tile 2            tile 3
//
// Rows of the first product are queries in bf16 (state->rounded), of the second the p of a block of
// keys, which are written over the scores, each row into its own first half. What a block adds to
// the sums goes through a buffer, so that no row beyond the last query is touched there; the scores
// have room for it. A row of a tile depends on no other row: rows that are computed and not wanted
// are dropped.
#if !(defined(__AMX_TILE__) || defined(__AMXTILE__)) || !defined(__AVX512BF16__)
#error "this file needs AVX-512, -mavx512bf16, -mamx-tile and -mamx-bf16"
#endif

#include "src/kernel/x86/vector_avx512.h"

#include "src/kernel/attention/attention_ends.h"

enum {
    SIDE = 16,  // rows and columns of a tile
    STEP = 32,  // depths of a step
    WIDE = 64,  // bytes of a tile's row
    PAIRS = 128 // bytes from a pair of depths of a panel to the next
};

// A constant: compilers do not know that the instruction reads all of it.
static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config = {.palette = 1,
                 .row_bytes = {WIDE, WIDE, WIDE, WIDE, WIDE, WIDE, WIDE, WIDE},
                 .rows = {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE}};

typedef struct product {
    const char *left; // rows of bf16
    int64_t left_step;
    const char *right; // a panel, from the first depth on
    int64_t steps;
    char *dst; // rows of f32
    int64_t dst_step;
} product;

// `two` tiles of rows, or one; a constant where this is inlined.
INLINE void multiply(const product *p, const bool two)
{
    const char *left = p->left, *below = left + SIDE * p->left_step, *right = p->right;
    __asm__ volatile("" ::: "memory"); // compilers do not know that loading a tile reads memory
    _tile_zero(0);
    _tile_zero(1);
    if (two) _tile_zero(2);
    if (two) _tile_zero(3);
    for (int64_t s = 0; s < p->steps; s++, left += WIDE, below += WIDE, right += SIDE * PAIRS) {
        _tile_loadd(6, right, PAIRS);
        _tile_loadd(4, left, p->left_step);
        _tile_loadd(7, right + WIDE, PAIRS);
        if (two) _tile_loadd(5, below, p->left_step);
        _tile_dpbf16ps(0, 4, 6);
        if (two) _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (two) _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, p->dst, p->dst_step);
    _tile_stored(1, p->dst + WIDE, p->dst_step);
    if (two) _tile_stored(2, p->dst + SIDE * p->dst_step, p->dst_step);
    if (two) _tile_stored(3, p->dst + SIDE * p->dst_step + WIDE, p->dst_step);
    __asm__ volatile("" ::: "memory"); // nor that storing one writes it
}

INLINE void multiply_rows(const product *p, int64_t rows)
{
    if (rows > SIDE)
        multiply(p, true);
    else
        multiply(p, false);
}

static const char *panel_at(const void *panels, int64_t depths, int64_t column, int64_t depth)
{
    return (const char *)panels +
           zn_attention_place(ZN_BF16, depths, column, depth) * sizeof(uint16_t);
}

// scores[row][0 .. count) of the rows from `first` on, a multiple of a tile's.
static void scores(const zn_attention_args *a, int64_t first, int64_t key, int64_t count)
{
    const int64_t padded = zn_attention_padded(a->width);
    product p = {.left_step = padded * (int64_t)sizeof(uint16_t),
                 .steps = padded / STEP,
                 .dst_step = KEYS * (int64_t)sizeof(float)};
    for (int64_t column = 0; column < count; column += PANEL) {
        p.right = panel_at(a->keys, padded, key + column, 0);
        for (int64_t row = first; row < a->queries; row += 2 * SIDE) {
            p.left = (const char *)(a->state->rounded + row * padded);
            p.dst = (char *)(a->state->scores + row * KEYS + column);
            multiply_rows(&p, a->queries - row);
        }
    }
}

// 2^t within 2^-13: e^x of numbers that are rounded to bf16.
INLINE vec power2(vec t)
{
    vec f;
    const vec n = vec_power2_parts(t, &f);
    vec p = vec_set1(7.8024501e-2f);
    p = vec_fmadd(p, f, vec_set1(2.2606719e-1f));
    p = vec_fmadd(p, f, vec_set1(6.9583353e-1f));
    p = vec_fmadd(p, f, vec_set1(9.9992522e-1f));
    return vec_times_power2(p, n);
}

// Makes p of the scores of one query, of which it sees the first `seen`; count is a multiple of two
// vectors. Largest scores are kept as powers of 2.
static void softmax(const zn_attention_args *a, int64_t query, int64_t seen, int64_t count)
{
    zn_attention_state *s = a->state;
    float *row = s->scores + query * KEYS, factor[LANES];
    for (int64_t i = seen; i < count; i++) row[i] = -INFINITY;
    vec most = vec_load_f32(row);
    for (int64_t i = LANES; i < count; i += LANES) most = vec_max(most, vec_load_f32(row + i));
    const float up = a->scale * 1.44269504f;
    const float old = s->largest[query], block = at_largest(most) * up;
    const float largest = block > old ? block : old;
    const vec scale = vec_set1(up), less = vec_set1(-largest);
    vec total = vec_zero();
    for (int64_t i = 0; i < count; i += 2 * LANES) {
        const vec low = power2(vec_fmadd(vec_load_f32(row + i), scale, less));
        const vec high = power2(vec_fmadd(vec_load_f32(row + i + LANES), scale, less));
        total = vec_add(total, vec_add(low, high));
        _mm512_storeu_si512((uint16_t *)(void *)row + i, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
    vec_store_f32(factor, power2(vec_set1(old - largest)));
    s->factor[query] = old == largest ? 1.0f : factor[0];
    s->total[query] = s->total[query] * s->factor[query] + at_total(total);
    s->largest[query] = largest;
}

// sums = factor * sums + what the block adds, of a panel of channels.
static void add_rows(const zn_attention_args *a, int64_t begin, int64_t end, const float *added,
                     float *sums)
{
    const int64_t padded = zn_attention_padded(a->width);
    for (int64_t i = begin; i < end; i++, added += PANEL) {
        const vec factor = vec_set1(a->state->factor[i]);
        for (int64_t c = 0; c < PANEL; c += LANES) {
            float *dst = sums + i * padded + c;
            vec_store_f32(dst, vec_fmadd(vec_load_f32(dst), factor, vec_load_f32(added + c)));
        }
    }
}

static void values(const zn_attention_args *a, int64_t first, int64_t key, int64_t count)
{
    const int64_t tokens = zn_attention_padded(a->tokens), start = first / SIDE * SIDE;
    _Alignas(64) float added[2 * SIDE * PANEL];
    product p = {.left_step = KEYS * (int64_t)sizeof(float),
                 .steps = count / STEP,
                 .dst = (char *)added,
                 .dst_step = PANEL * (int64_t)sizeof(float)};
    for (int64_t column = 0; column < a->width; column += PANEL) {
        p.right = panel_at(a->values, tokens, column, key);
        for (int64_t row = start; row < a->queries; row += 2 * SIDE) {
            const int64_t begin = row < first ? first : row;
            const int64_t left = a->queries - row, end = row + (left < 2 * SIDE ? left : 2 * SIDE);
            p.left = (const char *)(a->state->scores + row * KEYS);
            multiply_rows(&p, left);
            add_rows(a, begin, end, added + (begin - row) * PANEL, a->sums + column);
        }
    }
}

// One block of keys. Queries before `first` see none of it.
static void add_keys(const zn_attention_args *a, int64_t key)
{
    const int64_t left = zn_attention_padded(a->tokens) - key, count = left < KEYS ? left : KEYS;
    int64_t first = 0;
    while (first < a->queries && zn_attention_seen(a, first) <= key) first++;
    scores(a, first / SIDE * SIDE, key, count);
    for (int64_t i = first; i < a->queries; i++) {
        const int64_t seen = zn_attention_seen(a, i) - key;
        softmax(a, i, seen < count ? seen : count, count);
    }
    values(a, first, key, count);
}

// Rows are filled up to whole tiles, with zeros.
static void round_queries(const zn_attention_args *a)
{
    const int64_t padded = zn_attention_padded(a->width), n = a->queries * padded;
    const int64_t rows = (a->queries + SIDE - 1) / SIDE * SIDE;
    uint16_t *dst = a->state->rounded;
    for (int64_t i = 0; i < n; i += 2 * LANES) {
        const vec low = vec_load_f32(a->q + i), high = vec_load_f32(a->q + i + LANES);
        _mm512_storeu_si512(dst + i, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
    memset(dst + n, 0, (size_t)(rows * padded - n) * sizeof *dst);
}

void zn_attention_amx(const zn_attention_args *args, int64_t begin, int64_t end)
{
    const zn_attention_args a = *args; // which no store can be suspected to change
    const int64_t most = zn_attention_seen(&a, a.queries - 1), last = end < most ? end : most;
    if (begin == 0) {
        at_begin(&a);
        round_queries(&a);
    }
    _tile_loadconfig(&tile_config);
    for (int64_t key = begin; key < last; key += KEYS) add_keys(&a, key);
    _tile_release();
    if (begin < most && end >= most) at_finish(&a);
}
