// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// torch on the CPU. 16 numbers and more: a uniform number for each, of 24 bits of MT19937; then by
// 16, the eight at the front and the eight behind them are turned into normal numbers by Box and
// Muller, in f32. Where the last 16 are not full, they are drawn again. Fewer than 16: one after
// the other, in double, two for each pair of uniform numbers of 53 bits. On x86 with AVX2, which is
// what nearly everyone has, torch takes the logarithm, cosine and sine of the Cephes library
// (Moshier), with products and sums fused as its compiler did; so does this, and the bits are the
// same. Elsewhere torch's differ in the last bits.
//
// torch by CUDA. Thread i has the subsequence i of Philox. Each call gives it four normal numbers,
// for the elements i, i + threads, i + 2 threads, i + 3 threads; the next call for those behind
// them. A GPU's own logarithm and sine differ in the last bits.
#include "src/diffusion/noise.h"

#include "src/base/random.h"

#include <math.h>
#include <stdbool.h>

enum { WORDS = 624, MIDDLE = 397, BLOCK = 16, HALF = 8 };
enum { CUDA_BLOCK = 256, CUDA_TAKEN = 4 };
static const double PI = 3.14159265358979323846;

typedef struct twister {
    uint32_t state[WORDS];
    int next;
} twister;

static void seed_twister(twister *t, uint64_t seed)
{
    t->state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < WORDS; i++) {
        const uint32_t before = t->state[i - 1];
        t->state[i] = 1812433253u * (before ^ before >> 30) + i;
    }
    t->next = WORDS;
}

static void twist(twister *t)
{
    for (int i = 0; i < WORDS; i++) {
        const uint32_t y = (t->state[i] & 0x80000000u) | (t->state[(i + 1) % WORDS] & 0x7fffffffu);
        t->state[i] = t->state[(i + MIDDLE) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    t->next = 0;
}

static uint32_t draw(twister *t)
{
    if (t->next == WORDS) twist(t);
    uint32_t y = t->state[t->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

static float draw_float(twister *t)
{
    return (float)(draw(t) & 0xffffffu) * 0x1p-24f;
}

static double draw_double(twister *t)
{
    const uint64_t high = draw(t), both = high << 32 | draw(t);
    return (double)(both & 0x1fffffffffffffu) * 0x1p-53;
}

// --- torch on the CPU ---------------------------------------------------------------------------

// ((c0 x + c1) x + c2) x ..
static float polynomial(const float *c, int count, float x)
{
    float y = c[0];
    for (int i = 1; i < count; i++) y = fmaf(y, x, c[i]);
    return y;
}

static float cephes_log(float value)
{
    static const float c[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                              -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                              2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
    int power;
    float x = frexpf(value, &power); // 0.5 .. 1
    const bool low = x < 0.707106781186547524f;
    const float e = (float)(low ? power - 1 : power);
    x = low ? x - 1 + x : x - 1;
    const float square = x * x;
    float y = polynomial(c, 9, x) * x;
    y = fmaf(y, square, e * -2.12194440e-4f);
    y = fmaf(-square, 0.5f, y);
    return fmaf(e, 0.693359375f, x + y);
}

// Of an angle of 0 and more.
static void cephes_sincos(float angle, float *sine, float *cosine)
{
    static const float of_cosine[] = {2.443315711809948e-5f, -1.388731625493765e-3f,
                                      4.166664568298827e-2f};
    static const float of_sine[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
    const int octant = ((int)(angle * 1.27323954473516f) + 1) & ~1; // even: from -pi/4 to pi/4
    const float n = (float)octant;
    float x = fmaf(n, -0.78515625f, angle); // pi / 4 in three parts
    x = fmaf(n, -2.4187564849853515625e-4f, x);
    x = fmaf(n, -3.77489497744594108e-8f, x);
    const float square = x * x;
    const float c = fmaf(polynomial(of_cosine, 3, square) * square, square, -(square * 0.5f)) + 1;
    const float s = fmaf(polynomial(of_sine, 3, square) * square, x, x);
    const bool swapped = (octant & 2) != 0;
    *sine = (octant & 4) ? -(swapped ? c : s) : swapped ? c : s;
    *cosine = (~(octant - 2) & 4) ? -(swapped ? s : c) : swapped ? s : c;
}

static void make_normal(float values[BLOCK])
{
    for (int i = 0; i < HALF; i++) {
        float sine, cosine;
        const float radius = sqrtf(-2 * cephes_log(1 - values[i]));
        cephes_sincos((float)(2 * PI) * values[i + HALF], &sine, &cosine);
        values[i] = radius * cosine + 0.0f; // torch adds the mean, which makes 0 of -0
        values[i + HALF] = radius * sine + 0.0f;
    }
}

static void fill_blocks(twister *t, float *dst, size_t count)
{
    for (size_t i = 0; i < count; i++) dst[i] = draw_float(t);
    for (size_t i = 0; i + BLOCK <= count; i += BLOCK) make_normal(dst + i);
    if (count % BLOCK == 0) return;
    float *last = dst + count - BLOCK;
    for (int i = 0; i < BLOCK; i++) last[i] = draw_float(t);
    make_normal(last);
}

static void fill_few(twister *t, float *dst, size_t count)
{
    for (size_t i = 0; i < count; i += 2) {
        const double angle = 2 * PI * draw_double(t);
        const double radius = sqrt(-2 * log1p(-draw_double(t)));
        dst[i] = (float)(radius * cos(angle));
        if (i + 1 < count) dst[i + 1] = (float)(radius * sin(angle));
    }
}

// --- torch by CUDA ------------------------------------------------------------------------------

// Two normal numbers of two words, the sine's first.
static float cuda_normal(const uint32_t words[2], bool second)
{
    const float inverse = 0x1p-32f, turn = 0x1p-32f * 6.2831855f;
    const float u = (float)words[0] * inverse + inverse / 2;
    const float v = (float)words[1] * turn + turn / 2;
    const float radius = sqrtf(-2 * logf(u));
    return radius * (second ? cosf(v) : sinf(v));
}

static void fill_cuda(uint64_t seed, uint64_t most, float *dst, size_t count)
{
    const uint64_t needed = (count + CUDA_BLOCK - 1) / CUDA_BLOCK * CUDA_BLOCK;
    const uint64_t threads = most == 0 || needed < most ? needed : most;
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (size_t i = 0; i < count; i++) {
        const uint64_t call = i / (threads * CUDA_TAKEN), within = i % (threads * CUDA_TAKEN);
        const uint64_t thread = within % threads, taken = within / threads;
        const uint32_t counter[4] = {(uint32_t)call, (uint32_t)(call >> 32), (uint32_t)thread,
                                     (uint32_t)(thread >> 32)};
        uint32_t words[4];
        zn_philox4x32(counter, key, words);
        dst[i] = cuda_normal(words + taken / 2 * 2, taken % 2 == 1);
    }
}

void zn_noise_fill(zn_noise kind, uint64_t seed, uint64_t threads, float *dst, size_t count)
{
    twister t;
    if (kind == ZN_NOISE_CUDA) {
        fill_cuda(seed, threads, dst, count);
        return;
    }
    seed_twister(&t, seed);
    if (count >= BLOCK)
        fill_blocks(&t, dst, count);
    else
        fill_few(&t, dst, count);
}
