// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A status and a sentence for each picture of a batch; numbers that are not finite; rows with gaps.
#include "tests/task/session.h"

#include "src/api/context.h"
#include "src/task/engine/compile.h"

#include <math.h>
#include <stdbool.h>

enum { COUNT = 5, BAD = 3, WIDTH = 48, HEIGHT = 40 };

static zenith_context *context;
static zenith_model *model;
static zenith_latent latents[COUNT];
static zenith_image images[COUNT], expected[COUNT];

ZN_TEST_SETUP(setup)
{
    context = session_context(1, 2);
    model = session_tiny(context);
    for (uint32_t i = 0; i < COUNT; i++) {
        latents[i] = session_latent(WIDTH, HEIGHT, i);
        images[i] = session_image(WIDTH, HEIGHT, 9);
        expected[i] = session_image(WIDTH, HEIGHT, 0);
    }
    session_ok(context, zenith_decode(context, model, latents, expected, COUNT, NULL));
    return 0;
}

ZN_TEST_TEARDOWN(teardown)
{
    for (int i = 0; i < COUNT; i++) {
        free(latents[i].data);
        free(images[i].data);
        free(expected[i].data);
    }
    zenith_model_free(model);
    zenith_context_free(context);
    return 0;
}

// Decodes all; every picture but those whose bit is set in `bad` must be right and its result OK.
static zenith_status decode(zenith_item_result *results, unsigned bad)
{
    const zenith_run_params params = {.size = sizeof params, .results = results};
    for (int i = 0; i < COUNT; i++) memset(images[i].data, 0, session_image_bytes(&images[i]));
    results[0].size = sizeof *results;
    zenith_status status = zenith_decode(context, model, latents, images, COUNT, &params);
    for (int i = 0; i < COUNT; i++) {
        if (bad >> i & 1) {
            assert_int_not_equal(results[i].status, ZENITH_OK);
            assert_string_not_equal(results[i].message, "");
            continue;
        }
        assert_int_equal(results[i].status, ZENITH_OK);
        assert_string_equal(results[i].message, "");
        assert_memory_equal(images[i].data, expected[i].data, session_image_bytes(&images[i]));
    }
    return status;
}

ZN_TEST(all_good)
{
    zenith_item_result results[COUNT];
    assert_int_equal(decode(results, 0), ZENITH_OK);
    assert_string_equal(zenith_context_error(context), "");
}

// What every caller gets who names no type, by the class of the CPU. Tests with bounds of a type
// name it.
ZN_TEST(the_type_of_each_class)
{
    static const struct {
        const char *class;
        zenith_dtype type;
    } usual[] = {{"baseline", ZENITH_DTYPE_F32},
                 {"avx2", ZENITH_DTYPE_F32},
                 {"avx512", ZENITH_DTYPE_F32},
                 {"amx", ZENITH_DTYPE_BF16},
                 {"neon", ZENITH_DTYPE_F32}};
    const zn_cpu own = zn_cpu_detect();
    zenith_dtype of_own = ZENITH_DTYPE_DEFAULT;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        zn_cpu cpu = {0};
        assert_true(zn_cpu_parse(usual[i].class, &cpu.flags));
        assert_int_equal(zn_default_dtype(&cpu), usual[i].type);
        if (strcmp(zn_cpu_class(own.flags), usual[i].class) == 0) of_own = usual[i].type;
    }
    zenith_item_result results[COUNT];
    assert_int_equal(decode(results, 0), ZENITH_OK);
    for (int i = 0; i < COUNT; i++) assert_int_equal(results[i].dtype, of_own);
}

// One that is refused before the run and one that fails in it.
ZN_TEST(bad_ones_leave_the_others_alone)
{
    zenith_item_result results[COUNT];
    float *values = latents[BAD].data, kept = values[7];
    values[7] = NAN;
    latents[1].channels = 16;
    assert_int_equal(decode(results, 1u << 1 | 1u << BAD), ZENITH_PARTIAL);
    assert_int_equal(results[1].status, ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(results[1].message, "16 channels"));
    assert_int_equal(results[BAD].status, ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(results[BAD].message, "NaN in channel 0, row 1, column 1"));
    assert_non_null(strstr(zenith_context_error(context), "picture 2 of 5"));
    // Without results the call fails as a whole.
    assert_int_equal(zenith_decode(context, model, latents, images, COUNT, NULL),
                     ZENITH_INVALID_ARGUMENT);
    latents[1].channels = 4;
    values[7] = kept;
}

ZN_TEST(none_done)
{
    zenith_item_result results[COUNT];
    for (int i = 0; i < COUNT; i++) latents[i].channels = 16;
    assert_int_equal(decode(results, (1u << COUNT) - 1), ZENITH_INVALID_ARGUMENT);
    for (int i = 0; i < COUNT; i++) latents[i].channels = 4;
}

static int stop(void *cookie, double fraction)
{
    (void)cookie;
    return fraction > 0.5;
}

ZN_TEST(cancelled)
{
    zenith_item_result results[COUNT] = {{.size = sizeof *results}};
    const zenith_run_params params = {.size = sizeof params, .progress = stop, .results = results};
    assert_int_equal(zenith_decode(context, model, latents, images, COUNT, &params),
                     ZENITH_CANCELLED);
    assert_int_equal(results[COUNT - 1].status, ZENITH_CANCELLED);
    for (int i = 0; i < COUNT; i++)
        assert_true(results[i].status == ZENITH_OK || results[i].status == ZENITH_CANCELLED);
    results[0].size = 1;
    assert_int_equal(zenith_decode(context, model, latents, images, COUNT, &params),
                     ZENITH_INVALID_ARGUMENT);
}

ZN_TEST(only_finite_numbers)
{
    const struct {
        float value;
        const char *name;
    } bad[] = {{NAN, "NaN"}, {INFINITY, "infinity"}, {-INFINITY, "infinity"}};
    zenith_image picture = {.size = sizeof picture,
                            .width = WIDTH,
                            .height = HEIGHT,
                            .number = ZENITH_F32,
                            .order = ZENITH_CHW};
    float *values = calloc((size_t)WIDTH * HEIGHT * 3, sizeof *values);
    picture.data = values;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        float *last = (float *)latents[0].data + session_latent_bytes(&latents[0]) / 4 - 1;
        const float kept = *last;
        *last = bad[i].value;
        assert_int_equal(zenith_decode(context, model, latents, images, 1, NULL),
                         ZENITH_INVALID_ARGUMENT);
        assert_non_null(strstr(zenith_context_error(context), bad[i].name));
        assert_non_null(strstr(zenith_context_error(context), "channel 3, row 4, column 5"));
        *last = kept;
        values[2 * WIDTH * HEIGHT + 3 * WIDTH + 1] = bad[i].value;
        assert_int_equal(zenith_encode(context, model, &picture, latents, 1, NULL),
                         ZENITH_INVALID_ARGUMENT);
        assert_non_null(strstr(zenith_context_error(context), "channel 2, row 3, column 1"));
    }
    free(values);
}

// --- rows with gaps -----------------------------------------------------------------------------

// Spreads dense rows (of each plane) to `stride` bytes; what lies between is 0x77.
static uint8_t *spread(const uint8_t *dense, size_t rows, size_t row, size_t stride)
{
    uint8_t *spaced = malloc(rows * stride);
    memset(spaced, 0x77, rows * stride);
    for (size_t y = 0; y < rows; y++) memcpy(spaced + y * stride, dense + y * row, row);
    return spaced;
}

static void check_gaps(zenith_order order)
{
    enum { GAP = 5 };
    const size_t row = order == ZENITH_CHW ? WIDTH : 3 * WIDTH;
    const size_t rows = order == ZENITH_CHW ? 3 * HEIGHT : HEIGHT, stride = row + GAP;
    zenith_image dense = session_image(WIDTH, HEIGHT, 5), gaps = dense;
    zenith_latent one = session_latent(WIDTH, HEIGHT, 1), other = session_latent(WIDTH, HEIGHT, 2);
    dense.order = gaps.order = order;
    gaps.row_bytes = stride;
    gaps.data = spread(dense.data, rows, row, stride);
    session_ok(context, zenith_encode(context, model, &dense, &one, 1, NULL));
    session_ok(context, zenith_encode(context, model, &gaps, &other, 1, NULL));
    assert_memory_equal(one.data, other.data, session_latent_bytes(&one));
    session_ok(context, zenith_decode(context, model, &one, &dense, 1, NULL));
    session_ok(context, zenith_decode(context, model, &one, &gaps, 1, NULL));
    uint8_t *again = spread(dense.data, rows, row, stride);
    assert_memory_equal(again, gaps.data, rows * stride);
    gaps.row_bytes = row - 1;
    assert_int_equal(zenith_decode(context, model, &one, &gaps, 1, NULL), ZENITH_INVALID_ARGUMENT);
    free(again);
    free(dense.data);
    free(gaps.data);
    free(one.data);
    free(other.data);
}

ZN_TEST(rows_may_have_gaps)
{
    check_gaps(ZENITH_HWC);
    check_gaps(ZENITH_CHW);
}
