// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiles: the vector version of walsh.c, after walsh_body.h. A vector is LANES channels of a pixel.
// Rows of a tile are transformed on their way from the map to the scratch, its columns there, with
// the gate in the middle, and rows again on their way back. With pruned bits a tile has m = size >>
// pruned frequencies along each side: rows come in as m sums, columns are m sums of those, and what
// goes back is copied to the pixels that share it.

typedef struct walsh_block {
    const zn_walsh_tiling *tile;
    size_t channel; // first
    int64_t lanes;
    float *x, *dy; // [rows, m] vectors
} walsh_block;

static bool is_whole(const zn_walsh_pixels *p, const walsh_block *b)
{
    bool whole = b->lanes == LANES;
    for (int i = 0; i < b->tile->size; i++) whole &= p->rows[i] && p->columns[i] >= 0;
    return whole;
}

static int kept_of(const walsh_block *b)
{
    return b->tile->size >> b->tile->pruned;
}

static unsigned bits_of(const walsh_block *b)
{
    return zn_walsh_log2((size_t)kept_of(b));
}

static vec load_pixel(const zn_walsh_pixels *p, int y, int x, const walsh_block *b)
{
    if (!p->rows[y] || p->columns[x] < 0) return vec_zero();
    return load_part(p->type, p->rows[y], (size_t)p->columns[x] + b->channel, b->lanes);
}

static vec add_tree(vec *values, int n)
{
    for (; n > 1; n /= 2) {
        for (int i = 0; i < n / 2; i++) values[i] = vec_add(values[2 * i], values[2 * i + 1]);
    }
    return values[0];
}

// What halved tiles keep; without it the compiler would look at 32 pixels of a tile of 16.
#define AT_MOST_HALF(m) ((m) < ZN_WALSH_TILE_MOST ? (m) : ZN_WALSH_TILE_MOST / 2)

// --- rows ----------------------------------------------------------------------------------------

// m values of each row, from pixels or (halved: one bit is pruned) from the sums of two. The pixels
// of the next tile to the right are fetched meanwhile.
ALWAYS void take_rows(const zn_type type, const bool halved, const int m, const zn_walsh_pixels *p,
                      const walsh_block *b, float *dst)
{
    const size_t size = type == ZN_F32 ? sizeof(float) : sizeof(uint16_t);
    const int64_t ahead = (p->columns[1] - p->columns[0]) * b->tile->size;
    for (int y = 0; y < m << halved; y++) {
        const char *row = (const char *)p->rows[y] + b->channel * size;
        vec v[16];
        UNROLL for (int j = 0; j < m; j++)
        {
            const size_t at = (size_t)p->columns[j << halved];
            __builtin_prefetch(row + (at + (size_t)ahead) * size, 0, 2);
            v[j] = load_map(type, row, at);
            if (!halved) continue;
            const size_t second = (size_t)p->columns[2 * j + 1];
            __builtin_prefetch(row + (second + (size_t)ahead) * size, 0, 2);
            v[j] = vec_add(v[j], load_map(type, row, second));
        }
        stages_up(v, m);
        UNROLL for (int j = 0; j < m; j++) vec_store_f32(dst + (y * m + j) * LANES, v[j]);
    }
}

// Rows that are in the scratch already, up or down.
ALWAYS void turn_rows(const int m, const bool up, float *rows, int count)
{
    for (int y = 0; y < count; y++) {
        vec v[16];
        UNROLL for (int j = 0; j < m; j++) v[j] = vec_load_f32(rows + (y * m + j) * LANES);
        if (up)
            stages_up(v, m);
        else
            stages_down(v, m);
        UNROLL for (int j = 0; j < m; j++) vec_store_f32(rows + (y * m + j) * LANES, v[j]);
    }
}

// The m sums of each column, after the stages of rows.
static void sum_rows(const walsh_block *b, float *rows)
{
    const int m = kept_of(b), n = 1 << b->tile->pruned;
    vec values[ZN_WALSH_TILE_MOST];
    for (int i = 0; i < m * m && n > 1; i++) {
        for (int k = 0; k < n; k++)
            values[k] = vec_load_f32(rows + ((i / m * n + k) * m + i % m) * LANES);
        vec_store_f32(rows + i * LANES, add_tree(values, n));
    }
}

// Borders, few channels and more pruned bits.
static void take_sums_of_pixels(const zn_walsh_pixels *p, const walsh_block *b, float *dst)
{
    const int m = kept_of(b), n = 1 << b->tile->pruned, size = b->tile->size;
    vec values[ZN_WALSH_TILE_MOST];
    for (int i = 0; i < size * m; i++) {
        for (int k = 0; k < n; k++) values[k] = load_pixel(p, i / m, i % m * n + k, b);
        vec_store_f32(dst + i * LANES, add_tree(values, n));
    }
#define ROWS_UP(kept) turn_rows(kept, true, dst, size)
    FOR_BITS(bits_of(b), ROWS_UP)
}

static void take_pixels(const zn_walsh_pixels *p, const walsh_block *b, float *dst)
{
#define TAKE_ROWS_F32(m)         take_rows(ZN_F32, false, m, p, b, dst)
#define TAKE_ROWS_BF16(m)        take_rows(ZN_BF16, false, m, p, b, dst)
#define TAKE_HALVED_ROWS_F32(m)  take_rows(ZN_F32, true, AT_MOST_HALF(m), p, b, dst)
#define TAKE_HALVED_ROWS_BF16(m) take_rows(ZN_BF16, true, AT_MOST_HALF(m), p, b, dst)
    if (b->tile->pruned > 1 || !is_whole(p, b))
        take_sums_of_pixels(p, b, dst);
    else if (b->tile->pruned && p->type == ZN_F32)
        FOR_BITS(bits_of(b), TAKE_HALVED_ROWS_F32)
    else if (b->tile->pruned)
        FOR_BITS(bits_of(b), TAKE_HALVED_ROWS_BF16)
    else if (p->type == ZN_F32)
        FOR_BITS(bits_of(b), TAKE_ROWS_F32)
    else
        FOR_BITS(bits_of(b), TAKE_ROWS_BF16)
    sum_rows(b, dst);
}

ALWAYS void give_rows(const zn_type type, const bool halved, const int m, const zn_walsh_pixels *p,
                      const walsh_block *b, const float *src)
{
    for (int k = 0; k < m; k++) {
        vec v[16];
        UNROLL for (int j = 0; j < m; j++) v[j] = vec_load_f32(src + (k * m + j) * LANES);
        stages_down(v, m);
        for (int y = k << halved; y < (k + 1) << halved; y++) {
            UNROLL for (int j = 0; j < m; j++)
            {
                store_map(type, p->rows[y], (size_t)p->columns[j << halved] + b->channel, v[j]);
                if (halved)
                    store_map(type, p->rows[y], (size_t)p->columns[2 * j + 1] + b->channel, v[j]);
            }
        }
    }
}

static void give_copies_of_pixels(const zn_walsh_pixels *p, const walsh_block *b, float *src)
{
    const int m = kept_of(b), size = b->tile->size;
#define ROWS_DOWN(kept) turn_rows(kept, false, src, kept)
    FOR_BITS(bits_of(b), ROWS_DOWN)
    for (int i = 0; i < size * size; i++) {
        const int y = i / size, x = i % size;
        if (!p->rows[y] || p->columns[x] < 0) continue;
        const float *from = src + ((y >> b->tile->pruned) * m + (x >> b->tile->pruned)) * LANES;
        store_part(p->type, p->rows[y], (size_t)p->columns[x] + b->channel, b->lanes,
                   vec_load_f32(from));
    }
}

static void give_pixels(const zn_walsh_pixels *p, const walsh_block *b, float *src)
{
#define GIVE_ROWS_F32(m)         give_rows(ZN_F32, false, m, p, b, src)
#define GIVE_ROWS_BF16(m)        give_rows(ZN_BF16, false, m, p, b, src)
#define GIVE_HALVED_ROWS_F32(m)  give_rows(ZN_F32, true, AT_MOST_HALF(m), p, b, src)
#define GIVE_HALVED_ROWS_BF16(m) give_rows(ZN_BF16, true, AT_MOST_HALF(m), p, b, src)
    if (b->tile->pruned > 1 || !is_whole(p, b))
        give_copies_of_pixels(p, b, src);
    else if (b->tile->pruned && p->type == ZN_F32)
        FOR_BITS(bits_of(b), GIVE_HALVED_ROWS_F32)
    else if (b->tile->pruned)
        FOR_BITS(bits_of(b), GIVE_HALVED_ROWS_BF16)
    else if (p->type == ZN_F32)
        FOR_BITS(bits_of(b), GIVE_ROWS_F32)
    else
        FOR_BITS(bits_of(b), GIVE_ROWS_BF16)
}

// --- columns, in the scratch ---------------------------------------------------------------------

ALWAYS void load_column(const int m, const float *src, int x, vec *v)
{
    UNROLL for (int j = 0; j < m; j++) v[j] = vec_load_f32(src + (j * m + x) * LANES);
    stages_up(v, m);
}

ALWAYS void store_column(const int m, float *dst, int x, vec *v)
{
    stages_down(v, m);
    UNROLL for (int j = 0; j < m; j++) vec_store_f32(dst + (j * m + x) * LANES, v[j]);
}

// The place of a frequency's factors.
ALWAYS size_t factor_at(const walsh_block *b, int ky, int kx)
{
    const zn_walsh_tiling *t = b->tile;
    return (size_t)((ky << t->pruned) * t->size + (kx << t->pruned)) * t->step + b->channel;
}

ALWAYS vec soft(vec v, vec threshold)
{
    const vec above = vec_sub(vec_abs(v), threshold);
    return vec_where_positive(above, vec_copy_sign(above, v));
}

ALWAYS void gate_columns(const int m, const walsh_block *b)
{
    const zn_walsh_tiling *t = b->tile;
    for (int x = 0; x < m; x++) {
        vec v[16];
        load_column(m, b->x, x, v);
        UNROLL for (int j = 0; j < m; j++)
            v[j] = vec_mul(v[j], vec_load_part(t->gate + factor_at(b, j, x), b->lanes));
        if (t->threshold) {
            UNROLL for (int j = 0; j < m; j++)
                v[j] = soft(v[j], vec_load_part(t->threshold + factor_at(b, j, x), b->lanes));
        }
        store_column(m, b->x, x, v);
    }
}

// `value` where a frequency is above its threshold, else 0.
ALWAYS vec where_above(const walsh_block *b, vec gated, size_t at, vec value)
{
    const vec threshold = vec_load_part(b->tile->threshold + at, b->lanes);
    return vec_where_positive(vec_sub(vec_abs(gated), threshold), value);
}

ALWAYS void gradient_columns(const int m, const walsh_block *b)
{
    for (int x = 0; x < m; x++) {
        vec u[16], v[16];
        load_column(m, b->x, x, u);
        load_column(m, b->dy, x, v);
        UNROLL for (int j = 0; j < m; j++)
        {
            const size_t at = factor_at(b, j, x);
            const vec gate = vec_load_part(b->tile->gate + at, b->lanes);
            v[j] = where_above(b, vec_mul(u[j], gate), at, vec_mul(v[j], gate));
        }
        store_column(m, b->dy, x, v);
    }
}

ALWAYS void sum_columns(const int m, const walsh_block *b, float *of_gate, float *of_threshold)
{
    for (int x = 0; x < m; x++) {
        vec u[16], v[16];
        load_column(m, b->x, x, u);
        load_column(m, b->dy, x, v);
        for (int j = 0; j < m; j++) {
            const size_t at = factor_at(b, j, x);
            const vec gated = vec_mul(u[j], vec_load_part(b->tile->gate + at, b->lanes));
            vec product = vec_mul(u[j], v[j]), sign = vec_copy_sign(vec_set1(1), gated);
            sign = vec_mul(sign, v[j]);
            if (b->tile->threshold) {
                product = where_above(b, gated, at, product);
                sign = where_above(b, gated, at, sign);
            }
            if (of_gate)
                vec_store_part(of_gate + at, b->lanes,
                               vec_add(vec_load_part(of_gate + at, b->lanes), product));
            if (of_threshold)
                vec_store_part(of_threshold + at, b->lanes,
                               vec_sub(vec_load_part(of_threshold + at, b->lanes), sign));
        }
    }
}

// --- whole tiles ---------------------------------------------------------------------------------

static walsh_block block_of(const zn_walsh_tiling *tile, size_t channel)
{
    const size_t left = tile->channels - channel;
    return (walsh_block){.tile = tile,
                         .channel = channel,
                         .lanes = left < LANES ? (int64_t)left : LANES,
                         .x = tile->scratch,
                         .dy = tile->scratch + tile->size * tile->size * LANES};
}

static void gate_tile(const zn_walsh_tiling *tile, const zn_walsh_pixels *src,
                      const zn_walsh_pixels *dst)
{
    for (size_t channel = 0; channel < tile->channels; channel += LANES) {
        const walsh_block b = block_of(tile, channel);
        take_pixels(src, &b, b.x);
#define GATE_COLUMNS(m) gate_columns(m, &b)
        FOR_BITS(bits_of(&b), GATE_COLUMNS)
        give_pixels(dst, &b, b.x);
    }
}

static void gradient_of_tile(const zn_walsh_tiling *tile, const zn_walsh_pixels *dy,
                             const zn_walsh_pixels *x, const zn_walsh_pixels *dst)
{
    for (size_t channel = 0; channel < tile->channels; channel += LANES) {
        const walsh_block b = block_of(tile, channel);
        take_pixels(x, &b, b.x);
        take_pixels(dy, &b, b.dy);
#define GRADIENT_COLUMNS(m) gradient_columns(m, &b)
        FOR_BITS(bits_of(&b), GRADIENT_COLUMNS)
        give_pixels(dst, &b, b.dy);
    }
}

static void sums_of_tile(const zn_walsh_tiling *tile, const zn_walsh_pixels *dy,
                         const zn_walsh_pixels *x, float *of_gate, float *of_threshold)
{
    for (size_t channel = 0; channel < tile->channels; channel += LANES) {
        const walsh_block b = block_of(tile, channel);
        take_pixels(x, &b, b.x);
        take_pixels(dy, &b, b.dy);
#define SUM_COLUMNS(m) sum_columns(m, &b, of_gate, of_threshold)
        FOR_BITS(bits_of(&b), SUM_COLUMNS)
    }
}
