// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Archives stay mapped for as long as the list lives: a mapping costs addresses, no memory, and a
// member is then an offset and a size. Single files are mapped when they are read.
#include "src/data/sources.h"

#include "src/base/directory.h"
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/format/archive/lmdb.h"
#include "src/format/archive/tar.h"

#include <string.h>

typedef struct archive {
    zn_mapped mapped;
    struct archive *next;
} archive;

typedef struct picture {
    const char *name;       // to show; of a file also its path
    const archive *archive; // NULL: a file
    size_t offset, size;    // offset: in the archive
} picture;

struct zn_sources {
    zn_arena arena; // names and archives
    archive *archives;
    picture *pictures;
    size_t count, capacity;
    zn_sha256 hash;
    char checksum[65];
};

// What it takes to fill the list.
typedef struct search {
    zn_sources *sources;
    zn_skip_fn *skip;
    void *cookie;
    size_t root; // bytes of a path before the part that counts for the checksum
    zn_error *err;
} search;

static void tell_skip(const search *s, const char *name, const char *reason)
{
    if (s->skip) s->skip(s->cookie, name, reason);
}

// What is wrong with a file, as against with the machine.
static bool is_the_files_fault(zenith_status status)
{
    return status == ZENITH_BAD_FILE || status == ZENITH_UNSUPPORTED || status == ZENITH_LIMIT ||
           status == ZENITH_IO || status == ZENITH_NOT_FOUND;
}

// a + between + b, in the arena; NULL when there is no memory.
static char *join(zn_arena *arena, const char *a, const char *between, const char *b)
{
    size_t size = strlen(a) + strlen(between) + strlen(b) + 1;
    char *joined = zn_arena_alloc(arena, size);
    if (joined) zn_text_format(joined, size, "%s%s%s", a, between, b);
    return joined;
}

// `added.name` is in the arena already.
static zenith_status add_picture(const search *s, picture added)
{
    zn_sources *list = s->sources;
    ZN_TRY(zn_array_reserve((void **)&list->pictures, &list->capacity, list->count + 1,
                            sizeof *list->pictures, s->err));
    list->pictures[list->count++] = added;
    char size[24];
    zn_text_format(size, sizeof size, "%zu", added.size);
    const char *relative = added.name + s->root;
    if (*relative == '/') relative++; // whether or not the source was named with it
    zn_sha256_add(&list->hash, relative, strlen(relative) + 1);
    zn_sha256_add(&list->hash, size, strlen(size) + 1);
    return ZENITH_OK;
}

static bool is_hidden(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (slash ? slash[1] : path[0]) == '.';
}

static zenith_status add_members(const search *s, const char *path, const archive *from,
                                 zn_error *err)
{
    zn_tar tar;
    zn_tar_member member;
    bool found;
    zn_tar_begin(&tar, from->mapped.data, from->mapped.size);
    while (true) {
        ZN_TRY(zn_tar_next(&tar, &member, &found, err));
        if (!found) return ZENITH_OK;
        if (is_hidden(member.name) || !zn_image_format_of_path(member.name)) continue;
        char *name = join(&s->sources->arena, path, ":", member.name);
        if (!name) return zn_fail_memory(err, strlen(path) + strlen(member.name) + 2);
        ZN_TRY(add_picture(s, (picture){name, from, member.offset, member.size}));
    }
}

// Keys have no ending: what is a picture is told by its first bytes.
static zenith_status add_entries(const search *s, const char *path, const archive *from,
                                 zn_error *err)
{
    zn_lmdb lmdb;
    zn_lmdb_entry entry;
    bool found;
    ZN_TRY(zn_lmdb_begin(&lmdb, from->mapped.data, from->mapped.size, err));
    while (true) {
        ZN_TRY(zn_lmdb_next(&lmdb, &entry, &found, err));
        if (!found) return ZENITH_OK;
        if (!zn_image_sniff(from->mapped.data + entry.offset, entry.size)) continue;
        char *name = join(&s->sources->arena, path, ":", entry.key);
        if (!name) return zn_fail_memory(err, strlen(path) + strlen(entry.key) + 2);
        ZN_TRY(add_picture(s, (picture){name, from, entry.offset, entry.size}));
    }
}

static zenith_status add_contents(const search *s, const char *path, const archive *from,
                                  zn_error *err)
{
    if (zn_lmdb_is(from->mapped.data, from->mapped.size)) return add_entries(s, path, from, err);
    return add_members(s, path, from, err);
}

// A source that somebody named must be an archive; one that was found in a folder is left out.
static zenith_status add_archive(const search *s, const char *path, bool named)
{
    zn_sources *list = s->sources;
    zn_error why = {0};
    archive *added = zn_arena_alloc(&list->arena, sizeof *added);
    if (!added) return zn_fail_memory(s->err, sizeof *added);
    size_t before = list->count;
    zenith_status status = zn_mapped_open(path, &added->mapped, &why);
    if (status == ZENITH_OK) {
        added->next = list->archives;
        list->archives = added;
        status = add_contents(s, path, added, &why);
        zn_mapped_forget(&added->mapped, 0, added->mapped.size);
    }
    if (status == ZENITH_OK) return ZENITH_OK;
    bool usable = list->count > before || !named;
    if (!is_the_files_fault(status) || !usable) {
        zn_error_prefix(&why, path);
        return zn_fail(s->err, status, "%s", why.text);
    }
    tell_skip(s, path, why.text);
    return ZENITH_OK;
}

static zenith_status add_file(const search *s, const char *path)
{
    zn_mapped mapped = {0};
    zn_error why = {0};
    zenith_status status = zn_mapped_open(path, &mapped, &why);
    if (status == ZENITH_OK) {
        picture added = {.name = path, .size = mapped.size};
        zn_mapped_close(&mapped);
        return add_picture(s, added);
    }
    if (!is_the_files_fault(status)) return zn_fail(s->err, status, "%s", why.text);
    tell_skip(s, path, why.text);
    return ZENITH_OK;
}

static zenith_status add_found(void *cookie, const char *path)
{
    search *s = cookie;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const bool packed = zn_text_ends_with_nocase(name, ".tar") || strcmp(name, "data.mdb") == 0;
    if (!packed && !zn_image_format_of_path(name)) return ZENITH_OK;
    const char *kept = zn_arena_text(&s->sources->arena, path);
    if (!kept) return zn_fail_memory(s->err, strlen(path) + 1);
    return packed ? add_archive(s, kept, false) : add_file(s, kept);
}

static zenith_status add_source(search *s, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *kept = zn_arena_text(&s->sources->arena, path);
    if (!kept) return zn_fail_memory(s->err, strlen(path) + 1);
    if (zn_path_is_directory(kept)) {
        s->root = strlen(kept);
        return zn_directory_walk(kept, add_found, s, s->err);
    }
    s->root = slash ? (size_t)(slash - path) : 0;
    if (!zn_path_is_file(kept))
        return zn_fail(s->err, ZENITH_NOT_FOUND,
                       "'%s' is no source of pictures: there is no such folder or file", path);
    if (zn_image_format_of_path(kept)) return add_file(s, kept);
    return add_archive(s, kept, true);
}

zenith_status zn_sources_open(const char *const *paths, size_t paths_count, zn_skip_fn *skip,
                              void *cookie, zn_sources **out, zn_error *err)
{
    zn_sources *list = zn_alloc_zero(sizeof *list);
    if (!list) return zn_fail_memory(err, sizeof *list);
    zenith_status status;
    search s = {list, skip, cookie, 0, err};
    zn_sha256_begin(&list->hash);
    for (size_t i = 0; i < paths_count; i++) ZN_GO(add_source(&s, paths[i]));
    if (list->count == 0)
        ZN_GO(zn_fail(err, ZENITH_NOT_FOUND,
                      "there is no picture to train on in '%s'%s: jpg, jpeg, png, webp, ppm, pgm "
                      "and pnm files are taken from folders, tar archives and LMDB",
                      paths_count ? paths[0] : "",
                      paths_count > 1 ? " and the other sources" : ""));
    zn_sha256_end(&list->hash, list->checksum);
    *out = list;
    return ZENITH_OK;
fail:
    zn_sources_free(list);
    return status;
}

void zn_sources_free(zn_sources *sources)
{
    if (!sources) return;
    for (archive *each = sources->archives; each; each = each->next) zn_mapped_close(&each->mapped);
    zn_free(sources->pictures);
    zn_arena_free(&sources->arena);
    zn_free(sources);
}

size_t zn_sources_count(const zn_sources *sources)
{
    return sources->count;
}

const char *zn_sources_name(const zn_sources *sources, size_t number)
{
    return sources->pictures[number].name;
}

const char *zn_sources_checksum(const zn_sources *sources)
{
    return sources->checksum;
}

static zenith_status read_file(const picture *from, const zn_image_options *options,
                               zn_image_pixels *out, zn_error *err)
{
    zn_mapped mapped = {0};
    ZN_TRY(zn_mapped_open(from->name, &mapped, err));
    zenith_status status;
    if (mapped.size != from->size)
        status = zn_fail(err, ZENITH_IO,
                         "'%s' has changed since training began: it had %zu bytes and has %zu",
                         from->name, from->size, mapped.size);
    else
        status = zn_image_read(mapped.data, mapped.size, options, out, err);
    zn_mapped_close(&mapped);
    return status;
}

zenith_status zn_sources_read(const zn_sources *sources, size_t number,
                              const zn_image_options *options, zn_image_pixels *out, zn_error *err)
{
    const picture *from = &sources->pictures[number];
    if (!from->archive) return read_file(from, options, out, err);
    const zn_mapped *mapped = &from->archive->mapped;
    zenith_status status = zn_image_read(mapped->data + from->offset, from->size, options, out,
                                         err);
    zn_mapped_forget(mapped, from->offset, from->size);
    return status;
}
