// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/archive/caption_ids.h"

#include "src/base/json.h"
#include "src/base/memory.h"

#include <string.h>

typedef struct reading {
    const zn_caption_reader *by;
    size_t line; // from 1
    zn_caption_ids *captions;
} reading;

static zenith_status wrong(const reading *r, zn_error *err)
{
    const zn_caption_reader *by = r->by;
    if (by->encode)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s, line %zu: {\"caption\": TEXT} or {\"captions\": [TEXTS]} is expected, "
                       "of texts with 1 to %zu tokens each, with what is put around a prompt",
                       by->name, r->line, by->most);
    return zn_fail(err, ZENITH_BAD_FILE,
                   "%s, line %zu: {\"ids\": [NUMBERS]} is expected, 1 to %zu numbers of tokens "
                   "from 0 to %lld, or several such lists, or once {\"empty\": [NUMBERS]}",
                   by->name, r->line, by->most, (long long)by->vocabulary - 1);
}

// --- numbers ------------------------------------------------------------------------------------

// Adds the numbers of a list to an array that has `have` of them.
static zenith_status add_numbers(const reading *r, const zn_json *list, int32_t **array,
                                 size_t *capacity, size_t have, zn_error *err)
{
    const size_t count = zn_json_size(list);
    if (!zn_json_is_array(list) || count < 1 || count > r->by->most) return wrong(r, err);
    ZN_TRY(zn_array_reserve((void **)array, capacity, have + count, sizeof **array, err));
    for (size_t i = 0; i < count; i++) {
        int64_t number = 0;
        if (!zn_json_as_integer(zn_json_at(list, i), &number) || number < 0 ||
            number >= r->by->vocabulary)
            return wrong(r, err);
        (*array)[have + i] = (int32_t)number;
    }
    return ZENITH_OK;
}

// After the numbers of a caption are there.
static zenith_status end_caption(zn_caption_ids *c, size_t count, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&c->begin, &c->begin_capacity, c->captions + 2,
                            sizeof *c->begin, err));
    if (c->captions == 0) c->begin[0] = 0;
    c->begin[c->captions + 1] = c->begin[c->captions] + count;
    c->captions++;
    return ZENITH_OK;
}

static size_t numbers_of(const zn_caption_ids *c)
{
    return c->captions ? c->begin[c->captions] : 0;
}

static zenith_status add_list(const reading *r, const zn_json *list, zn_error *err)
{
    zn_caption_ids *c = r->captions;
    ZN_TRY(add_numbers(r, list, &c->ids, &c->ids_capacity, numbers_of(c), err));
    return end_caption(c, zn_json_size(list), err);
}

static zenith_status add_lists(const reading *r, const zn_json *ids, zn_error *err)
{
    if (!zn_json_is_array(ids) || zn_json_size(ids) == 0 || !zn_json_is_array(zn_json_at(ids, 0)))
        return add_list(r, ids, err);
    for (size_t i = 0; i < zn_json_size(ids); i++) ZN_TRY(add_list(r, zn_json_at(ids, i), err));
    return ZENITH_OK;
}

// --- texts --------------------------------------------------------------------------------------

static zenith_status add_encoded(const reading *r, const int32_t *ids, size_t count, zn_error *err)
{
    zn_caption_ids *c = r->captions;
    const size_t have = numbers_of(c);
    if (count < 1 || count > r->by->most) return wrong(r, err);
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= r->by->vocabulary)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "%s, line %zu: the tokenizer has a token %d, and the network %lld rows "
                           "of tokens",
                           r->by->name, r->line, (int)ids[i], (long long)r->by->vocabulary);
    ZN_TRY(zn_array_reserve((void **)&c->ids, &c->ids_capacity, have + count, sizeof *ids, err));
    memcpy(c->ids + have, ids, count * sizeof *ids);
    return end_caption(c, count, err);
}

// among: of several texts, which may be left out.
static zenith_status add_text(const reading *r, const zn_json *value, bool among, zn_error *err)
{
    const char *text = NULL;
    int32_t *ids = NULL;
    size_t count = 0;
    if (!zn_json_as_text(value, &text)) return wrong(r, err);
    ZN_TRY(r->by->encode(r->by->cookie, text, &ids, &count, err));
    const bool left_out = among && count > r->by->most;
    zenith_status status = left_out ? ZENITH_OK : add_encoded(r, ids, count, err);
    r->captions->left_out += left_out;
    zn_free(ids);
    return status;
}

static zenith_status add_texts(const reading *r, const zn_json *line, zn_error *err)
{
    const zn_json *one = zn_json_find(line, "caption"), *several = zn_json_find(line, "captions");
    if (!one == !several) return wrong(r, err);
    if (one) return add_text(r, one, false, err);
    if (!zn_json_is_array(several)) return wrong(r, err);
    const size_t before = r->captions->captions;
    for (size_t i = 0; i < zn_json_size(several); i++)
        ZN_TRY(add_text(r, zn_json_at(several, i), true, err));
    return r->captions->captions > before ? ZENITH_OK : wrong(r, err);
}

static zenith_status encode_empty(const reading *r, zn_error *err)
{
    zn_caption_ids *c = r->captions;
    ZN_TRY(r->by->encode(r->by->cookie, "", &c->empty, &c->empty_count, err));
    return c->empty_count <= r->by->most ? ZENITH_OK : wrong(r, err);
}

// --- lines --------------------------------------------------------------------------------------

static zenith_status add_line(const reading *r, const zn_json *line, zn_error *err)
{
    zn_caption_ids *c = r->captions;
    if (!zn_json_is_object(line)) return wrong(r, err);
    const zn_json *ids = zn_json_find(line, "ids"), *empty = zn_json_find(line, "empty");
    const bool texts = r->by->encode;
    if (!texts && (!ids == !empty || zn_json_size(line) != 1 || (empty && c->empty_count > 0)))
        return wrong(r, err);
    if (!texts && empty) {
        ZN_TRY(add_numbers(r, empty, &c->empty, &c->empty_capacity, 0, err));
        c->empty_count = zn_json_size(empty);
        return ZENITH_OK;
    }
    ZN_TRY(zn_array_reserve((void **)&c->first, &c->first_capacity, c->count + 2, sizeof *c->first,
                            err));
    if (c->count == 0) c->first[0] = 0;
    ZN_TRY(texts ? add_texts(r, line, err) : add_lists(r, ids, err));
    c->first[++c->count] = c->captions;
    return ZENITH_OK;
}

static zenith_status read_line(const reading *r, const char *text, size_t size, zn_error *err)
{
    zn_json *line = NULL;
    ZN_TRY(zn_json_parse(text, size, r->by->name, &line, err));
    zenith_status status = add_line(r, line, err);
    zn_json_free(line);
    return status;
}

zenith_status zn_caption_ids_read(const uint8_t *data, size_t size, const zn_caption_reader *by,
                                  zn_caption_ids *out, zn_error *err)
{
    zn_caption_ids captions = {.ids = NULL};
    reading r = {by, 0, &captions};
    zenith_status status = by->encode ? encode_empty(&r, err) : ZENITH_OK;
    for (const char *at = (const char *)data; size > 0 && status == ZENITH_OK;) {
        const char *end = memchr(at, '\n', size);
        const size_t length = end ? (size_t)(end - at) : size;
        r.line++;
        status = read_line(&r, at, length, err);
        at += end ? length + 1 : length;
        size -= end ? length + 1 : length;
    }
    if (status == ZENITH_OK && captions.count == 0)
        status = zn_fail(err, ZENITH_BAD_FILE, "%s has no captions", by->name);
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
    zn_free(captions->first);
    zn_free(captions->empty);
    *captions = (zn_caption_ids){.ids = NULL};
}

size_t zn_caption_ids_several(const zn_caption_ids *captions, size_t index)
{
    return captions->first[index + 1] - captions->first[index];
}

zn_caption zn_caption_ids_get(const zn_caption_ids *captions, size_t index, size_t which)
{
    const size_t *begin = captions->begin + captions->first[index] + which;
    return (zn_caption){captions->ids + begin[0], begin[1] - begin[0]};
}

zn_caption zn_caption_ids_empty(const zn_caption_ids *captions)
{
    return (zn_caption){captions->empty, captions->empty_count};
}
