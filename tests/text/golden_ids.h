// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A golden file of a tokenizer, [{"text": .., "ids": [..]}, ..], against what a tokenizer makes of
// each text; and decoding, which must give the text's normal form back.
#ifndef ZN_TESTS_TEXT_GOLDEN_IDS_H
#define ZN_TESTS_TEXT_GOLDEN_IDS_H

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/text/tokenizer.h"
#include "src/text/unicode.h"
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

static inline void check_back(const zn_tokenizer *tokenizer, const char *text, size_t size,
                              const int32_t *ids, size_t count)
{
    zn_error err = {{0}};
    zn_nfc room = {0};
    const char *normal;
    char *back = NULL;
    size_t normal_size, back_size;
    zn_test_ok(zn_nfc_apply(&room, text, size, &normal, &normal_size, &err), &err);
    zn_test_ok(zn_tokenizer_decode(tokenizer, ids, count, false, &back, &back_size, &err), &err);
    assert_int_equal(back_size, normal_size);
    assert_memory_equal(back, normal, normal_size);
    zn_free(back);
    zn_nfc_free(&room);
}

static inline void check_entry(const zn_tokenizer *tokenizer, const zn_json *entry)
{
    zn_error err = {{0}};
    const char *text;
    const zn_json *wanted;
    int32_t *ids = NULL;
    size_t count;
    zn_test_ok(zn_json_get_text(entry, "text", &text, &err), &err);
    zn_test_ok(zn_json_get_array(entry, "ids", &wanted, &err), &err);
    zn_test_ok(zn_tokenizer_encode(tokenizer, text, strlen(text), &ids, &count, &err), &err);
    if (count != zn_json_size(wanted))
        fail_msg("\"%s\": %zu ids instead of %zu", text, count, zn_json_size(wanted));
    for (size_t i = 0; i < count; i++) {
        int64_t id = -1;
        assert_true(zn_json_as_integer(zn_json_at(wanted, i), &id));
        if (ids[i] != id)
            fail_msg("\"%s\": id %zu is %d instead of %lld", text, i, ids[i], (long long)id);
    }
    // An added token ends a piece: a mark behind it is not composed with its last letter.
    if (!strstr(text, "|>\xcc\xb8")) check_back(tokenizer, text, strlen(text), ids, count);
    zn_free(ids);
}

// Every text of the golden file; at least `least` of them.
static inline void check_golden(const zn_tokenizer *tokenizer, const char *path, size_t least)
{
    zn_error err = {{0}};
    zn_json *entries = NULL;
    zn_test_ok(zn_json_open(path, &entries, &err), &err);
    assert_true(zn_json_size(entries) >= least);
    for (size_t i = 0; i < zn_json_size(entries); i++)
        check_entry(tokenizer, zn_json_at(entries, i));
    zn_json_free(entries);
}

#endif
