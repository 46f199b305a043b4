// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The bounds are checked by one pass over the bytes that knows strings and brackets and nothing
// else; whatever it lets through wrongly, jansson refuses.
#include "src/base/json.h"

#include "src/base/memory.h"
#include "src/base/os.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

typedef struct scan {
    size_t depth;  // deepest nesting
    size_t values; // at least as many as the text has
} scan;

static scan scan_text(const char *text, size_t size)
{
    scan found = {.depth = 0, .values = 1};
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (quoted) {
            if (c == '\\') i++;
            if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            found.values++; // the bracket's first member; each further one has its comma
            if (++depth > found.depth) found.depth = depth;
        } else if (c == ',') {
            found.values++;
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return found;
}

static zenith_status check_bounds(const char *text, size_t size, const char *where, zn_error *err)
{
    if (size > ZN_JSON_MAX_BYTES)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: %zu bytes of JSON, more than the limit of %zu",
                       where, size, ZN_JSON_MAX_BYTES);
    scan found = scan_text(text, size);
    if (found.depth > ZN_JSON_MAX_DEPTH)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: JSON nested %zu levels deep, more than the limit of %d", where,
                       found.depth, ZN_JSON_MAX_DEPTH);
    if (found.values > ZN_JSON_MAX_VALUES)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: JSON with %zu values, more than the limit of %zu",
                       where, found.values, ZN_JSON_MAX_VALUES);
    return ZENITH_OK;
}

zenith_status zn_json_parse(const char *text, size_t size, const char *where, zn_json **out,
                            zn_error *err)
{
    ZN_TRY(check_bounds(text, size, where, err));
    json_error_t fault;
    json_t *value = json_loadb(size ? text : "", size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
                               &fault);
    if (value) {
        *out = value;
        return ZENITH_OK;
    }
    // Every fault of the text has a code; most places where jansson runs out of memory set none.
    enum json_error_code code = json_error_code(&fault);
    if (code == json_error_out_of_memory || code == json_error_unknown)
        return zn_fail_memory(err, size);
    return zn_fail(err, ZENITH_BAD_FILE, "%s: broken JSON at byte %d: %s", where, fault.position,
                   fault.text);
}

zenith_status zn_json_open(const char *path, zn_json **out, zn_error *err)
{
    zn_mapped file = {0};
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_json_parse((const char *)file.data, file.size, path, out, err);
    zn_mapped_close(&file);
    return status;
}

void zn_json_free(zn_json *value)
{
    json_decref(value);
}

zenith_status zn_json_dump(const zn_json *value, char **out, size_t *size, zn_error *err)
{
    const size_t flags = JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY;
    size_t length = json_dumpb(value, NULL, 0, flags);
    if (length == 0) return zn_fail_memory(err, 1);
    char *text = zn_alloc(length + 1);
    if (!text) return zn_fail_memory(err, length + 1);
    if (json_dumpb(value, text, length, flags) != length) {
        zn_free(text);
        return zn_fail_memory(err, length);
    }
    text[length] = '\0';
    *out = text;
    if (size) *size = length;
    return ZENITH_OK;
}

zenith_status zn_json_texts(const char *const *texts, size_t count, zn_json **out, zn_error *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(list, json_string(texts[i])) != 0) {
            json_decref(list);
            return zn_fail_memory(err, count);
        }
    if (!list) return zn_fail_memory(err, 1);
    *out = list;
    return ZENITH_OK;
}

zenith_status zn_json_replaced(const zn_json *object, const char *key, const zn_json *value,
                               zn_json **out, zn_error *err)
{
    json_t *copy = json_is_object(object) ? json_deep_copy(object) : json_object();
    if (json_object_set_new(copy, key, json_deep_copy(value)) == 0) {
        *out = copy;
        return ZENITH_OK;
    }
    json_decref(copy);
    return zn_fail_memory(err, strlen(key));
}

// Nine digits are always enough for a float; most that people write need fewer.
zenith_status zn_json_float_text(float value, char dst[32], zn_error *err)
{
    if (!isfinite(value))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "a number that is not finite has no text");
    json_t *number = json_real((double)value);
    if (!number) return zn_fail_memory(err, sizeof(json_t));
    for (unsigned digits = 6; digits <= 9; digits++) {
        size_t length = json_dumpb(number, dst, 31, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
        json_t *back = length && length < 32 ? json_loadb(dst, length, JSON_DECODE_ANY, NULL)
                                             : NULL;
        bool same = back && (float)json_number_value(back) == value;
        json_decref(back);
        if (same) {
            json_decref(number);
            dst[length] = '\0';
            return ZENITH_OK;
        }
    }
    json_decref(number);
    return zn_fail_memory(err, sizeof(json_t)); // with memory, nine digits have been enough
}

bool zn_json_has(const zn_json *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value);
}

static const char *type_name(const json_t *value)
{
    if (!value) return "absent";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "unknown";
}

static zenith_status wrong_type(const char *key, const char *wanted, const json_t *found,
                                zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE, "\"%.*s\" must be %s but is %s", 80, key, wanted,
                   type_name(found));
}

zenith_status zn_json_get_text(const zn_json *object, const char *key, const char **out,
                               zn_error *err)
{
    const json_t *value = json_object_get(object, key);
    if (!zn_json_as_text(value, out)) return wrong_type(key, "a string", value, err);
    return ZENITH_OK;
}

zenith_status zn_json_get_integer(const zn_json *object, const char *key, int64_t min, int64_t max,
                                  int64_t *out, zn_error *err)
{
    const json_t *value = json_object_get(object, key);
    int64_t found;
    if (!zn_json_as_integer(value, &found)) return wrong_type(key, "an integer", value, err);
    if (found < min || found > max)
        return zn_fail(err, ZENITH_BAD_FILE, "\"%.*s\" is %lld and must be between %lld and %lld",
                       80, key, (long long)found, (long long)min, (long long)max);
    *out = found;
    return ZENITH_OK;
}

zenith_status zn_json_get_number(const zn_json *object, const char *key, double *out, zn_error *err)
{
    const json_t *value = json_object_get(object, key);
    if (!zn_json_as_number(value, out)) return wrong_type(key, "a number", value, err);
    return ZENITH_OK;
}

zenith_status zn_json_get_flag(const zn_json *object, const char *key, bool *out, zn_error *err)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value)) return wrong_type(key, "true or false", value, err);
    *out = json_is_true(value);
    return ZENITH_OK;
}

zenith_status zn_json_get_array(const zn_json *object, const char *key, const zn_json **out,
                                zn_error *err)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_array(value)) return wrong_type(key, "an array", value, err);
    *out = value;
    return ZENITH_OK;
}

zenith_status zn_json_get_object(const zn_json *object, const char *key, const zn_json **out,
                                 zn_error *err)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_object(value)) return wrong_type(key, "an object", value, err);
    *out = value;
    return ZENITH_OK;
}

bool zn_json_is_object(const zn_json *value)
{
    return json_is_object(value);
}

bool zn_json_is_array(const zn_json *value)
{
    return json_is_array(value);
}

size_t zn_json_size(const zn_json *value)
{
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}

bool zn_json_as_text(const zn_json *value, const char **out)
{
    if (!json_is_string(value)) return false;
    *out = json_string_value(value);
    return true;
}

bool zn_json_as_integer(const zn_json *value, int64_t *out)
{
    if (!json_is_integer(value)) return false;
    *out = (int64_t)json_integer_value(value);
    return true;
}

bool zn_json_as_number(const zn_json *value, double *out)
{
    if (!json_is_number(value)) return false;
    *out = json_number_value(value);
    return true;
}

const zn_json *zn_json_find(const zn_json *object, const char *key)
{
    return json_object_get(object, key);
}

const zn_json *zn_json_at(const zn_json *array, size_t index)
{
    return json_array_get(array, index);
}

zenith_status zn_json_each(const zn_json *object,
                           zenith_status (*each)(void *cookie, const char *key,
                                                 const zn_json *value, zn_error *err),
                           void *cookie, zn_error *err)
{
    // jansson's iterators do not change the object; their argument is not const because values may
    // be set through them.
    json_t *members = (json_t *)(uintptr_t)object;
    for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at))
        ZN_TRY(each(cookie, json_object_iter_key(at), json_object_iter_value(at), err));
    return ZENITH_OK;
}
