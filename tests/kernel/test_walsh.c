// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Walsh-Hadamard kernels: the specification against its definition in double, every version against
// the specification to the bit, pruned frequencies against gates of zero. With --bench, the time of
// transforms over a map beside a pass that only scales it.
#include "src/kernel/spectral/walsh.h"
#include "tests/kernel/fenced.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const zn_type types[] = {ZN_F32, ZN_BF16};

static fenced make(zn_type type, size_t n, size_t shift, zn_random *random)
{
    fenced f = fenced_make(n * zn_type_size(type), shift * zn_type_size(type));
    for (size_t i = 0; i < n; i++) zn_type_store(type, f.data, i, zn_random_normal(random));
    return f;
}

static float *make_scratch(size_t floats)
{
    float *scratch = aligned_alloc(64, (floats * sizeof *scratch + 63) / 64 * 64);
    assert_non_null(scratch);
    return scratch;
}

// Two zeros are equal whatever their sign: a sum with zero and a copy differ in it.
static void check_same(zn_type type, const void *got, const void *want, size_t n, const char *what,
                       uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        const float a = zn_type_load(type, got, i), b = zn_type_load(type, want, i);
        if (a == b) continue;
        print_error("%s, %s, seed %llu: %zu of %zu is %.9g, not %.9g\n", what, zn_type_name(type),
                    (unsigned long long)seed, i, n, (double)a, (double)b);
        fail();
    }
}

// --- lines ---------------------------------------------------------------------------------------

ZN_TEST(the_specification_is_the_definition)
{
    enum { N = 64, COUNT_ = 3 };
    float x[N * COUNT_], y[N * COUNT_], scratch[N];
    zn_random random = {.seed = 1};
    fill_normal(x, N * COUNT_, &random);
    const zn_walsh_lines lines = {ZN_F32, ZN_F32, N, COUNT_, COUNT_, 0, NULL};
    zn_walsh_reference.lines(&lines, x, y, 1, scratch);
    for (int i = 0; i < N * COUNT_; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) {
            int shared = i / COUNT_ & j, odd = 0;
            for (; shared; shared &= shared - 1) odd ^= 1;
            sum += (double)x[j * COUNT_ + i % COUNT_] * (odd ? -1 : 1);
        }
        assert_true(fabs(sum - (double)y[i]) < 1e-5 * 8 * 3);
    }
    zn_walsh_reference.lines(&lines, y, y, 1.0f / N, scratch); // twice is N times
    for (int i = 0; i < N * COUNT_; i++) assert_true(fabsf(y[i] - x[i]) < 1e-5f);
}

typedef struct line_case {
    size_t length, step, count;
    unsigned pruned;
} line_case;

static const line_case cases[] = {
    {2, 1, 1, 0},     {2, 5, 3, 1},      {4, 16, 16, 0},   {8, 20, 17, 0},
    {8, 8, 8, 3},     {16, 33, 31, 0},   {32, 70, 64, 0},  {64, 70, 70, 2},
    {128, 16, 16, 0}, {256, 40, 33, 0},  {512, 64, 64, 0}, {512, 50, 48, 1},
    {1024, 9, 8, 0},  {2048, 65, 65, 0}, {4096, 3, 3, 0},  {8192, 16, 16, 12},
};

static void check_lines(const zn_walsh *version, const line_case *c, zn_type from, zn_type to,
                        uint64_t seed)
{
    zn_random random = {.seed = seed};
    const size_t n = (c->length - 1) * c->step + c->count, gates = c->length * c->count;
    const size_t shift = seed % 8;
    fenced x = make(from, n, shift, &random), other = make(to, n, 0, &random);
    const zn_walsh_lines lines = {
        from, to, c->length, c->step, c->count, c->pruned, seed % 2 ? x.data : NULL};
    fenced y = fenced_make(n * zn_type_size(to), shift * zn_type_size(to));
    fenced want = fenced_make(n * zn_type_size(to), 0),
           gate = make(ZN_F32, zn_walsh_gate_floats(c->length, c->count), 1, &random);
    fenced sums = make(ZN_F32, gates, 0, &random), expected = fenced_make(gates * 4, 0);
    float *scratch = make_scratch(2 * zn_walsh_scratch(c->length));
    memset(y.data, 0, n * zn_type_size(to)); // between the lines, nothing is touched
    memset(want.data, 0, n * zn_type_size(to));
    zn_walsh_reference.gate(&lines, x.data, want.data, gate.data, scratch);
    version->gate(&lines, x.data, y.data, gate.data, scratch);
    check_same(to, y.data, want.data, n, "gate", seed);
    zn_walsh_lines dense = lines;
    dense.pruned = 0;
    zn_walsh_reference.lines(&dense, x.data, want.data, 0.3f, scratch);
    version->lines(&dense, x.data, y.data, 0.3f, scratch);
    check_same(to, y.data, want.data, n, "lines", seed);
    memcpy(expected.data, sums.data, gates * 4);
    zn_walsh_reference.products(&dense, x.data, other.data, expected.data, c->count, scratch);
    version->products(&dense, x.data, other.data, sums.data, c->count, scratch);
    check_same(ZN_F32, sums.data, expected.data, gates, "products", seed);
    if (from == to) { // in place
        zn_walsh_reference.gate(&lines, x.data, want.data, gate.data, scratch);
        memcpy(y.data, x.data, n * zn_type_size(to));
        memcpy(want.data, x.data, n * zn_type_size(to));
        zn_walsh_reference.gate(&lines, x.data, want.data, gate.data, scratch);
        version->gate(&lines, y.data, y.data, gate.data, scratch);
        check_same(to, y.data, want.data, n, "gate in place", seed);
    }
    free(scratch);
    fenced *all[] = {&x, &other, &y, &want, &gate, &sums, &expected};
    fenced_close(all, COUNT(all));
}

ZN_TEST(lines_have_the_bits_of_the_specification)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int t = 0; t < 4; t++) {
            FOR_EACH_SET(set)
            {
                check_lines(set->kernels.walsh, &cases[i], types[t / 2], types[t % 2], seed++);
            }
        }
    }
}

// Lines with pruned bits give what the dense run gives with gates of zero there.
ZN_TEST(pruned_is_gates_of_zero)
{
    enum { N = 256, LINES = 40 };
    static float x[N * LINES], sparse[N * LINES], dense[N * LINES], gate[N * (LINES + 8)];
    zn_random random = {.seed = 3};
    float *scratch = make_scratch(zn_walsh_scratch(N));
    fill_normal(x, N * LINES, &random);
    for (unsigned pruned = 1; pruned <= 8; pruned++) {
        fill_normal(gate, COUNT(gate), &random);
        for (size_t i = 0; i < N * LINES; i++) {
            if (i % N & ((1u << pruned) - 1)) gate[zn_walsh_gate_at(N, i % N, i / N)] = 0;
        }
        FOR_EACH_SET(set)
        {
            zn_walsh_lines lines = {ZN_F32, ZN_F32, N, LINES, LINES, 0, NULL};
            set->kernels.walsh->gate(&lines, x, dense, gate, scratch);
            lines.pruned = pruned;
            set->kernels.walsh->gate(&lines, x, sparse, gate, scratch);
            check_same(ZN_F32, sparse, dense, N * LINES, "pruned", pruned);
        }
    }
    free(scratch);
}

ZN_TEST(vectors_have_the_bits_of_the_specification)
{
    uint64_t seed = 1;
    for (size_t length = 2; length <= 2048; length *= 2) {
        for (size_t t = 0; t < 12; t++, seed++) {
            zn_random random = {.seed = seed};
            const zn_type from = types[t % 2], to = types[t / 2 % 2];
            const size_t count = 1 + t * 3, n = length * count;
            fenced x = make(from, n, seed % 8, &random), y = make(to, n, seed % 5, &random);
            fenced want = make(to, n, 0, &random);
            float *scratch = make_scratch(length);
            zn_walsh_reference.vectors(from, to, x.data, want.data, length, count, 0.7f, scratch);
            FOR_EACH_SET(set)
            {
                set->kernels.walsh->vectors(from, to, x.data, y.data, length, count, 0.7f, scratch);
                check_same(to, y.data, want.data, n, "vectors", seed);
            }
            free(scratch);
            fenced *all[] = {&x, &y, &want};
            fenced_close(all, COUNT(all));
        }
    }
}

// --- tiles ---------------------------------------------------------------------------------------

enum { SIDE = 20, MAX_CHANNELS = 37, MAX_VALUES = SIDE * SIDE * MAX_CHANNELS };

// A tile of a map of SIDE x SIDE pixels, some of whose rows and columns are mirrored, or not there.
static zn_walsh_pixels pixels_of(zn_type type, void *data, int channels, int size, int cut)
{
    zn_walsh_pixels p = {.type = type};
    for (int i = 0; i < size; i++) {
        const bool gone = i < cut || i == size - 1 - cut;
        const size_t row = (size_t)((i + 1) * SIDE * channels) * zn_type_size(type);
        p.rows[i] = cut && gone ? NULL : (char *)data + row;
        p.columns[i] = cut && gone ? -1 : (int64_t)(i + 2) * channels;
    }
    return p;
}

typedef struct tile_case {
    int size, channels, cut;
    unsigned pruned;
    bool threshold;
    zn_type from, to;
} tile_case;

static void check_tile(const zn_walsh *version, const tile_case *c, uint64_t seed)
{
    static float x[MAX_VALUES], dy[MAX_VALUES], got[MAX_VALUES], want[MAX_VALUES];
    static float gate[256 * MAX_CHANNELS], threshold[256 * MAX_CHANNELS];
    static float sums[2][2][256 * MAX_CHANNELS];
    zn_random random = {.seed = seed};
    const size_t factors = (size_t)(c->size * c->size * c->channels);
    for (size_t i = 0; i < MAX_VALUES; i++) {
        zn_type_store(c->from, x, i, zn_random_normal(&random));
        zn_type_store(c->to, dy, i, zn_random_normal(&random));
    }
    fill_normal(gate, factors, &random);
    for (size_t i = 0; i < factors; i++) threshold[i] = 4 * fabsf(zn_random_normal(&random));
    float *scratch = make_scratch(zn_walsh_tile_scratch(c->size));
    const zn_walsh_tiling tile = {c->size,
                                  c->pruned,
                                  (size_t)c->channels,
                                  (size_t)c->channels,
                                  gate,
                                  c->threshold ? threshold : NULL,
                                  scratch};
    const zn_walsh_pixels from = pixels_of(c->from, x, c->channels, c->size, 0);
    const zn_walsh_pixels cut = pixels_of(c->to, dy, c->channels, c->size, c->cut);
    const zn_walsh_pixels to = pixels_of(c->to, got, c->channels, c->size, c->cut);
    const zn_walsh_pixels to_want = pixels_of(c->to, want, c->channels, c->size, c->cut);
    memset(got, 0, sizeof got);
    memset(want, 0, sizeof want);
    memset(sums, 0, sizeof sums);
    zn_walsh_reference.tile(&tile, &from, &to_want);
    version->tile(&tile, &from, &to);
    check_same(c->to, got, want, MAX_VALUES, "tile", seed);
    zn_walsh_reference.tile_sums(&tile, &cut, &from, sums[0][0], sums[0][1]);
    version->tile_sums(&tile, &cut, &from, sums[1][0], sums[1][1]);
    check_same(ZN_F32, sums[1], sums[0], 2 * 256 * MAX_CHANNELS, "tile_sums", seed);
    if (c->threshold) {
        zn_walsh_reference.tile_gradient(&tile, &cut, &from, &to_want);
        version->tile_gradient(&tile, &cut, &from, &to);
        check_same(c->to, got, want, MAX_VALUES, "tile_gradient", seed);
    }
    free(scratch);
}

ZN_TEST(tiles_have_the_bits_of_the_specification)
{
    static const int channels[] = {1, 3, 8, 16, 32, 37};
    uint64_t seed = 1;
    for (int size = 4; size <= 16; size *= 2) {
        for (unsigned pruned = 0; pruned <= zn_walsh_log2((size_t)size); pruned++) {
            for (size_t i = 0; i < 4 * COUNT(channels); i++, seed++) {
                const tile_case c = {size,       channels[i / 4], (int)(i % 3),    pruned,
                                     i % 2 == 0, types[i % 2],    types[i / 2 % 2]};
                if (!zn_test_takes(seed)) continue;
                FOR_EACH_SET(set) check_tile(set->kernels.walsh, &c, seed);
            }
        }
    }
}

// A quarter of the frequencies is what the dense run gives with gates of zero for the others.
ZN_TEST(pruned_tiles_are_gates_of_zero)
{
    enum { SIZE = 8, CHANNELS = 20, N = SIDE * SIDE * CHANNELS };
    static float x[N], sparse[N], dense[N], gate[SIZE * SIZE * CHANNELS];
    zn_random random = {.seed = 9};
    fill_normal(x, N, &random);
    fill_normal(gate, COUNT(gate), &random);
    for (size_t i = 0; i < COUNT(gate); i++) {
        const size_t k = i / CHANNELS;
        if ((k % SIZE | k / SIZE) & 1) gate[i] = 0;
    }
    float *scratch = make_scratch(zn_walsh_tile_scratch(SIZE));
    const zn_walsh_pixels from = pixels_of(ZN_F32, x, CHANNELS, SIZE, 0);
    FOR_EACH_SET(set)
    {
        zn_walsh_tiling tile = {SIZE, 0, CHANNELS, CHANNELS, gate, NULL, scratch};
        const zn_walsh_pixels to = pixels_of(ZN_F32, dense, CHANNELS, SIZE, 0);
        const zn_walsh_pixels to_sparse = pixels_of(ZN_F32, sparse, CHANNELS, SIZE, 0);
        set->kernels.walsh->tile(&tile, &from, &to);
        tile.pruned = 1;
        set->kernels.walsh->tile(&tile, &from, &to_sparse);
        check_same(ZN_F32, sparse, dense, N, "pruned tile", 9);
    }
    free(scratch);
}

// --- time ----------------------------------------------------------------------------------------

enum { H = 512, W = 512, C = 64 };

typedef struct bench_data {
    const zn_walsh *kernel;
    zn_type type;
    size_t part; // only one in so many rows, columns or tiles: scalar code is slow
    void *map;
    float *gate, *scratch;
} bench_data;

typedef void bench_fn(const bench_data *d);

static char *at(const bench_data *d, size_t element)
{
    return (char *)d->map + element * zn_type_size(d->type);
}

// The pass to compare with: everything read, multiplied and written once.
static void scale_pass(const bench_data *d)
{
    const size_t n = (size_t)H * W * C / d->part;
    if (d->type == ZN_F32) {
        float *v = d->map;
        for (size_t i = 0; i < n; i++) v[i] *= 0.999f;
    } else {
        uint16_t *v = d->map;
        for (size_t i = 0; i < n; i++) v[i] = zn_f32_to_bf16(zn_bf16_to_f32(v[i]) * 0.999f);
    }
}

static void rows_pass(const bench_data *d)
{
    zn_walsh_lines lines = {d->type, d->type, W, C, C, 0, NULL};
    for (size_t y = 0; y < H / d->part; y++) {
        lines.next = at(d, (y + 1) * W * C);
        d->kernel->lines(&lines, at(d, y * W * C), at(d, y * W * C), 0.04419417f, d->scratch);
    }
}

static void gate_rows_with(const bench_data *d, unsigned pruned)
{
    zn_walsh_lines lines = {d->type, d->type, W, C, C, pruned, NULL};
    for (size_t y = 0; y < H / d->part; y++) {
        lines.next = at(d, (y + 1) * W * C);
        d->kernel->gate(&lines, at(d, y * W * C), at(d, y * W * C), d->gate, d->scratch);
    }
}

static void gate_rows_pass(const bench_data *d)
{
    gate_rows_with(d, 0);
}

static void half_rows_pass(const bench_data *d)
{
    gate_rows_with(d, 1);
}

static void gate_columns_pass(const bench_data *d)
{
    zn_walsh_lines lines = {d->type, d->type, H, (size_t)W * C, C, 0, NULL};
    for (size_t x = 0; x < W / d->part; x++) {
        lines.next = at(d, (x + 1) * C);
        d->kernel->gate(&lines, at(d, x * C), at(d, x * C), d->gate, d->scratch);
    }
}

static void vectors_pass(const bench_data *d)
{
    d->kernel->vectors(d->type, d->type, d->map, d->map, 512, (size_t)H * W * C / 512 / d->part,
                       0.04419417f, d->scratch);
}

static void channels_pass(const bench_data *d)
{
    d->kernel->vectors(d->type, d->type, d->map, d->map, C, (size_t)H * W / d->part, 0.125f,
                       d->scratch);
}

static void tiles_with(const bench_data *d, int size, unsigned pruned)
{
    const zn_walsh_tiling tile = {size, pruned, C, C, d->gate, NULL, d->scratch};
    for (size_t i = 0; i < (size_t)(H * W / size / size) / d->part; i++) {
        zn_walsh_pixels p = {.type = d->type};
        for (int k = 0; k < size; k++) {
            const size_t row = i / (size_t)(W / size) * (size_t)size + (size_t)k;
            p.rows[k] = at(d, row * W * C);
            p.columns[k] = (int64_t)(i % (size_t)(W / size) * (size_t)size + (size_t)k) * C;
        }
        d->kernel->tile(&tile, &p, &p);
    }
}

static void tiles_4_pass(const bench_data *d)
{
    tiles_with(d, 4, 0);
}

static void tiles_8_pass(const bench_data *d)
{
    tiles_with(d, 8, 0);
}

static void tiles_8_half_pass(const bench_data *d)
{
    tiles_with(d, 8, 1);
}

static void tiles_16_pass(const bench_data *d)
{
    tiles_with(d, 16, 0);
}

static const struct {
    const char *name;
    bench_fn *run;
} passes[] = {
    {"scale pass", scale_pass},
    {"transform 512, rows", rows_pass},
    {"gate 512, rows", gate_rows_pass},
    {"gate 512, rows, half of it", half_rows_pass},
    {"gate 512, columns", gate_columns_pass},
    {"transform 512, contiguous", vectors_pass},
    {"transform 64, channels", channels_pass},
    {"tiles of 4", tiles_4_pass},
    {"tiles of 8", tiles_8_pass},
    {"tiles of 8, kept 4", tiles_8_half_pass},
    {"tiles of 16", tiles_16_pass},
};

// The values stay what they are, or nearly: gates are about 1/512, tiles 1/64.
static void bench_version(const bench_data *d, const kernel_set *set)
{
    for (size_t i = 0; i < COUNT(passes); i++) {
        bench_clock clock = {0};
        while (bench_again(&clock)) passes[i].run(d);
        bench_result(&clock, set->name, (double)H * W * C / (double)d->part, "elements/ns", "%s %s",
                     zn_type_name(d->type), passes[i].name);
    }
}

static void bench(void)
{
    const size_t bytes = (size_t)H * W * C * sizeof(float);
    bench_data d = {.map = aligned_alloc(1 << 21, bytes),
                    .gate = make_scratch(512 * C),
                    .scratch = make_scratch(zn_walsh_scratch(512))};
    assert_non_null(d.map);
    FOR_EACH_SET(set)
    {
        if (zn_cpu_has(set->flags, ZN_CPU_AMX)) break; // the same as in AVX-512
        for (size_t t = 0; t < COUNT(types); t++) {
            for (size_t i = 0; i < 512 * C; i++) d.gate[i] = 1.0f / 512;
            memset(d.map, 0, bytes);
            d.kernel = set->kernels.walsh;
            d.type = types[t];
            d.part = set->flags == 0 ? 32 : 1;
            bench_version(&d, set);
        }
    }
    free(d.map);
    free(d.gate);
    free(d.scratch);
}

KERNEL_GROUP(walsh, bench)
