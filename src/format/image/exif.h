// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The one thing that we want from EXIF: how to turn the picture.
#ifndef ZN_FORMAT_IMAGE_EXIF_H
#define ZN_FORMAT_IMAGE_EXIF_H

#include <stddef.h>
#include <stdint.h>

// 1..8 as EXIF numbers them; 1 (as stored) where the data is absent, broken or says nothing.
// `data` is a TIFF structure, with or without "Exif\0\0" before it.
int zn_exif_orientation(const uint8_t *data, size_t size);

#endif
