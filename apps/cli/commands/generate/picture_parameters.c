// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See picture_parameters.h.
#include "apps/cli/commands/generate/picture_parameters.h"
#include "zenith/zenith.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 1000, MOST_GUIDANCE = 1000, MOST_SIDE = 1 << 17 };

char *cli_parameters_text(const cli_parameters *p)
{
    char *text = NULL, from[48] = "";
    if (p->strength > 0) snprintf(from, sizeof from, "Denoising strength: %g, ", p->strength);
    const bool negative = p->negative != NULL && p->negative[0] != 0;
    int made = asprintf(
        &text,
        "%s%s%s\nSteps: %u, Sampler: Euler, Schedule type: Simple, CFG scale: %g, "
        "Seed: %" PRIu64 ", Size: %ux%u, Model: %s, VAE: %s, %sShift: %g, %sRNG: CPU, "
        "Version: Zenith %s",
        p->prompt, negative ? "\nNegative prompt: " : "", negative ? p->negative : "",
        (unsigned)p->steps, 1 + p->guidance, p->seed.value, (unsigned)p->size.width,
        (unsigned)p->size.height, p->model, p->decoder, from, p->shift,
        p->transparent ? "Transparent: true, " : "", zenith_version());
    return made < 0 ? NULL : text;
}

// --- reading ------------------------------------------------------------------------------------

// The line that begins with a word: the first, or the last; NULL: there is none.
static char *find_line(char *text, const char *word, bool last)
{
    char *found = NULL;
    for (char *line = text; line != NULL; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, word, strlen(word)) != 0) continue;
        found = line;
        if (!last) break;
    }
    return found;
}

// The end of a value, before a comma. One in quotes may have commas in it.
static char *value_end(char *value)
{
    if (*value != '"') return value + strcspn(value, ",");
    for (value++; *value != 0 && *value != '"'; value++)
        if (*value == '\\' && value[1] != 0) value++;
    return value + strcspn(value, ",");
}

static bool read_whole(const char *value, uint64_t most, uint64_t *out, const char **end)
{
    char *stop;
    if (*value < '0' || *value > '9') return false; // strtoull takes signs and spaces
    errno = 0;
    unsigned long long number = strtoull(value, &stop, 10);
    if (errno != 0 || number > most) return false;
    *out = number;
    *end = stop;
    return true;
}

static void read_size(const char *value, cli_dimensions *out)
{
    uint64_t width, height;
    if (!read_whole(value, MOST_SIDE, &width, &value) || *value++ != 'x') return;
    if (!read_whole(value, MOST_SIDE, &height, &value) || *value != 0) return;
    *out = (cli_dimensions){(uint32_t)width, (uint32_t)height};
    if (width == 0 || height == 0) *out = (cli_dimensions){0, 0};
}

static bool read_decimal(const char *value, double least, double most, double *out)
{
    char *end;
    if (*value == 0 || strspn(value, "0123456789.") != strlen(value)) return false;
    *out = strtod(value, &end);
    return *end == 0 && *out >= least && *out <= most;
}

// The first of several values of a key counts.
static void read_setting(const char *key, char *value, cli_parameters *out)
{
    uint64_t number;
    double decimal;
    const char *end;
    if (strcmp(key, "Steps") == 0 && out->steps == 0) {
        if (read_whole(value, MOST_STEPS, &number, &end) && *end == 0)
            out->steps = (uint32_t)number;
    } else if (strcmp(key, "Seed") == 0 && !out->seed.given) {
        if (read_whole(value, UINT64_MAX, &number, &end) && *end == 0)
            out->seed = (cli_seed){true, number};
    } else if (strcmp(key, "Size") == 0 && out->size.width == 0) {
        read_size(value, &out->size);
    } else if (strcmp(key, "CFG scale") == 0 && out->guidance == 0) {
        if (read_decimal(value, 1, 1 + MOST_GUIDANCE, &decimal)) out->guidance = decimal - 1;
    } else if (strcmp(key, "Denoising strength") == 0 && out->strength == 0) {
        if (read_decimal(value, 0, 1, &decimal)) out->strength = decimal;
    } else if (strcmp(key, "Transparent") == 0) {
        out->transparent = strcmp(value, "true") == 0;
    } else if (strcmp(key, "Model") == 0 && out->model[0] == 0) {
        out->model = value;
    }
}

// "Steps: 8, Seed: 42, ...".
static void read_settings(char *line, cli_parameters *out)
{
    line[strcspn(line, "\n")] = 0;
    while (*line != 0) {
        char *key = line + strspn(line, " ,"), *colon = strchr(key, ':');
        if (colon == NULL) return;
        char *value = colon + 1 + strspn(colon + 1, " ");
        line = value_end(value);
        if (*line != 0) *line++ = 0;
        *colon = 0;
        read_setting(key, value, out);
    }
}

bool cli_parameters_parse(char *text, cli_parameters *out)
{
    static const char negative[] = "Negative prompt:";
    char *settings = find_line(text, "Steps: ", true);
    if (settings == NULL) return false;
    *out = (cli_parameters){.prompt = "", .negative = "", .model = "", .decoder = ""};
    read_settings(settings, out);
    if (settings == text) return true;
    settings[-1] = 0; // the end of the line before
    char *other = find_line(text, negative, false);
    if (other != text) out->prompt = text;
    if (other == NULL) return true;
    if (other > text) other[-1] = 0;
    out->negative = other + strlen(negative);
    if (*out->negative == ' ') out->negative++;
    return true;
}
