// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Others' 4 bits as panels: every weight within the bound that four_panels.h derives, sums as the
// bytes are, a row by itself as in its panel; rows of zeros, of tiny numbers and of numbers that
// are none.
#include "src/base/memory.h"
#include "src/base/random.h"
#include "src/tensor/four_panels.h"
#include "tests/testing.h"

#include <math.h>
#include <string.h>

enum { OUTPUTS = 71, MOST_INPUTS = 640 };

static const int8_t centred[16] = {-128, -112, -96, -80, -64, -48, -32, -16,
                                   0,    16,   32,  48,  64,  80,  96,  112};
static const int8_t even[16] = {-128, -111, -94, -77, -60, -43, -26, -9,
                                8,    25,   42,  59,  76,  93,  110, 127};
static const int8_t curve[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                 1,    13,   25,  38,  53,  69,  89,  113};

typedef struct source {
    zn_row_source base;
    int64_t inputs;
    uint8_t numbers[OUTPUTS][MOST_INPUTS];
    float factors[OUTPUTS][MOST_INPUTS / 8], offsets[OUTPUTS][MOST_INPUTS / 8];
} source;

static void read_four(const zn_row_source *base, int64_t row, const zn_four_row *dst)
{
    const source *s = (const source *)base;
    const size_t groups = (size_t)(s->inputs / base->fours.group) * sizeof(float);
    memcpy(dst->numbers, s->numbers[row], (size_t)s->inputs);
    memcpy(dst->factors, s->factors[row], groups);
    if (base->fours.offsets) memcpy(dst->offsets, s->offsets[row], groups);
}

static double weight_of(const source *s, int64_t o, int64_t k)
{
    const zn_fours *fours = &s->base.fours;
    const int64_t g = k / fours->group;
    return (double)s->factors[o][g] * fours->levels[s->numbers[o][k]] +
           (fours->offsets ? (double)s->offsets[o][g] : 0);
}

static void fill(source *s, zn_fours fours, int64_t inputs, zn_random *random)
{
    s->base = (zn_row_source){.bytes = sizeof *s, .fours = fours};
    s->base.fours.read = read_four;
    s->inputs = inputs;
    for (int64_t o = 0; o < OUTPUTS; o++) {
        const float size = ldexpf(1, (int)zn_random_below(random, 40) - 20);
        for (int64_t k = 0; k < inputs; k++)
            s->numbers[o][k] = (uint8_t)zn_random_below(random, 16);
        for (int64_t g = 0; g < inputs / fours.group; g++) {
            s->factors[o][g] = size * zn_random_normal(random);
            s->offsets[o][g] = size * 20 * zn_random_normal(random);
        }
    }
}

typedef struct packed {
    zn_panels is;
    void *block, *scratch;
} packed;

static packed pack(const source *s)
{
    packed p = {.block = NULL};
    size_t bytes = 0;
    assert_true(zn_four_panels_measure(&s->base.fours, OUTPUTS, s->inputs, &bytes));
    p.block = zn_alloc_zero(bytes);
    p.scratch = zn_alloc(zn_four_panels_scratch(&s->base.fours, s->inputs));
    assert_true(p.block && p.scratch);
    zn_four_panels_place(&s->base.fours, OUTPUTS, s->inputs, p.block, &p.is);
    for (int64_t o = OUTPUTS - 1; o >= 0; o--) zn_four_panels_pack(&s->base, &p.is, o, p.scratch);
    return p;
}

static void free_packed(packed *p)
{
    zn_free(p->block);
    zn_free(p->scratch);
}

static void check_row(const source *s, const packed *p, int64_t o)
{
    int8_t bytes[MOST_INPUTS], alone[MOST_INPUTS];
    float scale = 0;
    int32_t sum = 0;
    double largest = 0;
    zn_panels_read_bytes(&p->is, o, bytes);
    zn_four_panels_row(&s->base, o, s->inputs, p->scratch, alone, &scale);
    assert_memory_equal(bytes, alone, (size_t)s->inputs);
    assert_true(scale == p->is.scales[o] && scale > 0);
    for (int64_t k = 0; k < s->inputs; k++) {
        const double weight = weight_of(s, o, k), byte = bytes[k];
        const double rest = fabs(weight / (double)scale - byte);
        sum += bytes[k];
        largest = fmax(largest, fabs(byte));
        // The rounding of what is here in f32, besides.
        if (rest > 0.5 + 3.0 / 512 + 1e-4) fail_msg("row %d: off by %g", (int)o, rest);
    }
    assert_int_equal(sum, p->is.sums[o]);
    assert_true(largest <= 127);
}

ZN_TEST(every_weight_is_within_the_bound)
{
    static const zn_fours kinds[] = {{.levels = centred, .group = 32},
                                     {.levels = even, .group = 32, .offsets = true},
                                     {.levels = even, .group = 64, .offsets = true},
                                     {.levels = even, .group = 128, .offsets = true},
                                     {.levels = curve, .group = 32},
                                     {.levels = centred, .group = 16}};
    static const int64_t inputs[] = {32, 64, 128, 160, 640};
    static source s;
    zn_random random = {.seed = 1};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t n = 0; n < sizeof inputs / sizeof *inputs; n++) {
            if (inputs[n] % kinds[i].group) continue;
            fill(&s, kinds[i], inputs[n], &random);
            packed p = pack(&s);
            for (int64_t o = 0; o < OUTPUTS; o++) check_row(&s, &p, o);
            free_packed(&p);
        }
    }
}

ZN_TEST(strange_rows)
{
    static source s;
    zn_random random = {.seed = 2};
    fill(&s, (zn_fours){.levels = even, .group = 32, .offsets = true}, 64, &random);
    for (int g = 0; g < 2; g++) s.factors[0][g] = s.offsets[0][g] = 0;
    for (int g = 0; g < 2; g++) s.factors[1][g] = s.offsets[1][g] = 1e-44f;
    s.factors[2][1] = NAN;
    s.offsets[3][0] = INFINITY;
    s.factors[4][0] = 3e38f;
    packed p = pack(&s);
    for (int64_t o = 0; o < 5; o++) {
        int8_t bytes[64];
        zn_panels_read_bytes(&p.is, o, bytes);
        for (int k = 0; k < 64; k++) assert_int_equal(bytes[k], 0);
        assert_true(o < 2 ? p.is.scales[o] == 0 : isnan(p.is.scales[o]));
    }
    for (int64_t o = 5; o < OUTPUTS; o++) check_row(&s, &p, o);
    free_packed(&p);
}

ZN_TEST(parts_of_panels)
{
    static source s;
    zn_panels part;
    int8_t whole[160], cut[160];
    zn_random random = {.seed = 3};
    fill(&s, (zn_fours){.levels = even, .group = 32, .offsets = true}, 160, &random);
    packed p = pack(&s);
    assert_true(zn_panels_slice(&p.is, 32, 39, &part));
    for (int64_t o = 0; o < 39; o++) {
        zn_panels_read_bytes(&p.is, 32 + o, whole);
        zn_panels_read_bytes(&part, o, cut);
        assert_memory_equal(whole, cut, sizeof whole);
    }
    free_packed(&p);
}
