// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/caption_ids.h"

#include "src/base/json.h"
#include "src/base/memory.h"

#include <string.h>

typedef struct reading {
    const char *name;
    size_t line; // from 1
    int64_t vocabulary;
    size_t most;
    zn_caption_ids *captions;
} reading;

static zenith_status wrong(const reading *r, zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE,
                   "%s, line %zu: {\"ids\": [NUMBERS]} is expected, 1 to %zu numbers of tokens "
                   "from 0 to %lld, or once {\"empty\": [NUMBERS]}",
                   r->name, r->line, r->most, (long long)r->vocabulary - 1);
}

// Adds the numbers of a list to an array that has `have` of them.
static zenith_status add_numbers(const reading *r, const zn_json *list, int32_t **array,
                                 size_t *capacity, size_t have, zn_error *err)
{
    const size_t count = zn_json_size(list);
    if (!zn_json_is_array(list) || count < 1 || count > r->most) return wrong(r, err);
    ZN_TRY(zn_array_reserve((void **)array, capacity, have + count, sizeof **array, err));
    for (size_t i = 0; i < count; i++) {
        int64_t number = 0;
        if (!zn_json_as_integer(zn_json_at(list, i), &number) || number < 0 ||
            number >= r->vocabulary)
            return wrong(r, err);
        (*array)[have + i] = (int32_t)number;
    }
    return ZENITH_OK;
}

static zenith_status add_line(const reading *r, const zn_json *line, zn_error *err)
{
    zn_caption_ids *c = r->captions;
    const zn_json *ids = zn_json_is_object(line) ? zn_json_find(line, "ids") : NULL;
    const zn_json *empty = zn_json_is_object(line) ? zn_json_find(line, "empty") : NULL;
    if (!ids == !empty || zn_json_size(line) != 1 || (empty && c->empty_count > 0))
        return wrong(r, err);
    if (empty) {
        ZN_TRY(add_numbers(r, empty, &c->empty, &c->empty_capacity, 0, err));
        c->empty_count = zn_json_size(empty);
        return ZENITH_OK;
    }
    ZN_TRY(zn_array_reserve((void **)&c->begin, &c->begin_capacity, c->count + 2, sizeof *c->begin,
                            err));
    ZN_TRY(add_numbers(r, ids, &c->ids, &c->ids_capacity, c->begin[c->count], err));
    c->begin[c->count + 1] = c->begin[c->count] + zn_json_size(ids);
    c->count++;
    return ZENITH_OK;
}

static zenith_status read_line(const reading *r, const char *text, size_t size, zn_error *err)
{
    zn_json *line = NULL;
    ZN_TRY(zn_json_parse(text, size, r->name, &line, err));
    zenith_status status = add_line(r, line, err);
    zn_json_free(line);
    return status;
}

zenith_status zn_caption_ids_read(const uint8_t *data, size_t size, const char *name,
                                  int64_t vocabulary, size_t most, zn_caption_ids *out,
                                  zn_error *err)
{
    zn_caption_ids captions = {.ids = NULL};
    reading r = {name, 0, vocabulary, most, &captions};
    zenith_status status = ZENITH_OK;
    for (const char *at = (const char *)data; size > 0 && status == ZENITH_OK;) {
        const char *end = memchr(at, '\n', size);
        const size_t length = end ? (size_t)(end - at) : size;
        r.line++;
        status = read_line(&r, at, length, err);
        at += end ? length + 1 : length;
        size -= end ? length + 1 : length;
    }
    if (status == ZENITH_OK && captions.count == 0)
        status = zn_fail(err, ZENITH_BAD_FILE, "%s has no captions", name);
    if (status == ZENITH_OK)
        *out = captions;
    else
        zn_caption_ids_free(&captions);
    return status;
}

void zn_caption_ids_free(zn_caption_ids *captions)
{
    zn_free(captions->ids);
    zn_free(captions->begin);
    zn_free(captions->empty);
    *captions = (zn_caption_ids){.ids = NULL};
}

zn_caption zn_caption_ids_get(const zn_caption_ids *captions, size_t index)
{
    const size_t begin = captions->begin[index];
    return (zn_caption){captions->ids + begin, captions->begin[index + 1] - begin};
}

zn_caption zn_caption_ids_empty(const zn_caption_ids *captions)
{
    return (zn_caption){captions->empty, captions->empty_count};
}
