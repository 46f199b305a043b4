// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/text/unicode.h"

#include "src/base/memory.h"
#include "src/base/text.h"

#include <string.h>
#include <utf8proc.h>

enum { PIECES_MOST = 32, BYTES_OF_POINT = 4 }; // no character decomposes into more than 4

static bool is_ascii(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((uint8_t)text[i] >= 0x80) return false;
    return true;
}

static zenith_status decompose(zn_nfc *room, const char *text, size_t size, size_t *count,
                               zn_error *err)
{
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        int32_t pieces[PIECES_MOST];
        uint32_t point;
        const size_t length = zn_utf8_next(text + at, size - at, &point);
        if (length == 0) return zn_fail(err, ZENITH_INTERNAL, "text to normalise is not UTF-8");
        at += length;
        int boundary = 0;
        utf8proc_ssize_t made = utf8proc_decompose_char(
            (int32_t)point, pieces, PIECES_MOST, UTF8PROC_STABLE | UTF8PROC_COMPOSE, &boundary);
        if (made < 0 || made > PIECES_MOST)
            return zn_fail(err, ZENITH_INTERNAL, "U+%x has no normal form", point);
        ZN_TRY(zn_array_reserve((void **)&room->points, &room->points_room, used + (size_t)made,
                                sizeof *room->points, err));
        memcpy(room->points + used, pieces, (size_t)made * sizeof *pieces);
        used += (size_t)made;
    }
    *count = used;
    return ZENITH_OK;
}

static unsigned class_of(int32_t point)
{
    return (unsigned)utf8proc_get_property(point)->combining_class & 255;
}

// Sorts a run of marks by combining class and keeps the order within a class: one pass counts, one
// places.
static zenith_status sort_marks(zn_nfc *room, int32_t *run, size_t count, zn_error *err)
{
    size_t places[257] = {0};
    ZN_TRY(zn_array_reserve((void **)&room->sorted, &room->sorted_room, count, sizeof *room->sorted,
                            err));
    for (size_t i = 0; i < count; i++) places[class_of(run[i]) + 1]++;
    for (size_t i = 1; i < 257; i++) places[i] += places[i - 1];
    for (size_t i = 0; i < count; i++) room->sorted[places[class_of(run[i])]++] = run[i];
    memcpy(run, room->sorted, count * sizeof *run);
    return ZENITH_OK;
}

static zenith_status order_marks(zn_nfc *room, size_t count, zn_error *err)
{
    for (size_t begin = 0; begin < count;) {
        if (class_of(room->points[begin]) == 0) {
            begin++;
            continue;
        }
        size_t end = begin;
        unsigned before = 0, mark;
        bool ordered = true;
        for (; end < count && (mark = class_of(room->points[end])) != 0; end++) {
            if (mark < before) ordered = false;
            before = mark;
        }
        if (!ordered) ZN_TRY(sort_marks(room, room->points + begin, end - begin, err));
        begin = end;
    }
    return ZENITH_OK;
}

zenith_status zn_nfc_apply(zn_nfc *room, const char *text, size_t size, const char **out,
                           size_t *out_size, zn_error *err)
{
    size_t count = 0;
    *out = text;
    *out_size = size;
    if (is_ascii(text, size)) return ZENITH_OK;
    ZN_TRY(decompose(room, text, size, &count, err));
    ZN_TRY(order_marks(room, count, err));
    utf8proc_ssize_t left = utf8proc_normalize_utf32(room->points, (utf8proc_ssize_t)count,
                                                     UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (left < 0) return zn_fail(err, ZENITH_INTERNAL, "text has no normal form");
    size_t room_wanted = 0, used = 0;
    if (!zn_mul_size((size_t)left, BYTES_OF_POINT, &room_wanted)) return zn_fail_memory(err, count);
    ZN_TRY(zn_array_reserve((void **)&room->bytes, &room->bytes_room, room_wanted, 1, err));
    for (size_t i = 0; i < (size_t)left; i++)
        used += (size_t)utf8proc_encode_char(room->points[i], (uint8_t *)room->bytes + used);
    *out = room->bytes;
    *out_size = used;
    return ZENITH_OK;
}

void zn_nfc_free(zn_nfc *room)
{
    zn_free(room->points);
    zn_free(room->sorted);
    zn_free(room->bytes);
    *room = (zn_nfc){0};
}

// The 68 bytes that no character of their own stands for, in order: 0 to 32, 127 to 160, 173.
static bool hidden_byte(uint8_t byte, unsigned *number)
{
    if (byte <= 32)
        *number = byte;
    else if (byte >= 127 && byte <= 160)
        *number = 33u + byte - 127u;
    else if (byte == 173)
        *number = 67;
    else
        return false;
    return true;
}

static bool byte_of_point(uint32_t point, uint8_t *byte)
{
    unsigned number;
    if (point < 256) {
        *byte = (uint8_t)point;
        return !hidden_byte(*byte, &number);
    }
    if (point >= 256 + 68) return false;
    number = point - 256;
    *byte = (uint8_t)(number < 33 ? number : number < 67 ? 127 + number - 33 : 173);
    return true;
}

bool zn_byte_alphabet_read(const char *text, size_t size, uint8_t *bytes, size_t *count)
{
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        uint32_t point;
        const size_t length = zn_utf8_next(text + at, size - at, &point);
        if (length == 0 || !byte_of_point(point, &bytes[used])) return false;
        at += length;
        used++;
    }
    *count = used;
    return true;
}

size_t zn_byte_alphabet_write(const uint8_t *bytes, size_t count, char *text)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned number;
        int32_t point = hidden_byte(bytes[i], &number) ? 256 + (int32_t)number : bytes[i];
        used += (size_t)utf8proc_encode_char(point, (uint8_t *)text + used);
    }
    return used;
}
