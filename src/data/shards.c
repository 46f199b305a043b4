// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/data/shards.h"

#include "src/base/directory.h"
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/data/object.h"
#include "src/format/image/image.h"

#include <string.h>

static const char *const companions[] = {"txt", "json", "cls"};

struct zn_shards {
    const zenith_storage *storage;
    zn_arena arena; // names and paths
    zn_shard_file *files;
    size_t files_count, files_capacity;
    zn_shard *list;
    size_t count, capacity;
    bool cut;
};

typedef struct search {
    zn_shards *shards;
    const char *root;
    zn_error *err;
} search;

static const char *ending_of(const char *name)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    return dot ? dot + 1 : "";
}

static bool is_companion(const char *name)
{
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++)
        if (strcmp(ending_of(name), companions[i]) == 0) return true;
    return false;
}

// Readers of WebDataset end a key at the first dot of its last part: other dots must go.
static void settle_dots(char *name)
{
    char *slash = strrchr(name, '/'), *last = strrchr(name, '.');
    for (char *at = slash ? slash : name; at < last; at++)
        if (*at == '.') *at = '_';
}

static void add_facts(zn_sha256 *hash, const char *name, const zn_file_facts *facts)
{
    char text[64];
    zn_text_format(text, sizeof text, "%llu %lld", (unsigned long long)facts->size,
                   (long long)facts->changed);
    zn_sha256_add(hash, name, strlen(name) + 1);
    zn_sha256_add(hash, text, strlen(text) + 1);
}

static void add_object_facts(zn_sha256 *hash, const char *name, uint64_t size, const char *etag)
{
    char text[32];
    zn_text_format(text, sizeof text, "%llu", (unsigned long long)size);
    zn_sha256_add(hash, name, strlen(name) + 1);
    zn_sha256_add(hash, text, strlen(text) + 1);
    zn_sha256_add(hash, etag, strlen(etag) + 1);
}

// --- tar archives -------------------------------------------------------------------------------

// object: what the storage says of it; NULL: it is a file.
static zenith_status add_archive(zn_shards *shards, const char *path, const zenith_object *object,
                                 zn_error *err)
{
    zn_file_facts facts = {0};
    zn_sha256 hash;
    const char *etag = object ? zn_arena_text(&shards->arena, object->etag) : NULL;
    const char *slash = strrchr(path, '/');
    char *kept = zn_arena_text(&shards->arena, path);
    char *name = zn_arena_text(&shards->arena, slash ? slash + 1 : path);
    if (!kept || !name || (object && !etag)) return zn_fail_memory(err, strlen(path) + 1);
    if (zn_text_ends_with_nocase(name, ".tar")) name[strlen(name) - 4] = '\0';
    if (!object) ZN_TRY(zn_file_get_facts(path, &facts, err));
    ZN_TRY(zn_array_reserve((void **)&shards->list, &shards->capacity, shards->count + 1,
                            sizeof *shards->list, err));
    zn_shard *made = &shards->list[shards->count++];
    *made = (zn_shard){.name = name,
                       .archive = kept,
                       .bytes = object ? object->bytes : facts.size,
                       .object_etag = etag,
                       .storage = shards->storage};
    zn_sha256_begin(&hash);
    if (object)
        add_object_facts(&hash, name, object->bytes, etag);
    else
        add_facts(&hash, name, &facts);
    zn_sha256_end(&hash, made->etag);
    return ZENITH_OK;
}

static zenith_status add_if_archive(void *cookie, const char *name)
{
    const search *s = cookie;
    if (name[0] == '.' || !zn_text_ends_with_nocase(name, ".tar")) return ZENITH_OK;
    const size_t size = strlen(s->root) + strlen(name) + 2;
    char *path = zn_arena_alloc(&s->shards->arena, size);
    if (!path) return zn_fail_memory(s->err, size);
    zn_text_format(path, size, "%s/%s", s->root, name);
    if (!zn_path_is_file(path)) return ZENITH_OK;
    return add_archive(s->shards, path, NULL, s->err);
}

// --- folders of pictures ------------------------------------------------------------------------

static zenith_status add_picture(const search *s, const char *path, const zenith_object *object)
{
    zn_shards *shards = s->shards;
    const char *etag = NULL;
    const bool picture = zn_image_format_of_path(path) != ZN_IMAGE_UNKNOWN;
    if (!picture && !is_companion(path)) return ZENITH_OK;
    const char *relative = path + strlen(s->root);
    while (*relative == '/') relative++;
    char *name = zn_arena_text(&shards->arena, relative);
    const char *kept = zn_arena_text(&shards->arena, path);
    if (!name || !kept) return zn_fail_memory(s->err, strlen(path) + 1);
    settle_dots(name);
    if (object && !(etag = zn_arena_text(&shards->arena, object->etag)))
        return zn_fail_memory(s->err, sizeof object->etag);
    ZN_TRY(zn_array_reserve((void **)&shards->files, &shards->files_capacity,
                            shards->files_count + 1, sizeof *shards->files, s->err));
    shards->files[shards->files_count++] = (zn_shard_file){
        kept, name, object ? object->bytes : 0, picture, etag, NULL};
    return ZENITH_OK;
}

static zenith_status add_file(void *cookie, const char *path)
{
    return add_picture(cookie, path, NULL);
}

static size_t key_length(const char *name)
{
    return strlen(name) - strlen(ending_of(name));
}

// Files of one picture lie one after the other: they differ in the ending alone.
static size_t group_end(const zn_shards *shards, size_t begin, size_t *pictures)
{
    const char *first = shards->files[begin].name;
    const size_t length = key_length(first);
    size_t end = begin;
    *pictures = 0;
    for (; end < shards->files_count; end++) {
        const zn_shard_file *file = &shards->files[end];
        if (key_length(file->name) != length || strncmp(file->name, first, length) != 0) break;
        if (file->is_picture) ++*pictures;
    }
    return end;
}

// Texts without a picture belong to nobody.
static void drop_strays(zn_shards *shards)
{
    size_t kept = 0;
    for (size_t i = 0, end, pictures; i < shards->files_count; i = end) {
        end = group_end(shards, i, &pictures);
        for (size_t k = i; pictures > 0 && k < end; k++) shards->files[kept++] = shards->files[k];
    }
    shards->files_count = kept;
}

// A file that cannot be examined is one bad sample, not the end of the shard; a later run may find
// it mended.
static zenith_status look_at_file(zn_shards *shards, zn_shard_file *file, zn_sha256 *hash,
                                  zn_error *err)
{
    zn_file_facts facts = {0};
    zn_error why = {0};
    if (file->object_etag) {
        add_object_facts(hash, file->name, file->size, file->object_etag);
        return ZENITH_OK;
    }
    const zenith_status status = zn_file_get_facts(file->path, &facts, &why);
    if (status == ZENITH_OUT_OF_MEMORY) return zn_fail(err, status, "%s", why.text);
    if (status != ZENITH_OK && !(file->fault = zn_arena_text(&shards->arena, why.text)))
        return zn_fail_memory(err, sizeof why.text);
    file->size = facts.size;
    add_facts(hash, file->name, &facts);
    return ZENITH_OK;
}

static zenith_status add_cut(zn_shards *shards, size_t begin, size_t end, size_t pictures,
                             zn_error *err)
{
    zn_sha256 hash;
    char name[24];
    zn_text_format(name, sizeof name, "%06zu", shards->count);
    const char *kept = zn_arena_text(&shards->arena, name);
    if (!kept) return zn_fail_memory(err, sizeof name);
    ZN_TRY(zn_array_reserve((void **)&shards->list, &shards->capacity, shards->count + 1,
                            sizeof *shards->list, err));
    zn_shard made = {.name = kept,
                     .files = shards->files + begin,
                     .count = end - begin,
                     .pictures = pictures,
                     .storage = shards->storage};
    zn_sha256_begin(&hash);
    for (size_t i = begin; i < end; i++) {
        ZN_TRY(look_at_file(shards, &shards->files[i], &hash, err));
        made.bytes += shards->files[i].size;
    }
    zn_sha256_end(&hash, made.etag);
    shards->list[shards->count++] = made;
    return ZENITH_OK;
}

static zenith_status cut(zn_shards *shards, size_t most, zn_error *err)
{
    size_t begin = 0, pictures = 0;
    drop_strays(shards);
    for (size_t i = 0, end, more; i < shards->files_count; i = end) {
        end = group_end(shards, i, &more);
        pictures += more;
        if (pictures < most && end < shards->files_count) continue;
        ZN_TRY(add_cut(shards, begin, end, pictures, err));
        begin = end;
        pictures = 0;
    }
    return ZENITH_OK;
}

// Archives lie in the folder itself, pictures also in folders inside.
static zenith_status add_object(void *cookie, const zenith_object *object)
{
    const search *s = cookie;
    const char *name = object->path + strlen(s->root);
    while (*name == '/') name++;
    if (!zn_text_ends_with_nocase(name, ".tar")) return add_picture(s, object->path, object);
    return strchr(name, '/') ? ZENITH_OK : add_archive(s->shards, object->path, object, s->err);
}

static zenith_status find_files(search *s)
{
    const zenith_storage *storage = s->shards->storage;
    if (zn_object_is_stored(storage, s->root))
        return zn_object_each(storage, s->root, true, add_object, s, s->err);
    ZN_TRY(zn_directory_each(s->root, add_if_archive, s, s->err));
    return zn_directory_walk(s->root, add_file, s, s->err);
}

static zenith_status open_folder(search *s, size_t pictures)
{
    zn_shards *shards = s->shards;
    ZN_TRY(find_files(s));
    size_t found = 0;
    for (size_t i = 0; i < shards->files_count; i++) found += shards->files[i].is_picture;
    if (shards->count > 0 && found > 0)
        return zn_fail(s->err, ZENITH_INVALID_ARGUMENT,
                       "'%s' has tar archives and %zu pictures beside them: put one of the two "
                       "into a folder of its own",
                       s->root, found);
    if (shards->count > 0) return ZENITH_OK;
    if (found == 0)
        return zn_fail(s->err, ZENITH_NOT_FOUND,
                       "there is no picture and no tar archive in '%s': jpg, jpeg, png, webp, ppm, "
                       "pgm and pnm files are taken",
                       s->root);
    shards->cut = true;
    return cut(shards, pictures, s->err);
}

static zenith_status open_input(zn_shards *shards, const char *input, size_t pictures,
                                zn_error *err)
{
    search s = {shards, input, err};
    zenith_object object;
    if (zn_object_is_stored(shards->storage, input)) {
        if (!zn_text_ends_with_nocase(input, ".tar")) return open_folder(&s, pictures);
        ZN_TRY(zn_object_look(shards->storage, input, &object, err));
        return add_archive(shards, input, &object, err);
    }
    if (zn_path_is_directory(input)) return open_folder(&s, pictures);
    if (zn_path_is_file(input) && zn_image_format_of_path(input) != ZN_IMAGE_UNKNOWN)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' is a picture: a dataset is made of a folder of them, or of tar "
                       "archives",
                       input);
    if (zn_path_is_file(input)) return add_archive(shards, input, NULL, err);
    return zn_fail(err, ZENITH_NOT_FOUND, "there is no folder or tar archive '%s'", input);
}

zenith_status zn_shards_open(const zenith_storage *storage, const char *input, size_t pictures,
                             zn_shards **out, zn_error *err)
{
    zn_shards *shards = zn_alloc_zero(sizeof *shards);
    if (!shards) return zn_fail_memory(err, sizeof *shards);
    shards->storage = storage;
    zenith_status status = open_input(shards, input, pictures, err);
    if (status == ZENITH_OK)
        *out = shards;
    else
        zn_shards_free(shards);
    return status;
}

void zn_shards_free(zn_shards *shards)
{
    if (!shards) return;
    zn_free(shards->files);
    zn_free(shards->list);
    zn_arena_free(&shards->arena);
    zn_free(shards);
}

size_t zn_shards_count(const zn_shards *shards)
{
    return shards->count;
}

const zn_shard *zn_shards_get(const zn_shards *shards, size_t index)
{
    return &shards->list[index];
}

bool zn_shards_are_cut(const zn_shards *shards)
{
    return shards->cut;
}
