// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Networks from weights in few bits: small models with random numbers in each stored form give in
// f32 what the same numbers give in f32; in bf16 and int8 nearly that; and the same bits on one
// thread and two. Queries, keys and values of Z-Image are one matrix, of which each is a piece.
#include "tests/model/part_runs.h"

#include "src/base/random.h"
#include "src/format/tensor/weights.h"
#include "src/task/convert/few_bits_files.h"

#include <stdlib.h>

enum { MOST = 512, NAME = 128, HEADER = 1 << 18 };
static const double BOUND = 1e-5;

typedef enum form { F32, Q8_0, Q4_0, MLX, INT8, CONVROT, NVFP4, F8_ROWS, PANELS, FORMS } form;
static const struct {
    const char *name;
    bool gguf;
    double bf16, int8; // bounds
} forms[FORMS] = {
    [PANELS] = {"panels", false, 1e-1, 1e-1},
    [F32] = {"F32", false, 5e-2, 1e-1},
    [Q8_0] = {"Q8_0", true, 5e-2, 1e-1},
    [Q4_0] = {"Q4_0", true, 5e-2, 1e-1},
    [MLX] = {"MLX", false, 5e-2, 1e-1},
    [INT8] = {"INT8", false, 1e-1, 1e-1},
    [CONVROT] = {"INT8 convrot", false, 1e-1, 1e-1},
    [NVFP4] = {"NVFP4", false, 5e-2, 1e-1},
    [F8_ROWS] = {"f8 by rows", false, 5e-2, 1e-1},
};

static const struct {
    const char *variant, *part, *layout;
    zn_sizes sizes;
} networks[] = {
    {"qwen3",
     "text",
     "vocabulary=50 width=64 inner=96 layers=2 skip=0 heads=4 keys=2 head=32",
     {.tokens = 13}},
    {"z-image",
     "denoiser",
     "width=96 layers=2 refiners=1 heads=2 caption=64 channels=16 patch=2 axis=16 rows=16 "
     "columns=16",
     {.height = 8, .width = 12, .tokens = 32}},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

// --- tensors of a file --------------------------------------------------------------------------

typedef struct entry {
    char name[NAME];
    const char *dtype;
    uint32_t gguf; // the type's number there
    zn_shape shape;
    uint8_t *data;
    size_t bytes;
} entry;

typedef struct tensors {
    entry all[MOST];
    size_t count;
    zn_random random;
} tensors;

static entry *put(tensors *t, const char *name, const char *tail, zn_shape shape, size_t bytes)
{
    assert_true(t->count < MOST);
    entry *e = &t->all[t->count++];
    *e = (entry){.dtype = "F32", .shape = shape, .bytes = bytes};
    snprintf(e->name, NAME, "%.*s%s", (int)(strlen(name) - (*tail ? strlen(".weight") : 0)), name,
             tail);
    e->data = part_need(zn_alloc(bytes));
    for (size_t i = 0; i < bytes; i++) e->data[i] = (uint8_t)zn_random_below(&t->random, 256);
    return e;
}

// Numbers about `middle`.
static void put_floats(tensors *t, const char *name, const char *tail, zn_shape shape, float middle,
                       float spread)
{
    size_t count = 0;
    assert_true(zn_shape_elements(&shape, &count));
    entry *e = put(t, name, tail, shape, count * sizeof(float));
    for (size_t i = 0; i < count; i++)
        ((float *)(void *)e->data)[i] = middle + spread * zn_random_normal(&t->random);
}

static void put_blocks(tensors *t, form is, const char *name, zn_shape shape)
{
    const size_t block = is == Q8_0 ? 34 : 18;
    const size_t blocks = (size_t)(shape.dim[0] * shape.dim[1]) / 32;
    entry *e = put(t, name, "", shape, blocks * block);
    e->gguf = is == Q8_0 ? 8 : 2;
    for (size_t i = 0; i < blocks; i++) {
        const float scale = (is == Q8_0 ? 0.001f : 0.015f) * (1 + zn_random_unit(&t->random));
        zn_type_store(ZN_F16, e->data + i * block, 0, scale);
    }
}

static void put_mlx(tensors *t, const char *name, zn_shape shape)
{
    const zn_shape groups = ZN_SHAPE(shape.dim[0], shape.dim[1] / 32);
    const zn_shape words = ZN_SHAPE(shape.dim[0], shape.dim[1] / 8);
    put(t, name, "", words, (size_t)(shape.dim[0] * shape.dim[1]) / 2)->dtype = "U32";
    put_floats(t, name, ".scales", groups, 0.02f, 0.002f);
    put_floats(t, name, ".biases", groups, -0.15f, 0.002f);
}

static void put_int8(tensors *t, const char *name, zn_shape shape, bool rotated)
{
    static const char note[] = "{\"format\": \"int8_tensorwise\", \"convrot\": true, "
                               "\"convrot_groupsize\": 16}";
    put(t, name, "", shape, (size_t)(shape.dim[0] * shape.dim[1]))->dtype = "I8";
    put_floats(t, name, ".weight_scale", ZN_SHAPE(shape.dim[0], 1), 0.001f, 0.0001f);
    if (!rotated) return;
    entry *e = put(t, name, ".comfy_quant", ZN_SHAPE(sizeof note - 1), sizeof note - 1);
    e->dtype = "U8";
    memcpy(e->data, note, sizeof note - 1);
}

static void put_nvfp4(tensors *t, const char *name, zn_shape shape)
{
    const zn_shape tiles = ZN_SHAPE((shape.dim[0] + 127) / 128 * 128,
                                    (shape.dim[1] / 16 + 3) / 4 * 4);
    put(t, name, "", ZN_SHAPE(shape.dim[0], shape.dim[1] / 2),
        (size_t)(shape.dim[0] * shape.dim[1]) / 2)
        ->dtype = "U8";
    entry *e = put(t, name, ".weight_scale", tiles, (size_t)(tiles.dim[0] * tiles.dim[1]));
    e->dtype = "F8_E4M3";
    for (size_t i = 0; i < e->bytes; i++) e->data[i] = 0x38 + (e->data[i] & 7); // 1 to 1.875
    put_floats(t, name, ".weight_scale_2", zn_shape_make(0, NULL), 0.02f, 0);
}

static void put_matrix(tensors *t, form is, const char *name, zn_shape shape)
{
    if (is == F32) put_floats(t, name, "", shape, 0, 0.1f);
    if (is == Q8_0 || is == Q4_0) put_blocks(t, is, name, shape);
    if (is == MLX) put_mlx(t, name, shape);
    if (is == INT8 || is == CONVROT) put_int8(t, name, shape, is == CONVROT);
    if (is == NVFP4) put_nvfp4(t, name, shape);
    if (is != F8_ROWS) return;
    entry *e = put(t, name, "", shape, (size_t)(shape.dim[0] * shape.dim[1]));
    e->dtype = "F8_E4M3";
    for (size_t i = 0; i < e->bytes; i++) e->data[i] &= 0xb7; // none of the largest, no NaN
    put_floats(t, name, ".weight_scale", ZN_SHAPE(shape.dim[0]), 0.1f, 0.01f);
}

// What the network would have, with its matrices in one form.
static void put_network(tensors *t, int n, form is)
{
    zn_error err = {0};
    zn_network network;
    const zn_network_shape shape = {.width = 1, .layout = networks[n].layout};
    const zn_variant *variant = zn_variant_find(networks[n].variant);
    const zn_part *part = zn_family_part(zn_family_of(variant), networks[n].part);
    zn_test_ok(zn_network_of_variant(variant, part, &shape, &network, &err), &err);
    for (size_t i = 0; i < network.count; i++) {
        const zn_train_parameter *p = &network.parameters[i];
        zn_shape of = p->tensor.desc.shape;
        char name[NAME];
        snprintf(name, sizeof name, "%s", p->name);
        char *third = strstr(name, ".to_q.");
        if (strstr(name, ".to_k.") || strstr(name, ".to_v.")) continue;
        if (third) memcpy(third, ".qkv.", 5), memmove(third + 5, third + 6, strlen(third + 5));
        if (third) of.dim[0] *= 3;
        if (of.rank == 2)
            put_matrix(t, is, name, of);
        else
            put_floats(t, name, "", of, strstr(name, "norm") ? 1 : 0, 0.1f);
    }
    zn_network_free(&network);
}

// --- files --------------------------------------------------------------------------------------

static void write_safetensors(const tensors *t, int n, const char *path)
{
    zn_error err = {0};
    zn_writer *file = NULL;
    char *text = part_need(zn_alloc_zero(HEADER));
    size_t used = 0, at = 0;
    uint8_t length[8];
    used += (size_t)snprintf(text, HEADER, "{\"__metadata__\":{\"zenith.%s\":\"%s\"}",
                             networks[n].part, networks[n].layout);
    for (size_t i = 0; i < t->count; i++) {
        const entry *e = &t->all[i];
        char shape[64];
        zn_shape_text(&e->shape, shape, sizeof shape);
        used += (size_t)snprintf(text + used, HEADER - used,
                                 ",\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,"
                                 "%zu]}",
                                 e->name, e->dtype, shape, at, at + e->bytes);
        at += e->bytes;
    }
    text[used++] = '}';
    assert_true(used < HEADER);
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(used >> 8 * i);
    zn_test_ok(zn_writer_open(path, &file, &err), &err);
    zn_test_ok(zn_writer_write(file, length, sizeof length, &err), &err);
    zn_test_ok(zn_writer_write(file, text, used, &err), &err);
    for (size_t i = 0; i < t->count; i++)
        zn_test_ok(zn_writer_write(file, t->all[i].data, t->all[i].bytes, &err), &err);
    zn_test_ok(zn_writer_commit(file, &err), &err);
    zn_free(text);
}

typedef struct bytes {
    uint8_t data[HEADER];
    size_t used;
} bytes;

static void add_number(bytes *b, uint64_t value, int size)
{
    assert_true(b->used + 8 < HEADER);
    for (int i = 0; i < size; i++) b->data[b->used++] = (uint8_t)(value >> 8 * i);
}

static void add_text(bytes *b, const char *text)
{
    add_number(b, strlen(text), 8);
    for (; *text; text++) add_number(b, (uint8_t)*text, 1);
}

static void write_gguf(const tensors *t, int n, const char *path)
{
    static const uint8_t zeros[32];
    zn_error err = {0};
    zn_writer *file = NULL;
    bytes *b = part_need(zn_alloc_zero(sizeof *b));
    char key[NAME];
    size_t at = 0;
    snprintf(key, sizeof key, "zenith.%s", networks[n].part);
    add_number(b, 0x46554747, 4); // "GGUF"
    add_number(b, 3, 4);
    add_number(b, t->count, 8);
    add_number(b, 1, 8);
    add_text(b, key);
    add_number(b, 8, 4); // a text
    add_text(b, networks[n].layout);
    for (size_t i = 0; i < t->count; i++) {
        const entry *e = &t->all[i];
        add_text(b, e->name);
        add_number(b, (uint64_t)e->shape.rank, 4);
        for (int d = e->shape.rank; d-- > 0;) add_number(b, (uint64_t)e->shape.dim[d], 8);
        add_number(b, e->gguf, 4);
        add_number(b, at, 8);
        at += zn_round_up(e->bytes, 32);
    }
    b->used = zn_round_up(b->used, 32);
    zn_test_ok(zn_writer_open(path, &file, &err), &err);
    zn_test_ok(zn_writer_write(file, b->data, b->used, &err), &err);
    for (size_t i = 0; i < t->count; i++) {
        const size_t size = t->all[i].bytes;
        zn_test_ok(zn_writer_write(file, t->all[i].data, size, &err), &err);
        zn_test_ok(zn_writer_write(file, zeros, zn_round_up(size, 32) - size, &err), &err);
    }
    zn_test_ok(zn_writer_commit(file, &err), &err);
    zn_free(b);
}

static void free_tensors(tensors *t)
{
    for (size_t i = 0; i < t->count; i++) zn_free(t->all[i].data);
    zn_free(t);
}

// The same numbers in f32, as the readers of each form say them (tests/format has those).
static void write_twin(int n, const char *from, const char *path)
{
    zn_error err = {0};
    zn_weights *weights = NULL;
    tensors *plain = part_need(zn_alloc_zero(sizeof *plain));
    plain->random.seed = 5;
    put_network(plain, n, F32);
    zn_test_ok(zn_weights_open(from, &weights, &err), &err);
    for (size_t i = 0; i < plain->count; i++) {
        entry *e = &plain->all[i];
        zn_test_ok(zn_weights_read_f32(weights, e->name, &e->shape, (float *)(void *)e->data, &err),
                   &err);
    }
    zn_weights_free(weights);
    write_safetensors(plain, n, path);
    free_tensors(plain);
}

// --- runs ---------------------------------------------------------------------------------------

static size_t port_count(const zn_port *port)
{
    size_t count = 0;
    assert_true(zn_shape_elements(&port->desc.shape, &count));
    return count;
}

static float *run_file(int n, const char *path, zenith_dtype dtype, int threads, size_t *count)
{
    zn_error err = {0};
    zn_model *model = model_at(path, NULL);
    zn_ports ports = {.inputs_count = 0};
    zn_random random = {.seed = 11};
    assert_string_equal(model->variant->name, networks[n].variant);
    assert_int_equal(model->unexpected, 0);
    part_run r = {.model = model,
                  .part = zn_model_part(model, networks[n].part),
                  .sizes = networks[n].sizes,
                  .dtype = dtype,
                  .threads = threads};
    r.part->ports(model->variant, zn_model_layout(model, r.part), &r.sizes, &ports);
    for (int i = 0; i < ports.inputs_count; i++) {
        const size_t all = port_count(&ports.inputs[i]);
        float *values = part_need(zn_alloc(all * sizeof *values));
        const bool ids = strcmp(ports.inputs[i].name, "ids") == 0;
        for (size_t k = 0; k < all; k++)
            values[k] = ids ? (float)zn_random_below(&random, 50) : zn_random_normal(&random);
        r.inputs[i] = values;
    }
    *count = port_count(&ports.outputs[0]);
    r.output = part_need(zn_alloc(*count * sizeof(float)));
    zn_test_ok(part_run_compiled(&r, &err), &err);
    for (int i = 0; i < ports.inputs_count; i++) zn_free((void *)(uintptr_t)r.inputs[i]);
    zn_model_unref(model);
    return r.output;
}

static void compare_runs(int n, form is, const char *path, const float *expected, size_t count)
{
    static const zenith_dtype types[] = {ZENITH_DTYPE_F32, ZENITH_DTYPE_BF16, ZENITH_DTYPE_INT8};
    static const char *const names[] = {"f32", "bf16", "int8"};
    const double bounds[] = {BOUND, forms[is].bf16, forms[is].int8};
    for (size_t i = 0; i < 3; i++) {
        size_t same;
        float *one = run_file(n, path, types[i], 1, &same);
        float *two = run_file(n, path, types[i], 2, &same);
        assert_int_equal(same, count);
        assert_memory_equal(one, two, count * sizeof *one);
        print_message("%s, %s, ", networks[n].variant, forms[is].name);
        part_compare(names[i], one, expected, count, bounds[i]);
        zn_free(one);
        zn_free(two);
    }
}

ZN_TEST(every_form)
{
    for (int i = 0; i < NETWORKS * PANELS; i++) {
        const int n = i / PANELS;
        const form is = (form)(i % PANELS);
        size_t count;
        const char *path = zn_test_path(zn_test_build(),
                                        forms[is].gguf ? "low_bits.gguf" : "low_bits.safetensors");
        const char *twin = zn_test_path(zn_test_build(), "low_bits_twin.safetensors");
        tensors *t = part_need(zn_alloc_zero(sizeof *t));
        t->random.seed = (uint64_t)i;
        put_network(t, n, is);
        if (forms[is].gguf)
            write_gguf(t, n, path);
        else
            write_safetensors(t, n, path);
        free_tensors(t);
        write_twin(n, path, twin);
        float *expected = run_file(n, twin, ZENITH_DTYPE_F32, 1, &count);
        compare_runs(n, is, path, expected, count);
        zn_free(expected);
    }
}

// --- panels -------------------------------------------------------------------------------------

static void write_panels(const char *source, const char *output, zn_recipe recipe)
{
    zn_error err = {0};
    zn_executor *executor = NULL;
    char *answer = NULL;
    const zn_few_bits call = {.source = source, .output = output, .recipe = recipe, .rotate = true};
    (void)!zn_file_remove(output, NULL);
    zn_test_ok(zn_executor_create(1, 1, &executor, &err), &err);
    zn_test_ok(zn_write_few_bits(executor, &call, &answer, &err), &err);
    zn_executor_free(executor);
    zn_free(answer);
}

static zenith_dtype default_of(const char *path, const char *class)
{
    zn_model *model = model_at(path, NULL);
    zn_cpu cpu = {0};
    assert_true(zn_cpu_parse(class, &cpu.flags));
    const zenith_dtype dtype = zn_dtype_of(&cpu, model, ZENITH_DTYPE_DEFAULT);
    zn_model_unref(model);
    return dtype;
}

// Files of our own: in f32 near the numbers that they were made of, in 8 bits near their own in
// f32.
ZN_TEST(panels_of_ours)
{
    static const struct {
        const char *name;
        zn_recipe recipe;
        double bound;
    } recipes[] = {
        {"mixed", ZN_RECIPE_MIXED, 0.4}, {"q8", ZN_RECIPE_Q8, 0.05}, {"q4", ZN_RECIPE_Q4, 0.7}};
    for (int i = 0; i < NETWORKS * 3; i++) {
        const int n = i / 3;
        size_t count;
        const char *path = zn_test_path(zn_test_build(), "low_bits_plain.safetensors");
        const char *panels = zn_test_path(zn_test_build(), "low_bits_panels.safetensors");
        tensors *t = part_need(zn_alloc_zero(sizeof *t));
        t->random.seed = (uint64_t)i;
        put_network(t, n, F32);
        write_safetensors(t, n, path);
        free_tensors(t);
        write_panels(path, panels, recipes[i % 3].recipe);
        assert_int_equal(default_of(path, "avx512"), ZENITH_DTYPE_F32);
        assert_int_equal(default_of(panels, "avx512"), ZENITH_DTYPE_INT8);
        assert_int_equal(default_of(panels, "amx"), ZENITH_DTYPE_BF16);
        float *plain = run_file(n, path, ZENITH_DTYPE_F32, 1, &count);
        float *exact = run_file(n, panels, ZENITH_DTYPE_F32, 1, &count);
        print_message("%s, panels, %s: ", networks[n].variant, recipes[i % 3].name);
        part_compare("beside f32", exact, plain, count, recipes[i % 3].bound);
        compare_runs(n, PANELS, panels, exact, count);
        zn_free(plain);
        zn_free(exact);
    }
}
