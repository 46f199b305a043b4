// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Datasets from C: wrong arguments, stopping by the report, and allocations that fail in turn. What
// comes out is the business of tests/cli/dataset.py.
#include "tests/api/api_files.h"
#include "tests/fail_in_turn.h"
#include "zenith/dataset.h"

enum { PICTURES = 6 };

static zenith_model *model;
static char input[1100], output[1100];

static void clear_output(void)
{
    DIR *opened = opendir(output);
    for (const struct dirent *entry; opened && (entry = readdir(opened));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            assert_int_equal(unlink(zn_test_path(output, entry->d_name)), 0);
    if (opened) closedir(opened);
}

ZN_TEST_SETUP(setup)
{
    size_t size, start;
    if (api_setup(state) != 0) return -1;
    snprintf(input, sizeof input, "%s/in", folder);
    snprintf(output, sizeof output, "%s/out", folder);
    if (mkdir(input, 0777) != 0) return -1;
    for (uint32_t i = 0; i < PICTURES; i++) {
        char name[16];
        uint8_t *picture = make_ppm(16 + 8 * i, 24, &size, &start);
        snprintf(name, sizeof name, "%u.ppm", (unsigned)i);
        write_file(zn_test_path(input, name), picture, i == 3 ? size / 2 : size);
        free(picture);
    }
    const zenith_model_params params = {
        .size = sizeof params,
        .name = "taesd",
        .weights = zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers")};
    return zenith_model_open(context, &params, &model) == ZENITH_OK ? 0 : -1;
}

ZN_TEST_TEARDOWN(teardown)
{
    clear_output();
    (void)rmdir(output);
    for (int i = 0; i < PICTURES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.ppm", i);
        unlink(zn_test_path(input, name));
    }
    (void)rmdir(input);
    zenith_model_free(model);
    return api_teardown(state);
}

static zenith_dataset_params usual(void)
{
    return (zenith_dataset_params){.size = sizeof(zenith_dataset_params),
                                   .input = input,
                                   .output = output,
                                   .shard_pictures = 2};
}

ZN_TEST(wrong_arguments_are_refused)
{
    zenith_dataset_params params = usual();
    params.output = NULL;
    api_fails(zenith_dataset_encode(context, model, &params, NULL), ZENITH_INVALID_ARGUMENT,
              "output folder");
    params = usual();
    api_fails(zenith_dataset_encode(context, NULL, &params, NULL), ZENITH_INVALID_ARGUMENT, "NULL");
    params.number = ZENITH_F8_E4M3;
    api_fails(zenith_dataset_encode(context, model, &params, NULL), ZENITH_INVALID_ARGUMENT,
              "f16, bf16, f32 or u8");
    params.number = ZENITH_BF16;
    params.container = ZENITH_CONTAINER_NPY;
    api_fails(zenith_dataset_encode(context, model, &params, NULL), ZENITH_INVALID_ARGUMENT,
              "npy has no bf16");
    params = usual();
    params.kind = ZENITH_LATENT_SAMPLE;
    api_fails(zenith_dataset_encode(context, model, &params, NULL), ZENITH_INVALID_ARGUMENT,
              "moments");
    char *text = NULL;
    zenith_dataset_look_params look = {.size = sizeof look, .input = input, .output = output};
    api_fails(zenith_dataset_look(context, &look, &text), ZENITH_NOT_FOUND, "no folder of latents");
    assert_null(text);
}

static int stop_at_once(void *cookie, const zenith_dataset_report *report)
{
    assert_non_null(report->shard);
    assert_int_equal(report->shards, PICTURES / 2);
    ++*(int *)cookie;
    return 1;
}

ZN_TEST(a_run_can_be_stopped_and_goes_on)
{
    int calls = 0;
    char *text = NULL;
    zenith_dataset_params params = usual();
    zenith_dataset_info info = {.size = sizeof info};
    params.report = stop_at_once;
    params.report_cookie = &calls;
    assert_int_equal(zenith_dataset_encode(context, model, &params, &info), ZENITH_CANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(info.done, 0);
    params.report = NULL;
    api_ok(zenith_dataset_encode(context, model, &params, &info));
    assert_int_equal(info.done, PICTURES / 2);
    assert_int_equal(info.pictures, PICTURES - 1);
    assert_int_equal(info.bad, 1);
    zenith_dataset_look_params look = {
        .size = sizeof look, .input = input, .output = output, .verify = true};
    api_ok(zenith_dataset_look(context, &look, &text));
    assert_non_null(strstr(text, "\"faults\":[]"));
    assert_non_null(strstr(text, "\"reasons\":{\"broken\":1}"));
    zenith_text_free(text);
}

static zenith_status encode_all(zn_error *err)
{
    const zenith_dataset_params params = usual();
    zenith_dataset_info info = {.size = sizeof info};
    zenith_status status = zenith_dataset_encode(context, model, &params, &info);
    if (status == ZENITH_OK) {
        assert_int_equal(info.pictures, PICTURES - 1); // no picture is bad for want of memory
        clear_output();
    }
    snprintf(err->text, sizeof err->text, "%s", zenith_context_error(context));
    return status;
}

// What was done before memory ran out stays; the run that follows would find it.
static zenith_status encode_anew(zn_error *err)
{
    clear_output();
    return encode_all(err);
}

ZN_TEST(memory_that_runs_out_loses_nothing)
{
    clear_output();
    zn_error err = {{0}};
    assert_int_equal(encode_all(&err), ZENITH_OK); // plans are made
    fail_in_turn(encode_anew, ZENITH_OK, 50);
}
