// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See json.h.
#include "apps/serve/parse/json.h"

#include <math.h>
#include <string.h>

// Brackets and commas outside of texts; whatever this lets through wrongly, jansson refuses.
static bool is_bounded(const char *text, size_t size)
{
    size_t depth = 0, values = 1;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{' || c == ','))
            values++;
        if (!quoted && (c == '[' || c == '{') && ++depth > SERVE_JSON_DEPTH) return false;
        if (!quoted && (c == ']' || c == '}') && depth > 0) depth--;
        if (values > SERVE_JSON_VALUES) return false;
    }
    return true;
}

json_t *serve_json_read(const void *text, size_t size, serve_failure *failure)
{
    json_error_t fault;
    if (size == 0) {
        serve_fail_request(failure, "the body is empty");
        return NULL;
    }
    if (!is_bounded(text, size)) {
        serve_fail_size(failure, "JSON has at most %d values here, in at most %d levels",
                        SERVE_JSON_VALUES, SERVE_JSON_DEPTH);
        return NULL;
    }
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault);
    if (json_is_object(object)) return object;
    if (object != NULL)
        serve_fail_request(failure, "the body is an object of JSON: {...}");
    else
        serve_fail_request(failure, "broken JSON at byte %d: %s", fault.position, fault.text);
    json_decref(object);
    return NULL;
}

static const json_t *find(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

bool serve_json_bool(const json_t *object, const char *name, bool *out, serve_failure *failure)
{
    const json_t *value = find(object, name);
    if (value == NULL) return true;
    if (!json_is_boolean(value)) return serve_fail_request(failure, "'%s' is true or false", name);
    *out = json_is_true(value);
    return true;
}

bool serve_json_number(const json_t *object, const char *name, int64_t min, int64_t max,
                       int64_t *out, serve_failure *failure)
{
    const json_t *value = find(object, name);
    if (value == NULL) return true;
    if (!json_is_integer(value) || json_integer_value(value) < min ||
        json_integer_value(value) > max)
        return serve_fail_request(failure, "'%s' is a whole number from %lld to %lld", name,
                                  (long long)min, (long long)max);
    *out = json_integer_value(value);
    return true;
}

bool serve_json_real(const json_t *object, const char *name, double min, double max, double *out,
                     serve_failure *failure)
{
    const json_t *value = find(object, name);
    if (value == NULL) return true;
    const double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= min && number <= max))
        return serve_fail_request(failure, "'%s' is a number from %g to %g", name, min, max);
    *out = number;
    return true;
}

bool serve_json_text(const json_t *object, const char *name, size_t longest, const char **out,
                     serve_failure *failure)
{
    const json_t *value = find(object, name);
    if (value == NULL) return true;
    if (!json_is_string(value) || json_string_length(value) > longest ||
        strlen(json_string_value(value)) != json_string_length(value))
        return serve_fail_request(failure, "'%s' is a text of at most %zu bytes", name, longest);
    *out = json_string_value(value);
    return true;
}

bool serve_json_known(const json_t *object, const char *const *known, serve_failure *failure)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        const char *const *each = known;
        while (*each && strcmp(*each, name) != 0) each++;
        if (!*each) return serve_fail_request(failure, "there is no member '%.40s' here", name);
    }
    return true;
}
