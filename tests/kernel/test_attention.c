// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention: every version against plain loops in double, at sizes around its blocks; queries do not
// depend on each other or on where calls are cut; large scores, NaN. The version in tiles runs on emulated
// ones, where there is AVX-512. With --bench: the rate of each version on one thread.
#include "src/base/memory.h"
#include "src/kernel/attention.h"
#include "tests/kernel/fenced.h"
#include "tests/kernel/kernels.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { KEYS = ZN_ATTENTION_KEYS, MOST = ZN_ATTENTION_QUERIES };

#if defined(__x86_64__)
zn_attention_fn zn_attention_amx_emulated;
#endif

// A version that this CPU has, or has with emulated tiles.
typedef struct version {
    const char *name;
    zn_attention_fn *run[2]; // of f32, or NULL, and of bf16
    // Of bf16, as a part of the sums of sizes: where p is rounded to it, half a step of each.
    double error;
} version;
enum { VERSIONS = 4 };

static int list_versions(version *all)
{
    int count = 0;
    const zn_isa most = zn_cpu_detect().isa;
    for (zn_isa isa = ZN_ISA_BASELINE; isa <= most && isa <= ZN_ISA_AVX512; isa++)
        all[count++] = (version){zn_isa_name(isa),
                                 {zn_attention_pick(isa, ZN_F32), zn_attention_pick(isa, ZN_BF16)},
                                 1e-6};
#ifdef __x86_64__
    if (most >= ZN_ISA_AVX512)
        all[count++] = (version){"emulated tiles", {NULL, zn_attention_amx_emulated}, 0x1p-8};
#endif
    return count;
}

#define FOR_EACH_VERSION(v)                                                                        \
    version versions_[VERSIONS];                                                                   \
    for (const version *v = versions_, *end_ = v + list_versions(versions_); v < end_; v++)

// One head: q, k and v in natural order, and packed for the kernel at the very end of memory.
typedef struct subject {
    zn_attention_args args;
    int64_t padded, padded_tokens;
    float *q, *k, *v; // [.][width]
    fenced rows, keys, values, sums;
} subject;

static float *random_values(size_t n, zn_type type, zn_random *random)
{
    float *values = zn_alloc(n * sizeof *values);
    assert_non_null(values);
    fill_normal(values, n, random);
    for (size_t i = 0; i < n && type == ZN_BF16; i++)
        values[i] = zn_bf16_to_f32(zn_f32_to_bf16(values[i]));
    return values;
}

static void pack(subject *s)
{
    const zn_attention_args *a = &s->args;
    const size_t size = zn_type_size(a->type);
    memset(s->rows.data, 0, s->rows.bytes);
    memset(s->keys.data, 0, s->keys.bytes);
    memset(s->values.data, 0, s->values.bytes);
    for (int64_t c = 0; c < a->width; c++) {
        for (int64_t i = 0; i < a->queries; i++)
            ((float *)s->rows.data)[i * s->padded + c] = s->q[i * a->width + c];
        for (int64_t key = 0; key < a->tokens; key++) {
            uint8_t *k = s->keys.data, *v = s->values.data;
            k += zn_attention_place(a->type, s->padded, key, c) * size;
            v += zn_attention_place(a->type, s->padded_tokens, c, key) * size;
            zn_type_store(a->type, k, 0, s->k[key * a->width + c]);
            zn_type_store(a->type, v, 0, s->v[key * a->width + c]);
        }
    }
}

static subject make(zn_type type, int64_t queries, int64_t tokens, int64_t width, bool causal,
                    zn_random *random)
{
    subject s = {.args = {.type = type,
                          .queries = queries,
                          .width = width,
                          .tokens = tokens,
                          .seen = tokens - queries + 1,
                          .causal = causal,
                          .scale = 1 / sqrtf((float)width)},
                 .padded = zn_attention_padded(width),
                 .padded_tokens = zn_attention_padded(tokens)};
    const size_t panels = (size_t)(s.padded * s.padded_tokens) * zn_type_size(type);
    const size_t rows = (size_t)(queries * s.padded) * sizeof(float);
    s.q = random_values((size_t)(queries * width), type, random);
    s.k = random_values((size_t)(tokens * width), type, random);
    s.v = random_values((size_t)(tokens * width), type, random);
    s.rows = fenced_make(rows, 0);
    s.sums = fenced_make(rows, 0);
    s.keys = fenced_make(panels, 0);
    s.values = fenced_make(panels, 0);
    s.args.q = s.rows.data;
    s.args.sums = s.sums.data;
    s.args.keys = s.keys.data;
    s.args.values = s.values.data;
    s.args.state = zn_alloc(sizeof *s.args.state);
    assert_non_null(s.args.state);
    pack(&s);
    return s;
}

static void drop(subject *s)
{
    fenced_close((fenced *[]){&s->rows, &s->keys, &s->values, &s->sums}, 4);
    zn_free(s->q);
    zn_free(s->k);
    zn_free(s->v);
    zn_free(s->args.state);
}

static double dot(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

// One query in double; and with the sizes of the values, which is what rounding errors are a part of.
static void stated(const subject *s, int64_t query, double *dst, double *sizes)
{
    const zn_attention_args *a = &s->args;
    const int64_t seen = zn_attention_seen(a, query);
    double largest = -INFINITY, total = 0;
    const float *q = s->q + query * a->width;
    for (int64_t key = 0; key < seen; key++)
        largest = fmax(largest, (double)a->scale * dot(q, s->k + key * a->width, a->width));
    memset(dst, 0, (size_t)a->width * sizeof *dst);
    memset(sizes, 0, (size_t)a->width * sizeof *sizes);
    for (int64_t key = 0; key < seen; key++) {
        const double p = exp((double)a->scale * dot(q, s->k + key * a->width, a->width) - largest);
        total += p;
        for (int64_t c = 0; c < a->width; c++) {
            const double v = (double)s->v[key * a->width + c];
            dst[c] += p * v;
            sizes[c] += p * fabs(v);
        }
    }
    for (int64_t c = 0; c < a->width; c++) {
        dst[c] /= total;
        sizes[c] /= total;
    }
}

// The length of the error of every `step`-th query beside that of the result, or beside that of the
// result with the sizes of the values: a few values may cancel out, and then the first says nothing.
static double error_of(const subject *s, int64_t step, bool of_sizes)
{
    double want[ZN_ATTENTION_WIDTH], sizes[ZN_ATTENTION_WIDTH], error = 0, length = 0;
    for (int64_t i = 0; i < s->args.queries; i += step) {
        stated(s, i, want, sizes);
        const double *scale = of_sizes ? sizes : want;
        for (int64_t c = 0; c < s->args.width; c++) {
            const double got = (double)s->args.sums[i * s->padded + c];
            error += (got - want[c]) * (got - want[c]);
            length += scale[c] * scale[c];
        }
    }
    return sqrt(error / length);
}

static const int64_t widths[] = {1, 8, 33, 40, 64, 80, 128, 512};
static const int64_t tokens_of[] = {1, 2, 31, 32, 33, KEYS - 1, KEYS, KEYS + 1, 300};
static const int64_t queries_of[] = {1, 5, 13, 29, MOST};

static void check_case(const version *v, zn_type type, bool causal, const int64_t size[3],
                       zn_random *random)
{
    const int64_t tokens = size[1], width = size[2];
    if (!v->run[type == ZN_BF16]) return;
    const int64_t queries = causal && size[0] > tokens ? tokens : size[0];
    subject s = make(type, queries, tokens, width, causal, random);
    v->run[type == ZN_BF16](&s.args, 0, tokens);
    const double error = error_of(&s, queries / 3 + 1, true);
    if (!(error <= (type == ZN_BF16 ? v->error : 1e-6)))
        fail_msg("%s %s: %d queries, %d keys of %d%s: error %.3g", v->name, zn_type_name(type),
                 (int)queries, (int)tokens, (int)width, causal ? ", causal" : "", error);
    drop(&s);
}

// Every number of keys with every number of queries, and every width with each of them: in turn, as
// the three loops that a version has over them are apart from each other.
static void versions_are_near_the_double_result(void **state)
{
    (void)state;
    zn_random random = {.seed = 5};
    const size_t pairs = COUNT(tokens_of) * COUNT(queries_of);
    const int64_t largest[] = {MOST, 300, ZN_ATTENTION_WIDTH};
    FOR_EACH_VERSION(v)
    {
        for (size_t i = 0; i < 4 * pairs; i++) {
            if (!zn_test_takes(i)) continue;
            const size_t tokens = i / 4 % COUNT(tokens_of), queries = i / 4 / COUNT(tokens_of);
            const int64_t width = widths[(i + i / 4 + queries) % COUNT(widths)];
            const int64_t size[] = {queries_of[queries], tokens_of[tokens], width};
            check_case(v, i % 2 ? ZN_BF16 : ZN_F32, i / 2 % 2, size, &random);
        }
        for (int i = 0; i < 4; i++)
            check_case(v, i % 2 ? ZN_BF16 : ZN_F32, i / 2, largest, &random);
    }
}

// The bits of a query alone, and over several calls, are those it has among others.
static void queries_do_not_depend_on_each_other(void **state)
{
    (void)state;
    zn_random random = {.seed = 6};
    FOR_EACH_VERSION(v)
    {
        for (int causal = !v->run[0]; causal < 2; causal++) {
            subject s = make(causal ? ZN_BF16 : ZN_F32, 43, 2 * KEYS + 17, 40, causal, &random);
            float *alone = zn_alloc((size_t)s.padded * sizeof *alone);
            assert_non_null(alone);
            v->run[causal](&s.args, 0, s.args.tokens);
            for (int64_t i = 0; i < s.args.queries; i++) {
                zn_attention_args one = s.args;
                one.queries = 1;
                one.seen += i;
                one.q += i * s.padded;
                one.sums = alone;
                for (int64_t key = 0; key < one.tokens; key += KEYS)
                    v->run[causal](&one, key, key + KEYS);
                assert_memory_equal(alone, s.args.sums + i * s.padded, 40 * sizeof *alone);
            }
            zn_free(alone);
            drop(&s);
        }
    }
}

static void large_scores_do_not_overflow(void **state)
{
    (void)state;
    zn_random random = {.seed = 8};
    FOR_EACH_VERSION(v)
    {
        for (int bf16 = !v->run[0]; bf16 < 2; bf16++) {
            subject s = make(bf16 ? ZN_BF16 : ZN_F32, 7, 200, 64, false, &random);
            for (int64_t i = 0; i < 7 * 64; i++) s.q[i] *= 0x1p20f;
            pack(&s);
            v->run[bf16](&s.args, 0, 200);
            // The largest score takes all: the result is the value of one key.
            for (int64_t i = 0; i < 7; i++) {
                double want[64], sizes[64];
                stated(&s, i, want, sizes);
                for (int64_t c = 0; c < 64; c++)
                    assert_true(fabs((double)s.args.sums[i * s.padded + c] - want[c]) <
                                1e-3 + (bf16 ? v->error : 0) * fabs(want[c]));
            }
            drop(&s);
        }
    }
}

// A query with a NaN gives NaN and leaves the others alone; a value with one makes its channel NaN.
static void nan_stays_where_it_belongs(void **state)
{
    (void)state;
    zn_random random = {.seed = 9};
    FOR_EACH_VERSION(v)
    {
        for (int bf16 = !v->run[0]; bf16 < 2; bf16++) {
            subject s = make(bf16 ? ZN_BF16 : ZN_F32, 14, 150, 40, false, &random);
            s.q[3 * 40 + 5] = NAN;
            s.v[149 * 40 + 7] = NAN;
            pack(&s);
            v->run[bf16](&s.args, 0, 150);
            for (int64_t i = 0; i < 14; i++)
                for (int64_t c = 0; c < 40; c++)
                    assert_int_equal(!!isnan(s.args.sums[i * s.padded + c]), i == 3 || c == 7);
            drop(&s);
        }
    }
}

static void check_long(const version *v, subject *s)
{
    const bool bf16 = s->args.type == ZN_BF16;
    if (!v->run[bf16]) return;
    v->run[bf16](&s->args, 0, s->args.tokens);
    const double error = error_of(s, 6, false);
    print_message("%d keys of %d, %s, %s: error %.2e\n", (int)s->args.tokens, (int)s->args.width,
                  zn_type_name(s->args.type), v->name, error);
    // bf16 is widened, nothing else is rounded; in tiles queries and p are.
    assert_true(error <= (bf16 && v->error > 1e-6 ? 0.01 : 2e-6));
}

// Long sums: what 65,536 keys amount to, by the best version and in tiles.
static void long_sequences_stay_exact(void **state)
{
    (void)state;
    zn_random random = {.seed = 10};
    static const int64_t cases[][2] = {
        {4096, 512}, {16384, 512}, {65536, 64}, {65536, 512}, {4160, 128}};
    version all[VERSIONS];
    const int count = list_versions(all);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        const int64_t tokens = cases[i / 2][0], width = cases[i / 2][1];
        if (zn_test_quick() && tokens > 5000) continue;
        subject s = make(i % 2 ? ZN_BF16 : ZN_F32, 12, tokens, width, false, &random);
        for (int n = count < 2 ? 0 : count - 2; n < count; n++) check_long(&all[n], &s);
        drop(&s);
    }
}

static void bench(void)
{
    static const int64_t cases[][3] = {{48, 4096, 512}, {96, 4160, 128}, {96, 4096, 64}};
    zn_random random = {.seed = 1};
    FOR_EACH_ISA(isa)
    {
        for (size_t i = 0; i < 2 * COUNT(cases); i++) {
            const int64_t *c = cases[i / 2];
            subject s = make(i % 2 ? ZN_BF16 : ZN_F32, c[0], c[1], c[2], false, &random);
            bench_clock clock = {0};
            zn_attention_fn *run = zn_attention_pick(isa, s.args.type);
            while (bench_again(&clock)) run(&s.args, 0, c[1]);
            bench_result(&clock, zn_isa_name(isa), 4 * (double)(c[0] * c[1] * c[2]), "GFLOP/s",
                         "%s, %d keys of %d", zn_type_name(s.args.type), (int)c[1], (int)c[2]);
            drop(&s);
        }
    }
}

KERNEL_GROUP(attention, bench, cmocka_unit_test(versions_are_near_the_double_result),
             cmocka_unit_test(queries_do_not_depend_on_each_other),
             cmocka_unit_test(large_scores_do_not_overflow),
             cmocka_unit_test(nan_stays_where_it_belongs),
             cmocka_unit_test(long_sequences_stay_exact));
