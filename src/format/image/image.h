// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures in and out: JPEG, PNG, WebP and binary PNM. Reading goes in one fixed order:
//
//   header against limits -> decode -> EXIF orientation -> ICC to sRGB -> alpha over a colour
//   -> 8-bit RGB rows
//
// and every step leaves a fact. Rows are streamed wherever the format allows it, so that a picture
// of 16384 x 16384 is read and written with a few rows in memory; where it cannot be (orientations
// 3..8 but mirrored rows, interlaced PNG, JPEG of several scans, WebP) the reader holds the
// picture, says so (facts.streamed), and what it will hold is checked against limits.max_memory
// first.
//
// What is decided here, because somebody has to:
//   - Broken or truncated data is ZENITH_BAD_FILE, never a picture that is half grey.
//   - 16-bit samples go through the colour transform in 16 bits and are rounded to 8 after it.
//   - A picture without a profile is sRGB. PNG: iCCP wins, then cICP (sRGB and Display P3; high
//     dynamic range is ZENITH_UNSUPPORTED), then sRGB, then gAMA with cHRM (cHRM alone says
//     nothing). A profile that cannot be read, or is for another kind of data (RGB on a
//     grey picture), is ignored, and facts.colour says so.
//   - CMYK in JPEG is stored inverted, with or without Adobe's marker, as all writers do it.
//     Without a profile it becomes RGB by (255 - ink) * (255 - black) / 255.
//   - Animation is ZENITH_UNSUPPORTED unless options.first_frame; a "moving" file of one frame is a
//     still picture.
#ifndef ZN_FORMAT_IMAGE_IMAGE_H
#define ZN_FORMAT_IMAGE_IMAGE_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zn_writer;

typedef enum zn_image_format {
    ZN_IMAGE_UNKNOWN = 0,
    ZN_IMAGE_JPEG,
    ZN_IMAGE_PNG,
    ZN_IMAGE_WEBP,
    ZN_IMAGE_PNM
} zn_image_format;

// 0 = the default. Passing one is ZENITH_LIMIT, from the header, before anything is allocated.
typedef struct zn_image_limits {
    uint64_t max_pixels;     // 2^29, e.g. 16384 x 32768
    uint32_t max_side;       // 65535
    uint64_t max_file_bytes; // 2 GiB
    uint64_t max_memory;     // what a reader may hold, rows included; 0 = no bound
} zn_image_limits;

typedef struct zn_image_facts {
    zn_image_format format;
    uint32_t width, height;               // as delivered: after orientation
    uint32_t stored_width, stored_height; // as in the file
    int orientation;                      // of EXIF, 1..8; 1 = as stored
    int bits;                             // per sample as stored: 1, 2, 4, 8, 16
    int channels;                         // as stored; a palette counts as 1
    bool has_alpha;                       // alpha channel or transparent colours
    bool has_icc;                         // a profile is there, readable or not
    bool icc_applied; // colours went through the profile, or through cICP, gAMA, cHRM
    bool animated;    // more than one frame
    bool streamed;    // a few rows in memory, not the picture
    // "sRGB", "CMYK", "gAMA", "cICP", the profile's name, "unreadable profile ignored",
    // "mismatched profile ignored"
    char colour[32];
    const char *parameters; // PNG: the text of that name, as UTF-8; NULL = none. The reader's
} zn_image_facts;

typedef struct zn_image_options {
    zn_image_limits limits;
    uint8_t background[3];   // what transparent pixels lie on; the default is white
    bool first_frame;        // take the first frame of an animation
    bool ignore_orientation; // rows as stored
    bool ignore_profile;     // samples as stored, taken for sRGB
} zn_image_options;

zn_image_options zn_image_options_default(void);

// By content; the name of a file says nothing.
zn_image_format zn_image_sniff(const uint8_t *data, size_t size);
// By extension, for writing: jpg jpeg png webp ppm pnm pgm, in any case.
zn_image_format zn_image_format_of_path(const char *path);
const char *zn_image_format_name(zn_image_format format); // "JPEG", …, "unknown"

typedef struct zn_image_reader zn_image_reader;

// Reads the header only; the facts are then known. `data` stays valid and unchanged until free.
// options NULL = the defaults.
zenith_status zn_image_reader_open(const uint8_t *data, size_t size,
                                   const zn_image_options *options, zn_image_reader **out,
                                   zn_error *err);
const zn_image_facts *zn_image_reader_facts(const zn_image_reader *reader);
// Rows y .. y+count-1 as 8-bit RGB, `stride` bytes apart. Rows come in order; y = 0 starts again
// from the first row at any time, also after a failure.
zenith_status zn_image_reader_rows(zn_image_reader *reader, uint32_t y, uint32_t count,
                                   uint8_t *dst, size_t stride, zn_error *err);
void zn_image_reader_free(zn_image_reader *reader); // NULL is fine

typedef struct zn_image_pixels {
    uint8_t *data; // RGB, rows of 3 * width bytes
    uint32_t width, height;
} zn_image_pixels;

// The whole picture. It counts against limits.max_memory.
zenith_status zn_image_read(const uint8_t *data, size_t size, const zn_image_options *options,
                            zn_image_pixels *out, zn_error *err);
void zn_image_pixels_free(zn_image_pixels *pixels); // zeroes it; a zeroed one is fine

enum { ZN_IMAGE_QUALITY = 95 }; // where none is asked for

typedef struct zn_image_write_options {
    zn_image_format format;
    // 1..100, JPEG and lossy WebP; 0 = ZN_IMAGE_QUALITY. JPEG from 90 up keeps all colour samples
    // (4:4:4).
    int quality;
    int level;     // 0..9, PNG; -1 = 1, since 6 costs more than decoding the picture did
    bool lossless; // WebP
    bool
        // PNG: the white ground becomes transparent (cut_out.h); the whole picture is held until
        // its last row
        cut_out;
    // PNG: UTF-8 that the file keeps as a text chunk "parameters", which other programs read; NULL:
    // none. Borrowed until the writer is open.
    const char *parameters;
    // WebP: rows are those of so many pictures, one below the other, which are shown in turn; 0: of
    // one. delay: of each, in milliseconds.
    uint32_t frames, delay;
} zn_image_write_options;

typedef struct zn_image_writer zn_image_writer;

// Writes 8-bit sRGB pictures of exactly height rows. `file` is borrowed, and not committed here.
// All formats but WebP stream.
zenith_status zn_image_writer_open(struct zn_writer *file, uint32_t width, uint32_t height,
                                   const zn_image_write_options *options, zn_image_writer **out,
                                   zn_error *err);
zenith_status zn_image_writer_rows(zn_image_writer *writer, uint32_t count, const uint8_t *src,
                                   size_t stride, zn_error *err);
zenith_status zn_image_writer_finish(zn_image_writer *writer, zn_error *err); // after the last row
void zn_image_writer_free(zn_image_writer *writer);                           // NULL is fine

#endif
