// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The crafted pictures of tests/format/images: cases.txt, made by
// tools/goldens/make_test_images.py, one line per case.
#ifndef ZN_TESTS_FORMAT_PICTURE_CASES_H
#define ZN_TESTS_FORMAT_PICTURE_CASES_H

#include "src/base/os.h"
#include "src/format/image/image.h"
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

typedef struct picture_case {
    char file[64], status[16], options[16], colour[40];
    unsigned width, height;
    int orientation, bits, channels, alpha, icc, applied, animated, streamed;
} picture_case;

enum { MAX_CASES = 256 };

static inline const char *picture_path(const char *name)
{
    return zn_test_path(zn_test_path(zn_test_source(), "tests/format/images"), name);
}

static inline size_t picture_cases_read(picture_case cases[MAX_CASES])
{
    FILE *file = fopen(picture_path("cases.txt"), "r");
    assert_non_null(file);
    char line[256];
    size_t count = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        assert_true(count < MAX_CASES);
        picture_case *c = &cases[count++];
        memset(c, 0, sizeof *c);
        int fields = sscanf(line, "%63s %15s %15s %u %u %d %d %d %d %d %d %d %d %39[^\n]", c->file,
                            c->status, c->options, &c->width, &c->height, &c->orientation, &c->bits,
                            &c->channels, &c->alpha, &c->icc, &c->applied, &c->animated,
                            &c->streamed, c->colour);
        assert_int_equal(fields, strcmp(c->status, "OK") == 0 ? 14 : 3);
    }
    fclose(file);
    return count;
}

static inline zenith_status picture_status(const char *name)
{
    static const struct {
        const char *name;
        zenith_status status;
    } known[] = {{"OK", ZENITH_OK},
                 {"BAD_FILE", ZENITH_BAD_FILE},
                 {"LIMIT", ZENITH_LIMIT},
                 {"UNSUPPORTED", ZENITH_UNSUPPORTED}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].status;
    fail_msg("unknown status %s", name);
    return ZENITH_INTERNAL;
}

static inline zn_image_options picture_options(const picture_case *c)
{
    zn_image_options options = zn_image_options_default();
    if (strcmp(c->options, "green") == 0) memcpy(options.background, (uint8_t[]){10, 200, 30}, 3);
    options.first_frame = strcmp(c->options, "first") == 0;
    options.ignore_orientation = strcmp(c->options, "as-stored") == 0;
    options.ignore_profile = strcmp(c->options, "no-profile") == 0;
    return options;
}

static inline zn_mapped picture_map(const char *name)
{
    zn_mapped mapped;
    zn_error err = {0};
    zn_test_ok(zn_mapped_open(picture_path(name), &mapped, &err), &err);
    return mapped;
}

#endif
