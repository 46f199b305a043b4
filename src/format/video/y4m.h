// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// YUV4MPEG2 (Y4M), the plain video of pipes: a line of text, then each frame as a line and planes.
// 8 bits, 4:2:0 or 4:4:4, and RGB on our side. Colours are BT.601's, which is what programs assume
// of Y4M; the range is the studio's (16 .. 235) unless the header says XCOLORRANGE=FULL.
#ifndef ZN_FORMAT_VIDEO_Y4M_H
#define ZN_FORMAT_VIDEO_Y4M_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum zn_y4m_chroma {
    ZN_Y4M_420_JPEG = 0, // a sample in the middle of four pixels
    ZN_Y4M_420_MPEG2,    // between the two pixels of a column
    ZN_Y4M_444
} zn_y4m_chroma;

typedef struct zn_y4m_header {
    uint32_t width, height;
    uint32_t rate, rate_scale; // frames a second: rate / rate_scale; 0: not said
    zn_y4m_chroma chroma;
    bool full_range;
} zn_y4m_header;

enum { ZN_Y4M_LINE = 1024 }; // the longest line of text that is read

// The header's line without its end.
zenith_status zn_y4m_parse(const char *line, size_t length, zn_y4m_header *out, zn_error *err);
// The line for a header, with its end; its length.
size_t zn_y4m_line(const zn_y4m_header *header, char dst[ZN_Y4M_LINE]);

// Bytes of a frame's planes. Headers that were parsed have frames that fit into memory's size.
size_t zn_y4m_frame_bytes(const zn_y4m_header *header);
void zn_y4m_to_rgb(const zn_y4m_header *header, const uint8_t *planes, uint8_t *rgb);
// For ZN_Y4M_444.
void zn_y4m_from_rgb(const zn_y4m_header *header, const uint8_t *rgb, uint8_t *planes);

// --- a stream -----------------------------------------------------------------------------------

// The next bytes; *got is less than `size` at the end only.
typedef zenith_status zn_y4m_read_fn(void *cookie, void *dst, size_t size, size_t *got,
                                     zn_error *err);

typedef struct zn_y4m_reader {
    zn_y4m_header header;
    zn_y4m_read_fn *read;
    void *cookie;
    uint8_t *planes;
    uint64_t frames; // so far
} zn_y4m_reader;

// Reads the header. Close it either way.
zenith_status zn_y4m_open(zn_y4m_reader *reader, zn_y4m_read_fn *read, void *cookie, zn_error *err);
// The next frame, [height, width, 3]; *there is false after the last.
zenith_status zn_y4m_next(zn_y4m_reader *reader, uint8_t *rgb, bool *there, zn_error *err);
void zn_y4m_close(zn_y4m_reader *reader); // a zeroed one is fine

#endif
