// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tiny video autoencoders of Wan's latents against PyTorch, on small random networks
// (tools/goldens/make_taehv_goldens.py): five frames, of which the second step has one and its
// repetitions, and a picture by itself; the same bits in planes and bands and on one thread and
// two.
#include "tests/model/video_coder.h"
#include "tests/model/weight_files.h"

enum { NAME = 128, FRAMES = 5, LATENTS = 2 };
static const double BOUND = 1e-5;

typedef struct kind {
    const char *name;
    int64_t height, width; // of the latent
} kind;
static const kind kinds[] = {{"taew2_1", 2, 3}, {"taew2_2", 2, 3}};
static const way ways[] = {{ZENITH_DTYPE_F32, ZN_PLAN_AUTO, 0, 1},
                           {ZENITH_DTYPE_F32, ZN_PLAN_PLANES, 0, 2},
                           {ZENITH_DTYPE_F32, ZN_PLAN_ROLLING, 1, 1},
                           {ZENITH_DTYPE_F32, ZN_PLAN_ROLLING, 2, 2}};

typedef struct world {
    zn_safetensors *golden;
    zn_model *model;
    zn_dnn *dnn;
} world;

static void open_world(world *w, const kind *k)
{
    char file[NAME];
    const zn_cpu cpu = zn_cpu_detect();
    *w = (world){.model = NULL};
    snprintf(file, sizeof file, "tests/golden/%s.io.safetensors", k->name);
    w->golden = tensors_at(zn_test_path(zn_test_source(), file));
    snprintf(file, sizeof file, "tests/golden/%s.safetensors", k->name);
    w->model = model_at(zn_test_path(zn_test_source(), file), NULL);
    assert_string_equal(w->model->variant->name, k->name);
    assert_int_equal(w->model->unexpected, 0);
    (void)!zn_dnn_create(&cpu, &w->dnn, NULL); // without oneDNN, our kernels
}

static void close_world(world *w)
{
    zn_dnn_free(w->dnn);
    zn_model_unref(w->model);
    zn_safetensors_free(w->golden);
}

// [T, C, h, w] as T maps [h, w, C], and the last again until there are `count`.
static clip golden_clip(const world *w, const char *name, int count)
{
    zn_error err = {0};
    const zn_file_tensor *tensor = zn_safetensors_find(w->golden, name);
    assert_non_null(tensor);
    const int64_t *dim = tensor->shape.dim;
    const size_t c = (size_t)dim[1], pixels = (size_t)(dim[2] * dim[3]);
    float *planes = need(zn_alloc(tensor->bytes));
    clip made = {.frame = c * pixels, .row = c * (size_t)dim[3], .count = count};
    made.data = need(zn_alloc((size_t)count * made.frame * sizeof(float)));
    zn_test_ok(zn_file_tensor_read(tensor, planes, &err), &err);
    for (int t = 0; t < count; t++) {
        const float *from = planes + (size_t)(t < dim[0] ? t : dim[0] - 1) * made.frame;
        float *to = made.data + (size_t)t * made.frame;
        for (size_t i = 0; i < made.frame; i++) to[i % pixels * c + i / pixels] = from[i];
    }
    zn_free(planes);
    return made;
}

static void compare(const char *name, const clip *got, const clip *expected)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < got->frame * (size_t)got->count; i++) {
        error += pow((double)got->data[i] - (double)expected->data[i], 2);
        size += pow((double)expected->data[i], 2);
    }
    error = sqrt(error / size);
    print_message("%s: %.2g\n", name, error);
    if (!(error <= BOUND)) fail_msg("%s: relative error %g > %g", name, error, BOUND);
}

// In every way, the first against the reference and the others against the first.
static void check_clip(world *w, const kind *k, const char *part, const clip *in,
                       const clip *expected)
{
    clip first = empty_like(expected, expected->count), got = empty_like(expected, expected->count);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        coder c;
        open_coder(&c, w->model, w->dnn, part, k->height, k->width, &ways[i]);
        run_clip(&c, in, i ? &got : &first);
        close_coder(&c);
        if (i == 0)
            compare(part, &first, expected);
        else
            assert_memory_equal(got.data, first.data,
                                got.frame * (size_t)got.count * sizeof(float));
    }
    zn_free(first.data);
    zn_free(got.data);
}

static void check_alone(world *w, const kind *k, const char *part, const clip *in,
                        const clip *expected)
{
    coder c;
    clip got = empty_like(expected, 1);
    open_coder(&c, w->model, w->dnn, part, k->height, k->width, &ways[0]);
    run_alone(&c, in, &got);
    close_coder(&c);
    compare("alone", &got, expected);
    zn_free(got.data);
}

ZN_TEST(clips_are_the_references)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        world w;
        open_world(&w, &kinds[i]);
        clip frames = golden_clip(&w, "frames", 8), latents = golden_clip(&w, "latents", LATENTS);
        clip decoded = golden_clip(&w, "decoded", FRAMES), alone = golden_clip(&w, "alone", 1);
        check_clip(&w, &kinds[i], "encoder", &frames, &latents);
        check_clip(&w, &kinds[i], "decoder", &latents, &decoded);
        check_alone(&w, &kinds[i], "encoder", &frames, &alone);
        check_alone(&w, &kinds[i], "decoder", &latents, &decoded); // the first frame of a clip
        clip *clips[] = {&frames, &latents, &decoded, &alone};
        for (int j = 0; j < 4; j++) zn_free(clips[j]->data);
        close_world(&w);
    }
}

// The same latents, whoever made them.
ZN_TEST(latents_are_wans)
{
    assert_true(zn_latents_equal(&zn_latents_taew21, &zn_latents_wan21));
    assert_true(zn_latents_equal(&zn_latents_taew22, &zn_latents_wan22));
    assert_false(zn_latents_equal(&zn_latents_taew21, &zn_latents_wan22));
}
