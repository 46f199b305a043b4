// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See json_text.h. A list becomes a table if all its elements are objects of flat values (texts,
// numbers, lists of them, such as a shape); its columns are the keys of the first one and what
// later ones add.
#include "apps/cli/terminal/json_text.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 16, CELL = 256 };

static bool is_flat(const json_t *value)
{
    if (json_is_object(value)) return json_object_size(value) == 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *element = json_array_get(value, i);
        if (json_is_object(element) || json_is_array(element)) return false;
    }
    return true;
}

static bool ends_with_bytes(const char *key)
{
    size_t length = strlen(key);
    return length >= 5 && strcmp(key + length - 5, "bytes") == 0;
}

static size_t format_scalar(const json_t *value, char *text, size_t size)
{
    int length = 0;
    if (json_is_string(value))
        length = snprintf(text, size, "%s", json_string_value(value));
    else if (json_is_integer(value))
        length = snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        length = snprintf(text, size, "%.6g", json_real_value(value));
    else if (json_is_boolean(value))
        length = snprintf(text, size, "%s", json_is_true(value) ? "yes" : "no");
    else
        length = snprintf(text, size, "-");
    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

// Lists of numbers are shapes and sizes: 64x3x3x3. Other lists have commas.
static void format_flat(const char *key, const json_t *value, char *text, size_t size)
{
    text[0] = 0;
    if (!json_is_array(value)) {
        size_t used = format_scalar(value, text, size);
        if (key != NULL && json_is_integer(value) && ends_with_bytes(key) && used < size &&
            json_integer_value(value) >= 1 << 20)
            snprintf(text + used, size - used, " (%.1f MiB)",
                     (double)json_integer_value(value) / (1 << 20));
        return;
    }
    size_t used = 0, count = json_array_size(value);
    if (count == 0) snprintf(text, size, "none");
    for (size_t i = 0; i < count && used + 3 < size; i++) {
        const json_t *element = json_array_get(value, i);
        const char *between = json_is_integer(element) ? "x" : ", ";
        if (i > 0) used += (size_t)snprintf(text + used, size - used, "%s", between);
        used += format_scalar(element, text + used, size - used);
    }
}

static void print_padded(FILE *out, const char *text, int width, bool right)
{
    int blank = width - cli_text_columns(text);
    if (blank < 0) blank = 0;
    if (right) fprintf(out, "%*s", blank, "");
    cli_print_clean(out, text);
    if (!right) fprintf(out, "%*s", blank, "");
}

struct table {
    const char *keys[MOST_COLUMNS];
    int widths[MOST_COLUMNS];
    bool numbers[MOST_COLUMNS]; // set against the right edge
    size_t columns;
};

static size_t column_of(struct table *table, const char *key)
{
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->keys[i], key) == 0) return i;
    if (table->columns == MOST_COLUMNS) return MOST_COLUMNS;
    table->keys[table->columns] = key;
    table->widths[table->columns] = cli_text_columns(key);
    table->numbers[table->columns] = true;
    return table->columns++;
}

// False if the list is no table.
static bool measure(const json_t *list, struct table *table)
{
    *table = (struct table){0};
    for (size_t row = 0; row < json_array_size(list); row++) {
        json_t *object = json_array_get(list, row);
        if (!json_is_object(object)) return false;
        for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
            char cell[CELL];
            const json_t *value = json_object_iter_value(at);
            size_t column = column_of(table, json_object_iter_key(at));
            if (!is_flat(value) || column == MOST_COLUMNS) return false;
            format_flat(NULL, value, cell, sizeof cell);
            int width = cli_text_columns(cell);
            if (width > table->widths[column]) table->widths[column] = width;
            table->numbers[column] = table->numbers[column] && json_is_number(value);
        }
    }
    return table->columns > 0;
}

static void print_table(FILE *out, const json_t *list, const struct table *table, int indent)
{
    fprintf(out, "%*s", indent, "");
    for (size_t i = 0; i < table->columns; i++) {
        bool last = i + 1 == table->columns && !table->numbers[i];
        print_padded(out, table->keys[i], last ? 0 : table->widths[i], table->numbers[i]);
        fputs(i + 1 < table->columns ? "  " : "\n", out);
    }
    for (size_t row = 0; row < json_array_size(list); row++) {
        fprintf(out, "%*s", indent, "");
        for (size_t i = 0; i < table->columns; i++) {
            char cell[CELL] = "";
            const json_t *value = json_object_get(json_array_get(list, row), table->keys[i]);
            if (value != NULL) format_flat(NULL, value, cell, sizeof cell);
            bool last = i + 1 == table->columns && !table->numbers[i];
            print_padded(out, cell, last ? 0 : table->widths[i], table->numbers[i]);
            fputs(i + 1 < table->columns ? "  " : "\n", out);
        }
    }
}

static void print_value(FILE *out, const json_t *value, int indent);

static void print_array(FILE *out, const json_t *list, int indent)
{
    struct table table;
    if (measure(list, &table)) {
        print_table(out, list, &table, indent);
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        fprintf(out, "%*s- %zu\n", indent, "", i);
        print_value(out, json_array_get(list, i), indent + 2);
    }
}

static void print_member(FILE *out, const char *key, const json_t *value, int indent, int width)
{
    char text[16 * CELL];
    fprintf(out, "%*s", indent, "");
    if (!is_flat(value)) {
        cli_print_clean(out, key);
        fputc('\n', out);
        print_value(out, value, indent + 2);
        return;
    }
    format_flat(key, value, text, sizeof text);
    print_padded(out, key, width + 2, false);
    cli_print_clean(out, text);
    fputc('\n', out);
}

// What it is comes first, then facts of one line, then tables, which would bury them.
static int rank(const char *key, const json_t *value)
{
    return strcmp(key, "kind") == 0 ? 0 : is_flat(value) ? 1 : 2;
}

static void print_object(FILE *out, json_t *object, int indent)
{
    int width = 0;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        int columns = cli_text_columns(json_object_iter_key(at));
        if (is_flat(json_object_iter_value(at)) && columns > width) width = columns;
    }
    for (int turn = 0; turn < 3; turn++) {
        for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
            const char *key = json_object_iter_key(at);
            const json_t *value = json_object_iter_value(at);
            if (rank(key, value) == turn) print_member(out, key, value, indent, width);
        }
    }
}

static void print_value(FILE *out, const json_t *value, int indent)
{
    char text[16 * CELL];
    if (is_flat(value)) {
        format_flat(NULL, value, text, sizeof text);
        fprintf(out, "%*s", indent, "");
        cli_print_clean(out, text);
        fputc('\n', out);
    } else if (json_is_array(value)) {
        print_array(out, value, indent);
    } else {
        print_object(out, (json_t *)value, indent); // jansson's iterators take no const
    }
}

void cli_print_json_text(FILE *out, const json_t *value)
{
    print_value(out, value, 0);
}
