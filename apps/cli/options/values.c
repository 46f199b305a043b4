// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See values.h.
#include "apps/cli/options/values.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/zenith.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static bool parse_unsigned(const char *text, uint64_t max, uint64_t *out, const char **end)
{
    char *stop;
    if (*text < '0' || *text > '9') return false; // strtoull takes signs and spaces
    errno = 0;
    unsigned long long value = strtoull(text, &stop, 10);
    if (errno != 0 || value > max) return false;
    *out = value;
    *end = stop;
    return true;
}

static bool parse_number(const cli_option *option, const char *text, void *out)
{
    uint64_t value;
    if (!parse_unsigned(text, (uint64_t)option->max, &value, &text) || *text != 0) return false;
    if (value < (uint64_t)option->min) return false;
    *(int *)out = (int)value;
    return true;
}

static bool parse_share(const char *text, void *out)
{
    char *end;
    if (strspn(text, "0123456789.") != strlen(text)) return false; // strtod takes signs and words
    double value = strtod(text, &end);
    if (end == text || *end != 0 || !(value > 0 && value < 1)) return false;
    *(double *)out = value;
    return true;
}

static bool parse_decimal(const cli_option *option, const char *text, void *out)
{
    char *end;
    if (strspn(text, "0123456789.") != strlen(text)) return false; // as above
    double value = strtod(text, &end);
    if (end == text || *end != 0 || !(value >= option->min && value <= option->max)) return false;
    *(double *)out = value;
    return true;
}

static bool parse_seed(const char *text, void *out)
{
    cli_seed *seed = out;
    seed->given = parse_unsigned(text, UINT64_MAX, &seed->value, &text) && *text == 0;
    return seed->given;
}

static bool parse_bytes(const char *text, void *out)
{
    static const char units[] = "KMGT";
    uint64_t value, unit = 1;
    if (!parse_unsigned(text, UINT64_MAX, &value, &text)) return false;
    const char *found = *text == 0 ? NULL : strchr(units, *text & ~0x20); // either case
    if (*text != 0) {
        if (found == NULL || *found == 0) return false;
        unit = 1ull << (10 * (found - units + 1));
        text++;
        if (*text == 'i' && (text[1] == 'B' || text[1] == 'b')) text++; // MiB is what M means
        if (*text == 'B' || *text == 'b') text++;
    }
    if (*text != 0 || value == 0 || value > UINT64_MAX / unit) return false;
    *(uint64_t *)out = value * unit;
    return true;
}

static bool parse_dimensions(const char *text, void *out)
{
    const uint64_t max = 1u << 20; // far beyond any picture; the library has the true limit
    uint64_t width = 0, height = 0;
    const bool across = *text != 'x'; // a side that is left out is not 0
    if (across && (!parse_unsigned(text, max, &width, &text) || width == 0)) return false;
    if (*text++ != 'x') return false;
    const bool down = *text != 0;
    if (down && (!parse_unsigned(text, max, &height, &text) || height == 0)) return false;
    if (*text != 0 || (!across && !down)) return false;
    *(cli_dimensions *)out = (cli_dimensions){(uint32_t)width, (uint32_t)height};
    return true;
}

static bool parse_colour(const char *text, void *out)
{
    if (*text == '#') text++;
    if (strlen(text) != 6 || strspn(text, "0123456789abcdefABCDEF") != 6) return false;
    unsigned long value = strtoul(text, NULL, 16);
    uint8_t *colour = out;
    for (int i = 0; i < 3; i++) colour[i] = (uint8_t)(value >> (16 - 8 * i));
    return true;
}

static bool parse_bands(const char *text, void *out)
{
    cli_band_setting *bands = out;
    uint64_t rows;
    if (strcmp(text, "auto") == 0) {
        *bands = (cli_band_setting){ZENITH_BANDS_AUTO, 0};
    } else if (strcmp(text, "off") == 0) {
        *bands = (cli_band_setting){ZENITH_BANDS_OFF, 0};
    } else {
        if (!parse_unsigned(text, 1u << 20, &rows, &text) || *text != 0 || rows == 0) return false;
        *bands = (cli_band_setting){ZENITH_BANDS_ROWS, (uint32_t)rows};
    }
    return true;
}

static bool add_text(const char *text, void *out)
{
    cli_texts *texts = out;
    if (*text == 0 || texts->count == CLI_MOST_TEXTS) return false;
    texts->texts[texts->count++] = text;
    return true;
}

static bool parse_choice(const cli_option *option, const char *text, void *out)
{
    for (const cli_choice *choice = option->choices; choice->word != NULL; choice++) {
        if (strcmp(choice->word, text) != 0) continue;
        if (option->kind == CLI_WORD) *(const char **)out = choice->word;
        if (option->kind == CLI_CHOICE) *(int *)out = choice->value;
        return true;
    }
    return false;
}

bool cli_option_value(const cli_option *option, const char *text, void *out)
{
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)out = true;
        return true;
    case CLI_TEXT:
        *(const char **)out = text;
        return *text != 0;
    case CLI_TEXTS:
        return add_text(text, out);
    case CLI_INPUT: // kept by whoever keeps the inputs
        return false;
    case CLI_WORD:
    case CLI_CHOICE:
        return parse_choice(option, text, out);
    case CLI_NUMBER:
        return parse_number(option, text, out);
    case CLI_SHARE:
        return parse_share(text, out);
    case CLI_DECIMAL:
        return parse_decimal(option, text, out);
    case CLI_SEED:
        return parse_seed(text, out);
    case CLI_BYTES:
        return parse_bytes(text, out);
    case CLI_DIMENSIONS:
        return parse_dimensions(text, out);
    case CLI_COLOUR:
        return parse_colour(text, out);
    case CLI_BANDS:
        return parse_bands(text, out);
    }
    return false;
}

bool cli_seed_choose(const cli_seed *given, uint64_t *out)
{
    uint32_t drawn = 0;
    *out = given->value;
    if (given->given) return true;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) {
        cli_say("the system has no random number for a seed: give --seed N");
        return false;
    }
    *out = drawn;
    return true;
}
