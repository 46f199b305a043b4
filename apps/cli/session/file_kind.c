// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See file_kind.h.
#include "apps/cli/session/file_kind.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef enum file_class { PICTURE, OTHER_PICTURE, LATENT } file_class;

typedef struct file_kind {
    const char *name;
    file_class class;
    size_t at;         // where the bytes are
    const char *bytes; // up to the closing zero, or as many as `length` says
    size_t length;
} file_kind;

static const file_kind kinds[] = {
    {"a JPEG picture", PICTURE, 0, "\xff\xd8\xff", 3},
    {"a PNG picture", PICTURE, 0, "\x89PNG", 4},
    {"a WebP picture", PICTURE, 8, "WEBP", 4},
    {"a PNM picture", PICTURE, 0, "P5", 2},
    {"a PNM picture", PICTURE, 0, "P6", 2},
    {"a GIF picture", OTHER_PICTURE, 0, "GIF8", 4},
    {"a TIFF picture", OTHER_PICTURE, 0, "II*\0", 4},
    {"a TIFF picture", OTHER_PICTURE, 0, "MM\0*", 4},
    {"an AVIF picture", OTHER_PICTURE, 4, "ftypavif", 8},
    {"a HEIC picture", OTHER_PICTURE, 4, "ftyphei", 7},
    {"a HEIC picture", OTHER_PICTURE, 4, "ftypmif1", 8},
    {"a HEIC picture", OTHER_PICTURE, 4, "ftyphevc", 8},
    {"a JPEG XL picture", OTHER_PICTURE, 0, "\xff\x0a", 2},
    {"a JPEG XL picture", OTHER_PICTURE, 4, "JXL ", 4},
    {"a BMP picture", OTHER_PICTURE, 0, "BM", 2},
    {"an npy array", LATENT, 0, "\x93NUMPY", 6},
    {"a safetensors file", LATENT, 8, "{\"", 2},
};

// NULL: not known, or not a file whose beginning can be read without taking it away.
static const file_kind *kind_of(const char *path)
{
    char head[16] = {0};
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) return NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    size_t got = fread(head, 1, sizeof head, file);
    fclose(file);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const file_kind *kind = &kinds[i];
        if (kind->at + kind->length <= got &&
            memcmp(head + kind->at, kind->bytes, kind->length) == 0)
            return kind;
    }
    return NULL;
}

bool cli_fail_not_picture(cli_session *session, const char *input, cli_failure *failure)
{
    const file_kind *kind = kind_of(input);
    const char *verb = session->progress.verb;
    if (kind == NULL || kind->class == PICTURE) return false;
    if (kind->class == LATENT)
        return cli_fail_text(
            failure, failure->status,
            "'%s' is %s, and %s takes pictures: 'zenith decode' turns latents into "
            "pictures",
            input, kind->name, verb);
    return cli_fail_text(failure, failure->status,
                         "'%s' is %s, which Zenith does not read: convert it on the way, with "
                         "magick '%s[0]' png:- | zenith %s - ...",
                         input, kind->name, input, verb);
}

bool cli_fail_not_latent(const char *input, cli_failure *failure)
{
    const file_kind *kind = kind_of(input);
    if (kind == NULL || kind->class == LATENT) return false;
    return cli_fail_text(
        failure, failure->status,
        "'%s' is %s, and decode takes latents: 'zenith encode' turns pictures into "
        "latents",
        input, kind->name);
}
