// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention: every version against plain loops in double, at sizes around its blocks; queries do
// not depend on each other or on where calls are cut; large scores, NaN. The version in tiles runs
// on emulated ones, where there is AVX-512. With --bench: the rate of each version on one thread.
#include "tests/kernel/attention_subject.h"

enum { KEYS = ZN_ATTENTION_KEYS, MOST = ZN_ATTENTION_QUERIES, WIDTH = ZN_ATTENTION_WIDTH };

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
ZN_TEST(versions_are_near_the_double_result)
{
    zn_random random = {.seed = 5};
    const size_t pairs = COUNT(tokens_of) * COUNT(queries_of);
    const int64_t largest[][3] = {
        {MOST, 300, WIDTH / 2}, {zn_attention_most_queries(WIDTH), 300, WIDTH}, {11, 70, 640}};
    FOR_EACH_VERSION(v)
    {
        for (size_t i = 0; i < 4 * pairs; i++) {
            if (!zn_test_takes(i)) continue;
            const size_t tokens = i / 4 % COUNT(tokens_of), queries = i / 4 / COUNT(tokens_of);
            const int64_t width = widths[(i + i / 4 + queries) % COUNT(widths)];
            const int64_t size[] = {queries_of[queries], tokens_of[tokens], width};
            check_case(v, i % 2 ? ZN_BF16 : ZN_F32, i / 2 % 2, size, &random);
        }
        for (size_t i = 0; i < 4 * COUNT(largest); i++)
            if (zn_test_takes(i))
                check_case(v, i % 2 ? ZN_BF16 : ZN_F32, i / 2 % 2, largest[i / 4], &random);
    }
}

// The bits of a query alone, and over several calls, are those it has among others.
ZN_TEST(queries_do_not_depend_on_each_other)
{
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

ZN_TEST(large_scores_do_not_overflow)
{
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
ZN_TEST(nan_stays_where_it_belongs)
{
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

static void bench(void)
{
    static const int64_t cases[][3] = {{48, 4096, 512}, {96, 4160, 128}, {96, 4096, 64}};
    zn_random random = {.seed = 1};
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < 2 * COUNT(cases); i++) {
            const int64_t *c = cases[i / 2];
            subject s = make(i % 2 ? ZN_BF16 : ZN_F32, c[0], c[1], c[2], false, &random);
            bench_clock clock = {0};
            zn_attention_fn *run = s.args.type == ZN_BF16 ? set->kernels.attention_bf16
                                                          : set->kernels.attention;
            while (bench_again(&clock)) run(&s.args, 0, c[1]);
            bench_result(&clock, set->name, 4 * (double)(c[0] * c[1] * c[2]), "GFLOP/s",
                         "%s, %d keys of %d", zn_type_name(s.args.type), (int)c[1], (int)c[2]);
            drop(&s);
        }
    }
}

KERNEL_GROUP(attention, bench)
