// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers that grow beyond what bf16 holds: the picture is computed again in f32, with f32's bits,
// and the result says so. bf16 has nearly the range of f32, so weights are scaled until a map comes
// just under the largest f32, which bf16 rounds to infinity. How large a map grows is not the same
// on every CPU: a run in f32 is watched.
#include "tests/task/session.h"

#include "src/api/models.h"
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/format/tensor/safetensors.h"
#include "src/task/autoencode/pixels.h"
#include "src/task/engine/compile.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

enum { COUNT = 6, WIDTH = 24, HEIGHT = 32, TENSORS = 512, TRIALS = 64 };
enum { BYTES = WIDTH * HEIGHT * 3 };

// A model of which one convolution is scaled, and in which the next undoes it.
typedef struct subject {
    const char *name, *golden; // of the model, of its folder
    const char *scaled;        // weight and bias times the factor
    const char *undone;        // weight over the factor; NULL: a norm does that
    const char *lifted;        // weight times a constant, where maps would stay too small
} subject;

static const subject kl = {"sd-vae", "tests/golden/tiny_kl", "decoder.mid_block.resnets.0.conv1",
                           NULL, "decoder.mid_block.resnets.0.norm1"};
static const subject tiny = {"taesd", "tests/golden/tiny_diffusers", "decoder.layers.17.conv.4",
                             "decoder.layers.18", "decoder.layers.17.conv.2"};
static const double LIFT = 1e4;

static zenith_context *context;
static char folder[1024];
static zenith_latent latents[COUNT];
static uint8_t pictures[COUNT][BYTES];
static zenith_image images[COUNT];
static int reading;   // the latent that a watched run reads
static float largest; // what it found

ZN_TEST_SETUP(setup)
{
    context = session_context(2, 1);
    snprintf(folder, sizeof folder, "%s/test-overflow-XXXXXX", zn_test_build());
    return mkdtemp(folder) ? 0 : -1;
}

ZN_TEST_TEARDOWN(teardown)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/diffusion_pytorch_model.safetensors", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/config.json", folder);
    unlink(path);
    zenith_context_free(context);
    return rmdir(folder);
}

// --- weights ------------------------------------------------------------------------------------

static bool begins(const char *name, const char *with, const char *end)
{
    const size_t length = with ? strlen(with) : 0;
    return with && strncmp(name, with, length) == 0 && strcmp(name + length, end) == 0;
}

static float factor_of(const subject *s, const char *name, double factor)
{
    if (begins(name, s->scaled, ".weight") || begins(name, s->scaled, ".bias"))
        return (float)factor;
    if (begins(name, s->lifted, ".weight")) return (float)LIFT;
    return begins(name, s->undone, ".weight") ? (float)(1 / factor / LIFT) : 1;
}

static void copy_config(const subject *s)
{
    char path[1100], text[4096];
    snprintf(path, sizeof path, "%s/%s/config.json", zn_test_source(), s->golden);
    FILE *from = fopen(path, "rb");
    snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *to = fopen(path, "wb");
    assert_true(from && to);
    fwrite(text, 1, fread(text, 1, sizeof text, from), to);
    fclose(from);
    fclose(to);
}

// The golden's weights in f32, scaled, in our folder.
static void write_weights(const subject *s, double factor)
{
    char path[1100];
    zn_error err = {0};
    zn_safetensors *golden = NULL;
    zn_writer *writer = NULL;
    zn_file_tensor tensors[TENSORS];
    snprintf(path, sizeof path, "%s/%s/diffusion_pytorch_model.safetensors", zn_test_source(),
             s->golden);
    zn_test_ok(zn_safetensors_open(path, &golden, &err), &err);
    const size_t count = zn_safetensors_count(golden);
    assert_true(count <= TENSORS);
    for (size_t i = 0; i < count; i++) {
        size_t elements = 0;
        tensors[i] = *zn_safetensors_get(golden, i);
        assert_true(zn_shape_elements(&tensors[i].shape, &elements));
        float *values = malloc(elements * sizeof *values);
        zn_test_ok(zn_file_tensor_read(&tensors[i], values, &err), &err);
        for (size_t k = 0; k < elements; k++) values[k] *= factor_of(s, tensors[i].name, factor);
        tensors[i].type = ZN_F32;
        tensors[i].data = (const uint8_t *)values;
    }
    snprintf(path, sizeof path, "%s/diffusion_pytorch_model.safetensors", folder);
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_safetensors_write(writer, tensors, count, NULL, 0, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    for (size_t i = 0; i < count; i++) free((void *)(uintptr_t)tensors[i].data);
    zn_safetensors_free(golden);
}

static zenith_model *scaled(const subject *s, double factor)
{
    write_weights(s, factor);
    return session_model(context, s->name, folder);
}

// --- the factor ---------------------------------------------------------------------------------

static zenith_status decode(zenith_model *model, zenith_dtype dtype, zenith_run_facts *facts,
                            zenith_item_result *results)
{
    const zenith_run_params params = {
        .size = sizeof params, .dtype = dtype, .facts = facts, .results = results};
    return zenith_decode(context, model, latents, images, COUNT, &params);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const zn_model *model = cookie;
    (void)input;
    const zenith_latent *latent = &latents[reading];
    return zn_latent_read_rows(latent, model->variant->autoencoder, row, count, dst, err);
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    (void)cookie, (void)output, (void)row, (void)count, (void)src, (void)err;
    return ZENITH_OK;
}

static void watch(void *cookie, const zn_node *node, int64_t row, int64_t count, const void *data)
{
    (void)cookie, (void)row;
    if (!zn_node_is_map(node) || node->desc.type != ZN_F32) return;
    const int64_t *dim = node->desc.shape.dim;
    for (int64_t i = 0; i < count * dim[2] * dim[3]; i++)
        largest = fmaxf(largest, fabsf(((const float *)data)[i]));
}

// The factor that brings the largest value of all latents just under the largest f32. Below it, one
// that makes the scaled map the largest of the network by far.
static double fitting_factor(const subject *s)
{
    const double factor = 1e20, just_under = 3.4028e38 * (1 - 1e-5);
    zenith_model *model = scaled(s, factor);
    const zn_compile_key key = {.model = model->inner,
                                .part = zn_model_part(model->inner, "decoder"),
                                .sizes = {.height = HEIGHT / 8, .width = WIDTH / 8},
                                .dtype = ZENITH_DTYPE_F32,
                                .pixels = ZENITH_F32};
    const zn_machine machine = {.cpu = zn_cpu_detect(), .threads = 1};
    zn_compiled *compiled = NULL;
    zn_error err = {0};
    zn_test_ok(zn_compile(&key, 0, &machine, &compiled, &err), &err);
    void *arena = zn_alloc(zn_plan_bytes(compiled->plan));
    const zn_run run = {
        .read = read_rows, .write = write_rows, .cookie = model->inner, .observe = watch};
    largest = 0;
    for (reading = 0; reading < COUNT; reading++)
        zn_test_ok(zn_plan_run(compiled->plan, arena, NULL, &run, &err), &err);
    zn_free(arena);
    zn_compiled_free(compiled);
    zenith_model_free(model);
    return factor * (just_under / (double)largest);
}

// Latents whose last rows are the largest: what goes wrong does so late.
static void make_latents(uint64_t seed)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        latents[i] = session_latent(WIDTH, HEIGHT, seed * COUNT + i);
        float *values = latents[i].data;
        for (uint32_t k = 0; k < 4 * WIDTH / 8 * HEIGHT / 8; k++) {
            const uint32_t row = k / (WIDTH / 8) % (HEIGHT / 8);
            values[k] *= row == HEIGHT / 8 - 1 ? 3 : 1;
        }
        images[i] = (zenith_image){
            .size = sizeof images[i], .width = WIDTH, .height = HEIGHT, .data = pictures[i]};
    }
}

static void free_latents(void)
{
    for (int i = 0; i < COUNT; i++) free(latents[i].data);
}

// A model and latents of which bf16 overflows in some, but not in all, and f32 in none.
static zenith_model *overflowing(const subject *s)
{
    copy_config(s);
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        make_latents(trial);
        zenith_run_facts facts = {.size = sizeof facts};
        zenith_model *model = scaled(s, fitting_factor(s));
        // A sum can pass the largest f32 on its way to a smaller end: then other latents are tried.
        const bool holds = decode(model, ZENITH_DTYPE_F32, NULL, NULL) == ZENITH_OK;
        if (holds) session_ok(context, decode(model, ZENITH_DTYPE_BF16, &facts, NULL));
        print_message("%s: %u of %d again\n", s->name, facts.again, COUNT);
        if (facts.again > 0 && facts.again < COUNT) return model;
        zenith_model_free(model);
        free_latents();
    }
    fail_msg("no factor was found for which bf16 overflows and f32 does not");
    return NULL;
}

// --- tests --------------------------------------------------------------------------------------

// Each picture of the batch has the bits of f32 or those of bf16 alone, as its result says.
static void computed_again(const subject *s)
{
    static uint8_t wide[COUNT][BYTES], narrow[BYTES];
    zenith_model *model = overflowing(s);
    session_ok(context, decode(model, ZENITH_DTYPE_F32, NULL, NULL));
    memcpy(wide, pictures, sizeof wide);
    zenith_run_facts facts = {.size = sizeof facts}, one = {.size = sizeof one};
    zenith_item_result results[COUNT] = {{.size = sizeof *results}};
    session_ok(context, decode(model, ZENITH_DTYPE_BF16, &facts, results));
    assert_int_equal(facts.overflowed, ZENITH_DTYPE_BF16);
    uint32_t again = 0;
    for (int i = 0; i < COUNT; i++) {
        const zenith_run_params params = {
            .size = sizeof params, .dtype = ZENITH_DTYPE_BF16, .facts = &one};
        zenith_image alone = images[i];
        alone.data = narrow;
        session_ok(context, zenith_decode(context, model, &latents[i], &alone, 1, &params));
        assert_memory_equal(narrow, pictures[i], BYTES);
        assert_int_equal(one.again, results[i].dtype == ZENITH_DTYPE_F32);
        assert_int_equal(one.dtype, results[i].dtype);
        assert_string_equal(results[i].message, "");
        again += one.again;
        if (one.again)
            assert_memory_equal(pictures[i], wide[i], BYTES);
        else
            assert_int_equal(results[i].dtype, ZENITH_DTYPE_BF16);
    }
    assert_int_equal(again, facts.again);
    zenith_model_free(model);
    free_latents();
}

ZN_TEST(again_by_statistics)
{
    computed_again(&kl);
}

ZN_TEST(again_by_maps)
{
    computed_again(&tiny);
}

typedef struct stream {
    uint8_t rows[BYTES];
    uint32_t next, begun;
} stream;

static zenith_status take_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    stream *s = cookie;
    s->begun += y == 0;
    if (y == 0) s->next = 0;
    assert_int_equal(y, s->next);
    memcpy(s->rows + (size_t)y * WIDTH * 3, rows, (size_t)count * WIDTH * 3);
    s->next += count;
    return ZENITH_OK;
}

// Rows that are handed out as they are made begin again where the caller allows it; else the
// picture fails.
ZN_TEST(streams_restart)
{
    zenith_model *model = overflowing(&tiny);
    zenith_item_result results[COUNT] = {{.size = sizeof *results}};
    session_ok(context, decode(model, ZENITH_DTYPE_BF16, NULL, results));
    int i = 0;
    while (results[i].dtype != ZENITH_DTYPE_F32) i++;
    const zenith_run_params params = {.size = sizeof params,
                                      .dtype = ZENITH_DTYPE_BF16,
                                      .bands = ZENITH_BANDS_ROWS,
                                      .band_rows = 1};
    stream s = {.next = 0};
    zenith_image image = {.size = sizeof image,
                          .width = WIDTH,
                          .height = HEIGHT,
                          .rows = take_rows,
                          .cookie = &s,
                          .restarts = true};
    session_ok(context, zenith_decode(context, model, &latents[i], &image, 1, &params));
    assert_int_equal(s.begun, 2);
    assert_memory_equal(s.rows, pictures[i], BYTES);
    image.restarts = false;
    assert_int_equal(zenith_decode(context, model, &latents[i], &image, 1, &params),
                     ZENITH_OVERFLOW);
    assert_non_null(strstr(zenith_context_error(context), "use f32"));
    zenith_model_free(model);
    free_latents();
}

// What f32 does not hold either is a failure, of the picture concerned.
ZN_TEST(beyond_f32)
{
    copy_config(&tiny);
    make_latents(0);
    zenith_item_result results[COUNT] = {{.size = sizeof *results}};
    zenith_model *model = scaled(&tiny, 2 * fitting_factor(&tiny));
    const zenith_status status = decode(model, ZENITH_DTYPE_BF16, NULL, results);
    assert_true(status == ZENITH_OVERFLOW || status == ZENITH_PARTIAL);
    assert_non_null(strstr(zenith_context_error(context), "beyond what f32 holds"));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(results[i].dtype != ZENITH_DTYPE_DEFAULT, results[i].status == ZENITH_OK);
    zenith_model_free(model);
    free_latents();
}

ZN_TEST(broken_weights)
{
    zenith_model *model = NULL;
    const zenith_model_params params = {.size = sizeof params, .name = "taesd", .weights = folder};
    copy_config(&tiny);
    write_weights(&tiny, 1e300); // infinity as f32
    assert_int_equal(zenith_model_open(context, &params, &model), ZENITH_BAD_FILE);
    assert_non_null(strstr(zenith_context_error(context), "18.conv.4"));
    assert_non_null(strstr(zenith_context_error(context), "NaN or infinity"));
}

// f16 holds up to 65504.
ZN_TEST(latents_in_f16)
{
    static uint16_t halves[4 * WIDTH / 8 * HEIGHT / 8];
    static const subject wide = {"sd-vae", "tests/golden/tiny_kl", "encoder.conv_out", NULL, NULL};
    zenith_image image = session_image(WIDTH, HEIGHT, 3);
    zenith_latent latent = {.size = sizeof latent,
                            .width = WIDTH / 8,
                            .height = HEIGHT / 8,
                            .channels = 4,
                            .number = ZENITH_F16,
                            .data = halves};
    copy_config(&wide);
    zenith_model *model = scaled(&wide, 1);
    session_ok(context, zenith_encode(context, model, &image, &latent, 1, NULL));
    zenith_model_free(model);
    model = scaled(&wide, 1e8);
    assert_int_equal(zenith_encode(context, model, &image, &latent, 1, NULL), ZENITH_OVERFLOW);
    assert_non_null(strstr(zenith_context_error(context), "65504"));
    zenith_model_free(model);
    free(image.data);
}
