// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// linear: every version that this CPU has, and those for AMX on emulated tiles, against sums in
// double; and the promise of the same bits for any tokens per call and any parts; oneDNN's matmul
// agrees. With --bench: the rate of each version beside oneDNN's, on one thread.
#include "src/base/memory.h"
#include "src/base/parallel.h"
#include "src/kernel/linear/linear.h"
#include "tests/kernel/fenced.h"
#include "tests/kernel/onednn_matmul.h"
#include "tests/tensor/made_panels.h"

#include <float.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#ifdef __x86_64__
extern const zn_linear_version zn_linear_bf16_amx_emulated, zn_linear_s8_amx_emulated;
#endif

typedef struct shape {
    int tokens, inputs, outputs;
} shape;

// Tokens around groups of 6, 12 and 32; inputs around steps and runs; outputs around panels and
// blocks.
static const shape shapes[] = {{1, 1, 1},      {1, 64, 32},    {2, 3, 5},     {5, 31, 33},
                               {7, 64, 16},    {12, 65, 64},   {13, 385, 40}, {17, 400, 7},
                               {33, 129, 257}, {1, 1601, 300}, {40, 96, 35},  {3, 768, 31},
                               {64, 32, 32},   {25, 1540, 48}};

typedef struct problem {
    zn_linear_args args;
    fenced src, packed, bias, dst, placed;
    float *rows; // [outputs][inputs], as the version has them: rounded to bf16 where it has those
} problem;

enum { VERSIONS = 16 };

static void list_version(const zn_linear_version **all, int *count, const zn_linear_version *v)
{
    for (int i = 0; i < *count; i++)
        if (all[i] == v) return;
    assert_true(*count < VERSIONS);
    all[(*count)++] = v;
}

// The versions that this CPU has; how many.
static int list_versions(const zn_linear_version **all)
{
    int count = 0;
    FOR_EACH_SET(set)
    {
        list_version(all, &count, set->kernels.linear_f32);
        list_version(all, &count, set->kernels.linear_bf16);
        list_version(all, &count, set->kernels.linear_s8);
        list_version(all, &count, set->kernels.linear_bf16_tokens);
    }
    return count;
}

// Each of them, then those in tiles on emulated ones, with what else they need by the version for
// every CPU.
static bool version_at(int index, zn_linear_version *out)
{
    const zn_linear_version *all[VERSIONS + 2];
    int count = list_versions(all);
#ifdef __x86_64__
    all[count++] = &zn_linear_bf16_amx_emulated;
    all[count++] = &zn_linear_s8_amx_emulated;
#endif
    if (index >= count) return false;
    *out = *all[index];
    if (strcmp(out->name, "amx") == 0) {
        out->end = zn_linear_s8_baseline.end;
        out->round = zn_linear_s8_baseline.round;
        out->unpack = zn_linear_s8_baseline.unpack;
    }
    return true;
}

static problem make(const zn_linear_version *v, const shape *s, zn_type src, zn_type dst,
                    size_t shift, uint64_t seed)
{
    zn_random random = {.seed = seed};
    const int64_t weights = (int64_t)s->inputs * s->outputs,
                  numbers = (int64_t)s->tokens * s->inputs;
    problem p = {.args = {.version = v,
                          .src_type = src,
                          .src_scale = seed % 2 ? 0.5f : 1.0f,
                          .widen = zn_convert_baseline(src, ZN_F32),
                          .dst_type = dst,
                          .dst_scale = 1,
                          .narrow = zn_convert_baseline(ZN_F32, dst),
                          .tokens = s->tokens}};
    zn_linear_args *a = &p.args;
    assert_true(zn_linear_measure(v, s->outputs, s->inputs, &a->size));
    p.src = fenced_make((size_t)numbers * zn_type_size(src), shift * zn_type_size(src));
    p.dst = fenced_make((size_t)(s->tokens * s->outputs) * zn_type_size(dst), 0);
    p.bias = fenced_make((size_t)s->outputs * sizeof(float), 0);
    p.packed = fenced_make(a->size.bytes, 0);
    p.placed = fenced_make(zn_round_up(zn_linear_placed_bytes(v, &a->size, s->tokens), ZN_ALIGN),
                           0);
    p.rows = zn_alloc((size_t)weights * sizeof(float));
    assert_non_null(p.rows);
    for (int64_t i = 0; i < numbers; i++)
        zn_type_store(src, p.src.data, (size_t)i, zn_random_normal(&random));
    for (int64_t i = 0; i < weights; i++) {
        p.rows[i] = zn_random_normal(&random);
        if (v->weights == ZN_BF16) p.rows[i] = zn_bf16_to_f32(zn_f32_to_bf16(p.rows[i]));
    }
    fill_normal(p.bias.data, (size_t)s->outputs, &random);
    for (int64_t o = 0; o < s->outputs; o += v->panel) {
        const int64_t left = s->outputs - o;
        zn_linear_pack(v, &a->size, o, left < v->panel ? left : v->panel, p.rows + o * s->inputs,
                       p.packed.data);
    }
    a->src = p.src.data;
    a->dst = p.dst.data;
    a->packed = p.packed.data;
    a->placed = p.placed.data;
    a->bias = seed % 3 ? p.bias.data : NULL;
    return p;
}

static void free_problem(problem *p)
{
    fenced *all[] = {&p->src, &p->packed, &p->bias, &p->dst, &p->placed};
    fenced_close(all, COUNT(all));
    zn_free(p->rows);
}

// All tokens of args, in parts of so many panels and tokens, the last ones first.
static void run(const zn_linear_args *a, int panels, int64_t tokens)
{
    const zn_linear_version *v = a->version;
    const int64_t all = a->size.padded_outputs / v->panel;
    fenced scratch = fenced_make(zn_linear_scratch_bytes(v, &a->size, a->tokens), 0);
    zn_linear_place(a, 0, a->tokens, scratch.data);
    for (int64_t first = (all - 1) / panels * panels; first >= 0; first -= panels) {
        for (int64_t t = (a->tokens - 1) / tokens * tokens; t >= 0; t -= tokens) {
            const zn_linear_part part = {
                .block = first / ZN_LINEAR_PANELS,
                .first_panel = (int)(first % ZN_LINEAR_PANELS),
                .panels = (int)(all - first < panels ? all - first : panels),
                .token_begin = t,
                .token_end = a->tokens - t < tokens ? a->tokens : t + tokens,
            };
            zn_linear_multiply(a, &part, scratch.data);
        }
    }
    assert_true(fenced_intact(&scratch));
    fenced_free(&scratch);
}

static void run_whole(const zn_linear_args *a)
{
    run(a, ZN_LINEAR_PANELS, (a->tokens / a->version->tokens + 1) * a->version->tokens);
}

// A number on the grid of 127 levels of the largest of its line, and the line's largest.
static double largest_of(zn_type type, const void *line, size_t first, int64_t count)
{
    float most = 0;
    for (int64_t k = 0; k < count; k++)
        most = fmaxf(most, fabsf(zn_type_load(type, line, first + (size_t)k)));
    return (double)most;
}

static double expected(const problem *p, int64_t token, int64_t out, double *bound)
{
    const zn_linear_args *a = &p->args;
    const int64_t inputs = a->size.inputs;
    const bool rounds = a->version->weights == ZN_S8;
    const size_t x_at = (size_t)(token * inputs), w_at = (size_t)(out * inputs);
    const double x_most = rounds ? largest_of(a->src_type, a->src, x_at, inputs) : 0;
    const float w_level = rounds ? (float)largest_of(ZN_F32, p->rows, w_at, inputs) / 127 : 1;
    const float up = rounds ? 127 / (float)x_most : 1;
    double sum = 0, size = 0;
    for (int64_t k = 0; k < inputs; k++) {
        const float x = zn_type_load(a->src_type, a->src, x_at + (size_t)k);
        const float w = p->rows[w_at + (size_t)k];
        const double product = rounds ? (double)rintf(x * up) * (double)rintf(w / w_level)
                                      : (double)x * (double)w;
        sum += product;
        size += fabs(product);
    }
    double scale = (double)a->src_scale;
    if (rounds) scale *= x_most / 127 * (double)w_level;
    const double bias = a->bias ? (double)a->bias[out] : 0;
    *bound = (rounds ? 4 : (double)inputs + 4) * (double)FLT_EPSILON *
             ((rounds ? fabs(sum) : size) * scale + fabs(bias));
    return sum * scale + bias;
}

static void check(const problem *p, const char *what, uint64_t seed)
{
    const zn_linear_args *a = &p->args;
    for (int64_t i = 0; i < a->tokens * a->size.outputs; i++) {
        double bound;
        const double want = expected(p, i / a->size.outputs, i % a->size.outputs, &bound);
        const double got = (double)zn_type_load(a->dst_type, a->dst, (size_t)i);
        if (a->dst_type == ZN_BF16) bound += fabs(want) / 255;
        if (fabs(got - want) <= bound + 1e-30) continue;
        print_error(
            "%s %s, %lld x %lld -> %lld, seed %llu: number %lld is %.9g, not %.9g +- %.3g\n", what,
            zn_type_name(a->version->weights), (long long)a->tokens, (long long)a->size.inputs,
            (long long)a->size.outputs, (unsigned long long)seed, (long long)i, got, want, bound);
        fail();
    }
}

static zn_type source_of(const zn_linear_version *v, uint64_t seed)
{
    static const zn_type types[] = {ZN_F32, ZN_BF16, ZN_F16};
    return v->placed == ZN_BF16 ? ZN_BF16 : types[seed % COUNT(types)];
}

ZN_TEST(outputs_are_near_double)
{
    uint64_t seed = 0;
    zn_linear_version v;
    for (int i = 0; version_at(i, &v); i++) {
        for (size_t s = 0; s < COUNT(shapes); s++, seed++) {
            if (!zn_test_takes(seed)) continue;
            problem p = make(&v, &shapes[s], source_of(&v, seed), seed % 4 ? ZN_F32 : ZN_BF16,
                             seed % 5, seed);
            run_whole(&p.args);
            check(&p, v.name, seed);
            free_problem(&p);
        }
    }
}

// Parts of any size, and each token by itself, have the bits of one call.
ZN_TEST(bits_do_not_depend_on_calls)
{
    zn_linear_version v;
    for (int i = 0; version_at(i, &v); i++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            if (!zn_test_takes(s + (size_t)i)) continue;
            problem p = make(&v, &shapes[s], source_of(&v, s), ZN_F32, 0, s);
            run_whole(&p.args);
            fenced before = fenced_make(p.dst.bytes, 0);
            memcpy(before.data, p.dst.data, p.dst.bytes);
            memset(p.dst.data, 0, p.dst.bytes);
            run(&p.args, 2, v.tokens);
            assert_memory_equal(before.data, p.dst.data, p.dst.bytes);
            memset(p.dst.data, 0, p.dst.bytes);
            zn_linear_args one = p.args;
            one.tokens = 1;
            for (int t = 0; t < shapes[s].tokens; t++) {
                const size_t row = (size_t)shapes[s].inputs * zn_type_size(one.src_type);
                one.src = (char *)p.src.data + (size_t)t * row;
                one.dst = (float *)p.dst.data + (size_t)t * (size_t)shapes[s].outputs;
                run_whole(&one);
            }
            assert_memory_equal(before.data, p.dst.data, p.dst.bytes);
            fenced_free(&before);
            free_problem(&p);
        }
    }
}

// --- panels -------------------------------------------------------------------------------------

// The rows of a problem on the grid of 8 bits, as packing rounds them.
static made_panels panels_of_rows(const problem *p)
{
    const int64_t outputs = p->args.size.outputs, inputs = p->args.size.inputs;
    int8_t *bytes = zn_alloc((size_t)(outputs * inputs));
    float *scales = zn_alloc((size_t)outputs * sizeof *scales);
    assert_true(bytes && scales);
    for (int64_t o = 0; o < outputs; o++) {
        const size_t at = (size_t)(o * inputs);
        scales[o] = (float)largest_of(ZN_F32, p->rows, at, inputs) / 127;
        for (int64_t k = 0; k < inputs; k++)
            bytes[o * inputs + k] = (int8_t)rintf(p->rows[at + (size_t)k] / scales[o]);
    }
    const made_panels made = panels_of_bytes(outputs, inputs, bytes, scales);
    zn_free(bytes);
    zn_free(scales);
    return made;
}

// Results of args with panels, in parts of so many panels and tokens.
static void run_panels(const problem *p, const zn_panels *panels, int parts, int64_t tokens,
                       float *dst)
{
    zn_linear_args a = p->args;
    a.panels = panels;
    a.packed = NULL;
    a.dst = dst;
    assert_true(zn_linear_measure_panels(a.version, panels, &a.size));
    if (panels->rotated_by) a.rotate = zn_rotation_baseline;
    a.rotated_by = panels->rotated_by;
    run(&a, parts, tokens);
}

ZN_TEST(panels_have_the_bits_of_packed_rows)
{
    zn_linear_version v;
    for (int i = 0; version_at(i, &v); i++) {
        if (v.weights != ZN_S8) continue;
        for (size_t s = 0; s < COUNT(shapes); s++) {
            if (!zn_test_takes(s + (size_t)i)) continue;
            problem p = make(&v, &shapes[s], source_of(&v, s), ZN_F32, 0, s);
            made_panels made = panels_of_rows(&p);
            fenced got = fenced_make(p.dst.bytes, 0);
            run_whole(&p.args);
            run_panels(&p, &made.is, ZN_LINEAR_PANELS, (int64_t)(s + 1) * v.tokens, got.data);
            assert_memory_equal(got.data, p.dst.data, p.dst.bytes);
            panels_free(&made);
            fenced_free(&got);
            free_problem(&p);
        }
    }
}

// One output of rotated or plain panels in double.
static double panel_sum(const problem *p, const zn_panels *panels, int64_t token, int64_t out)
{
    const zn_linear_args *a = &p->args;
    const int64_t inputs = a->size.inputs, padded = (inputs + 127) / 128 * 128;
    float *x = zn_alloc((size_t)inputs * sizeof *x), most = 0;
    assert_non_null(x);
    double sum = 0;
    for (int64_t k = 0; k < inputs; k++)
        x[k] = zn_type_load(a->src_type, a->src, (size_t)(token * inputs + k));
    if (panels->rotated_by) zn_rotation_baseline(x, inputs, panels->rotated_by);
    for (int64_t k = 0; k < inputs; k++) most = fmaxf(most, fabsf(x[k]));
    for (int64_t k = 0; k < inputs; k++)
        sum += (double)rintf(x[k] * (127 / most)) * zn_panels_byte(panels, padded, out, k);
    zn_free(x);
    return sum * (double)(most / 127) * (double)panels->scales[out] * (double)a->src_scale +
           (a->bias ? (double)a->bias[out] : 0);
}

// fours: inputs that share a factor, of others' 4 bits; 0: ours.
static void check_panels(const zn_linear_version *v, const shape *s, int bits, int64_t fours,
                         uint64_t seed)
{
    zn_random random = {.seed = seed};
    problem p = make(v, s, source_of(v, seed), ZN_F32, 0, seed);
    made_panels made = fours ? panels_of_fours(s->outputs, s->inputs, fours, seed % 2, &random)
                             : panels_of_random(s->outputs, s->inputs, bits, &random);
    if (s->inputs % 16 == 0) made.is.rotated_by = 16;
    fenced again = fenced_make(p.dst.bytes, 0);
    run_panels(&p, &made.is, ZN_LINEAR_PANELS, (s->tokens + 1) * (int64_t)v->tokens, p.dst.data);
    run_panels(&p, &made.is, 2, v->tokens, again.data);
    assert_memory_equal(again.data, p.dst.data, p.dst.bytes);
    const int64_t step = s->outputs > 64 ? 7 : 1; // some of many
    for (int64_t i = 0; i < (int64_t)s->tokens * s->outputs; i += step) {
        const double want = panel_sum(&p, &made.is, i / s->outputs, i % s->outputs);
        const double got = (double)((const float *)p.dst.data)[i];
        if (fabs(got - want) > 1e-6 * (fabs(want) + 1))
            fail_msg("%s, %d bits, %d x %d -> %d: number %lld is %.9g, not %.9g", v->name, bits,
                     s->tokens, s->inputs, s->outputs, (long long)i, got, want);
    }
    panels_free(&made);
    fenced_free(&again);
    free_problem(&p);
}

ZN_TEST(panels_are_near_double)
{
    uint64_t seed = 0;
    zn_linear_version v;
    for (int i = 0; version_at(i, &v); i++) {
        if (v.weights != ZN_S8) continue;
        for (size_t s = 0; s < COUNT(shapes); s++, seed++)
            if (zn_test_takes(seed)) check_panels(&v, &shapes[s], s % 3 ? 4 : 8, 0, seed);
    }
}

ZN_TEST(others_four_bits_are_near_double)
{
    static const shape fitting[] = {{1, 64, 32}, {7, 64, 16},  {13, 400, 70}, {3, 768, 31},
                                    {9, 8, 33},  {40, 96, 35}, {25, 1600, 48}};
    uint64_t seed = 0;
    zn_linear_version v;
    for (int i = 0; version_at(i, &v); i++) {
        if (v.weights != ZN_S8) continue;
        for (size_t s = 0; s < COUNT(fitting); s++, seed++) {
            const int64_t inputs = fitting[s].inputs, most = inputs & -inputs;
            if (zn_test_takes(seed))
                check_panels(&v, &fitting[s], 4, most < 128 ? most : 128, seed);
        }
    }
}

// In 8 bits: all zero is zero, a NaN or an infinity makes NaN of its token and of no other.
ZN_TEST(special_tokens)
{
    zn_linear_version v;
    for (int i = 0; version_at(i, &v); i++) {
        if (v.weights != ZN_S8) continue;
        problem p = make(&v, &(shape){4, 70, 20}, ZN_F32, ZN_F32, 0, 3); // without a bias
        float *src = p.src.data;
        const float *dst = p.dst.data;
        memset(src, 0, 70 * sizeof *src);
        src[70 + 69] = NAN;
        src[2 * 70] = INFINITY;
        run_whole(&p.args);
        for (int o = 0; o < 20; o++) {
            assert_true(dst[o] == 0);
            assert_true(isnan(dst[20 + o]) && isnan(dst[40 + o]) && isfinite(dst[60 + o]));
        }
        free_problem(&p);
    }
}

ZN_TEST(sizes_that_do_not_fit)
{
    zn_linear_size size;
    assert_false(zn_linear_measure(&zn_linear_f32_baseline, 0, 5, &size));
    assert_false(zn_linear_measure(&zn_linear_f32_baseline, 5, INT64_MAX, &size));
    assert_true(zn_linear_measure(&zn_linear_f32_baseline, 5, 3, &size));
    assert_int_equal(size.padded_outputs, 8);
    assert_int_equal(size.padded_k, 4);
}

// --- oneDNN -------------------------------------------------------------------------------------

// oneDNN's product of the same numbers; in 8 bits of any, since only its time is wanted.
typedef struct rival {
    zn_team *team; // oneDNN takes the thread's number of threads
    zn_dnn *dnn;
    zn_dnn_matmul *matmul;
    void *weights, *src;
    float *dst;
} rival;

// False where oneDNN, or the product, is not there.
static bool rival_make(const problem *p, zn_type type, rival *r)
{
    const zn_linear_args *a = &p->args;
    const size_t weights = (size_t)(a->size.outputs * a->size.inputs);
    const size_t numbers = (size_t)(a->tokens * a->size.inputs);
    const zn_dnn_matmul_desc desc = {.tokens = a->tokens,
                                     .inputs = a->size.inputs,
                                     .outputs = a->size.outputs,
                                     .type = type,
                                     .dst = ZN_F32};
    const zn_cpu cpu = zn_cpu_detect();
    zn_error err = {0};
    *r = (rival){.weights = zn_alloc_zero(weights * sizeof(float)),
                 .src = zn_alloc_zero(numbers * sizeof(float)),
                 .dst = zn_alloc((size_t)(a->tokens * a->size.outputs) * sizeof(float))};
    assert_true(r->weights && r->src && r->dst);
    for (size_t i = 0; i < weights && type != ZN_S8; i++)
        zn_type_store(type, r->weights, i, p->rows[i]);
    for (size_t i = 0; i < numbers && type != ZN_S8; i++)
        zn_type_store(type, r->src, i, zn_type_load(a->src_type, a->src, i) * a->src_scale);
    zn_test_ok(zn_team_create(1, &r->team, &err), &err);
    return zn_dnn_create(&cpu, &r->dnn, &err) == ZENITH_OK &&
           zn_dnn_matmul_create(r->dnn, &desc, r->weights, &r->matmul, &err) == ZENITH_OK;
}

static void rival_run(const rival *r)
{
    zn_error err = {0};
    zn_test_ok(zn_dnn_matmul_run(r->matmul, r->src, r->dst, &err), &err);
}

static void rival_free(rival *r)
{
    zn_dnn_matmul_free(r->matmul);
    zn_dnn_free(r->dnn);
    zn_team_free(r->team);
    zn_free(r->weights);
    zn_free(r->src);
    zn_free(r->dst);
}

ZN_TEST(onednn_agrees)
{
    zn_linear_version v;
    for (int i = 0; version_at(i, &v); i++) {
        if (v.weights != ZN_F32) continue;
        for (size_t s = 0; s < COUNT(shapes); s++) {
            problem p = make(&v, &shapes[s], ZN_F32, ZN_F32, 0, 3 * s); // without a bias
            rival r;
            if (rival_make(&p, ZN_F32, &r)) {
                run_whole(&p.args);
                rival_run(&r);
                for (int64_t n = 0; n < p.args.tokens * p.args.size.outputs; n++) {
                    double bound;
                    expected(&p, n / p.args.size.outputs, n % p.args.size.outputs, &bound);
                    const double got = (double)((const float *)p.args.dst)[n];
                    assert_true(fabs(got - (double)r.dst[n]) <= 2 * bound);
                }
            }
            rival_free(&r);
            free_problem(&p);
        }
    }
}

static void bench_rival(const problem *p, zn_type type, const shape *s)
{
    rival r;
    bench_clock clock = {0};
    if (rival_make(p, type, &r)) {
        while (bench_again(&clock)) rival_run(&r);
        bench_result(&clock, "onednn", 2.0 * s->tokens * s->inputs * s->outputs, "GFLOP/s",
                     "%s, %d tokens", zn_type_name(type), s->tokens);
    }
    rival_free(&r);
}

// As an operator runs: blocks in the order in which each brings the next one's weights near.
static void run_forwards(const zn_linear_args *a, void *scratch)
{
    const int64_t all = a->size.padded_outputs / a->version->panel;
    zn_linear_place(a, 0, a->tokens, scratch);
    for (int64_t block = 0; block < a->size.blocks; block++) {
        const int64_t left = all - block * ZN_LINEAR_PANELS;
        const zn_linear_part part = {
            .block = block,
            .panels = (int)(left < ZN_LINEAR_PANELS ? left : ZN_LINEAR_PANELS),
            .token_end = a->tokens,
        };
        zn_linear_multiply(a, &part, scratch);
    }
}

// Weights that lie in panels of 8 and 4 bits.
static void bench_panels(const shape *s)
{
    const zn_linear_version *all[VERSIONS];
    const int count = list_versions(all);
    zn_random random = {.seed = 1};
    for (int i = 0; i < count; i++) {
        const zn_linear_version *v = all[i];
        if (v->weights != ZN_S8) continue;
        for (int bits = 4; bits <= 8; bits += 4) {
            problem p = make(v, s, ZN_F32, ZN_F32, 0, 6);
            made_panels made = panels_of_random(s->outputs, s->inputs, bits, &random);
            p.args.panels = &made.is;
            assert_true(zn_linear_measure_panels(v, &made.is, &p.args.size));
            fenced scratch = fenced_make(zn_linear_scratch_bytes(v, &p.args.size, s->tokens), 0);
            bench_clock clock = {0};
            while (bench_again(&clock)) run_forwards(&p.args, scratch.data);
            bench_result(&clock, v->name, 2.0 * s->tokens * s->inputs * s->outputs, "GFLOP/s",
                         "q%d, %d tokens", bits, s->tokens);
            fenced_free(&scratch);
            panels_free(&made);
            free_problem(&p);
        }
    }
}

// 8-bit products are beside a matmul of numbers that are rounded already.
static void bench(void)
{
    static const shape sizes[] = {{1, 1920, 2048}, {32, 960, 512}, {132, 960, 512}};
    bench_panels(&sizes[0]);
    bench_panels(&sizes[2]);
    const zn_linear_version *all[VERSIONS];
    const int count = list_versions(all);
    for (size_t n = 0; n < COUNT(sizes); n++) {
        const shape *s = &sizes[n];
        bool timed[ZN_TYPE_COUNT] = {0};
        for (int i = 0; i < count; i++) {
            const zn_linear_version *v = all[i];
            problem p = make(v, s, source_of(v, 0), ZN_F32, 0, 6);
            fenced scratch = fenced_make(zn_linear_scratch_bytes(v, &p.args.size, s->tokens), 0);
            bench_clock clock = {0};
            while (bench_again(&clock)) run_forwards(&p.args, scratch.data);
            bench_result(&clock, v->name, 2.0 * s->tokens * s->inputs * s->outputs, "GFLOP/s",
                         "%s, %d tokens", zn_type_name(v->weights), s->tokens);
            if (!timed[v->weights]) bench_rival(&p, v->weights, s);
            timed[v->weights] = true;
            fenced_free(&scratch);
            free_problem(&p);
        }
    }
}

KERNEL_GROUP(linear, bench)
