// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader of training data: what a sample is, that nothing but its number decides it, and that
// pictures that cannot be used are passed over, counted and named.
#include "src/train/data/data.h"
#include "src/train/data/permutation.h"
#include "tests/train/training_set.h"

enum { CROP = 16, BYTES = 3 * CROP * CROP };

static zn_data *open_data(zn_data_options options)
{
    zn_data *data = NULL;
    zn_error err = {0};
    if (!options.crop) options.crop = CROP;
    zn_test_ok(zn_data_open(&options, &data, &err), &err);
    return data;
}

static void get(zn_data *data, uint64_t index, uint8_t *pixels)
{
    zn_error err = {0};
    zn_test_ok(zn_data_get(data, index, pixels, &err), &err);
}

// --- order

ZN_TEST(every_order_is_a_permutation)
{
    static const uint64_t counts[] = {1, 2, 3, 7, 64, 255, 256, 257, 1000, 4097};
    static uint8_t seen[4097];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            memset(seen, 0, sizeof seen);
            for (uint64_t k = 0; k < counts[i]; k++) {
                uint64_t at = zn_permutation_at(9, epoch, counts[i], k);
                assert_true(at < counts[i]);
                assert_int_equal(seen[at]++, 0);
            }
        }
    // Beyond 32 bits it stays inside and takes different values to different ones.
    const uint64_t huge = (uint64_t)1 << 40;
    for (uint64_t k = 0; k < 100; k++) {
        assert_true(zn_permutation_at(9, 0, huge, k) < huge);
        assert_true(zn_permutation_at(9, 0, huge, k) != zn_permutation_at(9, 0, huge, k + 1));
    }
}

ZN_TEST(orders_differ_by_seed_and_epoch)
{
    enum { COUNT = 1000 };
    int same_epoch = 0, same_seed = 0, in_place = 0;
    for (uint64_t k = 0; k < COUNT; k++) {
        uint64_t at = zn_permutation_at(1, 0, COUNT, k);
        same_epoch += at == zn_permutation_at(1, 1, COUNT, k);
        same_seed += at == zn_permutation_at(2, 0, COUNT, k);
        in_place += at == k;
    }
    // Two random orders agree in one place on average; ten is beyond chance (1e-7).
    assert_true(same_epoch < 10 && same_seed < 10 && in_place < 10);
}

// Each of three things must come first about as often: small orders are shuffled too.
ZN_TEST(small_orders_are_fair)
{
    int first[3] = {0};
    for (uint64_t epoch = 0; epoch < 3000; epoch++) first[zn_permutation_at(5, epoch, 3, 0)]++;
    for (int i = 0; i < 3; i++) assert_in_range(first[i], 850, 1150); // 6 deviations
}

// --- crops

// What a drawn sample says of itself, after every pixel of it was compared.
typedef struct place {
    int x, y, number;
    bool mirrored;
} place;

static place check_drawn(const uint8_t *pixels)
{
    bool mirrored = pixels[0] > pixels[3];
    place at = {mirrored ? pixels[0] - (CROP - 1) : pixels[0], pixels[1], pixels[2], mirrored};
    for (int y = 0; y < CROP; y++)
        for (int x = 0; x < CROP; x++) {
            const uint8_t *pixel = pixels + 3 * (y * CROP + x);
            assert_int_equal(pixel[0], at.x + (mirrored ? CROP - 1 - x : x));
            assert_int_equal(pixel[1], at.y + y);
            assert_int_equal(pixel[2], at.number);
        }
    return at;
}

static const struct {
    const char *name;
    uint32_t width, height;
} drawn[] = {
    {"drawn/a.ppm", 40, 30},  {"drawn/b/c.ppm", 16, 16}, {"drawn/b/d.PPM", 18, 17},
    {"drawn/z.pnm", 16, 200}, {"drawn/zz.ppm", 250, 19},
};
enum { DRAWN = sizeof drawn / sizeof *drawn };

static const char *draw_set(void)
{
    static bool there;
    if (!there) {
        set_mkdir("drawn");
        set_mkdir("drawn/b");
        for (int i = 0; i < DRAWN; i++)
            set_draw(drawn[i].name, drawn[i].width, drawn[i].height, (uint8_t)i);
        write_file(set_path("drawn/notes.txt"), "x", 1);
        write_file(set_path("drawn/.hidden.ppm"), "x", 1);
    }
    there = true;
    return set_path("drawn");
}

ZN_TEST(samples_are_pieces_of_the_pictures)
{
    enum { EPOCHS = 300 };
    const char *source = draw_set();
    uint8_t pixels[BYTES];
    zn_data *data = open_data(
        (zn_data_options){.sources = &source, .sources_count = 1, .flip = true, .seed = 3});
    assert_int_equal(zn_data_count(data), DRAWN);
    int mirrored = 0, edges[4] = {0};
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        int seen[DRAWN] = {0};
        for (uint64_t k = 0; k < DRAWN; k++) {
            get(data, epoch * DRAWN + k, pixels);
            place at = check_drawn(pixels);
            assert_true(at.number < DRAWN);
            assert_int_equal(seen[at.number]++, 0);
            mirrored += at.mirrored;
            if (at.number != 0) continue;
            edges[0] += at.x == 0;
            edges[1] += at.x == 40 - CROP;
            edges[2] += at.y == 0;
            edges[3] += at.y == 30 - CROP;
        }
    }
    // 1500 throws of a coin, 6 deviations; and every edge is reached (25 and 15 places).
    assert_in_range(mirrored, 750 - 120, 750 + 120);
    for (int i = 0; i < 4; i++) assert_in_range(edges[i], 1, 60);
    assert_int_equal(zn_data_skipped(data), 0);
    zn_data_free(data);
}

ZN_TEST(without_flip_nothing_is_mirrored)
{
    const char *source = draw_set();
    uint8_t pixels[BYTES];
    zn_data *data = open_data((zn_data_options){.sources = &source, .sources_count = 1});
    for (uint64_t i = 0; i < 50; i++) {
        get(data, i, pixels);
        assert_false(check_drawn(pixels).mirrored);
    }
    zn_data_free(data);
}

ZN_TEST(scaled_samples_show_more_of_the_picture)
{
    set_draw("large.ppm", 200, 150, 77);
    const char *source = set_path("large.ppm");
    uint8_t pixels[BYTES];
    int widest = 0, narrowest = 255;
    zn_data *data = open_data(
        (zn_data_options){.sources = &source, .sources_count = 1, .min_scale = 0.25});
    for (uint64_t i = 0; i < 200; i++) {
        get(data, i, pixels);
        // Red rises by the factor from pixel to pixel: across the sample it is (CROP - 1) * factor.
        int across = pixels[3 * (CROP - 1)] - pixels[0], last = BYTES - 3 * CROP;
        int down = pixels[last + 1] - pixels[1];
        assert_true(abs(across - down) <= 2);
        assert_int_equal(pixels[2], 77);
        if (across > widest) widest = across;
        if (across < narrowest) narrowest = across;
    }
    assert_in_range(narrowest, CROP - 2, CROP + 2);
    assert_in_range(widest, 4 * (CROP - 1) - 6, 4 * (CROP - 1) + 1);
    zn_data_free(data);
}

// --- purity

static void expect_same(zn_data_options options, const uint8_t *expected, uint64_t count)
{
    uint8_t pixels[BYTES];
    zn_data *data = open_data(options);
    for (uint64_t i = 0; i < count; i++) { // in order
        get(data, i, pixels);
        assert_memory_equal(pixels, expected + i * BYTES, BYTES);
        assert_true(zn_data_cached(data) <= options.cache_bytes);
    }
    for (uint64_t i = count; i-- > 0;) { // backwards: each leaves the window
        get(data, i, pixels);
        assert_memory_equal(pixels, expected + i * BYTES, BYTES);
    }
    for (uint64_t i = 0; i < count; i++) { // here and there, some twice, some a little ahead
        uint64_t index = i * 7 % 11 % count + i / 2 % count;
        index %= count;
        get(data, index, pixels);
        assert_memory_equal(pixels, expected + index * BYTES, BYTES);
    }
    zn_data_free(data);
}

ZN_TEST(nothing_but_the_index_decides)
{
    enum { COUNT = 40 };
    static uint8_t expected[COUNT * BYTES];
    const char *source = draw_set();
    zn_data_options options = {
        .sources = &source, .sources_count = 1, .flip = true, .min_scale = 0.5, .seed = 11};
    zn_data *data = open_data(options);
    for (uint64_t i = 0; i < COUNT; i++) get(data, i, expected + i * BYTES);
    zn_data_free(data);
    static const size_t caches[] = {0, 4000, 1 << 20};
    static const size_t queues[] = {1, 3, 0};
    for (int workers = 0; workers <= 3; workers += workers ? 2 : 1)
        for (int cache = 0; cache < 3; cache++)
            for (int queue = 0; queue < 3; queue++) {
                options.workers = workers;
                options.cache_bytes = caches[cache];
                options.queue = queues[queue];
                expect_same(options, expected, COUNT);
            }
    // One of two processes, four samples each, in turns.
    uint8_t pixels[BYTES];
    options.run = 4;
    options.stride = 8;
    data = open_data(options);
    for (uint64_t i = 4; i < COUNT; i += i % 4 == 3 ? 5 : 1) {
        get(data, i, pixels);
        assert_memory_equal(pixels, expected + i * BYTES, BYTES);
    }
    zn_data_free(data);
    // Other seeds give other samples.
    options.seed++;
    data = open_data(options);
    int same = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        get(data, i, pixels);
        same += memcmp(pixels, expected + i * BYTES, BYTES) == 0;
    }
    assert_true(same < COUNT / 4);
    zn_data_free(data);
}

ZN_TEST(the_cache_keeps_pictures)
{
    const char *source = draw_set();
    uint8_t pixels[BYTES];
    size_t all = 0;
    for (int i = 0; i < DRAWN; i++) all += 3 * (size_t)drawn[i].width * drawn[i].height;
    zn_data *data = open_data(
        (zn_data_options){.sources = &source, .sources_count = 1, .cache_bytes = all});
    for (uint64_t i = 0; i < DRAWN; i++) get(data, i, pixels);
    assert_int_equal(zn_data_cached(data), all);
    zn_data_free(data);
    data = open_data(
        (zn_data_options){.sources = &source, .sources_count = 1, .cache_bytes = all - 1});
    for (uint64_t i = 0; i < 4 * DRAWN; i++) {
        get(data, i, pixels);
        assert_in_range(zn_data_cached(data), 1, all - 1);
    }
    zn_data_free(data);
}

// --- what cannot be used

enum { SKIPS = 16 };
typedef struct skips {
    char text[SKIPS][1024];
    size_t count;
} skips;

static void note_skip(void *cookie, const char *name, const char *reason)
{
    skips *noted = cookie;
    assert_true(noted->count < SKIPS);
    assert_int_equal(strncmp(name, set_folder, strlen(set_folder)), 0);
    snprintf(noted->text[noted->count++], sizeof noted->text[0], "%s: %s",
             name + strlen(set_folder) + 1, reason);
}

static void expect_skip(const skips *noted, const char *name, const char *reason)
{
    for (size_t i = 0; i < noted->count; i++)
        if (strncmp(noted->text[i], name, strlen(name)) == 0 && strstr(noted->text[i], reason))
            return;
    for (size_t i = 0; i < noted->count; i++) print_error("%s\n", noted->text[i]);
    fail_msg("'%s: ... %s' is not among the skips", name, reason);
}

// Good: 6 of the folder, 2 of the archive. Bad: 5 of the folder, the archive's cut, one that is no
// archive.
static const char *mixed_set(void)
{
    static crafted_tar tar;
    static uint8_t picture[4096];
    static bool there;
    if (there) return set_path("mixed");
    there = true;
    set_mkdir("mixed");
    set_copy("cmyk_adobe.jpg", "mixed/cmyk.jpg");
    set_copy("jpeg_grey.jpg", "mixed/grey.jpg");
    set_copy("grey_alpha16.png", "mixed/grey_alpha16.png");
    set_copy("orientation_6.jpg", "mixed/turned.jpg");
    set_copy("webp_lossy.webp", "mixed/w.webp");
    set_copy("palette8.png", "mixed/palette.png");
    set_copy("cut.jpg", "mixed/corrupt.jpg");
    set_copy("bomb.png", "mixed/huge.png");
    set_copy("one_pixel.png", "mixed/tiny.png");
    set_copy("animated.webp", "mixed/moving.webp");
    set_copy("empty.bin", "mixed/empty.png");
    write_file(set_path("mixed/none.tar"), "this is no archive", 18);
    size_t size = draw_ppm(picture, 20, 20, 200);
    tar_add(&tar, '0', "0001.ppm", picture, size);
    tar_add(&tar, '0', "0001.txt", "a caption", 9);
    tar_add(&tar, '0', "._0001.ppm", "not a picture", 13);
    size = draw_ppm(picture, 20, 20, 201);
    tar_add(&tar, '0', "0002.ppm", picture, size);
    tar_add(&tar, '0', "0003.ppm", picture, size);
    write_file(set_path("mixed/shard.tar"), tar.bytes, tar.size - 600);
    return set_path("mixed");
}

static void expect_mixed_skips(const skips *noted)
{
    assert_int_equal(noted->count, 7);
    expect_skip(noted, "mixed/corrupt.jpg", "");
    expect_skip(noted, "mixed/huge.png", "60000 x 60000");
    expect_skip(noted, "mixed/tiny.png", "1 x 1 pixels, which is smaller than the crop of 16");
    expect_skip(noted, "mixed/moving.webp", "");
    expect_skip(noted, "mixed/empty.png", "");
    expect_skip(noted, "mixed/none.tar", "cut off at byte 18");
    expect_skip(noted, "mixed/shard.tar", "cut off at byte");
}

ZN_TEST(bad_pictures_are_passed_over_and_named_once)
{
    enum { PICTURES = 13, ROUNDS = 6 };
    static uint8_t expected[ROUNDS * PICTURES][BYTES];
    static skips first;
    const char *source = mixed_set();
    for (int workers = 0; workers <= 3; workers += workers ? 2 : 1) {
        skips noted = {.count = 0};
        uint8_t pixels[BYTES];
        int from_archive = 0;
        zn_data *data = open_data((zn_data_options){.sources = &source,
                                                    .sources_count = 1,
                                                    .workers = workers,
                                                    .cache_bytes = 1 << 16,
                                                    .skip = note_skip,
                                                    .cookie = &noted});
        assert_int_equal(noted.count, 2); // the archives: known when they are opened
        assert_int_equal(zn_data_count(data), PICTURES);
        for (uint64_t i = 0; i < ROUNDS * PICTURES; i++) {
            get(data, i, pixels);
            if (workers == 0) memcpy(expected[i], pixels, BYTES);
            assert_memory_equal(pixels, expected[i], BYTES);
            from_archive += pixels[2] == 200 || pixels[2] == 201;
        }
        assert_true(from_archive >= 2 * ROUNDS);
        assert_int_equal(zn_data_skipped(data), 7);
        expect_mixed_skips(&noted);
        if (workers == 0) first = noted;
        assert_memory_equal(&noted, &first, sizeof noted); // in the same order, too
        zn_data_free(data);
    }
}

ZN_TEST(pictures_come_from_a_database)
{
    char path[1024];
    zn_mapped file = {0};
    zn_error err = {0};
    uint8_t pixels[BYTES];
    skips noted = {.count = 0};
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/lmdb/flat", zn_test_source());
    zn_test_ok(zn_mapped_open(path, &file, &err), &err);
    set_mkdir("set.lmdb");
    write_file(set_path("set.lmdb/data.mdb"), file.data, file.size);
    zn_mapped_close(&file);
    const char *source = set_path("set.lmdb");
    zn_data *data = open_data((zn_data_options){
        .sources = &source, .sources_count = 1, .skip = note_skip, .cookie = &noted});
    assert_int_equal(zn_data_count(data), 4); // and an entry that is none
    for (uint64_t i = 0; i < 4; i++) get(data, i, pixels);
    assert_int_equal(zn_data_skipped(data), 3); // smaller than the crop
    expect_skip(&noted, "set.lmdb/data.mdb:8-00002", "8 x 8 pixels, which is smaller");
    zn_data_free(data);
}

ZN_TEST(where_all_are_bad_it_says_so)
{
    set_mkdir("bad");
    set_copy("cut.png", "bad/a.png");
    set_copy("one_pixel.png", "bad/b.png");
    set_copy("bomb.jpg", "bad/c.jpg");
    const char *source = set_path("bad");
    for (int workers = 0; workers <= 3; workers++) {
        skips noted = {.count = 0};
        uint8_t pixels[BYTES];
        zn_data *data = open_data((zn_data_options){.sources = &source,
                                                    .sources_count = 1,
                                                    .workers = workers,
                                                    .skip = note_skip,
                                                    .cookie = &noted});
        for (uint64_t i = 0; i < 4; i++) {
            zn_error err = {0};
            expect_refusal("bad", zn_data_get(data, i / 2, pixels, &err), &err, ZENITH_BAD_FILE,
                           "none of the 3 pictures can be used: ");
        }
        assert_int_equal(noted.count, 3);
        zn_data_free(data);
    }
}

ZN_TEST(a_file_that_changes_is_a_failure)
{
    for (int workers = 0; workers <= 2; workers += 2) {
        uint8_t pixels[BYTES];
        zn_error err = {0};
        set_draw("changing.ppm", 20, 20, 1);
        const char *source = set_path("changing.ppm");
        zn_data *data = open_data(
            (zn_data_options){.sources = &source, .sources_count = 1, .workers = workers});
        set_draw("changing.ppm", 21, 20, 1);
        expect_refusal("changed", zn_data_get(data, 0, pixels, &err), &err, ZENITH_IO,
                       "has changed since training began");
        err = (zn_error){0};
        unlink(set_path("changing.ppm"));
        expect_refusal("gone", zn_data_get(data, 0, pixels, &err), &err, ZENITH_NOT_FOUND,
                       "changing.ppm");
        set_draw("changing.ppm", 20, 20, 1); // back again: the same data goes on
        get(data, 0, pixels);
        assert_int_equal(zn_data_skipped(data), 0);
        zn_data_free(data);
    }
}

ZN_TEST(wrong_sources_are_refused)
{
    set_mkdir("nothing");
    write_file(set_path("text.bin"), "x", 1);
    const struct {
        const char *source;
        zn_data_options options;
        zenith_status status;
        const char *fragment;
    } bad[] = {
        {set_path("missing"), {.crop = 16}, ZENITH_NOT_FOUND, "no such folder or file"},
        {set_path("nothing"), {.crop = 16}, ZENITH_NOT_FOUND, "no picture to train on"},
        {set_path("text.bin"), {.crop = 16}, ZENITH_BAD_FILE, "text.bin: the archive is cut off"},
        {set_path("nothing"), {.crop = 0}, ZENITH_INVALID_ARGUMENT, "crop"},
        {set_path("nothing"), {.crop = 70000}, ZENITH_INVALID_ARGUMENT, "crop"},
        {set_path("nothing"), {.crop = 1, .min_scale = 1.5}, ZENITH_INVALID_ARGUMENT, "min_scale"},
        {set_path("nothing"), {.crop = 1, .workers = -1}, ZENITH_INVALID_ARGUMENT, "workers"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        zn_data_options options = bad[i].options;
        zn_data *data = NULL;
        zn_error err = {0};
        options.sources = &bad[i].source;
        options.sources_count = 1;
        expect_refusal(bad[i].source, zn_data_open(&options, &data, &err), &err, bad[i].status,
                       bad[i].fragment);
        assert_null(data);
    }
}

ZN_TEST(a_circle_of_links_ends)
{
    set_mkdir("circle");
    assert_int_equal(symlink("../circle", set_path("circle/again")), 0);
    const char *source = set_path("circle");
    const zn_data_options options = {.sources = &source, .sources_count = 1, .crop = 16};
    zn_data *data = NULL;
    zn_error err = {0};
    expect_refusal("circle", zn_data_open(&options, &data, &err), &err, ZENITH_LIMIT,
                   "folders deep");
    unlink(set_path("circle/again"));
}

// --- the set as a whole

static void checksum_of(const char *source, char out[65])
{
    zn_data *data = open_data((zn_data_options){.sources = &source, .sources_count = 1});
    strcpy(out, zn_data_checksum(data));
    assert_int_equal(strlen(out), 64);
    zn_data_free(data);
}

ZN_TEST(the_checksum_tells_sets_apart)
{
    char first[65], other[65];
    set_mkdir("one");
    set_mkdir("two");
    set_draw("one/a.ppm", 20, 20, 1);
    set_draw("two/a.ppm", 20, 20, 1);
    checksum_of(set_path("one"), first);
    checksum_of(set_path("one/"), other);
    assert_string_equal(first, other);
    checksum_of(set_path("two"), other); // the same set in another place
    assert_string_equal(first, other);
    set_draw("two/a.ppm", 20, 21, 1);
    checksum_of(set_path("two"), other);
    assert_string_not_equal(first, other);
    assert_int_equal(rename(set_path("one/a.ppm"), set_path("one/b.ppm")), 0);
    checksum_of(set_path("one"), other);
    assert_string_not_equal(first, other);
}

// Many short lives: threads end whether they work, wait or have not begun.
ZN_TEST(it_can_be_closed_at_any_time)
{
    const char *source = draw_set();
    uint8_t pixels[BYTES];
    for (uint64_t i = 0; i < 60; i++) {
        zn_data *data = open_data(
            (zn_data_options){.sources = &source, .sources_count = 1, .workers = 3, .queue = 8});
        for (uint64_t k = 0; k < i % 4; k++) get(data, k * i, pixels);
        zn_data_free(data);
    }
    zn_data_free(NULL);
}
