// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/text/captions.h"

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/text/lines.h"

static zenith_status add_text(zn_captions *captions, zn_bytes text, zn_error *err)
{
    if (text.size == 0) return ZENITH_OK;
    if (text.size > ZN_CAPTIONS_MOST - captions->bytes)
        return zn_fail(err, ZENITH_LIMIT, "the texts have more than %llu bytes: give fewer files",
                       (unsigned long long)ZN_CAPTIONS_MOST);
    ZN_TRY(zn_array_reserve((void **)&captions->texts, &captions->room, captions->count + 1,
                            sizeof *captions->texts, err));
    char *copy = zn_arena_alloc(&captions->arena, text.size);
    if (!copy) return zn_fail_memory(err, text.size);
    memcpy(copy, text.data, text.size);
    captions->texts[captions->count++] = (zn_bytes){copy, text.size};
    captions->bytes += text.size;
    return ZENITH_OK;
}

static zenith_status add_value(zn_captions *captions, const zn_json *value, zn_error *err)
{
    const char *text;
    if (!zn_json_as_text(value, &text))
        return zn_fail(err, ZENITH_BAD_FILE, "a caption is not a text");
    return add_text(captions, (zn_bytes){text, strlen(text)}, err);
}

static zenith_status add_object(zn_captions *captions, const zn_json *object, zn_error *err)
{
    const zn_json *one = zn_json_find(object, "caption"), *list = zn_json_find(object, "captions");
    if (!zn_json_is_object(object) || (!one && !list))
        return zn_fail(err, ZENITH_BAD_FILE, "no object with \"caption\" or \"captions\"");
    if (one) ZN_TRY(add_value(captions, one, err));
    if (list && !zn_json_is_array(list)) return add_value(captions, list, err);
    for (size_t i = 0; i < zn_json_size(list); i++)
        ZN_TRY(add_value(captions, zn_json_at(list, i), err));
    return ZENITH_OK;
}

static zenith_status add_json(zn_captions *captions, zn_bytes line, const char *where,
                              zn_error *err)
{
    zn_json *object = NULL;
    if (line.size == 0) return ZENITH_OK;
    ZN_TRY(zn_json_parse(line.data, line.size, where, &object, err));
    zenith_status status = add_object(captions, object, err);
    if (status != ZENITH_OK) zn_error_prefix(err, where);
    zn_json_free(object);
    return status;
}

static zenith_status add_line(zn_captions *captions, zn_bytes line, bool json, const char *where,
                              zn_error *err)
{
    const size_t valid = zn_utf8_valid(line.data, line.size);
    if (valid < line.size)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: not UTF-8, at byte %zu of the line", where,
                       valid + 1);
    return json ? add_json(captions, line, where, err) : add_text(captions, line, err);
}

zenith_status zn_captions_read(zn_captions *captions, zn_bytes file, const char *where,
                               atomic_int *cancel, zn_error *err)
{
    const bool json = zn_text_ends_with_nocase(where, ".jsonl");
    zn_bytes line;
    for (size_t number = 1; zn_lines_next(&file, &line); number++) {
        char place[256];
        if (cancel && atomic_load(cancel))
            return zn_fail(err, ZENITH_CANCELLED, "reading texts was cancelled");
        zn_text_format(place, sizeof place, "%.200s, line %zu", where, number);
        ZN_TRY(add_line(captions, line, json, place, err));
    }
    return ZENITH_OK;
}

void zn_captions_free(zn_captions *captions)
{
    zn_free(captions->texts);
    zn_arena_free(&captions->arena);
    *captions = (zn_captions){0};
}
