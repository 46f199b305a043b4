// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The five tiny autoencoders against PyTorch, layer by layer, on the small goldens of tests/golden
// (tools/goldens/make_goldens.py remakes them): every residual block and convolution, the latent
// and the decoded picture, in whole maps and in bands.
#include "tests/testing.h"

#include "src/dnn/dnn.h"
#include "src/format/tensor/safetensors.h"
#include "src/model/autoencoder.h"
#include "src/task/engine/compile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ZN_TEST_NEEDS(zn_test_path(zn_test_weights(), "taesd_encoder.safetensors"))

enum { SAMPLES = 64 };

typedef struct check {
    const char *model;
    zn_safetensors *golden;
    unsigned part;
    float *out;       // result rows, NHWC
    size_t out_width; // elements of a row
    const uint8_t *image;
    const float *latent; // NCHW
    zn_shape latent_shape;
    int layers; // compared
    double worst;
} check;

static const float *golden_f32(const check *c, const char *name, size_t *count)
{
    const zn_file_tensor *tensor = zn_safetensors_find(c->golden, name);
    if (!tensor) return NULL;
    *count = tensor->bytes / sizeof(float);
    float *values = malloc(tensor->bytes);
    zn_error err = {0};
    zn_test_ok(zn_file_tensor_read(tensor, values, &err), &err);
    return values;
}

// The reference samples element (k * 7919) mod size of the NCHW tensor, k = 0 .. 63.
static void compare_layer(check *c, const zn_node *node, const float *data)
{
    char name[128];
    size_t count = 0;
    snprintf(name, sizeof name, "%s.sample", node->name);
    const float *expected = golden_f32(c, name, &count);
    if (!expected) return;
    const int64_t *dim = node->desc.shape.dim;
    size_t height = (size_t)dim[1], width = (size_t)dim[2], channels = (size_t)dim[3];
    size_t size = height * width * channels;
    double largest = 0, error = 0;
    for (size_t k = 0; k < count; k++) {
        size_t at = k * 7919 % size;
        size_t ch = at / (height * width), y = at / width % height, x = at % width;
        double got = (double)data[(y * width + x) * channels + ch];
        error = fmax(error, fabs(got - (double)expected[k]));
        largest = fmax(largest, fabs((double)expected[k]));
    }
    free((void *)(uintptr_t)expected);
    c->layers++;
    // Thirty-odd layers of sums of 576 products: rounding grows with depth, far below this bound.
    if (error > 2e-5 * fmax(largest, 1)) {
        fail_msg("%s %s: error %g where values reach %g", c->model, node->name, error, largest);
    }
}

static void observe(void *cookie, const zn_node *node, int64_t row, int64_t count, const void *data)
{
    check *c = cookie;
    static float *whole; // rows of the map so far: a round brings a few
    static const zn_node *current;
    if (node->desc.type != ZN_F32 || !zn_node_is_map(node)) return;
    size_t width = (size_t)(node->desc.shape.dim[2] * node->desc.shape.dim[3]);
    if (row == 0) {
        free(whole);
        whole = malloc(width * (size_t)node->desc.shape.dim[1] * sizeof *whole);
        current = node;
    }
    if (node != current) return; // bands interleave the layers: only whole maps are compared
    memcpy(whole + (size_t)row * width, data, (size_t)count * width * sizeof *whole);
    if (row + count == node->desc.shape.dim[1]) compare_layer(c, node, whole);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const check *c = cookie;
    (void)input;
    (void)err;
    if (c->part == ZENITH_ENCODER) {
        memcpy(dst, c->image + row * 64 * 3, (size_t)count * 64 * 3);
        return ZENITH_OK;
    }
    const int64_t *dim = c->latent_shape.dim; // [1, C, h, w]
    float *rows = dst;
    for (int64_t y = row; y < row + count; y++) {
        for (int64_t x = 0; x < dim[3]; x++) {
            for (int64_t ch = 0; ch < dim[1]; ch++) {
                *rows++ = c->latent[(ch * dim[2] + y) * dim[3] + x];
            }
        }
    }
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    check *c = cookie;
    (void)output;
    (void)err;
    memcpy(c->out + (size_t)row * c->out_width, src, (size_t)count * c->out_width * sizeof(float));
    return ZENITH_OK;
}

static void compare_result(check *c, const char *name, size_t channels, size_t height, size_t width,
                           double bound)
{
    size_t count = 0;
    const float *expected = golden_f32(c, name, &count);
    assert_non_null(expected);
    assert_int_equal(count, channels * height * width);
    double error = 0;
    for (size_t i = 0; i < count; i++) {
        size_t ch = i / (height * width), at = i % (height * width);
        error = fmax(error, fabs((double)c->out[at * channels + ch] - (double)expected[i]));
    }
    free((void *)(uintptr_t)expected);
    c->worst = fmax(c->worst, error);
    if (!(error <= bound)) fail_msg("%s %s: max abs error %g > %g", c->model, name, error, bound);
}

static void run_part(check *c, zn_model *model, unsigned part, zn_plan_mode mode, int64_t band)
{
    zn_error err = {0};
    zn_cpu cpu = zn_cpu_detect();
    zn_dnn *dnn = NULL;
    zn_team *team = NULL;
    zn_compiled *compiled = NULL;
    (void)!zn_dnn_create(&cpu, &dnn, NULL);
    zn_test_ok(zn_team_create(2, &team, &err), &err);
    const zn_compile_key key = {.model = model,
                                .part = zn_autoencoder_part(model->family, part),
                                .sizes = {.height = 6, .width = 8},
                                .dtype = ZENITH_DTYPE_F32,
                                .pixels = part == ZENITH_ENCODER ? ZENITH_U8 : ZENITH_F32,
                                .mode = mode,
                                .band = band};
    const zn_machine machine = {.cpu = cpu, .threads = 2, .dnn = dnn};
    zn_test_ok(zn_compile(&key, NULL, &machine, &compiled, &err), &err);
    size_t channels = part == ZENITH_ENCODER ? (size_t)model->variant->autoencoder->latent_channels
                                             : 3;
    size_t height = part == ZENITH_ENCODER ? 6 : 48, width = part == ZENITH_ENCODER ? 8 : 64;
    c->part = part;
    c->layers = 0;
    c->out_width = width * channels;
    c->out = malloc(height * c->out_width * sizeof(float));
    void *arena = zn_alloc(zn_plan_bytes(compiled->plan));
    const zn_run run = {.read = read_rows,
                        .write = write_rows,
                        .cookie = c,
                        .observe = mode == ZN_PLAN_PLANES ? observe : NULL};
    zn_test_ok(zn_plan_run(compiled->plan, arena, team, &run, &err), &err);
    // 10 blocks, the three resampling convolutions, and in the encoder the first and the last one;
    // the decoder's first convolution is fused with its relu and cannot be seen.
    if (mode == ZN_PLAN_PLANES) assert_true(c->layers >= 14);
    compare_result(c, part == ZENITH_ENCODER ? "latent" : "decoded", channels, height, width,
                   part == ZENITH_ENCODER ? 5e-5 : 2e-5);
    free(c->out);
    zn_free(arena);
    zn_compiled_free(compiled);
    zn_dnn_free(dnn);
    zn_team_free(team);
}

static void check_model(const char *name)
{
    char file[64];
    zn_error err = {0};
    check c = {.model = name};
    snprintf(file, sizeof file, "tests/golden/%s.safetensors", name);
    zn_test_ok(zn_safetensors_open(zn_test_path(zn_test_source(), file), &c.golden, &err), &err);
    c.image = zn_safetensors_find(c.golden, "image_u8")->data;
    c.latent_shape = zn_safetensors_find(c.golden, "latent")->shape;
    size_t count;
    c.latent = golden_f32(&c, "latent", &count);
    zn_model *model = NULL;
    const zn_model_request request = {
        .name = name,
        .weights = zn_test_weights(),
        .parts = zn_autoencoder_names(ZENITH_ENCODER | ZENITH_DECODER)};
    zn_test_ok(zn_model_open(&request, &model, &err), &err);
    assert_int_equal(model->unexpected, 0);
    for (unsigned part = ZENITH_ENCODER; part <= ZENITH_DECODER; part <<= 1) {
        run_part(&c, model, part, ZN_PLAN_PLANES, 0);
        run_part(&c, model, part, ZN_PLAN_ROLLING, 1);
        run_part(&c, model, part, ZN_PLAN_ROLLING, 4);
    }
    print_message("%s: max abs error %.2g\n", name, c.worst);
    zn_model_unref(model);
    free((void *)(uintptr_t)c.latent);
    zn_safetensors_free(c.golden);
}

ZN_TEST(taesd)
{
    check_model("taesd");
}
ZN_TEST(taesdxl)
{
    check_model("taesdxl");
}
ZN_TEST(taesd3)
{
    check_model("taesd3");
}
ZN_TEST(taef1)
{
    check_model("taef1");
}
ZN_TEST(taef2)
{
    check_model("taef2");
}
