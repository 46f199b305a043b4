// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts out of files: what is taken, and what is refused with the number of its line.
#include "src/text/captions.h"
#include "tests/testing.h"

#include <string.h>

static zenith_status read_as(zn_captions *captions, const char *text, const char *where,
                             zn_error *err)
{
    *err = (zn_error){{0}};
    return zn_captions_read(captions, (zn_bytes){text, strlen(text)}, where, NULL, err);
}

static void check(const zn_captions *captions, size_t index, const char *text)
{
    assert_true(index < captions->count);
    assert_int_equal(captions->texts[index].size, strlen(text));
    assert_memory_equal(captions->texts[index].data, text, strlen(text));
}

ZN_TEST(lines_and_objects)
{
    zn_captions captions = {0};
    zn_error err;
    zn_test_ok(read_as(&captions, "a red rose\r\n\n{\"caption\":\"x\"}", "a.txt", &err), &err);
    zn_test_ok(read_as(&captions,
                       "{\"caption\":\"one\",\"split\":\"train\"}\n\n"
                       "{\"captions\":[\"two\",\"\",\"caf\\u00e9\"]}\n{\"captions\":[]}",
                       "b.JSONL", &err),
               &err);
    assert_int_equal(captions.count, 5);
    check(&captions, 0, "a red rose");
    check(&captions, 1, "{\"caption\":\"x\"}");
    check(&captions, 2, "one");
    check(&captions, 3, "two");
    check(&captions, 4, "caf\xc3\xa9");
    assert_int_equal(captions.bytes, 10 + 15 + 3 + 3 + 5);
    zn_captions_free(&captions);
    assert_null(captions.texts);
}

static void refuse(const char *text, const char *where, const char *sentence)
{
    zn_captions captions = {0};
    zn_error err;
    assert_int_equal(read_as(&captions, text, where, &err), ZENITH_BAD_FILE);
    if (!strstr(err.text, sentence)) fail_msg("\"%s\" is not in \"%s\"", sentence, err.text);
    zn_captions_free(&captions);
}

ZN_TEST(what_is_refused)
{
    refuse("good\nbad \xff", "a.txt", "a.txt, line 2: not UTF-8, at byte 5 of the line");
    refuse("{\"caption\":\"\xff\"}", "a.jsonl", "a.jsonl, line 1: not UTF-8");
    refuse("{\"caption\":\"a\"}\n{\"name\":\"b\"}", "a.jsonl",
           "a.jsonl, line 2: no object with \"caption\" or \"captions\"");
    refuse("[\"a\"]", "a.jsonl", "a.jsonl, line 1: no object");
    refuse("{\"caption\":7}", "a.jsonl", "a.jsonl, line 1: a caption is not a text");
    refuse("{\"captions\":[\"a\",[]]}", "a.jsonl", "a.jsonl, line 1: a caption is not a text");
    refuse("{\"caption\":\"a\"", "a.jsonl", "a.jsonl, line 1");
}

ZN_TEST(on_request_it_stops)
{
    zn_captions captions = {0};
    atomic_int cancel = 1;
    assert_int_equal(zn_captions_read(&captions, (zn_bytes){"a", 1}, "a", &cancel, NULL),
                     ZENITH_CANCELLED);
    zn_captions_free(&captions);
}
