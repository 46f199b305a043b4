// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Latents and their facts through every layout, those of others, and what is refused.
#include "src/format/latent/file.h"
#include "src/format/tensor/npy.h"
#include "src/format/tensor/safetensors.h"
#include "tests/format/crafted.h"

#include <locale.h>
#include <math.h>

enum { N = 2, C = 3, H = 5, W = 300 }; // W passes the 256 elements that are moved at a time
static float nchw[N][C][H][W], nhwc[N][H][W][C];

ZN_TEST_SETUP(fill)
{
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    float value = (float)(((n * C + c) * H + y) * W + x) / 64 - 30;
                    nchw[n][c][y][x] = nhwc[n][y][x][c] = value;
                }
    return 0;
}

static zn_latent_facts all_facts(void)
{
    zn_latent_facts facts = {.model = "taesd3",
                             .space = "model",
                             .has_scale = true,
                             .scale = 0.18215f,
                             .shift = -0.0609f,
                             .statistics = C,
                             .mean = {1.0f / 3, -1e-38f, 3.4e38f},
                             .std = {1e-45f, 0.1f, 16777216.0f},
                             .source_width = 4000,
                             .source_height = 3000,
                             .crop_x = 7,
                             .crop_y = 0,
                             .crop_width = 2400,
                             .crop_height = 40,
                             .frames = 18,
                             .pipeline = "1"};
    return facts;
}

static void write_latent(const char *path, zn_latent_format format, zn_type type,
                         const zn_latent_facts *facts)
{
    zn_error err = {{0}};
    zn_writer *file;
    zn_shape shape = ZN_SHAPE(N, C, H, W);
    zn_test_ok(zn_writer_open(path, &file, &err), &err);
    zn_test_ok(zn_latent_write_header(file, format, &shape, type, false, facts, &err), &err);
    for (int n = 0; n < N; n++) {
        float planes[C][H][W];
        for (int y = 0; y < H; y++) {
            for (int x = 0; x < W; x++) {
                for (int c = 0; c < C; c++) planes[c][y][x] = nhwc[n][y][x][c];
            }
        }
        zn_test_ok(zn_latent_write_image(file, type, &planes[0][0][0], C * H * W, &err), &err);
    }
    zn_test_ok(zn_writer_commit(file, &err), &err);
}

static zn_latent_file *open_ok(const char *path)
{
    zn_error err = {{0}};
    zn_latent_file *file = NULL;
    zn_test_ok(zn_latent_file_open(path, &file, &err), &err);
    return file;
}

// The whole and every row come back; `tolerance` relative, 0 = the same bits.
static void check_content(const zn_latent_file *file, float tolerance)
{
    static float whole[N][C][H][W], rows[H][W][C];
    zn_shape shape = zn_latent_file_shape(file), expected = ZN_SHAPE(N, C, H, W);
    assert_true(zn_shape_equal(&shape, &expected));
    zn_latent_file_read(file, &whole[0][0][0][0]);
    for (int n = 0; n < N; n++) {
        zn_error err = {{0}};
        zn_test_ok(zn_latent_file_read_rows(file, n, 0, 2, &rows[0][0][0], &err), &err);
        zn_test_ok(zn_latent_file_read_rows(file, n, 2, H - 2, &rows[2][0][0], &err), &err);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                for (int c = 0; c < C; c++) {
                    float want = nchw[n][c][y][x];
                    assert_true(whole[n][c][y][x] == rows[y][x][c]);
                    assert_true(fabsf(rows[y][x][c] - want) <= tolerance * fabsf(want));
                }
    }
    assert_int_equal(zn_latent_file_read_rows(file, N, 0, 1, NULL, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_latent_file_read_rows(file, 0, 1, H, NULL, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_latent_file_read_rows(file, -1, 0, 1, NULL, NULL), ZENITH_INVALID_ARGUMENT);
}

static void check_facts(const zn_latent_facts *a, const zn_latent_facts *b)
{
    assert_string_equal(a->model, b->model);
    assert_string_equal(a->space, b->space);
    assert_string_equal(a->pipeline, b->pipeline);
    assert_true(a->has_scale == b->has_scale && a->statistics == b->statistics);
    assert_memory_equal(&a->scale, &b->scale, sizeof a->scale);
    assert_memory_equal(&a->shift, &b->shift, sizeof a->shift);
    assert_memory_equal(a->mean, b->mean, sizeof a->mean);
    assert_memory_equal(a->std, b->std, sizeof a->std);
    assert_true(a->source_width == b->source_width && a->source_height == b->source_height);
    assert_true(a->frames == b->frames);
    assert_true(a->crop_x == b->crop_x && a->crop_y == b->crop_y);
    assert_true(a->crop_width == b->crop_width && a->crop_height == b->crop_height);
}

ZN_TEST(facts_and_numbers_come_back)
{
    zn_latent_facts facts = all_facts(), none = {0};
    const char *path = scratch("latent.safetensors");
    write_latent(path, ZN_LATENT_SAFETENSORS, ZN_F32, &facts);
    zn_latent_file *file = open_ok(path);
    check_content(file, 0);
    check_facts(zn_latent_file_facts(file), &facts);
    zn_latent_file_free(file);

    zn_error err = {{0}};
    zn_safetensors *raw; // numbers are written as people write them
    zn_test_ok(zn_safetensors_open(path, &raw, &err), &err);
    assert_string_equal(zn_safetensors_metadata(raw, "zenith.scale"), "0.18215");
    assert_string_equal(zn_safetensors_metadata(raw, "zenith.crop"), "[7,0,2400,40]");
    zn_safetensors_free(raw);

    write_latent(path, ZN_LATENT_SAFETENSORS, ZN_BF16, &none);
    file = open_ok(path);
    assert_int_equal(zn_latent_file_type(file), ZN_BF16);
    check_content(file, 1.0f / 256);
    check_facts(zn_latent_file_facts(file), &none);
    zn_latent_file_free(file);
    write_latent(path, ZN_LATENT_SAFETENSORS, ZN_F16, &none);
    file = open_ok(path);
    check_content(file, 1.0f / 2048);
    zn_latent_file_free(file);
}

// A host that runs in a locale with decimal commas writes and reads the same bytes.
ZN_TEST(the_locale_does_not_matter)
{
    const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "pl_PL.UTF-8"};
    bool set = false;
    for (size_t i = 0; !set && i < sizeof commas / sizeof *commas; i++)
        set = setlocale(LC_ALL, commas[i]) != NULL;
    if (!set) print_message("no locale with a decimal comma is installed; the default is tested\n");
    zn_latent_facts facts = all_facts();
    const char *path = scratch("latent_locale.safetensors");
    write_latent(path, ZN_LATENT_SAFETENSORS, ZN_F32, &facts);
    zn_latent_file *file = open_ok(path);
    check_facts(zn_latent_file_facts(file), &facts);
    zn_latent_file_free(file);
    setlocale(LC_ALL, "C");
}

ZN_TEST(npy_keeps_the_numbers)
{
    zn_latent_facts facts = all_facts(), none = {0};
    const char *path = scratch("latent.npy");
    assert_int_equal(zn_latent_format_of(path), ZN_LATENT_NPY);
    write_latent(path, ZN_LATENT_NPY, ZN_F32, &facts);
    zn_latent_file *file = open_ok(path);
    check_content(file, 0);
    check_facts(zn_latent_file_facts(file), &none);
    zn_latent_file_free(file);
}

// [1, C, t, h, w], and no other shape of five dimensions.
ZN_TEST(clips_of_pipelines_are_read)
{
    static float planes[C][N][H][W];
    const char *path = scratch("clip.npy");
    for (int c = 0; c < C; c++)
        for (int n = 0; n < N; n++) memcpy(planes[c][n], nchw[n][c], sizeof planes[c][n]);
    const zn_shape shapes[] = {ZN_SHAPE(1, C, N, H, W), ZN_SHAPE(C, 1, N, H, W)};
    for (int i = 0; i < 2; i++) {
        zn_error err = {{0}};
        zn_writer *writer = NULL;
        zn_latent_file *file = NULL;
        zn_test_ok(zn_writer_open(path, &writer, &err), &err);
        zn_test_ok(zn_npy_write(writer, ZN_F32, &shapes[i], planes, &err), &err);
        zn_test_ok(zn_writer_commit(writer, &err), &err);
        const zenith_status status = zn_latent_file_open(path, &file, &err);
        assert_int_equal(status, i == 0 ? ZENITH_OK : ZENITH_UNSUPPORTED);
        if (i == 0) check_content(file, 0);
        zn_latent_file_free(file);
    }
}

ZN_TEST(comfy_layout_is_written)
{
    zn_latent_facts facts = {.space = "raw", .model = "sd"};
    const char *path = scratch("latent.latent");
    assert_int_equal(zn_latent_format_of(path), ZN_LATENT_COMFY);
    write_latent(path, ZN_LATENT_COMFY, ZN_F32, &facts);
    zn_latent_file *file = open_ok(path);
    check_content(file, 0);
    check_facts(zn_latent_file_facts(file), &facts);
    zn_latent_file_free(file);
    zn_error err = {{0}};
    zn_safetensors *raw;
    zn_test_ok(zn_safetensors_open(path, &raw, &err), &err);
    const zn_file_tensor *mark = zn_safetensors_find(raw, "latent_format_version_0");
    assert_non_null(mark);
    assert_true(mark->shape.rank == 1 && mark->shape.dim[0] == 0);
    assert_non_null(zn_safetensors_find(raw, "latent_tensor"));
    assert_int_equal(zn_safetensors_count(raw), 2);
    zn_safetensors_free(raw);
}

#define F32(name, shape, end)                                                                      \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[0," end "]}"
#define MARK "\"latent_format_version_0\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}"

static zn_latent_facts facts_of(const char *header, size_t data)
{
    crafted bytes = craft_safetensors(header, data);
    zn_error err = {{0}};
    zn_latent_file *file = NULL;
    zn_test_ok(zn_latent_file_open_memory(bytes.bytes, bytes.size, "m", &file, &err), &err);
    zn_latent_facts facts = *zn_latent_file_facts(file);
    zn_latent_file_free(file);
    return facts;
}

ZN_TEST(layouts_of_others_are_known)
{
    zn_latent_facts facts = facts_of("{" F32("latent_tensor", "[1,1,1,1]", "4") "," MARK "}", 4);
    assert_string_equal(facts.space, "raw");
    assert_false(facts.has_scale);
    facts = facts_of("{" F32("latent_tensor", "[1,1,1,1]", "4") "}", 4); // before the marker
    assert_string_equal(facts.space, "model");
    assert_true(facts.has_scale && facts.scale == 0.18215f && facts.shift == 0);
    facts = facts_of("{" F32("anything", "[1,2,2]", "16") "}", 16);
    assert_string_equal(facts.space, "");
    assert_false(facts.has_scale);
    facts = facts_of("{" F32("x", "[1,1,1]", "4") ",\"__metadata__\":{\"zenith.shift\":\"2\"}}", 4);
    assert_true(facts.has_scale && facts.scale == 1 && facts.shift == 2);
}

#define WITH(key, value)                                                                           \
    "{" F32("latent", "[1,2,1,1]", "8") ",\"__metadata__\":{\"zenith." key "\":\"" value "\"}}"

ZN_TEST(broken_latents_are_refused)
{
    static const struct {
        const char *header;
        size_t data;
        zenith_status status;
        const char *fragment;
    } bad[] = {
        {"{}", 0, ZENITH_BAD_FILE, "0 tensors"},
        {"{" F32("a", "[1,1,1]", "4") "," MARK "}", 4, ZENITH_AMBIGUOUS, "2 tensors, and none"},
        {"{" F32("latent", "[1,1]", "4") "}", 4, ZENITH_UNSUPPORTED, "[N, C, h, w]"},
        {"{" F32("latent", "[2,1,1,1,1]", "8") "}", 8, ZENITH_UNSUPPORTED, "[2, 1, 1, 1, 1]"},
        {"{" F32("latent", "[1,0,1]", "0") "}", 0, ZENITH_BAD_FILE, "empty"},
        {"{\"latent\":{\"dtype\":\"U8\",\"shape\":[1,1,1],\"data_offsets\":[0,1]}}", 1,
         ZENITH_UNSUPPORTED, "type u8"},
        {"{\"latent\":{\"dtype\":\"F4\",\"shape\":[1,1,1],\"data_offsets\":[0,1]}}", 1,
         ZENITH_UNSUPPORTED, "type F4"},
        {WITH("space", "latent"), 8, ZENITH_BAD_FILE, "must be \"raw\" or"},
        {WITH("space", "far too long"), 8, ZENITH_BAD_FILE, "\"zenith.space\" has no valid"},
        {WITH("scale", "0"), 8, ZENITH_BAD_FILE, "the scale not 0"},
        {WITH("scale", "0,5"), 8, ZENITH_BAD_FILE, "\"zenith.scale\" has no valid"},
        {WITH("scale", "[1,2]"), 8, ZENITH_BAD_FILE, "\"zenith.scale\" has no valid"},
        {WITH("scale", "1e39"), 8, ZENITH_BAD_FILE, "\"zenith.scale\" has no valid"},
        {WITH("scale", "nan"), 8, ZENITH_BAD_FILE, "\"zenith.scale\" has no valid"},
        {WITH("mean", "[1,2]"), 8, ZENITH_BAD_FILE, "\"zenith.std\""},
        {WITH("mean", "1\",\"zenith.std\":\"1"), 8, ZENITH_BAD_FILE, "for 1 channels"},
        {WITH("mean", "[1,2]\",\"zenith.std\":\"[1,0]"), 8, ZENITH_BAD_FILE, "channel 1"},
        {WITH("crop", "[1,2,3]"), 8, ZENITH_BAD_FILE, "\"zenith.crop\""},
        {WITH("crop", "[1,2,3,-4]"), 8, ZENITH_BAD_FILE, "\"zenith.crop\""},
        {WITH("source_size", "[1.5,2]"), 8, ZENITH_BAD_FILE, "\"zenith.source_size\""},
        {WITH("source_size", "[4294967296,2]"), 8, ZENITH_BAD_FILE, "\"zenith.source_size\""},
        {WITH("source_size", "[[1],2]"), 8, ZENITH_BAD_FILE, "\"zenith.source_size\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        crafted bytes = craft_safetensors(bad[i].header, bad[i].data);
        zn_latent_file *file = NULL;
        zn_error err = {{0}};
        zenith_status status = zn_latent_file_open_memory(bytes.bytes, bytes.size, "bad.latent",
                                                          &file, &err);
        expect_refusal(bad[i].header, status, &err, bad[i].status, bad[i].fragment);
        expect_refusal(bad[i].header, status, &err, bad[i].status, "bad.latent: ");
        assert_null(file);
    }
}

ZN_TEST(nonsense_is_not_written)
{
    zn_latent_facts plain = {.space = "raw"}, model = {.space = "model"};
    zn_latent_facts odd = {.space = "else"}, nan = {.has_scale = true, .scale = NAN};
    const struct {
        zn_latent_format format;
        zn_shape shape;
        zn_type type;
        const zn_latent_facts *facts;
        const char *fragment;
    } bad[] = {
        {ZN_LATENT_SAFETENSORS, ZN_SHAPE(1, 1, 1), ZN_F32, &plain, "[N, C, h, w]"},
        {ZN_LATENT_SAFETENSORS, ZN_SHAPE(1, 0, 1, 1), ZN_F32, &plain, "[N, C, h, w]"},
        {ZN_LATENT_SAFETENSORS, ZN_SHAPE(1, 1, 1, 1), ZN_U8, &plain, "not as u8"},
        {ZN_LATENT_NPY, ZN_SHAPE(1, 1, 1, 1), ZN_BF16, &plain, "npy"},
        {ZN_LATENT_COMFY, ZN_SHAPE(1, 1, 1, 1), ZN_F32, &model, "raw space"},
        {ZN_LATENT_SAFETENSORS, ZN_SHAPE(1, 1, 1, 1), ZN_F32, &odd, "\"else\""},
        {ZN_LATENT_SAFETENSORS, ZN_SHAPE(1, 1, 1, 1), ZN_F32, &nan, "finite"},
    };
    zn_error err = {{0}};
    zn_writer *file;
    zn_test_ok(zn_writer_open(scratch("latent_refused"), &file, &err), &err);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err.text[0] = '\0';
        zenith_status status = zn_latent_write_header(file, bad[i].format, &bad[i].shape,
                                                      bad[i].type, false, bad[i].facts, &err);
        expect_refusal("writer", status, &err, ZENITH_INVALID_ARGUMENT, bad[i].fragment);
    }
    zn_writer_discard(file);
}
