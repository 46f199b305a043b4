// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The segments before a JPEG's first scan, read in place: libjpeg would copy each of them, and a
// hostile file can hold gigabytes. A profile is split over APP2 segments,
// "ICC_PROFILE\0", number (from 1), count, bytes (ICC.1 annex B.4).
#include "src/format/image/jpeg.h"

#include <stdbool.h>
#include <string.h>

enum { SOS = 0xda, EOI = 0xd9, APP1 = 0xe1, APP2 = 0xe2, ICC_HEAD = 14 };

typedef struct segment {
    int marker;
    const uint8_t *data;
    size_t size;
} segment;

static bool stands_alone(int marker)
{
    return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

// The next segment from *at on; false at the first scan, at the end, and where it is broken.
static bool next_segment(const uint8_t *data, size_t size, size_t *at, segment *out)
{
    for (;;) {
        while (*at < size && data[*at] != 0xff) ++*at;
        while (*at < size && data[*at] == 0xff) ++*at;
        if (size - *at < 3) return false;
        int marker = data[(*at)++];
        if (marker == 0 || stands_alone(marker)) continue;
        if (marker == SOS || marker == EOI) return false;
        size_t length = (size_t)data[*at] << 8 | data[*at + 1];
        if (length < 2 || length > size - *at) return false;
        *out = (segment){marker, data + *at + 2, length - 2};
        *at += length;
        return true;
    }
}

static bool is_icc(const segment *s)
{
    return s->marker == APP2 && s->size > ICC_HEAD && memcmp(s->data, "ICC_PROFILE", 12) == 0;
}

// Files the chunk under its number; false where it contradicts the ones before.
static bool keep_chunk(const segment *s, int *count, zn_jpeg_markers *out)
{
    int number = s->data[12], of = s->data[13];
    if (number == 0 || number > of || (*count && *count != of)) return false;
    zn_jpeg_piece *piece = &out->icc[number - 1];
    if (piece->data) return false;
    *count = of;
    *piece = (zn_jpeg_piece){s->data + ICC_HEAD, s->size - ICC_HEAD};
    out->icc_size += piece->size;
    return true;
}

void zn_jpeg_markers_read(const uint8_t *data, size_t size, zn_jpeg_markers *out)
{
    *out = (zn_jpeg_markers){0};
    int count = 0;
    bool good = true;
    segment s;
    for (size_t at = 2; at < size && next_segment(data, size, &at, &s);) {
        if (s.marker == APP1 && !out->exif.data && s.size >= 6 &&
            memcmp(s.data, "Exif\0", 6) == 0) {
            out->exif = (zn_jpeg_piece){s.data, s.size};
        } else if (is_icc(&s)) {
            out->has_icc = true;
            good = good && keep_chunk(&s, &count, out);
        }
    }
    for (int i = 0; i < count; i++) good = good && out->icc[i].data;
    out->icc_count = good ? count : 0;
}
