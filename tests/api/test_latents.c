// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Latents to files and back, with their facts, and float pictures as npy.
#include "tests/api/api_files.h"

#include "src/format/tensor/npy.h"
#include "src/format/tensor/safetensors.h"

enum { N = 3, C = 4, H = 5, W = 6, ALL = C * H * W };

static void fill(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) values[i] = (float)i * 0.25f - 40; // exact in f16 and bf16
}

static void describe(zenith_latent *latents, size_t count, float *values)
{
    for (size_t i = 0; i < count; i++)
        latents[i] = (zenith_latent){.size = sizeof *latents,
                                     .width = W,
                                     .height = H,
                                     .channels = C,
                                     .space = ZENITH_SPACE_RAW,
                                     .data = values + i * ALL};
}

// Reads latent `index` in two pieces and compares it with its planes [C][H][W].
static void check_rows(zenith_latent_file *file, uint32_t index, const float *planes)
{
    zenith_latent latent = {.size = sizeof latent};
    api_ok(zenith_latent_file_get(file, index, &latent));
    assert_true(latent.width == W && latent.height == H && latent.channels == C);
    assert_null(latent.data);
    assert_int_equal(latent.number, ZENITH_F32);
    float rows[H * W * C];
    assert_int_equal(latent.rows(latent.cookie, 0, 2, rows), ZENITH_OK);
    assert_int_equal(latent.rows(latent.cookie, 2, H - 2, rows + 2 * W * C), ZENITH_OK);
    for (size_t c = 0; c < C; c++)
        for (size_t i = 0; i < H * W; i++)
            assert_memory_equal(&rows[i * C + c], &planes[c * H * W + i], sizeof(float));
    assert_int_equal(latent.rows(latent.cookie, 2, H, rows), ZENITH_INVALID_ARGUMENT);
}

static zenith_latent_info info_of(const zenith_latent_file *file)
{
    zenith_latent_info info = {.size = sizeof info};
    zenith_latent_file_get_info(file, &info);
    return info;
}

ZN_TEST(there_and_back)
{
    static const struct {
        const char *name, *format;
        zenith_number number;
        bool says_space;
    } cases[] = {{"a.safetensors", NULL, ZENITH_NUMBER_DEFAULT, true},
                 {"b.safetensors", NULL, ZENITH_F32, true},
                 {"c.safetensors", NULL, ZENITH_F16, true},
                 {"d", "safetensors", ZENITH_BF16, true},
                 {"e.latent", NULL, ZENITH_F32, true},
                 {"f", "latent", ZENITH_NUMBER_DEFAULT, true},
                 {"g.npy", NULL, ZENITH_F32, false},
                 {"h", "npy", ZENITH_NUMBER_DEFAULT, false}};
    float values[N * ALL];
    zenith_latent latents[N];
    fill(values, N * ALL);
    describe(latents, N, values);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zenith_latent_save_params params = {
            .size = sizeof params, .format = cases[i].format, .number = cases[i].number};
        api_ok(zenith_latent_save(context, in_folder(cases[i].name), latents, N, &params));
        zenith_latent_file *file = NULL;
        api_ok(zenith_latent_file_open(context, in_folder(cases[i].name), &file));
        zenith_latent_info info = info_of(file);
        assert_true(info.count == N && info.channels == C && info.height == H && info.width == W);
        assert_int_equal(info.has_space, cases[i].says_space);
        if (info.has_space) assert_int_equal(info.space, ZENITH_SPACE_RAW);
        assert_string_equal(info.model, "");
        for (uint32_t n = N; n-- > 0;) check_rows(file, n, values + n * ALL);
        zenith_latent latent = {.size = sizeof latent};
        assert_int_equal(zenith_latent_file_get(file, N, &latent), ZENITH_INVALID_ARGUMENT);
        assert_int_equal(zenith_latent_file_get(file, 0, NULL), ZENITH_INVALID_ARGUMENT);
        latent.size = 0; // the caller forgot: nothing may be written behind it
        assert_int_equal(zenith_latent_file_get(file, 0, &latent), ZENITH_INVALID_ARGUMENT);
        zenith_latent_file_free(file);
        assert_int_equal(files_in_folder(), 1);
        empty_folder();
    }
    zenith_latent_file_free(NULL);
}

ZN_TEST(from_standard_input)
{
    float values[ALL];
    zenith_latent latent;
    fill(values, ALL);
    describe(&latent, 1, values);
    api_ok(zenith_latent_save(context, in_folder("a.npy"), &latent, 1, NULL));
    uint8_t bytes[2048];
    FILE *stored = fopen(in_folder("a.npy"), "rb");
    assert_non_null(stored);
    size_t size = fread(bytes, 1, sizeof bytes, stored);
    fclose(stored);
    empty_folder();
    zenith_latent_file *file = NULL;
    pid_t child;
    int saved = put_into_stdin(bytes, size, &child);
    zenith_status status = zenith_latent_file_open(context, "-", &file);
    restore_stdin(saved, child);
    api_ok(status);
    check_rows(file, 0, values);
    zenith_latent_file_free(file);
}

static void assert_metadata(const zn_safetensors *file, const char *key, const char *value)
{
    const char *found = zn_safetensors_metadata(file, key);
    if (!value) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, value);
}

ZN_TEST(facts_of_the_source)
{
    float values[ALL];
    zenith_latent latent;
    fill(values, ALL);
    describe(&latent, 1, values);
    latent.space = ZENITH_SPACE_MODEL;
    zenith_source_info source = {.size = sizeof source,
                                 .stored_width = 60,
                                 .stored_height = 51,
                                 .turned_width = 51,
                                 .turned_height = 60,
                                 .crop_x = 1,
                                 .crop_y = 2,
                                 .crop_width = 48,
                                 .crop_height = 56};
    zenith_latent_save_params params = {.size = sizeof params, .model = "taesd", .source = &source};
    const char *path = in_folder("a.safetensors");
    api_ok(zenith_latent_save(context, path, &latent, 1, &params));
    zenith_latent_file *file = NULL;
    api_ok(zenith_latent_file_open(context, path, &file));
    zenith_latent_info info = info_of(file);
    assert_string_equal(info.model, "taesd");
    assert_true(info.has_space && info.space == ZENITH_SPACE_MODEL);
    assert_true(info.source_width == 51 && info.source_height == 60);
    assert_true(info.crop_x == 1 && info.crop_y == 2);
    assert_true(info.crop_width == 48 && info.crop_height == 56);
    zenith_latent out = {.size = sizeof out};
    api_ok(zenith_latent_file_get(file, 0, &out));
    assert_int_equal(out.space, ZENITH_SPACE_MODEL);
    zenith_latent_file_free(file);

    zn_safetensors *raw = NULL;
    zn_error err = {0};
    zn_test_ok(zn_safetensors_open(path, &raw, &err), &err);
    assert_metadata(raw, "zenith.space", "model");
    assert_metadata(raw, "zenith.pipeline", "1");
    assert_metadata(raw, "zenith.source_size", "[51,60]");
    assert_metadata(raw, "zenith.crop", "[1,2,48,56]");
    assert_metadata(raw, "zenith.scale", "0.18215");
    assert_metadata(raw, "zenith.shift", "0.0");
    zn_safetensors_free(raw);

    // A model that we do not know has a name, but no numbers that we could give; without a picture
    // there was no way from picture to pixels to name.
    params.model = "somebody's", params.source = NULL;
    api_ok(zenith_latent_save(context, path, &latent, 1, &params));
    zn_test_ok(zn_safetensors_open(path, &raw, &err), &err);
    assert_metadata(raw, "zenith.model", "somebody's");
    assert_metadata(raw, "zenith.scale", NULL);
    assert_metadata(raw, "zenith.pipeline", NULL);
    zn_safetensors_free(raw);
    empty_folder();
}

ZN_TEST(refused)
{
    float values[2 * ALL];
    zenith_latent latents[2];
    fill(values, 2 * ALL);
    describe(latents, 2, values);
    const char *path = in_folder("a.safetensors");
    zenith_latent_save_params params = {.size = sizeof params, .format = "pt"};
    api_fails(zenith_latent_save(context, path, latents, 2, &params), ZENITH_INVALID_ARGUMENT,
              "'pt'");
    params = (zenith_latent_save_params){.size = sizeof params, .number = ZENITH_U8};
    api_fails(zenith_latent_save(context, path, latents, 2, &params), ZENITH_INVALID_ARGUMENT,
              "f32");
    params.number = ZENITH_F16;
    api_fails(zenith_latent_save(context, in_folder("a.npy"), latents, 2, &params),
              ZENITH_INVALID_ARGUMENT, "npy");
    char name[80];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    params = (zenith_latent_save_params){.size = sizeof params, .model = name};
    api_fails(zenith_latent_save(context, path, latents, 2, &params), ZENITH_INVALID_ARGUMENT,
              "name");

    latents[1].width--;
    api_fails(zenith_latent_save(context, path, latents, 2, NULL), ZENITH_INVALID_ARGUMENT,
              "0 and 1");
    describe(latents, 2, values);
    latents[1].space = ZENITH_SPACE_MODEL;
    api_fails(zenith_latent_save(context, path, latents, 2, NULL), ZENITH_INVALID_ARGUMENT,
              "0 and 1");
    describe(latents, 2, values);
    latents[1].order = ZENITH_HWC;
    api_fails(zenith_latent_save(context, path, latents, 2, NULL), ZENITH_INVALID_ARGUMENT,
              "Latent 1");
    describe(latents, 2, values);
    latents[0].data = NULL;
    api_fails(zenith_latent_save(context, path, latents, 2, NULL), ZENITH_INVALID_ARGUMENT,
              "Latent 0");
    describe(latents, 2, values);
    latents[0].space = latents[1].space = ZENITH_SPACE_MODEL;
    api_fails(zenith_latent_save(context, in_folder("a.latent"), latents, 2, NULL),
              ZENITH_INVALID_ARGUMENT, "raw");
    latents[0].height = latents[1].height = 0;
    assert_int_equal(zenith_latent_save(context, path, latents, 2, NULL), ZENITH_INVALID_ARGUMENT);
    api_fails(zenith_latent_save(context, path, latents, 0, NULL), ZENITH_INVALID_ARGUMENT,
              "at least one");
    assert_int_equal(files_in_folder(), 0);

    zenith_latent_file *file = NULL;
    api_fails(zenith_latent_file_open(context, path, &file), ZENITH_NOT_FOUND, "a.safetensors");
    write_file(path, "", 0);
    api_fails(zenith_latent_file_open(context, path, &file), ZENITH_BAD_FILE, "a.safetensors");
    write_file(path, "12345678{}", 10);
    api_fails(zenith_latent_file_open(context, path, &file), ZENITH_BAD_FILE, "a.safetensors");
    assert_null(file);
    empty_folder();
}

ZN_TEST(float_picture)
{
    float pixels[H * W * 3];
    fill(pixels, H * W * 3);
    zenith_image image = {
        .size = sizeof image, .width = W, .height = H, .number = ZENITH_F32, .data = pixels};
    const char *path = in_folder("a.npy");
    api_ok(zenith_image_save_npy(context, path, &image));
    zn_mapped mapped;
    zn_npy array;
    zn_error err = {0};
    zn_test_ok(zn_mapped_open(path, &mapped, &err), &err);
    zn_test_ok(zn_npy_parse(mapped.data, mapped.size, path, &array, &err), &err);
    assert_int_equal(array.type, ZN_F32);
    assert_int_equal(array.shape.rank, 4);
    assert_true(array.shape.dim[0] == 1 && array.shape.dim[1] == 3);
    assert_true(array.shape.dim[2] == H && array.shape.dim[3] == W);
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < H * W; i++)
            assert_memory_equal(array.data + (c * H * W + i) * sizeof(float), &pixels[i * 3 + c],
                                sizeof(float));
    zn_mapped_close(&mapped);
    empty_folder();
    image.number = ZENITH_NUMBER_DEFAULT; // bytes, for a picture
    api_fails(zenith_image_save_npy(context, path, &image), ZENITH_INVALID_ARGUMENT, "F32");
    image.number = ZENITH_F32, image.order = ZENITH_CHW;
    api_fails(zenith_image_save_npy(context, path, &image), ZENITH_INVALID_ARGUMENT, "HWC");
    image.order = ZENITH_HWC, image.data = NULL;
    api_fails(zenith_image_save_npy(context, path, &image), ZENITH_INVALID_ARGUMENT, "memory");
    assert_int_equal(files_in_folder(), 0);
}
