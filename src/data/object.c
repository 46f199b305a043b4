// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/data/object.h"

#include "src/base/memory.h"

#include <stdlib.h>
#include <string.h>

bool zn_object_is_stored(const zenith_storage *storage, const char *path)
{
    return storage && strncmp(path, storage->scheme, strlen(storage->scheme)) == 0;
}

// The sentence of the caller's function becomes ours.
static zenith_status pass_on(zenith_status status, const zn_error *why, zn_error *err)
{
    if (status == ZENITH_OK) return status;
    return zn_fail(err, status, "%s", why->text[0] ? why->text : "the storage failed");
}

zenith_status zn_object_look(const zenith_storage *storage, const char *path, zenith_object *out,
                             zn_error *err)
{
    zn_error why = {0};
    *out = (zenith_object){.size = sizeof *out, .age = -1};
    if (zn_object_is_stored(storage, path))
        return pass_on(storage->look(storage->cookie, path, out, why.text), &why, err);
    zn_file_facts facts;
    ZN_TRY(zn_file_get_facts(path, &facts, err));
    out->bytes = facts.size;
    return ZENITH_OK;
}

zenith_status zn_object_get(const zenith_storage *storage, const char *path, size_t most,
                            zn_bytes *out, zn_error *err)
{
    zn_object_reader *input = NULL;
    uint8_t buffer[16 * 1024];
    size_t got = sizeof buffer;
    ZN_TRY(zn_object_reader_open(storage, path, "", &input, err));
    zenith_status status = ZENITH_OK;
    out->size = 0;
    while (status == ZENITH_OK && got == sizeof buffer) {
        status = zn_object_reader_read(input, buffer, sizeof buffer, &got, err);
        if (status == ZENITH_OK && got > most - out->size)
            status = zn_fail(err, ZENITH_LIMIT, "'%s' has more than %zu bytes", path, most);
        if (status == ZENITH_OK) status = zn_bytes_append(out, buffer, got, err);
    }
    zn_object_reader_close(input);
    return status;
}

zenith_status zn_object_create(const zenith_storage *storage, const char *path, const void *data,
                               size_t size, bool *made, zn_error *err)
{
    zn_error why = {0};
    if (!zn_object_is_stored(storage, path)) return zn_file_create(path, data, size, made, err);
    return pass_on(storage->put(storage->cookie, path, data, size, false, made, why.text), &why,
                   err);
}

zenith_status zn_object_remove(const zenith_storage *storage, const char *path, zn_error *err)
{
    zn_error why = {0};
    if (!zn_object_is_stored(storage, path)) return zn_file_remove(path, err);
    return pass_on(storage->remove(storage->cookie, path, why.text), &why, err);
}

// --- lists --------------------------------------------------------------------------------------

typedef struct object_list {
    zn_arena arena;
    zenith_object *objects;
    size_t count, capacity;
    size_t folder; // letters of its path
    zn_error *err;
} object_list;

// Folders of a file system pass names over that begin with a dot.
static bool is_hidden(const char *name)
{
    for (const char *at = name; at; at = strchr(at, '/')) {
        if (*at == '/') at++;
        if (*at == '.') return true;
    }
    return false;
}

static zenith_status add_object(void *cookie, const zenith_object *object)
{
    object_list *list = cookie;
    const size_t length = strlen(object->path);
    if (length <= list->folder + 1 || object->path[length - 1] == '/' || // what stands for a folder
        is_hidden(object->path + list->folder + 1))
        return ZENITH_OK;
    const char *path = zn_arena_text(&list->arena, object->path);
    if (!path) return zn_fail_memory(list->err, length + 1);
    ZN_TRY(zn_array_reserve((void **)&list->objects, &list->capacity, list->count + 1,
                            sizeof *list->objects, list->err));
    list->objects[list->count] = *object;
    list->objects[list->count++].path = path;
    return ZENITH_OK;
}

// The end of a folder's name comes before all letters: so do the files in a folder before those
// whose names go on.
static int by_folders(const void *a, const void *b)
{
    const unsigned char *x = (const unsigned char *)((const zenith_object *)a)->path;
    const unsigned char *y = (const unsigned char *)((const zenith_object *)b)->path;
    while (*x && *x == *y) x++, y++;
    const int left = *x == '/' ? 1 : *x ? *x + 1 : 0, right = *y == '/' ? 1 : *y ? *y + 1 : 0;
    return left - right;
}

zenith_status zn_object_each(const zenith_storage *storage, const char *folder, bool deep,
                             zenith_object_fn *each, void *cookie, zn_error *err)
{
    object_list list = {.folder = strlen(folder), .err = err};
    zn_error why = {0};
    while (list.folder > 0 && folder[list.folder - 1] == '/') list.folder--;
    zenith_status status = storage->list(storage->cookie, folder, deep, add_object, &list,
                                         why.text);
    (void)pass_on(status, &why, err);
    if (status == ZENITH_OK && list.count > 0)
        qsort(list.objects, list.count, sizeof *list.objects, by_folders);
    for (size_t i = 0; status == ZENITH_OK && i < list.count; i++)
        status = each(cookie, &list.objects[i]);
    zn_free(list.objects);
    zn_arena_free(&list.arena);
    return status;
}

// --- reading ------------------------------------------------------------------------------------

struct zn_object_reader {
    const zenith_storage *storage; // NULL: a file
    void *stream;
    zn_reader *file;
};

zenith_status zn_object_reader_open(const zenith_storage *storage, const char *path,
                                    const char *etag, zn_object_reader **out, zn_error *err)
{
    zn_error why = {0};
    zn_object_reader *made = zn_alloc_zero(sizeof *made);
    if (!made) return zn_fail_memory(err, sizeof *made);
    zenith_status status;
    if (zn_object_is_stored(storage, path)) {
        made->storage = storage;
        status = storage->read_open(storage->cookie, path, etag, &made->stream, why.text);
        (void)pass_on(status, &why, err);
    } else {
        status = zn_reader_open(path, &made->file, err);
    }
    if (status == ZENITH_OK)
        *out = made;
    else
        zn_free(made);
    return status;
}

zenith_status zn_object_reader_read(zn_object_reader *input, void *dst, size_t size, size_t *got,
                                    zn_error *err)
{
    zn_error why = {0};
    if (!input->storage) return zn_reader_read(input->file, dst, size, got, err);
    return pass_on(input->storage->read(input->stream, dst, size, got, why.text), &why, err);
}

void zn_object_reader_close(zn_object_reader *input)
{
    if (!input) return;
    if (input->storage) input->storage->read_close(input->stream);
    zn_reader_close(input->file);
    zn_free(input);
}

// --- writing ------------------------------------------------------------------------------------

struct zn_object_writer {
    const zenith_storage *storage; // NULL: a file
    void *stream;
    zn_writer *writer; // of a storage: into `bytes`
    zn_bytes bytes;
};

zenith_status zn_object_writer_open(const zenith_storage *storage, const char *path,
                                    zn_object_writer **out, zn_error *err)
{
    zn_error why = {0};
    zn_object_writer *made = zn_alloc_zero(sizeof *made);
    if (!made) return zn_fail_memory(err, sizeof *made);
    zenith_status status = zn_object_is_stored(storage, path)
                               ? zn_writer_open_bytes(&made->bytes, &made->writer, err)
                               : zn_writer_open(path, &made->writer, err);
    if (status == ZENITH_OK && zn_object_is_stored(storage, path)) {
        status = storage->write_open(storage->cookie, path, &made->stream, why.text);
        (void)pass_on(status, &why, err);
        if (status == ZENITH_OK) made->storage = storage;
    }
    if (status == ZENITH_OK)
        *out = made;
    else
        zn_object_writer_discard(made);
    return status;
}

zn_writer *zn_object_writer_file(zn_object_writer *output)
{
    return output->writer;
}

zenith_status zn_object_writer_drain(zn_object_writer *output, zn_error *err)
{
    zn_error why = {0};
    if (!output->storage || output->bytes.size == 0) return ZENITH_OK;
    const size_t size = output->bytes.size;
    output->bytes.size = 0;
    return pass_on(output->storage->write(output->stream, output->bytes.data, size, why.text), &why,
                   err);
}

zenith_status zn_object_writer_commit(zn_object_writer *output, char etag[ZN_OBJECT_ETAG],
                                      zn_error *err)
{
    zn_error why = {0};
    zn_writer *writer = output->writer;
    output->writer = NULL;
    etag[0] = '\0';
    zenith_status status = zn_writer_commit(writer, err);
    if (status == ZENITH_OK) status = zn_object_writer_drain(output, err);
    if (status == ZENITH_OK && output->storage) {
        const zenith_storage *storage = output->storage;
        output->storage = NULL;
        status = storage->write_close(output->stream, true, etag, why.text);
        etag[ZN_OBJECT_ETAG - 1] = '\0';
        (void)pass_on(status, &why, err);
    }
    zn_object_writer_discard(output);
    return status;
}

void zn_object_writer_discard(zn_object_writer *output)
{
    zn_error unheard;
    char etag[ZN_OBJECT_ETAG];
    if (!output) return;
    zn_writer_discard(output->writer);
    if (output->storage)
        (void)output->storage->write_close(output->stream, false, etag, unheard.text);
    zn_bytes_free(&output->bytes);
    zn_free(output);
}
