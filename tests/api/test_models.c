// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights that are saved and opened again are the same model, in whatever layout they came; and
// folders with several models are listed.
#include "tests/api/api_files.h"

enum { SIDE = 32, PIXELS = 3 * SIDE * SIDE, VALUES = 4 * SIDE / 8 * SIDE / 8 };

static zenith_model *open_model(const char *name, const char *weights)
{
    zenith_model *model = NULL;
    zenith_model_params params = {.size = sizeof params, .name = name, .weights = weights};
    api_ok(zenith_model_open(context, &params, &model));
    return model;
}

static zenith_model *open_tiny(void)
{
    return open_model("taesd", zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers"));
}

static void decode(zenith_model *model, float pixels[PIXELS])
{
    float values[VALUES];
    for (int i = 0; i < VALUES; i++) values[i] = (float)(i * 37 % 101 - 50) / 25;
    const zenith_latent latent = {.size = sizeof latent,
                                  .width = SIDE / 8,
                                  .height = SIDE / 8,
                                  .channels = 4,
                                  .data = values};
    const zenith_image image = {
        .size = sizeof image, .width = SIDE, .height = SIDE, .number = ZENITH_F32, .data = pixels};
    const zenith_run_params how = {.size = sizeof how, .dtype = ZENITH_DTYPE_F32};
    api_ok(zenith_decode(context, model, &latent, &image, 1, &how));
}

ZN_TEST(info_says_where)
{
    zenith_model *model = open_tiny();
    zenith_model_info info = {.size = sizeof info};
    zenith_model_get_info(model, &info);
    assert_true(info.can_int8);
    assert_false(info.has_int8);
    assert_non_null(strstr(info.weights_path, "tests/golden/tiny_diffusers/"));
    assert_string_equal(info.weights_sha256, zenith_model_weights_sha256(model));
    assert_null(zenith_model_weights_sha256(NULL));
    zenith_model_free(model);
}

// Into a folder and into one file; f32 keeps every bit, whatever the names were.
ZN_TEST(saved_is_the_same)
{
    static float before[PIXELS], after[PIXELS];
    zenith_model *model = open_tiny();
    decode(model, before);
    const char *places[] = {folder, in_folder("one.safetensors")};
    for (int i = 0; i < 2; i++) {
        api_ok(zenith_model_save(context, model, places[i], ZENITH_NUMBER_DEFAULT));
        assert_int_equal(files_in_folder(), i == 0 ? 2 : 1);
        zenith_model *again = open_model("taesd", places[i]);
        zenith_model_info info = {.size = sizeof info};
        zenith_model_get_info(again, &info);
        assert_int_equal(info.parts, ZENITH_ENCODER | ZENITH_DECODER);
        decode(again, after);
        assert_memory_equal(before, after, sizeof before);
        zenith_model_free(again);
        empty_folder();
    }
    zenith_model_free(model);
}

// A file of the test's folder, read whole; the caller frees its data.
static zenith_file load(const char *name)
{
    FILE *file = fopen(in_folder(name), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    rewind(file);
    // At an odd address: nobody promises that bytes in memory are aligned.
    uint8_t *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes + 1, 1, (size_t)size, file), size);
    fclose(file);
    return (zenith_file){
        .size = sizeof(zenith_file), .name = name, .data = bytes + 1, .bytes = (uint64_t)size};
}

static void unload(zenith_file *file)
{
    free((uint8_t *)(uintptr_t)file->data - 1);
}

static zenith_status read_file(void *cookie, uint64_t offset, void *dst, size_t bytes)
{
    const zenith_file *file = cookie;
    if (offset + bytes > file->bytes) return ZENITH_IO;
    memcpy(dst, (const uint8_t *)file->data + offset, bytes);
    return ZENITH_OK;
}

static zenith_status read_nothing(void *cookie, uint64_t offset, void *dst, size_t bytes)
{
    (void)cookie, (void)offset, (void)dst, (void)bytes;
    return ZENITH_IO;
}

static zenith_status open_files(const char *name, const zenith_file *files, size_t count,
                                zenith_model **out)
{
    zenith_model_params params;
    zenith_model_params_init(&params);
    params.name = name;
    params.files = files;
    params.file_count = count;
    return zenith_model_open(context, &params, out);
}

// Two parts, one part, and both in one file, from memory and from a function: the same bits as from
// disk.
ZN_TEST(in_memory_is_the_same)
{
    static float before[PIXELS], after[PIXELS];
    zenith_model *model = open_tiny(), *again = NULL;
    decode(model, before);
    api_ok(zenith_model_save(context, model, folder, ZENITH_F32));
    api_ok(zenith_model_save(context, model, in_folder("one.safetensors"), ZENITH_F32));
    zenith_file parts[] = {load("taesd_decoder.safetensors"), load("taesd_encoder.safetensors")};
    zenith_file one = load("one.safetensors");
    empty_folder();
    const zenith_file reader = {.size = sizeof reader,
                                .name = one.name,
                                .bytes = one.bytes,
                                .read = read_file,
                                .cookie = &one};
    const struct {
        const zenith_file *files;
        size_t count;
        unsigned parts;
    } cases[] = {{parts, 2, ZENITH_ENCODER | ZENITH_DECODER},
                 {parts, 1, ZENITH_DECODER},
                 {&one, 1, ZENITH_ENCODER | ZENITH_DECODER},
                 {&reader, 1, ZENITH_ENCODER | ZENITH_DECODER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zenith_model_info info;
        api_ok(open_files("taesd", cases[i].files, cases[i].count, &again));
        zenith_model_info_init(&info);
        zenith_model_get_info(again, &info);
        assert_int_equal(info.parts, cases[i].parts);
        assert_string_equal(info.weights_path, cases[i].files->name);
        decode(again, after);
        assert_memory_equal(before, after, sizeof before);
        zenith_model_free(again);
    }
    for (int i = 0; i < 2; i++) unload(&parts[i]);
    unload(&one);
    zenith_model_free(model);
}

ZN_TEST(in_memory_refused)
{
    zenith_model *model = NULL;
    zenith_file file = {.size = sizeof file, .name = "x.safetensors", .data = "broken", .bytes = 6};
    api_fails(open_files("taesd", &file, 1, &model), ZENITH_BAD_FILE, "x.safetensors");
    file.name = "x.ckpt";
    api_fails(open_files("taesd", &file, 1, &model), ZENITH_UNSUPPORTED, "pickles");
    file.name = NULL;
    api_fails(open_files("taesd", &file, 1, &model), ZENITH_INVALID_ARGUMENT, "name");
    file = (zenith_file){.size = sizeof file, .name = "config.json", .data = "[]", .bytes = 2};
    api_fails(open_files(NULL, &file, 1, &model), ZENITH_BAD_FILE, "object");
    file = (zenith_file){
        .size = sizeof file, .name = "x.safetensors", .bytes = 100, .read = read_nothing};
    api_fails(open_files("taesd", &file, 1, &model), ZENITH_IO, "x.safetensors");
    api_fails(open_files("taesd", NULL, 1, &model), ZENITH_INVALID_ARGUMENT, "files");
    api_fails(open_files("taesd", &file, 1u << 20, &model), ZENITH_INVALID_ARGUMENT, "256");
    zenith_model_params both = {
        .size = sizeof both, .weights = "folder", .files = &file, .file_count = 1};
    api_fails(zenith_model_open(context, &both, &model), ZENITH_INVALID_ARGUMENT, "files");
    assert_null(model);
}

// Changes the first number of the data.
static void put_first(const char *path, float value)
{
    uint64_t header;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    assert_int_equal(fseek(file, (long)(sizeof header + header), SEEK_SET), 0);
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

// Narrow types round once: saving what was saved changes nothing.
ZN_TEST(narrow_types)
{
    const zenith_number numbers[] = {ZENITH_F16, ZENITH_BF16, ZENITH_F8_E4M3, ZENITH_F8_E5M2};
    const char *path = in_folder("one.safetensors");
    static float exact[PIXELS], near[PIXELS], again[PIXELS];
    zenith_model *tiny = open_tiny(); // its numbers are all ones of bf16
    api_ok(zenith_model_save(context, tiny, path, ZENITH_F32));
    put_first(path, 0.1f);
    zenith_model *model = open_model("taesd", path);
    decode(model, exact);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        api_ok(zenith_model_save(context, model, path, numbers[i]));
        zenith_model *narrow = open_model("taesd", path);
        decode(narrow, near);
        assert_memory_not_equal(exact, near, sizeof exact);
        api_ok(zenith_model_save(context, narrow, path, ZENITH_F32));
        zenith_model_free(narrow);
        narrow = open_model("taesd", path);
        decode(narrow, again);
        assert_memory_equal(near, again, sizeof near);
        zenith_model_free(narrow);
    }
    empty_folder();
    zenith_model_free(model);
    zenith_model_free(tiny);
}

ZN_TEST(refused)
{
    const char *path = in_folder("one.safetensors");
    zenith_model *model = open_tiny();
    api_fails(zenith_model_save(context, NULL, path, ZENITH_F32), ZENITH_INVALID_ARGUMENT, "NULL");
    api_fails(zenith_model_save(context, model, NULL, ZENITH_F32), ZENITH_INVALID_ARGUMENT, "NULL");
    api_fails(zenith_model_save(context, model, path, ZENITH_U8), ZENITH_INVALID_ARGUMENT, "f32");
    api_fails(zenith_model_save(context, model, in_folder("no/where.safetensors"), ZENITH_F32),
              ZENITH_NOT_FOUND, "where.safetensors");
    api_ok(zenith_model_save(context, model, path, ZENITH_F32));
    put_first(path, 1e6f);
    zenith_model *large = open_model("taesd", path);
    api_fails(zenith_model_save(context, large, in_folder("two.safetensors"), ZENITH_F16),
              ZENITH_UNSUPPORTED, "bf16");
    assert_int_equal(files_in_folder(), 1);
    zenith_model_free(large);
    zenith_model_free(model);
    empty_folder();
}

ZN_TEST(folders_are_listed)
{
    char *text = NULL;
    api_fails(zenith_inspect(context, folder, NULL, false, &text), ZENITH_NOT_FOUND, "no weights");
    zenith_model *model = open_tiny(), *other;
    api_ok(zenith_model_save(context, model, folder, ZENITH_F32));
    other = open_model("taesdxl", zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers"));
    api_ok(zenith_model_save(context, other, folder, ZENITH_F32));
    write_file(in_folder("taef1_decoder.safetensors"), "broken", 6);
    api_ok(zenith_inspect(context, folder, NULL, false, &text));
    assert_non_null(strstr(text, "\"folder\""));
    assert_non_null(strstr(text, "\"taesd\""));
    assert_non_null(strstr(text, "\"taesdxl\""));
    assert_non_null(strstr(text, "\"problem\""));
    assert_null(strstr(text, "taesd3"));
    zenith_text_free(text);
    zenith_model_free(other);
    zenith_model_free(model);
    empty_folder();
}
