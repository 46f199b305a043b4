// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each allocation behind the files of the API fails in turn: the call says so, leaves its result
// and the folder alone, leaks nothing (the address sanitizer looks), and works again afterwards.
#include "tests/api/api_files.h"
#include "tests/fail_in_turn.h"

enum { W = 24, H = 16, ROW = 3 * W };

static uint8_t pixels[32 * 96];
static float values[2 * 3 * W * H];

static zenith_status read_picture(zenith_fit fit, const char *name)
{
    zenith_source *source = NULL;
    zenith_source_params params = {.size = sizeof params, .fit = fit, .width = 32};
    const char *images = zn_test_path(zn_test_source(), "tests/format/images");
    zenith_status status = zenith_source_open(context, zn_test_path(images, name), &params,
                                              &source);
    if (status != ZENITH_OK) {
        assert_null(source);
        assert_non_null(strstr(zenith_context_error(context), "memory"));
        return status;
    }
    zenith_source_info info = {.size = sizeof info};
    zenith_source_get_info(source, &info);
    assert_true(info.height <= 32 && info.width <= 32);
    status = zenith_source_rows(source, 0, info.height, pixels);
    if (status != ZENITH_OK) assert_non_null(strstr(zenith_source_error(source), "memory"));
    zenith_source_free(source);
    return status;
}

static zenith_status crop(void)
{
    return read_picture(ZENITH_FIT_CROP, "orientation_6.png");
}

static zenith_status resize(void)
{
    return read_picture(ZENITH_FIT_RESIZE, "orientation_1.jpg");
}

static zenith_status write_picture(void)
{
    zenith_target *target = NULL;
    zenith_status status = zenith_target_open(context, in_folder("a.png"), W, H, NULL, &target);
    if (status != ZENITH_OK) {
        assert_null(target);
        assert_int_equal(files_in_folder(), 0);
        return status;
    }
    status = zenith_target_rows(target, 0, H, pixels);
    if (status == ZENITH_OK) status = zenith_target_finish(target);
    if (status != ZENITH_OK) {
        assert_non_null(strstr(zenith_target_error(target), "memory"));
        assert_int_equal(files_in_folder(), 0);
    }
    zenith_target_free(target);
    empty_folder();
    return status;
}

static zenith_status save_latents(void)
{
    zenith_latent latents[2];
    for (int i = 0; i < 2; i++)
        latents[i] = (zenith_latent){.size = sizeof *latents,
                                     .width = W,
                                     .height = H,
                                     .channels = 3,
                                     .data = values + i * 3 * W * H};
    zenith_latent_save_params params = {.size = sizeof params, .model = "taesd"};
    zenith_status status = zenith_latent_save(context, in_folder("a.safetensors"), latents, 2,
                                              &params);
    assert_int_equal(files_in_folder(), status == ZENITH_OK);
    if (status != ZENITH_OK) return status;
    zenith_latent_file *file = NULL;
    status = zenith_latent_file_open(context, in_folder("a.safetensors"), &file);
    assert_true((status == ZENITH_OK) == (file != NULL));
    zenith_latent_file_free(file);
    empty_folder();
    return status;
}

static zenith_status save_npy(void)
{
    zenith_image image = {
        .size = sizeof image, .width = W, .height = H, .number = ZENITH_F32, .data = values};
    zenith_status status = zenith_image_save_npy(context, in_folder("a.npy"), &image);
    assert_int_equal(files_in_folder(), status == ZENITH_OK);
    empty_folder();
    return status;
}

static zenith_model *model; // of the test below

static zenith_status save_model(void)
{
    zenith_status status = zenith_model_save(context, model, in_folder("a.safetensors"),
                                             ZENITH_BF16);
    assert_int_equal(files_in_folder(), status == ZENITH_OK);
    empty_folder();
    return status;
}

// Scales of 8-bit floats are tensors of their own.
static zenith_status save_f8(void)
{
    zenith_status status = zenith_model_save(context, model, in_folder("a.safetensors"),
                                             ZENITH_F8_E4M3);
    assert_int_equal(files_in_folder(), status == ZENITH_OK);
    empty_folder();
    return status;
}

// Weights with scales, written before.
static zenith_status open_f8(void)
{
    zenith_model *opened = NULL;
    zenith_model_params params = {
        .size = sizeof params, .name = "taesd", .weights = in_folder("f8.safetensors")};
    zenith_status status = zenith_model_open(context, &params, &opened);
    assert_true((status == ZENITH_OK) == (opened != NULL));
    zenith_model_free(opened);
    return status;
}

static zenith_status inspect_folder(void)
{
    char *text = NULL;
    zenith_status status = zenith_inspect(context, folder, NULL, false, &text);
    assert_true((status == ZENITH_OK) == (text != NULL));
    zenith_text_free(text);
    return status;
}

static void check_each(zenith_status (*use)(void), long at_least)
{
    for (long n = 0;; n++) {
        fail_allocation(n);
        zenith_status status = use();
        if (!fail_stop()) { // it never came to allocation n
            api_ok(status);
            assert_true(n >= at_least);
            return;
        }
        assert_int_equal(status, ZENITH_OUT_OF_MEMORY);
        api_ok(use());
    }
}

static void reading(void **state)
{
    (void)state;
    check_each(crop, 5);   // source, name, picture, reader, line
    check_each(resize, 8); // and source, weights, middle and result of the resize
}

static void writing(void **state)
{
    (void)state;
    check_each(write_picture, 4); // target, path, file, encoder
}

static void latents(void **state)
{
    (void)state;
    check_each(save_latents, 8);
    check_each(save_npy, 3);
}

static void weights(void **state)
{
    (void)state;
    const char *path = zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers");
    zenith_model_params params = {.size = sizeof params, .name = "taesd", .weights = path};
    api_ok(zenith_model_open(context, &params, &model));
    check_each(save_model, 5);
    check_each(save_f8, 8); // and the names and numbers of scales
    api_ok(zenith_model_save(context, model, in_folder("f8.safetensors"), ZENITH_F8_E4M3));
    check_each(open_f8, 5);
    empty_folder();
    api_ok(zenith_model_save(context, model, folder, ZENITH_F32));
    check_each(inspect_folder, 20);
    zenith_model_free(model);
    empty_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading),
        cmocka_unit_test(writing),
        cmocka_unit_test(latents),
        cmocka_unit_test(weights),
    };
    return cmocka_run_group_tests(tests, api_setup, api_teardown);
}
