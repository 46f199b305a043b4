// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See buckets.h. Square roots and products of doubles are rounded alike on every machine, and so
// the sizes are the same.
#include "apps/cli/commands/dataset/buckets.h"
#include "apps/cli/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PIXELS = 1 << 24, MOST_SHAPE = 1000 }; // along a side; of one number of a shape

// The number that *text begins with, 1 to `most`; 0: none. *text goes behind it.
static uint32_t take_number(const char **text, unsigned long most)
{
    char *end = NULL;
    if (**text < '1' || **text > '9') return 0;
    const unsigned long value = strtoul(*text, &end, 10);
    if (value > most) return 0;
    *text = end;
    return (uint32_t)value;
}

// "A:B" or "AxB"; *second is 0 where there is only "A". Then comes a comma, which is passed over,
// or the end.
static bool take_item(const char **text, char between, unsigned long most, uint32_t *first,
                      uint32_t *second)
{
    *first = take_number(text, most);
    *second = 0;
    if (*first != 0 && **text == between) {
        ++*text;
        *second = take_number(text, most);
        if (*second == 0) return false;
    }
    if (*first == 0 || (**text != ',' && **text != 0)) return false;
    if (**text == ',' && *++*text == 0) return false;
    return true;
}

static bool add(cli_buckets *out, uint32_t width, uint32_t height)
{
    for (uint32_t i = 0; i < out->count; i++)
        if (out->sizes[2 * i] == width && out->sizes[2 * i + 1] == height) return true;
    if (out->count == CLI_MOST_BUCKETS) {
        cli_say("--buckets and --aspects give more than %d sizes", CLI_MOST_BUCKETS);
        return false;
    }
    out->sizes[2 * out->count] = width;
    out->sizes[2 * out->count++ + 1] = height;
    return true;
}

static uint32_t side_of(double length, uint32_t multiple)
{
    const uint32_t times = (uint32_t)floor(length / multiple + 0.5);
    return (times > 0 ? times : 1) * multiple;
}

static bool add_shapes(uint32_t side, const char *aspects, uint32_t multiple, cli_buckets *out)
{
    const char *at = aspects != NULL ? aspects : "1:1";
    do {
        uint32_t across, along;
        if (!take_item(&at, ':', MOST_SHAPE, &across, &along) || along == 0) {
            cli_say("--aspects '%s': expected shapes W:H with commas between them, such as "
                    "1:1,4:3,3:4",
                    aspects);
            return false;
        }
        const double shape = sqrt((double)across / along);
        if (!add(out, side_of(side * shape, multiple), side_of(side / shape, multiple)))
            return false;
    } while (*at != 0);
    return true;
}

bool cli_buckets_read(const char *buckets, const char *aspects, uint32_t multiple, cli_buckets *out)
{
    const char *at = buckets;
    bool shaped = false;
    out->count = 0;
    do {
        uint32_t width, height;
        if (!take_item(&at, 'x', MOST_PIXELS, &width, &height)) {
            cli_say("--buckets '%s': expected sides or sizes with commas between them, such as "
                    "256,512 or 512x512,640x384",
                    buckets);
            return false;
        }
        shaped |= height == 0;
        if (height == 0 ? !add_shapes(width, aspects, multiple, out) : !add(out, width, height))
            return false;
    } while (*at != 0);
    if (aspects == NULL || shaped) return true;
    cli_say("--aspects goes with sides, such as --buckets 256,512: sizes have their shape already");
    return false;
}
