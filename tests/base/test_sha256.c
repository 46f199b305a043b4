// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 against published answers.
#include "tests/testing.h"

#include "src/base/sha256.h"

#include <string.h>

static void assert_hash(const void *data, size_t size, size_t part, const char *expected)
{
    zn_sha256 hash;
    char hex[65];
    zn_sha256_begin(&hash);
    for (size_t at = 0; at < size; at += part) {
        zn_sha256_add(&hash, (const char *)data + at, size - at < part ? size - at : part);
    }
    zn_sha256_end(&hash, hex);
    assert_string_equal(hex, expected);
}

// The examples of FIPS 180-4, whole and in parts.
ZN_TEST(known_answers)
{
    static const char *const cases[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrl"
         "m"
         "nopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t part = 1; part <= 120; part++) {
            assert_hash(cases[i][0], strlen(cases[i][0]), part, cases[i][1]);
        }
    }
}

ZN_TEST(million)
{
    static char data[1000000];
    memset(data, 'a', sizeof data);
    const char *expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    assert_hash(data, sizeof data, sizeof data, expected);
    assert_hash(data, sizeof data, 999, expected);
}
