// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// LMDB databases that liblmdb wrote (those of the fuzzer's corpus), whole and damaged: `flat` has 3
// pictures of 8 pixels and one of 48 whose value has pages of its own, `deep` has 60 pictures below
// a branch; each has the entry "length".
#include "src/format/archive/lmdb.h"
#include "tests/format/crafted.h"

enum { MOST = 1 << 15 };
static uint8_t file[MOST];

static size_t load(const char *name)
{
    char path[1024];
    zn_mapped mapped = {0};
    zn_error err = {0};
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/lmdb/%s", zn_test_source(), name);
    zn_test_ok(zn_mapped_open(path, &mapped, &err), &err);
    const size_t size = mapped.size;
    assert_true(size <= MOST);
    memcpy(file, mapped.data, size);
    zn_mapped_close(&mapped);
    return size;
}

static void expect_entry(zn_lmdb *lmdb, const char *key, size_t size, const char *begins)
{
    zn_lmdb_entry entry = {0};
    bool found = false;
    zn_error err = {0};
    zn_test_ok(zn_lmdb_next(lmdb, &entry, &found, &err), &err);
    assert_true(found);
    assert_string_equal(entry.key, key);
    if (size) assert_int_equal(entry.size, size);
    assert_memory_equal(lmdb->data + entry.offset, begins, strlen(begins));
}

static void expect_end(zn_lmdb *lmdb)
{
    zn_lmdb_entry entry;
    bool found = true;
    zn_error err = {0};
    zn_test_ok(zn_lmdb_next(lmdb, &entry, &found, &err), &err);
    assert_false(found);
}

ZN_TEST(values_come_in_order_of_keys_and_from_pages_of_their_own)
{
    zn_lmdb lmdb;
    zn_error err = {0};
    zn_test_ok(zn_lmdb_begin(&lmdb, file, load("flat"), &err), &err);
    expect_entry(&lmdb, "48-00000", 13 + 48 * 48 * 3, "P6 48 48 255\n\1\2\3");
    expect_entry(&lmdb, "8-00000", 0, "\x89PNG");
    expect_entry(&lmdb, "8-00001", 0, "\x89PNG");
    expect_entry(&lmdb, "8-00002", 0, "\x89PNG");
    expect_entry(&lmdb, "length", 1, "3");
    expect_end(&lmdb);
}

ZN_TEST(a_tree_gives_all_its_leaves)
{
    zn_lmdb lmdb;
    zn_error err = {0};
    zn_test_ok(zn_lmdb_begin(&lmdb, file, load("deep"), &err), &err);
    for (int i = 0; i < 60; i++) {
        char key[16];
        snprintf(key, sizeof key, "8-%05d", i);
        expect_entry(&lmdb, key, 0, "\x89PNG");
    }
    expect_entry(&lmdb, "length", 2, "60");
    expect_end(&lmdb);
}

// Walks to the end or to a failure; every value must lie inside.
static zenith_status walk(size_t size, zn_error *err)
{
    zn_lmdb lmdb;
    zn_lmdb_entry entry;
    bool found = true;
    ZN_TRY(zn_lmdb_begin(&lmdb, file, size, err));
    while (found) {
        ZN_TRY(zn_lmdb_next(&lmdb, &entry, &found, err));
        if (found) assert_true(entry.offset <= size && entry.size <= size - entry.offset);
    }
    return ZENITH_OK;
}

ZN_TEST(a_database_that_is_cut_off_says_so)
{
    const size_t size = load("deep");
    zn_error err = {0};
    expect_refusal("cut", walk(size - 4096, &err), &err, ZENITH_BAD_FILE, "cut off at byte");
    for (size_t cut = 0; cut < size; cut += 509) {
        zn_error why = {0};
        if (walk(cut, &why) != ZENITH_OK) assert_true(*why.text);
    }
}

ZN_TEST(damage_is_refused_and_never_followed_out_of_the_file)
{
    const size_t size = load("deep");
    int refused = 0;
    for (size_t i = 0; i < size; i++) {
        const uint8_t kept = file[i];
        for (int mask = 1; mask < 256; mask += 127) {
            zn_error err = {0};
            file[i] = (uint8_t)(kept ^ mask);
            const zenith_status status = walk(size, &err);
            refused += status != ZENITH_OK;
            assert_true((status == ZENITH_OK) == !*err.text);
        }
        file[i] = kept;
    }
    assert_true(refused > 100);
}

ZN_TEST(pages_that_lead_in_a_circle_end)
{
    const size_t size = load("deep");
    zn_lmdb lmdb;
    zn_error err = {0};
    zn_test_ok(zn_lmdb_begin(&lmdb, file, size, &err), &err);
    const size_t root = lmdb.path[0].at;
    const size_t node = root + file[root + 16] + 256 * (size_t)file[root + 17];
    memset(file + node, 0, 6);
    file[node] = (uint8_t)(root / 4096); // its first child is the root itself
    expect_refusal("circle", walk(size, &err), &err, ZENITH_BAD_FILE, "lead in a circle");
}

ZN_TEST(what_is_no_database_is_refused)
{
    const size_t size = load("flat");
    zn_error err = {0};
    file[20] = 2;
    expect_refusal("version", walk(size, &err), &err, ZENITH_UNSUPPORTED, "version 2");
    err = (zn_error){0};
    memset(file, 0, 4096);
    expect_refusal("zeros", walk(size, &err), &err, ZENITH_BAD_FILE, "no LMDB database");
}
