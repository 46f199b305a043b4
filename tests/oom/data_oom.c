// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Training data read with each allocation of ours and of the codecs failing in turn, by the caller
// and by workers: it must say ZENITH_OUT_OF_MEMORY and leave no block, never skip a picture for it,
// and give the right sample when it is asked again.
#include "src/train/data/data.h"
#include "tests/oom/oom.h"
#include "tests/train/training_set.h"

enum { CROP = 16, BYTES = 3 * CROP * CROP, SAMPLES = 8, SKIPPED = 2 };

typedef struct session {
    int workers;
    uint8_t pixels[SAMPLES][BYTES];
    bool failed; // a call did
} session;

// A sample, asked for again where memory was short; one allocation fails, so twice is enough.
static zenith_status get_twice(session *s, zn_data *data, uint64_t index)
{
    zn_error err = {0};
    zenith_status status = zn_data_get(data, index, s->pixels[index], &err);
    if (status != ZENITH_OUT_OF_MEMORY) return status;
    s->failed = true;
    assert_string_not_equal(err.text, "");
    return zn_data_get(data, index, s->pixels[index], NULL);
}

// ZENITH_OUT_OF_MEMORY only where opening failed.
static zenith_status run_session(session *s)
{
    const char *source = set_path("set");
    const zn_data_options options = {.sources = &source,
                                     .sources_count = 1,
                                     .crop = CROP,
                                     .min_scale = 0.5,
                                     .workers = s->workers,
                                     .queue = 3,
                                     .cache_bytes = 3000};
    zn_data *data = NULL;
    zn_error err = {0};
    s->failed = false;
    zenith_status status = zn_data_open(&options, &data, &err);
    if (status == ZENITH_OUT_OF_MEMORY) assert_string_not_equal(err.text, "");
    for (uint64_t i = 0; status == ZENITH_OK && i < SAMPLES; i++) status = get_twice(s, data, i);
    if (status == ZENITH_OK) assert_int_equal(zn_data_skipped(data), SKIPPED);
    zn_data_free(data);
    return status;
}

static void make_set(void)
{
    static crafted_tar tar;
    static uint8_t picture[4096];
    set_mkdir("set");
    set_mkdir("set/b");
    set_copy("icc_p3.jpg", "set/b/a.jpg");
    set_copy("icc_p3.png", "set/b/c.png");
    set_copy("cut.jpg", "set/cut.jpg");
    set_draw("set/z.ppm", 40, 30, 1);
    tar_add(&tar, '0', "0001.ppm", picture, draw_ppm(picture, 20, 20, 2));
    write_file(set_path("set/x.tar"), tar.bytes, tar.size); // without its end: one more skip
}

static void each_allocation_fails(int workers, long least)
{
    static session good, made;
    good.workers = made.workers = workers;
    assert_int_equal(run_session(&good), ZENITH_OK); // also: what libraries keep from first use
    const long live = fail_live();
    // Workers make the allocations that were tried without them, on threads: a part will do.
    const int step = zn_test_quick() || workers > 0 ? 5 : 1;
    long n = (long)(zn_test_offset() % (uint64_t)step), tried = 0, refused = 0;
    for (;; n += step, tried++) {
        memset(made.pixels, 0, sizeof made.pixels);
        fail_allocation(n);
        zenith_status status = run_session(&made);
        bool reached = fail_stop();
        if (status != ZENITH_OUT_OF_MEMORY) {
            if (status != ZENITH_OK)
                fail_msg("allocation %ld (%s): status %d", n, fail_library(), (int)status);
            assert_memory_equal(made.pixels, good.pixels, sizeof good.pixels);
        }
        refused += status != ZENITH_OK || made.failed;
        assert_int_equal(fail_live(), live);
        if (!reached) break;
    }
    print_message("%d workers: %ld of %ld allocations failed, %ld were missed\n", workers, tried, n,
                  refused);
    assert_true(n >= least && refused >= tried / 2); // the test did test something
}

static void data_lives_without_memory(void **state)
{
    (void)state;
    static const char *const ours[] = {"", "libjpeg", "libspng", "liblcms2", "libz"};
    make_set();
    fail_watch(ours, sizeof ours / sizeof *ours);
    each_allocation_fails(0, 60);
    each_allocation_fails(2, 60);
}

const oom_program program_data_oom = {
    .open = set_make,
    .close = set_remove,
    .tests = {cmocka_unit_test(data_lives_without_memory)},
};
