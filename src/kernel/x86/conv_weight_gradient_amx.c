// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_weight_gradient of bf16 maps in AMX tiles.
//
// The gradient for one tap (ky, kx) is a product of matrices, added up over pixels:
//
//     sums[i][o] += src[i][pixel shifted by the tap] * dy[pixel][o]
//
// A tile instruction adds up 32 pixels for 16 x 16 channels. It wants 16 rows of 32 pixels of src,
// so src is transposed, [channel][pixel], where a shift by kx is just another address; and 16 rows
// of dy, each two pixels of 16 channels side by side. Two tiles of each are worked on together, so
// that a tile loaded is used twice:
//
//                outputs 0..15   outputs 16..31           dy:  tiles 6, 7
//     inputs a       tile 0          tile 1               src: tiles 4, 5
//     inputs b       tile 2          tile 3
//
// Order. A band of rows is prepared (transposed, paired) in scratch, in the second-level cache. For
// 32 inputs x 32 outputs, strips of 256 pixels of it, which fit into the first-level cache, go
// through all taps. Between taps the sums go through memory: 8 KB for 32 products of tiles.
//
// Few channels would leave most of a tile empty. Where it pays, the columns of the kernel are folded
// into them:
//   of src     "pixel" x is the run of (column, channel) that output x reads, as it lies in memory;
//   of dy      "pixel" x is the run of (column backwards, channel) of the outputs that read x.
//
// With a stride, columns of src are kept apart by their remainder (phase), each as a plane of its
// own.
//
// The order of output channels in tiles of dy is that of the unpack instructions that make pairs;
// channel_at has it.
#if !defined(__AVX512BF16__) || !(defined(__AMX_TILE__) || defined(__AMXTILE__))
#error "this file needs -mamx-tile -mamx-bf16 -mavx512bf16 and AVX-512"
#endif

#include "src/kernel/conv_weight_gradient_layout.h"
#include "src/kernel/unroll.h"

#include <immintrin.h>
#include <string.h>

enum { SUMS = TILE_CHANNELS * TILE_CHANNELS, ROW = 64 };

typedef struct job {
    const zn_conv_weight_gradient_args *a;
    tile_layout l;
    float *sums;     // [tap][in_tiles][out_tiles][SUMS]
    float *bias;     // [out_tiles * 16] in the order of tiles, or 16 pixels of dy
    uint8_t *src;    // [row][phase][channel][pitch]
    uint8_t *dy;     // [row][chunk][out_tiles][TILE_BYTES]
    uint16_t *stage; // [TILE_PIXELS][channels of whole tiles]
} job;

// --- preparing ----------------------------------------------------------------------------------

// What a chunk of 32 "pixels" of a row is made of: `run` elements from first + pixel * step on.
typedef struct chunk {
    const uint16_t *row;
    int64_t length; // of the row, in elements; what is outside is zero
    int64_t first, step, run;
    int64_t count; // pixels that are not zero
} chunk;

static __mmask32 low_bits(int64_t count)
{
    return (__mmask32)(count <= 0 ? 0 : count >= 32 ? ~0ull : (1ull << count) - 1);
}

// The chunk beside zeros. Elements that a mask leaves out are not touched, wherever they are.
static void stage_chunk(const chunk *c, int64_t channels, uint16_t *dst)
{
    for (int64_t p = 0; p < TILE_PIXELS; p++, dst += channels) {
        const int64_t begin = c->first + p * c->step;
        const int64_t run = p < c->count ? least(c->run, c->length - begin) : 0;
        for (int64_t i = 0; i < channels; i += TILE_CHANNELS) {
            const __mmask32 inside = low_bits(run - i) & ~low_bits(-begin - i);
            const __m256i v = _mm256_maskz_loadu_epi16((__mmask16)inside, c->row + begin + i);
            _mm256_storeu_si256((__m256i *)(dst + i), v);
        }
    }
}

// The chunk's pixels as `channels` elements each that may all be read; *pixel: elements from one to
// the next.
static const uint16_t *whole_pixels(const job *j, const chunk *c, int64_t channels, int64_t *pixel)
{
    const int64_t last = c->first + (TILE_PIXELS - 1) * c->step + c->run;
    if (c->run == channels && c->count >= TILE_PIXELS && c->first >= 0 && last <= c->length) {
        *pixel = c->step;
        return c->row + c->first;
    }
    stage_chunk(c, channels, j->stage);
    *pixel = channels;
    return j->stage;
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
static inline void transpose_eight(const uint16_t *src, int64_t pixel, uint16_t *dst, int64_t pitch)
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
        _mm512_storeu_si512(dst + 2 * i * pitch, _mm512_unpacklo_epi64(v[i], v[i + 4]));
        _mm512_storeu_si512(dst + (2 * i + 1) * pitch, _mm512_unpackhi_epi64(v[i], v[i + 4]));
    }
}

static void prepare_src(const job *j, int64_t row, int64_t slot)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const tile_layout *l = &j->l;
    const int64_t channels = l->in_tiles * TILE_CHANNELS, length = a->width_in * a->channels_in;
    const int64_t step = a->channels_in * (l->fold_out ? 1 : a->stride);
    chunk c = {.row = (const uint16_t *)a->src + row * length,
               .length = length,
               .step = step,
               .run = l->ins};
    for (int64_t phase = 0; phase < l->phases; phase++) {
        uint16_t *dst = (uint16_t *)(j->src + slot * l->src_row) + phase * channels * l->pitch +
                        l->margin;
        for (int64_t x = 0; x < l->src_chunks * TILE_PIXELS; x += TILE_PIXELS) {
            int64_t pixel;
            c.first = x * step + (l->fold_in ? -a->pad_left : phase) * a->channels_in;
            c.count = l->fold_in ? l->width - x : TILE_PIXELS;
            const uint16_t *from = whole_pixels(j, &c, channels, &pixel);
            for (int64_t i = 0; i < channels; i += 8)
                transpose_eight(from + i, pixel, dst + i * l->pitch + x, l->pitch);
        }
    }
}

// The zeros before and after the pixels of each channel, which no row overwrites.
static void clear_margins(const job *j)
{
    const tile_layout *l = &j->l;
    const int64_t rows = (l->band - 1) * j->a->stride + j->a->kernel_h;
    const int64_t end = l->margin + l->src_chunks * TILE_PIXELS;
    uint16_t *channel = (uint16_t *)j->src;
    for (int64_t i = 0; i < rows * l->src_row / (l->pitch * 2); i++, channel += l->pitch) {
        memset(channel, 0, (size_t)l->margin * 2);
        memset(channel + end, 0, (size_t)(l->pitch - end) * 2);
    }
}

// Pairs of pixels of 32 channels, or of the last 16, side by side; and their sums.
static inline __attribute__((always_inline)) void pair_channels(const uint16_t *src, int64_t pixel,
                                                                uint8_t *dst, float *bias, bool two)
{
    const __m512bh one = (__m512bh)_mm512_set1_epi16(0x3f80);
    __m512 sum0 = _mm512_loadu_ps(bias), sum1 = two ? _mm512_loadu_ps(bias + TILE_CHANNELS) : sum0;
    for (int p = 0; p < TILE_PIXELS; p += 2, src += 2 * pixel, dst += ROW) {
        if (two) {
            const __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + pixel);
            const __m512i low = _mm512_unpacklo_epi16(a, b), high = _mm512_unpackhi_epi16(a, b);
            _mm512_storeu_si512(dst, low);
            _mm512_storeu_si512(dst + TILE_BYTES, high);
            sum0 = _mm512_dpbf16_ps(sum0, (__m512bh)low, one);
            sum1 = _mm512_dpbf16_ps(sum1, (__m512bh)high, one);
        } else {
            const __m256i a = _mm256_loadu_si256((const __m256i *)src);
            const __m256i b = _mm256_loadu_si256((const __m256i *)(src + pixel));
            const __m512i low = _mm512_castsi256_si512(_mm256_unpacklo_epi16(a, b));
            const __m512i both = _mm512_inserti64x4(low, _mm256_unpackhi_epi16(a, b), 1);
            _mm512_storeu_si512(dst, both);
            sum0 = _mm512_dpbf16_ps(sum0, (__m512bh)both, one);
        }
    }
    _mm512_storeu_ps(bias, sum0);
    if (two) _mm512_storeu_ps(bias + TILE_CHANNELS, sum1);
}

// The channel at place n of the tiles of dy.
static int64_t channel_at(const tile_layout *l, int64_t n)
{
    const int64_t tile = n / TILE_CHANNELS, place = n % TILE_CHANNELS;
    if (tile % 2 == 0 && tile + 1 == l->out_tiles)
        return tile * TILE_CHANNELS + place % 8 / 4 * 8 + place / 8 * 4 + place % 4;
    return tile / 2 * 2 * TILE_CHANNELS + place / 4 * 8 + tile % 2 * 4 + place % 4;
}

static void prepare_dy(const job *j, int64_t row, int64_t slot)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const tile_layout *l = &j->l;
    const int64_t length = a->width_out * a->channels_out;
    const int64_t before = l->fold_out ? a->kernel_w - 1 - a->pad_left : 0;
    uint8_t *dst = j->dy + slot * l->dy_row;
    float unused[2 * TILE_CHANNELS] = {0};
    chunk c = {.row = (const uint16_t *)a->dy + row * length,
               .length = length,
               .step = a->channels_out,
               .run = l->outs};
    for (int64_t x = 0; x < l->chunks * TILE_PIXELS; x += TILE_PIXELS) {
        int64_t pixel;
        c.first = (x - before) * a->channels_out;
        c.count = l->width - x;
        const uint16_t *from = whole_pixels(j, &c, l->out_tiles * TILE_CHANNELS, &pixel);
        for (int64_t tile = 0; tile < l->out_tiles; tile += 2, dst += 2 * TILE_BYTES) {
            float *bias = l->fold_out ? unused : j->bias + tile * TILE_CHANNELS;
            const uint16_t *channels = from + tile * TILE_CHANNELS;
            if (tile + 1 < l->out_tiles)
                pair_channels(channels, pixel, dst, bias, true);
            else
                pair_channels(channels, pixel, dst, bias, false);
        }
        if (l->out_tiles % 2) dst -= TILE_BYTES;
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
    int64_t src_row, dy_row, rows, chunks;
    bool first; // there are no sums yet
} strip;

// Adds a strip to the sums of ins x outs tiles; those are constants where this is inlined.
static inline __attribute__((always_inline)) void add_strip(const job *j, const strip *s,
                                                            float *sums, int ins, int outs)
{
    const size_t pitch = (size_t)j->l.pitch * 2;
    const int64_t dy_chunk = j->l.out_tiles * TILE_BYTES, below = j->l.out_tiles * SUMS;
    __asm__ volatile("" ::: "memory"); // compilers do not know that loading a tile reads memory
    if (s->first) {
        _tile_zero(0);
        if (outs == 2) _tile_zero(1);
        if (ins == 2) _tile_zero(2);
        if (ins == 2 && outs == 2) _tile_zero(3);
    } else {
        _tile_loadd(0, sums, ROW);
        if (outs == 2) _tile_loadd(1, sums + SUMS, ROW);
        if (ins == 2) _tile_loadd(2, sums + below, ROW);
        if (ins == 2 && outs == 2) _tile_loadd(3, sums + below + SUMS, ROW);
    }
    for (int64_t row = 0; row < s->rows; row++) {
        const uint8_t *src = s->src + row * s->src_row, *dy = s->dy + row * s->dy_row;
        for (int64_t i = 0; i < s->chunks; i++, src += TILE_PIXELS * 2, dy += dy_chunk) {
            _tile_loadd(6, dy, ROW);
            _tile_loadd(4, src, pitch);
            if (outs == 2) _tile_loadd(7, dy + TILE_BYTES, ROW);
            if (ins == 2) _tile_loadd(5, src + TILE_CHANNELS * pitch, pitch);
            _tile_dpbf16ps(0, 4, 6);
            if (ins == 2) _tile_dpbf16ps(2, 5, 6);
            if (outs == 2) _tile_dpbf16ps(1, 4, 7);
            if (ins == 2 && outs == 2) _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, sums, ROW);
    if (outs == 2) _tile_stored(1, sums + SUMS, ROW);
    if (ins == 2) _tile_stored(2, sums + below, ROW);
    if (ins == 2 && outs == 2) _tile_stored(3, sums + below + SUMS, ROW);
    __asm__ volatile("" ::: "memory");
}

typedef void add_fn(const job *j, const strip *s, float *sums);
#define ADD(name, ins, outs)                                                                       \
    static void name(const job *j, const strip *s, float *sums)                                    \
    {                                                                                              \
        add_strip(j, s, sums, ins, outs);                                                          \
    }
ADD(add_1_1, 1, 1)
ADD(add_1_2, 1, 2)
ADD(add_2_1, 2, 1)
ADD(add_2_2, 2, 2)

static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

// One strip through all taps, for the tiles from (in, out) on.
static void add_taps(const job *j, strip s, const uint8_t *src, int64_t in, int64_t out)
{
    static add_fn *const table[2][2] = {{add_1_1, add_1_2}, {add_2_1, add_2_2}};
    const tile_layout *l = &j->l;
    const int64_t taps = j->a->kernel_h * l->columns;
    add_fn *add = table[in + 1 < l->in_tiles][out + 1 < l->out_tiles];
    for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t column = l->fold_in || l->fold_out ? 0 : tap % l->columns - j->a->pad_left;
        const int64_t shift = floor_div(column, l->phases), phase = column - shift * l->phases;
        const int64_t channel = (phase * l->in_tiles + in) * TILE_CHANNELS;
        s.src = src + tap / l->columns * l->src_row + (channel * l->pitch + l->margin + shift) * 2;
        add(j, &s, j->sums + ((tap * l->in_tiles + in) * l->out_tiles + out) * SUMS);
    }
}

static void add_band(const job *j, int64_t rows, bool first)
{
    const tile_layout *l = &j->l;
    const int64_t columns = least(l->chunks, STRIP_CHUNKS), height = STRIP_AREA / columns;
    strip s = {.src_row = l->src_row * j->a->stride, .dy_row = l->dy_row};
    for (int64_t tile = 0; tile < l->in_tiles * l->out_tiles; tile++) {
        const int64_t in = tile / l->out_tiles, out = tile % l->out_tiles;
        if (in % 2 || out % 2) continue;
        for (int64_t row = 0; row < rows; row += height) {
            for (int64_t x = 0; x < l->chunks; x += columns) {
                s.rows = least(height, rows - row);
                s.chunks = least(columns, l->chunks - x);
                s.first = first && row == 0 && x == 0;
                s.dy = j->dy + row * l->dy_row + (x * l->out_tiles + out) * TILE_BYTES;
                add_taps(j, s, j->src + row * s.src_row + x * TILE_PIXELS * 2, in, out);
            }
        }
    }
}

// --- results ------------------------------------------------------------------------------------

static void put(const zn_conv_weight_gradient_args *a, float *dst, float value)
{
    *dst = a->add ? *dst + value : value;
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

// The weights of one pair of tiles: for each output the taps of 16 inputs, which lie together in dw.
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
    if (j->a->db) write_bias(j);
    if (j->l.fold_in || j->l.fold_out) {
        write_folded(j);
        return;
    }
    for (int64_t tile = 0; tile < j->l.in_tiles * j->l.out_tiles; tile++)
        write_tile(j, tile / j->l.out_tiles, tile % j->l.out_tiles);
}

// Eight tiles of 16 rows of 64 bytes. A constant: compilers do not know that the instruction reads
// all of it, and might leave out what is written to a local one.
static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config = {.palette = 1,
                 .row_bytes = {ROW, ROW, ROW, ROW, ROW, ROW, ROW, ROW},
                 .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

void zn_conv_weight_gradient_amx(const zn_conv_weight_gradient_args *a, void *scratch)
{
    job j = {.a = a, .l = tile_layout_make(a)};
    uint8_t *base = scratch;
    j.sums = (float *)(base + j.l.sums_at);
    j.bias = (float *)(base + j.l.bias_at);
    j.src = base + j.l.src_at;
    j.dy = base + j.l.dy_at;
    j.stage = (uint16_t *)(base + j.l.stage_at);
    memset(j.bias, 0, j.l.src_at - j.l.bias_at);
    clear_margins(&j);
    _tile_loadconfig(&tile_config);
    for (int64_t row = 0; row < a->rows; row += j.l.band) {
        const int64_t rows = least(j.l.band, a->rows - row);
        for (int64_t i = 0; i < (rows - 1) * a->stride + a->kernel_h; i++)
            prepare_src(&j, row * a->stride + i, i);
        for (int64_t i = 0; i < rows; i++) {
            prepare_dy(&j, row + i, i);
            if (a->db && j.l.fold_out) add_bias(&j, row + i);
        }
        add_band(&j, rows, row == 0);
    }
    _tile_release();
    write_results(&j);
}
