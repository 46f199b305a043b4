// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Both networks of Z-Image's pipeline divided among shares, here on threads of one process that
// meet at every sum: latents as diffusers and one alone have them, and the same bits for all; a
// share looks at its own weights only, and packs its part of them; all stop together; too many
// shares are refused.
#include "tests/model/part_runs.h"

#include "src/base/os.h"
#include "src/diffusion/noise.h"
#include "src/format/tensor/stored_weight.h"
#include "src/task/convert/few_bits_files.h"
#include "src/task/generate/generate.h"
#include "src/tensor/row_source.h"

#include <pthread.h>

enum { CHANNELS = 16, HEIGHT = 8, WIDTH = 12, VALUES = CHANNELS * HEIGHT * WIDTH };
enum { STEPS = 8, SHARES = 2 };
static const double BOUND = 1e-5, BOUND_STEPS = 1e-4, BOUND_BF16 = 2e-2, BOUND_INT8 = 5e-2;

// --- shares -------------------------------------------------------------------------------------

// Where shares meet: the last to come adds up, in their order, what all have brought.
typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int here;
    unsigned round;
    float *values[SHARES];
    zenith_status status;
    int sums, stop_at; // sums so far; the one at which all stop, or 0
} meeting;

typedef struct member {
    meeting *at;
    zn_share share;
} member;

static void add_up(meeting *m, size_t count)
{
    m->status = ++m->sums == m->stop_at ? ZENITH_CANCELLED : ZENITH_OK;
    for (size_t i = 0; i < count; i++) {
        float sum = m->values[0][i];
        for (int k = 1; k < SHARES; k++) sum += m->values[k][i];
        for (int k = 0; k < SHARES; k++) m->values[k][i] = sum;
    }
}

static zenith_status meet(void *cookie, float *values, size_t count, zn_error *err)
{
    const member *own = cookie;
    meeting *m = own->at;
    pthread_mutex_lock(&m->lock);
    const unsigned round = m->round;
    m->values[own->share.index] = values;
    if (++m->here == SHARES) {
        add_up(m, count);
        m->here = 0;
        m->round++;
        pthread_cond_broadcast(&m->changed);
    }
    while (m->round == round) pthread_cond_wait(&m->changed, &m->lock);
    const zenith_status status = m->status;
    pthread_mutex_unlock(&m->lock);
    return status == ZENITH_OK ? ZENITH_OK : zn_fail(err, status, "stopped together");
}

static void open_meeting(meeting *m, member *members)
{
    *m = (meeting){.here = 0};
    assert_int_equal(pthread_mutex_init(&m->lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&m->changed, NULL), 0);
    for (int i = 0; i < SHARES; i++) {
        members[i].at = m;
        members[i].share = (zn_share){i, SHARES, meet, &members[i]};
    }
}

static void close_meeting(meeting *m)
{
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->changed);
}

// --- runs ---------------------------------------------------------------------------------------

static const char *golden_pipeline(void)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", zn_test_path(zn_test_golden(), "pipeline"));
    return path;
}

static zn_model *open_model(const char *path, const zn_share *share)
{
    zn_error err = {0};
    zn_model *model = NULL;
    const zn_model_request request = {.weights = path, .share = share};
    zn_test_ok(zn_model_open(&request, &model, &err), &err);
    return model;
}

// One share, or all of it, as a process has it.
typedef struct process {
    zn_model *text, *transformer;
    zenith_dtype dtype;
    int32_t ids[64];
    size_t ids_count;
    float latents[STEPS][VALUES];
    int steps;
    size_t packed;
    zenith_status status;
    zn_error err;
} process;

static int stepped(void *cookie, int step, const float *latent, const float *predicted)
{
    process *p = cookie;
    (void)predicted;
    memcpy(p->latents[step], latent, sizeof p->latents[step]);
    p->steps = step + 1;
    return 0;
}

static void *work(void *arg)
{
    process *p = arg;
    zn_executor *executor = NULL;
    zn_engine *engine = NULL;
    float latent[VALUES];
    const zn_cpu cpu = zn_cpu_detect();
    const zn_generation is = {.text = p->text,
                              .transformer = p->transformer,
                              .dtype = p->dtype,
                              .prompt = {p->ids, p->ids_count},
                              .height = HEIGHT,
                              .width = WIDTH,
                              .steps = STEPS,
                              .shift = 3,
                              .stepped = stepped,
                              .cookie = p};
    p->status = zn_executor_create(1, 1, &executor, &p->err);
    if (p->status == ZENITH_OK)
        p->status = zn_engine_create(executor, &cpu, 0, NULL, &engine, &p->err);
    zn_noise_fill(ZN_NOISE_TORCH, 42, 0, latent, VALUES);
    if (p->status == ZENITH_OK) p->status = zn_generate(engine, &is, latent, &p->err);
    p->packed = zn_packs_bytes(p->text->packs) + zn_packs_bytes(p->transformer->packs);
    zn_engine_free(engine);
    zn_executor_free(executor);
    return NULL;
}

static void read_ids(process *p)
{
    int64_t wide[64];
    zn_safetensors *golden = part_golden("pipeline/io_turbo.safetensors");
    const zn_file_tensor *tensor = zn_safetensors_find(golden, "ids");
    assert_non_null(tensor);
    assert_true(tensor->bytes <= sizeof wide);
    memcpy(wide, tensor->data, tensor->bytes);
    p->ids_count = tensor->bytes / sizeof *wide;
    for (size_t i = 0; i < p->ids_count; i++) p->ids[i] = (int32_t)wide[i];
    zn_safetensors_free(golden);
}

static void open_process(process *p, const char *pipeline, const zn_share *share,
                         zenith_dtype dtype)
{
    *p = (process){.dtype = dtype};
    read_ids(p);
    p->text = open_model(zn_test_path(pipeline, "text_encoder"), share);
    p->transformer = open_model(zn_test_path(pipeline, "transformer"), share);
}

static void close_process(process *p)
{
    zn_model_unref(p->text);
    zn_model_unref(p->transformer);
}

static void run_alone(process *p, const char *pipeline, zenith_dtype dtype)
{
    open_process(p, pipeline, NULL, dtype);
    work(p);
    zn_test_ok(p->status, &p->err);
    close_process(p);
}

static void run_together(process *all, const char *pipeline, zenith_dtype dtype, int stop_at)
{
    meeting m;
    member members[SHARES];
    pthread_t threads[SHARES];
    open_meeting(&m, members);
    m.stop_at = stop_at;
    for (int i = 0; i < SHARES; i++) open_process(&all[i], pipeline, &members[i].share, dtype);
    for (int i = 0; i < SHARES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &all[i]), 0);
    for (int i = 0; i < SHARES; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(m.sums > 0);
    for (int i = 0; i < SHARES; i++) close_process(&all[i]);
    close_meeting(&m);
}

// --- tests --------------------------------------------------------------------------------------

static void compare_with(const char *what, const process *got, const process *expected,
                         double bound)
{
    char name[64];
    for (int i = 0; i < STEPS; i++) {
        snprintf(name, sizeof name, "%s, step %d", what, i + 1);
        part_compare(name, got->latents[i], expected->latents[i], VALUES, bound);
    }
}

static void compare_golden(const process *got, double bound)
{
    zn_safetensors *golden = part_golden("pipeline/io_turbo.safetensors");
    for (int i = 0; i < STEPS; i++) {
        char name[32];
        snprintf(name, sizeof name, "latents.%d", i + 1);
        float *expected = part_tensor(golden, name, NULL);
        part_compare(name, got->latents[i], expected, VALUES, bound);
        zn_free(expected);
    }
    zn_safetensors_free(golden);
}

// The transformer has three heads, so that one share has two of them.
ZN_TEST(one_picture_in_each_type)
{
    static const struct {
        const char *name;
        zenith_dtype dtype;
        double alone, golden;
    } types[] = {{"f32", ZENITH_DTYPE_F32, BOUND, BOUND_STEPS},
                 {"bf16", ZENITH_DTYPE_BF16, BOUND_BF16, BOUND_BF16},
                 {"int8", ZENITH_DTYPE_INT8, BOUND_INT8, BOUND_INT8}};
    static process alone, all[SHARES];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        run_alone(&alone, golden_pipeline(), types[t].dtype);
        run_together(all, golden_pipeline(), types[t].dtype, 0);
        for (int i = 0; i < SHARES; i++) {
            zn_test_ok(all[i].status, &all[i].err);
            assert_int_equal(all[i].steps, STEPS);
            assert_memory_equal(all[i].latents, all[0].latents, sizeof all[0].latents);
            assert_true(all[i].packed < alone.packed);
        }
        compare_with(types[t].name, &all[0], &alone, types[t].alone);
        compare_golden(&all[0], types[t].golden);
    }
}

// Panels of 4 and 8 bits: rows of them are used as they lie, columns are packed.
ZN_TEST(weights_in_few_bits)
{
    static process alone, all[SHARES];
    static const zenith_dtype types[] = {ZENITH_DTYPE_F32, ZENITH_DTYPE_BF16};
    static const double bounds[] = {1e-5, 5e-2};
    zn_error err = {0};
    zn_executor *executor = NULL;
    char *answer = NULL, folder[512];
    snprintf(folder, sizeof folder, "%s", zn_test_path(zn_test_build(), "shares_few_bits"));
    const zn_few_bits call = {.source = golden_pipeline(), .output = folder, .rotate = true};
    zn_test_ok(zn_executor_create(1, 1, &executor, &err), &err);
    zn_test_ok(zn_write_few_bits(executor, &call, &answer, &err), &err);
    zn_free(answer);
    zn_executor_free(executor);
    for (int t = 0; t < 2; t++) {
        run_alone(&alone, folder, types[t]);
        run_together(all, folder, types[t], 0);
        for (int i = 0; i < SHARES; i++) zn_test_ok(all[i].status, &all[i].err);
        compare_with("few bits", &all[0], &alone, bounds[t]);
    }
}

ZN_TEST(all_stop_together)
{
    static process all[SHARES];
    enum { OF_TEXT = 2 * 3, OF_CONTEXT = 2 * 1, OF_STEP = 2 * 3 };
    run_together(all, golden_pipeline(), ZENITH_DTYPE_F32, OF_TEXT + OF_CONTEXT + 2 * OF_STEP + 1);
    for (int i = 0; i < SHARES; i++) {
        assert_int_equal(all[i].status, ZENITH_CANCELLED);
        assert_int_equal(all[i].steps, 2);
    }
}

// --- weights ------------------------------------------------------------------------------------

static zenith_status never(void *cookie, float *values, size_t count, zn_error *err)
{
    (void)cookie, (void)values, (void)count;
    return zn_fail(err, ZENITH_INTERNAL, "nothing is summed here");
}

ZN_TEST(too_many_shares)
{
    static const char *const folders[] = {"pipeline/text_encoder", "pipeline/transformer"};
    for (int i = 0; i < 2; i++) {
        zn_error err = {0};
        zn_model *model = NULL;
        const zn_share share = {0, 3 + i, never, NULL}; // two heads of keys, and three
        const zn_model_request request = {.weights = zn_test_path(zn_test_golden(), folders[i]),
                                          .share = &share};
        assert_int_equal(zn_model_open(&request, &model, &err), ZENITH_UNSUPPORTED);
        assert_non_null(strstr(err.text, "processes cannot share"));
    }
}

static const char spoilt[] = "shares_spoilt";

static void write_file(const char *name, const void *data, size_t size)
{
    zn_error err = {0};
    zn_writer *out = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", zn_test_path(zn_test_build(), spoilt), name);
    zn_test_ok(zn_writer_open(path, &out, &err), &err);
    zn_test_ok(zn_writer_write(out, data, size, &err), &err);
    zn_test_ok(zn_writer_commit(out, &err), &err);
}

static size_t first_number(const zn_mapped *file)
{
    size_t header = 0;
    for (int i = 0; i < 8; i++) header += (size_t)file->data[i] << 8 * i;
    return 8 + header;
}

// Where a tensor is in the file. The first tensor's numbers come right after the header.
static size_t place_of(const zn_safetensors *weights, const zn_mapped *file, const char *name)
{
    const zn_file_tensor *tensor = zn_safetensors_find(weights, name);
    assert_non_null(tensor);
    const uint8_t *first = tensor->data;
    for (size_t i = 0; i < zn_safetensors_count(weights); i++)
        if (zn_safetensors_get(weights, i)->data < first)
            first = zn_safetensors_get(weights, i)->data;
    return first_number(file) + (size_t)(tensor->data - first);
}

// A transformer's folder in which the last number of a tensor is none.
static void write_spoilt(const char *name)
{
    static const char weights_file[] = "diffusion_pytorch_model.safetensors";
    zn_error err = {0};
    zn_mapped file, config;
    zn_safetensors *weights = NULL;
    char from[512];
    const char *folder = zn_test_path(zn_test_golden(), "zimage_transformer_bf16");
    snprintf(from, sizeof from, "%s/config.json", folder);
    zn_test_ok(zn_mapped_open(from, &config, &err), &err);
    snprintf(from, sizeof from, "%s/%s", folder, weights_file);
    zn_test_ok(zn_safetensors_open(from, &weights, &err), &err);
    zn_test_ok(zn_mapped_open(from, &file, &err), &err);
    zn_test_ok(zn_directory_make(zn_test_path(zn_test_build(), spoilt), &err), &err);
    uint8_t *copy = part_need(zn_alloc(file.size));
    memcpy(copy, file.data, file.size);
    const zn_file_tensor *tensor = zn_safetensors_find(weights, name);
    const size_t last = tensor->bytes / sizeof(uint16_t) - 1;
    zn_type_store(ZN_BF16, copy + place_of(weights, &file, name), last, NAN);
    write_file("config.json", config.data, config.size);
    write_file(weights_file, copy, file.size);
    zn_free(copy);
    zn_mapped_close(&file);
    zn_mapped_close(&config);
    zn_safetensors_free(weights);
}

ZN_TEST(others_weights_are_not_read)
{
    static const char *const names[] = {
        "layers.0.attention.to_q.weight", "layers.1.attention.to_out.0.weight",
        "layers.1.feed_forward.w2.weight", "noise_refiner.0.feed_forward.w3.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_spoilt(names[i]);
        for (int k = 0; k <= SHARES; k++) {
            zn_error err = {0};
            zn_model *model = NULL;
            const zn_share share = {k, SHARES, never, NULL};
            const zn_model_request request = {.weights = zn_test_path(zn_test_build(), spoilt),
                                              .share = k < SHARES ? &share : NULL};
            zn_test_ok(zn_model_open(&request, &model, &err), &err);
            const zenith_status status = zn_model_check_numbers(model, &err);
            assert_int_equal(status, k == 0 ? ZENITH_OK : ZENITH_BAD_FILE);
            if (status != ZENITH_OK) assert_non_null(strstr(err.text, names[i]));
            zn_model_unref(model);
        }
    }
}

// --- parts of matrices in each stored form ------------------------------------------------------

// One row, which the caller frees.
static float *row_of(const zn_tensor *matrix, int64_t row)
{
    const size_t columns = (size_t)matrix->desc.shape.dim[1];
    float *values = part_need(zn_alloc(columns * sizeof *values));
    if (matrix->rows)
        matrix->rows->read(matrix->rows, row, row + 1, values);
    else
        for (size_t i = 0; i < columns; i++)
            values[i] = zn_type_load(matrix->desc.type, matrix->data, (size_t)row * columns + i);
    return values;
}

static void compare_bytes(const zn_row_source *whole, int64_t at, int64_t columns,
                          const zn_row_source *part, int64_t row, int64_t left, int64_t width)
{
    float scales[2];
    int8_t *all = part_need(zn_alloc((size_t)columns)), *some = part_need(zn_alloc((size_t)width));
    assert_int_equal(part->rotated_by, whole->rotated_by);
    whole->read_bytes(whole, at, at + 1, all, &scales[0]);
    part->read_bytes(part, row, row + 1, some, &scales[1]);
    assert_memory_equal(all + left, some, (size_t)width);
    assert_true(scales[0] == scales[1]);
    zn_free(all);
    zn_free(some);
}

// All numbers of the part; and as bytes, where it has them.
static void compare_part(const zn_tensor *whole, const zn_tensor *part, const zn_cut *cut)
{
    const int64_t rows = part->desc.shape.dim[0], columns = part->desc.shape.dim[1];
    const int64_t down = cut->dimension == 0 ? cut->begin : 0;
    const int64_t across = cut->dimension == 1 ? cut->begin : 0;
    assert_int_equal(part->desc.shape.dim[cut->dimension], cut->end - cut->begin);
    assert_int_equal(part->desc.shape.dim[!cut->dimension], whole->desc.shape.dim[!cut->dimension]);
    for (int64_t r = 0; r < rows; r++) {
        float *all = row_of(whole, r + down), *some = row_of(part, r);
        assert_memory_equal(all + across, some, (size_t)columns * sizeof *some);
        zn_free(all);
        zn_free(some);
        if (part->rows && part->rows->read_bytes)
            compare_bytes(whole->rows, r + down, whole->desc.shape.dim[1], part->rows, r, across,
                          columns);
    }
}

static void cut_matrix(const zn_weights *weights, const zn_stored_name *name, zn_shape shape)
{
    zn_error err = {0};
    zn_graph graph;
    const int64_t rows = shape.dim[0], columns = shape.dim[1];
    const zn_cut cuts[] = {{0, 0, rows / 2},
                           {0, rows / 2, rows},
                           {1, 0, columns / 2},
                           {1, columns / 2, columns},
                           {1, 3, columns - 5}};
    zn_graph_begin(&graph, &err);
    const zn_node *whole = zn_stored_piece(weights, name, &graph, "whole", &shape);
    zn_test_ok(graph.status, &err);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        const zn_node *part = zn_stored_cut(weights, name, &graph, "part", &shape, &cuts[i]);
        zn_test_ok(graph.status, &err);
        compare_part(&whole->constant, &part->constant, &cuts[i]);
    }
    zn_graph_free(&graph);
}

ZN_TEST(every_stored_form)
{
    static const struct {
        const char *file, *name;
        int pieces;
    } matrices[] = {{"convrot.safetensors", "g256.weight", 1},
                    {"convrot.safetensors", "g64.weight", 3},
                    {"convrot.safetensors", "plain.weight", 1},
                    {"fp8_nvfp4.safetensors", "nvfp4.deq", 3},
                    {"tiny.gguf", "layers.0.q8_0.weight", 1},
                    {"mlx_bfloat16_b4_g64.safetensors", "layer.weight", 1},
                    {"mlx_float32_b8_g64.safetensors", "layer.weight", 1},
                    {"mlx_bfloat16_b4_g64.safetensors", "float_weight", 2}};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        zn_error err = {0};
        zn_weights *weights = NULL;
        zn_stored_weight weight;
        const int pieces = matrices[i].pieces;
        zn_test_ok(zn_weights_open(zn_test_path(zn_test_quant(), matrices[i].file), &weights, &err),
                   &err);
        const zn_file_tensor *tensor = zn_weights_find(weights, matrices[i].name);
        assert_non_null(tensor);
        zn_test_ok(zn_stored_weight_of(weights, tensor, NULL, &weight, &err), &err);
        zn_shape shape = weight.shape;
        shape.dim[0] /= pieces;
        for (int piece = 0; piece < pieces; piece++) {
            zn_stored_name name = {.piece = piece, .pieces = pieces};
            snprintf(name.name, sizeof name.name, "%s", matrices[i].name);
            cut_matrix(weights, &name, shape);
        }
        zn_weights_free(weights);
    }
}

int main(void)
{
    zn_test_need(zn_test_path(zn_test_golden(), "pipeline/io_turbo.safetensors"));
    zn_test_need(zn_test_path(zn_test_quant(), "convrot.safetensors"));
    return zn_test_run();
}
