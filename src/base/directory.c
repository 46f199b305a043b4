// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Names are collected first and sorted: a system lists them in whatever order it likes.
#include "src/base/directory.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"

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

enum { MAX_DEPTH = 32 };

typedef struct walk {
    zenith_status (*each)(void *cookie, const char *path);
    void *cookie;
    const char *path; // of the folder
    int depth;
    zn_error *err;
} walk;

static zenith_status walk_folder(const walk *in);

static zenith_status walk_entry(void *cookie, const char *name)
{
    const walk *in = cookie;
    if (name[0] == '.') return ZENITH_OK;
    const size_t length = strlen(in->path), size = length + strlen(name) + 2;
    const bool ends = length > 0 && in->path[length - 1] == '/';
    char *path = zn_alloc(size);
    if (!path) return zn_fail_memory(in->err, size);
    zn_text_format(path, size, "%s%s%s", in->path, ends ? "" : "/", name);
    walk inside = *in;
    inside.path = path;
    inside.depth++;
    zenith_status status = zn_path_is_directory(path) ? walk_folder(&inside)
                                                      : in->each(in->cookie, path);
    zn_free(path);
    return status;
}

static zenith_status walk_folder(const walk *in)
{
    walk folder = *in;
    if (in->depth > MAX_DEPTH)
        return zn_fail(in->err, ZENITH_LIMIT,
                       "'%s' lies more than %d folders deep: is there a link that leads back?",
                       in->path, MAX_DEPTH);
    return zn_directory_each(in->path, walk_entry, &folder, in->err);
}

zenith_status zn_directory_walk(const char *path,
                                zenith_status (*each)(void *cookie, const char *path), void *cookie,
                                zn_error *err)
{
    const walk top = {each, cookie, path, 0, err};
    return walk_folder(&top);
}
