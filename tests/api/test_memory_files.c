// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files in memory: the bytes that files have, and read again.
#include "tests/api/api_files.h"

#include "zenith/zenith.h"

enum { W = 208, H = 136, LATENT = 4 * 17 * 26 };

static uint8_t pixels[W * H * 3], file_bytes[1 << 20];
static float numbers[LATENT], floats[W * H * 3];

static size_t read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(file_bytes, 1, sizeof file_bytes, file);
    fclose(file);
    return size;
}

static void same_as_file(const zenith_bytes *bytes, const char *path)
{
    size_t size;
    const void *data = zenith_bytes_get(bytes, &size);
    assert_int_equal(size, read_file(path));
    assert_memory_equal(data, file_bytes, size);
}

static void write_rows(zenith_target *target)
{
    for (uint32_t y = 0; y < H; y += 8)
        assert_int_equal(zenith_target_rows(target, y, 8, pixels + (size_t)y * W * 3), ZENITH_OK);
}

ZN_TEST(pictures)
{
    static const char *const formats[] = {"png", "jpeg", "webp", "ppm"};
    zenith_bytes *bytes = NULL;
    api_ok(zenith_bytes_create(&bytes));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const zenith_target_params params = {.size = sizeof params, .format = formats[i]};
        zenith_target *to_file = NULL, *to_bytes = NULL;
        api_ok(zenith_target_open(context, in_folder("picture"), W, H, &params, &to_file));
        api_ok(zenith_target_open_bytes(context, bytes, W, H, &params, &to_bytes));
        write_rows(to_file);
        assert_int_equal(zenith_target_rows(to_bytes, 0, 8, pixels), ZENITH_OK);
        write_rows(to_bytes); // row 0 again: what came before is void
        api_ok(zenith_target_finish(to_file));
        api_ok(zenith_target_finish(to_bytes));
        zenith_target_free(to_file);
        zenith_target_free(to_bytes);
        same_as_file(bytes, in_folder("picture"));
    }
    zenith_target *target = NULL;
    api_fails(zenith_target_open_bytes(context, NULL, W, H, NULL, &target), ZENITH_INVALID_ARGUMENT,
              "bytes");
    zenith_bytes_free(bytes);
    zenith_bytes_free(NULL);
}

ZN_TEST(latents)
{
    zenith_bytes *bytes = NULL;
    const zenith_latent latent = {
        .size = sizeof latent, .width = W / 8, .height = H / 8, .channels = 4, .data = numbers};
    const zenith_latent_save_params how = {.size = sizeof how, .model = "taesd"};
    api_ok(zenith_bytes_create(&bytes));
    api_ok(zenith_latent_save(context, in_folder("a.safetensors"), &latent, 1, &how));
    api_ok(zenith_latent_save_bytes(context, bytes, &latent, 1, &how));
    same_as_file(bytes, in_folder("a.safetensors"));
    size_t size;
    const void *data = zenith_bytes_get(bytes, &size);
    zenith_latent_file *file = NULL;
    zenith_latent_info info = {.size = sizeof info};
    zenith_latent read = {.size = sizeof read};
    float back[LATENT];
    api_ok(zenith_latent_file_open_memory(context, data, size, &file));
    zenith_latent_file_get_info(file, &info);
    assert_string_equal(info.model, "taesd");
    assert_true(info.count == 1 && info.channels == 4 && info.width == W / 8);
    api_ok(zenith_latent_file_get(file, 0, &read));
    assert_int_equal(read.rows(read.cookie, 0, read.height, back), ZENITH_OK);
    assert_true(back[1] == numbers[W / 8 * (H / 8)]); // HWC of CHW
    zenith_latent_file_free(file);
    api_fails(zenith_latent_file_open_memory(context, data, size / 2, &file), ZENITH_BAD_FILE,
              "latent in memory");
    api_fails(zenith_latent_file_open_memory(context, NULL, 0, &file), ZENITH_BAD_FILE, "empty");
    zenith_bytes_free(bytes);
}

ZN_TEST(float_pictures)
{
    zenith_bytes *bytes = NULL;
    const zenith_image image = {
        .size = sizeof image, .width = W, .height = H, .number = ZENITH_F32, .data = floats};
    api_ok(zenith_bytes_create(&bytes));
    api_ok(zenith_image_save_npy(context, in_folder("a.npy"), &image));
    api_ok(zenith_image_save_npy_bytes(context, bytes, &image));
    same_as_file(bytes, in_folder("a.npy"));
    zenith_bytes_free(bytes);
}

int main(void)
{
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * i / 7 + i);
    for (size_t i = 0; i < W * H * 3; i++) floats[i] = (float)pixels[i] / 255;
    for (size_t i = 0; i < LATENT; i++) numbers[i] = (float)i / LATENT;
    return zn_test_run();
}
