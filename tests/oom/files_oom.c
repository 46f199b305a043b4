// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each allocation behind the files of the API fails in turn; results and the folder are left alone.
#include "tests/api/api_files.h"
#include "tests/oom/oom.h"

enum { W = 24, H = 16, ROW = 3 * W };

static uint8_t pixels[32 * 96];
static float values[2 * 3 * W * H];
static char f8_path[1024], model_folder[1024]; // written before
static zenith_model *model;

// The status, and the sentence of the context.
static zenith_status told(zenith_status status, zn_error *err)
{
    return status == ZENITH_OK ? status : zn_fail(err, status, "%s", zenith_context_error(context));
}

static zenith_status read_picture(zenith_fit fit, const char *name, zn_error *err)
{
    zenith_source *source = NULL;
    zenith_source_params params = {.size = sizeof params, .fit = fit, .width = 32};
    const char *images = zn_test_path(zn_test_source(), "tests/format/images");
    zenith_status status = zenith_source_open(context, zn_test_path(images, name), &params,
                                              &source);
    if (status != ZENITH_OK) {
        assert_null(source);
        return told(status, err);
    }
    zenith_source_info info = {.size = sizeof info};
    zenith_source_get_info(source, &info);
    assert_true(info.height <= 32 && info.width <= 32);
    status = zenith_source_rows(source, 0, info.height, pixels);
    if (status != ZENITH_OK) zn_fail(err, status, "%s", zenith_source_error(source));
    zenith_source_free(source);
    return status;
}

static zenith_status crop(zn_error *err)
{
    return read_picture(ZENITH_FIT_CROP, "orientation_6.png", err);
}

static zenith_status resize(zn_error *err)
{
    return read_picture(ZENITH_FIT_RESIZE, "orientation_1.jpg", err);
}

static zenith_status write_picture(zn_error *err)
{
    zenith_target *target = NULL;
    zenith_status status = zenith_target_open(context, in_folder("a.png"), W, H, NULL, &target);
    if (status != ZENITH_OK) {
        assert_null(target);
        assert_int_equal(files_in_folder(), 0);
        return told(status, err);
    }
    status = zenith_target_rows(target, 0, H, pixels);
    if (status == ZENITH_OK) status = zenith_target_finish(target);
    if (status != ZENITH_OK) {
        zn_fail(err, status, "%s", zenith_target_error(target));
        assert_int_equal(files_in_folder(), 0);
    }
    zenith_target_free(target);
    empty_folder();
    return status;
}

static zenith_status save_latents(zn_error *err)
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
    if (status != ZENITH_OK) return told(status, err);
    zenith_latent_file *file = NULL;
    status = zenith_latent_file_open(context, in_folder("a.safetensors"), &file);
    assert_true((status == ZENITH_OK) == (file != NULL));
    zenith_latent_file_free(file);
    empty_folder();
    return told(status, err);
}

static zenith_status save_npy(zn_error *err)
{
    zenith_image image = {
        .size = sizeof image, .width = W, .height = H, .number = ZENITH_F32, .data = values};
    zenith_status status = zenith_image_save_npy(context, in_folder("a.npy"), &image);
    assert_int_equal(files_in_folder(), status == ZENITH_OK);
    empty_folder();
    return told(status, err);
}

static zenith_status save_as(zenith_number number, zn_error *err)
{
    zenith_status status = zenith_model_save(context, model, in_folder("a.safetensors"), number);
    assert_int_equal(files_in_folder(), status == ZENITH_OK);
    empty_folder();
    return told(status, err);
}

static zenith_status save_model(zn_error *err)
{
    return save_as(ZENITH_BF16, err);
}

// Scales of 8-bit floats are tensors of their own.
static zenith_status save_f8(zn_error *err)
{
    return save_as(ZENITH_F8_E4M3, err);
}

// Weights with scales.
static zenith_status open_f8(zn_error *err)
{
    zenith_model *opened = NULL;
    zenith_model_params params = {.size = sizeof params, .name = "taesd", .weights = f8_path};
    zenith_status status = zenith_model_open(context, &params, &opened);
    assert_true((status == ZENITH_OK) == (opened != NULL));
    zenith_model_free(opened);
    return told(status, err);
}

static zenith_status inspect_folder(zn_error *err)
{
    char *text = NULL;
    zenith_status status = zenith_inspect(context, model_folder, NULL, false, &text);
    assert_true((status == ZENITH_OK) == (text != NULL));
    zenith_text_free(text);
    return told(status, err);
}

static int make_all(void **state)
{
    const char *path = zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers");
    const zenith_model_params params = {.size = sizeof params, .name = "taesd", .weights = path};
    if (api_setup(state) != 0) return -1;
    snprintf(f8_path, sizeof f8_path, "%s/files-oom-f8.safetensors", zn_test_build());
    snprintf(model_folder, sizeof model_folder, "%s/files-oom", zn_test_build());
    (void)mkdir(model_folder, 0755);
    api_ok(zenith_model_open(context, &params, &model));
    api_ok(zenith_model_save(context, model, f8_path, ZENITH_F8_E4M3));
    api_ok(zenith_model_save(context, model, model_folder, ZENITH_F32));
    return 0;
}

static int free_all(void **state)
{
    zenith_model_free(model);
    return api_teardown(state);
}

const oom_program program_files_oom = {
    .open = make_all,
    .close = free_all,
    .calls = {OOM_CALL(crop, ZENITH_OK, 5), // source, name, picture, reader, line
              OOM_CALL(resize, ZENITH_OK,
                       8), // and source, weights, middle and result of the resize
              OOM_CALL(write_picture, ZENITH_OK, 4), // target, path, file, encoder
              OOM_CALL(save_latents, ZENITH_OK, 8), OOM_CALL(save_npy, ZENITH_OK, 3),
              OOM_CALL(save_model, ZENITH_OK, 5),
              OOM_CALL(save_f8, ZENITH_OK, 8), // and the names and numbers of scales
              OOM_CALL(open_f8, ZENITH_OK, 5), OOM_CALL(inspect_folder, ZENITH_OK, 20)},
};
