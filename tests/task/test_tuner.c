// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tuner: the first pictures of a size are measured and later ones are not, in this process and
// in others; bits are those of a run without it; a file that is broken or hostile is done without.
#include "tests/task/session.h"

#include <unistd.h>

enum { WIDTH = 64, HEIGHT = 96, USES = 8, MORE = 3 };

static char folder[1024], path[1100];
static zenith_image expected, image;
static zenith_latent latent;

static zenith_context *tuned(void)
{
    zenith_context *context = NULL;
    const zenith_context_params params = {.size = sizeof params, .threads = 2, .tuned_plans = path};
    assert_int_equal(zenith_context_create(&params, &context), ZENITH_OK);
    return context;
}

ZN_TEST_SETUP(setup)
{
    snprintf(folder, sizeof folder, "%s/test-tuner-XXXXXX", zn_test_build());
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/plans.json", folder);
    expected = session_image(WIDTH, HEIGHT, 0);
    image = session_image(WIDTH, HEIGHT, 1);
    latent = session_latent(WIDTH, HEIGHT, 2);
    zenith_context *context = session_context(1, 1);
    zenith_model *model = session_tiny(context);
    session_ok(context, zenith_decode(context, model, &latent, &expected, 1, NULL));
    zenith_model_free(model);
    zenith_context_free(context);
    return 0;
}

ZN_TEST_TEARDOWN(teardown)
{
    free(expected.data);
    free(image.data);
    free(latent.data);
    unlink(path);
    return rmdir(folder);
}

// Decodes once and returns how many pictures were measured.
static uint32_t decode(zenith_context *context, zenith_model *model, zenith_run_params params)
{
    zenith_run_facts facts = {.size = sizeof facts};
    params.size = sizeof params;
    params.facts = &facts;
    memset(image.data, 0, session_image_bytes(&image));
    session_ok(context, zenith_decode(context, model, &latent, &image, 1, &params));
    assert_memory_equal(image.data, expected.data, session_image_bytes(&image));
    return facts.measured;
}

ZN_TEST(first_pictures_are_measured)
{
    for (int process = 0; process < 2; process++) {
        zenith_context *context = tuned();
        zenith_model *model = session_tiny(context);
        for (int i = 0; i < USES + MORE; i++)
            assert_int_equal(decode(context, model, (zenith_run_params){0}),
                             process == 0 && i < USES);
        zenith_model_free(model);
        zenith_context_free(context);
    }
    assert_int_equal(unlink(path), 0);
}

// One that begins where another stopped; and one that knows nothing of what a third has written
// meanwhile.
ZN_TEST(processes_share)
{
    zenith_context *one = tuned(), *other = tuned();
    zenith_model *model = session_tiny(one);
    for (int i = 0; i < USES / 2; i++)
        assert_int_equal(decode(one, model, (zenith_run_params){0}), 1);
    assert_int_equal(decode(other, model, (zenith_run_params){0}), 1);
    zenith_context_free(other);
    other = tuned();
    for (int i = 0; i < USES / 2; i++)
        assert_int_equal(decode(other, model, (zenith_run_params){0}), 1);
    assert_int_equal(decode(other, model, (zenith_run_params){0}), 0);
    zenith_model_free(model);
    zenith_context_free(one);
    zenith_context_free(other);
    assert_int_equal(unlink(path), 0);
}

ZN_TEST(not_where_the_caller_chose)
{
    zenith_context *context = tuned();
    zenith_model *model = session_tiny(context);
    const zenith_run_params none[] = {{.untuned = true},
                                      {.max_memory = 64u << 20},
                                      {.bands = ZENITH_BANDS_OFF},
                                      {.bands = ZENITH_BANDS_ROWS, .band_rows = 2}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(decode(context, model, none[i]), 0);
    assert_int_not_equal(access(path, F_OK), 0);
    zenith_model_free(model);
    zenith_context_free(context);
}

// The estimate is that of the plan that is run next, measured or chosen.
ZN_TEST(estimates_hold)
{
    zenith_context *context = tuned();
    zenith_model *model = session_tiny(context);
    for (int i = 0; i < USES + MORE; i++) {
        zenith_estimate_info info = {.size = sizeof info};
        zenith_run_facts facts = {.size = sizeof facts};
        const zenith_run_params params = {.size = sizeof params, .facts = &facts};
        session_ok(context, zenith_estimate(context, model, ZENITH_DECODER, WIDTH, HEIGHT, false,
                                            NULL, &info));
        session_ok(context, zenith_decode(context, model, &latent, &image, 1, &params));
        assert_int_equal(info.arena_bytes, facts.arena_bytes);
        assert_int_equal(info.banded, facts.banded);
        assert_int_equal(info.band_rows, facts.band_rows);
    }
    zenith_model_free(model);
    zenith_context_free(context);
    assert_int_equal(unlink(path), 0);
}

ZN_TEST(broken_files)
{
    static const char *const texts[] = {"", "[1, 2", "{\"format\": 2, \"plans\": {}}",
                                        "{\"format\": 1, \"plans\": {\"a\": {\"band\": -5}}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fputs(texts[i], file);
        fclose(file);
        zenith_context *context = tuned();
        zenith_model *model = session_tiny(context);
        assert_int_equal(decode(context, model, (zenith_run_params){0}), 1);
        zenith_model_free(model);
        zenith_context_free(context);
    }
    assert_int_equal(unlink(path), 0);
    char kept[sizeof path];
    memcpy(kept, path, sizeof kept);
    snprintf(path, sizeof path, "%s/none/plans.json", folder); // cannot be written
    zenith_context *context = tuned();
    zenith_model *model = session_tiny(context);
    for (int i = 0; i < USES + MORE; i++)
        assert_int_equal(decode(context, model, (zenith_run_params){0}), i < USES);
    zenith_model_free(model);
    zenith_context_free(context);
    memcpy(path, kept, sizeof kept);
}
