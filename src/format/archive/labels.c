// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Both forms become one table of texts, a row for each picture and NULL where it has no value;
// columns are made of that.
#include "src/format/archive/labels.h"

#include "src/base/json.h"
#include "src/base/os.h"
#include "src/base/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ATTRIBUTES = 4096, MOST_VALUES = 256, MOST_COLUMNS = 1 << 14, MOST_ROWS = 1 << 24 };

typedef struct record {
    const char *picture;
    const char **cells; // [attributes]
} record;

typedef struct table {
    zn_arena arena; // owns texts and cells
    const char *where;
    const char **attributes;
    size_t count, capacity; // of attributes
    record *records;
    size_t records_count, records_capacity;
} table;

static zenith_status bad(const table *t, zn_error *err, const char *what, const char *which)
{
    return zn_fail(err, ZENITH_BAD_FILE, "%s: %s '%.80s'", t->where, what, which);
}

static zenith_status keep(table *t, const char *text, size_t length, const char **out,
                          zn_error *err)
{
    char *copy = zn_arena_alloc(&t->arena, length + 1);
    if (!copy) return zn_fail_memory(err, length + 1);
    memcpy(copy, text, length);
    *out = copy;
    return ZENITH_OK;
}

static zenith_status add_attribute(table *t, const char *name, zn_error *err)
{
    if (!*name || zn_utf8_valid(name, strlen(name)) != strlen(name))
        return bad(t, err, "this is no name of an attribute:", name);
    if (t->count == MOST_ATTRIBUTES)
        return bad(t, err, "there are more attributes than 4096:", name);
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->attributes[i], name) == 0)
            return bad(t, err, "there are two attributes of one name:", name);
    ZN_TRY(zn_array_reserve((void **)&t->attributes, &t->capacity, t->count + 1,
                            sizeof *t->attributes, err));
    ZN_TRY(keep(t, name, strlen(name), &t->attributes[t->count], err));
    t->count++;
    return ZENITH_OK;
}

// A picture without values so far.
static zenith_status add_record(table *t, const char *picture, record **out, zn_error *err)
{
    if (!*picture) return bad(t, err, "a picture has no name after", "");
    if (t->records_count == MOST_ROWS) return bad(t, err, "there are too many pictures:", picture);
    ZN_TRY(zn_array_reserve((void **)&t->records, &t->records_capacity, t->records_count + 1,
                            sizeof *t->records, err));
    record *r = &t->records[t->records_count];
    r->cells = zn_arena_alloc(&t->arena, t->count * sizeof *r->cells);
    if (!r->cells) return zn_fail_memory(err, t->count * sizeof *r->cells);
    ZN_TRY(keep(t, picture, strlen(picture), &r->picture, err));
    t->records_count++;
    *out = r;
    return ZENITH_OK;
}

// --- JSON ---------------------------------------------------------------------------------------

static zenith_status take_value(table *t, const record *r, size_t attribute, const json_t *value,
                                zn_error *err)
{
    char number[32];
    const char *text = number;
    if (json_is_null(value)) return ZENITH_OK;
    if (json_is_string(value))
        text = json_string_value(value);
    else if (json_is_boolean(value))
        text = json_is_true(value) ? "1" : "0";
    else if (json_is_integer(value))
        zn_text_format(number, sizeof number, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        zn_text_format(number, sizeof number, "%g", json_real_value(value));
    else
        return bad(t, err, "a value is neither number nor text, of the picture", r->picture);
    return keep(t, text, strlen(text), &r->cells[attribute], err);
}

static zenith_status take_list(table *t, const record *r, const json_t *list, zn_error *err)
{
    if (json_array_size(list) != t->count)
        return bad(t, err, "there are not as many values as attributes, of the picture",
                   r->picture);
    for (size_t i = 0; i < t->count; i++) ZN_TRY(take_value(t, r, i, json_array_get(list, i), err));
    return ZENITH_OK;
}

static zenith_status take_members(table *t, const record *r, const json_t *object, zn_error *err)
{
    for (size_t i = 0; i < t->count; i++) {
        const json_t *value = json_object_get(object, t->attributes[i]);
        if (value) ZN_TRY(take_value(t, r, i, value, err));
    }
    return ZENITH_OK;
}

// The attributes of a form without their list: all that pictures have.
static zenith_status collect_attributes(table *t, json_t *labels, zn_error *err)
{
    const char *picture, *name;
    json_t *values, *value;
    json_t *seen = json_object();
    zenith_status status = seen ? ZENITH_OK : zn_fail_memory(err, 1);
    json_object_foreach(labels, picture, values)
    {
        json_object_foreach(values, name, value)
        {
            if (status != ZENITH_OK || json_object_get(seen, name)) continue;
            status = json_object_set_new(seen, name, json_true()) == 0 ? add_attribute(t, name, err)
                                                                       : zn_fail_memory(err, 1);
        }
    }
    json_decref(seen);
    return status;
}

static zenith_status list_attributes(table *t, const zn_json *document, json_t *labels,
                                     zn_error *err)
{
    const zn_json *names = zn_json_find(document, "attributes");
    if (!zn_json_is_array(names)) return collect_attributes(t, labels, err);
    for (size_t i = 0; i < zn_json_size(names); i++) {
        const char *name = "";
        (void)zn_json_as_text(zn_json_at(names, i), &name);
        ZN_TRY(add_attribute(t, name, err));
    }
    return ZENITH_OK;
}

static zenith_status take_labels(table *t, const zn_json *document, json_t *labels, zn_error *err)
{
    const char *picture;
    json_t *values;
    ZN_TRY(list_attributes(t, document, labels, err));
    json_object_foreach(labels, picture, values)
    {
        record *r;
        ZN_TRY(add_record(t, picture, &r, err));
        if (json_is_array(values))
            ZN_TRY(take_list(t, r, values, err));
        else if (json_is_object(values))
            ZN_TRY(take_members(t, r, values, err));
        else
            return bad(t, err, "there is no list or object of values of the picture", picture);
    }
    return ZENITH_OK;
}

static zenith_status read_json(table *t, const char *text, size_t size, zn_error *err)
{
    zn_json *document = NULL;
    ZN_TRY(zn_json_parse(text, size, t->where, &document, err));
    json_t *labels = json_object_get(document, "labels");
    if (!json_is_object(labels)) labels = document;
    zenith_status status = take_labels(t, document, labels, err);
    zn_json_free(document);
    return status;
}

// --- CSV ----------------------------------------------------------------------------------------

typedef struct csv {
    const char *at, *end;
    char *field; // the last one, unquoted; room for all of the text
    size_t length;
    bool last; // of its line
} csv;

// Commas and line ends inside of quotes are text, "" is a quote.
static void next_field(csv *c)
{
    bool quoted = c->at < c->end && *c->at == '"';
    c->length = 0;
    c->at += quoted;
    while (c->at < c->end) {
        const char now = *c->at++;
        if (quoted && now == '"' && c->at < c->end && *c->at == '"') {
            c->field[c->length++] = *c->at++;
        } else if (quoted && now == '"') {
            quoted = false;
        } else if (!quoted && (now == ',' || now == '\n')) {
            c->last = now == '\n';
            goto done;
        } else if (quoted || now != '\r') {
            c->field[c->length++] = now;
        }
    }
    c->last = true;
done:
    c->field[c->length] = 0;
}

static zenith_status take_line(table *t, csv *c, zn_error *err)
{
    record *r = NULL;
    next_field(c);
    if (c->last && c->length == 0) return ZENITH_OK; // an empty line
    ZN_TRY(add_record(t, c->field, &r, err));
    size_t i = 0;
    for (; !c->last; i++) {
        next_field(c);
        if (i == t->count) // more than there are attributes
            return bad(t, err, "there are not as many values as attributes, of the picture",
                       r->picture);
        if (c->length > 0) ZN_TRY(keep(t, c->field, c->length, &r->cells[i], err));
    }
    if (i == t->count) return ZENITH_OK;
    return bad(t, err, "there are not as many values as attributes, of the picture", r->picture);
}

static zenith_status take_lines(table *t, csv *c, zn_error *err)
{
    next_field(c); // what the pictures' column is called
    while (!c->last) {
        next_field(c);
        ZN_TRY(add_attribute(t, c->field, err));
    }
    while (c->at < c->end) ZN_TRY(take_line(t, c, err));
    return ZENITH_OK;
}

static zenith_status read_csv(table *t, const char *text, size_t size, zn_error *err)
{
    csv c = {.at = text, .end = text + size, .field = zn_alloc(size + 1)};
    if (!c.field) return zn_fail_memory(err, size + 1);
    zenith_status status = memchr(text, 0, size)
                               ? bad(t, err, "this is neither JSON nor CSV:", t->where)
                               : take_lines(t, &c, err);
    zn_free(c.field);
    return status;
}

// --- columns ------------------------------------------------------------------------------------

static int truth(const char *value)
{
    static const struct {
        const char *word;
        int is;
    } words[] = {{"1", 1},    {"0", 0},   {"-1", 0},    {"true", 1}, {"false", 0},
                 {"True", 1}, {"yes", 1}, {"False", 0}, {"no", 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i].word) == 0) return words[i].is;
    return -1;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The values that occur, in byte order. False: there are too many.
static bool list_values(const table *t, size_t attribute, const char *values[MOST_VALUES],
                        size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < t->records_count; i++) {
        const char *value = t->records[i].cells[attribute];
        size_t k = 0;
        while (value && k < *count && strcmp(values[k], value) != 0) k++;
        if (!value || k < *count) continue;
        if (*count == MOST_VALUES) return false;
        values[(*count)++] = value;
    }
    qsort(values, *count, sizeof *values, by_text);
    return true;
}

typedef struct column {
    size_t attribute;
    const char *value; // that is yes; NULL: one that is true
} column;

typedef struct columns {
    column *list;
    size_t count, capacity;
} columns;

static zenith_status add_column(columns *c, column one, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&c->list, &c->capacity, c->count + 1, sizeof one, err));
    c->list[c->count++] = one;
    return ZENITH_OK;
}

static zenith_status list_columns(const table *t, columns *out, zn_error *err)
{
    for (size_t a = 0; a < t->count; a++) {
        const char *values[MOST_VALUES];
        size_t count = 0;
        bool plain = true;
        if (!list_values(t, a, values, &count) || out->count + count > MOST_COLUMNS)
            return bad(t, err, "there are too many different values of", t->attributes[a]);
        for (size_t k = 0; k < count; k++) plain = plain && truth(values[k]) >= 0;
        if (plain) ZN_TRY(add_column(out, (column){a, NULL}, err));
        for (size_t k = 0; !plain && k < count; k++)
            ZN_TRY(add_column(out, (column){a, values[k]}, err));
    }
    if (out->count > 0 && t->records_count > 0) return ZENITH_OK;
    return bad(t, err, "there are no labels in", t->where);
}

static zenith_status name_column(const table *t, const column *c, zn_labels *out, const char **name,
                                 zn_error *err)
{
    const char *attribute = t->attributes[c->attribute], *value = c->value ? c->value : "";
    const size_t size = strlen(attribute) + strlen(value) + 2;
    char *text = zn_arena_alloc(&out->arena, size);
    if (!text) return zn_fail_memory(err, size);
    zn_text_format(text, size, "%s%s%s", attribute, c->value ? "=" : "", value);
    *name = text;
    if (zn_utf8_valid(text, strlen(text)) == strlen(text)) return ZENITH_OK;
    return bad(t, err, "a value is not UTF-8, of", attribute);
}

static zenith_status fill_row(const table *t, const columns *c, const record *r, uint8_t *values,
                              zn_error *err)
{
    for (size_t k = 0; k < c->count; k++) {
        const column *one = &c->list[k];
        const char *cell = r->cells[one->attribute];
        if (!one->value && !cell)
            return zn_fail(err, ZENITH_BAD_FILE, "%s: the picture '%.80s' has no value of '%.80s'",
                           t->where, r->picture, t->attributes[one->attribute]);
        values[k] = one->value ? cell && strcmp(cell, one->value) == 0 : truth(cell) == 1;
    }
    return ZENITH_OK;
}

static int by_picture(const void *a, const void *b)
{
    return strcmp(((const struct zn_labelled *)a)->picture,
                  ((const struct zn_labelled *)b)->picture);
}

static zenith_status make_labels(const table *t, const columns *c, zn_labels *out, zn_error *err)
{
    const size_t rows = t->records_count, bytes = rows * sizeof *out->rows;
    uint8_t *values = zn_arena_alloc(&out->arena, rows * c->count);
    out->rows = zn_arena_alloc(&out->arena, bytes);
    out->columns = zn_arena_alloc(&out->arena, c->count * sizeof *out->columns);
    if (!values || !out->rows || !out->columns) return zn_fail_memory(err, bytes);
    for (size_t k = 0; k < c->count; k++)
        ZN_TRY(name_column(t, &c->list[k], out, &out->columns[k], err));
    for (size_t i = 0; i < rows; i++, values += c->count) {
        ZN_TRY(fill_row(t, c, &t->records[i], values, err));
        out->rows[i] = (struct zn_labelled){zn_arena_text(&out->arena, t->records[i].picture),
                                            values};
        if (!out->rows[i].picture) return zn_fail_memory(err, 1);
    }
    out->rows_count = rows;
    out->columns_count = c->count;
    qsort(out->rows, rows, sizeof *out->rows, by_picture);
    for (size_t i = 1; i < rows; i++)
        if (by_picture(&out->rows[i - 1], &out->rows[i]) == 0)
            return bad(t, err, "a picture has labels twice:", out->rows[i].picture);
    return ZENITH_OK;
}

// --- the whole ----------------------------------------------------------------------------------

zenith_status zn_labels_read(const uint8_t *data, size_t size, const char *name, zn_labels *out,
                             zn_error *err)
{
    table t = {.where = name};
    columns c = {0};
    zn_labels made = {.rows_count = 0};
    const char *text = (const char *)data;
    size_t first = 0;
    zenith_status status;
    while (first < size && strchr(" \t\r\n", text[first]) && text[first]) first++;
    if (first == size) return zn_fail(err, ZENITH_BAD_FILE, "%s is empty", name);
    ZN_GO(text[first] == '{' ? read_json(&t, text, size, err) : read_csv(&t, text, size, err));
    ZN_GO(list_columns(&t, &c, err));
    ZN_GO(make_labels(&t, &c, &made, err));
fail:
    if (status == ZENITH_OK)
        *out = made;
    else
        zn_labels_free(&made);
    zn_free(c.list);
    zn_free(t.attributes);
    zn_free(t.records);
    zn_arena_free(&t.arena);
    return status;
}

zenith_status zn_labels_open(const char *path, zn_labels *out, zn_error *err)
{
    zn_mapped file = {0};
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_labels_read(file.data, file.size, path, out, err);
    zn_mapped_close(&file);
    return status;
}

const uint8_t *zn_labels_find(const zn_labels *labels, const char *path)
{
    while (path && *path) {
        const struct zn_labelled wanted = {path, NULL};
        const struct zn_labelled *found = bsearch(&wanted, labels->rows, labels->rows_count,
                                                  sizeof wanted, by_picture);
        if (found) return found->values;
        const char *slash = strchr(path, '/');
        path = slash ? slash + 1 : NULL;
    }
    return NULL;
}

void zn_labels_free(zn_labels *labels)
{
    zn_arena_free(&labels->arena);
    *labels = (zn_labels){.rows_count = 0};
}
