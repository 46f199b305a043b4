// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/tensor/weights_index.h"

#include "src/base/json.h"
#include "src/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 100, SHARD_NAME_MAX = 255 };

typedef struct map_reader {
    zn_arena *arena;
    const char *where;
    zn_index_entry *entries;
    size_t done;
} map_reader;

// A name that means a file of the same folder and nothing else, on any system.
static bool is_plain_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > SHARD_NAME_MAX || name[0] == '.') return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c < ' ' || c == 127 || c == '/' || c == '\\' || c == ':') return false;
    }
    return zn_text_ends_with(name, ".safetensors");
}

static zenith_status read_mapping(void *cookie, const char *key, const zn_json *value,
                                  zn_error *err)
{
    map_reader *reader = cookie;
    const char *shard;
    if (!zn_json_as_text(value, &shard))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: the file of tensor \"%.*s\" is not a string",
                       reader->where, NAME_SHOWN, key);
    if (!is_plain_name(shard))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: \"%.*s\" is not the name of a .safetensors file in the same folder",
                       reader->where, NAME_SHOWN, shard);
    zn_index_entry *entry = &reader->entries[reader->done++];
    entry->tensor = zn_arena_text(reader->arena, key);
    entry->shard = zn_arena_text(reader->arena, shard);
    if (!entry->tensor || !entry->shard) return zn_fail_memory(err, strlen(key) + strlen(shard));
    return ZENITH_OK;
}

static int by_shard(const void *a, const void *b)
{
    const zn_index_entry *x = a, *y = b;
    int order = strcmp(x->shard, y->shard);
    return order ? order : strcmp(x->tensor, y->tensor);
}

static zenith_status read_map(map_reader *reader, const zn_json *index, zn_error *err)
{
    const zn_json *map = NULL;
    zn_error what = {{0}};
    if (!zn_json_is_object(index))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: not a JSON object", reader->where);
    zenith_status status = zn_json_get_object(index, "weight_map", &map, &what);
    if (status != ZENITH_OK) return zn_fail(err, status, "%s: %s", reader->where, what.text);
    size_t count = zn_json_size(map);
    if (count == 0)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: \"weight_map\" is empty", reader->where);
    reader->entries = zn_arena_alloc(reader->arena, count * sizeof *reader->entries);
    if (!reader->entries) return zn_fail_memory(err, count * sizeof *reader->entries);
    ZN_TRY(zn_json_each(map, read_mapping, reader, err));
    qsort(reader->entries, count, sizeof *reader->entries, by_shard);
    return ZENITH_OK;
}

zenith_status zn_weights_index_parse(const char *text, size_t size, const char *where,
                                     zn_arena *arena, zn_index_entry **out, size_t *count,
                                     zn_error *err)
{
    zn_json *index = NULL;
    ZN_TRY(zn_json_parse(text, size, where, &index, err));
    map_reader reader = {.arena = arena, .where = where};
    zenith_status status = read_map(&reader, index, err);
    zn_json_free(index);
    ZN_TRY(status);
    *out = reader.entries;
    *count = reader.done;
    return ZENITH_OK;
}
