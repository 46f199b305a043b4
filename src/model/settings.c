// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/settings.h"

#include "src/base/text.h"

#include <math.h>
#include <string.h>

enum { MOST_DIGITS = 15 }; // of a number in a layout

static void set_usual(const zn_setting *table, int count, double *numbers)
{
    for (int i = 0; i < count; i++) numbers[i] = table[i].usual;
}

static bool fits(const zn_setting *setting, double number)
{
    return number >= setting->least && number <= setting->most &&
           (setting->fraction || number == floor(number));
}

// Digits with at most one point among them, up to a space or the end; so many that the number is
// exact, or the nearest.
static bool read_number(const char *text, size_t length, double *out)
{
    double digits = 0, divisor = 1;
    bool point = false;
    if (length < 1 || length > MOST_DIGITS + 1) return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' && !point && i > 0) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9') return false;
        digits = 10 * digits + (text[i] - '0');
        if (point) divisor *= 10;
    }
    *out = digits / divisor;
    return true;
}

// "name=number", then a space or the end. Goes past it.
static bool read_one(const char **text, const zn_setting *table, int count, double *numbers)
{
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(table[i].name);
        if (strncmp(*text, table[i].name, length) != 0 || (*text)[length] != '=') continue;
        const char *begin = *text + length + 1;
        const size_t digits = strcspn(begin, " ");
        *text = begin + digits + (begin[digits] == ' ');
        return read_number(begin, digits, &numbers[i]) && fits(&table[i], numbers[i]);
    }
    return false;
}

bool zn_settings_read(const char *layout, const zn_setting *table, int count, double *numbers)
{
    set_usual(table, count, numbers);
    while (layout && *layout) {
        if (read_one(&layout, table, count, numbers)) continue;
        set_usual(table, count, numbers);
        return false;
    }
    return true;
}

bool zn_settings_of(const zn_scope *scope, const zn_setting *table, int count, double *numbers)
{
    if (zn_settings_read(scope->layout, table, count, numbers)) return true;
    if (scope->graph->status != ZENITH_OK) return false;
    char known[512];
    size_t length = 0;
    known[0] = 0;
    for (int i = 0; i < count && length < sizeof known; i++)
        length += zn_text_format(known + length, sizeof known - length, "%s%s (%g to %g)",
                                 i ? ", " : "", table[i].name, table[i].least, table[i].most);
    scope->graph->status = zn_fail(
        scope->graph->err, ZENITH_BAD_FILE,
        "'%s' does not describe this network: NAME=NUMBER is expected, of %s; the numbers are from "
        "config.json or the file's metadata",
        scope->layout, known);
    return false;
}

// With so many digits as are read, and none that say nothing.
static void write_number(double number, char *dst, size_t size)
{
    int decimals = MOST_DIGITS - 1;
    for (double rest = fabs(number); rest >= 10 && decimals > 0; rest /= 10) decimals--;
    size_t length = zn_text_format(dst, size, "%.*f", decimals, number);
    if (!memchr(dst, '.', length)) return;
    while (dst[length - 1] == '0') length--;
    dst[length - (dst[length - 1] == '.')] = 0;
}

// --- config.json --------------------------------------------------------------------------------

// What a path of keys and places leads to; NULL: nothing.
static const zn_json *follow(const zn_json *value, const char *path)
{
    if (!path) return NULL;
    while (value && *path) {
        char key[64];
        const size_t length = strcspn(path, "/");
        zn_text_format(key, sizeof key, "%.*s", (int)length, path);
        path += length + (path[length] == '/');
        const bool place = zn_json_is_array(value) && key[0] >= '0' && key[0] <= '9';
        value = place ? zn_json_at(value, (size_t)(key[0] - '0')) : zn_json_find(value, key);
    }
    return value;
}

void zn_settings_write(const zn_json *config, const zn_setting *table, int count,
                       char dst[ZN_LAYOUT_SIZE])
{
    size_t length = 0;
    dst[0] = 0;
    for (int i = 0; i < count && length < ZN_LAYOUT_SIZE; i++) {
        double number;
        char text[400];
        if (!zn_json_as_number(follow(config, table[i].config), &number) &&
            !zn_json_as_number(follow(config, table[i].older), &number))
            continue;
        if (number == table[i].usual) continue;
        write_number(number, text, sizeof text);
        length += zn_text_format(dst + length, ZN_LAYOUT_SIZE - length, "%s%s=%s",
                                 length ? " " : "", table[i].name, text);
    }
}

bool zn_layout_number(const char **text, char letter, int most, int *out)
{
    const char *at = *text;
    int number = 0;
    if (*at++ != letter || *at < '1' || *at > '9') return false;
    for (; *at >= '0' && *at <= '9' && number <= most; at++) number = 10 * number + (*at - '0');
    *text = at;
    *out = number;
    return number <= most;
}
