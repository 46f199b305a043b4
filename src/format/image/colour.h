// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// From the colours of a file to sRGB: what the file claims about its samples, and the transform
// that follows from it (lcms2, perceptual intent). One transform belongs to one reader; nothing is
// shared between threads.
#ifndef ZN_FORMAT_IMAGE_COLOUR_H
#define ZN_FORMAT_IMAGE_COLOUR_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum zn_pixel_layout {
    ZN_PIXEL_GREY,
    ZN_PIXEL_GREY_ALPHA,
    ZN_PIXEL_RGB,
    ZN_PIXEL_RGBA,
    ZN_PIXEL_CMYK // 0 = no ink
} zn_pixel_layout;

static inline unsigned zn_pixel_channels(zn_pixel_layout layout)
{
    return layout == ZN_PIXEL_GREY         ? 1
           : layout == ZN_PIXEL_GREY_ALPHA ? 2
           : layout == ZN_PIXEL_RGB        ? 3
                                           : 4;
}

static inline bool zn_pixel_has_alpha(zn_pixel_layout layout)
{
    return layout == ZN_PIXEL_GREY_ALPHA || layout == ZN_PIXEL_RGBA;
}

// Strongest first: a profile, else "this is sRGB", else a curve with or without primaries.
typedef struct zn_colour_claim {
    bool has_icc; // a profile is there; icc == NULL then means that it could not be read
    const uint8_t *icc;
    size_t icc_size;
    bool srgb;
    double gamma;    // of PNG's gAMA: encoded = linear ^ gamma; 0 = not said
    bool srgb_curve; // the transfer curve of sRGB, with primaries of their own
    bool has_primaries;
    double white[2], red[2], green[2], blue[2]; // CIE x, y
} zn_colour_claim;

typedef struct zn_colour zn_colour;

// *out is NULL when the samples are sRGB (or plain grey or CMYK) already. `name` gets the words for
// zn_image_facts.colour. A profile that does not serve is no failure; only lack of memory is.
zenith_status zn_colour_open(const zn_colour_claim *claim, zn_pixel_layout layout, int sample_bits,
                             zn_colour **out, char name[32], zn_error *err);
void zn_colour_free(zn_colour *colour); // NULL is fine

// `width` pixels to RGB of the same sample width; alpha in src is skipped. colour NULL: grey and
// CMYK are spread out plainly.
void zn_colour_row(const zn_colour *colour, zn_pixel_layout layout, int sample_bits,
                   const void *src, void *dst, uint32_t width);

#endif
