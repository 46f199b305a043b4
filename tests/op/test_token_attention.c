// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zn_attention as a plan runs it: typed for f32 and for bf16, in planes and in bands, on one thread
// and two, with the same bits each time and near the plain loops; memory that grows with the
// tokens; a run that stops soon inside a long call.
#include "src/base/os.h"
#include "src/op/op_values.h"
#include "tests/graph/small_graphs.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { Q, K, V, MAPS };

// Self-attention over a map [1, h, w, heads * width].
typedef struct subject {
    int64_t h, w, width;
    zn_attention_attributes attributes;
    float *maps[MAPS];
    float *result;
} subject;

static size_t row_of(const subject *s, int map)
{
    const int heads = map == Q ? s->attributes.heads : s->attributes.key_heads;
    return (size_t)(s->w * heads * s->width);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    (void)err;
    const subject *s = cookie;
    const size_t each = row_of(s, input);
    memcpy(dst, s->maps[input] + (size_t)row * each, (size_t)count * each * sizeof(float));
    return ZENITH_OK;
}

static void build(const subject *s, zn_type type, zn_graph *plain, zn_graph *typed)
{
    zn_error err = {0};
    static const char *const names[] = {"q", "k", "v"};
    zn_node *maps[MAPS];
    zn_graph_begin(plain, &err);
    for (int i = 0; i < MAPS; i++) {
        const zn_shape shape = ZN_SHAPE(1, s->h, s->w, (int64_t)row_of(s, i) / s->w);
        maps[i] = zn_graph_input(plain, names[i], zn_desc_make(ZN_F32, shape));
    }
    zn_graph_output(plain, zn_attention(plain, "a", maps[Q], maps[K], maps[V], s->attributes));
    zn_test_ok(zn_graph_finish(plain), &err);
    const zn_type_policy policy = {.type = type, .convert = zn_convert_as};
    zn_test_ok(zn_pass_types(plain, &policy, typed, &err), &err);
}

static zn_plan *plan_of(const zn_graph *graph, zn_plan_mode mode, int64_t band, int threads,
                        zn_packs *packs)
{
    zn_error err = {0};
    zn_plan *plan = NULL;
    const zn_plan_options options = {
        .mode = mode, .band = band, .cpu = zn_cpu_detect(), .threads = threads, .packs = packs};
    zn_test_ok(zn_plan_create(graph, &options, &plan, &err), &err);
    return plan;
}

static void run(subject *s, const zn_graph *graph, zn_plan_mode mode, int64_t band, int threads)
{
    run_graph(graph, mode, band, threads,
              (memory_run){
                  .inputs = {(uint8_t *)s->maps[Q], (uint8_t *)s->maps[K], (uint8_t *)s->maps[V]},
                  .outputs = {(uint8_t *)s->result}});
}

static float *random_map(size_t count, zn_random *random)
{
    float *map = zn_alloc(count * sizeof *map);
    assert_non_null(map);
    for (size_t i = 0; i < count; i++) map[i] = zn_random_normal(random);
    return map;
}

// One query and head in double, from the maps as they are.
static void stated(const subject *s, int64_t query, int64_t head, double *dst)
{
    const zn_attention_attributes *a = &s->attributes;
    const int64_t tokens = s->h * s->w, key_head = head / (a->heads / a->key_heads);
    const int64_t seen = a->causal ? query + 1 : tokens;
    const float *q = s->maps[Q] + (query * a->heads + head) * s->width;
    double total = 0;
    memset(dst, 0, (size_t)s->width * sizeof *dst);
    for (int64_t key = 0; key < seen; key++) {
        const int64_t at = (key * a->key_heads + key_head) * s->width;
        double score = 0;
        for (int64_t c = 0; c < s->width; c++) score += (double)q[c] * (double)s->maps[K][at + c];
        const double p = exp(score / sqrt((double)s->width));
        total += p;
        for (int64_t c = 0; c < s->width; c++) dst[c] += p * (double)s->maps[V][at + c];
    }
    for (int64_t c = 0; c < s->width; c++) dst[c] /= total;
}

static double error_of(const subject *s)
{
    double want[512], error = 0, length = 0;
    for (int64_t i = 0; i < s->h * s->w * s->attributes.heads; i++) {
        stated(s, i / s->attributes.heads, i % s->attributes.heads, want);
        for (int64_t c = 0; c < s->width; c++) {
            const double got = (double)s->result[i * s->width + c];
            error += (got - want[c]) * (got - want[c]);
            length += want[c] * want[c];
        }
    }
    return sqrt(error / length);
}

static void check(subject s, zn_type type, double bound)
{
    zn_random random = {.seed = 3};
    zn_graph plain, typed;
    const size_t count = (size_t)s.h * row_of(&s, Q);
    for (int i = 0; i < MAPS; i++) s.maps[i] = random_map((size_t)s.h * row_of(&s, i), &random);
    float *first = random_map(count, &random), *again = random_map(count, &random);
    build(&s, type, &plain, &typed);
    s.result = first;
    run(&s, &typed, ZN_PLAN_PLANES, 0, 1);
    const double error = error_of(&s);
    if (!(error <= bound)) fail_msg("%s: error %.3g", zn_type_name(type), error);
    // Rounding to bf16 must have happened, or the type was not taken.
    if (type == ZN_BF16) assert_true(error > 1e-4);
    s.result = again;
    for (int way = 0; way < 3; way++) {
        run(&s, &typed, way ? ZN_PLAN_ROLLING : ZN_PLAN_PLANES, way == 1 ? 1 : 3, way == 1 ? 1 : 2);
        assert_memory_equal(first, again, count * sizeof *first);
    }
    for (int i = 0; i < MAPS; i++) zn_free(s.maps[i]);
    zn_free(first);
    zn_free(again);
    zn_graph_free(&plain);
    zn_graph_free(&typed);
}

ZN_TEST(same_bits_in_planes_and_bands)
{
    const subject plain = {.h = 13, .w = 17, .width = 40, .attributes = {2, 2, false, 0, false}};
    const subject grouped = {.h = 211, .w = 1, .width = 64, .attributes = {4, 2, true, 0, false}};
    check(plain, ZN_F32, 2e-6);
    check(plain, ZN_BF16, 1e-2);
    check(grouped, ZN_F32, 2e-6);
    check(grouped, ZN_BF16, 1e-2);
}

static size_t bytes_for(int64_t tokens, zn_type type)
{
    zn_error err = {0};
    zn_graph plain, typed;
    zn_packs *packs = NULL;
    const subject s = {.h = tokens, .w = 1, .width = 128, .attributes = {2, 2, false, 0, false}};
    build(&s, type, &plain, &typed);
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    zn_plan *plan = plan_of(&typed, ZN_PLAN_PLANES, 0, 1, packs);
    const size_t bytes = zn_plan_bytes(plan);
    zn_plan_free(plan);
    zn_packs_free(packs);
    zn_graph_free(&plain);
    zn_graph_free(&typed);
    return bytes;
}

// Four times the tokens, four times the maps: the scores would be sixteen times as many.
ZN_TEST(memory_grows_with_the_tokens)
{
    for (int type = ZN_F32; type <= ZN_BF16; type++) {
        const size_t few = bytes_for(4096, (zn_type)type), more = bytes_for(16384, (zn_type)type),
                     most = bytes_for(65536, (zn_type)type);
        print_message("%s: %zu, %zu, %zu bytes for 4,096, 16,384 and 65,536 tokens\n",
                      zn_type_name((zn_type)type), few, more, most);
        assert_true(more <= 4 * few + 65536);
        assert_true(most <= 4 * more + 65536);
    }
}

// --- stopping -----------------------------------------------------------------------------------

typedef struct request {
    atomic_int cancel, read; // read: the maps are, so the attention runs
    subject *maps;
    double at; // seconds
} request;

static zenith_status read_and_tell(void *cookie, int input, int64_t row, int64_t count, void *dst,
                                   zn_error *err)
{
    request *r = cookie;
    if (input == V && row + count == r->maps->h) atomic_store(&r->read, 1);
    return read_rows(r->maps, input, row, count, dst, err);
}

static zenith_status write_none(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    (void)cookie, (void)output, (void)row, (void)count, (void)src, (void)err;
    fail_msg("a result that is not finished was written");
    return ZENITH_OK;
}

static void *request_inside(void *arg)
{
    request *r = arg;
    while (!atomic_load(&r->read)) nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL); // the keys are packed by then
    r->at = zn_process_cpu_seconds(); // a machine that others use may take longer by the clock
    atomic_store(&r->cancel, 1);
    return NULL;
}

// 65,536 tokens of 512: 8.8 TFLOP, minutes of work.
ZN_TEST(a_long_call_stops_soon)
{
    zn_error err = {0};
    zn_graph plain, typed;
    zn_packs *packs = NULL;
    zn_random random = {.seed = 4};
    subject s = {.h = 65536, .w = 1, .width = 512, .attributes = {1, 1, false, 0, false}};
    s.maps[Q] = s.maps[K] = s.maps[V] = random_map((size_t)s.h * row_of(&s, Q), &random);
    build(&s, ZN_F32, &plain, &typed);
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    zn_plan *plan = plan_of(&typed, ZN_PLAN_PLANES, 0, 1, packs);
    void *arena = zn_alloc(zn_plan_bytes(plan));
    assert_non_null(arena);
    request r = {.maps = &s};
    const zn_run how = {
        .read = read_and_tell, .write = write_none, .cookie = &r, .cancel = &r.cancel};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, request_inside, &r), 0);
    const zenith_status status = zn_plan_run(plan, arena, NULL, &how, &err);
    const double end = zn_process_cpu_seconds();
    pthread_join(thread, NULL);
    assert_int_equal(status, ZENITH_CANCELLED);
    assert_true(end - r.at < 0.25 * ZN_TEST_SLOWER);
    zn_free(arena);
    zn_plan_free(plan);
    zn_packs_free(packs);
    zn_free(s.maps[Q]);
    zn_graph_free(&plain);
    zn_graph_free(&typed);
}
