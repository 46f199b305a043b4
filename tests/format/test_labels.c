// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Labels of pictures: the three forms give one table, an attribute of several values is a column
// for each, and what is no table is refused with a sentence that names the place.
#include "tests/testing.h"

#include "src/format/archive/labels.h"

#include <string.h>

static zenith_status read_text(const char *text, zn_labels *out, zn_error *err)
{
    return zn_labels_read((const uint8_t *)text, strlen(text), "labels", out, err);
}

ZN_TEST(three_forms)
{
    static const char *const forms[] = {
        "{\"attributes\": [\"glasses\", \"hair\"], \"labels\": {\"train/2.png\": [0, \"red\"], "
        "\"train/1.png\": [1, \"blue, dark\"], \"train/3.png\": [-1, null]}}",
        "{\"labels\": {\"train/1.png\": {\"glasses\": true, \"hair\": \"blue, dark\"}, "
        "\"train/2.png\": {\"hair\": \"red\", \"glasses\": false}, \"train/3.png\": {\"glasses\": "
        "0}}}",
        "picture,glasses,hair\ntrain/1.png,1,\"blue, "
        "dark\"\r\ntrain/2.png,0,red\n\ntrain/3.png,-1,"};
    static const uint8_t wanted[3][3] = {{1, 1, 0}, {0, 0, 1}, {0, 0, 0}};
    for (size_t i = 0; i < 3; i++) {
        zn_error err = {0};
        zn_labels labels;
        zn_test_ok(read_text(forms[i], &labels, &err), &err);
        assert_int_equal(labels.columns_count, 3);
        assert_int_equal(labels.rows_count, 3);
        assert_string_equal(labels.columns[0], "glasses");
        assert_string_equal(labels.columns[1], "hair=blue, dark");
        assert_string_equal(labels.columns[2], "hair=red");
        assert_memory_equal(zn_labels_find(&labels, "train/1.png"), wanted[0], 3);
        assert_memory_equal(zn_labels_find(&labels, "/some/where/train/2.png"), wanted[1], 3);
        assert_memory_equal(zn_labels_find(&labels, "./train/3.png"), wanted[2], 3);
        assert_null(zn_labels_find(&labels, "strain/3.png"));
        assert_null(zn_labels_find(&labels, "3.png"));
        zn_labels_free(&labels);
    }
}

ZN_TEST(refused)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {" \n", "empty"},
        {"{", "labels"},
        {"{\"a.png\": 3}", "'a.png'"},
        {"{\"a.png\": {}}", "no labels"},
        {"{\"attributes\": [\"a\"], \"labels\": {\"1.png\": [1, 2]}}", "'1.png'"},
        {"{\"attributes\": [\"a\", \"a\"], \"labels\": {\"1.png\": [1, 1]}}", "two attributes"},
        {"{\"attributes\": [1], \"labels\": {\"1.png\": [1]}}", "no name"},
        {"{\"attributes\": [\"a\"], \"labels\": {\"1.png\": [null], \"2.png\": [1]}}",
         "no value of 'a'"},
        {"{\"attributes\": [\"a\"], \"labels\": {\"1.png\": [[]]}}", "neither number nor text"},
        {"picture,a\n1.png,1,1\n", "'1.png'"},
        {"picture,a\n1.png\n", "'1.png'"},
        {"picture,a\n1.png,1\n1.png,1\n", "twice"},
        {"picture\n1.png\n", "no labels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_error err = {0};
        zn_labels labels;
        assert_int_equal(read_text(cases[i].text, &labels, &err), ZENITH_BAD_FILE);
        if (!strstr(err.text, cases[i].said)) print_message("case %zu: %s\n", i, err.text);
        assert_non_null(strstr(err.text, cases[i].said));
    }
}
