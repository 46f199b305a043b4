// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a picture format implements: one file, one decoder and one encoder description, one row in
// the table of image.c and of writer.c. A decoder delivers samples as they are stored, row by
// row from the top; orientation, colour, alpha and limits are none of its business.
#ifndef ZN_FORMAT_IMAGE_CODEC_H
#define ZN_FORMAT_IMAGE_CODEC_H

#include "src/format/image/colour.h"
#include "src/format/image/image.h"

// What the header says. Pointers are into the file or belong to the decoder's state.
typedef struct zn_image_header {
    uint32_t width, height;
    zn_pixel_layout layout; // of the rows that `row` delivers
    int sample_bits;        // of those rows: 8, or 16 in host order
    int stored_bits;        // for the facts
    int stored_channels;
    bool has_alpha;
    bool animated;
    bool streamed;
    uint64_t held_bytes; // estimate of what decoding will allocate
    zn_colour_claim colour;
    const uint8_t *exif; // a TIFF structure, with or without "Exif\0\0" before it; NULL = none
    size_t exif_size;
    const char *parameters; // a text of that name, in UTF-8; NULL = none
} zn_image_header;

typedef struct zn_image_decoder {
    zn_image_format format;
    bool (*probe)(const uint8_t *data, size_t size);
    // Reads up to the first pixel data. *state is set as soon as there is something to free, also
    // when the call then fails.
    zenith_status (*open)(const uint8_t *data, size_t size, void **state, zn_image_header *header,
                          zn_error *err);
    // Goes to the first row; called once before the first `row`, and again for each rewind.
    zenith_status (*rewind)(void *state, zn_error *err);
    // The next row. With the last one, whatever follows in the file has been checked too.
    zenith_status (*row)(void *state, void *dst, zn_error *err);
    void (*free)(void *state); // NULL is fine
} zn_image_decoder;

extern const zn_image_decoder zn_jpeg_decoder, zn_png_decoder, zn_webp_decoder, zn_pnm_decoder;

typedef struct zn_image_encoder {
    zn_image_format format;
    uint32_t max_side; // what the format can say
    // *state as in the decoder. Options are checked and filled with defaults.
    zenith_status (*open)(struct zn_writer *file, uint32_t width, uint32_t height,
                          const zn_image_write_options *options, void **state, zn_error *err);
    zenith_status (*row)(void *state, const uint8_t *src, zn_error *err);
    zenith_status (*finish)(void *state, zn_error *err);
    void (*free)(void *state);
} zn_image_encoder;

extern const zn_image_encoder zn_jpeg_encoder, zn_png_encoder, zn_webp_encoder, zn_pnm_encoder;

// malloc, realloc, calloc and free on zn_alloc, for libraries that take such hooks.
void *zn_codec_malloc(size_t bytes);
void *zn_codec_realloc(void *block, size_t bytes);
void *zn_codec_calloc(size_t count, size_t bytes);
void zn_codec_free(void *block);
// Whether one of them found no memory since the last clear, on this thread.
void zn_codec_failure_clear(void);
bool zn_codec_failure(void);

#endif
