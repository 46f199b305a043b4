// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Names are collected first and sorted: a system lists them in whatever order it likes.
#include "src/base/directory.h"

#include "src/base/memory.h"
#include "src/base/os.h"

#include <stdlib.h>
#include <string.h>

// The texts are in the arena.
struct names {
    zn_arena arena;
    char **name;
    size_t count, capacity;
};

static zenith_status add_name(void *cookie, const char *name, zn_error *err)
{
    struct names *names = cookie;
    ZN_TRY(zn_array_reserve((void **)&names->name, &names->capacity, names->count + 1,
                            sizeof *names->name, err));
    char *copy = zn_arena_text(&names->arena, name);
    if (!copy) return zn_fail_memory(err, strlen(name) + 1);
    names->name[names->count++] = copy;
    return ZENITH_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

zenith_status zn_directory_each(const char *path,
                                zenith_status (*each)(void *cookie, const char *name), void *cookie,
                                zn_error *err)
{
    struct names names = {0};
    zenith_status status = zn_directory_read(path, add_name, &names, err);
    if (status == ZENITH_OK && names.count > 0) {
        qsort(names.name, names.count, sizeof *names.name, by_bytes);
    }
    for (size_t i = 0; status == ZENITH_OK && i < names.count; i++) {
        status = each(cookie, names.name[i]);
    }
    zn_free(names.name);
    zn_arena_free(&names.arena);
    return status;
}
