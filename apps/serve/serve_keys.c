// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See serve_keys.h.
#include "apps/serve/serve_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 16 };

static bool add(serve_keys *keys, const char *key)
{
    char **list = realloc(keys->list, (keys->count + 1) * sizeof *list);
    if (list == NULL) return false;
    keys->list = list;
    list[keys->count] = strdup(key);
    return list[keys->count] != NULL && ++keys->count > 0;
}

static bool read_lines(serve_keys *keys, FILE *file, const char **why)
{
    char line[1024];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n \t")] = 0;
        if (line[0] == 0 || line[0] == '#') continue;
        *why = "a key has fewer than 16 letters";
        if (strlen(line) < SHORTEST) return false;
        *why = "out of memory";
        if (!add(keys, line)) return false;
    }
    *why = "it holds no key";
    return keys->count > 0;
}

bool serve_keys_read(serve_keys *keys, const char *path, const char **why)
{
    FILE *file = fopen(path, "r");
    *why = strerror(errno);
    if (file == NULL) return false;
    const bool good = read_lines(keys, file, why);
    fclose(file);
    return good;
}

void serve_keys_free(serve_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) free(keys->list[i]);
    free(keys->list);
    *keys = (serve_keys){0};
}

static bool is_same(const char *a, const char *b)
{
    const size_t length = strlen(a);
    unsigned char different = 0;
    if (length != strlen(b)) return false; // the length is no secret
    for (size_t i = 0; i < length; i++) different |= (unsigned char)(a[i] ^ b[i]);
    return different == 0;
}

bool serve_keys_have(const serve_keys *keys, const char *key)
{
    bool found = false;
    for (size_t i = 0; key != NULL && i < keys->count; i++)
        found = is_same(keys->list[i], key) || found;
    return found;
}
