// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// rope: every version within the bound of rope.h of the specification, in pairs and in halves,
// turned and turned back, with widths around those of vectors; the same bits in place and token by
// token.
#include "src/kernel/attention/rope.h"
#include "tests/kernel/fenced.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { TOKENS = 3, HEADS = 2, MOST = 1060 };

static const size_t widths[] = {2, 4, 6, 8, 10, 14, 16, 18, 30, 32, 34, 64, 128, 130, MOST};

typedef struct subject {
    zn_rotation how;
    size_t count;
    fenced x, dst, table;
} subject;

static subject make(size_t width, int kind, zn_random *random)
{
    subject s = {.how = {.heads = HEADS, .width = width, .halves = kind & 1, .back = kind >> 1 & 1},
                 .count = TOKENS * HEADS * width};
    const size_t gap = width % 3 * sizeof(float);
    s.x = fenced_make(s.count * sizeof(float), gap);
    s.dst = fenced_make(s.count * sizeof(float), gap);
    s.table = fenced_make(TOKENS * width * sizeof(float), gap);
    fill_normal(s.x.data, s.count, random);
    fill_normal(s.table.data, TOKENS * width, random);
    return s;
}

static void check_values(const subject *s, const kernel_set *set)
{
    static float want[TOKENS * HEADS * MOST], sizes[TOKENS * HEADS * MOST];
    static float absolute[TOKENS * HEADS * MOST], table[TOKENS * MOST];
    const float *x = s->x.data, *t = s->table.data, *got = s->dst.data;
    const size_t width = s->how.width;
    zn_rope_reference(&s->how, x, t, TOKENS, want);
    // Sums of absolute products: a turn whose second product is added on both sides.
    for (size_t i = 0; i < s->count; i++) absolute[i] = fabsf(x[i]);
    for (size_t i = 0; i < TOKENS * width; i++) table[i] = fabsf(t[i]);
    for (size_t i = 0; i < s->count; i++) {
        const size_t c = i % width, pairs = width / 2;
        const size_t pair = s->how.halves ? c % pairs : c / 2;
        const size_t other = s->how.halves ? (c < pairs ? i + pairs : i - pairs) : i ^ 1;
        const float *angles = table + i / width / HEADS * width;
        sizes[i] = absolute[i] * angles[pair] + absolute[other] * angles[pairs + pair];
    }
    for (size_t i = 0; i < s->count; i++) {
        if (fabs((double)got[i] - (double)want[i]) <= ldexp((double)sizes[i], -23)) continue;
        fail_msg("%s, width %zu, halves %d, back %d: element %zu is %.9g, not %.9g", set->name,
                 width, s->how.halves, s->how.back, i, (double)got[i], (double)want[i]);
    }
}

static void check_bits(const subject *s, zn_rope_fn *run)
{
    const size_t width = s->how.width;
    float *x = s->x.data;
    for (size_t t = 0; t < TOKENS; t++)
        run(&s->how, x + t * HEADS * width, (float *)s->table.data + t * width, 1,
            x + t * HEADS * width);
    assert_memory_equal(x, s->dst.data, s->count * sizeof(float));
}

ZN_TEST(versions_are_within_the_bound)
{
    zn_random random = {.seed = 5};
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < 4 * COUNT(widths); i++) {
            subject s = make(widths[i / 4], (int)(i % 4), &random);
            zn_rope_fn *run = set->kernels.rope;
            run(&s.how, s.x.data, s.table.data, TOKENS, s.dst.data);
            check_values(&s, set);
            check_bits(&s, run);
            fenced_close((fenced *[]){&s.x, &s.dst, &s.table}, 3);
        }
    }
}

static void bench(void)
{
    enum { WIDTH = 128, WIDE = 30, N = WIDTH * WIDE };
    static float x[N], dst[N], table[WIDTH];
    FOR_EACH_SET(set)
    {
        for (int halves = 0; halves < 2; halves++) {
            const zn_rotation how = {.heads = WIDE, .width = WIDTH, .halves = halves};
            bench_clock clock = {0};
            while (bench_again(&clock)) set->kernels.rope(&how, x, table, 1, dst);
            bench_result(&clock, set->name, N, "elements/ns", "%d heads of %d, %s", WIDE, WIDTH,
                         halves ? "halves" : "pairs");
        }
    }
}

KERNEL_GROUP(rope, bench)
