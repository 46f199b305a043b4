// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the JPEG decoder and encoder share: libjpeg's errors as statuses, and the walk over the
// markers in front of the pixel data.
#ifndef ZN_FORMAT_IMAGE_JPEG_H
#define ZN_FORMAT_IMAGE_JPEG_H

#include "src/base/status.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> // jpeglib.h names FILE and does not include it

#include <jpeglib.h>

// libjpeg's default ends the process on an error and prints its warnings. Ours jumps to `back` with
// the status and the sentence kept here. libjpeg's `err` points to the first member.
typedef struct zn_jpeg_trouble {
    struct jpeg_error_mgr manager;
    jmp_buf back;
    zenith_status status;
    zn_error error;
} zn_jpeg_trouble;

struct jpeg_error_mgr *zn_jpeg_trouble_init(zn_jpeg_trouble *trouble);

typedef struct zn_jpeg_piece {
    const uint8_t *data;
    size_t size;
} zn_jpeg_piece;

// Pieces lie in the file.
typedef struct zn_jpeg_markers {
    zn_jpeg_piece exif;     // data NULL = none
    bool has_icc;           // some segment says ICC_PROFILE
    int icc_count;          // chunks, all there and in order; 0 = none, or broken
    zn_jpeg_piece icc[255]; // chunk i + 1 at i
    size_t icc_size;        // together
} zn_jpeg_markers;

void zn_jpeg_markers_read(const uint8_t *data, size_t size, zn_jpeg_markers *out);

#endif
