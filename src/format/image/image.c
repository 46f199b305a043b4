// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader: a decoder's rows, taken to sRGB, laid over the background and turned upright.
//
//   decoder row --colour--> RGB of 8 or 16 bits --round--> 8 bits --over background--> upright
//   (native)                (deep, only for 16)
//
// Turning comes last although the contract names it first: colour and alpha treat each pixel alone,
// so the result is the same, and only 3 bytes per pixel have to be held. Orientations 1 and 2 keep
// the order of rows and stream; for the others the picture is decoded once, straight into its
// upright place.
//
// Invariants
//   1. next_row is the number of the row that the decoder (or `upright`) will deliver next.
//   2. A failed row leaves `broken` set; only a rewind clears it.
//   3. Everything a reader allocates by picture size was part of `need` in check_memory.
#include "src/format/image/image.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/image/codec.h"
#include "src/format/image/colour.h"
#include "src/format/image/exif.h"

#include <string.h>

static const zn_image_decoder *const decoders[] = {&zn_jpeg_decoder, &zn_png_decoder,
                                                   &zn_webp_decoder, &zn_pnm_decoder};
enum { DECODERS = sizeof decoders / sizeof *decoders };

struct zn_image_reader {
    zn_image_options options;
    zn_image_facts facts;
    zn_image_header header;
    const zn_image_decoder *decoder;
    void *state;
    zn_colour *colour;
    void *native;     // one row as the decoder delivers it
    uint16_t *deep;   // one row of 16-bit RGB; NULL for 8-bit samples
    uint8_t *upright; // the whole picture, where turning needs it
    uint32_t next_row;
    bool started, broken;
};

static const struct {
    const char *extension;
    zn_image_format format;
} extensions[] = {{".jpg", ZN_IMAGE_JPEG},  {".jpeg", ZN_IMAGE_JPEG}, {".png", ZN_IMAGE_PNG},
                  {".webp", ZN_IMAGE_WEBP}, {".ppm", ZN_IMAGE_PNM},   {".pnm", ZN_IMAGE_PNM},
                  {".pgm", ZN_IMAGE_PNM}};

zn_image_format zn_image_format_of_path(const char *path)
{
    for (size_t i = 0; path && i < sizeof extensions / sizeof *extensions; i++)
        if (zn_text_ends_with_nocase(path, extensions[i].extension)) return extensions[i].format;
    return ZN_IMAGE_UNKNOWN;
}

const char *zn_image_format_name(zn_image_format format)
{
    static const char *const names[] = {"unknown", "JPEG", "PNG", "WebP", "PNM"};
    return (unsigned)format < sizeof names / sizeof *names ? names[format] : names[0];
}

static const zn_image_decoder *decoder_for(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < DECODERS; i++)
        if (decoders[i]->probe(data, size)) return decoders[i];
    return NULL;
}

zn_image_format zn_image_sniff(const uint8_t *data, size_t size)
{
    const zn_image_decoder *decoder = data ? decoder_for(data, size) : NULL;
    return decoder ? decoder->format : ZN_IMAGE_UNKNOWN;
}

zn_image_options zn_image_options_default(void)
{
    return (zn_image_options){.background = {255, 255, 255}};
}

static zn_image_limits limits_filled(zn_image_limits limits)
{
    if (!limits.max_pixels) limits.max_pixels = (uint64_t)1 << 29;
    if (!limits.max_side) limits.max_side = 65535;
    if (!limits.max_file_bytes) limits.max_file_bytes = (uint64_t)2 << 30;
    return limits;
}

// --- opening

static zenith_status check_size(const zn_image_header *header, const zn_image_limits *limits,
                                zn_error *err)
{
    uint64_t pixels = (uint64_t)header->width * header->height;
    if (!pixels)
        return zn_fail(err, ZENITH_BAD_FILE, "The picture is %u x %u pixels: it has none.",
                       header->width, header->height);
    if (header->width > limits->max_side || header->height > limits->max_side)
        return zn_fail(err, ZENITH_LIMIT,
                       "The picture is %u x %u pixels; the limit for a side is %u.", header->width,
                       header->height, limits->max_side);
    if (pixels > limits->max_pixels)
        return zn_fail(err, ZENITH_LIMIT,
                       "The picture has %u x %u = %llu pixels; the limit is %llu.", header->width,
                       header->height, (unsigned long long)pixels,
                       (unsigned long long)limits->max_pixels);
    return ZENITH_OK;
}

static bool needs_upright(int orientation)
{
    return orientation > 2;
}

// `extra`: what the caller will hold beside the reader.
static zenith_status check_memory(const zn_image_reader *reader, uint64_t extra, zn_error *err)
{
    const zn_image_header *header = &reader->header;
    uint64_t limit = reader->options.limits.max_memory;
    uint64_t need = header->held_bytes + extra + (uint64_t)header->width * 16;
    if (needs_upright(reader->facts.orientation) && !extra)
        need += (uint64_t)header->width * header->height * 3;
    if (!limit || need <= limit) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT,
                   "Reading this %s picture of %u x %u pixels takes %llu bytes of memory; the "
                   "limit is %llu.",
                   zn_image_format_name(reader->facts.format), header->width, header->height,
                   (unsigned long long)need, (unsigned long long)limit);
}

static void note_facts(zn_image_reader *reader)
{
    const zn_image_header *header = &reader->header;
    zn_image_facts *facts = &reader->facts;
    facts->format = reader->decoder->format;
    facts->stored_width = header->width;
    facts->stored_height = header->height;
    facts->orientation = reader->options.ignore_orientation
                             ? 1
                             : zn_exif_orientation(header->exif, header->exif_size);
    bool turned = facts->orientation >= 5;
    facts->width = turned ? header->height : header->width;
    facts->height = turned ? header->width : header->height;
    facts->bits = header->stored_bits;
    facts->channels = header->stored_channels;
    facts->has_alpha = header->has_alpha;
    facts->has_icc = header->colour.has_icc;
    facts->animated = header->animated;
    facts->parameters = header->parameters;
    facts->streamed = header->streamed && !needs_upright(facts->orientation);
}

static zenith_status open_colour(zn_image_reader *reader, zn_error *err)
{
    const zn_image_header *header = &reader->header;
    static const zn_colour_claim none;
    ZN_TRY(zn_colour_open(reader->options.ignore_profile ? &none : &header->colour, header->layout,
                          header->sample_bits, &reader->colour, reader->facts.colour, err));
    reader->facts.icc_applied = reader->colour != NULL;
    return ZENITH_OK;
}

static zenith_status open_rows(zn_image_reader *reader, zn_error *err)
{
    const zn_image_header *header = &reader->header;
    size_t sample = header->sample_bits == 16 ? 2 : 1;
    size_t native = header->width * sample * zn_pixel_channels(header->layout);
    reader->native = zn_alloc(native);
    if (!reader->native) return zn_fail_memory(err, native);
    if (sample == 2) {
        reader->deep = zn_alloc(header->width * sizeof *reader->deep * 3);
        if (!reader->deep) return zn_fail_memory(err, header->width * sizeof *reader->deep * 3);
    }
    return ZENITH_OK;
}

// `picture`: the caller will hold the picture itself, so a turned one is not held here.
static zenith_status reader_open(const uint8_t *data, size_t size, const zn_image_options *options,
                                 bool picture, zn_image_reader **out, zn_error *err)
{
    if (!data || !size) return zn_fail(err, ZENITH_BAD_FILE, "The picture file is empty.");
    zn_image_reader *reader = zn_alloc_zero(sizeof *reader);
    if (!reader) return zn_fail_memory(err, sizeof *reader);
    zenith_status status;
    reader->options = options ? *options : zn_image_options_default();
    reader->options.limits = limits_filled(reader->options.limits);
    if (size > reader->options.limits.max_file_bytes)
        ZN_GO(zn_fail(err, ZENITH_LIMIT, "The picture file has %zu bytes; the limit is %llu.", size,
                      (unsigned long long)reader->options.limits.max_file_bytes));
    reader->decoder = decoder_for(data, size);
    if (!reader->decoder)
        ZN_GO(zn_fail(err, ZENITH_UNSUPPORTED,
                      "This is no JPEG, PNG, WebP or PNM picture (judged by its first bytes)."));
    ZN_GO(reader->decoder->open(data, size, &reader->state, &reader->header, err));
    ZN_GO(check_size(&reader->header, &reader->options.limits, err));
    note_facts(reader);
    if (reader->facts.animated && !reader->options.first_frame)
        ZN_GO(zn_fail(err, ZENITH_UNSUPPORTED,
                      "The %s picture is animated: the option first_frame takes its first frame.",
                      zn_image_format_name(reader->facts.format)));
    uint64_t pixels = (uint64_t)reader->header.width * reader->header.height;
    ZN_GO(check_memory(reader, picture ? pixels * 3 : 0, err));
    ZN_GO(open_colour(reader, err));
    ZN_GO(open_rows(reader, err));
    *out = reader;
    return ZENITH_OK;
fail:
    zn_image_reader_free(reader);
    return status;
}

zenith_status zn_image_reader_open(const uint8_t *data, size_t size,
                                   const zn_image_options *options, zn_image_reader **out,
                                   zn_error *err)
{
    return reader_open(data, size, options, false, out, err);
}

const zn_image_facts *zn_image_reader_facts(const zn_image_reader *reader)
{
    return &reader->facts;
}

void zn_image_reader_free(zn_image_reader *reader)
{
    if (!reader) return;
    if (reader->state) reader->decoder->free(reader->state);
    zn_colour_free(reader->colour);
    zn_free(reader->native);
    zn_free(reader->deep);
    zn_free(reader->upright);
    zn_free(reader);
}

// --- rows

static uint8_t to_8_bits(uint16_t v)
{
    return (uint8_t)((v * 255u + 32767u) / 65535u);
}

static void over_background(const zn_image_reader *reader, uint8_t *row)
{
    const zn_image_header *header = &reader->header;
    unsigned step = zn_pixel_channels(header->layout), last = step - 1;
    const uint8_t *shallow = reader->native;
    const uint16_t *deep = reader->native;
    const uint8_t *background = reader->options.background;
    for (uint32_t x = 0; x < header->width; x++, row += 3) {
        size_t at = (size_t)x * step + last;
        unsigned alpha = header->sample_bits == 16 ? to_8_bits(deep[at]) : shallow[at];
        if (alpha == 255) continue;
        for (int c = 0; c < 3; c++)
            row[c] = (uint8_t)((row[c] * alpha + background[c] * (255 - alpha) + 127) / 255);
    }
}

static void mirror(uint8_t *row, uint32_t width)
{
    for (uint8_t *a = row, *b = row + 3 * (size_t)(width - 1); a < b; a += 3, b -= 3) {
        uint8_t keep[3];
        memcpy(keep, a, 3);
        memcpy(a, b, 3);
        memcpy(b, keep, 3);
    }
}

// The next stored row as 8-bit sRGB, not yet turned.
static zenith_status stored_row(zn_image_reader *reader, uint8_t *dst, zn_error *err)
{
    const zn_image_header *header = &reader->header;
    ZN_TRY(reader->decoder->row(reader->state, reader->native, err));
    void *rgb = reader->deep ? (void *)reader->deep : dst;
    zn_colour_row(reader->colour, header->layout, header->sample_bits, reader->native, rgb,
                  header->width);
    if (reader->deep)
        for (size_t i = 0; i < 3 * (size_t)header->width; i++) dst[i] = to_8_bits(reader->deep[i]);
    if (zn_pixel_has_alpha(header->layout)) over_background(reader, dst);
    return ZENITH_OK;
}

// Puts stored row y where it belongs in the upright picture. EXIF: 3 = half turn, 4 = upside down,
// 5 = transposed, 6 = a quarter turn clockwise to display, 7 = transposed about the other diagonal,
// 8 = a quarter turn anticlockwise.
static void place_row(const zn_image_reader *reader, const uint8_t *row, uint32_t y, uint8_t *dst,
                      size_t stride)
{
    uint32_t w = reader->header.width, h = reader->header.height;
    int orientation = reader->facts.orientation;
    for (uint32_t x = 0; x < w; x++, row += 3) {
        size_t to_x = 0, to_y = 0;
        switch (orientation) {
        case 3:
            to_x = w - 1 - x, to_y = h - 1 - y;
            break;
        case 4:
            to_x = x, to_y = h - 1 - y;
            break;
        case 5:
            to_x = y, to_y = x;
            break;
        case 6:
            to_x = h - 1 - y, to_y = x;
            break;
        case 7:
            to_x = h - 1 - y, to_y = w - 1 - x;
            break;
        default:
            to_x = y, to_y = w - 1 - x;
        }
        memcpy(dst + to_y * stride + to_x * 3, row, 3);
    }
}

static zenith_status fill_upright(zn_image_reader *reader, uint8_t *dst, size_t stride,
                                  zn_error *err)
{
    size_t bytes = 3 * (size_t)reader->header.width;
    uint8_t *row = zn_alloc(bytes);
    if (!row) return zn_fail_memory(err, bytes);
    zenith_status status = reader->decoder->rewind(reader->state, err);
    for (uint32_t y = 0; status == ZENITH_OK && y < reader->header.height; y++) {
        status = stored_row(reader, row, err);
        if (status == ZENITH_OK) place_row(reader, row, y, dst, stride);
    }
    zn_free(row);
    return status;
}

static zenith_status start(zn_image_reader *reader, zn_error *err)
{
    reader->next_row = 0;
    if (!needs_upright(reader->facts.orientation))
        return reader->decoder->rewind(reader->state, err);
    if (reader->upright) return ZENITH_OK;
    size_t stride = 3 * (size_t)reader->facts.width, bytes;
    if (!zn_mul_size(stride, reader->facts.height, &bytes)) return zn_fail_memory(err, SIZE_MAX);
    uint8_t *upright = zn_alloc(bytes);
    if (!upright) return zn_fail_memory(err, bytes);
    zenith_status status = fill_upright(reader, upright, stride, err);
    if (status == ZENITH_OK)
        reader->upright = upright;
    else
        zn_free(upright);
    return status;
}

static zenith_status next_row(zn_image_reader *reader, uint8_t *dst, zn_error *err)
{
    size_t bytes = 3 * (size_t)reader->facts.width;
    if (reader->upright) {
        memcpy(dst, reader->upright + bytes * reader->next_row, bytes);
    } else {
        ZN_TRY(stored_row(reader, dst, err));
        if (reader->facts.orientation == 2) mirror(dst, reader->facts.width);
    }
    reader->next_row++;
    return ZENITH_OK;
}

zenith_status zn_image_reader_rows(zn_image_reader *reader, uint32_t y, uint32_t count,
                                   uint8_t *dst, size_t stride, zn_error *err)
{
    uint32_t height = reader->facts.height;
    if (y > height || count > height - y || (y != 0 && y != reader->next_row) ||
        stride < 3 * (size_t)reader->facts.width)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "Rows %u to %llu of a picture of %u were asked for where row %u is next.", y,
                       (unsigned long long)y + count, height, reader->next_row);
    if (count == 0) return ZENITH_OK;
    if (y != 0 && reader->broken)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "An earlier row of this picture failed; only row 0 can follow.");
    zenith_status status = ZENITH_OK;
    if (y == 0 && (!reader->started || reader->next_row != 0 || reader->broken))
        status = start(reader, err);
    reader->started = true;
    for (uint32_t i = 0; status == ZENITH_OK && i < count; i++)
        status = next_row(reader, dst + i * stride, err);
    reader->broken = status != ZENITH_OK;
    return status;
}

zenith_status zn_image_read(const uint8_t *data, size_t size, const zn_image_options *options,
                            zn_image_pixels *out, zn_error *err)
{
    zn_image_reader *reader = NULL;
    uint8_t *pixels = NULL;
    zenith_status status;
    ZN_GO(reader_open(data, size, options, true, &reader, err));
    const zn_image_facts *facts = &reader->facts;
    size_t stride = 3 * (size_t)facts->width, bytes;
    if (!zn_mul_size(stride, facts->height, &bytes)) ZN_GO(zn_fail_memory(err, SIZE_MAX));
    pixels = zn_alloc(bytes);
    if (!pixels) ZN_GO(zn_fail_memory(err, bytes));
    if (needs_upright(facts->orientation))
        ZN_GO(fill_upright(reader, pixels, stride, err));
    else
        ZN_GO(zn_image_reader_rows(reader, 0, facts->height, pixels, stride, err));
    *out = (zn_image_pixels){pixels, facts->width, facts->height};
    zn_image_reader_free(reader);
    return ZENITH_OK;
fail:
    zn_free(pixels);
    zn_image_reader_free(reader);
    return status;
}

void zn_image_pixels_free(zn_image_pixels *pixels)
{
    if (!pixels) return;
    zn_free(pixels->data);
    *pixels = (zn_image_pixels){0};
}
