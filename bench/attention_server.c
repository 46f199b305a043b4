// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention as a plan runs it (keys and values are packed in the run) on one thread, for
// attention.py:
//
//     bench_attention f32|bf16 HEADS WIDTH TOKENS
//
// Commands come on standard input, one a line, each answered by a line of JSON:
//
//     ours     {"seconds": ...}    CPU time of one run
//     probe    {"gflops": ..., "unit": ...}    registers alone
#include "bench/burst.h"
#include "src/base/memory.h"
#include "src/graph/packs.h"
#include "src/graph/plan.h"
#include "src/op/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAPS = 3 };

typedef struct bench {
    zn_type type;
    int64_t heads, width, tokens;
    size_t token_bytes;
    uint8_t *maps[MAPS], *result;
    zn_graph graph;
    zn_packs *packs;
    zn_plan *plan;
    void *arena;
} bench;

static zn_error err;

static void need(bool good)
{
    if (good) return;
    fprintf(stderr, "bench_attention: %s\n",
            err.text[0] ? err.text : "no memory, or no such command");
    exit(1);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *error)
{
    (void)error;
    const bench *b = cookie;
    memcpy(dst, b->maps[input] + (size_t)row * b->token_bytes, (size_t)count * b->token_bytes);
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *error)
{
    (void)error, (void)output;
    const bench *b = cookie;
    memcpy(b->result + (size_t)row * b->token_bytes, src, (size_t)count * b->token_bytes);
    return ZENITH_OK;
}

// Numbers between -sqrt(3) and sqrt(3): their variance is 1, as that of the peer's.
static uint8_t *make_map(const bench *b, uint32_t state)
{
    const size_t count = (size_t)(b->tokens * b->heads * b->width);
    uint8_t *map = zn_alloc(count * zn_type_size(b->type));
    need(map);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        zn_type_store(b->type, map, i, (float)(int32_t)state * 0x1p-31f * 1.7320508f);
    }
    return map;
}

static void prepare(bench *b)
{
    static const char *const names[] = {"q", "k", "v"};
    const zn_attention_attributes attributes = {.heads = (int)b->heads, .key_heads = (int)b->heads};
    zn_node *inputs[MAPS];
    zn_graph_begin(&b->graph, &err);
    for (int i = 0; i < MAPS; i++) {
        const zn_shape shape = ZN_SHAPE(1, b->tokens, 1, b->heads * b->width);
        inputs[i] = zn_graph_input(&b->graph, names[i], zn_desc_make(b->type, shape));
        b->maps[i] = make_map(b, (uint32_t)i + 1);
    }
    zn_graph_output(&b->graph,
                    zn_attention(&b->graph, "a", inputs[0], inputs[1], inputs[2], attributes));
    need(zn_graph_finish(&b->graph) == ZENITH_OK);
    need(zn_packs_create(&b->packs, &err) == ZENITH_OK);
    const zn_plan_options options = {
        .mode = ZN_PLAN_PLANES, .cpu = zn_cpu_detect(), .threads = 1, .packs = b->packs};
    need(zn_plan_create(&b->graph, &options, &b->plan, &err) == ZENITH_OK);
    b->arena = zn_alloc(zn_plan_bytes(b->plan));
    b->result = zn_alloc((size_t)b->tokens * b->token_bytes);
    need(b->arena && b->result);
}

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double run(bench *b)
{
    const zn_run how = {.read = read_rows, .write = write_rows, .cookie = b};
    const double begin = cpu_seconds();
    need(zn_plan_run(b->plan, b->arena, NULL, &how, &err) == ZENITH_OK);
    return cpu_seconds() - begin;
}

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    bench b = {.type = strcmp(argv[1], "bf16") == 0 ? ZN_BF16 : ZN_F32,
               .heads = atoll(argv[2]),
               .width = atoll(argv[3]),
               .tokens = atoll(argv[4])};
    b.token_bytes = (size_t)(b.heads * b.width) * zn_type_size(b.type);
    prepare(&b);
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "ours\n") == 0)
            printf("{\"seconds\": %.9f}\n", run(&b));
        else
            printf("{\"gflops\": %.1f, \"unit\": \"fma\"}\n", burst_rate("fma", 1));
        fflush(stdout);
    }
    return 0; // the system takes the memory back
}
