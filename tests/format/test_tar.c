// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tar archives: every way to write a name and a size, what is passed over, and broken ones, of
// which the members before the damage must come out.
#include "src/format/archive/tar.h"
#include "tests/format/craft_tar.h"
#include "tests/format/crafted.h"

static crafted_tar made;

static void begin(zn_tar *tar)
{
    zn_tar_begin(tar, made.bytes, made.size);
}

static void expect_member(zn_tar *tar, const char *name, const char *content)
{
    zn_tar_member member = {0};
    bool found = false;
    zn_error err = {0};
    zn_test_ok(zn_tar_next(tar, &member, &found, &err), &err);
    assert_true(found);
    assert_string_equal(member.name, name);
    assert_int_equal(member.size, strlen(content));
    assert_memory_equal(tar->data + member.offset, content, member.size);
}

static void expect_end(zn_tar *tar)
{
    zn_tar_member member;
    bool found = true;
    zn_error err = {0};
    zn_test_ok(zn_tar_next(tar, &member, &found, &err), &err);
    assert_false(found);
}

static void expect_failure(zn_tar *tar, zenith_status expected, const char *fragment)
{
    zn_tar_member member;
    bool found;
    zn_error err = {0};
    zenith_status status = zn_tar_next(tar, &member, &found, &err);
    expect_refusal(fragment, status, &err, expected, fragment);
}

ZN_TEST(files_come_in_order_and_the_rest_is_passed_over)
{
    zn_tar tar;
    made.size = 0;
    tar_add(&made, '5', "folder/", NULL, 0);
    tar_add(&made, '0', "folder/a.jpg", "abc", 3);
    tar_add(&made, '2', "link", NULL, 0);
    tar_octal(made.header + 124, 12, 0777); // a link has no data, whatever it says
    tar_sign(&made);
    tar_add(&made, 'V', "volume", "xyz", 3);
    tar_add(&made, 0, "old", "", 0);
    tar_add(&made, '7', "packed", "0123456789", 10);
    tar_end(&made);
    begin(&tar);
    expect_member(&tar, "folder/a.jpg", "abc");
    expect_member(&tar, "old", "");
    expect_member(&tar, "packed", "0123456789");
    expect_end(&tar);
    expect_end(&tar);
}

ZN_TEST(long_names_and_sizes_are_read)
{
    zn_tar tar;
    static char name[300], record[400], full[256];
    memset(name, 'n', sizeof name - 1);
    made.size = 0;
    tar_add(&made, 'L', "././@LongLink", name, sizeof name);
    tar_add(&made, '0', name, "gnu", 3);
    // The length of the record counts its own three digits.
    snprintf(record, sizeof record, "%d path=%s\n", 4 + 5 + 299 + 1, name);
    tar_add(&made, 'x', "PaxHeaders/x", record, strlen(record));
    tar_add(&made, '0', "short", "pax", 3);
    tar_add(&made, 'x', "PaxHeaders/y", "9 size=4\n15 mtime=12345\n", 24);
    tar_add(&made, '0', "sized", "four", 4);
    memcpy(made.header + 124, "00000000000", 12); // the record's size is the one that holds
    tar_sign(&made);
    tar_add(&made, 'x', "PaxHeaders/z", "9 size=4\n", 9); // not of the long name in between
    tar_add(&made, 'L', "././@LongLink", name, sizeof name);
    tar_add(&made, '0', "both", "both", 4);
    tar_octal(made.header + 124, 12, 0);
    tar_sign(&made);
    tar_add(&made, 'g', "pax_global_header", "9 x=12345", 9);
    tar_add(&made, '0', "base.256", "many", 4);
    memcpy(made.header + 124, "\x80\0\0\0\0\0\0\0\0\0\0\x04", 12);
    tar_sign(&made);
    tar_add(&made, '0', "leaf", "deep", 4);
    memset(made.header + 345, 'p', 155); // no closing zero: all of the field
    tar_sign(&made);
    tar_end(&made);
    begin(&tar);
    expect_member(&tar, name, "gnu");
    expect_member(&tar, name, "pax");
    expect_member(&tar, "sized", "four");
    expect_member(&tar, name, "both");
    expect_member(&tar, "base.256", "many");
    memset(full, 'p', 155);
    strcpy(full + 155, "/leaf");
    expect_member(&tar, full, "deep");
    expect_end(&tar);
}

ZN_TEST(an_old_sparse_file_is_passed_over)
{
    zn_tar tar;
    made.size = 0;
    tar_add(&made, 'S', "sparse", NULL, 0);
    made.header[482] = 1; // two blocks of its map follow, then 5 bytes of data
    memcpy(made.header + 124, "00000000005", 12);
    tar_sign(&made);
    memset(made.bytes + made.size, 'm', 3 * TAR_BLOCK);
    made.bytes[made.size + 504] = 1;
    made.bytes[made.size + TAR_BLOCK + 504] = 0;
    made.size += 3 * TAR_BLOCK;
    tar_add(&made, '0', "after", "yes", 3);
    tar_end(&made);
    begin(&tar);
    expect_member(&tar, "after", "yes");
    expect_end(&tar);
}

ZN_TEST(what_came_before_the_cut_is_usable)
{
    static uint8_t long_one[2000];
    zn_tar tar;
    made.size = 0;
    tar_add(&made, '0', "first", "abc", 3);
    size_t first_end = made.size;
    tar_add(&made, '0', "second", long_one, sizeof long_one);
    const size_t cuts[] = {first_end,                     // before the second header
                           first_end + 511,               // in it
                           first_end + TAR_BLOCK,         // behind it
                           first_end + TAR_BLOCK + 1999}; // one byte short
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        char fragment[64];
        snprintf(fragment, sizeof fragment, "cut off at byte %zu", cuts[i]);
        made.size = cuts[i];
        begin(&tar);
        expect_member(&tar, "first", "abc");
        expect_failure(&tar, ZENITH_BAD_FILE, fragment);
    }
    made.size = first_end + TAR_BLOCK + 2000; // without its padding the data is still whole
    begin(&tar);
    zn_tar_member member = {0};
    bool found = false;
    zn_error err = {0};
    expect_member(&tar, "first", "abc");
    zn_test_ok(zn_tar_next(&tar, &member, &found, &err), &err);
    assert_int_equal(member.size, 2000);
    expect_failure(&tar, ZENITH_BAD_FILE, "cut off");
}

ZN_TEST(broken_headers_are_refused_with_their_place)
{
    static const struct {
        char type;
        int at;
        const char *field;
        const char *data, *fragment;
    } bad[] = {
        {'0', 124, "0000000x000", "", "damaged at byte 1148: a member's size"},
        {'0', 124, "77777777777", "", "cut off"},
        {'0', 124, "\x80\x01\1\1\1\1\1\1\1\1\1\1", "", "a member's size"},
        {'0', 124, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "", "a member's size"},
        {'0', 124, "\x80\x7f\0\0\xff\xff\xff\xff\xff\xff\xff\xff", "", "a member's size"},
        {'x', 0, "x", "9 path=ab", "wrong length"},
        {'x', 0, "x", "99 path=a\n", "wrong length"},
        {'x', 0, "x", "1 path=a\n", "wrong length"},
        {'x', 0, "x", "path=a\n", "wrong length"},
        {'x', 0, "x", "18446744073709551617 path=a\n", "wrong length"},
        {'x', 0, "x", "7 path\n", "no '='"},
        {'x', 0, "x", "9 size=x\n", "not a number"},
        {'x', 0, "x", "8 size=\n", "not a number"},
        {'x', 0, "x", "28 size=1844674407370955161\n", "cut off"},
    };
    zn_tar tar;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        made.size = 0;
        tar_add(&made, '0', "first", "abc", 3);
        tar_add(&made, bad[i].type, "bad", bad[i].data, strlen(bad[i].data));
        memcpy(made.header + bad[i].at, bad[i].field, bad[i].at ? 12 : 1);
        tar_sign(&made);
        tar_add(&made, '0', "next", "x", 1);
        tar_end(&made);
        begin(&tar);
        expect_member(&tar, "first", "abc");
        expect_failure(&tar, ZENITH_BAD_FILE, bad[i].fragment);
    }
    made.size = 0;
    tar_add(&made, '0', "first", "abc", 3);
    made.bytes[0] ^= 1;
    begin(&tar);
    expect_failure(&tar, ZENITH_BAD_FILE, "byte 0");
    static uint8_t endless[ZN_TAR_NAME];
    memset(endless, 'n', sizeof endless);
    made.size = 0;
    tar_add(&made, 'L', "long", endless, sizeof endless);
    begin(&tar);
    expect_failure(&tar, ZENITH_LIMIT, "4096 bytes");
}

ZN_TEST(what_is_no_archive_says_so)
{
    zn_tar tar;
    zn_tar_begin(&tar, NULL, 0);
    expect_failure(&tar, ZENITH_BAD_FILE, "byte 0");
    memset(made.bytes, 7, made.size = 1024);
    begin(&tar);
    expect_failure(&tar, ZENITH_BAD_FILE, "not a tar header");
    memcpy(made.bytes, "\x1f\x8b", 2);
    begin(&tar);
    expect_failure(&tar, ZENITH_UNSUPPORTED, "uncompress");
}
