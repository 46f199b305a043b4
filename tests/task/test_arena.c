// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory as promised: what zenith_estimate says is what the run then uses, to the byte; a plan
// touches nothing outside its arena and needs the arena to its end; a limit is kept or refused
// before anything is computed.
#include "tests/kernel/fenced.h"
#include "tests/task/session.h"

#include "src/dnn/dnn.h"
#include "src/task/engine/compile.h"

#include <malloc.h>

SESSION_OF(1, 1)

static zenith_status copy_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    (void)y;
    (void)count;
    (void)rows;
    ++*(long *)cookie;
    return ZENITH_OK;
}

static zenith_status zero_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    const zenith_latent *latent = cookie;
    (void)y;
    memset(rows, 0, (size_t)count * latent->width * latent->channels * sizeof(float));
    return ZENITH_OK;
}

// --- estimate and run ---------------------------------------------------------------------------

static zenith_run_facts run_once(unsigned part, uint32_t width, uint32_t height, bool streamed,
                                 zenith_run_params params)
{
    zenith_run_facts facts = {.size = sizeof facts};
    zenith_image image = session_image(width, height, 1);
    zenith_latent latent = session_latent(width, height, 2);
    void *pixels = image.data, *values = latent.data;
    long calls = 0;
    if (streamed && part == ZENITH_DECODER) {
        image.data = latent.data = NULL;
        image.rows = copy_rows;
        image.cookie = &calls;
        latent.rows = zero_rows;
        latent.cookie = &latent;
    }
    params.facts = &facts;
    session_ok(context, part == ZENITH_DECODER
                            ? zenith_decode(context, model, &latent, &image, 1, &params)
                            : zenith_encode(context, model, &image, &latent, 1, &params));
    free(pixels);
    free(values);
    return facts;
}

static void check_estimate(unsigned part, uint32_t width, uint32_t height, bool streamed,
                           const zenith_run_params *params)
{
    zenith_estimate_info info = {.size = sizeof info};
    session_ok(context,
               zenith_estimate(context, model, part, width, height, streamed, params, &info));
    zenith_run_facts facts = run_once(part, width, height, streamed, *params);
    assert_int_equal(facts.arena_bytes, info.arena_bytes);
    assert_int_equal(facts.weights_bytes, info.weights_bytes);
    assert_int_equal(facts.banded, info.banded);
    assert_int_equal(facts.band_rows, info.band_rows);
    assert_int_equal(facts.dtype, info.dtype);
    assert_int_equal(info.total_bytes, info.arena_bytes + info.weights_bytes + info.buffer_bytes);
    uint64_t buffers = (uint64_t)width * height * 3 + (uint64_t)width * height / 64 * 4 * 4;
    assert_int_equal(info.buffer_bytes, streamed ? 0 : buffers);
    if (params->max_memory) assert_true(info.total_bytes <= params->max_memory);
}

ZN_TEST(estimates_are_what_runs_use)
{
    static const uint32_t sizes[][2] = {{8, 8}, {64, 40}, {248, 96}, {40, 320}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int dtype = ZENITH_DTYPE_F32; dtype <= ZENITH_DTYPE_BF16; dtype++) {
            for (uint32_t band = 0; band <= 3; band++) {
                const zenith_run_params params = {.size = sizeof params,
                                                  .dtype = (zenith_dtype)dtype,
                                                  .bands = band ? ZENITH_BANDS_ROWS
                                                                : ZENITH_BANDS_OFF,
                                                  .band_rows = band};
                check_estimate(ZENITH_DECODER, sizes[s][0], sizes[s][1], band & 1, &params);
                check_estimate(ZENITH_ENCODER, sizes[s][0], sizes[s][1], false, &params);
            }
        }
    }
}

// --- limits -------------------------------------------------------------------------------------

ZN_TEST(limits_are_kept)
{
    enum { WIDTH = 320, HEIGHT = 640 };
    zenith_run_params params = {.size = sizeof params, .dtype = ZENITH_DTYPE_F32};
    zenith_estimate_info free_run = {.size = sizeof free_run}, info = {.size = sizeof info};
    session_ok(context, zenith_estimate(context, model, ZENITH_DECODER, WIDTH, HEIGHT, true,
                                        &params, &free_run));
    long fitted = 0, refused = 0;
    for (uint64_t limit = free_run.total_bytes * 2; limit > 1000; limit = limit * 7 / 8) {
        params.max_memory = limit;
        zenith_status status = zenith_estimate(context, model, ZENITH_DECODER, WIDTH, HEIGHT, true,
                                               &params, &info);
        if (status == ZENITH_OK) {
            assert_int_equal(refused, 0); // a smaller limit cannot do what a larger one could not
            assert_true(info.total_bytes <= limit);
            fitted++;
            continue;
        }
        assert_int_equal(status, ZENITH_LIMIT);
        assert_non_null(strstr(zenith_context_error(context), "at least "));
        refused++;
    }
    assert_true(fitted > 5 && refused > 5);
}

ZN_TEST(too_small_a_limit_computes_nothing)
{
    long calls = 0;
    zenith_latent latent = {.size = sizeof latent,
                            .width = 40,
                            .height = 40,
                            .channels = 4,
                            .rows = zero_rows,
                            .cookie = &latent};
    const zenith_image image = {
        .size = sizeof image, .width = 320, .height = 320, .rows = copy_rows, .cookie = &calls};
    const zenith_run_params params = {.size = sizeof params, .max_memory = 50000};
    assert_int_equal(zenith_decode(context, model, &latent, &image, 1, &params), ZENITH_LIMIT);
    assert_non_null(strstr(zenith_context_error(context), "at least "));
    assert_int_equal(calls, 0);
}

// Memory of an earlier, larger run counts too: the limit is on what the context holds.
ZN_TEST(limits_hold_after_larger_runs)
{
    const zenith_run_params whole = {.size = sizeof whole, .bands = ZENITH_BANDS_OFF};
    zenith_run_facts large = run_once(ZENITH_DECODER, 512, 512, false, whole);
    const zenith_run_params bounded = {.size = sizeof bounded, .max_memory = large.arena_bytes / 2};
    zenith_run_facts small = run_once(ZENITH_DECODER, 256, 256, false, bounded);
    assert_true(small.arena_bytes < large.arena_bytes / 2);
    // Such blocks are mapped one by one (a sanitizer's allocator says nothing, and 0 passes).
    assert_true(mallinfo2().hblkhd < large.arena_bytes);
}

// --- the arena itself ---------------------------------------------------------------------------

static zenith_status read_zeros(void *cookie, int input, int64_t row, int64_t count, void *dst,
                                zn_error *err)
{
    const zn_compiled *compiled = cookie;
    const zn_desc *desc = &compiled->graph.nodes[0]->desc;
    (void)input;
    (void)row;
    (void)err;
    memset(dst, 0,
           (size_t)(count * desc->shape.dim[2] * desc->shape.dim[3]) * zn_type_size(desc->type));
    return ZENITH_OK;
}

static zenith_status write_nothing(void *cookie, int output, int64_t row, int64_t count,
                                   const void *src, zn_error *err)
{
    (void)cookie;
    (void)output;
    (void)row;
    (void)count;
    (void)src;
    (void)err;
    return ZENITH_OK;
}

static size_t untouched_tail(const unsigned char *bytes, size_t count)
{
    size_t tail = 0;
    while (tail < count && bytes[count - tail - 1] == FENCED_PATTERN) tail++;
    return tail;
}

static void check_plan(zn_model *inner, struct zn_dnn *dnn, zenith_dtype dtype, int64_t band)
{
    zn_error err = {0};
    zn_compiled *compiled = NULL;
    const zn_machine machine = {.cpu = zn_cpu_detect(), .threads = 1, .dnn = dnn};
    const zn_compile_key key = {.model = inner,
                                .part = zn_model_part(inner, "decoder"),
                                .sizes = {.height = 13, .width = 9},
                                .dtype = dtype,
                                .pixels = ZENITH_U8,
                                .mode = band ? ZN_PLAN_ROLLING : ZN_PLAN_PLANES,
                                .band = band};
    zn_test_ok(zn_compile(&key, NULL, &machine, &compiled, &err), &err);
    const size_t bytes = zn_plan_bytes(compiled->plan);
    assert_int_equal(bytes % ZN_ALIGN, 0); // so that it can end at a page that may not be touched
    fenced arena = fenced_make(bytes, 0);
    const zn_run run = {.read = read_zeros, .write = write_nothing, .cookie = compiled};
    zn_test_ok(zn_plan_run(compiled->plan, arena.data, NULL, &run, &err), &err);
    assert_true(fenced_intact(&arena));
    // Nothing of ours is padded beyond alignment; oneDNN touches less than the scratch it asks for.
    assert_true(untouched_tail(arena.data, bytes) < (dnn ? 16384 : ZN_ALIGN));
    fenced_free(&arena);
    zn_compiled_free(compiled);
}

ZN_TEST(plans_stay_in_their_arena)
{
    zn_error err = {0};
    zn_model *inner = NULL;
    struct zn_dnn *dnn = NULL;
    zn_cpu cpu = zn_cpu_detect();
    const char *path = zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers");
    const zn_model_request which = {.name = "taesd", .weights = path};
    zn_test_ok(zn_model_open(&which, &inner, &err), &err);
    for (int with_dnn = 0; with_dnn <= 1; with_dnn++) {
        if (with_dnn && zn_dnn_create(&cpu, &dnn, &err) != ZENITH_OK) break;
        for (int64_t band = 0; band <= 3; band++) {
            check_plan(inner, dnn, ZENITH_DTYPE_F32, band);
            check_plan(inner, dnn, ZENITH_DTYPE_BF16, band);
        }
    }
    zn_model_unref(inner);
    zn_dnn_free(dnn);
}
