// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/pipeline/model_index.h"

#include "src/base/json.h"

#include <string.h>

enum { NAME_SHOWN = 100, NAME_MOST = 64, COMPONENTS_MOST = 64 };

typedef struct index_reader {
    zn_arena *arena;
    const char *where;
    zn_model_index index;
} index_reader;

// The name of a folder beside the index and nothing else, on any system.
static bool is_plain_name(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > NAME_MOST || name[0] == '.') return false;
    for (size_t i = 0; i < length; i++) {
        const char c = name[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-' && c != '.') return false;
    }
    return true;
}

static zenith_status keep(index_reader *reader, const char *text, const char **out, zn_error *err)
{
    *out = zn_arena_text(reader->arena, text);
    return *out ? ZENITH_OK : zn_fail_memory(err, strlen(text) + 1);
}

static zenith_status add_component(index_reader *reader, const char *name, const char *library,
                                   const char *kind, zn_error *err)
{
    if (!is_plain_name(name))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: \"%.*s\" is not the name of a folder beside it",
                       reader->where, NAME_SHOWN, name);
    if (reader->index.count == COMPONENTS_MOST)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: more than %d components", reader->where,
                       COMPONENTS_MOST);
    zn_model_component *component = &reader->index.components[reader->index.count];
    ZN_TRY(keep(reader, name, &component->name, err));
    ZN_TRY(keep(reader, library, &component->library, err));
    ZN_TRY(keep(reader, kind, &component->kind, err));
    reader->index.count++;
    return ZENITH_OK;
}

static zenith_status read_entry(void *cookie, const char *key, const zn_json *value, zn_error *err)
{
    index_reader *reader = cookie;
    const char *library, *kind;
    if (strcmp(key, "_class_name") == 0) {
        if (!zn_json_as_text(value, &kind))
            return zn_fail(err, ZENITH_BAD_FILE, "%s: \"_class_name\" is not a string",
                           reader->where);
        return keep(reader, kind, &reader->index.kind, err);
    }
    if (key[0] == '_' || !zn_json_is_array(value) || zn_json_size(value) != 2) return ZENITH_OK;
    if (!zn_json_as_text(zn_json_at(value, 0), &library) ||
        !zn_json_as_text(zn_json_at(value, 1), &kind))
        return ZENITH_OK;
    return add_component(reader, key, library, kind, err);
}

static zenith_status read_index(index_reader *reader, const zn_json *json, zn_error *err)
{
    if (!zn_json_is_object(json))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: not a JSON object", reader->where);
    const size_t bytes = COMPONENTS_MOST * sizeof *reader->index.components;
    reader->index.components = zn_arena_alloc(reader->arena, bytes);
    if (!reader->index.components) return zn_fail_memory(err, bytes);
    ZN_TRY(zn_json_each(json, read_entry, reader, err));
    if (reader->index.count > 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "%s: it names no models", reader->where);
}

zenith_status zn_model_index_parse(const char *text, size_t size, const char *where,
                                   zn_arena *arena, zn_model_index *out, zn_error *err)
{
    zn_json *json = NULL;
    ZN_TRY(zn_json_parse(text, size, where, &json, err));
    index_reader reader = {.arena = arena, .where = where, .index = {.kind = ""}};
    zenith_status status = read_index(&reader, json, err);
    zn_json_free(json);
    ZN_TRY(status);
    *out = reader.index;
    return ZENITH_OK;
}
