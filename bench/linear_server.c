// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// linear beside oneDNN's matmul on one thread, for products.py:
//
//     bench_linear f32|bf16|int8|q8|q4|q8r|q4r INPUTS OUTPUTS MOST_TOKENS
//
// q8 and q4 are weights that lie in panels (src/tensor/panels.h), r: rotated; oneDNN's are those of
// int8 then.
//
// Commands come on standard input, one a line, each answered by a line of JSON:
//
//     ours TOKENS      {"seconds": ...}    with the layout of tokens, and in int8 their rounding
//     onednn TOKENS    {"seconds": ...}    int8: tokens are rounded already, with one scale for all
//     compare TOKENS   {"error": ...}      the largest difference of the two over the largest
//                                          result
//     read             {"gb_per_s": ...}   memory as large as the weights, read once
//     probe            {"gflops": ...}     registers alone: AMX, VNNI or FMA, whichever it would be
#include "bench/burst.h"
#include "src/base/memory.h"
#include "src/format/tensor/panel_weight.h"
#include "src/kernel/kernels.h"
#include "src/op/token/linear_lowering.h"

#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct matmul {
    dnnl_memory_t src, weights, dst, src_scale, weight_scale;
    dnnl_primitive_t primitive;
    int64_t tokens;
} matmul;

typedef struct bench {
    zn_cpu cpu;
    zn_kernels kernels;
    zn_type map, weights; // of tokens and results; of packed weights
    int64_t inputs, outputs, most_tokens;
    float *dense, *tokens, *scales, one;
    void *src, *src_bytes, *dst, *dst_onednn, *packed, *scratch;
    zn_linear_args args;
    int bits; // of panels; 0: weights are packed
    bool rotated;
    zn_panels panels;
    size_t weight_bytes;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_t packed_onednn;
    matmul newest;
} bench;

static void *need(void *block)
{
    if (block) return block;
    fprintf(stderr, "bench_linear: no memory\n");
    exit(1);
}

static void check(dnnl_status_t status, const char *what)
{
    if (status == dnnl_success) return;
    fprintf(stderr, "bench_linear: oneDNN: %s: status %d\n", what, (int)status);
    exit(1);
}

// Of this thread, which does all the work: what other programs take does not count.
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Numbers between -1 and 1.
static float *make_numbers(int64_t count, uint32_t state)
{
    float *numbers = need(zn_alloc((size_t)count * sizeof(float)));
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        numbers[i] = (float)(int32_t)state * 0x1p-31f;
    }
    return numbers;
}

static void *convert(const bench *b, zn_type to, const float *src, int64_t count, float scale)
{
    void *dst = need(zn_alloc((size_t)count * zn_type_size(to)));
    b->kernels.convert(ZN_F32, to)(src, 1, dst, scale, (size_t)count);
    return dst;
}

// --- ours

// All rows, quantised as `zenith convert` does.
static void fill_panels(const bench *b, const zn_panel_kind *kind, const zn_panel_target *all)
{
    float *row = need(zn_alloc((size_t)kind->padded_inputs * sizeof(float)));
    int8_t *bytes = need(zn_alloc((size_t)kind->padded_inputs));
    zn_panel_error error = {0};
    for (int64_t o = 0; o < b->outputs; o++) {
        const int64_t panel = o / ZN_PANEL_OUTPUTS, wide = panel * ZN_PANEL_OUTPUTS;
        const zn_panel_target dst = {
            all->numbers + wide * kind->padded_inputs * kind->bits / 8,
            all->steps ? all->steps + wide * (kind->padded_inputs / ZN_PANEL_GROUP) : NULL,
            all->scales + wide, all->sums + wide};
        if (o == wide) zn_panel_clear(kind, &dst);
        memset(row, 0, (size_t)kind->padded_inputs * sizeof(float));
        memcpy(row, b->dense + o * b->inputs, (size_t)b->inputs * sizeof(float));
        if (!zn_panel_pack(kind, (int)(o - wide), row, bytes, &dst, &error)) need(NULL);
    }
    zn_free(row);
    zn_free(bytes);
}

static void prepare_panels(bench *b)
{
    zn_panels_size size;
    if (!zn_panels_measure(b->outputs, b->inputs, b->bits, &size)) need(NULL);
    const zn_panel_target all = {.numbers = need(zn_alloc_zero(size.numbers_bytes)),
                                 .steps = b->bits == 4 ? need(zn_alloc_zero(size.steps_bytes))
                                                       : NULL,
                                 .scales = need(zn_alloc_zero(size.scales_bytes)),
                                 .sums = need(zn_alloc_zero(size.scales_bytes))};
    const zn_panel_kind kind = {.inputs = b->inputs,
                                .padded_inputs = size.padded_inputs,
                                .bits = b->bits,
                                .rotated_by = b->rotated ? ZN_PANEL_ROTATION : 0};
    fill_panels(b, &kind, &all);
    b->panels = (zn_panels){.outputs = b->outputs,
                            .inputs = b->inputs,
                            .bits = b->bits,
                            .rotated_by = (int64_t)kind.rotated_by,
                            .numbers = all.numbers,
                            .steps = all.steps,
                            .scales = all.scales,
                            .sums = all.sums};
    zn_linear_args *a = &b->args;
    a->panels = &b->panels;
    a->rotate = b->rotated ? b->kernels.rotation : NULL;
    a->rotated_by = b->panels.rotated_by;
    if (!zn_linear_measure_panels(a->version, &b->panels, &a->size)) need(NULL);
    b->packed = all.numbers; // what is read to measure memory
    b->weight_bytes = size.numbers_bytes;
}

static void prepare_packed(bench *b)
{
    zn_linear_args *a = &b->args;
    const zn_linear_version *v = a->version;
    if (!zn_linear_measure(v, b->outputs, b->inputs, &a->size)) need(NULL);
    a->packed = b->packed = need(zn_alloc(a->size.bytes));
    for (int64_t o = 0; o < b->outputs; o += v->panel) {
        const int64_t left = b->outputs - o;
        zn_linear_pack(v, &a->size, o, left < v->panel ? left : v->panel, b->dense + o * b->inputs,
                       b->packed);
    }
    b->weight_bytes = a->size.panels_bytes;
}

static void prepare_ours(bench *b)
{
    const zn_linear_version *v = zn_linear_for(&b->kernels, b->weights, b->map);
    zn_linear_args *a = &b->args;
    zn_linear_team team;
    *a = (zn_linear_args){.version = v,
                          .src = b->src,
                          .src_type = b->map,
                          .src_scale = 1,
                          .widen = b->kernels.convert(b->map, ZN_F32),
                          .dst = b->dst,
                          .dst_type = b->map,
                          .dst_scale = 1,
                          .narrow = b->kernels.convert(ZN_F32, b->map)};
    if (b->bits)
        prepare_panels(b);
    else
        prepare_packed(b);
    b->scratch = need(zn_alloc(zn_linear_team_bytes(v, &a->size, b->most_tokens, 1, &team)));
    memset(b->scratch, 0, zn_linear_team_bytes(v, &a->size, b->most_tokens, 1, &team));
}

static double run_ours(bench *b, int64_t tokens)
{
    zn_linear_team team;
    zn_linear_team_bytes(b->args.version, &b->args.size, tokens, 1, &team);
    const zn_call call = {.scratch = b->scratch};
    b->args.tokens = tokens;
    const double begin = now();
    zn_linear_team_run(&team, &b->args, &call);
    return now() - begin;
}

// --- oneDNN

static dnnl_data_type_t type_of(zn_type type)
{
    return type == ZN_F32 ? dnnl_f32 : type == ZN_BF16 ? dnnl_bf16 : dnnl_s8;
}

static dnnl_memory_desc_t describe(int64_t rows, int64_t columns, zn_type type,
                                   dnnl_format_tag_t tag)
{
    const dnnl_dims_t dims = {rows, columns};
    dnnl_memory_desc_t md;
    check(dnnl_memory_desc_create_with_tag(&md, 2, dims, type_of(type), tag), "memory");
    return md;
}

static dnnl_memory_t memory_of(const bench *b, const_dnnl_memory_desc_t desc, void *data)
{
    dnnl_memory_t memory;
    check(dnnl_memory_create(&memory, desc, b->engine, data), "memory");
    return memory;
}

// Each row of weights with the scale of its largest number, as ours has it.
static void *round_weights(bench *b)
{
    int8_t *rounded = need(zn_alloc((size_t)(b->outputs * b->inputs)));
    b->scales = need(zn_alloc((size_t)b->outputs * sizeof(float)));
    for (int64_t o = 0; o < b->outputs; o++) {
        const float *row = b->dense + o * b->inputs;
        float largest = 0;
        for (int64_t k = 0; k < b->inputs; k++) largest = fmaxf(largest, fabsf(row[k]));
        b->scales[o] = largest / 127;
        for (int64_t k = 0; k < b->inputs; k++)
            rounded[o * b->inputs + k] = (int8_t)rintf(row[k] / b->scales[o]);
    }
    return rounded;
}

// Into the layout that the primitive asks for, once: it does not depend on the tokens.
static void pack_onednn(bench *b, const_dnnl_memory_desc_t wanted)
{
    void *dense = b->weights == ZN_F32    ? b->dense
                  : b->weights == ZN_BF16 ? convert(b, ZN_BF16, b->dense, b->outputs * b->inputs, 1)
                                          : round_weights(b);
    dnnl_memory_t from = memory_of(b, describe(b->inputs, b->outputs, b->weights, dnnl_ba), dense);
    b->packed_onednn = memory_of(b, wanted, DNNL_MEMORY_ALLOCATE);
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t reorder;
    const_dnnl_memory_desc_t from_desc;
    check(dnnl_memory_get_memory_desc(from, &from_desc), "memory");
    check(dnnl_reorder_primitive_desc_create(&desc, from_desc, b->engine, wanted, b->engine, NULL),
          "reorder");
    check(dnnl_primitive_create(&reorder, desc), "reorder");
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, b->packed_onednn}};
    check(dnnl_primitive_execute(reorder, b->stream, 2, args), "reorder");
    check(dnnl_stream_wait(b->stream), "reorder");
    if (dense != b->dense) zn_free(dense);
}

static dnnl_primitive_attr_t make_attributes(const bench *b)
{
    dnnl_primitive_attr_t attr;
    check(dnnl_primitive_attr_create(&attr), "attributes");
    if (b->weights != ZN_S8) return attr;
    check(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_SRC, 0), "scale");
    check(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_WEIGHTS, 2), "scales");
    return attr;
}

static dnnl_memory_t vector_of(const bench *b, int64_t count, float *data)
{
    const dnnl_dims_t dims = {count};
    dnnl_memory_desc_t md;
    check(dnnl_memory_desc_create_with_tag(&md, 1, dims, dnnl_f32, dnnl_a), "vector");
    return memory_of(b, md, data);
}

// The primitive for so many tokens; it stays until another number is asked for.
static void make_matmul(bench *b, int64_t tokens)
{
    if (b->newest.tokens == tokens) return;
    const zn_type type = b->weights == ZN_S8 ? ZN_S8 : b->map;
    const dnnl_memory_desc_t src = describe(tokens, b->inputs, type, dnnl_ab);
    const dnnl_memory_desc_t dst = describe(tokens, b->outputs, b->map, dnnl_ab);
    const_dnnl_memory_desc_t weights;
    dnnl_memory_desc_t any = describe(b->inputs, b->outputs, b->weights, dnnl_format_tag_any);
    if (b->packed_onednn) {
        check(dnnl_memory_get_memory_desc(b->packed_onednn, &weights), "weights");
    } else {
        weights = any;
    }
    dnnl_primitive_desc_t desc;
    check(dnnl_matmul_primitive_desc_create(&desc, b->engine, src, weights, NULL, dst,
                                            make_attributes(b)),
          "matmul");
    if (!b->packed_onednn)
        pack_onednn(b, dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0));
    b->newest = (matmul){.tokens = tokens, .weights = b->packed_onednn};
    b->newest.src = memory_of(b, src, b->weights == ZN_S8 ? b->src_bytes : b->src);
    b->newest.dst = memory_of(b, dst, b->dst_onednn);
    if (b->weights == ZN_S8) {
        b->newest.src_scale = vector_of(b, 1, &b->one);
        b->newest.weight_scale = vector_of(b, b->outputs, b->scales);
    }
    check(dnnl_primitive_create(&b->newest.primitive, desc), "matmul");
    const char *name = "";
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *)&name);
    fprintf(stderr, "oneDNN, %lld tokens: %s\n", (long long)tokens, name);
}

static double run_onednn(bench *b, int64_t tokens)
{
    make_matmul(b, tokens);
    const matmul *m = &b->newest;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, m->src},
                                    {DNNL_ARG_WEIGHTS, m->weights},
                                    {DNNL_ARG_DST, m->dst},
                                    {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, m->src_scale},
                                    {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, m->weight_scale}};
    const double begin = now();
    check(dnnl_primitive_execute(m->primitive, b->stream, b->weights == ZN_S8 ? 5 : 3, args),
          "matmul");
    check(dnnl_stream_wait(b->stream), "matmul");
    return now() - begin;
}

// --- the rest

static double compare(bench *b, int64_t tokens)
{
    run_ours(b, tokens);
    run_onednn(b, tokens);
    double most = 0, error = 0;
    for (int64_t i = 0; i < tokens * b->outputs; i++) {
        const double a = (double)zn_type_load(b->map, b->dst, (size_t)i);
        const double c = (double)zn_type_load(b->map, b->dst_onednn, (size_t)i);
        most = fmax(most, fabs(c));
        error = fmax(error, fabs(a - c));
    }
    return error / most;
}

static volatile uint64_t sink;

static double read_rate(const bench *b)
{
    enum { LANES = 16 };
    const size_t count = b->weight_bytes / sizeof(uint64_t) / LANES * LANES;
    const uint64_t *words = b->packed;
    uint64_t sums[LANES] = {0};
    const double begin = now();
    for (size_t i = 0; i < count; i += LANES) {
        __builtin_prefetch(words + i + 512, 0, 2);
        __builtin_prefetch(words + i + 520, 0, 2);
        for (size_t k = 0; k < LANES; k++) sums[k] += words[i + k];
    }
    const double seconds = now() - begin;
    for (int k = 0; k < LANES; k++) sink += sums[k];
    return (double)(count * sizeof(uint64_t)) / seconds / 1e9;
}

static const char *unit_of(const bench *b)
{
    if (strcmp(b->args.version->name, "amx") == 0) return "amx";
    return b->args.version == &zn_linear_s8_avx512_vnni ? "vnni" : "fma";
}

static void answer(bench *b, const char *line)
{
    char what[32];
    long long tokens = 1;
    if (sscanf(line, "%31s %lld", what, &tokens) < 1 || tokens < 1 || tokens > b->most_tokens)
        need(NULL);
    if (strcmp(what, "ours") == 0)
        printf("{\"seconds\": %.9f}\n", run_ours(b, tokens));
    else if (strcmp(what, "onednn") == 0)
        printf("{\"seconds\": %.9f}\n", run_onednn(b, tokens));
    else if (strcmp(what, "compare") == 0)
        printf("{\"error\": %.3g}\n", compare(b, tokens));
    else if (strcmp(what, "read") == 0)
        printf("{\"gb_per_s\": %.3f}\n", read_rate(b));
    else
        printf("{\"gflops\": %.1f, \"unit\": \"%s\", \"bytes\": %zu}\n", burst_rate(unit_of(b), 1),
               unit_of(b), b->weight_bytes);
    fflush(stdout);
}

static void cap_onednn(const bench *b)
{
    if (strcmp(zn_cpu_class(b->cpu.flags), "avx2") == 0)
        check(dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2), "cap");
    if (!(b->cpu.flags & ZN_CPU_AVX2)) check(dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41), "cap");
}

// False for what is no type.
static bool set_dtype(bench *b, const char *name)
{
    const bool panels = (name[0] == 'q') && (name[1] == '8' || name[1] == '4') &&
                        (!name[2] || strcmp(name + 2, "r") == 0);
    b->map = strcmp(name, "bf16") == 0 ? ZN_BF16 : ZN_F32;
    b->weights = panels || strcmp(name, "int8") == 0 ? ZN_S8 : b->map;
    b->bits = panels ? name[1] - '0' : 0;
    b->rotated = panels && name[2];
    return panels || strcmp(name, "int8") == 0 || strcmp(name, "f32") == 0 || b->map == ZN_BF16;
}

int main(int argc, char **argv)
{
    bench b = {.cpu = zn_cpu_detect(), .one = 1.0f / 127};
    if (argc != 5 || !set_dtype(&b, argv[1])) {
        fprintf(stderr, "bench_linear f32|bf16|int8|q8|q4|q8r|q4r INPUTS OUTPUTS MOST_TOKENS\n");
        return 2;
    }
    zn_kernels_init(&b.kernels, b.cpu.flags);
    b.inputs = atoll(argv[2]);
    b.outputs = atoll(argv[3]);
    b.most_tokens = atoll(argv[4]);
    if (b.rotated && b.inputs % ZN_PANEL_ROTATION != 0) need(NULL);
    cap_onednn(&b);
    check(dnnl_engine_create(&b.engine, dnnl_cpu, 0), "engine");
    check(dnnl_stream_create(&b.stream, b.engine, dnnl_stream_default_flags), "stream");
    b.dense = make_numbers(b.outputs * b.inputs, 1);
    b.tokens = make_numbers(b.most_tokens * b.inputs, 2);
    b.src = convert(&b, b.map, b.tokens, b.most_tokens * b.inputs, 1);
    b.src_bytes = convert(&b, ZN_S8, b.tokens, b.most_tokens * b.inputs, b.one);
    b.dst = need(zn_alloc_zero((size_t)(b.most_tokens * b.outputs) * sizeof(float)));
    b.dst_onednn = need(zn_alloc_zero((size_t)(b.most_tokens * b.outputs) * sizeof(float)));
    prepare_ours(&b);
    char line[64];
    while (fgets(line, sizeof line, stdin)) answer(&b, line);
    return 0; // the system takes the memory back
}
