// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge without SqueezeNet: every other measure against PyTorch's, what equal pictures give,
// what is refused, and a model before it. test_squeezenet.c has the rest.
#include "tests/task/metric_goldens.h"
#include "tests/task/metric_pictures.h"
#include "tests/task/session.h"
#include "zenith/train.h"

#include <math.h>

enum { MEASURES = 9, SQUEEZENET = 3, GOLDENS = sizeof metric_goldens / sizeof metric_goldens[0] };

static zenith_context *context;
static zenith_judge *judge;

static void list_measures(const zenith_quality *q, double values[MEASURES])
{
    const double all[MEASURES] = {q->psnr, q->ssim,           q->ms_ssim, q->squeezenet,    q->gmsd,
                                  q->hf,   q->hf_correlation, q->mesh4,   q->original_mesh4};
    memcpy(values, all, sizeof all);
}

ZN_TEST(measures_are_those_of_pytorch)
{
    for (int i = 0; i < GOLDENS; i++) {
        const uint32_t width = metric_goldens[i].width, height = metric_goldens[i].height;
        zenith_image a = make_picture(width, height, original_pixel);
        zenith_image b = make_picture(width, height, changed_pixel);
        zenith_quality quality = {.size = sizeof quality};
        double values[MEASURES];
        session_ok(context, zenith_compare(context, judge, &a, &b, &quality));
        list_measures(&quality, values);
        for (int k = 0; k < MEASURES; k++) {
            const double wanted = metric_goldens[i].values[k], got = values[k];
            if (k == SQUEEZENET || (isnan(wanted) && isnan(got))) continue;
            if (fabs(got - wanted) <= 1e-9 * fabs(wanted)) continue;
            fail_msg("%u x %u, measure %d: %.12g, not %.12g", width, height, k, got, wanted);
        }
        assert_true(isnan(quality.squeezenet) && isnan(quality.latent_distance));
        free(a.data);
        free(b.data);
    }
}

ZN_TEST(equal_pictures_have_lost_nothing)
{
    zenith_image a = make_picture(200, 192, original_pixel);
    zenith_quality quality = {.size = sizeof quality};
    session_ok(context, zenith_compare(context, judge, &a, &a, &quality));
    assert_true(isinf(quality.psnr) && quality.psnr > 0);
    assert_true(fabs(quality.ssim - 1) < 1e-12 && fabs(quality.ms_ssim - 1) < 1e-12);
    assert_true(quality.gmsd == 0 && quality.hf == 1);
    assert_true(fabs(quality.hf_correlation - 1) < 1e-12);
    assert_true(quality.mesh4 == quality.original_mesh4);
    free(a.data);
}

// An even picture has no detail, and no gradients: nothing to divide by.
ZN_TEST(even_pictures_have_no_detail)
{
    zenith_image a = make_picture(64, 64, original_pixel), b = make_picture(64, 64, original_pixel);
    memset(a.data, 80, session_image_bytes(&a));
    zenith_quality quality = {.size = sizeof quality};
    session_ok(context, zenith_compare(context, judge, &a, &b, &quality));
    assert_true(isfinite(quality.psnr) && isfinite(quality.ssim) && isfinite(quality.gmsd));
    assert_false(isfinite(quality.hf) && isfinite(quality.hf_correlation));
    free(a.data);
    free(b.data);
}

ZN_TEST(what_cannot_be_compared_is_refused)
{
    zenith_image a = make_picture(64, 48, original_pixel), b = make_picture(48, 64, original_pixel);
    zenith_quality quality = {.size = sizeof quality, .psnr = 7};
    assert_int_equal(zenith_compare(context, judge, &a, &b, &quality), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(zenith_context_error(context), "64 x 48 and 48 x 64"));
    zenith_image floats = a, planes = a, none = a, short_struct = a;
    floats.number = ZENITH_F32;
    planes.order = ZENITH_CHW;
    none.data = NULL;
    short_struct.size = 8;
    const zenith_image *const wrong[] = {&floats, &planes, &none, &short_struct, NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(zenith_compare(context, judge, &a, wrong[i], &quality),
                         ZENITH_INVALID_ARGUMENT);
        assert_int_equal(zenith_compare(context, judge, wrong[i], &a, &quality),
                         ZENITH_INVALID_ARGUMENT);
    }
    assert_int_equal(zenith_compare(context, NULL, &a, &a, &quality), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zenith_compare(context, judge, &a, &a, NULL), ZENITH_INVALID_ARGUMENT);
    assert_true(quality.psnr == 7);
    free(a.data);
    free(b.data);
}

ZN_TEST(other_weights_are_no_squeezenet)
{
    zenith_judge *other = NULL;
    zenith_judge_params params = {
        .size = sizeof params,
        .squeezenet = zn_test_path(zn_test_source(), "tests/golden/taesd.safetensors")};
    assert_int_equal(zenith_judge_open(context, &params, &other), ZENITH_BAD_FILE);
    assert_non_null(strstr(zenith_context_error(context), "conv1.weight"));
    params.squeezenet = "no such file.safetensors";
    assert_int_equal(zenith_judge_open(context, &params, &other), ZENITH_NOT_FOUND);
    assert_null(other);
    assert_null(zenith_judge_get_squeezenet(judge));
}

ZN_TEST(a_model_before_the_judge)
{
    zenith_model *model = session_tiny(context);
    zenith_image a = make_picture(64, 48, original_pixel), b = make_picture(64, 48, original_pixel);
    zenith_quality quality = {.size = sizeof quality}, again = {.size = sizeof again};
    session_ok(context, zenith_evaluate(context, judge, model, model, &a, &b, NULL, &quality));
    session_ok(context, zenith_compare(context, judge, &a, &b, &again));
    assert_true(quality.psnr == again.psnr && quality.ssim == again.ssim);
    assert_true(quality.latent_distance > 0 && isfinite(quality.latent_distance));
    assert_true(quality.encode_seconds > 0 && quality.decode_seconds > 0);
    b.width = 40; // not a picture for this model, nor of the original's size
    assert_int_equal(zenith_evaluate(context, judge, model, model, &a, &b, NULL, &quality),
                     ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zenith_evaluate(context, judge, model, NULL, &a, &a, NULL, &quality),
                     ZENITH_INVALID_ARGUMENT);
    a.width = a.height = b.width = b.height = 12;
    assert_int_equal(zenith_evaluate(context, judge, model, model, &a, &b, NULL, &quality),
                     ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(zenith_context_error(context), "multiples of 8"));
    zenith_model_free(model);
    free(a.data);
    free(b.data);
}

ZN_TEST_SETUP(set_up)
{
    // The search path must not find a SqueezeNet.
    setenv("ZENITH_MODELS", zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers"), 1);
    setenv("HOME", zn_test_build(), 1);
    context = session_context(2, 1);
    session_ok(context, zenith_judge_open(context, NULL, &judge));
    return 0;
}

ZN_TEST_TEARDOWN(tear_down)
{
    zenith_judge_free(judge);
    zenith_context_free(context);
    return 0;
}
