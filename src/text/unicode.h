// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tokenizer needs of Unicode besides base/text's UTF-8: the normal form C, and the
// alphabet in which byte-level vocabularies write bytes. All contact with utf8proc is here.
#ifndef ZN_TEXT_UNICODE_H
#define ZN_TEXT_UNICODE_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The room that normalisation works in; zeroed at birth, used again from text to text.
typedef struct zn_nfc {
    int32_t *points; // decomposed, then composed
    int32_t *sorted; // a run of combining marks in canonical order
    char *bytes;
    size_t points_room, sorted_room, bytes_room;
} zn_nfc;

// The normal form C of text that is UTF-8. *out is `text` itself, or lies in the room until its
// next use. Takes linear time for any text: utf8proc's own ordering of marks takes the square of
// their number, so the ordering is ours.
zenith_status zn_nfc_apply(zn_nfc *room, const char *text, size_t size, const char **out,
                           size_t *out_size, zn_error *err);
void zn_nfc_free(zn_nfc *room); // a zeroed one is fine

// Byte-level vocabularies are text: each byte is written as a character. Printable bytes of Latin-1
// are themselves, the 68 others are U+0100 to U+0143 in order. Writes the bytes that the text
// stands for (never more than its size) and returns true, or returns false where a character is not
// of the alphabet or the text is not UTF-8.
bool zn_byte_alphabet_read(const char *text, size_t size, uint8_t *bytes, size_t *count);
// Writes the text of the bytes, at most 2 * count bytes without a closing zero; returns its size.
size_t zn_byte_alphabet_write(const uint8_t *bytes, size_t count, char *text);

#endif
