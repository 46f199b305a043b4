// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Alterations of valid inputs: a fuzzer's bytes choose what to change and how, instead of being the
// input themselves, so that most inputs get past the parsers.
#ifndef ZN_TESTS_FUZZ_ALTER_H
#define ZN_TESTS_FUZZ_ALTER_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The bytes of a fuzzer's input, read as choices. Past the end all choices are 0.
typedef struct choices {
    const uint8_t *data;
    size_t size, at;
} choices;

static inline bool choices_left(const choices *from)
{
    return from->at < from->size;
}

static inline unsigned choose_byte(choices *from)
{
    return choices_left(from) ? from->data[from->at++] : 0;
}

// One of 0 .. count - 1.
static inline unsigned choose(choices *from, size_t count)
{
    unsigned value = choose_byte(from);
    if (count > 256) value = value << 8 | choose_byte(from);
    return count ? value % (unsigned)count : 0;
}

// A size that is wrong in one of the usual ways, or the byte itself.
static inline int64_t alter_size(choices *from, int64_t size)
{
    static const int64_t edges[] = {0,
                                    1,
                                    -1,
                                    INT32_MAX,
                                    INT64_C(1) << 31,
                                    INT64_C(1) << 32,
                                    INT64_C(1) << 40,
                                    INT64_C(1) << 62,
                                    INT64_MAX};
    enum { EDGES = sizeof edges / sizeof *edges };
    const unsigned how = choose(from, EDGES + 5);
    if (how < EDGES) return edges[how];
    if (how == EDGES) return (int64_t)((uint64_t)size + 1);
    if (how == EDGES + 1) return (int64_t)((uint64_t)size - 1);
    if (how == EDGES + 2) return (int64_t)((uint64_t)size * 2);
    if (how == EDGES + 3) return size / 2;
    return choose_byte(from);
}

// --- numbers in texts ---------------------------------------------------------------------------

static inline bool begins_number(const char *text, const char *at)
{
    const bool digit = isdigit((unsigned char)*at) || (*at == '-' && isdigit((unsigned char)at[1]));
    return digit && (at == text || (!isdigit((unsigned char)at[-1]) && at[-1] != '.' &&
                                    at[-1] != '-' && tolower((unsigned char)at[-1]) != 'e'));
}

// How many numbers are in a text, and where number `index` begins.
static inline size_t find_number(const char *text, size_t index, const char **out)
{
    size_t count = 0;
    for (const char *at = text; *at; at++) {
        if (!begins_number(text, at)) continue;
        if (count++ == index) *out = at;
    }
    return count;
}

static inline void replace_text(char *text, size_t size, const char *at, size_t length,
                                const char *with)
{
    const size_t before = (size_t)(at - text), after = strlen(at + length), added = strlen(with);
    if (before + added + after + 1 > size) return;
    memmove(text + before + added, at + length, after + 1);
    memcpy(text + before, with, added);
}

// Puts another number, or another kind of JSON value, in the place of one of the numbers.
static inline void alter_number(choices *from, char *text, size_t size)
{
    static const char *const edges[] = {"0",
                                        "1",
                                        "2",
                                        "3",
                                        "-1",
                                        "0.5",
                                        "1e-300",
                                        "1e308",
                                        "16777216",
                                        "2147483647",
                                        "2147483648",
                                        "4294967296",
                                        "4611686018427387904",
                                        "9223372036854775808",
                                        "null",
                                        "true",
                                        "\"1\"",
                                        "[]",
                                        "{}",
                                        ""};
    enum { EDGES = sizeof edges / sizeof *edges };
    const char *at = NULL;
    char number[32];
    long long old = 0;
    const size_t count = find_number(text, SIZE_MAX, &at);
    if (count == 0) return;
    find_number(text, choose(from, count), &at);
    const unsigned how = choose(from, EDGES + 4);
    (void)!sscanf(at, "%18lld", &old);
    if (how < EDGES) snprintf(number, sizeof number, "%s", edges[how]);
    if (how == EDGES) snprintf(number, sizeof number, "%lld", old + 1);
    if (how == EDGES + 1) snprintf(number, sizeof number, "%lld", old * 2);
    if (how == EDGES + 2) snprintf(number, sizeof number, "%lld", old / 2);
    if (how == EDGES + 3) snprintf(number, sizeof number, "%u", choose_byte(from));
    const size_t length = *at == '-' ? 1 + strspn(at + 1, "0123456789.")
                                     : strspn(at, "0123456789.");
    replace_text(text, size, at, length, number);
}

#endif
