// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The promise that bands and threads rest on: an output row of a convolution has the same bits
// however many rows a call computes, wherever the row lies in it, and on however many threads. It
// is oneDNN's choice of implementation that could break it, so the lowering's id must not depend on
// rows either. Random shapes and types; a seed prints with a failure.
#include "src/base/random.h"
#include "src/dnn/dnn.h"
#include "src/graph/packs.h"
#include "src/kernel/kernels.h"
#include "src/op/ops.h"
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

enum { SHAPES = 200, CHANNELS = 60, SEED = 77, MOST_PRODUCTS = 12 * 1000 * 1000 };

typedef struct shape {
    int64_t height, width, channels_in, channels_out; // of the result: height, channels_out
    int kernel, stride;
    zn_type src, dst;
    bool bias, residual, relu, direct;
} shape;

typedef struct fixture {
    zn_cpu cpu;
    zn_dnn *dnn;
    zn_random random;
} fixture;

static int loops(int full)
{
    return zn_test_quick() ? full / 4 : full;
}

static int64_t pick(zn_random *random, const int64_t *list, uint32_t count)
{
    return list[zn_random_below(random, count)];
}

static shape random_shape(zn_random *random)
{
    static const int64_t from[] = {3, 4, 12, 16, 32, 64, 256}, to[] = {3, 4, 12, 16, 48, 64, 256};
    static const zn_type types[][2] = {{ZN_F32, ZN_F32}, {ZN_BF16, ZN_BF16}, {ZN_BF16, ZN_F32},
                                       {ZN_U8, ZN_U8},   {ZN_U8, ZN_F32},    {ZN_U8, ZN_BF16},
                                       {ZN_S8, ZN_S8},   {ZN_F32, ZN_BF16}};
    const zn_type *type = types[zn_random_below(random, sizeof types / sizeof *types)];
    bool tiny = zn_random_below(random, 4) == 0; // where oneDNN would turn away from AMX
    shape s = {.height = 1 + zn_random_below(random, tiny ? 6 : 40),
               .width = 1 + zn_random_below(random, tiny ? 4 : 200),
               .channels_in = pick(random, from, 7),
               .channels_out = pick(random, to, 7),
               .kernel = zn_random_below(random, 2) ? 3 : 1,
               .stride = zn_random_below(random, 3) ? 1 : 2,
               .src = type[0],
               .dst = type[1],
               .bias = zn_random_below(random, 2),
               .residual = zn_random_below(random, 2),
               .relu = zn_random_below(random, 2),
               .direct = zn_random_below(random, 4) == 0};
    int64_t per_row = s.width * s.channels_in * s.channels_out * s.kernel * s.kernel;
    if (s.height * per_row > MOST_PRODUCTS) s.height = MOST_PRODUCTS / per_row + 1;
    return s;
}

static const char *label(const shape *s)
{
    static char text[256];
    snprintf(text, sizeof text, "%dx%d %d->%d kernel %d stride %d %s->%s%s%s%s%s", (int)s->width,
             (int)s->height, (int)s->channels_in, (int)s->channels_out, s->kernel, s->stride,
             zn_type_name(s->src), zn_type_name(s->dst), s->bias ? " bias" : "",
             s->residual ? " residual" : "", s->relu ? " relu" : "", s->direct ? " direct" : "");
    return text;
}

static zn_tensor random_tensor(zn_random *random, zn_type type, zn_shape dims)
{
    zn_tensor tensor = {.desc = zn_desc_make(type, dims)};
    size_t count = 0, bytes = 0;
    assert_true(zn_shape_elements(&dims, &count) && zn_desc_bytes(&tensor.desc, &bytes));
    tensor.data = zn_alloc(bytes);
    assert_non_null(tensor.data);
    bool integer = type == ZN_U8 || type == ZN_S8;
    if (integer) tensor.desc.scale = 0.05f;
    for (size_t i = 0; i < count; i++) {
        float value = zn_random_unit(random) - 0.5f;
        zn_type_store(type, tensor.data, i,
                      type == ZN_U8 ? 255 * (value + 0.5f)
                      : integer     ? 254 * value
                                    : value);
    }
    return tensor;
}

// A picture of the shape, the graph of one convolution over it, and where its rows come from.
typedef struct scene {
    zn_tensor x, weight, bias, residual; // x with its rows of padding
    zn_graph graph;
    zn_node *node;
    zn_packs *packs;
    size_t x_row, y_row; // bytes
} scene;

static void scene_make(fixture *f, const shape *s, scene *c)
{
    zn_error err = {0};
    const int pad = s->kernel / 2;
    const int64_t rows_in = (s->height - 1) * s->stride + s->kernel;
    const int64_t width_out = (s->width + 2 * pad - s->kernel) / s->stride + 1;
    c->x = random_tensor(&f->random, s->src, ZN_SHAPE(1, rows_in, s->width, s->channels_in));
    c->weight = random_tensor(&f->random, ZN_F32,
                              ZN_SHAPE(s->channels_out, s->channels_in, s->kernel, s->kernel));
    c->bias = random_tensor(&f->random, ZN_F32, ZN_SHAPE(s->channels_out));
    c->residual = random_tensor(&f->random, s->dst,
                                ZN_SHAPE(1, s->height, width_out, s->channels_out));
    zn_graph_begin(&c->graph, &err);
    zn_node *inputs[4];
    int count = 0;
    zn_desc x = c->x.desc;
    x.shape.dim[1] = s->height * s->stride;
    inputs[count++] = zn_graph_input(&c->graph, "x", x);
    inputs[count++] = zn_graph_parameter(&c->graph, "weight", c->weight);
    if (s->bias) inputs[count++] = zn_graph_parameter(&c->graph, "bias", c->bias);
    if (s->residual) inputs[count++] = zn_graph_input(&c->graph, "residual", c->residual.desc);
    const zn_conv2d_fused_attributes a = {
        .conv = {.stride = s->stride, .pad = pad, .direct = s->direct},
        .bias = s->bias,
        .residual = s->residual,
        .relu = s->relu};
    c->node = zn_graph_add(&c->graph, &zn_op_conv2d_fused, "conv", inputs, count, &a);
    zn_graph_output(&c->graph, c->node);
    zn_test_ok(zn_graph_finish(&c->graph), &err);
    c->node->desc.type = s->dst;
    c->node->desc.scale = c->residual.desc.scale;
    zn_test_ok(zn_packs_create(&c->packs, &err), &err);
    c->x_row = (size_t)(s->width * s->channels_in) * zn_type_size(s->src);
    c->y_row = (size_t)(width_out * s->channels_out) * zn_type_size(s->dst);
}

static void scene_free(scene *c)
{
    zn_packs_free(c->packs);
    zn_graph_free(&c->graph);
    zn_free(c->x.data);
    zn_free(c->weight.data);
    zn_free(c->bias.data);
    zn_free(c->residual.data);
}

// The whole result by calls of `rows` rows; the last call reaches back over rows that are done.
static void compute(const fixture *f, const shape *s, const scene *c, int64_t rows, int threads,
                    uint8_t *result, char *id, size_t id_size)
{
    zn_error err = {0};
    zn_team *team = NULL;
    zn_lowering *lowering = NULL;
    zn_test_ok(zn_team_create(threads, &team, &err), &err);
    zn_kernels kernels;
    zn_kernels_init(&kernels, f->cpu.flags);
    zn_lowering_request request = {.node = c->node,
                                   .rows = rows,
                                   .cpu = f->cpu,
                                   .kernels = &kernels,
                                   .threads = threads,
                                   .dnn = f->dnn,
                                   .packs = c->packs};
    zn_test_ok(zn_op_conv2d_fused.lower(&request, &lowering, &err), &err);
    snprintf(id, id_size, "%s", lowering->id);
    void *scratch = zn_alloc(lowering->scratch_bytes);
    assert_non_null(scratch);
    for (int64_t row = 0; row < s->height; row += rows) {
        int64_t first = row + rows > s->height ? s->height - rows : row;
        const void *inputs[4] = {(uint8_t *)c->x.data + (size_t)(first * s->stride) * c->x_row};
        inputs[s->bias ? 3 : 2] = (uint8_t *)c->residual.data + (size_t)first * c->y_row;
        zn_call call = {.inputs = inputs,
                        .output = result + (size_t)first * c->y_row,
                        .row = first,
                        .rows = rows,
                        .wrap = INT64_MAX,
                        .scratch = scratch,
                        .team = team};
        zn_test_ok(lowering->run(lowering, &call, &err), &err);
    }
    zn_free(scratch);
    lowering->free(lowering);
    zn_team_free(team);
}

static int compare(fixture *f, const shape *s)
{
    scene c = {0};
    scene_make(f, s, &c);
    size_t bytes = (size_t)s->height * c.y_row;
    uint8_t *whole = zn_alloc_zero(bytes), *parts = zn_alloc_zero(bytes);
    assert_true(whole && parts);
    char id[128], other[128];
    int failures = 0;
    compute(f, s, &c, s->height, 1, whole, id, sizeof id);
    const int64_t some = 1 + (int64_t)zn_random_below(&f->random, (uint32_t)s->height);
    const int64_t rows[] = {s->height, 1, some, (s->height + 1) / 2};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int threads = 1; threads <= 2; threads++) {
            compute(f, s, &c, rows[i], threads, parts, other, sizeof other);
            if (strcmp(id, other) == 0 && memcmp(whole, parts, bytes) == 0) continue;
            print_error("%s: %s with %d rows a call, %s with %d on %d threads%s\n", label(s), id,
                        (int)s->height, other, (int)rows[i], threads,
                        memcmp(whole, parts, bytes) ? ": other bits" : "");
            failures++;
        }
    }
    zn_free(whole);
    zn_free(parts);
    scene_free(&c);
    return failures;
}

static void rows_and_threads_change_no_bit(zn_dnn *dnn, zn_cpu cpu, int shapes)
{
    fixture f = {.cpu = cpu, .dnn = dnn, .random = {.seed = SEED + zn_test_offset()}};
    int failures = 0;
    for (int i = 0; i < shapes; i++) {
        shape s = random_shape(&f.random);
        failures += compare(&f, &s);
    }
    assert_int_equal(failures, 0);
}

static void lower_only(const fixture *f, const scene *c, int64_t rows, char *id, size_t id_size)
{
    zn_error err = {0};
    zn_lowering *lowering = NULL;
    zn_kernels kernels;
    zn_kernels_init(&kernels, f->cpu.flags);
    zn_lowering_request request = {.node = c->node,
                                   .rows = rows,
                                   .cpu = f->cpu,
                                   .kernels = &kernels,
                                   .threads = 1,
                                   .dnn = f->dnn,
                                   .packs = c->packs};
    zn_test_ok(zn_op_conv2d_fused.lower(&request, &lowering, &err), &err);
    snprintf(id, id_size, "%s", lowering->id);
    lowering->free(lowering);
}

// Pictures of all sizes take the same implementation.
static void check_sizes(fixture *f, shape s)
{
    static const int64_t widths[] = {200, 1, 3, 17, 33, 64, 257, 1000, 2048}, rows[] = {1, 3, 16};
    char id[128] = "", other[128];
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        s.width = widths[i];
        s.height = 16;
        scene c = {0};
        scene_make(f, &s, &c);
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            lower_only(f, &c, rows[j], *id ? other : id, sizeof id);
            if ((i || j) && strcmp(id, other) != 0)
                fail_msg("%s: %s, but %s with %d rows a call", label(&s), other, id, (int)rows[j]);
        }
        scene_free(&c);
    }
}

ZN_TEST(with_own_kernels)
{
    rows_and_threads_change_no_bit(NULL, zn_cpu_detect(), loops(SHAPES / 8));
}

static zn_dnn *create_or_skip(const zn_cpu *cpu)
{
    zn_error err = {0};
    zn_dnn *dnn = NULL;
    zenith_status status = zn_dnn_create(cpu, &dnn, &err);
    if (status == ZENITH_UNSUPPORTED) skip();
    zn_test_ok(status, &err);
    return dnn;
}

ZN_TEST(with_onednn)
{
    zn_cpu cpu = zn_cpu_detect();
    zn_dnn *dnn = create_or_skip(&cpu);
    rows_and_threads_change_no_bit(dnn, cpu, loops(SHAPES));
    zn_dnn_free(dnn);
}

ZN_TEST(implementation_by_channels_only)
{
    fixture f = {.cpu = zn_cpu_detect(), .random = {.seed = SEED + zn_test_offset()}};
    f.dnn = create_or_skip(&f.cpu);
    for (int i = 0; i < loops(CHANNELS); i++) check_sizes(&f, random_shape(&f.random));
    zn_dnn_free(f.dnn);
}
