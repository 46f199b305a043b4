// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Names in the drawings of blocks: d and m are f16, a scale and an offset; q are the numbers, s the
// scales of groups within a block, h the bits that q has no room for. Blocks of 256 weights are two
// halves H of 128, each four quarters k of 32: weight i = 128 H + 32 k + l, in group g = i / 16.
#include "src/format/tensor/block_types.h"

#include "src/tensor/type.h"

static float half(const uint8_t *src)
{
    return zn_f16_to_f32((uint16_t)(src[0] | src[1] << 8));
}

// Weight i of 32 in 16 bytes: the low halves of all bytes first.
static int nibble(const uint8_t *q, int i)
{
    return i < 16 ? q[i] & 15 : q[i - 16] >> 4;
}

static int bit(const uint8_t *h, int i)
{
    return h[i / 8] >> i % 8 & 1;
}

// --- blocks of 32

static void read_q8_0(const uint8_t *block, float *dst) // d, q[32]
{
    const float d = half(block);
    for (int i = 0; i < 32; i++) dst[i] = d * (float)(int8_t)block[2 + i];
}

static void read_q4_0(const uint8_t *block, float *dst) // d, q[16]
{
    const float d = half(block);
    for (int i = 0; i < 32; i++) dst[i] = d * (float)(nibble(block + 2, i) - 8);
}

static void read_q4_1(const uint8_t *block, float *dst) // d, m, q[16]
{
    const float d = half(block), m = half(block + 2);
    for (int i = 0; i < 32; i++) dst[i] = d * (float)nibble(block + 4, i) + m;
}

static void read_q5_0(const uint8_t *block, float *dst) // d, h[4], q[16]
{
    const float d = half(block);
    for (int i = 0; i < 32; i++)
        dst[i] = d * (float)((nibble(block + 6, i) | bit(block + 2, i) << 4) - 16);
}

static void read_q5_1(const uint8_t *block, float *dst) // d, m, h[4], q[16]
{
    const float d = half(block), m = half(block + 2);
    for (int i = 0; i < 32; i++)
        dst[i] = d * (float)(nibble(block + 8, i) | bit(block + 4, i) << 4) + m;
}

// Numbers that lie closer together where weights are many.
static const int8_t curve[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                 1,    13,   25,  38,  53,  69,  89,  113};

static void read_iq4_nl(const uint8_t *block, float *dst) // d, q[16]
{
    const float d = half(block);
    for (int i = 0; i < 32; i++) dst[i] = d * (float)curve[nibble(block + 2, i)];
}

// --- blocks of 256

// Scale and offset, 6 bits each, of sub-block j of eight in 12 bytes.
static void scale_and_offset(const uint8_t *s, int j, int *scale, int *offset)
{
    if (j < 4) {
        *scale = s[j] & 63;
        *offset = s[j + 4] & 63;
    } else {
        *scale = (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
        *offset = s[j + 4] >> 4 | s[j] >> 6 << 4;
    }
}

// The fifth bits are at h, or there are none.
static void read_q45_k(const uint8_t *block, const uint8_t *h, const uint8_t *q, float *dst)
{
    const float d = half(block), m = half(block + 2);
    for (int j = 0; j < 8; j++) {
        int scale, offset;
        scale_and_offset(block + 4, j, &scale, &offset);
        const float by = d * (float)scale, less = m * (float)offset;
        for (int l = 0; l < 32; l++) {
            const int low = q[32 * (j / 2) + l] >> 4 * (j & 1) & 15;
            const int high = h ? h[l] >> j & 1 : 0;
            *dst++ = by * (float)(low | high << 4) - less;
        }
    }
}

static void read_q4_k(const uint8_t *block, float *dst) // d, m, s[12], q[128]
{
    read_q45_k(block, NULL, block + 16, dst);
}

static void read_q5_k(const uint8_t *block, float *dst) // d, m, s[12], h[32], q[128]
{
    read_q45_k(block, block + 16, block + 48, dst);
}

static void read_q6_k(const uint8_t *block, float *dst) // q[128], h[64], s[16], d
{
    const uint8_t *q = block, *h = block + 128, *s = block + 192;
    const float d = half(block + 208);
    for (int i = 0; i < 256; i++) {
        const int H = i / 128, k = i / 32 % 4, l = i % 32;
        const int low = q[64 * H + 32 * (k & 1) + l] >> 4 * (k / 2) & 15;
        const int high = h[32 * H + l] >> 2 * k & 3;
        dst[i] = d * (float)(int8_t)s[i / 16] * (float)((low | high << 4) - 32);
    }
}

static void read_q3_k(const uint8_t *block, float *dst) // h[32], q[64], s[12], d
{
    const uint8_t *h = block, *q = block + 32, *s = block + 96;
    const float d = half(block + 108);
    for (int i = 0; i < 256; i++) {
        const int H = i / 128, k = i / 32 % 4, l = i % 32, g = i / 16;
        const int low = s[g % 8] >> 4 * (g / 8) & 15, high = s[8 + g % 4] >> 2 * (g / 4) & 3;
        const int number = (q[32 * H + l] >> 2 * k & 3) - (h[l] >> (4 * H + k) & 1 ? 0 : 4);
        dst[i] = d * (float)((low | high << 4) - 32) * (float)number;
    }
}

static void read_q2_k(const uint8_t *block, float *dst) // s[16], q[64], d, m
{
    const uint8_t *s = block, *q = block + 16;
    const float d = half(block + 80), m = half(block + 82);
    for (int i = 0; i < 256; i++) {
        const int H = i / 128, k = i / 32 % 4, l = i % 32, g = i / 16;
        const float by = d * (float)(s[g] & 15), less = m * (float)(s[g] >> 4);
        dst[i] = by * (float)(q[32 * H + l] >> 2 * k & 3) - less;
    }
}

static void read_iq4_xs(const uint8_t *block, float *dst) // d, h[2], s[4], q[128]
{
    const float d = half(block);
    const int h = block[2] | block[3] << 8;
    for (int j = 0; j < 8; j++) {
        const int low = block[4 + j / 2] >> 4 * (j & 1) & 15, high = h >> 2 * j & 3;
        const float by = d * (float)((low | high << 4) - 32);
        for (int i = 0; i < 32; i++) *dst++ = by * (float)curve[nibble(block + 8 + 16 * j, i)];
    }
}

// --- 4 bits as they are

const int8_t zn_even_levels[16] = {-128, -111, -94, -77, -60, -43, -26, -9,
                                   8,    25,   42,  59,  76,  93,  110, 127};
static const int8_t centred[16] = {-128, -112, -96, -80, -64, -48, -32, -16,
                                   0,    16,   32,  48,  64,  80,  96,  112};

static void nibbles(const uint8_t *q, uint8_t *numbers)
{
    for (int i = 0; i < 16; i++) {
        numbers[i] = q[i] & 15;
        numbers[16 + i] = q[i] >> 4;
    }
}

static void four_q4_0(const uint8_t *block, uint8_t *numbers, float *factors, float *offsets)
{
    (void)offsets;
    nibbles(block + 2, numbers);
    *factors = half(block) / 16;
}

static void four_q4_1(const uint8_t *block, uint8_t *numbers, float *factors, float *offsets)
{
    const float d = half(block);
    nibbles(block + 4, numbers);
    *factors = zn_even_factor(d);
    *offsets = zn_even_offset(d, half(block + 2));
}

static void four_iq4_nl(const uint8_t *block, uint8_t *numbers, float *factors, float *offsets)
{
    (void)offsets;
    nibbles(block + 2, numbers);
    *factors = half(block);
}

static void four_q4_k(const uint8_t *block, uint8_t *numbers, float *factors, float *offsets)
{
    const float d = half(block), m = half(block + 2);
    const uint8_t *q = block + 16;
    for (int j = 0; j < 8; j++) {
        int scale, offset;
        scale_and_offset(block + 4, j, &scale, &offset);
        const float by = d * (float)scale;
        factors[j] = zn_even_factor(by);
        offsets[j] = zn_even_offset(by, -(m * (float)offset));
        for (int l = 0; l < 32; l++) *numbers++ = q[32 * (j / 2) + l] >> 4 * (j & 1) & 15;
    }
}

static void four_iq4_xs(const uint8_t *block, uint8_t *numbers, float *factors, float *offsets)
{
    const float d = half(block);
    const int h = block[2] | block[3] << 8;
    (void)offsets;
    for (int j = 0; j < 8; j++) {
        const int low = block[4 + j / 2] >> 4 * (j & 1) & 15, high = h >> 2 * j & 3;
        factors[j] = d * (float)((low | high << 4) - 32);
        nibbles(block + 8 + 16 * j, numbers + 32 * j);
    }
}

// --- the table

static const zn_block_type types[] = {
    {"Q4_0", 2, 32, 18, read_q4_0, four_q4_0, centred, false},
    {"Q4_1", 3, 32, 20, read_q4_1, four_q4_1, zn_even_levels, true},
    {"Q5_0", 6, 32, 22, .read = read_q5_0},
    {"Q5_1", 7, 32, 24, .read = read_q5_1},
    {"Q8_0", 8, 32, 34, .read = read_q8_0},
    {"Q2_K", 10, 256, 84, .read = read_q2_k},
    {"Q3_K", 11, 256, 110, .read = read_q3_k},
    {"Q4_K", 12, 256, 144, read_q4_k, four_q4_k, zn_even_levels, true},
    {"Q5_K", 13, 256, 176, .read = read_q5_k},
    {"Q6_K", 14, 256, 210, .read = read_q6_k},
    {"IQ4_NL", 20, 32, 18, read_iq4_nl, four_iq4_nl, curve, false},
    {"IQ4_XS", 23, 256, 136, read_iq4_xs, four_iq4_xs, curve, false},
};
enum { TYPES = sizeof types / sizeof *types };

const zn_block_type *zn_block_type_at(size_t index)
{
    return index < TYPES ? &types[index] : NULL;
}

const zn_block_type *zn_block_type_gguf(uint32_t number)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].gguf == number) return &types[i];
    return NULL;
}

void zn_blocks_to_f32(const zn_block_type *type, const uint8_t *data, size_t first, size_t count,
                      float *dst)
{
    for (size_t i = 0; i < count; i++)
        type->read(data + (first + i) * type->bytes, dst + i * type->weights);
}
