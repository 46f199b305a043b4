// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_weight_gradient of bf16 maps in AMX tiles.
//
// The gradient for one tap (ky, kx) is a product of matrices, added up over pixels:
//
//     sums[i][o] += src[i][pixel] * dy[pixel shifted by the tap][o]
//
// A tile instruction adds up 32 pixels for 16 x 16 channels. It wants 16 rows of 32 pixels of src,
// so src is transposed; and 16 rows of dy, each two pixels of 16 channels side by side, so pixels
// of dy are paired. It is dy that is shifted by kx: by an even number of pixels that is just
// another address, and for odd numbers there is a second copy with the other pixels paired.
// (Shifting the transposed src needs no copy, but tiles that do not begin on cache lines took 1.6
// times as long.) Two tiles of each are worked on together, so that a tile loaded is used twice:
//
//                outputs 0..15   outputs 16..31           dy:  tiles 6, 7
//     inputs a       tile 0          tile 1               src: tiles 4, 5
//     inputs b       tile 2          tile 3
//
// Order. A band of rows is prepared (transposed, paired) in scratch, in the second-level cache. For
// 32 inputs x 32 outputs, strips of 384 pixels of it, which fit into the first-level cache, go
// through all taps. Between taps the sums go through memory: 8 KB for 48 products of tiles.
//
// Few channels would leave most of a tile empty. Where it pays, the columns of the kernel are
// folded into them:
//   of src     "pixel" x is the run of (column, channel) that output x reads, as it lies in memory;
//   of dy      "pixel" x is the run of (column backwards, channel) of the outputs that read x.
//
// With a stride, columns of src are kept apart by their remainder (phase), each as a plane of its
// own.
//
// Threads share the squares of 32 inputs x 32 outputs, and each prepares the channels that its
// squares need.
//
// The order of output channels in tiles of dy is that of the unpack instructions that make pairs;
// channel_at has it.
#if !defined(__AVX512BF16__) || !(defined(__AMX_TILE__) || defined(__AMXTILE__))
#error "this file needs -mamx-tile -mamx-bf16 -mavx512bf16 and AVX-512"
#endif

#include "src/kernel/conv/conv_weight_gradient_layout.h"
#include "src/kernel/unroll.h"

#include <immintrin.h>
#include <string.h>

enum { SUMS = TILE_CHANNELS * TILE_CHANNELS };

// Memory that the next band will read.
typedef struct ahead {
    const uint8_t *at;
    int64_t lines;
} ahead;

typedef struct job {
    const zn_conv_weight_gradient_args *a;
    tile_layout l;
    unit_range squares;  // that are summed here
    unit_range in, out;  // tiles that these need
    float *sums;         // [tap][in_tiles][out_tiles][SUMS]
    float *bias;         // [out_tiles * 16] in the order of tiles, or 16 pixels of dy
    uint8_t *src;        // [row][phase][in_tiles][chunk][TILE_BYTES]
    uint8_t *dy;         // [row][parity][out_tiles][pairs][TILE_ROW]
    uint16_t *src_stage; // [TILE_PIXELS][channels of whole tiles]
    uint16_t *dy_stage;  // [stage_pixels][channels of whole tiles]
    ahead ahead[2];      // in src and dy
} job;

// --- preparing ----------------------------------------------------------------------------------

// Some "pixels" of a row: `run` elements from first + pixel * step on.
typedef struct piece {
    const uint16_t *row;
    int64_t length; // of the row, in elements; what is outside is zero
    int64_t first, step, run;
    int64_t count; // pixels that are not zero
} piece;

static __mmask32 low_bits(int64_t count)
{
    return (__mmask32)(count <= 0 ? 0 : count >= 32 ? ~0ull : (1ull << count) - 1);
}

// The first pixels, beside zeros. Elements that a mask leaves out are not touched, wherever they
// are.
static void stage(const piece *from, int64_t pixels, int64_t channels, uint16_t *dst)
{
    for (int64_t p = 0; p < pixels; p++, dst += channels) {
        const int64_t begin = from->first + p * from->step;
        const int64_t run = p < from->count ? least(from->run, from->length - begin) : 0;
        for (int64_t i = 0; i < channels; i += TILE_CHANNELS) {
            const __mmask32 inside = low_bits(run - i) & ~low_bits(-begin - i);
            const __m256i v = _mm256_maskz_loadu_epi16((__mmask16)inside, from->row + begin + i);
            _mm256_storeu_si256((__m256i *)(dst + i), v);
        }
    }
}

// 32 pixels as `channels` elements each that may all be read; *pixel: elements from one to the
// next.
static const uint16_t *whole_pixels(const job *j, const piece *from, int64_t channels,
                                    int64_t *pixel)
{
    const int64_t end = from->first + (TILE_PIXELS - 1) * from->step + from->run;
    if (from->run == channels && from->count >= TILE_PIXELS && from->first >= 0 &&
        end <= from->length) {
        *pixel = from->step;
        return from->row + from->first;
    }
    stage(from, TILE_PIXELS, channels, j->src_stage);
    *pixel = channels;
    return j->src_stage;
}

static inline __m512i load_lanes(const uint16_t *src, int64_t step)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)src));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(src + step)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(src + 2 * step)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(src + 3 * step)), 3);
}

// 32 pixels of 8 channels. Lane n of a vector has pixel 8 n + i, so that transposing the lanes by
// themselves leaves pixels in order.
static inline void transpose_eight(const uint16_t *src, int64_t pixel, uint8_t *dst)
{
    __m512i v[8], t[8];
    UNROLL
    for (int i = 0; i < 8; i++) v[i] = load_lanes(src + i * pixel, 8 * pixel);
    UNROLL
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_epi16(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi16(v[i], v[i + 1]);
    }
    UNROLL
    for (int i = 0; i < 8; i += 4) {
        v[i] = _mm512_unpacklo_epi32(t[i], t[i + 2]);
        v[i + 1] = _mm512_unpackhi_epi32(t[i], t[i + 2]);
        v[i + 2] = _mm512_unpacklo_epi32(t[i + 1], t[i + 3]);
        v[i + 3] = _mm512_unpackhi_epi32(t[i + 1], t[i + 3]);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        _mm512_storeu_si512(dst + 2 * i * TILE_ROW, _mm512_unpacklo_epi64(v[i], v[i + 4]));
        _mm512_storeu_si512(dst + (2 * i + 1) * TILE_ROW, _mm512_unpackhi_epi64(v[i], v[i + 4]));
    }
}

static void prepare_src(const job *j, int64_t row, int64_t slot)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const tile_layout *l = &j->l;
    const int64_t channels = l->in_tiles * TILE_CHANNELS, length = a->width_in * a->channels_in;
    piece from = {.row = (const uint16_t *)a->src + row * length,
                  .length = length,
                  .step = a->channels_in * a->stride,
                  .run = l->ins};
    for (int64_t i = 0; i < l->phases * l->chunks; i++) {
        const int64_t phase = i / l->chunks, chunk = i % l->chunks, x = chunk * TILE_PIXELS;
        uint8_t *dst = j->src + slot * l->src_row +
                       (phase * l->in_tiles + j->in.begin) * l->in_tile + chunk * TILE_BYTES;
        int64_t pixel;
        from.first = x * from.step + (l->fold_in ? -a->pad_left : phase) * a->channels_in;
        from.count = l->fold_in ? a->width_out - x : TILE_PIXELS;
        const uint16_t *pixels = whole_pixels(j, &from, channels, &pixel);
        for (int64_t tile = j->in.begin; tile < j->in.end; tile++, dst += l->in_tile) {
            transpose_eight(pixels + tile * TILE_CHANNELS, pixel, dst);
            transpose_eight(pixels + tile * TILE_CHANNELS + 8, pixel, dst + 8 * TILE_ROW);
        }
    }
}

// Pairs of pixels of 32 channels, or of the last 16, side by side; their sums are added to bias
// unless that is NULL.
static inline __attribute__((always_inline)) void pair_channels(const job *j, const uint16_t *src,
                                                                uint8_t *dst, float *bias, bool two)
{
    const int64_t pixel = j->l.out_tiles * TILE_CHANNELS, next = j->l.out_tile;
    const __m512bh one = (__m512bh)_mm512_set1_epi16(0x3f80);
    __m512 sum0 = _mm512_setzero_ps(), sum1 = sum0;
    for (int64_t p = 0; p < j->l.pairs; p++, src += 2 * pixel, dst += TILE_ROW) {
        __m512i low, high;
        if (two) {
            const __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + pixel);
            low = _mm512_unpacklo_epi16(a, b);
            high = _mm512_unpackhi_epi16(a, b);
            _mm512_storeu_si512(dst + next, high);
        } else {
            const __m256i a = _mm256_loadu_si256((const __m256i *)src);
            const __m256i b = _mm256_loadu_si256((const __m256i *)(src + pixel));
            high = _mm512_castsi256_si512(_mm256_unpackhi_epi16(a, b));
            low = _mm512_castsi256_si512(_mm256_unpacklo_epi16(a, b));
            low = _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
        }
        _mm512_storeu_si512(dst, low);
        if (bias) sum0 = _mm512_dpbf16_ps(sum0, (__m512bh)low, one);
        if (bias && two) sum1 = _mm512_dpbf16_ps(sum1, (__m512bh)high, one);
    }
    if (bias) _mm512_storeu_ps(bias, _mm512_add_ps(_mm512_loadu_ps(bias), sum0));
    if (bias && two)
        _mm512_storeu_ps(bias + TILE_CHANNELS,
                         _mm512_add_ps(_mm512_loadu_ps(bias + TILE_CHANNELS), sum1));
}

// The channel at place n of the tiles of dy.
static int64_t channel_at(const tile_layout *l, int64_t n)
{
    const int64_t tile = n / TILE_CHANNELS, place = n % TILE_CHANNELS;
    if (tile % 2 == 0 && tile + 1 == l->out_tiles)
        return tile * TILE_CHANNELS + place % 8 / 4 * 8 + place / 8 * 4 + place % 4;
    return tile / 2 * 2 * TILE_CHANNELS + place / 4 * 8 + tile % 2 * 4 + place % 4;
}

// A row of dy into its stage, where zeros are on both sides. With folded outputs a pixel begins
// before them.
static void stage_dy(const job *j, int64_t row)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const tile_layout *l = &j->l;
    const int64_t channels = l->out_tiles * TILE_CHANNELS, length = a->width_out * a->channels_out;
    const int64_t room = l->stage_pixels - l->stage_before;
    uint16_t *dst = j->dy_stage + l->stage_before * channels;
    piece from = {.row = (const uint16_t *)a->dy + row * length,
                  .length = length,
                  .step = a->channels_out,
                  .run = l->outs,
                  .count = l->fold_out ? a->width_in : a->width_out};
    if (l->fold_out) from.first = (a->pad_left - a->kernel_w + 1) * a->channels_out;
    const int64_t pixels = least(from.count, room);
    if (l->outs == channels && !l->fold_out)
        memcpy(dst, from.row, (size_t)(pixels * channels) * sizeof *dst);
    else
        stage(&from, pixels, channels, dst);
}

static void prepare_dy(const job *j, int64_t row, int64_t slot)
{
    const tile_layout *l = &j->l;
    const int64_t channels = l->out_tiles * TILE_CHANNELS;
    uint8_t *dst = j->dy + slot * l->dy_row;
    stage_dy(j, row);
    for (int64_t parity = 0; parity < l->parities; parity++) {
        const bool sums = has_bias(j->a) && !l->fold_out && parity == 0;
        for (int64_t tile = j->out.begin; tile < j->out.end; tile += 2) {
            const uint16_t *src = j->dy_stage + (2 - parity) * channels + tile * TILE_CHANNELS;
            uint8_t *to = dst + (parity * l->out_tiles + tile) * l->out_tile;
            float *bias = j->bias + tile * TILE_CHANNELS;
            if (tile + 1 == l->out_tiles)
                pair_channels(j, src, to, sums ? bias : NULL, false);
            else if (sums)
                pair_channels(j, src, to, bias, true);
            else
                pair_channels(j, src, to, NULL, true);
        }
    }
}

// With folded outputs: 16 pixels at a time, all channels of them in vectors as they lie.
static void add_bias(const job *j, int64_t row)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t length = a->width_out * a->channels_out, step = TILE_CHANNELS * a->channels_out;
    const uint16_t *dy = (const uint16_t *)a->dy + row * length;
    for (int64_t first = 0; first < length; first += step) {
        for (int64_t i = 0; i < step; i += TILE_CHANNELS) {
            const __mmask16 inside = (__mmask16)low_bits(least(TILE_CHANNELS, length - first - i));
            const __m256i bits = _mm256_maskz_loadu_epi16(inside, dy + first + i);
            const __m512i wide = _mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
            const __m512 sum = _mm512_loadu_ps(j->bias + i);
            _mm512_storeu_ps(j->bias + i, _mm512_add_ps(sum, _mm512_castsi512_ps(wide)));
        }
    }
}

// --- products -----------------------------------------------------------------------------------

// Part of a band, for one tap.
typedef struct strip {
    const uint8_t *src, *dy;
    int64_t rows, chunks;
    bool first; // there are no sums yet
} strip;

// Some lines for each step of products: those wait for nothing, and the next band finds its rows in
// the second-level cache.
static inline void fetch_ahead(job *j)
{
    enum { LINES = 4 };
    ahead *from = &j->ahead[j->ahead[0].lines <= 0];
    if (from->lines <= 0) return;
    UNROLL
    for (int i = 0; i < LINES; i++) _mm_prefetch(from->at + i * TILE_ROW, _MM_HINT_T1);
    from->at += LINES * TILE_ROW;
    from->lines -= LINES;
}

// The rows of the band that begins at `row`.
static void look_ahead(job *j, int64_t row)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t rows = least(j->l.band, a->rows - row);
    const int64_t src_row = a->width_in * a->channels_in * 2;
    const int64_t dy_row = a->width_out * a->channels_out * 2;
    const int64_t first = (row - 1) * a->stride + a->kernel_h; // of src that is new
    j->ahead[0] = (ahead){(const uint8_t *)a->src + first * src_row,
                          rows * a->stride * src_row / TILE_ROW};
    j->ahead[1] = (ahead){(const uint8_t *)a->dy + row * dy_row, rows * dy_row / TILE_ROW};
}

// Adds a strip to the sums of ins x outs tiles; those are constants where this is inlined.
static inline __attribute__((always_inline)) void add_strip(job *j, const strip *s, float *sums,
                                                            int ins, int outs)
{
    const int64_t in_tile = j->l.in_tile, out_tile = j->l.out_tile, below = j->l.out_tiles * SUMS;
    __asm__ volatile("" ::: "memory"); // compilers do not know that loading a tile reads memory
    if (s->first) {
        _tile_zero(0);
        if (outs == 2) _tile_zero(1);
        if (ins == 2) _tile_zero(2);
        if (ins == 2 && outs == 2) _tile_zero(3);
    } else {
        _tile_loadd(0, sums, TILE_ROW);
        if (outs == 2) _tile_loadd(1, sums + SUMS, TILE_ROW);
        if (ins == 2) _tile_loadd(2, sums + below, TILE_ROW);
        if (ins == 2 && outs == 2) _tile_loadd(3, sums + below + SUMS, TILE_ROW);
    }
    for (int64_t row = 0; row < s->rows; row++) {
        const uint8_t *src = s->src + row * j->a->stride * j->l.src_row;
        const uint8_t *dy = s->dy + row * j->l.dy_row;
        for (int64_t i = 0; i < s->chunks; i++, src += TILE_BYTES, dy += TILE_BYTES) {
            _tile_loadd(6, dy, TILE_ROW);
            _tile_loadd(4, src, TILE_ROW);
            if (outs == 2) _tile_loadd(7, dy + out_tile, TILE_ROW);
            if (ins == 2) _tile_loadd(5, src + in_tile, TILE_ROW);
            _tile_dpbf16ps(0, 4, 6);
            if (ins == 2) _tile_dpbf16ps(2, 5, 6);
            if (outs == 2) _tile_dpbf16ps(1, 4, 7);
            if (ins == 2 && outs == 2) _tile_dpbf16ps(3, 5, 7);
            fetch_ahead(j);
        }
    }
    _tile_stored(0, sums, TILE_ROW);
    if (outs == 2) _tile_stored(1, sums + SUMS, TILE_ROW);
    if (ins == 2) _tile_stored(2, sums + below, TILE_ROW);
    if (ins == 2 && outs == 2) _tile_stored(3, sums + below + SUMS, TILE_ROW);
    __asm__ volatile("" ::: "memory");
}

typedef void add_fn(job *j, const strip *s, float *sums);
#define ADD(name, ins, outs)                                                                       \
    static void name(job *j, const strip *s, float *sums)                                          \
    {                                                                                              \
        add_strip(j, s, sums, ins, outs);                                                          \
    }
ADD(add_1_1, 1, 1)
ADD(add_1_2, 1, 2)
ADD(add_2_1, 2, 1)
ADD(add_2_2, 2, 2)

// One strip, which begins at `row` and `chunk` of the band, through all taps, for the tiles from
// (in, out) on. Columns are outside: their copy of dy changes, and all rows of src stay.
static void add_taps(job *j, strip s, int64_t row, int64_t chunk, int64_t in, int64_t out)
{
    static add_fn *const table[2][2] = {{add_1_1, add_1_2}, {add_2_1, add_2_2}};
    const tile_layout *l = &j->l;
    const bool folded = l->fold_in || l->fold_out;
    add_fn *add = table[in + 1 < l->in_tiles][out + 1 < l->out_tiles];
    for (int64_t kx = 0; kx < l->columns; kx++) {
        const int64_t shift = shift_of(l, j->a, kx), half = floor_div(shift, 2);
        const int64_t phase = folded ? 0 : kx - j->a->pad_left - shift * l->phases;
        const int64_t first = l->before - half + chunk * TILE_PIXELS / 2;
        s.dy = j->dy + row * l->dy_row + first * TILE_ROW +
               ((shift - 2 * half) * l->out_tiles + out) * l->out_tile;
        for (int64_t ky = 0; ky < j->a->kernel_h; ky++) {
            const int64_t tap = ky * l->columns + kx;
            s.src = j->src + (row * j->a->stride + ky) * l->src_row + chunk * TILE_BYTES +
                    (phase * l->in_tiles + in) * l->in_tile;
            add(j, &s, j->sums + ((tap * l->in_tiles + in) * l->out_tiles + out) * SUMS);
        }
    }
}

static int64_t squares_across(const tile_layout *l)
{
    return (l->out_tiles + 1) / 2;
}

static void add_band(job *j, int64_t rows, bool first)
{
    const tile_layout *l = &j->l;
    const int64_t columns = least(l->chunks, STRIP_CHUNKS), height = STRIP_AREA / columns;
    for (int64_t square = j->squares.begin; square < j->squares.end; square++) {
        const int64_t in = square / squares_across(l) * 2, out = square % squares_across(l) * 2;
        for (int64_t row = 0; row < rows; row += height) {
            for (int64_t chunk = 0; chunk < l->chunks; chunk += columns) {
                const strip s = {.rows = least(height, rows - row),
                                 .chunks = least(columns, l->chunks - chunk),
                                 .first = first && row == 0 && chunk == 0};
                add_taps(j, s, row, chunk, in, out);
            }
        }
    }
}

// --- results ------------------------------------------------------------------------------------

static void put(const zn_conv_weight_gradient_args *a, float *dst, float value)
{
    *dst = a->add ? *dst + value : value;
}

static bool is_own(const job *j, int64_t in_tile, int64_t out_tile)
{
    const int64_t square = in_tile / 2 * squares_across(&j->l) + out_tile / 2;
    return square >= j->squares.begin && square < j->squares.end;
}

// Where columns are folded there are few weights: one by one.
static void write_folded(const job *j)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const tile_layout *l = &j->l;
    const int64_t taps = (int64_t)a->kernel_h * a->kernel_w, weights = taps * a->channels_in;
    for (int64_t n = 0; n < l->out_tiles * TILE_CHANNELS; n++) {
        const int64_t channel = channel_at(l, n);
        if (channel >= l->outs) continue;
        for (int64_t i = 0; i < l->ins; i++) {
            if (!is_own(j, i / TILE_CHANNELS, n / TILE_CHANNELS)) continue;
            for (int64_t ky = 0; ky < a->kernel_h; ky++) {
                const int64_t kx = l->fold_in ? i / a->channels_in
                                              : a->kernel_w - 1 - channel / a->channels_out;
                const int64_t tile = (ky * l->in_tiles + i / TILE_CHANNELS) * l->out_tiles +
                                     n / TILE_CHANNELS;
                const int64_t to = channel % a->channels_out * weights + i % a->channels_in * taps +
                                   ky * a->kernel_w + kx;
                put(a, a->dw + to,
                    j->sums[tile * SUMS + i % TILE_CHANNELS * TILE_CHANNELS + n % TILE_CHANNELS]);
            }
        }
    }
}

static inline __m512 load_four_lanes(const float *const *rows, int64_t at)
{
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(rows[0] + at));
    v = _mm512_insertf32x4(v, _mm_loadu_ps(rows[4] + at), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps(rows[8] + at), 2);
    return _mm512_insertf32x4(v, _mm_loadu_ps(rows[12] + at), 3);
}

// Sixteen weights of sixteen outputs: rows[k] has the outputs of weight k, to[n] is where the
// weights of output n go, NULL for none.
static void write_block(const float *const *rows, float *const *to, __mmask16 weights, bool add)
{
    for (int n = 0; n < TILE_CHANNELS; n += 4) {
        __m512 v[4], t[4];
        UNROLL
        for (int i = 0; i < 4; i++) v[i] = load_four_lanes(rows + i, n);
        t[0] = _mm512_unpacklo_ps(v[0], v[1]);
        t[1] = _mm512_unpackhi_ps(v[0], v[1]);
        t[2] = _mm512_unpacklo_ps(v[2], v[3]);
        t[3] = _mm512_unpackhi_ps(v[2], v[3]);
        UNROLL
        for (int i = 0; i < 4; i++) {
            const __m512d a = _mm512_castps_pd(t[i / 2]), b = _mm512_castps_pd(t[i / 2 + 2]);
            v[i] = _mm512_castpd_ps(i % 2 ? _mm512_unpackhi_pd(a, b) : _mm512_unpacklo_pd(a, b));
        }
        for (int i = 0; i < 4; i++) {
            if (!to[n + i]) continue;
            if (add) v[i] = _mm512_add_ps(v[i], _mm512_maskz_loadu_ps(weights, to[n + i]));
            _mm512_mask_storeu_ps(to[n + i], weights, v[i]);
        }
    }
}

// The weights of one pair of tiles: for each output the taps of 16 inputs, which lie together in
// dw.
static void write_tile(const job *j, int64_t in, int64_t out)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const tile_layout *l = &j->l;
    const int64_t taps = (int64_t)a->kernel_h * a->kernel_w, weights = taps * a->channels_in;
    const int64_t next = l->in_tiles * l->out_tiles * SUMS; // from tap to tap
    const float *sums = j->sums + (in * l->out_tiles + out) * SUMS;
    const float *rows[TILE_CHANNELS];
    float *to[TILE_CHANNELS];
    int64_t tap = 0, i = 0, first = in * TILE_CHANNELS * taps;
    for (int64_t n = 0; n < TILE_CHANNELS; n++) {
        const int64_t channel = channel_at(l, out * TILE_CHANNELS + n);
        to[n] = channel < a->channels_out ? a->dw + channel * weights + first : NULL;
    }
    for (int64_t block = 0; block < taps && first < weights; block++, first += TILE_CHANNELS) {
        for (int k = 0; k < TILE_CHANNELS; k++) {
            rows[k] = sums + tap * next + i * TILE_CHANNELS;
            if (++tap < taps) continue;
            tap = 0;
            i++;
        }
        write_block(rows, to, (__mmask16)low_bits(least(TILE_CHANNELS, weights - first)), a->add);
        for (int n = 0; n < TILE_CHANNELS; n++) to[n] = to[n] ? to[n] + TILE_CHANNELS : NULL;
    }
}

static void write_bias(const job *j)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t count = j->l.out_tiles * TILE_CHANNELS;
    if (j->l.fold_out) {
        for (int64_t o = 0; o < a->channels_out; o++) {
            float sum = 0;
            for (int64_t i = 0; i < TILE_CHANNELS; i++) sum += j->bias[i * a->channels_out + o];
            put(a, a->db + o, sum);
        }
        return;
    }
    for (int64_t n = 0; n < count; n++) {
        const int64_t channel = channel_at(&j->l, n);
        if (channel < a->channels_out) put(a, a->db + channel, j->bias[n]);
    }
}

static void write_results(const job *j)
{
    if (has_bias(j->a)) write_bias(j);
    if (j->l.fold_in || j->l.fold_out) {
        write_folded(j);
        return;
    }
    for (int64_t in = j->in.begin; in < j->in.end; in++)
        for (int64_t out = j->out.begin; out < j->out.end; out++)
            if (is_own(j, in, out)) write_tile(j, in, out);
}

// The sums of bias need every output.
static void choose_squares(job *j)
{
    const tile_layout *l = &j->l;
    const int64_t across = squares_across(l);
    const unit_range own = units_of_part(j->a, (l->in_tiles + 1) / 2 * across);
    const bool one_line = own.begin / across == (own.end - 1) / across && !has_bias(j->a);
    j->squares = own;
    j->in.begin = own.begin / across * 2;
    j->in.end = least(((own.end - 1) / across + 1) * 2, l->in_tiles);
    j->out.begin = one_line ? own.begin % across * 2 : 0;
    j->out.end = one_line ? least(((own.end - 1) % across + 1) * 2, l->out_tiles) : l->out_tiles;
}

// Eight tiles of 16 rows of 64 bytes. A constant: compilers do not know that the instruction reads
// all of it, and might leave out what is written to a local one.
static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config = {
    .palette = 1,
    .row_bytes = {TILE_ROW, TILE_ROW, TILE_ROW, TILE_ROW, TILE_ROW, TILE_ROW, TILE_ROW, TILE_ROW},
    .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

void zn_conv_weight_gradient_amx(const zn_conv_weight_gradient_args *a, void *scratch)
{
    job j = {.a = a, .l = tile_layout_make(a), .sums = scratch};
    uint8_t *base = scratch;
    choose_squares(&j);
    if (j.squares.begin == j.squares.end && !has_bias(a)) return;
    j.bias = (float *)(base + j.l.bias_at);
    j.src = base + j.l.src_at;
    j.dy = base + j.l.dy_at;
    j.dy_stage = (uint16_t *)(base + j.l.stage_at);
    j.src_stage = j.dy_stage + j.l.stage_pixels * j.l.out_tiles * TILE_CHANNELS;
    memset(j.bias, 0, j.l.src_at - j.l.bias_at);
    memset(j.dy_stage, 0, (size_t)(j.src_stage - j.dy_stage) * sizeof *j.dy_stage);
    _tile_loadconfig(&tile_config);
    for (int64_t row = 0; row < a->rows; row += j.l.band) {
        const int64_t rows = least(j.l.band, a->rows - row);
        for (int64_t i = 0; i < (rows - 1) * a->stride + a->kernel_h; i++)
            prepare_src(&j, row * a->stride + i, i);
        for (int64_t i = 0; i < rows; i++) {
            prepare_dy(&j, row + i, i);
            if (has_bias(a) && j.l.fold_out) add_bias(&j, row + i);
        }
        look_ahead(&j, row + rows);
        add_band(&j, rows, row == 0);
    }
    _tile_release();
    write_results(&j);
}
