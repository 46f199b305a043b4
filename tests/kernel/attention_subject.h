// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of attention share: the versions that this CPU has, with the one in tiles on
// emulated ones; one head with random numbers; and its result in double.
#ifndef ZN_TESTS_KERNEL_ATTENTION_SUBJECT_H
#define ZN_TESTS_KERNEL_ATTENTION_SUBJECT_H

#include "src/base/memory.h"
#include "src/kernel/attention/attention.h"
#include "tests/kernel/fenced.h"
#include "tests/kernel/kernels.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

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

static inline int list_versions(version *all)
{
    int count = 0;
    FOR_EACH_SET(set)
    {
        const zn_kernels *k = &set->kernels;
        if (k->attention_bf16 == k->attention) // not tiles: they are emulated
            all[count++] = (version){set->name, {k->attention, k->attention_bf16}, 1e-6};
    }
#ifdef __x86_64__
    if (zn_cpu_detect().flags & ZN_CPU_AVX512)
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

static inline float *random_values(size_t n, zn_type type, zn_random *random)
{
    float *values = zn_alloc(n * sizeof *values);
    assert_non_null(values);
    fill_normal(values, n, random);
    for (size_t i = 0; i < n && type == ZN_BF16; i++)
        values[i] = zn_bf16_to_f32(zn_f32_to_bf16(values[i]));
    return values;
}

static inline void pack(subject *s)
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

static inline subject make(zn_type type, int64_t queries, int64_t tokens, int64_t width,
                           bool causal, zn_random *random)
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

static inline void drop(subject *s)
{
    fenced_close((fenced *[]){&s->rows, &s->keys, &s->values, &s->sums}, 4);
    zn_free(s->q);
    zn_free(s->k);
    zn_free(s->v);
    zn_free(s->args.state);
}

static inline double dot(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

// One query in double; and with the sizes of the values, which is what rounding errors are a part
// of.
static inline void stated(const subject *s, int64_t query, double *dst, double *sizes)
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
// result with the sizes of the values: a few values may cancel out, and then the first says
// nothing.
static inline double error_of(const subject *s, int64_t step, bool of_sizes)
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

#endif
