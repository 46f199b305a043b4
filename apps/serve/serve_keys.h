// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys that clients show: a file with one in each line; lines that are empty or begin with # do not count.
#ifndef ZN_SERVE_KEYS_H
#define ZN_SERVE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct serve_keys {
    char **list;
    size_t count;
} serve_keys;

// False where the file cannot be read, has no key, or one of fewer than 16 letters.
bool serve_keys_read(serve_keys *keys, const char *path, const char **why);
void serve_keys_free(serve_keys *keys);
// Takes as long for a wrong key as for a right one of its length.
bool serve_keys_have(const serve_keys *keys, const char *key);

#endif
