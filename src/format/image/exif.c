// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// EXIF is a TIFF file without pictures: a header that names the byte order and the place of the
// first directory; a directory is a count and entries of 12 bytes (tag, type, count, value).
// Reference: TIFF 6.0 section 2, CIPA DC-008. Every read is checked against the size; one directory
// is looked at, so no chain of offsets can loop.
#include "src/format/image/exif.h"

#include <stdbool.h>
#include <string.h>

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, TYPE_LONG = 4, ENTRY_SIZE = 12 };

typedef struct tiff {
    const uint8_t *data;
    size_t size;
    bool big;
} tiff;

static uint32_t read16(const tiff *t, size_t at)
{
    const uint8_t *p = t->data + at;
    return t->big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t read32(const tiff *t, size_t at)
{
    return t->big ? read16(t, at) << 16 | read16(t, at + 2)
                  : read16(t, at + 2) << 16 | read16(t, at);
}

static bool tiff_open(tiff *t, const uint8_t *data, size_t size)
{
    if (size >= 6 && memcmp(data, "Exif\0\0", 6) == 0) {
        data += 6;
        size -= 6;
    }
    if (size < 8) return false;
    bool big = memcmp(data, "MM\0*", 4) == 0;
    if (!big && memcmp(data, "II*\0", 4) != 0) return false;
    *t = (tiff){data, size, big};
    return true;
}

int zn_exif_orientation(const uint8_t *data, size_t size)
{
    tiff t;
    if (!data || !tiff_open(&t, data, size)) return 1;
    size_t directory = read32(&t, 4);
    if (directory > t.size - 2) return 1;
    size_t count = read16(&t, directory);
    for (size_t i = 0, at = directory + 2; i < count && t.size - at >= ENTRY_SIZE;
         i++, at += ENTRY_SIZE) {
        if (read16(&t, at) != TAG_ORIENTATION) continue;
        uint32_t type = read16(&t, at + 2);
        uint32_t value = type == TYPE_SHORT  ? read16(&t, at + 8)
                         : type == TYPE_LONG ? read32(&t, at + 8)
                                             : 0;
        return value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}
